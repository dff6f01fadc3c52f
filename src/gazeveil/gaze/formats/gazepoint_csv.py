# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Gazepoint Analysis export of all gaze (``User 1_all_gaze.csv``): fractions of the screen, one recording per media."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from gazeveil.errors import FileFormatError
from gazeveil.gaze import schema
from gazeveil.gaze.fileio.columns import Columns, header_words
from gazeveil.gaze.fileio.row_assembly import Recorder, as_messages, combined, completed, in_seconds, placed_messages
from gazeveil.gaze.fileio.tables import Table
from gazeveil.gaze.formats.base import Chunk, ReadOptions, ReadReport, file_format
from gazeveil.geometry import Geometry, Unit

_TICK = re.compile(r"timetick\(f=(\d+)\)", re.IGNORECASE)
_FILE_NAME = re.compile(r"(.+?)_(all_gaze|fixations?)$", re.IGNORECASE)
_GAZE = ("bpogx", "lpogx", "rpogx", "fpogx")


@file_format("gazepoint-csv")
class GazepointCsv:
    """One file is one user; time and fixation numbers begin anew with each media."""

    title = "Gazepoint Analysis CSV export"
    suffixes = (".csv",)

    def sniff(self, path: Path, head: bytes) -> bool:
        """Whether the header has Gazepoint's point-of-gaze columns and time, and the name is not that of a list."""
        if _is_list(path):
            return False
        return any(names & set(_GAZE) and names & {"time", "timetick"} for names in header_words(head))

    def read(self, path: Path, options: ReadOptions, report: ReadReport) -> Iterator[Chunk]:
        """Yield the recordings: one for each time a media is shown."""
        name = _FILE_NAME.match(path.name.split(".", 1)[0])
        if name and _is_list(path):
            raise FileFormatError(
                path,
                expected="all gaze samples",
                found="Gazepoint's list of fixations",
                hint=f"read {name[1]}_all_gaze.csv for samples; --format fixations-csv reads the list",
            )
        table = Table(path, options, report, delimiter=options.delimiter)
        layout = _layout(table.columns, options, report)
        default = options.key(path, observer=options.observer or (name[1] if name else ""))
        geometry = completed(Geometry(Unit.FRACTION), options.geometry)
        recorder = Recorder(path, options.chunk_rows, layout.pupil_unit)
        last_said = ""
        for batch in table.batches(layout.text, layout.numbers, required=("t",)):
            frame = in_seconds(batch.frame, layout.ticks_per_second, "t")
            labels = frame.with_columns(
                pl.lit(default.observer).alias("observer"),
                _stimulus(frame, default.stimulus).alias("stimulus"),
                pl.lit(default.session).alias("session"),
                (pl.col("media_id") if "media_id" in frame.columns else pl.lit("")).alias("media"),
            ).select("observer", "stimulus", "session", "media")
            messages, last_said = _messages(frame, last_said)
            yield from recorder.feed(
                labels,
                batch.lines,
                combined(_valid_only(frame), options.eye),
                _events_on_samples(frame),
                messages,
                lambda row: geometry,
            )
        yield from recorder.finish(schema.no_events())


def _is_list(path: Path) -> bool:
    """Whether a file is called as Gazepoint calls lists of fixations, whose columns are those of samples."""
    name = _FILE_NAME.match(path.name.split(".", 1)[0])
    return name is not None and name[2].lower() != "all_gaze"


@dataclass(frozen=True, slots=True)
class _Layout:
    """Where in the export our columns are."""

    text: Mapping[str, str]
    numbers: Mapping[str, str]
    ticks_per_second: float
    pupil_unit: str


def _layout(columns: Columns, options: ReadOptions, report: ReadReport) -> _Layout:
    time = columns.find("time")
    ticks_per_second = 1.0
    if time is None:
        time = columns.need("'TIME(…)'", "timetick")
        frequency = _TICK.search(time)
        if frequency is None:
            raise columns.missing("'TIME(…)', or 'TIMETICK(f=…)' with its frequency")
        ticks_per_second = float(frequency[1])
    sides = {
        prefix: {axis: name for axis in "xy" if (name := columns.find(f"{letter}pog{axis}"))}
        for prefix, letter in (("left_", "l"), ("right_", "r"))
    }
    has_eyes = any(len(found) == 2 for found in sides.values())
    numbers = {"t": time}
    main = "bpog" if columns.find("bpogx") else "fpog"
    if main == "bpog" or not has_eyes:
        numbers |= {axis: columns.need(f"'BPOG{axis.upper()}'", f"{main}{axis}") for axis in "xy"}
        if main == "fpog":
            report.remark("gaze is the tracker's fixation point (FPOG): the export has no best point of gaze (BPOG)")
    for prefix, found in sides.items():
        if len(found) == 2:
            numbers |= {f"{prefix}{axis}": name for axis, name in found.items()}
    if options.eye != "both" and f"{options.eye}_x" not in numbers:
        raise columns.missing(f"'{options.eye[0].upper()}POGX' and its y, the {options.eye} eye's gaze")
    in_mm = columns.find("lpmm", "rpmm") is not None
    pupil = "pmm" if in_mm else "pd"
    pupil_valid = "pmmv" if in_mm else "pv"
    numbers |= columns.find_each(
        {
            "valid": f"{main}v",
            "left_valid": "lpogv",
            "right_valid": "rpogv",
            "left_pupil": f"l{pupil}",
            "right_pupil": f"r{pupil}",
            "left_pupil_valid": f"l{pupil_valid}",
            "right_pupil_valid": f"r{pupil_valid}",
            "fixation_x": "fpogx",
            "fixation_y": "fpogy",
            "fixation_start": "fpogs",
            "fixation_duration": "fpogd",
            "fixation_id": "fpogid",
            "fixation_valid": "fpogv",
            "blink_id": "bkid",
        }
    )
    if ticks_per_second != 1.0:
        # fixations start on the clock of TIME, which this export has not
        numbers.pop("fixation_start", None)
    text = columns.find_each({"media_id": "mediaid", "media_name": "medianame", "user": "user"})
    return _Layout(text, numbers, ticks_per_second, "mm" if in_mm else "px")


def _stimulus(frame: pl.DataFrame, default: str) -> pl.Expr:
    names = [pl.col(name) for name in ("media_name", "media_id") if name in frame.columns]
    return pl.coalesce(*names, pl.lit(default))


def _valid_only(frame: pl.DataFrame) -> pl.DataFrame:
    """Turn the flags (1 is valid) into true and false, and leave out pupils that are not."""
    flags = [name for name in ("valid", "left_valid", "right_valid") if name in frame.columns]
    frame = frame.with_columns((pl.col(flags) == 1).fill_null(False))
    pupils = [
        pl.when(pl.col(f"{side}_pupil_valid") == 1).then(pl.col(f"{side}_pupil")).alias(f"{side}_pupil")
        for side in ("left", "right")
        if {f"{side}_pupil_valid", f"{side}_pupil"} <= set(frame.columns)
    ]
    return frame.with_columns(pupils)


def _events_on_samples(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the blink or fixation each sample is in. A fixation's start and length are those the tracker gives."""
    nothing = pl.lit(None, pl.Float64)
    blink = pl.col("blink_id") if "blink_id" in frame.columns else nothing
    in_blink = (blink > 0).fill_null(False)
    fixation, in_fixation = nothing, pl.lit(False)
    if {"fixation_id", "fixation_valid"} <= set(frame.columns):
        fixation, in_fixation = pl.col("fixation_id"), ~in_blink & (pl.col("fixation_valid") == 1)
    start = stop = pl.col("t")
    if {"fixation_start", "fixation_duration"} <= set(frame.columns):
        start = pl.col("fixation_start")
        stop = start + pl.col("fixation_duration")
    return frame.select(
        kind=pl.when(in_blink).then(pl.lit("blink")).when(in_fixation).then(pl.lit("fixation")),
        id=pl.when(in_blink).then(blink).otherwise(fixation),
        onset=pl.when(in_fixation).then(start).otherwise(pl.col("t")),
        offset=pl.when(in_fixation).then(stop).otherwise(pl.col("t")),
        **{
            axis: pl.when(in_fixation).then(pl.col(f"fixation_{axis}"))
            for axis in "xy"
            if f"fixation_{axis}" in frame.columns
        },
    )


def _messages(frame: pl.DataFrame, last_said: str) -> tuple[pl.DataFrame, str]:
    """Return the user data that was set (a message each time it changes), and what it is now."""
    if "user" not in frame.columns:
        return placed_messages([]), ""
    said = frame.select(onset="t", text=pl.col("user").fill_null("")).with_row_index("at")
    before = pl.col("text").shift(fill_value=last_said)
    changed = said.filter((pl.col("text") != before) & ~pl.col("text").is_in(["", "0"]))
    return as_messages(changed).with_columns(changed["at"].cast(pl.Int64)), str(said["text"][-1])
