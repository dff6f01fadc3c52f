# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Was it this participant's data? ``membership``, by the attacker of the definition, who knows all others.

On heatmaps of the first scene, and on all released feature series together.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from gazeveil.aggregate.engine import Engine
from gazeveil.arrays import FloatArray
from gazeveil.lab.experiments.dataset_attacks.membership import Found, attack
from gazeveil.lab.experiments.dataset_attacks.worlds import TARGETS, Product, planned, world_of
from gazeveil.lab.experiments.grid.contract import FAMILIES, Answer, Family, Number, Protected, Question
from gazeveil.lab.experiments.grid.map_data import MapData
from gazeveil.lab.experiments.grid.series_data import SeriesData, released_series
from gazeveil.noise import NoiseSource

_NAME = "membership"
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
        return [_NAME]

    def question(self, name: str, options: Mapping[str, Any]) -> Question:
        """Return it; ``releases`` are judged with and without the ``target``, who is typical or extreme."""
        releases, target = int(options.get("releases", _RELEASES)), str(options.get("target", TARGETS[0]))
        return Question("membership", partial(_found, releases, target), (attack, released_series))


def _found(
    releases: int, target: str, data: MapData | SeriesData, protected: Protected, seed: int, engine: Engine
) -> Answer:
    del engine
    product = _of_map(target, data, protected) if isinstance(data, MapData) else _of_series(target, data, protected)
    return _answer(attack(product, releases, seed), releases)


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


def _answer(found: Found, releases: int) -> Answer:
    numbers = [
        Number("AUC", found.auc, *found.auc_interval, releases, 0.5),
        Number("advantage", found.advantage, n=releases, chance=0.0),
        Number("found, none accused falsely", found.at_no_false, n=releases, chance=0.0),
        Number("proven epsilon", found.proven, n=releases, chance=0.0),
    ]
    if found.epsilon is not None:
        numbers.append(Number("advantage allowed by the guarantee", found.allowed, n=releases, chance=0.0))
    kept = tuple(number for number in numbers if not math.isnan(number.value))
    return Answer(kept, "all other participants' data, and both candidates")


FAMILIES.register("membership")(Membership())
