# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Every command of the program, loaded, for tests that look at all of them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

from gazeveil.cli._catalogue import GROUPS
from gazeveil.cli._program import Later


@cache
def commands() -> dict[str, Any]:
    """Return every command that is shown, and every command below it, by what is typed after ``gazeveil``.

    Everyday commands are typed without their group.
    """
    found: dict[str, Any] = {}
    for group in GROUPS:
        for entry in group.entries:
            typed = entry.name if entry.everyday else f"{group.name} {entry.name}"
            found |= dict(_below(typed, Later(entry).load()))
    return found


def _below(typed: str, command: Any) -> Iterator[tuple[str, Any]]:
    yield typed, command
    for name, inner in getattr(command, "commands", {}).items():
        if not inner.hidden:
            yield from _below(f"{typed} {name}", inner)


def leaves() -> dict[str, Any]:
    """Return the commands that do something."""
    return {typed: command for typed, command in commands().items() if not getattr(command, "commands", {})}
