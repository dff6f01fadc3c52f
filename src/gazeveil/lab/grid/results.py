# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Results of a grid: the tidy table, where each mechanism stands, what changed between runs, and the packaged run.

Measures are made comparable by two shares. An attacker's **success** is the way from guessing (0) to certainty (1).
What is **kept** of a use is the way from a release without any data (0) to data as they are (1); below 0, no data at
all would serve better. The strongest attacker is chosen after the fact, so its success is rather over- than
understated.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

import polars as pl

from gazeveil import __version__
from gazeveil.errors import FileFormatError, InputError
from gazeveil.files import replacing
from gazeveil.lab.bench.runner import Result
from gazeveil.lab.grid.cells import Cell
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


def table_of(run: str, cells: Iterable[tuple[Cell, Result]]) -> pl.DataFrame:
    """Return the table of cells with their results."""
    rows = [row for cell, result in cells for row in _rows(run, cell, result)]
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


def _rows(run: str, cell: Cell, result: Result) -> list[dict[str, Any]]:
    found: dict[str, Any] = {"status": "broken", "error": result.error, "rows": []} if result.error else result.answer
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
        "seconds": result.seconds,
        "digest": cell.digest,
        "corpus_digest": cell.corpus_digest,
        "software": cell.software,
        "version": __version__,
    }
    if not found["rows"]:
        return [shared | {"metric": "", "headline": True, "better": ""}]
    return [
        shared
        | {name: row.get(name) for name in ("value", "low", "high", "n", "chance", "ideal")}
        | {"metric": row["what"], "headline": place == 0, "better": _better(cell.asked.role, row)}
        for place, row in enumerate(found["rows"])
    ]


def _better(role: str, row: Mapping[str, Any]) -> str:
    """Return what the holder of data wishes: less for attackers; of a utility, as it is in data as they are."""
    if role == "attack":
        return "lower"
    ideal, chance = (row.get(key, math.nan) for key in ("ideal", "chance"))
    return "lower" if ideal < chance else "higher"


# --- Where each mechanism stands: its strongest measured attacker, what it leaves, and who wins at which level.


HARMS: Final = ("reidentification", "linkage", "attribute", "membership", "reconstruction")
LIMITS: Final = (0.05, 0.1, 0.25, 0.5, 1.0)
"""Levels of privacy: how much success of the strongest attacker is accepted."""
_ROUNDING: Final = 1e-9
_PLACE: Final = ("corpus", "use", "mechanism", "level")
_ABOUT: Final = ("data", "strength", "recipe", "guarantee", "proven", "epsilon", "delta", "protects", "version")


def pooled(table: pl.DataFrame) -> pl.DataFrame:
    """Return the table with seeds taken together.

    The value is the mean over seeds. Its interval has the mean width of those of single seeds, which is over
    participants, and is wider where seeds scatter. ``seed`` then says how many seeds there are.
    """
    down, up = ((pl.col("value") - pl.col("low")), (pl.col("high") - pl.col("value")))
    scatter = pl.col("value").std(ddof=1).fill_null(0.0).pow(2) / pl.len()
    means = table.group_by(*KEY, maintain_order=True).agg(
        *(pl.col(name).first() for name in COLUMNS if name not in (*KEY, "seed", "value", "low", "high", "seconds")),
        pl.col("seed").n_unique().cast(pl.Int64),
        pl.col("value").mean().alias("value"),
        (pl.col("value").mean() - (down.mean().pow(2) + 4 * scatter).sqrt()).alias("low"),
        (pl.col("value").mean() + (up.mean().pow(2) + 4 * scatter).sqrt()).alias("high"),
        pl.col("seconds").sum(),
        pl.col("chance").mean().alias("mean chance"),
    )
    return means.with_columns(pl.col("mean chance").alias("chance")).select(list(COLUMNS))


def standings(table: pl.DataFrame) -> pl.DataFrame:
    """Return one row for each mechanism, level, harm and utility: the strongest attacker, and what is kept.

    Where a mechanism has no attack, or no utility, that measured anything, those columns are null.
    """
    good = pooled(table.filter((pl.col("status") == "ok") & pl.col("headline")))
    attacks = good.filter(pl.col("role") == "attack").with_columns(
        *(_success(name).alias(f"success_{name}") for name in ("low", "high")),
        _success("value").alias("success"),
    )
    ranked = attacks.sort("success", descending=True, nulls_last=True).group_by(*_PLACE, "harm", maintain_order=True)
    strongest = ranked.agg(
        pl.col("measure").first().alias("attack"),
        pl.col("threat").first(),
        pl.col("metric").first().alias("attack_metric"),
        pl.col("value").first().alias("attack_value"),
        pl.col("chance").first().alias("attack_chance"),
        pl.col("n").first().alias("attack_n"),
        pl.col("low").first().alias("attack_low"),
        pl.col("high").first().alias("attack_high"),
        *(pl.col(name).first() for name in ("success", "success_low", "success_high")),
        pl.col("measure").n_unique().alias("attacks_tried"),
    )
    left = good.filter(pl.col("role") == "utility").select(
        *_PLACE,
        pl.col("measure").alias("utility"),
        pl.col("value").alias("utility_value"),
        pl.col("n").alias("utility_n"),
        _kept("value").alias("kept"),
        pl.min_horizontal(_kept("low"), _kept("high")).alias("kept_low"),
        pl.when((pl.col("low") <= pl.col("ideal")) & (pl.col("high") >= pl.col("ideal")))
        .then(1.0)
        .otherwise(pl.max_horizontal(_kept("low"), _kept("high")))
        .alias("kept_high"),
    )
    about = good.group_by(*_PLACE, maintain_order=True).agg(*(pl.col(name).first() for name in _ABOUT))
    return about.join(strongest, on=_PLACE, how="left").join(left, on=_PLACE, how="left")


def winners(standing: pl.DataFrame) -> pl.DataFrame:
    """Return who keeps most among those whose strongest attacker succeeds no more than a limit.

    ``tied`` names those whose interval reaches the winner's value. ``standing`` is what `standings` gave.
    """
    rows = []
    there = standing.filter(pl.col("success").is_not_null() & pl.col("kept").is_not_null())
    for (corpus, use, harm, utility), own in there.group_by("corpus", "use", "harm", "utility", maintain_order=True):
        for limit in LIMITS:
            within = own.filter(pl.col("success") <= limit + _ROUNDING).sort("kept", descending=True)
            if not len(within):
                continue
            best = within.row(0, named=True)
            tied = within[1:].filter(pl.col("kept_high").fill_null(pl.col("kept")) >= best["kept"])
            rows.append(
                {
                    "corpus": corpus,
                    "use": use,
                    "harm": harm,
                    "utility": utility,
                    "limit": limit,
                    "winner": named(best["mechanism"], best["level"]),
                    "kept": best["kept"],
                    "kept_low": best["kept_low"],
                    "kept_high": best["kept_high"],
                    "success": best["success"],
                    "attack": best["attack"],
                    "proven": best["proven"],
                    "tied": ", ".join(named(one["mechanism"], one["level"]) for one in tied.iter_rows(named=True)),
                }
            )
    return pl.DataFrame(rows) if rows else pl.DataFrame(schema={"corpus": pl.String})


def named(mechanism: str, level: str) -> str:
    """Return a mechanism with its level in words."""
    return f"{mechanism} ({level})" if level else mechanism


def _success(name: str) -> pl.Expr:
    return ((pl.col(name) - pl.col("chance")) / (1 - pl.col("chance"))).clip(0.0, 1.0)


def _kept(name: str) -> pl.Expr:
    ideal, floor = pl.col("ideal"), pl.col("chance")
    return 1 - (pl.col(name) - ideal).abs() / (floor - ideal).abs()


# --- What changed between two runs: which numbers, by how much, and whether data, recipe or software did.


_ROW: Final = (*KEY, "seed")
_WHY: Final = {"corpus_digest": "data", "recipe": "recipe", "software": "software", "status": "status"}


@dataclass(frozen=True, slots=True, eq=False)
class Changes:
    """What is different.

    Attributes:
        same: How many numbers are the same in both.
        changed: Numbers that are not: both values, their difference, and what else changed.
        only_first: Numbers that only the first run has.
        only_second: Numbers that only the second has.
    """

    same: int
    changed: pl.DataFrame
    only_first: pl.DataFrame
    only_second: pl.DataFrame

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        return {
            "same": self.same,
            "changed": self.changed.to_dicts(),
            "only_first": self.only_first.to_dicts(),
            "only_second": self.only_second.to_dicts(),
        }


def compare(first: pl.DataFrame, second: pl.DataFrame, tolerance: float = 1e-12) -> Changes:
    """Compare two tables, number by number.

    Args:
        first: The table of one run.
        second: That of the other.
        tolerance: By how much a value may differ and still be the same, as a part of itself.
    """
    wanted = [*_ROW, "value", "low", "high", "error", *_WHY]
    both = first.select(wanted).join(second.select(wanted), on=_ROW, how="inner", suffix="_second", nulls_equal=True)
    close = (pl.col("value") - pl.col("value_second")).abs() <= tolerance * pl.col("value").abs().clip(1e-300)
    neither = pl.col("value").is_null() & pl.col("value_second").is_null()
    equal = (close.fill_null(False) | neither) & (pl.col("status") == pl.col("status_second"))
    causes = [
        pl.when(pl.col(column) != pl.col(f"{column}_second")).then(pl.lit(words)) for column, words in _WHY.items()
    ]
    inside = (pl.col("value_second") >= pl.col("low")) & (pl.col("value_second") <= pl.col("high"))
    changed = both.filter(~equal).select(
        *_ROW,
        "value",
        pl.col("value_second").alias("now"),
        (pl.col("value_second") - pl.col("value")).alias("difference"),
        inside.alias("within_interval"),
        pl.concat_list(causes).list.drop_nulls().list.join(", ").alias("because"),
        pl.col("error_second").alias("error"),
    )
    only = [one.join(other, on=_ROW, how="anti", nulls_equal=True).select(*_ROW, "value", "status")
            for one, other in ((first, second), (second, first))]  # fmt: skip
    ranked = changed.sort(pl.col("difference").abs(), descending=True, nulls_last=False)
    return Changes(len(both) - len(changed), ranked, only[0], only[1])


# --- The grid that comes with the package: measured once, on simulated participants and public data sets, seeds pooled.


PACKAGED: Final = Path(__file__).with_name("measured.parquet")
GRID: Final = Path(__file__).with_name("measured.toml")
"""What was asked."""


@cache
def measured() -> pl.DataFrame:
    """Return the packaged table, with the columns of a grid (`table.COLUMNS`); ``seed`` is how many seeds there are."""
    return read_table(PACKAGED)


def package(run: Path) -> None:
    """Make the result of a run the packaged one."""
    write_table(pooled(read_table(run)), PACKAGED)
