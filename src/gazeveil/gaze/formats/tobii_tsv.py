# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Tobii Pro Lab data export (TSV), with units in the header or without, and Tobii Studio's older spellings.

Tobii Studio 2 writes a preamble (system, recording, participant) before the table, calls columns otherwise
(``GazePointXLeft``), and gives lost gaze numbers: (0, 0), minus the screen's size, pupils of -1.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import polars as pl

from gazeveil.errors import FileFormatError, GeometryError
from gazeveil.gaze.fileio.columns import TIME_UNITS, Columns, parse_name, words_in
from gazeveil.gaze.fileio.numbers import MISSING, is_one_of, which_are
from gazeveil.gaze.fileio.row_assembly import (
    PER_SECOND,
    Recorder,
    combined,
    completed,
    guess_time_unit,
    in_seconds,
    lines_before,
    placed_messages,
    stated,
    stated_screen,
    step_in_words,
)
from gazeveil.gaze.fileio.tables import Batch, Table
from gazeveil.gaze.formats.base import Chunk, ReadOptions, ReadReport, file_format
from gazeveil.geometry import Geometry, Unit

_LABELS = ("observer", "stimulus", "session")
_Labels = tuple[str, str, str]


class TobiiMessages:
    """Gives each message to the recording around it: of the same participant, and where possible the same stimulus."""

    def __init__(self, report: ReadReport) -> None:
        self._report = report
        self._waiting: list[tuple[_Labels, float, str]] = []
        self._last: _Labels | None = None

    def place(self, rows: Batch, samples: Batch, scale: float) -> pl.DataFrame:
        """Return the messages of a batch as events with ``at``, the sample whose recording they belong to."""
        placed: list[tuple[int, float, str]] = []
        count = len(samples.lines)
        labels = samples.frame.select(_LABELS)
        waiting, self._waiting = self._waiting, []
        for held, held_time, held_text in waiting:
            self._put(placed, held, held_time, held_text, labels, 0)
        for line, observer, stimulus, session, time, text in _messages_of(rows):
            if time is None:
                self._report.remark("messages without a time were left out")
                continue
            before = int(samples.lines.searchsorted(line))
            is_sample = before < count and int(samples.lines[before]) == line
            if is_sample:
                placed.append((before, time / scale, text))
            else:
                self._put(placed, (observer, stimulus, session), time / scale, text, labels, before)
        if count:
            last = labels.row(count - 1)
            self._last = (last[0], last[1], last[2])
        return placed_messages(placed)

    def remaining(self) -> pl.DataFrame:
        """Return the messages after the last sample."""
        mine = [(-1, time, text) for labels, time, text in self._waiting if self._last and _same(labels, self._last)]
        self._drop(len(self._waiting) - len(mine))
        return placed_messages(mine)

    def _put(
        self,
        placed: list[tuple[int, float, str]],
        mine: _Labels,
        time: float,
        text: str,
        labels: pl.DataFrame,
        before: int,
    ) -> None:
        previous = labels.row(before - 1) if before else self._last
        if previous == mine:
            placed.append((before - 1, time, text))
        elif before >= labels.height:
            self._waiting.append((mine, time, text))
        elif _same(mine, labels.row(before)):
            placed.append((before, time, text))
        elif previous is not None and _same(mine, previous):
            placed.append((before - 1, time, text))
        else:
            self._drop(1)

    def _drop(self, count: int) -> None:
        if count:
            self._report.remark("messages outside any recording were left out", count)


def _same(mine: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Whether both are of one participant in one recording."""
    return mine[0] == other[0] and mine[2] == other[2]


def _messages_of(rows: Batch) -> list[tuple[int, str, str, str, float | None, str]]:
    """Return line, labels, time and text of the rows with a message."""
    if "event" not in rows.frame.columns:
        return []
    text = [name for name in ("event", "event_value") if name in rows.frame.columns]
    speaks = rows.frame["event"].is_not_null()
    said = rows.frame.select(*_LABELS, "t", *text).filter(speaks)
    said = said.select(*_LABELS, "t", pl.concat_str(text, separator=": ", ignore_nulls=True).alias("text"))
    return [(line, *row) for line, row in zip(rows.lines[speaks.to_numpy()].tolist(), said.iter_rows(), strict=True)]


# --- The format.


_PIXELS = ("dacspx", "adcspx", "px", "", "mcspx")
_FRACTIONS = ("dacsnorm", "adcsnorm", "mcsnorm")
_TIMES = ("recordingtimestamp", "eyetrackertimestamp", "computertimestamp")
_STUDIO_UNITS = {"RecordingTimestamp": "ms", "EyeTrackerTimestamp": "us"}
_GOOD_VALIDITY = ("valid", "0", "1")
_LOST = ("invalid", "4")
_KNOWN_VALIDITY = (*_GOOD_VALIDITY, *_LOST, "2", "3")
_PREAMBLES = ("systemproperties", "dataproperties")
_METRICS = {"participant", "toi", "interval"}
_STUDIO_2 = {"timestamp", "gazepointxleft", "gazepointx"}
_FEWEST_TO_TELL = 10
_STUDIO_2_ONLY = {"camxleft", "distanceleft", "stimuliname", "eventkey"}
_STUDIO_2_EVENTS = {"timestamp", "event", "eventkey"}


@file_format("tobii-tsv")
class TobiiTsv:
    """One export holds many participants and stimuli; each presentation of a stimulus is a trial."""

    title = "Tobii Pro Lab TSV export"
    suffixes = (".tsv", ".txt", ".csv")

    def sniff(self, path: Path, head: bytes) -> bool:
        """Whether the header has Tobii's timestamp and gaze columns."""
        lines = [line.decode(errors="replace") for line in head.splitlines() if line.strip()]
        if lines and parse_name(lines[0]).words in _PREAMBLES:
            return any(_is_header(line) for line in lines)
        return bool(lines) and (_is_table_of_gaze(lines[0]) or _is_metrics(words_in(lines[0])))

    def read(self, path: Path, options: ReadOptions, report: ReadReport) -> Iterator[Chunk]:
        """Yield the recordings of the eye tracker; other sensors' rows are left out and counted."""
        preamble = lines_before(path, _is_header, options.encoding)
        table = Table(path, options, report, delimiter=options.delimiter, is_header=_is_header if preamble else None)
        _refuse_metrics(table.columns)
        layout = _layout(table.columns, options)
        options = _with_preamble(options, preamble)
        time_unit = layout.time_unit
        messages = TobiiMessages(report)
        recorder = Recorder(path, options.chunk_rows, "mm")
        for batch in table.batches(layout.text, layout.numbers):
            rows = _with_labels(batch, layout, options, path)
            samples = _samples_only(rows, layout, report)
            samples = table.reject(samples, samples.frame["t"].is_null(), layout.time, "a time", samples.frame["t"])
            _refuse_fixations(path, samples)
            if time_unit is None and len(samples.lines):
                time_unit = _time_unit(path, samples.frame, layout.time)
            scale = PER_SECOND[time_unit or "us"]
            gaze = _with_losses(_with_validity(table, samples, layout), layout)
            gaze = Batch(in_seconds(gaze.frame, scale, "t"), gaze.lines)
            said = messages.place(rows, gaze, scale)
            yield from recorder.feed(
                gaze.frame.select("observer", "stimulus", "session"),
                gaze.lines,
                combined(gaze.frame, options.eye),
                _eye_movements(gaze.frame),
                said,
                partial(_geometry, path, layout, options, gaze.frame),
            )
        yield from recorder.finish(messages.remaining())


@dataclass(frozen=True, slots=True)
class _Layout:
    """Where in the export our columns are."""

    text: Mapping[str, str]
    numbers: Mapping[str, str]
    time: str
    time_unit: str | None
    unit: Unit
    on_media: bool
    is_studio_2: bool


def _is_table_of_gaze(line: str) -> bool:
    names = words_in(line)
    has_gaze = any(name.startswith("gazepoint") for name in names)
    if "eyemovementtype" in names and "gazeeventduration" not in names:
        has_gaze = True  # gaze was left out of the export, which is said when it is read
    return has_gaze and (not names.isdisjoint(_TIMES) or _is_studio_2(names))


def _is_studio_2(names: set[str]) -> bool:
    return names >= _STUDIO_2 and not names.isdisjoint(_STUDIO_2_ONLY)


def _is_header(line: str) -> bool:
    """Whether a line is the header of one of the tables that follow a preamble."""
    return _is_table_of_gaze(line) or words_in(line) >= _STUDIO_2_EVENTS


def _is_metrics(names: set[str]) -> bool:
    """Whether it is one of Pro Lab's tables of metrics, of times and areas of interest, without places of fixations."""
    return names >= _METRICS and "fixationpointx" not in names and not any(name in names for name in _TIMES)


def _refuse_metrics(columns: Columns) -> None:
    if _is_metrics({parse_name(name).words for name in columns.names}):
        raise FileFormatError(
            columns.path,
            line=columns.line,
            expected="a table of gaze samples",
            found="Tobii Pro Lab's table of metrics or events",
            hint="use Data export in Pro Lab, with the gaze point; an event-based TSV needs fixation points",
        )


def _with_preamble(options: ReadOptions, preamble: list[str]) -> ReadOptions:
    """Return the options completed with what Studio 2 says before the table; what it says wins."""
    if not preamble:
        return options
    return replace(
        options,
        observer=stated(preamble, "Participant") or options.observer,
        session=stated(preamble, "Recording name") or options.session,
        geometry=stated_screen(preamble, "Recording resolution", options.geometry),
    )


def _layout(columns: Columns, options: ReadOptions) -> _Layout:
    names = {parse_name(name).words for name in columns.names}
    is_studio_2 = _is_studio_2(names)
    if not is_studio_2 and names >= _STUDIO_2_EVENTS:
        raise FileFormatError(
            columns.path,
            line=columns.line,
            expected="a table of gaze samples",
            found="Tobii Studio's list of events",
            hint="export all data from Studio; it holds the events too",
        )
    time = columns.need("'Recording timestamp [μs]'", *_TIMES, *(["timestamp"] if is_studio_2 else []))
    gaze, tag = _gaze_columns(columns, _STUDIO_2_GAZE if is_studio_2 else _GAZE)
    if options.eye != "both" and f"{options.eye}_x" not in gaze:
        raise columns.missing(f"'Gaze point {options.eye} X' in the unit of 'Gaze point X'")
    numbers = {"t": time, **gaze}
    numbers |= columns.find_each(
        {
            "left_pupil": ("pupildiameterleft", "pupilleft"),
            "right_pupil": ("pupildiameterright", "pupilright"),
            "screen_width": ("recordingresolutionwidth",),
            "screen_height": ("recordingresolutionheight",),
            "media_width": ("presentedmediawidth", "recordingmediawidth", "mediawidth"),
            "media_height": ("presentedmediaheight", "recordingmediaheight", "mediaheight"),
        }
    )
    for ours, spelling in {"event_x": "fixationpointx", "event_y": "fixationpointy"}.items():
        if found := columns.find_with_unit(spelling, (tag,)):
            numbers[ours] = found
    text = columns.find_each(
        {
            "sensor": ("sensor",),
            "gaze_index": ("number", "validityleft") if is_studio_2 else ("gazepointindex",),
            "observer": ("participantname", "participant"),
            "session": ("recordingname",),
            "stimulus": (
                "presentedstimulusname",
                "presentedmedianame",
                "recordingmedianame",
                "medianame",
                "stimuliname",
            ),
            "resolution": ("recordingresolution",),
            "left_valid": ("validityleft",),
            "right_valid": ("validityright",),
            "movement": ("eyemovementtype", "gazeeventtype"),
            "movement_index": ("eyemovementtypeindex",),
            "fixation_index": ("fixationindex",),
            "saccade_index": ("saccadeindex",),
            "event": ("event", "studioevent"),
            "event_value": ("eventvalue", "studioeventdata", "descriptor"),
        }
    )
    time_unit = "ms" if is_studio_2 else TIME_UNITS.get(parse_name(time).unit) or _STUDIO_UNITS.get(time)
    unit = Unit.PIXEL if tag in _PIXELS else Unit.FRACTION
    on_media = tag.startswith("mcs")
    return _Layout(text, numbers, time, options.time_unit or time_unit, unit, on_media, is_studio_2)


_GAZE = {
    "x": "gazepointx",
    "y": "gazepointy",
    "left_x": "gazepointleftx",
    "left_y": "gazepointlefty",
    "right_x": "gazepointrightx",
    "right_y": "gazepointrighty",
}
_STUDIO_2_GAZE = {
    **_GAZE,
    "left_x": "gazepointxleft",
    "left_y": "gazepointyleft",
    "right_x": "gazepointxright",
    "right_y": "gazepointyright",
}


def _gaze_columns(columns: Columns, spellings: Mapping[str, str]) -> tuple[dict[str, str], str]:
    """Return the gaze columns of the best coordinate system there is, and its tag."""
    for tag in (*_PIXELS, *_FRACTIONS):
        found = {
            ours: name for ours, spelling in spellings.items() if (name := columns.find_with_unit(spelling, (tag,)))
        }
        pairs = {
            axis: found[axis]
            for prefix in ("", "left_", "right_")
            if {f"{prefix}x", f"{prefix}y"} <= set(found)
            for axis in (f"{prefix}x", f"{prefix}y")
        }
        if pairs:
            return pairs, tag
    raise columns.missing(
        "'Gaze point X [DACS px]' and its y",
        ("gazepointx", "gazepointleftx"),
        "export the gaze point in pixels from Pro Lab",
    )


def _with_labels(batch: Batch, layout: _Layout, options: ReadOptions, path: Path) -> Batch:
    defaults = options.key(path)._asdict()
    labels = [
        (pl.col(name).fill_null(defaults[name]) if name in layout.text else pl.lit(defaults[name])).alias(name)
        for name in ("observer", "stimulus", "session")
    ]
    return Batch(batch.frame.with_columns(labels), batch.lines)


def _samples_only(batch: Batch, layout: _Layout, report: ReadReport) -> Batch:
    """Return the rows of the eye tracker; those of other sensors are left out and counted."""
    frame = batch.frame
    if "sensor" in layout.text:
        sensor = frame["sensor"]
        is_gaze = is_one_of(sensor, lambda word: word.replace(" ", "") == "eyetracker")
        for name, count in sensor.filter(~is_gaze).drop_nulls().value_counts().iter_rows():
            report.remark(f"rows of the sensor {name!r} were left out", count)
    elif "gaze_index" in layout.text:
        is_gaze = ~is_one_of(frame["gaze_index"].fill_null(""), MISSING.__contains__)
    else:
        return batch
    return batch.take(is_gaze.to_numpy())


def _refuse_fixations(path: Path, samples: Batch) -> None:
    """Refuse a table of one row for each fixation: a sample shares its fixation with those around it."""
    if "fixation_index" not in samples.frame.columns or samples.frame.height < _FEWEST_TO_TELL:
        return
    index = samples.frame["fixation_index"]
    if not index.has_nulls() and index.n_unique() == len(index):
        raise FileFormatError(
            path,
            line=int(samples.lines[0]),
            expected="a table of gaze samples",
            found="a row for each fixation",
            hint="read it as a list of fixations with --format fixations-csv, or export the gaze samples",
        )


def _time_unit(path: Path, samples: pl.DataFrame, column: str) -> str:
    """Tell milliseconds from microseconds by the typical step: older exports do not name the unit."""
    unit, step = guess_time_unit(samples["t"].to_numpy(), ("ms", "us"))
    if unit is None:
        raise FileFormatError(
            path,
            column=column,
            expected="steps of 10 to 2000 Hz in milliseconds or microseconds",
            found=step_in_words(step),
            hint="name the unit with --time-unit ms or us",
        )
    return unit


def _with_validity(table: Table, batch: Batch, layout: _Layout) -> Batch:
    """Turn Valid/Invalid, or Studio's codes (0 and 1: this eye was found), into true and false."""
    for name in ("left_valid", "right_valid"):
        if name in layout.text:
            tokens = batch.frame[name]
            lost, found, unclear = which_are(
                tokens,
                _LOST.__contains__,
                _GOOD_VALIDITY.__contains__,
                lambda word: word not in _KNOWN_VALIDITY and word not in MISSING,
            )
            said = [lost.alias(name.replace("valid", "lost")), found.alias(name)]
            batch = Batch(batch.frame.with_columns(said), batch.lines)
            batch = table.reject(batch, unclear, layout.text[name], "Valid, Invalid or a code 0 to 4", tokens)
    return batch


def _with_losses(batch: Batch, layout: _Layout) -> Batch:
    """Say where gaze and pupils are lost although Studio gives numbers: where no eye was found.

    A pupil is no larger than 0 only where none was measured. Gaze of both eyes is lost where each eye is.
    """
    frame = batch.frame
    pupils = [pl.col(name) for name in ("left_pupil", "right_pupil") if name in frame.columns]
    frame = frame.with_columns(pl.when(pupil > 0).then(pupil) for pupil in pupils)
    if {"x", "left_lost", "right_lost"} <= set(frame.columns):
        frame = frame.with_columns(valid=~(pl.col("left_lost") & pl.col("right_lost")))
    elif "x" in frame.columns and layout.is_studio_2:
        frame = frame.with_columns(valid=(pl.col("x") != 0) | (pl.col("y") != 0))
    return Batch(frame, batch.lines)


def _eye_movements(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the fixation or saccade each sample is in; its number and place are those Tobii gives."""
    if "movement" not in frame.columns and "fixation_index" in frame.columns:
        numbered = pl.when(~is_one_of(frame["fixation_index"].fill_null(""), MISSING.__contains__))
        frame = frame.with_columns(movement=numbered.then(pl.lit("fixation")))
    if "movement" not in frame.columns:
        return frame.select(kind=pl.lit(None, pl.String), id=pl.lit(""), onset="t", offset="t")
    numbers = [name for name in ("movement_index", "fixation_index", "saccade_index") if name in frame.columns]
    is_fixation, is_saccade = which_are(frame["movement"], "fixation".__eq__, "saccade".__eq__)
    place = {
        axis: pl.when(is_fixation).then(pl.col(f"event_{axis}"))
        for axis in ("x", "y")
        if f"event_{axis}" in frame.columns
    }
    return frame.select(
        kind=pl.when(is_fixation).then(pl.lit("fixation")).when(is_saccade).then(pl.lit("saccade")),
        id=pl.concat_str(pl.col(numbers).fill_null(""), separator=" ") if numbers else pl.lit(""),
        onset="t",
        offset="t",
        **place,
    )


def _geometry(path: Path, layout: _Layout, options: ReadOptions, frame: pl.DataFrame, row: int) -> Geometry:
    """Return the viewing plane of the recording that begins at ``row``.

    The screen, or the media that gaze is mapped on.
    """
    size: list[float | None] = [None, None]
    kinds = ("media", "screen") if layout.on_media else ("screen",)
    for kind in kinds:
        names = (f"{kind}_width", f"{kind}_height")
        if None in size and set(names) <= set(frame.columns):
            size = [frame[name][row] for name in names]
    if None in size and not layout.on_media and "resolution" in frame.columns:
        parts = str(frame["resolution"][row]).lower().replace("×", "x").split("x")
        size = [float(part) if part.strip().isdigit() else None for part in parts] if len(parts) == 2 else size
    if None in size:
        size = [None, None]
    known = options.geometry
    if layout.unit is Unit.PIXEL and size[0] is None:
        if known is None or known.width_px is None:
            raise FileFormatError(
                path,
                expected="the screen's size in pixels",
                found="an export without 'Recording resolution width [px]' and height",
                hint="give it, for example --screen 1920x1080, or add the columns to the export",
            )
        size = [known.width_px, known.height_px]
    try:
        return completed(Geometry(layout.unit, *size), known)
    except GeometryError as error:
        raise FileFormatError(path, expected="a screen that can exist", found=error.message, hint=error.hint) from None
