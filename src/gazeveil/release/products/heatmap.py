# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""One private heatmap: the map of one stimulus, its error bars, pictures."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import polars as pl

from gazeveil.aggregate.choice import effective_observers
from gazeveil.aggregate.engine import Engine
from gazeveil.aggregate.grid import Grid
from gazeveil.aggregate.heatmap import COUNT_SHARE, FOLLOW_PICTURES, PrivateHeatmap
from gazeveil.aggregate.saliency import PREDICTED
from gazeveil.aggregate.strategy import Estimate, Strategy, Task
from gazeveil.exact import as_text, exact
from gazeveil.noise import NoiseSource
from gazeveil.privacy.guarantee import ApproxDP, Guarantee, PureDP
from gazeveil.release import plots
from gazeveil.release.binding import BoundCorpus
from gazeveil.release.calibrated import HEATMAP, HEATMAP_WITH_PICTURE, PURE_HEATMAP, PURE_HEATMAP_WITH_PICTURE
from gazeveil.release.fixations import engine_for
from gazeveil.release.forecast import Forecast
from gazeveil.release.heatmap_files import picture_of, prior_map_of, table_of, write_map
from gazeveil.release.method import Method
from gazeveil.release.plan import PRODUCTS
from gazeveil.release.products._common import OneStimulus, check_delta, one_stimulus
from gazeveil.release.products._strategy_method import strategy_method
from gazeveil.release.sizing import with_usual_sizes
from gazeveil.release.study import Study
from gazeveil.types import IntArray, Tell

PRIOR_MAP = "prior_map.npy"
"""The file with what the stimulus's picture, or a map of the user's own, said about gaze."""


@dataclass(frozen=True, slots=True, repr=False)
class HeatmapMeasurement(OneStimulus):
    """The heatmap of one stimulus.

    Attributes:
        study: The declared study.
        mechanism: What may be spent, and how.
        stimulus: The name of the stimulus.
    """

    product: ClassVar[str] = "heatmap"
    files: ClassVar[str] = "heatmap.npz and heatmap.parquet: the map, the noise in it, the prior"
    proof: ClassVar[str] = "heatmap-strategies"

    study: Study
    mechanism: PrivateHeatmap
    stimulus: str

    @property
    def guarantee(self) -> Guarantee:
        """What is guaranteed; the strategy's own where the number of participants is public."""
        if self.strategy is not None:
            return self.strategy.guarantee
        if self.delta:
            return ApproxDP(self.mechanism.epsilon, self.delta, neighbours=self.study.neighbours)
        return PureDP(self.mechanism.epsilon, neighbours=self.study.neighbours)

    @property
    def strategy(self) -> Strategy | None:
        """The strategy, where it is known beforehand: not if participants are counted privately first."""
        number = self.study.participants.number
        return None if number is None else self._strategy(number)

    def recipe(self) -> dict[str, Any]:
        """Return mechanism and parameters as plain values."""
        strategy = self.strategy
        chosen = {"chosen": "after a private count"} if strategy is None else dict(strategy.to_dict())
        spent = {"delta": as_text(self.delta), "stimulus": self.stimulus}
        return {**self.mechanism.to_dict(), **spent, "strategy": chosen}

    def forecast(self) -> Forecast | None:
        """Return the correlation to expect; None where participants are counted privately first.

        It was measured for the strategy that ``auto`` takes.
        """
        number = self.study.participants.number
        if number is None or self.mechanism.strategy != "auto":
            return None
        return heatmap_forecast(self.mechanism.task_for(self.shown.screen, number, self.study.neighbours, self.delta))

    def method(self) -> Method:
        """Return how the map protects."""
        maps = (
            f"The gaze of each participant on the stimulus “{self.stimulus}”, all recordings together, became one "
            "gaze map."
        )
        after = (
            "The heatmap was estimated from the noisy sum and a public prior of gaze maps, in cells of "
            f"{self.mechanism.cell_deg:g}°, and blurred with a Gaussian of {self.mechanism.blur_deg:g}° standard "
            "deviation."
        )
        strategy = self.strategy
        if strategy is None:
            counted = (
                f"A part of {COUNT_SHARE} of ε paid for counting the participants with Laplace noise; the bound and "
                "noise of the map follow from that count."
            )
            return Method(sentence=f"{maps} {counted} {after}", sources=("dwork2014", "liu2019"))
        return strategy_method(strategy.to_dict(), self.study.neighbours, before=maps, after=after)

    def measure(self, data: BoundCorpus, noise: NoiseSource, engine: Engine, tell: Tell) -> tuple[int, IntArray]:
        """Return how many participants the decoder should assume, and the noisy sum."""
        number = self.study.participants.number
        if number is None:
            number = self.mechanism.counted(len(data.corpus.observers), noise)
        return number, self._strategy(number).measure(data.corpus, noise, engine_for(self.study, engine), tell)

    def decode(self, noisy: tuple[int, IntArray]) -> Estimate:
        """Return the heatmap."""
        number, sums = noisy
        return self._strategy(number).decode(sums)

    def write(self, value: Estimate, folder: Path, tell: Tell) -> dict[str, Any]:
        """Write the map, its pictures, and what the picture said: with it the map can be decoded again."""
        np.savez_compressed(folder / "heatmap.npz", map=value.map, noise_sd=value.noise_sd, prior=value.prior)
        self.frame(value).write_parquet(folder / "heatmap.parquet")
        about: dict[str, Any] = {"data_share": value.data_share, "picture_share": value.picture_share}
        if (picture := self.mechanism.picture) is not None:
            np.save(folder / PRIOR_MAP, picture.values)
            about |= {"picture_said_by": picture.said_by}
        title = f"private heatmap: {self.stimulus}"
        write_map(value, self.shown.screen, folder, "heatmap", picture_of(self.shown), title)
        return about

    def frame(self, value: Estimate) -> pl.DataFrame:
        """Return the map as a table, a row a cell."""
        return table_of(value)

    def picture(self, value: Estimate) -> bytes:
        """Return the map as a picture."""
        return plots.map_picture(value.map, self.shown.screen, f"private heatmap: {self.stimulus}")

    def summary(self, value: Estimate) -> tuple[str, ...]:
        """Say how much of the map is data."""
        shares = f"{value.data_share:.0%} of this map comes from your data, {1 - value.data_share:.0%} from the prior"
        follows = f"{value.picture_share:.0%} of the prior follows the picture"
        return (shares, follows) if value.picture_share else (shares,)

    def _strategy(self, number: int) -> Strategy:
        share = 1 - COUNT_SHARE if self.study.participants.number is None else Fraction(1)
        return self.mechanism.strategy_for(self.shown.screen, number, self.study.neighbours, self.delta, share=share)


def heatmap_forecast(task: Task) -> Forecast:
    """Return how good the map of a task will be: a matter of public facts.

    A picture model, or a map of the user's own, has curves of its own. The spectral residual says little: there the
    curves without a picture serve.
    """
    pictured = task.saliency is not None and task.saliency.source == PREDICTED
    if exact(task.delta) == 0:
        pure = PURE_HEATMAP_WITH_PICTURE if pictured else PURE_HEATMAP
        return pure.forecast(task.observers * float(task.epsilon))
    return (HEATMAP_WITH_PICTURE if pictured else HEATMAP).forecast(effective_observers(task))


@PRODUCTS.register(PrivateHeatmap.product)
def prepare(study: Study, mechanism: PrivateHeatmap, stimulus: str | None = None) -> HeatmapMeasurement:
    """Plan the heatmap of one stimulus of a study."""
    name = one_stimulus(study, stimulus, "heatmap")
    if mechanism.picture is None and mechanism.strategy in {"auto", *FOLLOW_PICTURES}:
        mechanism = replace(mechanism, picture=prior_map_of(study.stimulus(name)))
    study = with_usual_sizes(study, [name], partial(Grid.of_degrees, cell_deg=mechanism.cell_deg))
    found = HeatmapMeasurement(study, mechanism, name)
    check_delta(found.delta, study)
    if mechanism.strategy != "auto":
        found.recipe()  # refuses a strategy that cannot be
    picture_of(found.shown)  # refuses a picture that cannot be drawn over
    return found
