# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What all guarantees have in common: their order, their arithmetic, how they are written down."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any, ClassVar, NamedTuple

from gazeveil.errors import CannotCompose, OptionError
from gazeveil.exact import as_source, as_text, in_digits, whole_number
from gazeveil.privacy.unit import Neighbours, Observer, ProtectedUnit
from gazeveil.showing import html_table

_LETTERS = {"epsilon": "ε", "delta": "δ", "rho": "ρ"}


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
        """Return what remains of both releases; `gazeveil.privacy.compose` adds up what this refuses.

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
        numbers = ", ".join(f"{_LETTERS[name]}={in_digits(number)}" for name, number in self.numbers().items())
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
            return f"weaken the {which}, if that is meant: promise.restated(unit={weak.unit!r})"
    return "keep an account for each unit of protection"
