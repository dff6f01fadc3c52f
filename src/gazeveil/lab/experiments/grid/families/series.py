# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Released feature series: who a participant is (``nearest``, ``svm``, ``forest``), their group, and what is left.

Attackers are trained on released series. Who a participant is, is asked of one document or session after training on
the others; the group, of a participant who was not trained on. What is left is every metric of `SERIES_METRICS`, and
``task``: how often the kind of document is told right.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache, partial
from typing import Any, Final

import numpy as np

from gazeveil.aggregate.engine import Engine
from gazeveil.errors import InputError
from gazeveil.lab.experiments.bozkir.classes import LEARNERS, Told, identified, told_of_strangers
from gazeveil.lab.experiments.grid.contract import FAMILIES, Answer, DoesNotApply, Family, Number, Protected, Question
from gazeveil.lab.experiments.grid.released import over_people
from gazeveil.lab.experiments.grid.series_data import SeriesData, released_series
from gazeveil.lab.utility.series import SERIES_METRICS

_GROUP: Final = "trait:group"
_TASK: Final = "task"


class SeriesAttacks(Family):
    """Identity and group."""

    uses = frozenset({"features"})
    role = "attack"

    def names(self) -> list[str]:
        """Return the learners, and the question for the group."""
        return [*LEARNERS, _GROUP]

    def question(self, name: str, options: Mapping[str, Any]) -> Question:
        """Return one of them."""
        if name == _GROUP:
            return Question("attribute", _group, (told_of_strangers, released_series))
        return Question("reidentification", partial(_identified, name), (identified, released_series))


class SeriesLeft(Family):
    """All metrics of series, and the kind of document."""

    uses = frozenset({"features"})
    role = "utility"

    def names(self) -> list[str]:
        """Return the metrics."""
        return [*SERIES_METRICS.names(), _TASK]

    def question(self, name: str, options: Mapping[str, Any]) -> Question:
        """Return a metric."""
        if name == _TASK:
            return Question("", _task, (told_of_strangers, released_series))
        return Question("", partial(_left, name), (SERIES_METRICS[name], released_series))


def _identified(learner: str, data: SeriesData, protected: Protected, seed: int, engine: Engine) -> Answer:
    del engine
    try:
        told = identified(released_series(data, protected, seed), data.people, data.tasks, learner)
    except InputError as error:
        raise DoesNotApply(error.message) from None
    numbers = _numbers("identified", told, seed, 1 / len(np.unique(data.people)))
    return Answer(numbers, f"released series of all participants in other {data.what}")


def _group(data: SeriesData, protected: Protected, seed: int, engine: Engine) -> Answer:
    del engine
    if data.groups is None:
        raise DoesNotApply("groups of these participants are not known")
    told = told_of_strangers(released_series(data, protected, seed), data.groups, data.people)
    numbers = _numbers("group inferred", told, seed, 1 / len(np.unique(data.groups)))
    return Answer(numbers, "released series and groups of other participants")


def _task(data: SeriesData, protected: Protected, seed: int, engine: Engine) -> Answer:
    del engine
    if data.what != "documents":
        raise DoesNotApply("there is nothing to tell apart but sessions")
    told = told_of_strangers(released_series(data, protected, seed), data.tasks, data.people)
    return Answer(_numbers(_TASK, told, seed, 1 / len(np.unique(data.tasks)), _task_in_raw(data)))


@lru_cache(maxsize=2)
def _task_in_raw(data: SeriesData) -> float:
    return float(np.mean([one.voted for one in told_of_strangers(data.series, data.tasks, data.people)]))


def _left(name: str, data: SeriesData, protected: Protected, seed: int, engine: Engine) -> Answer:
    del engine
    metric, released = SERIES_METRICS[name], released_series(data, protected, seed)
    public = np.broadcast_to(data.design.mean, data.series.shape[1:])
    values = [metric(true, found) for true, found in zip(data.series, released, strict=True)]
    floor = float(np.mean([metric(true, public) for true in data.series]))
    ideal = float(np.mean([metric(true, true) for true in data.series]))
    people = [str(person) for person in data.people.tolist()]
    return Answer((over_people(name, people, values, seed, chance=floor, ideal=ideal),))


def _numbers(metric: str, told: list[Told], seed: int, chance: float, ideal: float = np.nan) -> tuple[Number, ...]:
    people = [str(one.person) for one in told]
    return (
        over_people(metric, people, [one.voted for one in told], seed, chance=chance, ideal=ideal),
        over_people(f"{metric}, by single windows", people, [one.windows for one in told], seed, chance=chance),
    )


FAMILIES.register("series attacks")(SeriesAttacks())
FAMILIES.register("series left")(SeriesLeft())
