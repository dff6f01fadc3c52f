# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Which numbers of a map are measured: bumps or coarse cells for many maps, designed directions for one.

No number is negative, whatever the map. That is why two observers whose numbers have length c are at most √2·c apart,
rather than 2·c (docs/proofs/whole-studies.md).

Of directions F in which maps vary, with covariance diag(w) over stimuli and V over observers, a participant gives
coordinates T M^-½ F'(t − m), M = diag(w) + F'VF, T of mean square length 1 for a typical participant, clipped to a
ball. Which T, and of how many rows, is the one whose noisy mean explains most of the blurred map's variance by a
linear estimate: the optimum over T'T for a given number of rows is found by repeated steps of its stationary equation.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np

from gazeveil.aggregate.grid import Grid, overlap
from gazeveil.aggregate.map_prior import (
    Plane,
    Projected,
    bell,
    directions,
    picture_weight,
    pictured_models,
    plain_projection,
    prior_of,
    working_grid,
)
from gazeveil.aggregate.saliency import Saliency
from gazeveil.arrays import FloatArray
from gazeveil.errors import OptionError, closest
from gazeveil.privacy.protection import Neighbours

BUMP_DEG, SPACING_DEG = 1.3, 1.25
"""How wide bumps are, and about how far apart."""

COARSE = (8, 8)
MOST_NUMBERS = 1 << 24
"""How many numbers may be released at once: 128 MiB of them in every thread that sums."""

_MOST_DIRECTIONS = 150
_DIGITS = 64


@dataclass(frozen=True, slots=True, eq=False)
class MapView:
    """How a map becomes numbers.

    Attributes:
        name: ``bumps`` or ``histogram``.
        grid: The cells that gaze is counted in.
        working: The cells that maps are decoded on.
        weights: How much each number takes of each cell, one row a cell; none is negative.
        features: The same for the cells of the working grid.
    """

    name: str
    grid: Grid
    working: Grid
    weights: FloatArray
    features: FloatArray

    @property
    def size(self) -> int:
        """How many numbers."""
        return int(self.weights.shape[1])

    def numbers(self, map_: FloatArray) -> FloatArray:
        """Return what is seen of a map; added cell by cell, so that every machine adds alike."""
        (where,) = np.nonzero(map_)
        return np.asarray(np.add.reduce(self.weights[where] * map_[where, None], axis=0))


MAP_VIEWS = ("bumps", "histogram")


@lru_cache(maxsize=8)
def view_of(name: str, grid: Grid) -> MapView:
    """Return how a map on a grid becomes numbers: through overlapping ``bumps``, or as a coarse ``histogram``.

    Raises:
        OptionError: If there is no such way.
    """
    working = working_grid(grid)
    if name == "bumps":
        seen = bumps_over(working)
        return MapView(name, working, working, seen, seen)
    if name == "histogram":
        coarse = Grid(min(COARSE[0], working.columns), min(COARSE[1], working.rows), grid.geometry)
        return MapView(name, coarse, working, np.eye(coarse.size), overlap(working, coarse))
    raise OptionError(f"many maps cannot be released together by the strategy {name!r}", hint=closest(name, MAP_VIEWS))


@lru_cache(maxsize=8)
def directions_of(view: MapView) -> tuple[FloatArray, FloatArray, float]:
    """Return the directions that hold what is seen of maps (a row each), the features along them, and their scale.

    The scale is the length of what is seen of the map that is expected before anyone looks.
    """
    _, _, turn = np.linalg.svd(view.features, full_matrices=False)
    turn = np.ascontiguousarray(turn[:_MOST_DIRECTIONS])
    features = np.ascontiguousarray(view.features @ turn.T)
    return turn, features, float(np.linalg.norm(prior_of(view.working).mean @ features))


def sqrt_up(square: int) -> Fraction:
    """Return a fraction just above the square root of a whole number."""
    return Fraction(math.isqrt(square << 2 * _DIGITS) + 1, 1 << _DIGITS)


def joint_sensitivity(square: int, neighbours: Neighbours) -> Fraction:
    """Return how far one observer moves a sum of vectors without negative entries whose squares add up to ``square``.

    √(2·square) for replace-one, √square for add/remove, rounded up (docs/proofs/whole-studies.md).
    """
    return sqrt_up(square if neighbours is Neighbours.ADD_REMOVE else 2 * square)


def bumps_along(grid: Grid) -> tuple[FloatArray, FloatArray]:
    """Return the two factors of Gaussian bumps on a lattice over the viewing plane.

    Along columns and along rows of cells.
    """
    prior = prior_of(grid)
    across, down = (
        bell(at, middles, max(BUMP_DEG, size))
        for at, middles, size in zip(prior.positions(), lattice_of(grid), prior.cell_deg, strict=True)
    )
    return across, down


def lattice_of(grid: Grid) -> tuple[FloatArray, FloatArray]:
    """Return x and y of the middles of the columns and rows of bumps, in degrees from the corner."""
    across, down = prior_of(grid).cell_deg
    return _lattice(grid.columns * across), _lattice(grid.rows * down)


@lru_cache(maxsize=8)
def bumps_over(grid: Grid) -> FloatArray:
    """Return the bumps themselves, one row a cell."""
    across, down = bumps_along(grid)
    seen = np.asarray(np.kron(down, across))
    seen.flags.writeable = False
    return seen


def _lattice(span: float) -> FloatArray:
    """Return evenly spaced middles over a span, about `SPACING_DEG` apart."""
    count = max(round(span / SPACING_DEG), 1)
    return np.asarray((np.arange(count) + 0.5) * (span / count))


# --- Numbers of one map, designed from public facts alone, so that they are worth their noise.


COUNTS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 26, 34, 44, 56)
CLIP = 0.45
"""Where a participant's coordinates are clipped; a typical participant's have a mean square of 1."""
GAIN = 0.38
"""What clipping leaves of a typical participant's coordinates."""
_DESIGN_GAIN = 0.5
"""The gain that the design assumes after clipping. It is above `GAIN`: a decoder makes more of many numbers than a
linear estimate would."""
_MOST_WAYS, _STEPS = 60, 15


@dataclass(frozen=True, slots=True, eq=False)
class ExpectedMoments:
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
def expected_moments(plane: Plane, saliency: Saliency | None) -> ExpectedMoments:
    """Return the moments of a map, of a known picture if there is one."""
    plain, weight = plain_projection(plane), picture_weight(saliency)
    shares = [(1 - weight, plain.moments(_even(plain, 1.0)))]
    if saliency is None:
        return ExpectedMoments(*shares[0][1], ((1.0, *shares[0][1][1:]),))
    follows = plane.project(pictured_models(plane, saliency), directions(plane.grid))
    shares.append((weight, follows.moments(_even(follows, 1.0))))
    all_ = plain.with_more(follows).moments(np.concatenate((_even(plain, 1 - weight), _even(follows, weight))))
    return ExpectedMoments(*all_, tuple((share, *moments[1:]) for share, moments in shares))


def designed_coordinates(about: ExpectedMoments, observers: int, noise_of: Callable[[int], float]) -> FloatArray:
    """Return the coordinates to release, a row each, over `directions`.

    Args:
        about: The expected moments of the map.
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
        noise = noise_of(most) * CLIP**2 / _DESIGN_GAIN**2
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
