# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The exact trade-off of Gaussian noise between proven bounds (Balle and Wang 2018, theorem 8).

With μ = Δ/σ, Gaussian noise is (ε, δ)-differentially private if and only if ::

    δ  ≥  Φ(μ/2 - ε/μ) - e^ε Φ(-μ/2 - ε/μ)  =  φ(x) (R(x) - R(y)),    x = ε/μ - μ/2,  y = ε/μ + μ/2

where R = (1 - Φ)/φ is Mills' ratio; the second form holds because φ(x) = e^ε φ(y), and it neither overflows nor
loses its digits where both terms of the first are tiny. Proof: docs/proofs/analytic-gaussian.md.
"""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

from gazeveil.privacy._interval import Interval, pi

_CONTINUED_FRACTION_FROM = 5
_MOST_DIGITS = 1_280


def delta_bounds(mu: Fraction | Decimal, epsilon: Fraction | Decimal, digits: int) -> Interval:
    """Return bounds on the least δ at which noise with Δ/σ = μ is (ε, δ)-private, computed in this many digits."""
    half, drift = Interval.of(mu, digits) / 2, Interval.of(epsilon, digits) / Interval.of(mu, digits)
    x, y = drift - half, drift + half
    if x.low >= 0:
        return density(x) * (_mills(x) - _mills(y))
    return 1 - density(x) * (_mills(-x) + _mills(y))


def tight_delta_bounds(mu: Fraction | Decimal, epsilon: Fraction | Decimal) -> Interval:
    """Return bounds on δ that agree to 25 digits, or the best that there are."""
    digits = 40
    while True:
        bounds = delta_bounds(mu, epsilon, digits)
        if bounds.high - bounds.low <= bounds.low.scaleb(-25) or digits >= _MOST_DIGITS:
            return bounds
        digits *= 2


def keeps(mu: Fraction, epsilon: Fraction, delta: Fraction) -> bool:
    """Whether noise with Δ/σ = μ is provably (ε, δ)-private; what cannot be decided is answered no."""
    digits = 40
    while digits <= _MOST_DIGITS:
        bounds, limit = delta_bounds(mu, epsilon, digits), Interval.of(delta, digits)
        if bounds.high <= limit.low:
            return True
        if bounds.low > limit.high:
            return False
        digits *= 2
    return False


def density(x: Interval) -> Interval:
    """Return φ(x), the standard normal density."""
    return (x.square() / -2).exp() / (2 * pi(x.digits)).sqrt()


def _mills(x: Interval) -> Interval:
    """Return (1 - Φ(x))/φ(x), which falls in x, for x at or above about 0."""
    return Interval(_mills_at(x.high, x.digits).low, _mills_at(x.low, x.digits).high, x.digits)


def _mills_at(x: Decimal, digits: int) -> Interval:
    return _by_fraction(x, digits) if x >= _CONTINUED_FRACTION_FROM else _by_series(Interval.of(x, digits))


def _by_series(x: Interval) -> Interval:
    """Return √(π/2) exp(x²/2) - Σ x^(2k+1)/(1·3·5···(2k+1)), for |x| up to 5."""
    square = x.square()
    total = term = x
    k = 1
    while 2 * k + 1 < 3 * square.high or _largest(term) > Decimal(10) ** -(x.digits + 2):
        term = term * square / (2 * k + 1)
        total = total + term
        k += 1
    # From here on each term is at most a third of the one before, so the rest is less than the last one.
    rest = _largest(term)
    return (pi(x.digits) / 2).sqrt() * (square / 2).exp() - (total + Interval(rest.copy_negate(), rest, x.digits))


def _by_fraction(x: Decimal, digits: int) -> Interval:
    """Return Laplace's continued fraction 1/(x + 1/(x + 2/(x + 3/(x + …)))), cut where its tail is known to lie."""
    here, terms = Interval.of(x, digits), 8 + math.ceil((1.3 * digits / float(x)) ** 2 / 2)
    # Whatever follows is positive: the tail after n terms lies between x and x + n/x.
    tail = Interval(here.low, (here + terms / here).high, digits)
    for k in range(terms - 1, 0, -1):
        tail = here + k / tail
    return 1 / tail


def _largest(x: Interval) -> Decimal:
    return max(x.low.copy_abs(), x.high.copy_abs())  # abs() would round
