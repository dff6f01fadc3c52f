# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""How many participants, or which ε, a wanted quality takes, from public facts alone."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from gazeveil.display import GREEN, GREY, Picture, canvas, legend_below, png
from gazeveil.errors import GazeveilError, OptionError
from gazeveil.exact import decimal_up, exact, in_digits
from gazeveil.privacy.protection import MOST_ADVISED, strength_of
from gazeveil.release.forecast import Forecast
from gazeveil.release.plan import Plan
from gazeveil.release.product_base import smallest_number

MOST_PARTICIPANTS = 100_000
LEAST_EPSILON = Fraction(1, 100)
_CURVE = 14


@dataclass(frozen=True, slots=True)
class SampleSize:
    """The number of participants, and the ε, that are enough for a wanted quality.

    Attributes:
        plan: The plan that the question is about.
        want: The wanted value of the forecast's measure.
        participants: The smallest number that is enough at the plan's ε; None if 100,000 are not, or their number does
            not matter.
        epsilon: The smallest ε that is enough for the plan's participants; None if 10 is not: a larger ε hardly
            protects anything.
    """

    plan: Plan
    want: float
    participants: int | None
    epsilon: Fraction | None

    def in_words(self) -> list[str]:
        """Return the answer in sentences."""
        forecast, measurement = _forecast(self.plan), self.plan.measurement
        asked, number = measurement.epsilon, self.plan.study.participants.number
        goal = f"{forecast.measure} = {self.want:g}"
        here = [] if measurement.per_participant else [f"{number:,} participants"]
        here += (
            []
            if asked is None
            else [f"ε = {in_digits(exact(asked))} ({strength_of(exact(asked), self.plan.study.neighbours)})"]
        )
        lines = [f"with {' and '.join(here) or 'this mechanism'}: expected is {forecast.in_words()}"]
        if measurement.per_participant:
            lines.append("how many participants there are does not matter: each is released on their own")
        elif self.participants is None:
            lines.append(f"no number of participants up to {MOST_PARTICIPANTS:,} is enough for {goal} at this ε")
        else:
            lines.append(f"{self.participants:,} participants are enough for {goal} at this ε")
        if asked is None:
            lines.append("this mechanism has no ε that could be changed")
        elif self.epsilon is None:
            most = in_digits(MOST_ADVISED)
            lines.append(f"no ε up to {most} is enough for {goal} here, and more protects next to nothing")
        else:
            strength = strength_of(self.epsilon, self.plan.study.neighbours)
            lines.append(f"ε = {in_digits(self.epsilon)} ({strength}) is enough for {goal} here")
        return lines

    def to_dict(self) -> dict[str, Any]:
        """Return the answer as plain values."""
        return {
            "want": {_forecast(self.plan).measure: self.want},
            "participants_matter": not self.plan.measurement.per_participant,
            "participants_needed": self.participants,
            "epsilon_needed": None if self.epsilon is None else in_digits(self.epsilon),
            "forecast": _forecast(self.plan).to_dict(),
        }

    def plot(self) -> Picture:
        """Draw the expected quality over the number of participants and over ε, as far as they matter."""
        measurement, number = self.plan.measurement, self.plan.study.participants.number or 1
        panels = [not measurement.per_participant, measurement.epsilon is not None]
        if not any(panels):
            raise OptionError("neither participants nor ε matter here: there is nothing to draw")
        figure, drawn = canvas(4.75 * sum(panels), 3.6, 1, sum(panels), sharey=True, squeeze=False)
        from matplotlib.ticker import LogLocator, NullFormatter  # noqa: PLC0415  (canvas found that it is there)

        axes = list(drawn.flat)
        for each in axes:
            each.axhline(self.want, color="black", linewidth=0.8, linestyle=":")
            each.set_xscale("log")
            each.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
            each.xaxis.set_major_formatter("{x:g}")
            each.xaxis.set_minor_formatter(NullFormatter())
        measure = _forecast(self.plan).measure
        named = {"cc": "correlation (cc)", "error": "error"}.get(measure, measure)
        axes[0].set_ylabel(f"expected {named}, 9 of 10 shaded")
        if measurement.epsilon is not None:
            self._draw_epsilon(axes.pop(), exact(measurement.epsilon), number)
        if axes:
            people = sorted({max(round(count), 2) for count in _log_spaced(max(number / 8, 2), number * 8, _CURVE)})
            _draw(axes[0], people, [self._at(participants=count) for count in people], number, self.participants)
            at = "" if measurement.epsilon is None else f", at ε = {in_digits(exact(measurement.epsilon))}"
            axes[0].set_xlabel(f"participants{at}")
        legend_below(figure, max(figure.axes, key=lambda each: len(each.get_legend_handles_labels()[1])))
        return Picture(png(figure))

    def _draw_epsilon(self, axes: Any, epsilon: Fraction, number: int) -> None:
        amounts = [decimal_up(Fraction(value), 3) for value in _log_spaced(0.1, float(MOST_ADVISED), _CURVE)]
        needed = None if self.epsilon is None else float(self.epsilon)
        forecasts = [self._at(epsilon=amount) for amount in amounts]
        _draw(axes, [float(amount) for amount in amounts], forecasts, float(epsilon), needed)
        matter = "" if self.plan.measurement.per_participant else f", with {number:,} participants"
        axes.set_xlabel(f"ε{matter}")

    def _at(self, **change: Any) -> Forecast | None:
        try:
            return self.plan.at(**change).forecast
        except GazeveilError:  # for example a δ that so many participants do not allow
            return None


def sample_size_for(plan: Plan, want: float) -> SampleSize:
    """Return how many participants, and which ε, are enough for a wanted value of the forecast's measure.

    Raises:
        OptionError: If there is no forecast for this product, or no release can be so good.
    """
    forecast = _forecast(plan)
    if not math.isfinite(want) or not 0 < want < 1:
        raise OptionError(f"a wanted {forecast.measure} lies between 0 and 1, not at {want!r}")
    measurement = plan.measurement
    if plan.study.participants.number is None and not measurement.per_participant:
        raise OptionError("the number of participants is secret: declare a public guess to plan with")

    def good(**change: Any) -> bool:
        try:
            found = _forecast(plan.at(**change)).expected
        except OptionError:
            return False
        return found >= want if forecast.measure == "cc" else found <= want

    participants, epsilon = None, None
    if not measurement.per_participant:
        plan.at(participants=plan.study.participants.number)  # says so where they cannot be changed
        most = min(MOST_PARTICIPANTS, math.ceil(1 / _delta(plan)) - 1)
        participants = smallest_number(lambda count: good(participants=count), 2, most)
    if measurement.epsilon is not None:
        step = smallest_number(lambda step: good(epsilon=_epsilon(step)), 0, _STEPS)
        own = exact(measurement.epsilon)
        epsilon = None if step is None else _epsilon(step)
        if epsilon is not None and own < epsilon and good(epsilon=own):
            epsilon = own
    return SampleSize(plan, want, participants, epsilon)


def advice(plan: Plan) -> str:
    """Name changes that make a plan worth its budget; never an ε that hardly protects."""
    options, answer = list(plan.measurement.alternatives()), sample_size_for(plan, _forecast(plan).floor)
    if answer.epsilon is not None:
        strength = strength_of(answer.epsilon, plan.study.neighbours)
        options.append(f"an ε of {in_digits(answer.epsilon)} ({strength})")
    if answer.participants is not None:
        options.append(f"{answer.participants:,} participants")
    has_none = plan.measurement.epsilon is not None and answer.epsilon is None
    none = f"no ε up to {in_digits(MOST_ADVISED)} is enough; " if has_none else ""
    take = f"take {', or '.join(options)}; " if options else ""
    return f"{none}{take}--anyway goes on regardless"


_STEPS = 150
"""ε is searched on a grid in steps of about 5 %."""


def _delta(plan: Plan) -> Fraction:
    """Return the δ that a plan may spend; a tiny one for 0. It must be below one over the number of participants."""
    given = getattr(plan.measurement.mechanism, "delta", None)
    return (plan.study.delta if given is None else exact(given)) or Fraction(1, 10**9)


def _epsilon(step: int) -> Fraction:
    ratio = float(MOST_ADVISED / LEAST_EPSILON)
    return min(decimal_up(LEAST_EPSILON * Fraction(ratio ** (step / _STEPS)), 2), MOST_ADVISED)


def _forecast(plan: Plan) -> Forecast:
    forecast = plan.forecast
    if forecast is None:
        raise OptionError(f"nothing is known beforehand about how good a {plan.measurement.product} will be")
    return forecast


def _log_spaced(low: float, high: float, count: int) -> list[float]:
    return [low * (high / low) ** (step / (count - 1)) for step in range(count)]


def _draw(axes: Any, places: list[Any], forecasts: list[Forecast | None], here: float, needed: float | None) -> None:
    known = [(place, found) for place, found in zip(places, forecasts, strict=True) if found is not None]
    xs = [place for place, _ in known]
    axes.fill_between(xs, [f.low for _, f in known], [f.high for _, f in known], alpha=0.2, linewidth=0)
    axes.plot(xs, [f.expected for _, f in known])
    axes.plot(xs, [f.without_data for _, f in known], color=GREY, linestyle="--", linewidth=0.9, label="without data")
    axes.axvline(here, color=GREY, linewidth=0.8, label="this plan")
    if needed is not None:
        axes.axvline(needed, color=GREEN, linestyle="-.", linewidth=1.4, label="enough")
