# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What several releases guarantee together, and what is left of a guarantee if its noise was not secure.

A guarantee forgets how it was kept. Ten Gaussian releases together are one Gaussian release with √10 times less noise,
which their ten (ε, δ) do not tell. Events remember the one number that matters: noise relative to sensitivity.

`compose` adds up guarantees, `compose_events` the mechanisms behind them, which is tighter. Both hold for releases
whose questions are chosen one after the other, each in sight of the answers before it, if their number and their
parameters (ε, δ, ρ, noise) were fixed beforehand. Where those are chosen late, or someone stops when the answers
please, a total computed afterwards is no bound: use a ledger, which is a filter, and what it guarantees is its budget.
`compose_disjoint` is for releases about different participants. All results are upper bounds; of several proven bounds
the smallest is taken. Proofs: docs/proofs/composition.md.
"""

from __future__ import annotations

import functools
import math
import operator
from abc import ABC, abstractmethod
from collections.abc import Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from types import ModuleType
from typing import Any

from gazeveil.errors import CannotCompose, InternalError, OptionError, needing
from gazeveil.exact import (
    Number,
    above_zero,
    as_source,
    at_least_zero,
    chance_of_failure,
    float_down,
    float_up,
    in_digits,
    root_up,
    whole_number,
)
from gazeveil.noise import NoiseSource
from gazeveil.privacy import conversion
from gazeveil.privacy.calibration import gaussian_epsilon
from gazeveil.privacy.guarantee import ApproxDP, Guarantee, PureDP, Unproven, ZeroConcentratedDP, on_common_ground
from gazeveil.privacy.protection import Neighbours, Observer, ProtectedUnit


class MechanismEvent(ABC):
    """This many releases of one mechanism."""

    __slots__ = ()
    count: int

    @abstractmethod
    def renyi(self) -> conversion.RenyiCurve:
        """Return the Rényi curve of one of the releases."""

    @abstractmethod
    def epsilon_alone(self) -> Fraction | None:
        """Return the pure ε of one of the releases; None if it has none."""

    def _place(self, count: int, **values: Any) -> None:
        for name, value in {**values, "count": whole_number(count, "count", at_least=1)}.items():
            object.__setattr__(self, name, value)


@dataclass(frozen=True, slots=True, init=False, repr=False, order=True)
class GaussianEvent(MechanismEvent):
    """Gaussian noise; the noise multiplier is σ divided by the ℓ2 sensitivity."""

    noise_multiplier: Fraction
    count: int

    def __init__(self, noise_multiplier: Number, count: int = 1) -> None:
        self._place(count, noise_multiplier=above_zero(noise_multiplier, "noise_multiplier"))

    def __repr__(self) -> str:
        return f"GaussianEvent({as_source(self.noise_multiplier)}, count={self.count})"

    def renyi(self) -> conversion.RenyiCurve:
        """Return the Rényi curve of one of the releases."""
        return conversion.gaussian_renyi(self.noise_multiplier, 1)

    def epsilon_alone(self) -> Fraction | None:
        """Return None: Gaussian noise has no pure ε."""
        return None


@dataclass(frozen=True, slots=True, init=False, repr=False, order=True)
class LaplaceEvent(MechanismEvent):
    """Laplace noise on one number; the noise multiplier is the scale b divided by the sensitivity.

    For a vector, say `PureEvent` with ε = Δ1/b: that several coordinates lose no more than one that moves as far is
    proven for the Rényi curve, not for the distribution of losses that `dp_accounting` adds up.
    """

    noise_multiplier: Fraction
    count: int

    def __init__(self, noise_multiplier: Number, count: int = 1) -> None:
        self._place(count, noise_multiplier=above_zero(noise_multiplier, "noise_multiplier"))

    def __repr__(self) -> str:
        return f"LaplaceEvent({as_source(self.noise_multiplier)}, count={self.count})"

    def renyi(self) -> conversion.RenyiCurve:
        """Return the Rényi curve of one of the releases."""
        return conversion.laplace_renyi(self.noise_multiplier, 1)

    def epsilon_alone(self) -> Fraction | None:
        """Return Δ/b."""
        return 1 / self.noise_multiplier


@dataclass(frozen=True, slots=True, init=False, repr=False, order=True)
class PureEvent(MechanismEvent):
    """Any mechanism that is ε-private: radial noise, randomised response, a black box."""

    epsilon: Fraction
    count: int

    def __init__(self, epsilon: Number, count: int = 1) -> None:
        self._place(count, epsilon=at_least_zero(epsilon, "epsilon"))

    def __repr__(self) -> str:
        return f"PureEvent({as_source(self.epsilon)}, count={self.count})"

    def renyi(self) -> conversion.RenyiCurve:
        """Return the largest Rényi curve that one of the releases can have."""
        return conversion.pure_renyi(self.epsilon)

    def epsilon_alone(self) -> Fraction | None:
        """Return ε."""
        return self.epsilon


# --- Tight accounts through the distribution of privacy losses, by the optional package ``dp_accounting``.


_GUARD = Fraction(1, 10**12)
"""What floating point may lose of δ; 300 Gaussian releases of multiplier 1 were measured to lose 6·10^-15."""


def loss_distribution_epsilon(events: Sequence[MechanismEvent], delta: Fraction) -> Fraction:
    """Return ε at δ from the pessimistic privacy loss distribution of all events.

    Raises:
        MissingExtra: If ``dp_accounting`` is not installed.
        OptionError: If δ is too small for floating point.
    """
    library = _library()
    if delta <= 10 * _GUARD:
        raise OptionError(
            f"a tight account needs δ above {float(10 * _GUARD):g}, not {float(delta):g}", hint="leave out tight"
        )
    losses = [_losses(library, event) for event in _with_one_gaussian(events)]
    total = functools.reduce(lambda left, right: left.compose(right), losses)
    epsilon = float(total.get_epsilon_for_delta(float_down(delta - _GUARD)))
    if not math.isfinite(epsilon):
        raise OptionError("these losses have no tight account at this δ", hint="leave out tight")
    return Fraction(epsilon)


def _with_one_gaussian(events: Sequence[MechanismEvent]) -> list[MechanismEvent]:
    """Return the events with all Gaussian ones as the single one that they are together."""
    gaussian = [event for event in events if isinstance(event, GaussianEvent)]
    others = [event for event in events if not isinstance(event, GaussianEvent)]
    if gaussian:
        square = sum((event.count / event.noise_multiplier**2 for event in gaussian), start=Fraction(0))
        others.append(GaussianEvent(1 / root_up(square)))
    return others


def _losses(library: ModuleType, event: MechanismEvent) -> Any:
    if isinstance(event, GaussianEvent):
        one = library.from_gaussian_mechanism(float_down(event.noise_multiplier))
    elif isinstance(event, LaplaceEvent):
        one = library.from_laplace_mechanism(float_down(event.noise_multiplier))
    elif isinstance(event, PureEvent):
        parameters = library.common.DifferentialPrivacyParameters(float_up(event.epsilon), 0.0)
        one = library.from_privacy_parameters(parameters)
    else:
        raise InternalError(f"no account of the losses of {event!r} is known")
    return one.self_compose(event.count) if event.count > 1 else one


def _library() -> ModuleType:
    with needing("dp_accounting", "accounting", "a tight account of several releases"):
        from dp_accounting.pld import privacy_loss_distribution  # noqa: PLC0415
    return privacy_loss_distribution  # type: ignore[no-any-return]


# --- What several releases guarantee together.


_WORTH_A_FAILURE = Fraction(99, 100)
"""A pure guarantee is given up for an (ε, δ) one only if ε falls by at least a hundredth."""

_MOST_REPEATS = 2_000
"""Above this many equal releases the optimal bound takes longer than it is worth beside the Rényi bound."""

_WORTH_TIGHTENING = 100
"""Above this ε nothing is guaranteed, and a distribution of losses would take minutes or overflow."""


def compose(guarantees: Iterable[Guarantee], *, target_delta: Number | None = None) -> Guarantee:
    """Return what all releases guarantee together, if their number and their parameters were fixed beforehand.

    Without ``target_delta`` guarantees are added up as they are. With it, the best provable ε at that δ
    is sought: pure and zero-concentrated guarantees then add up far more slowly. A few pure guarantees, where this
    gains less than a hundredth, stay pure.

    Raises:
        CannotCompose: If the guarantees are about different units, or need a ``target_delta``.
        OptionError: If there is nothing to compose, or ``target_delta`` is used up by the releases themselves.
    """
    parts = list(guarantees)
    if not parts:
        raise OptionError("nothing to compose: give at least one guarantee")
    if (unproven := _unproven(parts)) is not None:
        return unproven
    parts = on_common_ground(parts)
    if target_delta is not None:
        return _at_target(parts, chance_of_failure(target_delta, "target_delta"))
    if concentrated := [part for part in parts if isinstance(part, ZeroConcentratedDP)]:
        parts = [part._in_terms_of(concentrated[0]) for part in parts]
    return functools.reduce(operator.add, parts)


def compose_events(
    events: Iterable[MechanismEvent],
    *,
    target_delta: Number,
    tight: bool = False,
    unit: ProtectedUnit | None = None,
    neighbours: Neighbours = Neighbours.REPLACE_ONE,
) -> ApproxDP:
    """Return what mechanisms guarantee together at a given δ, knowing the noise of each.

    How many there are and the noise of each must have been fixed beforehand; what they are asked need not.
    Gaussian noise alone is exact; mixtures go through Rényi curves, or, if ``tight``, also through the distribution of
    privacy losses, which needs the extra ``accounting``; not above ε = 100, where nothing is guaranteed. That one is
    computed in floating point with a guard of 10^-12 on δ; everything else here is proven to the last digit.

    Raises:
        OptionError: If there are no events, or δ is too small for a tight account.
        MissingExtra: If ``tight`` is asked for without the package that it needs.
    """
    merged = _merged(events)
    delta = chance_of_failure(target_delta, "target_delta")
    bounds = [_gaussian_bound(merged, delta), _basic_bound(merged)]
    if bounds[0] is None:
        if len(alone := {event.epsilon_alone() for event in merged}) == 1 and (each := alone.pop()) is not None:
            bounds += _equal_bounds(sum(event.count for event in merged), each, Fraction(0), delta)
        curves = [_times(event.renyi(), event.count) for event in merged]
        bounds.append(conversion.renyi_epsilon(conversion.add_renyi(*curves), delta))
    epsilon = min(bound for bound in bounds if bound is not None)
    if tight and bounds[0] is None and epsilon <= _WORTH_TIGHTENING:
        epsilon = min(epsilon, loss_distribution_epsilon(merged, delta))
    return ApproxDP(epsilon, delta, unit=unit or Observer(), neighbours=neighbours)


def compose_disjoint(releases: Iterable[tuple[Guarantee, Collection[Hashable]]]) -> Guarantee:
    """Return what releases about different participants guarantee to each of them: the weakest of the guarantees.

    Each release comes with the participants whose data it was made from. Who is in which group must have been settled
    by something public, never by the data that are protected.

    Raises:
        CannotCompose: If a participant is in two of the releases, or the guarantees have no common measure.
        OptionError: If a release names no participants.
    """
    pairs = [(guarantee, set(people)) for guarantee, people in releases]
    if not pairs or not all(people for _, people in pairs):
        raise OptionError("say for every release whose data it was made from")
    for (_, first), (_, second) in combinations(pairs, 2):
        if shared := first & second:
            some = ", ".join(sorted(map(str, shared))[:3])
            raise CannotCompose(
                f"{len(shared):,} of the participants are in more than one release, for instance {some}",
                hint="use compose: what is released about one participant adds up",
            )
    parts = [guarantee for guarantee, _ in pairs]
    if (unproven := _unproven(parts)) is not None:
        return unproven
    return functools.reduce(_weaker, on_common_ground(parts))


def _at_target(parts: list[Guarantee], target: Fraction) -> Guarantee:
    """Return the best of the provable bounds on proven guarantees about one ground."""
    rho = sum((part.rho for part in parts if isinstance(part, ZeroConcentratedDP)), start=Fraction(0))
    # An (ε, δ) release fails outright with chance δ and is ε-private otherwise, so the two numbers add up apart.
    losses = sorted(part.epsilon for part in parts if isinstance(part, PureDP | ApproxDP))
    failures = sum((part.delta for part in parts if isinstance(part, ApproxDP)), start=Fraction(0))
    bounds: list[Fraction] = []
    if rho == 0 and failures <= target:
        bounds.append(sum(losses, start=Fraction(0)))
    if failures < target:
        bounds += _concentrated_bounds(losses, rho, target - failures)
    if len(losses) == len(parts) and len({tuple(part.numbers().values()) for part in parts}) == 1:
        bounds += _equal_bounds(len(parts), losses[0], failures / len(parts), target)
    if not bounds:
        raise OptionError(
            f"the releases fail with a chance of {in_digits(failures)}, which leaves nothing of {in_digits(target)}",
            hint="allow a larger target_delta",
        )
    if rho == 0 and failures == 0 and min(bounds) > _WORTH_A_FAILURE * sum(losses):
        return functools.reduce(operator.add, parts)
    return ApproxDP(min(bounds), target, unit=parts[0].unit, neighbours=parts[0].neighbours)


def _concentrated_bounds(losses: list[Fraction], rho: Fraction, delta: Fraction) -> list[Fraction]:
    """Return ε with pure losses taken as they are, and with everything on one Rényi curve."""
    bounds = [sum(losses, start=conversion.zcdp_epsilon(rho, delta))] if rho else []
    if losses:
        curves = [_times(conversion.pure_renyi(loss), losses.count(loss)) for loss in sorted(set(losses))]
        if rho:
            curves.append(conversion.zcdp_renyi(rho))
        bounds.append(conversion.renyi_epsilon(conversion.add_renyi(*curves), delta))
    return bounds


def _equal_bounds(count: int, epsilon: Fraction, delta: Fraction, target: Fraction) -> list[Fraction]:
    """Return the optimal bound for releases that all guarantee the same (ε, δ), where there is one."""
    if count > _MOST_REPEATS or 1 - (1 - delta) ** count > target:
        return []
    return [conversion.repeated_epsilon(epsilon, delta, count, target)]


def _gaussian_bound(events: list[MechanismEvent], delta: Fraction) -> Fraction | None:
    """Return the exact ε of Gaussian events: together they are one, with μ² added up."""
    gaussian = [event for event in events if isinstance(event, GaussianEvent)]
    if len(gaussian) < len(events):
        return None
    square = sum((event.count / event.noise_multiplier**2 for event in gaussian), start=Fraction(0))
    return Fraction(gaussian_epsilon(1, root_up(square), delta))


def _basic_bound(events: list[MechanismEvent]) -> Fraction | None:
    total = Fraction(0)
    for event in events:
        epsilon = event.epsilon_alone()
        if epsilon is None:
            return None
        total += event.count * epsilon
    return total


def _merged(events: Iterable[MechanismEvent]) -> list[MechanismEvent]:
    """Return events in a fixed order, so that the answer does not depend on theirs."""
    known = list(events)
    if not known or not all(isinstance(event, MechanismEvent) for event in known):
        raise OptionError("give at least one event, for instance GaussianEvent(4)")
    return sorted(known, key=repr)


def _times(curve: conversion.RenyiCurve, count: int) -> conversion.RenyiCurve:
    return lambda order: count * curve(order)


def _unproven(parts: list[Guarantee]) -> Guarantee | None:
    """Return what is left of guarantees of which one is none; None if all are proven."""
    if all(part.proven for part in parts):
        return None
    return functools.reduce(operator.add, sorted(parts, key=lambda part: part.proven))


def _weaker(left: Guarantee, right: Guarantee) -> Guarantee:
    """Return the strongest guarantee of one kind that both imply."""
    try:
        left = left._in_terms_of(right)
    except CannotCompose:
        right = right._in_terms_of(left)
    numbers = (max(a, b) for a, b in zip(left.numbers().values(), right.numbers().values(), strict=True))
    return left._with(numbers, left.ground)


# --- What is left of a guarantee once the noise was drawn: all of it, or nothing if the noise was not secure.


SEEDED = "its noise came from a seed, and anyone who knows the seed can remove the noise"


def guarantee_after_noise(guarantee: Guarantee, noise: object) -> Guarantee:
    """Return the guarantee that a release with this noise keeps: none, unless the noise is known to be secure."""
    if type(noise) is NoiseSource and noise.is_secure:  # something that wraps one can say what it likes
        return guarantee
    reasons = guarantee.reasons if isinstance(guarantee, Unproven) else ()
    return Unproven([*reasons, SEEDED], unit=guarantee.unit, neighbours=guarantee.neighbours)


def is_seeded(guarantee: Guarantee) -> bool:
    """Return whether a guarantee was lost because the noise came from a seed."""
    return isinstance(guarantee, Unproven) and SEEDED in guarantee.reasons
