# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Audits of private streams: windows of gaze that are moved, on regular and irregular clocks.

Streams run without the filter, so that the auditor sees every released point, on a screen so large that none is
clamped. Where the ratio of densities is known, events are made of it: nothing is sharper.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from gazeveil.arrays import FloatArray
from gazeveil.errors import InternalError
from gazeveil.gaze.recording import Recording
from gazeveil.geometry import screen
from gazeveil.noise import NoiseSource, planar_laplace
from gazeveil.privacy.audit.events import Outputs
from gazeveil.privacy.audit.subject import Pair, Subject, auditable, still_gaze, window_pairs
from gazeveil.privacy.guarantee import GazeStreamDP
from gazeveil.samples.mechanism import MECHANISMS, SampleMechanism
from gazeveil.samples.mechanisms.clock import Clock
from gazeveil.samples.space import Screen
from gazeveil.samples.stream import StreamMechanism
from gazeveil.samples.window_budget import LOSS_UNIT

_SIDE = 32768
PLANE = Screen(float(_SIDE), float(_SIDE))
RATE = 10.0
"""As many samples as there are tests; bursts have ten times as many."""
_BLURS = 48
_TEST_UNIT = LOSS_UNIT + (LOSS_UNIT >> 10)


@dataclass(frozen=True, slots=True, eq=False)
class Gaze:
    """A stream of gaze, which of its samples the auditor looks at, and how many numbers an output has."""

    t: FloatArray
    x: FloatArray
    y: FloatArray
    seen: NDArray[np.int64]
    width: int

    @property
    def axes(self) -> tuple[FloatArray, ...]:
        """Gaze, one list a coordinate."""
        return self.x, self.y

    def points(self) -> FloatArray:
        """Return gaze at the samples that are looked at; NaN where it is missing."""
        return np.column_stack((self.x[self.seen], self.y[self.seen]))


@dataclass(frozen=True, slots=True)
class Stream:
    """A mechanism, started anew for every trial."""

    mechanism: StreamMechanism

    def run(self, data: Gaze, noise: NoiseSource, trials: int) -> Outputs:
        """Return what is shown at the samples that are looked at, x and y by turns.

        Trials take samples one by one and all at once by turns: a live app gets the former, a file the latter.
        """
        from gazeveil.samples.stream_kernels import WORD  # noqa: PLC0415  (numba loads on use)

        veil = self.mechanism.start(noise)
        state = (veil._clock, veil._budget, veil._tests, veil._belief, veil._past)
        fresh = [part.copy() for part in state]
        rows = np.zeros((trials, data.width))
        last = 2 * len(data.seen)
        samples = list(zip(data.t.tolist(), data.x.tolist(), data.y.tolist(), strict=True))
        for trial, row in enumerate(rows):
            word = veil._clock[WORD]
            for part, start in zip(state, fresh, strict=True):
                part[:] = start
            veil._clock[WORD] = word
            if trial % 2:
                shown_x, shown_y = veil.run(data.t, data.x, data.y)
            else:
                shown_x, shown_y = np.array([veil.step(*sample) for sample in samples]).T
            row[:last:2], row[1:last:2] = shown_x[data.seen], shown_y[data.seen]
        return rows


@dataclass(frozen=True, slots=True)
class ClockTicks(Stream):
    """The clock: every output is a released point."""

    def log_ratio(self, outputs: Outputs, first: Gaze, second: Gaze) -> FloatArray:
        """Return the log ratio of the two densities."""
        per_px = self.mechanism.plan().loss / LOSS_UNIT
        return _apart(outputs, second) * per_px - _apart(outputs, first) * per_px


@dataclass(frozen=True, slots=True)
class Tested(Stream):
    """Kaleido, BD and BA, within one window: the densities of every test and every release, multiplied up.

    Up to the first release that has less than a sixteenth of the budget: the noise of later ones leaves any screen.
    """

    def log_ratio(self, outputs: Outputs, first: Gaze, second: Gaze) -> FloatArray:
        """Return the log ratio of the two densities."""
        return self._log_density(outputs, first) - self._log_density(outputs, second)

    def _log_density(self, outputs: Outputs, data: Gaze) -> FloatArray:
        plan = self.mechanism.plan()
        kind, test_loss, threshold, noises, least, share, most, _ = (*plan.own, *[0.0] * 8)[:8]
        rows = np.arange(len(outputs))
        left, shares, locked = np.full(len(rows), float(plan.releases.cap)), np.zeros(len(rows)), np.zeros(len(rows))
        total = np.zeros(len(rows))
        for slot, there in enumerate(data.points()):
            here = outputs[:, 2 * slot : 2 * slot + 2]
            # a sample without gaze stands for the latest output
            gaze = outputs[:, 2 * slot - 2 : 2 * slot] if np.isnan(there).any() else there
            loss = np.minimum(left, share * np.minimum(shares + 1, most)) if kind == 1 else np.floor(left / 2)
            free = (locked == 0) & (loss >= max(least, plan.releases.cap / 16))
            if slot:
                before = outputs[:, 2 * slot - 2 : 2 * slot]
                published = free & np.any(here != before, axis=1)
                limit = threshold + noises * 2.0 * LOSS_UNIT / np.maximum(loss, 1.0)
                beyond = (np.linalg.norm(gaze - before, axis=1) - limit) * test_loss / _TEST_UNIT
                total += np.where(free, np.where(published, _log_laplace(beyond), _log_laplace(-beyond)), 0.0)
            else:
                published = free
            total -= np.where(published, np.linalg.norm(here - gaze, axis=1) * loss / LOSS_UNIT, 0.0)
            left -= np.where(published, loss, 0.0)
            shares = np.where(published, 0.0, shares + (locked == 0))
            locked = np.where(published & (kind == 1), np.ceil(loss / max(share, 1.0)) - 1, np.maximum(locked - 1, 0))
        return total


@dataclass(frozen=True, slots=True)
class Sparse(Stream):
    """The sparse vector technique, within one window: releases, and tests under a threshold that is blurred once.

    The blur is averaged over a few dozen of its quantiles, so the ratio is nearly that of the densities.
    """

    def log_ratio(self, outputs: Outputs, first: Gaze, second: Gaze) -> FloatArray:
        """Return nearly the log ratio of the two densities."""
        return self._log_density(outputs, first) - self._log_density(outputs, second)

    def _log_density(self, outputs: Outputs, data: Gaze) -> FloatArray:
        plan = self.mechanism.plan()
        tests, threshold = plan.own[:2]
        unit = _TEST_UNIT / tests
        shares = (np.arange(_BLURS) + 0.5) / _BLURS
        blurs = -2 * unit * np.sign(shares - 0.5) * np.log(1 - 2 * np.abs(shares - 0.5))
        total, left = np.zeros(len(outputs)), np.full(len(outputs), float(plan.releases.cap))
        epoch = np.zeros((len(outputs), _BLURS))
        for slot, gaze in enumerate(data.points()):
            here = outputs[:, 2 * slot : 2 * slot + 2]
            free = left >= tests + plan.loss
            published = free
            if slot:
                before = outputs[:, 2 * slot - 2 : 2 * slot]
                published = free & np.any(here != before, axis=1)
                far = np.linalg.norm(gaze - before, axis=1) - threshold
                beyond = (far[:, None] - blurs) / (4 * unit)
                chance = np.where(published[:, None], _log_laplace(beyond), _log_laplace(-beyond))
                epoch += np.where(free[:, None], chance, 0.0)
                total += np.where(published, _log_mean(epoch), 0.0)
                epoch[published] = 0.0
            total -= np.where(published, np.linalg.norm(here - gaze, axis=1) * plan.loss / LOSS_UNIT, 0.0)
            left -= np.where(published, tests + plan.loss, 0.0)
        return total + _log_mean(epoch)


@dataclass(frozen=True, slots=True)
class BySamples:
    """A clock that ticks every this many samples instead of seconds: right at the nominal rate, wrong in a burst."""

    per_px: Fraction
    every: int

    def run(self, data: Gaze, noise: NoiseSource, trials: int) -> Outputs:
        """Return the noisy points of the first window."""
        x, y = data.x[:: self.every], data.y[:: self.every]
        rows = np.zeros((trials, data.width))
        noisy = planar_laplace(noise, np.tile(x, trials), np.tile(y, trials), self.per_px)
        rows[:, : 2 * len(x)] = np.stack(noisy, axis=-1).reshape(trials, -1)
        return rows

    def log_ratio(self, outputs: Outputs, first: Gaze, second: Gaze) -> FloatArray:
        """Return the log ratio of the two densities."""
        return (_apart(outputs, second) - _apart(outputs, first)) * float(self.per_px)


@auditable("clock")
def clock(epsilon: float = 1.0, window: float = 0.5, radius: float = 60.0, ticks: int = 2) -> Subject:
    """Noisy points on a public clock, over windows of gaze that are moved."""
    stream = ClockTicks(made("clock", epsilon, window, radius, ticks=ticks))
    pairs = padded([*pairs_of(stream.mechanism), *pairs_with_a_gap(stream.mechanism)])
    return Subject(stream.run, stream.mechanism.guarantee, pairs, stream.log_ratio)


@auditable("kaleido")
def kaleido(epsilon: float = 1.0, window: float = 0.5, radius: float = 60.0, test_share: float = 0.05) -> Subject:
    """Kaleido with its noise, tests and windows corrected."""
    options = {"test_share": test_share, "t_skip": "0.1", "l_thresh": 0.01, "floor": "0.02"}
    return _tested(made("kaleido", epsilon, window, radius, **options))


@auditable("distribution")
def distribution(epsilon: float = 1.0, window: float = 0.5, radius: float = 60.0, test_share: float = 0.05) -> Subject:
    """Budget distribution for gaze."""
    return _tested(made("distribution", epsilon, window, radius, test_share=test_share, t_skip="0.1", floor="0.02"))


@auditable("absorption")
def absorption(epsilon: float = 1.0, window: float = 0.5, radius: float = 60.0, test_share: float = 0.05) -> Subject:
    """Budget absorption for gaze, over windows that skipped releases come before."""
    skip = str(window / 2)
    mechanism = made("absorption", epsilon, window, radius, test_share=test_share, t_skip=skip)
    return _tested(mechanism, after=window)


@auditable("sparse-vector")
def sparse_vector(epsilon: float = 1.0, window: float = 0.5, radius: float = 60.0, test_share: float = 0.1) -> Subject:
    """The sparse vector technique for gaze."""
    options = {"test_share": test_share, "t_skip": "0.1", "l_thresh": 0.01, "releases": 2}
    stream = Sparse(made("sparse-vector", epsilon, window, radius, **options))
    return Subject(stream.run, stream.mechanism.guarantee, pairs_of(stream.mechanism), stream.log_ratio)


@auditable("clock-by-samples")
def clock_by_samples(epsilon: float = 1.0, window: float = 0.5, radius: float = 60.0, ticks: int = 2) -> Subject:
    """Broken: a clock that counts samples instead of seconds, and overspends in a burst (K3)."""
    stream = BySamples(Fraction(epsilon) / Fraction(radius) / ticks, round(window * RATE / ticks) + 1)
    recording = still_gaze(screen(_SIDE, _SIDE), window, RATE, places=1)
    pairs = [
        _pair(pair, lambda there: np.arange(0, len(there.t), stream.every))
        for pair in window_pairs(recording, 0.0, window, radius)
        if pair.words.startswith("a step")
    ]
    return Subject(stream.run, GazeStreamDP(epsilon, window, radius), padded(pairs), stream.log_ratio)


def made(name: str, epsilon: float, window: float, radius: float, **options: Any) -> StreamMechanism:
    """Return a private stream without a filter, on a viewing plane so large that nothing is clamped.

    Raises:
        InternalError: If the mechanism is no private stream.
    """
    kind: Any = MECHANISMS[name]
    mechanism = kind(PLANE, epsilon=epsilon, window=window, radius=radius, filter=False, **options)
    if not isinstance(mechanism, StreamMechanism):
        raise InternalError(f"{name} is no private stream")
    return mechanism


def _tested(mechanism: StreamMechanism, after: float = 0.0) -> Subject:
    stream = Tested(mechanism)
    pairs = padded([*pairs_of(mechanism, after=after), *pairs_with_a_gap(mechanism, after=False)])
    return Subject(stream.run, mechanism.guarantee, pairs, stream.log_ratio)


def pairs_of(mechanism: StreamMechanism, seconds: float = 0.0, after: float = 0.0) -> tuple[Pair, ...]:
    """Return streams as long as a window or shorter, moved by a step or a drift, on every clock."""
    seconds, radius = seconds or float(mechanism.window), float(mechanism.radius)
    moves = ("a step", "a slow drift")
    still = still_gaze(screen(_SIDE, _SIDE), after + seconds + 1 / RATE, RATE, places=1)  # both ends of the window
    found = window_pairs(still, after, seconds, radius)
    return padded([_pair(pair, _slots(mechanism)) for pair in found if pair.words.startswith(moves)])


def pairs_with_a_gap(mechanism: StreamMechanism, *, after: bool = True) -> list[Pair]:
    """Return windows that are moved by a step, with gaze that is lost within them, or when they are over and for good.

    Whoever held the last gaze that was seen would give it away anew in every window after.
    """
    seconds, radius = float(mechanism.window), float(mechanism.radius)
    lengths = {"gaze lost within it": seconds} | ({"gaze lost after it": 3.0 * seconds} if after else {})
    pairs = []
    for words, length in lengths.items():
        gaze = still_gaze(screen(_SIDE, _SIDE), length, RATE, places=1)
        for pair in window_pairs(gaze, 0.0, seconds, radius):
            if pair.words.startswith("a step"):
                made = _pair(pair, _slots(mechanism))
                lost = made.first.t >= seconds if length > seconds else abs(made.first.t - seconds / 2) <= seconds / 4
                sides = [
                    replace(side, x=np.where(lost, np.nan, side.x), y=np.where(lost, np.nan, side.y))
                    for side in (made.first, made.second)
                ]
                pairs.append(Pair(sides[0], sides[1], f"{pair.words}, {words}"))
    return pairs


def _slots(mechanism: StreamMechanism) -> Callable[[Recording], NDArray[np.int64]]:
    """Return what finds the samples at which a mechanism may release something: they follow from the clock alone."""
    plan = mechanism.plan()
    most = plan.releases.cap // plan.loss if isinstance(mechanism, Clock) else math.inf

    def slots(there: Recording) -> NDArray[np.int64]:
        times = np.rint(there.t * 1e6).astype(np.int64)
        chosen = [0]
        for i in range(1, len(times)):
            within = [j for j in chosen if times[i] - times[j] <= plan.releases.window_us]
            if times[i] - times[chosen[-1]] >= plan.period_us and len(within) < most:
                chosen.append(i)
        return np.array(chosen)

    return slots


def _pair(pair: Pair, slots: Any) -> Pair:
    seen = slots(pair.first)
    sides = [Gaze(there.t, there.x, there.y, seen, 2 * len(seen)) for there in (pair.first, pair.second)]
    return Pair(sides[0], sides[1], pair.words)


def releases_of(mechanism: SampleMechanism, gaze: Gaze) -> NDArray[np.int64]:
    """Return the samples at which a mechanism without a filter releases a point; that is public."""
    shown = np.stack(mechanism.start(NoiseSource.seeded(1)).run(gaze.t, gaze.x, gaze.y))
    return np.flatnonzero(np.any(np.diff(shown, axis=1, prepend=np.nan) != 0, axis=0))


def seen_at(pair: Pair, seen: NDArray[np.int64]) -> Pair:
    """Return a pair of which other samples are looked at."""
    sides = [replace(side, seen=seen, width=2 * len(seen)) for side in (pair.first, pair.second)]
    return Pair(sides[0], sides[1], pair.words)


def padded(pairs: list[Pair]) -> tuple[Pair, ...]:
    """Give the outputs of all pairs one width."""
    width = max(pair.first.width for pair in pairs)

    return tuple(
        Pair(replace(pair.first, width=width), replace(pair.second, width=width), pair.words) for pair in pairs
    )


def _apart(outputs: Outputs, data: Gaze) -> FloatArray:
    """Return how far the outputs are from gaze, added up over the samples that are looked at and have gaze.

    Where there is none, the noise is added to what was released before, which is the same for both of a pair.
    """
    points = outputs[:, : 2 * len(data.seen)].reshape(len(outputs), -1, 2)
    return np.asarray(np.nansum(np.linalg.norm(points - data.points(), axis=2), axis=1))


def _log_mean(logs: FloatArray) -> FloatArray:
    """Return the logarithm of the mean of each row's exponentials."""
    most = logs.max(axis=1)
    return np.asarray(most + np.log(np.exp(logs - most[:, None]).mean(axis=1)))


def _log_laplace(z: FloatArray) -> FloatArray:
    """Return the logarithm of the chance that standard Laplace noise is below z."""
    return np.where(z < 0, z - math.log(2.0), np.log1p(-0.5 * np.exp(-np.abs(z))))


# --- Many trials in one stream, so far apart that no window meets two of them.


class Watched(Protocol):
    """Gaze, and which of its samples the auditor looks at."""

    @property
    def t(self) -> FloatArray:
        """When samples are taken."""
        ...

    @property
    def axes(self) -> tuple[FloatArray, ...]:
        """Gaze, one list a coordinate."""
        ...

    @property
    def seen(self) -> NDArray[Any]:
        """The samples that are looked at."""
        ...

    @property
    def width(self) -> int:
        """How many numbers an output has; those without a sample are 0."""
        ...


@dataclass(frozen=True, slots=True)
class OneStream:
    """A mechanism on one long stream. Half of the trials are stepped through, as a live app does; the rest is a file.

    Attributes:
        mechanism: What is audited.
        apart: How many seconds after one trial the next begins; longer than any window and turn, and a trial.
    """

    mechanism: SampleMechanism
    apart: float

    def run(self, data: Watched, noise: NoiseSource, trials: int) -> Outputs:
        """Return what is shown at the samples that are looked at, coordinates by turns."""
        veil = self.mechanism.start(noise)
        names = {2: ("step", "run"), 3: ("step3", "run3"), 4: ("step_both", "run_both")}[len(data.axes)]
        step, run = (getattr(veil, name) for name in names)
        t = (np.arange(trials)[:, None] * self.apart + data.t).ravel()
        gaze = [np.tile(axis, trials) for axis in data.axes]
        live = (trials + 1) // 2 * len(data.t)
        columns: list[Any] = [t, *gaze]
        shown = np.array([step(*now) for now in zip(*(column[:live].tolist() for column in columns), strict=True)])
        if live < len(t):
            shown = np.vstack([shown, np.column_stack(run(*(column[live:] for column in columns)))])
        looked_at = shown.reshape(trials, len(data.t), -1)[:, data.seen].reshape(trials, -1)
        rows = np.zeros((trials, data.width))
        rows[:, : looked_at.shape[1]] = looked_at
        return rows
