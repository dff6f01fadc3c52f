# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Follows a scene: from frames or boxes and their times to Kaleido's radii and window.

A region counts as a circle around its centre whose radius is half of the box's diagonal (equation 6). Two regions are
as far apart as their centres (equation 7). r_small, the median of the circles' radii, hides where in a region someone
looks; r_large, the median of the distances of all pairs, hides at which region.

The window w follows from the lengths of scenes (kaleido2021 section 5.4.2). It is the median over time, not over
scenes: half of the time is spent in scenes that are no longer. A second of rapid cuts is many scenes and still one
second of gaze.

There is no input or output here: nothing is opened, nothing waits, no clock is read. The caller has the frames and
calls `SceneContext.add_frame`, in a thread or process of its own where finding regions takes long, and passes the
`SceneState` on. A state holds from when it arrives; it says nothing about the time before.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gazeveil.arrays import FloatArray
from gazeveil.errors import InputError
from gazeveil.scene.frames import Pixels
from gazeveil.scene.keyframes import KeyframeDetector
from gazeveil.scene.regions import Finder, Regions, as_array, diagonal, overlaps


@dataclass(frozen=True, slots=True)
class Radii:
    """The two radii of a scene, in the unit of its width and height.

    What the equations leave undefined is None, and never guessed: without regions both, with one region the large one.
    Then the radius of the policy stands.

    Attributes:
        small: Median of half of the diagonals.
        large: Median of the distances between centres. It can be 0, if boxes lie within one another.
    """

    small: float | None = None
    large: float | None = None


def radii(regions: Regions, width: float, height: float) -> Radii:
    """Return r_small and r_large of a scene.

    Args:
        regions: Boxes in shares of the frame.
        width: Width of the frame, in the unit that is wanted.
        height: Height of the frame, in the same unit.

    Raises:
        InputError: If the frame has no size.
    """
    diagonal(width, height)
    if not regions:
        return Radii()
    boxes = as_array(regions) * np.array([width, height, width, height])
    small = float(np.median(0.5 * np.hypot(boxes[:, 2] - boxes[:, 0], boxes[:, 3] - boxes[:, 1])))
    if len(boxes) == 1:
        return Radii(small)
    x, y = (boxes[:, 0] + boxes[:, 2]) / 2, (boxes[:, 1] + boxes[:, 3]) / 2
    one, other = np.triu_indices(len(boxes), 1)
    return Radii(small, float(np.median(np.hypot(x[one] - x[other], y[one] - y[other]))))


# --- The window.


LONGEST_WINDOW_S = 10.0
"""The longest window: with one of an hour, a page that does not change would leave no budget."""


def window_of(lengths: Sequence[float], *, shortest: float, longest: float = LONGEST_WINDOW_S) -> float | None:
    """Return the window in seconds for scenes of these lengths; None if nothing is known yet.

    Args:
        lengths: Seconds of each scene; one that is not over counts as far as it has gone.
        shortest: Seconds between two analysed frames: nothing shorter can be seen.
        longest: What longer scenes are cut to.
    """
    known = np.array([length for length in lengths if length > 0])
    return float(np.clip(weighted_median(known, known), shortest, longest)) if len(known) else None


def weighted_median(values: FloatArray, weights: FloatArray) -> float:
    """Return the weighted median; between two values, the larger one."""
    order = np.argsort(values)
    heavy = np.cumsum(weights[order])
    place = int(np.searchsorted(heavy, heavy[-1] / 2, side="right"))
    return float(values[order[min(place, len(order) - 1)]])


# --- The scene as it goes on.


_SCENES = 64
"""Scenes that are remembered for the window."""
_SAME_BOX = 0.5
"""Two boxes are the same thing if they share half of the area that they cover together."""


@dataclass(frozen=True, slots=True)
class SceneState:
    """A scene at one moment.

    Attributes:
        t: Seconds on the source's clock.
        scene: Which scene, counted from 0.
        begins: Whether the scene begins here.
        regions: What can be looked at.
        radii: r_small and r_large in the unit of the context's width and height; None where undefined.
        window_s: The window for the lengths of scenes so far; None until a second frame.
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
        self.state: SceneState | None = None
        self._began: float | None = None
        self._count = 0
        self._lengths: deque[float] = deque(maxlen=_SCENES)

    def add_frame(self, t: float, frame: Pixels) -> SceneState | None:
        """Take a frame. Regions are found in keyframes only; between them the window may still grow.

        Returns:
            The state now, or None if it is not yet time for another frame.

        Raises:
            InputError: If there is no finder, time runs backwards, or that is no frame. Errors of a finder are passed
                on, and the new scene stays without regions.
        """
        if self.finder is None:
            raise InputError("there is nothing to find regions with", hint="make the context with a finder")
        if not self.detector.due(t):
            return None
        if self.detector.add_frame(t, frame) is None:
            return self._goes_on(t, None)
        state = self._new_scene(t, ())  # if the finder fails, the regions of the scene before must not go on
        found = self.finder(frame)
        return self._read(t, found, begins=True) if found else state

    def add_regions(self, t: float, regions: Regions) -> SceneState:
        """Take the regions of an engine that knows them. A scene is over when half of its boxes are gone."""
        if self.state is not None and t < self.state.t:
            raise InputError(f"boxes of {t!r} s come after some of {self.state.t!r} s", hint="time must not run back")
        if self.state is None or _is_other_scene(self.state.regions, regions):
            return self._new_scene(t, regions)
        return self._goes_on(t, regions)

    def _new_scene(self, t: float, regions: Regions) -> SceneState:
        if self._began is not None:
            self._lengths.append(t - self._began)
        self._began = t
        self._count += 1
        return self._read(t, regions, begins=True)

    def _goes_on(self, t: float, regions: Regions | None) -> SceneState:
        if self.state is None:
            raise InputError("no scene has begun")
        return self._read(t, self.state.regions if regions is None else regions, begins=False)

    def _read(self, t: float, regions: Regions, *, begins: bool) -> SceneState:
        known = self.state is not None and regions is self.state.regions and self.state.radii
        so_far = 0.0 if self._began is None else t - self._began
        self.state = SceneState(
            t,
            self._count - 1,
            begins,
            regions,
            known or radii(regions, self.width, self.height),
            window_of([*self._lengths, so_far], shortest=self.detector.pace.every_s),
        )
        return self.state


def _is_other_scene(before: Regions, now: Regions) -> bool:
    """Whether fewer than half of the boxes of either list are in the other one."""
    if not before or not now:
        return bool(before) != bool(now)
    same = overlaps(as_array(before), as_array(now)) >= _SAME_BOX
    return bool(min(np.mean(same.any(axis=1)), np.mean(same.any(axis=0))) < 0.5)
