# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Whose row is it: cuts the rows of a table into recordings, and what stands on every row into events."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl

from gazeveil.arrays import IntArray
from gazeveil.errors import FileFormatError, InternalError
from gazeveil.gaze import schema
from gazeveil.gaze.formats._samples import no_samples
from gazeveil.gaze.formats.base import Chunk
from gazeveil.gaze.recording import Key
from gazeveil.geometry import Geometry


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
                found=f"more rows of {_told(key)} after those of {_told(self._key or key)}",
                hint="sort the file by observer, stimulus, session, trial and time",
            )
        self._seen.add(key)
        return key


def _told(key: Key) -> str:
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
