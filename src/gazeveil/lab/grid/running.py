# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Measuring the cells of a grid, each with its data and its mechanism, by the lab's runner."""

from __future__ import annotations

import importlib.util
import json
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from gazeveil.engines import engine_at
from gazeveil.errors import InputError
from gazeveil.lab.bench.runner import Follow, Result, ResultStore, run
from gazeveil.lab.grid.catalogue import USES
from gazeveil.lab.grid.cells import Cell, cells_of, source_of
from gazeveil.lab.grid.contract import Answer, DoesNotApply, Protected, Wanted
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


def run_cells(
    setting: Setting, out: Path, *, workers: int = 1, retry: bool = False, follow: Follow = lambda _: None
) -> list[tuple[Cell, Result]]:
    """Measure all cells that are not done yet, and return all with their results.

    Args:
        setting: What is asked, and where data are.
        out: The folder of the run.
        workers: How many processes; with 0 all is done in this one, without a time limit.
        retry: Whether cells that broke before are tried again.
        follow: Called after every cell with the progress.
    """
    cells = cells_of(setting.grid, setting.data, out)
    found = run(
        [cell.case for cell in cells],
        measured,
        setting,
        store=ResultStore(out / "cells"),
        workers=workers,
        limit_s=setting.grid.limit_s,
        retry=retry,
        follow=follow,
    )
    return [(cell, found[cell.digest]) for cell in cells]


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
        question = question_of(cell.use, cell.asked)
        answer: Answer = question.ask(data, protected, cell.seed, _engine(setting.engine))
    except DoesNotApply as error:
        return {"status": DOES_NOT_APPLY, "error": error.message, "rows": [], **about}
    rows = [row.to_dict() for row in answer.rows]
    return {"status": OK, "error": "", "threat": answer.threat, "rows": rows, **about}


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
