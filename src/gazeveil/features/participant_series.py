# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""A participant's own series through few public directions and one noise vector: the recommended mechanism.

It has two guarantees, which differ much. With a ``stretch`` it hides what happened within any N consecutive
steps: every step's vector of features is clipped to a ball, and slow shapes over time get noise. Without one it hides
everything that the participant contributed: the whole series is clipped to one ball. That is mostly useless up to ε of
3: it then says little more than the public mean does, as `ParticipantPlan.error` tells beforehand.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from gazeveil.arrays import FloatArray
from gazeveil.errors import OptionError
from gazeveil.exact import Number, above_zero, as_text, exact, probability, whole_number
from gazeveil.features.bins import BinRules
from gazeveil.features.design import Ball, Design, error_interval, left_by_averaging, seen_energy
from gazeveil.features.series import checked
from gazeveil.features.spherical_noise import SphericalNoise, in_ball
from gazeveil.noise import NoiseSource
from gazeveil.options import setting
from gazeveil.privacy.guarantee import Guarantee
from gazeveil.privacy.protection import FeatureSeries, Observer, ProtectedUnit, StretchOfGaze

_NEW_PARTICIPANT_ENERGY = 1.15
"""How much more energy participants have who are not in the design: its mean is that of those who are."""

_INTERVAL_WIDENING = 0.22
"""How much wider than by chance alone the errors of held-out participants and tasks are spread (`error_interval`;
`gazeveil lab experiment forecast --product feature-group`)."""

SHAPES = (1, 2, 3, 4, 6, 8, 12, 16, 24)


@dataclass(frozen=True, slots=True)
class RawGaze:
    """A stretch of raw gaze to hide, and the bins through which it could show.

    Attributes:
        seconds: How long the stretch is.
        rules: How the bins are made that the steps of the series are; they bound how far raw gaze reaches.
        window: Seconds over which released bins will be averaged. The plan is made for such windows: what is fast in
            bins averages out in them, and is not worth its noise.
    """

    seconds: float
    rules: BinRules
    window: float = 30.0

    def __post_init__(self) -> None:
        if not (math.isfinite(self.seconds) and self.seconds > 0):
            raise OptionError(f"a stretch of raw gaze lasts more than 0 seconds, not {self.seconds!r}")
        if not (math.isfinite(self.window) and self.window > 0):
            raise OptionError(f"a window lasts more than 0 seconds, not {self.window!r}")


@dataclass(frozen=True, slots=True, eq=False)
class ParticipantPlan:
    """How series are released, and how well: public numbers.

    Attributes:
        ball: Where a step's components, or a series' directions, are clipped.
        shapes: How many shapes over time are released; 0 where whole series are clipped.
        noise: The noise on the coordinates.
        gain: What noisy coordinates are multiplied with.
        error: The error to expect, as a part of the declared ranges; of bins, that of the windows made of them.
        interval: Between which errors 9 of 10 series are expected to lie.
        floor: The error of publishing the public mean.
    """

    ball: Ball
    shapes: int
    noise: SphericalNoise
    gain: FloatArray
    error: float
    interval: tuple[float, float]
    floor: float

    def __repr__(self) -> str:
        return f"ParticipantPlan(error {self.error:.2g}, public mean {self.floor:.2g})"


@dataclass(frozen=True, slots=True, kw_only=True)
class ParticipantSeries:
    """One participant's own series through few public directions.

    Attributes:
        epsilon: The ε that all features of a participant cost together.
        design: The public design.
        delta: The δ that may be spent; with 0, or few numbers, the guarantee is pure.
        stretch: How many consecutive steps the guarantee hides; None for all that the participant contributed.
        raw: How steps depend on raw gaze, if the guarantee is to be about raw gaze; it then decides the stretch.
    """

    name: ClassVar[str] = "low-rank"
    product: ClassVar[str] = "feature-series"

    epsilon: Number = setting(metavar="NUMBER")
    design: Design
    delta: Number = setting(0, metavar="NUMBER")
    stretch: int | None = setting(None)
    raw: RawGaze | None = None

    def __post_init__(self) -> None:
        fix = object.__setattr__
        fix(self, "epsilon", above_zero(self.epsilon, "epsilon"))
        fix(self, "delta", probability(self.delta, "delta"))
        if self.raw is not None:
            touched = min(self.raw.rules.touched(self.raw.seconds), self.design.steps)
            if self.stretch not in (None, touched):
                raise OptionError("say how many seconds of raw gaze to hide, or how many steps, not both")
            fix(self, "stretch", touched)
        if self.stretch is not None:
            fix(self, "stretch", whole_number(self.stretch, "stretch", at_least=1))
            if self.stretch > self.design.steps:
                raise OptionError(f"a stretch of {self.stretch:,} steps is longer than the series")

    @property
    def steps(self) -> int:
        """How long a series is."""
        return self.design.steps

    @property
    def unit(self) -> ProtectedUnit:
        """What the guarantee protects."""
        if self.raw is not None:
            return StretchOfGaze(self.raw.seconds)
        return Observer() if self.stretch is None else FeatureSeries(self.stretch)

    @property
    def guarantee(self) -> Guarantee:
        """What is guaranteed to every participant, before any data is seen."""
        return self.plan().noise.guarantee(self.unit)

    def plan(self) -> ParticipantPlan:
        """Return the plan with the least expected error: a matter of public numbers."""
        if self.stretch is None:
            plans = [self._whole(ball) for ball in self.design.series_balls]
        else:
            most = len(self.design.energies)
            plans = [self._steps(ball, count) for ball in self.design.step_balls for count in SHAPES if count <= most]
        return min(plans, key=lambda plan: plan.error)

    def epsilon_by_steps(self) -> list[tuple[int, Fraction]]:
        """Return the ε that the same noise guarantees for stretches of 1, 2, 4, … steps up to the whole series."""
        plan = self.plan()
        if self.stretch is None:
            return [(self.steps, exact(self.epsilon))]
        lengths = sorted({min(1 << j, self.steps) for j in range(self.steps.bit_length() + 1)} | {self.stretch})
        return [(length, plan.noise.epsilon_at(self._change(plan.ball, plan.shapes, length))) for length in lengths]

    def epsilon_by_seconds(self) -> list[tuple[float, Fraction]]:
        """Return the ε that the same noise guarantees for stretches of raw gaze, in seconds, up to the whole recording.

        Raises:
            OptionError: If the guarantee is not about raw gaze.
        """
        if self.raw is None or self.stretch is None:
            raise OptionError("only a guarantee about raw gaze can be stated in seconds")
        plan, whole = self.plan(), self.steps * self.raw.rules.width
        usual = (0.1, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 300.0, self.raw.seconds)
        some = sorted({seconds for seconds in usual if seconds < whole} | {whole})
        rows = []
        for seconds in some:
            length = min(self.raw.rules.touched(seconds), self.steps)
            rows.append((seconds, plan.noise.epsilon_at(self._change(plan.ball, plan.shapes, length))))
        return rows

    def perturb(self, values: FloatArray, noise: NoiseSource) -> FloatArray:
        """Return noisy series: participants by steps by features, each value from 0 to 1."""
        plan = self.plan()
        return self._decode(self.measure(values, noise, plan), plan)

    def measure(self, values: FloatArray, noise: NoiseSource, plan: ParticipantPlan) -> FloatArray:
        """Return everyone's noisy coordinates, one row each: the only step that sees both data and noise."""
        return plan.noise.add(self.coordinates(values, plan), noise)

    def coordinates(self, values: FloatArray, plan: ParticipantPlan) -> FloatArray:
        """Return everyone's clipped coordinates, one row each: raw, not private."""
        table, size = checked(values, self.design.steps, len(self.design.ranges)), plan.ball.size
        if self.stretch is None:
            return in_ball(self.design.coordinates(table, size), plan.ball.radius)
        mixing = self.design.components[:, :size] * self.design.component_weights[:size]
        vectors = in_ball((table - self.design.mean) @ mixing, plan.ball.radius)
        parts = np.einsum("kt,ntp->nkp", self.design.time[: plan.shapes], vectors, optimize=True)
        return np.asarray(parts.reshape(len(table), -1))

    def _decode(self, noisy: FloatArray, plan: ParticipantPlan) -> FloatArray:
        if self.stretch is None:
            return np.clip(self.design.series(noisy * plan.gain), 0.0, 1.0)
        size = plan.ball.size
        parts = noisy.reshape(len(noisy), plan.shapes, size) * plan.gain / self.design.component_weights[:size]
        time, mixing = self.design.time[: plan.shapes], self.design.components[:, :size]
        series = np.einsum("kt,nkp,fp->ntf", time, parts, mixing, optimize=True) + self.design.mean
        return np.asarray(np.clip(series, 0.0, 1.0))

    def to_dict(self) -> dict[str, Any]:
        """Return the mechanism and its parameters as plain values."""
        plan = self.plan()
        return {
            "mechanism": self.name,
            "epsilon": as_text(exact(self.epsilon)),
            "delta": as_text(exact(self.delta)),
            "stretch": self.stretch,
            "raw_gaze_seconds": None if self.raw is None else self.raw.seconds,
            "averaged_over_seconds": None if self.raw is None else self.raw.window,
            "design": self.design.digest,
            "numbers": plan.noise.dimension,
            "shapes": plan.shapes,
            "noise": "radial" if plan.noise.is_radial else "gaussian",
            "expected_error": plan.error,
            "expected_error_of_public_mean": plan.floor,
        }

    def _change(self, ball: Ball, count: int, length: int) -> float:
        """Return how far a stretch of this many steps moves the coordinates: each step by a ball's width at most."""
        seen = seen_energy(self.design.kind, self.design.steps, count, length)
        return 2 * ball.radius * math.sqrt(length * seen)

    def _whole(self, ball: Ball) -> ParticipantPlan:
        design = self.design
        noise = SphericalNoise(ball.size, 2 * ball.radius, self.epsilon, self.delta)
        shape, component = design.directions
        where = (shape[: ball.size], component[: ball.size])
        return self._judged(ball, 0, noise, where, design.weights[: ball.size])

    def _steps(self, ball: Ball, count: int) -> ParticipantPlan:
        design = self.design
        change = self._change(ball, count, self.stretch or design.steps)
        noise = SphericalNoise(ball.size * count, change, self.epsilon, self.delta)
        weights = np.broadcast_to(design.component_weights[: ball.size], (count, ball.size))
        return self._judged(ball, count, noise, (slice(count), slice(ball.size)), weights)

    def _judged(
        self, ball: Ball, count: int, noise: SphericalNoise, where: Any, weights: FloatArray
    ) -> ParticipantPlan:
        """Return a plan with its best gains and its expected error; ``where`` are the coordinates it releases."""
        design = self.design
        chosen = slice(None) if count == 0 else slice(count)
        cross, square = ball.cross[chosen], ball.square[chosen]
        gain = cross / (square + noise.sd**2)
        won = np.minimum(cross * gain / np.square(weights), design.energies[where])
        total, fast = design.energies, design.rest
        if self.raw is not None:
            width = round(self.raw.window / self.raw.rules.width)
            left = left_by_averaging(design.kind, design.steps, len(design.energies), width)[:, None]
            won, total, fast = won * left[:count], total * left, 0.0
        floor = float(total.sum()) / design.values + fast
        error = math.sqrt(max(floor - float(won.sum()) / design.values, 0.0))
        unknown = np.array(total)
        unknown[where] -= won
        error, floor = (math.sqrt(_NEW_PARTICIPANT_ENERGY) * value for value in (error, math.sqrt(floor)))
        interval = error_interval(error, _NEW_PARTICIPANT_ENERGY * unknown, design.values, _INTERVAL_WIDENING)
        return ParticipantPlan(ball, count, noise, gain, error, interval, floor)
