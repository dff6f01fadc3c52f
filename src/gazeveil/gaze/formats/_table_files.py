# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""How tables look when we write them: our own, CSV or TSV."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import polars as pl

from gazeveil.errors import InputError
from gazeveil.gaze.fileio.numbers import plain_numbers
from gazeveil.gaze.formats._writing import Losses, Piece, TextFile
from gazeveil.geometry import Geometry


class DelimitedFile(TextFile):
    """Our own CSV or TSV: `schema.KEYS` and `schema.SAMPLES`, time in seconds; the first row's columns for all."""

    format_name = "csv"
    masks = False
    takes_lists = True
    delimiter: ClassVar[str] = ","

    def __init__(self, losses: Losses) -> None:
        super().__init__(losses)
        self._geometry: Geometry | None = None
        self._header: list[str] = []

    def begin(self, piece: Piece) -> str:
        """Refuse gaze on another viewing plane: the table has no place to say so."""
        self._geometry = self._geometry or piece.geometry
        if piece.geometry != self._geometry:
            raise InputError(
                f"one table holds gaze on one viewing plane, found {piece.geometry} after {self._geometry}",
                hint="convert the recordings one by one, or write Parquet",
            )
        return ""

    def rows(self, piece: Piece) -> str:
        """Return the rows, after the header if they are the first."""
        found = _columns(piece)
        begins = not self._header
        self._header = self._header or list(found)
        more = [name for name in found if name not in self._header]
        if more:
            raise InputError(
                f"recording {piece.key} has columns that the first has not: {', '.join(more)}",
                hint="name the recordings with most columns first, or write Parquet",
            )
        nothing = pl.Series([None] * piece.samples.height, dtype=pl.String)
        frame = pl.DataFrame({name: plain_numbers(found.get(name, nothing)) for name in self._header})
        return frame.write_csv(include_header=begins, separator=self.delimiter)


class TabFile(DelimitedFile):
    """The same with tabs."""

    delimiter = "\t"


def _text(piece: Piece, value: str) -> pl.Series:
    return pl.Series([value] * piece.samples.height, dtype=pl.String)


def _columns(piece: Piece) -> Mapping[str, pl.Series]:
    """Return labels and samples as they are."""
    labels = {name: _text(piece, value) for name, value in piece.key._asdict().items()}
    veiled = {} if piece.veiled is None else {"veiled": _text(piece, "true")}
    return {**labels, **{name: piece.samples[name] for name in piece.samples.columns}, **veiled}
