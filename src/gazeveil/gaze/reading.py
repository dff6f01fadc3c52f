# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Read gaze: find a file's format, read it chunk by chunk or as recordings; or take a data frame as it is.

Data frames may be polars, pandas, or anything that supports Arrow. Nothing is written to disk on the way.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from gazeveil.display import html_table
from gazeveil.errors import FileFormatError, InputError
from gazeveil.gaze import schema
from gazeveil.gaze.corpus import Corpus
from gazeveil.gaze.fileio.text import read_head
from gazeveil.gaze.formats.base import FORMATS, Chunk, Format, ReadOptions, ReadReport
from gazeveil.gaze.formats.parquet import table_chunks
from gazeveil.gaze.recording import Key, Recording
from gazeveil.gaze.schema import VeilNote
from gazeveil.gaze.validity import without_sentinels

NAME = Path("the data frame")


def is_frame(source: object) -> bool:
    """Return whether something is a data frame rather than a path."""
    if isinstance(source, pl.DataFrame | pl.LazyFrame):
        return True
    return hasattr(source, "__arrow_c_stream__") or _is_pandas(source)


def frame_chunks(source: Any, options: ReadOptions, report: ReadReport) -> Iterator[Chunk]:
    """Yield the recordings of a data frame.

    Columns are found by the names of our schema (``observer``, ``t``, ``x``, ``y`` …) or by ``columns=`` of the
    options. Rows of one recording may lie in several places; they keep their order.

    Raises:
        InputError: If columns are missing or hold no numbers, the participant is not given, or times are hardly in
            seconds.
    """
    table = as_polars(source)
    found = table.columns
    if options.observer is None and options.columns.get("observer", "observer") not in found:
        raise InputError(
            "the data frame does not say who looked",
            hint="name the column with columns={'observer': 'Participant'}, or the participant with observer='p01'",
        )
    for name in schema.SAMPLES:
        _check_numbers(table, options.columns.get(name, name))
    keys = [name for key in schema.KEYS if (name := options.columns.get(key, key)) in found]
    if keys and len(table):
        table = pl.concat(table.partition_by(keys, maintain_order=True))
    yield from table_chunks(table.lazy(), NAME, options, report)
    report.fraction = 1.0


def _check_numbers(table: pl.DataFrame, name: str) -> None:
    """Refuse a column of texts that are no numbers."""
    if name in table.columns and table[name].dtype == pl.String:
        column = table[name]
        wrong = column.filter(column.is_not_null() & column.cast(pl.Float64, strict=False).is_null())
        if len(wrong):
            raise InputError(
                f"column {name!r} of the data frame has {wrong[0]!r}, which is no number",
                hint="make it a number, or leave it empty where gaze was lost",
            )


def as_polars(source: Any) -> pl.DataFrame:
    """Return a data frame as one of polars."""
    if isinstance(source, pl.LazyFrame):
        return source.collect()
    if isinstance(source, pl.DataFrame):
        return source
    if _is_pandas(source):  # column by column: polars alone would need pyarrow for it
        columns = {str(name): source[name].to_numpy() for name in source.columns}
        return pl.DataFrame({name: _column(values) for name, values in columns.items()})
    return pl.DataFrame(source)


def _column(values: Any) -> Any:
    if values.dtype == object:  # texts, and numbers with gaps
        return [None if isinstance(item, float) and math.isnan(item) else item for item in values.tolist()]
    return values


def _is_pandas(source: object) -> bool:
    return type(source).__module__.split(".")[0] == "pandas" and hasattr(source, "columns")


# --- Files: find the format, read chunk by chunk, or all at once as recordings.


@dataclass(frozen=True, slots=True)
class Reading:
    """What a file held: its recordings, and what reading it found."""

    recordings: tuple[Recording, ...]
    report: ReadReport
    format: str

    def __repr__(self) -> str:
        return f"Reading({len(self.recordings):,} recordings, {self.report.samples:,} samples, {self.format})"

    def _repr_html_(self) -> str:
        rows = [(str(each.key), f"{len(each):,} samples", f"{each.duration:.4g} s") for each in self.recordings]
        return html_table(f"{self!r}: raw gaze, not for publication", rows)

    def __iter__(self) -> Iterator[Recording]:
        return iter(self.recordings)

    def __len__(self) -> int:
        return len(self.recordings)

    @property
    def corpus(self) -> Corpus:
        """The recordings as a corpus."""
        return Corpus.of(self.recordings)


def read(source: Any, *, format: str | None = None, **options: Any) -> Reading:  # noqa: A002
    """Read a file (or a corpus folder, a BIDS data set, or a data frame) into memory.

    Args:
        source: The file or folder; or a polars, pandas or Arrow table with our column names, or others that
            ``columns={"x": "GazeX", …}`` maps.
        format: Its format's name; by default found by looking at it.
        **options: Fields of `ReadOptions`, for example ``geometry=screen(1920, 1080)``.

    Raises:
        FileFormatError: If the file is not what its format guarantees, with line, column and what to do.
    """
    if is_frame(source):
        report, chosen = ReadReport(), ReadOptions(**options)
        chunks = without_sentinels(frame_chunks(source, chosen, report), chosen.sentinels, report)
        recordings = tuple(assemble(chunks))
        report.samples = sum(len(recording) for recording in recordings)
        return Reading(recordings, report, "data frame")
    if not isinstance(source, str | PathLike):
        raise InputError(f"read takes a path or a data frame, not a {type(source).__name__}")
    stream = ChunkStream(Path(source), ReadOptions(**options), format)
    return Reading(tuple(assemble(stream)), stream.report, stream.format_name)


class ChunkStream:
    """A file being read: iterate once for its chunks; ``report`` fills as it goes."""

    def __init__(self, path: Path, options: ReadOptions | None = None, format_name: str | None = None) -> None:
        self.path = path
        self.options = options or ReadOptions()
        if self.options.chunk_rows < 1:
            raise InputError(f"chunk_rows must be at least 1, not {self.options.chunk_rows}")
        if not path.exists():
            raise InputError(f"there is no file {path}", hint="check the path")
        self.format_name = format_name or find_format(path)
        self.report = ReadReport(skip_bad=self.options.skip_bad)
        self._format: Format = FORMATS[self.format_name]
        if (self.options.stimulus_from or self.options.trial_from) and not self._takes_names():
            self.report.remark(f"rules for names in messages do not apply to {self.format_name}, which has columns")

    def __iter__(self) -> Iterator[Chunk]:
        last_time: dict[Key, float] = {}
        key: Key | None = None
        note: VeilNote | None = None
        chunks = self._format.read(self.path, self.options, self.report)
        for chunk in without_sentinels(chunks, self.options.sentinels, self.report):
            if self.options.valid and not self.report.rules_kept:
                raise InputError(
                    f"{self.path}: --valid is about columns, and {self.format_name} has none that it could name",
                    hint="this format says itself which gaze is lost; --sentinel names positions that are lost besides",
                )
            self.report.samples += len(chunk.samples)
            self.report.fixations += len(chunk.samples) if schema.DURATION in chunk.samples.columns else 0
            self._count_time_faults(chunk, last_time)
            if chunk.veiled is None:
                if chunk.key != key:
                    key, note = chunk.key, None
                note = note or _note_in(chunk)
                chunk = chunk if note is None else replace(chunk, veiled=note)  # noqa: PLW2901
            yield chunk

    def _takes_names(self) -> bool:
        return bool(getattr(self._format, "names_from_messages", False))

    def _count_time_faults(self, chunk: Chunk, last_time: dict[Key, float]) -> None:
        times = chunk.samples["t"].to_numpy()
        if not len(times):
            return
        before = np.concatenate(([last_time.get(chunk.key, -np.inf)], times[:-1]))
        self.report.time_backwards += int((times < before).sum())
        self.report.time_repeated += int((times == before).sum())
        last_time[chunk.key] = float(times[-1])


def _note_in(chunk: Chunk) -> VeilNote | None:
    """Return what the recording's messages say about a veil: other formats keep it there."""
    notes = chunk.events.filter(pl.col("text").str.contains("Veiled gaze", literal=True))["text"].to_list()
    return next((note for text in notes if (note := VeilNote.from_sentence(text)) is not None), None)


def find_format(path: Path) -> str:
    """Return the name of the format that a file or folder is in, by looking at its content.

    Raises:
        FileFormatError: If no format claims it.
    """
    head = b"" if path.is_dir() else read_head(path)
    by_priority = sorted(FORMATS.names(), key=lambda name: getattr(FORMATS[name], "priority", 0))
    for name in by_priority:
        if FORMATS[name].sniff(path, head):
            return name
    hint = "name the format with --format if you know it"
    if path.is_dir():
        hint = f"give the files in it, for example {path / '*.csv'}"
        found = "a folder that is neither a corpus nor a BIDS data set"
    elif path.stat().st_size == 0:
        found = "an empty file"
    else:
        found = "something no format recognises"
    raise FileFormatError(
        path,
        expected=f"gaze in one of: {', '.join(FORMATS.names())}",
        found=found,
        hint=hint,
    )


def assemble(chunks: Iterator[Chunk] | ChunkStream) -> Iterator[Recording]:
    """Put chunks together into recordings; a recording is yielded when the next one begins."""
    held: list[Chunk] = []
    for chunk in chunks:
        if held and held[0].key != chunk.key:
            yield _join(held)
            held = []
        held.append(chunk)
    if held:
        yield _join(held)


def _join(chunks: list[Chunk]) -> Recording:
    first = chunks[0]
    samples = pl.concat([chunk.samples for chunk in chunks], how="diagonal")
    events = pl.concat([schema.event_table(chunk.events) for chunk in chunks])
    return Recording.from_frame(
        samples, first.geometry, first.key, events=events, rate_hz=first.rate_hz, pupil_unit=first.pupil_unit
    )
