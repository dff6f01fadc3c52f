# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The events of a recording as few numbers: a fixation's place and spread, a saccade's velocities (David-John 2023)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from gazeveil.gaze.events.ivt import VelocityThreshold
from gazeveil.gaze.recording import Recording
from gazeveil.types import FloatArray, IntArray

PROFILE: Final = 30
"""How many velocities a saccade's profile has, evenly over its duration."""
LEAST_SPREAD: Final = 0.02
"""Degrees. A fixation that stands still has no density; it counts as this wide."""
THRESHOLD: Final = 50.0
"""Degrees per second that separate slow from fast. The papers use another detector (I-S5T)."""
SHORTEST_S: Final = 0.04
"""Seconds: a slow stretch so long is a fixation."""
_LEAST_S, _STEPS, _TICK = 0.02, 4.2, 1e-9
"""Velocities are fitted over this time and this many samples at least, since a slow tracker's noise is fast."""

FIXATION, SACCADE = 0, 1


@dataclass(frozen=True, slots=True, eq=False)
class Events:
    """The fixations and saccades of one recording, in the order of time.

    Attributes:
        t: Times of all samples.
        tracked: Where the tracker saw the eyes.
        kinds: What each event is.
        first: The number of each event's first sample.
        end: The number of the sample after each event's last.
        places: For every fixation: mean across and down, standard deviation across and down, in degrees.
        profiles: For every saccade: velocities in degrees per second, evenly over its duration.
        ways: For every saccade: how far it goes across and down in degrees, and its duration in seconds.
    """

    t: FloatArray
    tracked: np.ndarray
    kinds: IntArray
    first: IntArray
    end: IntArray
    places: FloatArray
    profiles: FloatArray
    ways: FloatArray

    @property
    def conditions(self) -> FloatArray:
        """The amplitude in degrees and the duration in seconds of every saccade."""
        return np.column_stack([np.hypot(*self.ways[:, :2].T), self.ways[:, 2]])

    @property
    def lengths(self) -> IntArray:
        """How many samples each fixation has."""
        return np.asarray((self.end - self.first)[self.kinds == FIXATION])


def find_events(recording: Recording) -> Events:
    """Return the events of a recording in degrees whose clock does not run back.

    Samples that the tracker merely repeated are passed over, as headsets log a third of their frames that way.
    """
    new = _new(recording)
    t, x, y = new.t, new.x, new.y
    window = max(_LEAST_S, _STEPS / recording.rate) if np.isfinite(recording.rate) else _LEAST_S
    found = VelocityThreshold(threshold=THRESHOLD, min_fixation=SHORTEST_S, window=window).detect(new).sort("onset")
    onset, offset = found["onset"].to_numpy() - _TICK, found["offset"].to_numpy() + _TICK
    kinds = (found["kind"] == "saccade").to_numpy().astype(np.int64)
    places, profiles, ways, keep = [], [], [], np.zeros(len(kinds), dtype=np.bool_)
    for event, (start, stop) in enumerate(zip(np.searchsorted(t, onset), np.searchsorted(t, offset), strict=True)):
        here = slice(start, stop)
        if stop - start < 2 or t[stop - 1] <= t[start] or not np.isfinite(x[here] + y[here]).all():
            continue
        keep[event] = True
        if kinds[event] == FIXATION:
            spread = np.maximum([x[here].std(), y[here].std()], LEAST_SPREAD)
            places.append([x[here].mean(), y[here].mean(), *spread])
        else:
            profiles.append(velocity_profile(t[here], x[here], y[here]))
            ways.append([x[stop - 1] - x[start], y[stop - 1] - y[start], t[stop - 1] - t[start]])
    return Events(
        recording.t,
        recording.tracked,
        kinds[keep],
        np.searchsorted(recording.t, onset[keep]),
        np.searchsorted(recording.t, offset[keep]),
        np.array(places, dtype=np.float64).reshape(-1, 4),
        np.array(profiles, dtype=np.float64).reshape(-1, PROFILE),
        np.array(ways, dtype=np.float64).reshape(-1, 3),
    )


def _new(recording: Recording) -> Recording:
    repeats = np.zeros(len(recording), dtype=np.bool_)
    repeats[1:] = (np.diff(recording.x) == 0) & (np.diff(recording.y) == 0)
    return recording.take(~repeats)


def velocity_profile(t: FloatArray, x: FloatArray, y: FloatArray) -> FloatArray:
    """Return velocities at evenly spaced parts of the time, from those between samples."""
    steps = np.diff(t)
    there = steps > 0
    speeds = np.hypot(np.diff(x), np.diff(y))[there] / steps[there]
    middles = (0.5 * (t[1:] + t[:-1])[there] - t[0]) / (t[-1] - t[0])
    return np.interp(np.linspace(0.0, 1.0, PROFILE), middles, speeds)


def displacements(profile: FloatArray, t: FloatArray) -> FloatArray:
    """Return how far gaze moves up to each of some times, beginning at the first, with a profile over all of them."""
    whole = t[-1] - t[0]
    middles = (0.5 * (t[1:] + t[:-1]) - t[0]) / whole if whole > 0 else np.zeros(len(t) - 1)
    speeds = np.interp(middles, np.linspace(0.0, 1.0, len(profile)), profile)
    return np.concatenate([[0.0], np.cumsum(np.maximum(speeds, 0.0) * np.diff(t))])
