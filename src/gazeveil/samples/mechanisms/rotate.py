# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Rotation: another mechanism every minute or two, at random (Wilson 2024, future work)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from gazeveil.arrays import FloatArray
from gazeveil.errors import OptionError, StateError
from gazeveil.noise import NoiseSource
from gazeveil.privacy.guarantee import GazeStreamDP, Guarantee, Unproven
from gazeveil.samples.mechanism import MECHANISMS, Arrays, ColumnsVeil, Faults, SampleMechanism, Veil, fails_closed
from gazeveil.samples.mechanisms.chain import checked_members
from gazeveil.samples.veils import CLOCK_SLOTS, RAN_BACK, SEEN, as_samples, positive, sample_time, sample_times

# places in the veil's integers
_WHICH, _UNTIL = CLOCK_SLOTS, CLOCK_SLOTS + 1
_FAULTS = CLOCK_SLOTS + 2
_PLACES = CLOCK_SLOTS + 5


@MECHANISMS.register("rotate")
@dataclass(frozen=True, slots=True, kw_only=True)
class Rotation(SampleMechanism):
    """Use one of several mechanisms at a time, and draw another after a while.

    Which one and for how long is drawn from the noise and never depends on gaze. Every turn starts afresh, so a window
    of gaze that meets the end of one turn and the beginning of the next is paid for twice. If all members make the same
    `GazeStreamDP` guarantee for a window shorter than a turn, the rotation guarantees it with twice the ε
    (docs/proofs/veil-combinators.md); otherwise nothing. Missing gaze is treated by the member whose turn it is.

    Attributes:
        members: The mechanisms; all in the same space.
        least: The shortest turn in seconds.
        most: The longest turn in seconds.
    """

    name: ClassVar[str] = "rotate"

    members: tuple[SampleMechanism, ...] = ()
    least: float = 60.0
    most: float = 120.0

    def __post_init__(self) -> None:
        SampleMechanism.__post_init__(self)
        object.__setattr__(self, "members", checked_members(self, self.members, at_least=2))
        if positive(self, "most") < positive(self, "least") or self.most > 1e6:
            raise OptionError(f"turns last from least to most seconds, not from {self.least:g} to {self.most:g}")
        if self.least < 1e-3:
            raise OptionError(f"a turn lasts at least a millisecond, not {self.least:g} s")

    @property
    def delay(self) -> float:
        """By how many seconds the output looks back at most."""
        return max(member.delay for member in self.members)

    @property
    def guarantee(self) -> Guarantee:
        """Twice the members' guarantee where they agree on one."""
        guarantees = [member.guarantee for member in self.members]
        reasons = [reason for each in guarantees if isinstance(each, Unproven) for reason in each.reasons]
        if reasons:
            return Unproven(reasons)
        streams = [each for each in guarantees if isinstance(each, GazeStreamDP)]
        if len(streams) < len(guarantees) or len({each.unit for each in streams}) > 1:
            return Unproven("the members of the rotation guarantee different things")
        first = streams[0]
        if first.window >= self.least:
            return Unproven("a window of the guarantee may meet more than two turns of the rotation")
        largest = max(each.epsilon for each in streams)
        return GazeStreamDP(2 * largest, first.window, first.radius, first.radius_unit)

    @property
    def fixed(self) -> str:
        """A window may meet two turns, and the guarantee counts on both having the same numbers."""
        return "turns before and after a change would share a window, which is not accounted for"

    def start(self, noise: NoiseSource) -> Veil:
        """Return a veil for a new stream."""
        return RotationVeil(self, noise)


class RotationVeil(ColumnsVeil):
    """Whose turn it is, until when, and that member's veil."""

    __slots__ = ("_numbers", "_until", "_until_wall", "_veil", "_wall")

    mechanism: Rotation

    def __init__(self, mechanism: Rotation, noise: NoiseSource) -> None:
        super().__init__(mechanism, noise)
        self._numbers = np.zeros(_PLACES, np.int64)
        self._until = self._until_wall = -math.inf
        self._wall: float | None = None
        self._veil: Veil | None = None

    @fails_closed
    def pace(self, now: float) -> None:
        """Set the machine's time: neither turns nor the releases in them come faster than it."""
        if self._wall is None and self._veil is not None:  # of a stream that moved here: take its turn as begun now
            self._until_wall = now + self.mechanism.least
        self._wall = now
        if self._veil is not None:
            self._veil.pace(now)

    @fails_closed
    def step(self, t: float, x: float, y: float) -> tuple[float, float]:
        """Take one sample and return the veiled point at once."""
        now = sample_time(self._numbers, t)
        return self._turn(now).step(now / 1e6, x, y)

    @fails_closed
    def step3(self, t: float, x: float, y: float, z: float) -> tuple[float, float, float]:
        """Take one sample of a space with three axes."""
        now = sample_time(self._numbers, t)
        return self._turn(now).step3(now / 1e6, x, y, z)

    @property
    def faults(self) -> Faults:
        """What was wrong with the samples so far."""
        past = self._numbers[_FAULTS:].tolist()
        present = Faults() if self._veil is None else self._veil.faults
        return Faults(int(self._numbers[RAN_BACK]), *(one + two for one, two in zip(past, present[1:], strict=True)))

    def _through(self, *columns: FloatArray) -> list[FloatArray]:
        t, *gaze = as_samples(*columns)
        out = [np.empty(len(t)) for _ in gaze]
        now = sample_times(self._numbers, t)
        at = 0
        while at < len(now):
            veil = self._turn(int(now[at]))
            end = len(now) if self._is_early() else int(np.searchsorted(now, self._until))
            part: list[FloatArray] = [now[at:end] / 1e6, *(column[at:end] for column in gaze)]
            shown = veil.run(*part) if len(gaze) == 2 else veil.run3(*part)
            for column, values in zip(out, shown, strict=True):
                column[at:end] = values
            at = end
        return out

    def _turn(self, now: int) -> Veil:
        """Return the veil whose turn it is; draw another when the last one's time is up."""
        if self._veil is not None and (now < self._until or self._is_early()):
            return self._veil
        if self._veil is not None:
            self._numbers[_FAULTS:] += self._veil.faults[1:]
            self._veil.close("its turn is over")
        which, share = self.noise.words(2).tolist()
        mechanism = self.mechanism
        index = which * len(mechanism.members) >> 64
        # a microsecond more, because device times are rounded to microseconds
        least = math.ceil(mechanism.least * 1e6) + 1
        most = max(least, round(mechanism.most * 1e6))
        self._until = now + least + (share * (most - least + 1) >> 64)
        self._numbers[_WHICH], self._numbers[_UNTIL] = index, self._until
        self._veil = mechanism.members[index].start(self._source(index))
        if self._wall is not None:
            self._until_wall = self._wall + (self._until - now) * 1e-6
            self._veil.pace(self._wall)
        return self._veil

    def _is_early(self) -> bool:
        """Whether the turn is not over by the machine's clock, where that is known."""
        return self._wall is not None and self._wall <= self._until_wall

    def _source(self, index: int) -> NoiseSource:
        return self.noise.spawn("rotate") if self.mechanism.members[index].draws_noise else self.noise

    def _state(self) -> Arrays:
        current = b"" if self._veil is None else self._veil.to_bytes()
        return {"numbers": self._numbers, "veil": np.frombuffer(current, np.uint8)}

    def _restore(self, arrays: Arrays) -> None:
        numbers = arrays.get("numbers")
        if arrays.keys() != {"numbers", "veil"} or numbers is None or numbers.shape != (_PLACES,):
            raise StateError("the state is not that of a rotation", hint="start a new stream")
        index = int(numbers[_WHICH])
        if (
            numbers.dtype != np.int64
            or not 0 <= index < len(self.mechanism.members)
            or (numbers[SEEN:CLOCK_SLOTS] < 0).any()
        ):
            raise StateError("the state holds numbers that no stream can have", hint="start a new stream")
        self._numbers = numbers.copy()
        if len(arrays["veil"]):
            member = self.mechanism.members[index]
            self._veil = member.resume(arrays["veil"].tobytes(), self._source(index))
            self._until = int(numbers[_UNTIL])

    def _forget(self) -> None:
        if self._veil is not None:
            self._veil.close(self._shut)
