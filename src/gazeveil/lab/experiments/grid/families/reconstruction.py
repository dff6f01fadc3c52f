# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What did one participant look at? ``reconstruction``: all others are known, and what is left of the map is theirs.

Success is the correlation of the guess with the participant's own map; guessing is the mean of the others, whom the
attacker knows without any release.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from gazeveil.aggregate.engine import Engine
from gazeveil.aggregate.heatmap import PrivateHeatmap
from gazeveil.arrays import FloatArray
from gazeveil.lab.attacks.aggregates.reconstruction import left_over_of_selection
from gazeveil.lab.baselines.unprotected_maps import UnprotectedLiuMap
from gazeveil.lab.experiments.dataset_attacks.reconstruction import (
    as_heatmap,
    own_numbers,
    recovered,
    released_of,
    subtracted,
)
from gazeveil.lab.experiments.grid.contract import FAMILIES, Answer, Family, Number, Protected, Question
from gazeveil.lab.experiments.grid.map_data import MapData

_NAME = "reconstruction"
_REPEATS = 5


class Reconstruction(Family):
    """The attack on the first scene, everyone in turn."""

    uses = frozenset({"heatmap"})
    role = "attack"
    options = ("releases",)

    def names(self) -> list[str]:
        """Return its name."""
        return [_NAME]

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
    numbers = [Number("correlation", found.guess, *found.guess_interval, found.participants, found.without)]
    if np.isfinite(found.exact):
        numbers.append(Number("got back exactly", found.exact, n=found.participants, chance=0.0))
    return Answer(tuple(numbers), "all other participants' data")


FAMILIES.register("reconstruction")(Reconstruction())
