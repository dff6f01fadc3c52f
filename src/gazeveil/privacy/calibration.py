# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""How much noise a guarantee needs, and what a given noise guarantees: Gaussian, Laplace, radial, and Liu 2019.

With μ = Δ/σ, Gaussian noise is (ε, δ)-differentially private if and only if ::

    δ  ≥  Φ(μ/2 - ε/μ) - e^ε Φ(-μ/2 - ε/μ)  =  φ(x) (R(x) - R(y)),    x = ε/μ - μ/2,  y = ε/μ + μ/2

where R = (1 - Φ)/φ is Mills' ratio; the second form holds because φ(x) = e^ε φ(y), and it neither overflows nor
loses its digits where both terms of the first are tiny. Proof: docs/proofs/analytic-gaussian.md.

Every answer is on the safe side: a scale is the smallest float at which the guarantee provably holds, an ε or δ the
smallest float that is provably kept. Noise that is rounded to a lattice after an ideal sample is added keeps the
guarantee of the ideal sample, so these numbers hold for it as they stand (docs/proofs/analytic-gaussian.md).

Sensitivities: the Gaussian and the radial mechanism need the ℓ2 sensitivity, Laplace noise the ℓ1 sensitivity.

Their gaze map is the mean of n observers' maps over r pixels, each pixel of each observer between 0 and a cap m. The
published Gaussian noise (theorem 3.4) rests on a proof that does not hold (errata L1, L2). The number is nevertheless
large enough when there are many pixels, and too small when there are few (L3): `LiuNoise.true_delta` tells. The
Laplace noise (theorem 3.5) is right. Derivation: docs/proofs/liu.md.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache

from gazeveil.errors import OptionError
from gazeveil.exact import Number, above_zero, at_least_zero, chance_of_failure, float_up, root_up, whole_number
from gazeveil.privacy.decimal_interval import Interval, pi

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


# --- How much noise a guarantee needs, and what a given noise guarantees.


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
    return float_up(Fraction(min(_floor(tight_delta_bounds(change / spread, bound).high), Decimal(1))))


def gaussian_epsilon(sigma: Number, sensitivity: Number, delta: Number) -> float:
    """Return the smallest ε that Gaussian noise keeps at δ."""
    spread, change = above_zero(sigma, "sigma"), at_least_zero(sensitivity, "sensitivity")
    failure = chance_of_failure(delta, "delta")
    if change == 0:
        return 0.0
    mu = _sane(change / spread, "the sensitivity, measured in sigma,")
    if keeps(mu, Fraction(0), failure):
        return 0.0
    above = float(mu) ** 2 / 2 + float(mu) * math.sqrt(-2 * _ln(failure))
    near = _root(lambda epsilon: _log_delta(mu, Fraction(max(epsilon, 0.0))) - _ln(failure), above, 0.9 * above)
    return _smallest(lambda epsilon: keeps(mu, Fraction(epsilon), failure), near)


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
    return _smallest(lambda sigma: keeps(sensitivity / Fraction(sigma), epsilon, delta), start)


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
    return float(tight_delta_bounds(mu, epsilon).high.ln())


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


# --- The noise of Liu et al. 2019 for aggregate gaze maps, as published, and what it is worth.


_LEAST = Fraction(1, 10**100)
"""Noise below this, or above its inverse, would leave the range of floats on the way."""


@dataclass(frozen=True, slots=True, init=False)
class LiuNoise:
    """The noise for one gaze map.

    Attributes:
        observers: How many participants there are, n; public.
        pixels: How many pixels the map has, r.
        cap: The most that one observer adds to a pixel, m; fixed beforehand, never taken from the data (L7).
        epsilon: The ε that is claimed.
        delta: The δ that is claimed; n^(-3/2) if not given.
    """

    observers: int
    pixels: int
    cap: Fraction
    epsilon: Fraction
    delta: Fraction

    def __init__(
        self, *, observers: int, pixels: int, epsilon: Number, cap: Number = 1, delta: Number | None = None
    ) -> None:
        people = whole_number(observers, "observers", at_least=1)
        claimed = 1 / root_up(Fraction(people) ** 3) if delta is None else delta
        values = {
            "observers": people,
            "pixels": whole_number(pixels, "pixels", at_least=1),
            "cap": above_zero(cap, "cap"),
            "epsilon": above_zero(epsilon, "epsilon"),
            "delta": chance_of_failure(claimed, "delta"),
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)
        each = self.cap / (self.observers * self.epsilon)
        if not (each >= _LEAST and each * self.pixels <= 1 / _LEAST and self.delta >= _LEAST):
            raise OptionError("these numbers are out of all proportion: no gaze map is like that")

    def sigma_gaussian(self) -> float:
        """Return σ = m/(nε) √(r (ε/2 + ln(r/δ))) of theorem 3.4, as published."""
        log = math.log(self.pixels) + math.log(self.delta.denominator) - math.log(self.delta.numerator)
        spread = math.sqrt(self.pixels * (float(self.epsilon) / 2 + log))
        return float(self.cap / (self.observers * self.epsilon)) * spread

    def sigma_laplace(self) -> float:
        """Return the standard deviation √2 m r/(εn) of theorem 3.5, as published; the scale is 1/√2 of it."""
        return math.sqrt(2) * float(self.cap * self.pixels / (self.epsilon * self.observers))

    def sensitivity(self, samples: int | None = None) -> Fraction:
        """Return how far one observer can move the map, in ℓ2: m√r/n.

        Args:
            samples: The most gaze samples that one observer adds to the map, if that is enforced. A map of at most T
                samples has a norm of at most √(mT), and two such maps without negative pixels are at most √(2mT) apart
                (L4), which is far less than if one observer could fill every pixel.
        """
        square = self.cap**2 * self.pixels
        if samples is not None:
            square = min(square, 2 * self.cap * whole_number(samples, "samples", at_least=1))
        return root_up(square) / self.observers

    def true_delta(self) -> float:
        """Return the δ that the published Gaussian noise keeps at ε: exact, rounded up by at most one float."""
        return gaussian_delta(self.sigma_gaussian(), self.sensitivity(), self.epsilon)

    @property
    def sound(self) -> bool:
        """Whether the published Gaussian noise keeps what is claimed."""
        return Fraction(self.true_delta()) <= self.delta

    def sigma_sound(self, samples: int | None = None) -> float:
        """Return the smallest σ of Gaussian noise that keeps the claim, by the analytic Gaussian mechanism."""
        return gaussian_sigma(self.epsilon, self.delta, self.sensitivity(samples))
