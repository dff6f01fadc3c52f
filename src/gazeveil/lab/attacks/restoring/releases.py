# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Which samples a mechanism gave away, how noisy, and when.

What an app that knows the policy works out from the output.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gazeveil.arrays import FloatArray
from gazeveil.samples.mechanism import SampleMechanism
from gazeveil.samples.mechanisms.eye_and_head import EyeAndHead
from gazeveil.samples.mechanisms.gaussian import GaussianNoise
from gazeveil.samples.mechanisms.held_ticks import HeldTicks
from gazeveil.samples.mechanisms.sparse_vector import SparseVector
from gazeveil.samples.mechanisms.temporal import TemporalHold
from gazeveil.samples.stream import StreamMechanism, _numbers, new_clock
from gazeveil.samples.window_budget import books_for

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
    if isinstance(mechanism, EyeAndHead):
        mechanism = mechanism.eyes
    if isinstance(mechanism, StreamMechanism):
        return mechanism.delay == 0
    return isinstance(mechanism, GaussianNoise | HeldTicks | TemporalHold)


def releases_of(mechanism: SampleMechanism, t: FloatArray, x: FloatArray, y: FloatArray) -> Releases:
    """Return what a mechanism gave away, from all that it showed from its first sample on."""
    if isinstance(mechanism, EyeAndHead):
        mechanism = mechanism.eyes
    if isinstance(mechanism, StreamMechanism):
        return _of_stream(mechanism, t, x, y)
    if isinstance(mechanism, HeldTicks):
        across, down = mechanism.space.centre
        new = (np.diff(x, prepend=across) != 0) | (np.diff(y, prepend=down) != 0)
        per_axis = 4.0 if mechanism.of_directions else 3.0
        return _chosen(np.flatnonzero(new), x, y, per_axis * float(mechanism.scale) ** 2)
    if isinstance(mechanism, TemporalHold):
        return _chosen(np.arange(0, len(t), mechanism.keep_every), x, y, EXACT)
    sigma = mechanism.own_sigma if isinstance(mechanism, GaussianNoise) else 0.0
    return _chosen(np.arange(len(t)), x, y, sigma * sigma)


def _chosen(at: NDArray[np.int64], x: FloatArray, y: FloatArray, variance: float) -> Releases:
    return Releases(at, x[at], y[at], np.full(len(at), variance))


def _of_stream(mechanism: StreamMechanism, t: FloatArray, x: FloatArray, y: FloatArray) -> Releases:
    from gazeveil.lab.attacks.restoring import _release_kernels as kernels  # noqa: PLC0415  (numba loads on use)
    from gazeveil.samples import stream_kernels as gaze  # noqa: PLC0415

    plan = mechanism.plan()
    rule = kernels.TESTED if len(plan.own) > 2 else kernels.CLOCK
    if isinstance(mechanism, SparseVector):
        rule = kernels.SPARSE
    numbers = _numbers(mechanism, plan)
    belief = np.zeros(gaze.BELIEF_WIDTH)
    gaze.forget(belief, numbers)
    which, points = np.zeros(len(t), np.int64), np.zeros((len(t), 3))
    found = kernels.recovered(
        rule,
        plan.epoch_loss,
        new_clock(),
        books_for(plan.releases, plan.spacing_us or plan.period_us),
        belief,
        np.full((1, gaze.TICK_WIDTH), -1.0),
        numbers,
        *(np.array(values, order="C") for values in (t, x, y)),  # for read-only ones it would be compiled again
        which,
        points,
    )
    return Releases(which[:found], points[:found, 0], points[:found, 1], points[:found, 2])
