# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""One veil for the eyes and the head: noisy points of both on the same public clock, out of one budget.

The direction of the head reveals much of where a participant looks, and who it is. So a veil for gaze beside an
unprotected head hides little. Here both get noise at the same ticks, and the budget of a window is split between them
by a public share. Proof: docs/proofs/eye-and-head.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from gazeveil.arrays import FloatArray
from gazeveil.errors import OptionError, StateError
from gazeveil.exact import above_zero, exact
from gazeveil.noise import NoiseSource
from gazeveil.privacy.guarantee import GazeStreamDP, Guarantee
from gazeveil.samples.gaze_model import HEADS, GazeModel
from gazeveil.samples.mechanism import MECHANISMS, Arrays, Faults, SampleMechanism, Veil, fails_closed
from gazeveil.samples.mechanisms.clock import Clock
from gazeveil.samples.space import Length, Sphere
from gazeveil.samples.veils import as_samples

HEAD_SPACE = Sphere()
"""Heads point anywhere in the world: yaw all around, and pitch."""
_MISSING = math.nan
Both = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadClock(Clock):
    """The clock for where a head points; its filter knows how heads turn."""

    name: ClassVar[str] = "head-clock"

    @property
    def model(self) -> GazeModel:
        """How heads turn."""
        return HEADS


@MECHANISMS.register("eye-and-head")
@dataclass(frozen=True, slots=True, kw_only=True)
class EyeAndHead(SampleMechanism):
    """The clock for gaze, and the same clock for where the head points; one budget pays for both.

    Gaze is best given in the head's frame, which is what headsets measure; in the world's frame it holds the head's
    turns as well. Roll and position of the head have no place here, and do not leave.

    Attributes:
        epsilon: The privacy loss that a window may have, eyes and head together.
        window: How long a window is, in seconds.
        radius: How far each point of gaze may have been, in the unit of the space; or as text with one, ``5deg``.
        head_radius: By how many degrees the head may have pointed elsewhere, at the same samples.
        share: Which part of epsilon is the head's.
        ticks: How many ticks share a window's budget; 0 takes the number of least expected error of gaze.
        filter: Whether a Kalman filter makes the output out of the noisy points; if not, the latest one is held.
    """

    name: ClassVar[str] = "eye-and-head"

    epsilon: Fraction
    window: Fraction
    radius: Fraction
    head_radius: Fraction = Fraction(10)
    share: Fraction = Fraction(1, 2)
    ticks: int = 0
    filter: bool = True

    def __post_init__(self) -> None:
        SampleMechanism.__post_init__(self)
        object.__setattr__(self, "head_radius", Length.of(self.head_radius, "head_radius").in_space(HEAD_SPACE))
        for name in ("epsilon", "head_radius", "share"):
            object.__setattr__(self, name, above_zero(exact(getattr(self, name), name), name))
        if self.share >= 1:
            raise OptionError(f"share is below 1, not {self.share}: the eyes need a part of the budget")
        eyes = self.eyes
        object.__setattr__(self, "window", eyes.window)
        object.__setattr__(self, "radius", eyes.radius)
        self.head  # noqa: B018  (refuses now a guarantee that cannot be kept)

    @property
    def eyes(self) -> Clock:
        """The clock for gaze."""
        return Clock(
            self.space,
            epsilon=self.epsilon * (1 - self.share),
            window=self.window,
            radius=self.radius,
            ticks=self.ticks,
            filter=self.filter,
        )

    @property
    def head(self) -> HeadClock:
        """The same clock for where the head points: as many ticks in as long a window."""
        return HeadClock(
            HEAD_SPACE,
            epsilon=self.epsilon * self.share,
            window=self.window,
            radius=self.head_radius,
            ticks=self.eyes.chosen_ticks,
            filter=self.filter,
        )

    @property
    def guarantee(self) -> Guarantee:
        """Kaleido's guarantee, for gaze and head together."""
        return GazeStreamDP(self.epsilon, self.window, self.radius, self.space.unit, self.head_radius)

    @property
    def fixed(self) -> str:
        """Two clocks would have to change at one moment, and share their budget as before."""
        return "its clocks for eyes and head were set together"

    def start(self, noise: NoiseSource) -> EyeAndHeadVeil:
        """Return a veil for a new stream."""
        return EyeAndHeadVeil(self, noise)


class EyeAndHeadVeil(Veil):
    """One stream of gaze and of where the head points. Without the head it is a veil for gaze like any other."""

    __slots__ = ("_eyes", "_head", "_sources")

    mechanism: EyeAndHead
    _eyes: Veil
    _head: Veil

    def __init__(self, mechanism: EyeAndHead, noise: NoiseSource) -> None:
        super().__init__(mechanism, noise)
        self._sources = noise, noise.spawn("head")
        self._eyes, self._head = (
            clock.start(source) for clock, source in zip((mechanism.eyes, mechanism.head), self._sources, strict=True)
        )

    def step(self, t: float, x: float, y: float) -> tuple[float, float]:
        """Take one sample of gaze without the head."""
        return self.step_both(t, x, y, _MISSING, _MISSING)[:2]

    def step_both(self, t: float, x: float, y: float, yaw: float, pitch: float) -> Both:
        """Take one sample and return the veiled gaze and the veiled direction of the head at once.

        Args:
            t: Device time in seconds. One that is earlier than the last is taken as the last.
            x: Gaze in the unit of the space; NaN in any coordinate means that gaze is missing.
            y: The other coordinate.
            yaw: Where the head points in the world, in degrees to the right; NaN where that is not known.
            pitch: The same downwards.

        Raises:
            InputError: If the time is not a number or absurd; the veil is shut.
            VeilShut: If the veil is shut already.
        """
        if self._shut:
            self._check_open()
        if not self._door.acquire(False):  # as `fails_closed`, without its price: a live call must be short
            raise self._busy_error()
        try:
            return *self._eyes.step(t, x, y), *self._head.step(t, yaw, pitch)
        except BaseException as error:
            self._fail(error)
            raise
        finally:
            self._door.release()

    @fails_closed
    def run(self, t: FloatArray, x: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Take many samples of gaze without the head; the same as stepping through them."""
        nowhere = np.full(np.shape(t), math.nan)
        return self.run_both(t, x, y, nowhere, nowhere)[:2]

    @fails_closed
    def run_both(
        self, t: FloatArray, x: FloatArray, y: FloatArray, yaw: FloatArray, pitch: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Take many samples of gaze and head at once; the same as stepping through them."""
        t, x, y, yaw, pitch = as_samples(t, x, y, yaw, pitch)
        return *self._eyes.run(t, x, y), *self._head.run(t, yaw, pitch)

    @fails_closed
    def pace(self, now: float) -> None:
        """Pass the machine's time on to both."""
        self._eyes.pace(now)
        self._head.pace(now)

    @property
    def faults(self) -> Faults:
        """What was wrong with the samples of gaze so far."""
        return self._eyes.faults

    def _state(self) -> Arrays:
        return {
            "eyes": np.frombuffer(self._eyes.to_bytes(), np.uint8),
            "head": np.frombuffer(self._head.to_bytes(), np.uint8),
        }

    def _restore(self, arrays: Arrays) -> None:
        if arrays.keys() != {"eyes", "head"}:
            raise StateError("the state is not that of eyes and head", hint="start a new stream")
        parts = zip((self.mechanism.eyes, self.mechanism.head), ("eyes", "head"), self._sources, strict=True)
        self._eyes, self._head = (clock.resume(arrays[name].tobytes(), source) for clock, name, source in parts)

    def _drop_noise(self) -> None:
        for veil in (self._eyes, self._head):
            veil._drop_noise()

    def _forget(self) -> None:
        for veil in (self._eyes, self._head):
            veil.close(self._shut)
