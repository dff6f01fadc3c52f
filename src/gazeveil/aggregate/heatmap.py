# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""One private heatmap of many participants: what may be spent, and which strategy that buys.

Which strategy is used follows from public facts alone: how many participants there are, ε, δ, the screen, the blur.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from gazeveil.aggregate.grid import WIDEST_DEG, Grid
from gazeveil.aggregate.saliency import Saliency
from gazeveil.aggregate.strategy import STRATEGIES, Strategy, Task, choose
from gazeveil.exact import Number, above_zero, as_text, probability
from gazeveil.geometry import Geometry
from gazeveil.noise import NoiseSource, laplace
from gazeveil.options import check_settings, setting
from gazeveil.privacy.calibration import laplace_scale
from gazeveil.privacy.protection import Neighbours

COUNT_SHARE = Fraction(1, 8)
"""The part of ε that pays for counting the participants, where their number is a secret and nobody declared a guess."""

_ALL = Fraction(1)


@dataclass(frozen=True, slots=True, kw_only=True)
class PrivateHeatmap:
    """A heatmap of many participants under a participant-level guarantee.

    Attributes:
        epsilon: The total ε.
        delta: The δ that may be spent; by default the study's, with 0 the guarantee is pure.
        strategy: How the map is measured; ``auto`` decides by public facts.
        cell_deg: Size of a cell in degrees.
        blur_deg: Blur of the pictures in degrees: the standard deviation of the point-spread function.
        picture: What the stimulus's own pixels say about gaze: `Saliency.of(pixels)`. Without it, what the study
            declares about the stimulus: a map of likely gaze, else its picture.
        picture_prior: Whether declared pictures and maps of likely gaze shape the prior.
    """

    product: ClassVar[str] = "heatmap"

    epsilon: Number = setting(metavar="NUMBER")
    delta: Number | None = setting(None, metavar="NUMBER")
    strategy: str = setting("auto", names="strategy")
    cell_deg: float = setting(1.0, above=0)
    blur_deg: float = setting(1.1, above=0, most=WIDEST_DEG)
    picture: Saliency | None = None
    picture_prior: bool = setting(True)

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", above_zero(self.epsilon, "epsilon"))
        if self.delta is not None:
            object.__setattr__(self, "delta", probability(self.delta, "delta"))
        check_settings(self)
        if self.strategy != "auto":
            STRATEGIES[self.strategy]

    def task_for(
        self, screen: Geometry, observers: int, neighbours: Neighbours, delta: Fraction, *, share: Fraction = _ALL
    ) -> Task:
        """Return the public facts of a map for this many participants on a screen, with a share of ε."""
        return Task(
            grid=Grid.of_degrees(screen, self.cell_deg),
            observers=observers,
            epsilon=above_zero(self.epsilon, "epsilon") * share,
            delta=delta,
            neighbours=neighbours,
            blur_cells=self.blur_deg / self.cell_deg,
            saliency=self.picture,
        )

    def strategy_for(
        self, screen: Geometry, observers: int, neighbours: Neighbours, delta: Fraction, *, share: Fraction = _ALL
    ) -> Strategy:
        """Return the strategy for this many participants on a screen: a matter of public facts."""
        task = self.task_for(screen, observers, neighbours, delta, share=share)
        name = choose(task) if self.strategy == "auto" else self.strategy
        return STRATEGIES[name](task)  # type: ignore[call-arg]

    def noisy_count(self, people: int, noise: NoiseSource) -> int:
        """Count participants with Laplace noise: one more or less changes the count by one."""
        scale = laplace_scale(above_zero(self.epsilon, "epsilon") * COUNT_SHARE, 1)
        return max(1, people + int(laplace(noise, scale)[0]))

    def to_dict(self) -> dict[str, Any]:
        """Return the mechanism and its parameters as plain values."""
        about = {} if self.picture is None else self.picture.to_dict()
        return {
            "mechanism": "private-heatmap",
            "epsilon": as_text(above_zero(self.epsilon, "epsilon")),
            "delta": None if self.delta is None else as_text(probability(self.delta, "delta")),
            "strategy": self.strategy,
            "cell_deg": self.cell_deg,
            "blur_deg": self.blur_deg,
            "picture": None,
            **about,
        }
