# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Running a grid: what is done already is not done again, and what breaks is marked and left behind.

Every cell is kept the moment it is done, each in a file that is there whole or not at all. A run that was killed, even
by ``kill -9``, goes on from there when it is started again.
"""

from __future__ import annotations

import importlib.util
import json
import math
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from statistics import fmean
from typing import Any

from gazeveil.arrays import one_thread
from gazeveil.engines import engine_at
from gazeveil.errors import InputError
from gazeveil.lab.bench.processes import Done, in_processes, in_short
from gazeveil.lab.grid.cells import Cell, Kept, cells_of, source_of
from gazeveil.lab.grid.contract import USES, Answer, DoesNotApply, Protected, Wanted
from gazeveil.lab.grid.grid_file import Grid, question_of

_PREFIX = "gazeveil_own_"


def load_code(files: Iterable[Path]) -> None:
    """Run files that register things; each once a process.

    Raises:
        InputError: If one is not there, or fails.
    """
    for file in files:
        name = f"{_PREFIX}{file.stem}"
        there = sys.modules.get(name)
        if there is not None and Path(str(there.__file__)) == file.resolve():
            continue
        spec = importlib.util.spec_from_file_location(name, file.resolve())
        if spec is None or spec.loader is None or not file.is_file():
            raise InputError(f"there is no Python file {file}", hint="name a file such as my_veil.py")
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module  # dataclasses and pickles look their module up by name
        try:
            spec.loader.exec_module(module)
        except Exception as error:
            del sys.modules[name]
            raise InputError(f"{file} cannot be run: {type(error).__name__}: {error}") from error


# --- Running a grid: what is done already is not done again, and what breaks is marked and left behind.


OK, BROKEN, DOES_NOT_APPLY = "ok", "broken", "does not apply"


@dataclass(frozen=True, slots=True)
class Setting:
    """What all cells of a run share.

    Attributes:
        grid: What is asked.
        data: The folder of data sets.
        engine: Where large corpora are worked on: ``local``, or the address of a Spark cluster.
    """

    grid: Grid
    data: Path | None = None
    engine: str = "local"


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is.

    Attributes:
        done: Cells that are done, those of earlier runs included.
        total: Cells there are.
        reused: Cells of earlier runs.
        broken: Cells that broke.
        left_s: How long the rest may take; None where that is not known yet.
        cell: What was done last.
    """

    done: int
    total: int
    reused: int
    broken: int
    left_s: float | None
    cell: str = ""


Follow = Callable[[Progress], None]


def run_cells(
    setting: Setting, out: Path, *, workers: int = 1, retry: bool = False, follow: Follow = lambda _: None
) -> tuple[list[Cell], Kept]:
    """Compute all cells that are not done yet.

    Args:
        setting: What is asked, and where data are.
        out: The folder of the run.
        workers: How many processes; with 0 all is done in this one, without a time limit.
        retry: Whether cells that broke before are tried again.
        follow: Called after every cell with the progress.
    """
    kept = Kept(out / "cells")
    cells = cells_of(setting.grid, setting.data, out)
    found = {cell.digest: kept.get(cell.digest) for cell in cells}
    again = {digest for digest, one in found.items() if one is None or (retry and one["status"] == BROKEN)}
    todo = list({cell.digest: cell for cell in cells if cell.digest in again}.values())
    clock = _Clock({cell.digest: cell for cell in cells}, found, again, max(workers, 1))
    follow(clock.now())
    for done in _ended(setting, todo, workers):
        broken = {"status": BROKEN, "error": done.error, "numbers": []}
        result: dict[str, Any] = broken if done.error else done.answer
        kept.put(done.job.digest, {**_about(done.job), **result, "seconds": done.seconds})
        follow(clock.now(done, result["status"]))
    return cells, kept


def _ended(setting: Setting, todo: Sequence[Cell], workers: int) -> Iterator[Done[Cell]]:
    if workers:
        limit_s = setting.grid.limit_s
        yield from in_processes(
            todo, measured, setting, workers=workers, limit_s=limit_s, group=lambda cell: cell.group
        )
        return
    for cell in sorted(todo, key=lambda cell: str(cell.group)):
        begun = time.monotonic()
        try:
            answer, error = measured(setting, cell), ""
        except Exception as problem:  # noqa: BLE001  (a cell may break in any way; the run goes on)
            answer, error = None, in_short(problem)
        yield Done(cell, answer, error, time.monotonic() - begun)


def measured(setting: Setting, cell: Cell) -> dict[str, Any]:
    """Measure one cell, and return what it found as plain values."""
    load_code(setting.grid.code)
    data = _data(setting.grid, cell.part, setting.data)
    protected = _made(data, cell.use, _key(cell))
    about = {
        "recipe": json.loads(json.dumps(dict(protected.recipe), default=str)),
        "guarantee": protected.guarantee.to_dict(),
        "words": str(protected.guarantee),
        "data": data.words,
    }
    try:
        with one_thread():
            question = question_of(cell.use, cell.asked)
            answer: Answer = question.ask(data, protected, cell.seed, _engine(setting.engine))
    except DoesNotApply as error:
        return {"status": DOES_NOT_APPLY, "error": error.message, "numbers": [], **about}
    numbers = [{key: _plain(value) for key, value in asdict(number).items()} for number in answer.numbers]
    return {"status": OK, "error": "", "threat": answer.threat, "numbers": numbers, **about}


# The data of the latest parts and their mechanisms are kept by each process: most cells share them.
_gathered: dict[tuple[str, int], Any] = {}


def _data(grid: Grid, part: int, data: Path | None) -> Any:
    key = (grid.text, part)
    if key not in _gathered:
        while len(_gathered) > 1:
            _gathered.pop(next(iter(_gathered)))
        asked = grid.parts[part]
        _gathered[key] = source_of(asked).load(data, **asked.options)
    return _gathered[key]


def _key(cell: Cell) -> str:
    return json.dumps([cell.level.wanted.name, dict(cell.level.wanted.parameters)], default=str)


@lru_cache(maxsize=64)
def _made(data: Any, use: str, key: str) -> Protected:
    """Return a mechanism for some data; the same object as long as it is kept, so that what it released is found."""
    name, parameters = json.loads(key)
    return USES[use].make(Wanted(name, parameters), data)


@lru_cache(maxsize=1)
def _engine(address: str) -> Any:
    return engine_at(address)


def _about(cell: Cell) -> dict[str, Any]:
    """Return what a kept cell says of itself, for whoever opens its file."""
    return {
        "use": cell.use,
        "corpus": cell.corpus,
        "mechanism": [cell.level.wanted.name, dict(cell.level.wanted.parameters)],
        "measure": cell.asked.label,
        "seed": cell.seed,
        "corpus_digest": cell.corpus_digest,
        "software": cell.software,
    }


def _plain(value: Any) -> Any:
    value = value.item() if hasattr(value, "item") else value
    return None if isinstance(value, float) and not math.isfinite(value) else value


class _Clock:
    """How far a run is, and how long the rest takes: as long as cells of the same measure took on the same data."""

    def __init__(self, cells: Mapping[str, Cell], found: Mapping[str, Any], again: set[str], workers: int) -> None:
        self._left = {digest: cells[digest] for digest in again}
        self._total, self._reused, self._workers = len(cells), len(cells) - len(again), workers
        self._broken = sum(
            one is not None and one["status"] == BROKEN for key, one in found.items() if key not in again
        )
        self._took: dict[tuple[int, str], list[float]] = {}
        for digest, one in found.items():
            if one is not None and digest not in again:
                self._took.setdefault(_kind(cells[digest]), []).append(float(one.get("seconds", 0.0)))

    def now(self, done: Done[Cell] | None = None, status: str = OK) -> Progress:
        name = ""
        if done is not None:
            self._left.pop(done.job.digest, None)
            self._took.setdefault(_kind(done.job), []).append(done.seconds)
            self._broken += status == BROKEN
            level = f" {done.job.level.level}" if done.job.level.level else ""
            name = f"{done.job.level.label}{level}, {done.job.asked.label}, seed {done.job.seed}"
        every = [seconds for took in self._took.values() for seconds in took]
        rest: float | None = None
        if every:
            usual = fmean(every)
            each = {kind: fmean(took) for kind, took in self._took.items()}
            rest = sum(each.get(_kind(cell), usual) for cell in self._left.values()) / self._workers
        return Progress(self._total - len(self._left), self._total, self._reused, self._broken, rest, name)


def _kind(cell: Cell) -> tuple[int, str]:
    return cell.part, cell.asked.label
