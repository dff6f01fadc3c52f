# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Trained decoders: small convolutional networks, in numpy alone, that turn noisy numbers into a heatmap.

The noisy numbers of the strategy `bumps` lie on a lattice, so they are a picture of low resolution under even noise.
The few numbers of `modes` become pictures, too: what they suggest under each kind of variation. The networks learnt
from public recordings what maps of gaze look like (docs/reference/heatmap-decoder.md): one for each strategy without a
known picture of the stimulus, and one for `bumps` with it. On the lattice, a network estimates the factor by which each
place differs from the expected map, how far the map of the same participants may be from that, what fresh noise would
do, and whether there is a hot spot. It is post-processing: a network sees the noisy numbers and public facts, and was
fitted to no data of the release.

`TrainedDecoder.knows` tells whether a release lies within what a network was trained on. Beyond that,
`gazeveil.aggregate.bayes_decoder` decodes. `gazeveil.lab.training.heatmap_decoder` trains the networks.
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any

import numpy as np

from gazeveil.aggregate.map_features import bumps_along, lattice_of
from gazeveil.aggregate.map_prior import Plane, broad, prior_of
from gazeveil.arrays import Float32Array, FloatArray

STEPS = (1, 2, 4, 8, 1, 2, 4, 1)
"""How far apart the nine places are that each block's convolution looks at."""


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
        first: Weights and shift from the pictures to channels.
        blocks: Blocks that add to the channels, one after the other.
        last: Weights and shift from the channels to the output.
    """

    first: tuple[Float32Array, Float32Array]
    blocks: tuple[_Block, ...]
    last: tuple[Float32Array, Float32Array]

    def answer(self, pictures: Float32Array) -> Float32Array:
        """Return the mean of its outputs for the scene and for the scene's mirror image, one picture each.

        Args:
            pictures: Its input. The last one holds how far across each place is.
        """
        mirrored = pictures[:, :, ::-1].copy()
        mirrored[-1] *= -1  # places are where they are
        return np.asarray((self.output(pictures) + self.output(mirrored)[:, :, ::-1]) / 2)

    def output(self, pictures: Float32Array) -> Float32Array:
        """Return its output for pictures as they are."""
        values = np.maximum(_convolved(pictures, *self.first, 1), 0)
        for block in self.blocks:
            values = block.added_to(values)
        return _mixed(values, *self.last)


@cache
def shipped(name: str) -> Network:
    """Return a network that comes with the package, by the name of its file."""
    with files(__package__).joinpath(name).open("rb") as file, np.load(file) as stored:
        arrays = {key: stored[key].astype(np.float32) for key in stored.files}
    return network_of(arrays)


@cache
def digest(name: str) -> str:
    """Return the SHA-256 of the file with the weights."""
    return hashlib.sha256(files(__package__).joinpath(name).read_bytes()).hexdigest()


def network_of(arrays: dict[str, Float32Array]) -> Network:
    """Return a network with these weights."""

    def pair(name: str) -> tuple[Float32Array, Float32Array]:
        return arrays[f"{name}.weight"], arrays[f"{name}.bias"]

    blocks = (
        _Block(step, pair(f"blocks.{place}.a"), pair(f"blocks.{place}.b"), pair(f"blocks.{place}.p"))
        for place, step in enumerate(STEPS)
    )
    return Network(pair("i"), tuple(blocks), pair("o"))


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


# --- What the networks were trained on, see and estimate.


NAME = "heatmap decoder 3"

BLURS_DEG = (0.8, 1.5)
CELLS_DEG = (0.7, 1.4)
SIDES_DEG = (12.0, 52.0)
"""Blurs, sizes of cells and sides of the viewing plane that all networks were trained on."""

MIDDLES = (0.1, 0.16, 0.24, 0.36)
"""Widths of bumps over the middle, in parts of the viewing plane: a network sees how well the numbers match each."""
LEAST_APART = 1e-4
"""How far the numbers of a picture's map must be from usual ones to be of use."""
LEAST = 0.02
"""The least gaze of a cell that logarithms are taken of, where an even map has 1."""
_HALF, _NOISE = (-6.0, 4.0), (-8.0, 4.0)
WIDE, NARROW, SMALL = 0.5, 0.3, 0.02
"""The start of the training: half widths and noise of a cell, in parts of the root of its gaze."""
SHARP, HOT_SPOT = 3.0, 4.0
"""How fast odds of a hot spot may change, and how many times the gaze of an even map it has."""
NORMAL = 1.96
"""Standard deviations in the half interval that the network estimates."""


@dataclass(frozen=True, slots=True, eq=False)
class NetworkEstimate:
    """What a network estimates of a map, one number a cell.

    Attributes:
        map: The estimate, of mass 1.
        noise_sd: The standard deviation that fresh noise would give each cell.
        error_sd: The standard deviation of the error against the map of the same participants without noise.
        hot: How likely it is that each cell is a hot spot.
    """

    map: FloatArray
    noise_sd: FloatArray
    error_sd: FloatArray
    hot: FloatArray


@dataclass(frozen=True, slots=True)
class PublicFacts:
    """The public facts about a release that a network sees.

    Attributes:
        plane: The cells and their blur.
        observers: How many participants there are.
        noise_sd: Standard deviation of each number's noise.
    """

    plane: Plane
    observers: int
    noise_sd: float

    @property
    def blur_deg(self) -> float:
        """The mean blur in degrees."""
        width, height = self.plane.cell_deg
        return (self.plane.blur[0] * height + self.plane.blur[1] * width) / 2

    def numbers(self) -> tuple[float, float, float]:
        """Return noise, participants and blur on the scales that a network sees."""
        return math.log(self.noise_sd / 0.1), math.log(self.observers / 30) / 2, self.blur_deg - 1.1


@dataclass(frozen=True, slots=True)
class TrainedDecoder:
    """One network, or two whose outputs are averaged; what they were trained on, and how their outputs are read.

    Attributes:
        files: Their weights.
        noises: The least and the most noise of each number.
        observers: The fewest and the most participants.
        counts: The fewest and the most numbers, where that is not a matter of the viewing plane.
        narrowed: What is left of their intervals: in training they were to cover 96 % of cells, to be safe where scenes
            are unlike.
        doubt: By how much the logarithm of the odds of a hot spot is lowered: in data sets unlike the others, too many
            cells were called hot spots.
        power: The factor on the logarithm of their map against the expected one.
    """

    files: tuple[str, ...]
    noises: tuple[float, float]
    observers: tuple[int, int]
    counts: tuple[int, int] | None = None
    narrowed: float = 0.85
    doubt: float = 1.0
    power: float = 1.0

    def knows(self, facts: PublicFacts, count: int) -> bool:
        """Return whether they were trained on this many numbers of releases like this one: a matter of public facts."""
        plane = facts.plane
        width, height = plane.cell_deg
        return (
            all(_within(each, BLURS_DEG) for each in (plane.blur[0] * height, plane.blur[1] * width))
            and all(_within(each, CELLS_DEG) for each in (width, height))
            and all(_within(each, SIDES_DEG) for each in (width * plane.grid.columns, height * plane.grid.rows))
            and _within(facts.noise_sd, self.noises)
            and _within(facts.observers, self.observers)
            and (self.counts is None or _within(count, self.counts))
        )

    def output(self, facts: PublicFacts, pictures: Float32Array, mean: FloatArray) -> NetworkEstimate:
        """Return their estimate from pictures and the expected map."""
        plane = facts.plane
        down, across = lattice_for(plane).to_cells
        answers = np.stack([shipped(file).answer(pictures) for file in self.files]).mean(axis=0, dtype=np.float64)
        factor, half, noise, hot = (down @ each @ across.T for each in answers)
        raised = _logs(mean).reshape(plane.grid.shape) + self.power * factor
        found = np.exp(raised - raised.max())
        found /= found.sum()
        even = found * found.size
        size = WIDE * np.sqrt(even) + SMALL
        chance = SHARP * hot + 2 * np.log(np.maximum(even, 1e-3) / HOT_SPOT) - self.doubt
        return NetworkEstimate(
            map=found.ravel(),
            noise_sd=(self.power * NARROW * size * np.exp(np.clip(noise, *_NOISE)) / found.size).ravel(),
            error_sd=(self.narrowed / NORMAL * size * np.exp(np.clip(half, *_HALF)) / found.size).ravel(),
            hot=(1 / (1 + np.exp(-np.clip(chance, -50, 50)))).ravel(),
        )


BUMPS = TrainedDecoder(
    ("learned_bumps.npz", "learned_bumps_coarse.npz"),
    noises=(0.0115, 0.7),
    observers=(5, 600),
    narrowed=0.88,
    doubt=1.4,
    power=1.08,
)
PICTURED = TrainedDecoder(("learned_pictured.npz",), noises=(0.0115, 0.45), observers=(5, 600))
MODES = TrainedDecoder(
    ("learned_modes.npz", "learned_modes_coarse.npz"),
    noises=(0.05, 0.45),
    observers=(3, 200),
    counts=(2, 12),
    power=1.15,
)


def to_dict(*networks: TrainedDecoder) -> dict[str, Any]:
    """Return the networks as plain values: their name, and the digest of each one's weights."""
    if not networks:
        return {}
    files = [file for each in networks for file in each.files]
    return {"decoder": NAME, "decoder_sha256": {file: digest(file) for file in files}}


def of_bumps(facts: PublicFacts, numbers: FloatArray, mean: FloatArray) -> NetworkEstimate:
    """Return what the networks of bumps make of noisy numbers, where no picture is known.

    Args:
        facts: What is public.
        numbers: What bumps saw, averaged over participants whose numbers have length 1; row by row.
        mean: The blurred map that is expected, of mass 1.
    """
    return BUMPS.output(facts, bumps_pictures(facts, numbers, mean), mean)


def of_pictured_bumps(facts: PublicFacts, numbers: FloatArray, mean: FloatArray, plain: FloatArray) -> NetworkEstimate:
    """Return what the network of bumps makes of noisy numbers, where a picture is known.

    Args:
        facts: What is public.
        numbers: What bumps saw, averaged over participants whose numbers have length 1; row by row.
        mean: The blurred map that is expected because of the picture, of mass 1.
        plain: The one that is expected without it.
    """
    return PICTURED.output(facts, pictured_pictures(facts, numbers, mean, plain), mean)


def of_modes(
    facts: PublicFacts, modes: ModeResponses, numbers: FloatArray, chances: FloatArray, mean: FloatArray
) -> NetworkEstimate:
    """Return what the network of modes makes of noisy numbers.

    Args:
        facts: What is public.
        modes: How the numbers become pictures.
        numbers: The noisy numbers.
        chances: How likely each kind of variation is, given the numbers.
        mean: The blurred map that is expected, of mass 1.
    """
    return MODES.output(facts, modes_pictures(facts, modes, numbers, chances, mean), mean)


def bumps_pictures(facts: PublicFacts, numbers: FloatArray, mean: FloatArray) -> Float32Array:
    """Return the input of the network of bumps without a known picture: thirteen pictures on the lattice."""
    lattice = lattice_for(facts.plane)
    picture = numbers.reshape(lattice.shape)
    in_noise = picture / facts.noise_sd
    to_middles = (float(np.sum(in_noise * each)) / 10 for each in lattice.middles)
    excess = float(np.sum(in_noise**2) - in_noise.size) / math.sqrt(2 * in_noise.size) / 10
    return _stacked(
        0.2 * picture / float(np.abs(lattice.unit_numbers(mean)).mean()),
        0.3 * in_noise,
        0.5 * lattice.on_lattice(_logs(mean)),
        *(np.full(lattice.shape, each) for each in (*to_middles, excess, *facts.numbers())),
        *lattice.places(),
    )


def pictured_pictures(facts: PublicFacts, numbers: FloatArray, mean: FloatArray, plain: FloatArray) -> Float32Array:
    """Return the input of the network of bumps with a known picture: twelve pictures on the lattice."""
    lattice = lattice_for(facts.plane)
    picture = numbers.reshape(lattice.shape)
    followed, usual = (lattice.unit_numbers(each) for each in (mean, plain))
    apart = followed - usual
    length = float(np.linalg.norm(apart))
    known = length > LEAST_APART
    along = float(np.sum(picture * apart)) / length if known else 0.0
    same = (known, along / facts.noise_sd / 10, length * known / facts.noise_sd / 10, *facts.numbers())
    return _stacked(
        0.2 * picture / float(np.abs(usual).mean()),
        0.3 * picture / facts.noise_sd,
        0.5 * lattice.on_lattice(_logs(mean)),
        0.5 * lattice.on_lattice(_logs(plain)),
        *(np.full(lattice.shape, each) for each in same),
        *lattice.places(),
    )


@dataclass(frozen=True, slots=True, eq=False)
class ModeResponses:
    """How a few numbers become pictures for the network.

    Attributes:
        responses: By which part of the expected map each place differs under a kind of variation, by a linear estimate
            from the numbers: kinds by rows by columns of the lattice by numbers.
    """

    responses: FloatArray


def modes_pictures(
    facts: PublicFacts, modes: ModeResponses, numbers: FloatArray, chances: FloatArray, mean: FloatArray
) -> Float32Array:
    """Return the input of the network of modes: fourteen pictures on the lattice."""
    lattice = lattice_for(facts.plane)
    same = (*(0.3 * np.log(np.maximum(chances, 1e-4))), *facts.numbers())
    return _stacked(
        *(0.5 * np.clip(modes.responses @ numbers, -3.0, 6.0)),
        0.5 * lattice.on_lattice(_logs(mean)),
        *(np.full(lattice.shape, each) for each in same),
        *lattice.places(),
    )


def _stacked(*pictures: FloatArray) -> Float32Array:
    return np.asarray(pictures, dtype=np.float32)


def _logs(map_: FloatArray) -> FloatArray:
    return np.asarray(np.log(np.maximum(map_ * len(map_), LEAST)))


@dataclass(frozen=True, slots=True, eq=False)
class Lattice:
    """The lattice of bumps over a viewing plane, and the interpolation between it and the cells, down and across.

    Attributes:
        cells: Rows and columns of the cells.
        to_lattice: The matrices from cells to the lattice.
        to_cells: The matrices from the lattice to cells.
        bumps: The factors of the bumps.
        middles: The numbers of maps with one bump over the middle, of several widths, each scaled to length 1.
    """

    cells: tuple[int, int]
    to_lattice: tuple[FloatArray, FloatArray]
    to_cells: tuple[FloatArray, FloatArray]
    bumps: tuple[FloatArray, FloatArray]
    middles: tuple[FloatArray, ...]

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of the lattice."""
        return len(self.to_lattice[0]), len(self.to_lattice[1])

    def on_lattice(self, values: FloatArray) -> FloatArray:
        """Return values of cells at the places of the lattice."""
        return np.asarray(self.to_lattice[0] @ values.reshape(self.cells) @ self.to_lattice[1].T)

    def unit_numbers(self, map_: FloatArray) -> FloatArray:
        """Return the numbers of a map, scaled to length 1."""
        return _unit_numbers(self.bumps, map_.reshape(self.cells))

    def places(self) -> tuple[FloatArray, FloatArray]:
        """Return how far down and how far across each place is, from -1 to 1."""
        down, across = np.meshgrid(*((2 * np.arange(count) + 1) / count - 1 for count in self.shape), indexing="ij")
        return down, across


@lru_cache(maxsize=8)
def lattice_for(plane: Plane) -> Lattice:
    """Return the lattice of a viewing plane."""
    x, y = prior_of(plane.grid).positions()
    lattice_x, lattice_y = lattice_of(plane.grid)
    across, down = bumps_along(plane.grid)
    middles = [plane.blurred(broad(plane.grid, 0.5, 0.5, width, width)) for width in MIDDLES]
    return Lattice(
        plane.grid.shape,
        (cubic(y, lattice_y), cubic(x, lattice_x)),
        (cubic(lattice_y, y), cubic(lattice_x, x)),
        (down, across),
        tuple(_unit_numbers((down, across), each.reshape(plane.grid.shape)) for each in middles),
    )


def _unit_numbers(bumps: tuple[FloatArray, FloatArray], map_: FloatArray) -> FloatArray:
    seen = bumps[0].T @ map_ @ bumps[1]
    return np.asarray(seen / np.linalg.norm(seen))


def cubic(places: FloatArray, wanted: FloatArray) -> FloatArray:
    """Return the matrix that interpolates values at even places, a row for each wanted place; exact for parabolas.

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


def _within(value: float, range_: tuple[float, float]) -> bool:
    return range_[0] <= value <= range_[1]
