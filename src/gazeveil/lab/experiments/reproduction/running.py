# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Runs measurements side by side, each in a process of its own: one that fails or dies is marked, the rest goes on."""

from __future__ import annotations

import math
import os
import time
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Final

from gazeveil.arrays import Tell, one_thread, silent
from gazeveil.errors import GazeveilError
from gazeveil.lab.experiments.reproduction.finding import Finding, Job

ONE_THREAD: Final = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


@dataclass(frozen=True, slots=True)
class Part:
    """A measurement and the figures that come out of it.

    Attributes:
        job: What measures; importable, so that another process can run it.
        paper: Authors and year.
        figures: Titles by name, in the order of the paper.
    """

    job: Job
    paper: str
    figures: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class _Running:
    part: Part
    process: BaseProcess
    answer: Connection
    began: float


def run(
    parts: Sequence[Part],
    data: Path | None,
    *,
    quick: bool = False,
    workers: int = 2,
    limit_s: float = math.inf,
    tell: Tell = silent,
) -> list[Finding]:
    """Measure all parts; a part that fails gives findings that say why.

    Args:
        parts: What to measure; the first are begun first.
        data: The folder of data sets, or None.
        quick: Measure on less.
        workers: How many processes at a time.
        limit_s: Seconds after which a part is ended and marked.
        tell: Called with how many parts are done.
    """
    found: dict[str, Finding] = {}
    for done, (part, findings) in enumerate(_finished(parts, data, quick, workers, limit_s), start=1):
        found |= {one.name: one for one in findings}
        found |= {
            name: failed(part, name, "the measurement had no such figure") for name in part.figures if name not in found
        }
        tell(done, len(parts))
    return [found[name] for part in parts for name in part.figures]


def failed(part: Part, name: str, error: str) -> Finding:
    """Return the marked row of a figure that could not be measured."""
    return Finding(name, part.paper, part.figures[name], "none", (), error=error)


def _finished(
    parts: Sequence[Part], data: Path | None, quick: bool, workers: int, limit_s: float
) -> Iterator[tuple[Part, list[Finding]]]:
    waiting, running = list(parts), list[_Running]()
    try:
        while waiting or running:
            while waiting and len(running) < workers:
                running.append(_start(waiting.pop(0), data, quick))
            left = min(one.began + limit_s for one in running) - time.monotonic()
            ready = wait([one.answer for one in running], None if math.isinf(left) else max(0.0, left))
            for one in [one for one in running if one.answer in ready or time.monotonic() - one.began >= limit_s]:
                running.remove(one)
                yield one.part, _answer(one, limit_s)
    finally:
        for one in running:
            one.process.terminate()
            one.process.join()


def _start(part: Part, data: Path | None, quick: bool) -> _Running:
    context = get_context("spawn")
    answer, question = context.Pipe(duplex=False)
    process = context.Process(target=_work, args=(part.job, data, quick, question), daemon=True)
    with _one_thread_each():
        process.start()
    question.close()
    return _Running(part, process, answer, time.monotonic())


def _answer(one: _Running, limit_s: float) -> list[Finding]:
    try:
        result: list[Finding] | str = one.answer.recv() if one.answer.poll() else f"it took more than {limit_s:g} s"
    except EOFError:
        result = "its process died"
    one.process.terminate()
    one.process.join()
    one.answer.close()
    if isinstance(result, str):
        return [failed(one.part, name, result) for name in one.part.figures]
    return result


def _work(job: Job, data: Path | None, quick: bool, question: Connection) -> None:
    question.send(measured(job, data, quick))
    question.close()


def measured(job: Job, data: Path | None, quick: bool) -> list[Finding] | str:
    """Return what a job finds, or why it failed."""
    wall, cpu = time.perf_counter(), time.process_time()
    try:
        with one_thread():
            found = job(data, quick=quick)
    except GazeveilError as error:
        return f"{type(error).__name__}: {error.message}"
    except Exception as error:  # noqa: BLE001  (one figure must not take the others with it)
        last = traceback.extract_tb(error.__traceback__)[-1]
        return f"{type(error).__name__}: {error} ({Path(last.filename).name}, line {last.lineno})"
    wall_s, cpu_s = time.perf_counter() - wall, time.process_time() - cpu
    return [replace(one, wall_s=wall_s, cpu_s=cpu_s) for one in found]


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
