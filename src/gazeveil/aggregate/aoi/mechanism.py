# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Private statistics of areas of interest: one budget, any number of statistics and stimuli, error bars included."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl

from gazeveil.aggregate.aoi.intervals import NoisyMean
from gazeveil.aggregate.aoi.kernel import AoiKernel, Question
from gazeveil.aggregate.aoi.noise import Law, Noise, share_out
from gazeveil.aggregate.aoi.statistics import MOST_CELLS, DwellShare, Statistic
from gazeveil.aggregate.aoi.table import means_table, prediction_table
from gazeveil.aggregate.engine import Engine, engine_at
from gazeveil.errors import GeometryError, InputError, OptionError
from gazeveil.gaze.aoi import AreasOfInterest
from gazeveil.gaze.corpus import Corpus
from gazeveil.gaze.events import Detector, DispersionThreshold
from gazeveil.gaze.geometry import Geometry
from gazeveil.gaze.recording import Recording
from gazeveil.noise import NoiseSource
from gazeveil.privacy.exact import Number, above_zero, as_text, exact, in_digits, whole_number
from gazeveil.privacy.guarantee import ApproxDP, Guarantee, PureDP
from gazeveil.privacy.ledger.ledger import Ledger
from gazeveil.privacy.release import Release, kept_promise
from gazeveil.privacy.unit import Neighbours
from gazeveil.types import IntArray, Tell, silent

WEAK = 10
"""Above this ε a promise says little; it is warned about."""

_DWELL = DwellShare()


@dataclass(frozen=True, slots=True, init=False)
class AoiStatistics:
    """Statistics of areas of interest with an observer-level promise. Everything here is public.

    Attributes:
        areas: For each stimulus its areas.
        statistics: What is asked of each stimulus.
        epsilon: The ε of everything together.
        delta: The δ of everything together; None for a pure promise. It is spent only where it buys less noise.
        neighbours: How neighbouring data sets differ.
        observers: How many observers there are, if declared: by default everyone in the corpus, which is public
            between replace-one neighbours and must be declared between add/remove neighbours.
        detector: How fixations are found.
        confidence: What intervals cover with, each by itself.
    """

    areas: tuple[tuple[str, AreasOfInterest], ...]
    statistics: tuple[Statistic, ...]
    epsilon: Fraction
    delta: Fraction | None
    neighbours: Neighbours
    observers: int | None
    detector: Detector
    confidence: float

    def __init__(
        self,
        areas: Mapping[str, AreasOfInterest],
        statistics: Statistic | tuple[Statistic, ...] = _DWELL,
        *,
        epsilon: Number,
        delta: Number | None = None,
        neighbours: Neighbours | str = Neighbours.REPLACE_ONE,
        observers: int | None = None,
        detector: Detector | None = None,
        confidence: float = 0.95,
    ) -> None:
        asked = statistics if isinstance(statistics, tuple) else (statistics,)
        failure = None if delta is None or exact(delta, "delta") == 0 else _delta(delta)
        values = {
            "areas": tuple(sorted(areas.items())),
            "statistics": asked,
            "epsilon": above_zero(epsilon, "epsilon"),
            "delta": failure,
            "neighbours": _relation(neighbours),
            "observers": None if observers is None else whole_number(observers, "observers", at_least=1),
            "detector": DispersionThreshold() if detector is None else detector,
            "confidence": _confidence(confidence),
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)
        if not self.areas or not asked:
            raise OptionError("say which statistics of which areas to release")
        if len({statistic.name for statistic in asked}) < len(asked):
            raise OptionError("a statistic is asked for twice", hint="ask once; each time costs")
        for question in self.questions:
            if not 1 <= question.bounds.cells <= MOST_CELLS:
                raise OptionError(
                    f"{question.statistic.name!r} of {question.stimulus!r} has {question.bounds.cells:,} numbers "
                    f"for {len(question.areas)} areas",
                    hint=f"from 1 to {MOST_CELLS:,} can be released",
                )

    @property
    def questions(self) -> tuple[Question, ...]:
        """Every statistic of every stimulus, in the order of release."""
        return tuple(
            Question(stimulus, areas, statistic) for stimulus, areas in self.areas for statistic in self.statistics
        )

    @property
    def guarantee(self) -> Guarantee:
        """What is promised, before any data are seen; pure, where that takes less noise than the δ allows."""
        if self.delta is None or self.noises()[0].law is not Law.GAUSSIAN:
            return PureDP(self.epsilon, neighbours=self.neighbours)
        return ApproxDP(self.epsilon, self.delta, neighbours=self.neighbours)

    def noises(self) -> tuple[Noise, ...]:
        """Return the noise of each question."""
        return share_out([question.bounds for question in self.questions], self.epsilon, self.delta, self.neighbours)

    def kernel(self, geometry: Geometry) -> AoiKernel:
        """Return what turns one observer's rows into integers.

        Raises:
            GeometryError: If the areas do not fit the plane, or fixations cannot be found on it.
        """
        for stimulus, areas in self.areas:
            nothing = np.empty(0)
            areas.hits(Recording(nothing, nothing, nothing, geometry, observer="nobody", stimulus=stimulus))
        if any(statistic.needs_fixations for statistic in self.statistics) and not geometry.knows_degrees:
            raise GeometryError(
                "fixations need degrees, and the size of the plane in degrees is not known",
                hint="give the screen's size in mm and the viewing distance, or ask for dwell only",
            )
        return AoiKernel(self.questions, geometry, self.detector)

    def measure(self, totals: IntArray, noise: NoiseSource) -> IntArray:
        """Return sums over observers, one row a release, with exact noise: the only step that sees both."""
        edges = np.cumsum([question.bounds.cells for question in self.questions])[:-1]
        blocks = np.split(totals, edges, axis=1)
        return np.hstack([law.add(block, noise) for law, block in zip(self.noises(), blocks, strict=True)])

    def means(self, noisy: IntArray, people: int) -> list[NoisyMean]:
        """Return the noisy means of each question, from the noisy sums alone."""
        found, start = [], 0
        for question, law in zip(self.questions, self.noises(), strict=True):
            bounds = question.bounds
            block = noisy[start : start + bounds.cells]
            found.append(NoisyMean(block / (people * bounds.largest), people, bounds.largest, 1 / bounds.largest, law))
            start += bounds.cells
        return found

    def predicted_error(self, people: int) -> pl.DataFrame:
        """Return how far off the release will be for so many observers, before anything is spent."""
        return prediction_table(self.questions, self.means(self._nothing(), people), self.confidence)

    def cautions(self, people: int) -> list[str]:
        """Return what somebody should know before spending.

        Raises:
            OptionError: If δ is so large that publishing one person's gaze as it is would keep the promise.
        """
        if self.delta is not None and people > 1 and self.delta * people >= 1:
            raise OptionError(
                f"delta is {in_digits(self.delta)}, but with {people:,} observers it must be below 1/{people:,}: "
                "otherwise publishing one person's gaze as it is would keep the promise",
                hint="take a much smaller one, for instance 1e-6",
            )
        told = []
        if self.epsilon > WEAK:
            told.append(
                f"ε = {in_digits(self.epsilon)} is weak: above {WEAK} a promise protects nobody who is singled out"
            )
        if people == 1:
            told.append("there is one observer: what is released is that person's gaze and noise")
        hidden = sorted(
            {
                question.statistic.name
                for question, mean in zip(self.questions, self.means(self._nothing(), people), strict=True)
                if mean.noise.quantile(1 - self.confidence) >= people * mean.largest / 2
            }
        )
        if hidden:
            told.append(
                f"the noise hides all there is to see in: {', '.join(hidden)} "
                "(more observers, a larger ε, fewer statistics or smaller caps would help)"
            )
        return told

    def _nothing(self) -> IntArray:
        return np.zeros(sum(question.bounds.cells for question in self.questions), dtype=np.int64)

    def people_in(self, corpus: Corpus) -> int:
        """Return how many observers means are over.

        Raises:
            OptionError: If their number is protected and none is declared.
            InputError: If there is nobody.
        """
        if self.neighbours is Neighbours.ADD_REMOVE:
            if self.observers is None:
                raise OptionError(
                    "between add/remove neighbours the number of observers is protected, and means need one",
                    hint="declare a number that is public anyway with observers=, or use replace-one neighbours",
                )
            return self.observers
        found = len(corpus.observers)
        if not found:
            raise InputError(f"there is no observer in {corpus.name}")
        if self.observers is not None and self.observers < found:
            raise InputError(f"{self.observers:,} observers are declared, but there are {found:,} in {corpus.name}")
        return self.observers or found

    def release(
        self,
        corpus: Corpus,
        *,
        noise: NoiseSource | None = None,
        ledger: Ledger | None = None,
        dataset: str = "",
        engine: Engine | None = None,
        tell: Tell = silent,
    ) -> Release:
        """Release the statistics of everybody in the corpus as a table.

        Args:
            corpus: The recordings; all of one observer together are one observer.
            noise: Where randomness comes from; the operating system's, if left out.
            ledger: The ledger to charge before the release is returned. `Release.save` charges one, too.
            dataset: The data set to charge.
            engine: Where the sums are computed; on this machine if left out.
            tell: Called as the work goes on.
        """
        source = NoiseSource.secure() if noise is None else noise
        people = self.people_in(corpus)
        cautions = self.cautions(people)
        means = self.measured(corpus, people, source, engine, tell)
        release = Release(
            means_table(self.questions, means, self.confidence),
            kept_promise(self.guarantee, source),
            self,
            {"observers": people, "engine": _name(engine), "cautions": cautions},
        )
        return release if ledger is None else release.charged(ledger, dataset)

    def measured(
        self,
        corpus: Corpus,
        people: int,
        noise: NoiseSource,
        engine: Engine | None = None,
        tell: Tell = silent,
        *,
        only: Collection[str] | None = None,
    ) -> list[NoisyMean]:
        """Return the noisy means of each question, over everybody or over ``only`` some observers.

        Which stimuli there are is public of the whole corpus, not of a few people: of those, one could decide it.
        """
        wanted = [stimulus for stimulus, _ in self.areas]
        if missing := sorted(set(wanted) - set(corpus.stimuli)):
            raise InputError(
                f"there is no stimulus {missing[0]!r} in {corpus.name}",
                hint=f"there are: {', '.join(map(repr, corpus.stimuli[:8])) or 'none'}",
            )
        chosen = corpus.select(stimulus=wanted)
        kernel = self.kernel(chosen.geometry)
        if only is not None:
            chosen = chosen.select(observer=only)
        total = (engine or engine_at("local")).sum_over_observers(chosen, kernel, tell).total
        return self.means(self.measure(total[None, :], noise)[0], people)

    def to_dict(self) -> dict[str, Any]:
        """Return the mechanism and its parameters as plain values."""
        return {
            "mechanism": "aoi-statistics",
            "epsilon": as_text(self.epsilon),
            "delta": "0" if self.delta is None else as_text(self.delta),
            "neighbours": str(self.neighbours),
            "observers": self.observers,
            "confidence": self.confidence,
            "statistics": [statistic.to_dict() for statistic in self.statistics],
            "detector": {"name": self.detector.name, **asdict(self.detector)},  # type: ignore[call-overload]
            "noise": sorted({str(law.law) for law in self.noises()}),
            "areas": {
                stimulus: {
                    "geometry": areas.geometry.to_dict(),
                    "areas": [{"shape": type(area).__name__.lower(), **asdict(area)} for area in areas],
                }
                for stimulus, areas in self.areas
            },
        }


def _name(engine: Engine | None) -> str:
    return "local" if engine is None else type(engine).__name__


def _delta(delta: Number) -> Fraction:
    number = exact(delta, "delta")
    if not 0 < number < 1:
        raise OptionError(f"delta must lie between 0 and 1, not at {delta!r}")
    return number


def _relation(neighbours: Neighbours | str) -> Neighbours:
    try:
        return Neighbours(neighbours)
    except ValueError:
        raise OptionError(f"neighbours are replace-one or add-remove, not {neighbours!r}") from None


def _confidence(confidence: float) -> float:
    if isinstance(confidence, bool) or not (math.isfinite(confidence) and 0.5 <= confidence < 1):
        raise OptionError(f"confidence must be from 0.5 to below 1, not {confidence!r}")
    return float(confidence)
