# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Each participant's own feature series, noised one by one and released under declared names."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import polars as pl

from gazeveil.aggregate.engine import Engine
from gazeveil.arrays import FloatArray, Tell
from gazeveil.errors import OptionError
from gazeveil.exact import Number
from gazeveil.features.external_tables import ForeignFeatures
from gazeveil.features.participant_series import ParticipantSeries
from gazeveil.features.ranges import Ranges
from gazeveil.features.series import SeriesMechanism, noisy_lengths
from gazeveil.features.series_release import ParticipantRelease, about_raw_gaze, longer_stretches, table_of
from gazeveil.features.settings import Settings
from gazeveil.features.table import FeatureTable
from gazeveil.noise import NoiseSource
from gazeveil.privacy.guarantee import ApproxDP, Guarantee
from gazeveil.privacy.protection import Observer
from gazeveil.release.binding import BoundCorpus, BoundTable
from gazeveil.release.forecast import Forecast
from gazeveil.release.method import Method, from_recipe
from gazeveil.release.plan import PRODUCTS
from gazeveil.release.products._common import check_delta, error_forecast
from gazeveil.release.products._series import DeclaredSeries, SeriesProduct, declared_series
from gazeveil.release.study import Fact, Study, spelt

Noisy = tuple[FloatArray, list[int] | None]

AUDITED = frozenset(
    {
        "features-own",
        "features-lpa",
        "features-fpa",
        "features-c-fpa",
        "features-dc-fpa",
        "features-efpa",
        "features-exponential",
    }
)
"""The mechanisms that are audit subjects."""


@dataclass(frozen=True, slots=True, repr=False)
class SeriesMeasurement(SeriesProduct):
    """Each participant's own series."""

    product: ClassVar[str] = ParticipantRelease.product
    files: ClassVar[str] = "features.parquet: the noisy series of all participants, one row per step"
    per_participant: ClassVar[bool] = True

    study: Study
    mechanism: ParticipantRelease
    series: DeclaredSeries

    @property
    def guarantee(self) -> Guarantee:
        """What is guaranteed to a participant, for all of their series together."""
        return self.mechanism.guarantee(self.series.each)

    @property
    def epsilon(self) -> Number:
        """The ε that was asked for, for each series."""
        found: Number = self.mechanism.mechanism.epsilon
        return found

    def with_epsilon(self, epsilon: Number) -> ParticipantRelease:
        """Return the mechanism with another ε."""
        return self.mechanism.at(epsilon)

    def recipe(self) -> dict[str, Any]:
        """Return mechanism and parameters as plain values."""
        return {**self.mechanism.to_dict(self.series.each), **self.which()}

    def method(self) -> Method:
        """Return how the series protect."""
        each = self.mechanism.each(self.series.each)
        listed = from_recipe(self.product, each.to_dict()).sentence
        sentence = (
            "The eye-movement feature series of each participant were cut or filled to a public length, clipped to "
            f"declared ranges, and noised one by one. {listed}"
        )
        subject = (
            f"features-{each.to_dict()['mechanism']}" if not isinstance(each, ParticipantSeries) else "features-own"
        )
        audit = subject if subject in AUDITED else ""
        return Method(sentence=sentence, sources=("dwork2014", "bozkir2021"), audit=audit)

    def forecast(self) -> Forecast | None:
        """Return the error to expect of a series, where there is a design."""
        each = self.mechanism.each(self.series.each)
        return error_forecast(each.plan(), each.design.source) if isinstance(each, ParticipantSeries) else None

    def facts(self) -> tuple[Fact, ...]:
        """Return the public facts that the release rests on."""
        roster = Fact("roster", list(self.series.members or ()), "participants" not in self.study.observed)
        return (*SeriesProduct.facts(self), roster)

    def warnings(self) -> tuple[str, ...]:
        """Say what the guarantee is not about."""
        mechanism = self.mechanism.mechanism
        if mechanism.stretch is not None and getattr(mechanism, "raw", None) is None:
            return (about_raw_gaze(mechanism.stretch, self.series.settings.info),)
        if isinstance(mechanism, ParticipantSeries) and isinstance(self.guarantee.unit, Observer):
            return ("a participant's own series at the level of participants says little up to an ε of 3",)
        return ()

    def measure(self, data: BoundCorpus | BoundTable, noise: NoiseSource, engine: Engine, tell: Tell) -> Noisy:
        """Return noisy series, and noisy lengths if those are paid for; whoever is absent has public values."""
        series = self.series
        found = series.read(data, engine, tell)
        public = np.broadcast_to(np.asarray(series.public), (series.steps, len(series.ranges)))
        none = [None] * len(series.slots)
        entries = [
            entry
            for who in series.members or ()
            for stimulus in series.stimuli
            for entry in found.get((who, spelt(stimulus.name)), none)
        ]
        values = np.array([public if entry is None else entry.values for entry in entries])
        noisy = self.mechanism.each(series.each).perturb(values, noise)
        if self.mechanism.length_epsilon is None:
            return noisy, None
        lengths = [0 if entry is None else entry.length for entry in entries]
        return noisy, noisy_lengths(lengths, series.steps, self.mechanism.length_epsilon, noise)

    def decode(self, noisy: Noisy) -> FeatureTable:
        """Return the table of released series."""
        values, lengths = noisy
        info = replace(self.series.settings.info, names=self.series.ranges.names)
        return table_of(self.series.ranges.from_unit(values), self.series.names(), info, lengths)

    def write(self, value: FeatureTable, folder: Path, tell: Tell) -> dict[str, Any]:
        """Write the table, and the design if there is one."""
        value.write(folder / "features.parquet")
        if isinstance(self.mechanism.mechanism, ParticipantSeries):
            self.mechanism.mechanism.design.save(folder / "design.json")
        return dict(longer_stretches(self.mechanism.mechanism))

    def frame(self, value: FeatureTable) -> pl.DataFrame:
        """Return a row a series and step."""
        return value.rows

    def picture(self, value: FeatureTable) -> bytes:
        """Return the first features over time."""
        return value.plot().png

    def summary(self, value: FeatureTable) -> tuple[str, ...]:
        """Say what the same noise guarantees for longer stretches."""
        longer = longer_stretches(self.mechanism.mechanism)
        if "raw_gaze" in longer:
            rows = [(f"{row['seconds']:g} s of raw gaze", row["epsilon"]) for row in longer["raw_gaze"]]
        else:
            rows = [(f"{row['steps']:.0f} steps of the series", row["epsilon"]) for row in longer.get("stretches", ())]
        return tuple(f"any {stretch}: ε = {epsilon:.4g}" for stretch, epsilon in rows)


@PRODUCTS.register(ParticipantRelease.product)
def prepare(
    study: Study,
    mechanism: ParticipantRelease | ParticipantSeries | SeriesMechanism,
    task: str | None = None,
    group: str | None = None,
    settings: Settings | ForeignFeatures | None = None,
    ranges: Ranges | None = None,
) -> SeriesMeasurement:
    """Plan the release of everyone's own series on one task."""
    made = mechanism if isinstance(mechanism, ParticipantRelease) else ParticipantRelease(mechanism=mechanism)
    if study.participants.roster is None:
        raise OptionError(
            "each participant's own series is released under their name: declare a roster",
            hint="a group's mean needs only their number",
        )
    own = made.mechanism
    series = declared_series(study, own, task=task, group=group, settings=settings, ranges=ranges)
    raw = getattr(own, "raw", None)
    if raw is not None and raw.rules != series.settings.rules:
        raise OptionError("the mechanism hides raw gaze through other bins than those that are released")
    found = SeriesMeasurement(study, made, series)
    if isinstance(found.guarantee, ApproxDP):
        check_delta(found.guarantee.delta, series.number)
    found.recipe()  # refuses parameters that cannot be
    return found
