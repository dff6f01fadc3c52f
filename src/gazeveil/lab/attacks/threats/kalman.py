# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""White box: the smoother that is matched to the mechanism's noise, offline, with all of the stream at hand.

A live mechanism filters forwards. An attacker takes that filter off, for what it was fed can be read off its output,
and smooths in both directions with a model of gaze that is fitted to the stream itself.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Final

import numpy as np

from gazeveil.arrays import FloatArray
from gazeveil.errors import OptionError
from gazeveil.lab.attacks.contract import ATTACKS, Attack, Grant, Knowledge, Prepared, Trial
from gazeveil.lab.attacks.restoring import (
    Gaze,
    Restoration,
    fitting,
    gives_releases,
    noisy_part,
    releases_of,
    undo_tail,
)
from gazeveil.samples.mechanism import SampleMechanism
from gazeveil.samples.stream import StreamMechanism

SPREADS: Final = (1.0, 2.0, 3.5, 5.0, 7.0, 10.0, 14.0, 20.0)
"""How far gaze may be from its mean, in degrees: from one object to the whole range of the eyes."""
SETTLES: Final = (0.1, 0.2, 0.35, 0.6, 1.0, 2.0)
"""After how many seconds it may have moved on."""
_LEAST_CHANCE = 1e-3
_OFFSET_DEG = 8.0  # how far the mean of a stream may be from the middle
_USUAL_DEG, _USUAL_LOG = 6.0, 0.7  # gaze usually spreads so far along an axis, give or take this logarithm


@ATTACKS.register("kalman")
@dataclass(frozen=True, slots=True, kw_only=True)
class MatchedSmoother(Attack):
    """Noisy points read off the output, then a Rauch-Tung-Striebel smoother with their known variances.

    Gaze is an Ornstein-Uhlenbeck process on each axis. Its spread and its time are weighed by how likely they make this
    very stream (Bayesian averaging over a grid), so nothing else need be known about the participant. Where the
    mechanism itself looks back, its output is put back in time; filters and rules for edges behind the mechanism are
    taken off first. What a mechanism gives away by *not* releasing anything is not used.

    Attributes:
        scale: By how much the noise is taken to be wider than it is; 1 is matched.
    """

    name: ClassVar[str] = "kalman"
    threat_model: ClassVar[str] = "white box, matched smoother"
    grants: ClassVar[frozenset[Grant]] = frozenset({Grant.MECHANISM})

    scale: float = 1.0

    def __post_init__(self) -> None:
        if not (math.isfinite(self.scale) and self.scale > 0):
            raise OptionError(f"scale must be above 0, not {self.scale!r}")

    def fits(self, mechanism: SampleMechanism) -> bool:
        """Whether noisy points can be read off, or the mechanism looks back."""
        last = noisy_part(mechanism)
        return last is not None and (gives_releases(last) or isinstance(last, StreamMechanism))

    def _prepare(self, knowledge: Knowledge, seed: int) -> Prepared:
        mechanism = fitting(self, knowledge)
        return Restoration(lambda veiled: self._guess(mechanism, veiled))

    def _guess(self, mechanism: SampleMechanism, veiled: Trial) -> Gaze:
        left, x, y = undo_tail(mechanism, veiled.t, veiled.x, veiled.y)
        last = left[-1]
        if not gives_releases(last):
            then = veiled.t + last.delay
            return np.interp(then, veiled.t, x), np.interp(then, veiled.t, y)
        found = releases_of(last, veiled.t, x, y)
        if len(found.at) < 2:
            return x, y
        variance, middle = found.variance * self.scale**2, last.space.centre
        return (
            likeliest_path(veiled.t, found.at, found.x - middle[0], variance) + middle[0],
            likeliest_path(veiled.t, found.at, found.y - middle[1], variance) + middle[1],
        )


def likeliest_path(t: FloatArray, at: np.ndarray, seen: FloatArray, variance: FloatArray) -> FloatArray:
    """Return gaze along one axis at all times, from noisy points at some samples."""
    from gazeveil.lab.attacks import restoring_kernels as kernels  # noqa: PLC0415  (numba loads on use)

    between = np.diff(t[at], prepend=t[at[:1]])
    models = [(spread, settle) for spread in SPREADS for settle in SETTLES]
    fits = np.array(
        [kernels.likelihood(between, seen, variance, spread**2, settle, _OFFSET_DEG**2) for spread, settle in models]
    )
    usual = np.array([-0.5 * (math.log(spread / _USUAL_DEG) / _USUAL_LOG) ** 2 for spread, _ in models])
    chances = np.exp(fits[:, 0] + usual - (fits[:, 0] + usual).max())
    chances[chances < _LEAST_CHANCE * chances.sum()] = 0.0
    chances /= chances.sum()
    elapsed, guess = np.diff(t, prepend=t[:1]), np.zeros(len(t))
    everywhere, noise = np.zeros(len(t)), np.full(len(t), np.inf)
    noise[at] = variance
    for (spread, settle), mean, chance in zip(models, fits[:, 1], chances, strict=True):
        if chance:
            everywhere[at] = seen - mean
            path, _ = kernels.smoothed_wander(elapsed, everywhere, noise, spread**2, settle)
            guess += chance * (path + mean)
    return guess
