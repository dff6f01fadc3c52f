# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The Laplace perturbation algorithm: noise on every step by itself (Dwork 2006; Bozkir 2020, section 3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from gazeveil.errors import OptionError
from gazeveil.features.fourier import ChunkedSeries
from gazeveil.features.series import SERIES_MECHANISMS


@SERIES_MECHANISMS.register("lpa")
@dataclass(frozen=True, slots=True, kw_only=True)
class LaplacePerturbation(ChunkedSeries):
    """Adds Laplace noise (or, with a δ, Gaussian noise) to every step of every feature.

    A participant's whole series of T steps can change in every step, so at the level of participants the noise of a
    single step is as wide as T times its range. In that form it is worse than publishing the public mean.
    """

    name: ClassVar[str] = "lpa"

    def __post_init__(self) -> None:
        super(LaplacePerturbation, self).__post_init__()
        if (self.chunk, self.kept) != (1, 1):
            raise OptionError("lpa has no chunks and keeps everything: leave chunk and kept out")
