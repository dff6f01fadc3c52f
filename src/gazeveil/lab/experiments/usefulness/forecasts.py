# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""How good the forecast of a private heatmap is: what came out, beside what was forecast from public facts.

For each scene some viewers are drawn, a private map of them is made, and its correlation with the map of the same
viewers without noise is what the forecast is about.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from types import MappingProxyType

import numpy as np

from gazeveil.aggregate.heatmap import PrivateHeatmap
from gazeveil.aggregate.saliency import Saliency
from gazeveil.arrays import Tell, silent
from gazeveil.exact import Number, exact
from gazeveil.lab.experiments.usefulness._heatmap_scenes import Gallery
from gazeveil.lab.experiments.usefulness.trust import trials
from gazeveil.privacy.protection import Neighbours
from gazeveil.release.products.maps import heatmap_forecast

PARTICIPANTS = (6, 10, 15, 20, 25, 30, 40, 60, 100, 200)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came out for this many participants.

    Attributes:
        participants: How many were drawn.
        cc: Correlations with the map without noise, one a scene.
        prior: The same for the prior alone.
        expected: What was forecast.
        low: The lower end of the forecast interval.
        high: Its upper end.
    """

    participants: int
    cc: tuple[float, ...]
    prior: tuple[float, ...]
    expected: float
    low: float
    high: float

    @property
    def off(self) -> float:
        """By how much the forecast was too high, on average over scenes."""
        return self.expected - float(np.mean(self.cc))

    @property
    def covered(self) -> float:
        """The share of scenes within the forecast interval."""
        return float(np.mean([self.low <= value <= self.high for value in self.cc]))


def outcomes(
    gallery: Gallery,
    pictures: Mapping[str, Saliency] = MappingProxyType({}),
    *,
    participants: Sequence[int] = PARTICIPANTS,
    epsilon: Number = 1,
    delta: Number = Fraction(1, 100_000),
    seed: int = 0,
    tell: Tell = silent,
) -> list[Outcome]:
    """Make private maps of every scene, with its picture where there are pictures, beside what was forecast."""
    found = []
    mechanism = PrivateHeatmap(epsilon=epsilon, delta=delta)
    kinds = ("right",) if pictures else ("none",)
    for done, count in enumerate(participants):
        tried = trials(gallery, pictures, participants=(count,), epsilon=epsilon, delta=delta, kinds=kinds, seed=seed)
        task = mechanism.task_for(gallery.geometry, count, Neighbours.REPLACE_ONE, exact(delta))
        if pictures:
            task = replace(task, saliency=next(iter(pictures.values())))
        forecast = heatmap_forecast(task)
        cc, prior = (
            tuple(values) for values in zip(*((one.same_release, one.same_prior) for one in tried), strict=True)
        )
        found.append(Outcome(count, cc, prior, forecast.expected, forecast.low, forecast.high))
        tell(done + 1, len(participants))
    return found
