# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""A tape in place of the draws, a clock that stands still and ids that are known: one run is then like the next.

A seed would mark a release as a test, and other sentences would be written. So the bytes of the operating system are
replaced below the source of noise: the guarantee stays proven, and all that is written is what a true release writes.
Only callers in gazeveil get the tape and the clock; whatever else runs keeps what it has.
"""

from __future__ import annotations

import builtins
import datetime
import hashlib
import os
import platform
import secrets
import sys
import time
import types
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

NOW = datetime.datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=datetime.UTC)
PYTHON = "3.11.0"
_PACKAGE = "gazeveil"
_REAL = datetime.datetime
_SYSTEM = os.urandom


class Tape:
    """Bytes that follow from a name alone: the same ones whenever it is played from its beginning."""

    def __init__(self, name: str) -> None:
        self._name = name.encode()
        self._turn = 0

    def bytes(self, count: int = 32) -> bytes:
        """Return the next bytes; each request begins anew, so that its length moves nothing after it."""
        self._turn += 1
        return hashlib.shake_256(b"%d of %s" % (self._turn, self._name)).digest(count)


class _Like(type):
    """Times that were made while the clock ran are times here too."""

    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, _REAL)

    def __subclasscheck__(cls, kind: type) -> bool:
        return issubclass(kind, _REAL)


class _Standing(_REAL, metaclass=_Like):
    """A clock that stands still."""

    @classmethod
    def now(cls, tz: datetime.tzinfo | None = None) -> Any:
        return NOW.astimezone(tz) if tz else NOW.replace(tzinfo=None)

    @classmethod
    def utcnow(cls) -> Any:
        return NOW.replace(tzinfo=None)


_SHOWN = types.ModuleType("datetime")
_SHOWN.__dict__.update({**vars(datetime), "datetime": _Standing})
_INSTEAD: list[tuple[object, object]] = [(_REAL, _Standing), (datetime, _SHOWN)]


@contextmanager
def playing(name: str, *, many_ids: bool = False) -> Iterator[None]:
    """Play the tape of a name, with a clock that stands still, and one processor.

    All ids are the same one, so that it does not matter how often somebody asks for the name of a temporary file; with
    ``many_ids`` each is another.
    """
    tape, ids = Tape(name), Tape(f"id of {name}")
    first = ids.bytes(16)

    def named() -> uuid.UUID:
        return uuid.UUID(bytes=ids.bytes(16) if many_ids else first, version=4)

    def drawn(count: int) -> bytes:
        return tape.bytes(count) if _asked_by_gazeveil() else _SYSTEM(count)

    ordinary = builtins.__import__

    def imported(module: str, globals: Any = None, *rest: Any, **more: Any) -> Any:  # noqa: A002  (the real one's name)
        if module == "datetime" and globals and str(globals.get("__name__", "")).startswith(_PACKAGE):
            return _SHOWN
        return ordinary(module, globals, *rest, **more)

    with (
        mock.patch.object(os, "urandom", drawn),
        mock.patch.object(os, "cpu_count", return_value=1),
        mock.patch.object(secrets, "token_bytes", tape.bytes),
        mock.patch.object(uuid, "uuid4", named),
        mock.patch.object(time, "time", return_value=NOW.timestamp()),
        mock.patch.object(platform, "python_version", return_value=PYTHON),
        mock.patch.object(builtins, "__import__", imported),
    ):
        _exchange(_INSTEAD)
        try:
            yield
        finally:
            _exchange([(there, here) for here, there in _INSTEAD])


def _asked_by_gazeveil() -> bool:
    return str(sys._getframe(2).f_globals.get("__name__", "")).startswith(_PACKAGE)


def _exchange(pairs: list[tuple[object, object]]) -> None:
    """Put other clocks into all modules of gazeveil that hold one."""
    for name, module in list(sys.modules.items()):
        if not (name == _PACKAGE or name.startswith(f"{_PACKAGE}.")):
            continue
        for attribute, value in list(vars(module).items()):
            for here, there in pairs:
                if value is here:
                    setattr(module, attribute, there)
