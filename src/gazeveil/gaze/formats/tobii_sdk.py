# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Tables of what Tobii's Pro SDK reports, as scripts save them: points are pairs in brackets, ``(0.51, 0.43)``.

Gaze is in fractions of the screen, from the top left. Here 1 is valid and 0 is not, unlike in Tobii Studio.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import polars as pl

from gazeveil.errors import FileFormatError
from gazeveil.gaze.formats._columns import Columns, parse_name
from gazeveil.gaze.formats._numbers import MISSING, is_one_of
from gazeveil.gaze.formats._samples import (
    PER_SECOND,
    combined,
    completed,
    guess_time_unit,
    in_seconds,
    slices,
    told_step,
)
from gazeveil.gaze.formats._table import Batch, Table
from gazeveil.gaze.formats.base import Chunk, ReadOptions, ReadReport, file_format
from gazeveil.gaze.geometry import Geometry, Unit

_TIMES = ("devicetimestamp", "systemtimestamp")
_POINT = "gazepointondisplayarea"
_NUMBER = r"([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|[nN]a[nN])"
_PAIR = rf"^\s*[(\[]\s*{_NUMBER}\s*,\s*{_NUMBER}\s*[)\]]\s*$"
_VALID, _NOT_VALID = ("1", "1.0", "true"), ("0", "0.0", "false")


@file_format("tobii-sdk")
class TobiiSdk:
    """One file is one recording."""

    title = "Tobii Pro SDK table"
    suffixes = (".csv", ".tsv")

    def sniff(self, path: Path, head: bytes) -> bool:
        """Whether the header has the SDK's time and point on the display area."""
        line = next((line for line in head.splitlines() if line.strip()), b"").decode(errors="replace")
        for delimiter in ",;\t":
            names = {parse_name(name.strip('"')).words for name in line.split(delimiter)}
            if names & {f"left{_POINT}", f"right{_POINT}"} and names & set(_TIMES):
                return True
        return False

    def read(self, path: Path, options: ReadOptions, report: ReadReport) -> Iterator[Chunk]:
        """Yield the recording."""
        table = Table(path, options, report, delimiter=options.delimiter)
        numbers, text = _layout(table.columns, options)
        key = options.key(path)
        geometry = completed(Geometry(Unit.FRACTION), options.geometry)
        unit: str | None = options.time_unit
        for batch in table.batches(text, numbers, required=("t",)):
            if unit is None:
                unit = _microseconds(path, batch.frame, numbers["t"])
            rows = _with_points(table, batch, text)
            samples = combined(in_seconds(rows.frame, PER_SECOND[unit or "us"], "t"), options.eye)
            for piece in slices(samples, options.chunk_rows):
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


def _microseconds(path: Path, frame: pl.DataFrame, column: str) -> str:
    """Return the SDK's unit; a table whose steps do not fit it was changed, and nothing is guessed."""
    unit, step = guess_time_unit(frame["t"].to_numpy())
    if unit not in {"us", None} or (unit is None and frame.height > 1):
        raise FileFormatError(
            path,
            column=column,
            expected="steps of 10 to 2000 Hz in microseconds",
            found=told_step(step),
            hint="name the unit with --time-unit",
        )
    return "us"


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
    pair = tokens.str.extract_groups(_PAIR).struct.unnest()
    x, y = (pair[str(place)].cast(pl.Float64, strict=False).fill_nan(None) for place in (1, 2))
    bad = (pair["1"].is_null() | x.is_infinite().fill_null(False) | y.is_infinite().fill_null(False)) & ~is_one_of(
        tokens.fill_null(""), MISSING.__contains__
    )
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
    tokens = batch.frame[name]
    known = (*_VALID, *_NOT_VALID, *MISSING)
    unclear = is_one_of(tokens, lambda word: word not in known)
    good = is_one_of(tokens, _VALID.__contains__)
    batch = Batch(batch.frame.with_columns(good.alias(name)), batch.lines)
    return table.reject(batch, unclear, text[name], "1 (valid) or 0", tokens)
