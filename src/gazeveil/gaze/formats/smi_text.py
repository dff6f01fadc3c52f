# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""SMI's text: samples of the IDF Converter and of BeGaze (``SMP`` and ``MSG`` lines), and BeGaze's raw data export.

Lost gaze is written as (0.00, 0.00), also where the eye was found (``L Validity`` 1, a pupil with a size) but not
where it looked; in the raw data export it is ``-``. Messages lie between the samples and have fewer fields.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import polars as pl

from gazeveil.errors import FileFormatError
from gazeveil.gaze.fileio.messages import Message, MessagesBetweenRows, a_name, media_in, namer, rules_of
from gazeveil.gaze.fileio.numbers import MISSING, is_one_of
from gazeveil.gaze.fileio.recordings import (
    PER_SECOND,
    Recorder,
    combined,
    expect_unit,
    in_seconds,
    lines_before,
    stated,
)
from gazeveil.gaze.fileio.tables import Aside, Batch, Line, Table
from gazeveil.gaze.fileio.text import read_head
from gazeveil.gaze.formats._smi_columns import (
    Layout,
    geometry_of,
    has_gaze,
    is_header,
    is_list_of_events,
    layout_of,
    rate_of,
    said_in,
)
from gazeveil.gaze.formats.base import Chunk, ReadOptions, ReadReport, file_format

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
        aside = Aside(_MESSAGE, b"MSG")
        table = Table(
            path,
            options,
            report,
            delimiter=options.delimiter,
            is_header=is_header if preamble else None,
            aside=aside,
        )
        layout = layout_of(table.columns, options)
        geometry = geometry_of(path, preamble, options)
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
            spoken = _messages(aside.taken(), table, report, PER_SECOND[unit])
            messages, said = between.place(sorted([*contents, *spoken]), samples.lines)
            yield from recorder.feed(
                _labels(path, samples.frame, said, a_name(stated(preamble, "Subject") or ""), options),
                samples.lines,
                combined(_known_only(samples.frame), options.eye),
                _eye_movements(samples.frame, options.eye),
                messages,
                lambda row: geometry,
            )
        last = _messages(aside.taken(), table, report, PER_SECOND[unit or layout.time_unit])
        yield from recorder.finish(between.rest(last))


def _nothing(text: str) -> str:
    return ""


def _samples_only(table: Table, rows: Batch, layout: Layout, report: ReadReport) -> tuple[Batch, list[Message]]:
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


def _messages(lines: list[Line], table: Table, report: ReadReport, per_second: float) -> list[Message]:
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
