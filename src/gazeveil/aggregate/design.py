# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Which numbers about a map are worth their noise: designed around what is known before, from public facts alone.

Of directions F in which maps vary, with covariance diag(w) over stimuli and V over observers, a participant gives
coordinates T M^-½ F'(t − m), M = diag(w) + F'VF, T of mean square length 1 for a typical participant, clipped to a
ball. Which T, and of how many rows, is the one whose noisy mean explains most of the blurred map's variance by a
linear estimate: the optimum over T'T for a given number of rows is found by repeated steps of its stationary equation.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from gazeveil.aggregate.models import Plane, Projected, directions, picture_weight, pictured_models, plain_projection
from gazeveil.aggregate.saliency import Saliency
from gazeveil.types import FloatArray

COUNTS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 26, 34, 44, 56)
CLIP = 0.45
"""Where a participant's coordinates are clipped; a typical participant's have a mean square of 1."""
GAIN = 0.38
"""What clipping leaves of a typical participant's coordinates."""
_ANSWERS = 0.5
"""What a design takes clipping to leave: more than it does, because a decoder makes more of many numbers than a linear
estimate would."""
_MOST_WAYS, _STEPS = 60, 15


@dataclass(frozen=True, slots=True, eq=False)
class Expected:
    """The moments of the blurred map along `directions`, over all models and over each group of them.

    Attributes:
        mean: Of all models.
        between: Covariance over stimuli, of all models.
        within: Covariance over observers, of all models.
        groups: How likely each group of models is, with the group's own covariances.
    """

    mean: FloatArray
    between: FloatArray
    within: FloatArray
    groups: tuple[tuple[float, FloatArray, FloatArray], ...]

    def explained(self, seen: FloatArray, noise: float, observers: int) -> float:
        """Return the share of the variance that a linear estimate explains, averaged over the groups.

        Args:
            seen: What is measured of the directions, a row a number.
            noise: The variance of each number's noise, in units in which a map is measured with gain 1.
            observers: How many participants are averaged.
        """
        share = 0.0
        for weight, between, within in self.groups:
            crossed = seen @ between
            inner = seen @ (between + within / observers) @ seen.T + noise * np.eye(len(seen))
            share += weight * float(np.sum(np.linalg.solve(inner, crossed) * crossed)) / float(between.trace())
        return share


@lru_cache(maxsize=4)
def expected(plane: Plane, saliency: Saliency | None) -> Expected:
    """Return what is expected of a map, of a known picture if there is one."""
    plain, weight = plain_projection(plane), picture_weight(saliency)
    shares = [(1 - weight, plain.moments(_even(plain, 1.0)))]
    if saliency is None:
        return Expected(*shares[0][1], ((1.0, *shares[0][1][1:]),))
    follows = plane.project(pictured_models(plane, saliency), directions(plane.grid))
    shares.append((weight, follows.moments(_even(follows, 1.0))))
    all_ = plain.with_more(follows).moments(np.concatenate((_even(plain, 1 - weight), _even(follows, weight))))
    return Expected(*all_, tuple((share, *moments[1:]) for share, moments in shares))


def ball(about: Expected, observers: int, noise_of: Callable[[int], float]) -> FloatArray:
    """Return the coordinates to release, a row each, over `directions`.

    Args:
        about: What is expected of the map.
        observers: How many participants are averaged.
        noise_of: The variance of a coordinate's noise by how many there are, for a ball of radius 1.
    """
    values, ways = np.linalg.eigh(about.between)
    values, ways = values[::-1][:_MOST_WAYS], ways[:, ::-1][:, :_MOST_WAYS]
    keep = values > 1e-4 * values[0]
    values, ways = values[keep], ways[:, keep]
    count = len(values)
    whitener = _power(np.diag(values) + ways.T @ about.within @ ways, -0.5)
    signal = whitener @ np.diag(values) @ whitener
    seen = signal + (np.eye(count) - signal) / observers
    wanted = whitener @ np.diag(values**2) @ whitener
    best, explained, worse = np.eye(count)[:1], -1.0, 0
    for most in COUNTS:
        noise = noise_of(most) * CLIP**2 / _ANSWERS**2
        chosen = _chosen(seen, wanted, noise, min(most, count))
        inner = chosen @ seen @ chosen.T + noise * np.eye(len(chosen))
        value = float(np.linalg.solve(inner, chosen @ wanted @ chosen.T).trace())
        best, explained, worse = (chosen, value, 0) if value > explained else (best, explained, worse + 1)
        if worse == 3 or most >= count:
            break
    return np.asarray(best @ whitener @ ways.T)


def _even(models: Projected, weight: float) -> FloatArray:
    """Return equal weights of models that add up to a weight."""
    return np.full(len(models.expected), weight / len(models.expected))


def _chosen(seen: FloatArray, wanted: FloatArray, noise: float, most: int) -> FloatArray:
    """Return T of at most this many rows, its squares adding up to 1."""
    count = len(seen)
    square = 0.5 * wanted / wanted.trace() + 0.5 * np.eye(count) / count
    for _ in range(_STEPS):
        root = _power(square, 0.5)
        answer = root @ np.linalg.solve(root @ seen @ root + noise * np.eye(count), root)
        square = _power(answer @ wanted @ answer.T, 0.5)
        square /= square.trace()
    values, vectors = np.linalg.eigh(square)
    values, vectors = values[::-1][:most], vectors[:, ::-1][:, :most]
    keep = values > 1e-3 * values[0]
    values, vectors = values[keep] / values[keep].sum(), vectors[:, keep]
    signs = np.sign(vectors[np.abs(vectors).argmax(axis=0), np.arange(vectors.shape[1])])
    return np.asarray(np.sqrt(values)[:, None] * (vectors * signs).T)


def _power(matrix: FloatArray, power: float) -> FloatArray:
    """Return a power of a symmetric matrix without negative eigenvalues."""
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    floor = 1e-12 * max(float(values[-1]), 1e-300)
    return np.asarray((vectors * np.maximum(values, floor) ** power) @ vectors.T)
