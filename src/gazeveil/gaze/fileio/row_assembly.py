# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""From rows to recordings: seconds, combined gaze, angles from vectors, the viewing plane, and whose row it is.

Angles are in the head's frame: yaw to the right, pitch downwards, in degrees as `gazeveil.geometry` counts.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from types import MappingProxyType
from typing import Final, Literal, NamedTuple

import numpy as np
import polars as pl

from gazeveil.arrays import FloatArray, IntArray
from gazeveil.errors import FileFormatError, InternalError
from gazeveil.gaze import schema
from gazeveil.gaze.fileio.columns import HOLDS, Columns, no_such_eye
from gazeveil.gaze.fileio.numbers import MISSING, is_one_of
from gazeveil.gaze.fileio.tables import Batch, Table
from gazeveil.gaze.fileio.text import no_such_encoding, read_head
from gazeveil.gaze.formats.base import Chunk
from gazeveil.gaze.recording import Key
from gazeveil.geometry import Geometry, Unit

PER_SECOND: Final[Mapping[str, float]] = MappingProxyType({"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9})
_IN_WORDS: Final = {"s": "seconds", "ms": "milliseconds", "us": "microseconds", "ns": "nanoseconds"}

TYPICAL_STEP_S: Final = (0.0005, 0.1)
"""Trackers sample at 10 to 2000 Hz. These bounds do not overlap when scaled by 1000, so a unit follows from a step."""


def in_seconds(frame: pl.DataFrame, per_second: float, *columns: str) -> pl.DataFrame:
    """Return the table with columns of time turned into seconds, each correctly rounded."""
    if per_second == 1.0:
        return frame
    # numpy divides; polars would multiply by the inverse, which is off in the last digit
    divided = [pl.Series(name, frame[name].to_numpy() / per_second, nan_to_null=True) for name in columns]
    return frame.with_columns(divided)


def guess_time_unit(times: FloatArray, units: Sequence[str] = ("s", "ms", "us", "ns")) -> tuple[str | None, float]:
    """Return the unit in which the typical step is one of a tracker, or None; and the step."""
    with np.errstate(over="ignore"):
        steps = np.diff(times)
    steps = steps[steps > 0]
    if not len(steps):
        return None, float("nan")
    step = float(np.median(steps))
    shortest, longest = TYPICAL_STEP_S
    fitting = [unit for unit in units if shortest <= step / PER_SECOND[unit] <= longest]
    return (fitting[0] if fitting else None), step


def step_in_words(step: float) -> str:
    """Return a typical step in words, for an error."""
    return "a single sample" if math.isnan(step) else f"a step of {step:g}"


def expect_unit(path: Path, times: FloatArray, column: str, unit: str) -> str:
    """Return the unit that a format's times are in; a file whose steps do not fit it was changed, nothing is guessed.

    Raises:
        FileFormatError: If the typical step is not one of a tracker in this unit.
    """
    found, step = guess_time_unit(times)
    if found != unit and len(times) > 1:
        raise FileFormatError(
            path,
            column=column,
            expected=f"steps of 10 to 2000 Hz in {_IN_WORDS[unit]}",
            found=step_in_words(step),
            hint="name the unit with --time-unit",
        )
    return unit


def completed(geometry: Geometry, known: Geometry | None) -> Geometry:
    """Return what a file says about the viewing plane, completed with what the user says; the file wins."""
    if known is None:
        return geometry
    missing = {
        item.name: getattr(known, item.name) for item in fields(geometry) if getattr(geometry, item.name) is None
    }
    return replace(geometry, **missing)


def no_samples() -> pl.DataFrame:
    """Return a sample table without rows, for chunks that carry events only."""
    return pl.DataFrame(schema=dict(schema.REQUIRED))


def combined(frame: pl.DataFrame, eye: Literal["both", "left", "right"] = "both") -> pl.DataFrame:
    """Return a table in `schema.SAMPLES` from whichever of its columns there are.

    A sample is valid where x and y are known and no column and no rule of the user says otherwise. Combined gaze is
    the file's own if it has one and both eyes are asked for, else the mean of the eyes that are valid, or the eye that
    is asked for.
    """
    sides = [side for side in ("left", "right") if f"{side}_x" in frame.columns]
    ruled = [side for side in ("left", "right") if f"{side}_{HOLDS}" in frame.columns]
    if absent := [side for side in ruled if side not in sides]:
        raise no_such_eye(absent[0])
    frame = frame.with_columns(_validity(frame, f"{side}_") for side in sides)
    if eye in sides:
        frame = frame.with_columns(pl.col(f"{eye}_{name}").alias(name) for name in ("x", "y", "valid"))
        if f"{eye}_pupil" in frame.columns:
            frame = frame.with_columns(pl.col(f"{eye}_pupil").alias("pupil"))
    elif "x" not in frame.columns:
        frame = frame.with_columns(_mean_of_valid(axis, sides) for axis in ("x", "y"))
    frame = frame.with_columns(_validity(frame, ""))
    pupils = [f"{side}_pupil" for side in ("left", "right") if f"{side}_pupil" in frame.columns]
    if "pupil" not in frame.columns and pupils:
        frame = frame.with_columns(pl.mean_horizontal(pupils).alias("pupil"))
    unknown = [f"{side}_{name}" for side in ("left", "right") if side not in sides for name in ("valid", "pupil")]
    return frame.select(name for name in schema.SAMPLES if name in frame.columns and name not in unknown)


def follows_from_eyes(samples: pl.DataFrame) -> bool:
    """Whether combined gaze is what reading the eyes alone gives, so that it need not be written."""
    both = [name for name in ("x", "y", "pupil") if name in samples.columns]
    eyes = samples.drop(*both, "valid")
    if not {"left_x", "right_x"} & set(eyes.columns):
        return False
    derived = combined(eyes)
    mine = [name for name in ("x", "y", "pupil") if name in derived.columns]
    return mine == both and derived.select(both).equals(samples.select(both))


def _validity(frame: pl.DataFrame, prefix: str) -> pl.Expr:
    known = pl.col(f"{prefix}x").is_not_null() & pl.col(f"{prefix}y").is_not_null()
    if f"{prefix}valid" in frame.columns:
        known = known & pl.col(f"{prefix}valid").fill_null(False)
    for name in dict.fromkeys((HOLDS, f"{prefix}{HOLDS}")):
        if name in frame.columns:
            known = known & pl.col(name)
    if not prefix and {f"left_{HOLDS}", f"right_{HOLDS}"} <= set(frame.columns):
        known = known & (pl.col(f"left_{HOLDS}") | pl.col(f"right_{HOLDS}"))
    return known.alias(f"{prefix}valid")


def _mean_of_valid(axis: str, sides: Sequence[str]) -> pl.Expr:
    valid_only = [pl.when(pl.col(f"{side}_valid")).then(pl.col(f"{side}_{axis}")) for side in sides]
    if len(valid_only) == 1:
        return valid_only[0].alias(axis)
    left, right = valid_only
    return ((left + right) / 2.0).fill_null(left).fill_null(right).alias(axis)


# --- The lines of some exports before their table: participant, screen, rate.


def lines_before(path: Path, is_header: Callable[[str], bool], encoding: str) -> list[str]:
    """Return the lines before the table's header; none if it is the first, or if no line is a header."""
    head = read_head(path)
    try:
        text = head.decode() if head.isascii() else head.decode(encoding, errors="replace")
    except LookupError:
        raise no_such_encoding(encoding) from None
    lines = [line for line in text.splitlines() if line.strip()]
    found = next((number for number, line in enumerate(lines) if is_header(line)), 0)
    return lines[:found]


def stated(preamble: Sequence[str], name: str) -> str | None:
    """Return what a preamble states under a name (``Participant:<tab> P106``), or None."""
    for line in preamble:
        key, colon, value = line.lstrip("# ").partition(":")
        if colon and key.strip().lower() == name.lower():
            return value.strip() or None
    return None


def stated_screen(preamble: Sequence[str], name: str, known: Geometry | None) -> Geometry | None:
    """Return the geometry that is known, with the pixels that a preamble states (``1920 x 1080``); they win."""
    across, _, down = (stated(preamble, name) or "").lower().partition("x")
    if across.strip().isdigit() and down.strip().isdigit():
        return completed(Geometry(Unit.PIXEL, float(across), float(down)), known)
    return known


# --- Directions as headsets write them, in three columns or as ``(x, y, z)`` in one, turned into angles.


AXES = ("x", "y", "z")
_NUMBER = r"([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|[nN]a[nN])"
_TRIPLE = rf"^\s*[(\[]\s*{_NUMBER}\s*,\s*{_NUMBER}\s*,\s*{_NUMBER}\s*[)\]]\s*$"


class VectorColumns:
    """Where the vectors of a table are. ``numbers`` and ``text`` are what to ask `Table.batches` for."""

    def __init__(self, columns: Columns) -> None:
        self._columns = columns
        self.numbers: dict[str, str] = {}
        self.text: dict[str, str] = {}

    def find(self, ours: str, *spellings: str) -> bool:
        """Look for a vector of one of these words, in three columns or in one, and take it under our name."""
        for spelling in spellings:
            parts = [self._columns.find(f"{spelling}{axis}") for axis in AXES]
            if None not in parts:
                self.numbers |= {f"{ours}_{axis}": part for axis, part in zip(AXES, parts, strict=True) if part}
                return True
            if whole := self._columns.find(spelling):
                self.text[ours] = whole
                return True
        return False

    def split(self, table: Table, batch: Batch) -> Batch:
        """Turn columns of ``(x, y, z)`` into three columns; what is no triple of numbers is a bad line."""
        for ours, theirs in self.text.items():
            tokens = batch.frame[ours]
            parts, bad = _quick_parts(tokens) or _parts(tokens)
            frame = batch.frame.with_columns(
                part.alias(f"{ours}_{axis}") for axis, part in zip(AXES, parts, strict=True)
            )
            batch = table.reject(Batch(frame, batch.lines), bad, theirs, "three numbers (x, y, z)", tokens)
        return batch


def _quick_parts(tokens: pl.Series) -> tuple[list[pl.Series], pl.Series] | None:
    """Return the numbers of texts that are all ``(1, 2, 3)`` or empty; None if one needs a closer look."""
    given = tokens.drop_nulls()
    if not (given.str.starts_with("(") & given.str.ends_with(")")).all():
        return None
    fields = tokens.str.slice(1, tokens.str.len_chars() - 2).str.splitn(", ", len(AXES)).struct.unnest()
    parts = [field.cast(pl.Float64, strict=False) for field in fields]
    if any(part.null_count() != tokens.null_count() or not part.is_finite().all() for part in parts):
        return None
    return parts, pl.repeat(False, len(tokens), dtype=pl.Boolean, eager=True)


def _parts(tokens: pl.Series) -> tuple[list[pl.Series], pl.Series]:
    """Return the numbers of texts, and which texts are neither three numbers nor missing."""
    groups = tokens.str.extract_groups(_TRIPLE).struct.unnest()
    parts = [groups[str(place)].cast(pl.Float64, strict=False).fill_nan(None) for place in (1, 2, 3)]
    bad = groups["1"].is_null() & ~is_one_of(tokens.fill_null(""), MISSING.__contains__)
    for part in parts:
        bad = bad | part.is_infinite().fill_null(False)
    return parts, bad


def with_angles(frame: pl.DataFrame, vectors: Iterable[str], right: float = 1.0) -> pl.DataFrame:
    """Return the table with the angles of directions: of ``left`` in ``left_x`` and ``left_y``, of ``both`` in x and y.

    A direction of no length, or one that does not lead ahead, is no gaze: the angles are missing.

    Args:
        frame: Has each vector's parts (``left_dir_x``, …), y upwards and z ahead.
        vectors: Which: left, right, both.
        right: 1 where their x grows to the right, -1 where it grows to the left.
    """
    angles = []
    for name in vectors:
        across, up, ahead = (pl.col(f"{name}_dir_{axis}") for axis in AXES)
        prefix = "" if name == "both" else f"{name}_"
        level = (across**2 + ahead**2).sqrt()  # so that a degree is one wherever gaze is turned, as veils count them
        angles += [
            pl.when(ahead > 0).then(pl.arctan2(part, other).degrees()).alias(f"{prefix}{axis}")
            for axis, part, other in (("x", across * right, ahead), ("y", -up, level))
        ]
    return frame.with_columns(angles)


# --- The rows of a table, cut into recordings; labels on every row, turned into events.


class Run(NamedTuple):
    """Consecutive rows of one recording; ``continues`` the recording of the rows before."""

    key: Key
    start: int
    stop: int
    continues: bool


class KeyRuns:
    """Cuts rows into runs of one recording, across batches.

    Where the file numbers trials itself, a recording whose rows return after those of another is refused: its rows
    lie apart, and gluing or splitting them would be a guess. Where it does not, each return is the next trial.
    """

    def __init__(self, path: Path, *, trials_counted: bool) -> None:
        self._path = path
        self._trials_counted = trials_counted
        self._seen: set[Key] = set()
        self._shown: Counter[tuple[str, ...]] = Counter()
        self._last: tuple[str, ...] | None = None
        self._key: Key | None = None

    def cut(self, labels: pl.DataFrame, lines: IntArray) -> list[Run]:
        """Return the runs of a batch.

        Args:
            labels: Text columns observer, stimulus, session and, unless trials are counted, trial; a change in any
                further column also ends a run.
            lines: Where each row stood.
        """
        if labels.height != len(lines):
            raise InternalError(f"{self._path}: {labels.height:,} labels for {len(lines):,} rows")
        starts = _starts(labels).tolist()
        runs = []
        for start, stop in zip(starts, [*starts[1:], labels.height], strict=True):
            values = labels.row(start)
            continues = values == self._last and self._key is not None
            if not continues:
                named = dict(zip(labels.columns, values, strict=True))
                self._key = self._next_key(named, int(lines[start]))
                self._last = values
            if self._key is not None:
                runs.append(Run(self._key, start, stop, continues))
        return runs

    def _next_key(self, labels: Mapping[str, str], line: int) -> Key:
        person = (labels["observer"], labels["stimulus"], labels["session"])
        if self._trials_counted:
            self._shown[person] += 1
            return Key(*person, str(self._shown[person]))
        key = Key(*person, labels["trial"])
        if key in self._seen:
            raise FileFormatError(
                self._path,
                line=line,
                expected="the rows of each recording together",
                found=f"more rows of {_key_in_words(key)} after those of {_key_in_words(self._key or key)}",
                hint="sort the file by observer, stimulus, session, trial and time",
            )
        self._seen.add(key)
        return key


def _key_in_words(key: Key) -> str:
    return ", ".join(f"{name} {value!r}" for name, value in key._asdict().items() if value)


class RunningEvents:
    """Turns labels that stand on every sample (this sample is in fixation 12) into events, across batches."""

    def __init__(self) -> None:
        self._open: pl.DataFrame | None = None

    def feed(self, labels: pl.DataFrame, *, continues: bool) -> pl.DataFrame:
        """Take the labels of consecutive samples and return the events that ended, in the columns of ``labels``.

        Args:
            labels: Columns run (which recording of the batch), kind (null outside events), id, onset, offset, and any
                others. An event takes its onset from its first sample and the rest from its last.
            continues: Whether the first run goes on with the recording before; else the event that was open ended
                with that recording, and comes back with run -1.
        """
        if self._open is not None:
            labels = pl.concat([self._open.with_columns(run=pl.lit(0 if continues else -1, pl.Int64)), labels])
        if not labels.height:
            return labels
        starts = _starts(labels.select("run", "kind", "id"))
        events = labels[[*(starts[1:] - 1).tolist(), labels.height - 1]].with_columns(labels["onset"][starts])
        ended, self._open = events[:-1], events[-1:]
        return ended.filter(pl.col("kind").is_not_null())

    def close(self) -> pl.DataFrame | None:
        """Return the event that is still open, if any."""
        return None if self._open is None else self._open.filter(pl.col("kind").is_not_null())


def _starts(labels: pl.DataFrame) -> IntArray:
    """Return the rows where any column differs from the row before, and the first."""
    changed = labels.select(pl.any_horizontal(pl.all().ne_missing(pl.all().shift()))).to_series().to_numpy().copy()
    changed[:1] = True
    return np.flatnonzero(changed)


class Recorder:
    """Puts the samples, events and messages of a table's batches into chunks, recording by recording."""

    def __init__(
        self,
        path: Path,
        chunk_rows: int,
        pupil_unit: str,
        *,
        trials_counted: bool = True,
        rate_hz: float | None = None,
    ) -> None:
        self._rate_hz = rate_hz
        self._runs = KeyRuns(path, trials_counted=trials_counted)
        self._running = RunningEvents()
        self._chunk_rows = chunk_rows
        self._pupil_unit = pupil_unit
        self._key: Key | None = None
        self._geometry: Geometry | None = None

    def feed(
        self,
        labels: pl.DataFrame,
        lines: IntArray,
        samples: pl.DataFrame,
        on_samples: pl.DataFrame,
        messages: pl.DataFrame,
        geometry_at: Callable[[int], Geometry],
    ) -> Iterator[Chunk]:
        """Yield the chunks of a batch.

        Args:
            labels: Whose each sample is, as in `KeyRuns.cut`.
            lines: Where each sample stood.
            samples: In `schema.SAMPLES`.
            on_samples: The event each sample is in, as in `RunningEvents.feed`.
            messages: Events with a column ``at``: the sample whose recording they belong to; -1 for the recording
                that was open before this batch.
            geometry_at: Gives the viewing plane of the recording that begins at a sample.
        """
        runs = self._runs.cut(labels, lines)
        continues = bool(runs) and runs[0].continues
        events, bounds = self._events_by_run(runs, on_samples, messages, continues)
        if bounds[0] and not continues:
            yield from self._chunk(no_samples(), events[: bounds[0]])
        for index, run in enumerate(runs):
            if not run.continues:
                self._key, self._geometry = run.key, geometry_at(run.start)
            first = 0 if index == 0 and continues else bounds[index]
            mine = events[first : bounds[index + 1]]
            for piece in samples[run.start : run.stop].iter_slices(self._chunk_rows):
                yield from self._chunk(piece, mine)
                mine = mine.clear()

    def finish(self, messages: pl.DataFrame) -> Iterator[Chunk]:
        """Yield what is left of the last recording."""
        last = self._running.close()
        rest = messages if last is None else pl.concat([from_tracker(last), messages], how="diagonal")
        if rest.height:
            yield from self._chunk(no_samples(), schema.event_table(rest.sort("onset", maintain_order=True)))

    def _events_by_run(
        self, runs: list[Run], on_samples: pl.DataFrame, messages: pl.DataFrame, continues: bool
    ) -> tuple[pl.DataFrame, list[int]]:
        """Return all events sorted by run and onset, and how many lie before run 0, 1, … and in all."""
        lengths = [run.stop - run.start for run in runs]
        run_of_sample = np.repeat(np.arange(len(runs)), lengths)
        ended = self._running.feed(on_samples.with_columns(run=pl.Series(run_of_sample)), continues=continues)
        run_of_message = np.searchsorted([run.start for run in runs], messages["at"].to_numpy(), side="right") - 1
        said = messages.with_columns(run=pl.Series(run_of_message, dtype=pl.Int64))
        events = pl.concat([from_tracker(ended), said], how="diagonal").sort("run", "onset", maintain_order=True)
        bounds = np.searchsorted(events["run"].to_numpy(), np.arange(len(runs) + 1))
        return schema.event_table(events), bounds.tolist()

    def _chunk(self, samples: pl.DataFrame, events: pl.DataFrame) -> Iterator[Chunk]:
        if self._key is not None and self._geometry is not None:
            yield Chunk(self._key, samples, self._geometry, events, self._rate_hz, self._pupil_unit)


def from_tracker(events: pl.DataFrame) -> pl.DataFrame:
    """Return events as the tracker's, of both eyes."""
    return events.with_columns(source=pl.lit("tracker"), eye=pl.lit("both"))


def as_messages(rows: pl.DataFrame) -> pl.DataFrame:
    """Return what was said, ``onset`` and ``text``, as events."""
    return schema.event_table(from_tracker(rows).with_columns(kind=pl.lit("message"), offset="onset"))


def placed_messages(rows: Sequence[tuple[int, float, str]]) -> pl.DataFrame:
    """Return messages, each given by ``at``, time and text, as `Recorder.feed` takes them."""
    table = pl.DataFrame(rows, schema={"at": pl.Int64, "onset": pl.Float64, "text": pl.String}, orient="row")
    return as_messages(table).with_columns(table["at"])
