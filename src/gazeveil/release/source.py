# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Where a release finds its recordings: a corpus folder, a corpus in memory, or gaze files of any format."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Protocol

import polars as pl

from gazeveil.arrays import Tell, silent
from gazeveil.errors import FileFormatError, InputError, OptionError
from gazeveil.gaze.corpus import MANIFEST, Corpus, Part, Spool, SpooledCorpus, is_corpus, partition, writing_corpus
from gazeveil.gaze.formats.base import Chunk
from gazeveil.gaze.reading import ChunkStream
from gazeveil.gaze.recording import Key
from gazeveil.release.conforming import UNREADABLE
from gazeveil.release.study import spelt


class Source(Protocol):
    """Where recordings come from. The path of a release checks it before the charge and opens it after."""

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
    """Return a source for whatever someone calls the recordings."""
    if isinstance(corpus, Corpus):
        return InMemory(corpus)
    if isinstance(corpus, Path | str):
        return CorpusFolder(Path(corpus))
    if isinstance(corpus, pl.DataFrame) or not (hasattr(corpus, "check") and hasattr(corpus, "open")):
        raise OptionError(
            f"expected recordings (a Corpus, or the path of its folder), found a {type(corpus).__name__}",
            hint="gazeveil.read(…).corpus makes a corpus of files and data frames",
        )
    return corpus


@dataclass(frozen=True, slots=True)
class InMemory:
    """A corpus that is open already, and what its holder should know about the reading."""

    corpus: Corpus
    remarks: tuple[str, ...] = ()

    def check(self) -> None:
        """Nothing can be missing."""

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
        self._is_used_as_it_is()  # options that cannot be are refused here, not after the charge

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
    """A file is at fault, whatever its reading raised: also what looks like a fault of the machine."""

    def __init__(self, reason: BaseException) -> None:
        super().__init__(str(reason))
        self.reason = reason


@contextmanager
def _reading() -> Iterator[None]:
    try:
        yield
    except UNREADABLE as error:
        raise _CannotRead(error) from error


def _spool(opened: Callable[[], ChunkStream], folder: Path, seen: set[Key], remarks: list[str]) -> set[Key]:
    """Write one file's recordings as a corpus folder and return whose they are; those that were seen are cut."""
    own: set[Key] = set()
    with _reading():
        stream = opened()
        chunks = iter(stream)
    with writing_corpus(folder) as writer:
        for chunk in _first_ones(_read(chunks), seen, own, remarks):
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


def _first_ones(chunks: Iterator[Chunk], seen: set[Key], own: set[Key], remarks: list[str]) -> Iterator[Chunk]:
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
