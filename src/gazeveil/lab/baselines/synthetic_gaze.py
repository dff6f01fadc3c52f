# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Gaze made anew from events: found events, samples written from them, profiles of saccades, and what stays deniable.

The paper's bell is a · exp(-((t - b) / c)²) over a duration from 0 to 1, fitted by least squares. Its random model is
an autoencoder whose decoder has no bend (linear activation), given amplitude and duration. Such a decoder, with normal
hidden numbers and even errors, is probabilistic principal components on what amplitude and duration leave, and has its
best fit in closed form (Tipping & Bishop 1999); that is used here, so nothing is trained.

Chances are sorted into buckets: bucket i has γ^-(i+1) < p <= γ^-i. What was made from one participant's event may be
released if at least k - 1 other participants have an event that would have made it with a chance in the same bucket.
All in logarithms: the chance of a fixation of a hundred samples is no positive float.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from gazeveil.arrays import BoolArray, FloatArray, IntArray
from gazeveil.gaze.events import VelocityThreshold
from gazeveil.gaze.recording import Recording
from gazeveil.noise import NoiseSource, from_lattice, gaussian

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


# --- Events back to samples: spread around a place for a fixation, along a line for a saccade (David-John 2023).


STEP = 2.0**-20


def normals(noise: NoiseSource, shape: tuple[int, ...]) -> FloatArray:
    """Return standard normal numbers."""
    return from_lattice(gaussian(noise, 1, shape, STEP), STEP)


def fixation_samples(place: FloatArray, shape: tuple[int, ...], noise: NoiseSource) -> FloatArray:
    """Return gaze around a place: (…, 2) points, independent of one another."""
    return np.asarray(place[:2] + place[2:] * normals(noise, (*shape, 2)))


def write(
    events: Events, fixations: Sequence[FloatArray | None], profiles: Sequence[FloatArray | None]
) -> tuple[FloatArray, FloatArray]:
    """Return gaze across and down at all samples.

    A saccade runs from the last point before it towards the mean of the fixation that follows, where one is written,
    otherwise in its own direction, and never beyond where it lands. Where there is no event, or one is left out, the
    last written point stays. So no recorded position passes through; but directions may, when events began and ended
    does, and where the tracker saw nothing.

    Args:
        events: When they are.
        fixations: For every fixation its samples by 2, or None to leave it out.
        profiles: For every saccade its velocities, or None to leave it out.
    """
    x, y = np.full(len(events.t), np.nan), np.full(len(events.t), np.nan)
    is_fixation = events.kinds == FIXATION
    number = np.where(is_fixation, np.cumsum(is_fixation), np.cumsum(~is_fixation))
    at: FloatArray | None = None
    for event, (kind, first, end) in enumerate(zip(events.kinds, events.first, events.end, strict=True)):
        if kind == FIXATION:
            points = fixations[number[event] - 1]
        elif at is not None and (profile := profiles[number[event] - 1]) is not None:
            ahead = _next_fixation(events, fixations, number, event)
            way = events.ways[number[event] - 1, :2] if ahead is None else ahead - at
            points = _line(at, way, displacements(profile, events.t[first:end]))
        else:
            points = None
        if points is not None:
            x[first:end], y[first:end] = points.T
            at = points[-1]
    x, y = _held(x), _held(y)
    x[~events.tracked] = y[~events.tracked] = np.nan
    return x, y


def _next_fixation(
    events: Events, fixations: Sequence[FloatArray | None], number: IntArray, event: int
) -> FloatArray | None:
    after = event + 1
    if after >= len(events.kinds) or events.kinds[after] != FIXATION:
        return None
    points = fixations[number[after] - 1]
    return None if points is None else np.asarray(points.mean(axis=0))


def _line(start: FloatArray, way: FloatArray, along: FloatArray) -> FloatArray:
    length = float(np.hypot(*way))
    ahead = way / length if length > 0 else np.zeros(2)
    return np.asarray(start + np.minimum(along, length)[:, None] * ahead)


def _held(values: FloatArray) -> FloatArray:
    """Return values with what is missing filled by the last one before it; missing before the first."""
    there = np.isfinite(values)
    last = np.maximum.accumulate(np.where(there, np.arange(len(values)), -1)) if len(values) else there
    return np.where(last >= 0, values[np.maximum(last, 0)], np.nan) if len(values) else values


# --- Models of a saccade's velocities: a bell of three numbers, and a linear model of few hidden numbers.


_ROUNDS = 60
_NARROWEST, _WIDEST = 0.02, 5.0
_DAMPING = 1e-3


def bell(numbers: FloatArray) -> FloatArray:
    """Return the velocities of bells: a, b and c in the last axis become velocities."""
    a, b, c = (numbers[..., i, None] for i in range(3))
    return np.asarray(a * np.exp(-np.square((np.linspace(0.0, 1.0, PROFILE) - b) / c)))


def fit_bells(profiles: FloatArray) -> FloatArray:
    """Return a, b and c of every profile by least squares (Levenberg and Marquardt, all profiles at once)."""
    t = np.linspace(0.0, 1.0, PROFILE)
    weight = np.maximum(profiles, 0.0) + 1e-12
    middle = (weight @ t) / weight.sum(axis=1)
    width = np.sqrt(2.0 * (weight * np.square(t - middle[:, None])).sum(axis=1) / weight.sum(axis=1))
    best = np.stack([profiles.max(axis=1), middle, np.clip(width, _NARROWEST, _WIDEST)], axis=1)
    damping, error = np.full(len(best), _DAMPING), _errors(profiles, best)
    for _ in range(_ROUNDS):
        a, b, c = (best[:, i, None] for i in range(3))
        away = (t - b) / c
        height = np.exp(-np.square(away))
        slopes = np.stack([height, 2 * a * height * away / c, 2 * a * height * np.square(away) / c], axis=2)
        normal = np.einsum("nti,ntj->nij", slopes, slopes)
        normal += damping[:, None, None] * (np.einsum("nii->ni", normal)[:, :, None] + 1e-9) * np.eye(3)
        pull = np.einsum("nti,nt->ni", slopes, profiles - a * height)
        tried = best + np.linalg.solve(normal, pull[:, :, None])[:, :, 0]
        tried[:, 2] = np.clip(np.abs(tried[:, 2]), _NARROWEST, _WIDEST)
        new = _errors(profiles, tried)
        better = new < error
        best[better], error = tried[better], np.where(better, new, error)
        damping = np.clip(np.where(better, damping / 5, damping * 4), 1e-12, 1e12)
    return best


def _errors(profiles: FloatArray, numbers: FloatArray) -> FloatArray:
    return np.asarray(np.square(profiles - bell(numbers)).sum(axis=1))


@dataclass(frozen=True, slots=True, eq=False)
class HiddenNumbers:
    """A linear model of profiles, given amplitude and duration.

    Attributes:
        given: What amplitude, duration and a constant say about a profile.
        loadings: What each hidden number adds to it.
        rest: The variance that no hidden number explains.
    """

    given: FloatArray
    loadings: FloatArray
    rest: float
    _pull: FloatArray  # from a profile to its hidden numbers
    _root: FloatArray  # of what stays unknown about them

    @staticmethod
    def of(profiles: FloatArray, conditions: FloatArray, hidden: int) -> HiddenNumbers:
        """Return the likeliest model of some profiles."""
        given = np.asarray(np.linalg.lstsq(_design(conditions), profiles, rcond=None)[0], dtype=np.float64)
        left = profiles - _design(conditions) @ given
        values, vectors = np.linalg.eigh(left.T @ left / max(len(left), 1))
        values, vectors = np.maximum(values[::-1], 0.0), vectors[:, ::-1]
        hidden = min(hidden, PROFILE - 1)
        rest = max(float(values[hidden:].mean()), 1e-9)
        loadings = vectors[:, :hidden] * np.sqrt(np.maximum(values[:hidden] - rest, 0.0))
        precision = loadings.T @ loadings / rest + np.eye(hidden)
        root = np.linalg.inv(np.linalg.cholesky(precision)).T
        return HiddenNumbers(given, loadings, rest, np.linalg.solve(precision, loadings.T / rest), root)

    def drawn_again(self, profile: FloatArray, condition: FloatArray, count: int, noise: NoiseSource) -> FloatArray:
        """Return profiles whose hidden numbers are drawn from what one profile says about them; never below 0."""
        known = (_design(condition[None]) @ self.given)[0]
        mean = self._pull @ (profile - known)
        numbers = mean + normals(noise, (count, len(mean))) @ self._root.T
        return np.asarray(np.maximum(known + numbers @ self.loadings.T, 0.0))


def _design(conditions: FloatArray) -> FloatArray:
    return np.column_stack([conditions, np.ones(len(conditions))])


# --- The test of plausible deniability (Bindschaedler 2017), counted in participants (David-John 2023).


REGION = 0.01
"""Degrees: a sample's chance is that of a square so far around it on each side."""


def buckets(log_chances: FloatArray, gamma: float) -> FloatArray:
    """Return the bucket of every chance; NaN for a chance of 0, which is in none."""
    found = np.floor(-log_chances / math.log(gamma))
    return np.where(np.isfinite(log_chances), found, np.nan)


def deniable(seeds: FloatArray, others: FloatArray, owners: IntArray, k: int, gamma: float) -> BoolArray:
    """Return which made events may be released.

    Args:
        seeds: The logarithm of the chance that its own event made each.
        others: The same for the events of others: made events by others' events.
        owners: Whose each of the others' events is.
        k: How many participants must be able to have made it, its own among them.
        gamma: How far their chances may differ, as a factor.
    """
    if not len(owners):
        return np.full(len(seeds), k <= 1)
    order = np.argsort(owners, kind="stable")
    starts = np.flatnonzero(np.diff(owners[order], prepend=owners[order[0]] - 1))
    same = (buckets(others, gamma) == buckets(seeds, gamma)[:, None])[:, order]
    return np.asarray(np.logical_or.reduceat(same, starts, axis=1).sum(axis=1) >= k - 1)


def fixation_log_chances(samples: FloatArray, places: FloatArray) -> FloatArray:
    """Return the logarithm of the chance that each place makes each lot of samples: lots by places.

    The chance of a sample is the normal density times the region around it, which is what the difference of two
    distribution functions comes to for a region much narrower than the spread.

    Args:
        samples: Lots by samples by 2.
        places: Means across and down, then standard deviations, of every place.
    """
    count, mean = samples.shape[1], samples.mean(axis=1)
    spread = np.square(samples - mean[:, None]).mean(axis=1)
    away = np.square(mean[:, None] - places[:, :2]) + spread[:, None]
    exponents = 0.5 * np.einsum("lpa,pa->lp", away, 1.0 / np.square(places[:, 2:]))
    region = 2 * math.log(2 * REGION / math.sqrt(2 * math.pi))
    return np.asarray(count * (region - np.log(places[:, 2:]).sum(axis=1) - exponents))
