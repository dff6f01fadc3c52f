# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Old names of public things: they work for one version more, with a warning that says the new name."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable
from typing import Any

UNTIL = "0.2"
"""The version that knows no old names any more."""


def moved(module: str, home: str, **names: str) -> Callable[[str], Any]:
    """Return a ``__getattr__`` for a module that moved as a whole.

    Args:
        module: Its old name.
        home: Its new name.
        names: New names of what is called otherwise there.
    """

    def find(name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        return renamed(module, name, home, names.get(name, name), caller=4)

    return find


def renamed(module: str, old: str, home: str, new: str, caller: int = 3) -> Any:
    """Return a thing by its new name, and warn whoever is this many calls above that the old one goes."""
    try:
        thing = getattr(importlib.import_module(home), new)
    except AttributeError:
        raise AttributeError(f"module {module!r} has no attribute {old!r}") from None
    message = f"{module}.{old} is now {home}.{new}; the old name goes with version {UNTIL}"
    warnings.warn(message, DeprecationWarning, stacklevel=caller)
    return thing
