# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Runs a mechanism very many times, in batches, on as many cores as wanted.

Each batch has noise of its own, named after the batch. So with a seed the outputs are the same whatever the number of
processes, and without one every batch is keyed by the operating system. Memory holds a batch a process, and the
outputs that events are learned from; counted outputs are thrown away at once.
"""

from __future__ import annotations

import multiprocessing
import pickle
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import partial
from types import TracebackType
from typing import Any, Self, TypeVar

import numpy as np

from gazeveil.errors import OptionError
from gazeveil.noise.source import NoiseSource
from gazeveil.privacy.audit.events.base import Event, Outputs
from gazeveil.privacy.audit.subject import Subject
from gazeveil.types import Tell

_BATCH_NUMBERS = 2**19
_BATCH_ROWS = 2**16

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Batch:
    """Some runs on one of the two inputs of a pair, for one part of the audit."""

    part: str
    pair: int
    side: int
    number: int
    size: int

    @property
    def label(self) -> str:
        """The name of the batch's noise."""
        return f"{self.part}, pair {self.pair}, side {self.side}, batch {self.number}"


class Laboratory:
    """Where a subject is run; use it as a context manager, so that its processes end."""

    def __init__(self, subject: Subject, *, seed: int | None, workers: int, tell: Tell | None = None) -> None:
        probe = _Bench(subject, seed).outputs(Batch("probe", 0, 0, 0, 1))
        self.width = int(probe.shape[1])
        self._bench = _Bench(subject, seed, self.width)
        self._workers = workers
        self._pool: ProcessPoolExecutor | None = None
        self._tell = tell
        self._done = 0
        self.total = 0

    @property
    def noise(self) -> str:
        """Where the noise came from."""
        return self._bench.noise("any").description.split(",")[0]

    def outputs(self, part: str, pair: int, runs: int) -> tuple[Outputs, Outputs]:
        """Return the outputs of this many runs on both inputs of a pair."""
        batches = [self._batches(part, pair, side, runs) for side in (0, 1)]
        rows = list(self._each(_Bench.outputs, [*batches[0], *batches[1]]))
        return np.vstack(rows[: len(batches[0])]), np.vstack(rows[len(batches[0]) :])

    def counts(self, part: str, pair: int, events: Sequence[Event], runs: int) -> list[tuple[int, int]]:
        """Return how often each event happens in this many new runs on both inputs of a pair."""
        batches = [batch for side in (0, 1) for batch in self._batches(part, pair, side, runs)]
        jobs = [(batch, tuple(events)) for batch in batches]
        totals = np.zeros((len(events), 2), dtype=np.int64)
        for batch, counts in zip(batches, self._each(_Bench.counts, jobs), strict=True):
            totals[:, batch.side] += counts
        return [(int(first), int(second)) for first, second in totals]

    def _batches(self, part: str, pair: int, side: int, runs: int) -> list[Batch]:
        rows = max(1, min(_BATCH_ROWS, _BATCH_NUMBERS // self.width))
        sizes = [min(rows, runs - start) for start in range(0, runs, rows)]
        return [Batch(part, pair, side, number, size) for number, size in enumerate(sizes)]

    def _each(self, method: Callable[[_Bench, Any], T], jobs: Sequence[Any]) -> Iterable[T]:
        """Do jobs in order, here or in other processes."""
        if self._workers > 1 and len(jobs) > 1:
            results: Iterable[T] = self._processes().map(partial(_there, method), jobs)
        else:
            results = map(partial(method, self._bench), jobs)
        try:
            for job, result in zip(jobs, results, strict=True):
                self._done += (job if isinstance(job, Batch) else job[0]).size
                if self._tell:
                    self._tell(self._done, self.total)
                yield result
        except BrokenProcessPool:
            raise OptionError(
                "a process of the audit ended early",
                hint="a script that uses several workers keeps its calls under: if __name__ == '__main__'",
            ) from None

    def _processes(self) -> ProcessPoolExecutor:
        if self._pool is None:
            try:
                pickle.dumps(self._bench)
            except (pickle.PicklingError, AttributeError, TypeError):
                raise OptionError(
                    "this mechanism cannot be sent to other processes",
                    hint="use one worker, or make it a function of a module or a method of a plain value",
                ) from None
            # Spawned, not forked: a fork would copy threads' locks and whatever the parent holds.
            context = multiprocessing.get_context("spawn")
            self._pool = ProcessPoolExecutor(self._workers, context, initializer=_prepare, initargs=(self._bench,))
        return self._pool

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)


@dataclass(frozen=True, slots=True, eq=False)
class _Bench:
    """What a process needs to run batches."""

    subject: Subject
    seed: int | None
    width: int | None = None

    def noise(self, label: str) -> NoiseSource:
        return NoiseSource.secure() if self.seed is None else NoiseSource.seeded(self.seed).spawn(label)

    def outputs(self, batch: Batch) -> Outputs:
        pair = self.subject.pairs[batch.pair]
        data = pair.second if batch.side else pair.first
        outputs = _table(self.subject.run(data, self.noise(batch.label), batch.size), batch.size)
        if self.width not in (None, outputs.shape[1]):
            raise OptionError(
                f"outputs have {outputs.shape[1]} numbers here and {self.width} there, which may tell inputs apart",
                hint="make all outputs equally long; fill up with not-a-number, which the auditor looks at too",
            )
        return outputs

    def counts(self, job: tuple[Batch, tuple[Event, ...]]) -> list[int]:
        batch, events = job
        outputs = self.outputs(batch)
        return [event.count(outputs) for event in events]


def _table(outputs: Any, rows: int) -> Outputs:
    """Return outputs as a table of floats or integers, one row a trial."""
    table = np.asarray(outputs)
    table = table[:, None] if table.ndim == 1 else table
    if table.dtype.kind not in "biuf" or table.ndim != 2 or len(table) != rows or table.shape[1] == 0:
        raise OptionError(
            f"a mechanism must return one row of numbers for each of {rows:,} trials, "
            f"not {table.dtype} of shape {table.shape}"
        )
    return np.ascontiguousarray(table, dtype=np.float64 if table.dtype.kind == "f" else np.int64)


_bench: _Bench | None = None


def _prepare(bench: _Bench) -> None:
    global _bench  # noqa: PLW0603  (one bench a process, sent once instead of with every batch)
    _bench = bench


def _there(method: Callable[[_Bench, Any], T], job: Any) -> T:
    if _bench is None:
        raise OptionError("this process was not prepared for an audit")
    return method(_bench, job)
