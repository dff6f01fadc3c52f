# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""An experiment is a value: which cases there are, what measures one of them, and how its rows are drawn.

Every experiment is run by the lab's runner and gives rows; `EXPERIMENTS` lists them by name. To add one, write its
functions into a module of `gazeveil.lab.experiments`, and its name into the table.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from gazeveil.arrays import Tell, silent
from gazeveil.errors import UnknownName, closest
from gazeveil.lab.bench.rows import Row, along, pivoted, select
from gazeveil.lab.bench.runner import Case, answers

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
