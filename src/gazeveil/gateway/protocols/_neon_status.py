# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The status of Pupil Labs' phone: as a gateway tells it, and what a gateway takes of a real one.

What is reported is made of the policy and of constants alone: no phone, no serial number and no battery stands behind
it. There is no scene camera in it, so no client waits for one.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, Final

from gazeveil.errors import WireError
from gazeveil.gateway.protocol import Output, Shown

Size = tuple[int, int]

INVISIBLE, NEON = "1", "2"
"""Versions of the glasses."""
CAMERAS: Final[dict[str, Size]] = {INVISIBLE: (1088, 1080), NEON: (1600, 1200)}
"""Pixels of their scene cameras, in which gaze is counted."""
STREAMS: Final[dict[Output, str]] = {"samples": "gaze", "fixations": "eye_events"}
"""In which stream each kind of veiled thing is shown."""
MEMORY: Final = 1 << 36
_PARAMETERS: Final = re.compile(r"[A-Za-z0-9_.=&-]{0,200}")
_HOST: Final = re.compile(r"(\[[0-9A-Fa-f:.]{2,45}\]|[A-Za-z0-9._-]{1,253})(?::(\d{1,5}))?")


@dataclass(frozen=True, slots=True)
class Sensor:
    """Where a tracker's gaze comes out.

    Attributes:
        port: On the same machine.
        parameters: Of its address.
        interleaved: Whether gaze comes over the same connection, and not in datagrams.
        camera: Pixels of the scene camera.
    """

    port: int = 8080
    parameters: str = "camera=gaze"
    interleaved: bool = True
    camera: Size = CAMERAS[NEON]


def version_for(shown: Shown) -> str:
    """Return which glasses an app is shown: Invisible if gaze is counted in its pixels, else Neon."""
    geometry = shown.plane.geometry
    return INVISIBLE if (geometry.width_px, geometry.height_px) == CAMERAS[INVISIBLE] else NEON


def place_in(host: str) -> tuple[str, int]:
    """Return under which name and port a client has reached this machine, from its ``Host`` header.

    Raises:
        WireError: If it does not say.
    """
    found = _HOST.fullmatch(host)
    if not found or int(found[2] or 80) > 65_535:
        raise WireError("a request must say in its Host header whom it means")
    return found[1], int(found[2] or 80)


def components(shown: Shown, place: tuple[str, int], why_not: str = "") -> list[dict[str, Any]]:
    """Return the parts of the status; with a reason if there is no gaze to come."""
    host, port = place
    phone = {
        "ip": host, "port": port, "device_id": "gazeveil", "device_name": shown.stream,
        "battery_level": 100, "battery_state": "OK", "memory": MEMORY, "memory_state": "OK", "time_echo_port": port,
    }  # fmt: skip
    glasses = {
        "version": version_for(shown), "glasses_serial": "gazeveil", "module_serial": "gazeveil",
        "world_camera_serial": "gazeveil",
    }  # fmt: skip
    found = [("Phone", phone), ("Hardware", glasses)]
    for output, stream in STREAMS.items():
        sensor = {
            "sensor": stream, "conn_type": "DIRECT", "connected": output == shown.output and not why_not,
            "ip": host, "port": port, "protocol": "rtspt", "params": f"camera={stream}", "stream_error": bool(why_not),
        }  # fmt: skip
        found.append(("Sensor", sensor))
    if why_not:
        found.append(("Recording", {"action": "ERROR", "id": "", "message": why_not, "rec_duration_ns": 0}))
    return [{"model": model, "data": data} for model, data in found]


def sensor_in(body: bytes) -> Sensor:
    """Return where gaze comes out, from the status of a phone; all else in it is forgotten.

    Raises:
        WireError: If it is no status, or no glasses are connected.
    """
    try:
        parts = json.loads(body)["result"]
        known = [(part["model"], part["data"]) for part in parts]
        versions = [data.get("version") for model, data in known if model == "Hardware"]
        sensors = [data for model, data in known if model == "Sensor" and _is_gaze(data)]
    except (ValueError, RecursionError, LookupError, TypeError, AttributeError):
        raise WireError("the tracker's status is not what its API says") from None
    if not sensors:
        raise WireError("the tracker sends no gaze: are the glasses connected?")
    port, parameters, protocol = (sensors[0].get(name) for name in ("port", "params", "protocol"))
    if type(port) is not int or not 0 < port < 1 << 16:
        raise WireError("the tracker does not say at which port gaze comes out")
    if type(parameters) is not str or not _PARAMETERS.fullmatch(parameters):
        raise WireError("the tracker does not say at which address gaze comes out")
    version = str(versions[0]) if versions and type(versions[0]) in (str, int) else NEON
    return Sensor(port, parameters, protocol == "rtspt", CAMERAS.get(version, CAMERAS[NEON]))


def _is_gaze(data: Any) -> bool:
    return data.get("sensor") == "gaze" and data.get("conn_type") == "DIRECT" and data.get("connected") is True
