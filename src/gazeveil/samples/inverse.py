# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Undoing smoothing, exactly (erratum W3): why nobody should trust it alone.

Smoothing is a filter with weights B, B-1, …, 1 from the newest sample to the oldest. All zeros of that filter lie
inside the unit circle, so its inverse is stable: each sample follows from the output and the samples before it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from gazeveil.arrays import FloatArray
from gazeveil.errors import OptionError


def undo_smoothing(smoothed: ArrayLike, window: int, *, start_with: str = "first") -> FloatArray:
    """Return the gaze that linear smoothing was given, from what it released.

    Args:
        smoothed: One coordinate of the released stream, from its first sample on.
        window: B, as the mechanism had it.
        start_with: What the window held before the first sample: ``first`` or ``zeros``.

    Raises:
        OptionError: If the start is unknown or the window no positive number.
    """
    released = np.asarray(smoothed, dtype=np.float64)
    if start_with not in ("first", "zeros"):
        raise OptionError(f"start_with must be first or zeros, not {start_with!r}")
    if window < 1:
        raise OptionError(f"window must be at least 1, not {window}")
    before = window - 1
    gaze = np.zeros(before + len(released))
    if start_with == "first" and len(released):
        gaze[:before] = released[0]  # a window full of one point gives that point
    weights = np.arange(1.0, window)  # of the samples before the newest, oldest first
    total = window * (window + 1) / 2.0
    for n, value in enumerate(released):
        gaze[before + n] = (total * value - weights @ gaze[n : n + before]) / window
    return gaze[before:]
