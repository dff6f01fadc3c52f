# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Read the tensors of a file that PyTorch wrote before version 1.6, without PyTorch and without running its code.

Such a file is four pickles (a magic number, a version, facts about the machine, and a dictionary whose tensors point at
storages by name), then the names of the storages, then each one's length and bytes. A pickle can call anything; here
everything but the few names that tensors are made of is refused.
"""

from __future__ import annotations

import pickle
from collections import OrderedDict
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from gazeveil.errors import InputError

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
