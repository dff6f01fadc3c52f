# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Several mechanisms one after another, each on what the one before it released.

The guarantee of a chain (docs/proofs/veil-combinators.md): what follows a mechanism with a guarantee only sees what
that one released, so the guarantee stays. What comes before it must give every point by itself and never move two
points farther apart (`SampleMechanism.keeps_distances`); otherwise neighbours might stop being neighbours, and nothing
is guaranteed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np

from gazeveil.arrays import FloatArray
from gazeveil.errors import OptionError, StateError
from gazeveil.noise import NoiseSource
from gazeveil.privacy.guarantee import Guarantee, Unproven
from gazeveil.samples.mechanism import MECHANISMS, Arrays, ColumnsVeil, Faults, SampleMechanism, Veil, fails_closed
from gazeveil.samples.space import Sphere
from gazeveil.samples.veils import CHUNK, as_samples


@MECHANISMS.register("chain")
@dataclass(frozen=True, slots=True, kw_only=True)
class Chain(SampleMechanism):
    """Run gaze through mechanisms in turn.

    Missing gaze is treated by the first of them; a later one sees what that released. If more than one draws noise,
    each gets a source of its own.

    Attributes:
        members: The mechanisms, first the one that sees raw gaze; all in the same space.
    """

    name: ClassVar[str] = "chain"

    members: tuple[SampleMechanism, ...] = ()

    def __post_init__(self) -> None:
        SampleMechanism.__post_init__(self)
        object.__setattr__(self, "members", checked_members(self, self.members, at_least=1))

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee of the first member that has one, if those before it keep neighbours together."""
        return _guarantee_of(self.members, [member.guarantee for member in self.members])

    @property
    def delay(self) -> float:
        """By how many seconds the output looks back, all members together."""
        return sum(member.delay for member in self.members)

    @property
    def fixed(self) -> str:
        """Empty if one of the members can change."""
        able = any(member.can_change for member in self.members)
        return "" if able else "; ".join(f"{member.name}: {member.fixed}" for member in self.members)

    @property
    def adjustable_member(self) -> int:
        """Which member the privacy level changes: the first that has one."""
        return [member.can_change for member in self.members].index(True)

    @property
    def privacy_level(self) -> dict[str, Fraction]:
        """The numbers of the member that the privacy level changes."""
        return self.members[self.adjustable_member].privacy_level if self.can_change else {}

    def start(self, noise: NoiseSource) -> Veil:
        """Return a veil for a new stream."""
        return ChainVeil(self, noise)

    def _with_level(self, numbers: Mapping[str, Any]) -> Self:
        which = self.adjustable_member
        changed = self.members[which].with_guarantee(**numbers)
        return replace(self, members=(*self.members[:which], changed, *self.members[which + 1 :]))


class ChainVeil(ColumnsVeil):
    """One veil a member."""

    __slots__ = ("_sources", "_veils")

    mechanism: Chain

    def __init__(self, mechanism: Chain, noise: NoiseSource) -> None:
        super().__init__(mechanism, noise)
        several = sum(member.draws_noise for member in mechanism.members) > 1
        self._sources = [
            noise.spawn(f"chain-{index}") if several and member.draws_noise else noise
            for index, member in enumerate(mechanism.members)
        ]
        self._veils = [member.start(source) for member, source in zip(mechanism.members, self._sources, strict=True)]

    @fails_closed
    def step(self, t: float, x: float, y: float) -> tuple[float, float]:
        """Take one sample and return the veiled point at once."""
        for veil in self._veils:
            x, y = veil.step(t, x, y)
        return x, y

    @fails_closed
    def step3(self, t: float, x: float, y: float, z: float) -> tuple[float, float, float]:
        """Take one sample of a space with three axes."""
        for veil in self._veils:
            x, y, z = veil.step3(t, x, y, z)
        return x, y, z

    @fails_closed
    def pace(self, now: float) -> None:
        """Pass the machine's time on to all members."""
        for veil in self._veils:
            veil.pace(now)

    def _through(self, *columns: FloatArray) -> list[FloatArray]:
        t, *gaze = as_samples(*columns)
        out = [np.empty(len(t)) for _ in gaze]
        for at in range(0, len(t), CHUNK):  # so that what passes from veil to veil stays in the cache
            here = slice(at, at + CHUNK)
            part: tuple[FloatArray, ...] = tuple(column[here] for column in gaze)
            for veil in self._veils:
                part = veil.run(t[here], *part) if len(part) == 2 else veil.run3(t[here], *part)
            for column, values in zip(out, part, strict=True):
                column[here] = values
        return out

    @property
    def current(self) -> Chain:
        """The mechanism at its current privacy level."""
        return replace(self.mechanism, members=tuple(veil.current for veil in self._veils))

    def _change(self, t: float, changed: Chain) -> None:
        which = changed.adjustable_member
        self._veils[which].change(t, **changed.members[which].privacy_level)

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee that this stream keeps at its current privacy level."""
        return _guarantee_of([veil.mechanism for veil in self._veils], [veil.guarantee for veil in self._veils])

    @property
    def faults(self) -> Faults:
        """What was wrong with the samples so far, as the first member saw them."""
        return self._veils[0].faults

    def _state(self) -> Arrays:
        return {str(index): np.frombuffer(veil.to_bytes(), np.uint8) for index, veil in enumerate(self._veils)}

    def _restore(self, arrays: Arrays) -> None:
        if arrays.keys() != {str(index) for index in range(len(self._veils))}:
            raise StateError("the state has another number of veils than the chain", hint="start a new stream")
        self._veils = [
            veil.mechanism.resume(arrays[str(index)].tobytes(), source)
            for index, (veil, source) in enumerate(zip(self._veils, self._sources, strict=True))
        ]

    def _forget(self) -> None:
        for veil in self._veils:
            veil.close(self._shut)


def checked_members(owner: SampleMechanism, members: Any, *, at_least: int) -> tuple[SampleMechanism, ...]:
    """Return the members of a combination, if they fit together.

    Raises:
        OptionError: If there are too few, or one is no mechanism or lives in another space.
    """
    if not isinstance(members, tuple | list) or len(members) < at_least:
        raise OptionError(f"{owner.name} needs {at_least} or more mechanisms as members")
    for member in members:
        if not isinstance(member, SampleMechanism):
            raise OptionError(f"a member of {owner.name} is a mechanism, not {member!r}")
        if member.space != owner.space:
            raise OptionError(f"{member.name} lives in {member.space}, but the {owner.name} in {owner.space}")
    return tuple(members)


def _keeps_neighbours(member: SampleMechanism) -> bool:
    """Whether no two points come out farther apart; an edge in yaw or pitch moves directions apart."""
    return member.keeps_distances and not isinstance(member.space, Sphere)


def _guarantee_of(members: Sequence[SampleMechanism], guarantees: Sequence[Guarantee]) -> Guarantee:
    first = next((index for index, guarantee in enumerate(guarantees) if guarantee.proven), None)
    if first is None:
        return Unproven([reason for each in guarantees if isinstance(each, Unproven) for reason in each.reasons])
    moving = [member.name for member in members[:first] if not _keeps_neighbours(member)]
    if moving:
        return Unproven(
            f"{' and '.join(moving)} before {members[first].name} may move neighbouring gaze farther apart, "
            "or keep it beyond its window"
        )
    return guarantees[first]
