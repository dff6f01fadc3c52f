# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""How statistics of areas of interest are released, as public numbers: kernel, noise, means, and what to expect."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl

from gazeveil.aggregate.aoi.intervals import NoisyMean
from gazeveil.aggregate.aoi.kernel import AoiKernel, Question
from gazeveil.aggregate.aoi.noise import Law, Noise, share_out
from gazeveil.aggregate.aoi.statistics import MOST_CELLS
from gazeveil.aggregate.aoi.table import prediction_table
from gazeveil.aggregate.noisy_sum import NoisySum
from gazeveil.errors import GeometryError, OptionError
from gazeveil.exact import as_text
from gazeveil.gaze.events import Detector
from gazeveil.gaze.recording import Recording
from gazeveil.geometry import Geometry
from gazeveil.noise import NoiseSource
from gazeveil.privacy.guarantee import ApproxDP, Guarantee, PureDP
from gazeveil.privacy.unit import Neighbours
from gazeveil.types import IntArray


@dataclass(frozen=True, slots=True, kw_only=True)
class AoiPlan(NoisySum):
    """The public facts about one release of statistics (docs/proofs/aoi-statistics.md).

    Attributes:
        questions: Every statistic of every stimulus, in the order of release.
        screen: The viewing plane of the gaze.
        detector: How fixations are found.
        epsilon: The ε of everything together.
        delta: The δ of everything together; 0 for a pure guarantee.
        neighbours: How neighbouring data sets differ.
        observers: How many participants means are over.
        confidence: What intervals cover with.
        stated: None for samples; for lists of fixations, what they state of each.
    """

    questions: tuple[Question, ...]
    screen: Geometry
    detector: Detector
    epsilon: Fraction
    delta: Fraction
    neighbours: Neighbours
    observers: int
    confidence: float
    stated: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        nothing = np.empty(0)
        for question in self.questions:
            if not 1 <= question.bounds.cells <= MOST_CELLS:
                raise OptionError(
                    f"{question.statistic.name!r} of {question.stimulus!r} has {question.bounds.cells:,} numbers "
                    f"for {len(question.areas)} areas",
                    hint=f"from 1 to {MOST_CELLS:,} can be released",
                )
            question.areas.hits(Recording(nothing, nothing, nothing, self.screen, "nobody", question.stimulus))
            detects = question.statistic.needs_fixations and self.stated is None
            if detects and not self.screen.knows_degrees:
                raise GeometryError(
                    "fixations need degrees, and the size of the screen in degrees is not known",
                    hint="give the screen's size and distance (--size-mm and --distance-mm), or ask for dwell only",
                )

    @property
    def guarantee(self) -> Guarantee:
        """What is guaranteed, before any data are seen; pure, where that takes less noise than the δ allows."""
        if self.noises()[0].law is Law.GAUSSIAN:
            return ApproxDP(self.epsilon, self.delta, neighbours=self.neighbours)
        return PureDP(self.epsilon, neighbours=self.neighbours)

    def noises(self) -> tuple[Noise, ...]:
        """Return the noise of each question."""
        bounds = [question.bounds for question in self.questions]
        return share_out(bounds, self.epsilon, self.delta or None, self.neighbours)

    def kernel(self) -> AoiKernel:
        """Return what turns one observer's rows into integers."""
        return AoiKernel(self.questions, self.screen, self.detector, self.stated)

    def _noised(self, total: IntArray, noise: NoiseSource) -> IntArray:
        edges = np.cumsum([question.bounds.cells for question in self.questions])[:-1]
        blocks = np.split(np.atleast_2d(total), edges, axis=1)
        noisy = np.hstack([law.add(block, noise) for law, block in zip(self.noises(), blocks, strict=True)])
        return noisy.reshape(total.shape)

    def means(self, noisy: IntArray) -> list[NoisyMean]:
        """Return the noisy means of each question, from the noisy sums alone."""
        found, start, people = [], 0, self.observers
        for question, law in zip(self.questions, self.noises(), strict=True):
            bounds = question.bounds
            block = noisy[start : start + bounds.cells]
            found.append(NoisyMean(block / (people * bounds.largest), people, bounds.largest, 1 / bounds.largest, law))
            start += bounds.cells
        return found

    def predicted_error(self) -> pl.DataFrame:
        """Return how far off the release will be, before anything is spent."""
        return prediction_table(self.questions, self.expected_means(), self.confidence)

    def expected_means(self) -> list[NoisyMean]:
        """Return means of nobody for each question: how many numbers it has, and the noise on them."""
        return self.means(self._nothing())

    def cautions(self) -> tuple[str, ...]:
        """Return what someone should know before spending."""
        told = []
        if self.observers == 1:
            told.append("there is one participant: what is released is that participant's gaze and noise")
        hidden = sorted(
            {
                question.statistic.name
                for question, mean in zip(self.questions, self.expected_means(), strict=True)
                if mean.noise.quantile(1 - self.confidence) >= self.observers * mean.largest / 2
            }
        )
        if hidden:
            told.append(
                f"the noise hides all there is to see in: {', '.join(hidden)} "
                "(more participants, a larger ε, fewer statistics or smaller caps would help)"
            )
        return tuple(told)

    def to_dict(self) -> dict[str, Any]:
        """Return what is spent, the noise and the areas as plain values."""
        drawn = {question.stimulus: question.areas for question in self.questions}
        return {
            "delta": as_text(self.delta),
            "neighbours": str(self.neighbours),
            "noise": sorted({str(noise.law) for noise in self.noises()}),
            "areas": {
                stimulus: {
                    "geometry": areas.geometry.to_dict(),
                    "areas": [{"shape": type(area).__name__.lower(), **asdict(area)} for area in areas],
                }
                for stimulus, areas in drawn.items()
            },
        }

    def _nothing(self) -> IntArray:
        return np.zeros(sum(question.bounds.cells for question in self.questions), dtype=np.int64)
