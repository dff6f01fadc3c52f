# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Reading options in a file, so that the same files are read the same way again: ``--reading reading.toml``.

Keys are the options without dashes (``time_unit = "ms"``); ``[columns]`` is the table of ``--column``. What the command
line says comes first; rules, sentinels and columns of both are joined.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from inspect import Parameter
from pathlib import Path
from typing import Any, Final

from gazeveil.errors import FileFormatError, why
from gazeveil.toml_lines import lines_of
from gazeveil.toml_table import File, Table

_LISTS: Final = ("column", "valid", "sentinel")
_FLAGS: Final = ("y_up", "skip_bad")
_NUMBERS: Final = ("distance_mm",)
_FORMAT: Final = "format"


def with_file(path: Path, given: Mapping[str, Any], options: Mapping[str, Parameter]) -> dict[str, Any]:
    """Return the options that were given, completed with those in a file.

    Raises:
        FileFormatError: If the file is wrong; with line, field, what was expected and found.
    """
    stated = _read(path, [_FORMAT if name == "format_name" else name for name in options])
    filled = dict(given)
    for key, value in stated.items():
        name = "format_name" if key == _FORMAT else key
        if name in _LISTS:
            filled[name] = [*value, *(given[name] or [])]
        elif given[name] == options[name].default:
            filled[name] = value
    return filled


def _read(path: Path, names: list[str]) -> dict[str, Any]:
    try:
        text = path.read_text(encoding="utf-8")
        values = tomllib.loads(text)
    except (OSError, ValueError) as error:
        raise FileFormatError(
            path, expected="reading options as TOML", found=why(error), hint="for example valid = ['status==OK']"
        ) from None
    table = Table(File(path, lines_of(text)), (), values)
    found: dict[str, Any] = {}
    if "columns" in table:
        columns = table.table("columns")
        found["column"] = [f"{ours}={columns.text(ours, expected='a column of the file')}" for ours in columns.values]
    for name in names:
        if name in table and name != "column":
            found[name] = _value(table, name)
    table.done()
    return found


def _value(table: Table, name: str) -> Any:
    if name in _FLAGS:
        return table.truth(name, default=False)
    if name in _NUMBERS:
        return table.number(name, 0, 1e9)
    return list(table.names(name)) if name in _LISTS else table.text(name)
