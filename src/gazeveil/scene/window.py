# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""How long a window has to be: the length of the scene that a moment lies in.

The window w is set by scene lengths (kaleido2021 section 5.4.2). Gaze is spread over time, not over scenes: a second
of rapid cuts is many scenes and still one second. So w is the median over moments, not over scenes: half of the time
is spent in scenes that are no longer.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gazeveil.arrays import FloatArray

LONGEST_S = 10.0
"""Longer windows are not asked for: a page that stands still for an hour would leave no budget to show anything."""


def window_of(lengths: Sequence[float], *, shortest: float, longest: float = LONGEST_S) -> float | None:
    """Return the window in seconds that scenes of these lengths ask for; None if nothing is known yet.

    Args:
        lengths: Seconds of each scene; one that is not over counts as far as it has gone.
        shortest: Seconds between two analysed frames: nothing shorter can be seen.
        longest: What longer scenes are cut to.
    """
    known = np.array([length for length in lengths if length > 0])
    return float(np.clip(middle_of(known, known), shortest, longest)) if len(known) else None


def middle_of(values: FloatArray, weights: FloatArray) -> float:
    """Return the weighted median; between two values, the larger one."""
    order = np.argsort(values)
    heavy = np.cumsum(weights[order])
    place = int(np.searchsorted(heavy, heavy[-1] / 2, side="right"))
    return float(values[order[min(place, len(order) - 1)]])
