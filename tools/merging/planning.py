# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""A plan: which modules become one, which packages move, which names change; and the files it is about."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from tools.merging.syntax import PlanError

ROOT = Path(__file__).parents[2]
HOMES = {"gazeveil": ROOT / "src" / "gazeveil", "tests": ROOT / "tests", "benchmarks": ROOT / "benchmarks"}
"""Where modules lie, by the first part of their names."""


@dataclass(frozen=True)
class Plan:
    """Where every module goes, and what is renamed.

    Attributes:
        modules: New names of modules, by their old ones.
        merged: The parts of each new module.
        docs: Docstrings of new modules, where they are given.
        packages: New names of whole packages.
        names: New names of what a module defines, by module and old name.
        known: All modules there are, or were.
    """

    modules: dict[str, str]
    merged: dict[str, list[str]] = field(default_factory=dict)
    docs: dict[str, str] = field(default_factory=dict)
    packages: dict[str, str] = field(default_factory=dict)
    names: dict[tuple[str, str], str] = field(default_factory=dict)
    known: dict[str, Path] = field(default_factory=dict)

    def module(self, old: str) -> str:
        """Return the new name of a module or package."""
        return self.modules.get(old, old)

    def name(self, module: str, old: str) -> str:
        """Return the new name of what a module defines."""
        return self.names.get((module, old), old)

    def in_words(self, text: str) -> str:
        """Return a text whose dotted names and paths are the new ones."""
        text = re.sub(rf"\b(?:{'|'.join(HOMES)})(?:\.\w+)+", lambda found: self._dotted(found[0]), text)
        for old, new in self.packages.items():
            text = re.sub(rf"\b(src/|){old.replace('.', '/')}(?=/)", rf"\g<1>{new.replace('.', '/')}", text)
        for old, new in self.modules.items():
            if old != new and (path := f"{old.replace('.', '/')}.py") in text:
                text = text.replace(path, f"{new.replace('.', '/')}.py")
        return text

    def _dotted(self, words: str) -> str:
        parts = words.split(".")
        for length in range(len(parts), 1, -1):
            name = ".".join(parts[:length])
            if name in self.known or name in self.packages:
                rest = parts[length:]
                if rest:
                    rest[0] = self.name(name, rest[0])
                return ".".join([self.modules.get(name) or self.packages.get(name) or name, *rest])
        return words


def module_name(path: Path) -> str:
    """Return the dotted name of a file; nothing if it is no module."""
    for root, home in HOMES.items():
        if path.is_relative_to(home):
            parts = path.relative_to(home).with_suffix("").parts
            parts = parts[:-1] if parts and parts[-1] == "__init__" else parts
            return ".".join((root, *parts))
    return ""


def files() -> list[Path]:
    """Return all files of the project that are tracked or new."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [path for line in listed.splitlines() if (path := ROOT / line).is_file()]


def modules_of(paths: Iterable[Path]) -> dict[str, Path]:
    """Return the modules among files, by name."""
    return {name: path for path in paths if path.suffix == ".py" and (name := module_name(path))}


def read_plan(paths: Iterable[Path], known: dict[str, Path]) -> Plan:
    """Read plans and say for each known module where it goes.

    Raises:
        PlanError: If a module would go to two places, or take another one's.
    """
    merged: dict[str, list[str]] = {}
    docs: dict[str, str] = {}
    packages: dict[str, str] = {}
    names: dict[tuple[str, str], str] = {}
    for path in paths:
        given = tomllib.loads(path.read_text(encoding="utf-8"))
        for new, table in given.get("module", {}).items():
            for old in set(table["from"]) - known.keys():
                print(f"{path.name}: there is no module {old} (any more); left out", file=sys.stderr)
            if parts := [old for old in table["from"] if old in known]:
                merged[new] = parts
                docs |= {new: table["doc"].strip()} if "doc" in table else {}
        packages |= given.get("package", {})
        for old, word in given.get("rename", {}).items():
            module, _, name = old.partition(":")
            names[module, name] = word
    modules = _places(merged, packages, known)
    return Plan(modules, merged, docs, packages, names, known)


def _places(merged: dict[str, list[str]], packages: dict[str, str], known: dict[str, Path]) -> dict[str, str]:
    """Return where each module goes; what moves with its package becomes a merge of one part."""
    modules: dict[str, str] = {}
    for new, parts in merged.items():
        for part in parts:
            if part in modules:
                raise PlanError(f"{part} goes to {modules[part]} and to {new}")
            modules[part] = new
    for old in known.keys() - modules.keys():
        for package, there in sorted(packages.items(), key=lambda pair: -len(pair[0])):
            if old == package or old.startswith(f"{package}."):
                modules[old] = there + old[len(package) :]
                if modules[old] in merged:
                    raise PlanError(f"{modules[old]} is there already, and {old} would take its place")
                merged[modules[old]] = [old]
                break
    for new, parts in merged.items():
        if new in known and new not in modules:
            raise PlanError(f"{new} is a module that stays; list it among the parts of the new one")
        if new in known and new not in parts and modules[new] == new:
            raise PlanError(f"{new} has two meanings")
    return modules
