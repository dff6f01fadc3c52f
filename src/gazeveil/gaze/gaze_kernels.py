# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Compiled loops of the event detectors, and the two convolutions of the picture model that are no matrix product.

Every kernel takes a chunk of samples and a state that it carries over to the next chunk, so one implementation
serves a whole file and a live stream: a file is one long push, a stream is many short ones, and the answer cannot
differ. Memory is bounded.

Samples are cut into *stretches* first (`_next_in_stretch`): an event never leaves its stretch.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from gazeveil.arrays import Float32Array, FloatArray
from gazeveil.kernel_compiler import kernel

TICK = 1e-6
"""Times that differ by less than this many seconds are compared as equal: no tracker's clock is finer."""

COLUMNS = 9
"""kind, onset, offset, x, y, end_x, end_y, amplitude, peak_velocity: one row of a kernel's output."""
FIXATION = 0.0
SACCADE = 1.0

VELOCITY_STATE = 13
CLASSIFY_STATE = 28
DISPERSION_STATE = 30

_BLOCK = 4096
"""Rows that are compared with the threshold at once."""

# what becomes of a sample
_LEFT_OUT = 0
_ENDS = 1
_JOINS = 2
_STARTS = 3

# what the eye is doing, as far as decided
LOST = 0.0
SLOW = 1.0
FAST = 2.0


@kernel(inline="always")
def _next_in_stretch(
    t: float, x: float, y: float, seen: float, last: float, lost: bool, max_gap: float, max_step: float
) -> tuple[int, float, float, bool]:
    """Say what a sample does to the stretch, and return the new (verdict, seen, last, lost).

    ``seen`` is the last finite time of any sample, ``last`` the time of the last sample in the open stretch (NaN
    if none is open), ``lost`` whether samples were lost since then.
    """
    if not math.isfinite(t):
        if max_gap > 0.0:
            return _LEFT_OUT, seen, last, True
        return _ENDS, seen, math.nan, True
    if abs(t - seen) < TICK:
        return _LEFT_OUT, seen, last, lost
    if t < seen:
        last = math.nan
    if not (math.isfinite(x) and math.isfinite(y)):
        if t - last <= max_gap and max_gap > 0.0:
            return _LEFT_OUT, t, last, True
        return _ENDS, t, math.nan, True
    limit = max_gap if lost else max_step
    if t - last <= limit + TICK and (max_gap > 0.0 or not lost):
        return _JOINS, t, t, False
    return _STARTS, t, t, False


@kernel()
def _decide(
    buffer: FloatArray,
    fit: FloatArray,
    place: NDArray[np.int64],
    half: float,
    at_end: bool,
    rows: FloatArray,
    count: int,
) -> int:
    """Write the velocity of every sample whose window is complete; return the number of rows.

    The window slides, and so do the sums of its straight-line fit: constant work per sample, whatever the window.
    They are summed afresh once the window has moved by its own length, before rounding errors add up to anything.
    """
    t, x, y = buffer[0], buffer[1], buffer[2]
    size, middle, first, final = place
    t0, x0, y0, age, st, stt, sx, sy, stx, sty = fit
    while middle < size and (at_end or t[size - 1] - t[middle] > half):
        # the neighbours count even where they lie outside the window: slow trackers have no others
        while final < size and (final <= middle + 1 or t[final] - t[middle] <= half):
            dt, dx, dy = t[final] - t0, x[final] - x0, y[final] - y0
            st, stt, sx, sy, stx, sty = st + dt, stt + dt * dt, sx + dx, sy + dy, stx + dt * dx, sty + dt * dy
            final += 1
        while first < middle - 1 and t[middle] - t[first] > half:
            dt, dx, dy = t[first] - t0, x[first] - x0, y[first] - y0
            st, stt, sx, sy, stx, sty = st - dt, stt - dt * dt, sx - dx, sy - dy, stx - dt * dx, sty - dt * dy
            first += 1
        n = final - first
        spread = n * stt - st * st
        age += 1.0
        if age > max(n, 32) or spread < 1e-6 * n * stt:
            age, t0, x0, y0 = 0.0, t[middle], x[middle], y[middle]
            st = stt = sx = sy = stx = sty = 0.0
            for j in range(first, final):
                dt, dx, dy = t[j] - t0, x[j] - x0, y[j] - y0
                st, stt, sx, sy, stx, sty = st + dt, stt + dt * dt, sx + dx, sy + dy, stx + dt * dx, sty + dt * dy
            spread = n * stt - st * st
        rows[0, count], rows[1, count], rows[2, count], rows[5, count] = (
            t[middle],
            x[middle],
            y[middle],
            buffer[3, middle],
        )
        rows[3, count] = (n * stx - st * sx) / spread if n > 1 else math.nan
        rows[4, count] = (n * sty - st * sy) / spread if n > 1 else math.nan
        count += 1
        middle += 1
    place[1:] = (middle, first, final)
    fit[:] = (t0, x0, y0, age, st, stt, sx, sy, stx, sty)
    return count


@kernel()
def _end_stretch(
    buffer: FloatArray, fit: FloatArray, place: NDArray[np.int64], half: float, rows: FloatArray, count: int
) -> int:
    count = _decide(buffer, fit, place, half, True, rows, count)
    rows[:, count] = math.nan
    place[:] = 0
    fit[:] = 0.0
    return count + 1


@kernel()
def velocities(
    half_window: float,
    max_gap: float,
    max_step: float,
    state: FloatArray,
    place: NDArray[np.int64],
    buffer: FloatArray,
    t: FloatArray,
    x: FloatArray,
    y: FloatArray,
    first_number: int,
    finish: bool,
    rows: FloatArray,
) -> int:
    """Turn samples into rows (t, x, y, vx, vy, sample number); a row of NaN marks the end of a stretch.

    ``buffer`` (4 x capacity) holds the samples of the window and those after it; ``place`` says how many there are,
    which one is next to be decided, and where its window begins and ends. Returns the number of rows.
    """
    half = half_window + TICK
    seen, last, lost = state[0], state[1], state[2] != 0.0
    fit = state[3:]
    size, count = place[0], 0
    for i in range(len(t)):
        verdict, seen, last, lost = _next_in_stretch(t[i], x[i], y[i], seen, last, lost, max_gap, max_step)
        if verdict == _LEFT_OUT:
            continue
        if verdict != _JOINS and size > 0:
            place[0] = size
            count = _end_stretch(buffer, fit, place, half, rows, count)
            size = 0
        if verdict == _ENDS:
            continue
        buffer[0, size], buffer[1, size], buffer[2, size], buffer[3, size] = t[i], x[i], y[i], first_number + i
        size += 1
    state[:3] = (seen, last, 1.0 if lost else 0.0)
    place[0] = size
    if finish and size > 0:
        count = _end_stretch(buffer, fit, place, half, rows, count)
    count = _decide(buffer, fit, place, half, False, rows, count)
    size, done = place[0], int(place[2])
    if done > 0:
        for row in range(4):
            for j in range(done, size):
                buffer[row, j - done] = buffer[row, j]
        place -= done
    return int(count)


@kernel(inline="always")
def _put_fixation(
    out: FloatArray, k: int, start: float, end: float, sum_x: float, sum_y: float, n: float, minimum: float
) -> int:
    if end - start < minimum - TICK:
        return k
    out[k, 0], out[k, 1], out[k, 2] = FIXATION, start, end
    out[k, 3], out[k, 4] = sum_x / n, sum_y / n
    out[k, 5] = out[k, 6] = out[k, 7] = out[k, 8] = math.nan
    return k + 1


@kernel(inline="always")
def _put_saccade(
    out: FloatArray,
    k: int,
    start: float,
    end: float,
    x: float,
    y: float,
    end_x: float,
    end_y: float,
    peak: float,
) -> int:
    out[k, 0], out[k, 1], out[k, 2] = SACCADE, start, end
    out[k, 3], out[k, 4], out[k, 5], out[k, 6] = x, y, end_x, end_y
    out[k, 7], out[k, 8] = math.hypot(end_x - x, end_y - y), peak
    return k + 1


@kernel()
def _mark_slow(vx: FloatArray, vy: FloatArray, limit: float, slow: NDArray[np.bool_]) -> None:
    """Say which rows are slow, and end with a false; apart, because the compiler can do many rows at once here."""
    for i in range(len(vx)):
        slow[i] = vx[i] * vx[i] + vy[i] * vy[i] < limit
    slow[len(vx)] = False


@kernel(inline="always")
def _end_of_slow(slow: NDArray[np.bool_], words: NDArray[np.uint64], i: int) -> int:
    """Return the first row from ``i`` on that is not slow, looking at eight at once where they are."""
    while slow[i]:
        i += 1
        if i & 7 == 0:
            word = i >> 3
            while words[word] == np.uint64(0x0101010101010101):
                word += 1
            i = word << 3
    return i


@kernel()
def classify(  # noqa: PLR0912, PLR0915  (one compiled loop)
    threshold: float,
    min_fixation: float,
    min_saccade: float,
    merge_gap: float,
    merge_distance: float,
    state: FloatArray,
    t: FloatArray,
    x: FloatArray,
    y: FloatArray,
    vx: FloatArray,
    vy: FloatArray,
    out: FloatArray,
) -> int:
    """Turn velocities into fixations and saccades; a velocity that is no number ends the stretch.

    A slow run is held back as long as the next one may still be merged with it (never, if ``merge_gap`` is
    negative). Where x and y are empty, positions are not known. Returns the number of events written.
    """
    limit = threshold * threshold
    slow = np.empty(_BLOCK + 8, dtype=np.bool_)
    words = slow.view(np.uint64)
    located = len(x) > 0
    mode = state[0]
    start, last_t, last_x, last_y, sum_x, sum_y, n = state[1:8]  # the open slow run
    before_t, before_x, before_y = state[8:11]  # where the open fast run left from; NaN if unknown
    fast_start, fast_end, peak = state[11:14]  # the open fast run
    held, h_start, h_end, h_x, h_y, h_n = state[14:20]  # the slow run held back
    s_held, s_start, s_end, s_x, s_y, s_to_x, s_to_y, s_peak = state[20:28]  # the saccade after it
    here_x = here_y = math.nan
    k = i = rows = 0
    while i < len(t):
        if i == rows:  # a block at a time, so that it stays in the processor's nearest cache
            base, rows = rows, min(rows + _BLOCK, len(t))
            _mark_slow(vx[base:rows], vy[base:rows], limit, slow)
        if mode == SLOW:
            begin = i
            i = base + _end_of_slow(slow, words, i - base)
            if i > begin:
                last_t, n = t[i - 1], n + (i - begin)
                if located:
                    last_x, last_y = x[i - 1], y[i - 1]
                    for j in range(begin, i):
                        sum_x += x[j]
                        sum_y += y[j]
        elif mode == FAST and not held:
            begin = i
            while i < rows:
                speed = vx[i] * vx[i] + vy[i] * vy[i]
                if not speed >= limit:
                    break
                peak = max(peak, speed)
                i += 1
            if i > begin:
                fast_end = t[i - 1]
        if i == rows:
            continue
        now, speed = t[i], vx[i] * vx[i] + vy[i] * vy[i]
        broken = math.isnan(speed)
        if located:
            here_x, here_y = x[i], y[i]
        if mode == SLOW:  # the slow run is over: merge it with the one held back, or let that one go
            if held and math.hypot(h_x / h_n - sum_x / n, h_y / h_n - sum_y / n) <= merge_distance:
                h_end, h_x, h_y, h_n = last_t, h_x + sum_x, h_y + sum_y, h_n + n
            else:
                if held:
                    k = _put_fixation(out, k, h_start, h_end, h_x, h_y, h_n, min_fixation)
                if s_held:
                    k = _put_saccade(out, k, s_start, s_end, s_x, s_y, s_to_x, s_to_y, s_peak)
                held, h_start, h_end, h_x, h_y, h_n = 1.0, start, last_t, sum_x, sum_y, n
            s_held = 0.0
            before_t, before_x, before_y = last_t, last_x, last_y
        if held and (broken or now - h_end > merge_gap + TICK or merge_gap < 0.0):
            k = _put_fixation(out, k, h_start, h_end, h_x, h_y, h_n, min_fixation)
            held = 0.0
        if broken:
            mode, before_t = LOST, math.nan
        elif speed < limit:
            if mode == FAST and now - before_t >= min_saccade - TICK:
                if held:
                    s_held, s_start, s_end, s_x, s_y = 1.0, fast_start, fast_end, before_x, before_y
                    s_to_x, s_to_y, s_peak = here_x, here_y, math.sqrt(peak)
                else:
                    k = _put_saccade(out, k, fast_start, fast_end, before_x, before_y, here_x, here_y, math.sqrt(peak))
            mode = SLOW
            start, last_t, last_x, last_y = now, now, here_x, here_y
            sum_x, sum_y, n = here_x, here_y, 1.0
        else:
            if mode != FAST:
                mode, fast_start, peak = FAST, now, speed
            fast_end = now
            peak = max(peak, speed)
        i += 1
    state[:14] = (
        mode, start, last_t, last_x, last_y, sum_x, sum_y, n, before_t, before_x, before_y, fast_start, fast_end, peak,
    )  # fmt: skip
    state[14:] = (
        held, h_start, h_end, h_x, h_y, h_n, s_held, s_start, s_end, s_x, s_y, s_to_x, s_to_y, s_peak,
    )  # fmt: skip
    return k


@kernel()
def disperse(  # noqa: PLR0912, PLR0915  (one compiled loop)
    threshold: float,
    min_fixation: float,
    max_saccade: float,
    max_gap: float,
    max_step: float,
    state: FloatArray,
    window: FloatArray,
    queues: NDArray[np.int64],
    t: FloatArray,
    x: FloatArray,
    y: FloatArray,
    finish: bool,
    out: FloatArray,
) -> int:
    """Find fixations by dispersion, and the saccades between them.

    The window that is searched holds samples of ``min_fixation`` seconds, so it is bounded; once a fixation is
    found, only its extremes and sums are kept. ``window`` (5 x capacity, a power of two) is a ring of t, x, -x, y,
    -y; ``queues`` (4 x capacity) holds, for each of the last four, the sample numbers whose value is larger than
    all that follow: the first is the maximum (a monotonic queue). Returns the number of events, or -1 if the
    window holds more samples than the ring can.
    """
    seen, last, lost = state[0], state[1], state[2] != 0.0
    found, head, tail = state[3] != 0.0, int(state[4]), int(state[5])
    start, end, end_x, end_y, sum_x, sum_y, n = state[6:13]  # the open fixation
    extremes = state[13:17].copy()  # of x, -x, y, -y in it
    left_t, left_x, left_y, between_start, between_end = state[17:22]  # where the last fixation was left
    front, back = state[22:26].astype(np.int64), state[26:30].astype(np.int64)
    mask = window.shape[1] - 1
    values = np.empty(4)
    k = 0
    for i in range(len(t) + 1):
        if i == len(t):
            if not finish:
                break
            verdict = _ENDS
            last = math.nan
        else:
            verdict, seen, last, lost = _next_in_stretch(t[i], x[i], y[i], seen, last, lost, max_gap, max_step)
        if verdict == _LEFT_OUT:
            continue
        if verdict != _JOINS:
            if found:
                k = _put_fixation(out, k, start, end, sum_x, sum_y, n, 0.0)
            found = False
            left_t = math.nan
            head = tail
            front[:] = back
        if verdict == _ENDS:
            continue
        values[0], values[1], values[2], values[3] = x[i], -x[i], y[i], -y[i]
        if found:
            a, b = max(extremes[0], values[0]), max(extremes[1], values[1])
            c, d = max(extremes[2], values[2]), max(extremes[3], values[3])
            if (a + b) + (c + d) <= threshold:
                extremes[0], extremes[1], extremes[2], extremes[3] = a, b, c, d
                end, end_x, end_y = t[i], x[i], y[i]
                sum_x += end_x
                sum_y += end_y
                n += 1.0
                continue
            k = _put_fixation(out, k, start, end, sum_x, sum_y, n, 0.0)
            found = False
            left_t, left_x, left_y, between_start = end, end_x, end_y, math.nan
        if tail - head > mask:
            return -1
        window[0, tail & mask] = t[i]
        for q in range(4):
            value = values[q]
            window[q + 1, tail & mask] = value
            while back[q] > front[q] and window[q + 1, queues[q, (back[q] - 1) & mask] & mask] <= value:
                back[q] -= 1
            queues[q, back[q] & mask] = tail
            back[q] += 1
        tail += 1
        while t[i] - window[0, head & mask] >= min_fixation - TICK:
            for q in range(4):
                extremes[q] = window[q + 1, queues[q, front[q] & mask] & mask]
            if (extremes[0] + extremes[1]) + (extremes[2] + extremes[3]) <= threshold:
                found = True
                start, end, end_x, end_y = window[0, head & mask], t[i], x[i], y[i]
                first_x, first_y = window[1, head & mask], window[3, head & mask]
                sum_x = sum_y = n = 0.0
                for j in range(head, tail):
                    sum_x += window[1, j & mask]
                    sum_y += window[3, j & mask]
                    n += 1.0
                if start - left_t <= max_saccade + TICK and not math.isnan(between_start):
                    k = _put_saccade(out, k, between_start, between_end, left_x, left_y, first_x, first_y, math.nan)
                head = tail
                front[:] = back
                break
            between_end = window[0, head & mask]
            if math.isnan(between_start):
                between_start = between_end
            for q in range(4):
                if queues[q, front[q] & mask] == head:
                    front[q] += 1
            head += 1
    state[:6] = (seen, last, 1.0 if lost else 0.0, 1.0 if found else 0.0, float(head), float(tail))
    state[6:13] = (start, end, end_x, end_y, sum_x, sum_y, n)
    state[13:17] = extremes
    state[17:22] = (left_t, left_x, left_y, between_start, between_end)
    state[22:26] = front
    state[26:30] = back
    return k


# --- The two convolutions of the network that are no matrix product.


@kernel(fastmath=True)
def by_channel(
    padded: Float32Array, weights: Float32Array, shift: Float32Array, stride: int, out: Float32Array
) -> None:
    """Convolve each channel with its own square, add its shift, and cut to 0 … 6."""
    channels, rows, columns = out.shape
    side = weights.shape[1]
    for channel in range(channels):
        for row in range(rows):
            line = out[channel, row]
            line[:] = shift[channel]
            for down in range(side):
                source = padded[channel, row * stride + down]
                for across in range(side):
                    weight = weights[channel, down, across]
                    if stride == 1:
                        for column in range(columns):
                            line[column] += weight * source[column + across]
                    else:
                        for column in range(columns):
                            line[column] += weight * source[column * stride + across]
            for column in range(columns):
                line[column] = min(max(line[column], np.float32(0)), np.float32(6))


@kernel()
def gathered(padded: Float32Array, side: int, stride: int, out: Float32Array) -> None:
    """Lay the squares around all places side by side, one column a place, for a matrix product."""
    channels, rows, columns = padded.shape[0], out.shape[1], out.shape[2]
    for channel in range(channels):
        for down in range(side):
            for across in range(side):
                place = (channel * side + down) * side + across
                for row in range(rows):
                    for column in range(columns):
                        out[place, row, column] = padded[channel, row * stride + down, column * stride + across]
