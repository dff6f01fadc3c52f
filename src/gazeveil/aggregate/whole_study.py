# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The heatmaps of many stimuli, released together under one guarantee: what may be spent, and the plan it buys.

Every observer gives one vector: what is seen of their map of each stimulus, side by side. All observers' vectors are
added up and get Gaussian noise once. The guarantee covers all of it, whichever stimuli someone saw. Decoding uses that
the stimuli belong together (`gazeveil.aggregate.joint_decoder`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar

from gazeveil.aggregate.choice import choose
from gazeveil.aggregate.grid import Grid
from gazeveil.aggregate.map_view import MAP_VIEWS
from gazeveil.aggregate.render import WIDEST_DEG
from gazeveil.aggregate.saliency import Saliency
from gazeveil.aggregate.strategy import STRATEGIES, Strategy, Task
from gazeveil.aggregate.study_plan import LEAST_WEIGHT, StudyPlan
from gazeveil.errors import OptionError, closest
from gazeveil.exact import Number, above_zero, chance_of_failure
from gazeveil.geometry import Geometry
from gazeveil.options import check_settings, setting
from gazeveil.privacy.unit import Neighbours
from gazeveil.showing import brief


@dataclass(frozen=True, slots=True, kw_only=True)
class PrivateHeatmaps:
    """The heatmaps of many stimuli under one participant-level guarantee.

    Attributes:
        epsilon: The total ε of all maps together.
        delta: The δ that may be spent on all of it together; by default the study's.
        weights: How much a stimulus matters, where that is not 1. Twice the weight has half the noise per
            participant. Public.
        most_stimuli: The most stimuli that one participant was shown, if that is fewer than all and public. What goes
            beyond is scaled down; the noise falls with the square root.
        strategy: How the maps are measured.
        mean_only: Release nothing but the mean over all stimuli, with the whole budget.
        cell_deg: Size of a cell in degrees.
        blur_deg: Blur of the pictures in degrees: the standard deviation of the point-spread function.
        pictures: What the pixels of stimuli say about gaze, by name: `Saliency.of(pixels)`. Of the others, what the
            study declares: a map of likely gaze, else the picture.
        picture_prior: Whether declared pictures and maps of likely gaze shape the prior.
    """

    product: ClassVar[str] = "heatmaps"

    epsilon: Number = setting(metavar="NUMBER")
    delta: Number | None = setting(None, metavar="NUMBER")
    weights: Mapping[str, float] = field(default_factory=dict)
    most_stimuli: int | None = setting(None, least=1)
    strategy: str = setting("bumps", names="strategies")
    mean_only: bool = setting(False)
    cell_deg: float = setting(1.0, above=0)
    blur_deg: float = setting(1.1, above=0, most=WIDEST_DEG)
    pictures: Mapping[str, Saliency] = field(default_factory=dict)
    picture_prior: bool = setting(True)

    __repr__ = brief

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", above_zero(self.epsilon, "epsilon"))
        if self.delta is not None:
            object.__setattr__(self, "delta", chance_of_failure(self.delta, "delta"))
        check_settings(self)
        if self.strategy not in MAP_VIEWS:
            raise OptionError(
                f"many maps cannot be released together by the strategy {self.strategy!r}",
                hint=closest(self.strategy, MAP_VIEWS),
            )
        object.__setattr__(self, "weights", _checked_weights(self.weights))
        if self.mean_only and (self.weights or self.most_stimuli is not None):
            raise OptionError("the mean alone weighs all gaze alike: weights and most_stimuli do not apply to it")

    def plan_for(
        self, screen: Geometry, stimuli: tuple[str, ...], observers: int, neighbours: Neighbours, delta: Fraction
    ) -> StudyPlan:
        """Return how this many participants' maps of these stimuli are released: a matter of public facts.

        Raises:
            OptionError: If there are fewer than two stimuli, or weights of unknown ones, or too many numbers.
        """
        if len(stimuli) < 2:
            raise OptionError(
                f"a whole study has at least two stimuli, not {len(stimuli)}",
                hint="release a single one with PrivateHeatmap, or `gazeveil heatmap`",
            )
        if unknown := sorted(set(self.weights) - set(stimuli)):
            raise OptionError(
                f"there are weights for stimuli that are not released: {', '.join(map(repr, unknown[:4]))}",
                hint=f"the stimuli are {', '.join(map(repr, stimuli[:6]))}{'…' if len(stimuli) > 6 else ''}",
            )
        return StudyPlan(
            grid=Grid.of_degrees(screen, self.cell_deg),
            stimuli=stimuli,
            weights=tuple(self.weights.get(name, 1.0) for name in stimuli),
            observers=observers,
            epsilon=self.epsilon,
            delta=delta,
            neighbours=neighbours,
            strategy=self.strategy,
            most_stimuli=min(self.most_stimuli or len(stimuli), len(stimuli)),
            blur_cells=self.blur_deg / self.cell_deg,
            pictures=tuple((name, self.pictures[name]) for name in stimuli if name in self.pictures),
        )

    def strategy_for(self, screen: Geometry, observers: int, neighbours: Neighbours, delta: Fraction) -> Strategy:
        """Return how the mean alone is released: as one heatmap of everything that everyone looked at."""
        task = Task(
            grid=Grid.of_degrees(screen, self.cell_deg),
            observers=observers,
            epsilon=self.epsilon,
            delta=delta,
            neighbours=neighbours,
            blur_cells=self.blur_deg / self.cell_deg,
        )
        return STRATEGIES[choose(task)](task)  # type: ignore[call-arg]


def _checked_weights(weights: Mapping[str, Any]) -> dict[str, float]:
    checked = {}
    for name, weight in dict(weights).items():
        if isinstance(weight, bool) or not isinstance(weight, int | float) or not 0 < weight < math.inf:
            raise OptionError(
                f"the weight of {name!r} must be a positive number, not {weight!r}",
                hint="leave a stimulus out instead of giving it no weight",
            )
        checked[str(name)] = float(weight)
    if checked and LEAST_WEIGHT * max(*checked.values(), 1.0) > min(*checked.values(), 1.0):
        raise OptionError(f"weights differ by more than {1 / LEAST_WEIGHT:,.0f} to 1", hint="those without one weigh 1")
    return checked
