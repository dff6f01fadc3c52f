# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Paths into JSON, such as ``gaze.0``: what is there, and whether anything else is."""

from __future__ import annotations

from typing import Any, Final

ABSENT: Final = object()
"""What is found where nothing is."""

Path = tuple[str, ...]
Tree = dict[str, Any]


def path_of(name: str) -> Path:
    """Return the parts of a name; none of an empty one."""
    return tuple(name.split(".")) if name else ()


def at(told: Any, path: Path) -> Any:
    """Return what is at a path; None if something on the way is null, `ABSENT` if there is no such way."""
    for part in path:
        if told is None:
            return None
        if type(told) is dict:
            told = told.get(part, ABSENT)
        elif type(told) is list and part.isdecimal() and int(part) < len(told):
            told = told[int(part)]
        else:
            return ABSENT
    return told


def tree_of(paths: list[Path]) -> Tree:
    """Return all paths as one tree."""
    tree: Tree = {}
    for path in paths:
        branch = tree
        for part in path:
            branch = branch.setdefault(part, {})
    return tree


def has_others(told: Any, tree: Tree) -> bool:
    """Tell whether an object or a list holds anything that the tree does not name."""
    pairs = told.items() if type(told) is dict else ((str(i), value) for i, value in enumerate(told))
    return any(
        key not in tree or (type(value) in (dict, list) and has_others(value, tree[key])) for key, value in pairs
    )
