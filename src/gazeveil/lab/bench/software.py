# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Which version of the software a number comes from: a digest of the parts that decide it, and of nothing else.

The parts are the modules of what was asked for and all that these import from this package, wherever in a file they do
so; beside them the packaged files that they name, and the versions of foreign packages that they import. A module that
looks a thing up in a registry may get any of it, so all of that registry counts. Comments, docstrings and the shape of
a file do not.
"""

from __future__ import annotations

import ast
import hashlib
import inspect
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, packages_distributions, version
from pathlib import Path
from typing import Any, Final

import gazeveil

_PACKAGE: Final = Path(gazeveil.__file__).parent
_ROOT: Final = "gazeveil"
_OURS: Final = "gazeveil.lab.grid"
"""Modules of the grid look names up that are given to it; what they find is counted one by one."""
_DOOR: Final[dict[str, str]] = vars(gazeveil)["_HOME"]
"""Where each public name lives."""
_DATA: Final = (".npz", ".json", ".csv", ".toml", ".parquet")


@dataclass(frozen=True, slots=True)
class _File:
    """What one source file says: its code as a digest, and what it takes from elsewhere."""

    code: str
    modules: frozenset[str]
    foreign: frozenset[str]
    registries: dict[str, str]
    looked_up: frozenset[str]
    data: frozenset[str]


def software(parts: Iterable[Any]) -> str:
    """Return the digest of everything that these classes, functions and modules are made of."""
    return _software(frozenset(filter(None, map(_file_of, parts))))


@cache
def _software(roots: frozenset[Path]) -> str:
    waiting, seen = sorted(roots), set(roots)
    while waiting:
        for path in _needed(waiting.pop()):
            if path not in seen:
                seen.add(path)
                waiting.append(path)
    told = hashlib.sha256()
    for path in sorted(seen):
        told.update(f"{_name(path)} {_read(path).code}\n".encode())
    for name in sorted({name for path in seen for name in _read(path).data}):
        for path in _packaged().get(name, ()):
            told.update(f"{name} {_digest(path)}\n".encode())
    for name in sorted({name for path in seen for name in _read(path).foreign}):
        told.update(f"{name} {_version(name)}\n".encode())
    return told.hexdigest()[:16]


def _needed(path: Path) -> set[Path]:
    """Return the files of this package that a file takes something from."""
    here = _read(path)
    found = {file for name in here.modules if (file := _module(name)) is not None}
    if not _name(path).startswith(_OURS):
        packages = {name: package for file in {path, *found} for name, package in _read(file).registries.items()}
        for name in here.looked_up & packages.keys():
            folder = _module(packages[name])
            found |= set() if folder is None else set(folder.parent.glob("[!_]*.py"))
    return found


@cache
def _read(path: Path) -> _File:
    tree = ast.parse(path.read_bytes())
    modules: set[str] = set()
    foreign: set[str] = set()
    data: set[str] = set()
    registries: dict[str, str] = {}
    looked_up: set[ast.Name] = set()
    registering: set[ast.Name] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                given = [alias.name for alias in names]
            case ast.ImportFrom(module="gazeveil", level=0, names=names):  # the public door: where each name lives
                given = [_DOOR.get(alias.name, "").partition(":")[0] for alias in names]
                given += [f"{_ROOT}.{alias.name}" for alias in names]
            case ast.ImportFrom(module=str(module), level=0, names=names):
                given = [f"{module}.{alias.name}" for alias in names] + [module]
            case ast.Attribute(value=ast.Name() as name, attr="register"):
                registering.add(name)
                continue
            case ast.Name(id=known) if known.isupper():
                looked_up.add(node)
                continue
            case ast.Constant(value=str(text)) if text.endswith(_DATA):
                data.add(Path(text).name)
                continue
            case ast.AnnAssign(target=ast.Name(id=known), value=ast.Call(func=ast.Name(id="Registry")) as call):
                arguments = [*call.args, *(word.value for word in call.keywords)]
                texts = [str(one.value) for one in arguments if isinstance(one, ast.Constant)]
                registries.update((known, text) for text in texts if text.startswith(f"{_ROOT}."))
                continue
            case _:
                continue
        ours = {name for name in given if name == _ROOT or name.startswith(f"{_ROOT}.")}
        modules |= ours
        foreign |= {name.partition(".")[0] for name in given if name not in ours} - {""}
    used = frozenset(node.id for node in looked_up - registering if isinstance(node.ctx, ast.Load))
    code = hashlib.sha256(ast.dump(_without_docstrings(tree)).encode()).hexdigest()
    return _File(code, frozenset(modules), frozenset(foreign), registries, used, frozenset(data))


def _without_docstrings(tree: ast.Module) -> ast.Module:
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            body = [
                one
                for one in node.body
                if not (
                    isinstance(one, ast.Expr)
                    and isinstance(one.value, ast.Constant)
                    and isinstance(one.value.value, str)
                )
            ]
            node.body = body
    return tree


def _file_of(part: Any) -> Path | None:
    if isinstance(part, Path):
        return part
    source = inspect.getsourcefile(inspect.unwrap(getattr(part, "func", part)))
    return None if source is None else Path(source)


def _module(name: str) -> Path | None:
    """Return the file of a module; None if the name is that of something within one."""
    path = _PACKAGE.joinpath(*name.split(".")[1:])
    for file in (path.with_suffix(".py"), path / "__init__.py"):
        if file.is_file() and name != _ROOT:
            return file
    return None


def _name(path: Path) -> str:
    if not path.is_relative_to(_PACKAGE):
        return path.name
    return ".".join((_ROOT, *path.relative_to(_PACKAGE).with_suffix("").parts))


@cache
def _packaged() -> dict[str, list[Path]]:
    found: dict[str, list[Path]] = {}
    for path in sorted(_PACKAGE.rglob("*")):
        if path.suffix in _DATA and not path.is_relative_to(_PACKAGE / "lab" / "grid"):
            found.setdefault(path.name, []).append(path)
    return found


@cache
def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


@cache
def _version(module: str) -> str:
    """Return the version of a foreign package; nothing for Python's own modules and packages that are not there."""
    names = _distributions().get(module, [])
    try:
        return version(names[0]) if names else ""
    except PackageNotFoundError:
        return ""


@cache
def _distributions() -> dict[str, list[str]]:
    return dict(packages_distributions())
