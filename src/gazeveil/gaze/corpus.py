# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Many recordings: a folder of Parquet files that is scanned lazily, or recordings in memory.

`CorpusWriter` writes a folder chunk by chunk in bounded memory: it is there whole or not at all. `MapsRecordings` is
the contract of whatever applies a function to each recording. `Spool` keeps a corpus in a temporary folder that only
its owner can read.

Layout of a folder (any Parquet tool reads it; names that begin with ``_`` are not samples)::

    study/
      _corpus.json                              schema version and counts
      stimulus=forest.png/part-00000-00000.parquet    samples, see gazeveil.gaze.schema
      _events/stimulus=forest.png/part-….parquet    fixations, saccades, blinks, messages
"""

from __future__ import annotations

import json
import shutil
import tempfile
import weakref
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple, Protocol, TypeVar
from urllib.parse import quote, unquote

import polars as pl

from gazeveil.arrays import Tell, silent
from gazeveil.display import Picture, html_table
from gazeveil.errors import FileFormatError, GeometryError, InputError, OutputError
from gazeveil.files import replacing
from gazeveil.gaze import schema
from gazeveil.gaze.formats.base import Chunk
from gazeveil.gaze.recording import Key, Recording
from gazeveil.gaze.schema import TableLabel, guarded, os_errors_explained, read_label
from gazeveil.geometry import Geometry

MANIFEST = "_corpus.json"
EVENTS_FOLDER = "_events"
_AT_ONCE = 64
"""How many files are read at once: each takes a thread of polars, which warns of a deadlock at 512."""
NO_STIMULUS = "__HIVE_DEFAULT_PARTITION__"
"""What Hive-style folders call an empty value."""


@dataclass(frozen=True, slots=True)
class Part:
    """Samples of one or more recordings of one stimulus that share a label, and their file if there is one."""

    stimulus: str
    samples: pl.LazyFrame
    events: pl.LazyFrame
    label: TableLabel
    path: Path | None = None

    @property
    def holds_fixations(self) -> bool:
        """Whether its rows are fixations rather than samples; only the names of columns are looked at."""
        return schema.DURATION in guarded(self.path or Path("in memory"), self.samples.collect_schema)

    def recording_keys(self) -> list[Key]:
        """Return the recordings that have samples or events here, in order of appearance."""
        labels = pl.concat([self.samples.select(schema.KEYS), self.events.select(schema.KEYS)])
        rows = labels.unique(maintain_order=True).collect()
        return [Key(*row) for row in rows.iter_rows()]


@dataclass(frozen=True, slots=True)
class Corpus:
    """Many recordings, not necessarily in memory. Open one with `Corpus.open` or make one with `Corpus.of`."""

    parts: tuple[Part, ...]
    name: str = "in memory"

    @staticmethod
    def of(recordings: Iterable[Recording]) -> Corpus:
        """Make a corpus of recordings in memory.

        Raises:
            InputError: If two recordings have the same observer, stimulus, session and trial.
        """
        parts = []
        seen: set[Key] = set()
        for recording in recordings:
            if recording.key in seen:
                raise InputError(
                    f"two recordings are called {recording.key}", hint="give each its own session or trial label"
                )
            seen.add(recording.key)
            keys = [pl.lit(value).alias(name) for name, value in recording.key._asdict().items()]
            parts.append(
                Part(
                    recording.stimulus,
                    recording.to_frame().lazy().select(*keys, pl.all()),
                    recording.events.lazy().select(*keys, pl.all()),
                    TableLabel(recording.geometry, recording.rate_hz, recording.pupil_unit),
                )
            )
        return Corpus(tuple(parts))

    @staticmethod
    def open(folder: Path | str) -> Corpus:
        """Open a corpus folder without reading its samples.

        Raises:
            FileFormatError: If it is no corpus, or one of its files is damaged.
        """
        corpus, damaged = Corpus.open_readable(folder)
        if damaged:
            raise damaged[0]
        return corpus

    @staticmethod
    def open_readable(folder: Path | str) -> tuple[Corpus, tuple[FileFormatError, ...]]:
        """Open what can be opened of a corpus folder, and return what is wrong with the other files.

        Raises:
            FileFormatError: If it is no corpus.
        """
        folder = Path(folder)
        if not is_corpus(folder):
            raise FileFormatError(
                folder,
                expected=f"a corpus folder (with {MANIFEST})",
                found="something else" if folder.exists() else "nothing there",
                hint="make one with `gazeveil convert FILES --to parquet --out FOLDER`",
            )
        _check_manifest(folder / MANIFEST)
        parts, damaged = [], []
        for path in sorted(folder.glob("stimulus=*/*.parquet")):
            try:
                parts.append(_open_part(folder, path))
            except FileFormatError as error:
                damaged.append(error)
        return Corpus(tuple(parts), name=str(folder)), tuple(damaged)

    @property
    def geometry(self) -> Geometry:
        """The one geometry all recordings share.

        Raises:
            GeometryError: If they do not share one.
        """
        found = list(dict.fromkeys(part.label.geometry for part in self.parts))
        if len(found) > 1:  # parts whose recordings were all left out by `select` do not count
            found = list(dict.fromkeys(part.label.geometry for part in self.parts if self._keys_of(part)))
        if len(found) != 1:
            shown = "; ".join(str(geometry) for geometry in found[:4]) or "no recordings"
            raise GeometryError(f"the corpus has {len(found)} geometries ({shown})", hint="select recordings of one")
        return found[0]

    @property
    def stimuli(self) -> list[str]:
        """All stimuli, sorted."""
        return self._labels("stimulus")

    @property
    def observers(self) -> list[str]:
        """All observers, sorted."""
        return self._labels("observer")

    def keys(self) -> list[Key]:
        """Return every recording's key once, in order of appearance."""
        return list(dict.fromkeys(key for part in self.parts for key in self._keys_of(part)))

    def __len__(self) -> int:
        return len(self.keys())

    def __iter__(self) -> Iterator[Recording]:
        return self.recordings()

    def __repr__(self) -> str:
        stimuli = len({part.stimulus for part in self.parts})
        return f"Corpus({self.name!r}, {stimuli:,} stimuli in {len(self.parts):,} parts)"

    def _repr_html_(self) -> str:
        keys = self.keys()
        rows = {
            "participants": f"{len({key.observer for key in keys}):,}",
            "stimuli": f"{len({key.stimulus for key in keys}):,}",
            "sessions": f"{len({key.session for key in keys}):,}",
            "recordings": f"{len(keys):,}",
            "screens": "; ".join(dict.fromkeys(str(part.label.geometry) for part in self.parts)) or "none",
        }
        return html_table(f"Corpus {self.name}: raw gaze, not for publication", rows.items())

    def plot(self) -> Picture:
        """Draw who was recorded with which stimulus: for the holder of the data, not for publication."""
        from gazeveil.gaze.plots import corpus_picture  # noqa: PLC0415  (loads the plotting parts)

        return corpus_picture(self)

    def _labels(self, column: str) -> list[str]:
        """Return all values of one key, sorted. Stretches of one value count once, so few are compared."""
        stretches = pl.col(column).rle().struct.field("value")
        tables = [table.select(stretches) for part in self.parts for table in (part.samples, part.events)]
        labels: set[str] = set()
        for start in range(0, len(tables), _AT_ONCE):
            for table in guarded(Path(self.name), partial(pl.collect_all, tables[start : start + _AT_ONCE])):
                labels.update(table.to_series().to_list())
        return sorted(labels)

    def _keys_of(self, part: Part) -> list[Key]:
        return guarded(Path(self.name), part.recording_keys)

    def scan(self) -> pl.LazyFrame:
        """Return all samples as one lazy table: `schema.KEYS` and `schema.SAMPLES`."""
        empty = pl.LazyFrame(schema=schema.keyed(schema.REQUIRED))
        return pl.concat([empty, *(part.samples for part in self.parts)], how="diagonal")

    def scan_events(self) -> pl.LazyFrame:
        """Return all events as one lazy table: `schema.KEYS` and `schema.EVENTS`."""
        empty = pl.LazyFrame(schema=schema.keyed(schema.EVENTS))
        return pl.concat([empty, *(part.events for part in self.parts)], how="diagonal")

    def select(
        self,
        *,
        observer: str | Collection[str] | None = None,
        stimulus: str | Collection[str] | None = None,
        session: str | Collection[str] | None = None,
        trial: str | Collection[str] | None = None,
    ) -> Corpus:
        """Return the recordings with these labels; a corpus is not changed."""
        parts = self.parts
        if stimulus is not None:
            wanted = _as_set(stimulus)
            parts = tuple(part for part in parts if part.stimulus in wanted)
        for column, choice in (("observer", observer), ("session", session), ("trial", trial)):
            if choice is not None:
                chosen = pl.col(column).is_in(sorted(_as_set(choice)))
                parts = tuple(
                    replace(part, samples=part.samples.filter(chosen), events=part.events.filter(chosen))
                    for part in parts
                )
        return replace(self, parts=parts)

    def pieces(self) -> list[Corpus]:
        """Cut the corpus into the smallest runs of parts that hold whole recordings.

        One after the other, the recordings of the pieces are those of the corpus, in its order. Parts without a
        recording are left out.
        """
        keys_of = [self._keys_of(part) for part in self.parts]
        last_part_of = {key: index for index, keys in enumerate(keys_of) for key in keys}
        found: list[Corpus] = []
        run: list[Part] = []
        until = -1
        for index, (part, keys) in enumerate(zip(self.parts, keys_of, strict=True)):
            if keys:
                run.append(part)
            until = max([until, *(last_part_of[key] for key in keys)])
            if run and until <= index:
                found.append(replace(self, parts=tuple(run)))
                run = []
        return found

    def recordings(self) -> Iterator[Recording]:
        """Yield the recordings one by one; one part and the recordings it begins are in memory at a time."""
        keys_of = [self._keys_of(part) for part in self.parts]
        last_part_of = {key: index for index, keys in enumerate(keys_of) for key in keys}
        begun: dict[Key, list[tuple[pl.DataFrame, pl.DataFrame]]] = {}
        for index, part in enumerate(self.parts):
            table = guarded(Path(self.name), part.samples.collect)
            samples, none = _by_key(table), table.drop(schema.KEYS).clear()
            events = _by_key(guarded(Path(self.name), part.events.collect))
            for key in keys_of[index]:
                begun.setdefault(key, []).append((samples.get(key, none), events.get(key, schema.no_events())))
                if last_part_of[key] == index:
                    yield _recording(key, begun.pop(key), part.label)


def is_corpus(folder: Path) -> bool:
    """Whether a folder is a corpus."""
    return (folder / MANIFEST).is_file()


def _recording(key: Key, pieces: list[tuple[pl.DataFrame, pl.DataFrame]], label: TableLabel) -> Recording:
    samples = pl.concat([piece[0] for piece in pieces], how="diagonal")
    events = pl.concat([piece[1] for piece in pieces])
    return Recording.from_frame(
        samples, label.geometry, key, events=events, rate_hz=label.rate_hz, pupil_unit=label.pupil_unit
    )


def _by_key(table: pl.DataFrame) -> dict[Key, pl.DataFrame]:
    groups = table.partition_by(schema.KEYS, maintain_order=True, include_key=False, as_dict=True)
    return {Key(*values): group for values, group in groups.items()}


def _as_set(choice: str | Collection[str]) -> set[str]:
    return {choice} if isinstance(choice, str) else set(choice)


def _open_part(folder: Path, path: Path) -> Part:
    label = read_label(path)
    if label is None:
        raise FileFormatError(path, expected="gazeveil's label in the metadata", found="a Parquet file without one")
    value = path.parent.name.removeprefix("stimulus=")
    stimulus = "" if value == NO_STIMULUS else unquote(value)
    events_path = folder / EVENTS_FOLDER / path.parent.name / path.name
    none = pl.LazyFrame(schema=schema.keyed(schema.EVENTS))
    events = _scan(events_path, stimulus) if events_path.exists() else none
    return Part(stimulus, _scan(path, stimulus), events, label, path)


def _scan(path: Path, stimulus: str) -> pl.LazyFrame:
    lazy = guarded(path, lambda: pl.scan_parquet(path, hive_partitioning=False, glob=False))
    with_stimulus = lazy.with_columns(pl.lit(stimulus).alias("stimulus"))
    return with_stimulus.select(*schema.KEYS, pl.exclude(schema.KEYS))


def _check_manifest(path: Path) -> None:
    try:
        version = json.loads(path.read_text(encoding="utf-8"))["schema"]
    except (ValueError, KeyError, TypeError, OSError) as error:
        raise FileFormatError(path, expected="a corpus manifest", found=f"something else ({error!r})") from None
    if version != schema.VERSION:
        raise FileFormatError(
            path,
            expected=f"schema {schema.VERSION}",
            found=f"schema {version}",
            hint="read it with the gazeveil version that wrote it",
        )


# --- A function applied to each recording of a corpus.


Answer = TypeVar("Answer")


class MapsRecordings(Protocol):
    """Applies a function to whole recordings; every engine does."""

    def map_recordings(
        self, corpus: Corpus, kernel: Callable[[Recording], Answer], tell: Tell = silent
    ) -> Iterator[Answer]:
        """Yield the function's answer for each recording, in the order of `Corpus.recordings`.

        Function and answers must pickle, because they may travel between processes. The caller uses each answer once,
        and none of them if the iteration ends with an error.
        """
        ...


class OneByOne:
    """Applies a function to recordings in this thread."""

    def map_recordings(
        self, corpus: Corpus, kernel: Callable[[Recording], Answer], tell: Tell = silent
    ) -> Iterator[Answer]:
        """Yield the function's answer for each recording; one recording is worked on at a time."""
        count = len(corpus)
        for done, recording in enumerate(corpus.recordings(), start=1):
            answer = kernel(recording)
            tell(done, count)
            yield answer


# --- What lists of fixations state about each fixation, besides its place.


STATED: Final = ("start", "duration")
"""What a list may state."""


def stated_in(corpus: Corpus) -> tuple[str, ...] | None:
    """Return which of `STATED` the lists of fixations in a corpus state; None if it holds samples.

    Raises:
        InputError: If it holds both, so that a study has to say which of them counts.
    """
    kinds = {part.holds_fixations for part in corpus.parts}
    if len(kinds) > 1:
        raise InputError(
            f"{corpus.name} holds both samples and lists of fixations",
            hint="declare the study and say which counts: `gazeveil study init CORPUS --out study.toml`",
        )
    if True not in kinds:
        return None
    known = [pl.col("t").is_finite().any().alias("start"), pl.col("duration").is_finite().any()]
    found: set[str] = set()
    for part in corpus.parts:
        [row] = part.samples.select(known).fill_null(False).collect().rows(named=True)
        found |= {name for name in STATED if row[name]}
        if len(found) == len(STATED):
            break
    return tuple(name for name in STATED if name in found)


# --- Writing a corpus folder.


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
    with os_errors_explained():
        pl.concat(tables).write_parquet(path, metadata=label.to_metadata(), compression="zstd")


# --- A corpus in a temporary folder that only its owner can read, and that is deleted when it is no longer used.


class Spool:
    """A temporary folder that lives as long as this value."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="gazeveil-"))
        weakref.finalize(self, shutil.rmtree, self.folder, ignore_errors=True)


@dataclass(frozen=True, slots=True, repr=False)
class SpooledCorpus(Corpus):
    """A corpus whose files lie in a spool. What is selected from it keeps the spool alive too."""

    spool: Spool | None = None
