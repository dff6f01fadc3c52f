# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Logs that PyGaze writes for the Eye Tribe, for Tobii (Pro SDK) and for Tobii as it was before: pixels, milliseconds.

The Eye Tribe's ``state`` is a sum of flags, of which 1 says that gaze is tracked. PyGaze's Tobii validity is 1 for
found; before the Pro SDK it was Tobii's code, 0 for found up to 4 for lost. Its mean of both eyes (``GazePointX``)
is rounded, and was wrong before the Pro SDK, so gaze comes from the eyes' own columns.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from gazeveil.errors import FileFormatError, GeometryError
from gazeveil.gaze.fileio.columns import Columns, parse_name
from gazeveil.gaze.fileio.messages import Message, MessagesBetweenRows, namer, rules_of
from gazeveil.gaze.fileio.row_assembly import (
    PER_SECOND,
    Recorder,
    combined,
    completed,
    expect_unit,
    in_seconds,
    lines_before,
)
from gazeveil.gaze.fileio.tables import Batch, NonRowLines, Table, TextLine
from gazeveil.gaze.fileio.text import read_head
from gazeveil.gaze.formats.base import Chunk, ReadOptions, ReadReport, file_format
from gazeveil.geometry import Geometry, Unit

_TRACKED = 1
_ALL_STATES = 31
_HEADER = "TimeStamp\t"
_IS_SAID = ~pl.col("text").str.starts_with(_HEADER)
_EYETRIBE = {"timestamp", "time", "fix", "state", "rawx", "rawy"}
_TOBII = {"timestamp", "event", "gazepointxleft", "gazepointyleft", "validityleft", "gazepointxright"}
_TOBII_EYES = {
    f"{side}_{ours}": (spelling.format(side),)
    for side in ("left", "right")
    for ours, spelling in {"x": "gazepointx{}", "y": "gazepointy{}", "code": "validity{}"}.items()
} | {
    "left_pupil": ("pupilsizeleft", "leftpupil"),
    "right_pupil": ("pupilsizeright", "rightpupil"),
    "left_pupil_code": ("pupilvalidityleft",),
    "right_pupil_code": ("pupilvalidityright",),
}
_EYETRIBE_EYES = {
    "x": ("rawx",),
    "y": ("rawy",),
    "pupil": ("psize",),
    "left_x": ("lrawx",),
    "left_y": ("lrawy",),
    "left_pupil": ("lpsize",),
    "right_x": ("rrawx",),
    "right_y": ("rrawy",),
    "right_pupil": ("rpsize",),
}
_SCREEN = re.compile(r"display resolution: *(\d+) ?x ?(\d+)")
_SIZE_CM = re.compile(r"display size in cm: *([\d.]+) ?x ?([\d.]+)")
_DISTANCE_CM = re.compile(r"distance between participant and display: *([\d.]+) ?cm")


@file_format("pygaze")
class PyGaze:
    """One file is one participant; each start of the recording is a trial."""

    title = "PyGaze log (Eye Tribe, Tobii)"
    suffixes = (".tsv", ".txt")
    names_from_messages = True

    def sniff(self, path: Path, head: bytes) -> bool:
        """Whether there is the header that PyGaze writes for one of its trackers."""
        names = _names_in(head)
        return names >= _EYETRIBE or (names >= _TOBII and (b"pygaze" in head or "pupilvalidityleft" in names))

    def read(self, path: Path, options: ReadOptions, report: ReadReport) -> Iterator[Chunk]:
        """Yield the recordings."""
        preamble = lines_before(path, _is_header, options.encoding)
        shape = _shape(_names_in(read_head(path)))
        table = Table(
            path,
            options,
            report,
            delimiter=options.delimiter or "\t",
            is_header=_is_header if preamble else None,
            non_rows=shape.non_rows,
        )
        layout = _layout(table.columns, options, shape)
        geometry = _geometry(path, options)
        between = MessagesBetweenRows(
            namer(options.stimulus_from, lambda text: ""), namer(options.trial_from, lambda text: ""), shape.begins
        )
        named = bool(rules_of(options.trial_from))
        recorder = Recorder(path, options.chunk_rows, shape.pupil_unit, trials_counted=not named)
        unit: str | None = options.time_unit
        for batch in table.batches({}, layout, required=("t",)):
            unit = unit or expect_unit(path, batch.frame["t"].to_numpy(), layout["t"], "ms")
            rows = _with_validity(table, batch, layout, shape)
            rows = Batch(in_seconds(rows.frame, PER_SECOND[unit], "t"), rows.lines)
            spoken = _messages(shape, path, report, PER_SECOND[unit])
            messages, said = between.place(spoken, rows.lines)
            yield from recorder.feed(
                _labels(path, said, options, named),
                rows.lines,
                combined(rows.frame, options.eye),
                rows.frame.select(kind=pl.lit(None, pl.String), id=pl.lit(""), onset="t", offset="t"),
                messages.filter(_IS_SAID),
                lambda row: geometry,
            )
        last = between.remaining(_messages(shape, path, report, PER_SECOND[unit or "ms"]))
        yield from recorder.finish(last.filter(_IS_SAID))


@dataclass(frozen=True, slots=True)
class _Shape:
    """How PyGaze writes for one tracker.

    Attributes:
        columns: Our name → the words of the column.
        time: Which column holds the time.
        found: The codes that say that an eye was found; none for the Eye Tribe, which has a state.
        non_rows: Takes the messages out of the table.
        fields: Where a message has its time and its text.
        pupil_unit: The unit of pupils.
    """

    columns: Mapping[str, tuple[str, ...]]
    time: str
    found: tuple[float, ...]
    non_rows: NonRowLines
    fields: tuple[int, int]
    pupil_unit: str

    def begins(self, text: str) -> bool:
        """Whether a message begins a recording; before the Pro SDK, each began with its own header."""
        return text == "start_recording" or text.startswith(_HEADER)


def _names(line: str) -> set[str]:
    return {parse_name(name).words for name in line.split("\t")}


def _is_header(line: str) -> bool:
    if "stamp" not in line.lower():
        return False
    names = _names(line)
    return names >= {"timestamp", "time", "state"} or names >= {"timestamp", "event", "gazepointx"}


def _names_in(head: bytes) -> set[str]:
    """Return the columns that the first header of a file names."""
    lines = head.decode(errors="replace").splitlines()
    return _names(next((line for line in lines if _is_header(line)), ""))


def _shape(names: set[str]) -> _Shape:
    if "gazepointx" not in names:
        return _Shape(_EYETRIBE_EYES, "time", (), NonRowLines(re.compile(rb"MSG\t"), b"MSG\t"), (2, 3), "")
    if "pupilvalidityleft" in names:
        pattern = re.compile(rb"(?m)^[^\t\n]+\t[^\t\n]+$")
        return _Shape(_TOBII_EYES, "timestamp", (1.0,), NonRowLines(pattern), (0, 1), "mm")
    pattern = re.compile(rb"(?m)^(?:TimeStamp\t.*|[^\t\n]+\t{2,}[^\t\n]+)$")
    return _Shape(_TOBII_EYES, "timestamp", (0.0, 1.0), NonRowLines(pattern), (0, -1), "mm")


def _layout(columns: Columns, options: ReadOptions, shape: _Shape) -> dict[str, str]:
    numbers = {"t": columns.need(f"'{shape.time}'", shape.time)}
    numbers |= columns.find_each(shape.columns)
    if not shape.found:
        numbers["state"] = columns.need("'state'", "state")
    wanted = [f"{options.eye}_"] if options.eye != "both" else [""] if "x" in shape.columns else ["left_", "right_"]
    for needed in [f"{prefix}{axis}" for prefix in wanted for axis in "xy"]:
        if needed not in numbers:
            raise columns.missing(f"'{shape.columns[needed][0]}'", shape.columns[needed])
    for code in [f"{prefix}code" for prefix in wanted if shape.found]:
        if code not in numbers:
            raise columns.missing(f"'{shape.columns[code][0]}'", shape.columns[code])
    return numbers


def _with_validity(table: Table, batch: Batch, layout: Mapping[str, str], shape: _Shape) -> Batch:
    """Say where gaze is tracked; a state or validity that cannot be is a bad line. A pupil of 0 or less is none."""
    for name in [name for name in layout if name == "state" or name.endswith("code")]:
        codes = batch.frame[name]
        most = 1 if shape.found == (1.0,) else 4 if shape.found else _ALL_STATES
        bad = ~(codes.is_between(0, most) & (codes == codes.round()))
        batch = table.reject(batch, bad, layout[name], f"a whole number from 0 to {most}", codes)
    frame = batch.frame
    changes = []
    for prefix in [prefix for prefix in ("", "left_", "right_") if f"{prefix}x" in frame.columns]:
        x, y = pl.col(f"{prefix}x"), pl.col(f"{prefix}y")
        if shape.found:
            known = pl.col(f"{prefix}code").is_in(shape.found)
        else:
            known = (pl.col("state").cast(pl.Int64) & _TRACKED).cast(pl.Boolean) & ((x != 0) | (y != 0))
        changes += [
            pl.when(known).then(x).alias(f"{prefix}x"),
            pl.when(known).then(y).alias(f"{prefix}y"),
            known.alias(f"{prefix}valid"),
        ]
    pupils = [pl.col(name) for name in ("pupil", "left_pupil", "right_pupil") if name in frame.columns]
    return Batch(frame.with_columns(*changes, *(pl.when(pupil > 0).then(pupil) for pupil in pupils)), batch.lines)


def _messages(shape: _Shape, path: Path, report: ReadReport, per_second: float) -> list[Message]:
    """Return the messages; a header that comes again is one without a time of its own."""
    messages: list[Message] = []
    at_time, at_text = shape.fields
    for line in shape.non_rows.taken():
        fields = line.text.split("\t")
        if line.text.startswith(_HEADER):
            messages.append(Message(line.number, 0.0, line.text))
            continue
        try:
            messages.append(Message(line.number, float(fields[at_time]) / per_second, fields[at_text].strip()))
        except (ValueError, IndexError):
            report.bad(_odd(path, line))
    return messages


def _odd(path: Path, line: TextLine) -> FileFormatError:
    return FileFormatError(path, line=line.number, expected="a message with its time", found=repr(line.text[:60]))


def _labels(path: Path, said: pl.DataFrame, options: ReadOptions, named: bool) -> pl.DataFrame:
    default = options.key(path)
    labels = {
        "observer": pl.lit(default.observer),
        "stimulus": pl.col("stimulus").replace("", default.stimulus),
        "session": pl.lit(default.session),
    }
    if named:
        return said.select(**labels, trial=pl.col("trial").replace("", default.trial))
    return said.select(**labels, part=pl.col("part"))


def _geometry(path: Path, options: ReadOptions) -> Geometry:
    """Return the display that PyGaze's report states, completed with what the user says."""
    head = read_head(path).decode(errors="replace")
    pixels, size, distance = (pattern.search(head) for pattern in (_SCREEN, _SIZE_CM, _DISTANCE_CM))
    known = options.geometry
    width, height = (float(pixels[1]), float(pixels[2])) if pixels else (None, None)
    if width is None and known is not None:
        width, height = known.width_px, known.height_px
    if width is None:
        raise FileFormatError(
            path,
            expected="the display's resolution",
            found="a log without PyGaze's report (display resolution: …)",
            hint="give it, for example --screen 1920x1080",
        )
    try:
        stated = Geometry(
            Unit.PIXEL,
            width,
            height,
            float(size[1]) * 10 if size else None,
            float(size[2]) * 10 if size else None,
            float(distance[1]) * 10 if distance else None,
        )
        return completed(stated, known)
    except (GeometryError, ValueError) as error:
        raise FileFormatError(path, expected="a display that can exist", found=str(error)) from None
