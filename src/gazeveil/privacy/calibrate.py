# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""How much noise a guarantee needs, and what a given noise guarantees.

Every answer is on the safe side: a scale is the smallest float at which the guarantee provably holds, an ε or δ the
smallest float that is provably kept. Noise that is rounded to a lattice after an ideal sample is added keeps the
guarantee of the ideal sample, so these numbers hold for it as they stand (docs/proofs/analytic-gaussian.md).

Sensitivities: the Gaussian and the radial mechanism need the ℓ2 sensitivity, Laplace noise the ℓ1 sensitivity.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache

from gazeveil.errors import OptionError
from gazeveil.exact import (
    Number,
    above_zero,
    at_least_zero,
    chance_of_failure,
    float_up,
    whole_number,
)
from gazeveil.privacy import _gaussian

_LARGEST = 1.7976931348623157e308
_MOST = 10**9
"""Beyond this an ε, or a sensitivity over σ, is no guarantee at all and most likely a slip."""


def gaussian_sigma(epsilon: Number, delta: Number, sensitivity: Number = 1) -> float:
    """Return the smallest σ at which Gaussian noise is (ε, δ)-private: the analytic Gaussian mechanism.

    Raises:
        OptionError: If δ is not strictly between 0 and 1: no Gaussian noise guarantees δ = 0.
    """
    return _gaussian_sigma(
        _sane(at_least_zero(epsilon, "epsilon"), "epsilon"),
        chance_of_failure(delta, "delta"),
        above_zero(sensitivity, "sensitivity"),
    )


def gaussian_delta(sigma: Number, sensitivity: Number, epsilon: Number) -> float:
    """Return the δ that Gaussian noise keeps at ε; at most one float above the true value."""
    spread, change = above_zero(sigma, "sigma"), at_least_zero(sensitivity, "sensitivity")
    bound = at_least_zero(epsilon, "epsilon")
    if change == 0:
        return 0.0
    return float_up(Fraction(min(_floor(_gaussian.tight_delta_bounds(change / spread, bound).high), Decimal(1))))


def gaussian_epsilon(sigma: Number, sensitivity: Number, delta: Number) -> float:
    """Return the smallest ε that Gaussian noise keeps at δ."""
    spread, change = above_zero(sigma, "sigma"), at_least_zero(sensitivity, "sensitivity")
    failure = chance_of_failure(delta, "delta")
    if change == 0:
        return 0.0
    mu = _sane(change / spread, "the sensitivity, measured in sigma,")
    if _gaussian.keeps(mu, Fraction(0), failure):
        return 0.0
    above = float(mu) ** 2 / 2 + float(mu) * math.sqrt(-2 * _ln(failure))
    near = _root(lambda epsilon: _log_delta(mu, Fraction(max(epsilon, 0.0))) - _ln(failure), above, 0.9 * above)
    return _smallest(lambda epsilon: _gaussian.keeps(mu, Fraction(epsilon), failure), near)


def laplace_scale(epsilon: Number, sensitivity: Number = 1) -> float:
    """Return the scale b = Δ1/ε at which Laplace noise on every coordinate is ε-private."""
    return _scale(epsilon, sensitivity)


def radial_scale(epsilon: Number, sensitivity: Number = 1) -> float:
    """Return the scale b = Δ2/ε at which noise of density exp(-‖z‖₂/b), in any dimension, is ε-private."""
    return _scale(epsilon, sensitivity)


def pure_epsilon(scale: Number, sensitivity: Number = 1) -> Fraction:
    """Return the ε = Δ/b that Laplace noise (Δ1) or radial noise (Δ2) of a scale keeps, exactly."""
    return at_least_zero(sensitivity, "sensitivity") / above_zero(scale, "scale")


def expected_radius(scale: Number, dimensions: int = 2) -> float:
    """Return how far radial noise moves a point on average: d·b, the mean of Gamma(d, b)."""
    return float(whole_number(dimensions, "dimensions", at_least=1) * above_zero(scale, "scale"))


def radial_beats_gaussian(dimensions: int, epsilon: Number, delta: Number) -> bool:
    """Whether ε-private radial noise has a smaller standard deviation per coordinate than (ε, δ) Gaussian noise.

    Both are given the same ℓ2 sensitivity; radial noise has √(d + 1)·Δ/ε a coordinate, and no δ at all.
    """
    radial = Fraction(whole_number(dimensions, "dimensions", at_least=1) + 1) / above_zero(epsilon, "epsilon") ** 2
    return radial <= Fraction(gaussian_sigma(epsilon, delta)) ** 2


@lru_cache(maxsize=1024)
def _gaussian_sigma(epsilon: Fraction, delta: Fraction, sensitivity: Fraction) -> float:
    # Two starts: what the tail bound asks for at this ε, and what δ alone asks for.
    z = math.sqrt(-2 * _ln(delta))
    log_mu = math.log(max(math.sqrt(z * z + 2 * float(epsilon)) - z, 2.5 * math.exp(_ln(delta)), 1e-300))
    near = _root(lambda log: _log_delta(Fraction(math.exp(log)), epsilon) - _ln(delta), log_mu, log_mu + 0.05)
    start = float_up(sensitivity / Fraction(math.exp(near)))
    return _smallest(lambda sigma: _gaussian.keeps(sensitivity / Fraction(sigma), epsilon, delta), start)


def _scale(epsilon: Number, sensitivity: Number) -> float:
    scale = float_up(above_zero(sensitivity, "sensitivity") / above_zero(epsilon, "epsilon"))
    if math.isinf(scale):
        raise _too_much()
    return scale


def _too_much() -> OptionError:
    return OptionError("no noise that a computer can name is enough", hint="ask for a weaker guarantee")


def _sane(number: Fraction, name: str) -> Fraction:
    if number > _MOST:
        raise OptionError(f"{name} is beyond {_MOST:,}, which guarantees nothing", hint="check the units")
    return number


def _log_delta(mu: Fraction, epsilon: Fraction) -> float:
    return float(_gaussian.tight_delta_bounds(mu, epsilon).high.ln())


def _root(function: Callable[[float], float], first: float, second: float) -> float:
    """Return roughly where a function is zero, by secants: a start for `_smallest`, which does not rely on it."""
    before, here = function(first), function(second)
    for _ in range(40):
        if here == before or not math.isfinite(here):
            break
        step = here * (second - first) / (here - before)
        step = max(min(step, 2 + abs(second)), -2 - abs(second))
        first, second, before = second, second - step, here
        if abs(step) <= 1e-15 * abs(second):
            break
        here = function(second)
    return second


def _ln(number: Fraction) -> float:
    return math.log(number.numerator) - math.log(number.denominator)


def _smallest(is_safe: Callable[[float], bool], start: float) -> float:
    """Return the smallest positive float that is safe, where all above a safe one are: gallop, then halve."""
    here, step = _rank(min(max(start, 5e-324), _LARGEST)), 1
    if is_safe(_at_rank(here)):
        safe = here
        while safe > 1 and is_safe(_at_rank(max(1, safe - step))):
            safe, step = max(1, safe - step), step * 4
        unsafe = max(0, safe - step)
    else:
        unsafe = here
        while not is_safe(_at_rank(min(_rank(_LARGEST), unsafe + step))):
            if unsafe + step >= _rank(_LARGEST):
                raise _too_much()
            unsafe, step = unsafe + step, step * 4
        safe = min(_rank(_LARGEST), unsafe + step)
    while safe - unsafe > 1:
        middle = (safe + unsafe) // 2
        if is_safe(_at_rank(middle)):
            safe = middle
        else:
            unsafe = middle
    return _at_rank(safe)


def _rank(value: float) -> int:
    """Return the place of a positive float among all of them."""
    return int.from_bytes(struct.pack(">d", value), "big")


def _at_rank(rank: int) -> float:
    return float(struct.unpack(">d", rank.to_bytes(8, "big"))[0])


def _floor(delta: Decimal) -> Decimal:
    """Keep numbers beyond the reach of floats from becoming fractions of a billion digits."""
    return max(delta, Decimal("1e-330"))
