# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Regions of interest: upright boxes in shares of a frame, and the interface and table of what finds them.

To add a finder, write a function ``(model: Path | None) -> Finder`` and enter it in `FINDERS`. It is called once, which
may load a model and take seconds; the finder is called with each keyframe.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from gazeveil.arrays import BoolArray, FloatArray
from gazeveil.errors import InputError
from gazeveil.gaze.video import opencv
from gazeveil.registry import Names
from gazeveil.scene.frames import Pixels

MOST_REGIONS = 1000
"""More regions than this are refused: a participant looks at fewer, and all their pairs would take long."""


class Box(NamedTuple):
    """An upright box in shares of the frame, from 0 (left, top) to 1 (right, bottom)."""

    x0: float
    y0: float
    x1: float
    y1: float


Regions = tuple[Box, ...]


def regions_from(boxes: Any) -> Regions:
    """Check boxes that an app or a game engine sends, and return them.

    Args:
        boxes: A list of ``[x0, y0, x1, y1]`` in shares of the frame.

    Raises:
        InputError: If there are too many, or one is no box within the frame. Nothing is clipped or repaired.
    """
    if not isinstance(boxes, Sequence) or isinstance(boxes, str | bytes):
        raise InputError("boxes are a list", hint="for example [[0.1, 0.2, 0.4, 0.5]]")
    if len(boxes) > MOST_REGIONS:
        raise InputError(f"{len(boxes):,} boxes are more than the {MOST_REGIONS:,} that are taken")
    return tuple(_checked(box, number) for number, box in enumerate(boxes))


def _checked(box: Any, number: int) -> Box:
    hint = "a box is [x0, y0, x1, y1] in shares of the frame, x0 < x1, y0 < y1; y grows downwards"
    if not isinstance(box, Sequence) or isinstance(box, str | bytes) or len(box) != 4:
        raise InputError(f"box {number} is not four numbers", hint=hint)
    if not all(isinstance(edge, int | float) and not isinstance(edge, bool) for edge in box):
        raise InputError(f"box {number} is not four numbers", hint=hint)
    x0, y0, x1, y1 = box
    if not all(0 <= edge <= 1 for edge in box):  # NaN is not, either
        raise InputError(f"box {number} is not within the frame", hint=hint)
    if not (x0 < x1 and y0 < y1):
        raise InputError(f"box {number} has no area", hint=hint)
    return Box(float(x0), float(y0), float(x1), float(y1))


def as_array(regions: Iterable[Box]) -> FloatArray:
    """Return regions as rows of x0, y0, x1, y1."""
    return np.array([*regions], dtype=np.float64).reshape(-1, 4)


def as_regions(rows: FloatArray) -> Regions:
    """Return rows of x0, y0, x1, y1 as regions: cut to the frame, without those that have no area in it."""
    rows = np.clip(np.asarray(rows, dtype=np.float64).reshape(-1, 4), 0.0, 1.0)
    inside = np.isfinite(rows).all(axis=1) & (rows[:, 0] < rows[:, 2]) & (rows[:, 1] < rows[:, 3])
    return tuple(Box(*row) for row in rows[inside].tolist())


def overlaps(one: FloatArray, other: FloatArray) -> FloatArray:
    """Return how far each box of one list overlaps each of another: shared area over joint area."""
    low = np.maximum(one[:, None, :2], other[None, :, :2])
    high = np.minimum(one[:, None, 2:], other[None, :, 2:])
    shared = np.maximum(high - low, 0.0).prod(axis=2)
    areas = [(boxes[:, 2:] - boxes[:, :2]).prod(axis=1) for boxes in (one, other)]
    joint = areas[0][:, None] + areas[1][None, :] - shared
    return np.asarray(shared / np.maximum(joint, np.finfo(np.float64).tiny))


def without_doubles(rows: FloatArray, scores: FloatArray, *, most: int, overlap: float = 0.5) -> FloatArray:
    """Return the best boxes, leaving out those that overlap a better one (non-maximum suppression)."""
    order = np.argsort(-scores, kind="stable")[: 4 * MOST_REGIONS]
    kept: list[int] = []
    while len(order) and len(kept) < most:
        best, order = order[0], order[1:]
        kept.append(int(best))
        order = order[overlaps(rows[best : best + 1], rows[order])[0] <= overlap]
    return np.asarray(rows[kept])


def diagonal(width: float, height: float) -> float:
    """Return the diagonal of a frame.

    Raises:
        InputError: If that is no frame.
    """
    if not (math.isfinite(width) and math.isfinite(height) and width > 0 and height > 0):
        raise InputError(f"a frame of {width!r} x {height!r} cannot be", hint="give width and height, both above 0")
    return math.hypot(width, height)


# --- From a mask of pixels to boxes around its connected patches.


_EVEN = 1.05
"""If the strongest cell holds hardly more than the mean, nothing stands out."""


def boxes_around(mask: Any) -> FloatArray:
    """Return a box around each patch of a mask, in shares of its sides."""
    return patches(mask)[0]


def patches(mask: Any) -> tuple[FloatArray, NDArray[np.int32]]:
    """Return a box around each patch of a mask, in shares of its sides, and which patch each pixel is in, from 1."""
    _, labels, stats, _ = opencv().connectedComponentsWithStats(mask.astype(np.uint8), connectivity=8)
    left, top, width, height = stats[1:, :4].T.astype(np.float64)
    rows, columns = mask.shape
    boxes = np.stack([left / columns, top / rows, (left + width) / columns, (top + height) / rows], axis=1)
    return boxes, labels


def densest(values: FloatArray, share: float) -> BoolArray:
    """Return the smallest set of cells that holds a share of a map; none if the map is even."""
    if values.max() < _EVEN * values.mean():
        return np.zeros(values.shape, dtype=bool)
    order = np.sort(values, axis=None)[::-1]
    needed = int(np.searchsorted(np.cumsum(order), share * order.sum()))
    return np.asarray(values >= order[needed])


# --- What finds regions of interest.


class Finder(Protocol):
    """Finds what can be looked at in a frame. It gets no gaze."""

    def __call__(self, frame: Pixels) -> Regions:
        """Return the regions of a frame, of any size from 1 x 1 pixel; there may be none."""
        ...


FINDERS: Names[Callable[[Path | None], Finder]] = Names(
    "finder of regions",
    {
        "image": "gazeveil.scene.picture_finders:image_finder",
        "onnx": "gazeveil.scene.onnx_finder:onnx_finder",
        "saliency": "gazeveil.scene.picture_finders:saliency_finder",
    },
)
"""By name, what makes a finder: ``FINDERS["onnx"](path)``. Those that need no file of weights take None."""
