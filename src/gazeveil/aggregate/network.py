# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""A small network of convolutions that looks at pictures on a lattice and says something of each place: numpy alone.

How it is trained is in `gazeveil.lab.experiments.heatmap_decoder`; what it looks at, and what its answers mean, in
`gazeveil.aggregate.learned`.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np

from gazeveil.types import Float32Array

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
        first: What makes channels of the pictures.
        blocks: What is added to them, one after the other.
        last: What is said in the end.
    """

    first: tuple[Float32Array, Float32Array]
    blocks: tuple[_Block, ...]
    last: tuple[Float32Array, Float32Array]

    def answer(self, pictures: Float32Array) -> Float32Array:
        """Return what it says, a picture each: the mean of what it says of the scene and of its mirror image.

        Args:
            pictures: What it looks at. The last one says how far across each place is.
        """
        mirrored = pictures[:, :, ::-1].copy()
        mirrored[-1] *= -1  # places are where they are
        return np.asarray((self.said(pictures) + self.said(mirrored)[:, :, ::-1]) / 2)

    def said(self, pictures: Float32Array) -> Float32Array:
        """Return what it says of pictures as they are."""
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
