# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The front door for files: find the format, read chunk by chunk, or all at once as recordings."""

from __future__ import annotations

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
from gazeveil.gaze.formats._text import read_head
from gazeveil.gaze.formats.base import FORMATS, Chunk, Format, ReadOptions, ReadReport
from gazeveil.gaze.frames import frame_chunks, is_frame
from gazeveil.gaze.recording import Key, Recording
from gazeveil.gaze.sentinels import without
from gazeveil.gaze.veil_note import VeilNote


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
        chunks = without(frame_chunks(source, chosen, report), chosen.sentinels, report)
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
        for chunk in without(chunks, self.options.sentinels, self.report):
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
    told = chunk.events.filter(pl.col("text").str.contains("Veiled gaze", literal=True))["text"].to_list()
    return next((note for text in told if (note := VeilNote.from_sentence(text)) is not None), None)


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
