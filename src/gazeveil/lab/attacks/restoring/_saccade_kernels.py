# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Gaze that drifts and jumps, seen through a mechanism: exact smoothing on a grid of places, one axis, compiled.

Between two samples gaze drifts a little (three neighbouring places) or makes a saccade, whose size has an exponential
distribution. Both steps cost a fixed effort for each place, so a stream takes samples times places.
"""

from __future__ import annotations

import math

import numpy as np

from gazeveil.arrays import FloatArray, IntArray
from gazeveil.kernel_compiler import kernel

NOTHING, GAUSSIAN, LAPLACE, BETWEEN = range(4)
"""What is seen at a sample: nothing; a point with Gaussian noise (place, standard deviation), or with planar Laplace
noise (place, scale); or only that gaze lies between two places."""
_NEVER = 1e-12  # no place is ever quite impossible, or one odd sample would end everything
_WIDEST = 0.6  # more drift than this, in squared places, takes several passes


@kernel(error_model="numpy")
def _step(chance: FloatArray, spread: float, jump: float, keep: float, out: FloatArray, work: FloatArray) -> None:
    """Let one step of time pass; all is symmetric, so the same holds backwards. ``out`` becomes the new chances.

    Args:
        chance: Of every place; left as it is.
        spread: The variance of drift, in squared places.
        jump: The chance of a saccade.
        keep: By how much a saccade to the next place is less likely.
        out: Space for the result.
        work: Room.
    """
    count = len(chance)
    passes = max(1, math.ceil(spread / _WIDEST))
    side = 0.5 * spread / passes
    out[:] = chance
    for _ in range(passes):
        work[:] = out
        for i in range(count):
            before = work[i - 1] if i > 0 else work[i]
            after = work[i + 1] if i + 1 < count else work[i]
            out[i] = (1.0 - 2.0 * side) * work[i] + side * (before + after)
    right = 0.0
    for i in range(count):  # an exponential to the right, and one to the left that leaves the place itself out
        right = keep * right + chance[i]
        work[i] = right
    left = 0.0
    share = jump * (1.0 - keep) / (1.0 + keep)
    for i in range(count - 1, -1, -1):
        out[i] = (1.0 - jump) * out[i] + share * (work[i] + left)
        left = keep * (left + chance[i])


@kernel(error_model="numpy")
def _seen(kind: int, a: float, b: float, soft: float, low: float, grain: float, weight: FloatArray) -> None:
    """Write how well each place goes with what is seen."""
    for i in range(len(weight)):
        place = low + i * grain
        if kind == GAUSSIAN:
            weight[i] = math.exp(-0.5 * ((place - a) / b) ** 2) + _NEVER
        elif kind == LAPLACE:
            far = abs(place - a) / b
            weight[i] = (1.0 + far) * math.exp(-far) + _NEVER
        else:
            weight[i] = 0.5 * (math.erf((b - place) / soft) - math.erf((a - place) / soft)) + _NEVER


@kernel(error_model="numpy")
def _weigh(chance: FloatArray, usual: FloatArray, weight: FloatArray, seen: bool) -> float:
    """Take in what is seen; return by how much the chances shrank before they were made to add up to 1 again."""
    total = 0.0
    for i in range(len(chance)):
        chance[i] *= usual[i]
        if seen:
            chance[i] *= weight[i]
        total += chance[i]
    for i in range(len(chance)):
        chance[i] /= total
    return total


@kernel(error_model="numpy")
def smoothed(
    elapsed: FloatArray,
    kind: IntArray,
    a: FloatArray,
    b: FloatArray,
    soft: float,
    low: float,
    grain: float,
    count: int,
    usual: FloatArray,
    drift: float,
    rate: float,
    size: float,
) -> tuple[FloatArray, float]:
    """Return the expected place at every sample given all that is seen, and the log likelihood of that.

    Args:
        elapsed: Seconds since the sample before; the first is not used.
        kind: What is seen.
        a: Its first number.
        b: Its second number.
        soft: How blurred the ends of a stretch are.
        low: The first place.
        grain: From one place to the next.
        count: How many places.
        usual: By how much gaze is drawn to each place, from sample to sample.
        drift: Standard deviation of drift after a second.
        rate: Saccades in a second.
        size: Mean size of a saccade along this axis.
    """
    samples = len(kind)
    keep, places = math.exp(-grain / size), (drift / grain) ** 2
    forward = np.empty((samples, count), np.float32)
    chance, work, out, weight = np.full(count, 1.0 / count), np.empty(count), np.empty(count), np.ones(count)
    fit = 0.0
    for n in range(samples):
        if n > 0:
            _step(chance, places * elapsed[n], 1.0 - math.exp(-rate * elapsed[n]), keep, out, work)
            chance, out = out, chance
        if kind[n] != NOTHING and (n == 0 or kind[n] != kind[n - 1] or a[n] != a[n - 1] or b[n] != b[n - 1]):
            _seen(kind[n], a[n], b[n], soft, low, grain, weight)
        fit += math.log(_weigh(chance, usual, weight, kind[n] != NOTHING))
        forward[n] = chance
    found = np.empty(samples)
    chance[:] = 1.0
    for n in range(samples - 1, -1, -1):
        total, place = 0.0, 0.0
        for i in range(count):
            both = forward[n, i] * chance[i]
            total += both
            place += both * i
        found[n] = low + grain * (place / total)
        if n > 0:
            last = n == samples - 1
            if kind[n] != NOTHING and (last or kind[n] != kind[n + 1] or a[n] != a[n + 1] or b[n] != b[n + 1]):
                _seen(kind[n], a[n], b[n], soft, low, grain, weight)
            _weigh(chance, usual, weight, kind[n] != NOTHING)
            _step(chance, places * elapsed[n], 1.0 - math.exp(-rate * elapsed[n]), keep, out, work)
            chance, out = out, chance
    return found, fit
