# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""From one way of measuring privacy to another: zCDP, Rényi, pure and approximate differential privacy, groups.

Every function returns an upper bound: the guarantee that it names holds. Bounds are computed with intervals
(`gazeveil.privacy.decimal_interval`) and rounded up to 17 digits, so they are fractions that can be added up exactly.

Sources: Bun and Steinke 2016 (zCDP), Mironov 2017 (Rényi), Canonne, Kamath and Steinke 2020 (conversion to (ε, δ)).
Proofs: docs/proofs/composition.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction

from gazeveil.errors import OptionError
from gazeveil.exact import (
    Number,
    above_zero,
    at_least_zero,
    chance_of_failure,
    decimal_up,
    in_digits,
    probability,
    whole_number,
)
from gazeveil.privacy.decimal_interval import Interval

RenyiCurve = Callable[[Interval], Interval]
"""Bounds the Rényi divergence of an order α > 1 between neighbouring releases."""

_DIGITS = 50
_NO_GUARANTEE = 10_000
"""Above this ε nothing is guaranteed, and e^ε would leave all proportion; the plain bound will do."""


def zcdp_epsilon(rho: Number, delta: Number) -> Fraction:
    """Return ε such that every ρ-zCDP mechanism is (ε, δ)-DP, optimised over the Rényi order."""
    spent, failure = at_least_zero(rho, "rho"), chance_of_failure(delta, "delta")
    if spent == 0:
        return Fraction(0)
    return renyi_epsilon(zcdp_renyi(spent), failure)


def pure_zcdp(epsilon: Number) -> Fraction:
    """Return ρ such that every ε-DP mechanism is ρ-zCDP: the smaller of ε²/2 and ε."""
    bound = at_least_zero(epsilon, "epsilon")
    return min(bound * bound / 2, bound)


def gaussian_zcdp(sigma: Number, sensitivity: Number) -> Fraction:
    """Return ρ = Δ²/2σ² of Gaussian noise, exactly."""
    return (at_least_zero(sensitivity, "sensitivity") / above_zero(sigma, "sigma")) ** 2 / 2


def zcdp_renyi(rho: Number) -> RenyiCurve:
    """Return the Rényi curve α ρ, which defines ρ-zCDP."""
    spent = at_least_zero(rho, "rho")
    return lambda order: order * Interval.of(spent, order.digits)


def gaussian_renyi(sigma: Number, sensitivity: Number) -> RenyiCurve:
    """Return the Rényi curve α Δ²/2σ² of Gaussian noise."""
    return zcdp_renyi(gaussian_zcdp(sigma, sensitivity))


def laplace_renyi(scale: Number, sensitivity: Number) -> RenyiCurve:
    """Return the Rényi curve of Laplace noise (Mironov 2017, table II)."""
    ratio = at_least_zero(sensitivity, "sensitivity") / above_zero(scale, "scale")

    def curve(order: Interval) -> Interval:
        loss = Interval.of(ratio, order.digits)
        if _is_vast(order * loss):
            return loss
        up = order / (2 * order - 1) * ((order - 1) * loss).exp()
        down = (order - 1) / (2 * order - 1) * (-(order * loss)).exp()
        return (up + down).ln() / (order - 1)

    return curve


def pure_renyi(epsilon: Number) -> RenyiCurve:
    """Return the largest Rényi curve that any ε-DP mechanism can have: that of randomised response."""
    bound = at_least_zero(epsilon, "epsilon")

    def curve(order: Interval) -> Interval:
        loss = Interval.of(bound, order.digits)
        if _is_vast(order * loss):
            return loss
        likely = 1 / (1 + (-loss).exp())
        up = likely * ((order - 1) * loss).exp()
        down = (1 - likely) * (-((order - 1) * loss)).exp()
        return (up + down).ln() / (order - 1)

    return curve


def add_renyi(*curves: RenyiCurve) -> RenyiCurve:
    """Return the Rényi curve of releases that are made one after the other."""

    def total(order: Interval) -> Interval:
        return sum((curve(order) for curve in curves), start=Interval.of(0, order.digits))

    return total


def renyi_epsilon(curve: RenyiCurve, delta: Number) -> Fraction:
    """Return ε at δ for a Rényi curve τ: the least of τ(α) + ln(1 - 1/α) - ln(α δ)/(α - 1) over α."""
    failure = chance_of_failure(delta, "delta")

    def bound(order: Interval) -> Interval:
        log = -(order * Interval.of(failure, order.digits)).ln()
        return curve(order) + (1 - 1 / order).ln() + log / (order - 1)

    return max(Fraction(0), _upper(_least(bound)))


def repeated_epsilon(epsilon: Number, delta: Number, times: int, target_delta: Number) -> Fraction:
    """Return the least ε of ``times`` releases that are each (ε, δ)-private, at a given δ for all together.

    This is the optimal composition of Kairouz, Oh and Viswanath 2015: no smaller number is true of all mechanisms.

    Raises:
        OptionError: If the releases fail more often than that whatever ε is.
    """
    count = whole_number(times, "times", at_least=1)
    one, each = at_least_zero(epsilon, "epsilon"), probability(delta, "delta")
    target = chance_of_failure(target_delta, "target_delta")
    spare = 1 - (1 - target) / (1 - each) ** count if each < 1 else Fraction(-1)
    if spare < 0:
        raise OptionError(
            f"{count:,} releases at δ = {in_digits(each)} fail more often than {in_digits(target)}",
            hint="allow a larger target_delta, or give each release a smaller δ",
        )
    if count * one > _NO_GUARANTEE:
        return count * one
    loss, allowed = Interval.of(one, _DIGITS), Interval.of(spare, _DIGITS)
    # At worst each release is randomised response. If `wrong` of them speak against the secret, the odds are
    # e^((count - 2 wrong) ε); `here` and `there` add up the chances of that many or fewer under the two neighbours.
    share = _power(1 + (-loss).exp(), count)
    term_here, term_there = 1 / share, (-(loss * count)).exp() / share
    here, there, top = term_here, term_there, Interval.of(0, _DIGITS)
    for wrong in range(count):
        if here.high > allowed.low:
            ratio = (here - allowed) / there
            top = ratio if ratio.high > top.high else top
        term_here = term_here * (-loss).exp() * (count - wrong) / (wrong + 1)
        term_there = term_there * loss.exp() * (count - wrong) / (wrong + 1)
        here, there = here + term_here, there + term_there
    if top.high <= 1:
        return Fraction(0)
    return min(count * one, _upper(Interval(top.high, top.high, _DIGITS).ln()))


def _power(base: Interval, exponent: int) -> Interval:
    return (base.ln() * exponent).exp()


def group_delta(epsilon: Number, delta: Number, people: int) -> Fraction:
    """Return δ (e^{kε} - 1)/(e^ε - 1), the failure chance of an (ε, δ) guarantee for a group of k."""
    bound, failure = at_least_zero(epsilon, "epsilon"), probability(delta, "delta")
    count = whole_number(people, "people", at_least=1)
    if count == 1 or failure == 0:
        return failure
    if bound == 0:
        return min(Fraction(1), count * failure)
    if count * bound > _NO_GUARANTEE:
        return Fraction(1)
    loss = Interval.of(bound, _DIGITS)
    if bound < Fraction(1, 10**9):
        # Both differences would cancel; (e^{kε} - 1)/(e^ε - 1) = 1 + e^ε + … + e^{(k-1)ε} is at most k e^{(k-1)ε}.
        factor = ((count - 1) * loss).exp() * count
    else:
        factor = ((count * loss).exp() - 1) / (loss.exp() - 1)
    return min(Fraction(1), _upper(factor * Interval.of(failure, _DIGITS)))


def _is_vast(exponent: Interval) -> bool:
    """Whether the curve of a pure mechanism is at its limit, the pure ε itself, which bounds it everywhere."""
    return exponent.high > 1_000_000


def _least(function: Callable[[Interval], Interval]) -> Interval:
    """Return a small value of a function of the Rényi order; each of its values is a bound, the least is only nicer."""

    def at(log: float, digits: int = 24) -> Interval:
        return function(Interval.of(1 + Fraction(math.exp(log)), digits))

    # The bounds fall and then rise in ln(α - 1). Bracket the lowest by a coarse grid, narrow the bracket by the golden
    # ratio, and step twice to the bottom of a parabola.
    grid = [float(step) for step in range(-40, 81, 8)]
    values = [at(log).high for log in grid]
    best = values.index(min(values))
    left, right = grid[max(0, best - 1)], grid[min(len(grid) - 1, best + 1)]
    golden = (math.sqrt(5) - 1) / 2
    inner, outer = right - golden * (right - left), left + golden * (right - left)
    low, high = at(inner).high, at(outer).high
    while right - left > 0.1:
        if low < high:
            right, outer, high = outer, inner, low
            inner = right - golden * (right - left)
            low = at(inner).high
        else:
            left, inner, low = inner, outer, high
            outer = left + golden * (right - left)
            high = at(outer).high
    log = (left + right) / 2
    for step in (1e-2, 1e-4):
        log += _to_the_bottom(at(log - step).high, at(log).high, at(log + step).high, step)
        log = min(max(log, grid[0]), grid[-1])  # a nearly straight line has its bottom anywhere
    return at(log, _DIGITS)


def _to_the_bottom(before: Decimal, here: Decimal, after: Decimal, step: float) -> float:
    """Return how far the lowest point of the parabola through three equidistant values lies from the middle one."""
    bend = before - 2 * here + after
    return float((before - after) / (2 * bend)) * step if bend > 0 else 0.0


def _upper(interval: Interval) -> Fraction:
    return decimal_up(Fraction(interval.high))
