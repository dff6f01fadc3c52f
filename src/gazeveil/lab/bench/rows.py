# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The one row that every measurement gives: what was measured, its value with an interval, and what chance gives.

Rows of one experiment make one table: an axis each for where they were measured (mechanism, ε, attack, data …), and a
column each for what was measured.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from gazeveil.arrays import FloatArray
from gazeveil.lab.attacks.matching import interval, resampled_people

DRAWS = 1000
"""How often participants are resampled for an interval."""


@dataclass(frozen=True, slots=True)
class Row:
    """One number.

    Attributes:
        what: What was measured.
        value: The number.
        low: Lower end of its 95 % interval; NaN where there is none.
        high: Upper end.
        n: How many participants, scenes or releases the interval is over.
        chance: What guessing gives an attacker; for a utility, what is left by a release without any data.
        ideal: For a utility, what data as they are give.
        where: Where it was measured: mechanism, ε, attack, data, and what else was varied.
        note: What else must be known: what a mechanism guarantees, in words.
    """

    what: str
    value: float
    low: float = math.nan
    high: float = math.nan
    n: int = 0
    chance: float = math.nan
    ideal: float = math.nan
    where: Mapping[str, Any] = field(default_factory=dict)
    note: str = ""

    @property
    def interval(self) -> tuple[float, float]:
        """Both ends of the interval."""
        return self.low, self.high

    def to_dict(self) -> dict[str, Any]:
        """Return the row as plain values, where it was measured first; numbers that are not known are left out."""
        numbers = {one.name: _plain(getattr(self, one.name)) for one in fields(self) if one.name != "where"}
        return {**self.where, **{name: value for name, value in numbers.items() if value not in (None, "")}}


def _plain(value: Any) -> Any:
    value = value.item() if hasattr(value, "item") else value
    return None if isinstance(value, float) and not math.isfinite(value) else value


def mean_over(what: str, people: Sequence[str], values: Sequence[float], seed: int = 1, **more: Any) -> Row:
    """Return the mean over participants of their own means, and where it lies for participants resampled.

    Args:
        what: What was measured.
        people: Whose value each is.
        values: The values; those that are not numbers are left out.
        seed: From which participants are drawn.
        more: What else the row says.
    """
    own: dict[str, list[float]] = {}
    for person, value in zip(people, values, strict=True):
        if np.isfinite(value):
            own.setdefault(person, []).append(float(value))
    means: FloatArray = np.array([np.mean(own[person]) for person in sorted(own)])
    if not len(means):
        return Row(what, np.nan, n=0, **more)
    drawn = resampled_people(len(means), DRAWS, seed)
    low, high = interval(drawn @ means / len(means)) if len(means) > 1 else (np.nan, np.nan)
    return Row(what, float(means.mean()), low, high, len(means), **more)


def select(rows: Iterable[Row], **where: Any) -> list[Row]:
    """Return the rows that were measured there."""
    return [row for row in rows if all(row.where.get(key) == value for key, value in where.items())]


def along(rows: Iterable[Row], axis: str) -> list[Any]:
    """Return the values of an axis, in the order of the rows."""
    return list(dict.fromkeys(row.where[axis] for row in rows if axis in row.where))


def pivoted(rows: Sequence[Row], *, across: str = "") -> tuple[list[str], list[list[object]]]:
    """Return a table of rows: a line for each place, a column for each measure with its interval and chance.

    Args:
        rows: The rows.
        across: An axis whose values are columns, too.
    """
    axes = [axis for axis in dict.fromkeys(key for row in rows for key in row.where) if axis != across]
    lines: dict[tuple[object, ...], dict[str, object]] = {}
    columns: dict[str, None] = {}
    for row in rows:
        name = ", ".join(filter(None, (row.what, str(row.where.get(across, "")))))
        line = lines.setdefault(tuple(row.where.get(axis, "–") for axis in axes), {})
        line[name] = row.value
        if math.isfinite(row.low):
            line |= {f"{name} from": row.low, "to": row.high} if not across else {}
        if math.isfinite(row.chance):
            line["guessing"] = row.chance
        columns |= dict.fromkeys(line)
    return [*axes, *columns], [[*place, *(line.get(name, "–") for name in columns)] for place, line in lines.items()]
