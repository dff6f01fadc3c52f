# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Gaze logs of the HTC Vive Pro Eye: values of SRanipal or Tobii Pro as programs in Unity and Python save them.

There is no one format, so only sets of columns that are known are read. SRanipal's own x grows to the left, and some
programs turn it. Where the two eyes are says which it is: a file without their positions is refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

import numpy as np
import polars as pl

from gazeveil.arrays import FloatArray
from gazeveil.errors import FileFormatError
from gazeveil.gaze.fileio.columns import TIME_UNITS, Columns, header_words, parse_name
from gazeveil.gaze.fileio.row_assembly import (
    AXES,
    PER_SECOND,
    VectorColumns,
    combined,
    completed,
    expect_unit,
    guess_time_unit,
    in_seconds,
    with_angles,
)
from gazeveil.gaze.fileio.tables import Batch, Table
from gazeveil.gaze.formats.base import Chunk, ReadOptions, ReadReport, file_format
from gazeveil.geometry import headset

_SIDES = ("left", "right")
TICK, TICKS_PER_SECOND = "100ns", 1e7
DIRECTION_BIT, _PUPIL_BIT = 2, 4
TRUE, _FALSE = ("true", "valid", "1", "1.0"), ("false", "invalid", "0", "0.0")


@dataclass(frozen=True, slots=True)
class _Names:
    """What one family of programs calls its columns; EYE stands for the eye."""

    eyes: dict[str, str]
    direction: str
    origin: str
    valid: str
    flags: Literal["mask", "word"]
    pupil: str
    pupil_valid: str = ""


_WORDS = {"left": "left", "right": "right", "both": "combined"}
_KNOWN: Final = (
    _Names(
        {"left": "l", "right": "r", "both": "c"},
        "gazedirectEYE",
        "gazeoriginEYE",
        "eyevalidEYE",
        "mask",
        "pupildiameterEYE",
    ),
    *(
        _Names(
            _WORDS,
            f"EYEgazedirectionnormalized{end}",
            f"EYEgazeoriginmm{end}",
            "EYEeyedatavalidatabitmask",
            "mask",
            "EYEpupildiameter",
        )
        for end in ("", "xyz")
    ),
    _Names(
        _WORDS,
        "EYEgazedirection",
        "EYEgazeorigin",
        "EYEgazedirectionvalid",
        "word",
        "originalEYEpupildiameter",
        "originalEYEpupildiametervalid",
    ),
    _Names(
        _WORDS,
        "EYEgazedirectionunitvector",
        "EYEgazeoriginpositioninhmdcoordinates",
        "EYEgazedirectionvalidity",
        "word",
        "EYEpupildiameter",
        "EYEpupilvalidity",
    ),
)


@file_format("vive-csv")
class ViveCsv:
    """One file is one recording."""

    title = "HTC Vive Pro Eye gaze log"
    suffixes = (".csv", ".txt")

    def sniff(self, path: Path, head: bytes) -> bool:
        """Whether the header has a direction of an eye as one of the known programs calls it."""
        return any(_is_named(names, known) for names in header_words(head, '"') for known in _KNOWN)

    def read(self, path: Path, options: ReadOptions, report: ReadReport) -> Iterator[Chunk]:
        """Yield the recording."""
        table = Table(path, options, report, delimiter=options.delimiter)
        layout = vive_layout(table.columns, options)
        key = options.key(path)
        geometry = completed(headset(), options.geometry)
        frame_of = _Frame(path, layout)
        per_second = layout.per_second
        text, numbers = {**layout.vectors.text, **layout.text}, {**layout.vectors.numbers, **layout.numbers}
        for batch in table.batches(text, numbers, required=("t",)):
            if per_second is None:
                per_second = per_second_of(path, batch.frame["t"].to_numpy(), layout.numbers["t"])
            rows = _with_validity(table, layout.vectors.split(table, batch), layout)
            rows = frame_of.check(table, rows)
            frame = with_angles(in_seconds(rows.frame, per_second, "t"), layout.directions, frame_of.right)
            for piece in combined(frame_of.gaze_in_known_frame(frame), options.eye).iter_slices(options.chunk_rows):
                yield Chunk(key, piece, geometry, pupil_unit="mm")
        frame_of.finish(report)


@dataclass(frozen=True, slots=True)
class ViveLayout:
    """Where in the log our columns are."""

    names: _Names
    vectors: VectorColumns
    directions: tuple[str, ...]
    text: dict[str, str]
    numbers: dict[str, str]
    per_second: float | None


def _is_named(names: set[str], known: _Names) -> bool:
    directions = {known.direction.replace("EYE", known.eyes[side]) for side in _SIDES}
    return any(direction in names or f"{direction}x" in names for direction in directions)


def vive_layout(columns: Columns, options: ReadOptions) -> ViveLayout:
    """Return where our columns are, for files and for logs that are being written.

    Raises:
        FileFormatError: If one that is needed is not there.
    """
    words = {parse_name(name).words for name in columns.names}
    names = next((known for known in _KNOWN if _is_named(words, known)), None)
    if names is None:
        raise columns.missing("'gaze_direct_L.x', 'left.gaze_direction_normalized.x' or 'LeftGazeDirection'")
    if "timeunity" in words:
        raise FileFormatError(
            columns.path,
            line=columns.line,
            expected="directions and positions of the eyes in one frame",
            found="'time_unity': a logger whose versions turn x in different ways",
            hint="turn directions into degrees (x to the right) and read the table as csv",
        )
    vectors = VectorColumns(columns)
    directions = [
        eye
        for eye, spelled in names.eyes.items()
        if vectors.find(f"{eye}_dir", names.direction.replace("EYE", spelled))
    ]
    wanted = _SIDES if options.eye == "both" else (options.eye,)
    for side in wanted:
        if side not in directions:
            raise columns.missing(f"of the {side} eye's direction, with x, y and z")
    for side in _SIDES:
        if not vectors.find(f"{side}_eye", names.origin.replace("EYE", names.eyes[side])):
            raise columns.missing(
                f"of the {side} eye's position, with x, y and z",
                hint="without it, it is unknown whether x grows to the left, as SRanipal's does, or was turned",
            )
        for axis in AXES[1:]:  # which side an eye is on is all that is asked
            vectors.numbers.pop(f"{side}_eye_{axis}", None)
    time, per_second = _time(columns, options)
    numbers, text = {"t": time}, dict[str, str]()
    for eye in directions:
        prefix = "" if eye == "both" else f"{eye}_"
        flags = numbers if names.flags == "mask" else text
        for ours, spelling in (("valid", names.valid), ("pupil_valid", names.pupil_valid)):
            if spelling and (found := columns.find(spelling.replace("EYE", names.eyes[eye]))):
                flags[f"{prefix}{ours}"] = found
        if eye != "both" and (size := columns.find(names.pupil.replace("EYE", names.eyes[eye]))):
            numbers[f"{eye}_pupil"] = size
    return ViveLayout(names, vectors, tuple(directions), text, numbers, per_second)


def _time(columns: Columns, options: ReadOptions) -> tuple[str, float | None]:
    """Return the column of time and its ticks per second, None where the steps have to be looked at."""
    time = columns.find_with_unit("time", (TICK,)) or columns.need(
        "'time(100ns)', 'time_stamp(ms)' or 'DeviceTimeStamp'", "devicetimestamp", "timestamp", "reltime"
    )
    unit = options.time_unit or TIME_UNITS.get(parse_name(time).unit)
    return time, PER_SECOND[unit] if unit else None


def per_second_of(path: Path, times: FloatArray, column: str) -> float:
    """Return how much of the column of time is one second, by its name and its steps."""
    words, unit = parse_name(column)
    if unit == TICK:
        expect_unit(path, times / 10, column, "us")
        return TICKS_PER_SECOND
    known = "us" if words == "devicetimestamp" else guess_time_unit(times)[0]
    return PER_SECOND[expect_unit(path, times, column, known or "ms")]


def _with_validity(table: Table, batch: Batch, layout: ViveLayout) -> Batch:
    """Turn SRanipal's bit masks, or words, into true and false, and leave out pupils that are not valid."""
    for eye in layout.directions:
        prefix = "" if eye == "both" else f"{eye}_"
        if f"{prefix}valid" in layout.numbers:
            batch = _with_mask(table, batch, prefix, layout.numbers[f"{prefix}valid"])
        for name in (f"{prefix}valid", f"{prefix}pupil_valid"):
            if name in layout.text:
                batch = table.with_flag(batch, name, layout.text[name], TRUE, _FALSE, "True or 1, False or 0")
    frame = batch.frame
    for side in _SIDES:
        if f"{side}_pupil" in frame.columns:
            good = pl.col(f"{side}_pupil") > 0
            if f"{side}_pupil_valid" in frame.columns:
                good = good & pl.col(f"{side}_pupil_valid")
            frame = frame.with_columns(pl.when(good).then(pl.col(f"{side}_pupil")))
    if (
        "both" in layout.directions
        and "valid" not in frame.columns
        and {"left_valid", "right_valid"} <= set(frame.columns)
    ):
        frame = frame.with_columns(valid=pl.col("left_valid") | pl.col("right_valid"))
    return Batch(frame, batch.lines)


def _with_mask(table: Table, batch: Batch, prefix: str, column: str) -> Batch:
    mask = batch.frame[f"{prefix}valid"]
    bad = ((mask < 0) | (mask > 31) | (mask != mask.round())).fill_null(False)
    bits = mask.fill_null(0).clip(0, 31).cast(pl.UInt8)
    flags = [
        ((bits // bit) % 2 == 1).alias(f"{prefix}{name}")
        for name, bit in (("valid", DIRECTION_BIT), ("pupil_valid", _PUPIL_BIT))
    ]
    frame = batch.frame.with_columns(flags)
    return table.reject(Batch(frame, batch.lines), bad, column, "SRanipal's bits, 0 to 31", mask)


class _Frame:
    """Finds out from the eyes' positions which way x grows, and that it is the same in the whole file."""

    def __init__(self, path: Path, layout: ViveLayout) -> None:
        self._path = path
        vectors = layout.vectors
        self._column = vectors.numbers.get("left_eye_x") or vectors.text["left_eye"]
        self._known_from = 0
        self._known = False
        self._unknown_gaze = 0
        self.right = 1.0

    def check(self, table: Table, batch: Batch) -> Batch:
        """Find the frame from the first row with an eye's position; a row that contradicts it is a bad line."""
        # positions are measured from between the eyes, so one eye is enough
        apart = batch.frame["left_eye_x"].fill_null(0.0) - batch.frame["right_eye_x"].fill_null(0.0)
        says = apart != 0
        self._known_from = 0
        if not self._known:
            rows = np.flatnonzero(says.to_numpy())
            self._known_from = int(rows[0]) if len(rows) else batch.frame.height
            if len(rows):
                # the left eye is on the left: where it has the larger x, x grows to the left
                self.right, self._known = -1.0 if apart[int(rows[0])] > 0 else 1.0, True
        return table.reject(
            batch,
            says & (apart * self.right > 0),
            self._column,
            "the left eye on the same side as before",
            batch.frame["left_eye_x"],
        )

    def gaze_in_known_frame(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Leave out gaze from before the frame was known."""
        if not self._known_from:
            return frame
        gaze = [f"{prefix}{axis}" for prefix in ("", "left_", "right_") for axis in AXES[:2]]
        gaze = [name for name in gaze if name in frame.columns]
        before = pl.int_range(pl.len()) < self._known_from
        self._unknown_gaze += int(frame.select(pl.any_horizontal(pl.col(gaze).is_not_null()) & before).sum().item())
        return frame.with_columns(pl.when(~before).then(pl.col(name)).alias(name) for name in gaze)

    def finish(self, report: ReadReport) -> None:
        """Report what was left out; refuse a file that never shows its frame."""
        if not self._unknown_gaze:
            return
        if not self._known:
            raise FileFormatError(
                self._path,
                expected="the eyes' positions somewhere, to know which way x grows",
                found="none",
                hint="turn directions into degrees (x to the right) and read the table as csv",
            )
        report.remark("gaze from before the eyes' positions are known was left out", self._unknown_gaze)
