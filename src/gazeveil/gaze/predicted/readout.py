# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""From the network's features to a map of where participants look.

What a picture's content adds to where gaze is anyway.

Three small readouts, trained alike from different starts (``gazeveil lab experiment picture-model``), and averaged.
They
were trained beside a map of where gaze goes in the middle of each set's pictures, so that they need not know of it:
that differs between studies, and the decoder finds it out from what was measured.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from gazeveil.arrays import Float32Array, FloatArray
from gazeveil.gaze.predicted.backbone import backbone, mixed, squares

CELL = 16
"""Pixels of the shrunk picture on a side of a cell of the map."""

_WIDTH, _HEIGHT, _STEP = 640, 480, 32
"""The box that a picture is made to fill, and what its sides are rounded to."""

STAGES = (2, 3, 4, 5, 6)


@dataclass(frozen=True, slots=True, eq=False)
class Readout:
    """One readout.

    Attributes:
        inputs: For each stage of the network, weights and shift of its mixed channels.
        layers: Weights and shift of the layers behind them.
    """

    inputs: tuple[tuple[Float32Array, Float32Array], ...]
    layers: tuple[tuple[Float32Array, Float32Array], ...]

    def content(self, features: list[Float32Array], rows: int, columns: int) -> Float32Array:
        """Return the map, in logarithms up to a constant."""
        seen = [
            _resized(_positive(mixed(features[stage], weights), shift), rows, columns)
            for stage, (weights, shift) in zip(STAGES, self.inputs, strict=True)
        ]
        values = np.concatenate(seen)
        *hidden, (weights, _) = self.layers
        for square, shift in hidden:
            values = _positive(squares(values, square), shift)
        return np.asarray(mixed(values, weights)[0])


@cache
def readout_digest() -> str:
    """Return the SHA-256 of the file with the readouts."""
    return hashlib.sha256(files(__package__).joinpath("readout.npz").read_bytes()).hexdigest()


@cache
def readouts() -> tuple[Readout, ...]:
    """Return the readouts that come with the package."""
    with files(__package__).joinpath("readout.npz").open("rb") as file, np.load(file) as stored:
        arrays = {name: stored[name].astype(np.float32) for name in stored.files}

    def pair(name: str, which: int) -> tuple[Float32Array, Float32Array]:
        return arrays[f"{name}.weight"][which], arrays[f"{name}.bias"][which]

    return tuple(
        Readout(
            tuple(pair(f"inp.{place}", which) for place in range(len(STAGES))),
            tuple(pair(name, which) for name in ("c1", "c2", "c3")),
        )
        for which in range(len(arrays["c3.bias"]))
    )


def content_of(pixels: NDArray[np.uint8]) -> FloatArray:
    """Return how strongly the content of a picture draws gaze to each cell, of mean 1; the middle counts as the edge.

    Args:
        pixels: Rows by columns by red, green and blue.

    Raises:
        MissingExtra: If the network's weights are not installed.
    """
    shown = fitted(pixels)
    rows, columns = shown.shape[0] // CELL, shown.shape[1] // CELL
    features = backbone().features(shown)
    logs = np.mean([_centred(readout.content(features, rows, columns)) for readout in readouts()], axis=0)
    values = np.exp(logs.astype(np.float64))
    return np.asarray(values / values.mean())


def fitted(pixels: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return the picture at the size that the readouts were trained with."""
    height, width = pixels.shape[:2]
    scale = min(_WIDTH / width, _HEIGHT / height)
    rows, columns = (max(round(size * scale / _STEP) * _STEP, _STEP) for size in (height, width))
    channels = np.ascontiguousarray(pixels.transpose(2, 0, 1), dtype=np.float32)
    return np.asarray(np.rint(_resized(channels, rows, columns, smooth=True)).astype(np.uint8).transpose(1, 2, 0))


def _resized(values: Float32Array, rows: int, columns: int, *, smooth: bool = False) -> Float32Array:
    """Return maps on another raster over the same viewing plane."""
    if values.shape[1:] == (rows, columns):
        return values
    down, across = (_weights(*sizes, smooth) for sizes in ((values.shape[1], rows), (values.shape[2], columns)))
    return np.asarray(down @ values @ across.T)


def _weights(source: int, target: int, smooth: bool) -> Float32Array:
    """Return how much of each old place goes into each new one: linear, and if wanted over all that is left out."""
    reach = max(source / target, 1.0) if smooth else 1.0
    at = (np.arange(target) + 0.5) * source / target - 0.5
    weights = np.maximum(1 - np.abs(at[:, None] - np.arange(source)) / reach, 0.0)
    return np.asarray(weights / weights.sum(axis=1, keepdims=True), dtype=np.float32)


def _positive(values: Float32Array, shift: Float32Array) -> Float32Array:
    values += shift[:, None, None]
    return np.maximum(values, 0, out=values)


def _centred(values: Float32Array) -> Float32Array:
    return np.asarray(values - values.mean())
