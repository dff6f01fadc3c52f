# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The mean series of a group of participants on one task, under an observer-level guarantee.

Every participant's series becomes a few public coordinates, weighted, clipped to a ball and rounded to integers; the
sum over participants gets one noise vector; the rest is public arithmetic. How many coordinates, which noise, where
to clip and how much to trust each coordinate follow from the number of participants, ε, δ and the design alone, so the
expected error is known, and reported, before anything is spent.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from gazeveil.arrays import FloatArray
from gazeveil.errors import OptionError, PrivacyError
from gazeveil.exact import Number, above_zero, as_text, exact, probability
from gazeveil.features.design import Ball, Design, error_interval
from gazeveil.features.series import checked
from gazeveil.features.spherical_noise import SphericalNoise, in_ball
from gazeveil.noise import NoiseSource, to_lattice
from gazeveil.options import setting
from gazeveil.privacy.guarantee import Guarantee
from gazeveil.privacy.protection import Observer

BOUND = 1 << 20
"""The length that no participant's integers exceed."""

_QUANTILE = 0.9
_TASK, _PARTICIPANT = 2.0, 0.2
"""How much farther a new task may lie from the mean than public tasks do, and how much of a participant's own variation
all participants of a new task may share: the cautious values, for the decoder's trust and the error bars."""

_USUAL_TASK, _USUAL_PARTICIPANT = 1.0, 0.05
"""The usual values, for the forecast; they were fitted to held-out tasks (`gazeveil lab experiment forecast --product
feature-group`). With the cautious values the forecast would make publishing nothing look half as bad again as it is,
and any release worth its budget."""

_INTERVAL_WIDENING = 0.42
"""How much wider than by chance alone the errors of held-out tasks are spread (`error_interval`)."""


@dataclass(frozen=True, slots=True, eq=False)
class GroupPlan:
    """How a group is released, and how well: public numbers.

    Attributes:
        ball: Where participants' coordinates are clipped.
        noise: The noise on the sum of participants' integers.
        trust: How much of every noisy coordinate is kept, from 0 to 1.
        error: The error to expect, as a part of the declared ranges: root mean square over steps and features.
        interval: Between which errors 9 of 10 groups are expected to lie.
        floor: The error of publishing the public mean, without any data.
        sd: The standard deviation to expect of every value: steps by features.
    """

    ball: Ball
    noise: SphericalNoise
    trust: FloatArray
    error: float
    interval: tuple[float, float]
    floor: float
    sd: FloatArray

    def __repr__(self) -> str:
        return f"GroupPlan({len(self.trust):,} coordinates, error {self.error:.2g}, public mean {self.floor:.2g})"


@dataclass(frozen=True, slots=True, eq=False)
class GroupEstimate:
    """A group's mean series and how much to trust it; values as parts of the declared ranges.

    Attributes:
        mean: Steps by features.
        sd: What noise, clipping and few coordinates leave uncertain, as a standard deviation.
        public: What would have been published without any data.
    """

    mean: FloatArray
    sd: FloatArray
    public: FloatArray

    def __repr__(self) -> str:
        steps, features = self.mean.shape
        return f"GroupEstimate({steps:,} steps of {features:,} features)"


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupSeries:
    """The mean series of a group of participants. How many they are is a fact of the study.

    Attributes:
        epsilon: The ε that may be spent, for all features together.
        design: The public design.
        delta: The δ that may be spent; with 0, or few coordinates, the guarantee is pure.
    """

    name: ClassVar[str] = "group"
    product: ClassVar[str] = "feature-group"

    epsilon: Number = setting(metavar="NUMBER")
    design: Design
    delta: Number = setting("1e-5", metavar="NUMBER")

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", above_zero(self.epsilon, "epsilon"))
        object.__setattr__(self, "delta", probability(self.delta, "delta"))

    def guarantee(self, people: int) -> Guarantee:
        """What is guaranteed: for all that one participant contributed, replaced by anything else."""
        return self.plan(people).noise.guarantee(Observer())

    def plan(self, people: int) -> GroupPlan:
        """Return the plan with the least expected error: a matter of public numbers.

        Raises:
            OptionError: If there are fewer than two participants.
        """
        if people < 2:
            raise OptionError(
                "a group has at least two participants",
                hint="one participant's own series is another product: low-rank",
            )
        plans = [self._plan(ball, people) for ball in self.design.series_balls if ball.quantile == _QUANTILE]
        return min(plans, key=lambda judged: judged[0])[1]

    def integers(self, values: FloatArray, plan: GroupPlan) -> NDArray[np.int64]:
        """Return every participant's clipped coordinates as integers, one row each: raw, not private."""
        table = checked(values, self.design.steps, len(self.design.ranges))
        rows = in_ball(self.design.coordinates(table, plan.ball.size) / plan.ball.radius, 1.0)
        whole = to_lattice(rows * BOUND, 1)
        squares = np.sum(whole * whole, axis=1)
        return np.where((squares > BOUND * BOUND)[:, None], whole - np.sign(whole), whole)

    def measure(self, values: FloatArray, people: int, noise: NoiseSource, times: int = 1) -> FloatArray:
        """Return the noisy sum of coordinates over participants, from one series each: steps by features from 0 to 1.

        A participant at the public mean adds nothing to the sum, so those who are absent may be left out. With
        ``times`` there are as many rows, each with noise of its own: a release has one, an audit very many.

        Raises:
            PrivacyError: If a participant's integers are too long.
        """
        plan = self.plan(people)
        whole = self.integers(values, plan)
        if np.any(np.sum(whole * whole, axis=1) > BOUND * BOUND):
            raise PrivacyError("a participant's coordinates are longer than they may be")
        return plan.noise.add(np.tile(whole.sum(axis=0, dtype=np.float64), (times, 1)), noise)

    def estimate(self, values: FloatArray, noise: NoiseSource) -> GroupEstimate:
        """Return the noisy mean of series, one a participant: what a release does with them, for experiments."""
        return self.decode(self.measure(values, len(values), noise), len(values))

    def decode(self, noisy: FloatArray, people: int) -> GroupEstimate:
        """Return the group's series from the noisy sum."""
        plan = self.plan(people)
        rows = noisy * (plan.ball.radius / BOUND / people) * plan.trust
        public = np.broadcast_to(self.design.mean, (self.design.steps, len(self.design.ranges)))
        return GroupEstimate(np.clip(self.design.series(rows)[0], 0.0, 1.0), plan.sd, public)

    def to_dict(self, people: int) -> dict[str, Any]:
        """Return the mechanism and its parameters for this many participants as plain values."""
        plan = self.plan(people)
        return {
            "mechanism": self.name,
            "epsilon": as_text(exact(self.epsilon)),
            "delta": as_text(exact(self.delta)),
            "participants": people,
            "design": self.design.digest,
            "coordinates": plan.ball.size,
            "noise": "radial" if plan.noise.is_radial else "gaussian",
            "expected_error": plan.error,
            "expected_error_of_public_mean": plan.floor,
        }

    def _plan(self, ball: Ball, people: int) -> tuple[float, GroupPlan]:
        """Return the cautiously expected error of the plan with one ball, and the plan."""
        design, size = self.design, ball.size
        noise = SphericalNoise(size, 2.0 * BOUND, self.epsilon, self.delta)
        expected = _TASK * design.between + (_PARTICIPANT + 1 / people) * design.energies
        shape, component = design.directions
        signal = expected[shape[:size], component[:size]]
        spread = np.square(noise.sd * ball.radius / BOUND / people / design.weights[:size])
        trust = signal / (signal + spread)
        outside = (_PARTICIPANT + 1 / people) * design.rest
        left = expected.copy()
        left[shape[:size], component[:size]] = signal * spread / (signal + spread)
        cautious = math.sqrt(float(left.sum()) / design.values + outside)
        variance = np.square(design.time).T @ left @ np.square(design.components).T
        error, interval, floor = self._usual(size, people, trust, spread)
        return cautious, GroupPlan(ball, noise, trust, error, interval, floor, np.sqrt(variance + outside))

    def _usual(
        self, size: int, people: int, trust: FloatArray, spread: FloatArray
    ) -> tuple[float, tuple[float, float], float]:
        """Return the error to expect of a usual task, its interval, and the error of publishing the public mean."""
        design = self.design
        usual = _USUAL_TASK * design.between + (_USUAL_PARTICIPANT + 1 / people) * design.energies
        outside = (_USUAL_PARTICIPANT + 1 / people) * design.rest
        shape, component = design.directions
        where = (shape[:size], component[:size])
        left = usual.copy()
        left[where] = np.square(1 - trust) * usual[where] + np.square(trust) * spread
        error, floor = (math.sqrt(float(energy.sum()) / design.values + outside) for energy in (left, usual))
        return error, error_interval(error, left, design.values, _INTERVAL_WIDENING), floor
