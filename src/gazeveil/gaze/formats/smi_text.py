# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""SMI's text: samples of the IDF Converter and of BeGaze (``SMP`` and ``MSG`` lines), and BeGaze's raw data export.

Lost gaze is written as (0.00, 0.00), also where the eye was found (``L Validity`` 1, a pupil with a size) but not
where it looked; in the raw data export it is ``-``. Messages lie between the samples and have fewer fields.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

import polars as pl

from gazeveil.errors import FileFormatError, GeometryError
from gazeveil.gaze.fileio.columns import TIME_UNITS, Columns, parse_name, words_in
from gazeveil.gaze.fileio.messages import Message, MessagesBetweenRows, a_name, media_in, namer, rules_of
from gazeveil.gaze.fileio.numbers import MISSING, is_one_of
from gazeveil.gaze.fileio.row_assembly import (
    PER_SECOND,
    Recorder,
    combined,
    completed,
    expect_unit,
    in_seconds,
    lines_before,
    stated,
)
from gazeveil.gaze.fileio.tables import Batch, NonRowLines, Table, TextLine
from gazeveil.gaze.fileio.text import read_head
from gazeveil.gaze.formats.base import Chunk, ReadOptions, ReadReport, file_format
from gazeveil.geometry import Geometry, Unit

_EYES: Final = {
    "": ("bpor", "pointofregardbinocular"),
    "left_": ("lpor", "pointofregardleft"),
    "right_": ("rpor", "pointofregardright"),
}
_PUPILS: Final[Mapping[str, Mapping[str, Sequence[str]]]] = {
    "mm": {
        "left_pupil": ("lpupildiameter", "lmappeddiameter", "pupildiameterleft"),
        "right_pupil": ("rpupildiameter", "rmappeddiameter", "pupildiameterright"),
    },
    "px": {"left_pupil": ("ldiax", "pupilsizeleftx"), "right_pupil": ("rdiax", "pupilsizerightx")},
}
_FOUND: Final = {"left_found": "lvalidity", "right_found": "rvalidity"}
_TEXT: Final = {
    "type": ("type",),
    "file_trial": ("trial",),
    "stimulus": ("stimulus",),
    "observer": ("participant",),
    "group": ("categorygroup",),
    "content": ("content",),
    "movement": ("beventinfo", "categorybinocular"),
    "left_movement": ("leventinfo", "categoryleft"),
    "right_movement": ("reventinfo", "categoryright"),
    "index": ("indexbinocular",),
    "left_index": ("indexleft",),
    "right_index": ("indexright",),
}
_GAZE: Final = {f"{stem}x" for stems in _EYES.values() for stem in stems}
_LISTS: Final = (b"Table Header for Fixations", b"Table Header for Saccades", b"Table Header for User Events")
_NUMBER: Final = re.compile(r"\d+(?:\.\d+)?")
_names = partial(words_in, marks="\t,;", around='" ')


@dataclass(frozen=True, slots=True)
class SmiLayout:
    """Where in the export our columns are."""

    text: Mapping[str, str]
    numbers: Mapping[str, str]
    time_unit: str
    pupil_unit: str


def is_header(line: str) -> bool:
    """Whether a line is the header of a table of samples."""
    if line.startswith("#") or "time" not in line.lower():
        return False
    names = _names(line)
    return names >= {"time", "type", "trial"} or ("recordingtime" in names and len(names) > 2)


def has_gaze(head: bytes) -> bool:
    """Whether a file begins as a table with SMI's gaze."""
    lines = head.decode(errors="replace").splitlines()
    return bool(_names(next((line for line in lines if is_header(line)), "")) & _GAZE)


def is_list_of_events(head: bytes) -> bool:
    """Whether a file begins as the list of fixations, saccades and blinks that BeGaze and the Event Detector write."""
    return any(mark in head for mark in _LISTS)


def smi_layout(columns: Columns, options: ReadOptions) -> SmiLayout:
    """Find the columns.

    Raises:
        FileFormatError: If there is no time, or no gaze of the eye that is asked for.
    """
    time = columns.need("'Time' or 'RecordingTime [ms]'", "recordingtime", "time")
    numbers = {"t": time}
    for prefix, stems in _EYES.items():
        for stem in stems:
            x, y = (columns.find_with_unit(f"{stem}{axis}", ("px", "")) for axis in "xy")
            if x and y:
                numbers |= {f"{prefix}x": x, f"{prefix}y": y}
    if not any(name.endswith("x") for name in numbers):
        raise columns.missing(
            "'L POR X [px]', 'Point of Regard Right X [px]' or another eye's, and its y",
            tuple(_GAZE),
            "export the point of regard (POR) in pixels",
        )
    if options.eye != "both" and f"{options.eye}_x" not in numbers:
        raise columns.missing(f"'{options.eye[0].upper()} POR X [px]' and its y, the {options.eye} eye's gaze")
    pupils, pupil_unit = _pupils(columns)
    words, unit = parse_name(time)
    time_unit = TIME_UNITS.get(unit, "ms" if words == "recordingtime" else "us")
    return SmiLayout(
        columns.find_each(_TEXT), {**numbers, **pupils, **columns.find_each(_FOUND)}, time_unit, pupil_unit
    )


def _pupils(columns: Columns) -> tuple[dict[str, str], str]:
    """Return the columns of pupils, in millimetres where there are any, and their unit."""
    for unit, sides in _PUPILS.items():
        found: dict[str, str] = {}
        for ours, spellings in sides.items():
            for spelling in spellings:
                if name := columns.find_with_unit(spelling, (unit,)):
                    found.setdefault(ours, name)
        if found:
            return found, unit
    return {}, ""


def said_in(text: str) -> str:
    """Return what a message says, without SMI's own words before it (``# Message: …``); ``-`` is nothing."""
    words = text.strip().removeprefix("#").lstrip().removeprefix("Message:").strip()
    return "" if words == "-" else words


def rate_of(preamble: Sequence[str]) -> float | None:
    """Return the sampling rate that is stated before the table."""
    numbers = _stated_numbers(preamble, "Sample Rate")
    return numbers[0] if numbers and numbers[0] > 0 else None


def smi_geometry(path: Path, preamble: Sequence[str], options: ReadOptions) -> Geometry:
    """Return the screen that is stated before the table, completed with what the user says.

    Raises:
        FileFormatError: If neither says how many pixels the screen has.
    """
    pixels = _stated_numbers(preamble, "Calibration Area")
    size = _stated_numbers(preamble, "Stimulus Dimension [mm]")
    distance = _stated_numbers(preamble, "Head Distance [mm]")
    known = options.geometry
    if len(pixels) != 2 and known is not None and known.width_px and known.height_px:
        pixels = [known.width_px, known.height_px]
    if len(pixels) != 2:
        raise FileFormatError(
            path,
            expected="the screen's size in pixels",
            found="a file that does not state it (Calibration Area)",
            hint="give it, for example --screen 1920x1080",
        )
    width_mm, height_mm = size if len(size) == 2 and min(size) > 0 else (None, None)
    distance_mm = distance[0] if distance and distance[0] > 0 else None
    try:
        return completed(Geometry(Unit.PIXEL, pixels[0], pixels[1], width_mm, height_mm, distance_mm), known)
    except GeometryError as error:
        raise FileFormatError(path, expected="a screen that can exist", found=error.message, hint=error.hint) from None


def _stated_numbers(preamble: Sequence[str], name: str) -> list[float]:
    return [float(number) for number in _NUMBER.findall(stated(preamble, name) or "")]


# --- The format.


_MESSAGE = re.compile(rb"[^\t,;\n]*[\t,;]MSG[\t,;]")
_FIXATIONS = ("fixation", "visual intake")
_OF_EYES = {*_FIXATIONS, "saccade", "blink", "smooth pursuit", "undefined", *MISSING}


@file_format("smi-text")
class SmiText:
    """A text export is one participant's; a raw data export may hold many. Each showing of a stimulus is a trial."""

    title = "SMI text (IDF Converter, BeGaze)"
    suffixes = (".txt", ".csv", ".tsv")
    names_from_messages = True

    def sniff(self, path: Path, head: bytes) -> bool:
        """Whether there is a header with SMI's gaze."""
        return has_gaze(head)

    def read(self, path: Path, options: ReadOptions, report: ReadReport) -> Iterator[Chunk]:
        """Yield the recordings; rows that are no samples of the eyes are left out and counted."""
        if is_list_of_events(read_head(path)):
            raise FileFormatError(
                path,
                expected="gaze samples",
                found="SMI's list of events (fixations, saccades, blinks)",
                hint="--format fixations-csv reads the list; for samples, export them, or raw data from BeGaze",
            )
        preamble = lines_before(path, is_header, options.encoding)
        non_rows = NonRowLines(_MESSAGE, b"MSG")
        table = Table(
            path,
            options,
            report,
            delimiter=options.delimiter,
            is_header=is_header if preamble else None,
            non_rows=non_rows,
        )
        layout = smi_layout(table.columns, options)
        geometry = smi_geometry(path, preamble, options)
        between = MessagesBetweenRows(
            namer(options.stimulus_from, _nothing if "stimulus" in layout.text else media_in),
            namer(options.trial_from, _nothing),
        )
        recorder = Recorder(
            path,
            options.chunk_rows,
            layout.pupil_unit,
            trials_counted=not rules_of(options.trial_from),
            rate_hz=rate_of(preamble),
        )
        unit: str | None = options.time_unit
        for batch in table.batches(layout.text, layout.numbers, required=("t",)):
            if unit is None:
                unit = expect_unit(path, batch.frame["t"].to_numpy(), layout.numbers["t"], layout.time_unit)
            rows = Batch(in_seconds(batch.frame, PER_SECOND[unit], "t"), batch.lines)
            samples, contents = _samples_only(table, rows, layout, report)
            spoken = _messages(non_rows.taken(), table, report, PER_SECOND[unit])
            messages, said = between.place(sorted([*contents, *spoken]), samples.lines)
            yield from recorder.feed(
                _labels(path, samples.frame, said, a_name(stated(preamble, "Subject") or ""), options),
                samples.lines,
                combined(_known_only(samples.frame), options.eye),
                _eye_movements(samples.frame, options.eye),
                messages,
                lambda row: geometry,
            )
        last = _messages(non_rows.taken(), table, report, PER_SECOND[unit or layout.time_unit])
        yield from recorder.finish(between.remaining(last))


def _nothing(text: str) -> str:
    return ""


def _samples_only(table: Table, rows: Batch, layout: SmiLayout, report: ReadReport) -> tuple[Batch, list[Message]]:
    """Return the rows of the eyes, and what the others say; a row of an unknown type is a bad line."""
    if "type" in layout.text:
        kind = rows.frame["type"]
        return table.reject(rows, ~is_one_of(kind, "smp".__eq__), layout.text["type"], "SMP or MSG", kind), []
    by = next((name for name in ("group", "movement", "right_movement", "left_movement") if name in layout.text), "")
    if not by:
        return rows, []
    kind = rows.frame[by].fill_null("")
    of_eyes = is_one_of(kind, "eye".__eq__ if by == "group" else _OF_EYES.__contains__)
    for name, count in kind.filter(~of_eyes).value_counts().iter_rows():
        report.remark(f"rows of the category {name!r} were left out", count)
    others = rows.take(~of_eyes.to_numpy())
    contents: list[str] = others.frame["content"].fill_null("").to_list() if "content" in layout.text else []
    told = [
        Message(line, time, text)
        for line, time, words in zip(others.lines.tolist(), others.frame["t"], contents, strict=False)
        if (text := said_in(words))
    ]
    return rows.take(of_eyes.to_numpy()), told


def _messages(lines: list[TextLine], table: Table, report: ReadReport, per_second: float) -> list[Message]:
    """Return the MSG lines: time, type, trial, and the rest of the line."""
    messages = []
    for line in lines:
        time, _, *rest = line.text.split(table.delimiter, 3)
        try:
            messages.append(Message(line.number, float(time) / per_second, said_in(rest[-1])))
        except ValueError:
            report.bad(
                FileFormatError(table.path, line=line.number, expected="a message's time", found=repr(time[:40]))
            )
    return messages


def _labels(path: Path, frame: pl.DataFrame, said: pl.DataFrame, subject: str, options: ReadOptions) -> pl.DataFrame:
    default = options.key(path, observer=subject)
    columns = [frame[name] for name in ("observer", "stimulus", "file_trial") if name in frame.columns]
    known = said.rename({"stimulus": "said_stimulus", "trial": "said_trial"}).with_columns(columns)

    def first(names: tuple[str, ...], otherwise: str) -> pl.Expr:
        there = [pl.col(name) for name in names if name in known.columns]
        return pl.coalesce(*(pl.when(~name.is_in(["", "-"])).then(name) for name in there), pl.lit(otherwise))

    by_rule = options.stimulus_from is not None
    labels = {
        "observer": first(("observer",), default.observer),
        "stimulus": first(
            ("said_stimulus", "stimulus") if by_rule else ("stimulus", "said_stimulus"), default.stimulus
        ),
        "session": pl.lit(default.session),
    }
    if rules_of(options.trial_from):
        return known.select(**labels, trial=first(("said_trial",), default.trial))
    return known.select(**labels, file_trial=first(("file_trial",), ""), part=pl.col("part"))


def _known_only(frame: pl.DataFrame) -> pl.DataFrame:
    """Leave out gaze at (0, 0), which is SMI's mark of a loss, and say which eye was found; a pupil of 0 is none."""
    changes = []
    for prefix in ("", "left_", "right_"):
        if f"{prefix}x" not in frame.columns:
            continue
        x, y = pl.col(f"{prefix}x"), pl.col(f"{prefix}y")
        known = (x != 0) | (y != 0)
        closed = [is_one_of(frame[name], "blink".__eq__) for name in {f"{prefix}movement", "movement"} if name in frame]
        found = [pl.col(name) != 0 for name in [f"{prefix}found"] if name in frame.columns]
        changes += [
            pl.when(known).then(x).alias(f"{prefix}x"),
            pl.when(known).then(y).alias(f"{prefix}y"),
            pl.all_horizontal(known, *found, *(~blink for blink in closed)).alias(f"{prefix}valid"),
        ]
    pupils = [pl.col(name) for name in ("left_pupil", "right_pupil") if name in frame.columns]
    return frame.with_columns(*changes, *(pl.when(pupil > 0).then(pupil) for pupil in pupils))


def _eye_movements(frame: pl.DataFrame, eye: str) -> pl.DataFrame:
    """Return the fixation, saccade or blink that each sample is in: of both eyes, else of the one that counts."""
    sides = [f"{eye}_"] if eye != "both" else ["", "right_", "left_"]
    side = next((side for side in [*sides, ""] if f"{side}movement" in frame.columns), None)
    if side is None:
        return frame.select(kind=pl.lit(None, pl.String), id=pl.lit(""), onset="t", offset="t")
    movement = frame[f"{side}movement"]
    kinds = {"fixation": _FIXATIONS, "saccade": ("saccade",), "blink": ("blink",)}
    kind = pl.coalesce(
        pl.when(is_one_of(movement, spellings.__contains__)).then(pl.lit(name)) for name, spellings in kinds.items()
    )
    number = pl.col(f"{side}index").fill_null("") if f"{side}index" in frame.columns else pl.lit("")
    return frame.select(kind=kind, id=number, onset="t", offset="t")
