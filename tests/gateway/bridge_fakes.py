# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Fakes of what vendors publish: for every bridge a device that can be made to look somewhere and to go away.

They offer what a bridge calls, by the vendors' names and types, and every field beside gaze that the real ones have:
those hold ``CANARY``, which must go nowhere. `tests/gateway/test_bridges_real.py` compares them with the real packages
where these are installed.
"""

from __future__ import annotations

import ctypes
import math
import socket
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from gazeveil.gateway.bridge import BRIDGES, Bridge, BridgeKind
from gazeveil.gateway.bridges import tobii_stream
from gazeveil.gateway.protocol import ViewingPlane
from gazeveil.geometry import headset, screen

CANARY = 31.415926535
WIDTH, HEIGHT = 1920, 1080
NAN = math.nan

Eye = tuple[float, float] | None
"""Where an eye looks, in shares of the plane from the top left; None if it is lost."""


class Rig:
    """A fake device, and how to open it."""

    name = ""

    def __init__(self, patch: Any, folder: Path) -> None:
        self.patch, self.folder = patch, folder
        self.kind: BridgeKind = BRIDGES[self.name]
        self.plane = ViewingPlane(headset(100, 90) if self.kind.unit == "deg" else screen(WIDTH, HEIGHT, 527, 296, 600))
        self.device = ""

    def open(self) -> Bridge:
        return self.kind.open(self.device, self.plane)

    def look(self, t: float, left: Eye, right: Eye) -> None:
        """Let the device measure the eyes, ``t`` seconds after it was switched on."""
        raise NotImplementedError

    def lose(self) -> None:
        """Take the device away."""
        raise NotImplementedError

    def garbage(self) -> list[Callable[[], None]]:
        """What the device may do that it should not."""
        return []

    def close(self) -> None:
        """Clean up."""

    def vendor(self, name: str, module: object) -> None:
        """Let a package be what is imported under a name."""
        self.patch.setitem(__import__("sys").modules, name, module)


def pixels(eye: Eye, missing: float) -> tuple[float, float]:
    return (missing, missing) if eye is None else (eye[0] * WIDTH, eye[1] * HEIGHT)


class FakeTobii(SimpleNamespace):
    """``tobii_research``."""

    EYETRACKER_GAZE_DATA = "eyetracker_gaze_data"
    EYETRACKER_NOTIFICATION_CONNECTION_LOST = "eyetracker_notification_connection_lost"

    def __init__(self) -> None:
        super().__init__(trackers=[])

    def find_all_eyetrackers(self) -> tuple[Any, ...]:
        return tuple(self.trackers)


class FakeEyeTracker:
    """``tobii_research.EyeTracker``."""

    def __init__(self, serial_number: str) -> None:
        self.serial_number, self.address, self.device_name = serial_number, f"tet-tcp://{serial_number}", ""
        self.model, self.firmware_version = "Tobii Pro Fusion", "2.0"
        self.subscribed: dict[str, Callable[[object], None]] = {}

    def subscribe_to(
        self, subscription_type: str, callback: Callable[[object], None], as_dictionary: bool = False
    ) -> None:
        assert as_dictionary
        self.subscribed[subscription_type] = callback

    def unsubscribe_from(self, subscription_type: str, callback: Callable[[object], None] | None = None) -> None:
        assert self.subscribed.pop(subscription_type) == callback


class TobiiRig(Rig):
    name = "tobii"

    def __init__(self, patch: Any, folder: Path) -> None:
        super().__init__(patch, folder)
        self.sdk, self.tracker = FakeTobii(), FakeEyeTracker("IS404-1")
        self.sdk.trackers = [self.tracker]
        self.vendor("tobii_research", self.sdk)

    def look(self, t: float, left: Eye, right: Eye) -> None:
        told: dict[str, object] = {"device_time_stamp": round(t * 1e6), "system_time_stamp": round(CANARY * 1e6)}
        for side, eye in (("left", left), ("right", right)):
            told |= {
                f"{side}_gaze_point_on_display_area": (NAN, NAN) if eye is None else eye,
                f"{side}_gaze_point_validity": int(eye is not None),
                f"{side}_gaze_point_in_user_coordinate_system": (CANARY,) * 3,
                f"{side}_gaze_origin_in_user_coordinate_system": (CANARY,) * 3,
                f"{side}_gaze_origin_in_trackbox_coordinate_system": (CANARY,) * 3,
                f"{side}_gaze_origin_validity": 1,
                f"{side}_pupil_diameter": CANARY,
                f"{side}_pupil_validity": 1,
            }
        self.tell(told)

    def tell(self, told: object) -> None:
        if callback := self.tracker.subscribed.get(self.sdk.EYETRACKER_GAZE_DATA):
            callback(told)

    def lose(self) -> None:
        lost = self.sdk.EYETRACKER_NOTIFICATION_CONNECTION_LOST
        if callback := self.tracker.subscribed.get(lost):
            callback({"system_time_stamp": 1})

    def garbage(self) -> list[Callable[[], None]]:
        odd: list[object] = [
            None,
            1,
            {},
            {"device_time_stamp": "x"},
            {"device_time_stamp": NAN},
            {"device_time_stamp": 10**40},
        ]
        point = "left_gaze_point_on_display_area"
        values: tuple[object, ...] = (None, (1,), ("a", "b"), (math.inf, 0.5), (1e300, 2), {}, (True, None))
        odd += [{"device_time_stamp": 1, "left_gaze_point_validity": 1, point: value} for value in values]
        return [lambda one=one: self.tell(one) for one in odd]  # type: ignore[misc]


class FakeSample:
    """``pylink.Sample``."""

    def __init__(self, t: Any, left: Any, right: Any) -> None:
        self.t, self.left, self.right = t, left, right

    def getTime(self) -> Any:
        return self.t

    def isLeftSample(self) -> bool:
        return self.left is not None

    def isRightSample(self) -> bool:
        return self.right is not None

    def getLeftEye(self) -> Any:
        return FakeSampleData(self.left)

    def getRightEye(self) -> Any:
        return FakeSampleData(self.right)

    def getPPD(self) -> tuple[float, float]:
        return CANARY, CANARY

    def getTargetDistance(self) -> float:
        return CANARY


class FakeSampleData:
    """``pylink.SampleData``."""

    def __init__(self, gaze: Any) -> None:
        self.gaze = gaze

    def getGaze(self) -> Any:
        return self.gaze

    def getPupilSize(self) -> float:
        return CANARY

    def getHREF(self) -> tuple[float, float]:
        return CANARY, CANARY


class FakeEyeLink:
    """``pylink.EyeLink``."""

    queue: list[Any]
    coords, there, replies = f"0 0 {WIDTH - 1} {HEIGHT - 1}", True, True

    def __init__(self, trackeraddress: str = "100.1.1.1") -> None:
        if not self.there:
            raise RuntimeError(f"Could not connect to tracker at {trackeraddress}")
        self.recording, self.last = False, None
        self.queue.clear()

    def isConnected(self) -> int:
        return int(self.there)

    def readRequest(self, text: str) -> int:
        assert text == "screen_pixel_coords"
        return 0

    def readReply(self) -> str:
        return self.coords

    def startRecording(self, file_samples: int, file_events: int, link_samples: int, link_events: int) -> int:
        assert (file_samples, file_events, link_samples, link_events) == (0, 0, 1, 0)  # nothing raw is written there
        self.recording = True
        return 0

    def getNextData(self) -> int:
        self.last = self.queue.pop(0) if self.queue else None
        return 0 if self.last is None else 200

    def getFloatData(self) -> Any:
        return self.last

    def stopRecording(self) -> None:
        self.recording = False

    def close(self) -> int:
        return 0


class EyeLinkRig(Rig):
    name = "eyelink"

    def __init__(self, patch: Any, folder: Path) -> None:
        super().__init__(patch, folder)
        queue: list[Any] = []
        self.queue = queue
        self.tracker: type[FakeEyeLink] = type("EyeLink", (FakeEyeLink,), {"queue": queue})
        self.vendor("pylink", SimpleNamespace(EyeLink=self.tracker, SAMPLE_TYPE=200))

    def look(self, t: float, left: Eye, right: Eye) -> None:
        self.queue.append(FakeSample(round(t * 1e3), pixels(left, -32768.0), pixels(right, -32768.0)))

    def lose(self) -> None:
        self.tracker.there = False

    def garbage(self) -> list[Callable[[], None]]:
        odd = [FakeSample(t, (1.0, 2.0), None) for t in (None, "1", NAN, 10**40)]
        odd += [FakeSample(5, gaze, gaze) for gaze in (None, (), ("a", 1), (NAN, 1.0), (1e300, 1.0), (-32768, 5))]
        return [lambda one=one: self.queue.append(one) for one in [*odd, object()]]  # type: ignore[misc]


class BeamRig(Rig):
    name = "beam"

    def __init__(self, patch: Any, folder: Path) -> None:
        super().__init__(patch, folder)
        self.user = self.state(0.0, None)
        self.receiving = True
        rig = self

        class API:
            def __init__(self, friendly_name: str, initial_viewport_geometry: Any) -> None:
                corner = initial_viewport_geometry.point_11
                assert (corner.x, corner.y) == (WIDTH - 1, HEIGHT - 1)

            def attempt_starting_the_beam_eye_tracker(self) -> None:
                rig.receiving = True

            def get_tracking_data_reception_status(self) -> int:
                return int(rig.receiving)

            def get_latest_tracking_state_set(self) -> Any:
                return SimpleNamespace(user_state=lambda: rig.user)

        sdk = SimpleNamespace(
            API=API,
            Point=SimpleNamespace,
            ViewportGeometry=SimpleNamespace,
            NULL_DATA_TIMESTAMP=lambda: SimpleNamespace(value=0.0),
            TrackingConfidence=SimpleNamespace(LOST_TRACKING=0, LOW=1, MEDIUM=2, HIGH=3),
            TrackingDataReceptionStatus=SimpleNamespace(NOT_RECEIVING_TRACKING_DATA=0, RECEIVING_TRACKING_DATA=1),
        )
        self.vendor("eyeware", SimpleNamespace(beam_eye_tracker=sdk))
        self.vendor("eyeware.beam_eye_tracker", sdk)

    def state(self, t: Any, eye: Any) -> Any:
        x, y = (CANARY, CANARY) if eye is None else eye
        return SimpleNamespace(
            timestamp_in_seconds=SimpleNamespace(value=t),
            viewport_gaze=SimpleNamespace(
                confidence=0 if eye is None else 3, normalized_point_of_regard=SimpleNamespace(x=x, y=y)
            ),
            head_pose=SimpleNamespace(translation_from_hcs_to_wcs=SimpleNamespace(x=CANARY, y=CANARY, z=CANARY)),
        )

    def look(self, t: float, left: Eye, right: Eye) -> None:
        """Beam knows one point: that of both eyes."""
        seen = [eye for eye in (left, right) if eye is not None]
        both = tuple(sum(side) / len(seen) for side in zip(*seen, strict=True)) if seen else None
        self.user = self.state(t, both)

    def lose(self) -> None:
        self.receiving = False

    def garbage(self) -> list[Callable[[], None]]:
        states = [self.state(t, (0.5, 0.5)) for t in (None, "1", NAN, 1e300)]
        states += [self.state(7.0 + n, gaze) for n, gaze in enumerate([("a", 1), (NAN, 1), (1e300, 1), (None, None)])]
        return [lambda one=one: setattr(self, "user", one) for one in [*states, object()]]  # type: ignore[misc]


class FakeStreamEngine:
    """The C library ``tobii_stream_engine``, of version 3 or 4."""

    def __init__(self, major: int = 4) -> None:
        self.major, self.there, self.open = major, True, 0
        self.queue: list[tuple[int, int, float, float]] = []
        self.on_gaze: Any = None

    def tobii_api_create(self, api: Any, alloc: None, log: None) -> int:
        api._obj.value = 1
        self.open += 1
        return 0

    def tobii_api_destroy(self, api: Any) -> int:
        self.open -= 1
        return 0

    def tobii_get_api_version(self, version: Any) -> int:
        version._obj.major = self.major
        return 0

    def tobii_enumerate_local_device_urls(self, api: Any, receiver: Any, data: None) -> int:
        if self.there:
            receiver(b"tobii-prp://IS5FF", None)
        return 0

    def tobii_device_create(self, api: Any, url: bytes, *rest: Any) -> int:
        *use, device = rest
        assert [one.value for one in use] == ([1] if self.major >= 4 else [])
        device._obj.value = 2
        return 0

    def tobii_device_destroy(self, device: Any) -> int:
        return 0

    def tobii_gaze_point_subscribe(self, device: Any, callback: Any, data: None) -> int:
        self.on_gaze = callback
        return 0

    def tobii_gaze_point_unsubscribe(self, device: Any) -> int:
        self.on_gaze = None
        return 0

    def tobii_device_process_callbacks(self, device: Any) -> int:
        if not self.there:
            return 5  # TOBII_ERROR_CONNECTION_FAILED
        queue, self.queue = self.queue, []
        for t, validity, x, y in queue:
            point = tobii_stream.GazePoint(t, validity, (x, y))
            self.on_gaze(ctypes.pointer(point), None)
        return 0


class StreamRig(Rig):
    name = "tobii-stream"

    def __init__(self, patch: Any, folder: Path) -> None:
        super().__init__(patch, folder)
        self.library = FakeStreamEngine()
        patch.setattr(ctypes, "CDLL", lambda _: self.library)

    def look(self, t: float, left: Eye, right: Eye) -> None:
        seen = [eye for eye in (left, right) if eye is not None]
        x, y = (sum(side) / len(seen) for side in zip(*seen, strict=True)) if seen else (CANARY, CANARY)
        self.library.queue.append((round(t * 1e6), int(bool(seen)), x, y))

    def lose(self) -> None:
        self.library.there = False

    def garbage(self) -> list[Callable[[], None]]:
        odd = [(1, 1, NAN, 0.5), (1, 1, math.inf, 0.5), (1, 7, 0.5, 0.5), (-(2**62), 1, 0.5, 0.5)]
        return [lambda one=one: self.library.queue.append(one) for one in odd]  # type: ignore[misc]


class SmiRig(Rig):
    """iView X on this machine."""

    name = "smi"

    def __init__(self, patch: Any, folder: Path) -> None:
        super().__init__(patch, folder)
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", 0))
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.device = f"127.0.0.1:{self.socket.getsockname()[1]}:{self.port}"

    def open(self) -> Bridge:
        bridge = super().open()
        asked = [self.socket.recv(100) for _ in range(2)]
        if asked[0] == b"ET_EST\n":  # of the bridge before
            asked = [asked[1], self.socket.recv(100)]
        assert asked == [b'ET_FRM "%ET %TU %SX %SY"\n', b"ET_STR\n"]
        return bridge

    def tell(self, line: bytes) -> None:
        self.socket.sendto(line, ("127.0.0.1", self.port))

    def look(self, t: float, left: Eye, right: Eye) -> None:
        (lx, ly), (rx, ry) = pixels(left, 0.0), pixels(right, 0.0)
        self.tell(f"ET_SPL b {t * 1e6:.0f} {lx:.9f} {rx:.9f} {ly:.9f} {ry:.9f}\n".encode())

    def lose(self) -> None:
        """It leaves without a word: it stops, and what it says next is not understood."""
        self.tell(b"ET_SPL ?\n")

    def garbage(self) -> list[Callable[[], None]]:
        odd: tuple[bytes, ...] = (
            b"",
            b"\xff\xff",
            b"ET_SPL",
            b"ET_SPL b",
            b"ET_SPL x 1 2 3",
            b"ET_SPL l nan 1 2",
            b"ET_SPL l 1 a b",
        )
        odd += (b"ET_SPL l 1e999 1 2", b"ET_CAL 9", b"ET_SPL r 5 inf -inf", b"ET_SPL b 1 2 3 4")
        return [lambda one=one: self.tell(one) for one in odd]  # type: ignore[misc]

    def close(self) -> None:
        self.socket.close()


class LogRig(Rig):
    """A log that grows."""

    header = ""

    def __init__(self, patch: Any, folder: Path) -> None:
        super().__init__(patch, folder)
        self.path = folder / f"{self.name}.csv"
        self.path.write_text(self.header)
        self.device = str(self.path)

    def tell(self, text: str | bytes) -> None:
        with self.path.open("ab") as file:
            file.write(text if isinstance(text, bytes) else text.encode())

    def direction(self, eye: Eye) -> tuple[float, float, float]:
        if eye is None:
            return 0.0, 0.0, 0.0
        x, y = self.plane.from_fraction(*eye)
        return math.tan(math.radians(x)), -math.tan(math.radians(y)) / math.cos(math.radians(x)), 1.0

    def lose(self) -> None:
        self.path.unlink()
        self.path.write_text(self.header)

    def garbage(self) -> list[Callable[[], None]]:
        odd = (
            "\n",
            "1,2\n",
            '"unfinished\n',
            "a" * 100 + "\n",
            ",".join("x" * 99) + "\n",
            b"\xff\0\r\n",
            ";" * 200 + "\n",
        )
        return [lambda one=one: self.tell(one) for one in odd]  # type: ignore[misc]


class VarjoRig(LogRig):
    name = "varjo"
    header = (
        "raw_timestamp,focus_distance,status,gaze_forward_x,gaze_forward_y,gaze_forward_z,"
        "left_forward_x,left_pupil_size,HMDPosition\n"
    )

    def look(self, t: float, left: Eye, right: Eye) -> None:
        seen = [self.direction(eye) for eye in (left, right) if eye is not None]
        x, y, z = (sum(side) / len(seen) for side in zip(*seen, strict=True)) if seen else (CANARY,) * 3
        status = 2 if seen else 0
        self.tell(f"{10**18 + round(t * 1e9)},{CANARY},{status},{x!r},{y!r},{z!r},{CANARY},{CANARY},{CANARY}\n")


class ViveRig(LogRig):
    name = "vive"
    header = (
        "time(100ns);eye_valid_L;eye_valid_R;pupil_diameter_L(mm);pupil_diameter_R(mm);"
        + ";".join(f"gaze_{what}_{eye}.{axis}" for what in ("origin", "direct") for eye in "LR" for axis in "xyz")
        + "\n"
    )

    def look(self, t: float, left: Eye, right: Eye) -> None:
        """SRanipal's x grows to the left, and so the left eye has the larger one."""
        masks = [31 if eye is not None else 25 for eye in (left, right)]
        ends = [(-x, y, z) for x, y, z in (self.direction(left), self.direction(right))]
        numbers = [CANARY, CANARY, CANARY, 0, 0, -CANARY, 0, 0, *ends[0], *ends[1]]
        self.tell(";".join(map(repr, [638342794000000000 + round(t * 1e7), *masks, *numbers])) + "\n")


RIGS: dict[str, type[Rig]] = {
    rig.name: rig for rig in (TobiiRig, EyeLinkRig, BeamRig, StreamRig, SmiRig, VarjoRig, ViveRig)
}
