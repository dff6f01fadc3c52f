# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The tidy table of a grid: one row for each cell and metric, one row for a cell that broke."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

import polars as pl

from gazeveil import __version__
from gazeveil.errors import FileFormatError, InputError
from gazeveil.files import replacing
from gazeveil.lab.experiments.grid.cells import Cell, Kept
from gazeveil.privacy.guarantee import guarantee_from_dict

FILE: Final = "grid.parquet"
COLUMNS: Final[Mapping[str, Any]] = {
    "run": pl.String,
    "corpus": pl.String,
    "data": pl.String,
    "use": pl.String,
    "mechanism": pl.String,
    "level": pl.String,
    "strength": pl.Float64,
    "recipe": pl.String,
    "guarantee": pl.String,
    "proven": pl.Boolean,
    "epsilon": pl.Float64,
    "delta": pl.Float64,
    "protects": pl.String,
    "role": pl.String,
    "measure": pl.String,
    "harm": pl.String,
    "threat": pl.String,
    "metric": pl.String,
    "headline": pl.Boolean,
    "better": pl.String,
    "seed": pl.Int64,
    "value": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "n": pl.Int64,
    "chance": pl.Float64,
    "ideal": pl.Float64,
    "status": pl.String,
    "error": pl.String,
    "seconds": pl.Float64,
    "digest": pl.String,
    "corpus_digest": pl.String,
    "software": pl.String,
    "version": pl.String,
}
"""Columns and their types; docs/how-to/run-a-grid.md#the-grid says what each holds."""
KEY: Final = ("corpus", "use", "mechanism", "level", "role", "measure", "metric")
"""What tells one number from another, beside the seed."""


def table_of(run: str, cells: Iterable[Cell], kept: Kept) -> pl.DataFrame:
    """Return the table of all cells that are done."""
    rows = [row for cell in cells if (found := kept.get(cell.digest)) is not None for row in _rows(run, cell, found)]
    return pl.DataFrame(rows, schema=dict(COLUMNS), orient="row")


def write_table(table: pl.DataFrame, path: Path) -> None:
    """Write the table; it is there whole or not at all."""
    with replacing(path) as temporary:
        table.write_parquet(temporary, compression="zstd")


def read_table(path: Path) -> pl.DataFrame:
    """Read the table of a run, from its folder or its file.

    Raises:
        InputError: If it is not there.
        FileFormatError: If it is no such table.
    """
    file = path / FILE if path.is_dir() else path
    if not file.is_file():
        raise InputError(
            f"there is no {file}", hint="name the folder of a run: gazeveil lab experiment run grid.toml --out …"
        )
    try:
        table = pl.read_parquet(file)
        return table.select(pl.col(name).cast(kind) for name, kind in COLUMNS.items())
    except (pl.exceptions.PolarsError, OSError) as error:
        raise FileFormatError(file, expected="the table of a grid", found=str(error).splitlines()[0]) from None


def _rows(run: str, cell: Cell, found: Mapping[str, Any]) -> list[dict[str, Any]]:
    guarantee = guarantee_from_dict(found["guarantee"]) if "guarantee" in found else None
    numbers = {} if guarantee is None else {key: float(value) for key, value in guarantee.numbers().items()}
    shared = {
        "run": run,
        "corpus": Path(cell.corpus).name,
        "data": found.get("data", ""),
        "use": cell.use,
        "mechanism": cell.level.label,
        "level": cell.level.level,
        "strength": cell.level.strength,
        "recipe": json.dumps(found.get("recipe", {"mechanism": cell.level.wanted.name}), ensure_ascii=False),
        "guarantee": found.get("words", ""),
        "proven": guarantee is not None and guarantee.proven,
        "epsilon": numbers.get("epsilon"),
        "delta": numbers.get("delta"),
        "protects": guarantee.unit.in_words() if guarantee is not None and guarantee.proven else "",
        "role": cell.asked.role,
        "measure": cell.asked.label,
        "harm": cell.harm,
        "threat": found.get("threat", ""),
        "seed": cell.seed,
        "status": found["status"],
        "error": found["error"],
        "seconds": found.get("seconds", 0.0),
        "digest": cell.digest,
        "corpus_digest": cell.corpus_digest,
        "software": cell.software,
        "version": __version__,
    }
    if not found["numbers"]:
        return [shared | {"metric": "", "headline": True, "better": ""}]
    return [
        shared | number | {"headline": place == 0, "better": _better(cell.asked.role, number)}
        for place, number in enumerate(found["numbers"])
    ]


def _better(role: str, number: Mapping[str, Any]) -> str:
    """Return what the holder of data wishes: less for attackers; of a utility, as it is in data as they are."""
    if role == "attack":
        return "lower"
    ideal, chance = (math.nan if number[key] is None else number[key] for key in ("ideal", "chance"))
    return "lower" if ideal < chance else "higher"
