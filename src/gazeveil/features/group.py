# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The mean series of a group of people on one task, under an observer-level promise: what a lab can publish.

Every person's series becomes a few public coordinates, weighted, clipped to a ball and rounded to integers; the sum
over people gets one noise vector; what follows is public arithmetic. How many coordinates, which noise, where to clip
and how much to trust each coordinate follow from the number of people, ε, δ and the design alone, so the expected error
is known, and told, before anything is spent (feature-strategy, sections 2 and 4).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from gazeveil.errors import OptionError, PrivacyError
from gazeveil.features.design import Ball, Design
from gazeveil.features.series import checked, promise
from gazeveil.features.spherical import Spherical, in_ball
from gazeveil.noise import NoiseSource, to_lattice
from gazeveil.privacy.exact import Number, above_zero, as_text, exact, probability, whole_number
from gazeveil.privacy.guarantee import Guarantee
from gazeveil.privacy.unit import Observer
from gazeveil.types import FloatArray

BOUND = 1 << 20
"""The length that no person's integers exceed."""

_QUANTILE = 0.9
_TASK, _PERSON = 2.0, 0.2
"""How much farther a new task may lie from the mean than public tasks do, and how much of a person's own variation may
be shared by all people of a new task: with less, the predicted error is too small by a third and more."""


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """What will be done, and how well: public numbers.

    Attributes:
        ball: Where people's coordinates are clipped.
        noise: The noise on the sum of people's integers.
        trust: How much of every noisy coordinate is kept, from 0 to 1.
        error: The error to expect, as a part of the declared ranges: root mean square over steps and features.
        floor: The error of publishing the public mean, without any data.
        sd: The standard deviation to expect of every value: steps by features.
    """

    ball: Ball
    noise: Spherical
    trust: FloatArray
    error: float
    floor: float
    sd: FloatArray

    @property
    def is_worth_it(self) -> bool:
        """Whether the release is expected to be at least a tenth better than the public mean."""
        return self.error < 0.9 * self.floor


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


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupSeries:
    """The mean series of a group of people.

    Attributes:
        epsilon: The ε that may be spent, for all features together.
        delta: The δ that may be spent; with 0, or few coordinates, the promise is pure.
        people: How many people there are; public.
        design: The public design.
    """

    name: ClassVar[str] = "group"

    epsilon: Number
    people: int
    design: Design
    delta: Number = 1e-5

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", above_zero(self.epsilon, "epsilon"))
        object.__setattr__(self, "delta", probability(self.delta, "delta"))
        object.__setattr__(self, "people", whole_number(self.people, "people", at_least=1))
        if self.people < 2:
            raise OptionError(
                "a group has at least two people", hint="one person's own series is another product: low-rank"
            )
        if exact(self.delta) * self.people >= 1:
            raise OptionError(
                f"delta {float(exact(self.delta)):g} is no smaller than one in {self.people:,} people",
                hint="choose delta well below one over the number of people",
            )

    @property
    def guarantee(self) -> Guarantee:
        """What is promised: for all that one person contributed, replaced by anything else."""
        return self.plan().noise.guarantee(Observer())

    @property
    def most(self) -> Guarantee:
        """The most that it may cost."""
        return promise(self.epsilon, self.delta, Observer())

    def plan(self) -> Plan:
        """Return the plan with the least expected error: a matter of public numbers."""
        plans = [self._plan(ball) for ball in self.design.series_balls if ball.quantile == _QUANTILE]
        return min(plans, key=lambda plan: plan.error)

    def integers(self, values: FloatArray, plan: Plan) -> NDArray[np.int64]:
        """Return every person's clipped coordinates as integers, one row a person: raw, not private."""
        table = checked(values, self.design.steps, len(self.design.ranges))
        rows = in_ball(self.design.coordinates(table, plan.ball.size) / plan.ball.radius, 1.0)
        whole = to_lattice(rows * BOUND, 1)
        squares = np.sum(whole * whole, axis=1)
        return np.where((squares > BOUND * BOUND)[:, None], whole - np.sign(whole), whole)

    def estimate(self, values: FloatArray, noise: NoiseSource) -> GroupEstimate:
        """Return the noisy mean of people's series, each person by steps by features from 0 to 1.

        Raises:
            PrivacyError: If there are not as many people as declared, or a person's integers are too long.
        """
        if len(values) != self.people:
            raise PrivacyError(f"the release is for {self.people:,} people, not {len(values):,}")
        plan = self.plan()
        whole = self.integers(values, plan)
        if np.any(np.sum(whole * whole, axis=1) > BOUND * BOUND):
            raise PrivacyError("a person's coordinates are longer than they may be")
        noisy = plan.noise.add(whole.sum(axis=0, dtype=np.float64)[None], noise)
        rows = noisy * (plan.ball.radius / BOUND / self.people) * plan.trust
        public = np.broadcast_to(self.design.mean, (self.design.steps, len(self.design.ranges)))
        return GroupEstimate(np.clip(self.design.series(rows)[0], 0.0, 1.0), plan.sd, public)

    def to_dict(self) -> dict[str, Any]:
        """Return the mechanism and its parameters as plain values."""
        plan = self.plan()
        return {
            "mechanism": self.name,
            "epsilon": as_text(exact(self.epsilon)),
            "delta": as_text(exact(self.delta)),
            "people": self.people,
            "design": self.design.digest,
            "coordinates": plan.ball.size,
            "noise": "radial" if plan.noise.is_radial else "gaussian",
            "expected_error": plan.error,
            "expected_error_of_public_mean": plan.floor,
        }

    def _plan(self, ball: Ball) -> Plan:
        design, size = self.design, ball.size
        noise = Spherical(size, 2.0 * BOUND, self.epsilon, self.delta)
        expected = _TASK * design.between + (_PERSON + 1 / self.people) * design.energies
        shape, component = design.directions
        signal = expected[shape[:size], component[:size]]
        spread = np.square(noise.sd * ball.radius / BOUND / self.people / design.weights[:size])
        trust = signal / (signal + spread)
        outside = (_PERSON + 1 / self.people) * design.rest
        left = expected.copy()
        left[shape[:size], component[:size]] = signal * spread / (signal + spread)
        error = math.sqrt(float(left.sum()) / design.values + outside)
        floor = math.sqrt(float(expected.sum()) / design.values + outside)
        variance = np.square(design.time).T @ left @ np.square(design.components).T
        return Plan(ball, noise, trust, error, floor, np.sqrt(variance + outside))
