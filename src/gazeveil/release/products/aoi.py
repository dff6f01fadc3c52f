# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Private statistics of areas of interest: of everyone, or of groups side by side."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import polars as pl

from gazeveil.aggregate.aoi.mechanism import AoiPlan, AoiStatistics, GroupComparison, comparison_table
from gazeveil.aggregate.aoi.statistics import DwellShare
from gazeveil.aggregate.aoi.tables import expected_error, means_table, pictures_table
from gazeveil.aggregate.engine import Engine
from gazeveil.aggregate.saliency import Saliency
from gazeveil.arrays import IntArray, Tell
from gazeveil.errors import OptionError
from gazeveil.exact import Number, exact
from gazeveil.features.design import error_interval
from gazeveil.gaze.aoi import AreasOfInterest
from gazeveil.geometry import Geometry
from gazeveil.noise import NoiseSource
from gazeveil.privacy.composition import compose_disjoint
from gazeveil.privacy.guarantee import Guarantee
from gazeveil.release.data import BoundCorpus
from gazeveil.release.forecast import Forecast
from gazeveil.release.map_files import stimulus_saliency
from gazeveil.release.plan import PRODUCTS, Domain, Method, check_stated
from gazeveil.release.product_base import SumMeasurement, assumed_participants, check_delta, with_usual_sizes
from gazeveil.release.study import Fact, Study, spelt
from gazeveil.release.study_toml import checked_file

_FLOOR = 0.8
"""A release is worth its budget if its error is at most this part of the error without data."""

_VARIANCE = 1 / 12
"""The variance of values between 0 and 1 that are all equally likely."""

_SHOWN = 12
"""How many of the released numbers are shown in words."""

Areas = tuple[tuple[str, AreasOfInterest], ...]
Groups = dict[str, frozenset[str]]
NoisySums = dict[str, IntArray]
"""The noisy sums of each group; the group of everyone has no name."""


@dataclass(frozen=True, slots=True, repr=False)
class AoiMeasurement(SumMeasurement):
    """Statistics of areas of interest on some stimuli of a study.

    Attributes:
        areas: The areas on each stimulus.
        groups: Who is in which group, if groups are compared; otherwise empty.
        pictures: The saliency of the pictures of stimuli, where shares of time may follow it.
    """

    product: ClassVar[str] = "aoi"
    files: ClassVar[str] = "aoi.csv and aoi.parquet: one row per number, with its error bars"
    proof: ClassVar[str] = "aoi-statistics"

    study: Study
    mechanism: AoiStatistics
    areas: Areas
    groups: Groups
    pictures: Mapping[str, Saliency] = field(default_factory=dict)

    @property
    def guarantee(self) -> Guarantee:
        """What is guaranteed; between groups of different participants, to each that of their own group."""
        if not self.groups:
            return self._plan("").guarantee
        return compose_disjoint((self._plan(name).guarantee, people) for name, people in self.groups.items())

    @property
    def domain(self) -> Domain:
        """The recordings of the stimuli that have areas."""
        return Domain(self.study, tuple(name for name, _ in self.areas))

    def recipe(self) -> dict[str, Any]:
        """Return mechanism and parameters as plain values; of groups only how large they are, not who is in them."""
        sizes = {name: len(people) for name, people in self.groups.items()}
        compared = {"mechanism": "aoi-group-comparison", "groups": sizes} if sizes else {}
        found = {**self.mechanism.to_dict(), **compared, **self._plan(next(iter(sizes), "")).to_dict()}
        if self.pictures:
            said = {name: {"sha256": each.digest, "said_by": each.said_by} for name, each in self.pictures.items()}
            found |= {"pictures": said}
        return found if self.study.recordings.fixations is None else found | {"detector": None}

    def facts(self) -> tuple[Fact, ...]:
        """Return the study's facts, the areas, and how large groups are."""
        drawn = {name: list(areas.names) for name, areas in self.areas}
        facts = [*self.study.facts(self.domain.stimuli), Fact("areas", drawn)]
        if self.groups:
            facts.append(Fact("groups", {name: len(people) for name, people in self.groups.items()}))
            facts.append(Fact("members of groups", "public by name; data that replace a participant's keep that name"))
        return tuple(facts)

    @property
    def requested(self) -> AoiStatistics | GroupComparison:
        """The mechanism, as a comparison where groups are compared."""
        return GroupComparison(self.mechanism, self.groups) if self.groups else self.mechanism

    def with_epsilon(self, epsilon: Number) -> AoiStatistics | GroupComparison:
        """Return the mechanism with another ε."""
        return replace(self, mechanism=replace(self.mechanism, epsilon=exact(epsilon))).requested

    def forecast(self) -> Forecast:
        """Return the error to expect of a mean, as a part of its range: of the noise, and of who took part."""
        variances = np.concatenate(
            [
                np.full(len(mean.mean), mean.noise_sd**2 + _VARIANCE / mean.people)
                for name in self._names
                for mean in self._plan(name).expected_means()
            ]
        )
        error, nothing = math.sqrt(float(variances.mean())), math.sqrt(_VARIANCE)
        low, high = error_interval(error, variances, len(variances))
        return Forecast(
            measure="error",
            expected=error,
            low=low,
            high=high,
            without_data=nothing,
            floor=_FLOOR * nothing,
            basis="the law of the noise and the sampling of participants, if all values in a range are equally likely; "
            "the interval follows from how many numbers are released",
        )

    def method(self) -> Method:
        """Return how the statistics protect."""
        noise = self._plan(self._names[0]).to_dict()["noise"]
        asked = ", ".join(statistic.name for statistic in self.mechanism.statistics)
        found = f"with the detector “{self.mechanism.detector.name}”"
        if self.study.recordings.fixations is not None:
            found = "from lists of fixations as they were recorded"
        sentence = (
            f"For each participant, these statistics of areas of interest were computed {found}: {asked}. "
            "Each is bounded for one participant by its definition, in integers. "
            f"The sums over participants received {' and '.join(noise)} noise, calibrated to these bounds; "
            f"intervals have a confidence of {self.mechanism.confidence:g} and include the noise."
        )
        if self.pictures:
            said = ", ".join(sorted({picture.said_by for picture in self.pictures.values()}))
            sentence = (
                f"{sentence} Shares of time are given twice: as unbiased noisy means, and drawn towards what the "
                f"stimulus's picture says ({said})."
            )
        calibrated = ("balle2018",) if "gaussian" in noise else ()
        subject = "aoi-comparison" if self.groups else "aoi-together"
        return Method(sentence=sentence, sources=("dwork2014", *calibrated), audit=subject)

    def warnings(self) -> tuple[str, ...]:
        """Warn of an ε that guarantees little, and of numbers that the noise hides."""
        cautions = [f"{name}: {text}" if name else text for name in self._names for text in self._plan(name).cautions()]
        return (*SumMeasurement.warnings(self), *cautions)

    def preview(self) -> pl.DataFrame:
        """Return how far off the numbers will be."""
        tables = [self._predicted(name).with_columns(group=pl.lit(name)) for name in self._names]
        table = pl.concat(tables)
        return table.select("group", pl.exclude("group")) if self.groups else table.drop("group")

    def _predicted(self, group: str) -> pl.DataFrame:
        plan = self._plan(group)
        table = plan.predicted_error()
        if not self.pictures:
            return table
        screen, pictures = self.study.one_screen(self.domain.stimuli), self.pictures
        errors = [
            expected_error(mean.noise_sd, question.areas, screen, pictures[question.stimulus])
            if question.stimulus in pictures and question.statistic.name == DwellShare.name
            else None
            for question, mean in zip(plan.questions, plan.expected_means(), strict=True)
        ]
        return table.with_columns(pl.Series("with_picture", errors, dtype=pl.Float64))

    def measure(self, data: BoundCorpus, noise: NoiseSource, engine: Engine, tell: Tell) -> NoisySums:
        """Return the noisy sums of each group; participants in no group are left out, absent ones add nothing."""
        found = {}
        for name in self._names:
            chosen = data.corpus.select(observer=self.groups[name]) if self.groups else data.corpus
            found[name] = self._plan(name).measure(chosen, noise, engine, tell)
        return found

    def decode(self, noisy: NoisySums) -> pl.DataFrame:
        """Return the means with their error bars, and the differences between groups."""
        means = {name: self._plan(name).means(sums) for name, sums in noisy.items()}
        questions, confidence = self._plan(self._names[0]).questions, self.mechanism.confidence
        if self.groups:
            table = comparison_table(questions, means, confidence)
        else:
            table = means_table(questions, means[""], confidence)
        if not self.pictures:
            return table
        screen = self.study.one_screen(self.domain.stimuli)
        helped = [pictures_table(questions, found, confidence, screen, self.pictures) for found in means.values()]
        differ = len(table) - sum(map(len, helped))  # what a picture says is the same in all groups and cancels
        return table.hstack(pl.concat([*helped, helped[0].clear(differ)]))

    def write(self, value: pl.DataFrame, folder: Path, tell: Tell) -> dict[str, Any]:
        """Write the table."""
        value.write_csv(folder / "aoi.csv")
        value.write_parquet(folder / "aoi.parquet")
        return {"rows": len(value), "columns": value.columns}

    def frame(self, value: pl.DataFrame) -> pl.DataFrame:
        """Return the table."""
        return value

    def summary(self, value: pl.DataFrame) -> tuple[str, ...]:
        """Show the first numbers, with the intervals for the participants of this study."""
        lines = [
            f"{row['stimulus']}, {row['statistic']}, {row['areas']}{', ' + row['group'] if row['group'] else ''}: "
            f"{row['estimate']:.3g} ({row['study_low']:.3g} to {row['study_high']:.3g})"
            for row in value.head(_SHOWN).iter_rows(named=True)
        ]
        more = len(value) - len(lines)
        return (*lines, f"and {more:,} more in aoi.csv") if more else tuple(lines)

    @property
    def _names(self) -> tuple[str, ...]:
        return tuple(self.groups) or ("",)

    def _plan(self, group: str) -> AoiPlan:
        number = len(self.groups[group]) if self.groups else assumed_participants(self.study)
        screen = self.study.one_screen(self.domain.stimuli)
        stated = self.study.recordings.fixations
        return self.mechanism.plan_for(self.areas, screen, number, self.study.neighbours, self.delta, stated)


@PRODUCTS.register(AoiStatistics.product)
def prepare_aoi(
    study: Study, mechanism: AoiStatistics | GroupComparison, stimuli: Iterable[str] | None = None
) -> AoiMeasurement:
    """Plan statistics of the areas that the mechanism or the study declares, by default on all stimuli that have some.

    Raises:
        OptionError: If there are no areas, or groups that cannot be compared.
    """
    asked = mechanism.statistics if isinstance(mechanism, GroupComparison) else mechanism
    groups = _groups(study, mechanism) if isinstance(mechanism, GroupComparison) else {}
    areas = _areas(study, asked, stimuli)

    def check(screen: Geometry) -> None:
        asked.plan_for(areas, screen, 1, study.neighbours, Fraction(0))

    study = with_usual_sizes(study, [name for name, _ in areas], check)
    pictures = _pictures(study, asked, areas)
    found = AoiMeasurement(study, asked, areas, groups, pictures)
    check_delta(found.delta, study)
    if (stated := study.recordings.fixations) is not None:
        for statistic in asked.statistics:
            check_stated(f"the statistic {statistic.name!r}", statistic.needs_stated, stated)
    _ = found.guarantee  # refuses areas that do not fit, and groups that are empty or share participants
    return found


def _pictures(study: Study, mechanism: AoiStatistics, areas: Areas) -> dict[str, Saliency]:
    """Return the saliency of declared pictures, if shares of time are released."""
    if not mechanism.picture_prior or all(each.name != DwellShare.name for each in mechanism.statistics):
        return {}
    found = {name: stimulus_saliency(study.stimulus(name)) for name, _ in areas}
    return {name: said for name, said in found.items() if said is not None}


def _areas(study: Study, mechanism: AoiStatistics, stimuli: Iterable[str] | None) -> Areas:
    if mechanism.areas is not None:
        drawn = {study.stimulus(name).name: areas for name, areas in mechanism.areas}
    else:
        drawn = {
            stimulus.name: AreasOfInterest.from_json(checked_file(stimulus.areas))
            for stimulus in study.stimuli
            if stimulus.areas is not None
        }
    wanted = list(drawn) if stimuli is None else [study.stimulus(name).name for name in stimuli]
    if missing := [name for name in wanted if name not in drawn]:
        raise OptionError(f"there are no areas on {missing[0]!r}", hint="give them, or declare them in the study")
    if not wanted:
        raise OptionError(
            "no stimulus has areas of interest", hint="give areas, or declare them in the study: areas = FILE.json"
        )
    return tuple((name, drawn[name]) for name in dict.fromkeys(wanted))


def _groups(study: Study, comparison: GroupComparison) -> Groups:
    """Return the declared groups, without those who withdrew.

    Raises:
        OptionError: If there are fewer than two, or the number of participants is secret.
    """
    if study.participants.secret:
        raise OptionError(
            "a list of who is in which group makes public who takes part, but their number is declared a secret",
            hint="compare groups in a study whose participants are public",
        )
    gone = set(study.participants.withdrawn)
    if comparison.groups is not None:
        groups = {name: set(map(spelt, people)) for name, people in comparison.groups}
    else:
        groups = {name: set() for name in sorted(set(study.recordings.groups.values()))}
        for person, name in study.recordings.groups.items():
            groups[name].add(spelt(person))
    if len(groups) < 2:
        raise OptionError(f"a comparison needs at least two groups, not {len(groups)}")
    return {name: frozenset(people - gone) for name, people in groups.items()}
