# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""How kernels are compiled, and when compiled code may be used again.

numba's own cache looks at the file of a function, not at the files of the functions that it calls. So after an update
that corrects one kernel, its callers would run the old one. Here compiled code is kept under a digest of everything
that is compiled into kernels. It lies where numba puts it: beside the source, or in the user's cache folder where that
cannot be written. numba itself keeps versions of numba and kinds of processor apart.

If several processes need the same kernel at once, one compiles and the others wait for it and read. This saves time,
and it keeps the cache valid: numba numbers the files of one function without a lock, so that two processes that compile
it for two signatures could leave code for the one under the name of the other.

Only modules of kernels import this file; it loads numba.
"""

from __future__ import annotations

import hashlib
import os
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from numba import njit
from numba.core.caching import FunctionCache, IndexDataCacheFile

from gazeveil.process import try_lock

PACKAGE = Path(__file__).parent
CONSTANTS = ("noise/intervals.py", "noise/parameters.py")
"""Files whose values are compiled into kernels. Everything else that is lies in a file called ``…_kernels.py``."""

PATIENCE = 30.0
"""Seconds to wait for another process that compiles the same kernel; then this one compiles, and caches nothing."""


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


def _locked(path: Path) -> int | None:
    """Return a descriptor of the file at `path`, locked for this process alone, or nothing if that cannot be had."""
    try:
        file = os.open(path, os.O_WRONLY | os.O_CREAT, 0o666)
    except OSError:
        return None
    end = time.monotonic() + PATIENCE
    while True:
        with suppress(OSError):
            if try_lock(file):
                return file
        if time.monotonic() > end:
            os.close(file)
            return None
        time.sleep(0.02)


class _KernelCache(FunctionCache):  # type: ignore[misc]
    """numba's cache of one function, under the digest of all kernels, for one writer at a time."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        file, digest = Path(function.__code__.co_filename), _digest_at_start()
        self._any_digest = f"{file.stem}.{function.__qualname__}.{sys.implementation.cache_tag}-"
        self._base = f"{self._any_digest}{digest[:32]}"
        self._cache_file = IndexDataCacheFile(self.cache_path, self._base, source_stamp=digest)
        self._lock: int | None = None
        self._compiling = 0

    def _index_key(self, sig: Any, codegen: Any) -> Any:
        """Return what compiled code depends on beside the function, which its name identifies with outer variables."""
        return sig, codegen.magic_tuple()

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return cached code. If there is none, this process locks the cache and compiles."""
        found = super().load_overload(sig, target_context)
        if found is None and not self._compiling:
            self._impl.locator.ensure_cache_path()
            self._lock = _locked(Path(self.cache_path) / f"{self._base}.nbl")
            found = super().load_overload(sig, target_context)  # another process may just have finished it
            if found is not None:
                self._unlock()
        self._compiling += found is None
        return found

    def save_overload(self, sig: Any, data: Any) -> None:
        """Cache compiled code, and delete what was compiled from other sources."""
        self._compiling -= 1
        try:
            if self._lock is not None:
                self._keep(sig, data)
        finally:
            if not self._compiling:
                self._unlock()

    def _keep(self, sig: Any, data: Any) -> None:
        if digest_of_sources() != _digest_at_start():
            return  # the files changed while this process ran: what it compiles may belong to neither digest
        super().save_overload(sig, data)
        for path in Path(self.cache_path).glob(f"{self._any_digest}*.nb[icl]"):
            if not path.name.startswith(self._base):
                with suppress(OSError):  # another process may be faster, or still read it
                    path.unlink()

    def _unlock(self) -> None:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


def kernel(
    *signatures: Any, around: Callable[..., Any] | None = None, **options: Any
) -> Callable[[Callable[..., Any]], Any]:
    """Return a decorator that compiles a function of a module, for these signatures or for those it is called with.

    Args:
        signatures: If given, the function is compiled now, and for these alone.
        around: For a function within a function: the kernel that it calls, which must be its only outer variable. Its
            name keeps cached code apart.
        options: As `numba.njit` takes them.
    """

    def compiled(function: Callable[..., Any]) -> Any:
        if around is not None:
            function.__qualname__ = f"{around.__module__}.{around.__name__}.{function.__name__}"
        dispatcher = njit(nogil=True, **options)(function)
        if dispatcher is function:  # numba is set not to compile (NUMBA_DISABLE_JIT)
            return function
        with suppress(RuntimeError):  # no folder can be written: every process compiles for itself
            dispatcher._cache = _KernelCache(function)
        for signature in signatures:
            dispatcher.compile(signature)
        if signatures:
            dispatcher.disable_compile()
        return dispatcher

    return compiled
