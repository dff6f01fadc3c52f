# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""White box: the best linear filter against a mechanism, found by running the mechanism on simulated strangers.

For any mechanism, however it works, there is a linear filter that leaves the least squared error on average (Wiener).
It follows from spectra: what gaze and its veiled form have in common, by what the veiled form has in all.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from gazeveil.arrays import FloatArray
from gazeveil.errors import InputError, OptionError
from gazeveil.exact import whole_number
from gazeveil.lab.attacks.contract import ATTACKS, Attack, Exemplar, Grant, Knowledge, Prepared, Trial
from gazeveil.lab.attacks.restoring import (
    LEAST_SAMPLES,
    Gaze,
    Restoration,
    in_degrees,
    unwound,
    veiled_strangers,
    without_gaps,
)
from gazeveil.samples.mechanism import SampleMechanism


@ATTACKS.register("wiener")
@dataclass(frozen=True, slots=True, kw_only=True)
class WienerFilter(Attack):
    """A filter that looks both ways, and a constant shift, learnt for the rate of each trial when it first comes.

    Attributes:
        seconds: How far the filter looks, both ways together.
        people: How many strangers it is learnt from, a minute each.
    """

    name: ClassVar[str] = "wiener"
    threat_model: ClassVar[str] = "white box, best linear filter"
    grants: ClassVar[frozenset[Grant]] = frozenset({Grant.MECHANISM})

    seconds: float = 8.0
    people: int = 24

    def __post_init__(self) -> None:
        object.__setattr__(self, "people", whole_number(self.people, "people", at_least=1))
        if not (math.isfinite(self.seconds) and 0 < self.seconds <= 30):
            raise OptionError(f"seconds must lie above 0 and up to 30, not at {self.seconds!r}")

    def _prepare(self, knowledge: Knowledge, seed: int) -> Prepared:
        learner = _Learner(self, in_degrees(knowledge.mechanism), seed)
        return Restoration(learner.guess)


@dataclass(frozen=True, slots=True, eq=False)
class _Learner:
    """Filters for every rate that has come so far."""

    attack: WienerFilter
    mechanism: SampleMechanism
    seed: int
    known: dict[float, tuple[FloatArray, FloatArray]] = field(default_factory=dict)

    def guess(self, veiled: Trial) -> Gaze:
        rate = round(veiled.rate_hz, 1)
        if rate not in self.known:
            pairs = veiled_strangers(self.mechanism, rate, self.attack.people, 1, 60.0, self.seed)
            size = 2 * max(4, round(self.attack.seconds * rate / 2))
            self.known[rate] = best_filter(pairs, size)
        return restored(veiled, *self.known[rate])


def best_filter(pairs: tuple[Exemplar, ...], size: int) -> tuple[FloatArray, FloatArray]:
    """Return the taps for both axes, the present in the middle, and the mean shift from veiled to raw gaze."""
    fade = np.hanning(size)
    common, whole = np.zeros((2, size // 2 + 1), np.complex128), np.zeros((2, size // 2 + 1))
    apart = []
    for pair in pairs:
        there = np.isfinite(pair.raw.x) & np.isfinite(pair.raw.y)
        shown = np.isfinite(pair.veiled.x) & np.isfinite(pair.veiled.y)
        if min(np.count_nonzero(there), np.count_nonzero(shown)) < LEAST_SAMPLES:
            continue
        # where gaze is missing, veils go on with the last one: so does what they are compared with
        last = np.maximum.accumulate(np.where(there, np.arange(len(there)), np.argmax(there)))
        raw = np.stack([unwound(pair.raw.x, there)[last], pair.raw.y[last]])
        veiled = np.stack([unwound(pair.veiled.x, shown), without_gaps(pair.veiled.y, shown)])
        apart.append((raw - veiled)[:, there].mean(axis=1))
        middle = veiled.mean(axis=1, keepdims=True)
        raw, veiled = raw - middle - apart[-1][:, None], veiled - middle
        for at in range(0, raw.shape[1] - size + 1, max(1, size // 4)):
            was, seen = (np.fft.rfft(values[:, at : at + size] * fade) for values in (raw, veiled))
            common += was * np.conj(seen)
            whole += np.abs(seen) ** 2
    if not apart:
        raise InputError("the mechanism shows nothing: there is no filter to learn")
    answer = common / np.maximum(whole, 1e-12 * whole.max(axis=1, keepdims=True) + 1e-300)
    taps = np.roll(np.fft.irfft(answer, size), size // 2, axis=1) * fade  # far taps are the least sure ones
    return taps, np.mean(apart, axis=0)


def restored(veiled: Trial, taps: FloatArray, shift: FloatArray) -> Gaze:
    """Return veiled gaze through the filters of both axes, and shifted."""
    return filtered(veiled.x, taps[0]) + shift[0], filtered(veiled.y, taps[1]) + shift[1]


def filtered(values: FloatArray, taps: FloatArray) -> FloatArray:
    """Return values through a filter, its middle tap on the present; ends go on as they are."""
    half, middle = len(taps) // 2, float(values.mean())
    padded = np.pad(values - middle, (half, len(taps) - half), mode="edge")
    length = len(padded) + len(taps)
    both = np.fft.irfft(np.fft.rfft(padded, length) * np.fft.rfft(taps, length), length)
    found: FloatArray = both[2 * half : 2 * half + len(values)] + middle
    return found
