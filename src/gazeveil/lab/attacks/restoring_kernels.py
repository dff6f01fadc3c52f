# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Compiled loops that restore gaze: what a stream released, stretches of constant gaze, and smoothers of moving eyes.

Between two releases the output is a function of time alone, so any other change is a release. Its cost follows from
the times of releases before it, its noisy point from how far the output moved. All of that is public; nothing here
needs more than the mechanism's parameters.

Between two samples gaze drifts a little (three neighbouring places) or makes a saccade, whose size has an exponential
distribution. Both steps cost a fixed effort for each place, so a stream takes samples times places.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from gazeveil.arrays import FloatArray, IntArray
from gazeveil.kernel_compiler import kernel
from gazeveil.samples import stream_kernels as gaze
from gazeveil.samples.release_kernels import (
    ABSORBING,
    COUNTING,
    INDEX,
    KIND,
    LEAST_LOSS,
    LOCKED,
    SAMPLE_US,
    SHARE,
    SHARES,
    allowance,
)
from gazeveil.samples.stream_kernels import (
    FILTER,
    LOSS,
    PERIOD,
    TEST,
    TICK,
    TICKS,
    arrived,
    estimate,
    left,
    moment,
    released,
    spend,
    variance_of,
)

CLOCK, TESTED, SPARSE = range(3)
"""By which rule a mechanism releases: by the clock, by tests, or by tests that are paid for together."""
_TOLERANCE = 1e-7
BEFORE_U, BEFORE_M, GAIN_U, GAIN_M = range(4)


@kernel(error_model="numpy")
def _gains(belief: FloatArray, plan: FloatArray, elapsed: float, variance: float, kept: FloatArray) -> None:
    """Keep, for both axes, the belief just before a release and how much of a surprise goes into it."""
    ahead = belief.copy()
    gaze.advance(ahead, plan, elapsed)
    for axis in range(2):
        at = axis * gaze.AXIS
        with_u, with_m = ahead[at + gaze.UU] + ahead[at + gaze.UM], ahead[at + gaze.UM] + ahead[at + gaze.MM]
        total = with_u + with_m + variance
        kept[axis, BEFORE_U], kept[axis, BEFORE_M] = ahead[at + gaze.U], ahead[at + gaze.M]
        kept[axis, GAIN_U], kept[axis, GAIN_M] = with_u / total, with_m / total


@kernel(error_model="numpy")
def _surprise(kept: FloatArray, plan: FloatArray, axis: int, shown: float, fast: float, slow: float) -> float:
    """Return by how much a noisy point missed the belief, from what is shown some time after it."""
    expected = plan[gaze.CENTRE + axis] + fast * kept[axis, BEFORE_U] + slow * kept[axis, BEFORE_M]
    moved = shown - expected
    if axis == 0:
        moved = gaze.wrapped_difference(moved, plan[gaze.TURN])
    return float(moved / (fast * kept[axis, GAIN_U] + slow * kept[axis, GAIN_M]))


@kernel(error_model="numpy")
def _cost(rule: int, clock: IntArray, books: IntArray, plan: FloatArray, now: int, at: int, extra: int) -> int:
    """Return what a release would cost now; 0 where none is possible."""
    if clock[TICKS] > 0 and now - clock[TICK] < plan[PERIOD]:
        return 0
    if rule == TESTED:  # never less than the least that is worth a release
        return int(max(allowance(clock, books, plan, at), int(plan[LEAST_LOSS])))
    return int(plan[LOSS]) if left(books, at) >= int(plan[LOSS]) + extra else 0


@kernel(error_model="numpy")
def recovered(
    rule: int,
    extra: int,
    clock: IntArray,
    books: IntArray,
    belief: FloatArray,
    past: FloatArray,
    plan: FloatArray,
    t: FloatArray,
    x: FloatArray,
    y: FloatArray,
    which: IntArray,
    points: FloatArray,
) -> int:
    """Find all releases; write their samples and, for each, the noisy point and the variance of its noise.

    Args:
        rule: `CLOCK`, `TESTED` or `SPARSE`.
        extra: What a release costs besides its noise.
        clock: The state of a new stream, as are books, belief and past.
        books: The ledger of releases.
        belief: The filter's belief.
        past: Not used; the stream must not look back.
        plan: The mechanism's numbers.
        t: Times.
        x: What was shown.
        y: The other coordinate.
        which: Space for the numbers of samples.
        points: Space for x, y and variance.
    """
    found = 0
    kept = np.zeros((2, 4))
    hidden = np.zeros(2, np.bool_)  # the output is at the edge: the point lies at least so far out
    shown, shown_before, moment_before = np.zeros(2), np.zeros(2), 0
    for i in range(len(t)):
        now = moment(clock, t[i])
        counting = rule == TESTED and plan[KIND] == COUNTING
        at = clock[INDEX] * int(plan[SAMPLE_US]) if counting else now
        arrived(clock, t[i], now, 0.0, 0.0)
        shown[0], shown[1] = x[i], y[i]
        expected_x, expected_y = estimate(clock, belief, plan, now)
        moved = abs(gaze.wrapped_difference(x[i] - expected_x, plan[gaze.TURN])) > _TOLERANCE and not hidden[0]
        moved = moved or (abs(y[i] - expected_y) > _TOLERANCE and not hidden[1])
        slot = rule == TESTED and (clock[TICKS] == 0 or now - clock[TEST] >= plan[PERIOD])
        locked = slot and clock[LOCKED] > 0
        loss = _cost(rule, clock, books, plan, now, at, extra) if moved else 0
        if moved and loss > 0:
            elapsed = float(now - clock[TICK]) if clock[TICKS] > 0 else 0.0
            variance = variance_of(plan, loss)
            _gains(belief, plan, elapsed, variance, kept)
            which[found], points[found, 2] = i, variance
            for axis in range(2):
                points[found, axis] = shown[axis]
                hidden[axis] = False
                if plan[FILTER] > 0.0:
                    before = plan[gaze.CENTRE + axis] + kept[axis, BEFORE_U] + kept[axis, BEFORE_M]
                    points[found, axis] = before + _surprise(kept, plan, axis, shown[axis], 1.0, 1.0)
                    wraps = axis == 0 and plan[gaze.TURN] > 0.0
                    at_edge = shown[axis] <= plan[gaze.LOW + axis] or shown[axis] >= plan[gaze.HIGH + axis]
                    hidden[axis] = at_edge and not wraps
            released(clock, belief, past, plan, now, points[found, 0], points[found, 1], loss)
            spend(books, at, loss + extra)
            found += 1
        elif hidden.any():
            _uncover(clock, belief, plan, now, shown, kept, hidden, points[found - 1])
        elif moved and i > 0 and plan[FILTER] > 0.0 and which[max(found, 1) - 1] < i - 1:
            before = float(moment_before - clock[TICK])
            _read(belief, plan, before, shown_before, float(now - clock[TICK]), shown)
        moment_before, shown_before[0], shown_before[1] = now, x[i], y[i]
        if slot:
            clock[TEST] = now
            clock[LOCKED] -= locked
            clock[SHARES] += not locked
        if moved and loss > 0 and rule == TESTED:
            clock[TEST], clock[SHARES] = now, 0
            clock[LOCKED] = -(-loss // int(plan[SHARE])) - 1 if plan[KIND] == ABSORBING else 0
        if rule == TESTED:
            clock[INDEX] += 1
    return found


@kernel(error_model="numpy")
def _read(
    belief: FloatArray, plan: FloatArray, before: float, shown_before: FloatArray, elapsed: float, shown: FloatArray
) -> None:
    """Read the belief off two points that were shown after the same release: wandering and offset fade differently."""
    fast_0, slow_0 = math.exp(-before / plan[gaze.TAU]), math.exp(-before / plan[gaze.SLOW])
    fast_1, slow_1 = math.exp(-elapsed / plan[gaze.TAU]), math.exp(-elapsed / plan[gaze.SLOW])
    determinant = fast_0 * slow_1 - fast_1 * slow_0
    for axis in range(2):
        low, high = plan[gaze.LOW + axis], plan[gaze.HIGH + axis]
        if determinant != 0.0 and low < shown[axis] < high and low < shown_before[axis] < high:
            first, second = shown_before[axis] - plan[gaze.CENTRE + axis], shown[axis] - plan[gaze.CENTRE + axis]
            belief[axis * gaze.AXIS + gaze.U] = (first * slow_1 - second * slow_0) / determinant
            belief[axis * gaze.AXIS + gaze.M] = (second * fast_0 - first * fast_1) / determinant


@kernel(error_model="numpy")
def _uncover(
    clock: IntArray,
    belief: FloatArray,
    plan: FloatArray,
    now: int,
    shown: FloatArray,
    kept: FloatArray,
    hidden: NDArray[np.bool_],
    point: FloatArray,
) -> None:
    """Learn where a point beyond the edge was, as soon as the output has come back from there."""
    elapsed = float(now - clock[TICK])
    fast, slow = math.exp(-elapsed / plan[gaze.TAU]), math.exp(-elapsed / plan[gaze.SLOW])
    for axis in range(2):
        if hidden[axis] and plan[gaze.LOW + axis] < shown[axis] < plan[gaze.HIGH + axis]:
            surprise = _surprise(kept, plan, axis, shown[axis], fast, slow)
            belief[axis * gaze.AXIS + gaze.U] = kept[axis, BEFORE_U] + kept[axis, GAIN_U] * surprise
            belief[axis * gaze.AXIS + gaze.M] = kept[axis, BEFORE_M] + kept[axis, GAIN_M] * surprise
            point[axis] = plan[gaze.CENTRE + axis] + kept[axis, BEFORE_U] + kept[axis, BEFORE_M] + surprise
            hidden[axis] = False


# --- Gaze that drifts and jumps, seen through a mechanism: exact smoothing on a grid of places, one axis, compiled.


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
def smoothed_jumps(
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


# --- The best division of a stream into stretches of constant gaze, compiled (PELT: Killick et al. 2012).


@kernel(error_model="numpy")
def stretches(x: FloatArray, y: FloatArray, penalty: float) -> NDArray[np.int64]:
    """Return where stretches begin, so that squared error plus a penalty for each is least."""
    count = len(x)
    sums = np.zeros((3, count + 1))  # of x, of y, of both squared; about the middle, so that no digits are lost
    middle_x, middle_y = np.median(x), np.median(y)
    for i in range(count):
        across, down = x[i] - middle_x, y[i] - middle_y
        sums[0, i + 1] = sums[0, i] + across
        sums[1, i + 1] = sums[1, i] + down
        sums[2, i + 1] = sums[2, i] + across * across + down * down
    best = np.zeros(count + 1)
    best[0] = -penalty
    begun = np.zeros(count + 1, np.int64)
    open_ = np.zeros(count + 1, np.int64)
    value = np.zeros(count + 1)
    many = 1
    for end in range(1, count + 1):
        least = np.inf
        for k in range(many):
            start = open_[k]
            n = end - start
            a, b = sums[0, end] - sums[0, start], sums[1, end] - sums[1, start]
            value[k] = best[start] + (sums[2, end] - sums[2, start]) - (a * a + b * b) / n
            if value[k] < least:
                least, begun[end] = value[k], start
        best[end] = least + penalty
        kept = 0
        for k in range(many):
            if value[k] <= best[end]:  # otherwise a stretch that began there can never be best again
                open_[kept] = open_[k]
                kept += 1
        open_[kept] = end
        many = kept + 1
    found = np.zeros(count, np.int64)
    at, end = count, count
    while end > 0:
        end = begun[end]
        at -= 1
        found[at] = end
    return found[at:].copy()


# --- Gaze as one Ornstein-Uhlenbeck process an axis, seen through noise: likelihood and smoother, compiled.


@kernel(error_model="numpy")
def likelihood(
    elapsed: FloatArray, seen: FloatArray, noise: FloatArray, variance: float, settle: float, doubt: float
) -> tuple[float, float]:
    """Return the log likelihood of noisy points, and the likeliest mean of gaze.

    Args:
        elapsed: Seconds since the point before; the first is not used.
        seen: The points, relative to where the mean is expected.
        noise: Their variances.
        variance: Of gaze around its mean.
        settle: Seconds after which gaze has moved on.
        doubt: The variance of the mean itself.
    """
    state, share, spread = (
        0.0,
        0.0,
        variance,
    )  # the belief for a mean of 0, what a mean of 1 takes from it, its variance
    squares, cross, ones, logs = 0.0, 0.0, 0.0, 0.0
    for i in range(len(seen)):
        if i > 0:
            stays = math.exp(-elapsed[i] / settle)
            state, share = stays * state, stays * share
            spread = stays * stays * spread + (1.0 - stays * stays) * variance
        total = spread + noise[i]
        news, one = seen[i] - state, 1.0 - share
        squares += news * news / total
        cross += news * one / total
        ones += one * one / total
        logs += math.log(total)
        gain = spread / total
        state += gain * news
        share += gain * one
        spread *= 1.0 - gain
    mean = cross / (ones + 1.0 / doubt)
    fit = squares - 2.0 * mean * cross + mean * mean * ones + mean * mean / doubt
    return -0.5 * (fit + logs + math.log(1.0 + doubt * ones)), mean


@kernel(error_model="numpy")
def smoothed_wander(
    elapsed: FloatArray, seen: FloatArray, noise: FloatArray, variance: float, settle: float
) -> tuple[FloatArray, FloatArray]:
    """Return what gaze was expected to be at every sample, given all points (Rauch, Tung and Striebel), and how surely.

    Args:
        elapsed: Seconds since the sample before; the first is not used.
        seen: The points, relative to the mean of gaze.
        noise: Their variances; infinite where there is no point.
        variance: Of gaze around its mean.
        settle: Seconds after which gaze has moved on.
    """
    count = len(seen)
    mean, spread = np.zeros(count), np.zeros(count)
    state, doubt = 0.0, variance
    for i in range(count):
        if i > 0:
            stays = math.exp(-elapsed[i] / settle)
            state, doubt = stays * state, stays * stays * doubt + (1.0 - stays * stays) * variance
        if noise[i] < np.inf:
            gain = doubt / (doubt + noise[i])
            state, doubt = state + gain * (seen[i] - state), (1.0 - gain) * doubt
        mean[i], spread[i] = state, doubt
    for i in range(count - 2, -1, -1):
        stays = math.exp(-elapsed[i + 1] / settle)
        ahead = stays * stays * spread[i] + (1.0 - stays * stays) * variance
        back = stays * spread[i] / ahead if ahead > 0.0 else 0.0
        mean[i] += back * (mean[i + 1] - stays * mean[i])
        spread[i] += back * back * (spread[i + 1] - ahead)
    return mean, spread
