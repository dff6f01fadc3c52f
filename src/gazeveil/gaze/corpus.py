# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Many recordings: a folder of Parquet files that is scanned lazily, or recordings in memory.

Layout of a folder (any Parquet tool reads it; names that begin with ``_`` are not samples)::

    study/
      _corpus.json                              schema version and counts
      stimulus=forest.png/part-00000-00000.parquet    samples, see gazeveil.gaze.schema
      _events/stimulus=forest.png/part-….parquet    fixations, saccades, blinks, messages
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from urllib.parse import unquote

import polars as pl

from gazeveil.display import Picture, html_table
from gazeveil.errors import FileFormatError, GeometryError, InputError
from gazeveil.gaze import schema
from gazeveil.gaze._parquet import TableLabel, guarded, read_label
from gazeveil.gaze.recording import Key, Recording
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
            told = "; ".join(str(geometry) for geometry in found[:4]) or "no recordings"
            raise GeometryError(f"the corpus has {len(found)} geometries ({told})", hint="select recordings of one")
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
