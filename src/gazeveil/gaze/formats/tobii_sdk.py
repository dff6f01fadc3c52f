# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Tables of what Tobii's Pro SDK reports, as scripts save them: points are pairs in brackets, ``(0.51, 0.43)``.

Gaze is in fractions of the screen, from the top left. Here 1 is valid and 0 is not, unlike in Tobii Studio.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl

from gazeveil.gaze.fileio.columns import Columns, header_words
from gazeveil.gaze.fileio.numbers import MISSING, is_one_of
from gazeveil.gaze.fileio.row_assembly import PER_SECOND, combined, completed, expect_unit, in_seconds
from gazeveil.gaze.fileio.tables import Batch, Table
from gazeveil.gaze.formats.base import Chunk, ReadOptions, ReadReport, file_format
from gazeveil.geometry import Geometry, Unit

_TIMES = ("devicetimestamp", "systemtimestamp")
_POINT = "gazepointondisplayarea"
_NUMBER = r"(?:[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|[nN]a[nN])"
_PAIR = rf"^[ \t]*[(\[][ \t]*{_NUMBER}[ \t]*,[ \t]*{_NUMBER}[ \t]*[)\]][ \t]*$"
_VALID, _NOT_VALID = ("1", "1.0", "true"), ("0", "0.0", "false")


@file_format("tobii-sdk")
class TobiiSdk:
    """One file is one recording."""

    title = "Tobii Pro SDK table"
    suffixes = (".csv", ".tsv")

    def sniff(self, path: Path, head: bytes) -> bool:
        """Whether the header has the SDK's time and point on the display area."""
        points = {f"left{_POINT}", f"right{_POINT}"}
        return any(names & points and names & set(_TIMES) for names in header_words(head, '"'))

    def read(self, path: Path, options: ReadOptions, report: ReadReport) -> Iterator[Chunk]:
        """Yield the recording."""
        table = Table(path, options, report, delimiter=options.delimiter)
        numbers, text = _layout(table.columns, options)
        key = options.key(path)
        geometry = completed(Geometry(Unit.FRACTION), options.geometry)
        unit: str | None = options.time_unit
        for batch in table.batches(text, numbers, required=("t",)):
            unit = unit or expect_unit(path, batch.frame["t"].to_numpy(), numbers["t"], "us")
            rows = _with_points(table, batch, text)
            samples = combined(in_seconds(rows.frame, PER_SECOND[unit], "t"), options.eye)
            for piece in samples.iter_slices(options.chunk_rows):
                yield Chunk(key, piece, geometry, pupil_unit="mm")


def _layout(columns: Columns, options: ReadOptions) -> tuple[dict[str, str], dict[str, str]]:
    """Return the columns of numbers and of text."""
    numbers = {"t": columns.need("'device_time_stamp'", *_TIMES)}
    text = {}
    for side in ("left", "right"):
        for ours, spelling in {"point": _POINT, "valid": "gazepointvalidity", "pupil_valid": "pupilvalidity"}.items():
            if found := columns.find(f"{side}{spelling}"):
                text[f"{side}_{ours}"] = found
        if found := columns.find(f"{side}pupildiameter"):
            numbers[f"{side}_pupil"] = found
    wanted = ("left", "right") if options.eye == "both" else (options.eye,)
    if not any(f"{side}_point" in text for side in wanted):
        raise columns.missing(f"'{wanted[0]}_gaze_point_on_display_area'", [f"{wanted[0]}{_POINT}"])
    return numbers, text


def _with_points(table: Table, batch: Batch, text: dict[str, str]) -> Batch:
    for side in ("left", "right"):
        if f"{side}_point" in text:
            batch = _with_point(table, batch, text, side)
        if f"{side}_pupil" in batch.frame.columns:
            batch = _with_pupil(table, batch, text, side)
    return batch


def _with_point(table: Table, batch: Batch, text: dict[str, str], side: str) -> Batch:
    """Turn ``(0.51, 0.43)`` into x and y; what is no pair is a bad line."""
    tokens = batch.frame[f"{side}_point"]
    parts = tokens.str.strip_chars(" \t()[]").str.split_exact(",", 1).struct.unnest()
    x, y = (parts[name].str.strip_chars().cast(pl.Float64, strict=False).fill_nan(None) for name in parts.columns)
    bad = ~tokens.str.contains(_PAIR).fill_null(False)
    bad |= x.is_infinite().fill_null(False) | y.is_infinite().fill_null(False)
    if bad.any():
        missing = is_one_of(tokens.filter(bad).fill_null(""), MISSING.__contains__)
        bad = bad.scatter(np.flatnonzero(bad), ~missing)
    frame = batch.frame.with_columns(x.alias(f"{side}_x"), y.alias(f"{side}_y"))
    batch = table.reject(Batch(frame, batch.lines), bad, text[f"{side}_point"], "a pair (x, y)", tokens)
    return _with_flag(table, batch, text, f"{side}_valid")


def _with_pupil(table: Table, batch: Batch, text: dict[str, str], side: str) -> Batch:
    name = f"{side}_pupil"
    batch = _with_flag(table, batch, text, f"{name}_valid")
    good = pl.col(name) > 0
    if f"{name}_valid" in batch.frame.columns:
        good = good & pl.col(f"{name}_valid")
    return Batch(batch.frame.with_columns(pl.when(good).then(pl.col(name)).alias(name)), batch.lines)


def _with_flag(table: Table, batch: Batch, text: dict[str, str], name: str) -> Batch:
    """Turn a validity into true and false; what is neither is a bad line."""
    if name not in text:
        return batch
    return table.with_flag(batch, name, text[name], _VALID, _NOT_VALID, "1 (valid) or 0")
