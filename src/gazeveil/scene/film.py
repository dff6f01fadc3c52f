# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""A video that is known beforehand, looked at from beginning to end: its scenes, and the window and radii for it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gazeveil.arrays import Tell, silent
from gazeveil.errors import InputError
from gazeveil.scene.context import SceneContext
from gazeveil.scene.pixels import Pixels
from gazeveil.scene.radii import Radii
from gazeveil.scene.regions import Regions
from gazeveil.scene.window import middle_of, window_of

MOST_STILLS = 64
"""Small pictures that are kept of a film. Of a long one every second, fourth, … scene has one: memory is bounded."""
_STILL = 320


@dataclass(frozen=True, slots=True, eq=False)
class Scene:
    """From a keyframe to the next.

    Attributes:
        begins: Seconds at which it was seen first.
        ends: Seconds at which the next one was, or at which the film ends.
        regions: What can be looked at in the keyframe.
        radii: What they ask for.
        still: A small picture of the keyframe, of some scenes.
    """

    begins: float
    ends: float
    regions: Regions
    radii: Radii
    still: Pixels | None = None

    @property
    def seconds(self) -> float:
        """How long it lasts."""
        return self.ends - self.begins


@dataclass(frozen=True, slots=True, eq=False)
class Film:
    """What a film asks for.

    Attributes:
        width: Pixels across of its frames.
        height: Pixels down.
        looks: How many frames were looked at.
        scenes: In the order of time.
        window_s: The window that the lengths of scenes ask for; None for a single look.
        radii: The radii that hold at half of all moments: medians over scenes, each as heavy as it is long.
    """

    width: int
    height: int
    looks: int
    scenes: tuple[Scene, ...]
    window_s: float | None
    radii: Radii

    def to_dict(self) -> dict[str, Any]:
        """Return all but the pictures as plain values."""
        return {
            "frame": {"width": self.width, "height": self.height},
            "looks": self.looks,
            "seconds": self.scenes[-1].ends - self.scenes[0].begins,
            "window_s": self.window_s,
            "r_small": self.radii.small,
            "r_large": self.radii.large,
            "scenes": [
                {
                    "begins_s": scene.begins,
                    "ends_s": scene.ends,
                    "r_small": scene.radii.small,
                    "r_large": scene.radii.large,
                    "regions": [list(box) for box in scene.regions],
                }
                for scene in self.scenes
            ],
        }


def survey(
    frames: Iterable[tuple[float, Pixels]],
    context: SceneContext,
    *,
    seconds: float | None = None,
    tell: Tell = silent,
) -> Film:
    """Look at all frames of a film.

    Args:
        frames: Times and frames, in order.
        context: A fresh one, with a finder.
        seconds: How long the film says that it lasts.
        tell: Called with the seconds done, and how many there are.

    Raises:
        InputError: If there are no frames.
    """
    scenes: list[Scene] = []
    stills = _Stills()
    looks, last, shape = 0, 0.0, (0, 0)
    for t, frame in frames:
        reading = context.see(t, frame)
        if reading is None:
            continue
        looks, last = looks + 1, t
        tell(t, seconds)
        if reading.begins:
            shape = shape if scenes else (frame.shape[1], frame.shape[0])
            if scenes:
                scenes[-1] = replace(scenes[-1], ends=t)
            scenes.append(Scene(t, t, reading.regions, reading.radii))
            stills.offer(frame)
    if not scenes:
        raise InputError("there are no frames to look at")
    scenes[-1] = replace(scenes[-1], ends=max(last, seconds or 0.0))
    lengths = [scene.seconds for scene in scenes]
    window = window_of(lengths, shortest=context.detector.pace.every_s)
    return Film(*shape, looks, stills.given_to(scenes), window, _typical(scenes))


def _typical(scenes: list[Scene]) -> Radii:
    found = {}
    for name in ("small", "large"):
        known = [(getattr(scene.radii, name), max(scene.seconds, 1e-9)) for scene in scenes]
        known = [(radius, weight) for radius, weight in known if radius is not None]
        found[name] = middle_of(*np.array(known).T) if known else None
    return Radii(**found)


class _Stills:
    """Small pictures of every scene, or of every second, fourth, … if there are many."""

    def __init__(self) -> None:
        self._kept: dict[int, Pixels] = {}
        self._count = 0
        self._step = 1

    def offer(self, frame: Pixels) -> None:
        if self._count % self._step == 0:
            step = -(-max(frame.shape[:2]) // _STILL)
            self._kept[self._count] = frame[::step, ::step].copy()
        self._count += 1
        if len(self._kept) > MOST_STILLS:
            self._step *= 2
            self._kept = {number: still for number, still in self._kept.items() if number % self._step == 0}

    def given_to(self, scenes: list[Scene]) -> tuple[Scene, ...]:
        return tuple(replace(scene, still=self._kept.get(number)) for number, scene in enumerate(scenes))
