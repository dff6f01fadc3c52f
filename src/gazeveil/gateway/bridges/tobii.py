# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Tobii Pro trackers (Spectrum, Fusion, Nano, Spark, …) through Tobii's ``tobii_research``.

Its callbacks run in a thread of the package and only queue the data. It is read when the bridge is polled, which drops
everything except time and the points on the display.
"""

from __future__ import annotations

import contextlib
from collections import deque
from typing import Any, Final

from gazeveil.errors import OptionError, WireError
from gazeveil.gateway.bridge import (
    BRIDGES,
    MOST_AT_ONCE,
    NOWHERE,
    Bridge,
    BridgeKind,
    Point,
    mean_of,
    point_of,
    refused,
    vendors,
)
from gazeveil.gateway.sample import RawSample
from gazeveil.gateway.tracker_fields import seconds

TITLE: Final = "Tobii Pro"
_MODULE: Final = "tobii_research"
_INSTALL: Final = "pip install tobii-research, with a Python version that Tobii supports"


class TobiiPro(Bridge):
    """One tracker that we have subscribed to."""

    def __init__(self, sdk: Any, device: str) -> None:
        self._came: deque[object] = deque(maxlen=MOST_AT_ONCE)
        self._gone = False
        self._wanted = {
            sdk.EYETRACKER_GAZE_DATA: self._came.append,
            sdk.EYETRACKER_NOTIFICATION_CONNECTION_LOST: self._is_gone,
        }
        try:
            self._tracker = _chosen(sdk.find_all_eyetrackers(), device)
            for stream, callback in self._wanted.items():
                self._tracker.subscribe_to(stream, callback, as_dictionary=True)
        except (WireError, OptionError):
            raise
        except Exception as error:  # the package has errors of its own for every fault of a device
            raise refused(TITLE, error) from error

    def poll(self) -> list[RawSample]:
        """Return what came since the last time."""
        if self._gone:
            raise WireError(f"{TITLE}: the connection to the tracker is lost")
        return [_sample(self._came.popleft()) for _ in range(len(self._came))]

    def close(self) -> None:
        """Unsubscribe."""
        for stream, callback in self._wanted.items():
            with contextlib.suppress(Exception):
                self._tracker.unsubscribe_from(stream, callback)
        self._came.clear()

    def _is_gone(self, _: object) -> None:
        self._gone = True


def _chosen(found: Any, device: str) -> Any:
    trackers = [one for one in found if device in ("", one.serial_number, one.address, one.device_name)]
    if not trackers:
        known = ", ".join(str(one.serial_number) for one in found) or "none"
        raise WireError(f"{TITLE}: no such tracker is connected", hint=f"connected: {known}")
    if len(trackers) > 1:
        known = ", ".join(str(one.serial_number) for one in trackers)
        raise OptionError(f"{TITLE}: {len(trackers)} trackers are connected", hint=f"choose one with --device: {known}")
    return trackers[0]


def _sample(data: Any) -> RawSample:
    t = seconds(data.get("device_time_stamp"), 1e6) if isinstance(data, dict) else None
    if t is None:
        raise WireError(f"{TITLE}: a sample has no device_time_stamp", hint="this version of the package is not known")
    return RawSample(t, *mean_of(_eye(data, "left"), _eye(data, "right")))


def _eye(data: dict[str, Any], side: str) -> Point:
    return (
        point_of(data.get(f"{side}_gaze_point_on_display_area")) if data.get(f"{side}_gaze_point_validity") else NOWHERE
    )


BRIDGES.register("tobii")(
    BridgeKind(
        name="tobii",
        title=TITLE,
        unit="norm",
        open=lambda device, _: TobiiPro(vendors(_MODULE, TITLE, _INSTALL), device),
        device="serial number, address or name; not needed with one tracker",
        withheld={
            "left_gaze_origin_…, right_gaze_origin_…": "Positions of the eyes: a biometric.",
            "left_pupil_diameter, right_pupil_diameter": "Pupil size is not veiled.",
            "left_gaze_point_in_user_coordinate_system, right_…": "The same gaze in space, with where the head is.",
            "system_time_stamp": "The device's own time is used.",
        },
        module=_MODULE,
        install=_INSTALL,
    )
)
