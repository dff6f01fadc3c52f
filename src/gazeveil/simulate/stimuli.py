# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Stimuli: made-up scenes with regions that draw the gaze, pictures of them, and films.

They test the finders of scenes and regions, and fill the screen where no other stimulus is there.
"""

from __future__ import annotations

import colorsys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from gazeveil.arrays import FloatArray
from gazeveil.errors import OptionError
from gazeveil.simulate.population import Purpose, generator

if TYPE_CHECKING:
    from gazeveil.simulate.population import Observer


class RegionKind(StrEnum):
    """What a region shows; participants differ in how much each kind draws them."""

    FACE = "face"
    TEXT = "text"
    THING = "thing"


@dataclass(frozen=True, slots=True)
class Region:
    """A part of a scene that draws the gaze. All positions and sizes are fractions of the scene.

    Attributes:
        name: Unique within its scene.
        kind: What it shows.
        shape: ``ellipse`` or ``rectangle``.
        x: Centre, from the left.
        y: Centre, from the top.
        width: Full width.
        height: Full height.
        weight: How strongly it draws the gaze; bare background has `BACKGROUND`.
    """

    name: str
    kind: RegionKind
    shape: str
    x: float
    y: float
    width: float
    height: float
    weight: float

    def __post_init__(self) -> None:
        if self.shape not in {"ellipse", "rectangle"}:
            raise OptionError(f"region {self.name!r}: shape must be ellipse or rectangle, not {self.shape!r}")
        if not (self.width > 0 and self.height > 0 and self.weight >= 0):
            raise OptionError(f"region {self.name!r}: width and height must be above 0 and weight not below 0")

    @property
    def box(self) -> tuple[float, float, float, float]:
        """Left, top, right, bottom."""
        return (
            self.x - self.width / 2,
            self.y - self.height / 2,
            self.x + self.width / 2,
            self.y + self.height / 2,
        )

    def contains(self, x: FloatArray, y: FloatArray) -> NDArray[np.bool_]:
        """Whether points, given as fractions, lie inside."""
        across, down = self._from_centre(x, y)
        if self.shape == "ellipse":
            return np.asarray(across**2 + down**2 <= 1.0)
        return np.asarray((np.abs(across) <= 1.0) & (np.abs(down) <= 1.0))

    def pull(self, x: FloatArray, y: FloatArray) -> FloatArray:
        """How strongly this region draws the gaze to each point, from 0 to 1, fading at its edge."""
        across, down = self._from_centre(x, y)
        if self.shape == "ellipse":
            return np.asarray(np.exp(-(across**2 + down**2)))
        return np.asarray(np.exp(-(across**4 + down**4)))

    def _from_centre(self, x: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
        return (x - self.x) / (self.width / 2), (y - self.y) / (self.height / 2)


BACKGROUND = 0.12


@dataclass(frozen=True, slots=True)
class Stimulus:
    """A scene: a name, its regions, and how bright it is (0 to 1)."""

    name: str
    regions: tuple[Region, ...]
    brightness: float = 0.5
    seed: int = 0

    def weights_for(self, observer: Observer) -> FloatArray:
        """Return each region's weight as this participant feels it: kinds they like, and likings of their own."""
        own = generator(observer.seed, Purpose.TASTE, observer.index, self.name).standard_normal(len(self.regions))
        by_kind = {RegionKind.FACE: observer.face_taste, RegionKind.TEXT: observer.text_taste, RegionKind.THING: 0.0}
        liking = np.array([by_kind[region.kind] for region in self.regions]) + observer.own_taste * own
        return np.array([region.weight for region in self.regions]) * np.exp(liking)

    def attraction(self, x: FloatArray, y: FloatArray, weights: FloatArray) -> FloatArray:
        """How strongly each point, given as fractions, draws the gaze."""
        total = np.full(np.shape(x), BACKGROUND)
        for region, weight in zip(self.regions, weights, strict=True):
            total += weight * region.pull(x, y)
        return total

    def region_at(self, x: FloatArray, y: FloatArray) -> NDArray[np.int64]:
        """Return the index of the region each point lies in, the first where several overlap; -1 for none."""
        found = np.full(np.shape(x), -1, dtype=np.int64)
        for index, region in reversed(list(enumerate(self.regions))):
            found[region.contains(x, y)] = index
        return found

    def picture(self, width: int = 960, height: int = 600) -> NDArray[np.uint8]:
        """Paint the scene: a ``height x width x 3`` array of RGB bytes, the same every time."""
        return paint(self, width, height)


_WEIGHT = {RegionKind.FACE: 3.0, RegionKind.TEXT: 2.0, RegionKind.THING: 1.2}


def scene(seed: int, index: int) -> Stimulus:
    """Make up scene ``index`` of a seed: one or two faces, a sign or two, and some things, none overlapping."""
    if index < 0:
        raise OptionError(f"scenes are counted from 0, not from {index}")
    rng = generator(seed, Purpose.SCENE, index)
    kinds = [RegionKind.FACE] * int(rng.integers(1, 3)) + [RegionKind.TEXT] * int(rng.integers(1, 3))
    kinds += [RegionKind.THING] * int(rng.integers(2, 4))
    counts: Counter[str] = Counter()
    regions = []
    # twelve places, four across and three down; each region stays within its own
    for kind, place in zip(kinds, rng.permutation(12)[: len(kinds)], strict=True):
        label = str(rng.choice(("ball", "box"))) if kind is RegionKind.THING else str(kind)
        counts[label] += 1
        width, height = _size(kind, rng)
        x = (place % 4 + 0.5) / 4 + rng.uniform(-0.5, 0.5) * (0.25 - width) * 0.9
        y = (place // 4 + 0.5) / 3 + rng.uniform(-0.5, 0.5) * (1 / 3 - height) * 0.9
        shape = "rectangle" if label in {"text", "box"} else "ellipse"
        weight = _WEIGHT[kind] * float(rng.uniform(0.8, 1.25))
        regions.append(Region(f"{label}-{counts[label]}", kind, shape, float(x), float(y), width, height, weight))
    return Stimulus(f"scene-{index + 1:02d}", tuple(regions), float(rng.uniform(0.3, 0.7)), seed)


def _size(kind: RegionKind, rng: np.random.Generator) -> tuple[float, float]:
    grow = float(rng.uniform(0.85, 1.15))
    if kind is RegionKind.FACE:
        return 0.12 * grow, 0.24 * grow
    if kind is RegionKind.TEXT:
        return 0.19 * grow, 0.13 * grow
    return 0.13 * grow, 0.19 * grow


# --- The picture of a scene: evening sky, sun, hills, and on them the faces, signs and things participants look at.


_SKINS = ((0.96, 0.80, 0.69), (0.87, 0.67, 0.52), (0.70, 0.49, 0.36), (0.48, 0.32, 0.24))
_DARK = (0.16, 0.15, 0.20)


class _Canvas:
    """A picture in the making: colours from 0 to 1, painted with soft-edged shapes."""

    def __init__(self, rgb: FloatArray, x: FloatArray, y: FloatArray, pixel: float) -> None:
        self.rgb = rgb
        self.x = x
        self.y = y
        self.pixel = pixel

    @staticmethod
    def blank(width: int, height: int) -> _Canvas:
        """Return an empty canvas."""
        x = (np.arange(width) + 0.5)[None, :] / width
        y = (np.arange(height) + 0.5)[:, None] / height
        return _Canvas(np.zeros((height, width, 3)), x, y, 1.0 / min(width, height))

    def around(self, region: Region) -> _Canvas:
        """Return the part from somewhat above a region down to the ground, sharing this canvas's colours."""
        left, top, right, _ = region.box
        first, last = np.searchsorted(self.x[0], (left - 0.4 * region.width, right + 0.4 * region.width))
        row = int(np.searchsorted(self.y[:, 0], top - 0.4 * region.height))
        return _Canvas(self.rgb[row:, first:last], self.x[:, first:last], self.y[row:], self.pixel)

    def cover(self, alpha: FloatArray, colour: FloatArray | tuple[float, float, float]) -> None:
        """Lay a colour, or a picture of colours, over what is there."""
        self.rgb += alpha[..., None] * (np.asarray(colour) - self.rgb)

    def ellipse(self, x: float, y: float, width: float, height: float) -> tuple[FloatArray, FloatArray]:
        """Return how much each pixel lies within an ellipse, and its distance from the centre (1 at the rim)."""
        far = np.sqrt(((self.x - x) / (width / 2)) ** 2 + ((self.y - y) / (height / 2)) ** 2)
        return self._inside((1.0 - far) * min(width, height) / 2), far

    def panel(self, x: float, y: float, width: float, height: float, round_by: float = 0.0) -> FloatArray:
        """Return how much each pixel lies within a rectangle with rounded corners."""
        across = np.abs(self.x - x) - (width / 2 - round_by)
        down = np.abs(self.y - y) - (height / 2 - round_by)
        outside = np.hypot(np.maximum(across, 0.0), np.maximum(down, 0.0))
        return self._inside(round_by - outside - np.minimum(np.maximum(across, down), 0.0))

    def _inside(self, depth: FloatArray) -> FloatArray:
        return np.clip(depth / self.pixel + 0.5, 0.0, 1.0)


def paint(stimulus: Stimulus, width: int, height: int) -> NDArray[np.uint8]:
    """Return the scene as ``height x width x 3`` RGB bytes; the same scene always looks the same."""
    canvas = _Canvas.blank(width, height)
    rng = generator(stimulus.seed, Purpose.SCENE, crc32(stimulus.name.encode()), 1)
    _landscape(canvas, rng, stimulus.brightness)
    for region in sorted(stimulus.regions, key=lambda region: region.y):  # what stands lower stands in front
        part = canvas.around(region)
        _shadow(part, region)
        {RegionKind.FACE: _face, RegionKind.TEXT: _sign, RegionKind.THING: _thing}[region.kind](part, region, rng)
    return np.asarray(np.round(np.clip(canvas.rgb, 0.0, 1.0) * 255.0), dtype=np.uint8)


def _hue(hue: float, lightness: float, strength: float) -> FloatArray:
    return np.array(colorsys.hls_to_rgb(hue % 1.0, lightness, strength))


def _landscape(canvas: _Canvas, rng: np.random.Generator, brightness: float) -> None:
    base = float(rng.choice((0.02, 0.07, 0.5, 0.55, 0.6, 0.64, 0.9)))  # warm or blue skies, no green ones
    light = 0.25 + 0.5 * brightness
    above, below = _hue(base + 0.08, light, 0.45), _hue(base - 0.04, min(light + 0.28, 0.92), 0.55)
    canvas.rgb[:] = above + canvas.y[..., None] ** 0.8 * (below - above)
    x, y = float(rng.uniform(0.15, 0.85)), float(rng.uniform(0.12, 0.3))
    aspect = canvas.rgb.shape[0] / canvas.rgb.shape[1]
    sun, far = canvas.ellipse(x, y, 0.16 * aspect, 0.16)
    canvas.cover(0.55 * np.exp(-((far / 2.4) ** 2)), (1.0, 0.96, 0.82))
    canvas.cover(sun, (1.0, 0.97, 0.86))
    for layer in range(4):
        tops = 0.52 + 0.11 * layer + np.zeros_like(canvas.x)
        for wave in range(1, 5):
            tops = tops + 0.05 / wave * np.sin(2 * np.pi * (wave * rng.uniform(0.5, 1.1) * canvas.x + rng.uniform()))
        colour = _hue(base + 0.3 + 0.03 * layer, max(light + 0.12 - 0.12 * layer, 0.12), 0.28)
        canvas.cover(np.clip((canvas.y - tops) / canvas.pixel + 0.5, 0.0, 1.0), colour)


def _shadow(canvas: _Canvas, region: Region) -> None:
    _, far = canvas.ellipse(region.x + 0.008, region.y + 0.02, region.width * 1.1, region.height * 1.1)
    canvas.cover(0.32 * np.clip(1.25 - far, 0.0, 0.5) / 0.5, (0.05, 0.05, 0.10))


def _face(canvas: _Canvas, region: Region, rng: np.random.Generator) -> None:
    x, y, width, height = region.x, region.y, region.width, region.height
    skin = np.array(_SKINS[int(rng.integers(len(_SKINS)))])
    hair = _hue(float(rng.uniform(0.02, 0.12)), float(rng.uniform(0.1, 0.45)), 0.4)
    canvas.cover(canvas.ellipse(x, y - 0.05 * height, width, 0.9 * height)[0], hair)
    head, far = canvas.ellipse(x, y + 0.06 * height, 0.84 * width, 0.88 * height)
    canvas.cover(head, skin * (1.04 - 0.16 * far[..., None] ** 2))
    for side in (-1, 1):
        eye = x + side * 0.18 * width
        canvas.cover(canvas.ellipse(eye, y, 0.19 * width, 0.10 * height)[0], (0.98, 0.98, 0.96))
        canvas.cover(canvas.ellipse(eye, y, 0.09 * width, 0.085 * height)[0], _DARK)
        canvas.cover(0.7 * canvas.panel(eye, y - 0.09 * height, 0.2 * width, 0.018 * height, 0.004), hair)
    canvas.cover(0.35 * canvas.ellipse(x, y + 0.13 * height, 0.11 * width, 0.11 * height)[0], skin * 0.7)
    mouth, _ = canvas.ellipse(x, y + 0.28 * height, 0.34 * width, 0.12 * height)
    canvas.cover(mouth * (canvas.y > y + 0.28 * height), (0.72, 0.28, 0.28))


def _sign(canvas: _Canvas, region: Region, rng: np.random.Generator) -> None:
    x, y, width, height = region.x, region.y, region.width, region.height
    canvas.cover(canvas.panel(x, y + 0.3, 0.01, 0.6) * (canvas.y > y + height / 2 - 0.01), (0.35, 0.3, 0.28))
    canvas.cover(canvas.panel(x, y, width, height, 0.012), _hue(float(rng.uniform()), 0.35, 0.45))
    canvas.cover(canvas.panel(x, y, width - 0.012, height - 0.02, 0.008), (0.97, 0.95, 0.88))
    for line in range(4):
        top = y + height * (-0.3 + 0.2 * line)
        left, right = x - 0.42 * width, x + (0.42 if line < 3 else 0.1) * width
        while left < right - 0.02 * width:
            word = min(float(rng.uniform(0.05, 0.2)) * width, right - left)
            canvas.cover(canvas.panel(left + word / 2, top, word, 0.07 * height, 0.003), _DARK)
            left += word + 0.035 * width


def _thing(canvas: _Canvas, region: Region, rng: np.random.Generator) -> None:
    x, y, width, height = region.x, region.y, region.width, region.height
    hue, light = float(rng.uniform()), float(rng.uniform(0.42, 0.6))
    colour = _hue(hue, light, 0.7)
    if region.shape == "rectangle":
        shade = 1.12 - 0.3 * (canvas.y - y + height / 2) / height
        canvas.cover(canvas.panel(x, y, width, height, 0.01), colour * shade[..., None])
        canvas.cover(0.8 * canvas.panel(x, y, 0.16 * width, height), _hue(hue + 0.5, 0.75, 0.5))
        return
    body, far = canvas.ellipse(x, y, width, height)
    canvas.cover(body, colour * (1.1 - 0.5 * far[..., None] ** 2))
    bands = 0.5 + 0.5 * np.sign(np.sin(8.0 * np.pi * (canvas.y - y) / height + float(rng.uniform(0, 6))))
    canvas.cover(0.35 * body * bands + 0.0 * canvas.x, _hue(hue + 0.45, 0.8, 0.6))
    canvas.cover(0.75 * canvas.ellipse(x - 0.18 * width, y - 0.2 * height, 0.22 * width, 0.2 * height)[0], (1, 1, 1))


# --- Films: painted scenes, pages and clouds, joined by cuts, fades and pans at known times.


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
