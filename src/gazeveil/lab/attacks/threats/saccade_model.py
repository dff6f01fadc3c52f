# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""White box: the mechanism's noise is known, and so is that eyes rest and jump. The strongest of our filters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

import numpy as np

from gazeveil.lab.attacks.contract import ATTACKS, Attack, Grant, Knowledge, Prepared, Trial
from gazeveil.lab.attacks.restoring import (
    AxisObservations,
    Gaze,
    Releases,
    Restoration,
    expected_path,
    fitting,
    gives_releases,
    if_named,
    noisy_part,
    releases_of,
    undo_tail,
)
from gazeveil.samples.mechanism import SampleMechanism

REACH_DEG: Final = 45.0
"""Eyes in a head do not reach farther from their middle."""
_OFFSET_DEG = 8.0  # how far that may be from the middle of the space
_TRACKER_DEG = 0.2
_FINEST, _COARSEST = 0.2, 0.5
_ROUNDER = 0.866  # (1 + r / s) exp(-r / s) has the variance of planar Laplace noise along an axis at this share of it


@ATTACKS.register("saccade-model")
@dataclass(frozen=True, slots=True, kw_only=True)
class SaccadeModel(Attack):
    """The expected gaze under a hidden Markov model of drift and saccades, with the noise of the mechanism.

    Noisy points are read off the output as the matched smoother does. Each axis is smoothed by itself. What a mechanism
    gives away by *not* releasing anything is not used.
    """

    name: ClassVar[str] = "saccade-model"
    threat_model: ClassVar[str] = "white box, fixations and saccades"
    grants: ClassVar[frozenset[Grant]] = frozenset({Grant.MECHANISM})

    def fits(self, mechanism: SampleMechanism) -> bool:
        """Whether noisy points can be read off."""
        last = noisy_part(mechanism)
        return last is not None and gives_releases(last)

    def _prepare(self, knowledge: Knowledge, seed: int) -> Prepared:
        mechanism = fitting(self, knowledge)
        return Restoration(lambda veiled: self.guess(mechanism, veiled))

    def guess(self, mechanism: SampleMechanism, veiled: Trial) -> Gaze:
        """Return where gaze is expected to have been; one unit of the mechanism's space is a degree."""
        left, x, y = undo_tail(mechanism, veiled.t, veiled.x, veiled.y)
        found = releases_of(left[-1], veiled.t, x, y)
        if len(found.at) < 2:
            return x, y
        return (
            expected_path(veiled.t, _observations(left[-1], found, len(x), 0)),
            expected_path(veiled.t, _observations(left[-1], found, len(y), 1)),
        )


def _observations(mechanism: SampleMechanism, found: Releases, count: int, axis: int) -> AxisObservations:
    from gazeveil.lab.attacks import restoring_kernels as kernels  # noqa: PLC0415  (numba loads on use)

    points = found.y if axis else found.x
    even = if_named(mechanism, "gaussian", "temporal") is not None
    kind, a, b = np.full(count, kernels.NOTHING), np.zeros(count), np.ones(count)
    wide = np.sqrt(found.variance) if even else np.sqrt(found.variance / 3.0) * _ROUNDER
    kind[found.at] = kernels.GAUSSIAN if even else kernels.LAPLACE
    a[found.at], b[found.at] = points, np.maximum(wide, _TRACKER_DEG)
    # the mean of the points, as far as their noise lets us trust it
    doubt = float(np.mean(found.variance)) / len(points)
    centre = mechanism.space.centre[axis]
    middle = centre + (float(np.mean(points)) - centre) * _OFFSET_DEG**2 / (_OFFSET_DEG**2 + doubt)
    low, high = max(float(points.min()), middle - REACH_DEG), min(float(points.max()), middle + REACH_DEG)
    grain = float(np.clip(np.median(b[found.at]) / 4.0, _FINEST, _COARSEST))
    return AxisObservations(kind, a, b, low, high, middle, grain)
