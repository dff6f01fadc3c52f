# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Regions from a frame's pixels: by colours and edges (``image``), or by the picture model (``saliency``).

``image`` needs no weights. Screens, pages and many games have a ground: one colour that fills much of the frame.
Everything else on it is a region, and letters that stand close are one block. Photographs and films have none; there
colours that are far from the frame's mean stand out, and dense edges, which sharp things and text have.

``saliency`` takes the smallest part of a frame that draws half of the gaze. Its model was trained on public gaze and
sees the frame alone (docs/reference/picture-model.md).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from gazeveil.arrays import Float32Array, FloatArray, one_thread
from gazeveil.errors import OptionError
from gazeveil.gaze.picture_model import backbone, content_of
from gazeveil.gaze.video import opencv
from gazeveil.scene.frames import Pixels, checked_frame
from gazeveil.scene.regions import Finder, Regions, as_regions, boxes_around, densest, patches, without_doubles

_SIDE = 320
"""Pixels of the longer side that frames are shrunk to."""
_GROUND = 0.25
"""A colour that fills this share of a frame is its ground."""
_SAME = 6
"""Steps of 255 within which pixels have the same colour."""
_APART = 24
"""Steps of 255 between the ground and what lies on it."""
_GAP = 0.02
"""Share of the longer side that may lie between letters, words and lines of one block."""
_SMALLEST = 0.0005
"""Share of the frame below which a region is a speck: 0.8 by 0.8 degrees on a screen of 44 by 26."""
_LARGEST = 0.5
"""Share of the frame above which a region is the scene itself."""
_MOST = 100
_LEAST_SIDE = 8
_NEAR = 0.02
"""Share of the longer side over which colours and edges are spread."""
_SHARES = (0.5, 0.35, 0.25, 0.15)
"""The share of what stands out that regions hold: half, or less where half of it is one large patch."""
_CONTRAST = 1.25
"""How much more the strongest cells count: chosen on 24 painted scenes whose regions are known."""
_FOVEA = 0.003
"""Share of the frame below which nothing stands out: what the fovea covers of a screen of 44 by 26 degrees."""
_GAZE_SHARE = 0.5
"""The share of the predicted gaze that falls into regions."""


def image_finder(model: Path | None = None) -> Finder:
    """Return the finder that needs nothing but the frame."""
    if model is not None:
        raise OptionError("the finder 'image' needs no file of weights", hint="leave it out, or use the finder 'onnx'")
    opencv("finding regions")
    return regions_by_contrast


def saliency_finder(model: Path | None = None) -> Finder:
    """Return the finder that asks the picture model.

    Raises:
        MissingExtra: If the model's weights or OpenCV are not installed.
    """
    if model is not None:
        raise OptionError("the finder 'saliency' brings its own weights", hint="leave the file out")
    opencv("finding regions")
    backbone()
    return regions_by_saliency


@one_thread()
def regions_by_saliency(frame: Pixels) -> Regions:
    """Return the regions of a frame in which the picture model expects half of the gaze.

    Raises:
        InputError: If that is no frame.
        MissingExtra: If the model's weights or OpenCV are not installed.
    """
    pixels = checked_frame(frame)
    if min(pixels.shape[:2]) < _LEAST_SIDE:
        return ()
    return as_regions(boxes_around(densest(content_of(pixels), _GAZE_SHARE)))


def regions_by_contrast(frame: Pixels) -> Regions:
    """Return the regions of a frame by its colours and edges, largest first.

    Raises:
        InputError: If that is no frame.
        MissingExtra: If OpenCV is not installed.
    """
    pixels = checked_frame(frame)
    if min(pixels.shape[:2]) < _LEAST_SIDE:
        return ()
    small = _shrunk(pixels)
    colour, share = _ground(small)
    found = _fitting(_lying_on(small, colour)) if share >= _GROUND else np.empty((0, 4))
    if not len(found):
        found = _fitting(_standing_out(small))
    return as_regions(without_doubles(found, _areas(found), most=_MOST))


def _fitting(boxes: FloatArray) -> FloatArray:
    areas = _areas(boxes)
    return np.asarray(boxes[(areas >= _SMALLEST) & (areas <= _LARGEST)])


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
    return colour, float(np.mean(_away(pixels, colour) <= _SAME))


def _away(pixels: Pixels, colour: Pixels) -> Any:
    """Return how far each pixel is from a colour, in its farthest channel."""
    return opencv().absdiff(pixels, np.broadcast_to(colour, pixels.shape).copy()).max(axis=2)


def _lying_on(pixels: Pixels, ground: Pixels) -> FloatArray:
    """Return boxes around what is not the ground. A patch that grew too large is taken apart: less is joined in it."""
    mask = _away(pixels, ground) > _APART
    gap = _GAP * max(mask.shape)
    found = []
    while gap >= 1 and mask.any():
        boxes, labels = patches(_joined(mask, gap))
        large = _areas(boxes) > _LARGEST
        found.append(boxes[~large])
        mask = mask & np.isin(labels, np.flatnonzero(large) + 1)
        gap /= 2
    return np.concatenate([*found, np.empty((0, 4))])


def _joined(mask: Any, gap: float) -> Any:
    """Return a mask whose gaps are closed. Boxes around patches stay as they were, unless patches meet."""
    cv2 = opencv()
    side = 2 * round(gap / 2) + 1  # an even one would move what it closes
    padded = cv2.copyMakeBorder(mask.astype(np.uint8), side, side, side, side, cv2.BORDER_CONSTANT, value=0)
    closed = cv2.morphologyEx(padded, cv2.MORPH_CLOSE, np.ones((side, side), np.uint8))
    return closed[side:-side, side:-side]


def _areas(boxes: FloatArray) -> FloatArray:
    return np.asarray((boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1]))


def _standing_out(pixels: Pixels) -> FloatArray:
    """Return boxes around the smallest part of a frame that holds half of what stands out, or less."""
    cv2 = opencv()
    near = _NEAR * max(pixels.shape[:2])
    smooth = cv2.GaussianBlur(pixels, (0, 0), near / 4).astype(np.float32)
    rare = np.abs(smooth - smooth.mean(axis=(0, 1))).max(axis=2)
    grey = cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY)
    edges = cv2.morphologyEx(grey, cv2.MORPH_GRADIENT, np.ones((3, 3), np.uint8)).astype(np.float32)
    total = (_even(rare) + _even(cv2.GaussianBlur(edges, (0, 0), near))) ** _CONTRAST
    for share in _SHARES:
        boxes = boxes_around(_joined(densest(total.astype(np.float64), share), near))
        if not len(boxes) or _areas(boxes).max() <= _LARGEST:
            break
    return np.asarray(boxes[_areas(boxes) >= _FOVEA])


def _even(values: Float32Array) -> Float32Array:
    """Return a map with mean 1, or nothing where there is nothing."""
    mean = values.mean()
    return values / mean if mean > 1 else np.zeros_like(values)
