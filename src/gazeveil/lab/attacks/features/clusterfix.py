# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Features of fixations and saccades that clusters tell apart, after Cluster Fix (König and Buffalo 2014).

Kaleido's biometric attack (section 7.3.2) uses them. No threshold is set by hand: every sample has four numbers (how
far gaze goes, how fast, how much faster or slower it gets, how straight it goes), and samples fall into 2 to 5
clusters. The slowest cluster is fixations, and so is every cluster that is hardly faster.

Ours is in the style of Cluster Fix: gaze is smoothed by a mean over a sixtieth of a second instead of an FIR filter at
1000 Hz, and clusters are not sought again around every fixation. A mechanism that holds gaze has fewer samples a
second, and is looked at as such.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from gazeveil.arrays import BoolArray, FloatArray
from gazeveil.lab.attacks.features.movement import Movement

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
