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

from gazeveil.aggregate.engine import Engine
from gazeveil.aggregate.grid import Grid
from gazeveil.aggregate.heatmap import COUNT_SHARE, PrivateHeatmap
from gazeveil.aggregate.saliency import PREDICTED
from gazeveil.aggregate.strategy import Estimate, Strategy, Task, choose, explained
from gazeveil.arrays import IntArray, Tell, one_thread
from gazeveil.exact import as_text, exact
from gazeveil.noise import NoiseSource
from gazeveil.privacy.guarantee import ApproxDP, Guarantee, PureDP
from gazeveil.release import plots
from gazeveil.release.binding import BoundCorpus
from gazeveil.release.calibrated import (
    HEATMAP,
    HEATMAP_WITH_PICTURE,
    PURE_HEATMAP,
    PURE_HEATMAP_WITH_PICTURE,
    effective_participants,
)
from gazeveil.release.documents import PARTS
from gazeveil.release.fixations import engine_for
from gazeveil.release.forecast import Forecast
from gazeveil.release.heatmap_files import arrays_of, picture_of, said_of, table_of, write_map, write_parts
from gazeveil.release.method import Method
from gazeveil.release.plan import PRODUCTS
from gazeveil.release.products._common import OneStimulus, check_delta, one_stimulus
from gazeveil.release.products._strategy_method import strategy_method
from gazeveil.release.shares import Shares
from gazeveil.release.sizing import with_usual_sizes
from gazeveil.release.study import Study

PRIOR_MAP = "prior_map.npy"
"""The file with what the stimulus's picture, or a map of the user's own, said about gaze."""

_OUT_OF_DOMAIN = (
    "part of the prior is what a model says about the picture. It was trained on photographs and may mislead on other "
    "pictures: see docs/reference/picture-model.md, and leave it out with --no-picture-prior"
)


@dataclass(frozen=True, slots=True, repr=False)
class HeatmapMeasurement(OneStimulus):
    """The heatmap of one stimulus."""

    product: ClassVar[str] = "heatmap"
    files: ClassVar[str] = (
        "heatmap.npz and heatmap.parquet: the map, the prior, the noise, hot spots, and 95 % intervals for the map of "
        "these participants without noise and for the population they stand for"
    )
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
        strategy, asked = self.strategy, self.mechanism.to_dict()
        chosen = {"chosen": "after a private count"} if strategy is None else dict(strategy.to_dict())
        return {**asked, "delta": as_text(self.delta), "stimulus": self.stimulus, "strategy": chosen}

    def forecast(self) -> Forecast | None:
        """Return the correlation to expect; None where participants are counted privately first.

        It was measured for the strategy that ``auto`` takes.
        """
        number = self.study.participants.number
        if number is None or self.mechanism.strategy != "auto":
            return None
        return heatmap_forecast(self._task(number))

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
        if (picture := self.mechanism.picture) is not None:
            after = f"{after} Part of the prior follows the stimulus: {picture.said_by}."
        after = (
            f"{after} 95 % intervals are for the map of these participants without noise, and for the population they "
            "stand for. Hot spots are cells with more than four times the gaze of an even map; at most one in ten "
            "flagged cells is wrong if the model holds, more if gaze does not follow the picture or the prior."
        )
        strategy = self.strategy
        if strategy is None:
            counted = (
                f"A part of {COUNT_SHARE} of ε paid for counting the participants with Laplace noise; the bound and "
                "noise of the map follow from that count."
            )
            return Method(sentence=f"{maps} {counted} {after}", sources=("dwork2014", "liu2019"))
        return strategy_method(strategy.to_dict(), self.study.neighbours, before=maps, after=after)

    @one_thread()
    def measure(self, data: BoundCorpus, noise: NoiseSource, engine: Engine, tell: Tell) -> tuple[int, IntArray]:
        """Return how many participants the decoder should assume, and the noisy sum."""
        number = self.study.participants.number
        if number is None:
            number = self.mechanism.counted(len(data.corpus.observers), noise)
        return number, self._strategy(number).measure(data.corpus, noise, engine_for(self.study, engine), tell)

    @one_thread()
    def decode(self, noisy: tuple[int, IntArray]) -> Estimate:
        """Return the heatmap."""
        number, sums = noisy
        return self._strategy(number).decode(sums)

    def write(self, value: Estimate, folder: Path, tell: Tell) -> dict[str, Any]:
        """Write the map, its pictures, and what the picture said: with it the map can be decoded again."""
        np.savez_compressed(folder / "heatmap.npz", **arrays_of(value))  # type: ignore[arg-type]
        self.frame(value).write_parquet(folder / "heatmap.parquet")
        if (picture := self.mechanism.picture) is not None:
            np.save(folder / PRIOR_MAP, picture.values)
        title = f"private heatmap: {self.stimulus}"
        write_map(value, self.shown.screen, folder, "heatmap", picture_of(self.shown), title)
        write_parts(value, self.shown.screen, folder / PARTS, title)
        return Shares.of(value, self._said_by).to_dict()

    def frame(self, value: Estimate) -> pl.DataFrame:
        """Return the map as a table, a row a cell."""
        return table_of(value)

    def picture(self, value: Estimate) -> bytes:
        """Return the map as a picture."""
        return plots.parts_picture(
            value.prior, value.map, value.hot_spots, self.shown.screen, f"private heatmap: {self.stimulus}"
        )

    def summary(self, value: Estimate) -> tuple[str, ...]:
        """Say how much of the map is data."""
        return Shares.of(value, self._said_by).in_words()

    def shares(self, value: Any) -> Shares | None:
        """Return how much of the map is data, picture and prior; None for what someone made of the map since."""
        return Shares.of(value, self._said_by) if isinstance(value, Estimate) else None

    @property
    def _said_by(self) -> str:
        picture = self.mechanism.picture
        return "" if picture is None else picture.said_by

    def warnings(self) -> tuple[str, ...]:
        """Warn of an ε that guarantees little, and that the picture model was trained on photographs."""
        about = (_OUT_OF_DOMAIN,) if self._said_by == PREDICTED else ()
        return (*super(HeatmapMeasurement, self).warnings(), *about)

    def preview(self) -> pl.DataFrame | None:
        """Return which designs were compared, how much each should explain, and which is chosen."""
        number = self.study.participants.number
        if number is None or self.mechanism.strategy != "auto":
            return None
        task = self._task(number)
        shares, chosen = explained(task), choose(task)
        return pl.DataFrame(
            {
                "design": list(shares),
                "explains_of_what_the_prior_leaves_open": [f"{share:.0%}" for share in shares.values()],
                "chosen": ["yes" if name == chosen else "" for name in shares],
            }
        )

    def _task(self, number: int) -> Task:
        return self.mechanism.task_for(self.shown.screen, number, self.study.neighbours, self.delta)

    @one_thread()
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
    return (HEATMAP_WITH_PICTURE if pictured else HEATMAP).forecast(effective_participants(task))


@PRODUCTS.register(PrivateHeatmap.product)
def prepare(study: Study, mechanism: PrivateHeatmap, stimulus: str | None = None) -> HeatmapMeasurement:
    """Plan the heatmap of one stimulus of a study."""
    name = one_stimulus(study, stimulus, "heatmap")
    if mechanism.picture is None and mechanism.picture_prior:
        mechanism = replace(mechanism, picture=said_of(study.stimulus(name)))
    study = with_usual_sizes(study, [name], partial(Grid.of_degrees, cell_deg=mechanism.cell_deg))
    found = HeatmapMeasurement(study, mechanism, name)
    check_delta(found.delta, study)
    if mechanism.strategy != "auto":
        found.recipe()  # refuses a strategy that cannot be
    picture_of(found.shown)  # refuses a picture that cannot be drawn over
    return found
