# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Options that several commands, or many lines of one, share: a command is handed them as one value."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from itertools import chain
from typing import Any

import typer


def option(*names: str, text: str, panel: str, metavar: str | None = None) -> Any:
    """Return an option in a panel of its command's help."""
    return typer.Option(*names, help=text, rich_help_panel=panel, metavar=metavar)


def taking(run: Callable[..., Any], parameters: Iterable[inspect.Parameter]) -> Callable[..., Any]:
    """Return a function as a command with these arguments and options; those without a default come first."""
    merged = sorted(parameters, key=lambda item: item.default is not inspect.Parameter.empty)
    keyword = [item.replace(kind=inspect.Parameter.KEYWORD_ONLY) for item in merged]
    run.__signature__ = inspect.Signature(keyword)  # type: ignore[attr-defined]
    run.__annotations__ = {item.name: item.annotation for item in keyword}
    return run


def filled(name: str, kind: type) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return what gives a command the fields of a dataclass as options, in the place of its parameter ``name``."""
    fields = inspect.signature(kind, eval_str=True).parameters

    def give(command: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(command)
        def run(**arguments: Any) -> Any:
            value = kind(**{field: arguments.pop(field) for field in fields})
            return command(**arguments, **{name: value})

        own = inspect.signature(command, eval_str=True).parameters
        places = (fields.values() if each == name else [parameter] for each, parameter in own.items())
        return taking(run, chain.from_iterable(places))

    return give
