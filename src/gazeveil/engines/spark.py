# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Sums over observers and answers about recordings on an Apache Spark cluster, the same as on one machine.

For a sum, rows cross the network once: each worker reads parts of the corpus and sends their rows to the worker that
has the observer's bucket. Sums cross it once more, block by block. This process gets one number a cell.

For answers about recordings, a worker reads the parts that whole recordings lie in, and only the answers cross the
network. This process takes the answers of some parts at a time.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from gazeveil.aggregate.engine import ENGINES, Kernel, Summed
from gazeveil.engines import _spark_tasks as tasks
from gazeveil.engines._spark_session import check_master, context_at
from gazeveil.engines._spark_watch import watched
from gazeveil.engines.adding import check_columns, check_plane, check_unchanged, stamps_of
from gazeveil.errors import InputError
from gazeveil.gaze.corpus import Corpus, Part
from gazeveil.gaze.mapping import Answer
from gazeveil.gaze.recording import Recording
from gazeveil.geometry import Geometry
from gazeveil.types import Tell, silent

if TYPE_CHECKING:
    from pyspark import RDD

BUCKET_BYTES = 64 << 20
"""Parquet bytes of a bucket: about four million rows. Smaller ones would cut large corpora into too many pieces."""

LARGEST_PLAN = 64 << 20
"""Bytes of one part in memory that are sent along; Spark's own messages end at 128 MiB."""

WAVE_BYTES = 128 << 20
"""Parquet bytes whose answers this process takes at once; an answer is about as large as what it is about."""


@dataclass(frozen=True, slots=True)
class SparkEngine:
    """A Spark cluster by its master. It starts on first use and stays until `close` or the end of the process.

    Attributes:
        master: ``local[*]``, ``local[4]``, ``local-cluster[workers,cores,memory in MiB]`` or ``spark://host:port``.
        patience_s: How long to wait for the first worker to take a task.
    """

    master: str
    patience_s: float = 120.0

    def __post_init__(self) -> None:
        check_master(self.master)

    def sum_over_observers(self, corpus: Corpus, kernel: Kernel, tell: Tell = silent) -> Summed:
        """Return the sum of the kernel over all observers of the corpus, or raise: there are no partial sums.

        Raises:
            MissingExtra: If pyspark is not installed.
            EngineError: If the cluster cannot be reached or a stage fails for good.
            InputError: If the corpus lacks a column, lies on several viewing planes, is too large to be sent from
                memory, or changes while it is read.
        """
        check_columns(kernel)
        before = stamps_of(corpus.parts)
        check_plane(kernel, _planes(corpus))
        plans = [(number, _plan(part)) for number, part in enumerate(corpus.parts)]
        if not plans:
            return Summed(np.zeros(kernel.size, dtype=np.int64), 0)
        context = context_at(self.master)
        weight = sum(_weight(part.path, plan) for part, (_, plan) in zip(corpus.parts, plans, strict=True))
        buckets = max(math.ceil(weight / BUCKET_BYTES), context.defaultParallelism)
        readers = min(len(plans), buckets)
        mergers = min(1 + math.ceil(kernel.size / tasks.BLOCK), context.defaultParallelism)
        columns = list(dict.fromkeys(["observer", *kernel.columns]))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ResourceWarning)  # pyspark leaves a socket to the garbage collector
            parts = context.parallelize(plans, readers)
        sums: RDD[tuple[int, tasks.Block]] = (
            parts.mapPartitions(partial(tasks.split, columns=columns, buckets=buckets))
            .partitionBy(buckets, int)
            .mapPartitions(partial(tasks.add_bucket, kernel=kernel))
            .reduceByKey(tasks.merge, mergers, int)
        )
        blocks = dict(watched(context, sums.collect, readers + buckets + mergers, tell, self.patience_s))
        check_unchanged(corpus.parts, before)
        return _assembled(blocks, kernel.size)

    def map_recordings(
        self, corpus: Corpus, kernel: Callable[[Recording], Answer], tell: Tell = silent
    ) -> Iterator[Answer]:
        """Yield the function's answer for each recording, in the corpus's order.

        Of work that is done again, because an executor died or was slow, one result alone comes back.

        Raises:
            MissingExtra: If pyspark is not installed.
            EngineError: If the cluster cannot be reached or a stage fails for good.
            InputError: If a part in memory is too large to be sent, or the corpus changes while it is read.
        """
        before = stamps_of(corpus.parts)
        pieces = [[_sent(part) for part in piece.parts] for piece in corpus.pieces()]
        weights = [sum(_weight(part.path, part.samples) for part in piece) for piece in pieces]
        done = 0
        tell(done, len(pieces))
        for wave in _waves(weights, at_least=context_at(self.master).defaultParallelism if pieces else 1):
            context = context_at(self.master)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ResourceWarning)  # as above
                work = context.parallelize(pieces[wave], len(pieces[wave])).mapPartitions(
                    partial(tasks.answer, kernel=kernel)
                )
            answers = watched(context, work.collect, len(pieces[wave]), silent, self.patience_s)
            check_unchanged(corpus.parts, before)
            yield from answers
            tell(done := done + len(pieces[wave]), len(pieces))

    def close(self) -> None:
        """Stop Spark in this process."""
        context_at(self.master).stop()


ENGINES.register("spark")(SparkEngine)


def _plan(part: Part) -> bytes:
    """Return how to get a part's rows, filters and all, for a worker to carry out."""
    plan = part.samples.serialize()
    if len(plan) > LARGEST_PLAN:
        raise InputError(
            f"a part in memory of {len(plan) >> 20:,} MiB is too large to be sent to a cluster",
            hint="write the corpus as a folder with gazeveil.write_corpus, and open that",
        )
    return plan


def _sent(part: Part) -> tasks.Sent:
    """Return a part as a worker gets it: how to read it, events too."""
    return tasks.Sent(part.stimulus, _plan(part), part.events.serialize(), part.label, part.path)


def _waves(weights: list[int], at_least: int) -> Iterator[slice]:
    """Cut pieces into runs whose answers this process takes at once: one for each core, or of this many bytes."""
    start = 0
    while start < len(weights):
        stop = min(start + at_least, len(weights))
        total = sum(weights[start:stop])
        while stop < len(weights) and total + weights[stop] <= WAVE_BYTES:
            total += weights[stop]
            stop += 1
        yield slice(start, stop)
        start = stop


def _weight(path: Path | None, plan: bytes) -> int:
    """Return about how many bytes a worker has to read for a part."""
    return len(plan) if path is None else path.stat().st_size


def _planes(corpus: Corpus) -> Iterable[Geometry]:
    """Return the viewing planes that gaze lies on. Parts are looked into only where their labels differ."""
    labelled = {part.label.geometry for part in corpus.parts}
    if len(labelled) <= 1:
        return labelled
    return [part.label.geometry for part in corpus.parts if len(part.samples.select("observer").head(1).collect())]


def _assembled(blocks: dict[int, tasks.Block], size: int) -> Summed:
    """Return the blocks as one vector; those that nobody sent are zero."""
    observers = blocks.pop(tasks.COUNT, np.zeros(1, dtype=np.int64))
    total = np.zeros(size, dtype=np.int64)
    for key, block in blocks.items():
        start = (key - 1) * tasks.BLOCK
        total[start : start + len(block)] = block
    return Summed(total, int(observers[0]))
