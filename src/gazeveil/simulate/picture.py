# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Paint a made-up scene: evening sky, sun, hills, and on them the faces, signs and things participants look at."""

from __future__ import annotations

import colorsys
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from gazeveil.arrays import FloatArray
from gazeveil.simulate.seeds import Purpose, generator
from gazeveil.simulate.stimulus import Region, RegionKind, Stimulus

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
