# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What a release guarantees, as values: compared, added up, written down and stated in words.

Smaller is stronger: ``a <= b`` says that whoever keeps ``a`` also keeps ``b``, so ``spent <= budget`` reads as it
should. The order is partial. ``a + b`` is what remains true of a participant whose data went into both releases.
Guarantees about different units do not add up by themselves; `Guarantee.restated` weakens one to another unit where
that is provable. `Unproven` infects whatever it is combined with. Numbers are exact fractions (`gazeveil.exact`).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, NamedTuple

from gazeveil.display import html_table
from gazeveil.errors import CannotCompose, InternalError, OptionError, closest
from gazeveil.exact import Number, as_source, as_text, at_least_zero, in_digits, probability, whole_number
from gazeveil.privacy import conversion
from gazeveil.privacy.protection import Neighbours, Observer, ProtectedUnit, WindowOfGaze, unit_from_dict

LETTERS = {"epsilon": "ε", "delta": "δ", "rho": "ρ"}


class Ground(NamedTuple):
    """What a guarantee is about."""

    unit: ProtectedUnit
    neighbours: Neighbours

    def __str__(self) -> str:
        return f"{self.unit.in_words()} ({self.neighbours})"

    def steps_to(self, other: Ground) -> int | None:
        """Return how many changes of this kind make up any change of the other kind; None if none do."""
        steps = self.unit.steps_to(other.unit)
        if other.neighbours is Neighbours.ADD_REMOVE:
            # Replacements keep the number of units, and removing a part is not removing the whole.
            return 1 if self == other else None
        if steps is not None and self.neighbours is Neighbours.ADD_REMOVE:
            return 2 * steps  # replacing is removing and adding
        return steps


class Guarantee(ABC):
    """A guarantee: how much, about which unit, between which neighbours."""

    __slots__ = ()
    kind: ClassVar[str]
    restates_evenly: ClassVar[bool] = True
    """Whether restating the sum of two such guarantees is the same as adding up what they are restated to."""
    unit: ProtectedUnit
    neighbours: Neighbours

    @property
    def proven(self) -> bool:
        """Whether this is a guarantee at all."""
        return True

    @abstractmethod
    def numbers(self) -> dict[str, Fraction]:
        """Return the numbers of the guarantee by name."""

    @abstractmethod
    def in_words(self) -> str:
        """Say the guarantee in plain words."""

    @abstractmethod
    def _with(self, numbers: Iterable[Fraction], ground: Ground) -> Guarantee:
        """Return a guarantee of this kind with other numbers, about another ground."""

    @abstractmethod
    def _for_changes(self, count: int) -> tuple[Fraction, ...]:
        """Return the numbers of the guarantee when ``count`` units change."""

    def _as_kind_of(self, model: Guarantee) -> Guarantee:
        """Return the same guarantee as a value of another kind.

        Raises:
            CannotCompose: If it is not one.
        """
        if self.numbers().keys() == model.numbers().keys():
            return self
        raise CannotCompose(
            f"{self} cannot be expressed in the terms of {model}",
            hint="use compose, with a target_delta where one of them is an (ε, δ) guarantee",
        )

    def _in_terms_of(self, model: Guarantee) -> Guarantee:
        """Return what this guarantee implies in the terms of another kind; something may be lost.

        Raises:
            CannotCompose: If it implies nothing.
        """
        return self._as_kind_of(model)

    def _implies(self, other: Guarantee) -> bool:
        """Whether this proven guarantee implies another about the same ground."""
        try:
            here = self._in_terms_of(other)
        except CannotCompose:
            return False
        return all(a <= b for a, b in zip(here.numbers().values(), other.numbers().values(), strict=True))

    @property
    def ground(self) -> Ground:
        """What the guarantee is about: the unit of protection and the neighbours."""
        return Ground(self.unit, self.neighbours)

    def for_group(self, size: int) -> Guarantee:
        """Return what is guaranteed to a group of this many units, for instance a family: group privacy."""
        numbers = self._for_changes(whole_number(size, "size", at_least=1))
        return self._with(numbers, self.ground)

    def restated(self, *, unit: ProtectedUnit | None = None, neighbours: Neighbours | None = None) -> Guarantee:
        """Return the weaker guarantee about another unit, or between other neighbours, that this one implies.

        Raises:
            CannotCompose: If none is implied.
        """
        wanted = Ground(unit or self.unit, Neighbours(neighbours or self.neighbours))
        if wanted == self.ground:
            return self
        steps = self.ground.steps_to(wanted)
        if steps is None:
            raise CannotCompose(
                f"a guarantee about {self.ground} says nothing about {wanted}",
                hint="calibrate the mechanism for the unit that is to be protected",
            )
        return self._with(self._for_changes(steps), wanted)

    def stronger_than(self, other: Guarantee) -> bool:
        """Whether whoever keeps this guarantee provably keeps the other (the two may be equally strong)."""
        if not other.proven:
            return True
        if not self.proven:
            return False
        try:
            here = self.restated(unit=other.unit, neighbours=other.neighbours)
        except CannotCompose:
            return False
        return here._implies(other)

    def __le__(self, other: object) -> bool:
        return self.stronger_than(other) if isinstance(other, Guarantee) else NotImplemented

    def __ge__(self, other: object) -> bool:
        return other.stronger_than(self) if isinstance(other, Guarantee) else NotImplemented

    def __lt__(self, other: object) -> bool:
        return self <= other and not other <= self if isinstance(other, Guarantee) else NotImplemented

    def __gt__(self, other: object) -> bool:
        return other < self if isinstance(other, Guarantee) else NotImplemented

    def __add__(self, other: Guarantee) -> Guarantee:
        """Return what remains of both releases; `gazeveil.privacy.composition` adds up what this refuses.

        Only what can be added in any order with the same result is added here.
        """
        if not isinstance(other, Guarantee):
            return NotImplemented
        if not other.proven:
            return other + self
        if self.neighbours is not other.neighbours and self.unit == other.unit:
            for part in (self, other):
                if part.neighbours is Neighbours.ADD_REMOVE and not part.restates_evenly:
                    raise CannotCompose(f"{self} and {other} do not add up", hint="use compose, or restate the first")
        left, right = on_common_ground((self, other))
        try:
            left = left._as_kind_of(right)
        except CannotCompose:
            right = right._as_kind_of(left)
        numbers = (a + b for a, b in zip(left.numbers().values(), right.numbers().values(), strict=True))
        return left._with(numbers, left.ground)

    def __mul__(self, times: int) -> Guarantee:
        """Return what remains of ``times`` releases with this guarantee."""
        count = whole_number(times, "the number of releases", at_least=0)
        numbers = (number * count for number in self.numbers().values())
        return self._with(numbers, self.ground)

    __rmul__ = __mul__

    def __sub__(self, spent: Guarantee) -> Guarantee:
        """Return what is left of this budget once ``spent`` is spent.

        Raises:
            CannotCompose: If the budget does not allow it, or measures something else.
        """
        if not isinstance(spent, Guarantee):
            return NotImplemented
        if not (self.proven and spent.proven):
            raise CannotCompose("what is unproven cannot be paid from a budget")
        paid = spent.restated(unit=self.unit, neighbours=self.neighbours)._in_terms_of(self)
        left = [have - pay for have, pay in zip(self.numbers().values(), paid.numbers().values(), strict=True)]
        if min(left) < 0:
            raise CannotCompose(f"{spent} is more than the budget {self}")
        return self._with(left, self.ground)

    def _repr_html_(self) -> str:
        rows = {"in words": self.in_words(), "protects": self.unit.in_words(), "neighbours": self.neighbours}
        return html_table(str(self), rows.items())

    def __str__(self) -> str:
        numbers = ", ".join(f"{LETTERS[name]}={in_digits(number)}" for name, number in self.numbers().items())
        return f"{numbers} for {self.ground}"

    def __repr__(self) -> str:
        parts = [as_source(number) for number in self.numbers().values()]
        if self.unit != Observer():
            parts.append(f"unit={self.unit!r}")
        if self.neighbours is not Neighbours.REPLACE_ONE:
            parts.append("neighbours='add-remove'")
        return f"{type(self).__name__}({', '.join(parts)})"

    def to_dict(self) -> dict[str, Any]:
        """Return the guarantee as plain values; `guarantee_from_dict` reads them back without loss."""
        return {
            "kind": self.kind,
            **{name: as_text(number) for name, number in self.numbers().items()},
            "unit": self.unit.to_dict(),
            "neighbours": str(self.neighbours),
        }

    def _place(self, unit: ProtectedUnit, neighbours: Neighbours | str, **numbers: object) -> None:
        """Fill in the fields of a frozen value."""
        if not isinstance(unit, ProtectedUnit):
            raise OptionError(f"a unit of protection is needed, for instance Observer(), not {unit!r}")
        try:
            relation = Neighbours(neighbours)
        except ValueError:
            raise OptionError(f"neighbours are replace-one or add-remove, not {neighbours!r}") from None
        if relation is Neighbours.ADD_REMOVE and not unit.can_be_removed:
            raise OptionError(
                f"{unit.in_words()} cannot be added or removed, only replaced", hint="use neighbours='replace-one'"
            )
        for name, value in {**numbers, "unit": unit, "neighbours": relation}.items():
            object.__setattr__(self, name, value)


def on_common_ground(parts: Sequence[Guarantee]) -> list[Guarantee]:
    """Return guarantees about one unit, between the same neighbours.

    Only the neighbour relation is weakened without being asked, from add/remove to replacing one.

    Raises:
        CannotCompose: If the units differ.
    """
    first = parts[0]
    for other in parts[1:]:
        if other.unit != first.unit:
            raise CannotCompose(
                f"a guarantee about {first.unit.in_words()} and one about {other.unit.in_words()} do not add up",
                hint=_how_to_weaken(first, other),
            )
    if len({part.neighbours for part in parts}) == 1:
        return list(parts)
    return [part.restated(neighbours=Neighbours.REPLACE_ONE) for part in parts]


def _how_to_weaken(left: Guarantee, right: Guarantee) -> str:
    for strong, weak in ((left, right), (right, left)):
        if strong.unit.steps_to(weak.unit) is not None:
            which = "first" if strong is left else "second"
            return f"weaken the {which}, if that is meant: guarantee.restated(unit={weak.unit!r})"
    return "keep an account for each unit of protection"


# --- What a release guarantees, as values: compared, added up, written down and said in words.


_OBSERVER = Observer()


@dataclass(frozen=True, slots=True, init=False, repr=False)
class PureDP(Guarantee):
    """ε-differential privacy: no outcome becomes more than e^ε times likelier or less likely."""

    kind: ClassVar[str] = "pure-dp"
    epsilon: Fraction
    unit: ProtectedUnit
    neighbours: Neighbours

    def __init__(
        self,
        epsilon: Number,
        *,
        unit: ProtectedUnit = _OBSERVER,
        neighbours: Neighbours | str = Neighbours.REPLACE_ONE,
    ) -> None:
        self._place(unit, neighbours, epsilon=at_least_zero(epsilon, "epsilon"))

    def numbers(self) -> dict[str, Fraction]:
        """Return ε."""
        return {"epsilon": self.epsilon}

    def in_words(self) -> str:
        """Say the guarantee in plain words."""
        return (
            f"{_opening(self)} makes any conclusion more or less likely by a factor of at most {_odds(self.epsilon)}."
        )

    def _with(self, numbers: Iterable[Fraction], ground: Ground) -> Guarantee:
        (epsilon,) = numbers
        if isinstance(ground.unit, WindowOfGaze):
            unit = ground.unit
            return GazeStreamDP(epsilon, unit.seconds, unit.radius, unit.unit, unit.head_radius)
        return PureDP(epsilon, unit=ground.unit, neighbours=ground.neighbours)

    def _as_kind_of(self, model: Guarantee) -> Guarantee:
        if isinstance(model, ApproxDP):
            return model._with((self.epsilon, Fraction(0)), self.ground)
        return Guarantee._as_kind_of(self, model)

    def _in_terms_of(self, model: Guarantee) -> Guarantee:
        if isinstance(model, ZeroConcentratedDP):
            return model._with((conversion.pure_zcdp(self.epsilon),), self.ground)
        return self._as_kind_of(model)

    def _for_changes(self, count: int) -> tuple[Fraction, ...]:
        return (count * self.epsilon,)


@dataclass(frozen=True, slots=True, init=False, repr=False)
class GazeStreamDP(PureDP):
    """ε-differential privacy for every window of a gaze stream: each of its points moved by at most a radius.

    With a head radius, where the head points may move as well, by at most this many degrees at each sample.
    """

    kind: ClassVar[str] = "gaze-stream-dp"

    def __init__(
        self,
        epsilon: Number,
        window: Number,
        radius: Number,
        radius_unit: str = "px",
        head_radius: Number | None = None,
    ) -> None:
        unit = WindowOfGaze(window, radius, radius_unit, head_radius)
        self._place(unit, Neighbours.REPLACE_ONE, epsilon=at_least_zero(epsilon, "epsilon"))

    @property
    def window(self) -> Fraction:
        """The length of a window in seconds."""
        return self._window.seconds

    @property
    def radius(self) -> Fraction:
        """How far each point may have been from where it was."""
        return self._window.radius

    @property
    def radius_unit(self) -> str:
        """What the radius is measured in: px, deg or norm."""
        return self._window.unit

    @property
    def head_radius(self) -> Fraction | None:
        """By how many degrees the head may have pointed elsewhere; None if nothing is guaranteed about it."""
        return self._window.head_radius

    @property
    def _window(self) -> WindowOfGaze:
        if not isinstance(self.unit, WindowOfGaze):
            raise InternalError("a gaze stream protects windows of gaze")
        return self.unit

    def __repr__(self) -> str:
        numbers = ", ".join(as_source(number) for number in (self.epsilon, self.window, self.radius))
        head = "" if self.head_radius is None else f", {as_source(self.head_radius)}"
        return f"GazeStreamDP({numbers}, {self.radius_unit!r}{head})"


@dataclass(frozen=True, slots=True, init=False, repr=False)
class ApproxDP(Guarantee):
    """(ε, δ)-differential privacy: like an ε-private release, from which it differs with probability at most δ."""

    kind: ClassVar[str] = "approx-dp"
    restates_evenly: ClassVar[bool] = False
    epsilon: Fraction
    delta: Fraction
    unit: ProtectedUnit
    neighbours: Neighbours

    def __init__(
        self,
        epsilon: Number,
        delta: Number,
        *,
        unit: ProtectedUnit = _OBSERVER,
        neighbours: Neighbours | str = Neighbours.REPLACE_ONE,
    ) -> None:
        epsilon, delta = at_least_zero(epsilon, "epsilon"), probability(delta, "delta")
        self._place(unit, neighbours, epsilon=epsilon, delta=delta)

    def numbers(self) -> dict[str, Fraction]:
        """Return ε and δ."""
        return {"epsilon": self.epsilon, "delta": self.delta}

    def in_words(self) -> str:
        """Say the guarantee in plain words."""
        odds = f"{_opening(self)} makes any conclusion more or less likely by a factor of at most {_odds(self.epsilon)}"
        if self.delta == 0:
            return f"{odds}."
        if self.delta == 1:
            return "Nothing is guaranteed: δ is 1."
        chance = f"{in_digits(self.delta)} (about 1 in {in_digits(1 / self.delta, 2, up=False)})"
        return (
            f"{odds}, as in a release that keeps this without exception, but for a chance of at most {chance}, "
            "in which more may be learned."
        )

    def _with(self, numbers: Iterable[Fraction], ground: Ground) -> Guarantee:
        epsilon, delta = numbers
        return ApproxDP(epsilon, min(delta, Fraction(1)), unit=ground.unit, neighbours=ground.neighbours)

    def _implies(self, other: Guarantee) -> bool:
        if self.delta == 0 and not isinstance(other, ApproxDP):
            return PureDP(self.epsilon, unit=self.unit, neighbours=self.neighbours)._implies(other)
        return Guarantee._implies(self, other)

    def _for_changes(self, count: int) -> tuple[Fraction, ...]:
        return count * self.epsilon, conversion.group_delta(self.epsilon, self.delta, count)


@dataclass(frozen=True, slots=True, init=False, repr=False)
class ZeroConcentratedDP(Guarantee):
    """ρ-zero-concentrated differential privacy (Bun and Steinke 2016): the currency in which Gaussian noise adds up."""

    kind: ClassVar[str] = "zcdp"
    rho: Fraction
    unit: ProtectedUnit
    neighbours: Neighbours

    def __init__(
        self, rho: Number, *, unit: ProtectedUnit = _OBSERVER, neighbours: Neighbours | str = Neighbours.REPLACE_ONE
    ) -> None:
        self._place(unit, neighbours, rho=at_least_zero(rho, "rho"))

    def numbers(self) -> dict[str, Fraction]:
        """Return ρ."""
        return {"rho": self.rho}

    def to_approx(self, delta: Number) -> ApproxDP:
        """Return the (ε, δ) guarantee that this one implies at a given δ."""
        epsilon = conversion.zcdp_epsilon(self.rho, delta)
        return ApproxDP(epsilon, delta, unit=self.unit, neighbours=self.neighbours)

    def in_words(self) -> str:
        """Say the guarantee in plain words, at δ = 1e-6."""
        return f"{self.to_approx('1e-6').in_words()} (ρ = {in_digits(self.rho)}; other chances give other factors.)"

    def _with(self, numbers: Iterable[Fraction], ground: Ground) -> Guarantee:
        (rho,) = numbers
        return ZeroConcentratedDP(rho, unit=ground.unit, neighbours=ground.neighbours)

    def _implies(self, other: Guarantee) -> bool:
        if self.rho == 0:
            return True
        if isinstance(other, ApproxDP) and 0 < other.delta < 1:
            return conversion.zcdp_epsilon(self.rho, other.delta) <= other.epsilon
        return Guarantee._implies(self, other)

    def _for_changes(self, count: int) -> tuple[Fraction, ...]:
        return (count * count * self.rho,)


@dataclass(frozen=True, slots=True, init=False, repr=False)
class Unproven(Guarantee):
    """No guarantee, and why not. Whatever it is combined with is unproven too."""

    kind: ClassVar[str] = "unproven"
    reasons: tuple[str, ...]
    unit: ProtectedUnit
    neighbours: Neighbours

    def __init__(
        self,
        reason: str | Iterable[str],
        *,
        unit: ProtectedUnit = _OBSERVER,
        neighbours: Neighbours | str = Neighbours.REPLACE_ONE,
    ) -> None:
        given = [reason] if isinstance(reason, str) else list(reason)
        if not all(isinstance(text, str) for text in given):
            raise OptionError(f"reasons are text, not {reason!r}")
        reasons = {text.strip() for text in given}
        if not reasons or "" in reasons:
            raise OptionError("say why nothing is proven")
        self._place(unit, neighbours, reasons=tuple(sorted(reasons)))

    @property
    def reason(self) -> str:
        """All reasons in one line."""
        return "; ".join(self.reasons)

    @property
    def proven(self) -> bool:
        """No."""
        return False

    def numbers(self) -> dict[str, Fraction]:
        """Return nothing: there is no number to go by."""
        return {}

    def in_words(self) -> str:
        """Say that there is no guarantee, and why."""
        return f"Nothing is guaranteed: {self.reason}."

    def __str__(self) -> str:
        return f"unproven: {self.reason}"

    def __repr__(self) -> str:
        reason = self.reason if len(self.reasons) == 1 else list(self.reasons)
        unit = "" if self.unit == _OBSERVER else f", unit={self.unit!r}"
        relation = "" if self.neighbours is Neighbours.REPLACE_ONE else ", neighbours='add-remove'"
        return f"Unproven({reason!r}{unit}{relation})"

    def to_dict(self) -> dict[str, Any]:
        """Return the reasons as plain values."""
        return {
            "kind": self.kind,
            "reason": list(self.reasons),
            "unit": self.unit.to_dict(),
            "neighbours": str(self.neighbours),
        }

    def restated(self, *, unit: ProtectedUnit | None = None, neighbours: Neighbours | None = None) -> Guarantee:
        """Return the same absence of a guarantee, about anything."""
        return self._with((), Ground(unit or self.unit, neighbours or self.neighbours))

    def __add__(self, other: Guarantee) -> Guarantee:
        if not isinstance(other, Guarantee):
            return NotImplemented
        reasons = {*self.reasons, *(other.reasons if isinstance(other, Unproven) else ())}
        same = self.ground == other.ground
        return Unproven(reasons, unit=self.unit, neighbours=self.neighbours) if same else Unproven(reasons)

    def _with(self, numbers: Iterable[Fraction], ground: Ground) -> Guarantee:
        return Unproven(self.reasons, unit=ground.unit, neighbours=ground.neighbours)

    def _for_changes(self, count: int) -> tuple[Fraction, ...]:
        return ()


KINDS: dict[str, type[Guarantee]] = {
    kind.kind: kind for kind in (PureDP, GazeStreamDP, ApproxDP, ZeroConcentratedDP, Unproven)
}


def guarantee_from_dict(values: Mapping[str, Any]) -> Guarantee:
    """Return the guarantee that `Guarantee.to_dict` wrote; anything unknown or missing is refused.

    Raises:
        OptionError: If the values do not describe a guarantee.
    """
    given = dict(values)
    kind = given.pop("kind", None)
    if not isinstance(kind, str) or kind not in KINDS:
        raise OptionError(f"no kind of guarantee is called {kind!r}", hint=closest(kind, KINDS))
    if not {"unit", "neighbours"} <= given.keys() or not isinstance(given["unit"], Mapping):
        raise OptionError(f"a guarantee of kind {kind!r} needs its unit and its neighbours")
    given["unit"] = unit_from_dict(given["unit"])
    if kind == GazeStreamDP.kind:
        given = _stream_arguments(given)
    try:
        return KINDS[kind](**given)
    except TypeError:
        raise OptionError(f"a guarantee of kind {kind!r} is not described by {', '.join(map(repr, given))}") from None


def _stream_arguments(given: dict[str, Any]) -> dict[str, Any]:
    unit = given.pop("unit")
    if given.pop("neighbours") != Neighbours.REPLACE_ONE or not isinstance(unit, WindowOfGaze):
        raise OptionError("a gaze stream protects windows of gaze between replace-one neighbours")
    about = {"radius": unit.radius, "radius_unit": unit.unit, "head_radius": unit.head_radius}
    return {**given, "window": unit.seconds, **about}


def _opening(guarantee: Guarantee) -> str:
    change = "replacing" if guarantee.neighbours is Neighbours.REPLACE_ONE else "adding or removing"
    by = " by anything else" if guarantee.neighbours is Neighbours.REPLACE_ONE else ""
    if isinstance(guarantee.unit, WindowOfGaze):
        change, by = "changing", ""
    return f"Whatever anyone knew before but the noise, {change} {guarantee.unit.in_words()}{by}"


def _odds(epsilon: Fraction) -> str:
    if epsilon > 100:
        return f"e^{in_digits(epsilon)}, which is no protection"
    factor = Fraction(math.nextafter(math.exp(math.nextafter(float(epsilon), math.inf)), math.inf))
    return f"e^{in_digits(epsilon)} = {in_digits(factor, 3)}"
