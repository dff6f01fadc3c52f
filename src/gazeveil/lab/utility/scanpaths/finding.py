# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Scanpaths from gaze, by a detector that stands noise: as in Kaleido's attacks, two means in short windows.

The idea is that of I2MC (Hessels and others 2017), which needs no threshold of speed: where gaze jumps, samples around
the jump fall into two groups that follow each other; where it rests, however noisy, the groups alternate. A fixation is
a stretch in which the split is never much sharper than usual.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from gazeveil.arrays import FloatArray
from gazeveil.lab.utility.scanpaths.path import Scanpath

WINDOW_S: Final = 0.2
CUTOFF_SD: Final = 2.0
SHORTEST_S: Final = 0.06
_FEWEST: Final = 4


def find_scanpath(t: FloatArray, x: FloatArray, y: FloatArray) -> Scanpath:
    """Return the fixations of some gaze, its times in seconds and growing; missing gaze (NaN) ends a fixation."""
    from gazeveil.lab.utility.scanpaths._scanpath_kernels import restlessness  # noqa: PLC0415  (loads numba)

    nothing = Scanpath(np.empty(0), np.empty(0), np.empty(0))
    if len(t) < _FEWEST:
        return nothing
    step = float(np.median(np.diff(t)))
    width = max(_FEWEST, round(WINDOW_S / step)) if step > 0 else _FEWEST
    if len(t) < width:
        return nothing
    # copies: for read-only arrays it would be compiled again
    sharp = restlessness(np.array(x, order="C"), np.array(y, order="C"), width)
    seen = np.isfinite(sharp)
    if not seen.any():
        return nothing
    limit = sharp[seen].mean() + CUTOFF_SD * sharp[seen].std()
    rests = seen & (np.where(seen, sharp, np.inf) <= limit)
    edges = np.flatnonzero(np.diff(np.concatenate(([0], rests.astype(np.int8), [0]))))
    found = [
        (np.median(x[begin:end]), np.median(y[begin:end]), lasts)
        for begin, end in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True)
        if (lasts := float(t[end - 1] - t[begin]) + step) >= SHORTEST_S - 1e-9
    ]
    return Scanpath(*np.array(found).reshape(-1, 3).T) if found else nothing
