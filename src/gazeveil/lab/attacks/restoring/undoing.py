# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Mechanisms that are known filters, undone exactly (erratum W3); of a chain, as many of its last members as can be."""

from __future__ import annotations

import numpy as np

from gazeveil.arrays import FloatArray
from gazeveil.lab.attacks.restoring.shared import Gaze
from gazeveil.samples.mechanism import SampleMechanism
from gazeveil.samples.mechanisms.chain import Chain
from gazeveil.samples.mechanisms.edge import EdgeRule
from gazeveil.samples.mechanisms.kalman import KalmanSmoothing
from gazeveil.samples.mechanisms.smoothing import LinearSmoothing, undo_smoothing


def parts(mechanism: SampleMechanism) -> tuple[SampleMechanism, ...]:
    """Return what gaze goes through one after the other, chains within chains taken apart."""
    if isinstance(mechanism, Chain):
        return tuple(part for member in mechanism.members for part in parts(member))
    return (mechanism,)


def can_be_undone(mechanism: SampleMechanism) -> bool:
    """Whether a mechanism by itself is a filter with an exact inverse."""
    return isinstance(mechanism, LinearSmoothing | KalmanSmoothing)


def undo(mechanism: SampleMechanism, t: FloatArray, x: FloatArray, y: FloatArray) -> Gaze:
    """Return the gaze that a filter was given, from what it released from its first sample on."""
    if isinstance(mechanism, LinearSmoothing):
        return _undo_smoothing(mechanism, x), _undo_smoothing(mechanism, y)
    if isinstance(mechanism, KalmanSmoothing):
        return undo_kalman(mechanism, t, x, y)
    return x, y


def _undo_smoothing(mechanism: LinearSmoothing, values: FloatArray) -> FloatArray:
    """Undo smoothing. Whoever came in later than the zeros that a mechanism began with would see a wild start."""
    from_the_start = undo_smoothing(values, mechanism.window, start_with=mechanism.start_with)
    if mechanism.start_with == "first":
        return from_the_start
    later = undo_smoothing(values, mechanism.window, start_with="first")
    return min((from_the_start, later), key=lambda gaze: float(np.abs(np.diff(gaze)).sum()))


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
    return can_be_undone(mechanism) or isinstance(mechanism, EdgeRule)


def undo_kalman(mechanism: KalmanSmoothing, t: FloatArray, x: FloatArray, y: FloatArray) -> Gaze:
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
