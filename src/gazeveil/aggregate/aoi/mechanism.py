# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Private statistics of areas of interest: one budget, any number of statistics and stimuli, groups side by side.

Who is in which group is public and nobody is in two. So each participant is in one release only, and the guarantee for
each is that of their own group's release (parallel composition).
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import polars as pl

from gazeveil.aggregate.aoi.noisy_means import Difference, Law, Noise, NoisyMean, share_out
from gazeveil.aggregate.aoi.statistics import MOST_CELLS, AoiKernel, DwellShare, Question, Statistic
from gazeveil.aggregate.aoi.tables import differences_table, means_table, prediction_table
from gazeveil.aggregate.strategy import NoisySum
from gazeveil.arrays import IntArray
from gazeveil.display import brief
from gazeveil.errors import FileFormatError, GeometryError, InputError, OptionError
from gazeveil.exact import Number, above_zero, as_text, exact
from gazeveil.gaze.aoi import AreasOfInterest
from gazeveil.gaze.events import Detector, DispersionThreshold
from gazeveil.gaze.recording import Recording
from gazeveil.geometry import Geometry
from gazeveil.noise import NoiseSource
from gazeveil.options import check_settings, setting
from gazeveil.privacy.guarantee import ApproxDP, Guarantee, PureDP
from gazeveil.privacy.protection import Neighbours


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
        found = []
        if self.observers == 1:
            found.append("there is one participant: what is released is that participant's gaze and noise")
        hidden = sorted(
            {
                question.statistic.name
                for question, mean in zip(self.questions, self.expected_means(), strict=True)
                if mean.noise.quantile(1 - self.confidence) >= self.observers * mean.largest / 2
            }
        )
        if hidden:
            found.append(
                f"the noise hides all there is to see in: {', '.join(hidden)} "
                "(more participants, a larger ε, fewer statistics or smaller caps would help)"
            )
        return tuple(found)

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


# --- The parameters of a release.


_DWELL = DwellShare()
CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True, init=False)
class AoiStatistics:
    """Statistics of areas of interest with a participant-level guarantee. Everything here is public.

    Attributes:
        areas: For each stimulus its areas; None for those that the study declares.
        statistics: What is asked of each stimulus.
        epsilon: The total ε of everything together.
        delta: The δ of everything together; by default the study's, with 0 the guarantee is pure. It is
            spent only where it buys less noise.
        detector: What finds fixations.
        confidence: Confidence of the intervals, each by itself.
        picture_prior: Whether declared pictures shape shares of time. These are then given a second time, drawn towards
            what the picture says, beside the unbiased ones.
    """

    product: ClassVar[str] = "aoi"

    areas: tuple[tuple[str, AreasOfInterest], ...] | None
    statistics: tuple[Statistic, ...]
    epsilon: Fraction = setting(metavar="NUMBER")
    delta: Fraction | None = setting(None, metavar="NUMBER")
    detector: Detector = setting("idt", names="detector")
    confidence: float = setting(CONFIDENCE, least=0.5, below=1)
    picture_prior: bool = setting(True)

    __repr__ = brief

    def __init__(
        self,
        areas: Mapping[str, AreasOfInterest] | Iterable[tuple[str, AreasOfInterest]] | None = None,
        statistics: Statistic | tuple[Statistic, ...] = _DWELL,
        *,
        epsilon: Number,
        delta: Number | None = None,
        detector: Detector | None = None,
        confidence: float = CONFIDENCE,
        picture_prior: bool = True,
    ) -> None:
        asked = statistics if isinstance(statistics, tuple) else (statistics,)
        values = {
            "areas": None if areas is None else tuple(sorted(dict(areas).items())),
            "statistics": asked,
            "epsilon": above_zero(epsilon, "epsilon"),
            "delta": None if delta is None else _delta(delta),
            "detector": DispersionThreshold() if detector is None else detector,
            "confidence": confidence,
            "picture_prior": picture_prior,
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)
        check_settings(self)
        if not asked or (areas is not None and not areas):
            raise OptionError("say which statistics of which areas to release")
        if len({statistic.name for statistic in asked}) < len(asked):
            raise OptionError("a statistic is asked for twice", hint="ask once; each time costs")

    def plan_for(
        self,
        areas: Iterable[tuple[str, AreasOfInterest]],
        screen: Geometry,
        observers: int,
        neighbours: Neighbours,
        delta: Fraction,
        stated: tuple[str, ...] | None = None,
    ) -> AoiPlan:
        """Return how the statistics of this many participants are released: a matter of public facts.

        ``stated`` is what lists of fixations state, where participants' recordings are such lists.

        Raises:
            GeometryError: If the areas do not fit the screen, or fixations cannot be found on it.
            OptionError: If a statistic has no number for these areas, or too many.
        """
        return AoiPlan(
            questions=tuple(Question(name, drawn, statistic) for name, drawn in areas for statistic in self.statistics),
            screen=screen,
            detector=self.detector,
            epsilon=self.epsilon,
            delta=delta,
            neighbours=neighbours,
            observers=observers,
            confidence=self.confidence,
            stated=stated,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the mechanism and its parameters as plain values; the areas are the plan's."""
        return {
            "mechanism": "aoi-statistics",
            "epsilon": as_text(self.epsilon),
            "delta": None if self.delta is None else as_text(self.delta),
            "confidence": self.confidence,
            "statistics": [statistic.to_dict() for statistic in self.statistics],
            "detector": {"name": self.detector.name, **asdict(self.detector)},  # type: ignore[call-overload]
        }


def _delta(delta: Number) -> Fraction:
    number = exact(delta, "delta")
    if not 0 <= number < 1:
        raise OptionError(f"delta must lie between 0 and 1, not at {delta!r}")
    return number


# --- Groups of participants side by side, for example experts and novices, and the differences between them.


MINUS = " − "
"""Between two groups whose difference is shown."""


@dataclass(frozen=True, slots=True, init=False)
class GroupComparison:
    """The same statistics of several groups of different participants, and the differences between every two of them.

    Attributes:
        statistics: What is released of each group.
        groups: The groups and who is in them, which is public; None for those that the study declares.
    """

    product: ClassVar[str] = "aoi"

    statistics: AoiStatistics
    groups: tuple[tuple[str, frozenset[str]], ...] | None

    def __init__(self, statistics: AoiStatistics, groups: Mapping[str, Collection[str]] | None = None) -> None:
        given = None if groups is None else tuple((name, frozenset(people)) for name, people in groups.items())
        object.__setattr__(self, "statistics", statistics)
        object.__setattr__(self, "groups", given)

    __repr__ = brief


def comparison_table(
    questions: Sequence[Question], means: Mapping[str, Sequence[NoisyMean]], confidence: float
) -> pl.DataFrame:
    """Return the means of each group, and the difference between every two of them."""
    tables = [means_table(questions, found, confidence, name) for name, found in means.items()]
    for one, other in itertools.combinations(means, 2):
        differences = [Difference(first, second) for first, second in zip(means[one], means[other], strict=True)]
        tables.append(differences_table(questions, differences, confidence, f"{one}{MINUS}{other}"))
    return pl.concat(tables)


def read_groups(path: Path | str) -> dict[str, set[str]]:
    """Read who is in which group from a CSV file with the columns ``observer`` and ``group``.

    Raises:
        FileFormatError: If the file is something else, or someone is in it twice.
    """
    path = Path(path)
    try:
        table = pl.read_csv(path, infer_schema=False)
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}") from None
    except (pl.exceptions.PolarsError, UnicodeDecodeError) as error:
        raise FileFormatError(path, expected="a CSV file", found=str(error).split("\n", 1)[0]) from None
    for column in ("observer", "group"):
        if column not in table.columns:
            found = ", ".join(table.columns) or "nothing"
            raise FileFormatError(path, column=column, expected="a column of this name", found=found)
    groups: dict[str, set[str]] = {}
    seen: set[str] = set()
    for line, (observer, group) in enumerate(table.select("observer", "group").iter_rows(), start=2):
        for column, value in (("observer", observer), ("group", group)):
            if not value:
                raise FileFormatError(path, line=line, column=column, expected="a name", found="nothing")
        if observer in seen:
            raise FileFormatError(
                path, line=line, column="observer", expected="every participant once", found=f"{observer!r} again"
            )
        seen.add(observer)
        groups.setdefault(group, set()).add(observer)
    return groups
