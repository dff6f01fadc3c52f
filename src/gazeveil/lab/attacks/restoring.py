# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What threats share that guess the gaze before a mechanism: gaps, filters undone, released samples, how eyes move.

A guess has as many samples as what was veiled, at the same times, and is missing where that is missing.

What an app that knows the policy works out from the output.

This is public knowledge, the same for everyone. It is sharper than a Gaussian process: between two saccades gaze stays
where it is, so all that is seen there is about one place.

They need no grant but the mechanism.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gazeveil.arrays import BoolArray, FloatArray
from gazeveil.errors import InternalError, OptionError
from gazeveil.lab.attacks.contract import Attack, Exemplar, Knowledge, Prepared, Trial
from gazeveil.lab.attacks.trials import simulated_trials
from gazeveil.noise import NoiseSource
from gazeveil.samples.mechanism import MECHANISMS, SampleMechanism
from gazeveil.samples.space import FULL_TURN
from gazeveil.samples.stream import StreamMechanism, new_clock, plan_numbers
from gazeveil.samples.window_budget import budget_for
from gazeveil.simulate import TRACKERS, SimulatedStudy

Gaze = tuple[FloatArray, FloatArray]

LEAST_SAMPLES: Final = 8
"""A trial with less gaze than this is left as it is: there is nothing to average or to learn from."""


@dataclass(frozen=True, slots=True, eq=False)
class Restoration(Prepared):
    """An attack that turns a veiled trial into a guess of the gaze before the mechanism.

    Attributes:
        guess: Gets a trial without name and without gaps, angles unwound; returns gaze of the same length.
    """

    guess: Callable[[Trial], Gaze]

    def query(self, veiled: Trial) -> Trial:
        """Return the guess, without a name."""
        seen = veiled.anonymous()
        there = np.isfinite(seen.x) & np.isfinite(seen.y)
        if np.count_nonzero(there) < LEAST_SAMPLES:
            return seen.with_gaze(seen.x, seen.y)
        x, y = self.guess(seen.with_gaze(unwound(seen.x, there), without_gaps(seen.y, there)))
        if len(x) != len(seen.t) or len(y) != len(seen.t):
            raise InternalError("an attack gave another number of samples than it got")
        return seen.with_gaze(np.where(there, around(x), np.nan), np.where(there, y, np.nan))


def without_gaps(values: FloatArray, there: BoolArray) -> FloatArray:
    """Return values with straight lines across gaps; before the first and after the last they stay."""
    at = np.flatnonzero(there)
    return np.interp(np.arange(len(values)), at, values[at])


def unwound(yaw: FloatArray, there: BoolArray) -> FloatArray:
    """Return yaw without gaps and without jumps of a whole turn."""
    at = np.flatnonzero(there)
    return np.interp(np.arange(len(yaw)), at, np.unwrap(yaw[at], period=FULL_TURN))


def around(yaw: FloatArray) -> FloatArray:
    """Return yaw within ±180 degrees; what lies there already stays as it is, to the last bit."""
    turns = np.floor(yaw / FULL_TURN + 0.5)
    return np.where(turns == 0, yaw, yaw - FULL_TURN * turns)


def in_degrees(mechanism: SampleMechanism | None) -> SampleMechanism:
    """Return the mechanism, if it works on what trials hold: two coordinates in degrees.

    Raises:
        OptionError: If it does not.
    """
    if mechanism is None:
        raise InternalError("an attack that is granted the mechanism got none")
    if mechanism.space.unit != "deg" or mechanism.space.axes != 2:
        raise OptionError(
            f"trials are in degrees, but {mechanism.name} works in {mechanism.space.unit}",
            hint="make the mechanism for a Sphere, for example Sphere(100, 80)",
        )
    return mechanism


def veiled_by(mechanism: SampleMechanism, trial: Trial, noise: NoiseSource) -> Trial:
    """Return a trial as the mechanism lets it out."""
    x, y = mechanism.start(noise).run(trial.t, trial.x, trial.y)
    return trial.with_gaze(x, y)


def fitting(attack: Attack, knowledge: Knowledge) -> SampleMechanism:
    """Return the mechanism that an attack was granted, if the attack has something to do against it.

    Raises:
        OptionError: If it has nothing to do, or the mechanism veils something else than trials hold.
    """
    mechanism = in_degrees(knowledge.mechanism)
    if not attack.fits(mechanism):
        raise OptionError(
            f"{attack.name} has nothing to do against {mechanism.name}", hint="ask attack.fits(mechanism) before"
        )
    return mechanism


# --- Mechanisms that are known filters, undone exactly (erratum W3); of a chain, as many of its last members as can be.


def if_named(mechanism: SampleMechanism, *names: str) -> Any:
    """Return the mechanism if it is of a kind that is registered under one of the names; None if it is of another."""
    return mechanism if isinstance(mechanism, tuple(MECHANISMS[name] for name in names)) else None


def parts(mechanism: SampleMechanism) -> tuple[SampleMechanism, ...]:
    """Return what gaze goes through one after the other, chains within chains taken apart."""
    if (chain := if_named(mechanism, "chain")) is not None:
        return tuple(part for member in chain.members for part in parts(member))
    return (mechanism,)


def can_be_undone(mechanism: SampleMechanism) -> bool:
    """Whether a mechanism by itself is a filter with an exact inverse."""
    return if_named(mechanism, "smoothing", "kalman") is not None


def undo(mechanism: SampleMechanism, t: FloatArray, x: FloatArray, y: FloatArray) -> Gaze:
    """Return the gaze that a filter was given, from what it released from its first sample on."""
    if if_named(mechanism, "smoothing"):
        return _undo_smoothing(mechanism, x), _undo_smoothing(mechanism, y)
    if if_named(mechanism, "kalman"):
        return undo_kalman(mechanism, t, x, y)
    return x, y


def _undo_smoothing(mechanism: Any, values: FloatArray) -> FloatArray:
    """Undo smoothing. Whoever came in later than the zeros that a mechanism began with would see a wild start."""
    from_the_start = undo_smoothing(values, mechanism.window, start_with=mechanism.start_with)
    if mechanism.start_with == "first":
        return from_the_start
    later = undo_smoothing(values, mechanism.window, start_with="first")
    return min((from_the_start, later), key=lambda gaze: float(np.abs(np.diff(gaze)).sum()))


def undo_smoothing(smoothed: ArrayLike, window: int, *, start_with: str = "first") -> FloatArray:
    """Return the gaze that linear smoothing was given, from what it released.

    Args:
        smoothed: One coordinate of the released stream, from its first sample on.
        window: B, as the mechanism had it.
        start_with: What the window held before the first sample: ``first`` or ``zeros``.

    Raises:
        OptionError: If the start is unknown or the window no positive number.
    """
    released = np.asarray(smoothed, dtype=np.float64)
    if start_with not in ("first", "zeros"):
        raise OptionError(f"start_with must be first or zeros, not {start_with!r}")
    if window < 1:
        raise OptionError(f"window must be at least 1, not {window}")
    before = window - 1
    gaze = np.zeros(before + len(released))
    if start_with == "first" and len(released):
        gaze[:before] = released[0]  # a window full of one point gives that point
    weights = np.arange(1.0, window)  # of the samples before the newest, oldest first
    total = window * (window + 1) / 2.0
    for n, value in enumerate(released):
        gaze[before + n] = (total * value - weights @ gaze[n : n + before]) / window
    return gaze[before:]


def undo_tail(
    mechanism: SampleMechanism, t: FloatArray, x: FloatArray, y: FloatArray
) -> tuple[tuple[SampleMechanism, ...], FloatArray, FloatArray]:
    """Undo filters from the last part backwards; return the parts that are left, and what they released.

    A rule for the edge is passed over: points that it did not move are there as they were.
    """
    left = parts(mechanism)
    while left and _comes_off(left[-1]):
        x, y = undo(left[-1], t, x, y)
        left = left[:-1]
    return left, x, y


def noisy_part(mechanism: SampleMechanism) -> SampleMechanism | None:
    """Return the last part that does not come off; None if all do."""
    return next((part for part in reversed(parts(mechanism)) if not _comes_off(part)), None)


def _comes_off(mechanism: SampleMechanism) -> bool:
    return can_be_undone(mechanism) or if_named(mechanism, "edge") is not None


def undo_kalman(mechanism: Any, t: FloatArray, x: FloatArray, y: FloatArray) -> Gaze:
    """Return the samples that a Kalman mechanism was given.

    Its gains follow from the times, so each step is a division.

    Where gaze was missing the belief stood still, to the last bit; there the belief is the best guess.
    """
    wander, error = mechanism.space.degrees(mechanism.wander) ** 2, mechanism.space.degrees(mechanism.error) ** 2
    elapsed = np.diff(np.maximum.accumulate(np.rint(t * 1e6)), prepend=np.rint(t[:1] * 1e6))
    still = (np.diff(x, prepend=np.nan) == 0) & (np.diff(y, prepend=np.nan) == 0)
    gains, doubt = np.ones(len(t)), error
    for n, (gap, stays) in enumerate(zip(elapsed[1:].tolist(), still[1:].tolist(), strict=True), start=1):
        doubt += wander * 1e-6 * gap
        if not stays:
            gains[n] = doubt / (doubt + error)
            doubt *= 1.0 - gains[n]
    return _before(x, gains), _before(y, gains)


def _before(beliefs: FloatArray, gains: FloatArray) -> FloatArray:
    news = np.diff(beliefs, prepend=beliefs[:1])
    given: FloatArray = beliefs - news + news / gains
    return given


# --- Which samples a mechanism gave away, how noisy, and when.


EXACT = 1e-6
"""The variance of a point that is true gaze, in square degrees: not zero, so that smoothing stays stable."""


@dataclass(frozen=True, slots=True, eq=False)
class Releases:
    """Noisy points: at which samples, where, and the variance of each one's noise along an axis, in square degrees."""

    at: NDArray[np.int64]
    x: FloatArray
    y: FloatArray
    variance: FloatArray


def gives_releases(mechanism: SampleMechanism) -> bool:
    """Whether the noisy points of such a mechanism can be read off its output."""
    mechanism = _of_eyes(mechanism)
    if isinstance(mechanism, StreamMechanism):
        return mechanism.delay == 0
    return if_named(mechanism, "gaussian", "held-ticks", "temporal") is not None


def _of_eyes(mechanism: SampleMechanism) -> SampleMechanism:
    both = if_named(mechanism, "eye-and-head")
    return mechanism if both is None else both.eyes


def releases_of(mechanism: SampleMechanism, t: FloatArray, x: FloatArray, y: FloatArray) -> Releases:
    """Return what a mechanism gave away, from all that it showed from its first sample on."""
    mechanism = _of_eyes(mechanism)
    if isinstance(mechanism, StreamMechanism):
        return _of_stream(mechanism, t, x, y)
    if (ticks := if_named(mechanism, "held-ticks")) is not None:
        across, down = ticks.space.centre
        new = (np.diff(x, prepend=across) != 0) | (np.diff(y, prepend=down) != 0)
        per_axis = 4.0 if ticks.of_directions else 3.0
        return _chosen(np.flatnonzero(new), x, y, per_axis * float(ticks.scale) ** 2)
    if (hold := if_named(mechanism, "temporal")) is not None:
        return _chosen(np.arange(0, len(t), hold.keep_every), x, y, EXACT)
    gaussian = if_named(mechanism, "gaussian")
    sigma = 0.0 if gaussian is None else gaussian.own_sigma
    return _chosen(np.arange(len(t)), x, y, sigma * sigma)


def _chosen(at: NDArray[np.int64], x: FloatArray, y: FloatArray, variance: float) -> Releases:
    return Releases(at, x[at], y[at], np.full(len(at), variance))


def _of_stream(mechanism: StreamMechanism, t: FloatArray, x: FloatArray, y: FloatArray) -> Releases:
    from gazeveil.lab.attacks import restoring_kernels as kernels  # noqa: PLC0415  (numba loads on use)
    from gazeveil.samples import stream_kernels as gaze  # noqa: PLC0415

    plan = mechanism.plan()
    rule = kernels.TESTED if len(plan.own) > 2 else kernels.CLOCK
    if if_named(mechanism, "sparse-vector"):
        rule = kernels.SPARSE
    numbers = plan_numbers(mechanism, plan)
    belief = np.zeros(gaze.BELIEF_WIDTH)
    gaze.forget(belief, numbers)
    which, points = np.zeros(len(t), np.int64), np.zeros((len(t), 3))
    found = kernels.recovered(
        rule,
        plan.epoch_loss,
        new_clock(),
        budget_for(plan.releases, plan.spacing_us or plan.period_us),
        belief,
        np.full((1, gaze.TICK_WIDTH), -1.0),
        numbers,
        *(np.array(values, order="C") for values in (t, x, y)),  # for read-only ones it would be compiled again
        which,
        points,
    )
    return Releases(which[:found], points[:found, 0], points[:found, 1], points[:found, 2])


# --- What is known of eyes, put to use against a mechanism: they rest, drift a little, and jump.


DRIFTS: Final = (0.5, 2.0, 6.0)
"""Degrees after a second, as a random walk: eyes at rest; a tracker's slow errors; eyes that follow or make up for the
head. The likeliest for a stream is taken."""
SACCADES: Final = 2.0
"""In a second."""
SIZE_DEG: Final = 5.0
"""Mean size along an axis."""
MOST_PLACES: Final = 400
PULL_DEG: Final = 20.0
"""With every saccade gaze is drawn to its middle, as if it had been seen there with an error so large."""
_MARGIN_DEG = 3.0


@dataclass(frozen=True, slots=True, eq=False)
class AxisObservations:
    """What is seen of gaze along one axis, sample by sample; `_saccade_kernels` lists the kinds.

    Attributes:
        kind: What is seen at a sample.
        a: Its first number.
        b: Its second number.
        low: Gaze is not below this.
        high: Nor above this.
        middle: Where gaze comes back to.
        grain: How finely places are told apart, in degrees.
        soft: How blurred the ends of a stretch are, in degrees: noise of the tracker is a dither.
    """

    kind: NDArray[np.int64]
    a: FloatArray
    b: FloatArray
    low: float
    high: float
    middle: float
    grain: float
    soft: float = 0.2


def expected_path(t: FloatArray, seen: AxisObservations) -> FloatArray:
    """Return where gaze is expected to have been along one axis, given all that is seen."""
    from gazeveil.lab.attacks import restoring_kernels as kernels  # noqa: PLC0415  (numba loads on use)

    low, high = seen.low - _MARGIN_DEG, seen.high + _MARGIN_DEG
    grain = max(seen.grain, (high - low) / MOST_PLACES)
    count = int((high - low) / grain) + 2
    elapsed = np.maximum(np.diff(t, prepend=t[:1]), 0.0)
    away = (low + grain * np.arange(count) - seen.middle) / PULL_DEG
    usual = np.exp(-0.5 * away**2 * SACCADES * float(np.median(elapsed)))
    given = (seen.kind, seen.a, seen.b, seen.soft, low, grain, count, usual)
    paths = [kernels.smoothed_jumps(elapsed, *given, drift, SACCADES, SIZE_DEG) for drift in DRIFTS]
    path: FloatArray = max(paths, key=lambda found: found[1])[0]
    return path


# --- Participants whom anyone can make: simulated strangers, before and behind a mechanism.


@lru_cache(maxsize=4)
def strangers(rate_hz: float, people: int, sessions: int, seconds: float, seed: int) -> tuple[Trial, ...]:
    """Return simulated participants in a headset at this rate, a scene a session, without pupil."""
    tracker = replace(TRACKERS["headset"], rate_hz=min(max(rate_hz, 1.0), 1000.0))
    study = SimulatedStudy(people, 1, sessions, tracker=tracker, seconds=seconds, seed=seed)
    return tuple(trial.with_gaze(trial.x, trial.y) for trial in simulated_trials(study))


def veiled_strangers(
    mechanism: SampleMechanism, rate_hz: float, people: int, sessions: int, seconds: float, seed: int
) -> tuple[Exemplar, ...]:
    """Return them before and behind the mechanism, with noise of the attacker's own."""
    source = NoiseSource.seeded(seed)
    return tuple(
        Exemplar(trial, veiled_by(mechanism, trial, source.spawn(f"stranger-{number}")))
        for number, trial in enumerate(strangers(rate_hz, people, sessions, seconds, seed))
    )
