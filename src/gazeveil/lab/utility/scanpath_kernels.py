# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Compiled loops of comparison: simplified, aligned and warped scanpaths, and the nearest of many directions."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from gazeveil.arrays import FloatArray, IntArray
from gazeveil.kernel_compiler import kernel

_MOST_ROUNDS = 20


@kernel(error_model="numpy")
def _angle_deg(ax: float, ay: float, bx: float, by: float) -> float:
    """Return the angle between two saccades; NaN if one of them has no length."""
    length = math.hypot(ax, ay) * math.hypot(bx, by)
    if length == 0.0:
        return math.nan
    return math.degrees(math.acos(min(1.0, max(-1.0, (ax * bx + ay * by) / length))))


@kernel(error_model="numpy")
def _merge_directions(
    saccades: FloatArray, rests: FloatArray, count: int, many: int, angle: float, short: float
) -> tuple[int, int]:
    """Join neighbours that point the same way with a short rest between; return how many saccades and rests are left.

    Works in place: what is written never overtakes what is read.
    """
    last = rests[many - 1]
    read = kept = 0
    while read < count:
        saccades[kept], rests[kept] = saccades[read], rests[read]
        if (
            read < count - 1
            and rests[read + 1] < short
            and _angle_deg(saccades[read, 2], saccades[read, 3], saccades[read + 1, 2], saccades[read + 1, 3]) < angle
        ):
            saccades[kept, 2:] += saccades[read + 1, 2:]
            read += 1
        read += 1
        kept += 1
    rests[kept] = last
    return kept, kept + 1


@kernel(error_model="numpy")
def _merge_lengths(
    saccades: FloatArray, rests: FloatArray, count: int, many: int, length: float, short: float
) -> tuple[int, int]:
    """Join short saccades beside a short rest with the next one, the last with the one before.

    The last is added to the saccade before it as that was, even if that had just been joined to its own predecessor,
    and its rest stays in the list: the published toolbox does so, and who compares with its numbers needs the same.
    A last saccade that is alone stays.
    """
    last, before_last = rests[many - 1], rests[many - 2]
    read = kept = extra = 0
    while read < count:
        small = math.hypot(saccades[read, 2], saccades[read, 3]) < length
        if read < count - 1:
            joins = small and (rests[read + 1] < short or rests[read] < short)
            saccades[kept], rests[kept] = saccades[read], rests[read]
            if joins:
                saccades[kept, 2:] += saccades[read + 1, 2:]
                read += 1
        elif small and kept > 0 and (last < short or before_last < short):
            saccades[kept - 1, 2:] = saccades[read - 1, 2:] + saccades[read, 2:]
            rests[kept] = rests[read - 1]
            kept -= 1
            extra = 1
        else:
            saccades[kept], rests[kept] = saccades[read], rests[read]
        read += 1
        kept += 1
    many = kept + extra + 1
    rests[many - 1] = last
    return kept, many


@kernel(error_model="numpy")
def simplified(saccades: FloatArray, rests: FloatArray, angle: float, short: float, length: float) -> int:
    """Join saccades until nothing changes, in place; return how many are left.

    Args:
        saccades: Where each begins (x, y) and how far it goes (x, y).
        rests: The durations of fixations, one more than there are saccades.
        angle: Two saccades whose angle is smaller (degrees) are joined, if the rest between them is short.
        short: A rest shorter than this (seconds) is short.
        length: A saccade shorter than this is joined, if a rest beside it is short.
    """
    count, many = len(saccades), len(rests)
    while count:
        before = many
        count, many = _merge_directions(saccades, rests, count, many, angle, short)
        count, many = _merge_lengths(saccades, rests, count, many, length, short)
        if many == before:
            break
    return count


@kernel(error_model="numpy")
def _walk_costs(one: FloatArray, other: FloatArray) -> FloatArray:
    """Return the cost of the cheapest walk to every pair of saccades, framed by infinity before the first of each."""
    cost = np.full((len(one) + 1, len(other) + 1), np.inf)
    cost[0, 0] = 0.0
    for i in range(len(one)):
        for j in range(len(other)):
            apart = math.sqrt((one[i, 2] - other[j, 2]) ** 2 + (one[i, 3] - other[j, 3]) ** 2)
            cost[i + 1, j + 1] = apart + min(cost[i, j], cost[i, j + 1], cost[i + 1, j])
    return cost


@kernel(error_model="numpy")
def differences(one: FloatArray, one_rests: FloatArray, other: FloatArray, other_rests: FloatArray) -> FloatArray:
    """Align two lists of saccades, and return the median differences of aligned pairs.

    The alignment is the cheapest walk from both first to both last saccades that goes on in one list or in both; each
    pair costs the length of the difference of its two vectors. Of walks that cost the same, the one that goes on in
    both.

    Returns:
        Shape, direction (radians), length, position, and duration (as a share of the longer).
    """
    cost = _walk_costs(one, other)
    found = np.empty((5, len(one) + len(other)))
    i, j, pairs = len(one) - 1, len(other) - 1, 0
    while i >= 0 and j >= 0:
        found[0, pairs] = math.sqrt((one[i, 2] - other[j, 2]) ** 2 + (one[i, 3] - other[j, 3]) ** 2)
        turn = abs(math.atan2(one[i, 3], one[i, 2]) - math.atan2(other[j, 3], other[j, 2]))
        found[1, pairs] = min(turn, 2 * math.pi - turn)
        found[2, pairs] = abs(math.hypot(one[i, 2], one[i, 3]) - math.hypot(other[j, 2], other[j, 3]))
        found[3, pairs] = math.sqrt((one[i, 0] - other[j, 0]) ** 2 + (one[i, 1] - other[j, 1]) ** 2)
        longer = max(one_rests[i], other_rests[j])
        found[4, pairs] = abs(one_rests[i] - other_rests[j]) / longer if longer > 0 else 0.0
        pairs += 1
        both, up, left = cost[i, j], cost[i, j + 1], cost[i + 1, j]
        if both <= min(up, left):
            i, j = i - 1, j - 1
        elif up <= left:
            i -= 1
        else:
            j -= 1
    medians = np.empty(5)
    for row in range(5):
        medians[row] = np.median(found[row, :pairs])
    return medians


@kernel(error_model="numpy")
def warped(one_x: FloatArray, one_y: FloatArray, other_x: FloatArray, other_y: FloatArray) -> float:
    """Return the smallest sum of distances over all ways to walk both lists of points from begin to end."""
    row = np.full(len(other_x) + 1, np.inf)
    row[0] = 0.0
    for i in range(len(one_x)):
        corner, row[0] = row[0], np.inf
        for j in range(len(other_x)):
            best = min(corner, row[j + 1], row[j])
            corner = row[j + 1]
            row[j + 1] = best + math.hypot(one_x[i] - other_x[j], one_y[i] - other_y[j])
    return float(row[-1])


@kernel(error_model="numpy")
def _two_means(x: FloatArray, y: FloatArray, side: IntArray) -> None:
    """Part points into two groups by the nearer of two means, which begin at the first and the last point."""
    ax, ay, bx, by = x[0], y[0], x[-1], y[-1]
    for _ in range(_MOST_ROUNDS):
        sums = np.zeros((2, 3))
        moved = False
        for k in range(len(x)):
            to = int((x[k] - bx) ** 2 + (y[k] - by) ** 2 < (x[k] - ax) ** 2 + (y[k] - ay) ** 2)
            moved = moved or to != side[k]
            side[k] = to
            sums[to, 0] += x[k]
            sums[to, 1] += y[k]
            sums[to, 2] += 1
        if sums[0, 2]:
            ax, ay = sums[0, 0] / sums[0, 2], sums[0, 1] / sums[0, 2]
        if sums[1, 2]:
            bx, by = sums[1, 0] / sums[1, 2], sums[1, 1] / sums[1, 2]
        if not moved:
            return


@kernel(error_model="numpy")
def restlessness(x: FloatArray, y: FloatArray, width: int) -> FloatArray:
    """Return for every sample how sharply gaze splits into two places around it; NaN where it is missing.

    Every window of this many samples is parted into two groups. How often neighbours belong to different ones is
    counted: noise makes many changes, a saccade one. The changes of a window share one point, and a sample gets the
    mean of what its windows gave to it.
    """
    given, windows = np.zeros(len(x)), np.zeros(len(x))
    side = np.zeros(width, np.int64)
    whole = 0  # how many samples in a row are there
    for last in range(len(x)):
        whole = whole + 1 if math.isfinite(x[last]) and math.isfinite(y[last]) else 0
        if whole < width:
            continue
        first = last - width + 1
        _two_means(x[first : last + 1], y[first : last + 1], side)
        changes = 0
        for k in range(1, width):
            changes += side[k] != side[k - 1]
        for k in range(width):
            windows[first + k] += 1
            if k and side[k] != side[k - 1]:
                given[first + k] += 1.0 / changes
    for k in range(len(x)):
        there = math.isfinite(x[k]) and math.isfinite(y[k])
        given[k] = given[k] / max(windows[k], 1.0) if there else math.nan
    return given


# --- The nearest of many directions, compiled. Imported on use.


@kernel()
def nearest(known: FloatArray, asked: FloatArray) -> NDArray[np.int64]:
    """Return for each unit vector the number of the known one at the least angle, the first of equals."""
    found = np.zeros(len(asked), np.int64)
    for i in range(len(asked)):
        x, y, z = asked[i, 0], asked[i, 1], asked[i, 2]
        best = -2.0
        for j in range(len(known)):
            cosine = x * known[j, 0] + y * known[j, 1] + z * known[j, 2]
            if cosine > best:
                best = cosine
                found[i] = j
    return found
