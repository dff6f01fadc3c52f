# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Subjects of the auditor: mechanisms for feature series, on series that differ as much as their ranges allow.

Noisy coordinates are audited rather than the series made from them: what follows is post-processing, and the
coordinates show the most.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gazeveil.arrays import FloatArray
from gazeveil.features import fourier
from gazeveil.features.design import Design
from gazeveil.features.design_learning import learn
from gazeveil.features.fourier import ChunkedSeries
from gazeveil.features.group_series import GroupPlan, GroupSeries
from gazeveil.features.mechanisms.efpa import EnhancedFourierPerturbation, SamplingPerturbation
from gazeveil.features.participant_series import ParticipantPlan, ParticipantSeries
from gazeveil.features.ranges import Range, Ranges
from gazeveil.features.series import SERIES_MECHANISMS, SeriesMechanism, noisy_lengths
from gazeveil.noise import NoiseSource
from gazeveil.privacy.audit.subject import Pair, Subject, auditable, series_pairs
from gazeveil.privacy.guarantee import PureDP

STEPS = 16
CHUNK = 8


@dataclass(frozen=True, slots=True)
class Coordinates:
    """Runs a mechanism with chunks up to its noisy coordinates."""

    mechanism: ChunkedSeries

    def run(self, data: FloatArray, noise: NoiseSource, trials: int) -> FloatArray:
        """Return noisy coordinates, one release a row."""
        table = np.broadcast_to(data.T, (trials, *data.T.shape))
        return np.concatenate([part.reshape(trials, -1) for part in self.mechanism.measure(table, noise)], axis=1)

    def log_ratio(self, outputs: FloatArray, first: FloatArray, second: FloatArray) -> FloatArray:
        """Return the log ratio of the two densities."""
        here, there = self._exact(first), self._exact(second)
        scale = self.mechanism.scale
        if self.mechanism.is_gaussian:
            even = self._even()
            away = (outputs - (here + there) / 2) * even
            return np.asarray(away @ ((here - there) * even) / scale**2)
        return np.asarray(np.sum(np.abs(outputs - there) - np.abs(outputs - here), axis=1) / scale)

    def _exact(self, data: FloatArray) -> FloatArray:
        parts = [self.mechanism.prepare(part) for part in self.mechanism._parts(data.T[None])]
        kept = [
            fourier.fourier_coordinates(part, min(self.mechanism.kept, fourier.bin_count(part.shape[-1])))
            for part in parts
        ]
        return np.concatenate([part.ravel() for part in kept])

    def _even(self) -> FloatArray:
        whole, rest = divmod(self.mechanism.steps, self.mechanism.chunk)
        factors = [fourier.orthonormal(self.mechanism.chunk, self.mechanism.kept)] * whole
        if rest:
            factors.append(fourier.orthonormal(rest, min(self.mechanism.kept, fourier.bin_count(rest))))
        return np.tile(np.concatenate(factors), self.mechanism.features)


@dataclass(frozen=True, slots=True)
class Series:
    """Runs a mechanism up to its noisy series."""

    mechanism: SeriesMechanism

    def run(self, data: FloatArray, noise: NoiseSource, trials: int) -> FloatArray:
        """Return noisy series, one release a row."""
        return self.mechanism.perturb(np.broadcast_to(data, (trials, *data.shape)), noise).reshape(trials, -1)


@dataclass(frozen=True, slots=True)
class Chosen:
    """Runs a mechanism that chooses how much to keep, up to its choice and the noisy coordinates."""

    mechanism: EnhancedFourierPerturbation

    def run(self, data: FloatArray, noise: NoiseSource, trials: int) -> FloatArray:
        """Return the choice and then the noisy coordinates, one release a row."""
        chosen, parts = self.mechanism.measure(np.broadcast_to(data, (trials, *data.shape)), noise)
        return np.column_stack([chosen, parts])

    def log_ratio(self, outputs: FloatArray, first: FloatArray, second: FloatArray) -> FloatArray:
        """Return the log ratio of the two densities: that of the choice, and that of the noise given it."""
        steps, choices = self.mechanism.steps, fourier.kept_candidates(self.mechanism.steps)
        chances = [np.log(self._chances(side)) for side in (first, second)]
        ratio = np.zeros(len(outputs))
        for index, kept in enumerate(choices):
            mine = outputs[:, 0] == index
            even = fourier.orthonormal(steps, kept)
            noisy = outputs[mine, 1 : 1 + fourier.coordinate_count(steps, kept)]
            away = [noisy - fourier.fourier_coordinates(side.T, kept)[0] for side in (first, second)]
            if isinstance(self.mechanism, SamplingPerturbation):
                here, there = (np.linalg.norm(gap * even, axis=1) for gap in away)
            else:
                here, there = (np.abs(gap).sum(axis=1) for gap in away)
            ratio[mine] = chances[0][index] - chances[1][index] + (there - here) / self.mechanism.scale(kept)
        return ratio

    def _chances(self, data: FloatArray) -> FloatArray:
        """Return the chance of every choice: that its score plus one-sided noise is the best."""
        mechanism, choices = self.mechanism, fourier.kept_candidates(self.mechanism.steps)
        cost = np.array([mechanism.expected_noise(kept) for kept in choices])
        scores = -(fourier.discarded(data.T, choices)[0] + cost)
        scale = float(2 * (mechanism._length(mechanism.changed) + fourier.ROUNDING) / mechanism.share)
        bonus = np.linspace(0.0, 40.0, 20_001)
        ahead = bonus[:, None, None] + (scores[:, None] - scores) / scale
        below = np.where(np.eye(len(choices), dtype=bool), 1.0, -np.expm1(-np.maximum(ahead, 0.0)))
        chances = np.trapezoid(np.exp(-bonus)[:, None] * below.prod(axis=2), bonus, axis=0)
        return np.asarray(chances / chances.sum())


@dataclass(frozen=True, slots=True)
class Sphere:
    """Runs a low-rank mechanism up to its noisy coordinates."""

    mechanism: GroupSeries | ParticipantSeries
    people: int = 20

    @property
    def plan(self) -> GroupPlan | ParticipantPlan:
        """The mechanism's plan."""
        if isinstance(self.mechanism, GroupSeries):
            return self.mechanism.plan(self.people)
        return self.mechanism.plan()

    def run(self, data: FloatArray, noise: NoiseSource, trials: int) -> FloatArray:
        """Return noisy coordinates, one release a row."""
        mechanism = self.mechanism
        if isinstance(mechanism, GroupSeries):
            return mechanism.measure(data[None], self.people, noise, trials)
        return mechanism.measure(np.broadcast_to(data, (trials, *data.shape)), noise, mechanism.plan())

    def log_ratio(self, outputs: FloatArray, first: FloatArray, second: FloatArray) -> FloatArray:
        """Return the log ratio of the two densities."""
        here, there = self._vector(first), self._vector(second)
        noise = self.plan.noise
        if noise.is_radial:
            away = np.linalg.norm(outputs - there, axis=1) - np.linalg.norm(outputs - here, axis=1)
            return np.asarray(away / noise.scale)
        return np.asarray((outputs - (here + there) / 2) @ (here - there) / noise.scale**2)

    def _vector(self, data: FloatArray) -> FloatArray:
        if isinstance(self.mechanism, GroupSeries):
            whole = self.mechanism.integers(data[None], self.mechanism.plan(self.people))
            return np.asarray(whole[0], dtype=np.float64)
        return np.asarray(self.mechanism.coordinates(data[None], self.mechanism.plan())[0])


def feature_pairs(changed: int | None = None, features: int = 1, steps: int = STEPS) -> tuple[Pair, ...]:
    """Return series that differ from end to end of their ranges, over all steps or a stretch of this many."""
    low, high = np.zeros(features), np.ones(features)
    starts = [0] if changed is None else [0, max(0, min(CHUNK - changed // 2, steps - changed))]
    return tuple(pair for start in starts for pair in series_pairs(low, high, steps, changed=changed, start=start))


def _chunked(name: str, epsilon: float, delta: float, stretch: int, **options: Any) -> Subject:
    mechanism = SERIES_MECHANISMS[name](epsilon=epsilon, delta=delta, steps=STEPS, stretch=stretch or None, **options)
    if not isinstance(mechanism, ChunkedSeries):
        raise TypeError(name)
    runner = Coordinates(mechanism)
    return Subject(runner.run, mechanism.guarantee, feature_pairs(stretch or None), runner.log_ratio)


@auditable("features-lpa")
def lpa(epsilon: float = 1.0, delta: float = 0.0, stretch: int = 0) -> Subject:
    """Noise on every step of a feature series."""
    return _chunked("lpa", epsilon, delta, stretch)


@auditable("features-fpa")
def fpa(epsilon: float = 1.0, delta: float = 0.0, stretch: int = 0, kept: int = 3) -> Subject:
    """Noise on the slow part of a feature series."""
    return _chunked("fpa", epsilon, delta, stretch, kept=kept)


@auditable("features-c-fpa")
def c_fpa(epsilon: float = 1.0, delta: float = 0.0, stretch: int = 0, kept: int = 2) -> Subject:
    """Noise on the slow part of every chunk of a feature series."""
    return _chunked("c-fpa", epsilon, delta, stretch, kept=kept, chunk=CHUNK)


@auditable("features-dc-fpa")
def dc_fpa(epsilon: float = 1.0, delta: float = 0.0, stretch: int = 0, kept: int = 5) -> Subject:
    """Noise on the slow part of the differences in every chunk, the first element among them."""
    return _chunked("dc-fpa", epsilon, delta, stretch, kept=kept, chunk=CHUNK)


def _chosen(name: str, epsilon: float, stretch: int) -> Subject:
    mechanism = SERIES_MECHANISMS[name](epsilon=epsilon, steps=STEPS, stretch=stretch or None)
    if not isinstance(mechanism, EnhancedFourierPerturbation):
        raise TypeError(name)
    runner = Chosen(mechanism)
    return Subject(runner.run, mechanism.guarantee, feature_pairs(stretch or None), runner.log_ratio)


@auditable("features-efpa")
def efpa(epsilon: float = 1.0, stretch: int = 0) -> Subject:
    """The slow part of a feature series, how much of it chosen privately."""
    return _chosen("efpa", epsilon, stretch)


@auditable("features-spa")
def spa(epsilon: float = 1.0, stretch: int = 0) -> Subject:
    """The slow part of a feature series under radial noise, how much of it chosen privately."""
    return _chosen("spa", epsilon, stretch)


@dataclass(frozen=True, slots=True)
class Lengths:
    """How long series were, with noise; every trial is a series of its own."""

    steps: int
    epsilon: float

    def run(self, data: int, noise: NoiseSource, trials: int) -> NDArray[np.int64]:
        """Return noisy lengths."""
        return np.array(noisy_lengths([data] * trials, self.steps, self.epsilon, noise))[:, None]


@auditable("features-lengths")
def lengths(epsilon: float = 1.0) -> Subject:
    """How long a series was, from nothing to the public length."""
    pair = Pair(0, STEPS, "a series of no step, or of the public length")
    return Subject(Lengths(STEPS, epsilon).run, PureDP(epsilon), (pair,))


@auditable("features-exponential")
def exponential(epsilon: float = 1.0, stretch: int = 0, levels: int = 2) -> Subject:
    """One of few levels for every tenth value."""
    kind: Any = SERIES_MECHANISMS["exponential"]
    mechanism = kind(epsilon=epsilon, steps=STEPS, stretch=stretch or None, levels=levels)
    return Subject(Series(mechanism).run, mechanism.guarantee, feature_pairs(stretch or None))


@auditable("features-group")
def group(epsilon: float = 1.0, delta: float = 1e-3, people: int = 20) -> Subject:
    """The mean series of a group through few public directions."""
    mechanism = GroupSeries(epsilon=epsilon, delta=delta, design=toy_design())
    runner = Sphere(mechanism, people)
    return Subject(runner.run, mechanism.guarantee(people), opposite_pairs(mechanism.design, None, 0), runner.log_ratio)


@auditable("features-own")
def own(epsilon: float = 1.0, delta: float = 1e-3, stretch: int = 0) -> Subject:
    """A participant's own series through few public directions."""
    mechanism = ParticipantSeries(epsilon=epsilon, delta=delta, design=toy_design(), stretch=stretch or None)
    runner = Sphere(mechanism)
    pairs = opposite_pairs(mechanism.design, mechanism.stretch, mechanism.plan().shapes)
    return Subject(runner.run, mechanism.guarantee, pairs, runner.log_ratio)


@lru_cache(maxsize=1)
def toy_design() -> Design:
    """Return a design of two features over few steps, from waves instead of participants."""
    t = np.arange(STEPS) / STEPS
    ranges = Ranges.of({name: Range(0.0, 1.0, "made up for the auditor") for name in ("first", "second")})
    tasks = []
    for task in range(3):
        people = [
            0.5 + 0.1 * np.stack([np.cos(math.pi * t + person + task), np.sin(person + 2 * task) + 0 * t], axis=1)
            for person in range(12)
        ]
        tasks.append(np.array(people))
    return learn(tasks, ranges, "waves")


def opposite_pairs(design: Design, stretch: int | None, shapes: int) -> tuple[Pair, ...]:
    """Return series on opposite sides of the ball that they are clipped to: along directions of the design.

    Series from one end of the ranges to the other are no worse: they may lie across the directions that are released.
    """
    if stretch is None:
        shape, component = design.directions
        waves = [
            (design.time[k], int(p), f"direction {j + 1}")
            for j, (k, p) in enumerate(zip(shape, component, strict=True))
        ][:3]
    else:
        waves = [
            (_worst_wave(design.time[:shapes], start, stretch), 0, f"steps {start + 1} to {start + stretch}")
            for start in sorted({0, (design.steps - stretch) // 2, design.steps - stretch})
        ]
    pairs = []
    for wave, column, words in waves:
        change = np.outer(wave, design.components[:, column])
        change *= np.min(np.minimum(design.mean, 1 - design.mean)) / np.abs(change).max()
        pairs.append(Pair(design.mean - change, design.mean + change, f"opposite series along {words}"))
    return tuple(pairs)


def _worst_wave(time: FloatArray, start: int, stretch: int) -> FloatArray:
    """Return the changes of ±1 within a stretch, and none outside, that the shapes over time see best."""
    inside = slice(start, start + stretch)
    worst = np.linalg.svd(time[:, inside])[2][0]
    wave = np.zeros(time.shape[1])
    wave[inside] = np.where(worst >= 0, 1.0, -1.0)
    return wave
