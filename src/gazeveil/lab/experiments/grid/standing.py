# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Where each mechanism stands: its strongest measured attacker, what it leaves, and who wins at which level.

Measures are made comparable by two shares. An attacker's **success** is the way from guessing (0) to certainty (1).
What is **kept** of a use is the way from a release without any data (0) to data as they are (1); below 0, no data at
all would serve better. The strongest attacker is chosen after the fact, so its success is rather over- than
understated.
"""

from __future__ import annotations

from typing import Final

import polars as pl

from gazeveil.lab.experiments.grid.table import COLUMNS, KEY

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
