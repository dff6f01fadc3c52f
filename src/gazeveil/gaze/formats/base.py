# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What a file format is: it recognises its files, reads them chunk by chunk, and some write.

A new vendor export is one new file in this package::

    @file_format("acme-csv")
    class AcmeCsv:
        title = "Acme Glasses export"
        suffixes = (".csv",)

        def sniff(self, path: Path, head: bytes) -> bool: ...
        def read(self, path: Path, options: ReadOptions, report: ReadReport) -> Iterator[Chunk]: ...

Trackers' files are read and not written: veiled gaze in such a file would pass for a recording. What is written has
``lost`` and ``write`` as well (`WritableFormat`).

Readers are generators that hold one chunk in memory, so files larger than memory stream through. They raise
`FileFormatError` by way of ``report.bad(...)``, which counts instead of raising when the user asked to skip bad
lines.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Final, Literal, Protocol, runtime_checkable

import polars as pl

from gazeveil.errors import FileFormatError, InputError
from gazeveil.gaze import schema
from gazeveil.gaze.recording import Key
from gazeveil.gaze.schema import VeilNote
from gazeveil.gaze.validity import parse_rules, parse_sentinel
from gazeveil.geometry import Geometry
from gazeveil.registry import Registry

HEAD_BYTES = 65_536
"""How much of a file's beginning `sniff` gets to see."""


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """How to read a file; every field has a default that fits most files.

    Attributes:
        observer: Who looked, if the file does not say (default: from the file, else its name).
        stimulus: At what, if the file does not say.
        session: Which session, if the file does not say.
        trial: Which trial, if the file does not say.
        stimulus_from: Which message names the stimulus, for example ``TRIAL_VAR image`` (default: the usual ones).
        trial_from: Which message names the trial (default: TRIALID).
        geometry: The screen or headset, if the file does not say; what the file says about units wins.
        eye: Which eye makes the combined gaze: both (their mean), left or right.
        columns: Our column name → the file's column name, for generic tables.
        valid: Rules that valid samples keep, such as ``status==OK``; see `gazeveil.gaze.validity`.
        sentinels: Positions that stand for lost gaze, such as ``0,0``; see `gazeveil.gaze.validity`.
        time_unit: Unit of the time column, for files that do not say.
        delimiter: Field separator, for generic tables (default: found by looking).
        decimal: Decimal mark, for generic tables (default: found by looking).
        encoding: Text encoding.
        y_up: Whether the file's y grows upwards (ours grows downwards).
        skip_bad: Drop bad lines and count them instead of stopping.
        chunk_rows: How many samples to hold in memory at once.
    """

    observer: str | None = None
    stimulus: str | None = None
    session: str | None = None
    trial: str | None = None
    stimulus_from: str | None = None
    trial_from: str | None = None
    geometry: Geometry | None = None
    eye: Literal["both", "left", "right"] = "both"
    columns: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    valid: Sequence[str] = ()
    sentinels: Sequence[str] = ()
    time_unit: Literal["s", "ms", "us", "ns"] | None = None
    delimiter: str | None = None
    decimal: str | None = None
    encoding: str = "utf-8"
    y_up: bool = False
    skip_bad: bool = False
    chunk_rows: int = 250_000

    def __post_init__(self) -> None:
        parse_rules(self.valid)  # what is no rule and no sentinel is said before anything is read, or paid
        for text in self.sentinels:
            parse_sentinel(text)

    @property
    def judges(self) -> bool:
        """Whether the user says that samples are lost which the file gives as gaze."""
        return bool(self.valid or self.sentinels)

    def beside(self) -> ReadOptions:
        """Return the options for a file that lies beside the samples, whose columns no rule is about."""
        return replace(self, valid=())

    def check_eyes_together(self, path: Path) -> None:
        """Refuse one eye's gaze of a file that holds gaze of both together.

        Raises:
            FileFormatError: If the gaze of one eye is asked for.
        """
        if self.eye != "both":
            raise FileFormatError(
                path,
                expected=f"the {self.eye} eye's own gaze",
                found="gaze of both eyes together",
                hint="leave out --eye",
            )

    def key(self, path: Path, *, observer: str = "", stimulus: str = "", session: str = "", trial: str = "") -> Key:
        """Return the recording's key: what the file says, else the option, else a default from the file's name."""
        name = path.name.split(".", 1)[0] or path.name
        return Key(
            observer or self.observer or name,
            stimulus or self.stimulus or "",
            session or self.session or "1",
            trial or self.trial or "1",
        )


@dataclass(slots=True)
class ReadReport:
    """What reading found: counts, the first bad lines, and remarks for the user."""

    skip_bad: bool = False
    samples: int = 0
    fixations: int = 0
    """How many of the samples are fixations of lists."""
    bad_lines: int = 0
    first_bad: list[FileFormatError] = field(default_factory=list)
    time_backwards: int = 0
    time_repeated: int = 0
    remarks: Counter[str] = field(default_factory=Counter)
    fraction: float = 0.0
    """How much of the file is read, 0 to 1, for progress bars."""
    rules_kept: bool = False
    """Whether the reader has taken the rules of validity into account; one that cannot leaves it."""

    def bad(self, error: FileFormatError, lines: int = 1) -> None:
        """Raise ``error``, or count it when bad lines are to be skipped."""
        if not self.skip_bad:
            if not error.hint:
                error.hint = "mend the line, or drop such lines with --skip-bad"
            raise error
        self.bad_lines += lines
        if len(self.first_bad) < 10:
            self.first_bad.append(error)

    def remark(self, text: str, times: int = 1) -> None:
        """Note something the user should know that is no error."""
        self.remarks[text] += times

    def in_words(self) -> list[str]:
        """Return what someone should know about a reading, one sentence each."""
        lines = [f"{text} ({times:,} times)" if times > 1 else text for text, times in self.remarks.items()]
        if self.bad_lines:
            dropped = "1 bad line was" if self.bad_lines == 1 else f"{self.bad_lines:,} bad lines were"
            lines.append(f"{dropped} dropped; the first: {self.first_bad[0].message}")
        if self.time_backwards:
            lines.append(f"the device's time goes backwards ({self.time_backwards:,} times); nothing was sorted")
        if self.time_repeated:
            lines.append(f"the device's time repeats ({self.time_repeated:,} times)")
        return lines

    def to_dict(self) -> dict[str, object]:
        """Return the report as plain values, for ``--json`` output."""
        return {
            "samples": self.samples,
            "bad_lines": self.bad_lines,
            "first_bad": [error.details() for error in self.first_bad],
            "time_backwards": self.time_backwards,
            "time_repeated": self.time_repeated,
            "remarks": dict(self.remarks),
        }


@dataclass(frozen=True, slots=True)
class Chunk:
    """A stretch of one recording. Chunks of one recording follow one another and share their key.

    ``samples`` is in `schema.SAMPLES` (required columns and whichever optional ones there are; nulls where a value
    is missing), ``events`` in `schema.EVENTS`.
    """

    key: Key
    samples: pl.DataFrame
    geometry: Geometry
    events: pl.DataFrame = field(default_factory=schema.no_events)
    rate_hz: float | None = None
    pupil_unit: str = ""
    veiled: VeilNote | None = None
    """By what the gaze was veiled; None for raw gaze, and where nothing says so."""

    def need_samples(self, format_name: str) -> None:
        """Refuse to write a list of fixations as the samples that a format holds.

        Raises:
            InputError: If this is one.
        """
        if schema.DURATION in self.samples.columns:
            raise InputError(
                f"{format_name} files hold samples, and {self.key} is a list of fixations",
                hint="write lists of fixations as csv or parquet",
            )


@runtime_checkable
class Format(Protocol):
    """What every format can do.

    Formats with a lower ``priority`` are asked first whether a file is theirs (default 0; the generic table, which
    would claim any, has 10).
    """

    title: str
    suffixes: tuple[str, ...]
    priority: int

    def sniff(self, path: Path, head: bytes) -> bool:
        """Whether a file that begins with ``head`` is of this format."""
        ...

    def read(self, path: Path, options: ReadOptions, report: ReadReport) -> Iterator[Chunk]:
        """Yield the file's recordings chunk by chunk."""
        ...


LOSABLE: Final[Mapping[str, str]] = MappingProxyType(
    {
        "session": "the session",
        "events": "events",
        "geometry": "the screen's size and distance",
        "rate": "the stated sampling rate",
        "pupil_unit": "the unit of the pupil",
    }
)
"""What a format may have no place for, and how that is stated."""


@runtime_checkable
class WritableFormat(Format, Protocol):
    """What formats that write can do besides; ``lost`` says which of `LOSABLE` their files have no place for."""

    lost: tuple[str, ...]

    def write(self, chunks: Iterable[Chunk], path: Path) -> tuple[str, ...]:
        """Write all chunks; on any error nothing stays behind.

        Returns:
            What the chunks held and the files do not, or hold in another way: one phrase each.
        """
        ...


FORMATS: Registry[Format] = Registry("format", "gazeveil.gaze.formats")


def writer_of(name: str) -> WritableFormat:
    """Return the format of this name, if it can be written.

    Raises:
        InputError: If it can only be read.
    """
    found = FORMATS[name]
    if isinstance(found, WritableFormat):
        return found
    writable = ", ".join(name for name in FORMATS.names() if isinstance(FORMATS[name], WritableFormat))
    raise InputError(
        f"{name} can be read but not written: veiled gaze in it would pass for a recording",
        hint=f"write one of: {writable}",
    )


def file_format(name: str) -> Callable[[type], type]:
    """Enter a format class under ``name``; the class gets ``name`` as an attribute."""

    def enter(cls: type) -> type:
        cls.name = name  # type: ignore[attr-defined]
        if not hasattr(cls, "priority"):
            cls.priority = 0  # type: ignore[attr-defined]
        FORMATS.register(name)(cls())
        return cls

    return enter
