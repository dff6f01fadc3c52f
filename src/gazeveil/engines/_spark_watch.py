# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Run one Spark job, tell how far it is, and end it when it cannot get anywhere."""

from __future__ import annotations

import re
import time
import uuid
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as NotYet
from typing import TYPE_CHECKING, TypeVar

from gazeveil.engines._spark_session import first_line
from gazeveil.errors import EngineError
from gazeveil.types import Tell

if TYPE_CHECKING:
    from pyspark import SparkContext

T = TypeVar("T")

LOOK_S = 0.2
_PYTHON_ERROR = re.compile(r"^((?:\w+\.)*(?:\w*(?:Error|Exception|Missing|Exceeded|Name)))(?:: (.*))?$", re.MULTILINE)


def watched(context: SparkContext, job: Callable[[], T], tasks: int, tell: Tell, patience_s: float) -> T:
    """Return what ``job`` returns, telling how many of its tasks are done.

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
            f"Spark could not finish the work: {_reason(error)}",
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
            outcome.exception(timeout=LOOK_S)
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
        if done > told:  # a stage that is repeated steps back; nobody is told of that
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


def _reason(error: Exception) -> str:
    """Return what a worker said last, without the stacks of two languages around it."""
    text = str(getattr(error, "java_exception", None) or error)
    for name, message in _PYTHON_ERROR.findall(text):
        if message and not message.endswith("(most recent call last):"):
            return f"{name.rsplit('.', 1)[-1]}: {message}"
    return first_line(Exception(text))
