# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The data of a release: a corpus, or a table of features, under the rules of the declared study.

A release sees data only as a `BoundCorpus` or `BoundTable`, which `bind` and `bind_table` make. A `Source` says where
recordings come from; it is checked before the charge and opened after it. Each rule looks at one recording at a time,
so no participant changes how another one's recordings are read:

- names of participants, stimuli and sessions are compared in one spelling (NFC);
- participants who are not in the roster, or withdrew, are left out;
- stimuli and sessions that were not declared are left out;
- columns are brought into the one schema: a column that is missing, or of a type that holds no such values, is empty,
  and unknown columns are dropped;
- a part of the corpus that cannot be read counts as absent;
- a recording on another raster or in another unit than declared counts as absent; physical size, distance and all that
  a recording does not state are taken as declared;
- samples count as absent where lists of fixations are declared, and lists where samples are.

The rules are added to the lazy tables. Of each part only the labels of its rows are read, once: where all of them pass
as they are, its samples stay unfiltered, so that engines can read stretches of them. What the rules leave out is
reported only to the holder of the data (`gazeveil.release.check`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import polars as pl

from gazeveil.arrays import Tell, silent
from gazeveil.errors import FileFormatError, InputError, OptionError, PrivacyError
from gazeveil.features.table import FeatureTable
from gazeveil.gaze import schema
from gazeveil.gaze.corpus import MANIFEST, Corpus, Part, Spool, SpooledCorpus, is_corpus, partition, writing_corpus
from gazeveil.gaze.formats.base import Chunk
from gazeveil.gaze.reading import ChunkStream
from gazeveil.gaze.recording import Key
from gazeveil.gaze.schema import guarded
from gazeveil.geometry import Geometry
from gazeveil.release.study import Study, spelt

READ_ERRORS = (Exception, pl.exceptions.PanicException)
"""What reading a part may raise; on some damaged files polars panics, and its panics are not Exceptions."""
_BOUND_HERE = object()


@dataclass(frozen=True, slots=True)
class BoundCorpus:
    """A corpus that keeps to a study's rules. Only `bind` makes one.

    Attributes:
        study: The study.
        corpus: The recordings, as the rules leave them.
        original: The recordings as they were, for the holder's private report.
        remarks: What the holder of the data should know about the reading; never released.
    """

    study: Study
    corpus: Corpus
    original: Corpus
    remarks: list[str] = field(default_factory=list)
    made_by: object = None

    def __post_init__(self) -> None:
        if self.made_by is not _BOUND_HERE:
            raise PrivacyError("a corpus is bound to a study by bind(), which applies the study's rules")

    def __repr__(self) -> str:  # nothing that depends on the data: it may end up in a log or a traceback
        return f"BoundCorpus(private recordings, bound to {self.study!r})"

    @property
    def observers(self) -> list[str]:
        """Everyone who is there, sorted."""
        return self.corpus.observers

    def without_unreadable(self) -> BoundCorpus:
        """Return the corpus without the parts that cannot be read to their end; it is read in full to find them."""
        corpus, lost = readable_parts(self.corpus)
        self.remarks.extend(f"{name} could not be read and counts as absent" for name in lost)
        return replace(self, corpus=corpus) if lost else self


@dataclass(frozen=True, slots=True)
class BoundTable:
    """A table of features that keeps to a study's rules. Only `bind_table` makes one.

    Attributes:
        study: The study.
        table: The series, as the rules leave them.
        remarks: What the holder of the data should know about the reading; never released.
    """

    study: Study
    table: FeatureTable
    remarks: list[str] = field(default_factory=list)
    made_by: object = None

    def __post_init__(self) -> None:
        if self.made_by is not _BOUND_HERE:
            raise PrivacyError("a table is bound to a study by bind_table(), which applies the study's rules")

    def __repr__(self) -> str:
        return f"BoundTable(private series, bound to {self.study!r})"

    @property
    def observers(self) -> list[str]:
        """Everyone who is there, sorted."""
        return self.table.observers

    def without_unreadable(self) -> BoundTable:
        """Return the table as it is: it was read in full."""
        return self


def bind(study: Study, corpus: Corpus, stimuli: Collection[str] | None = None) -> BoundCorpus:
    """Put a corpus under a study's rules; the recordings of some stimuli, or of all that are declared."""
    wanted = {stimulus.name for stimulus in study.stimuli} if stimuli is None else set(stimuli)
    screens = {spelt(stimulus.name): stimulus.screen for stimulus in study.stimuli if stimulus.name in wanted}
    parts, remarks = [], []
    for part in corpus.parts:
        screen = screens.get(spelt(part.stimulus))
        if screen is None or not lies_on(part.label.geometry, screen):
            continue
        try:
            if are_as_declared(columns := columns_of(part), study):
                parts.append(_bound(part_in_schema(part, columns), screen, study))
        except READ_ERRORS as error:
            remarks.append(f"{part_name(part)} could not be read and counts as absent: {error}")
    return BoundCorpus(study, replace(corpus, parts=tuple(parts)), corpus, remarks, made_by=_BOUND_HERE)


def bind_table(study: Study, table: FeatureTable) -> BoundTable:
    """Put a table of features under a study's rules."""
    names = [spelt(stimulus.name) for stimulus in study.stimuli]
    rows = _counting_rows(table.rows.lazy().with_columns(pl.col("stimulus").str.normalize("NFC")), study)
    kept = rows.filter(pl.col("stimulus").is_in(names)).with_columns(_LABELLED, pl.col("usable").fill_null(False))
    return BoundTable(study, FeatureTable(kept.collect(), table.info), made_by=_BOUND_HERE)


def lies_on(found: Geometry, declared: Geometry) -> bool:
    """Return whether gaze can be read on a declared screen: same unit, and no other raster or field of view."""
    same_raster = (found.width_px, found.height_px) in {(None, None), (declared.width_px, declared.height_px)}
    same_field = (found.fov_x_deg, found.fov_y_deg) in {(None, None), (declared.fov_x_deg, declared.fov_y_deg)}
    return found.unit is declared.unit and same_raster and same_field


def _bound(part: Part, screen: Geometry, study: Study) -> Part:
    stimulus = spelt(part.stimulus)
    samples = _counting_labels(part.samples, labels_of(part), study)
    events = _counting_rows(part.events, study)
    named = pl.lit(stimulus).alias("stimulus")
    samples, events = (table.with_columns(named, _LABELLED) for table in (samples, events))
    return replace(part, stimulus=stimulus, samples=samples, events=events, label=replace(part.label, geometry=screen))


# --- Which rows count: rules about participants and sessions.


_LABELLED = pl.col("session", "trial").fill_null("")
Labels = tuple[str | None, str | None]
"""The participant and session of a row."""


def labels_of(part: Part) -> set[Labels]:
    """Return which labels the samples of a part have; stretches of one label count once, so few are compared.

    Raises:
        FileFormatError: If the part cannot be read.
    """
    stretches = part.samples.select(pl.struct("observer", "session").rle().struct.field("value"))
    found = guarded(part.path or Path("in memory"), stretches.collect).unnest("value")
    return set(found.iter_rows())


def _counting(labels: set[Labels], study: Study) -> set[Labels]:
    """Return the labels that the rules about participants and sessions let through."""
    people = study.participants
    roster = None if people.roster is None else frozenset(people.roster)
    withdrawn, sessions = frozenset(people.withdrawn), frozenset(study.recordings.sessions)
    found: set[Labels] = set()
    for observer, session in labels:
        if not observer or (who := spelt(observer)) in withdrawn or (roster is not None and who not in roster):
            continue
        if not sessions or (session is not None and spelt(session) in sessions):
            found.add((observer, session))
    return found


def _counting_labels(samples: pl.LazyFrame, labels: set[Labels], study: Study) -> pl.LazyFrame:
    """Apply the rules to a table whose labels are known: rows are compared as they are, and only if some are dropped.

    Bringing every row into one spelling would take ten times as long as reading it.
    """
    passing = _counting(labels, study)
    if passing != labels:
        observers, sessions = (list({label[place] for label in passing}) for place in (0, 1))
        counts = pl.col("observer").is_in(pl.Series(observers, dtype=pl.String).implode())
        if study.recordings.sessions:
            counts &= pl.col("session").is_in(pl.Series(sessions, dtype=pl.String).implode())
        samples = samples.filter(counts)
    for place, column in enumerate(("observer", "session")):
        found = {label[place] for label in passing} - {None}
        if respelt := {name: spelt(name) for name in found if name is not None and name != spelt(name)}:
            samples = samples.with_columns(pl.col(column).replace(respelt))
    return samples


def _counting_rows(table: pl.LazyFrame, study: Study) -> pl.LazyFrame:
    """Apply the rules to every row, for tables whose labels are not known."""
    people, sessions = study.participants, study.recordings.sessions
    counts = pl.col("observer").str.len_bytes() > 0
    if people.roster is not None:
        counts &= pl.col("observer").is_in(list(people.roster))
    if people.withdrawn:
        counts &= ~pl.col("observer").is_in(list(people.withdrawn))
    if sessions:
        counts &= pl.col("session").is_in(list(sessions))
    return table.with_columns(pl.col("observer", "session").str.normalize("NFC")).filter(counts)


# --- Tables in the one schema.


_LABELS = dict.fromkeys(schema.KEYS, pl.String)
_NEEDED = _LABELS | dict(schema.REQUIRED)
_EVENTS = _LABELS | dict(schema.EVENTS)
_EYES = (("left_x", "left_y"), ("right_x", "right_y"))


def columns_of(part: Part) -> pl.Schema:
    """Return the columns of a part's rows; no row is read.

    Raises:
        FileFormatError: If not even they can be found out.
    """
    return guarded(part.path or Path("in memory"), part.samples.collect_schema)


def are_as_declared(columns: Collection[str], study: Study) -> bool:
    """Return whether rows with these columns are what the study declares them to be: samples, or fixations."""
    return (schema.DURATION in columns) is (study.recordings.fixations is not None)


def part_in_schema(part: Part, found: pl.Schema) -> Part:
    """Return a part with both of its tables in the schema, given the columns of its rows."""
    wanted = _NEEDED | {name: kind for name, kind in schema.OPTIONAL.items() if name in found}
    for across, down in _EYES:
        wanted |= {down: pl.Float64} if across in wanted else {}
    samples = _in_schema(part.samples, found, wanted)
    return replace(part, samples=samples, events=_in_schema(part.events, part.events.collect_schema(), _EVENTS))


def readable_parts(corpus: Corpus) -> tuple[Corpus, tuple[str, ...]]:
    """Return the parts that can be read to their end, and which cannot; one part is in memory at a time."""
    kept, lost = [], []
    for part in corpus.parts:
        try:
            for table in (part.samples, part.events):
                table.collect()
        except READ_ERRORS:
            lost.append(part_name(part))
        else:
            kept.append(part)
    return replace(corpus, parts=tuple(kept)), tuple(lost)


def part_name(part: Part) -> str:
    """Return what the holder of the data knows a part by."""
    return f"{part.path.parent.name}/{part.path.name}" if part.path else f"a recording of {part.stimulus!r}"


def _in_schema(table: pl.LazyFrame, found: Mapping[str, Any], wanted: Mapping[str, type[pl.DataType]]) -> pl.LazyFrame:
    """Return exactly these columns; as it is if nothing is wrong with it, so that stretches of it can be read."""
    if dict(found) == dict(wanted):
        return table
    return table.select(_column(name, kind, found) for name, kind in wanted.items())


def _column(name: str, kind: type[pl.DataType], found: Mapping[str, Any]) -> pl.Expr:
    there = found.get(name, pl.Null)
    holds = there in (pl.Null, kind) or there.is_numeric() or there in (pl.Boolean, pl.Categorical, pl.Enum)
    if not (holds or (there == pl.String and kind == pl.Float64)):
        return pl.lit(None, dtype=kind).alias(name)
    column = pl.col(name) if name in found else pl.lit(None)
    return column.cast(kind, strict=False).alias(name)


# --- Where recordings come from: a corpus folder, a corpus in memory, or gaze files of any format.


class Source(Protocol):
    """Where recordings come from. A release checks it before the charge and opens it after."""

    def check(self) -> None:
        """Find out whether something is there, without looking into it.

        Raises:
            InputError: If not.
        """
        ...

    def open(self, remarks: list[str], tell: Tell = silent) -> Corpus:
        """Return the recordings; what their holder should know is added to the remarks."""
        ...


def source_of(corpus: Corpus | pl.DataFrame | Path | str | Source) -> Source:
    """Return the source for a corpus, the path of its folder, or a source itself."""
    if isinstance(corpus, Corpus):
        return CorpusInMemory(corpus)
    if isinstance(corpus, Path | str):
        return CorpusFolder(Path(corpus))
    if isinstance(corpus, pl.DataFrame) or not (hasattr(corpus, "check") and hasattr(corpus, "open")):
        raise OptionError(
            f"expected recordings (a Corpus, or the path of its folder), found a {type(corpus).__name__}",
            hint="gazeveil.read(…).corpus makes a corpus of files and data frames",
        )
    return corpus


@dataclass(frozen=True, slots=True)
class CorpusInMemory:
    """A corpus that is open already, and what its holder should know about the reading."""

    corpus: Corpus
    remarks: tuple[str, ...] = ()

    def check(self) -> None:
        """Accept it: nothing can be missing."""

    def open(self, remarks: list[str], tell: Tell = silent) -> Corpus:
        """Return it."""
        remarks += self.remarks
        return self.corpus


@dataclass(frozen=True, slots=True)
class CorpusFolder:
    """A corpus folder. A file of it that is damaged counts as absent."""

    folder: Path

    def check(self) -> None:
        """Refuse what is no corpus folder."""
        if not is_corpus(self.folder):
            raise FileFormatError(
                self.folder,
                expected=f"a corpus folder (with {MANIFEST})",
                found="something else" if self.folder.exists() else "nothing there",
                hint="make one with `gazeveil convert FILES --to parquet --out FOLDER`",
            )

    def open(self, remarks: list[str], tell: Tell = silent) -> Corpus:
        """Open what can be opened."""
        corpus, damaged = Corpus.open_readable(self.folder)
        remarks += [f"{error.message}: what is in this file counts as absent" for error in damaged]
        return corpus


@dataclass(frozen=True, slots=True)
class GazeFiles:
    """Gaze files of any format. They are read into a spool, so that they need not fit into memory.

    A file that cannot be read counts as absent. A recording that comes again is cut: the first one counts.

    Attributes:
        paths: The files; a single corpus folder is used as it is, unless the user says which samples are lost.
        stream: How a file is read.
        strict: Whether a file that cannot be read is an error instead; for reading before a charge.
    """

    paths: tuple[Path, ...]
    stream: Callable[[Path], ChunkStream]
    strict: bool = False

    def __post_init__(self) -> None:
        if not self.paths:
            raise OptionError("name at least one gaze file")

    def check(self) -> None:
        """Refuse names of files that are not there."""
        for path in self.paths:
            if not path.exists():
                raise InputError(f"there is no file {path}", hint="check the path")
        self._is_used_as_it_is()  # refuses wrong reading options here, not after the charge

    def _is_used_as_it_is(self) -> bool:
        one = self.paths[0]
        return len(self.paths) == 1 and is_corpus(one) and not self.stream(one).options.judges

    def open(self, remarks: list[str], tell: Tell = silent) -> Corpus:
        """Read all files into a spool."""
        if self._is_used_as_it_is():
            return Corpus.open(self.paths[0]) if self.strict else CorpusFolder(self.paths[0]).open(remarks)
        spool, seen, parts = Spool(), set[Key](), list[Part]()
        for number, path in enumerate(self.paths):
            tell(number, len(self.paths))
            folder, found = spool.folder / f"{number:05d}", list[str]()
            try:
                seen |= _spool(partial(self.stream, path), folder, seen, found)
            except (OSError, MemoryError):
                raise  # of writing, so it is this machine's fault, not the file's
            except Exception as error:  # noqa: BLE001  (one broken file must not stop a release)
                reason = error.reason if isinstance(error, _CannotRead) else error
                if self.strict:
                    raise reason from None
                remarks.append(f"{path} could not be read and counts as absent: {reason}")
                continue
            parts += Corpus.open(folder).parts
            remarks += [f"{path}: {line}" for line in found]
        tell(len(self.paths), len(self.paths))
        names = ", ".join(path.name for path in self.paths[:3])
        return SpooledCorpus(tuple(parts), names, spool)


class _CannotRead(Exception):  # noqa: N818
    """Reading a file failed, whatever the error was: even one that looks like a fault of the machine."""

    def __init__(self, reason: BaseException) -> None:
        super().__init__(str(reason))
        self.reason = reason


@contextmanager
def _reading() -> Iterator[None]:
    try:
        yield
    except READ_ERRORS as error:
        raise _CannotRead(error) from error


def _spool(opened: Callable[[], ChunkStream], folder: Path, seen: set[Key], remarks: list[str]) -> set[Key]:
    """Write one file's recordings as a corpus folder and return their keys; recordings seen before are dropped."""
    own: set[Key] = set()
    with _reading():
        stream = opened()
        chunks = iter(stream)
    with writing_corpus(folder) as writer:
        for chunk in _without_repeats(_read(chunks), seen, own, remarks):
            writer.add(chunk)
    remarks += stream.report.in_words()
    return own


def _read(chunks: Iterator[Chunk]) -> Iterator[Chunk]:
    while True:
        with _reading():
            chunk = next(chunks, None)
            if chunk is not None:
                partition(chunk.key.stimulus)  # refuses what cannot be written
        if chunk is None:
            return
        yield chunk


def _without_repeats(chunks: Iterator[Chunk], seen: set[Key], own: set[Key], remarks: list[str]) -> Iterator[Chunk]:
    current: Key | None = None
    cut: set[Key] = set()
    for chunk in chunks:
        key = Key(*map(spelt, chunk.key))
        if key in seen or (key in own and key != current):
            if key not in cut:
                remarks.append(f"the recording {'/'.join(key)} comes again and was cut: the first one counts")
            cut.add(key)
            continue
        own.add(key)
        current = key
        yield chunk
