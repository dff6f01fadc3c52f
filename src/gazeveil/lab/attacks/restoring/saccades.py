# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What is known of eyes, put to use against a mechanism: they rest, drift a little, and jump.

This is public knowledge, the same for everyone. It is sharper than a Gaussian process: between two saccades gaze stays
where it is, so all that is seen there is about one place.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gazeveil.arrays import FloatArray

DRIFTS: Final = (0.5, 2.0, 6.0)
"""Degrees after a second, as a random walk: eyes at rest; a tracker's slow errors; eyes that follow or make up for the
head. The likeliest for a stream is taken."""
SACCADES: Final = 2.0
"""In a second."""
SIZE_DEG: Final = 5.0
"""Mean size along an axis."""
MOST_PLACES: Final = 400
PULL_DEG: Final = 20.0
"""With every saccade gaze is drawn to its middle, as if it had been seen there with an error so large."""
_MARGIN_DEG = 3.0


@dataclass(frozen=True, slots=True, eq=False)
class AxisObservations:
    """What is seen of gaze along one axis, sample by sample; `_saccade_kernels` lists the kinds.

    Attributes:
        kind: What is seen at a sample.
        a: Its first number.
        b: Its second number.
        low: Gaze is not below this.
        high: Nor above this.
        middle: Where gaze comes back to.
        grain: How finely places are told apart, in degrees.
        soft: How blurred the ends of a stretch are, in degrees: noise of the tracker is a dither.
    """

    kind: NDArray[np.int64]
    a: FloatArray
    b: FloatArray
    low: float
    high: float
    middle: float
    grain: float
    soft: float = 0.2


def expected_path(t: FloatArray, seen: AxisObservations) -> FloatArray:
    """Return where gaze is expected to have been along one axis, given all that is seen."""
    from gazeveil.lab.attacks.restoring import _saccade_kernels as kernels  # noqa: PLC0415  (numba loads on use)

    low, high = seen.low - _MARGIN_DEG, seen.high + _MARGIN_DEG
    grain = max(seen.grain, (high - low) / MOST_PLACES)
    count = int((high - low) / grain) + 2
    elapsed = np.maximum(np.diff(t, prepend=t[:1]), 0.0)
    away = (low + grain * np.arange(count) - seen.middle) / PULL_DEG
    usual = np.exp(-0.5 * away**2 * SACCADES * float(np.median(elapsed)))
    given = (seen.kind, seen.a, seen.b, seen.soft, low, grain, count, usual)
    paths = [kernels.smoothed(elapsed, *given, drift, SACCADES, SIZE_DEG) for drift in DRIFTS]
    path: FloatArray = max(paths, key=lambda found: found[1])[0]
    return path
