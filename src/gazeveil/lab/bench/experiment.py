# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""An experiment and what it gives: rows with a value, its interval, and what guessing reaches.

Rows of one experiment make one table: an axis each for where they were measured (mechanism, ε, attack, data …), and a
column each for what was measured.

Every experiment is run by the lab's runner and gives rows; `EXPERIMENTS` lists them by name. To add one, write its
functions into a module of `gazeveil.lab.experiments`, and its name into the table.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Final

import numpy as np

from gazeveil.arrays import FloatArray, Tell, silent
from gazeveil.errors import UnknownName, closest
from gazeveil.lab.attacks.matching import interval, resampled_people
from gazeveil.lab.bench.runner import Case, answers

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


# --- An experiment is a value: which cases there are, what measures one of them, and how its rows are drawn.


Options = Mapping[str, Any]
"""What a run is about, by the names that the experiment knows: plain values, and paths."""
Where = Mapping[str, Any]
"""A place on the axes of an experiment: which set, which mechanism, which question."""


@dataclass(frozen=True, slots=True)
class Experiment:
    """An experiment.

    Attributes:
        name: What commands and files call it.
        title: What its tables show.
        cases: The places where something is measured; each is measured by itself.
        measure: What measures at one of them.
        picture: What draws the rows, as PNG; None if nothing does.
        facet: The axis that has a table for each of its values; all rows are one table if it is empty.
        shown: What tables show of what was measured; all if empty.
    """

    name: str
    title: str
    cases: Callable[[Options], Sequence[Where]]
    measure: Callable[[Options, Where], Sequence[Row]]
    picture: Callable[[Sequence[Row]], bytes] | None = None
    facet: str = ""
    shown: tuple[str, ...] = ()

    def run(self, options: Options, *, workers: int = 0, tell: Tell = silent) -> list[Row]:
        """Measure all cases.

        Args:
            options: What the run is about.
            workers: How many processes; with 0 all is done in this one.
            tell: Called with how many cases are done.
        """
        cases = [
            Case(", ".join(map(str, where.values())), where, group=str(next(iter(where.values()))))
            for where in self.cases(options)
        ]
        return [row for rows in answers(cases, self.measure, options, workers=workers, tell=tell) for row in rows]

    def tables(self, rows: Sequence[Row]) -> list[tuple[str, list[str], list[list[object]]]]:
        """Return titles, columns and lines of the tables of some rows."""
        rows = [row for row in rows if not self.shown or row.what in self.shown]
        if not self.facet:
            return [(self.title, *pivoted(rows))]
        return [
            (f"{value}: {self.title}", *pivoted(select(rows, **{self.facet: value})))
            for value in along(rows, self.facet)
        ]


EXPERIMENTS: Final[Mapping[str, str]] = {
    "attributes": "gazeveil.lab.experiments.attributes:BEHIND_MECHANISMS",
    "geometry": "gazeveil.lab.experiments.attributes:FROM_GEOMETRY",
    "heads": "gazeveil.lab.experiments.attributes:FROM_HEADS",
    "membership": "gazeveil.lab.experiments.dataset_attacks:MEMBERSHIP",
    "reconstruction": "gazeveil.lab.experiments.dataset_attacks:RECONSTRUCTION",
    "veils": "gazeveil.lab.experiments.stream_errors:BEHIND_PRESETS",
}
"""Experiments by name, each loaded on use."""


def experiment(name: str) -> Experiment:
    """Return an experiment.

    Raises:
        UnknownName: If there is none of this name.
    """
    if name not in EXPERIMENTS:
        raise UnknownName(f"no experiment is called {name!r}", hint=closest(name, EXPERIMENTS))
    module, _, attribute = EXPERIMENTS[name].partition(":")
    return getattr(importlib.import_module(module), attribute)  # type: ignore[no-any-return]
