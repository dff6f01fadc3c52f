# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Private statistics of areas of interest: one budget, any number of statistics and stimuli, error bars included."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any, ClassVar

from gazeveil.aggregate.aoi.kernel import Question
from gazeveil.aggregate.aoi.plan import AoiPlan
from gazeveil.aggregate.aoi.statistics import DwellShare, Statistic
from gazeveil.errors import OptionError
from gazeveil.exact import Number, above_zero, as_text, exact
from gazeveil.gaze.aoi import AreasOfInterest
from gazeveil.gaze.events import Detector, DispersionThreshold
from gazeveil.geometry import Geometry
from gazeveil.options import check_settings, setting
from gazeveil.privacy.unit import Neighbours
from gazeveil.showing import brief

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
