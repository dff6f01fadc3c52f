# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The Fourier perturbation algorithm: noise on the slow part of the whole series (Rastogi 2010; Bozkir 2020).

As errata B4 and B5 correct it: the one-sided real transform, noise on real and imaginary parts, and a scale with the
factor √n that was left out where the article evaluates it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from gazeveil.errors import OptionError
from gazeveil.features.fourier import ChunkedSeries
from gazeveil.features.series import SERIES_MECHANISMS


@SERIES_MECHANISMS.register("fpa")
@dataclass(frozen=True, slots=True, kw_only=True)
class FourierPerturbation(ChunkedSeries):
    """Keeps the first bins of the whole series' transform and adds noise to those.

    With one bin kept it is the noisy mean of the series, repeated.
    """

    name: ClassVar[str] = "fpa"

    kept: int = 2

    def __post_init__(self) -> None:
        if self.chunk not in (1, self.steps):
            raise OptionError("fpa takes the whole series as one chunk: leave chunk out, or use c-fpa")
        object.__setattr__(self, "chunk", self.steps)
        super(FourierPerturbation, self).__post_init__()
