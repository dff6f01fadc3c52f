# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What charges come to: how guarantees of different kinds are paid from one budget, and which charges expire when.

Every rule is an upper bound, and stays one when each release is chosen after seeing those before it.

=================  ==================================================================================================
budget             what a charge costs
=================  ==================================================================================================
ε (pure, streams)  a pure charge costs its ε; nothing else can be paid
ρ (concentrated)   a concentrated charge costs its ρ, a pure one `pure_zcdp` (at most ε²/2); nothing else can be paid
(ε, δ)             a pure or approximate charge costs its ε and δ; concentrated charges are summed in ρ and converted
                   on terms that the first of them fixes: α·Σρ + fee in ε, and half of the budget's δ
=================  ==================================================================================================

A guarantee about another unit, or between other neighbours, is first restated in the budget's (`Guarantee.restated`).
What cannot be restated or converted, and what is unproven, has no finite cost and is refused.

The Rényi order α is fixed before the charges that it prices. Choosing the best α afterwards would give a smaller
number, but not a bound: someone who picks the next release by looking at the last one can steer where the sum ends.
With α fixed, the sum is a privacy filter (docs/reference/ledger.md has the proof).

Sums are exact fractions. Only where a denominator passes 2048 bits is a sum rounded, up, to a multiple of 2^-1024.

A budget ``GazeStreamDP(B, W, r)`` is about any W seconds, and may be one that is restored: an *allowance*. It is paid
with leases. A lease pays for gaze until a moment ``until``, so it counts until W seconds after that. Leases that are
restored within the same quarter of an hour are kept as one sum, which is restored at its end: an account then holds at
most a hundred numbers, however many leases there were, and nothing is restored early. Sums are whole billionths of ε,
rounded up. docs/proofs/rolling-budget.md has the proof.
"""

from __future__ import annotations

import json
import math
from bisect import bisect_left
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any

from gazeveil.errors import CannotCompose, LedgerError, OptionError
from gazeveil.exact import decimal_up
from gazeveil.privacy.conversion import pure_zcdp
from gazeveil.privacy.decimal_interval import Interval
from gazeveil.privacy.guarantee import (
    ApproxDP,
    GazeStreamDP,
    Guarantee,
    PureDP,
    Unproven,
    ZeroConcentratedDP,
    guarantee_from_dict,
)
from gazeveil.privacy.ledger.events import (
    AccountClosed,
    AllowanceSet,
    BudgetGranted,
    Charged,
    Leased,
    LedgerEvent,
    Restored,
    UnprovenRecorded,
)

GRID_S = 900
"""Budget comes back at multiples of this many seconds."""
SLACK_S = 60
"""How far clocks of machines that share a ledger may differ, and wall clocks be wrong when processes begin."""
_GRAINS = 10**9

_encoded_in_order = json.JSONEncoder(separators=(",", ":")).encode

Sums = tuple[tuple[int, int], ...]
"""When ε is restored, as a number of steps of the grid, and how much, in billionths; the earliest first."""


@dataclass(frozen=True, slots=True)
class Rolling:
    """What still counts of an allowance, and when it is restored.

    Attributes:
        at: The account's time: seconds since 1970, by `gazeveil.privacy.ledger.ledger.Clock`.
        due: What still counts, by when it is restored.
        counted: All of it, in billionths of ε.
    """

    at: int
    due: Sums = ()
    counted: int = 0

    @property
    def epsilon(self) -> Fraction:
        """What still counts."""
        return Fraction(self.counted, _GRAINS)

    @property
    def next_restoration(self) -> tuple[int, Fraction] | None:
        """In how many seconds ε is restored next, and how much; None if nothing counts."""
        if not self.due:
            return None
        step, grains = self.due[0]
        return step * GRID_S - self.at, Fraction(grains, _GRAINS)

    def rolled(self, at: int) -> Rolling:
        """Return what still counts at a later moment; an earlier one changes nothing."""
        if at <= self.at:
            return self
        gone = bisect_left(self.due, (at // GRID_S + 1, 0))
        return Rolling(at, self.due[gone:], self.counted - sum(grains for _, grains in self.due[:gone]))

    def charged(self, until: int, window: Fraction, epsilon: Fraction) -> Rolling:
        """Return it with one more charge, for gaze until a moment."""
        step, grains = _comes_back(until, window), -(-epsilon.numerator * _GRAINS // epsilon.denominator)
        place = after = bisect_left(self.due, (step, 0))
        merged = grains
        if place < len(self.due) and self.due[place][0] == step:
            merged, after = grains + self.due[place][1], place + 1
        return Rolling(self.at, (*self.due[:place], (step, merged), *self.due[after:]), self.counted + grains)

    def times(self, steps: int, most: Fraction) -> Rolling:
        """Return it with all sums this many times as large, of which the latest count, up to a budget."""
        left, kept = math.floor(most * _GRAINS), []
        for step, grains in reversed(self.due):
            counted = min(left, steps * grains)
            left -= counted
            if counted:
                kept.append((step, counted))
        return Rolling(self.at, tuple(reversed(kept)), sum(grains for _, grains in kept))

    def to_text(self) -> str:
        """Write it as JSON."""
        return f'{{"at":{self.at},"due":{_encoded_in_order(self.due)}}}'

    @classmethod
    def from_plain(cls, values: Any) -> Rolling:
        """Return what `to_text` wrote, read as JSON."""
        due = _sums(values["due"])
        return cls(int(values["at"]), due, sum(grains for _, grains in due))


def _comes_back(until: int, window: Fraction) -> int:
    return -(-(until + math.ceil(window) + SLACK_S) // GRID_S)


def _sums(plain: Iterable[Iterable[int]]) -> Sums:
    return tuple((int(step), int(grains)) for step, grains in plain)


# --- The totals of an account.


_ZERO = Fraction(0)
_LONG_BITS = 2048
_GRID_BITS = 1024
_DIGITS = 40
LOST = "the ledger was restored from an old copy, and charges were lost"
"""Why the releases of an account have no guarantee in total any more."""


_encoded = json.JSONEncoder(sort_keys=True, separators=(",", ":")).encode


class NoPrice(Exception):  # noqa: N818  (always caught in this package, never shown as it is)
    """A guarantee has no finite cost in a budget; the text gives the reason."""


@dataclass(frozen=True, slots=True)
class Conversion:
    """The terms on which concentrated charges are paid from an (ε, δ) budget.

    Attributes:
        order: The Rényi order α: each ρ costs α ρ.
        fee: Paid once, in ε.
        delta: Paid once, in δ.
    """

    order: Fraction
    fee: Fraction
    delta: Fraction

    @classmethod
    def on(cls, budget: ApproxDP) -> Conversion:
        """Return the terms under which the budget affords the largest sum of ρ, with half of its δ."""
        delta = budget.delta / 2
        epsilon = float(min(budget.epsilon, Fraction(10**6)))
        log = math.log(delta.denominator) - math.log(delta.numerator)

        def most_rho(step: float) -> float:
            order = 1 + math.exp(step)
            fee = (log - math.log(order)) / (order - 1) + math.log1p(-1 / order)
            return (epsilon - max(0.0, fee)) / order

        # Any order gives a bound; a good one is only cheaper, so floats may choose it.
        best = max((step / 16 for step in range(-160, 481)), key=most_rho)
        order = 1 + Fraction(f"{math.exp(best):.6g}")
        return cls(order, cls.least_fee(order, delta), delta)

    @staticmethod
    def least_fee(order: Fraction, delta: Fraction) -> Fraction:
        """Return ln(1 - 1/α) - ln(α δ)/(α - 1), rounded up (Canonne, Kamath and Steinke 2020, proposition 12)."""
        alpha, failure = Interval.of(order, _DIGITS), Interval.of(delta, _DIGITS)
        fee = (1 - 1 / alpha).ln() - (alpha * failure).ln() / (alpha - 1)
        return max(_ZERO, decimal_up(Fraction(fee.high)))

    def is_sound(self) -> bool:
        """Whether the fee is high enough for the bound to hold."""
        return self.order > 1 and 0 < self.delta < 1 and self.fee >= self.least_fee(self.order, self.delta)

    def to_dict(self) -> dict[str, str]:
        """Return the terms as plain values."""
        return {"order": str(self.order), "fee": str(self.fee), "delta": str(self.delta)}

    @classmethod
    def from_dict(cls, values: Mapping[str, str]) -> Conversion:
        """Return the terms that `to_dict` wrote."""
        return cls(Fraction(values["order"]), Fraction(values["fee"]), Fraction(values["delta"]))


@dataclass(frozen=True, slots=True)
class Totals:
    """What the events of one account come to.

    Attributes:
        budget: All grants together; None before the first.
        epsilon: The sum of what was charged in ε; of an allowance, what still counts of it.
        delta: The sum of what was charged in δ.
        rho: The sum of what was charged in ρ.
        conversion: The terms for ρ in an (ε, δ) budget, once there was such a charge.
        charges: How many charges there were.
        unproven: Why parts of what was released have no guarantee.
        closed: Whether nothing more may happen.
        rolling: What is restored when; None for a budget that is not restored.
    """

    budget: Guarantee | None = None
    epsilon: Fraction = _ZERO
    delta: Fraction = _ZERO
    rho: Fraction = _ZERO
    conversion: Conversion | None = None
    charges: int = 0
    unproven: tuple[str, ...] = ()
    closed: bool = False
    rolling: Rolling | None = None

    def after(self, event: LedgerEvent) -> Totals:
        """Return the totals with one more event; replaying all events from ``Totals()`` gives the account's.

        Raises:
            NoPrice: If a charge has no finite cost in the budget.
            LedgerError: If the event cannot follow those before it.
        """
        if isinstance(event, Restored):
            return replace(self, unproven=tuple(sorted({*self.unproven, LOST}))) if event.lost else self
        if self.closed:
            raise LedgerError(f"a {event.kind!r} event comes after the account was closed")
        if isinstance(event, AccountClosed):
            return replace(self, closed=True)
        try:
            guarantee = guarantee_from_dict(event.guarantee)
        except OptionError as error:
            raise LedgerError(f"a {event.kind!r} event holds a guarantee that is not one: {error.message}") from None
        if isinstance(event, BudgetGranted):
            return self.after_grant(guarantee)
        if isinstance(event, AllowanceSet):
            return self.after_allowance(guarantee, event.at, event.carried)
        if isinstance(event, Leased):
            return self.rolled(event.at).after_lease(guarantee, event.at, event.until)
        if isinstance(event, Charged):
            return self._after_charged(guarantee, event.conversion)
        if isinstance(event, UnprovenRecorded) and isinstance(guarantee, Unproven):
            return replace(self, unproven=tuple(sorted({*self.unproven, *guarantee.reasons})))
        raise LedgerError(f"an event of kind {event.kind!r} cannot be added up")

    def _after_charged(self, guarantee: Guarantee, written: Mapping[str, str] | None) -> Totals:
        """Return the totals after a charge from the past, whose terms are the written ones."""
        try:
            terms = None if written is None else Conversion.from_dict(written)
        except (ValueError, KeyError, TypeError, ZeroDivisionError):
            raise LedgerError(f"a charge holds terms of conversion that are not: {written!r}") from None
        if terms is not None and not terms.is_sound():
            raise LedgerError("a charge holds terms of conversion that are too cheap to be a bound")
        total = self.after_charge(guarantee, terms)
        if total.conversion != (terms or self.conversion):
            raise LedgerError("a charge holds terms of conversion where there should be none, or none where it should")
        return total

    def after_grant(self, grant: Guarantee) -> Totals:
        """Return the totals with more budget."""
        if isinstance(grant, Unproven) or (isinstance(grant, ApproxDP) and grant.delta >= 1):
            raise LedgerError("a budget is a proven guarantee", hint="for example PureDP(12) or ApproxDP(3, '1e-6')")
        if self.rolling is not None:
            raise LedgerError(
                f"the account holds {self.budget}, which comes back by itself; a grant cannot be added to it",
                hint="what may be spent in any 24 hours is set in the gateway's policy, or in a stream's day budget",
            )
        if self.budget is None:
            return replace(self, budget=grant)
        if _ground(grant) != _ground(self.budget):
            raise LedgerError(
                f"the account holds a budget of {self.budget}; {grant} cannot be added to it",
                hint="grant more of the same kind, or open another account",
            )
        return replace(self, budget=self.budget + grant)

    def after_charge(self, guarantee: Guarantee, terms: Conversion | None = None) -> Totals:
        """Return the totals with one more charge, whether or not the budget allows it.

        Raises:
            NoPrice: If the charge has no finite cost in the budget.
        """
        if self.budget is None:
            raise NoPrice("no budget has been granted")
        if self.rolling is not None:
            raise LedgerError(
                "the account's budget comes back, so a charge must say until when it pays for gaze",
                hint="use another account for releases that stay",
            )
        epsilon, delta, rho = _price(self.budget, guarantee)
        conversion = self.conversion
        if conversion is None and rho and isinstance(self.budget, ApproxDP):
            conversion = Conversion.on(self.budget) if terms is None else terms
        return Totals(
            self.budget,
            _added(self.epsilon, epsilon),
            _added(self.delta, delta),
            _added(self.rho, rho),
            conversion,
            self.charges + 1,
            self.unproven,
            self.closed,
        )

    def rolled(self, at: int) -> Totals:
        """Return the totals at a later moment of the account's time: without what was restored until then."""
        if self.rolling is None or (rolling := self.rolling.rolled(at)) is self.rolling:
            return self
        return self._rolling_on(rolling, self.charges)

    def allowed(self, wish: GazeStreamDP) -> GazeStreamDP:
        """Return the allowance that holds after someone asked for another one.

        More ε, and larger movements, hold at once. Anything else waits until nothing counts any more. ε is never
        lowered: a smaller limit is kept by whoever charges (``within``).
        """
        held, rolling = self.budget, self.rolling
        if rolling is None or not isinstance(held, GazeStreamDP):
            return wish
        if (held.window, held.radius_unit) != (wish.window, wish.radius_unit):
            return held if rolling.due else wish
        if not _covers(wish, held) and rolling.due:
            return held
        epsilon = max(held.epsilon, wish.epsilon)
        return GazeStreamDP(epsilon, wish.window, wish.radius, wish.radius_unit, wish.head_radius)

    def limited(self, within: Fraction | None) -> Totals:
        """Return the totals as if no more than this were allowed."""
        held = self.budget
        if within is None or self.rolling is None or not isinstance(held, GazeStreamDP) or held.epsilon <= within:
            return self
        return replace(self, budget=GazeStreamDP(within, held.window, held.radius, held.radius_unit, held.head_radius))

    def after_allowance(self, allowance: Guarantee, at: int, carried: Mapping[str, Any]) -> Totals:
        """Return the totals with another allowance; what counts is counted in its terms."""
        if not isinstance(allowance, GazeStreamDP):
            raise LedgerError(f"only ε for a window of gaze comes back, not {allowance}")
        if self.rolling is None:
            if self.budget is not None:
                raise LedgerError(
                    f"the account holds a budget of {self.budget} that does not come back", hint="use another account"
                )
            rolling, reasons = _carried(carried, allowance, at)
            unproven = tuple(sorted({*self.unproven, *reasons}))
        else:
            rolling, unproven = self._on_time(at).rolled(at), self.unproven
            if rolling.due:
                steps = None if self.budget is None else self.budget.unit.steps_to(allowance.unit)
                if steps is None:
                    raise LedgerError(f"what counts is in terms of {self.budget}, so {allowance} cannot take its place")
                rolling = rolling.times(steps, allowance.epsilon)
        return replace(self, budget=allowance, rolling=rolling, epsilon=rolling.epsilon, unproven=unproven)

    def after_lease(self, guarantee: Guarantee, at: int, until: int) -> Totals:
        """Return the totals with one more charge, for gaze until a moment, whether or not the budget allows it.

        Raises:
            NoPrice: If the charge has no finite cost in the budget.
        """
        rolling = self._on_time(at)
        if not isinstance(self.budget, GazeStreamDP) or until < at:
            raise LedgerError("a lease pays for gaze until a moment that is not over yet, from an allowance")
        rolling = rolling.charged(until, self.budget.window, _price(self.budget, guarantee)[0])
        return self._rolling_on(rolling, self.charges + 1)

    def _rolling_on(self, rolling: Rolling, charges: int) -> Totals:
        return Totals(
            self.budget,
            rolling.epsilon,
            charges=charges,
            unproven=self.unproven,
            closed=self.closed,
            rolling=rolling,
        )

    def _on_time(self, at: int) -> Rolling:
        if self.rolling is None:
            raise LedgerError(
                f"the account holds {self.budget or 'no budget'}, which does not come back: a lease needs an allowance"
            )
        if at < self.rolling.at:
            raise LedgerError(f"the account's time runs back, from {self.rolling.at} to {at}")
        return self.rolling

    @property
    def spent(self) -> tuple[Fraction, ...]:
        """What was spent, number by number as in ``budget.numbers()``."""
        if self.budget is None:
            return ()
        if isinstance(self.budget, ZeroConcentratedDP):
            return (self.rho,)
        if isinstance(self.budget, ApproxDP):
            terms = self.conversion
            if terms is None:
                return self.epsilon, self.delta
            return self.epsilon + terms.order * self.rho + terms.fee, self.delta + terms.delta
        return (self.epsilon,)

    @property
    def remaining(self) -> tuple[Fraction, ...]:
        """What is left, number by number; negative where too much was spent."""
        granted = () if self.budget is None else self.budget.numbers().values()
        return tuple(have - gone for have, gone in zip(granted, self.spent, strict=True))

    @property
    def overspent(self) -> bool:
        """Whether more was spent than granted."""
        granted = () if self.budget is None else self.budget.numbers().values()
        return any(gone > have for have, gone in zip(granted, self.spent, strict=True))

    def to_text(self) -> str:
        """Write the totals; equal totals give equal texts."""
        budget = "null" if self.budget is None else _written(self.budget)
        terms = "null" if self.conversion is None else _encoded(self.conversion.to_dict())
        rolling = "" if self.rolling is None else f'"rolling":{self.rolling.to_text()},'
        return (
            f'{{"budget":{budget},"charges":{self.charges},"closed":{_encoded(self.closed)},"conversion":{terms},'
            f'"delta":"{self.delta}","epsilon":"{self.epsilon}","rho":"{self.rho}",{rolling}'
            f'"unproven":{_encoded(self.unproven)}}}'
        )

    @classmethod
    def from_text(cls, text: str) -> Totals:
        """Return the totals that `to_text` wrote; an empty text is an account without events.

        Raises:
            LedgerError: If the text is something else.
        """
        if not text:
            return cls()
        try:
            values: dict[str, Any] = json.loads(text)
            return cls(
                budget=None if values["budget"] is None else _budget(json.dumps(values["budget"])),
                epsilon=Fraction(values["epsilon"]),
                delta=Fraction(values["delta"]),
                rho=Fraction(values["rho"]),
                conversion=None if values["conversion"] is None else Conversion.from_dict(values["conversion"]),
                charges=values["charges"],
                unproven=tuple(values["unproven"]),
                closed=values["closed"],
                rolling=None if "rolling" not in values else Rolling.from_plain(values["rolling"]),
            )
        except (ValueError, KeyError, TypeError, AttributeError, ZeroDivisionError) as error:
            raise LedgerError(
                f"the ledger's running totals cannot be read: {error}", hint="see `gazeveil ledger verify`"
            ) from None


@lru_cache(maxsize=1024)
def _written(budget: Guarantee) -> str:
    return _encoded(budget.to_dict())


@lru_cache(maxsize=1024)
def _budget(text: str) -> Guarantee:
    return guarantee_from_dict(json.loads(text))


def _ground(guarantee: Guarantee) -> tuple[object, ...]:
    return type(guarantee), guarantee.unit, guarantee.neighbours


def _price(budget: Guarantee, guarantee: Guarantee) -> tuple[Fraction, Fraction, Fraction]:
    """Return the cost of a guarantee in ε, δ and ρ."""
    if isinstance(guarantee, Unproven):
        raise NoPrice(f"it is unproven ({guarantee.reason}), so no budget bounds what it reveals")
    try:
        here = guarantee.restated(unit=budget.unit, neighbours=budget.neighbours)
    except CannotCompose as error:
        raise NoPrice(error.message) from None
    if isinstance(here, PureDP):
        cost = (here.epsilon, _ZERO, _ZERO)
    elif isinstance(here, ApproxDP):
        cost = (here.epsilon, here.delta, _ZERO)
    elif isinstance(here, ZeroConcentratedDP):
        cost = (_ZERO, _ZERO, here.rho)
    else:
        raise NoPrice(f"a guarantee of kind {here.kind!r} is not one that budgets know")
    epsilon, delta, rho = cost
    if isinstance(budget, PureDP) and (delta or rho):
        raise NoPrice("a budget of pure ε cannot pay for a guarantee with a δ; open another account with a δ")
    if isinstance(budget, ZeroConcentratedDP):
        if delta:
            raise NoPrice("a budget of ρ cannot pay for an (ε, δ) guarantee; open an account of that kind")
        return _ZERO, _ZERO, rho + pure_zcdp(epsilon)
    if isinstance(budget, ApproxDP) and rho and not budget.delta:
        raise NoPrice("a budget with δ = 0 cannot pay for a concentrated guarantee; grant one with δ above 0")
    return epsilon, delta, rho


def _carried(carried: Mapping[str, Any], allowance: GazeStreamDP, at: int) -> tuple[Rolling, tuple[str, ...]]:
    """Return what an account begins with."""
    try:
        rolling = Rolling(at)
        for until, epsilon in carried.get("spent", ()):
            rolling = rolling.charged(int(until), allowance.window, Fraction(epsilon))
        return rolling.rolled(at).times(1, allowance.epsilon), tuple(str(why) for why in carried.get("unproven", ()))
    except (ValueError, TypeError, ZeroDivisionError):
        raise LedgerError(f"an account begins with charges that are none: {carried!r}") from None


def _covers(wish: GazeStreamDP, held: GazeStreamDP) -> bool:
    """Whether one is about movements at least as large as the other, of gaze and of the head alike."""
    heads = wish.head_radius, held.head_radius
    if heads[0] is None or heads[1] is None:
        return heads[0] is heads[1] and wish.radius >= held.radius
    return wish.radius >= held.radius and heads[0] >= heads[1]


def _added(total: Fraction, cost: Fraction) -> Fraction:
    """Add exactly; round up where a fraction would grow without end."""
    if not cost:
        return total
    total += cost
    if total.denominator.bit_length() <= _LONG_BITS:
        return total
    return Fraction(math.ceil(total * (1 << _GRID_BITS)), 1 << _GRID_BITS)


def is_writable(guarantee: Guarantee) -> bool:
    """Whether the numbers of a guarantee are of a size that can be kept exactly."""
    numbers = guarantee.numbers().values()
    return all(max(n.numerator.bit_length(), n.denominator.bit_length()) <= _LONG_BITS for n in numbers)


# --- What can be kept: names that every database can hold and every screen can show, and guarantees.


_LONGEST_NAME = 200


def check_names(dataset: str, person: str) -> None:
    """Make sure that there could be such an account.

    Raises:
        OptionError: If there could not.
    """
    checked(dataset, "name of a data set")
    if person:
        checked(person, "name of a participant")


def checked(name: str, what: str) -> str:
    """Return a name that can be kept.

    Raises:
        OptionError: If it cannot.
    """
    if not name.strip() or len(name) > _LONGEST_NAME or not name.isprintable():
        raise OptionError(f"the {what} must be 1 to {_LONGEST_NAME} printable letters, not {name!r}")
    return name


@lru_cache(maxsize=256)
def written(guarantee: Guarantee) -> dict[str, Any]:
    """Return a guarantee as plain values, if it is one that can be kept; whoever charges often charges the same.

    Raises:
        OptionError: If it is none, or its numbers are too long.
    """
    if not isinstance(guarantee, Guarantee):
        raise OptionError(f"a guarantee is needed, for instance PureDP(1), not {guarantee!r}")
    if not is_writable(guarantee):
        raise OptionError("the guarantee holds a fraction too long to be kept", hint="round it up to fewer digits")
    return guarantee.to_dict()
