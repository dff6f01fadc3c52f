# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Gaze logs of Varjo headsets: those of Varjo Base (``varjo_gaze_output_….csv``) and of Varjo's logger for Unity.

Directions are in the headset's frame: x to the right, y upwards, z ahead. Time is in nanoseconds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import polars as pl

from gazeveil.gaze.fileio.columns import Columns, header_words
from gazeveil.gaze.fileio.row_assembly import (
    PER_SECOND,
    VectorColumns,
    combined,
    completed,
    expect_unit,
    in_seconds,
    with_angles,
)
from gazeveil.gaze.fileio.tables import Batch, Table
from gazeveil.gaze.formats.base import Chunk, ReadOptions, ReadReport, file_format
from gazeveil.geometry import headset

_TIMES = ("rawtimestamp", "gazecapturetime", "capturetime")
_FORWARD = {
    "both_dir": ("gazeforward", "combinedgazeforward", "combinedgazeforwardlocal"),
    "left_dir": ("leftforward", "lefteyeforward"),
    "right_dir": ("rightforward", "righteyeforward"),
}
_STATUS = {
    "valid": ("status", "gazestatus"),
    "left_valid": ("leftstatus", "lefteyestatus"),
    "right_valid": ("rightstatus", "righteyestatus"),
}
GOOD_GAZE, _BAD_GAZE = ("2", "2.0", "valid"), ("0", "0.0", "1", "1.0", "invalid")
_STATUS_WORDS = "a status: 0 to 2 (eyes: 0 to 3), VALID or INVALID"
# an eye that is tracked with less quality (2) is tracked; one that is only visible (1) is not
_GOOD_EYE = (*GOOD_GAZE, "3", "3.0", "compensated", "tracked")
_BAD_EYE = (*_BAD_GAZE, "visible")


@file_format("varjo-csv")
class VarjoCsv:
    """One file is one recording."""

    title = "Varjo gaze log"
    suffixes = (".csv",)

    def sniff(self, path: Path, head: bytes) -> bool:
        """Whether the header has Varjo's time and direction of gaze."""
        forward = {name + end for name in _FORWARD["both_dir"] for end in ("", "x")}
        return any(names & set(_TIMES) and names & forward for names in header_words(head, '"'))

    def read(self, path: Path, options: ReadOptions, report: ReadReport) -> Iterator[Chunk]:
        """Yield the recording."""
        # Varjo Base writes numbers that are none as Windows spells them
        table = Table(path, options, report, delimiter=options.delimiter)
        vectors, text, numbers, pupil_unit = varjo_layout(table.columns, options)
        key = options.key(path)
        geometry = completed(headset(), options.geometry)
        unit: str | None = options.time_unit
        for batch in table.batches({**vectors.text, **text}, {**vectors.numbers, **numbers}, required=("t",)):
            unit = unit or expect_unit(path, batch.frame["t"].to_numpy(), numbers["t"], "ns")
            rows = _with_status(table, vectors.split(table, batch), text)
            present = [name for name in ("both", "left", "right") if f"{name}_dir_x" in rows.frame.columns]
            frame = with_angles(in_seconds(rows.frame, PER_SECOND[unit], "t"), present)
            pupils = [name for name in ("left_pupil", "right_pupil") if name in frame.columns]
            frame = frame.with_columns(pl.when(pl.col(name) > 0).then(pl.col(name)) for name in pupils)
            for piece in combined(frame, options.eye).iter_slices(options.chunk_rows):
                yield Chunk(key, piece, geometry, pupil_unit=pupil_unit)


def varjo_layout(columns: Columns, options: ReadOptions) -> tuple[VectorColumns, dict[str, str], dict[str, str], str]:
    """Return where the directions, the columns of text and of numbers are, and the pupils' unit."""
    numbers = {"t": columns.need("'raw_timestamp' or 'CaptureTime'", *_TIMES)}
    vectors = VectorColumns(columns)
    for ours, spellings in _FORWARD.items():
        if vectors.find(ours, *spellings):
            continue
        if ours == "both_dir":
            raise columns.missing("'gaze_forward_x', with y and z", [f"{spelling}x" for spelling in spellings])
        if ours == f"{options.eye}_dir":
            raise columns.missing(f"'{options.eye}_forward_x', with y and z", [f"{spellings[0]}x"])
    text = columns.find_each(_STATUS)
    if "valid" not in text:
        raise columns.missing("'status' or 'GazeStatus'", _STATUS["valid"])
    in_mm = columns.find("leftpupildiameterin", "leftpupildiameterinmm") is not None
    for side in ("left", "right"):
        sizes = ("pupildiameterin", "pupildiameterinmm") if in_mm else ("pupilsize", "eyepupilsize")
        if size := columns.find(*(f"{side}{spelling}" for spelling in sizes)):
            numbers[f"{side}_pupil"] = size
    return vectors, text, numbers, "mm" if in_mm else ""


def _with_status(table: Table, batch: Batch, text: Mapping[str, str]) -> Batch:
    """Turn Varjo's status into true and false; what is none is a bad line."""
    for name in _STATUS:
        if name in text:
            good, bad = (GOOD_GAZE, _BAD_GAZE) if name == "valid" else (_GOOD_EYE, _BAD_EYE)
            batch = table.with_flag(batch, name, text[name], good, bad, _STATUS_WORDS)
    return batch
