# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Simulated participants with traits of their own, and one seed for a whole study.

The stream of a recording depends on the seed and on its own key alone, never on what was drawn before, so participants
and recordings come out the same in any order and whatever their number.

A trait varies between participants (``spread``) and, less, from day to day within one participant (``daily``). The
share of the variance that belongs to the participant is the trait's reliability. Most traits repeat at about .85, as
mean fixation duration and saccade amplitude do in Henderson & Luke 2014 (r > .8 over days).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import IntEnum
from types import MappingProxyType
from typing import Any, Final
from zlib import crc32

import numpy as np

from gazeveil.errors import OptionError


class Purpose(IntEnum):
    """What a stream of random numbers is for; the first part of its name."""

    PERSON = 1
    DAY = 2
    TASTE = 3
    CALIBRATION = 4
    RECORDING = 5
    SCENE = 6
    STREAM = 7
    RESAMPLING = 8


def generator(seed: int, purpose: Purpose, *key: int | str) -> np.random.Generator:
    """Return the stream of ``purpose`` and ``key`` under a seed."""
    if type(seed) is not int or seed < 0:
        raise OptionError(f"a seed is a whole number from 0 up, not {seed!r}")
    numbers = tuple(crc32(part.encode()) if isinstance(part, str) else part for part in key)
    return np.random.Generator(np.random.SFC64(np.random.SeedSequence(seed, spawn_key=(purpose, *numbers))))


# --- Participants, each with traits of their own, drawn from what is known of the population.


@dataclass(frozen=True, slots=True)
class Trait:
    """How one parameter of an eye is spread over participants and days.

    Attributes:
        typical: The population's mean, or its median where the trait is ``ratio``.
        spread: Standard deviation between participants (of the logarithm where ``ratio``).
        daily: Standard deviation of one participant between sessions, on the same scale.
        low: No participant and no day falls below.
        high: No participant and no day rises above.
        source: Where the numbers come from.
        ratio: Whether participants differ by factors (log-normal) rather than by amounts (normal).
    """

    typical: float
    spread: float
    daily: float
    low: float
    high: float
    source: str
    ratio: bool = False

    @property
    def reliability(self) -> float:
        """Share of the variance that belongs to the participant: the expected correlation between two sessions."""
        return self.spread**2 / (self.spread**2 + self.daily**2)

    def moved(self, value: float, amount: float) -> float:
        """Return ``value`` moved by ``amount`` standard units of this trait's scale, kept within its range."""
        value = value * math.exp(amount) if self.ratio else value + amount
        return min(max(value, self.low), self.high)


_VIDEO = "shape of the swing after 3-12 deg saccades in 500 Hz video data (Andersson 2017), at half its size"
_CHOSEN = "plausible value; no population study at hand"

TRAITS: Final[Mapping[str, Trait]] = MappingProxyType(
    {
        # saccades: peak velocity = ceiling * (1 - exp(-amplitude / scale))
        "saccade_ceiling": Trait(
            560.0, 70.0, 28.0, 350.0, 850.0, "labs report 460-750 deg/s; 14 % between participants (PMC6143243)"
        ),
        "saccade_scale": Trait(5.0, 0.5, 0.2, 3.0, 14.0, "labs report 6-14 deg; 3.5 deg in Andersson 2017's data"),
        "saccade_stretch": Trait(
            0.12, 0.2, 0.08, 0.05, 0.4, "long saccades brake longer (Van Opstal 1987); size: " + _CHOSEN, ratio=True
        ),
        "velocity_scatter": Trait(0.08, 0.15, 0.06, 0.03, 0.15, _CHOSEN, ratio=True),
        "saccade_curve": Trait(0.0, 0.03, 0.012, -0.12, 0.12, _CHOSEN),
        "saccade_gain": Trait(0.94, 0.02, 0.008, 0.85, 1.0, "undershoot, gain .9-.95"),
        "landing_scatter": Trait(0.08, 0.2, 0.08, 0.03, 0.2, "EMMA: sd 10 % of amplitude", ratio=True),
        "latency_s": Trait(0.19, 0.12, 0.05, 0.1, 0.3, "180-200 ms, range 100-300 (jov 2577684)", ratio=True),
        "wobble_gain": Trait(1.3e-3, 0.35, 0.14, 0.2e-3, 4e-3, _VIDEO, ratio=True),
        "wobble_hz": Trait(33.0, 3.0, 1.2, 20.0, 45.0, _VIDEO),
        # when and how far
        "fixation_s": Trait(
            0.25,
            0.15,
            0.05,
            0.15,
            0.42,
            "scenes 250-330 ms, between participants 30-50 ms (Henderson & Luke 2014)",
            True,
        ),
        "fixation_cv": Trait(0.5, 0.04, 0.016, 0.35, 0.65, "within-participant CV .45-.6"),
        "amplitude_deg": Trait(
            5.2, 1.2, 0.4, 2.0, 9.0, "mean 4-6 deg, between participants 0.8 deg after what the scene does to it"
        ),
        "amplitude_shape": Trait(1.3, 0.1, 0.04, 1.0, 1.8, "gamma shape about 1.3"),
        "horizontal_bias": Trait(0.3, 0.1, 0.04, 0.0, 0.7, _CHOSEN),
        "centre_spread_deg": Trait(11.0, 0.15, 0.06, 6.0, 20.0, _CHOSEN, ratio=True),
        # tastes: logarithms of how much more than others a participant is drawn to faces, text and single things
        "face_taste": Trait(0.0, 0.4, 0.16, -1.2, 1.2, _CHOSEN),
        "text_taste": Trait(0.0, 0.4, 0.16, -1.2, 1.2, _CHOSEN),
        "own_taste": Trait(0.4, 0.1, 0.04, 0.1, 0.8, _CHOSEN),
        # while fixating
        "microsaccade_hz": Trait(1.2, 0.4, 0.16, 0.5, 2.5, "0.5-2.5 per second across participants", ratio=True),
        "microsaccade_deg": Trait(
            0.35, 0.25, 0.1, 0.15, 0.64, "13.7-38.4 arcmin in video trackers (jov 2497929)", ratio=True
        ),
        "drift_noise": Trait(
            1.0, 0.25, 0.1, 0.4, 2.5, "times Mergenthaler & Engbert 2007; varies strongly (PMC3489479)", ratio=True
        ),
        "drift_feedback": Trait(0.15, 0.2, 0.08, 0.06, 0.3, "Mergenthaler & Engbert 2007", ratio=True),
        # how well the tracker sees this participant
        "accuracy_factor": Trait(1.0, 0.3, 0.15, 0.4, 2.5, _CHOSEN, ratio=True),
        "precision_factor": Trait(1.0, 0.25, 0.1, 0.5, 2.0, _CHOSEN, ratio=True),
        "loss_factor": Trait(1.0, 0.4, 0.18, 0.3, 3.5, _CHOSEN, ratio=True),
        # pupil and lids
        "pupil_mm": Trait(3.6, 0.55, 0.22, 2.0, 6.5, _CHOSEN),
        "hippus_mm": Trait(0.12, 0.3, 0.12, 0.04, 0.35, _CHOSEN, ratio=True),
        "light_response_mm": Trait(0.5, 0.12, 0.05, 0.1, 1.0, _CHOSEN),
        "blinks_per_minute": Trait(12.0, 0.45, 0.18, 3.0, 35.0, _CHOSEN, ratio=True),
        "blink_s": Trait(0.15, 0.2, 0.08, 0.08, 0.4, _CHOSEN, ratio=True),
    }
)


@dataclass(frozen=True, slots=True)
class Observer:
    """One simulated participant: the traits of `TRAITS` with this participant's values.

    Units stand in the names: ``_s`` seconds, ``_deg`` degrees, ``_mm`` millimetres, ``_hz`` per second.
    """

    name: str
    index: int
    seed: int
    saccade_ceiling: float
    saccade_scale: float
    saccade_stretch: float
    velocity_scatter: float
    saccade_curve: float
    saccade_gain: float
    landing_scatter: float
    latency_s: float
    wobble_gain: float
    wobble_hz: float
    fixation_s: float
    fixation_cv: float
    amplitude_deg: float
    amplitude_shape: float
    horizontal_bias: float
    centre_spread_deg: float
    face_taste: float
    text_taste: float
    own_taste: float
    microsaccade_hz: float
    microsaccade_deg: float
    drift_noise: float
    drift_feedback: float
    accuracy_factor: float
    precision_factor: float
    loss_factor: float
    pupil_mm: float
    hippus_mm: float
    light_response_mm: float
    blinks_per_minute: float
    blink_s: float

    def on_day(self, session: int) -> Observer:
        """Return the same participant as in one session: every trait a little off its usual value."""
        draws = generator(self.seed, Purpose.DAY, self.index, session).standard_normal(len(TRAITS))
        values: dict[str, Any] = {
            name: trait.moved(getattr(self, name), trait.daily * float(draw))
            for (name, trait), draw in zip(TRAITS.items(), draws, strict=True)
        }
        return replace(self, **values)

    def peak_velocity(self, amplitude_deg: float) -> float:
        """Return the main sequence: peak velocity in deg/s of a saccade of this size."""
        return self.saccade_ceiling * -math.expm1(-amplitude_deg / self.saccade_scale)


@dataclass(frozen=True, slots=True)
class Population:
    """All participants of one seed. Participant ``i`` is the same whoever else is asked for."""

    seed: int = 1

    def observer(self, index: int) -> Observer:
        """Return participant ``index``, counted from 0."""
        if index < 0:
            raise OptionError(f"participants are counted from 0, not from {index}")
        draws = generator(self.seed, Purpose.PERSON, index).standard_normal(len(TRAITS))
        return Observer(
            name=f"p{index + 1:03d}",
            index=index,
            seed=self.seed,
            **{
                name: trait.moved(trait.typical, trait.spread * float(draw))
                for (name, trait), draw in zip(TRAITS.items(), draws, strict=True)
            },
        )

    def observers(self, count: int) -> Iterator[Observer]:
        """Yield the first ``count`` participants."""
        return (self.observer(index) for index in range(count))
