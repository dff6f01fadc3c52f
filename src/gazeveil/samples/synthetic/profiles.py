# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Models of a saccade's velocities: a bell of three numbers, and a linear model of few hidden numbers.

The paper's bell is a · exp(-((t - b) / c)²) over a duration from 0 to 1, fitted by least squares. Its random model is
an autoencoder whose decoder has no bend (linear activation), given amplitude and duration. Such a decoder, with normal
hidden numbers and even errors, is probabilistic principal components on what amplitude and duration leave, and has its
best fit in closed form (Tipping & Bishop 1999); that is used here, so nothing is trained.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gazeveil.noise import NoiseSource
from gazeveil.samples.synthetic.events import PROFILE
from gazeveil.samples.synthetic.writing import normals
from gazeveil.types import FloatArray

_ROUNDS = 60
_NARROWEST, _WIDEST = 0.02, 5.0
_DAMPING = 1e-3


def bell(numbers: FloatArray) -> FloatArray:
    """Return the velocities of bells: a, b and c in the last axis become velocities."""
    a, b, c = (numbers[..., i, None] for i in range(3))
    return np.asarray(a * np.exp(-np.square((np.linspace(0.0, 1.0, PROFILE) - b) / c)))


def fit_bells(profiles: FloatArray) -> FloatArray:
    """Return a, b and c of every profile by least squares (Levenberg and Marquardt, all profiles at once)."""
    t = np.linspace(0.0, 1.0, PROFILE)
    weight = np.maximum(profiles, 0.0) + 1e-12
    middle = (weight @ t) / weight.sum(axis=1)
    width = np.sqrt(2.0 * (weight * np.square(t - middle[:, None])).sum(axis=1) / weight.sum(axis=1))
    best = np.stack([profiles.max(axis=1), middle, np.clip(width, _NARROWEST, _WIDEST)], axis=1)
    damping, error = np.full(len(best), _DAMPING), _errors(profiles, best)
    for _ in range(_ROUNDS):
        a, b, c = (best[:, i, None] for i in range(3))
        away = (t - b) / c
        height = np.exp(-np.square(away))
        slopes = np.stack([height, 2 * a * height * away / c, 2 * a * height * np.square(away) / c], axis=2)
        normal = np.einsum("nti,ntj->nij", slopes, slopes)
        normal += damping[:, None, None] * (np.einsum("nii->ni", normal)[:, :, None] + 1e-9) * np.eye(3)
        pull = np.einsum("nti,nt->ni", slopes, profiles - a * height)
        tried = best + np.linalg.solve(normal, pull[:, :, None])[:, :, 0]
        tried[:, 2] = np.clip(np.abs(tried[:, 2]), _NARROWEST, _WIDEST)
        new = _errors(profiles, tried)
        better = new < error
        best[better], error = tried[better], np.where(better, new, error)
        damping = np.clip(np.where(better, damping / 5, damping * 4), 1e-12, 1e12)
    return best


def _errors(profiles: FloatArray, numbers: FloatArray) -> FloatArray:
    return np.asarray(np.square(profiles - bell(numbers)).sum(axis=1))


@dataclass(frozen=True, slots=True, eq=False)
class HiddenNumbers:
    """A linear model of profiles, given amplitude and duration.

    Attributes:
        given: What amplitude, duration and a constant say about a profile.
        loadings: What each hidden number adds to it.
        rest: The variance that no hidden number explains.
    """

    given: FloatArray
    loadings: FloatArray
    rest: float
    _pull: FloatArray  # from a profile to its hidden numbers
    _root: FloatArray  # of what stays unknown about them

    @staticmethod
    def of(profiles: FloatArray, conditions: FloatArray, hidden: int) -> HiddenNumbers:
        """Return the likeliest model of some profiles."""
        given = np.asarray(np.linalg.lstsq(_design(conditions), profiles, rcond=None)[0], dtype=np.float64)
        left = profiles - _design(conditions) @ given
        values, vectors = np.linalg.eigh(left.T @ left / max(len(left), 1))
        values, vectors = np.maximum(values[::-1], 0.0), vectors[:, ::-1]
        hidden = min(hidden, PROFILE - 1)
        rest = max(float(values[hidden:].mean()), 1e-9)
        loadings = vectors[:, :hidden] * np.sqrt(np.maximum(values[:hidden] - rest, 0.0))
        precision = loadings.T @ loadings / rest + np.eye(hidden)
        root = np.linalg.inv(np.linalg.cholesky(precision)).T
        return HiddenNumbers(given, loadings, rest, np.linalg.solve(precision, loadings.T / rest), root)

    def drawn_again(self, profile: FloatArray, condition: FloatArray, count: int, noise: NoiseSource) -> FloatArray:
        """Return profiles whose hidden numbers are drawn from what one profile says about them; never below 0."""
        known = (_design(condition[None]) @ self.given)[0]
        mean = self._pull @ (profile - known)
        numbers = mean + normals(noise, (count, len(mean))) @ self._root.T
        return np.asarray(np.maximum(known + numbers @ self.loadings.T, 0.0))


def _design(conditions: FloatArray) -> FloatArray:
    return np.column_stack([conditions, np.ones(len(conditions))])
