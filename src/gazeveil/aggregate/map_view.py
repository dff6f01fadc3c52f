# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What is recorded of a map when many maps of one observer are released under one noise: numbers without a sign.

No number is negative, whatever the map. That is why two observers whose numbers have length c are at most √2·c apart,
rather than 2·c (docs/proofs/whole-studies.md).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np

from gazeveil.aggregate.grid import Grid, overlap
from gazeveil.aggregate.prior import bell, prior_of, working_grid
from gazeveil.errors import OptionError, closest
from gazeveil.privacy.unit import Neighbours
from gazeveil.types import FloatArray

BUMP_DEG, SPACING_DEG = 1.3, 1.25
"""How wide bumps are, and about how far apart."""

COARSE = (8, 8)
MOST_NUMBERS = 1 << 24
"""How many numbers may be released at once: 128 MiB of them in every thread that sums."""

_MOST_DIRECTIONS = 150
_DIGITS = 64


@dataclass(frozen=True, slots=True, eq=False)
class MapView:
    """How a map is seen.

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
    """Return how a map on a grid is seen: through overlapping ``bumps``, or as a coarse ``histogram``.

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


def root_up(square: int) -> Fraction:
    """Return a fraction just above the square root of a whole number."""
    return Fraction(math.isqrt(square << 2 * _DIGITS) + 1, 1 << _DIGITS)


def joint_sensitivity(square: int, neighbours: Neighbours) -> Fraction:
    """Return how far one observer moves a sum of vectors without negative entries whose squares add up to ``square``.

    √(2·square) for replace-one, √square for add/remove, rounded up (docs/proofs/whole-studies.md).
    """
    return root_up(square if neighbours is Neighbours.ADD_REMOVE else 2 * square)


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
