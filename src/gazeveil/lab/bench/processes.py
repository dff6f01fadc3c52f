# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Processes that do jobs under a time limit: one that fails, hangs or dies costs its job and nothing else."""

from __future__ import annotations

import os
import time
import traceback
from collections import deque
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any, Final, Generic, NamedTuple, TypeVar

from gazeveil.errors import GazeveilError

Job = TypeVar("Job")

ONE_THREAD: Final = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
_OFTEN_S = 0.5
_TO_END_S = 5.0


class Done(NamedTuple, Generic[Job]):
    """A job that came to an end.

    Attributes:
        job: The job.
        answer: What it gave; None if it broke.
        error: Why it broke; empty if it did not.
        seconds: How long it took.
    """

    job: Job
    answer: Any
    error: str
    seconds: float


@dataclass(slots=True)
class _Worker(Generic[Job]):
    process: Any
    pipe: Connection
    job: Job | None = None
    group: Hashable = None
    since: float = 0.0


def in_processes(
    jobs: Sequence[Job],
    work: Callable[[Any, Job], Any],
    setting: Any,
    *,
    workers: int,
    limit_s: float,
    group: Callable[[Job], Hashable],
) -> Iterator[Done[Job]]:
    """Do all jobs in some processes, and yield each as it ends.

    Args:
        jobs: What to do; jobs of one group go to one process as long as there are other groups.
        work: What does a job: ``work(setting, job)``. It must be importable.
        setting: What all jobs share; sent to each process once.
        workers: How many processes.
        limit_s: How long a job may take; then its process is ended, and another takes its place.
        group: The group of a job.
    """
    waiting: dict[Hashable, deque[Job]] = {}
    for job in jobs:
        waiting.setdefault(group(job), deque()).append(job)
    at_work: list[_Worker[Job]] = [_start(work, setting) for _ in range(min(workers, len(jobs)))]
    try:
        for worker in at_work:
            _next(worker, waiting, at_work)
        while any(worker.job is not None for worker in at_work):
            ready = wait([worker.pipe for worker in at_work if worker.job is not None], timeout=_OFTEN_S)
            for place, worker in enumerate(at_work):
                busy_with = worker.job
                if busy_with is None:
                    continue
                late = time.monotonic() - worker.since > limit_s
                if worker.pipe not in ready and not late:
                    continue
                done = _finished(worker, busy_with, worker.pipe in ready, limit_s)
                if not worker.process.is_alive():
                    at_work[place] = _start(work, setting)
                _next(at_work[place], waiting, at_work)
                yield done
    finally:
        for worker in at_work:
            _end(worker)


def _finished(worker: _Worker[Job], job: Job, heard: bool, limit_s: float) -> Done[Job]:
    seconds, worker.job = time.monotonic() - worker.since, None
    if not heard:
        _end(worker)
        return Done(job, None, f"it took more than {limit_s:g} s and was ended", seconds)
    try:
        answer, error = worker.pipe.recv()
    except (EOFError, OSError):
        worker.process.join(_TO_END_S)
        code = worker.process.exitcode
        _end(worker)
        return Done(job, None, f"its process died (exit code {code}), perhaps for lack of memory", seconds)
    return Done(job, answer, error, seconds)


def _next(worker: _Worker[Job], waiting: dict[Hashable, deque[Job]], at_work: Sequence[_Worker[Job]]) -> None:
    """Give a worker a job: of its own group, else of one that nobody is at, else of the largest."""
    if worker.group not in waiting:
        taken = {other.group for other in at_work if other.job is not None}
        free = [name for name in waiting if name not in taken]
        if not waiting:
            return
        worker.group = free[0] if free else max(waiting, key=lambda name: len(waiting[name]))
    jobs = waiting[worker.group]
    worker.job, worker.since = jobs.popleft(), time.monotonic()
    if not jobs:
        del waiting[worker.group]
    worker.pipe.send(worker.job)


def _start(work: Callable[[Any, Job], Any], setting: Any) -> _Worker[Job]:
    # spawned, not forked: a forked child may inherit a lock that nobody will open
    context = get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(theirs, work, setting), daemon=True)
    with _one_thread_each():
        process.start()
    theirs.close()
    return _Worker(process, ours)


def _end(worker: _Worker[Job]) -> None:
    worker.pipe.close()
    if worker.process.is_alive():
        worker.process.kill()
    worker.process.join(_TO_END_S)


@contextmanager
def _one_thread_each() -> Iterator[None]:
    """Let processes that are started inside use one thread each: there are as many processes as cores."""
    before = {name: os.environ.get(name) for name in ONE_THREAD}
    os.environ.update(dict.fromkeys(ONE_THREAD, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def in_short(error: BaseException) -> str:
    """Return an error in one line; of one that nobody foresaw, also where it was raised."""
    if isinstance(error, GazeveilError):
        return " ".join(f"{type(error).__name__}: {error.message}".split())
    last = traceback.extract_tb(error.__traceback__)[-1]
    return " ".join(f"{type(error).__name__}: {error} ({Path(last.filename).name}, line {last.lineno})".split())


def _serve(pipe: Connection, work: Callable[[Any, Any], Any], setting: Any) -> None:
    while True:
        try:
            job = pipe.recv()
        except (EOFError, OSError):
            return  # whoever sent jobs is no more
        try:
            answer = work(setting, job), ""
        except Exception as error:  # noqa: BLE001  (whatever a job raises is told, and the next one is done)
            answer = None, in_short(error)
        try:
            pipe.send(answer)
        except OSError:
            return
