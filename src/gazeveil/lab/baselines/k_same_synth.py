# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""k-same-synth (David-John 2023): gaze made anew from events whose numbers are means over k participants."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from gazeveil.arrays import FloatArray
from gazeveil.exact import whole_number
from gazeveil.gaze.recording import Recording
from gazeveil.lab.baselines.recordings_together import DATASET_MECHANISMS, DatasetMechanism, in_degrees, with_gaze
from gazeveil.lab.baselines.synthetic_gaze import Events, bell, find_events, fit_bells, fixation_samples, write
from gazeveil.noise import NoiseSource
from gazeveil.noise.source import random_groups
from gazeveil.privacy.guarantee import Unproven


@DATASET_MECHANISMS.register("k-same-synth")
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
