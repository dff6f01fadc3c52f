# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Films without a camera: painted scenes, pages and clouds, joined by cuts, fades and pans at known times.

They are there to judge what finds scenes, and to have something on the screen where nothing is plugged in.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gazeveil.errors import OptionError
from gazeveil.simulate.seeds import Purpose, generator
from gazeveil.simulate.stimulus import scene

Pixels = NDArray[np.uint8]

_WHITE = 250


@dataclass(frozen=True, slots=True, eq=False)
class Shot:
    """One picture for a while.

    Attributes:
        picture: Rows by columns by red, green and blue. All shots of a film have the same size.
        seconds: How long it is shown, from where the shot before begins to give way.
        fade_s: Seconds in which the shot before it fades into it; 0 is a cut.
        pan: Widths of the frame that the picture moves to the left per second; it is a band without end.
    """

    picture: Pixels
    seconds: float
    fade_s: float = 0.0
    pan: float = 0.0

    def __post_init__(self) -> None:
        if not (self.seconds > 0 and 0 <= self.fade_s <= self.seconds):
            raise OptionError(f"a shot of {self.seconds!r} s cannot fade in for {self.fade_s!r} s")

    def at(self, seconds: float) -> Pixels:
        """Return what is seen of it some time after it began."""
        moved = round(self.pan * seconds * self.picture.shape[1])
        return np.roll(self.picture, -moved, axis=1) if moved else self.picture


def play(
    shots: Sequence[Shot], *, rate: float = 25.0, noise: float = 3.0, seed: int = 1
) -> Iterator[tuple[float, Pixels]]:
    """Yield times and frames of a film.

    Args:
        shots: In the order of time.
        rate: Frames per second.
        noise: Standard deviation of the noise of each pixel and colour, in steps of 255.
        seed: Of the noise.
    """
    rng = generator(seed, Purpose.SCENE, "film")
    ends = np.cumsum([shot.seconds for shot in shots])
    for number in range(round(float(ends[-1]) * rate)):
        t = number / rate
        place = int(np.searchsorted(ends, t + 1e-9, side="right"))
        since = max(t - (float(ends[place]) - shots[place].seconds), 0.0)
        yield t, _noisy(_seen(shots, place, since), noise, rng)


def _seen(shots: Sequence[Shot], place: int, since: float) -> NDArray[np.float32]:
    shot = shots[place]
    now = shot.at(since).astype(np.float32)
    if not place or since >= shot.fade_s:
        return now
    before = shots[place - 1]
    share = np.float32(since / shot.fade_s)
    return now * share + before.at(before.seconds + since).astype(np.float32) * (1 - share)


def _noisy(frame: NDArray[np.float32], noise: float, rng: np.random.Generator) -> Pixels:
    if noise > 0:
        frame = frame + np.float32(noise) * rng.standard_normal(frame.shape, dtype=np.float32)
    return np.clip(np.rint(frame), 0, 255).astype(np.uint8)


def painted(seed: int, width: int, height: int) -> Pixels:
    """Return a landscape with faces, signs and things."""
    return scene(seed, 0).picture(width, height)


def page(seed: int, width: int, height: int) -> Pixels:
    """Return a page of text: paragraphs of lines of words on white, somewhere else on each page."""
    rng = generator(seed, Purpose.SCENE, "page")
    pixels = np.full((height, width, 3), _WHITE, np.uint8)
    line = max(height // 30, 2)
    for left in (0.06, 0.54):
        top = round(float(rng.uniform(0.05, 0.25)) * height)
        while top < 0.92 * height:
            for _ in range(int(rng.integers(2, 6))):
                x = round(left * width)
                while x < (left + 0.36) * width and top + line < height:
                    word = round(float(rng.uniform(0.02, 0.07)) * width)
                    pixels[top : top + max(line // 2, 1), x : x + word] = 30
                    x += word + max(width // 120, 1)
                top += line
            top += 3 * line
    return pixels


def clouds(seed: int, width: int, height: int, contrast: float = 1.0) -> Pixels:
    """Return smooth patches of colour of all sizes, as photographs have."""
    rng = generator(seed, Purpose.SCENE, "clouds")
    total = np.zeros((height, width, 3))
    for size in (2, 4, 8, 16):
        rows, columns = (np.arange(side) * size / side for side in (height, width))
        total += _between(rng.standard_normal((size + 1, size + 1, 3)), rows, columns) / np.sqrt(size)
    total = (total - total.mean()) / total.std()
    return np.asarray(np.clip(120 + 55 * contrast * total, 0, 255), dtype=np.uint8)


def _between(grid: NDArray[np.float64], rows: NDArray[np.float64], columns: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a grid's values at fractional rows and columns."""
    top, left = rows.astype(int), columns.astype(int)
    down, across = (rows - top)[:, None, None], (columns - left)[None, :, None]
    upper = grid[top][:, left] * (1 - across) + grid[top][:, left + 1] * across
    lower = grid[top + 1][:, left] * (1 - across) + grid[top + 1][:, left + 1] * across
    return np.asarray(upper * (1 - down) + lower * down)
