# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""How many participants, or which ε, a wanted quality takes: questions to the forecast, from public facts alone."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from gazeveil.errors import GazeveilError, OptionError
from gazeveil.pictures import Picture, canvas, png
from gazeveil.privacy.exact import decimal_up, exact, in_digits
from gazeveil.privacy.scale import MOST_ADVISED, strength_of
from gazeveil.release.forecast import Forecast
from gazeveil.release.plan import Plan

MOST_PARTICIPANTS = 100_000
LEAST_EPSILON = Fraction(1, 100)
_CURVE = 14


@dataclass(frozen=True, slots=True)
class Answer:
    """What is enough for a wanted quality.

    Attributes:
        plan: The plan that the question is about.
        want: The wanted value of the forecast's measure.
        participants: The fewest that are enough at the plan's ε; None if none up to 100,000 are.
        epsilon: The smallest ε that is enough for the plan's participants; None if none up to 10 is: beyond that one
            should not speak of protection.
    """

    plan: Plan
    want: float
    participants: int | None
    epsilon: Fraction | None

    def in_words(self) -> list[str]:
        """Say the answer in sentences."""
        forecast = _forecast(self.plan)
        asked, number = exact(self.plan.measurement.mechanism.epsilon), self.plan.study.participants.number
        goal = f"{forecast.measure} = {self.want:g}"
        lines = [
            f"with {number:,} participants and ε = {in_digits(asked)} ({strength_of(asked)}): expected is "
            f"{forecast.in_words()}"
        ]
        if self.participants is None:
            lines.append(f"no number of participants up to {MOST_PARTICIPANTS:,} is enough for {goal} at this ε")
        else:
            lines.append(f"{self.participants:,} participants are enough for {goal} at this ε")
        if self.epsilon is None:
            most = in_digits(MOST_ADVISED)
            lines.append(f"no ε up to {most} is enough for {goal} with these participants, and more protects nobody")
        else:
            strength = strength_of(self.epsilon)
            lines.append(f"ε = {in_digits(self.epsilon)} ({strength}) is enough for {goal} with these participants")
        return lines

    def to_dict(self) -> dict[str, Any]:
        """Return the answer as plain values."""
        return {
            "want": {_forecast(self.plan).measure: self.want},
            "participants_needed": self.participants,
            "epsilon_needed": None if self.epsilon is None else in_digits(self.epsilon),
            "forecast": _forecast(self.plan).to_dict(),
        }

    def plot(self) -> Picture:
        """Draw the expected quality over the number of participants and over ε."""
        number = self.plan.study.participants.number or 1
        epsilon = exact(self.plan.measurement.mechanism.epsilon)
        people = [max(round(count), 2) for count in _spread(max(number / 8, 2), number * 8, _CURVE)]
        by_people = [self._at(participants=count) for count in people]
        amounts = [decimal_up(Fraction(value), 3) for value in _spread(0.1, float(MOST_ADVISED), _CURVE)]
        both = any(by_people)  # not for everybody's own series, which are as good however many take part
        figure, axes = canvas(9.5 if both else 5.5, 3.6, 1, 1 + both, sharey=True, squeeze=False)
        if both:
            _draw(axes[0, 0], people, by_people, number, self.participants)
            axes[0, 0].set_xlabel(f"participants, at ε = {in_digits(epsilon)}")
        needed = None if self.epsilon is None else float(self.epsilon)
        shown = [float(amount) for amount in amounts]
        _draw(axes[0, -1], shown, [self._at(epsilon=amount) for amount in amounts], float(epsilon), needed)
        axes[0, -1].set_xlabel(f"ε, with {number:,} participants")
        for each in axes[0]:
            each.axhline(self.want, color="black", linewidth=0.8, linestyle=":")
            each.set_xscale("log")
        axes[0, 0].set_ylabel(f"expected {_forecast(self.plan).measure}, 9 of 10 studies shaded")
        return Picture(png(figure))

    def _at(self, **change: Any) -> Forecast | None:
        try:
            return self.plan.at(**change).forecast
        except GazeveilError:  # for example a δ that so many participants do not allow
            return None


def enough(plan: Plan, want: float) -> Answer:
    """Return how many participants, and which ε, are enough for a wanted value of the forecast's measure.

    Raises:
        OptionError: If there is no forecast for this product, or no release can be so good.
    """
    forecast = _forecast(plan)
    if not math.isfinite(want) or not 0 < want < 1:
        raise OptionError(f"a wanted {forecast.measure} lies between 0 and 1, not at {want!r}")
    if plan.study.participants.number is None:
        raise OptionError("the number of participants is secret: declare a public guess to plan with")

    def good(**change: Any) -> bool:
        try:
            found = _forecast(plan.at(**change)).expected
        except OptionError:
            return False
        return found >= want if forecast.measure == "cc" else found <= want

    most = min(MOST_PARTICIPANTS, math.ceil(1 / _delta(plan)) - 1)
    participants = _least(lambda count: good(participants=count), 2, most)
    steps = _least(lambda step: good(epsilon=_epsilon(step)), 0, _STEPS)
    return Answer(plan, want, participants, None if steps is None else _epsilon(steps))


_STEPS = 150
"""ε is looked for on a grid of steps of about 5 %."""


def _delta(plan: Plan) -> Fraction:
    """Return the δ of a plan, which more participants than one over it do not allow; tiny where there is none."""
    return getattr(plan.guarantee, "delta", None) or getattr(plan.measurement, "delta", None) or Fraction(1, 10**9)


def _epsilon(step: int) -> Fraction:
    ratio = float(MOST_ADVISED / LEAST_EPSILON)
    return min(decimal_up(LEAST_EPSILON * Fraction(ratio ** (step / _STEPS)), 2), MOST_ADVISED)


def _least(good: Callable[[int], bool], low: int, high: int) -> int | None:
    """Return the smallest whole number that is good, where all above a good one are; None if none is."""
    if not good(high):
        return None
    while low < high:
        middle = (low + high) // 2
        if good(middle):
            high = middle
        else:
            low = middle + 1
    return low


def _forecast(plan: Plan) -> Forecast:
    forecast = plan.forecast
    if forecast is None:
        raise OptionError(f"nothing is known beforehand about how good a {plan.measurement.product} will be")
    return forecast


def _spread(low: float, high: float, count: int) -> list[float]:
    return [low * (high / low) ** (step / (count - 1)) for step in range(count)]


def _draw(axes: Any, places: list[Any], forecasts: list[Forecast | None], here: float, needed: float | None) -> None:
    known = [(place, found) for place, found in zip(places, forecasts, strict=True) if found is not None]
    xs = [place for place, _ in known]
    axes.fill_between(xs, [f.low for _, f in known], [f.high for _, f in known], alpha=0.2, linewidth=0)
    axes.plot(xs, [f.expected for _, f in known])
    axes.plot(xs, [f.without_data for _, f in known], color="grey", linestyle="--", linewidth=0.9, label="without data")
    axes.axvline(here, color="grey", linewidth=0.8, label="this plan")
    if needed is not None:
        axes.axvline(needed, color="tab:green", linewidth=1.2, label="enough")
    axes.legend(fontsize=8)
