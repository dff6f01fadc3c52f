# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Write a corpus folder chunk by chunk, in bounded memory; it is there whole or not at all."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

import polars as pl

from gazeveil.errors import InputError, OutputError
from gazeveil.files import replacing
from gazeveil.gaze import schema
from gazeveil.gaze._parquet import TableLabel, telling_os_errors
from gazeveil.gaze.corpus import EVENTS_FOLDER, MANIFEST, NO_STIMULUS
from gazeveil.gaze.formats.base import Chunk
from gazeveil.gaze.recording import Key, Recording

PART_ROWS = 1_000_000
HELD_ROWS = 4_000_000
MAX_NAME_BYTES = 240


class _Bucket(NamedTuple):
    """What the recordings in a part file have in common."""

    stimulus: str
    label: TableLabel
    channels: frozenset[str]


class CorpusWriter:
    """Takes chunks and puts them into part files by stimulus. Make one with `writing_corpus`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._held: dict[_Bucket, list[Chunk]] = {}
        self._rows: dict[_Bucket, int] = {}
        self._parts: dict[_Bucket, tuple[int, int]] = {}  # the bucket's own number, and how many parts it has
        self._folders: dict[str, str] = {}
        self._taken: set[str] = set()
        self._held_rows = 0
        self._bucket: _Bucket | None = None
        self._open: Key | None = None
        self._closed: set[Key] = set()
        self.samples = 0
        folder.mkdir(parents=True)

    @property
    def recordings(self) -> int:
        """How many recordings were taken."""
        return len(self._closed) + (self._open is not None)

    def add(self, chunk: Chunk) -> None:
        """Take the next chunk; chunks of one recording follow one another.

        Raises:
            InputError: If the chunk's recording was ended before, so that two recordings would become one, or if
                it changes its geometry, rate or pupil unit half way.
        """
        if chunk.key != self._open:
            self.end_recording()
            if chunk.key in self._closed:
                raise InputError(
                    f"two recordings are called {chunk.key}",
                    hint="give each its own label with --observer, --session or --trial",
                )
            self._open, self._bucket = chunk.key, None
        bucket = self._bucket = self._bucket_of(chunk)
        if len(chunk.samples):  # make room first, so that events after the last sample stay with it
            self._make_room(bucket)
        self._held.setdefault(bucket, []).append(chunk)
        self._rows[bucket] = self._rows.get(bucket, 0) + len(chunk.samples)
        self._held_rows += len(chunk.samples)
        self.samples += len(chunk.samples)

    def _bucket_of(self, chunk: Chunk) -> _Bucket:
        label = TableLabel(chunk.geometry, chunk.rate_hz, chunk.pupil_unit, chunk.veiled)
        if self._bucket is None:
            return _Bucket(chunk.key.stimulus, label, frozenset(chunk.samples.columns))
        if label != self._bucket.label:
            raise InputError(
                f"the recording {chunk.key} changes half way: {label} after {self._bucket.label}",
                hint="a recording has one geometry, rate and pupil unit; give the pieces labels of their own",
            )
        return self._bucket

    def _make_room(self, bucket: _Bucket) -> None:
        if self._rows.get(bucket, 0) >= PART_ROWS:
            self._flush(bucket)
        while self._held_rows >= HELD_ROWS:
            self._flush(max(self._rows, key=self._rows.__getitem__))

    def end_recording(self) -> None:
        """Say that the current recording is complete."""
        if self._open is not None:
            self._closed.add(self._open)
            self._open = None

    def finish(self) -> None:
        """Write what is still held, and the manifest."""
        self.end_recording()
        for bucket in list(self._held):
            self._flush(bucket)
        manifest = {"schema": schema.VERSION, "recordings": self.recordings, "samples": self.samples}
        (self._folder / MANIFEST).write_text(json.dumps(manifest, indent=2) + "\n", encoding="utf-8", newline="\n")

    def _flush(self, bucket: _Bucket) -> None:
        chunks = self._held.pop(bucket)
        self._held_rows -= self._rows.pop(bucket)
        number, part = self._parts.get(bucket, (len(self._parts), 0))
        self._parts[bucket] = number, part + 1
        # parts of one bucket sort together, so the pieces of a recording follow one another when they are read
        name = f"part-{number:05d}-{part:05d}.parquet"
        folder = self._folder_of(bucket.stimulus)
        write_samples(chunks, self._folder / folder / name, bucket.label, with_stimulus=False)
        write_events(chunks, self._folder / EVENTS_FOLDER / folder / name, bucket.label, with_stimulus=False)

    def _folder_of(self, stimulus: str) -> str:
        """Return the folder of a stimulus, and of no other, also where capitals do not count in names."""
        if stimulus not in self._folders:
            names = (partition(stimulus, first) for first in range(len(stimulus) + 1))
            found = self._folders[stimulus] = next(name for name in names if name.casefold() not in self._taken)
            self._taken.add(found.casefold())
        return self._folders[stimulus]


@contextmanager
def writing_corpus(folder: Path | str) -> Iterator[CorpusWriter]:
    """Write a corpus folder; it appears when the block ends well, and not at all otherwise."""
    folder = Path(folder)
    if folder.exists() and not (folder / MANIFEST).is_file() and (not folder.is_dir() or any(folder.iterdir())):
        raise OutputError(f"{folder} exists and is no corpus", hint="choose another name for the corpus folder")
    with replacing(folder) as temporary:
        writer = CorpusWriter(temporary)
        yield writer
        writer.finish()


def write_corpus(recordings: Iterable[Recording], folder: Path | str) -> None:
    """Write recordings as a corpus folder."""
    with writing_corpus(folder) as writer:
        for recording in recordings:
            writer.add(chunk_of(recording))
            writer.end_recording()


def chunk_of(recording: Recording) -> Chunk:
    """Return a whole recording as one chunk."""
    return Chunk(
        recording.key,
        recording.to_frame(),
        recording.geometry,
        recording.events,
        recording.rate_hz,
        recording.pupil_unit,
    )


def partition(stimulus: str, first: int = 0) -> str:
    """Return the folder name for a stimulus; any text can be one. Its first few letters may be written as numbers."""
    quoted = "".join(f"%{byte:02X}" for byte in stimulus[:first].encode()) + quote(stimulus[first:], safe="")
    if quoted.endswith("."):  # Windows drops it
        quoted = quoted[:-1] + "%2E"
    if quoted.upper() == NO_STIMULUS:  # a stimulus that is called what no stimulus is called
        quoted = quoted.replace("_", "%5F")
    name = f"stimulus={quoted or NO_STIMULUS}".replace("=.", "=%2E")
    if len(name) > MAX_NAME_BYTES:
        raise OutputError(
            f"the stimulus name {stimulus[:40]!r}… is too long for a folder name ({len(name)} bytes)",
            hint=f"shorten it to at most {MAX_NAME_BYTES} bytes",
        )
    return name


def write_samples(chunks: list[Chunk], path: Path, label: TableLabel, *, with_stimulus: bool) -> None:
    """Write the chunks' samples as one Parquet file."""
    present = {column for chunk in chunks for column in chunk.samples.columns}
    columns = {name: dtype for name, dtype in schema.SAMPLES.items() if name in present}
    tables = [_keyed(schema.conform(chunk.samples, columns), chunk.key, with_stimulus) for chunk in chunks]
    _write(tables, path, label)


def write_events(chunks: list[Chunk], path: Path, label: TableLabel, *, with_stimulus: bool) -> None:
    """Write the chunks' events as one Parquet file; none is written where there are no events."""
    tables = [
        _keyed(schema.event_table(chunk.events), chunk.key, with_stimulus) for chunk in chunks if len(chunk.events)
    ]
    if tables:
        _write(tables, path, label)


def _keyed(table: pl.DataFrame, key: Key, with_stimulus: bool) -> pl.DataFrame:
    keys = [pl.lit(value).alias(name) for name, value in key._asdict().items() if with_stimulus or name != "stimulus"]
    return table.select(*keys, pl.all())


def _write(tables: list[pl.DataFrame], path: Path, label: TableLabel) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with telling_os_errors():
        pl.concat(tables).write_parquet(path, metadata=label.to_metadata(), compression="zstd")
