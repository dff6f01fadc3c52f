# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What object detectors answer, by the shapes of their outputs.

=============================  =========================================================================
shape (without the batch)      what it is
=============================  =========================================================================
one, 4 + classes by N          YOLO 8 to 12: centre, size, scores
one, N by 5 + classes          YOLO 3 to 7: centre, size, how sure, scores
one, N up to 1000 by 6         YOLO with its own suppression: corners, score, class
one, N by 7                    the same: picture, corners, class, score; of 4 dimensions: SSD (Caffe)
several, N by 4 and scores     SSD, TensorFlow, torchvision: corners; scores N, N by classes, classes by N
=============================  =========================================================================

Corners are x first, or y first where the network takes rows, columns, channels (TensorFlow). Coordinates are shares if
none is above 2, else pixels of the network's input. An answer of any other layout is refused, never guessed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gazeveil.arrays import FloatArray
from gazeveil.errors import InputError

_SHARES = 2.0
_FINAL = 1000
"""Networks that suppress doubles themselves answer at most about this many boxes; others have thousands of candidates.
"""


@dataclass(frozen=True, slots=True, eq=False)
class Detections:
    """Boxes as x0, y0, x1, y1 in shares of the network's input, and how sure each is."""

    boxes: FloatArray
    scores: FloatArray


def read_outputs(outputs: Mapping[str, Any], width: int, height: int, *, rows_first: bool) -> Detections:
    """Return what a detector's outputs say.

    Args:
        outputs: By name.
        width: Pixels across of the network's input.
        height: Pixels down.
        rows_first: Whether corners are y first.

    Raises:
        InputError: If the layout is not known.
    """
    arrays = {name: np.asarray(array) for name, array in outputs.items()}
    found = _one(*arrays.values()) if len(arrays) == 1 else _several(arrays, rows_first=rows_first)
    if found is None:
        shapes = ", ".join(f"{name} {array.shape}" for name, array in arrays.items())
        raise InputError(
            f"the outputs are laid out in a way that is not known: {shapes}", hint="give a YOLO or SSD model"
        )
    boxes, scores = (np.asarray(part, dtype=np.float64) for part in found)
    known = np.isfinite(boxes).all(axis=1) & np.isfinite(scores)
    boxes, scores = boxes[known], scores[known]
    if len(scores) and not (scores.min() >= -1e-3 and scores.max() <= 1 + 1e-3):
        raise InputError(
            f"scores go from {scores.min():.3g} to {scores.max():.3g}, not from 0 to 1",
            hint="export the model with its last activation",
        )
    if len(boxes) and boxes.max() > _SHARES:
        boxes = boxes / np.array([width, height, width, height])
    sure = scores > 0.5
    if sure.any() and np.mean((boxes[sure, 2:] <= boxes[sure, :2]).any(axis=1)) > 0.5:
        raise InputError("boxes are not given by their corners", hint="give a YOLO or SSD model")
    return Detections(boxes, scores)


def _one(array: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]] | None:
    if array.ndim == 4 and array.shape[:2] == (1, 1) and array.shape[3] == 7:
        rows = array[0, 0]
        return rows[:, 3:7], rows[:, 2]
    rows = array[0] if array.ndim == 3 and array.shape[0] == 1 else array
    if rows.ndim != 2:
        return None
    count, fields = rows.shape
    if fields == 6 and count <= _FINAL:
        return rows[:, :4], rows[:, 4]
    if fields == 7 and array.ndim == 2:
        return rows[:, 1:5], rows[:, 6]
    if 5 <= count < fields:
        return _corners(rows[:4].T), rows[4:].max(axis=0)
    if 6 <= fields < count:
        return _corners(rows[:, :4]), rows[:, 4] * rows[:, 5:].max(axis=1)
    return None


def _corners(rows: NDArray[Any]) -> NDArray[Any]:
    """Return centre and size as corners."""
    centre, half = rows[:, :2], rows[:, 2:] / 2
    return np.concatenate([centre - half, centre + half], axis=1)


def _several(arrays: Mapping[str, NDArray[Any]], *, rows_first: bool) -> tuple[NDArray[Any], NDArray[Any]] | None:
    plain = {name: _without_ones(array) for name, array in arrays.items()}
    boxes = [array for array in plain.values() if array.ndim == 2 and array.shape[1] == 4 and array.dtype.kind == "f"]
    if len(boxes) != 1:
        return None
    rows = boxes[0][:, [1, 0, 3, 2]] if rows_first else boxes[0]
    scores = _scores({name: array for name, array in plain.items() if array is not boxes[0]}, len(rows))
    return None if scores is None else (rows, scores)


def _without_ones(array: NDArray[Any]) -> NDArray[Any]:
    """Return an array without the batch, and boxes without the dimension that says that all classes share them."""
    array = array[0] if array.ndim > 1 and array.shape[0] == 1 and array.shape != (1, 4) else array
    return array[:, 0] if array.ndim == 3 and array.shape[1:] == (1, 4) else array


def _scores(others: Mapping[str, NDArray[Any]], count: int) -> NDArray[Any] | None:
    """Return how sure each box is, from what else was answered."""
    tables = [
        array for array in others.values() if array.ndim == 2 and count in array.shape and array.dtype.kind == "f"
    ]
    if len(tables) == 1:
        table = tables[0] if tables[0].shape[0] == count else tables[0].T
        if table.shape[1] > 1 and len(table) and np.allclose(table.sum(axis=1), 1, atol=1e-2):
            table = table[:, 1:]  # the first class of a softmax is the background
        return np.asarray(table.max(axis=1))
    lists = {name: array for name, array in others.items() if array.shape == (count,) and array.dtype.kind == "f"}
    named = [array for name, array in lists.items() if "score" in name.lower() or "conf" in name.lower()]
    fitting = named or [array for array in lists.values() if not len(array) or _are_scores(array)]
    return fitting[0] if len(fitting) == 1 else None


def _are_scores(values: NDArray[Any]) -> bool:
    """Whether numbers can be scores rather than numbers of classes."""
    return bool((values >= 0).all() and (values <= 1).all() and (values != np.rint(values)).any())
