# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Directions as headsets write them, in three columns or as ``(x, y, z)`` in one, turned into angles.

Angles are in the head's frame: yaw to the right, pitch downwards, in degrees as `gazeveil.gaze.directions` counts.
"""

from __future__ import annotations

from collections.abc import Iterable

import polars as pl

from gazeveil.gaze.formats._columns import Columns
from gazeveil.gaze.formats._numbers import MISSING, is_one_of
from gazeveil.gaze.formats._table import Batch, Table

AXES = ("x", "y", "z")
_NUMBER = r"([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|[nN]a[nN])"
_TRIPLE = rf"^\s*[(\[]\s*{_NUMBER}\s*,\s*{_NUMBER}\s*,\s*{_NUMBER}\s*[)\]]\s*$"


class VectorColumns:
    """Where the vectors of a table are. ``numbers`` and ``text`` are what to ask `Table.batches` for."""

    def __init__(self, columns: Columns) -> None:
        self._columns = columns
        self.numbers: dict[str, str] = {}
        self.text: dict[str, str] = {}

    def find(self, ours: str, *spellings: str) -> bool:
        """Look for a vector of one of these words, in three columns or in one, and take it under our name."""
        for spelling in spellings:
            parts = [self._columns.find(f"{spelling}{axis}") for axis in AXES]
            if None not in parts:
                self.numbers |= {f"{ours}_{axis}": part for axis, part in zip(AXES, parts, strict=True) if part}
                return True
            if whole := self._columns.find(spelling):
                self.text[ours] = whole
                return True
        return False

    def split(self, table: Table, batch: Batch) -> Batch:
        """Turn columns of ``(x, y, z)`` into three columns; what is no triple of numbers is a bad line."""
        for ours, theirs in self.text.items():
            tokens = batch.frame[ours]
            parts, bad = _quick_parts(tokens) or _parts(tokens)
            frame = batch.frame.with_columns(
                part.alias(f"{ours}_{axis}") for axis, part in zip(AXES, parts, strict=True)
            )
            batch = table.reject(Batch(frame, batch.lines), bad, theirs, "three numbers (x, y, z)", tokens)
        return batch


def _quick_parts(tokens: pl.Series) -> tuple[list[pl.Series], pl.Series] | None:
    """Return the numbers of texts that are all ``(1, 2, 3)`` or empty; None if one needs a closer look."""
    told = tokens.drop_nulls()
    if not (told.str.starts_with("(") & told.str.ends_with(")")).all():
        return None
    fields = tokens.str.slice(1, tokens.str.len_chars() - 2).str.splitn(", ", len(AXES)).struct.unnest()
    parts = [field.cast(pl.Float64, strict=False) for field in fields]
    if any(part.null_count() != tokens.null_count() or not part.is_finite().all() for part in parts):
        return None
    return parts, pl.repeat(False, len(tokens), dtype=pl.Boolean, eager=True)


def _parts(tokens: pl.Series) -> tuple[list[pl.Series], pl.Series]:
    """Return the numbers of texts, and which texts are neither three numbers nor missing."""
    groups = tokens.str.extract_groups(_TRIPLE).struct.unnest()
    parts = [groups[str(place)].cast(pl.Float64, strict=False).fill_nan(None) for place in (1, 2, 3)]
    bad = groups["1"].is_null() & ~is_one_of(tokens.fill_null(""), MISSING.__contains__)
    for part in parts:
        bad = bad | part.is_infinite().fill_null(False)
    return parts, bad


def with_angles(frame: pl.DataFrame, vectors: Iterable[str], right: float = 1.0) -> pl.DataFrame:
    """Return the table with the angles of directions: of ``left`` in ``left_x`` and ``left_y``, of ``both`` in x and y.

    A direction of no length, or one that does not lead ahead, is no gaze: the angles are missing.

    Args:
        frame: Has each vector's parts (``left_dir_x``, …), y upwards and z ahead.
        vectors: Which: left, right, both.
        right: 1 where their x grows to the right, -1 where it grows to the left.
    """
    angles = []
    for name in vectors:
        across, up, ahead = (pl.col(f"{name}_dir_{axis}") for axis in AXES)
        prefix = "" if name == "both" else f"{name}_"
        level = (across**2 + ahead**2).sqrt()  # so that a degree is one wherever gaze is turned, as veils count them
        angles += [
            pl.when(ahead > 0).then(pl.arctan2(part, other).degrees()).alias(f"{prefix}{axis}")
            for axis, part, other in (("x", across * right, ahead), ("y", -up, level))
        ]
    return frame.with_columns(angles)
