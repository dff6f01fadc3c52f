# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""A scene as it goes on: frames or boxes and their times in, what they mean for radius and window out.

No input or output of its own: it opens nothing, waits for nothing and asks no clock. Whoever has the frames calls
`see`, in a thread or process of its own where finding regions takes long, and carries the `Reading` to where it is
needed. A reading holds from when it arrives; it says nothing about what was before.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np

from gazeveil.errors import InputError
from gazeveil.scene.finder import Finder
from gazeveil.scene.keyframes import KeyframeDetector
from gazeveil.scene.pixels import Pixels
from gazeveil.scene.radii import Radii, radii
from gazeveil.scene.regions import Regions, as_array, diagonal, overlaps
from gazeveil.scene.window import window_of

_SCENES = 64
"""Scenes that are remembered for the window."""
_SAME_BOX = 0.5
"""Two boxes are the same thing if they share half of the area that they cover together."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What a scene says.

    Attributes:
        t: Seconds on the source's clock at which it was looked at.
        scene: Which scene, counted from 0.
        begins: Whether the scene begins here.
        regions: What can be looked at.
        radii: r_small and r_large in the unit of the context's width and height; None where undefined.
        window_s: The window that scene lengths ask for; None until a second look.
    """

    t: float
    scene: int
    begins: bool
    regions: Regions
    radii: Radii
    window_s: float | None


class SceneContext:
    """Follows one source of frames or boxes.

    Args:
        width: Width of what is looked at, in the unit that radii shall have.
        height: Its height, in the same unit.
        finder: What finds regions in keyframes; without one only boxes can be given.
        detector: What finds keyframes.
    """

    def __init__(
        self,
        width: float,
        height: float,
        finder: Finder | None = None,
        *,
        detector: KeyframeDetector | None = None,
    ) -> None:
        diagonal(width, height)
        self.width, self.height = width, height
        self.finder = finder
        self.detector = detector or KeyframeDetector()
        self.reading: Reading | None = None
        self._began: float | None = None
        self._count = 0
        self._lengths: deque[float] = deque(maxlen=_SCENES)

    def see(self, t: float, frame: Pixels) -> Reading | None:
        """Look at a frame. Regions are sought in keyframes alone; between them the window may still grow.

        Returns:
            What holds now, or None if it is not time to look.

        Raises:
            InputError: If there is no finder, time runs backwards, or that is no frame. What a finder raises goes
                through, and the new scene stays without regions.
        """
        if self.finder is None:
            raise InputError("there is nothing to find regions with", hint="make the context with a finder")
        if not self.detector.due(t):
            return None
        if self.detector.see(t, frame) is None:
            return self._goes_on(t, None)
        reading = self._new_scene(t, ())  # if the finder fails, the regions of the scene before must not go on
        found = self.finder(frame)
        return self._read(t, found, begins=True) if found else reading

    def take(self, t: float, regions: Regions) -> Reading:
        """Take regions as they are, from an engine that knows them. A scene is over when half of its boxes are gone."""
        if self.reading is not None and t < self.reading.t:
            raise InputError(f"boxes of {t!r} s come after some of {self.reading.t!r} s", hint="time must not run back")
        if self.reading is None or _is_other(self.reading.regions, regions):
            return self._new_scene(t, regions)
        return self._goes_on(t, regions)

    def _new_scene(self, t: float, regions: Regions) -> Reading:
        if self._began is not None:
            self._lengths.append(t - self._began)
        self._began = t
        self._count += 1
        return self._read(t, regions, begins=True)

    def _goes_on(self, t: float, regions: Regions | None) -> Reading:
        if self.reading is None:
            raise InputError("no scene has begun")
        return self._read(t, self.reading.regions if regions is None else regions, begins=False)

    def _read(self, t: float, regions: Regions, *, begins: bool) -> Reading:
        known = self.reading is not None and regions is self.reading.regions and self.reading.radii
        so_far = 0.0 if self._began is None else t - self._began
        self.reading = Reading(
            t,
            self._count - 1,
            begins,
            regions,
            known or radii(regions, self.width, self.height),
            window_of([*self._lengths, so_far], shortest=self.detector.pace.every_s),
        )
        return self.reading


def _is_other(before: Regions, now: Regions) -> bool:
    """Whether fewer than half of the boxes of either list are in the other one."""
    if not before or not now:
        return bool(before) != bool(now)
    same = overlaps(as_array(before), as_array(now)) >= _SAME_BOX
    return bool(min(np.mean(same.any(axis=1)), np.mean(same.any(axis=0))) < 0.5)
