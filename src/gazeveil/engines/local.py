# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Sums over observers and answers about recordings on this machine, with threads, in bounded memory.

For sums, first the observer column alone is read: it says in which rows of which part each observer is. From that,
observers are packed into batches. Each batch then reads just its rows, of just the kernel's columns. Where the rows of
an observer lie together, as the corpus writer leaves them, every row is read once; where a batch is a whole part, none
is moved.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from queue import Empty, SimpleQueue

import numpy as np
import polars as pl

from gazeveil.aggregate.engine import (
    Columns,
    Kernel,
    Summed,
    add_exactly,
    add_up,
    check_columns,
    check_plane,
    check_unchanged,
    corpus_changed,
    stamps_of,
)
from gazeveil.arrays import IntArray, Tell, silent
from gazeveil.errors import FileFormatError, InputError, OptionError
from gazeveil.gaze import schema
from gazeveil.gaze.corpus import Answer, Corpus, Part
from gazeveil.gaze.recording import Recording
from gazeveil.gaze.schema import guarded

SMALL_KERNEL = 1 << 16
SMALL_BATCH_ROWS, BATCH_ROWS = 1 << 20, 1 << 22
"""Rows of a batch for kernels up to `SMALL_KERNEL` integers, and beyond, where adding up a batch takes longer."""

MOST_THREADS = 4


@dataclass(frozen=True, slots=True)
class LocalEngine:
    """Sums over observers on this machine. The integers do not depend on the number of threads.

    Attributes:
        threads: How many batches are worked on at once; None for one per processor, up to `MOST_THREADS`.
        batch_rows: How many rows a batch has at most, unless one observer alone has more; None for what suits.
    """

    threads: int | None = None
    batch_rows: int | None = None

    def __post_init__(self) -> None:
        counts: dict[str, object] = {"threads": self.threads, "batch_rows": self.batch_rows}
        for name, count in counts.items():
            if count is not None and (isinstance(count, bool) or not isinstance(count, int) or count < 1):
                raise OptionError(f"{name} must be a whole number from 1 up, not {count!r}")

    def sum_over_observers(self, corpus: Corpus, kernel: Kernel, tell: Tell = silent) -> Summed:
        """Return the sum of the kernel over all observers of the corpus, each observer's rows brought together.

        Raises:
            GeometryError: If the recordings do not lie on one viewing plane, the kernel's own.
            InputError: If the corpus lacks a column, or changes while it is read.
        """
        check_columns(kernel)
        with ThreadPoolExecutor(self._workers) as pool:
            try:
                before = stamps_of(corpus.parts)
                found = self._sum(corpus.parts, kernel, tell, pool)
                check_unchanged(corpus.parts, before)
                return found
            finally:
                pool.shutdown(cancel_futures=True)

    def map_recordings(
        self, corpus: Corpus, kernel: Callable[[Recording], Answer], tell: Tell = silent
    ) -> Iterator[Answer]:
        """Yield the function's answer for each recording, in the corpus's order; one recording a thread is in work.

        Raises:
            InputError: If the corpus changes while it is read.
        """
        workers, before, count, done = self._workers, stamps_of(corpus.parts), len(corpus), 0
        tell(done, count)
        at_work: deque[Future[Answer]] = deque()
        with ThreadPoolExecutor(workers) as pool:
            try:
                for recording in corpus.recordings():
                    at_work.append(pool.submit(kernel, recording))
                    if len(at_work) >= workers:
                        yield at_work.popleft().result()
                        tell(done := done + 1, count)
                while at_work:
                    yield at_work.popleft().result()
                    tell(done := done + 1, count)
            finally:
                pool.shutdown(cancel_futures=True)
        check_unchanged(corpus.parts, before)

    @property
    def _workers(self) -> int:
        return self.threads or min(os.cpu_count() or 1, MOST_THREADS)

    def _sum(self, parts: Sequence[Part], kernel: Kernel, tell: Tell, pool: Executor) -> Summed:
        runs = _sorted_runs(list(pool.map(_find_runs, parts)))
        check_plane(kernel, (parts[part].label.geometry for part in np.unique(runs.part).tolist()))
        most_rows = self.batch_rows or (SMALL_BATCH_ROWS if kernel.size <= SMALL_KERNEL else BATCH_ROWS)
        free: SimpleQueue[IntArray] = SimpleQueue()  # one sum per thread at work, handed on from batch to batch

        def work(batch: _Runs) -> int:
            try:
                ours = free.get_nowait()
            except Empty:
                ours = np.zeros(kernel.size, dtype=np.int64)
            add_up(kernel, *_read(parts, batch, kernel.columns, most_rows), ours)
            free.put(ours)
            return int(batch.length.sum())

        done, rows = 0, int(runs.length.sum())
        tell(done, rows)
        for job in as_completed([pool.submit(work, batch) for batch in _batches(runs, most_rows)]):
            done += job.result()
            tell(done, rows)
        total = np.zeros(kernel.size, dtype=np.int64)
        while not free.empty():
            add_exactly(total, free.get())
        return Summed(total, runs.observers)


def local(address: str = "local") -> LocalEngine:
    """Return the engine of this machine."""
    if address != "local":
        raise OptionError(f"the engine of this machine is called local, not {address!r}")
    return LocalEngine()


@dataclass(frozen=True, slots=True, eq=False)
class _Runs:
    """Stretches of rows, each within one part and of one observer; sorted by observer, then as they lie in the corpus.

    Observers are numbered from 0 in order of appearance.
    """

    observer: IntArray
    part: IntArray
    start: IntArray
    length: IntArray

    @property
    def observers(self) -> int:
        """How many observers there are, if these are the runs of all of them."""
        return int(self.observer[-1]) + 1 if len(self.observer) else 0

    def take(self, chosen: slice | IntArray) -> _Runs:
        """Return some of the runs."""
        return _Runs(self.observer[chosen], self.part[chosen], self.start[chosen], self.length[chosen])


def _find_runs(part: Part) -> pl.DataFrame:
    """Return the stretches of rows of one observer in a part: who, from where, how many."""
    stretches = part.samples.select(pl.col("observer").rle().alias("run")).unnest("run")
    table = _collect(part, stretches.select(pl.col("value").alias("observer"), pl.col("len").cast(pl.Int64)))
    if table["observer"].null_count():
        where = "" if part.path is None else f"{part.path}: "
        raise InputError(f"{where}some samples have no observer", hint="every row needs one: it says whom to protect")
    return table.with_columns(start=pl.col("len").cum_sum() - pl.col("len"))


def _sorted_runs(found: list[pl.DataFrame]) -> _Runs:
    """Return the runs of all parts, observer by observer."""
    none = pl.DataFrame(schema={"observer": pl.String, "len": pl.Int64, "start": pl.Int64})
    runs = pl.concat([none, *found]).with_row_index()
    part = np.repeat(np.arange(len(found)), [len(table) for table in found])
    first_run = runs.select(pl.col("index").min().over("observer")).to_series().to_numpy()
    observer = np.unique(first_run, return_inverse=True)[1].astype(np.int64)
    unsorted = _Runs(observer, part, runs["start"].to_numpy(), runs["len"].to_numpy())
    return unsorted.take(np.argsort(observer, kind="stable"))


def _batches(runs: _Runs, most_rows: int) -> Iterator[_Runs]:
    """Cut the runs between observers into batches of at most this many rows, or of one observer.

    Cuts lie where parts end, if they can: such a batch is read as it is.
    """
    last_run = np.flatnonzero(np.diff(runs.observer, append=runs.observers))
    rows_up_to = np.cumsum(runs.length)[last_run]
    part_ends = 1 + np.flatnonzero(np.diff(runs.part, append=-1)[last_run])  # in observers
    first, before = 0, 0
    while first < len(last_run):
        stop = max(int(np.searchsorted(rows_up_to, before + most_rows, side="right")), first + 1)
        in_parts = int(part_ends[np.searchsorted(part_ends, stop, side="right") - 1]) if part_ends[0] <= stop else 0
        stop = in_parts if in_parts > first else stop
        begin = int(last_run[first - 1]) + 1 if first else 0
        yield runs.take(slice(begin, int(last_run[stop - 1]) + 1))
        first, before = stop, int(rows_up_to[stop - 1])


def _read(parts: Sequence[Part], batch: _Runs, columns: tuple[str, ...], most_rows: int) -> tuple[Columns, IntArray]:
    """Return a batch's rows, one observer after the other, and where each observer begins."""
    ends = np.cumsum(batch.length)
    begins = ends - batch.length
    first_run = np.flatnonzero(np.diff(batch.observer, prepend=-1))
    starts = np.append(begins[first_run], ends[-1])

    # runs that follow one another both here and in the corpus are read and moved in one piece
    joined = (np.diff(batch.part) == 0) & (batch.start[1:] == (batch.start + batch.length)[:-1])
    first = np.flatnonzero(np.append(True, ~joined))
    pieces = _Runs(batch.observer[first], batch.part[first], batch.start[first], np.add.reduceat(batch.length, first))
    into = begins[first]
    if len(pieces.start) == 1:
        part, low = parts[int(pieces.part[0])], int(pieces.start[0])
        table = _read_slice(part, low, low + int(pieces.length[0]), columns)
        return {name: table[name].to_numpy() for name in columns}, starts

    rows = {name: np.empty(int(ends[-1]), dtype=_NUMPY.get(_type(name), np.object_)) for name in columns}
    for window in _windows(pieces, most_rows):
        there = pieces.take(window)
        low = int(there.start[0])
        table = _read_slice(parts[int(there.part[0])], low, int((there.start + there.length).max()), columns)
        source, target = _positions(there.start - low, there.length), _positions(into[window], there.length)
        for name, column in rows.items():
            column[target] = table[name].to_numpy()[source]
    return rows, starts


def _windows(pieces: _Runs, most_rows: int) -> Iterator[IntArray]:
    """Group pieces that are read at once: of one part, and within ``most_rows`` of one another."""
    order = np.lexsort((pieces.start, pieces.part))
    window: list[int] = []
    for piece in order.tolist():
        if window and (
            pieces.part[piece] != pieces.part[window[0]]
            or pieces.start[piece] + pieces.length[piece] > pieces.start[window[0]] + most_rows
        ):
            yield np.array(window)
            window = []
        window.append(piece)
    yield np.array(window)


def _positions(starts: IntArray, lengths: IntArray) -> slice | IntArray:
    """Return the positions of all rows of the stretches, one stretch after the other."""
    if len(starts) == 1:
        return slice(int(starts[0]), int(starts[0] + lengths[0]))
    before = np.cumsum(lengths) - lengths
    positions: IntArray = np.arange(int(lengths.sum())) + np.repeat(starts - before, lengths)
    return positions


def _read_slice(part: Part, start: int, stop: int, columns: tuple[str, ...]) -> pl.DataFrame:
    """Read rows of a part; what a tracker did not give, or gave as something else, is NaN or False."""
    there = _collect(part, part.samples.head(0)).columns
    wanted = (
        (pl.col(name) if name in there else pl.lit(None)).cast(_type(name), strict=False).alias(name)
        for name in columns
    )
    table = _collect(part, part.samples.slice(start, stop - start).with_columns(*wanted).select(columns))
    if len(table) != stop - start:
        raise corpus_changed()
    return table.with_columns(pl.col(pl.Boolean).fill_null(False), pl.col(pl.Float64).fill_null(float("nan")))


def _collect(part: Part, table: pl.LazyFrame) -> pl.DataFrame:
    if part.path is None:
        return table.collect()
    try:
        return guarded(part.path, table.collect)
    except pl.exceptions.PanicException:  # polars gives up rather than complains: a file cut short under its hands
        raise FileFormatError(
            part.path, expected="a Parquet file", found="a damaged one", hint="check the path, or copy the file again"
        ) from None


def _type(column: str) -> type[pl.DataType]:
    return schema.SAMPLES.get(column, pl.String)


_NUMPY: dict[type[pl.DataType], type[np.generic]] = {pl.Float64: np.float64, pl.Boolean: np.bool_}
