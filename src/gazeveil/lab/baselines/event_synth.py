# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""event-synth-PD (David-John 2023): every event resampled from its own model until it is plausibly deniable."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Final, NamedTuple

import numpy as np

from gazeveil.arrays import BoolArray, FloatArray, IntArray
from gazeveil.errors import InputError, OptionError
from gazeveil.exact import Number, exact, whole_number
from gazeveil.gaze.recording import Recording
from gazeveil.lab.baselines.k_same import DatasetMechanism, in_degrees, with_gaze
from gazeveil.lab.baselines.synthetic_gaze import (
    PROFILE,
    Events,
    HiddenNumbers,
    deniable,
    find_events,
    fixation_log_chances,
    fixation_samples,
    write,
)
from gazeveil.noise import NoiseSource
from gazeveil.privacy.guarantee import Unproven

FAILING: Final = ("withhold", "release")
BINS, FASTEST = 50, 1000.0
"""Velocities are counted in this many bins, up to this many degrees per second."""


class Passed(NamedTuple):
    """How many events passed the test, of how many."""

    fixations: int
    of_fixations: int
    saccades: int
    of_saccades: int


@dataclass(frozen=True, slots=True, kw_only=True)
class EventSynth(DatasetMechanism):
    """Draws the samples of every fixation and the velocities of every saccade anew, and tests what was drawn.

    What does not pass in this many attempts is withheld. The paper goes on until it passes, which may be never.

    Attributes:
        k: How many participants must be able to have made an event, its own among them.
        gamma: How far their chances may differ, as a factor; above 1.
        attempts: How often an event is drawn.
        failing: What becomes of events that never pass: ``withhold`` them, or ``release`` them all the same, which is
            nearer to the published pictures and deniable by nobody.
        hidden: How many hidden numbers the model of saccades has.
    """

    name: ClassVar[str] = "event-synth"

    k: int = 2
    gamma: Number = Fraction(3, 2)
    attempts: int = 20
    failing: str = "withhold"
    hidden: int = 8

    def __post_init__(self) -> None:
        object.__setattr__(self, "gamma", exact(self.gamma, "gamma"))
        for name in ("k", "attempts", "hidden"):
            object.__setattr__(self, name, whole_number(getattr(self, name), name, at_least=1))
        if exact(self.gamma) <= 1:
            raise OptionError(
                f"gamma must be above 1, not {float(exact(self.gamma)):g}",
                hint="with 1 no two chances are in one bucket, and nothing could ever be released",
            )
        if self.failing not in FAILING:
            raise OptionError(f"failing must be {' or '.join(FAILING)}, not {self.failing!r}")

    @property
    def claimed(self) -> str:
        """What its authors state, in words."""
        return (
            f"(k, γ)-plausible deniability of each event with k = {self.k} and γ = {float(exact(self.gamma)):g}: at "
            f"least {self.k - 1} other participants have one that would have made it, with a chance in the same bucket."
        )

    @property
    def guarantee(self) -> Unproven:
        """Why nothing that we could prove follows from it."""
        numbers = f"k = {self.k}, γ = {float(exact(self.gamma)):g}"
        alone = (
            f"plausible deniability with {numbers}, of each event alone: a recording is many events of one "
            "participant in their order, at their times and nearly at their places, and the test's answer is not random"
        )
        untested = "events that fail the test are released all the same"
        return Unproven([alone] if self.failing == "withhold" else [alone, untested])

    def apply_all(self, recordings: Sequence[Recording], noise: NoiseSource) -> list[Recording]:
        """Return all recordings protected, in the same order, at the same times and under the same names."""
        return self.tested(recordings, noise)[0]

    def tested(self, recordings: Sequence[Recording], noise: NoiseSource) -> tuple[list[Recording], Passed]:
        """Return each participant's recordings protected, and how many events passed the test.

        The second is not protected.
        """
        events = [find_events(recording) for recording in in_degrees(recordings, self.name)]
        observers = [recording.observer for recording in recordings]
        people = sorted(set(observers))
        if len(people) < self.k:
            raise InputError(f"k = {self.k:,} needs as many participants, and there are {len(people):,}")
        numbers = np.array([people.index(observer) for observer in observers])
        stimuli = [recording.key[1:] for recording in recordings]
        saccades = _Saccades.of(events, numbers, len(people), self.hidden)
        out, passed = [], np.zeros(2, dtype=np.int64)
        for number, (recording, own) in enumerate(zip(recordings, events, strict=True)):
            others = [
                other
                for other, stimulus in enumerate(stimuli)
                if stimulus == stimuli[number] and numbers[other] != numbers[number]
            ]
            places = np.concatenate([np.empty((0, 4)), *(events[other].places for other in others)])
            owners = np.repeat(numbers[others], [len(events[other].places) for other in others]).astype(np.int64)
            fixations = [
                self._fixation(place, int(length), places, owners, noise)
                for place, length in zip(own.places, own.lengths, strict=True)
            ]
            profiles = [
                self._saccade(profile, condition, int(numbers[number]), saccades, noise)
                for profile, condition in zip(own.profiles, own.conditions, strict=True)
            ]
            passed += [sum(made.passed for made in some) for some in (fixations, profiles)]
            gaze = write(own, [self._released(made) for made in fixations], [self._released(made) for made in profiles])
            out.append(with_gaze(recording, *gaze))
        of = [sum(len(each.places) for each in events), sum(len(each.profiles) for each in events)]
        return out, Passed(int(passed[0]), of[0], int(passed[1]), of[1])

    def _fixation(
        self, place: FloatArray, length: int, places: FloatArray, owners: IntArray, noise: NoiseSource
    ) -> _Made:
        drawn = fixation_samples(place, (self.attempts, length), noise)
        seeds = fixation_log_chances(drawn, place[None])[:, 0]
        return _first(drawn, deniable(seeds, fixation_log_chances(drawn, places), owners, self.k, self._factor))

    def _saccade(
        self, profile: FloatArray, condition: FloatArray, person: int, saccades: _Saccades, noise: NoiseSource
    ) -> _Made:
        drawn = saccades.model.drawn_again(profile, condition, self.attempts, noise)
        chances = saccades.log_chances(drawn)
        others = np.delete(np.arange(chances.shape[1]), person)
        return _first(drawn, deniable(chances[:, person], chances[:, others], others, self.k, self._factor))

    @property
    def _factor(self) -> float:
        return float(exact(self.gamma))

    def _released(self, made: _Made) -> FloatArray | None:
        return made.drawn if made.passed or self.failing == "release" else None


class _Made(NamedTuple):
    """An event that was resampled, and whether it passed."""

    drawn: FloatArray
    passed: bool


def _first(drawn: FloatArray, passes: BoolArray) -> _Made:
    """Return the first that passed, or the first of all."""
    return _Made(drawn[np.argmax(passes)], bool(passes.any()))


class _Saccades(NamedTuple):
    """The model of all saccades, and how often everyone has which velocity at which part of a saccade."""

    model: HiddenNumbers
    shares: FloatArray  # people x parts x bins

    @staticmethod
    def of(events: Sequence[Events], numbers: IntArray, people: int, hidden: int) -> _Saccades:
        profiles = np.concatenate([each.profiles for each in events])
        model = HiddenNumbers.of(profiles, np.concatenate([each.conditions for each in events]), hidden)
        owners = np.repeat(numbers, [len(each.profiles) for each in events])
        counts = np.zeros((people, PROFILE, BINS))
        np.add.at(counts, (owners[:, None], np.arange(PROFILE), _bins(profiles)), 1.0)
        return _Saccades(model, counts / np.maximum(np.bincount(owners, minlength=people), 1)[:, None, None])

    def log_chances(self, profiles: FloatArray) -> FloatArray:
        """Return how likely everyone is to have each profile, by the mean over its parts: profiles by participants."""
        chances = self.shares[:, np.arange(PROFILE), _bins(profiles)].mean(axis=2).T
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(chances))


def _bins(profiles: FloatArray) -> IntArray:
    return np.clip(profiles * (BINS / FASTEST), 0, BINS - 1).astype(np.int64)
