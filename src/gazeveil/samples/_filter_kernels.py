# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What noisy points say about gaze: a Kalman filter with two states an axis, and its fixed-lag smoother.

Arrays: ``model`` holds the public constants; ``belief`` five numbers an axis: the wandering part u, the slow offset m,
and their covariance uu, um, mm; ``past`` the latest points, for the smoother. All of it is computed from released
points and public numbers: post-processing, free of charge.
"""

from __future__ import annotations

import math

import numpy as np

from gazeveil.arrays import FloatArray
from gazeveil.kernel_compiler import kernel

VAR_U, VAR_M, CENTRE, LOW, HIGH = range(0, 10, 2)
"""Where an axis' constants are in the model: add the axis, 0 or 1."""
TAU, SLOW, TURN = 10, 11, 12
"""Time constants in microseconds, and the length after which the first axis repeats; 0 if it does not."""
MODEL_WIDTH = 13

AXIS = 5
U, M, UU, UM, MM = range(AXIS)
BELIEF_WIDTH = 2 * AXIS

TICK_WIDTH = 1 + 2 * AXIS + 4
"""A remembered tick: its time, the belief after it, and the smoothed u and m of both axes."""
_SMOOTHED = 1 + 2 * AXIS


@kernel(error_model="numpy")
def forget(belief: FloatArray, model: FloatArray) -> None:
    """Begin with what is known of gaze before any is seen."""
    for axis in range(2):
        at = axis * AXIS
        belief[at + U] = belief[at + M] = belief[at + UM] = 0.0
        belief[at + UU] = model[VAR_U + axis]
        belief[at + MM] = model[VAR_M + axis]


@kernel(error_model="numpy", inline="always")
def wrapped(difference: float, turn: float) -> float:
    """Return a difference on a circle, between minus and plus half a turn; any difference if there is no circle."""
    if turn > 0.0:
        return float(difference - turn * np.rint(difference / turn))
    return difference


@kernel(error_model="numpy", inline="always")
def inside(value: float, model: FloatArray, axis: int) -> float:
    """Clamp a coordinate to the space, or wrap it."""
    if axis == 0 and model[TURN] > 0.0:
        value = wrapped(value, model[TURN])
    return float(min(max(value, model[LOW + axis]), model[HIGH + axis]))


@kernel(error_model="numpy", inline="always")
def predicted(belief: FloatArray, model: FloatArray, elapsed: float) -> tuple[float, float]:
    """Return where gaze is thought to be, this many microseconds after the latest tick."""
    fast, slow = math.exp(-elapsed / model[TAU]), math.exp(-elapsed / model[SLOW])
    x = model[CENTRE] + (fast * belief[U] + slow * belief[M])
    y = model[CENTRE + 1] + (fast * belief[AXIS + U] + slow * belief[AXIS + M])
    return x, y


@kernel(error_model="numpy")
def advance(belief: FloatArray, model: FloatArray, elapsed: float) -> None:
    """Let time pass."""
    fast, slow = math.exp(-elapsed / model[TAU]), math.exp(-elapsed / model[SLOW])
    for axis in range(2):
        at = axis * AXIS
        belief[at + U] *= fast
        belief[at + M] *= slow
        belief[at + UU] = fast * fast * belief[at + UU] + (1.0 - fast * fast) * model[VAR_U + axis]
        belief[at + UM] *= fast * slow
        belief[at + MM] = slow * slow * belief[at + MM] + (1.0 - slow * slow) * model[VAR_M + axis]


@kernel(error_model="numpy")
def learn(belief: FloatArray, model: FloatArray, x: float, y: float, variance: float) -> None:
    """Take in a noisy point, its noise of this variance an axis."""
    for axis in range(2):
        at = axis * AXIS
        seen = x if axis == 0 else y
        surprise = seen - (model[CENTRE + axis] + belief[at + U] + belief[at + M])
        if axis == 0:
            surprise = wrapped(surprise, model[TURN])
        with_u, with_m = belief[at + UU] + belief[at + UM], belief[at + UM] + belief[at + MM]
        total = with_u + with_m + variance
        gain_u, gain_m = with_u / total, with_m / total
        belief[at + U] += gain_u * surprise
        belief[at + M] += gain_m * surprise
        belief[at + UU] -= gain_u * with_u
        belief[at + UM] -= gain_u * with_m
        belief[at + MM] -= gain_m * with_m


@kernel(error_model="numpy")
def remember(past: FloatArray, belief: FloatArray, model: FloatArray, now: float) -> None:
    """Append the belief after a tick to the latest ones, and smooth them backwards (Rauch, Tung and Striebel)."""
    ticks = past.shape[0]
    for row in range(ticks - 1):
        past[row] = past[row + 1]
    last = ticks - 1
    past[last, 0] = now
    past[last, 1:_SMOOTHED] = belief
    for axis in range(2):
        past[last, _SMOOTHED + 2 * axis] = belief[axis * AXIS + U]
        past[last, _SMOOTHED + 2 * axis + 1] = belief[axis * AXIS + M]
    for row in range(ticks - 2, -1, -1):
        if past[row, 0] < 0.0:
            break
        _smooth(past[row], past[row + 1], model)


@kernel(error_model="numpy")
def _smooth(here: FloatArray, after: FloatArray, model: FloatArray) -> None:
    elapsed = after[0] - here[0]
    fast, slow = math.exp(-elapsed / model[TAU]), math.exp(-elapsed / model[SLOW])
    for axis in range(2):
        at, to = 1 + axis * AXIS, _SMOOTHED + 2 * axis
        uu, um, mm = here[at + UU], here[at + UM], here[at + MM]
        ahead_uu = fast * fast * uu + (1.0 - fast * fast) * model[VAR_U + axis]
        ahead_um = fast * slow * um
        ahead_mm = slow * slow * mm + (1.0 - slow * slow) * model[VAR_M + axis]
        determinant = ahead_uu * ahead_mm - ahead_um * ahead_um
        news_u = after[to] - fast * here[at + U]
        news_m = after[to + 1] - slow * here[at + M]
        share_u = (ahead_mm * news_u - ahead_um * news_m) / determinant
        share_m = (ahead_uu * news_m - ahead_um * news_u) / determinant
        here[to] = here[at + U] + uu * fast * share_u + um * slow * share_m
        here[to + 1] = here[at + M] + um * fast * share_u + mm * slow * share_m


@kernel(error_model="numpy")
def looking_back(past: FloatArray, model: FloatArray, then: float) -> tuple[float, float]:
    """Return where gaze is thought to have been at an earlier time, from the ticks before and after it."""
    ticks = past.shape[0]
    row = ticks - 1
    while row >= 0 and past[row, 0] >= 0.0 and past[row, 0] > then:
        row -= 1
    before, after = row >= 0 and past[row, 0] >= 0.0, row + 1 < ticks
    x, y = model[CENTRE], model[CENTRE + 1]
    for part in range(2):
        constant = model[TAU + part]
        if before:
            weight = math.exp((past[row, 0] - then) / constant)
            if after:
                weight *= math.expm1(2.0 * (then - past[row + 1, 0]) / constant)
                weight /= math.expm1(2.0 * (past[row, 0] - past[row + 1, 0]) / constant)
            x += weight * past[row, _SMOOTHED + part]
            y += weight * past[row, _SMOOTHED + 2 + part]
        if after:
            weight = math.exp((then - past[row + 1, 0]) / constant)
            if before:
                weight *= math.expm1(2.0 * (past[row, 0] - then) / constant)
                weight /= math.expm1(2.0 * (past[row, 0] - past[row + 1, 0]) / constant)
            x += weight * past[row + 1, _SMOOTHED + part]
            y += weight * past[row + 1, _SMOOTHED + 2 + part]
    return x, y
