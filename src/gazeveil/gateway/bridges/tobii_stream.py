# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Tobii's trackers for players (Eye Tracker 5, 4C) through the C library Stream Engine, by its published interface.

The library comes from Tobii. Its licence is for interaction: whoever stores or analyses gaze of these trackers needs
another one from Tobii. Callbacks run only while the bridge is polled.
"""

from __future__ import annotations

import contextlib
import ctypes
import ctypes.util
from collections.abc import Callable
from typing import Any, Final

from gazeveil.errors import MissingExtra, WireError
from gazeveil.gateway.bridge import BRIDGES, NOWHERE, Bridge, BridgeKind, moment_of, point_of
from gazeveil.gateway.sample import RawSample

TITLE: Final = "Tobii Eye Tracker 5 (Stream Engine)"
_LIBRARY: Final = "tobii_stream_engine"
_INSTALL: Final = f"get Tobii's Stream Engine, and put {_LIBRARY} where the system finds libraries"
_NO_ERROR, _TIMED_OUT, _VALID, _INTERACTIVE = 0, 6, 1, 1
_FIRST_WITH_USE: Final = 4
"""From this version on a device is opened for a use."""


class Version(ctypes.Structure):
    """``tobii_version_t``."""

    _fields_ = tuple((name, ctypes.c_int) for name in ("major", "minor", "revision", "build"))


class GazePoint(ctypes.Structure):
    """``tobii_gaze_point_t``: microseconds, whether it is valid, and shares of the display."""

    _fields_ = (
        ("timestamp_us", ctypes.c_int64),
        ("validity", ctypes.c_int),
        ("position_xy", ctypes.c_float * 2),
    )


OnUrl = ctypes.CFUNCTYPE(None, ctypes.c_char_p, ctypes.c_void_p)
OnGaze = ctypes.CFUNCTYPE(None, ctypes.POINTER(GazePoint), ctypes.c_void_p)


class TobiiStream(Bridge):
    """One device that we have subscribed to."""

    def __init__(self, library: Any, device: str) -> None:
        self._library = library
        self._api, self._device = ctypes.c_void_p(), ctypes.c_void_p()
        self._came: list[tuple[int, bool, float, float]] = []
        self._on_gaze = OnGaze(self._gaze)  # kept: the library calls it as long as we are subscribed
        try:
            self._call("tobii_api_create", ctypes.byref(self._api), None, None)
            self._open(device)
            self._call("tobii_gaze_point_subscribe", self._device, self._on_gaze, None)
        except WireError:
            self.close()
            raise

    def poll(self) -> list[RawSample]:
        """Let the library call back, and return what it brought."""
        self._call("tobii_device_process_callbacks", self._device, fine=(_NO_ERROR, _TIMED_OUT))
        came, self._came = self._came, []
        return [_sample(*one) for one in came]

    def close(self) -> None:
        """Unsubscribe, and give the device and the library back."""
        steps = (("gaze_point_unsubscribe", self._device), ("device_destroy", self._device), ("api_destroy", self._api))
        for step, handle in steps:
            if handle.value:
                with contextlib.suppress(Exception):
                    getattr(self._library, f"tobii_{step}")(handle)
        self._api, self._device = ctypes.c_void_p(), ctypes.c_void_p()
        self._came.clear()

    def _open(self, device: str) -> None:
        urls: list[bytes] = []
        on_url = OnUrl(lambda url, _: urls.append(url))
        self._call("tobii_enumerate_local_device_urls", self._api, on_url, None)
        wanted = [url for url in urls if not device or url == device.encode()]
        if not wanted:
            raise WireError(f"{TITLE}: no such tracker is connected", hint=f"connected: {_listed(urls)}")
        version = Version()
        self._call("tobii_get_api_version", ctypes.byref(version))
        use = (ctypes.c_int(_INTERACTIVE),) if version.major >= _FIRST_WITH_USE else ()
        self._call("tobii_device_create", self._api, wanted[0], *use, ctypes.byref(self._device))

    def _gaze(self, point: Any, _: object) -> None:
        gaze = point.contents
        self._came.append((gaze.timestamp_us, gaze.validity == _VALID, *gaze.position_xy))

    def _call(self, name: str, *given: Any, fine: tuple[int, ...] = (_NO_ERROR,)) -> None:
        function: Callable[..., int] | None = getattr(self._library, name, None)
        if function is None:
            raise WireError(f"{TITLE}: the library has no {name}", hint="this version of Stream Engine is not known")
        if (code := function(*given)) not in fine:
            raise WireError(f"{TITLE}: {name} failed with the error {code}", hint="Tobii's documentation lists them")


def _sample(t: int, valid: bool, x: float, y: float) -> RawSample:
    return RawSample(moment_of(TITLE, t, 1e6), *(point_of((x, y)) if valid else NOWHERE))


def _listed(urls: list[bytes]) -> str:
    return ", ".join(url.decode(errors="replace") for url in urls) or "none"


def _library() -> Any:
    """Return the vendor's library.

    Raises:
        MissingExtra: If the system does not find it, or it does not load.
    """
    try:
        return ctypes.CDLL(ctypes.util.find_library(_LIBRARY) or _LIBRARY)
    except OSError as error:
        raise MissingExtra(_LIBRARY, "", TITLE, hint=_INSTALL) from error


BRIDGES.register("tobii-stream")(
    BridgeKind(
        name="tobii-stream",
        title=TITLE,
        unit="norm",
        open=lambda device, _: TobiiStream(_library(), device),
        device="address of the device, as the library lists it; not needed with one tracker",
        withheld={
            "gaze origin, eye position": "Positions of the eyes: a biometric. They are not subscribed to.",
            "head pose, user presence": "Pose of the head; not subscribed to.",
        },
        library=_LIBRARY,
        install=_INSTALL,
    )
)
