# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The prior of heatmaps, from public facts alone: a mixture of models, each a mean map and a kind of variation.

Nothing here was learnt from anyone's gaze at release time, so it costs no privacy. Lengths are degrees; a viewing plane
whose size in degrees is not known counts as 32 degrees wide.

`Prior` is for the mean over many maps: a broad bump near the middle of the viewing plane over a uniform floor, 90 of
them, by centre and width. `gazeveil.aggregate.joint_decoder` weighs them.

`Model` is for one blurred map, as it will be shown:

- The mean is a broad bump over the middle of the viewing plane above an even floor, or, where the picture of the
  stimulus is known, what its pixels predict (`gazeveil.aggregate.saliency`) under such a bump.
- Maps around a mean m have the covariance D exp(-d²/2l²) D with D = m^0.7, mass kept, as large as a part ρ of Σm²:
  what stands out or is missing is worth ρ and l degrees wide. Besides, the whole map may lie elsewhere or be wider.
- The maps of single observers scatter around their stimulus's map like maps of a few fixations.

The measurement decides which model holds (`gazeveil.aggregate.bayes_decoder`). Which numbers are worth measuring
follows from all models (`gazeveil.aggregate.map_features`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from itertools import product

import numpy as np

from gazeveil.aggregate.grid import Grid, blur_matrix, render
from gazeveil.aggregate.saliency import SPECTRAL, Saliency
from gazeveil.arrays import FloatArray

MOST_WORKING_CELLS = 1000
"""Finer grids are decoded on a coarser one and drawn on their own."""

_TYPICAL_CELLS = 768
_TYPICAL_WIDTH_DEG = 32.0
_TYPICAL_ASPECT = 0.75

_CENTRES_X, _CENTRES_Y = (0.45, 0.5, 0.55), (0.44, 0.5, 0.56)
_WIDTHS = (0.14, 0.19, 0.26, 0.36)
SIZES = tuple((width, height) for width in _WIDTHS for height in _WIDTHS if 1 / 1.5 < width / height < 1.5)
_FLOOR = 0.2
_OFF_CENTRE_WEIGHT = 0.5


@dataclass(frozen=True, slots=True, eq=False)
class Prior:
    """The models of a grid; cells run row by row.

    Attributes:
        grid: The cells.
        cell_deg: Width and height of a cell in degrees.
        means: The mean maps, one a row, each of mass 1.
        weights: How likely each mean map is before anything is measured.
    """

    grid: Grid
    cell_deg: tuple[float, float]
    means: FloatArray
    weights: FloatArray

    @property
    def mean(self) -> FloatArray:
        """The map expected before anything is measured."""
        return self.weights @ self.means

    def positions(self) -> tuple[FloatArray, FloatArray]:
        """Return x and y of the middle of each column and each row, in degrees from the corner."""
        return (
            np.asarray((np.arange(self.grid.columns) + 0.5) * self.cell_deg[0]),
            np.asarray((np.arange(self.grid.rows) + 0.5) * self.cell_deg[1]),
        )

    def kernels(self, length: float) -> tuple[FloatArray, FloatArray]:
        """Return exp(-d²/2l²) of the distances between rows and between columns."""
        x, y = self.positions()
        return bell(y, y, length), bell(x, x, length)

    def correlated(self, values: FloatArray, length: float) -> FloatArray:
        """Multiply columns of values, one row a cell, by the matrix exp(-d²/2l²) of the distances between cells."""
        down, across = self.kernels(length)
        along_x = np.matmul(across, values.reshape(self.grid.rows, self.grid.columns, -1))
        return np.tensordot(down, along_x, axes=1).reshape(values.shape)

    def covariance_times(self, mean: FloatArray, hot_spots: tuple[float, float], values: FloatArray) -> FloatArray:
        """Multiply columns of values by the covariance of maps around a mean: hot spots scale it, mass stays 1."""
        variance, length = hot_spots
        weighted = mean[:, None] * (values - mean @ values)
        spread = mean[:, None] * self.correlated(weighted, length)
        return np.asarray(variance * (spread - mean[:, None] * spread.sum(axis=0)))


@lru_cache(maxsize=8)
def prior_of(grid: Grid) -> Prior:
    """Return the prior on a grid."""
    means, weights = [], []
    for x, y, (width, height) in product(_CENTRES_X, _CENTRES_Y, SIZES):
        means.append(floored(broad(grid, x, y, width, height), _FLOOR))
        weights.append(math.prod(1.0 if centre == 0.5 else _OFF_CENTRE_WEIGHT for centre in (x, y)))
    return Prior(grid, _cell_degrees(grid), np.asarray(means), np.asarray(weights) / sum(weights))


def working_grid(grid: Grid) -> Grid:
    """Return the grid to decode on: the same, or a coarser one where it is fine."""
    if grid.size <= MOST_WORKING_CELLS:
        return grid
    shrink = math.sqrt(grid.size / _TYPICAL_CELLS)
    columns, rows = round(grid.columns / shrink), round(grid.rows / shrink)
    return Grid(max(min(columns, MOST_WORKING_CELLS), 1), max(min(rows, MOST_WORKING_CELLS), 1), grid.geometry)


def bell(at: FloatArray, around: FloatArray, length: float) -> FloatArray:
    """Return exp(-d²/2l²) of all distances between two sets of points on a line."""
    return np.asarray(np.exp(-0.5 * ((at[:, None] - around[None, :]) / length) ** 2))


def broad(grid: Grid, x: float, y: float, width: float, height: float) -> FloatArray:
    """Return a bump of mass 1; its centre and its width are parts of the viewing plane."""
    across, down = ((np.arange(count) + 0.5) / count for count in (grid.columns, grid.rows))
    return np.outer(_bump(down, y, height), _bump(across, x, width)).ravel()


def floored(mean: FloatArray, floor: float) -> FloatArray:
    """Return a map of mass 1 of which a part is spread evenly."""
    return np.asarray((1 - floor) * mean / mean.sum() + floor / len(mean))


def _bump(at: FloatArray, centre: float, width: float) -> FloatArray:
    bump = np.exp(-0.5 * ((at - centre) / width) ** 2)
    return np.asarray(bump / bump.sum())


def _cell_degrees(grid: Grid) -> tuple[float, float]:
    geometry = grid.geometry
    if geometry.knows_degrees:
        left, top, right, bottom = geometry.in_unit("deg").extent()
        return (right - left) / grid.columns, (bottom - top) / grid.rows
    aspect = _TYPICAL_ASPECT
    if geometry.width_px is not None and geometry.height_px is not None:
        aspect = geometry.height_px / geometry.width_px
    return _TYPICAL_WIDTH_DEG / grid.columns, _TYPICAL_WIDTH_DEG * aspect / grid.rows


# --- The models of one stimulus's blurred map.


Blur = tuple[float, float]
"""Standard deviations of the point-spread function down and across, in cells."""

Variation = tuple[float, float]
"""Relative variance ρ of a map around its mean, and the size l of what stands out, in degrees at `_USUAL_BLUR_DEG`."""

_USUAL_BLUR_DEG = 1.1
PLAIN_KINDS: tuple[Variation, ...] = ((0.2, 3.0), (0.7, 2.4), (2.2, 2.0), (6.0, 1.7))
MANY_KINDS: tuple[tuple[Variation, float], ...] = (
    *zip(PLAIN_KINDS, (0.25, 0.5, 1.0, 1.0), strict=True),
    ((16.0, 1.5), 1.0),
)
"""Kinds for many numbers, and the relative weight of each: many numbers show strong variation, and taking that for weak
costs most."""
PICTURE_KINDS: tuple[Variation, ...] = tuple(product((0.03, 0.1, 0.3, 0.9), (1.6, 2.6)))
PICTURE_MANY_KINDS: tuple[Variation, ...] = tuple(product((0.1, 0.3, 0.9, 2.7), (1.3, 2.0)))
"""The same where many numbers are measured: smaller things can be seen then."""
_PLAIN_FLOOR, PICTURE_FLOOR = 0.2, 0.03
PICTURE_SIZES = ((0.19, 0.19), (0.26, 0.26), (0.36, 0.36))
CENTRE_POWER = 0.62
"""How much of a centre's bump is left where a picture is known: its content draws gaze away."""

PICTURE_WEIGHT, SPECTRAL_WEIGHT = 0.9, 0.1
"""How likely it is that gaze follows a predicted map, or the spectral residual."""
FEW_NUMBERS_PICTURE_WEIGHT, MANY_NUMBERS_PICTURE_WEIGHT = 0.97, 0.5
"""The prior weight of a predicted map. It is high for few numbers: noise would sometimes outvote a correct picture. It
is low for many numbers: these show whether the picture is wrong (decision 143)."""

_ROOT = 0.7
_MOVED = 0.1
"""How far the whole map may lie elsewhere or be wider, in units of a fifth of the viewing plane."""
_FIXATIONS_PER_OBSERVER = 7.6
"""How many independent fixations one observer's map is worth."""
_MOST_DIRECTIONS = 150


@dataclass(frozen=True, slots=True, eq=False)
class Model:
    """One hypothesis about the map.

    Attributes:
        mean: The blurred map that is expected, of mass 1, cells row by row.
        kind: How maps vary around it.
        weight: How likely the model is before anything is measured.
        pictured: Whether the mean follows a picture.
    """

    mean: FloatArray
    kind: Variation
    weight: float
    pictured: bool


@dataclass(frozen=True, slots=True, eq=False)
class Projected:
    """What features of the map should be under each model.

    Attributes:
        expected: One row a model.
        between: Covariance over stimuli, one matrix a model.
        within: Covariance over the observers of one stimulus, one matrix a model.
    """

    expected: FloatArray
    between: FloatArray
    within: FloatArray

    def with_more(self, other: Projected) -> Projected:
        """Return both sets of models, one after the other."""
        pairs = ((self.expected, other.expected), (self.between, other.between), (self.within, other.within))
        return Projected(*(np.concatenate(pair) for pair in pairs))

    def moments(self, weights: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return mean, covariance between stimuli and covariance between observers, over weighted models."""
        weights = weights / weights.sum()
        mean = weights @ self.expected
        apart = self.expected - mean
        between = np.tensordot(weights, self.between, axes=1) + (weights[:, None] * apart).T @ apart
        return mean, between, np.tensordot(weights, self.within, axes=1)


@dataclass(frozen=True, slots=True, eq=False)
class LogField:
    """The covariance S (R ⊗ C) S + MM' of the logarithms of maps around a mean.

    Attributes:
        sd: S, one number a cell.
        down: R, how alike rows are.
        across: C, how alike columns are.
        moved: M, how logarithms change if the whole map lies elsewhere or is wider, a column each.
    """

    sd: FloatArray
    down: FloatArray
    across: FloatArray
    moved: FloatArray

    @property
    def variance(self) -> FloatArray:
        """The variance of each cell's logarithm."""
        return np.asarray(self.sd**2 + np.sum(self.moved**2, axis=1))

    def times(self, values: FloatArray) -> FloatArray:
        """Multiply columns of values, one row a cell, by the covariance."""
        sized = (self.sd[:, None] * values).reshape(len(self.down), len(self.across), -1)
        near = np.tensordot(self.down, np.matmul(self.across, sized), axes=1).reshape(values.shape)
        near *= self.sd[:, None]
        near += self.moved @ (self.moved.T @ values)
        return np.asarray(near)


@dataclass(frozen=True, slots=True)
class Plane:
    """The cells of maps and their blur: what all models of a task share.

    Attributes:
        grid: The cells, row by row.
        blur: The point-spread function of the map to be shown.
    """

    grid: Grid
    blur: Blur

    @property
    def cell_deg(self) -> tuple[float, float]:
        """Width and height of a cell in degrees."""
        return prior_of(self.grid).cell_deg

    def blurred(self, values: FloatArray) -> FloatArray:
        """Blur columns of values, one row a cell."""
        maps = np.ascontiguousarray(values.reshape(self.grid.size, -1).T).reshape(-1, *self.grid.shape)
        return np.ascontiguousarray(render(maps, self.blur).reshape(-1, self.grid.size).T).reshape(values.shape)

    def kind_here(self, kind: Variation) -> Variation:
        """Return a kind at this viewing plane's blur: the less blur, the sharper and stronger is what stands out."""
        variance, length = kind
        width, height = self.cell_deg
        square = self.blur[0] * height * self.blur[1] * width
        wide = max(length**2 + 2 * (square - _USUAL_BLUR_DEG**2), (length / 3) ** 2)
        return variance * length**2 / wide, max(math.sqrt(wide), width, height)

    def moves(self, mean: FloatArray) -> FloatArray:
        """Return how a map changes that lies elsewhere or is wider, a column each."""
        down, across = ((np.arange(count) + 0.5) / count - 0.5 for count in self.grid.shape)
        y, x = (each.ravel() / 0.2 for each in np.meshgrid(down, across, indexing="ij"))
        ways = np.stack((x, y, x**2 / 2, y**2 / 2), axis=1)
        return np.asarray(_MOVED * mean[:, None] * (ways - mean @ ways))

    def sizes(self, mean: FloatArray, kind: Variation) -> tuple[FloatArray, float, float]:
        """Return D of a model, and what makes D exp(-d²/2l²) D as large as it should be, with mass kept and without."""
        variance, length = kind
        root = mean**_ROOT
        sums = root * prior_of(self.grid).correlated(root, length)
        square, plain = variance * float(mean @ mean), float(root @ root)
        kept = plain - 2 * float(mean @ sums) + float(sums.sum()) * float(mean @ mean)
        return root, square / max(kept, 1e-12 * plain), square / plain

    def project(self, models: tuple[Model, ...], features: FloatArray) -> Projected:
        """Return what features, a column each, should be of the map under each model."""
        count = features.shape[1]
        found = Projected(*(np.empty((len(models), *shape)) for shape in ((count,), (count, count), (count, count))))
        seen_blurred = self.blurred(features)
        last: FloatArray | None = None
        for place, model in enumerate(models):
            mean, kind = model.mean, self.kind_here(model.kind)
            expected = found.expected[place] = mean @ features
            root, scale, _ = self.sizes(mean, kind)
            rooted = root[:, None] * (features - expected)
            moved = features.T @ self.moves(mean)
            found.between[place] = scale * rooted.T @ prior_of(self.grid).correlated(rooted, kind[1]) + moved @ moved.T
            if mean is last:
                found.within[place] = found.within[place - 1]
            else:
                found.within[place] = observers_covariance(mean, seen_blurred)
            last = mean
        return found

    def observers_variance(self, mean: FloatArray) -> FloatArray:
        """Return the variance of one observer's blurred map in each cell."""
        shape = self.grid.shape
        down, across = (np.square(blur_matrix(size, blur)) for size, blur in zip(shape, self.blur, strict=True))
        squares = down @ mean.reshape(shape) @ across.T
        return np.asarray(np.maximum(squares.ravel() - self.blurred(mean) ** 2, 0.0) / _FIXATIONS_PER_OBSERVER)

    def log_field(self, mean: FloatArray, kind: Variation) -> LogField:
        """Return how the logarithms of maps vary around a mean.

        A cell's logarithm has the variance log(1 + v), v the variance of the cell relative to its squared mean, and
        near cells differ as their logarithms would. Taking the logarithm of each covariance gives no covariance: it has
        negative eigenvalues, and steps from it diverge where noise is small.
        """
        variance, length = self.kind_here(kind)
        root, _, scale = self.sizes(mean, (variance, length))
        relative = scale * (root / mean) ** 2
        usual = float(mean @ relative)
        down, across = prior_of(self.grid).kernels(length * math.sqrt((1 + usual) * math.log1p(usual) / usual))
        return LogField(np.sqrt(np.log1p(relative)), down, across, self.moves(mean) / mean[:, None])

    def in_blurred(self, features: FloatArray) -> FloatArray:
        """Return features of the blurred map that see nearly what these features see of the map before the blur."""
        waves, seen = _waves(self.grid), self.blurred
        sharpness = np.einsum("ij,ij->j", waves, seen(waves))
        return np.asarray(waves @ ((sharpness / (sharpness**2 + 1e-3))[:, None] * (waves.T @ features)))


def observers_covariance(mean: FloatArray, seen_blurred: FloatArray) -> FloatArray:
    """Return the covariance, over observers, of features of their blurred maps; the features come blurred."""
    single = mean @ seen_blurred
    return np.asarray(
        (seen_blurred.T @ (mean[:, None] * seen_blurred) - np.outer(single, single)) / _FIXATIONS_PER_OBSERVER
    )


@lru_cache(maxsize=8)
def directions(grid: Grid) -> FloatArray:
    """Return the slowest waves over the viewing plane, orthonormal, a column each.

    Nearly all that a blurred map holds.
    """
    width, height = prior_of(grid).cell_deg
    down, across = np.meshgrid(*(np.arange(count) for count in grid.shape), indexing="ij")
    speed = np.hypot(down / (grid.rows * height), across / (grid.columns * width)).ravel()
    found = np.ascontiguousarray(_waves(grid)[:, np.argsort(speed, kind="stable")[:_MOST_DIRECTIONS]])
    found.flags.writeable = False
    return found


@lru_cache(maxsize=8)
def plain_models(plane: Plane, *, many: bool = False) -> tuple[Model, ...]:
    """Return the models of a stimulus without a known picture, for few numbers or for many."""
    means = [plane.blurred(floored(broad(plane.grid, 0.5, 0.5, *size), _PLAIN_FLOOR)) for size in SIZES]
    return _all_of(means, MANY_KINDS if many else _alike(PLAIN_KINDS), pictured=False)


@lru_cache(maxsize=8)
def pictured_models(plane: Plane, saliency: Saliency, *, many: bool = False) -> tuple[Model, ...]:
    """Return the models of a stimulus whose picture is known, all of which follow it, for few numbers or for many."""
    content = saliency.on(plane.grid)
    spectral = saliency.source == SPECTRAL
    sizes, power = (SIZES, 1.0) if spectral else (PICTURE_SIZES, CENTRE_POWER)
    floor = _PLAIN_FLOOR if spectral else PICTURE_FLOOR
    means = []
    for size in sizes:
        centre = broad(plane.grid, 0.5, 0.5, *size)
        mean = floored(content * (centre / centre.max()) ** power, floor)
        means.append(plane.blurred(mean) if spectral else mean)  # a predicted map is blurred already
    kinds = PICTURE_MANY_KINDS if many else PICTURE_KINDS
    return _all_of(means, _alike(PLAIN_KINDS if spectral else kinds), pictured=True)


def picture_weight(saliency: Saliency | None) -> float:
    """Return how likely it is that gaze follows the picture."""
    if saliency is None:
        return 0.0
    return SPECTRAL_WEIGHT if saliency.source == SPECTRAL else PICTURE_WEIGHT


def models_of(plane: Plane, saliency: Saliency | None, *, many: bool = False) -> tuple[Model, ...]:
    """Return all models, for few numbers or for many, those of a picture last."""
    weight = (
        picture_weight(saliency)
        * (MANY_NUMBERS_PICTURE_WEIGHT if many else FEW_NUMBERS_PICTURE_WEIGHT)
        / PICTURE_WEIGHT
    )
    found = [_weighed(model, 1 - weight) for model in plain_models(plane, many=many)]
    if saliency is not None:
        found += [_weighed(model, weight) for model in pictured_models(plane, saliency, many=many)]
    return tuple(found)


def mean_of(models: tuple[Model, ...]) -> FloatArray:
    """Return the map that is expected before anything is measured."""
    return np.asarray(sum(model.weight * model.mean for model in models))


@lru_cache(maxsize=4)
def plain_projection(plane: Plane) -> Projected:
    """Return what `directions` show of the map of a stimulus without a known picture."""
    return plane.project(plain_models(plane), directions(plane.grid))


def _all_of(
    means: list[FloatArray], kinds: tuple[tuple[Variation, float], ...], *, pictured: bool
) -> tuple[Model, ...]:
    whole = len(means) * sum(weight for _, weight in kinds)
    return tuple(Model(mean, kind, weight / whole, pictured) for mean in means for kind, weight in kinds)


def _alike(kinds: tuple[Variation, ...]) -> tuple[tuple[Variation, float], ...]:
    return tuple((kind, 1.0) for kind in kinds)


def _weighed(model: Model, weight: float) -> Model:
    return Model(model.mean, model.kind, model.weight * weight, model.pictured)


@lru_cache(maxsize=2)
def _waves(grid: Grid) -> FloatArray:
    """Return all waves over the viewing plane, orthonormal, a column each, those across fastest."""
    down, across = (cosines(count) for count in grid.shape)
    return np.asarray(np.kron(down, across))


def cosines(count: int) -> FloatArray:
    """Return the orthonormal cosines of evenly spaced places, a column each, the slowest first."""
    at, speed = np.arange(count) + 0.5, np.arange(count)
    waves = np.cos(math.pi * at[:, None] * speed / count) * math.sqrt(2 / count)
    waves[:, 0] /= math.sqrt(2)
    return np.asarray(waves)
