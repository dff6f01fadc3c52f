# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Chunk-based Fourier perturbation (C-FPA; Bozkir 2020, section 4.2), with its full price.

The article pays once for all chunks, as if they were of different participants. They are all of one participant, so a
participant pays for every chunk (erratum B2). A guarantee for a stretch pays for the chunks it meets: one more than fit
in (B11).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from gazeveil.features.fourier import ChunkedSeries
from gazeveil.features.series import SERIES_MECHANISMS


@SERIES_MECHANISMS.register("c-fpa")
@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkFourierPerturbation(ChunkedSeries):
    """Keeps the first bins of every chunk's transform and adds noise to those."""

    name: ClassVar[str] = "c-fpa"

    chunk: int = 64
    kept: int = 2
