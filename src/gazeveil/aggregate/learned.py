# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""A decoder that was trained: from the noisy picture that bumps release to a map of gaze.

The noisy numbers of `bumps` lie on a lattice, so they are a picture of low resolution under even noise. A small
network of convolutions has learnt from public recordings (docs/reference/heatmap-decoder.md) what maps of gaze look
like. It says on the same lattice by which factor each place differs from the map that is expected, how far the map of
the same participants may be from it, what fresh noise would do, and whether there is a hot spot. Pictures are unknown
to it. It is post-processing: it sees the noisy numbers and public facts, and was fitted to no data of the release.

What it was trained on has limits: `knows` says where they are. Beyond them `gazeveil.aggregate.decoder` decodes.
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files

import numpy as np

from gazeveil.aggregate.map_view import bumps_along, lattice_of
from gazeveil.aggregate.models import Plane
from gazeveil.aggregate.prior import prior_of
from gazeveil.types import Float32Array, FloatArray

NAME = "heatmap decoder 1"
STEPS = (1, 2, 4, 8, 1, 2, 4, 1)
"""How far apart the nine places are that each block's convolution looks at."""

BLURS_DEG = (0.8, 1.5)
CELLS_DEG = (0.7, 1.4)
SIDES_DEG = (12.0, 52.0)
NOISES = (0.0115, 0.7)
OBSERVERS = (5, 600)
"""Blurs, sizes of cells, sides of the viewing plane, noise of each number and numbers of participants that it was
trained on: 8 to 450 participants at ε = 1."""

_ACROSS = 6
"""Which of the pictures that the network looks at says how far across a place is."""
LEAST = 0.02
"""The least gaze of a cell that logarithms are taken of, where an even map has 1."""
_HALF, _NOISE = (-6.0, 4.0), (-8.0, 4.0)
WIDE, NARROW, SMALL = 0.5, 0.3, 0.02
"""Where training began: half widths and noise of a cell, in parts of the root of what it has."""
SHARP, HOT = 3.0, 4.0
"""How fast odds of a hot spot may change, and how many times the gaze of an even map it has."""
_DOUBT = 1.0
"""By how much the logarithm of the odds of a hot spot is lowered: in sets unlike the others too many were called."""
_NARROWED = 0.85
"""What is left of the intervals: in training they were to cover 96 % of cells, to be safe where scenes are unlike."""
NORMAL = 1.96
"""The network gives half of an interval; this many standard deviations are that."""


@dataclass(frozen=True, slots=True, eq=False)
class Learned:
    """What the network says about a map, one number a cell.

    Attributes:
        map: The estimate, of mass 1.
        noise_sd: What fresh noise would do to each cell, as a standard deviation.
        error_sd: How far the map of the same participants without noise may be from it, as a standard deviation.
        hot: How likely it is that each cell is a hot spot.
    """

    map: FloatArray
    noise_sd: FloatArray
    error_sd: FloatArray
    hot: FloatArray


def knows(plane: Plane, observers: int, noise_sd: float) -> bool:
    """Return whether the network was trained on releases like this one: a matter of public facts."""
    width, height = plane.cell_deg
    return (
        all(_within(each, BLURS_DEG) for each in (plane.blur[0] * height, plane.blur[1] * width))
        and all(_within(each, CELLS_DEG) for each in (width, height))
        and all(_within(each, SIDES_DEG) for each in (width * plane.grid.columns, height * plane.grid.rows))
        and _within(noise_sd, NOISES)
        and _within(observers, OBSERVERS)
    )


def decoded(plane: Plane, numbers: FloatArray, mean: FloatArray, observers: int, noise_sd: float) -> Learned:
    """Return what the network makes of noisy numbers.

    Args:
        plane: The cells and their blur.
        numbers: What bumps saw, averaged over participants whose numbers have length 1; row by row.
        mean: The blurred map that is expected, of mass 1.
        observers: How many participants there are.
        noise_sd: Standard deviation of each number's noise.
    """
    logs = np.log(np.maximum(mean * len(mean), LEAST)).reshape(plane.grid.shape)
    said = network().answer(seen(plane, numbers, logs, mean, observers, noise_sd))
    down, across = _between(plane).to_cells
    factor, half, noise, hot = (down @ each @ across.T for each in said.astype(np.float64))
    raised = np.exp(logs + factor - (logs + factor).max())
    found = raised / raised.sum()
    even = found * found.size
    size = WIDE * np.sqrt(even) + SMALL
    chance = SHARP * hot + 2 * np.log(np.maximum(even, 1e-3) / HOT) - _DOUBT
    return Learned(
        map=found.ravel(),
        noise_sd=(NARROW * size * np.exp(np.clip(noise, *_NOISE)) / found.size).ravel(),
        error_sd=(_NARROWED / NORMAL * size * np.exp(np.clip(half, *_HALF)) / found.size).ravel(),
        hot=(1 / (1 + np.exp(-np.clip(chance, -50, 50)))).ravel(),
    )


def seen(
    plane: Plane, numbers: FloatArray, logs: FloatArray, mean: FloatArray, observers: int, noise_sd: float
) -> Float32Array:
    """Return what the network looks at: eight pictures on the lattice of bumps."""
    between = _between(plane)
    down, across = between.to_lattice
    rows, columns = len(down), len(across)
    picture = numbers.reshape(rows, columns)
    width, height = plane.cell_deg
    blur = (plane.blur[0] * height + plane.blur[1] * width) / 2
    expected = between.bumps_down.T @ mean.reshape(plane.grid.shape) @ between.bumps_across
    usual = float(np.abs(expected / np.linalg.norm(expected)).mean())
    y, x = np.meshgrid(*((2 * np.arange(count) + 1) / count - 1 for count in (rows, columns)), indexing="ij")
    facts = (math.log(noise_sd / 0.1), math.log(observers / 30) / 2, blur - 1.1)
    pictures = (
        0.2 * picture / usual,
        0.3 * picture / noise_sd,
        0.5 * (down @ logs @ across.T),
        *(np.full((rows, columns), fact) for fact in facts),
        x,
        y,
    )
    return np.asarray(pictures, dtype=np.float32)


@dataclass(frozen=True, slots=True, eq=False)
class _Block:
    """A convolution of nine places, what is made of it in each place, and what of its mean everywhere."""

    step: int
    around: tuple[Float32Array, Float32Array]
    here: tuple[Float32Array, Float32Array]
    everywhere: tuple[Float32Array, Float32Array]

    def added_to(self, values: Float32Array) -> Float32Array:
        found = np.maximum(_convolved(values, *self.around, self.step), 0)
        mean = self.everywhere[0] @ found.mean(axis=(1, 2)) + self.everywhere[1]
        return np.asarray(values + _mixed(found, *self.here) + mean[:, None, None])


@dataclass(frozen=True, slots=True, eq=False)
class Network:
    """The network with its weights.

    Attributes:
        first: What makes channels of the pictures.
        blocks: What is added to them, one after the other.
        last: What is said in the end.
    """

    first: tuple[Float32Array, Float32Array]
    blocks: tuple[_Block, ...]
    last: tuple[Float32Array, Float32Array]

    def answer(self, pictures: Float32Array) -> Float32Array:
        """Return four pictures of what it says, the mean of what it says of the scene and of its mirror image."""
        mirrored = pictures[:, :, ::-1].copy()
        mirrored[_ACROSS] *= -1  # places are where they are
        return np.asarray((self._said(pictures) + self._said(mirrored)[:, :, ::-1]) / 2)

    def _said(self, pictures: Float32Array) -> Float32Array:
        values = np.maximum(_convolved(pictures, *self.first, 1), 0)
        for block in self.blocks:
            values = block.added_to(values)
        return _mixed(values, *self.last)


@cache
def network() -> Network:
    """Return the network that comes with the package."""
    with files(__package__).joinpath("learned.npz").open("rb") as file, np.load(file) as stored:
        arrays = {name: stored[name].astype(np.float32) for name in stored.files}
    return network_of(arrays)


def network_of(arrays: dict[str, Float32Array]) -> Network:
    """Return a network with these weights."""

    def pair(name: str) -> tuple[Float32Array, Float32Array]:
        return arrays[f"{name}.weight"], arrays[f"{name}.bias"]

    blocks = (
        _Block(step, pair(f"blocks.{place}.a"), pair(f"blocks.{place}.b"), pair(f"blocks.{place}.p"))
        for place, step in enumerate(STEPS)
    )
    return Network(pair("i"), tuple(blocks), pair("o"))


@cache
def digest() -> str:
    """Return the SHA-256 of the file with the weights."""
    return hashlib.sha256(files(__package__).joinpath("learned.npz").read_bytes()).hexdigest()


@dataclass(frozen=True, slots=True, eq=False)
class _Between:
    """What goes between the cells of a viewing plane and the lattice of bumps, down and across."""

    to_lattice: tuple[FloatArray, FloatArray]
    to_cells: tuple[FloatArray, FloatArray]
    bumps_down: FloatArray
    bumps_across: FloatArray


@lru_cache(maxsize=8)
def _between(plane: Plane) -> _Between:
    x, y = prior_of(plane.grid).positions()
    lattice_x, lattice_y = lattice_of(plane.grid)
    across, down = bumps_along(plane.grid)
    return _Between(
        (cubic(y, lattice_y), cubic(x, lattice_x)), (cubic(lattice_y, y), cubic(lattice_x, x)), down, across
    )


def cubic(places: FloatArray, wanted: FloatArray) -> FloatArray:
    """Return what interpolates values at even places at others, a row each: exact for parabolas.

    Cubic convolution (Keys 1981); beyond the ends values go on in a straight line.
    """
    count = len(places)
    found = np.zeros((len(wanted), count))
    at = np.clip((wanted - places[0]) / (places[1] - places[0]), -1.0, count)
    for row, place in enumerate(at):
        first = math.floor(place)
        part = place - first
        weights = (
            -part / 2 + part**2 - part**3 / 2,
            1 - 5 * part**2 / 2 + 3 * part**3 / 2,
            part / 2 + 2 * part**2 - 3 * part**3 / 2,
            (part**3 - part**2) / 2,
        )
        for column, weight in enumerate(weights, start=first - 1):
            inside = min(max(column, 0), count - 1)
            beyond = column - inside
            found[row, inside] += weight * (1 + abs(beyond))
            if beyond:
                found[row, inside - int(np.sign(beyond))] -= weight * abs(beyond)
    return found


def _convolved(values: Float32Array, weights: Float32Array, shift: Float32Array, step: int) -> Float32Array:
    """Return the sum over nine places, ``step`` apart; beyond the edges there is 0."""
    channels, rows, columns = values.shape
    padded = np.pad(values, ((0, 0), (step, step), (step, step)))
    total = np.repeat(shift[:, None], rows * columns, axis=1)
    for down in range(3):
        for across in range(3):
            part = padded[:, down * step : down * step + rows, across * step : across * step + columns]
            total += weights[:, :, down, across] @ part.reshape(channels, -1)
    return total.reshape(-1, rows, columns)


def _mixed(values: Float32Array, weights: Float32Array, shift: Float32Array) -> Float32Array:
    """Return new channels, each a weighted sum of the old ones and a shift."""
    channels, rows, columns = values.shape
    mixed = weights.reshape(-1, channels) @ values.reshape(channels, -1) + shift[:, None]
    return np.asarray(mixed.reshape(-1, rows, columns))


def _within(value: float, range_: tuple[float, float]) -> bool:
    return range_[0] <= value <= range_[1]
