# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Sums over observers and answers about recordings on an Apache Spark cluster, the same as on one machine.

A sum has three steps, and each gives the same answer when it is done again elsewhere:

1. `split` reads parts of a corpus and cuts their rows into buckets, so that an observer's rows share one bucket. Rows
   cross the network once, to the worker that has the bucket.
2. `add_bucket` brings the observers of one bucket together and adds up the kernel's integers.
3. `merge` adds the buckets' sums, block by block of cells, so that no machine needs all of them at once. This process
   gets one number a cell.

Answers about recordings are one step: in `answer`, a worker reads the parts that whole recordings lie in, and only the
answers cross the network. This process takes the answers of some parts at a time.
"""

from __future__ import annotations

import io
import math
import os
import re
import shutil
import socket
import sys
import time
import uuid
import warnings
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as NotYet
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

import gazeveil
from gazeveil.aggregate.engine import (
    Kernel,
    Summed,
    add_exactly,
    add_up,
    check_columns,
    check_plane,
    check_unchanged,
    stamps_of,
)
from gazeveil.arrays import IntArray, Tell, silent
from gazeveil.errors import EngineError, InputError, OptionError, needing
from gazeveil.gaze import schema
from gazeveil.gaze.corpus import Answer, Corpus, Part
from gazeveil.gaze.recording import Recording
from gazeveil.gaze.schema import TableLabel
from gazeveil.geometry import Geometry

if TYPE_CHECKING:
    from pyspark import RDD, SparkContext


LOOPBACK = "127.0.0.1"
CONNECT_TIMEOUT_S = 5.0
"""Seconds to wait for a master to accept a connection."""

_ON_THIS_MACHINE = re.compile(
    r"local(\[(\*|[1-9]\d*)(,\s*[1-9]\d*)?\])?|local-cluster\[\s*[1-9]\d*\s*(,\s*[1-9]\d*\s*){2}\]"
)
_MASTERS = re.compile(r"spark://[^,/:\s]+:\d{1,5}(,[^,/:\s]+:\d{1,5})*")


def check_master(master: str) -> None:
    """Check that an address looks like a Spark master.

    Raises:
        OptionError: If it does not.
    """
    if not (_ON_THIS_MACHINE.fullmatch(master) or _MASTERS.fullmatch(master)):
        raise OptionError(
            f"{master!r} is no address of an engine",
            hint="use local, or a Spark master: local[*], local[4], local-cluster[2,1,1024], spark://host:7077",
        )


def context_at(master: str) -> SparkContext:
    """Return the Spark context of this process, started if need be; a process can have one at a time.

    Raises:
        MissingExtra: If pyspark is not installed.
        EngineError: If Java is missing, nobody answers at the address, or Spark does not start.
        InputError: If this process already uses another master.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # pyspark warns about a pandas that we do not use
        return _context_at(master)


def _context_at(master: str) -> SparkContext:
    with needing("pyspark", "spark", "the Spark engine"):
        from pyspark import SparkConf, SparkContext  # noqa: PLC0415
        from pyspark.errors import PySparkException  # noqa: PLC0415
    from py4j.protocol import Py4JError  # noqa: PLC0415  (comes with pyspark)

    _check_java()
    our_address = LOOPBACK if _ON_THIS_MACHINE.fullmatch(master) else _reach_master(master)
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    if our_address == LOOPBACK:
        os.environ.setdefault("SPARK_LOCAL_IP", LOOPBACK)  # nothing of a cluster on this machine listens outside
    settings = {
        "spark.driver.host": our_address,
        "spark.driver.bindAddress": our_address,
        "spark.executorEnv.POLARS_MAX_THREADS": "1",  # a task has one core
        "spark.executorEnv.PYTHONPATH": _python_path(),
        "spark.io.encryption.enabled": "true",  # raw gaze that Spark puts on disk on its way
        "spark.log.level": "ERROR",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    conf = SparkConf().setMaster(master).setAppName("gazeveil").setAll(list(settings.items()))
    try:
        context = SparkContext.getOrCreate(conf)
    except (Py4JError, PySparkException, OSError) as error:
        raise EngineError(
            f"Spark did not start at {master}: {first_line(error)}", hint="what Spark itself says is above"
        ) from error
    if context.master != master:
        raise InputError(
            f"this process already uses Spark at {context.master}, so it cannot use {master}",
            hint="stop that session first, or name the same master",
        )
    return context


def first_line(error: Exception) -> str:
    """Return the first line of an error."""
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__


def _check_java() -> None:
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home, "bin", "java")) if home else "java"
    if shutil.which(java) is None:
        raise EngineError(
            f"Spark runs on Java, and there is no {java}",
            hint="install Java 17 or newer and put it on PATH, or set JAVA_HOME",
        )


def _reach_master(master: str) -> str:
    """Return the address under which the first master that answers sees this machine."""
    for place in master.removeprefix("spark://").split(","):
        host, port = place.rsplit(":", 1)
        try:
            with socket.create_connection((host, int(port)), timeout=CONNECT_TIMEOUT_S) as line:
                return str(line.getsockname()[0])
        except (OSError, OverflowError) as error:
            reason = error
    raise EngineError(
        f"no Spark master answers at {master}: {first_line(reason)}",
        hint="check that the master runs, and that its address is the one its log names",
    ) from reason


def _python_path() -> str:
    """Return where workers on this machine find the gazeveil that this process runs."""
    ours = str(Path(gazeveil.__file__).parents[1])
    theirs = os.environ.get("PYTHONPATH", "")
    return os.pathsep.join(dict.fromkeys(filter(None, [ours, *theirs.split(os.pathsep)])))


# --- One Spark job: its progress, and its end when it does not get anywhere.


T = TypeVar("T")

POLL_S = 0.2
_PYTHON_ERROR = re.compile(r"^((?:\w+\.)*(?:\w*(?:Error|Exception|Missing|Exceeded|Name)))(?:: (.*))?$", re.MULTILINE)


def watched(context: SparkContext, job: Callable[[], T], tasks: int, tell: Tell, patience_s: float) -> T:
    """Return what ``job`` returns, and report how many of its tasks are done.

    Raises:
        EngineError: If a stage fails for good, or no worker takes a task for ``patience_s`` seconds.
    """
    from py4j.protocol import Py4JError  # noqa: PLC0415
    from pyspark import InheritableThread  # noqa: PLC0415
    from pyspark.errors import PySparkException  # noqa: PLC0415

    group = f"gazeveil-{uuid.uuid4()}"
    outcome: Future[T] = Future()

    def work() -> None:
        try:
            context.setJobGroup(group, "gazeveil")
            outcome.set_result(job())
        except BaseException as error:  # noqa: BLE001  (handed over to the thread that waits)
            outcome.set_exception(error)

    thread = InheritableThread(target=work, daemon=True)
    thread.start()
    try:
        _wait(context, group, outcome, tasks, tell, patience_s)
        return outcome.result()
    except (Py4JError, PySparkException) as error:
        raise EngineError(
            f"Spark could not finish the work: {worker_message(error)}",
            hint="every worker needs the same gazeveil and polars, and must see the corpus under the same path",
        ) from error
    finally:
        if not outcome.done():
            context.cancelJobGroup(group)
            thread.join()


def _wait(context: SparkContext, group: str, outcome: Future[T], tasks: int, tell: Tell, patience_s: float) -> None:
    """Return when the job is done, whatever its outcome."""
    last_sign_of_life = time.monotonic()
    told = 0
    tell(0, tasks)
    while True:
        try:
            outcome.exception(timeout=POLL_S)
        except NotYet:
            done, active = _progress(context, group)
        else:
            if outcome.exception() is None:
                tell(tasks, tasks)
            return
        if done > told or active:
            last_sign_of_life = time.monotonic()
        elif time.monotonic() - last_sign_of_life > patience_s:
            raise EngineError(
                f"no worker took a task within {patience_s:g} s",
                hint="check that workers are registered at the master and have cores and memory to spare",
            )
        if done > told:  # a repeated stage steps back, which is not reported
            told = done
            tell(min(done, tasks), tasks)


def _progress(context: SparkContext, group: str) -> tuple[int, int]:
    """Return how many tasks of a group are done, and how many run."""
    tracker = context.statusTracker()
    done = active = 0
    for job in tracker.getJobIdsForGroup(group):
        info = tracker.getJobInfo(job)
        for stage in info.stageIds if info else ():
            found = tracker.getStageInfo(stage)
            if found:
                done += found.numCompletedTasks
                active += found.numActiveTasks
    return done, active


def worker_message(error: Exception) -> str:
    """Return a worker's last message, without the stack traces of two languages around it."""
    text = str(getattr(error, "java_exception", None) or error)
    for name, message in _PYTHON_ERROR.findall(text):
        if message and not message.endswith("(most recent call last):"):
            return f"{name.rsplit('.', 1)[-1]}: {message}"
    return first_line(Exception(text))


# --- What workers do.


Piece = tuple[int, bytes]
"""The number of a part in the corpus, and rows of it: a plan to read them, or a table of them."""

Block = NDArray[np.signedinteger[Any]]
"""Integers of some width on their way through the network."""

COUNT = 0
"""The key of the number of observers; blocks of cells have the keys from 1 up."""

BLOCK = 1 << 16
"""Cells in a block: half a megabyte."""

LENGTH = "_rows"
"""The column that says how many rows the lists beside it hold."""


class Sent(NamedTuple):
    """A part of a corpus on its way to a worker, with plans to read its samples and events."""

    stimulus: str
    samples: bytes
    events: bytes
    label: TableLabel
    path: Path | None


def answer(pieces: Iterable[list[Sent]], kernel: Callable[[Recording], Answer]) -> Iterator[Answer]:
    """Yield the kernel's answer for every recording of pieces that hold whole ones."""
    for piece in pieces:
        parts = tuple(
            Part(sent.stimulus, _lazy(sent.samples), _lazy(sent.events), sent.label, sent.path) for sent in piece
        )
        yield from map(kernel, Corpus(parts).recordings())


def split(pieces: Iterable[Piece], columns: Sequence[str], buckets: int) -> Iterator[tuple[int, Piece]]:
    """Yield the rows of some parts, bucket by bucket of observers, as one list per observer and column."""
    for number, plan in pieces:
        people = _read(plan, columns).group_by("observer", maintain_order=True).agg(pl.len().alias(LENGTH), pl.all())
        if people["observer"].null_count():
            raise InputError("some samples have no observer", hint="every row needs one: it says whom to protect")
        bucket_of = pl.Series("_bucket", [_bucket(name, buckets) for name in people["observer"]], pl.Int64)
        for (bucket,), mine in (
            people.with_columns(bucket_of)
            .partition_by("_bucket", maintain_order=True, include_key=False, as_dict=True)
            .items()
        ):
            yield bucket, (number, _packed(mine))


def add_bucket(bucket: Iterable[tuple[int, Piece]], kernel: Kernel) -> Iterator[tuple[int, Block]]:
    """Yield the sum over the whole observers of one bucket: how many they are, then the blocks that are not zero."""
    pieces = sorted((piece for _, piece in bucket), key=lambda piece: piece[0])
    if not pieces:
        return
    people = pl.concat([pl.read_ipc_stream(io.BytesIO(table)) for _, table in pieces])
    people = people.sort("observer", maintain_order=True)  # whole observers, each in the corpus's order
    ends = np.cumsum(people[LENGTH].to_numpy(), dtype=np.int64)
    last = np.cumsum(people["observer"].rle().struct.field("len").to_numpy(), dtype=np.int64) - 1
    starts = np.concatenate([[0], ends[last]])
    total = np.zeros(kernel.size, dtype=np.int64)
    add_up(kernel, {name: _column(people, name) for name in kernel.columns}, starts, total)
    yield COUNT, np.array([len(last)], dtype=np.int64)
    for key, start in enumerate(range(0, len(total), BLOCK), start=1):
        block = total[start : start + BLOCK]
        if block.any():
            yield key, narrowed(block)


def merge(one: Block, other: Block) -> IntArray:
    """Return the sum of two blocks."""
    total = one.astype(np.int64)
    add_exactly(total, other.astype(np.int64))
    return total


def narrowed(block: IntArray) -> Block:
    """Return the same integers, as narrow as they fit."""
    low, high = int(block.min()), int(block.max())
    for kind in (np.int8, np.int16, np.int32):
        if np.iinfo(kind).min <= low and high <= np.iinfo(kind).max:
            return block.astype(kind)
    return block


def _read(plan: bytes, columns: Sequence[str]) -> pl.DataFrame:
    """Return a part's rows with these columns; what a tracker did not give, or not as numbers, is NaN or False."""
    lazy = _lazy(plan)
    found = set(lazy.collect_schema().names())
    given = {name: pl.col(name) if name in found else pl.lit(None) for name in columns}
    kinds = {name: schema.SAMPLES.get(name, pl.String) for name in columns}
    rows = lazy.select(column.cast(kinds[name], strict=False).alias(name) for name, column in given.items()).collect()
    return rows.with_columns(pl.col(pl.Boolean).fill_null(False), pl.col(pl.Float64).fill_null(float("nan")))


def _lazy(plan: bytes) -> pl.LazyFrame:
    return pl.LazyFrame.deserialize(io.BytesIO(plan))


def _column(people: pl.DataFrame, name: str) -> NDArray[Any]:
    """Return one column of all rows, one observer after the other."""
    if name == "observer":
        return np.repeat(people[name].to_numpy(), people[LENGTH].to_numpy())
    return people[name].explode().to_numpy()


def _bucket(observer: str, buckets: int) -> int:
    """Return an observer's bucket: the same in every process, unlike Python's own hash."""
    return zlib.crc32(observer.encode()) % buckets


def _packed(rows: pl.DataFrame) -> bytes:
    stream = io.BytesIO()
    rows.write_ipc_stream(stream)
    return stream.getvalue()


# --- The engine.


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
        mergers = min(1 + math.ceil(kernel.size / BLOCK), context.defaultParallelism)
        columns = list(dict.fromkeys(["observer", *kernel.columns]))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ResourceWarning)  # pyspark leaves a socket to the garbage collector
            parts = context.parallelize(plans, readers)
        sums: RDD[tuple[int, Block]] = (
            parts.mapPartitions(partial(split, columns=columns, buckets=buckets))
            .partitionBy(buckets, int)
            .mapPartitions(partial(add_bucket, kernel=kernel))
            .reduceByKey(merge, mergers, int)
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
        pieces = [[sendable(part) for part in piece.parts] for piece in corpus.pieces()]
        weights = [sum(_weight(part.path, part.samples) for part in piece) for piece in pieces]
        done = 0
        tell(done, len(pieces))
        for wave in waves(weights, at_least=context_at(self.master).defaultParallelism if pieces else 1):
            context = context_at(self.master)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ResourceWarning)  # as above
                work = context.parallelize(pieces[wave], len(pieces[wave])).mapPartitions(
                    partial(answer, kernel=kernel)
                )
            answers = watched(context, work.collect, len(pieces[wave]), silent, self.patience_s)
            check_unchanged(corpus.parts, before)
            yield from answers
            tell(done := done + len(pieces[wave]), len(pieces))

    def close(self) -> None:
        """Stop Spark in this process."""
        context_at(self.master).stop()


def _plan(part: Part) -> bytes:
    """Return how to get a part's rows, filters and all, for a worker to carry out."""
    plan = part.samples.serialize()
    if len(plan) > LARGEST_PLAN:
        raise InputError(
            f"a part in memory of {len(plan) >> 20:,} MiB is too large to be sent to a cluster",
            hint="write the corpus as a folder with gazeveil.write_corpus, and open that",
        )
    return plan


def sendable(part: Part) -> Sent:
    """Return a part as a worker gets it: how to read it, events too."""
    return Sent(part.stimulus, _plan(part), part.events.serialize(), part.label, part.path)


def waves(weights: list[int], at_least: int) -> Iterator[slice]:
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


def _assembled(blocks: dict[int, Block], size: int) -> Summed:
    """Return the blocks as one vector; those that nobody sent are zero."""
    observers = blocks.pop(COUNT, np.zeros(1, dtype=np.int64))
    total = np.zeros(size, dtype=np.int64)
    for key, block in blocks.items():
        start = (key - 1) * BLOCK
        total[start : start + len(block)] = block
    return Summed(total, int(observers[0]))
