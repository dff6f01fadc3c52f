# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""ONNX files for tests, written without any package: models that answer the same whatever they see."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

KINDS = {np.dtype(np.float32): 1, np.dtype(np.uint8): 2, np.dtype(np.int64): 7}
_BESIDE = [folder / "shared/models/ssd_mobilenet_coco.onnx" for folder in Path(__file__).resolve().parents]
SHARED = next((path for path in _BESIDE if path.is_file()), None)
"""A real detector, where one lies beside the project."""


def varint(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*out, number])


def field(number: int, value: int | str | bytes) -> bytes:
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def value_info(name: str, kind: int, shape: Sequence[int | str]) -> bytes:
    dims = b"".join(field(1, field(1, side) if isinstance(side, int) else field(2, side)) for side in shape)
    return field(1, name) + field(2, field(1, field(1, kind) + field(2, dims)))


def constant(name: str, array: NDArray[np.generic]) -> bytes:
    tensor = b"".join(field(1, side) for side in array.shape) + field(2, KINDS[array.dtype]) + field(9, array.tobytes())
    return field(2, name) + field(4, "Constant") + field(5, field(1, "value") + field(5, tensor) + field(20, 4))


def write_detector(
    path: Path,
    outputs: Mapping[str, NDArray[np.generic]],
    shape: Sequence[int | str] = (1, 3, 64, 64),
    kind: int = 1,
    more_inputs: Mapping[str, tuple[int, Sequence[int | str]]] | None = None,
) -> Path:
    """Write a model that takes a picture of a shape and always answers these outputs."""
    graph = b"".join(field(1, constant(name, array)) for name, array in outputs.items()) + field(2, "graph")
    graph += field(11, value_info("images", kind, shape))
    for name, (other_kind, other_shape) in (more_inputs or {}).items():
        graph += field(11, value_info(name, other_kind, other_shape))
    for name, array in outputs.items():
        graph += field(12, value_info(name, KINDS[array.dtype], array.shape))
    path.write_bytes(field(1, 8) + field(7, graph) + field(8, field(1, "") + field(2, 13)))
    return path
