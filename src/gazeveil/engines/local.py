# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Sums over observers on this machine, with threads, in bounded memory.

First the observer column alone is read: it says in which rows of which part each observer is. From that, observers are
packed into batches of about `BATCH_ROWS` rows. Each batch then reads just its rows, of just the kernel's columns. Where
the rows of an observer lie together, as the corpus writer leaves them, every row is read once.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from threading import Lock

import numpy as np
import polars as pl

from gazeveil.aggregate.engine import (
    ENGINES,
    Columns,
    IntArray,
    Kernel,
    Summed,
    Tell,
    add_exactly,
    add_up,
    check_plane,
    silent,
)
from gazeveil.errors import InputError, OptionError
from gazeveil.gaze import schema
from gazeveil.gaze.corpus import Corpus, Part

BATCH_ROWS = 2_000_000
MOST_THREADS = 4


@dataclass(frozen=True, slots=True)
class LocalEngine:
    """Sums over observers on this machine. The integers do not depend on the number of threads.

    Attributes:
        threads: How many batches are worked on at once; None for one per processor, up to `MOST_THREADS`.
        batch_rows: How many rows a batch has at most, unless one observer alone has more.
    """

    threads: int | None = None
    batch_rows: int = BATCH_ROWS

    def __post_init__(self) -> None:
        counts: dict[str, object] = {"threads": self.threads, "batch_rows": self.batch_rows}
        for name, count in counts.items():
            if count is not None and (isinstance(count, bool) or not isinstance(count, int) or count < 1):
                raise OptionError(f"{name} must be a whole number from 1 up, not {count!r}")

    def sum_over_observers(self, corpus: Corpus, kernel: Kernel, tell: Tell = silent) -> Summed:
        """Return the sum of the kernel over all observers of the corpus, each observer's rows brought together.

        Raises:
            GeometryError: If the recordings do not lie on one plane, the kernel's own.
            InputError: If the corpus lacks a column, or changes while it is read.
        """
        unknown = [name for name in kernel.columns if name not in (*schema.KEYS, *schema.SAMPLES)]
        if unknown:
            raise InputError(f"gaze tables have no column {', '.join(unknown)}", hint="see the schema in the reference")
        runs = _find_runs(corpus.parts)
        check_plane(kernel, (corpus.parts[part].label.geometry for part in np.unique(runs.part).tolist()))
        total = np.zeros(kernel.size, dtype=np.int64)
        rows, done = int(runs.length.sum()), 0
        adding = Lock()

        def work(batch: _Runs) -> int:
            ours = np.zeros(kernel.size, dtype=np.int64)
            add_up(kernel, *_read(corpus.parts, batch, kernel.columns, self.batch_rows), ours)
            with adding:
                add_exactly(total, ours)
            return int(batch.length.sum())

        tell(0, rows)
        with ThreadPoolExecutor(self.threads or min(os.cpu_count() or 1, MOST_THREADS)) as pool:
            jobs = [pool.submit(work, batch) for batch in _batches(runs, self.batch_rows)]
            try:
                for job in as_completed(jobs):
                    done += job.result()
                    tell(done, rows)
            finally:
                pool.shutdown(cancel_futures=True)
        return Summed(total, runs.observers)


@ENGINES.register("local")
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


def _find_runs(parts: Sequence[Part]) -> _Runs:
    """Return where each observer's rows are."""
    start = pl.col("len").cum_sum() - pl.col("len")
    found = _collect(
        part.samples.select(pl.col("observer").rle().alias("run")).unnest("run").cast({"len": pl.Int64})
        for part in parts
    )
    runs = pl.concat(
        [
            pl.DataFrame(schema={"len": pl.Int64, "value": pl.String, "start": pl.Int64, "part": pl.Int64}),
            *(table.with_columns(start=start, part=pl.lit(i, pl.Int64)) for i, table in enumerate(found)),
        ]
    )
    if runs["value"].null_count():
        raise InputError("some samples have no observer", hint="every row needs one: it says whom to protect")
    first_run = runs.with_row_index().select(pl.col("index").min().over("value")).to_series().to_numpy()
    observer = np.unique(first_run, return_inverse=True)[1].astype(np.int64)
    unsorted = _Runs(observer, *(runs[name].to_numpy() for name in ("part", "start", "len")))
    return unsorted.take(np.argsort(observer, kind="stable"))


def _batches(runs: _Runs, most_rows: int) -> Iterator[_Runs]:
    """Cut the runs between observers into batches of at most so many rows, or of one observer."""
    last_run = np.flatnonzero(np.diff(runs.observer, append=runs.observers))
    rows_up_to = np.cumsum(runs.length)[last_run]
    first, before = 0, 0
    while first < len(last_run):
        stop = max(int(np.searchsorted(rows_up_to, before + most_rows, side="right")), first + 1)
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
    """Read rows of a part; what a tracker did not give is NaN or False."""
    (header,) = _collect([part.samples.head(0)])
    wanted = {
        name: (pl.col(name) if name in header.columns else pl.lit(None)).cast(_type(name)).alias(name)
        for name in columns
    }
    (table,) = _collect([part.samples.slice(start, stop - start).with_columns(*wanted.values()).select(columns)])
    if len(table) != stop - start:
        raise InputError("the corpus changed while it was read", hint="try again when nobody writes to it")
    return table.with_columns(pl.col(pl.Boolean).fill_null(False), pl.col(pl.Float64).fill_null(float("nan")))


def _collect(tables: Iterable[pl.LazyFrame]) -> list[pl.DataFrame]:
    try:
        return pl.collect_all(list(tables))
    except (pl.exceptions.PolarsError, OSError) as error:
        told = str(error).splitlines()[0][:200]
        raise InputError(f"the corpus cannot be read ({told})", hint="check its files, or convert them again") from None


def _type(column: str) -> type[pl.DataType]:
    return schema.SAMPLES.get(column, pl.String)


_NUMPY: dict[type[pl.DataType], type[np.generic]] = {pl.Float64: np.float64, pl.Boolean: np.bool_}
