# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Every command of the program, loaded, for tests that look at all of them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import typer

from gazeveil.cli.main import program


@cache
def commands() -> dict[str, Any]:
    """Return every command, and every command below it, by what is typed after ``gazeveil``."""
    found: dict[str, Any] = {}
    for name, listed in typer.main.get_command(program).commands.items():  # type: ignore[attr-defined]
        for typed, later in listed.commands.items() if name == "lab" else [(name, listed)]:
            found |= dict(_below(typed if name != "lab" else f"lab {typed}", later.load()))
    return found


@cache
def panels() -> dict[str, list[str]]:
    """Return the first screen: the commands of each panel."""
    found: dict[str, list[str]] = {}
    for name, listed in typer.main.get_command(program).commands.items():  # type: ignore[attr-defined]
        assert not listed.hidden
        found.setdefault(listed.rich_help_panel, []).append(name)
    return found


def _below(typed: str, command: Any) -> Iterator[tuple[str, Any]]:
    yield typed, command
    for name, inner in getattr(command, "commands", {}).items():
        if not inner.hidden:
            yield from _below(f"{typed} {name}", inner)


def leaves() -> dict[str, Any]:
    """Return the commands that do something."""
    return {typed: command for typed, command in commands().items() if not getattr(command, "commands", {})}
