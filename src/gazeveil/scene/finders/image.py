# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Regions from the pixels alone, without weights: what lies on a plain ground, what stands out, and blocks of text.

Screens, pages and many games have a ground: one colour that fills much of the frame. Everything else on it is a
region, and letters that stand close are one block. Photographs and films have none; there the spectral residual (Hou
and Zhang 2007) says what stands out, and dense fine edges are text.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from gazeveil.errors import OptionError
from gazeveil.scene._opencv import opencv
from gazeveil.scene._shapes import boxes_around
from gazeveil.scene.finder import FINDERS, Finder
from gazeveil.scene.pixels import Pixels, checked
from gazeveil.scene.regions import Regions, as_regions, without_doubles
from gazeveil.types import Float32Array, FloatArray

_SIDE = 320
"""Pixels of the longer side that frames are shrunk to."""
_GROUND = 0.25
"""A colour that fills this share of a frame is its ground."""
_APART = 24
"""Steps of 255 between the ground and what lies on it."""
_GAP = 0.02
"""Share of the longer side that may lie between letters, words and lines of one block."""
_SMALLEST = 0.0005
"""Share of the frame below which a region is a speck: 0.8 by 0.8 degrees on a screen of 44 by 26."""
_LARGEST = 0.6
"""Share of the frame above which a region is the scene itself."""
_MOST = 100
_LEAST_SIDE = 8
_ACROSS = 64
"""Pixels across at which standing out is judged."""
_EDGES = 0.3
"""Share of the pixels of a text block that are edges, at least."""


@FINDERS.register("image")
def image(model: Path | None = None) -> Finder:
    """Return the finder that needs nothing but the frame."""
    if model is not None:
        raise OptionError("the finder 'image' needs no file of weights", hint="leave it out, or use the finder 'onnx'")
    opencv("finding regions")
    return find


def find(frame: Pixels) -> Regions:
    """Return the regions of a frame, largest first.

    Raises:
        InputError: If that is no frame.
        MissingExtra: If OpenCV is not installed.
    """
    pixels = checked(frame)
    if min(pixels.shape[:2]) < _LEAST_SIDE:
        return ()
    small = _shrunk(pixels)
    colour, share = _ground(small)
    found = _lying_on(small, colour) if share >= _GROUND else np.concatenate([_text(small), _standing_out(small)])
    areas = _areas(found)
    fit = (areas >= _SMALLEST) & (areas <= _LARGEST)
    return as_regions(without_doubles(found[fit], areas[fit], most=_MOST))


def _shrunk(pixels: Pixels) -> Pixels:
    height, width = pixels.shape[:2]
    scale = _SIDE / max(height, width)
    if scale >= 1:
        return pixels
    cv2 = opencv()
    size = (max(round(width * scale), 1), max(round(height * scale), 1))
    return np.asarray(cv2.resize(pixels, size, interpolation=cv2.INTER_AREA))


def _ground(pixels: Pixels) -> tuple[Pixels, float]:
    """Return the most frequent colour, and the share of the pixels that have it or nearly."""
    coarse = (pixels >> 4).astype(np.int64)
    codes = (coarse[..., 0] << 8) | (coarse[..., 1] << 4) | coarse[..., 2]
    most = np.bincount(codes.ravel(), minlength=4096).argmax()
    colour = np.median(pixels[codes == most], axis=0).astype(np.uint8)
    return colour, float(np.mean(_away(pixels, colour) <= _APART))


def _away(pixels: Pixels, colour: Pixels) -> Any:
    """Return how far each pixel is from a colour, in its farthest channel."""
    return opencv().absdiff(pixels, np.broadcast_to(colour, pixels.shape).copy()).max(axis=2)


def _lying_on(pixels: Pixels, ground: Pixels) -> FloatArray:
    """Return boxes around what is not the ground; where all grows together, letters and words are joined less."""
    mask = _away(pixels, ground) > _APART
    gap = _GAP * max(mask.shape)
    while True:
        boxes, _ = boxes_around(_joined(mask, gap))
        if gap < 1 or not len(boxes) or _areas(boxes).max() <= _LARGEST:
            return boxes
        gap /= 2


def _joined(mask: Any, gap: float) -> Any:
    """Return a mask whose gaps are closed. Boxes around patches stay as they were, unless patches meet."""
    cv2 = opencv()
    side = 2 * round(gap / 2) + 1  # an even one would move what it closes
    padded = cv2.copyMakeBorder(mask.astype(np.uint8), side, side, side, side, cv2.BORDER_CONSTANT, value=0)
    closed = cv2.morphologyEx(padded, cv2.MORPH_CLOSE, np.ones((side, side), np.uint8))
    return closed[side:-side, side:-side]


def _areas(boxes: FloatArray) -> FloatArray:
    return np.asarray((boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1]))


def _text(pixels: Pixels) -> FloatArray:
    """Return boxes around dense fine edges."""
    cv2 = opencv()
    grey = cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY)
    steep = cv2.morphologyEx(grey, cv2.MORPH_GRADIENT, np.ones((2, 2), np.uint8))
    level, _ = cv2.threshold(steep, 0, 255, cv2.THRESH_BINARY | cv2.THRESH_OTSU)
    edges = steep > max(level, _APART)
    density = cv2.blur(edges.astype(np.float32), (9, 5))
    boxes, _ = boxes_around(_joined(density > _EDGES, _GAP * max(grey.shape)))
    wide = (boxes[:, 2] - boxes[:, 0]) * pixels.shape[1] > 1.5 * (boxes[:, 3] - boxes[:, 1]) * pixels.shape[0]
    return np.asarray(boxes[wide])


def _standing_out(pixels: Pixels) -> FloatArray:
    """Return boxes around what stands out from the frame's own average spectrum."""
    cv2 = opencv()
    height, width = pixels.shape[:2]
    scale = _ACROSS / max(height, width)
    size = (max(round(width * scale), _LEAST_SIDE), max(round(height * scale), _LEAST_SIDE))
    red, green, blue = np.moveaxis(cv2.resize(pixels, size, interpolation=cv2.INTER_AREA) / np.float32(255), 2, 0)
    total = sum(_residual(channel) for channel in ((red + green + blue) / 3, red - green, blue - (red + green) / 2))
    if not np.any(total):
        return np.empty((0, 4))
    strength = cv2.resize(np.asarray(total, np.float32), (width, height), interpolation=cv2.INTER_LINEAR)
    scaled = np.clip(strength / strength.max() * 255, 0, 255).astype(np.uint8)
    level, _ = cv2.threshold(scaled, 0, 255, cv2.THRESH_BINARY | cv2.THRESH_OTSU)
    return boxes_around(scaled > level)[0]


def _residual(channel: Float32Array) -> Float32Array:
    """Return the energy of what is left of a channel without the smooth part of its spectrum, of mean 1 (or 0)."""
    if np.ptp(channel) < 1e-3:
        return np.zeros_like(channel)
    cv2 = opencv()
    spectrum = np.fft.fft2(channel)
    logs = np.log(np.abs(spectrum) + 1e-9)
    around = cv2.blur(np.pad(logs, 1, mode="wrap"), (3, 3))[1:-1, 1:-1]
    left = np.fft.ifft2(np.exp(logs - around + 1j * np.angle(spectrum)))
    energy = cv2.GaussianBlur((np.abs(left) ** 2).astype(np.float32), (0, 0), 2.5)
    return np.asarray(energy / energy.mean(), np.float32)
