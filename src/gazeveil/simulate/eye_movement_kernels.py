# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The loops over samples and saccades. All randomness is drawn beforehand and handed in."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from gazeveil.arrays import FloatArray
from gazeveil.kernel_compiler import kernel

# Mergenthaler & Engbert 2007 in steps of 1 ms and arcmin: gain and noise of the control, noise of the position,
# steepness and delays (horizontal, vertical) of the feedback
_GAIN, _CONTROL_NOISE, _POSITION_NOISE, _STEEPNESS = 0.25, 0.075, 0.175, 1.1
_DELAY_X, _DELAY_Y = 70, 40
_ARCMIN = 1.0 / 60.0

ONSET_SPEED = 20.0  # deg/s: a saccade lasts while the eye is faster than this, or than a fifth of its peak
_SATED, _SATED_DEG, _REMEMBERED = 0.8, 2.0, 3  # how much less, within how far, and how many places seen last draw
_TAIL = 1e-5  # share of a saccade's way that is neglected at either end
SACCADE, MICROSACCADE = 0, 1


@kernel()
def drift(noise: NDArray[np.float32], scale: float, feedback: float, out: FloatArray) -> None:
    """Fill ``out`` (samples x 2) with drift in degrees, one step per millisecond, from four normals a step."""
    n = noise.shape[0]
    control = np.zeros((n, 2))
    wx = wy = x = y = 0.0
    for k in range(n):
        past_x = control[k - _DELAY_X, 0] if k >= _DELAY_X else 0.0
        past_y = control[k - _DELAY_Y, 1] if k >= _DELAY_Y else 0.0
        wx = (1 - _GAIN) * wx + _CONTROL_NOISE * noise[k, 0] - feedback * math.tanh(_STEEPNESS * past_x)
        wy = (1 - _GAIN) * wy + _CONTROL_NOISE * noise[k, 1] - feedback * math.tanh(_STEEPNESS * past_y)
        control[k, 0], control[k, 1] = wx, wy
        x += scale * _ARCMIN * (wx + _POSITION_NOISE * noise[k, 2])
        y += scale * _ARCMIN * (wy + _POSITION_NOISE * noise[k, 3])
        out[k, 0], out[k, 1] = x, y


@kernel()
def _ramp(t: float) -> float:
    """Return Dai & Selesnick's smooth ramp: 0 far left, ``t`` far right."""
    return t + 0.25 * math.exp(-2.0 * t) if t >= 0 else 0.25 * math.exp(2.0 * t)


@kernel()
def way_done(t: float, amplitude: float, ceiling: float, scale: float, stretch: float) -> float:
    """Return the share of a saccade that is done at ``t``, which is 0 where the unsmoothed ramp would start.

    Dai & Selesnick 2016, whose peak velocity is exactly ``ceiling * (1 - exp(-amplitude / scale))``, with time
    after the peak slowed ever more, so that long saccades brake longer; the peak itself stays what it was.
    """
    length = amplitude / ceiling
    late = t - 0.5 * length
    if late > 0:
        t = 0.5 * length + stretch * math.log1p(late / stretch)
    done: float = scale / amplitude * (_ramp(ceiling * t / scale) - _ramp(ceiling * (t - length) / scale))
    return done


@kernel()
def _lead_of_speed(amplitude: float, ceiling: float, scale: float) -> float:
    """Return how long before time 0 a saccade passes its onset speed."""
    peak = -ceiling * math.expm1(-amplitude / scale)
    speed = min(ONSET_SPEED, 0.2 * peak)
    return -0.5 * scale / ceiling * math.log(2.0 * speed / (-ceiling * math.expm1(-2.0 * amplitude / scale)))


@kernel()
def _lead_of_share(share: float, amplitude: float, ceiling: float, scale: float) -> float:
    """Return how long before time 0 a small share of the way is done."""
    return -0.5 * scale / ceiling * math.log(4.0 * share * amplitude / (-scale * math.expm1(-2.0 * amplitude / scale)))


@kernel()
def _end(lead: float, amplitude: float, ceiling: float, stretch: float) -> float:
    """Return when the mirror image of ``lead`` comes, with the braking stretched."""
    half = 0.5 * amplitude / ceiling
    return half + stretch * math.expm1((half + lead) / stretch)


@kernel()
def choose_target(
    x: float,
    y: float,
    reach: FloatArray,
    angle: FloatArray,
    pick: float,
    horizontal: float,
    attraction: FloatArray,
    extent: FloatArray,
    seen: FloatArray,
) -> tuple[float, float]:
    """Choose one of several places within reach, by how much each draws the gaze; else turn to the middle.

    Places near those ``seen`` last draw less: the eye moves on.
    """
    rows, columns = attraction.shape
    left, top, right, bottom = extent
    weight = np.empty(reach.shape[0])
    total = 0.0
    for k in range(reach.shape[0]):
        across = math.cos(angle[k])
        column = math.floor((x + reach[k] * across - left) / (right - left) * columns)
        row = math.floor((y + reach[k] * math.sin(angle[k]) - top) / (bottom - top) * rows)
        if 0 <= row < rows and 0 <= column < columns:
            drawn = attraction[row, column] * (1.0 + horizontal * (2.0 * across * across - 1.0))
            for j in range(seen.shape[0]):
                far = (x + reach[k] * across - seen[j, 0]) ** 2 + (y + reach[k] * math.sin(angle[k]) - seen[j, 1]) ** 2
                drawn *= 1.0 - _SATED * math.exp(-0.5 * far / _SATED_DEG**2)
            total += drawn
        weight[k] = total
    if total <= 0.0:
        return 0.5 * (left + right) + 0.3 * (x - 0.5 * (left + right)), 0.5 * (top + bottom)
    k = min(int(np.searchsorted(weight, pick * total, side="right")), reach.shape[0] - 1)
    return x + reach[k] * math.cos(angle[k]), y + reach[k] * math.sin(angle[k])


@kernel()
def walk(
    drifted: FloatArray,
    step: float,
    start: FloatArray,
    rest: FloatArray,
    short_rest: FloatArray,
    reach: FloatArray,
    angle: FloatArray,
    pick: FloatArray,
    landing: FloatArray,
    vigour: FloatArray,
    micro_wait: FloatArray,
    micro_size: FloatArray,
    micro_turn: FloatArray,
    attraction: FloatArray,
    extent: FloatArray,
    traits: FloatArray,
    jumps: FloatArray,
) -> int:
    """Let the eye look around and fill ``jumps`` with what it did; return how many jumps.

    A jump is a row: kind, onset, time zero, offset, way across, way down, ceiling, then the resting place that
    follows, without drift, across and down, and the peak velocity. ``traits`` are ceiling, scale, stretch, gain,
    scatter and horizontal bias.
    """
    ceiling, scale, stretch, gain, scatter, horizontal = traits
    duration = drifted.shape[0] * step
    base_x, base_y = start
    aim_x, aim_y = start
    now = 0.0
    count = 0
    micro = 0
    until_micro = micro_wait[0]
    correcting = False
    seen = np.full((_REMEMBERED, 2), 1e6)
    for fixation in range(rest.shape[0]):
        leave = now + (short_rest[fixation] if correcting else rest[fixation])
        # microsaccades keep clear of the saccades on either side
        clock, latest = now + 0.08, leave - 0.06
        while latest - clock > until_micro and micro + 1 < micro_wait.shape[0]:
            clock += until_micro
            if clock >= duration or count >= jumps.shape[0]:
                return count
            here = int(clock / step)
            back_x = aim_x - base_x - drifted[here, 0]
            back_y = aim_y - base_y - drifted[here, 1]
            # half of the direction is the way back to where the eye had settled, half is chance
            direction = micro_turn[micro]
            if math.hypot(back_x, back_y) > 0.5 * micro_size[micro]:
                direction = math.atan2(back_y, back_x) + 0.5 * math.sin(micro_turn[micro])
            dx, dy = micro_size[micro] * math.cos(direction), micro_size[micro] * math.sin(direction)
            clock = _enter(jumps, count, MICROSACCADE, clock, dx, dy, ceiling, scale, stretch)
            base_x, base_y = base_x + dx, base_y + dy
            jumps[count, 7], jumps[count, 8] = base_x, base_y
            count += 1
            micro += 1
            until_micro = micro_wait[micro]
        until_micro -= max(latest - clock, 0.0)
        if leave >= duration or count >= jumps.shape[0]:
            return count
        here = int(leave / step)
        x, y = base_x + drifted[here, 0], base_y + drifted[here, 1]
        if not correcting:
            seen[:-1] = seen[1:]
            seen[-1, 0], seen[-1, 1] = x, y
            aim_x, aim_y = choose_target(
                x, y, reach[fixation], angle[fixation], pick[fixation], horizontal, attraction, extent, seen
            )
        dx, dy = aim_x - x, aim_y - y
        wanted = math.hypot(dx, dy)
        dx = gain * dx + scatter * wanted * landing[fixation, 0]
        dy = gain * dy + scatter * wanted * landing[fixation, 1]
        now = _enter(jumps, count, SACCADE, leave, dx, dy, ceiling * vigour[fixation], scale, stretch)
        base_x, base_y = base_x + dx, base_y + dy
        jumps[count, 7], jumps[count, 8] = base_x, base_y
        count += 1
        missed = math.hypot(aim_x - x - dx, aim_y - y - dy)
        correcting = not correcting and missed > 1.5
        if not correcting:
            aim_x, aim_y = x + dx, y + dy
    return count


@kernel()
def follow(
    places: FloatArray,
    drifted: FloatArray,
    step: float,
    start: FloatArray,
    landing: FloatArray,
    vigour: FloatArray,
    traits: FloatArray,
) -> FloatArray:
    """Let the eye go from place to place (rows of x, y, seconds of rest) and return the jumps, as in `walk`.

    ``traits`` are ceiling, scale, stretch and scatter.
    """
    ceiling, scale, stretch, scatter = traits
    duration = drifted.shape[0] * step
    jumps = np.empty((places.shape[0], 10))
    base_x, base_y = start
    leave = 0.1
    count = 0
    for k in range(places.shape[0]):
        if leave >= duration:
            break
        here = int(leave / step)
        dx = places[k, 0] - base_x - drifted[here, 0]
        dy = places[k, 1] - base_y - drifted[here, 1]
        # saccades miss more in length than in direction
        along, aside = 1.0 + scatter * landing[k, 0], 0.3 * scatter * landing[k, 1]
        dx, dy = along * dx - aside * dy, along * dy + aside * dx
        now = _enter(jumps, count, SACCADE, leave, dx, dy, ceiling * vigour[k], scale, stretch)
        base_x, base_y = base_x + dx, base_y + dy
        jumps[count, 7], jumps[count, 8] = base_x, base_y
        count += 1
        leave = now + places[k, 2]
    return jumps[:count].copy()


@kernel()
def _enter(
    jumps: FloatArray,
    row: int,
    kind: int,
    onset: float,
    dx: float,
    dy: float,
    ceiling: float,
    scale: float,
    stretch: float,
) -> float:
    """Write one jump and return when it ends."""
    amplitude = max(math.hypot(dx, dy), 1e-3)
    lead = _lead_of_speed(amplitude, ceiling, scale)
    zero = onset + lead
    offset: float = zero + _end(lead, amplitude, ceiling, stretch)
    jumps[row, 0], jumps[row, 1], jumps[row, 2], jumps[row, 3] = kind, onset, zero, offset
    jumps[row, 4], jumps[row, 5], jumps[row, 6] = dx, dy, ceiling
    jumps[row, 9] = -ceiling * math.expm1(-amplitude / scale)
    return offset


@kernel()
def render(
    gaze: FloatArray,
    step: float,
    start: FloatArray,
    jumps: FloatArray,
    scale: float,
    stretch: float,
    curve: float,
    wobble_gain: float,
    wobble_hz: float,
) -> None:
    """Add to ``gaze``, which holds the drift, where the eye rests and the jumps between."""
    n = gaze.shape[0]
    count = jumps.shape[0]
    # resting places change at time zero of each jump; the jumps' smooth sides are added after
    first = 0
    x, y = start
    for j in range(count + 1):
        last = n if j == count else min(n, math.ceil(jumps[j, 2] / step))
        for k in range(first, last):
            gaze[k, 0] += x
            gaze[k, 1] += y
        if j < count:
            x, y = x + jumps[j, 4], y + jumps[j, 5]
            first = max(first, last)
    for j in range(count):
        zero, dx, dy, ceiling = jumps[j, 2], jumps[j, 4], jumps[j, 5], jumps[j, 6]
        amplitude = max(math.hypot(dx, dy), 1e-3)
        lead = _lead_of_share(_TAIL, amplitude, ceiling, scale)
        middle = math.ceil(zero / step)
        finish = zero + _end(lead, amplitude, ceiling, stretch)
        for k in range(max(0, int((zero - lead) / step)), min(n, int(finish / step) + 1)):
            done = way_done(k * step - zero, amplitude, ceiling, scale, stretch)
            bow = 4.0 * curve * done * (1.0 - done)
            share = done - (1.0 if k >= middle else 0.0)
            gaze[k, 0] += share * dx - bow * dy
            gaze[k, 1] += share * dy + bow * dx
        _wobble(gaze, step, zero, dx, dy, amplitude, ceiling, scale, stretch, wobble_gain, wobble_hz)


@kernel()
def _wobble(
    gaze: FloatArray,
    step: float,
    zero: float,
    dx: float,
    dy: float,
    amplitude: float,
    ceiling: float,
    scale: float,
    stretch: float,
    wobble_gain: float,
    wobble_hz: float,
) -> None:
    """Add the oscillation with which the pupil settles after a saccade, along the saccade's direction."""
    peak = -ceiling * math.expm1(-amplitude / scale)
    begin = zero + _end(_lead_of_share(0.08, amplitude, ceiling, scale), amplitude, ceiling, stretch)
    decay = 0.5 / wobble_hz
    size = wobble_gain * peak / amplitude
    for k in range(max(0, math.ceil(begin / step)), min(gaze.shape[0], int((begin + 6.0 * decay) / step))):
        u = k * step - begin
        swing = size * math.sin(2.0 * math.pi * wobble_hz * u) * math.exp(-u / decay)
        gaze[k, 0] += swing * dx
        gaze[k, 1] += swing * dy


@kernel()
def sense(
    gaze: FloatArray,
    when: FloatArray,
    exposure: int,
    noise: NDArray[np.float32],
    state: FloatArray,
    sd: float,
    carry: float,
    offset: FloatArray,
    x: FloatArray,
    y: FloatArray,
) -> None:
    """Sample the true gaze as a tracker does.

    Args:
        gaze: True gaze, samples x 2.
        when: Moments of measurement, in samples of ``gaze``, with fractions.
        exposure: Over how many samples of ``gaze`` before the moment a measurement averages.
        noise: Two normals per measurement.
        state: The noise before the first measurement, in standard units; left as after the last.
        sd: Standard deviation of the tracker's noise per axis.
        carry: Share of one measurement's noise that stays in the next: its colour.
        offset: Systematic error: shift across and down, then the 2 x 2 stretch, row by row.
        x: Measured gaze across, filled in.
        y: Measured gaze down, filled in.
    """
    last = gaze.shape[0] - 1
    fresh = math.sqrt(1.0 - carry * carry)
    for k in range(when.shape[0]):
        sum_x = sum_y = 0.0
        for back in range(exposure):
            moment = min(max(when[k] - back, 0.0), float(last))
            low = int(moment)
            high = min(low + 1, last)
            part = moment - low
            sum_x += gaze[low, 0] + part * (gaze[high, 0] - gaze[low, 0])
            sum_y += gaze[low, 1] + part * (gaze[high, 1] - gaze[low, 1])
        true_x, true_y = sum_x / exposure, sum_y / exposure
        state[0] = carry * state[0] + fresh * noise[k, 0]
        state[1] = carry * state[1] + fresh * noise[k, 1]
        x[k] = true_x + offset[0] + offset[2] * true_x + offset[3] * true_y + sd * state[0]
        y[k] = true_y + offset[1] + offset[4] * true_x + offset[5] * true_y + sd * state[1]


@kernel()
def coloured(noise: FloatArray, carry: float) -> FloatArray:
    """Return noise of unit variance in which each value keeps a share of the one before."""
    out = np.empty(noise.shape[0])
    fresh = math.sqrt(1.0 - carry * carry)
    value = noise[0]
    for k in range(noise.shape[0]):
        if k > 0:
            value = carry * value + fresh * noise[k]
        out[k] = value
    return out


@kernel()
def means(gaze: FloatArray, first: NDArray[np.int64], last: NDArray[np.int64]) -> FloatArray:
    """Return the mean place of the gaze within each stretch of samples ``first <= k < last``."""
    out = np.full((first.shape[0], 2), np.nan)
    for j in range(first.shape[0]):
        if last[j] <= first[j]:
            out[j] = gaze[min(first[j], gaze.shape[0] - 1)]
        else:
            sum_x = sum_y = 0.0
            for k in range(first[j], last[j]):
                sum_x += gaze[k, 0]
                sum_y += gaze[k, 1]
            out[j, 0], out[j, 1] = sum_x / (last[j] - first[j]), sum_y / (last[j] - first[j])
    return out
