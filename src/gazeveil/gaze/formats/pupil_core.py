# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Pupil Core export (Pupil Player's ``gaze_positions.csv`` and the files beside it): fractions of the world camera."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import polars as pl

from gazeveil.gaze import schema
from gazeveil.gaze.fileio.columns import first_line, parse_name
from gazeveil.gaze.fileio.row_assembly import combined, completed, from_tracker, in_seconds
from gazeveil.gaze.fileio.tables import SeriesBesideSamples, Table, add_bad_lines, quiet_report, read_whole
from gazeveil.gaze.fileio.text import read_head
from gazeveil.gaze.formats.base import Chunk, ReadOptions, ReadReport, file_format
from gazeveil.geometry import Geometry, Unit

CONFIDENT: Final = 0.6
"""Gaze and pupils with a lower confidence are not valid: what Pupil Labs calls useful data is above it."""

CORE_PUPIL_TOLERANCE_S: Final = 0.02
"""How far in time a pupil size may lie from the gaze it is given to."""

_FILE = "gaze_positions.csv"


@file_format("pupil-core")
class PupilCore:
    """One export is one recording of one wearer."""

    title = "Pupil Core export"
    suffixes = (".csv",)

    def sniff(self, path: Path, head: bytes) -> bool:
        """Whether it is a table of gaze positions, or a folder with one."""
        if path.is_dir():
            file = path / _FILE
            return file.is_file() and self.sniff(file, read_head(file))
        names = {parse_name(name).words for name in first_line(head).split(",")}
        if {"starttimestamp", "duration"} <= names:  # its list of fixations
            return False
        return {"normposx", "normposy", "confidence"} <= names and bool(names & {"gazetimestamp", "basedata"})

    def read(self, path: Path, options: ReadOptions, report: ReadReport) -> Iterator[Chunk]:
        """Yield the recording; pupils and events come from the files beside."""
        options.check_eyes_together(path)
        path = path / _FILE if path.is_dir() else path
        table = Table(path, options, report, delimiter=",")
        numbers = {
            "t": table.columns.need("'gaze_timestamp'", "gazetimestamp", "timestamp"),
            "x": table.columns.need("'norm_pos_x'", "normposx"),
            "y": table.columns.need("'norm_pos_y'", "normposy"),
            "confidence": table.columns.need("'confidence'", "confidence"),
        }
        key = options.key(path, observer=options.observer or observer_by_folder(path, report))
        geometry = completed(Geometry(Unit.FRACTION), options.geometry)
        events = _events(path.parent, options, report)
        pupils, pupil_unit = _pupils(path.parent / "pupil_positions.csv", options, report)
        for batch in table.batches({}, numbers, required=("t",)):
            # the world camera's fractions begin at the bottom left
            frame = batch.frame.with_columns(y=1.0 - pl.col("y"), valid=pl.col("confidence") >= CONFIDENT)
            if pupils is not None:
                right, left = pupils.nearest(frame["t"].to_numpy(), ["0", "1"])
                sizes = pl.DataFrame({"right": right, "left": left}).fill_nan(None)
                frame = frame.with_columns(sizes.mean_horizontal().alias("pupil"))
            for piece in combined(frame).iter_slices(options.chunk_rows):
                yield Chunk(key, piece, geometry, events, pupil_unit=pupil_unit)
                events = schema.no_events()


def observer_by_folder(path: Path, report: ReadReport) -> str:
    """Name the observer after the recording's folder: ``…/<day>/<recording>/exports/<number>/gaze_positions.csv``."""
    folder = path.resolve().parent
    if folder.parent.name == "exports":
        recording = folder.parent.parent
        name = f"{recording.parent.name}/{recording.name}"
    else:
        name = folder.name or path.stem
    report.remark(f"the export does not say who looked: the folder's name {name!r} stands for the observer")
    return name


def _pupils(path: Path, options: ReadOptions, report: ReadReport) -> tuple[SeriesBesideSamples | None, str]:
    """Open the pupil sizes beside the gaze: in mm if the 3d eye model gave any, else in pixels of the eye camera."""
    if not path.is_file():
        return None, ""
    table = Table(path, options.beside(), quiet_report(report), delimiter=",", may_be_empty=True)
    columns = table.columns
    numbers = {
        "t": columns.need("'pupil_timestamp'", "pupiltimestamp", "timestamp"),
        "confidence": columns.need("'confidence'", "confidence"),
        "px": columns.need("'diameter'", "diameter"),
    }
    if in_mm := columns.find("diameter3d"):
        numbers["mm"] = in_mm
    text = {"group": columns.need("'eye_id'", "eyeid", "id")}
    batches = table.batches(text, numbers, required=("t",))
    first = next(batches, None)
    unit = "mm" if "mm" in numbers else "px"
    if first is not None and unit == "mm" and not first.frame["mm"].count() and first.frame["px"].count():
        unit = "px"  # the column is there, and the eye model was not used

    def tables() -> Iterator[pl.DataFrame]:
        batch = first
        while batch is not None:
            good = (pl.col("confidence") >= CONFIDENT) & (pl.col(unit) > 0)
            yield batch.frame.select("t", "group", value=pl.when(good).then(unit))
            batch = next(batches, None)
        add_bad_lines(report, table.report)

    return SeriesBesideSamples(tables(), CORE_PUPIL_TOLERANCE_S, report), unit


def _events(folder: Path, options: ReadOptions, report: ReadReport) -> pl.DataFrame:
    """Return the fixations, blinks and annotations that lie beside the gaze."""
    found = []
    for name, kind in (("fixations.csv", "fixation"), ("blinks.csv", "blink"), ("annotations.csv", "message")):
        path = folder / name
        if not path.is_file():
            continue
        onset = "timestamp" if kind == "message" else "starttimestamp"
        numbers = {"onset": onset, "duration": "duration", "norm_x": "normposx", "norm_y": "normposy"}
        rows = read_whole(path, options, report, {"text": "label"}, numbers).drop_nulls("onset")
        # fixations last milliseconds, blinks and annotations seconds
        rows = in_seconds(rows, 1000.0 if kind == "fixation" else 1.0, "duration")
        found.append(
            schema.event_table(
                from_tracker(rows).with_columns(
                    kind=pl.lit(kind),
                    offset=pl.col("onset") + pl.col("duration").fill_null(0.0),
                    x=pl.col("norm_x"),
                    y=1.0 - pl.col("norm_y"),
                )
            )
        )
    return pl.concat([schema.no_events(), *found]).sort("onset", maintain_order=True)
