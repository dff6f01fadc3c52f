# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What is measured on real and on simulated gaze alike, so that the two can be laid side by side."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gazeveil.arrays import FloatArray

_WINDOW = 128  # samples of a velocity spectrum


@dataclass(slots=True)
class Measures:
    """Numbers gathered under the names of what they measure."""

    values: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))

    def add(self, name: str, *numbers: float) -> None:
        """Take in numbers of one measure."""
        self.values[name].extend(numbers)

    def of(self, name: str) -> FloatArray:
        """Return all finite numbers of one measure."""
        numbers = np.array(self.values.get(name, ()), dtype=np.float64)
        return numbers[np.isfinite(numbers)]


def ks_distance(one: FloatArray, other: FloatArray) -> float:
    """Return the largest gap between two empirical distribution functions (Kolmogorov and Smirnov)."""
    one, other = np.sort(one), np.sort(other)
    at = np.concatenate((one, other))
    below_one = np.searchsorted(one, at, side="right") / len(one)
    below_other = np.searchsorted(other, at, side="right") / len(other)
    return float(np.abs(below_one - below_other).max())


def compare(data_set: str, real: Measures, simulated: Measures, units: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return one row per measure: quantiles of both sides and how far the distributions lie apart."""
    rows = []
    for measure, unit in units.items():
        sides = real.of(measure), simulated.of(measure)
        if not all(len(side) for side in sides):
            continue
        row: dict[str, Any] = {"data_set": data_set, "measure": measure, "unit": unit}
        for name, side in zip(("real", "simulated"), sides, strict=True):
            row[f"{name}_n"] = len(side)
            for percent in (10, 50, 90):
                row[f"{name}_{percent}"] = float(np.quantile(side, percent / 100))
        row["ks"] = ks_distance(*sides) if min(map(len, sides)) > 4 else float("nan")
        rows.append(row)
    return rows


def runs(labels: NDArray[Any]) -> Iterable[tuple[int, int, Any]]:
    """Yield begin, end and label of every stretch of equal labels."""
    edges = np.concatenate(([0], np.flatnonzero(labels[1:] != labels[:-1]) + 1, [len(labels)]))
    for begin, end in pairwise(edges.tolist()):
        yield begin, end, labels[begin]


def add_saccade(into: Measures, x: FloatArray, y: FloatArray, begin: int, end: int, rate: float) -> None:
    """Measure one saccade: how far, how long, and how fast at most, from the samples around it."""
    last = min(end, len(x) - 1)
    amplitude = float(np.hypot(x[last] - x[begin], y[last] - y[begin]))
    around = slice(max(begin - 3, 0), min(end + 3, len(x)))
    step = 2.0 / rate
    speed = np.hypot(x[around][2:] - x[around][:-2], y[around][2:] - y[around][:-2]) / step
    if not np.isfinite(amplitude) or not len(speed) or not np.isfinite(speed).all():
        return
    peak = float(speed.max())
    into.add("saccade amplitude", amplitude)
    into.add("saccade duration", 1000.0 * (end - begin) / rate)
    for low, high in ((0.5, 1.5), (2, 4), (5, 8), (10, 15)):
        if low <= amplitude < high:
            into.add(f"peak velocity, {low:g}-{high:g} deg", peak)


def add_settling(into: Measures, x: FloatArray, y: FloatArray, begin: int, end: int, rate: float) -> None:
    """Measure how far the gaze swings along a saccade of 3 to 12 degrees in the 32 ms after it."""
    swing, rest = round(0.032 * rate), round(0.08 * rate)
    dx, dy = x[end] - x[begin], y[end] - y[begin]
    amplitude = float(np.hypot(dx, dy))
    if 3 <= amplitude < 12:
        along = (x[end : end + rest] * dx + y[end : end + rest] * dy) / amplitude
        settled = along[round(0.05 * rate) :].mean()
        into.add("swing after a saccade, forth", float(along[:swing].max() - settled))
        into.add("swing after a saccade, back", float(along[:swing].min() - settled))


def add_steadiness(into: Measures, x: FloatArray, y: FloatArray) -> None:
    """Measure how the gaze trembles while it rests: from sample to sample, and altogether."""
    if len(x) < 8 or not (np.isfinite(x).all() and np.isfinite(y).all()):
        return
    steps = float(np.sqrt(np.mean(np.diff(x) ** 2 + np.diff(y) ** 2)))
    spread = float(np.sqrt(x.var() + y.var()))
    if spread > 0:
        into.add("RMS-S2S", steps)
        into.add("STD", spread)
        into.add("RMS-S2S / STD", steps / spread)


def add_spectrum(into: Measures, place: FloatArray, rate: float) -> None:
    """Measure how the velocity of resting gaze is spread over frequencies."""
    if len(place) <= _WINDOW or not np.isfinite(place).all():
        return
    velocity = np.diff(place[: _WINDOW + 1]) * rate
    power = np.abs(np.fft.rfft((velocity - velocity.mean()) * np.hanning(_WINDOW))) ** 2
    frequency = np.fft.rfftfreq(_WINDOW, 1.0 / rate)
    bands = [power[(frequency >= low) & (frequency < high)].mean() for low, high in ((4, 16), (16, 64), (64, 200))]
    if min(bands) > 0:
        into.add("velocity power, 16-64 Hz over 4-16 Hz", float(np.log10(bands[1] / bands[0])))
        into.add("velocity power, 64-200 Hz over 16-64 Hz", float(np.log10(bands[2] / bands[1])))
        middle = (frequency >= 4) & (frequency < 100)
        slope = np.polyfit(np.log10(frequency[middle]), np.log10(power[middle] + 1e-12), 1)[0]
        into.add("velocity spectrum slope, 4-100 Hz", float(slope))
