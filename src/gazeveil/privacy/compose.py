# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What several releases guarantee together.

`compose` adds up guarantees, `compose_events` the mechanisms behind them, which is tighter. Both hold for releases
whose questions are chosen one after the other, each in sight of the answers before it, if their number and their
parameters (ε, δ, ρ, noise) were fixed beforehand. Where those are chosen late, or someone stops when the answers
please, a total computed afterwards is no bound: use a ledger, which is a filter, and what it guarantees is its budget.
`compose_disjoint` is for releases about different participants. All results are upper bounds; of several proven bounds
the smallest is taken. Proofs: docs/proofs/composition.md.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Collection, Hashable, Iterable
from fractions import Fraction
from itertools import combinations

from gazeveil.errors import CannotCompose, OptionError
from gazeveil.exact import Number, chance_of_failure, in_digits, root_up
from gazeveil.privacy import convert
from gazeveil.privacy._accounting import loss_distribution_epsilon
from gazeveil.privacy._promise import on_common_ground
from gazeveil.privacy.calibrate import gaussian_epsilon
from gazeveil.privacy.events import Event, GaussianEvent
from gazeveil.privacy.guarantee import ApproxDP, Guarantee, PureDP, ZeroConcentratedDP
from gazeveil.privacy.unit import Neighbours, Observer, ProtectedUnit

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
    events: Iterable[Event],
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
        bounds.append(convert.renyi_epsilon(convert.add_renyi(*curves), delta))
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
    bounds = [sum(losses, start=convert.zcdp_epsilon(rho, delta))] if rho else []
    if losses:
        curves = [_times(convert.pure_renyi(loss), losses.count(loss)) for loss in sorted(set(losses))]
        if rho:
            curves.append(convert.zcdp_renyi(rho))
        bounds.append(convert.renyi_epsilon(convert.add_renyi(*curves), delta))
    return bounds


def _equal_bounds(count: int, epsilon: Fraction, delta: Fraction, target: Fraction) -> list[Fraction]:
    """Return the optimal bound for releases that all guarantee the same (ε, δ), where there is one."""
    if count > _MOST_REPEATS or 1 - (1 - delta) ** count > target:
        return []
    return [convert.repeated_epsilon(epsilon, delta, count, target)]


def _gaussian_bound(events: list[Event], delta: Fraction) -> Fraction | None:
    """Return the exact ε of Gaussian events: together they are one, with μ² added up."""
    gaussian = [event for event in events if isinstance(event, GaussianEvent)]
    if len(gaussian) < len(events):
        return None
    square = sum((event.count / event.noise_multiplier**2 for event in gaussian), start=Fraction(0))
    return Fraction(gaussian_epsilon(1, root_up(square), delta))


def _basic_bound(events: list[Event]) -> Fraction | None:
    total = Fraction(0)
    for event in events:
        epsilon = event.epsilon_alone()
        if epsilon is None:
            return None
        total += event.count * epsilon
    return total


def _merged(events: Iterable[Event]) -> list[Event]:
    """Return events in a fixed order, so that the answer does not depend on theirs."""
    known = list(events)
    if not known or not all(isinstance(event, Event) for event in known):
        raise OptionError("give at least one event, for instance GaussianEvent(4)")
    return sorted(known, key=repr)


def _times(curve: convert.RenyiCurve, count: int) -> convert.RenyiCurve:
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
