# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The mean feature series of a group of participants, with error bars."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import polars as pl

from gazeveil.aggregate.engine import Engine
from gazeveil.arrays import FloatArray, Tell
from gazeveil.exact import exact
from gazeveil.features.external_tables import ForeignFeatures
from gazeveil.features.group_series import GroupEstimate, GroupSeries
from gazeveil.features.series_release import group_table
from gazeveil.features.settings import Settings
from gazeveil.features.table import group_picture
from gazeveil.noise import NoiseSource
from gazeveil.privacy.guarantee import Guarantee
from gazeveil.release.binding import BoundCorpus, BoundTable
from gazeveil.release.forecast import Forecast
from gazeveil.release.method import Method
from gazeveil.release.plan import PRODUCTS
from gazeveil.release.products._common import check_delta, error_forecast
from gazeveil.release.products._series import DeclaredSeries, SeriesProduct, declared_series
from gazeveil.release.study import Study


@dataclass(frozen=True, slots=True, repr=False)
class GroupMeasurement(SeriesProduct):
    """The mean series of a group. Each participant counts with the mean of their series, clipped to a ball."""

    product: ClassVar[str] = GroupSeries.product
    files: ClassVar[str] = "group.parquet: mean, band and public mean of each step and feature; design.json"

    study: Study
    mechanism: GroupSeries
    series: DeclaredSeries

    @property
    def guarantee(self) -> Guarantee:
        """What is guaranteed for all that one participant contributed."""
        return self.mechanism.guarantee(self.series.number)

    def recipe(self) -> dict[str, Any]:
        """Return mechanism and parameters as plain values."""
        return {**self.mechanism.to_dict(self.series.number), **self.which()}

    def method(self) -> Method:
        """Return how the mean series protects."""
        plan = self.mechanism.plan(self.series.number)
        law = "ℓ2-radial" if plan.noise.is_radial else "Gaussian"
        sentence = (
            "Each participant counted with the mean of their eye-movement feature series, clipped to declared ranges, "
            f"described by {plan.ball.size:,} coordinates of a public design and clipped to a ball. The sum over "
            f"participants received {law} noise calibrated to the diameter of the ball; the mean series was estimated "
            "from it and the public mean."
        )
        calibrated = () if plan.noise.is_radial else ("balle2018",)
        return Method(sentence=sentence, sources=("dwork2014", "bozkir2021", *calibrated), audit="features-group")

    def forecast(self) -> Forecast:
        """Return the error to expect, from the design."""
        return error_forecast(self.mechanism.plan(self.series.number), self.mechanism.design.source)

    def measure(self, data: BoundCorpus | BoundTable, noise: NoiseSource, engine: Engine, tell: Tell) -> FloatArray:
        """Return the noisy sum of coordinates; whoever is absent adds nothing, as the public mean would."""
        people: dict[str, list[FloatArray]] = {}
        for (who, _), slots in sorted(self.series.read(data, engine, tell).items()):
            people.setdefault(who, []).extend(found.values for found in slots if found is not None)
        empty = np.empty((0, self.series.steps, len(self.series.ranges)))
        means = [np.mean(series, axis=0)[None] for series in people.values() if series]
        return self.mechanism.measure(np.concatenate([empty, *means]), self.series.number, noise)

    def decode(self, noisy: FloatArray) -> GroupEstimate:
        """Return the group's series."""
        return self.mechanism.decode(noisy, self.series.number)

    def write(self, value: GroupEstimate, folder: Path, tell: Tell) -> dict[str, Any]:
        """Write the table and the design."""
        self.frame(value).write_parquet(folder / "group.parquet")
        self.mechanism.design.save(folder / "design.json")
        return {}

    def frame(self, value: GroupEstimate) -> pl.DataFrame:
        """Return a row a step and feature."""
        return group_table(value, self.series.ranges, self.series.settings.step)

    def picture(self, value: GroupEstimate) -> bytes:
        """Return the first features over time."""
        return group_picture(self.frame(value)).png


@PRODUCTS.register(GroupSeries.product)
def prepare(
    study: Study,
    mechanism: GroupSeries,
    task: str | None = None,
    group: str | None = None,
    settings: Settings | ForeignFeatures | None = None,
) -> GroupMeasurement:
    """Plan the mean series of a group on one task."""
    series = declared_series(study, mechanism, task=task, group=group, settings=settings, ranges=None)
    found = GroupMeasurement(study, mechanism, series)
    check_delta(exact(mechanism.delta), series.number)
    found.recipe()  # refuses a group of one
    return found
