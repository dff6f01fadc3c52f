# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Stored measurements that advice rests on, asked for the strongest attack at a level.

A level that was not measured gets the nearest one that is no stronger, or a stronger one that was attacked with more
success; never a stronger one alone, which would flatter it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any, Final

import polars as pl

from gazeveil.errors import FileFormatError, GazeveilError
from gazeveil.lab import load
from gazeveil.lab.advice.answer import Harm, Success, Use
from gazeveil.lab.grid.results import PACKAGED, measured
from gazeveil.samples.identification import Identification, levels_apart
from gazeveil.samples.mechanism import SampleMechanism, mechanism_from_dict

EARLIER: Final = Path(__file__).with_name("earlier.json")
"""Attacks of `gazeveil lab experiment membership` and `attributes`, as on the page about other attacks."""

COLUMNS: Final[dict[str, Any]] = {
    **dict.fromkeys(
        ("use", "corpus", "data", "mechanism", "level", "recipe", "role", "measure", "harm", "threat"), pl.String
    ),
    **dict.fromkeys(("metric", "status"), pl.String),
    **dict.fromkeys(("proven", "headline"), pl.Boolean),
    **dict.fromkeys(("epsilon", "value", "low", "high", "chance"), pl.Float64),
    "n": pl.Int64,
}
"""What advice reads of a row of the grid."""


@cache
def measurements() -> pl.DataFrame:
    """Return all rows.

    Raises:
        FileFormatError: If a file is not what it should be.
    """
    try:
        rows = json.loads(EARLIER.read_text(encoding="utf-8"))["rows"]
        earlier = pl.DataFrame([{name: row[name] for name in COLUMNS} for row in rows], schema=COLUMNS)
    except (OSError, ValueError, KeyError, TypeError, pl.exceptions.PolarsError) as error:
        raise FileFormatError(EARLIER, expected="a table of measurements", found=str(error)) from None
    if not PACKAGED.is_file():
        return earlier
    return pl.concat([measured().select(list(COLUMNS)).cast(pl.Schema(COLUMNS)), earlier])


# --- Stored measurements of the grid, asked for the strongest attack at a level.


load()

NONE: Final = "none"
_SAME: Final = 1e-9

Distance = Callable[[Mapping[str, Any]], float | None]
"""How far below the wanted level a stored one is: 0 for the same, negative for a stronger one, None for another."""


def strongest(table: pl.DataFrame, use: Use, harm: Harm, distance: Distance) -> Success | None:
    """Return the strongest attack at a level; None if none was measured there or at a weaker one.

    Where a level was not measured, the nearest that is no stronger stands for it. If an attack did better behind a
    stronger level, that counts instead: what a stronger one does not stop, this one does not either.
    """
    rows = _attacks(table, use, harm)
    found = [(far, row) for row in rows if row["mechanism"] != NONE and (far := distance(row)) is not None]
    nearest = min((far for far, _ in found if far >= 0), default=None)
    if nearest is None:
        return None
    far, best = max(
        ((far, row) for far, row in found if far <= nearest),
        key=lambda pair: _success(pair[1]).strength,
    )
    alike = ("corpus", "measure", "metric")
    bare = [row["value"] for row in rows if row["mechanism"] == NONE and all(row[name] == best[name] for name in alike)]
    level = f"`{best['mechanism']}`" + (f" at {best['level']}" if best["level"] else "")
    other = "" if far == 0 else f", the nearest level measured that is {'no stronger' if far > 0 else 'stronger'}"
    where = f"{best['data'] or best['corpus']}, behind {level}{other}"
    return replace(_success(best), without=max(bare, default=None), where=where)


def by_epsilon(mechanisms: tuple[str, ...], epsilon: Fraction) -> Distance:
    """Return the distance of proven levels of some mechanisms from an ε."""

    def distance(row: Mapping[str, Any]) -> float | None:
        found = row["epsilon"]
        if row["mechanism"] not in mechanisms or not row["proven"] or not found:
            return None
        step = math.log(found / float(epsilon))
        return 0.0 if abs(step) < _SAME else step

    return distance


def by_level(wanted: SampleMechanism) -> Distance:
    """Return the distance of levels of the same stream mechanism: by ε, window and radius together.

    A level that is weaker in one number and stronger in another is of another kind.
    """

    def distance(row: Mapping[str, Any]) -> float | None:
        try:
            found = mechanism_from_dict(json.loads(row["recipe"]))
        except (GazeveilError, ValueError, KeyError, TypeError):  # a recipe of something else
            return None
        below, above = levels_apart(found, wanted), levels_apart(wanted, found)
        return below if below is not None else None if above is None else -above

    return distance


def of_identification(found: Identification) -> Success:
    """Return what the packaged table of identification says about a mechanism."""
    row = found.row
    behind = {
        "measured": "behind this mechanism at this level",
        "nearest": "behind the nearest level measured that is no stronger",
        "no veil": "from raw gaze: nothing nearer was measured",
    }[found.relation]
    attack = f"`{row.recogniser}`" + (f" with `{row.attack}`" if row.attack else "")
    return Success(
        attack=attack,
        threat=row.threat_model if row.attack else f"{row.known} of all participants",
        metric="accuracy",
        value=row.rate,
        low=row.interval[0],
        high=row.interval[1],
        chance=row.chance,
        without=None if found.bare is None else found.bare.rate,
        where=f"{row.data}, {row.seconds:g} s each, {behind}",
        mechanism="" if row.mechanism is None else row.mechanism.name,
    )


def stronger(one: Success | None, other: Success | None) -> Success | None:
    """Return the one that surely beats guessing where only one does, else the one that is further from it."""
    known = [each for each in (one, other) if each is not None]
    return max(known, key=lambda each: each.strength, default=None)


def _attacks(table: pl.DataFrame, use: Use, harm: Harm) -> list[dict[str, Any]]:
    kept = table.filter(
        (pl.col("use") == str(use))
        & (pl.col("role") == "attack")
        & (pl.col("harm") == str(harm))
        & pl.col("headline")
        & (pl.col("status") == "ok")
        & pl.col("value").is_not_null()
    )
    return kept.to_dicts()


def _success(row: Mapping[str, Any]) -> Success:
    return Success(
        attack=f"`{row['measure']}`",
        threat=row["threat"],
        metric=row["metric"],
        value=row["value"],
        low=_or(row["low"], row["value"]),
        high=_or(row["high"], row["value"]),
        chance=_or(row["chance"], 0.0),
        without=None,
        where="",
        mechanism=row["mechanism"],
    )


def _or(value: float | None, other: float) -> float:
    return other if value is None or math.isnan(value) else value
