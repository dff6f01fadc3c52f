# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""PsychoPy's eye tracker plugins, unmodified, without a window.

``python psychopy_client.py PLUGIN PORT SECONDS``, with ``pupil`` or ``gazepoint`` for the plugin. A program for an
interpreter of its own, in which PsychoPy and its plugins ``psychopy-eyetracker-pupil-labs`` and
``psychopy-eyetracker-gazepoint`` are installed. It makes the plugin's ioHub device as ioHub's own process does, except
that the display is a made-up one of 1920 x 1080 pixels; then it calibrates, records, polls and says as JSON what came.
"""

from __future__ import annotations

import importlib
import json
import sys
import time
from typing import Any

SURFACE = "psychopy_iohub_surface"
COMMON = {
    "name": "tracker", "device_number": 0, "manufacturer_name": "", "model_name": "", "model_number": "",
    "serial_number": "", "software_version": "", "hardware_version": "", "firmware_version": "",
    "event_buffer_length": 4096, "auto_report_events": False,
}  # fmt: skip


class Display:
    """What the plugins ask ioHub's display for."""

    def getPixelResolution(self) -> tuple[int, int]:
        return 1920, 1080

    def getCoordBounds(self) -> tuple[int, int, int, int]:
        return -960, 540, 960, -540

    def getIndex(self) -> int:
        return 0

    def _pixel2DisplayCoord(self, x: float, y: float, _: int) -> tuple[float, float]:
        return x - 960, 540 - y


class Hub:
    """What the plugins ask ioHub's process for."""

    def processDeviceEvents(self) -> None:
        pass


def pupil(port: int) -> Any:
    module = importlib.import_module("psychopy_eyetracker_pupil_labs.pupil_labs.pupil_core.eyetracker")
    remote = {"ip_address": "127.0.0.1", "port": port, "timeout_ms": 5000}
    settings = {
        "surface_name": SURFACE, "confidence_threshold": 0.6, "pupillometry_only": False, "pupil_remote": remote,
        "pupil_capture_recording": {"enabled": True, "location": None},
    }  # fmt: skip
    kinds = ["MonocularEyeSampleEvent", "BinocularEyeSampleEvent"]
    return module.EyeTracker(dconfig={**COMMON, "monitor_event_types": kinds, "runtime_settings": settings})


def gazepoint(port: int) -> Any:
    module = importlib.import_module("psychopy_eyetracker_gazepoint.gazepoint.gp3.eyetracker")
    kinds = ["GazepointSampleEvent", "FixationStartEvent", "FixationEndEvent"]
    where = {"ip_address": "127.0.0.1", "port": port}
    calibration = {"use_builtin": True, "target_duration": 0.1, "target_delay": 0.0}
    settings = {"sampling_rate": "Auto", "track_eyes": ["BINOCULAR"]}
    return module.EyeTracker(
        dconfig={
            **COMMON, "monitor_event_types": kinds, "network_settings": where, "calibration": calibration,
            "runtime_settings": settings,
        }
    )  # fmt: skip


def main(plugin: str, port: int, lasting_s: float) -> None:
    devices = importlib.import_module("psychopy.iohub.devices")
    devices.Computer.global_clock = importlib.import_module("psychopy.clock").MonotonicClock()
    devices.Device._display_device, devices.Device._iohub_server = Display(), Hub()
    begun = time.monotonic()
    tracker = {"pupil": pupil, "gazepoint": gazepoint}[plugin](port)
    made = time.monotonic()
    calibrated = tracker.runSetupProcedure()
    told: dict[str, Any] = {
        "made_s": made - begun, "calibrated": calibrated, "recording": bool(tracker.setRecordingState(True))
    }  # fmt: skip
    errors: list[str] = []
    places: list[list[float]] = []
    until = time.monotonic() + lasting_s
    while time.monotonic() < until:
        try:
            tracker._poll()
        except Exception as error:  # noqa: BLE001  (whatever it is, it is what a user would see)
            errors.append(repr(error))
        if (place := tracker.getLastGazePosition()) is not None and (not places or places[-1] != list(place)):
            places.append(list(place))
        time.sleep(0.005)
    told |= {"errors": errors[:3], "failed": len(errors), "places": places}
    told |= {"events": [list(event) for event in tracker._native_event_buffer]}
    tracker.setRecordingState(False)
    tracker.setConnectionState(False)
    print(json.dumps(told, default=float))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), float(sys.argv[3]))
