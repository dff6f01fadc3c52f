# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The state of a stream as bytes, so that it can move to another process without losing its budget.

Layout, little-endian::

    8 bytes   magic
    2         format version
    32        SHA-256 of the mechanism that the state belongs to
    2         number of arrays, then for each: 1 length of its name, the name, 1 type letter, 4 length, the values
    16        BLAKE2b of all before

The checksum finds damage, not forgery. A state may hold recent gaze: keep it as secret as gaze. It never holds noise.
Resume a state once, and the latest one only: an older copy has forgotten what was spent since.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gazeveil.errors import InternalError, StateError
from gazeveil.privacy.ledger.events import digest_of

if TYPE_CHECKING:
    from gazeveil.samples.mechanism import SampleMechanism

Arrays = dict[str, NDArray[Any]]

VERSION = 1
_MAGIC = b"gazeveil"
_CHECKSUM = 16
_HEAD = struct.Struct("<8sH32sH")
_TYPES: dict[str, np.dtype[Any]] = {"f": np.dtype("<f8"), "i": np.dtype("<i8"), "b": np.dtype("u1")}
_HINT = "start a new stream; one that cannot be resumed must not go on with its old budget"


def pack(mechanism: SampleMechanism, arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """Return named arrays of float64, int64 or uint8 as bytes that belong to a mechanism."""
    parts = [_HEAD.pack(_MAGIC, VERSION, _digest(mechanism), len(arrays))]
    for name, values in arrays.items():
        letter = next((letter for letter, dtype in _TYPES.items() if dtype == values.dtype), None)
        if letter is None or values.ndim != 1:
            raise InternalError(f"a state holds lists of floats, integers or bytes, not {values.dtype} {values.shape}")
        label = name.encode()
        parts += [bytes([len(label)]), label, letter.encode(), struct.pack("<I", len(values)), values.tobytes()]
    content = b"".join(parts)
    return content + _checksum(content)


def unpack(mechanism: SampleMechanism, state: bytes) -> Arrays:
    """Return the arrays that `pack` wrote for an equal mechanism, as copies.

    Raises:
        StateError: If the bytes are damaged, of another version, or of another mechanism.
    """
    if not isinstance(state, bytes | bytearray | memoryview):
        raise StateError(f"a state is bytes, not {type(state).__name__}", hint=_HINT)
    whole = bytes(state)
    content, checksum = whole[:-_CHECKSUM], whole[-_CHECKSUM:]
    if len(content) < _HEAD.size or content[:8] != _MAGIC:
        raise StateError("these bytes are not the state of a veil", hint=_HINT)
    _, version, digest, count = _HEAD.unpack_from(content)
    if version != VERSION:
        raise StateError(f"the state has format version {version}, this is version {VERSION}", hint=_HINT)
    if _checksum(content) != checksum:
        raise StateError("the state is damaged: its checksum is wrong", hint=_HINT)
    if digest != _digest(mechanism):
        raise StateError("the state belongs to another mechanism, or to one with other parameters", hint=_HINT)
    try:
        return _arrays(content, count)
    except (IndexError, KeyError, ValueError, struct.error):
        raise StateError("the state is damaged: its arrays do not add up", hint=_HINT) from None


def fit(arrays: Mapping[str, NDArray[Any]], into: Mapping[str, NDArray[Any]]) -> None:
    """Copy a state's arrays into a veil's own.

    Raises:
        StateError: If names, types or lengths differ.
    """
    if arrays.keys() != into.keys() or any(
        arrays[name].dtype != own.dtype or arrays[name].shape != own.shape for name, own in into.items()
    ):
        raise StateError("the state has another shape than the veil", hint=_HINT)
    for name, own in into.items():
        own[:] = arrays[name]


def _arrays(content: bytes, count: int) -> Arrays:
    arrays: Arrays = {}
    at = _HEAD.size
    for _ in range(count):
        length = content[at]
        name = content[at + 1 : at + 1 + length].decode()
        at += 1 + length
        dtype = _TYPES[content[at : at + 1].decode()]
        (size,) = struct.unpack_from("<I", content, at + 1)
        at += 5
        arrays[name] = np.frombuffer(content, dtype, count=size, offset=at).copy()
        at += size * dtype.itemsize
    if at != len(content) or len(arrays) != count:
        raise ValueError
    return arrays


def _digest(mechanism: SampleMechanism) -> bytes:
    return bytes.fromhex(digest_of(mechanism.to_dict()))


def _checksum(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=_CHECKSUM, person=b"gazeveil-state").digest()
