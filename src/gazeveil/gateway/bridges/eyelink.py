# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""EyeLink trackers through SR Research's ``pylink``: samples of the link, while the tracker writes no file.

Points are in the pixels of the tracker's ``screen_pixel_coords``. They are compared with the policy's screen, since
nothing else would notice another one.
"""

from __future__ import annotations

import contextlib
import re
import time
from typing import Any, Final

from gazeveil.errors import InputError, WireError
from gazeveil.gateway.bridge import (
    BRIDGES,
    MOST_AT_ONCE,
    NOWHERE,
    Bridge,
    BridgeKind,
    Point,
    broken,
    mean_of,
    moment_of,
    point_of,
    refused,
    vendors,
)
from gazeveil.gateway.protocol import ViewingPlane
from gazeveil.gateway.sample import RawSample

TITLE: Final = "EyeLink"
_MODULE: Final = "pylink"
_INSTALL: Final = "pip install sr-research-pylink, or the EyeLink Developers Kit of SR Research"
_USUAL: Final = "100.1.1.1"
_MISSING: Final = -32768
_ANSWERS_S: Final = 0.5
_CLOSE_PX: Final = 1.0
"""Screens are written as 0 to 1919 by most and as 0 to 1920 by some."""


class EyeLink(Bridge):
    """A link to a tracker that records for us alone."""

    def __init__(self, pylink: Any, device: str, plane: ViewingPlane) -> None:
        self._kinds = (pylink.SAMPLE_TYPE,)
        try:
            self._tracker = pylink.EyeLink(device or _USUAL)
        except Exception as error:  # RuntimeError today
            raise refused(TITLE, error) from error
        try:
            self._check_screen(plane)
            if self._tracker.startRecording(0, 0, 1, 0):
                raise WireError(f"{TITLE}: the tracker does not begin to record", hint="leave its set-up screen")
        except Exception as error:
            self.close()
            raise error if isinstance(error, InputError) else refused(TITLE, error) from error

    def poll(self) -> list[RawSample]:
        """Return all samples that wait in the link's queue."""
        found: list[RawSample] = []
        try:
            if self._tracker.isConnected() not in (1, 2):
                raise WireError(f"{TITLE}: the link is closed")
            for _ in range(MOST_AT_ONCE):
                kind = self._tracker.getNextData()
                if not kind:
                    break
                if kind in self._kinds and (sample := self._tracker.getFloatData()) is not None:
                    found.append(sample_of(sample))
        except InputError:
            raise
        except Exception as error:
            raise broken(TITLE, error) from error
        return found

    def close(self) -> None:
        """Stop the recording, and close the link."""
        for step in ("stopRecording", "close"):
            with contextlib.suppress(Exception):
                getattr(self._tracker, step)()

    def _check_screen(self, plane: ViewingPlane) -> None:
        reply = self._asked("screen_pixel_coords")
        sides = [float(number) for number in re.findall(r"-?\d+(?:\.\d+)?", reply)[:4]]
        if len(sides) < 4:
            return  # an old tracker does not answer; the gateway still compares points with the screen
        left, top, right, bottom = sides
        width, height = plane.pixels
        if left or top or abs(right + 1 - width) > _CLOSE_PX or abs(bottom + 1 - height) > _CLOSE_PX:
            raise InputError(
                f"{TITLE}: the tracker has a screen of {right - left + 1:g}x{bottom - top + 1:g} pixels from "
                f"{left:g}, {top:g}, the policy one of {width}x{height}",
                hint="write the screen that it was calibrated with into the policy",
            )

    def _asked(self, what: str) -> str:
        if self._tracker.readRequest(what):
            return ""
        until = time.monotonic() + _ANSWERS_S
        while time.monotonic() < until:
            if answer := self._tracker.readReply():
                return str(answer)
            time.sleep(0.005)
        return ""


def sample_of(sample: Any) -> RawSample:
    """Return a sample of the link: the mean of both eyes, or the one that has gaze."""
    t = moment_of(TITLE, sample.getTime(), 1e3)
    left = _eye(sample.getLeftEye()) if sample.isLeftSample() else NOWHERE
    right = _eye(sample.getRightEye()) if sample.isRightSample() else NOWHERE
    return RawSample(t, *mean_of(left, right))


def _eye(eye: Any) -> Point:
    x, y = point_of(eye.getGaze())
    return NOWHERE if _MISSING in (x, y) else (x, y)


BRIDGES.register("eyelink")(
    BridgeKind(
        name="eyelink",
        title=TITLE,
        unit="px",
        open=lambda device, plane: EyeLink(vendors(_MODULE, TITLE, _INSTALL), device, plane),
        device=f"address of the host PC, {_USUAL} if not given",
        withheld={
            "getPupilSize, getRawPupil": "Pupil size and place are not veiled.",
            "getHREF": "The same gaze as an angle of the eye in the head.",
            "getPPD": "Resolution at the raw gaze point: it reveals where that is.",
            "getTargetX, getTargetY, getTargetDistance, getHData": "Where the head is.",
            "events": "Saccades, fixations and blinks of raw gaze.",
        },
        module=_MODULE,
        install=_INSTALL,
    )
)
