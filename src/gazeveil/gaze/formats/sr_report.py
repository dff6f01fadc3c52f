# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Sample reports of SR Research's Data Viewer: a table of EyeLink samples, one row each, with the trial's variables."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import polars as pl

from gazeveil.errors import FileFormatError, OptionError
from gazeveil.gaze import schema
from gazeveil.gaze.fileio.columns import Columns, header_words, parse_name
from gazeveil.gaze.fileio.messages import a_name, rules_of, usual_variable
from gazeveil.gaze.fileio.row_assembly import Recorder, as_messages, combined, in_seconds, placed_messages
from gazeveil.gaze.fileio.tables import Table
from gazeveil.gaze.formats.base import Chunk, ReadOptions, ReadReport, file_format
from gazeveil.geometry import Geometry, Unit

_MISSING = "."
_NO_POSITION = (-32768.0, 1e8)
_EYES = {"": "average", "left_": "left", "right_": "right"}
_GAZE = {f"{theirs}gazex" for theirs in _EYES.values()}


@file_format("sr-report")
class SrReport:
    """One row a sample; a report may hold many participants, whose trials are numbered."""

    title = "SR Research Data Viewer sample report"
    suffixes = (".txt", ".tsv", ".csv", ".xls")
    names_from_messages = True

    def sniff(self, path: Path, head: bytes) -> bool:
        """Whether the header has Data Viewer's columns of samples."""
        return any("recordingsessionlabel" in names and names & _GAZE for names in header_words(head, ' "\ufeff'))

    def read(self, path: Path, options: ReadOptions, report: ReadReport) -> Iterator[Chunk]:
        """Yield the recordings: one for each trial."""
        table = Table(path, options, report, delimiter=options.delimiter)
        text, numbers = _layout(table.columns, options)
        geometry = _geometry(table.columns, options.geometry)
        recorder = Recorder(path, options.chunk_rows, "", trials_counted=False)
        default = options.key(path)
        for batch in table.batches(text, numbers, required=("t",)):
            frame = _known_only(in_seconds(batch.frame, 1000.0, "t"))
            labels = frame.select(
                observer=_text(frame, "observer", default.observer),
                stimulus=_text(frame, "stimulus", default.stimulus),
                session=pl.lit(default.session),
                trial=_text(frame, "trial", default.trial),
            )
            yield from recorder.feed(
                labels,
                batch.lines,
                combined(frame, options.eye),
                _events_on_samples(frame),
                _messages(frame),
                lambda row: geometry,
            )
        yield from recorder.finish(schema.no_events())


def _layout(columns: Columns, options: ReadOptions) -> tuple[dict[str, str], dict[str, str]]:
    """Return the columns of text and of numbers."""
    text = {
        "observer": columns.find("recordingsessionlabel"),
        "stimulus": _stimulus(columns, options),
        "trial": _named_by(columns, options.trial_from, "--trial-from") or columns.find("trialindex", "triallabel"),
        "message": columns.find("samplemessage"),
    }
    numbers: dict[str, str | None] = {"t": columns.need("'TIMESTAMP'", "timestamp")}
    for ours, theirs in _EYES.items():
        x, y = (columns.find(f"{theirs}gaze{axis}") for axis in "xy")
        if x is None and y is None:
            continue
        if x is None or y is None:
            raise columns.missing(f"'{theirs.upper()}_GAZE_{'X' if x is None else 'Y'}'")
        numbers |= {
            f"{ours}x": x,
            f"{ours}y": y,
            f"{ours}pupil": columns.find(f"{theirs}pupilsize"),
            f"{ours}blink": columns.find(f"{theirs}inblink"),
            f"{ours}saccade": columns.find(f"{theirs}insaccade"),
        }
    gaze = [name for name in numbers if name.endswith("x")]
    if not gaze:
        raise columns.missing("'LEFT_GAZE_X', 'RIGHT_GAZE_X' or 'AVERAGE_GAZE_X'", tuple(_GAZE))
    if options.eye != "both" and f"{options.eye}_x" not in numbers:
        raise columns.missing(f"'{options.eye.upper()}_GAZE_X'")
    if {"left_x", "right_x"} <= set(gaze):
        numbers = {name: found for name, found in numbers.items() if name not in {"x", "y", "pupil"}}
    return {ours: name for ours, name in text.items() if name}, {ours: name for ours, name in numbers.items() if name}


def _geometry(columns: Columns, known: Geometry | None) -> Geometry:
    if known is None or known.width_px is None or known.height_px is None:
        raise FileFormatError(
            columns.path,
            expected="the screen's resolution",
            found="a sample report, which does not say it",
            hint="give it, for example --screen 1920x1080",
        )
    return known.in_unit(Unit.PIXEL)


def _stimulus(columns: Columns, options: ReadOptions) -> str | None:
    if options.stimulus_from is not None:
        return _named_by(columns, options.stimulus_from, "--stimulus-from")
    places = {place: name for name in reversed(columns.names) if (place := usual_variable(name)) is not None}
    return places[min(places)] if places else None


def _named_by(columns: Columns, text: str | None, option: str) -> str | None:
    """Return the column that a user's rule means: trial variables are columns of the report."""
    for rule in rules_of(text) or ():
        if rule.kind != "TRIAL_VAR":
            raise OptionError(
                f"{option} {text!r}: a sample report does not have these messages",
                hint=f"its trial variables are columns: {option} 'TRIAL_VAR image'",
            )
        return columns.need(repr(rule.words), parse_name(rule.words).words)
    return None


def _text(frame: pl.DataFrame, name: str, default: str) -> pl.Expr:
    """Return a column of names, the default where there is none."""
    if name not in frame.columns:
        return pl.lit(default)
    empty = [token for token in frame[name].unique().drop_nulls().to_list() if not a_name(token)]
    found = pl.col(name).str.strip_chars()
    return pl.when(pl.col(name).is_in(empty)).then(pl.lit(default)).otherwise(found).fill_null(default)


def _known_only(frame: pl.DataFrame) -> pl.DataFrame:
    """Leave out the marks of a lost eye; a pupil of 0 is none."""
    positions = [name for name in frame.columns if name in {"x", "y"} or name.endswith(("_x", "_y"))]
    pupils = [name for name in frame.columns if name.endswith("pupil")]
    return frame.with_columns(
        *(pl.when(~pl.col(name).is_in(_NO_POSITION)).then(pl.col(name)).alias(name) for name in positions),
        *(pl.when(pl.col(name) > 0).then(pl.col(name)).alias(name) for name in pupils),
    )


def _events_on_samples(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the blink or saccade that each sample is in, of either eye."""

    def either(what: str) -> pl.Expr:
        flags = [pl.col(name) == 1 for name in frame.columns if name.endswith(what)]
        return pl.any_horizontal(flags).fill_null(False) if flags else pl.lit(False)

    return frame.select(
        kind=pl.when(either("blink")).then(pl.lit("blink")).when(either("saccade")).then(pl.lit("saccade")),
        id=pl.lit(0.0),
        onset=pl.col("t"),
        offset=pl.col("t"),
    )


def _messages(frame: pl.DataFrame) -> pl.DataFrame:
    if "message" not in frame.columns:
        return placed_messages([])
    said = frame.select(onset="t", text=pl.col("message").str.strip_chars()).with_row_index("at")
    said = said.filter(~pl.col("text").is_in(["", _MISSING]))
    return as_messages(said).with_columns(said["at"].cast(pl.Int64))
