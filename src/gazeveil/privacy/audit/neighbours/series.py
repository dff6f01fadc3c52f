# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Feature series that differ as much as their declared ranges allow, in all steps or in a few consecutive ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import ArrayLike

from gazeveil.errors import OptionError
from gazeveil.exact import whole_number
from gazeveil.privacy.audit.neighbours.pair import Pair
from gazeveil.types import FloatArray


def series_pairs(
    low: ArrayLike,
    high: ArrayLike,
    steps: int,
    *,
    changed: int | None = None,
    start: int = 0,
    cycles: Sequence[float] = (1.0, 4.0),
) -> Iterator[Pair]:
    """Return pairs of series, tables of one row a step and one column a feature.

    Args:
        low: The smallest value of each feature.
        high: The largest value of each feature.
        steps: How long the series are.
        changed: How many consecutive steps differ; all of them if left out.
        start: The first of those.
        cycles: How often the sinusoids among them oscillate over the series.

    Raises:
        OptionError: If a range is empty or not finite, or the changed steps do not lie within the series.
    """
    bottom, top = np.atleast_1d(np.asarray(low, dtype=np.float64)), np.atleast_1d(np.asarray(high, dtype=np.float64))
    if bottom.ndim != 1 or bottom.shape != top.shape or not np.all((bottom < top) & np.isfinite(top - bottom)):
        raise OptionError("every feature needs a finite range with low below high")
    length = whole_number(steps, "steps", at_least=1)
    width = length - start if changed is None else whole_number(changed, "changed", at_least=1)
    if start < 0 or width < 1 or start + width > length:
        raise OptionError(f"{width} changed steps from {start} on do not fit into {length} steps")
    inside = slice(start, start + width)
    where = f" in {width} of {length} steps" if width < length else ""

    def placed(wave: FloatArray) -> FloatArray:
        """Map a wave from -1 (low) to 1 (high) to the ranges; steps that do not change stay in the middle."""
        level = np.zeros((length, 1))
        level[inside, 0] = wave[inside]
        return np.clip((1 + level) / 2 * top + (1 - level) / 2 * bottom, bottom, top)

    t = np.arange(length)
    waves = {"all low against all high": np.ones(length), "zigzag against its mirror image": np.where(t % 2, -1.0, 1.0)}
    for count in cycles:
        phase = 2 * np.pi * count * (t + 0.5) / length
        waves[f"a sinusoid of {count:g} cycles against its mirror image"] = np.sin(phase)
    waves["one step low against the same step high"] = (t == start + width // 2).astype(np.float64)
    for words, wave in waves.items():
        yield Pair(placed(-wave), placed(wave), words + where)
