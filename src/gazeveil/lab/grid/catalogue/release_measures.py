# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Measures of releases: membership, reconstruction, and what is left of heatmaps and feature series.

Beside each stands what a map gives that needs no data: the prior.

On heatmaps of the first scene, and on all released feature series together.

Success is the correlation of the guess with the participant's own map; guessing is the mean of the others, whom the
attacker knows without any release.

Attackers are trained on released series. Who a participant is, is asked of one document or session after training on
the others; the group, of a participant who was not trained on. What is left is every metric of `SERIES_METRICS`, and
``task``: how often the kind of document is told right.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache, partial
from typing import Any, Final

import numpy as np

from gazeveil import PrivateHeatmap
from gazeveil.aggregate.engine import Engine
from gazeveil.arrays import FloatArray
from gazeveil.errors import InputError
from gazeveil.lab.as_published.liu_maps import UnprotectedLiuMap
from gazeveil.lab.attacks.release_attacks import left_over_of_selection
from gazeveil.lab.bench.experiment import Row, mean_over
from gazeveil.lab.experiments.dataset_attacks import (
    TARGETS,
    Product,
    as_heatmap,
    attack,
    own_numbers,
    planned,
    recovered,
    released_of,
    subtracted,
    world_of,
)
from gazeveil.lab.experiments.feature_series import LEARNERS, Told, identified, told_of_strangers
from gazeveil.lab.grid.contract import Answer, DoesNotApply, Family, Protected, Question
from gazeveil.lab.grid.data import MapData, SeriesData, released_series
from gazeveil.lab.utility.releases import MAP_METRICS, SERIES_METRICS
from gazeveil.noise import NoiseSource


class Maps(Family):
    """All metrics of maps."""

    uses = frozenset({"heatmap"})
    role = "utility"

    def names(self) -> list[str]:
        """Return the metrics."""
        return MAP_METRICS.names()

    def question(self, name: str, options: Mapping[str, Any]) -> Question:
        """Return a metric."""
        return Question("", partial(_left_of_maps, name), (MAP_METRICS[name],))


def _left_of_maps(name: str, data: MapData, protected: Protected, seed: int, engine: Engine) -> Answer:
    where: Any = engine
    metric, truths = MAP_METRICS[name], _truths(data, where)
    maps = _maps(data, protected, seed, where)
    values = [metric(found, truth) for found, truth in zip(maps, truths, strict=True)]
    floor, ideal = (
        float(np.nanmean([metric(given, truth) for given, truth in zip(those, truths, strict=True)]))
        for those in ([data.prior] * len(truths), truths)
    )
    scenes = [str(number) for number in range(len(values))]
    return Answer((mean_over(name, scenes, values, seed, chance=floor, ideal=ideal),))


@lru_cache(maxsize=4)
def _maps(data: MapData, protected: Protected, seed: int, engine: Engine) -> list[FloatArray]:
    return [data.released(protected.mechanism, scene, seed, engine) for scene in range(len(data.scenes))]


@lru_cache(maxsize=2)
def _truths(data: MapData, engine: Engine) -> list[FloatArray]:
    return [data.released(data.cells(), scene, 0, engine) for scene in range(len(data.scenes))]


# --- Was it this participant's data? ``membership``, by the attacker of the definition, who knows all others.


_MEMBERSHIP = "membership"
_RELEASES = 100
_FEW = 12
"""Of how many participants series are released; more would add noise of others, which says nothing about the target."""


class Membership(Family):
    """The attack, on a typical target or an extreme one."""

    uses = frozenset({"heatmap", "features"})
    role = "attack"
    options = ("releases", "target")

    def names(self) -> list[str]:
        """Return its name."""
        return [_MEMBERSHIP]

    def question(self, name: str, options: Mapping[str, Any]) -> Question:
        """Return it; ``releases`` are judged with and without the ``target``, who is typical or extreme."""
        releases, target = int(options.get("releases", _RELEASES)), str(options.get("target", TARGETS[0]))
        return Question("membership", partial(_found, releases, target), (attack, released_series))


def _found(
    releases: int, target: str, data: MapData | SeriesData, protected: Protected, seed: int, engine: Engine
) -> Answer:
    del engine
    product = _of_map(target, data, protected) if isinstance(data, MapData) else _of_series(target, data, protected)
    found = attack(product, releases, seed)
    return Answer(tuple(found.rows()), "all other participants' data, and both candidates")


def _of_map(target: str, data: MapData, protected: Protected) -> Product:
    people, another = data.recordings()
    world = world_of([*people, another], target)
    return planned("map", "map", world.study.plan(protected.mechanism), world)


def _of_series(target: str, data: SeriesData, protected: Protected) -> Product:
    """Return series of a few participants, with the target among them or another participant instead."""
    first = data.tasks == data.tasks[0]
    inside = np.array(data.series[first][: _FEW + 1])
    another = inside[-1] if target == TARGETS[0] else np.full_like(inside[-1], 1.0)
    inside = inside[:-1]
    outside = np.array(inside)
    outside[0] = another

    def released(values: FloatArray, noise: NoiseSource) -> FloatArray:
        return np.asarray(data.perturbed(protected, values, noise)).ravel()

    return Product("series", "series", protected.guarantee, inside, outside, released)


# --- What did one participant look at? ``reconstruction``: all others are known, and what is left of the map is theirs.


_RECONSTRUCTION = "reconstruction"
_REPEATS = 5


class Reconstruction(Family):
    """The attack on the first scene, everyone in turn."""

    uses = frozenset({"heatmap"})
    role = "attack"
    options = ("releases",)

    def names(self) -> list[str]:
        """Return its name."""
        return [_RECONSTRUCTION]

    def question(self, name: str, options: Mapping[str, Any]) -> Question:
        """Return it, on this many ``releases``."""
        ask = partial(_got_back, int(options.get("releases", _REPEATS)))
        return Question("reconstruction", ask, (recovered, as_heatmap))


def _got_back(releases: int, data: MapData, protected: Protected, seed: int, engine: Engine) -> Answer:
    del engine
    people, _ = data.recordings()
    mechanism: Any = protected.mechanism
    guess = subtracted(len(people))
    if isinstance(mechanism, PrivateHeatmap):
        cells = data.cells()
        own = own_numbers(people, lambda one: as_heatmap(released_of(one, cells), cells))
    else:
        cap = mechanism.cap
        counts = UnprotectedLiuMap(columns=mechanism.columns, rows=mechanism.rows, cap=cap)
        own = own_numbers(people, lambda one: released_of(one, counts))
        if (selected := getattr(mechanism, "selected", None)) is not None:

            def of_selection(mean: FloatArray, others: FloatArray) -> FloatArray | None:
                return left_over_of_selection(mean, selected, others)

            guess = of_selection
    found = recovered("map", "map", mechanism, people, own, guess, releases, seed)
    return Answer(tuple(found), "all other participants' data")


# --- Released feature series: who a participant is (``nearest``, ``svm``, ``forest``), their group, and what is left.


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
        return Question("", partial(_left_of_series, name), (SERIES_METRICS[name], released_series))


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


def _left_of_series(name: str, data: SeriesData, protected: Protected, seed: int, engine: Engine) -> Answer:
    del engine
    metric, released = SERIES_METRICS[name], released_series(data, protected, seed)
    public = np.broadcast_to(data.design.mean, data.series.shape[1:])
    values = [metric(true, found) for true, found in zip(data.series, released, strict=True)]
    floor = float(np.mean([metric(true, public) for true in data.series]))
    ideal = float(np.mean([metric(true, true) for true in data.series]))
    people = [str(person) for person in data.people.tolist()]
    return Answer((mean_over(name, people, values, seed, chance=floor, ideal=ideal),))


def _numbers(metric: str, told: list[Told], seed: int, chance: float, ideal: float = np.nan) -> tuple[Row, ...]:
    people = [str(one.person) for one in told]
    return (
        mean_over(metric, people, [one.voted for one in told], seed, chance=chance, ideal=ideal),
        mean_over(f"{metric}, by single windows", people, [one.windows for one in told], seed, chance=chance),
    )
