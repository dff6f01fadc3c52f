# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The one runner of all that is measured: cases in, results out, in some processes, under a time limit.

A case that breaks, hangs or dies is marked, and the others go on. With a store, every result is kept the moment it is
there, each in a file that is there whole or not at all: a run that was killed, even by ``kill -9``, goes on from there
when it is started again, and what has the same digest is never computed twice.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Any

from gazeveil.arrays import Tell, one_thread
from gazeveil.errors import GazeveilError
from gazeveil.files import replacing
from gazeveil.lab.bench.processes import Done, in_processes, in_short

FORM = 2
"""Of what a stored result looks like; others are computed again."""


@dataclass(frozen=True, slots=True)
class Case:
    """What one process does at a time.

    Attributes:
        name: What progress and errors call it; no two cases of a run without digests have the same.
        job: What is measured, as a value that can be sent to another process.
        group: Cases of one group go to one process, which keeps what they share.
        kind: Cases of one kind take alike long.
        digest: Of all that decides the result; empty if it is not stored.
        about: What a stored result says of itself, for whoever opens its file.
    """

    name: str
    job: Any
    group: Hashable = ""
    kind: Hashable = ""
    digest: str = ""
    about: Mapping[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """What tells it from the other cases of a run."""
        return self.digest or self.name


@dataclass(frozen=True, slots=True, eq=False)
class Result:
    """What came out of a case.

    Attributes:
        answer: What was measured; None if it broke. What is stored is of plain values.
        error: Why it broke; empty if it did not.
        seconds: How long it took.
    """

    answer: Any
    error: str = ""
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is.

    Attributes:
        done: Cases that are done, those of earlier runs included.
        total: Cases there are.
        reused: Cases of earlier runs.
        broken: Cases that broke.
        left_s: How long the rest may take; None where that is not known yet.
        last: What was done last.
    """

    done: int
    total: int
    reused: int
    broken: int
    left_s: float | None
    last: str = ""


Follow = Callable[[Progress], None]


class ResultStore:
    """Results by digest, one file each."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def get(self, digest: str) -> Result | None:
        """Return what a case found; None if it is not done, or its file is damaged."""
        try:
            found = json.loads((self.folder / f"{digest}.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        if not isinstance(found, dict) or found.get("form") != FORM:
            return None
        return Result(found["answer"], found["error"], found["seconds"])

    def put(self, case: Case, result: Result) -> None:
        """Keep what a case found."""
        found = {"form": FORM, **case.about, "answer": result.answer, "error": result.error, "seconds": result.seconds}
        with replacing(self.folder / f"{case.digest}.json") as temporary:
            temporary.write_text(json.dumps(found, ensure_ascii=False, indent=1), encoding="utf-8", newline="\n")


def run(
    cases: Sequence[Case],
    measure: Callable[[Any, Any], Any],
    shared: Any = None,
    *,
    store: ResultStore | None = None,
    workers: int = 1,
    limit_s: float = math.inf,
    retry: bool = False,
    strict: bool = False,
    follow: Follow = lambda _: None,
) -> dict[str, Result]:
    """Measure all cases that are not in the store yet, and return the results of all by their keys.

    Args:
        cases: What to measure; the first are begun first.
        measure: What does it: ``measure(shared, case.job)``. With workers it must be importable.
        shared: What all cases share; sent to each process once.
        store: What keeps results of cases with a digest.
        workers: How many processes; with 0 all is done in this one, without a time limit.
        limit_s: How long a case may take.
        retry: Whether cases that broke before are tried again.
        strict: Whether a case that breaks in this very process ends the run, with its own error.
        follow: Called after every case with the progress.
    """
    each = {case.key: case for case in cases}
    found: dict[str, Result] = {}
    for key, case in each.items():
        before = store.get(case.digest) if store is not None and case.digest else None
        if before is not None and not (retry and before.error):
            found[key] = before
    todo = [case for key, case in each.items() if key not in found]
    clock = _Clock(each, found, max(workers, 1))
    follow(clock.now())
    for done in _ended(todo, measure, shared, workers, limit_s, strict):
        found[done.job.key] = result = Result(done.answer, done.error, done.seconds)
        if store is not None and done.job.digest:
            store.put(done.job, result)
        follow(clock.now(done))
    return {key: found[key] for key in each}


def answers(
    cases: Sequence[Case],
    measure: Callable[[Any, Any], Any],
    shared: Any = None,
    *,
    store: ResultStore | None = None,
    workers: int = 0,
    tell: Tell | None = None,
) -> list[Any]:
    """Return what all cases give, where a result without one of them is worth nothing.

    Raises:
        GazeveilError: If a case broke in another process; what broke in this one raises its own error.
    """

    def follow(now: Progress) -> None:
        if tell is not None and now.done:
            tell(now.done, now.total)

    found = run(cases, measure, shared, store=store, workers=workers, retry=True, strict=True, follow=follow)
    for case in cases:
        if error := found[case.key].error:
            raise GazeveilError(f"{case.name} could not be measured: {error}")
    return [found[case.key].answer for case in cases]


def _measured(setting: tuple[Callable[[Any, Any], Any], Any], case: Case) -> Any:
    measure, shared = setting
    with one_thread():
        return measure(shared, case.job)


def _ended(
    todo: Sequence[Case],
    measure: Callable[[Any, Any], Any],
    shared: Any,
    workers: int,
    limit_s: float,
    strict: bool,
) -> Iterator[Done[Case]]:
    if workers:
        yield from in_processes(
            todo, _measured, (measure, shared), workers=workers, limit_s=limit_s, group=lambda case: case.group
        )
        return
    for case in sorted(todo, key=lambda case: str(case.group)):
        begun = time.monotonic()
        try:
            answer, error = _measured((measure, shared), case), ""
        except Exception as problem:
            if strict:
                raise
            answer, error = None, in_short(problem)
        yield Done(case, answer, error, time.monotonic() - begun)


class _Clock:
    """How far a run is, and how long the rest takes: as long as cases of the same kind took."""

    def __init__(self, cases: Mapping[str, Case], found: Mapping[str, Result], workers: int) -> None:
        self._left = {key: case for key, case in cases.items() if key not in found}
        self._total, self._reused, self._workers = len(cases), len(found), workers
        self._broken = sum(bool(one.error) for one in found.values())
        self._took: dict[Hashable, list[float]] = {}
        for key, one in found.items():
            self._took.setdefault(cases[key].kind, []).append(one.seconds)

    def now(self, done: Done[Case] | None = None) -> Progress:
        if done is not None:
            self._left.pop(done.job.key)
            self._took.setdefault(done.job.kind, []).append(done.seconds)
            self._broken += bool(done.error)
        every = [seconds for took in self._took.values() for seconds in took]
        rest: float | None = None
        if every:
            usual = fmean(every)
            each = {kind: fmean(took) for kind, took in self._took.items()}
            rest = sum(each.get(case.kind, usual) for case in self._left.values()) / self._workers
        name = "" if done is None else done.job.name
        return Progress(self._total - len(self._left), self._total, self._reused, self._broken, rest, name)
