# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The program and its groups as lists of commands that are imported when they run, and what is meant by a typo."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from gazeveil.cli._catalogue import GROUPS, Entry, Group
from gazeveil.cli._types import write_types, written

UsageError: Any = typer.BadParameter.__bases__[0]
"""What a wrong command line raises: click's, or typer's own copy of it in newer versions."""
COMPLETION_VARIABLE = "_GAZEVEIL_COMPLETE"


class Later(TyperCommand):
    """A command as it is listed. It becomes the command itself when it is given arguments, or asked to load."""

    def __init__(self, entry: Entry, panel: str | None = None, moved_to: str = "") -> None:
        super().__init__(entry.name, help=entry.words, hidden=bool(moved_to), rich_help_panel=panel)
        self.moved_to = moved_to

    def load(self) -> Any:
        """Import the command's file and return the command."""
        module = importlib.import_module(f"gazeveil.cli.{self.name}")
        command = typer.main.get_command(module.app)
        command.name = self.name
        write_types(command, str(self.name))
        return command

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        """Hand over to the command, with a notice where a terminal shows that an old name was typed."""
        if self.moved_to and not extra.get("resilient_parsing") and sys.stderr.isatty():
            now = f"gazeveil {self.moved_to} {self.name}"
            print(
                f"note: `gazeveil {self.name}` is now `{now}`; the old name goes with the next version", file=sys.stderr
            )
        return self.load().make_context(info_name, args, parent=parent, **extra)


class GroupList(TyperGroup):
    """The commands of one group."""

    def __init__(self, group: Group) -> None:
        listed: dict[str, Any] = {entry.name: Later(entry) for entry in group.entries}
        super().__init__(
            name=group.name,
            help=group.words,
            short_help=group.rest,
            commands=listed,
            no_args_is_help=True,
            rich_help_panel=group.title,
        )

    def get_params(self, ctx: Any) -> Any:
        """Return the options: --help."""
        return written(super().get_params(ctx))


class Program(TyperGroup):
    """Everyday commands and groups; commands that moved into a group still answer to their old names."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        listed: dict[str, Any] = {}
        for group in GROUPS:
            listed |= {entry.name: Later(entry, group.title) for entry in group.entries if entry.everyday}
            listed[group.name] = GroupList(group)
        for group in GROUPS:
            listed |= {entry.name: Later(entry, moved_to=group.name) for entry in group.entries if not entry.everyday}
        self.commands = listed

    def get_params(self, ctx: Any) -> Any:
        """Return the program's own options."""
        return written(super().get_params(ctx))

    def _main_shell_completion(self, ctx_args: Any, prog_name: str, complete_var: str | None = None) -> None:
        if COMPLETION_VARIABLE in os.environ:  # a shell asks
            from typer._completion_classes import completion_init

            completion_init()
        super()._main_shell_completion(ctx_args, prog_name, complete_var)

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        """Read the program's own options."""
        with _meant():
            return super().make_context(info_name, args, parent=parent, **extra)

    def invoke(self, ctx: Any) -> Any:
        """Run the command that was typed."""
        with _meant():
            return super().invoke(ctx)


@contextmanager
def _meant() -> Iterator[None]:
    """Say which option was probably meant, in the words that are used for commands and other names."""
    try:
        yield
    except UsageError as wrong:
        option, close = getattr(wrong, "option_name", None), getattr(wrong, "possibilities", None)
        if close:
            wrong.possibilities = None
        if close and option:
            wrong.message = f"No such option: {option}. Did you mean {close[0]}?"
        raise
