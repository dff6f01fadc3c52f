# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What is left of a heatmap: every metric of `gazeveil.lab.utility.maps.MAP_METRICS`, against the map without noise.

Beside each stands what a map gives that needs no data: the prior.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache, partial
from typing import Any

import numpy as np

from gazeveil.aggregate.engine import Engine
from gazeveil.arrays import FloatArray
from gazeveil.lab.experiments.grid.contract import FAMILIES, Answer, Family, Protected, Question
from gazeveil.lab.experiments.grid.map_data import MapData
from gazeveil.lab.experiments.grid.released import over_people
from gazeveil.lab.utility.maps import MAP_METRICS


class Maps(Family):
    """All metrics of maps."""

    uses = frozenset({"heatmap"})
    role = "utility"

    def names(self) -> list[str]:
        """Return the metrics."""
        return MAP_METRICS.names()

    def question(self, name: str, options: Mapping[str, Any]) -> Question:
        """Return a metric."""
        return Question("", partial(_left, name), (MAP_METRICS[name],))


def _left(name: str, data: MapData, protected: Protected, seed: int, engine: Engine) -> Answer:
    where: Any = engine
    metric, truths = MAP_METRICS[name], _truths(data, where)
    maps = _maps(data, protected, seed, where)
    values = [metric(found, truth) for found, truth in zip(maps, truths, strict=True)]
    floor, ideal = (
        float(np.nanmean([metric(given, truth) for given, truth in zip(those, truths, strict=True)]))
        for those in ([data.prior] * len(truths), truths)
    )
    scenes = [str(number) for number in range(len(values))]
    return Answer((over_people(name, scenes, values, seed, chance=floor, ideal=ideal),))


@lru_cache(maxsize=4)
def _maps(data: MapData, protected: Protected, seed: int, engine: Engine) -> list[FloatArray]:
    return [data.released(protected.mechanism, scene, seed, engine) for scene in range(len(data.scenes))]


@lru_cache(maxsize=2)
def _truths(data: MapData, engine: Engine) -> list[FloatArray]:
    return [data.released(data.cells(), scene, 0, engine) for scene in range(len(data.scenes))]


FAMILIES.register("maps")(Maps())
