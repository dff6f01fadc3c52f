# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Write recordings as text files that other programs read, in one walk over the chunks; report what a file cannot hold.

A `TextFile` defines how the files of a format look. What they have no place for is counted in `Losses`, or refused
where two recordings would become one. Nothing is put in place before all is written.
"""

from __future__ import annotations

import gzip
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, ClassVar, NamedTuple, cast

import numpy as np
import polars as pl

from gazeveil.arrays import FloatArray
from gazeveil.errors import GeometryError, InputError
from gazeveil.files import is_device, replacing
from gazeveil.gaze import schema
from gazeveil.gaze.fileio.numbers import plain_numbers
from gazeveil.gaze.fileio.row_assembly import follows_from_eyes
from gazeveil.gaze.formats.base import LOSABLE, Chunk
from gazeveil.gaze.recording import Key
from gazeveil.gaze.schema import VeilNote
from gazeveil.geometry import Geometry, Unit

_NOT_IN_A_LINE = "\n\r\0"
_NOT_IN_A_NAME = '/\\:*?"<>|'
_LONGEST_NAME = 200
_PREFIXES = ("", "left_", "right_")


class Losses:
    """What the chunks held and the files do not."""

    def __init__(self, lost: Iterable[str]) -> None:
        self._lost = tuple(lost)
        self._found: Counter[str] = Counter()

    def add(self, what: str, times: int = 1) -> None:
        """Note something that is lost or changed."""
        if times:
            self._found[what] += times

    def look_at(self, chunk: Chunk) -> None:
        """Note what a chunk holds and the format has no place for."""
        held = {
            "session": chunk.key.session != "1",
            "events": chunk.events.height > 0,
            "geometry": bool(set(chunk.geometry.to_dict()) - {"unit", "width_px", "height_px"}),
            "rate": chunk.rate_hz is not None,
            "pupil_unit": chunk.pupil_unit != "",
        }
        for name in self._lost:
            if held[name]:
                self._found[LOSABLE[name]] = 1

    def in_words(self) -> tuple[str, ...]:
        """Return all of it, one phrase each."""
        return tuple(f"{what} ({times:,} times)" if times > 1 else what for what, times in self._found.items())


@dataclass(frozen=True, slots=True)
class Piece:
    """Samples that are ready to be written: gaze in the format's unit, null where it is missing or not valid."""

    key: Key
    samples: pl.DataFrame
    geometry: Geometry
    rate_hz: float | None
    pupil_unit: str
    veiled: VeilNote | None
    events: pl.DataFrame = field(default_factory=schema.no_events)

    def column(self, name: str) -> pl.Series:
        """Return a column of the samples; nulls if there is none."""
        if name in self.samples.columns:
            return self.samples[name]
        return pl.Series(name, [None] * self.samples.height, dtype=schema.SAMPLES[name])

    @property
    def sides(self) -> tuple[str, ...]:
        """The eyes whose own gaze is known."""
        return tuple(side for side in ("left", "right") if f"{side}_x" in self.samples.columns)


class TextFile(ABC):
    """One file of a format while it is written.

    Attributes:
        format_name: The format.
        ending: What follows the participant in the names of files, one for each; nothing if one file holds all.
        units: What x and y may be; gaze in another unit is turned into the first. None: any.
        labels: Which labels of recordings tell them apart in what is written.
        eyes_only: Whether files have the gaze of eyes and no other, if there are two.
        masks: Whether gaze that is not valid is left out.
        takes_lists: Whether files hold lists of fixations as well.
        takes_events: Whether files hold events.
    """

    format_name: ClassVar[str]
    ending: ClassVar[str] = ""
    units: ClassVar[tuple[Unit, ...] | None] = None
    labels: ClassVar[tuple[str, ...]] = schema.KEYS
    eyes_only: ClassVar[bool] = False
    masks: ClassVar[bool] = True
    takes_lists: ClassVar[bool] = False
    takes_events: ClassVar[bool] = False

    def __init__(self, losses: Losses) -> None:
        self.losses = losses

    @classmethod
    def place(cls, key: Key) -> str:
        """Return the file that a recording goes to, below the folder; nothing if one file holds all."""
        if not cls.ending:
            return ""
        return as_file_name(key.observer) + cls.ending

    def begin(self, piece: Piece) -> str:
        """Return what stands before a recording's samples."""
        return ""

    @abstractmethod
    def rows(self, piece: Piece) -> str:
        """Return the samples."""

    def end(self) -> str:
        """Return what stands after a recording's samples."""
        return ""


def write_files(chunks: Iterable[Chunk], path: Path, kind: type[TextFile], lost: Iterable[str]) -> tuple[str, ...]:
    """Write all chunks as files of one kind: a single file, or one for each participant in a folder.

    Args:
        chunks: What to write.
        path: The file, or the folder where each participant gets a file (a folder, if that is the format).
        kind: How the files look.
        lost: Which of `LOSABLE` the format has no place for.

    Returns:
        What is not in the files, one phrase each.

    Raises:
        InputError: If the recordings cannot be told apart in these files, or a label or number cannot be held.
    """
    losses = Losses(lost)
    with replacing(path) as target:
        walk = _Walk(kind, path, target, losses)
        try:
            for chunk in chunks:
                walk.add(chunk)
            walk.finish()
        finally:
            walk.close()
    return losses.in_words()


def check_label(key: Key) -> None:
    """Refuse labels that a line of text cannot hold.

    Raises:
        InputError: If a label has a line break in it.
    """
    for name, value in key._asdict().items():
        if any(letter in value for letter in _NOT_IN_A_LINE):
            raise InputError(
                f"the {name} {value!r} has a line break in it, which a text table cannot hold",
                hint="rename it, or write Parquet, which holds any text",
            )


def as_file_name(observer: str) -> str:
    """Return the participant's label, which names a file.

    Raises:
        InputError: If it cannot be the name of a file, or would not be read back from it.
    """
    odd = any(letter in _NOT_IN_A_NAME or ord(letter) < ord(" ") for letter in observer)
    odd |= is_device(observer) or observer.strip(" .") != observer
    if odd or "." in observer or len(observer) > _LONGEST_NAME:
        raise InputError(
            f"the participant {observer!r} cannot be the name of a file, which is where such files say who looked",
            hint="rename the participant, or write Parquet, CSV or BIDS, which hold any label",
        )
    return observer


def cannot_hold(format_name: str, what: str, value: str) -> InputError:
    """Return the error that a label cannot be held by a format."""
    return InputError(
        f"a {format_name} file cannot hold the {what} {value!r}: it would be read back as another",
        hint=f"rename the {what}, or write Parquet, CSV or BIDS, which hold any label",
    )


class _Walk:
    """The files that are written, and the recording that is open."""

    def __init__(self, kind: type[TextFile], path: Path, target: Path, losses: Losses) -> None:
        self._kind, self._path, self._target, self._losses = kind, path, target, losses
        self._files: dict[str, TextFile] = {}
        self._taken: set[str] = set()
        self._seen: dict[tuple[str, ...], Key] = {}
        self._key: Key | None = None
        self._place: str | None = None
        self._open_files = ExitStack()
        self._stream: IO[bytes] | None = None
        self._single = ""

    def add(self, chunk: Chunk) -> None:
        """Write a chunk."""
        begins = chunk.key != self._key
        if not self._kind.takes_lists:
            chunk.need_samples(self._kind.format_name)
        self._losses.look_at(chunk)
        piece = _prepared(chunk, self._kind, self._losses, begins)
        if begins:
            self._end_recording()
            self._check(chunk.key)
            self._open(piece)
            self._key = chunk.key
            self._write(self._files[self._place or ""].begin(piece))
        if piece.samples.height or piece.events.height or begins:
            self._write(self._files[self._place or ""].rows(piece))

    def finish(self) -> None:
        """Write what ends the files."""
        self._end_recording()
        if not self._files:
            raise InputError("there is nothing to write: no recordings")

    def close(self) -> None:
        """Close the file that is open."""
        self._open_files.close()
        self._stream = None

    def _end_recording(self) -> None:
        if self._key is not None:
            self._write(self._files[self._place or ""].end())
            self._key = None

    def _check(self, key: Key) -> None:
        """Refuse recordings that could not be told apart."""
        check_label(key)
        held = tuple(getattr(key, name) for name in self._kind.labels)
        other = self._seen.setdefault(held, key)
        if other is not key:
            if other == key:
                raise InputError(f"the recording {key} comes twice", hint="give each its own session or trial")
            differ = [name for name in schema.KEYS if getattr(key, name) != getattr(other, name)]
            raise InputError(
                f"{self._kind.format_name} files have no place for the {' and '.join(differ)}, and {other} and {key} "
                "differ in nothing else",
                hint="convert them one by one (--stimulus, --session, --trial), or write Parquet, CSV or BIDS",
            )

    def _open(self, piece: Piece) -> None:
        """Turn to the file that a recording goes to."""
        place = self._kind.place(piece.key)
        if place and self._path.suffix and self._path.suffix == Path(place).suffix:
            if self._files and self._single != place:
                raise InputError(
                    f"one {self._kind.format_name} file holds one participant, found {piece.key} as well",
                    hint="give --out the name of a folder: each participant gets a file in it",
                )
            if place != self._path.name:
                self._losses.add("the participant: the file's name stands for it")
            self._single, place = place, ""
        if place not in self._files:
            if place.casefold() in self._taken:
                raise InputError(
                    f"the files of two participants would be {place!r} but for capitals, which not every system minds",
                    hint="rename one of them, or write Parquet, CSV or BIDS, which hold any label",
                )
            self._taken.add(place.casefold())
            self._files[place] = self._kind(self._losses)
        self._turn_to(place)

    def _turn_to(self, place: str) -> None:
        if place == self._place and self._stream is not None:
            return
        self.close()
        self._place = place
        file = self._target / place if place else self._target
        file.parent.mkdir(parents=True, exist_ok=True)
        self._stream = self._open_files.enter_context(file.open("ab"))
        if (place or self._path.name).endswith(".gz"):
            # no name and no time inside: the same recordings give the same bytes
            packed = gzip.GzipFile(filename="", mode="wb", compresslevel=6, fileobj=self._stream, mtime=0)
            self._stream = cast("IO[bytes]", self._open_files.enter_context(packed))

    def _write(self, text: str) -> None:
        if text and self._stream is not None:
            self._stream.write(text.encode())


def _prepared(chunk: Chunk, kind: type[TextFile], losses: Losses, begins: bool) -> Piece:
    """Return a chunk as the format can hold it."""
    samples = chunk.samples.select(name for name in schema.SAMPLES if name in chunk.samples.columns)
    infinite = samples.select(pl.col(pl.Float64).is_infinite().any())
    bad = [name for name in infinite.columns if infinite[name][0]]
    if bad or not samples["t"].is_finite().all():
        raise InputError(f"recording {chunk.key} has numbers in {', '.join(bad) or 't'} that are not finite")
    samples = samples.with_columns(pl.col(pl.Float64).fill_nan(None))
    if kind.masks:
        samples = valid_only(samples)
    geometry = chunk.geometry
    events = schema.event_table(chunk.events) if kind.takes_events else schema.no_events()
    if kind.units is not None and geometry.unit not in kind.units:
        samples = _in_unit(samples, geometry, kind, _PREFIXES)
        events = _in_unit(events, geometry, kind, ("", "end_"))
        geometry = geometry.in_unit(kind.units[0])
        losses.add(f"gaze in {chunk.geometry.unit}: it was turned into {geometry.unit}", int(begins))
    if kind.eyes_only and {"left_x", "right_x"} <= set(samples.columns) and not follows_from_eyes(samples):
        losses.add("the gaze of both eyes together, which is not their mean", int(begins))
    return Piece(chunk.key, samples, geometry, chunk.rate_hz, chunk.pupil_unit, chunk.veiled, events)


def valid_only(samples: pl.DataFrame) -> pl.DataFrame:
    """Leave out gaze that is not valid, for formats in which a missing position says so."""
    return samples.with_columns(
        pl.when(pl.col(f"{prefix}valid")).then(pl.col(f"{prefix}{axis}")).alias(f"{prefix}{axis}")
        for prefix in _PREFIXES
        if f"{prefix}x" in samples.columns and f"{prefix}valid" in samples.columns
        for axis in "xy"
    )


def _in_unit(table: pl.DataFrame, geometry: Geometry, kind: type[TextFile], prefixes: tuple[str, ...]) -> pl.DataFrame:
    """Return samples or events with their positions in the format's unit."""
    unit = (kind.units or (geometry.unit,))[0]
    try:
        for prefix in prefixes:
            if f"{prefix}x" in table.columns:
                x, y = (table[f"{prefix}{axis}"].cast(pl.Float64).fill_null(float("nan")) for axis in "xy")
                turned = geometry.convert(x.to_numpy(), y.to_numpy(), unit)
                table = table.with_columns(
                    pl.Series(f"{prefix}{axis}", values, nan_to_null=True)
                    for axis, values in zip("xy", turned, strict=True)
                )
        return table
    except GeometryError as error:
        raise InputError(
            f"{kind.format_name} files hold gaze in {unit}, and the {geometry} cannot be turned into that: "
            f"{error.message}",
            hint=f"{error.hint}; or write Parquet, CSV or BIDS, which hold gaze in any unit",
        ) from None


# --- Events as lines among the samples of a file.


DETECTOR_LOST = "by which detector events were found: they stand as the tracker's"
RESERVED_MESSAGES = (
    "messages that would be taken for the screen, the rate, the trial or the stimulus: the file says its own"
)


def with_known_numbers(events: pl.DataFrame) -> pl.DataFrame:
    """Return events with numbers that are none left out."""
    numbers = pl.col(pl.Float64)
    return schema.event_table(events).with_columns(pl.when(numbers.is_finite()).then(numbers))


class TimedLine(NamedTuple):
    """A line, and the time in seconds after which it stands."""

    time: float
    text: str


class LinesAmongRows:
    """Lines that wait for the rows of their time."""

    def __init__(self) -> None:
        self._waiting: list[TimedLine] = []

    def add(self, lines: Iterable[TimedLine]) -> None:
        """Add lines that wait for their rows."""
        self._waiting += lines

    def put(self, text: str, times: FloatArray) -> str:
        """Return rows with the lines up to the last of them, each after the rows of its time."""
        if not len(times):
            return text
        so_far = np.maximum.accumulate(times)
        latest = float(so_far[-1])
        now = [line for line in self._waiting if line.time <= latest]
        if not now:
            return text
        self._waiting = [line for line in self._waiting if line.time > latest]
        places = np.searchsorted(so_far, [line.time for line in now], side="right").tolist()
        rows = text.splitlines(keepends=True)
        pieces, done = [], 0
        for place, line in sorted(zip(places, now, strict=True), key=lambda each: each[0]):
            pieces += [*rows[done:place], f"{line.text}\n"]
            done = place
        return "".join([*pieces, *rows[done:]])

    def remaining(self) -> str:
        """Return the lines that still wait, and drop them."""
        lines, self._waiting = self._waiting, []
        return "".join(f"{line.text}\n" for line in lines)


# --- Our own tables, CSV or TSV.


class DelimitedFile(TextFile):
    """Our own CSV or TSV: `schema.KEYS` and `schema.SAMPLES`, time in seconds; the first row's columns for all."""

    format_name = "csv"
    masks = False
    takes_lists = True
    delimiter: ClassVar[str] = ","

    def __init__(self, losses: Losses) -> None:
        super().__init__(losses)
        self._geometry: Geometry | None = None
        self._header: list[str] = []

    def begin(self, piece: Piece) -> str:
        """Refuse gaze on another viewing plane: the table has no place to say so."""
        self._geometry = self._geometry or piece.geometry
        if piece.geometry != self._geometry:
            raise InputError(
                f"one table holds gaze on one viewing plane, found {piece.geometry} after {self._geometry}",
                hint="convert the recordings one by one, or write Parquet",
            )
        return ""

    def rows(self, piece: Piece) -> str:
        """Return the rows, after the header if they are the first."""
        found = _columns(piece)
        begins = not self._header
        self._header = self._header or list(found)
        more = [name for name in found if name not in self._header]
        if more:
            raise InputError(
                f"recording {piece.key} has columns that the first has not: {', '.join(more)}",
                hint="name the recordings with most columns first, or write Parquet",
            )
        nothing = pl.Series([None] * piece.samples.height, dtype=pl.String)
        frame = pl.DataFrame({name: plain_numbers(found.get(name, nothing)) for name in self._header})
        return frame.write_csv(include_header=begins, separator=self.delimiter)


class TabFile(DelimitedFile):
    """The same with tabs."""

    delimiter = "\t"


def _text(piece: Piece, value: str) -> pl.Series:
    return pl.Series([value] * piece.samples.height, dtype=pl.String)


def _columns(piece: Piece) -> Mapping[str, pl.Series]:
    """Return labels and samples as they are."""
    labels = {name: _text(piece, value) for name, value in piece.key._asdict().items()}
    veiled = {} if piece.veiled is None else {"veiled": _text(piece, "true")}
    return {**labels, **{name: piece.samples[name] for name in piece.samples.columns}, **veiled}
