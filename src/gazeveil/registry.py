# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Things found by name: formats, detectors, mechanisms, attacks, metrics.

What others add file by file has a `Registry`: each thing lives in one file and enters by a decorator. A registry that
is given a package imports that package's modules on first use, so a new file is found without editing a list.
Everything else has a literal table, `Names`. What enters either unlisted is found by its name and offered to nobody.
"""

from __future__ import annotations

import importlib
import pkgutil
import threading
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Generic, TypeVar

from gazeveil.errors import InternalError, UnknownName, closest

T = TypeVar("T")

# One lock for all registries: a module that is being imported may ask another registry, and two locks taken in
# two orders would wait for each other. The importing thread may ask again (it sees what was found so far).
_DISCOVERY = threading.RLock()


class Names(Mapping[str, T]):
    """A literal table: names and what they stand for, in the order of the table.

    Args:
        kind: What one of them is, for messages.
        table: Each name with its value, or with the text ``"module:attribute"``, which is imported on use.
    """

    def __init__(self, kind: str, table: Mapping[str, T | str]) -> None:
        self.kind = kind
        self._table: dict[str, T | str] = dict(table)
        self._unlisted: dict[str, T] = {}

    def __getitem__(self, name: str) -> T:
        if name in self._unlisted:
            return self._unlisted[name]
        if name not in self._table:
            raise UnknownName(f"no {self.kind} is called {name!r}", hint=closest(name, self))
        found: Any = self._table[name]
        if isinstance(found, str):
            module, _, attribute = found.partition(":")
            found = getattr(importlib.import_module(module), attribute)
        return found  # type: ignore[no-any-return]

    def get(self, name: str, default: Any = None) -> Any:
        """Return what the name stands for, or the default."""
        try:
            return self[name]
        except UnknownName:
            return default

    def __contains__(self, name: object) -> bool:
        return name in self._table or name in self._unlisted

    def __iter__(self) -> Iterator[str]:
        return iter(self._table)

    def __len__(self) -> int:
        return len(self._table)

    def names(self, *, unlisted: bool = False) -> list[str]:
        """Return the names that are listed; on request also the others."""
        return [*self, *sorted(self._unlisted)] if unlisted else [*self]

    def add_unlisted(self, name: str) -> Callable[[T], T]:
        """Return a decorator that adds what it decorates: found by its name, offered to nobody."""

        def enter(thing: T) -> T:
            if name in self:
                raise InternalError(f"two {self.kind}s are called {name!r}")
            self._unlisted[name] = thing
            return thing

        return enter


class Registry(Generic[T]):
    """Names and what they stand for."""

    def __init__(self, kind: str, package: str | None = None) -> None:
        self.kind = kind
        self._package = package
        self._entries: dict[str, T] = {}
        self._unlisted: set[str] = set()
        self._searching = False

    def register(self, name: str, *, listed: bool = True) -> Callable[[T], T]:
        """Return a decorator that enters what it decorates under ``name``; unlisted, it is found by its name alone."""

        def enter(thing: T) -> T:
            if name in self._entries:
                raise InternalError(f"two {self.kind}s are called {name!r}")
            self._entries[name] = thing
            if not listed:
                self._unlisted.add(name)
            return thing

        return enter

    def __getitem__(self, name: str) -> T:
        self._discover()
        try:
            return self._entries[name]
        except KeyError:
            raise UnknownName(f"no {self.kind} is called {name!r}", hint=closest(name, self.names())) from None

    def __contains__(self, name: object) -> bool:
        self._discover()
        return name in self._entries

    def __iter__(self) -> Iterator[T]:
        self._discover()
        return iter([self._entries[name] for name in self.names()])

    def __len__(self) -> int:
        return len(self.names())

    def names(self, *, unlisted: bool = False) -> list[str]:
        """Return the names that are listed, sorted; on request also the others."""
        self._discover()
        return sorted(name for name in self._entries if unlisted or name not in self._unlisted)

    def _discover(self) -> None:
        if self._package is not None:
            with _DISCOVERY:
                self._import_modules()

    def _import_modules(self) -> None:
        if self._package is None or self._searching:
            return
        self._searching = True
        try:
            package = importlib.import_module(self._package)
            for module in pkgutil.iter_modules(getattr(package, "__path__", ())):
                if not module.name.startswith("_"):
                    importlib.import_module(f"{package.__name__}.{module.name}")
            self._package = None  # only once all were found: a broken module breaks every look-up, not just the first
        finally:
            self._searching = False
