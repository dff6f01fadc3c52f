# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Gaze in numbers that tell participants apart: of movement, of fixations and saccades, and of clusters.

Many logs hold a sample again until the tracker has a new one (a third of the frames of some headsets), and so does a
mechanism that holds gaze. Times are kept, so nothing is stated about moments without news.

Each group turns the movement of a window into a fixed number of values; NaN where the window has too little for one.

- ``steps``: quantiles of how far gaze moves within 1, 2, 3, … samples, across and down, with and without sign.
- ``bends``: quantiles of second and third differences: the tracker's noise on this eye, tremor, braking.
- ``echoes``: how a velocity is like the one some samples before, for slow, middle and fast movement.
- ``directions``: where gaze moves to at four ranges of speed, and how often it is that fast.
- ``losses``: how often and how long gaze is lost; blinks are most of it.
- ``position`` and ``pupil``: where gaze rests and how wide the pupil is; for attackers who are allowed them.

The columns of events follow George & Routray 2016 as far as they are published: for a fixation its duration, spread,
path, shape and way from the one before; for a saccade its size, shape, and statistics of velocity and acceleration.
Angles enter as cosine and sine, since -180 and 180 degrees are the same. Absolute position enters nowhere.

Kaleido's biometric attack (section 7.3.2) uses them. No threshold is set by hand: every sample has four numbers (how
far gaze goes, how fast, how much faster or slower it gets, how straight it goes), and samples fall into 2 to 5
clusters. The slowest cluster is fixations, and so is every cluster that is hardly faster.

Ours is in the style of Cluster Fix: gaze is smoothed by a mean over a sixtieth of a second instead of an FIR filter at
1000 Hz, and clusters are not sought again around every fixation. A mechanism that holds gaze has fewer samples a
second, and is looked at as such.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from types import MappingProxyType
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gazeveil.arrays import BoolArray, FloatArray
from gazeveil.errors import OptionError, closest
from gazeveil.gaze.events import VelocityThreshold, velocity
from gazeveil.gaze.recording import Recording
from gazeveil.geometry import Geometry, Unit
from gazeveil.lab.attacks.contract import Trial

_EACH = 1.6
"""Samples further apart than this many nominal steps (and a repeat) have something missing between them."""


@dataclass(frozen=True, slots=True, eq=False)
class Movement:
    """New samples only.

    Attributes:
        t: Seconds.
        x: Degrees across, NaN where gaze was lost.
        y: Degrees down.
        step: Seconds between samples, by the nominal rate.
        window: All samples, repeats included.
    """

    t: FloatArray
    x: FloatArray
    y: FloatArray
    step: float
    window: Trial

    @staticmethod
    def of(window: Trial) -> Movement:
        """Return the new samples of a window."""
        repeats = np.zeros(len(window.t), dtype=np.bool_)
        repeats[1:] = (window.x[1:] == window.x[:-1]) & (window.y[1:] == window.y[:-1])
        new = ~repeats
        return Movement(window.t[new], window.x[new], window.y[new], 1 / window.rate_hz, window)

    @property
    def seconds(self) -> float:
        """How long the window is."""
        return float(self.window.t[-1] - self.window.t[0]) if len(self.window.t) else 0.0

    def pupil_between(self, onset: float, offset: float) -> float:
        """Return the mean pupil from one moment to another; NaN where it is not known or denied."""
        if self.window.pupil is None:
            return np.nan
        first, last = np.searchsorted(self.window.t, [onset - 1e-9, offset + 1e-9])
        sizes = self.window.pupil[first:last]
        there = np.isfinite(sizes)
        return float(sizes[there].mean()) if there.any() else np.nan

    def pairs(self, steps: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the numbers of samples that lie this many nominal steps apart, the earlier and the later ones."""
        after = self.t + steps * self.step
        later = np.minimum(np.searchsorted(self.t, after - self.step / 2), max(len(self.t) - 1, 0))
        apart = np.abs(self.t[later] - after) <= 0.6 * self.step if len(self.t) else np.empty(0, dtype=np.bool_)
        return np.flatnonzero(apart), later[apart]

    def ways(self, steps: int) -> tuple[FloatArray, FloatArray]:
        """Return how far gaze moved across and down within this many steps.

        Only where it was there before and after.
        """
        earlier, later = self.pairs(steps)
        across, down = self.x[later] - self.x[earlier], self.y[later] - self.y[earlier]
        there = np.isfinite(across) & np.isfinite(down)
        return across[there], down[there]

    def velocities(self) -> tuple[FloatArray, FloatArray]:
        """Return velocities from sample to sample in degrees per second; NaN where something is missing."""
        apart = np.diff(self.t)
        whole = apart <= (_EACH + 1) * self.step
        return tuple(np.where(whole, np.diff(gaze) / apart, np.nan) for gaze in (self.x, self.y))  # type: ignore[return-value]


def stretches(trial: Trial, seconds: float, step: float) -> list[Trial]:
    """Return overlapping stretches of a trial, all samples as they are; a shorter trial is one stretch.

    Args:
        trial: What to cut.
        seconds: How long a stretch is; infinite for the whole trial.
        step: How much later the next begins.

    Raises:
        OptionError: If a stretch or step has no length.
    """
    if not seconds > 0 or not step > 0:
        raise OptionError(f"windows and steps must be longer than 0 s, not {seconds!r} and {step!r}")
    if not len(trial.t):
        return []
    lasts = float(trial.t[-1] - trial.t[0]) + 2 / trial.rate_hz  # the last sample lasts too, and clocks are not exact
    if not lasts > seconds:
        return [trial]
    found = []
    for number in range(math.floor((lasts - seconds) / step) + 1):
        begin = trial.t[0] + number * step
        first, last = np.searchsorted(trial.t, [begin - 1e-9, begin + seconds - 1e-9])
        pupil = None if trial.pupil is None else trial.pupil[first:last]
        gaze = trial.t[first:last], trial.x[first:last], trial.y[first:last]
        found.append(Trial(trial.person, trial.session, trial.name, *gaze, trial.rate_hz, pupil))
    return found


# --- How someone's gaze moves, in numbers that need no events and no absolute position.


LAGS: Final = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 144, 216, 324)
_UNSIGNED = np.array([0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95])
_SIGNED = np.array([0.02, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.98])
_RESTING = np.array([0.05, 0.25, 0.5, 0.75, 0.95])
_PUPIL_LAGS = (1, 3, 9, 27, 81)
_CHANGES = np.array([0.25, 0.5, 0.75, 0.9])
_FEWEST = 8
_TINY_DEG = 1e-3


def quantiles(values: FloatArray, shares: FloatArray) -> FloatArray:
    """Return quantiles of finite values by straight lines between them; NaN if there are fewer than eight."""
    if len(values) < _FEWEST:
        return np.full(len(shares), np.nan)
    ordered = np.sort(values)
    return np.interp(shares * (len(ordered) - 1), np.arange(len(ordered)), ordered)


def log_quantiles(values: FloatArray, shares: FloatArray = _UNSIGNED) -> FloatArray:
    """Return logarithms of quantiles of values from 0 up."""
    return np.asarray(np.log(quantiles(values, shares) + _TINY_DEG))


def steps(movement: Movement) -> FloatArray:
    """Quantiles of how far gaze moves within some samples."""
    found = []
    for lag in LAGS:
        for way in movement.ways(lag):
            signed = quantiles(way, _SIGNED)
            found += [log_quantiles(np.abs(way)), np.sign(signed) * np.log1p(10 * np.abs(signed))]
    return np.concatenate(found)


def bends(movement: Movement) -> FloatArray:
    """Quantiles of second differences over 1, 2, 3 and 5 samples, and of third differences."""
    found = []
    for lag in (1, 2, 3, 5):
        whole = movement.t[2 * lag :] - movement.t[: -2 * lag] <= (4 * lag + 1) * movement.step
        for gaze in (movement.x, movement.y):
            bend = (gaze[2 * lag :] - 2 * gaze[lag:-lag] + gaze[: -2 * lag])[whole]
            found.append(log_quantiles(np.abs(bend[np.isfinite(bend)])))
    for gaze in (movement.x, movement.y):
        jolt = np.diff(gaze, 3)
        found.append(log_quantiles(np.abs(jolt[np.isfinite(jolt)])))
    return np.concatenate(found)


def echoes(movement: Movement) -> FloatArray:
    """How velocities go on: mean products with earlier ones, bounded at three scales of speed."""
    velocities = movement.velocities()
    found: list[float] = []
    for scale in (5.0, 20.0, 80.0):
        across, down = (np.tanh(velocity / scale) for velocity in velocities)
        for lag in range(1, 11):
            for one, other in ((across, across), (down, down), (across, down)):
                found.append(_mean(one[lag:] * other[:-lag]))
        found += [_mean(part) for part in (across * down, across, down, across * across, down * down)]
    return np.array(found)


def directions(movement: Movement) -> FloatArray:
    """Where gaze moves to, in eight directions at four ranges of speed."""
    across, down = movement.velocities()
    there = np.isfinite(across)
    speed, angle = np.hypot(across, down)[there], np.arctan2(down, across)[there]
    eighth = np.floor(angle / (np.pi / 4) + 0.5).astype(np.int64) % 8
    found = []
    for low, high in ((0.0, 8.0), (8.0, 30.0), (30.0, 100.0), (100.0, np.inf)):
        inside = (speed >= low) & (speed < high)
        count = int(inside.sum())
        shares = (np.bincount(eighth[inside], minlength=8) + 1) / (count + 8)
        turns = [np.cos(2 * angle[inside]), np.sin(2 * angle[inside]), np.cos(4 * angle[inside])]
        slant = [turn.sum() / max(count, 1) for turn in turns]
        found.append(np.concatenate((np.sqrt(shares), [np.sqrt(count / max(len(speed), 1))], slant)))
    return np.concatenate(found)


def losses(movement: Movement) -> FloatArray:
    """How often and how long gaze is lost."""
    lost = np.isnan(movement.window.x)
    edges = np.flatnonzero(np.diff(np.concatenate(([0], lost.astype(np.int8), [0]))))
    lengths = (edges[1::2] - edges[::2]) * movement.step
    seconds = max(movement.seconds, movement.step)
    blinks = ((lengths > 0.05) & (lengths < 0.5)).sum()
    return np.array(
        [
            np.log(lost.mean() + 0.003),
            np.log(len(lengths) / seconds + 0.05),
            np.log(np.median(lengths) if len(lengths) else movement.step),
            np.sqrt((lengths < 0.03).sum() / seconds),
            np.sqrt(blinks / seconds),
        ]
    )


def position(movement: Movement) -> FloatArray:
    """Where gaze rests."""
    return np.concatenate([quantiles(gaze[np.isfinite(gaze)], _RESTING) for gaze in (movement.x, movement.y)])


def pupil(movement: Movement) -> FloatArray:
    """How wide the pupil is, and how much it changes within some samples; NaN where it is denied."""
    size = movement.window.pupil
    if size is None:
        return np.full(len(_SIGNED) + len(_PUPIL_LAGS) * len(_CHANGES), np.nan)
    found = [log_quantiles(size[np.isfinite(size)], _SIGNED)]
    for lag in _PUPIL_LAGS:
        change = np.abs(size[lag:] - size[:-lag])
        found.append(log_quantiles(change[change > 0], _CHANGES))  # repeats are no change
    return np.concatenate(found)


MOTION: Final[Mapping[str, Callable[[Movement], FloatArray]]] = MappingProxyType(
    {"steps": steps, "bends": bends, "echoes": echoes, "directions": directions, "losses": losses}
)
"""Groups that any attacker may use."""
ALLOWED: Final[Mapping[str, Callable[[Movement], FloatArray]]] = MappingProxyType(
    {"position": position, "pupil": pupil}
)
"""Groups that an attacker must be allowed."""


def _mean(values: FloatArray) -> float:
    there = np.isfinite(values)
    count = int(there.sum())
    return float(values[there].sum() / count) if count >= _FEWEST else np.nan


# --- Fixations and saccades in numbers: one row for each event, or one row of summaries for a window.


_MOMENTS = ("mean", "median", "max", "sd", "skew", "kurtosis")
_SERIES = ("speed", "acceleration", "vx", "vy", "ax", "ay")

FIXATION: Final = (
    "duration", "sd x", "sd y", "path", "cos from previous", "sin from previous", "distance from previous", "skew x",
    "skew y", "kurtosis x", "kurtosis y", "dispersion", "mean speed",
)  # fmt: skip
"""Columns of a fixation."""
SACCADE: Final = (
    "duration", "amplitude", "cos", "sin", "dispersion", "sd x", "sd y", "path", "cos from previous",
    "sin from previous", "distance from previous", "peak speed by duration",
    *(f"{moment} {series}" for moment in _MOMENTS for series in _SERIES),
)  # fmt: skip
"""Columns of a saccade."""

_DEGREES = Geometry(Unit.DEGREE)
_LEAST_S, _STEPS = 0.02, 4.2
_TICK = 1e-9
_QUARTERS = np.array([0.1, 0.25, 0.5, 0.75, 0.9])
_TYPICAL_DEG = 5.0


@dataclass(frozen=True, slots=True, eq=False)
class Events:
    """The events of one stretch, in order of onset.

    Attributes:
        fixations: One row each, columns `FIXATION`.
        saccades: One row each, columns `SACCADE`.
        fixation_onsets: Seconds.
        saccade_onsets: Seconds.
        fixation_places: Mean x, mean y and mean pupil of each fixation, for those who are allowed them.
    """

    fixations: FloatArray
    saccades: FloatArray
    fixation_onsets: FloatArray
    saccade_onsets: FloatArray
    fixation_places: FloatArray


def find_events(movement: Movement, threshold: float = 50.0) -> Events:
    """Find fixations and saccades by velocity (I-VT).

    Args:
        movement: Gaze without repeats.
        threshold: Degrees per second that separate slow from fast. Velocities are fitted over four samples at least,
            since a slow tracker's noise is fast.
    """
    from gazeveil.lab.attacks.event_feature_kernels import rows_of_events  # noqa: PLC0415  (compiles)

    window, t = max(_LEAST_S, _STEPS * movement.step), movement.t
    recording = Recording(t, movement.x, movement.y, _DEGREES, "somebody")
    table = VelocityThreshold(threshold=threshold, window=window).detect(recording)
    onset, offset = (table[name].to_numpy() for name in ("onset", "offset"))
    is_saccade = (table["kind"] == "saccade").to_numpy()
    count = len(table)
    fixations, saccades = np.empty((count, len(FIXATION))), np.empty((count, len(SACCADE)))
    places, kept = np.full((count, 3), np.nan), np.zeros(count, dtype=np.bool_)
    samples = np.stack([t, movement.x, movement.y, *velocity(recording, window=window)])
    first, last = np.searchsorted(t, onset - _TICK), np.searchsorted(t, offset + _TICK)
    rests, jumps = rows_of_events(samples, is_saccade, first, last, fixations, saccades, places, kept)
    fixated = kept & ~is_saccade
    places[:rests, 2] = [movement.pupil_between(*span) for span in zip(onset[fixated], offset[fixated], strict=True)]
    return Events(fixations[:rests], saccades[:jumps], onset[fixated], onset[kept & is_saccade], places[:rests])


def events(movement: Movement) -> FloatArray:
    """Summaries of the fixations and saccades of a window: quantiles, rates, and the main sequence."""
    found = find_events(movement)
    fixations = dict(zip(FIXATION, found.fixations.T, strict=True))
    saccades = dict(zip(SACCADE, found.saccades.T, strict=True))
    seconds = max(movement.seconds, movement.step)
    summaries = [
        log_quantiles(column, _QUARTERS)
        for column in (
            *(fixations[name] for name in ("duration", "sd x", "sd y", "path", "dispersion", "mean speed")),
            *(saccades[name] for name in ("duration", "amplitude", "max speed", "sd x", "sd y", "path")),
            *(np.abs(saccades[name]) for name in ("cos", "max acceleration", "max ax", "max ay")),
        )
    ]
    rates = [np.log(len(kind) / seconds + 0.1) for kind in (found.fixations, found.saccades)]
    return np.concatenate([*summaries, rates, _main_sequence(saccades)])


def _main_sequence(saccades: dict[str, FloatArray]) -> FloatArray:
    """Return level and slope of peak speed and of duration over amplitude, and how peak speeds scatter; in logs."""
    amplitude = saccades["amplitude"]
    real = amplitude > 1.0
    if real.sum() < 6:
        return np.full(5, np.nan)
    size = np.log(amplitude[real] / _TYPICAL_DEG)
    design = np.stack([np.ones_like(size), size], axis=1)
    outcomes = np.log(np.stack([saccades["max speed"][real], saccades["duration"][real]], axis=1))
    fit = np.linalg.lstsq(design, outcomes, rcond=None)[0]
    scatter = float((outcomes - design @ fit)[:, 0].std())
    return np.array([*fit[:, 0], *fit[:, 1], np.log(scatter + 1e-3)])


# --- Features of fixations and saccades that clusters tell apart, after Cluster Fix (König and Buffalo 2014).


MOST_CLUSTERS: Final = 5
SHORTEST_FIXATION_S: Final = 0.025
SHORTEST_SACCADE_S: Final = 0.01
FEWEST_SAMPLES: Final = 30
EVENT_FEATURES: Final = (
    "max acceleration", "max velocity", "mean distance", "mean velocity", "mean angle", "mean turning",
)  # fmt: skip
WIDTH: Final = 2 * 2 * len(EVENT_FEATURES)
"""Mean and spread over fixations and over saccades."""

_SMOOTH_HZ = 60.0
_FEWEST_EVENTS = 3
_ROUNDS = 30
_TINY = 1e-3


def clusterfix(movement: Movement) -> FloatArray:
    """Return means and spreads of the features of fixations and of saccades in a window; NaN where there are few."""
    step = max(movement.step, float(np.median(np.diff(movement.t)))) if len(movement.t) > 1 else movement.step
    samples, angle = _samples(movement, step)
    whole = np.isfinite(samples).all(axis=1)
    found = np.full((2, 2, len(EVENT_FEATURES)), np.nan)
    if whole.sum() < FEWEST_SAMPLES:
        return found.ravel()
    still = np.zeros(len(samples), np.bool_)
    still[whole] = _fixating(samples[whole])
    kinds = ((whole & still, SHORTEST_FIXATION_S), (whole & ~still, SHORTEST_SACCADE_S))
    for kind, (mask, shortest) in enumerate(kinds):
        rows = _events(mask, shortest / step, samples, angle)
        if len(rows) >= _FEWEST_EVENTS:
            found[kind] = rows.mean(axis=0), np.log(rows.std(axis=0) + _TINY)
    return found.ravel()


def _samples(movement: Movement, step: float) -> tuple[FloatArray, FloatArray]:
    """Return distance, speed, change of speed and straightness of every sample, and its direction."""
    width = max(1, round(1 / (_SMOOTH_HZ * step)))
    x, y = (_smoothed(gaze, width) for gaze in (movement.x, movement.y))
    apart = np.append(np.diff(movement.t), step)
    late = apart > 2.6 * step
    dx, dy = (np.append(np.diff(gaze), np.nan) / apart for gaze in (x, y))
    dx[late] = dy[late] = np.nan
    speed, angle = np.hypot(dx, dy), np.arctan2(dy, dx)
    change = np.abs(np.append(np.diff(speed), np.nan)) / step
    turn = np.abs(np.append(np.diff(angle), np.nan))
    straight = 1.0 - np.minimum(turn, 2 * np.pi - turn) / np.pi
    distance = np.full(len(x), np.nan)
    distance[1:-1] = np.hypot(x[2:] - x[:-2], y[2:] - y[:-2])
    return np.column_stack([distance, speed, change, straight]), angle


def _smoothed(gaze: FloatArray, width: int) -> FloatArray:
    if width < 2 or len(gaze) < width:
        return gaze
    return np.convolve(gaze, np.full(width, 1.0 / width), "same")


def _fixating(samples: FloatArray) -> BoolArray:
    """Return which samples are of fixations."""
    most = samples.mean(axis=0) + 3 * samples.std(axis=0)
    clipped = np.minimum(samples, most)
    low = clipped.min(axis=0)
    scaled = (clipped - low) / np.maximum(clipped.max(axis=0) - low, 1e-12)
    label, clusters = _clusters(scaled)
    speed = np.array([samples[label == number, 1].mean() for number in range(clusters)])
    moving = np.array([scaled[label == number, 1:3].sum(axis=1).mean() for number in range(clusters)])
    slowest = int(np.argmin(moving))
    inside = samples[label == slowest, 1]
    limit = inside.mean() + 3 * inside.std()
    resting = (speed < limit) & (np.arange(clusters) != int(np.argmax(moving)))
    resting[slowest] = True
    return np.asarray(resting[label])


def _clusters(points: FloatArray) -> tuple[NDArray[np.int64], int]:
    """Return the cluster of every point, for the largest number of clusters that is nearly as clear as the clearest."""
    found = [_means(points, count) for count in range(2, MOST_CLUSTERS + 1)]
    clear = np.array([clarity for _, _, clarity in found])
    chosen = int(np.flatnonzero(clear >= 0.9 * clear.max())[-1])
    return found[chosen][0], found[chosen][1]


def _means(points: FloatArray, count: int) -> tuple[NDArray[np.int64], int, float]:
    """Return clusters by k-means, how many are not empty, and how much nearer points are to their own than to others.

    Centres begin as far from one another as can be, so nothing is drawn.
    """
    length = (points**2).sum(axis=1)
    middle = np.empty((count, points.shape[1]))
    middle[0] = points[int(np.argmin(_apart(points, length, points.mean(axis=0)[None])[:, 0]))]
    near = np.full(len(points), np.inf)
    for number in range(1, count):
        near = np.minimum(near, _apart(points, length, middle[number - 1 : number])[:, 0])
        middle[number] = points[int(np.argmax(near))]
    label = np.full(len(points), -1)
    for _ in range(_ROUNDS):
        apart = _apart(points, length, middle)
        now = apart.argmin(axis=1)
        if np.array_equal(now, label):
            break
        label = now
        members = np.bincount(label, minlength=count)
        sums = np.stack([np.bincount(label, column, count) for column in points.T], axis=1)
        middle = np.where(members[:, None] > 0, sums / np.maximum(members, 1)[:, None], middle)
    _, label = np.unique(label, return_inverse=True)
    clusters = int(label.max()) + 1
    if clusters < 2:
        return label, clusters, 0.0
    nearest = np.sqrt(np.sort(apart, axis=1)[:, :2])
    clarity = float(((nearest[:, 1] - nearest[:, 0]) / np.maximum(nearest[:, 1], 1e-12)).mean())
    return label, clusters, clarity


def _apart(points: FloatArray, length: FloatArray, centres: FloatArray) -> FloatArray:
    """Return the squared distance of every point from every centre."""
    return np.asarray(np.maximum(length[:, None] - 2 * points @ centres.T + (centres**2).sum(axis=1), 0.0))


def _events(mask: BoolArray, fewest: float, samples: FloatArray, angle: FloatArray) -> FloatArray:
    """Return a row of features for every stretch of a mask that is long enough; logarithms, but of angles."""
    edges = np.flatnonzero(np.diff(np.concatenate(([0], mask.astype(np.int8), [0]))))
    rows = []
    for begin, end in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
        if end - begin < fewest:
            continue
        distance, speed, change, straight = samples[begin:end].T
        sizes = np.log(np.array([change.max(), speed.max(), distance.mean(), speed.mean()]) + _TINY)
        rows.append([*sizes, np.abs(angle[begin:end]).mean(), straight.mean()])
    return np.array(rows).reshape(-1, len(EVENT_FEATURES))


# --- What was worked out about a trial is remembered: a judge compares the same gaze with one session after the other.


MOST_BYTES: Final = 256_000_000
"""No more is kept than this; what was not asked for the longest goes first."""

_KNOWN: OrderedDict[tuple[Hashable, bytes], FloatArray] = OrderedDict()
_HELD = {"bytes": 0}


def cached(what: Hashable, trial: Trial, work_out: Callable[[Trial], FloatArray]) -> FloatArray:
    """Return ``work_out(trial)``, which must depend on ``what`` and on the trial's gaze alone; it cannot be changed.

    Args:
        what: What is worked out, with all its parameters.
        trial: Of which trial; its names do not count.
        work_out: Does the work if it was not done yet.
    """
    key = what, _digest(trial)
    if key in _KNOWN:
        _KNOWN.move_to_end(key)
        return _KNOWN[key]
    found = work_out(trial)
    found.setflags(write=False)
    _KNOWN[key] = found
    _HELD["bytes"] += found.nbytes
    while _HELD["bytes"] > MOST_BYTES:
        _HELD["bytes"] -= _KNOWN.popitem(last=False)[1].nbytes
    return found


def forget() -> None:
    """Remember nothing any more."""
    _KNOWN.clear()
    _HELD["bytes"] = 0


def _digest(trial: Trial) -> bytes:
    told = blake2b(repr((trial.rate_hz, len(trial.t))).encode(), digest_size=16)
    for column in (trial.t, trial.x, trial.y, *(() if trial.pupil is None else (trial.pupil,))):
        told.update(np.ascontiguousarray(column).data)
    return told.digest()


# --- A window of gaze as one row of numbers, from the groups an attacker chooses and is allowed.


GROUPS: Final[Mapping[str, Callable[[Movement], FloatArray]]] = MappingProxyType({**MOTION, "events": events})
"""Groups that use neither absolute position nor pupil."""

_MEASURES = {**GROUPS, **ALLOWED}

SECONDS: Final = 20.0
STEP: Final = 10.0
"""Windows where nothing else is stated: long enough for some dozens of saccades."""

_FEWEST_SAMPLES = 50


@dataclass(frozen=True, slots=True)
class Description:
    """What is measured of a window.

    Attributes:
        groups: Which groups of features; names of `GROUPS`.
        allow: What the attacker may look at beside movement: ``position``, ``pupil``, both or nothing.
        seconds: How long a window is; infinite for whole trials.
        step: How much later the next window begins.
    """

    groups: tuple[str, ...]
    allow: frozenset[str]
    seconds: float
    step: float

    def __post_init__(self) -> None:
        for chosen, known in ((self.groups, GROUPS), (self.allow, ALLOWED)):
            if unknown := sorted(set(chosen) - set(known)):
                raise OptionError(f"no feature is called {unknown[0]!r}", hint=closest(unknown[0], known))
        if not self.groups and not self.allow:
            raise OptionError("an attacker who uses no fields can identify no one", hint="choose at least one group")
        if not self.seconds > 0 or not self.step > 0:
            raise OptionError(f"windows and steps must be longer than 0 s, not {self.seconds!r} and {self.step!r}")

    def rows(self, trial: Trial) -> FloatArray:
        """Return a row for every window of a trial that has enough gaze."""
        names = (*self.groups, *sorted(self.allow))
        return np.concatenate([self._of_group(name, trial) for name in names], axis=1)

    def _of_group(self, name: str, trial: Trial) -> FloatArray:
        measure = _MEASURES[name]

        def work_out(trial: Trial) -> FloatArray:
            movements = [Movement.of(window) for window in stretches(trial, self.seconds, self.step)]
            rows = [measure(one) for one in movements if np.isfinite(one.x).sum() >= _FEWEST_SAMPLES]
            return np.array(rows) if rows else np.empty((0, 0))

        seen = trial if name == "pupil" else trial.with_gaze(trial.x, trial.y)  # what is denied cannot leak
        return cached((name, self.seconds, self.step), seen, work_out)
