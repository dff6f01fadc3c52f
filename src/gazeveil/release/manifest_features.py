# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""``[features]`` of ``study.toml``: what is declared about a table of features that was made elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gazeveil.errors import GazeveilError
from gazeveil.features.external_tables import ForeignFeatures
from gazeveil.features.ranges import Range, Ranges
from gazeveil.toml_table import Table, told

MOST_ROWS = 1_000_000
_COLUMNS = ("participant", "stimulus", "session", "order")
_EXPECTED = "a range: [low, high], or { low = …, high = …, log = true }"


def features_in(table: Table) -> ForeignFeatures:
    """Return what the table ``[features]`` declares.

    Raises:
        FileFormatError: If it declares something else.
    """
    ranges = table.table("ranges", expected="the range of every feature: a table [features.ranges]")
    found = {name: _range(ranges, name) for name in ranges.values}
    ranges.done()
    columns = {key: table.text(key, "") for key in _COLUMNS if key in table}
    more = {key: table.text(key, "") for key in ("source", "learnt_from")}
    rows = table.whole("rows", 1, MOST_ROWS, 1)
    table.done()
    try:
        return ForeignFeatures(declared=Ranges.of(found), rows=rows, **columns, **more)
    except GazeveilError as error:
        raise table.file.because(table.where, "a table of features", error) from None


def features_text(features: ForeignFeatures, section: Callable[..., str]) -> list[str]:
    """Return the tables that declare it, each written by ``section(name, values)``."""
    columns = {key: value for key in _COLUMNS if (value := getattr(features, key))}
    more = {key: value for key in ("source", "learnt_from") if (value := getattr(features, key))}
    ranges = {name: _written(item) for name, item in features.declared}
    return [section("features", {**columns, "rows": features.rows, **more}), section("features.ranges", ranges)]


def _range(ranges: Table, name: str) -> Range:
    value = ranges.any(name)
    if isinstance(value, list):
        if len(value) != 2:
            raise ranges.wrong(name, _EXPECTED, told(value))
        value = {"low": value[0], "high": value[1]}
    if not isinstance(value, dict) or not {"low", "high"} <= value.keys() <= {"low", "high", "log", "why"}:
        raise ranges.wrong(name, _EXPECTED, told(value))
    numbers = all(isinstance(value[end], int | float) and not isinstance(value[end], bool) for end in ("low", "high"))
    log, why = value.get("log", False), value.get("why", "")
    if not numbers or not isinstance(log, bool) or not isinstance(why, str):
        raise ranges.wrong(name, _EXPECTED, told(value))
    try:
        return Range(float(value["low"]), float(value["high"]), why, log)
    except GazeveilError as error:
        raise ranges.because(name, _EXPECTED, error) from None


def _written(item: Range) -> list[float] | dict[str, Any]:
    if not item.log and not item.why:
        return [item.low, item.high]
    more: dict[str, Any] = {"log": True} if item.log else {}
    return {"low": item.low, "high": item.high, **more, **({"why": item.why} if item.why else {})}
