# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Keyframes, where scenes begin: the binarised difference to the last one, every 500 ms (kaleido2021 section 6).

Kaleido compares the binarised difference with a "pre-calibrated threshold" and does not say which. Our rule has three
parts (docs/decisions/0146-scene.md has the reasons and what was measured):

1. *What counts as different.* A cell of a coarse raster differs if its colour moved by more than ``visible`` steps of
   255, and by more than five times what noise moves it.
2. *Noise is no scene change.* More cells must differ than noise alone makes differ in one of a million frames, and
   more than ``least_share`` of the frame.
3. *How much is a change.* Two unrelated frames do not differ everywhere: both have the white of a page. So what differs
   is set against what would differ by chance, if the cells of both frames were shuffled. A scene is over when the frame
   is nearer to that than to the keyframe: agreement beyond chance below one half.

The second and the third are taken from the frames alone: no number has to be calibrated for a new kind of content.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass

import numpy as np

from gazeveil.arrays import Float32Array
from gazeveil.errors import InputError, OptionError
from gazeveil.scene.frames import LOOK_EVERY_S, Pace, Pixels, cells, checked_frame

_COLUMNS = 128
_MOST_ROWS = 512
_LEAST_CELL = 3
"""A cell is at least this many pixels wide and high where the frame allows it: a pixel alone is mostly noise."""

_NOISE_FACTOR = 5.0
"""Five median differences are 3.4 standard deviations of normal noise."""
_NOISE_TAIL = 7.5e-4
"""How often normal noise goes beyond those."""
_FALSE_ALARMS = 1e-6
"""The share of frames of an unchanged scene that may count as keyframes."""
_RECENT = 8
"""Pairs of frames, the quietest of which measures noise: motion comes and goes, noise stays."""
_MOST_VISIBLE = 96.0
"""The most change that a cell needs to count as different, however much the scene moves."""


@dataclass(frozen=True, slots=True)
class KeyframeRule:
    """The threshold that the paper leaves open.

    Attributes:
        visible: Steps of 255 that a cell's colour must move to count as different.
        least_share: Share of the frame that must differ at least.
        agreement: A new scene begins where agreement with the keyframe, beyond chance, is below this.
    """

    visible: float = 20.0
    least_share: float = 0.01
    agreement: float = 0.5

    def __post_init__(self) -> None:
        if not 0 < self.visible <= _MOST_VISIBLE:
            raise OptionError(f"visible must be above 0 and at most {_MOST_VISIBLE:g} steps, not {self.visible!r}")
        for name in ("least_share", "agreement"):
            if not 0 < getattr(self, name) < 1:
                raise OptionError(f"{name} must be between 0 and 1, not {getattr(self, name)!r}")

    def least(self, count: int) -> float:
        """Return the share of this many cells that must differ: more than noise makes differ."""
        mean = count * _NOISE_TAIL
        tail = term = math.exp(-mean)
        needed = 1
        while 1 - tail > _FALSE_ALARMS:
            term *= mean / needed
            tail += term
            needed += 1
        return max(self.least_share, needed / count)


@dataclass(frozen=True, slots=True)
class Change:
    """How a frame differs from the keyframe.

    Attributes:
        share: Share of the frame's cells that differ.
        by_chance: The same if both frames were shuffled.
        level: How far a cell had to move, in steps of 255.
    """

    share: float
    by_chance: float
    level: float

    @property
    def agreement(self) -> float:
        """1 for the same frame, 0 for one that agrees as far as chance does, or below."""
        return 1.0 if self.share == 0 else max(0.0, 1 - self.share / self.by_chance) if self.by_chance else 0.0


@dataclass(frozen=True, slots=True)
class Keyframe:
    """The first look at a scene.

    Attributes:
        number: Counted from 0.
        t: Seconds on the clock of the source.
        change: From the keyframe before; None for the first, and where the frame's size changed.
    """

    number: int
    t: float
    change: Change | None = None


class KeyframeDetector:
    """Finds the frames that begin a scene. It holds two small rasters, never a frame."""

    def __init__(self, rule: KeyframeRule | None = None, *, every_s: float = LOOK_EVERY_S) -> None:
        self.rule = rule or KeyframeRule()
        self.pace = Pace(every_s)
        self.change: Change | None = None
        """The change at the latest analysed frame, whether a scene began or not."""
        self._last = -math.inf
        self._count = 0
        self._size = (0, 0)
        self._keyframe = self._before = np.empty((0, 0, 3), np.float32)
        self._quiet: deque[float] = deque(maxlen=_RECENT)

    def due(self, t: float) -> bool:
        """Whether a frame of this time would be looked at. Others need not be decoded."""
        return self.pace.due(t)

    def add_frame(self, t: float, frame: Pixels) -> Keyframe | None:
        """Return the keyframe that this frame is, or None if the scene goes on or it is not time to look.

        Args:
            t: Seconds on the source's clock. Looks that were missed are not made up for.
            frame: Rows by columns by red, green and blue.

        Raises:
            InputError: If time runs backwards or that is no frame.
        """
        if not math.isfinite(t) or t < self._last:
            raise InputError(f"a frame of {t!r} s comes after one of {self._last!r} s", hint="time must not run back")
        if not self.due(t):
            return None
        pixels = checked_frame(frame)
        self._last = t
        self.pace.looked(t)
        now = cells(pixels, *_raster(pixels))
        if self._size != pixels.shape[:2]:
            self._size = (pixels.shape[0], pixels.shape[1])
            self._quiet.clear()
            self.change = None
            return self._begin(t, now)
        self._quiet.append(_noise_of(now - self._before))
        self._before = now
        self.change = change = self._change(self._keyframe, now)
        if change.share < self.rule.least(now[..., 0].size) or change.agreement >= self.rule.agreement:
            return None
        return self._begin(t, now)

    def _begin(self, t: float, now: Float32Array) -> Keyframe:
        self._keyframe = self._before = now
        self._count += 1
        return Keyframe(self._count - 1, t, self.change)

    def _change(self, keyframe: Float32Array, now: Float32Array) -> Change:
        level = min(max(self.rule.visible, _NOISE_FACTOR * min(self._quiet)), _MOST_VISIBLE)
        share = float(np.mean(np.abs(now - keyframe) > level))
        by_chance = np.mean([_by_chance(keyframe[..., c].ravel(), now[..., c].ravel(), level) for c in range(3)])
        return Change(share, float(by_chance), level)


def _raster(frame: Pixels) -> tuple[int, int]:
    """Return rows and columns of the raster over a frame."""
    height, width = frame.shape[:2]
    columns = max(min(_COLUMNS, width // _LEAST_CELL), 1)
    rows = round(columns * height / width)
    return max(min(rows, _MOST_ROWS, height // _LEAST_CELL), 1), columns


def _noise_of(difference: Float32Array) -> float:
    """Return the median size of the noise in the difference of two looks.

    A scene that moves or gives way changes neighbouring cells alike, noise does not. So what neighbours share is taken
    out first, by second differences down and across: of noise they leave six times as much.
    """
    plain = float(np.median(np.abs(difference)))
    if min(difference.shape[:2]) < 3:
        return plain
    down = difference[:-2] - 2 * difference[1:-1] + difference[2:]
    rough = down[:, :-2] - 2 * down[:, 1:-1] + down[:, 2:]
    return min(plain, float(np.median(np.abs(rough))) / 6)


def _by_chance(one: Float32Array, other: Float32Array, level: float) -> float:
    """Return how many of all pairs of a value here and a value there, in whole steps, differ by more than a level."""
    here, there = (np.bincount(np.rint(values).astype(np.int64), minlength=256) for values in (one, other))
    up_to = np.concatenate([[0], np.cumsum(there)])
    steps, reach = np.arange(256), int(level)
    alike = up_to[np.minimum(steps + reach + 1, 256)] - up_to[np.maximum(steps - reach, 0)]
    return float(1 - (here * alike).sum() / (len(one) * len(other)))
