# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Difference- and chunk-based Fourier perturbation (DC-FPA; Bozkir 2020, section 4.3), with the first element noised.

The article "preserves" the first element of a chunk. Released as it is, it is a true value of the series; here it is
the first of the differences and gets noise like the others (erratum B6).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from gazeveil.arrays import FloatArray
from gazeveil.errors import OptionError
from gazeveil.features.fourier import ChunkedSeries
from gazeveil.features.series import SERIES_MECHANISMS


@SERIES_MECHANISMS.register("dc-fpa")
@dataclass(frozen=True, slots=True, kw_only=True)
class DifferenceFourierPerturbation(ChunkedSeries):
    """Keeps the first bins of the transform of a chunk's differences and adds noise to those.

    Attributes:
        largest_difference: Where differences from one step to the next are clipped, as a part of the range; public.
            Without clipping (1) differences can change by twice the range.
    """

    name: ClassVar[str] = "dc-fpa"

    chunk: int = 32
    kept: int = 2
    largest_difference: float = 1.0

    def __post_init__(self) -> None:
        super(DifferenceFourierPerturbation, self).__post_init__()
        if not (math.isfinite(self.largest_difference) and 0 < self.largest_difference <= 1):
            raise OptionError(f"largest_difference lies above 0 and up to 1, not at {self.largest_difference!r}")

    def squared_change(self, changed: int) -> Fraction:
        """Return the squared length by which a stretch moves the differences of one feature, at most."""
        differences = min(changed + 1, self.steps - self.chunks)
        firsts = min(self.chunks, -(-changed // self.chunk))
        return differences * 4 * Fraction(self.largest_difference) ** 2 + firsts

    def prepare(self, chunks: FloatArray) -> FloatArray:
        """Return the first element of every chunk and the clipped differences behind it."""
        most = self.largest_difference
        rises = np.clip(np.diff(chunks, axis=-1), -most, most)
        return np.concatenate([chunks[..., :1], rises], axis=-1)

    def restore(self, chunks: FloatArray) -> FloatArray:
        """Add differences up again."""
        return np.cumsum(chunks, axis=-1)
