# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What protects the recordings or series of many participants at once, and k-same: to compare with, not to release.

A baseline of recordings is no `SampleMechanism`: it needs each participant's gaze, from beginning to end, so no stream
can run behind it, no product of ours takes it, and its `guarantee` is always `Unproven`. What its authors state is in
`claimed`.

A baseline of series is no `SeriesMechanism`. k-same shows the mean of k participants in place of each; k-same-synth
(David-John 2023) draws gaze from events whose numbers are means over k participants.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from gazeveil.arrays import FloatArray
from gazeveil.errors import InputError
from gazeveil.exact import as_text, whole_number
from gazeveil.features.series import checked
from gazeveil.gaze.recording import Recording
from gazeveil.lab.baselines.synthetic_gaze import Events, bell, find_events, fit_bells, fixation_samples, write
from gazeveil.noise import NoiseSource
from gazeveil.noise.source import random_groups
from gazeveil.privacy.guarantee import Unproven


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetMechanism(ABC):
    """A way of protecting all recordings of a data set together: public numbers, nothing else."""

    name: ClassVar[str]

    @property
    @abstractmethod
    def claimed(self) -> str:
        """What its authors state, in words."""

    @property
    @abstractmethod
    def guarantee(self) -> Unproven:
        """Why nothing that we could prove follows from it."""

    @abstractmethod
    def apply_all(self, recordings: Sequence[Recording], noise: NoiseSource) -> list[Recording]:
        """Return all recordings protected, in the same order, at the same times and under the same names.

        Where nothing is released, gaze is missing. Pupils, single eyes and events are never released.

        Raises:
            InputError: If there are too few participants, or recordings that cannot be used.
            GeometryError: If a recording's viewing plane does not know degrees.
        """

    def to_dict(self) -> dict[str, Any]:
        """Return the baseline and its parameters as plain values."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {"mechanism": self.name} | {
            name: as_text(value) if isinstance(value, Fraction) else value for name, value in values.items()
        }

    def in_words(self) -> str:
        """Say name and parameters in one line."""
        shown = ", ".join(f"{name}={value}" for name, value in self.to_dict().items() if name != "mechanism")
        return f"{self.name}({shown})"


def in_degrees(recordings: Sequence[Recording], what: str) -> list[Recording]:
    """Return recordings in degrees, after a look at whether a baseline can use them.

    Raises:
        InputError: If one has no samples, a broken clock, or is there twice.
        GeometryError: If a viewing plane does not know degrees.
    """
    seen = set()
    for recording in recordings:
        recording.need_samples(what)
        faults = recording.time_faults
        if faults.backwards or faults.not_finite:
            raise InputError(f"the clock of {recording.key} runs back or stops", hint="mend or leave out the recording")
        if recording.key in seen:
            raise InputError(f"there are two recordings {recording.key}", hint="number them by trial")
        seen.add(recording.key)
    return [recording.to("deg") for recording in recordings]


def with_gaze(recording: Recording, x: FloatArray, y: FloatArray) -> Recording:
    """Return a recording with other gaze, given in degrees, in its own unit, without anything beside gaze."""
    degrees = recording.geometry.in_unit("deg")
    across, down = degrees.convert(x, y, recording.geometry.unit)
    return Recording(
        recording.t,
        np.asarray(across),
        np.asarray(down),
        recording.geometry,
        **recording.key._asdict(),
        rate_hz=recording.rate_hz,
    )


# --- Sets of feature series protected together, as baselines for our own mechanisms: to compare with, not to release.


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetSeries(ABC):
    """A way of protecting each participant's series on one task together: public numbers, nothing else.

    Attributes:
        steps: How long a series is.
        features: How many features it has.
    """

    name: ClassVar[str]

    steps: int
    features: int = 1

    def __post_init__(self) -> None:
        for name in ("steps", "features"):
            object.__setattr__(self, name, whole_number(getattr(self, name), name, at_least=1))

    @property
    @abstractmethod
    def claimed(self) -> str:
        """What its authors state, in words."""

    @property
    @abstractmethod
    def guarantee(self) -> Unproven:
        """Why nothing that we could prove follows from it."""

    @abstractmethod
    def perturb(self, values: FloatArray, noise: NoiseSource) -> FloatArray:
        """Return protected series: participants by steps by features, each value from 0 to 1, a row a participant.

        Raises:
            InputError: If there are too few participants.
            OptionError: If the shape is another, or a value is missing.
        """

    def to_dict(self) -> dict[str, Any]:
        """Return the baseline and its parameters as plain values."""
        return {"mechanism": self.name} | {field.name: getattr(self, field.name) for field in fields(self)}


# --- k-same-select sequence (David-John 2022): the mean series of k participants, released for each of them.


@dataclass(frozen=True, slots=True, kw_only=True)
class KSame(DatasetSeries):
    """Puts participants into random groups of k, and releases their mean series for everyone in the group.

    Groups are resampled for every task, as published: call `perturb` once a task. Where participants are left over,
    groups are larger than k, never smaller.

    Attributes:
        k: How many participants share a series, at least.
    """

    name: ClassVar[str] = "k-same"

    k: int = 4

    def __post_init__(self) -> None:
        super(KSame, self).__post_init__()
        object.__setattr__(self, "k", whole_number(self.k, "k", at_least=1))

    @property
    def claimed(self) -> str:
        """What its authors state, in words."""
        return (
            f"{self.k}-anonymity: every released series is the mean of at least {self.k} participants and is released "
            f"for all of them, so none of them is recognised in this release with a chance above 1/{self.k}."
        )

    @property
    def guarantee(self) -> Unproven:
        """Why nothing that we could prove follows from it."""
        return Unproven(
            f"k-anonymity with k = {self.k}, of these features in one task alone: a mean without noise gives away the "
            "last of a group to who knows the others, what a group has in common, and, with other groups in another "
            "task, who is in both"
        )

    def perturb(self, values: FloatArray, noise: NoiseSource) -> FloatArray:
        """Return protected series: participants by steps by features, each value from 0 to 1, a row a participant."""
        table = checked(values, self.steps, self.features)
        out = np.empty_like(table)
        for group in random_groups(noise, len(table), self.k):
            out[group] = table[group].mean(axis=0)
        return out


# --- k-same-synth (David-John 2023): gaze made anew from events whose numbers are means over k participants.


@dataclass(frozen=True, slots=True, kw_only=True)
class KSameSynth(DatasetMechanism):
    """Averages the first, second, … event of k participants on a stimulus, and draws their gaze from the means.

    A fixation is its mean and spread, a saccade the bell of its velocities. Who has fewer events than others of the
    group repeats the last one. Groups are random and the same for all stimuli. Where fewer than k of a group saw a
    stimulus, nothing of it is released for them.

    Attributes:
        k: How many participants share the numbers of an event, at least.
    """

    name: ClassVar[str] = "k-same-synth"

    k: int = 4

    def __post_init__(self) -> None:
        object.__setattr__(self, "k", whole_number(self.k, "k", at_least=1))

    @property
    def claimed(self) -> str:
        """What its authors state, in words."""
        return (
            f"{self.k}-anonymity of the numbers that fixations and saccades are drawn from: each is the mean of at "
            f"least {self.k} participants and serves all of them."
        )

    @property
    def guarantee(self) -> Unproven:
        """Why nothing that we could prove follows from it."""
        return Unproven(
            f"k-anonymity with k = {self.k}, of the places, spreads and velocities of events alone: how many events "
            "there are, when they begin and how long they last is each participant's own, and a mean without noise "
            "gives away the last of a group to who knows the others"
        )

    def apply_all(self, recordings: Sequence[Recording], noise: NoiseSource) -> list[Recording]:
        """Return all recordings protected, in the same order, at the same times and under the same names."""
        events = [find_events(recording) for recording in in_degrees(recordings, self.name)]
        bells = [fit_bells(each.profiles) for each in events]
        people = sorted({recording.observer for recording in recordings})
        groups = [[people[number] for number in group] for group in random_groups(noise, len(people), self.k)]
        out: dict[int, Recording] = {}
        for members in self._together(recordings, groups):
            places = _means([events[member].places for member in members], self.k)
            shapes = _means([bells[member] for member in members], self.k)
            for member in members:
                x, y = _drawn(events[member], places, bell(shapes), noise)
                out[member] = with_gaze(recordings[member], x, y)
        return [out[number] for number in range(len(recordings))]

    def _together(self, recordings: Sequence[Recording], groups: Sequence[Sequence[str]]) -> list[list[int]]:
        """Return the numbers of recordings that are averaged: of one group on one stimulus."""
        group_of = {person: number for number, group in enumerate(groups) for person in group}
        found: dict[tuple[object, ...], list[int]] = {}
        for number, recording in enumerate(recordings):
            found.setdefault((group_of[recording.observer], *recording.key[1:]), []).append(number)
        return list(found.values())


def _means(rows: Sequence[FloatArray], k: int) -> FloatArray:
    """Return the mean over participants of their first, second, … event; who has fewer repeats the last one.

    Who has none does not count. Nothing is returned if fewer than k count.
    """
    there = [row for row in rows if len(row)]
    if len(there) < k:
        return np.empty((0, rows[0].shape[1]))
    longest = max(len(row) for row in there)
    return np.asarray(np.mean([row[np.minimum(np.arange(longest), len(row) - 1)] for row in there], axis=0))


def _drawn(
    events: Events, places: FloatArray, profiles: FloatArray, noise: NoiseSource
) -> tuple[FloatArray, FloatArray]:
    fixations: list[FloatArray | None] = [
        fixation_samples(places[number], (int(length),), noise) if number < len(places) else None
        for number, length in enumerate(events.lengths)
    ]
    saccades = len(events.profiles)
    return write(
        events, fixations, [profiles[number] if number < len(profiles) else None for number in range(saccades)]
    )
