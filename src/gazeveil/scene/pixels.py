# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Frames as arrays: rows by columns by red, green and blue, one byte each."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gazeveil.arrays import Float32Array
from gazeveil.errors import InputError
from gazeveil.gaze.video import check_size

Pixels = NDArray[np.uint8]

_IN_A_CELL = 3
"""Rows and columns of a cell that are looked at: nine of its pixels say what colour it has, whatever its size."""


def checked(frame: Any) -> Pixels:
    """Return a frame if it is one.

    Raises:
        InputError: If it is none, or is too large.
    """
    pixels = np.asarray(frame)
    if pixels.ndim != 3 or pixels.shape[2] != 3 or pixels.dtype != np.uint8:
        raise InputError(f"a frame is rows by columns by 3 bytes, not {pixels.dtype} of shape {pixels.shape}")
    check_size(pixels.shape[1], pixels.shape[0])
    return pixels


def cells(frame: Pixels, rows: int, columns: int) -> Float32Array:
    """Return the mean colour of each cell of a raster over a frame: rows by columns by 3, from 0 to 255.

    Of large cells only `_IN_A_CELL` rows and columns are looked at, evenly spread.
    """
    height, width = frame.shape[:2]
    down, across = _places(height, rows), _places(width, columns)
    seen = frame[down.ravel()][:, across.ravel()]
    blocks = seen.reshape(*down.shape, *across.shape, 3)
    return np.asarray(blocks.mean(axis=(1, 3), dtype=np.float32))


def _places(size: int, count: int) -> NDArray[np.int64]:
    """Return which pixels of one axis stand for each cell, a row a cell."""
    each = min(max(size // count, 1), _IN_A_CELL)
    return ((np.arange(count * each) + 0.5) * size / (count * each)).astype(np.int64).reshape(count, each)
