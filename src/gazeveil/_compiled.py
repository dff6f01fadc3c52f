# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""How kernels are compiled, and when compiled code may be used again.

numba's own cache looks at the file of a function, not at the files of the functions that it calls. So after an update
that mends one kernel, its callers would run the old one. Here compiled code is kept under a digest of everything that
is compiled into kernels. It lies where numba puts it: beside the source, or in the user's cache folder where that
cannot be written. numba itself keeps versions of numba and kinds of processor apart.

Only modules of kernels import this file; it loads numba.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from numba import njit
from numba.core.caching import FunctionCache, IndexDataCacheFile

PACKAGE = Path(__file__).parent
CONSTANTS = ("noise/constants.py", "noise/intervals.py", "samples/degrees.py")
"""Files whose values are compiled into kernels. Everything else that is lies in a file called ``…_kernels.py``."""


def sources() -> list[Path]:
    """Return the files whose text decides what kernels do."""
    return sorted([Path(__file__), *PACKAGE.rglob("*_kernels.py"), *(PACKAGE / name for name in CONSTANTS)])


def digest_of_sources() -> str:
    """Return a digest of names and contents of `sources`."""
    digest = hashlib.sha256()
    for path in sources():
        text = path.read_bytes() if path.exists() else b""
        digest.update(f"{path.relative_to(PACKAGE).as_posix()} {len(text)}\n".encode() + text)
    return digest.hexdigest()


@cache
def _digest_at_start() -> str:
    return digest_of_sources()


class _KernelCache(FunctionCache):  # type: ignore[misc]
    """numba's cache of one function, under the digest of all kernels."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        file, digest = Path(function.__code__.co_filename), _digest_at_start()
        self._any_digest = f"{file.stem}.{function.__qualname__}.{sys.implementation.cache_tag}-"
        self._base = f"{self._any_digest}{digest[:32]}"
        self._cache_file = IndexDataCacheFile(self.cache_path, self._base, source_stamp=digest)

    def _index_key(self, sig: Any, codegen: Any) -> Any:
        """Return what else compiled code depends on: the name says all about the function, outer variables too."""
        return sig, codegen.magic_tuple()

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep compiled code, and drop what was compiled from other sources."""
        if digest_of_sources() != _digest_at_start():
            return  # the files changed while this process ran: what it compiles may belong to neither digest
        super().save_overload(sig, data)
        for path in Path(self.cache_path).glob(f"{self._any_digest}*.nb[ic]"):
            if not path.name.startswith(self._base):
                with suppress(OSError):  # another process may be faster, or still read it
                    path.unlink()


def kernel(
    *signatures: Any, around: Callable[..., Any] | None = None, **options: Any
) -> Callable[[Callable[..., Any]], Any]:
    """Return a decorator that compiles a function of a module, for these signatures or for those it is called with.

    Args:
        signatures: If given, the function is compiled now, and for these alone.
        around: The kernel that a function within a function calls, and no other outer variable: its module tells what
            is kept apart from what.
        options: As `numba.njit` takes them.
    """

    def compiled(function: Callable[..., Any]) -> Any:
        if around is not None:
            function.__qualname__ = f"{around.__module__}.{function.__name__}"
        dispatcher = njit(nogil=True, **options)(function)
        if dispatcher is function:  # numba is told not to compile (NUMBA_DISABLE_JIT)
            return function
        with suppress(RuntimeError):  # no folder can be written: every process compiles for itself
            dispatcher._cache = _KernelCache(function)
        for signature in signatures:
            dispatcher.compile(signature)
        if signatures:
            dispatcher.disable_compile()
        return dispatcher

    return compiled
