# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Move, merge and rename modules without any change of behaviour: ``python -m tools.merge_modules PLAN.toml …``.

A plan says which modules become one (``[module."new.name"] from = […]``), which packages move (``[package]``), and
which names change on the way (``[rename] "old.module:name" = "new"``). What is merged is put in the order of its
imports, imports among the parts are dropped, every user is rewritten: code, tests, documents, settings. Nothing is
written if two parts define one name in two ways, or if a module would import itself in a circle.
"""

from __future__ import annotations

import argparse
import ast
import json
import re
import shutil
import subprocess
import sys
import textwrap
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).parents[1]
HOMES = {"gazeveil": ROOT / "src" / "gazeveil", "tests": ROOT / "tests", "benchmarks": ROOT / "benchmarks"}
TEXTS = {".md", ".toml", ".yml", ".yaml", ".ipynb", ".py", ".js", ".html", ".json", ".txt", ".cfg", ".sh"}
HEADER = "# SPDX-FileCopyrightText: 2026 The gazeveil authors\n# SPDX-License-Identifier: Apache-2.0\n"
FUTURE = "from __future__ import annotations\n"
Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
Import = ast.Import | ast.ImportFrom


class PlanError(Exception):
    """The plan cannot be followed."""


@dataclass(frozen=True)
class Plan:
    """Where every module goes, and what is renamed."""

    modules: dict[str, str]
    merged: dict[str, list[str]]
    docs: dict[str, str]
    packages: dict[str, str]
    names: dict[tuple[str, str], str]

    def module(self, old: str) -> str:
        """Return the new name of a module or package."""
        return self.modules.get(old, old)


@dataclass
class Source:
    """A Python file with its syntax tree, its scopes, and the edits that are wanted."""

    path: Path
    name: str
    text: str
    tree: ast.Module
    parents: dict[ast.AST, ast.AST] = field(default_factory=dict)
    bound: dict[ast.AST, set[str]] = field(default_factory=dict)
    edits: dict[tuple[int, int], str] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path, name: str) -> Source:
        """Read and parse a file."""
        text = path.read_text(encoding="utf-8")
        source = cls(path, name, text, ast.parse(text))
        for node in ast.walk(source.tree):
            for child in ast.iter_child_nodes(node):
                source.parents[child] = node
        source._bind()
        lines = [len(line.encode()) for line in text.splitlines(keepends=True)]
        source._starts = [0]  # type: ignore[attr-defined]
        for length in lines:
            source._starts.append(source._starts[-1] + length)  # type: ignore[attr-defined]
        return source

    def at(self, line: int, column: int) -> int:
        """Return the offset in bytes of a place."""
        return int(self._starts[line - 1] + column)  # type: ignore[attr-defined]

    def span(self, node: ast.AST) -> tuple[int, int]:
        """Return where a node begins and ends."""
        return self.at(node.lineno, node.col_offset), self.at(node.end_lineno, node.end_col_offset)  # type: ignore[attr-defined]

    def scope(self, node: ast.AST) -> ast.AST:
        """Return the scope that holds a node: a function, class, comprehension, or the module."""
        child, parent = node, self.parents.get(node)
        while parent is not None:
            if isinstance(parent, ast.FunctionDef | ast.AsyncFunctionDef):
                if child in parent.body or (isinstance(child, ast.arguments) and self._inside_arguments(node, parent)):
                    return parent
            elif (
                isinstance(parent, ast.Lambda | ast.Module)
                or isinstance(parent, Comprehension)
                or (isinstance(parent, ast.ClassDef) and child in parent.body)
            ):
                return parent
            child, parent = parent, self.parents.get(parent)
        return self.tree

    @staticmethod
    def _inside_arguments(node: ast.AST, _: ast.AST) -> bool:
        return isinstance(node, ast.arg)

    def _bind(self) -> None:
        declared: dict[ast.AST, set[str]] = defaultdict(set)
        bound: dict[ast.AST, set[str]] = defaultdict(set)
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Global):
                declared[self.scope(node)] |= set(node.names)
            elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
                scope = self.scope(node)
                if isinstance(self.parents.get(node), ast.NamedExpr):
                    while isinstance(scope, Comprehension):
                        scope = self.scope(scope)
                bound[scope].add(node.id)
            elif isinstance(node, ast.arg):
                owner = self.parents[self.parents[node]]
                bound[owner].add(node.arg)
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                bound[self.scope(node)].add(node.name)
            elif isinstance(node, Import):
                for alias in node.names:
                    bound[self.scope(node)].add((alias.asname or alias.name).split(".")[0])
            elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name:
                bound[self.scope(node)].add(node.name)
        for scope, names in declared.items():
            bound[scope] -= names
        self.bound = bound

    def home(self, node: ast.AST, name: str) -> ast.AST:
        """Return the scope in which a name that is used at a node is bound; the module if nowhere else."""
        scope = self.scope(node)
        first = True
        while not isinstance(scope, ast.Module):
            if name in self.bound.get(scope, ()) and (first or not isinstance(scope, ast.ClassDef)):
                return scope
            first = False
            scope = self.scope(scope)
        return scope

    def uses(self, name: str, home: ast.AST) -> Iterator[ast.Name]:
        """Yield every use of a name that is bound in a scope."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Name) and node.id == name and self.home(node, name) is home:
                yield node

    def replace(self, node: ast.AST, old: str, new: str) -> None:
        """Note that the text of a node becomes another one; nodes within f-strings are looked for."""
        start, end = self.span(node)
        raw = self.text.encode()
        if raw[start:end].decode(errors="replace") == old:
            self.edits[start, end] = new
            return
        outer: ast.AST | None = node
        while outer is not None and not isinstance(outer, ast.JoinedStr):
            outer = self.parents.get(outer)
        if outer is None:
            raise PlanError(f"{self.path}:{getattr(node, 'lineno', 0)}: {old!r} is not where it should be")
        top: ast.AST = outer
        while isinstance(self.parents.get(top), ast.JoinedStr | ast.FormattedValue):
            top = self.parents[top]
        start, end = self.span(top)
        found = re.compile(rf"(?<![\w.]){re.escape(old)}(?!\w)".encode())
        for hit in found.finditer(raw[start:end]):
            if raw[start : start + hit.start()].count(b"{") > raw[start : start + hit.start()].count(b"}"):
                self.edits[start + hit.start(), start + hit.end()] = new

    def rename(self, name: str, new: str, home: ast.AST) -> None:
        """Note that a name that is bound in a scope becomes another one, with all its uses."""
        if name == new:
            return
        for node in self.uses(name, home):
            self.replace(node, name, new)
            inner = self.home_of_new(node, new)
            if inner is not home and not isinstance(inner, ast.Module):
                raise PlanError(f"{self.path}:{node.lineno}: {new!r} for {name!r} would be caught by another {new!r}")
        for node in ast.walk(self.tree):
            if (
                isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
                and node.name == name
                and self.scope(node) is home
            ):
                start = self.at(node.lineno, node.col_offset)
                word = re.compile(rb"(?:async\s+def|def|class)\s+").match(self.text.encode(), start)
                if word is None:
                    raise PlanError(f"{self.path}:{node.lineno}: no definition of {name}")
                self.edits[word.end(), word.end() + len(name.encode())] = new
            elif isinstance(node, ast.Global) and name in node.names and isinstance(home, ast.Module):
                start, end = self.span(node)
                names = [new if each == name else each for each in node.names]
                self.edits[start, end] = f"global {', '.join(names)}"

    def home_of_new(self, node: ast.AST, new: str) -> ast.AST:
        """Return where a name would be found if it stood in a node's place."""
        return self.home(node, new)

    def edited(self, start: int = 0, end: int | None = None) -> str:
        """Return the text between two places with all edits made."""
        raw = self.text.encode()
        end = len(raw) if end is None else end
        parts, last = [], start
        for (first, after), new in sorted(self.edits.items()):
            if first < start or after > end or first < last:
                continue
            parts += [raw[last:first], new.encode()]
            last = after
        return b"".join([*parts, raw[last:end]]).decode()


def read_plan(paths: Iterable[Path], known: dict[str, Path]) -> Plan:
    """Read plans and say for each known module where it goes."""
    merged: dict[str, list[str]] = {}
    docs, packages, names = {}, {}, {}
    for path in paths:
        given = tomllib.loads(path.read_text(encoding="utf-8"))
        for new, table in given.get("module", {}).items():
            missing = [old for old in table["from"] if old not in known]
            for old in missing:
                print(f"{path.name}: there is no module {old} (any more); left out", file=sys.stderr)
            merged[new] = [old for old in table["from"] if old in known]
            if not merged[new]:
                del merged[new]
                continue
            if "doc" in table:
                docs[new] = table["doc"].strip()
        packages |= given.get("package", {})
        for old, word in given.get("rename", {}).items():
            module, _, name = old.partition(":")
            names[module, name] = word
    modules = {}
    for old in known:
        for package, new in sorted(packages.items(), key=lambda pair: -len(pair[0])):
            if old == package or old.startswith(package + "."):
                modules[old] = new + old[len(package) :]
                break
    for new, parts in merged.items():
        for part in parts:
            if modules.get(part, part) != part and any(part in others for n, others in merged.items() if n != new):
                raise PlanError(f"{part} goes to two places")
            modules[part] = new
    for old, new in modules.items():
        if old not in {part for parts in merged.values() for part in parts}:
            merged.setdefault(new, [])
            if merged[new] and merged[new] != [old]:
                raise PlanError(f"{new} is there already, and {old} would take its place")
            merged[new] = [old]
    taken = {old for old in known if old not in modules}
    for new, parts in merged.items():
        if new in taken and new not in parts:
            raise PlanError(f"{new} is a module that stays; list it among the parts of the new one")
    return Plan(modules, merged, docs, packages, names)


def module_name(path: Path) -> str:
    """Return the dotted name of a file."""
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


def defined(source: Source) -> dict[str, str]:
    """Return every name that a module binds at its top, with what it stands for: an import's origin, or its own text."""
    found: dict[str, str] = {}
    raw = source.text.encode()
    for node in ast.walk(source.tree):
        if isinstance(node, Import) and source.scope(node) is source.tree:
            for alias in node.names:
                module = node.module if isinstance(node, ast.ImportFrom) else None
                origin = f"import {module}.{alias.name}" if module else f"import {alias.name}"
                found[(alias.asname or alias.name).split(".")[0]] = origin
    for name in source.bound.get(source.tree, set()) - found.keys():
        texts = []
        for node in source.tree.body:
            here = {getattr(node, "name", None)}
            if isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                here |= {each.id for target in targets for each in ast.walk(target) if isinstance(each, ast.Name)}
            if name in here:
                start, end = source.span(node)
                texts.append(raw[start:end].decode())
        found[name] = "\n".join(texts) or f"within {source.name}"
    return found


class Rewriter:
    """Rewrites one file: its imports, and the uses of what they bring."""

    def __init__(self, source: Source, plan: Plan, known: dict[str, Path], own: str) -> None:
        self.source, self.plan, self.known, self.own = source, plan, known, own

    def imported(self, node: Import) -> list[str] | None:
        """Return the statements that take an import's place, or None if it stays as it is."""
        if isinstance(node, ast.Import):
            return self._plain(node)
        if node.module is None or node.module.split(".")[0] not in HOMES:
            return None
        home = self.source.scope(node)
        groups: dict[str, list[str]] = defaultdict(list)
        changed = False
        for alias in node.names:
            local = alias.asname or alias.name
            whole = f"{node.module}.{alias.name}"
            if whole in self.known:
                changed |= self._module(alias, whole, local, home, groups)
                continue
            target = self.plan.module(node.module)
            name = self.plan.names.get((node.module, alias.name), alias.name)
            changed |= target != node.module or name != alias.name
            if target == self.own and node.module != self.source.name:
                self.source.rename(local, name, home)
                changed = True
                continue
            if alias.asname is None or alias.asname == name:
                again = self.plan.names.get((self.source.name, local)) if home is self.source.tree else None
                if again is None:
                    self._rename(local, name, home)
                groups[target].append(name if again is None else f"{name} as {again}")
            else:
                again = self.plan.names.get((self.source.name, local), local) if home is self.source.tree else local
                groups[target].append(f"{name} as {again}")
        if not changed and not any(
            (self.source.name, alias.asname or alias.name) in self.plan.names for alias in node.names
        ):
            return None
        return [f"from {module} import {', '.join(dict.fromkeys(names))}" for module, names in groups.items()]

    def _rename(self, local: str, name: str, home: ast.AST) -> None:
        if local != name:
            self.source.rename(local, name, home)

    def _module(self, alias: ast.alias, whole: str, local: str, home: ast.AST, groups: dict[str, list[str]]) -> bool:
        """Rewrite the import of a module as a thing, and the uses of its names."""
        target = self.plan.module(whole)
        if target == self.own and whole != self.source.name:
            for use in list(self.source.uses(local, home)):
                dot = self.source.parents[use]
                if not (isinstance(dot, ast.Attribute) and dot.value is use):
                    raise PlanError(f"{self.source.path}:{use.lineno}: {local} is used as a value within {target}")
                name = self.plan.names.get((whole, dot.attr), dot.attr)
                if not isinstance(inner := self.source.home(use, name), ast.Module):
                    raise PlanError(
                        f"{self.source.path}:{use.lineno}: {local}.{dot.attr} would become {name}, which is a name of "
                        f"{getattr(inner, 'name', 'an inner scope')}"
                    )
                if (
                    name in self.source.bound[self.source.tree]
                    and self.plan.names.get((self.source.name, name), name) == name
                ):
                    raise PlanError(
                        f"{self.source.path}:{use.lineno}: {local}.{dot.attr} would become {name}, which this module has"
                    )
                self.source.replace(dot, f"{local}.{dot.attr}", name)
            return True
        for use in self.source.uses(local, home):
            dot = self.source.parents[use]
            if isinstance(dot, ast.Attribute) and (new := self.plan.names.get((whole, dot.attr))):
                end = self.source.span(dot)[1]
                self.source.edits[end - len(dot.attr.encode()), end] = new
            elif isinstance(dot, ast.Call) and use in dot.args and len(dot.args) > 1:
                word = dot.args[1]
                if isinstance(word, ast.Constant) and (new := self.plan.names.get((whole, str(word.value)))):
                    self.source.edits[self.source.span(word)] = f'"{new}"'
        parent, _, last = target.rpartition(".")
        if target == whole:
            groups[parent].append(f"{last} as {alias.asname}" if alias.asname else last)
            return False
        anywhere = {name for names in self.source.bound.values() for name in names}
        inner = any(isinstance(node, ast.Name) and node.id == last for node in ast.walk(self.source.tree))
        free = last not in anywhere and not inner
        others = {
            each.name
            for node in ast.walk(self.source.tree)
            if isinstance(node, ast.ImportFrom)
            for each in node.names
            if self.plan.module(f"{node.module}.{each.name}") == target and each.asname is None
        }
        if alias.asname is None and (free or (last in others and anywhere & {last} == {last} and last in others)):
            self._rename(local, last, home)
            groups[parent].append(last)
        elif alias.asname is None and last == local:
            groups[parent].append(last)
        else:
            groups[parent].append(f"{last} as {local}")
        return True

    def _plain(self, node: ast.Import) -> list[str] | None:
        lines, changed = [], False
        for alias in node.names:
            if alias.name.split(".")[0] in HOMES and self.plan.module(alias.name) != alias.name:
                changed = True
                as_ = f" as {alias.asname}" if alias.asname else ""
                lines.append(f"import {self.plan.module(alias.name)}{as_}")
                if not alias.asname:
                    for use in ast.walk(self.source.tree):
                        if isinstance(use, ast.Attribute) and ast.unparse(use) == alias.name:
                            self.source.edits[self.source.span(use)] = self.plan.module(alias.name)
            else:
                lines.append(ast.unparse(ast.Import([alias])))
        return lines if changed else None

    def whole_lines(self, node: ast.AST) -> tuple[int, int]:
        """Return the place of a statement with its indentation and what stands behind it on its line."""
        start = self.source.at(node.lineno, 0)  # type: ignore[attr-defined]
        end = (
            self.source.at(node.end_lineno + 1, 0)
            if node.end_lineno < len(self.source._starts) - 1
            else len(  # type: ignore[attr-defined]
                self.source.text.encode()
            )
        )
        return start, end

    def comment(self, node: ast.AST) -> str:
        """Return the comment at the end of a statement."""
        _, end = self.source.span(node)
        rest = self.source.text.encode()[end : self.whole_lines(node)[1]].decode()
        inner = [
            line.split("#", 1)[1]
            for line in self.source.text.splitlines()[node.lineno - 1 : node.end_lineno - 1]  # type: ignore[attr-defined]
            if "#" in line
        ]
        found = [rest.split("#", 1)[1]] if "#" in rest else inner[:1]
        return f"  #{found[0].rstrip()}" if found else ""

    def rewrite_imports(self, *, hoisted: bool, top: set[str]) -> list[str]:
        """Rewrite all imports; those at the top of a module that is merged are returned and taken out."""
        out: list[str] = []
        for node in [each for each in ast.walk(self.source.tree) if isinstance(each, Import)]:
            if isinstance(node, ast.ImportFrom) and node.module == "__future__":
                continue
            new = self.imported(node)
            parent = self.source.parents[node]
            checking = isinstance(parent, ast.If) and ast.unparse(parent.test) == "TYPE_CHECKING"
            at_top = parent is self.source.tree or (checking and self.source.parents[parent] is self.source.tree)
            start, end = self.whole_lines(node)
            comment = self.comment(node)
            if hoisted and at_top:
                lines = [ast.unparse(node)] if new is None else new
                lines = [f"{line}{comment}" for line in lines]
                out += [f"TYPE {line}" if checking else line for line in lines]
                self.source.edits[start, end] = ""
                continue
            if new is None:
                continue
            indent = " " * node.col_offset
            lines = [f"{indent}{line}{comment}\n" for line in new if line not in top]
            if not lines and not at_top and len(getattr(parent, "body", [0, 0])) == 1:
                lines = [f"{indent}pass\n"]
            self.source.edits[start, end] = "".join(lines)
        if hoisted:
            for node in self.source.tree.body:
                if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
                    if all(isinstance(each, Import) for each in node.body) and not node.orelse:
                        for key in [k for k in self.source.edits if self.inside(k, self.whole_lines(node))]:
                            del self.source.edits[key]
                        self.source.edits[self.whole_lines(node)] = ""
        return out

    @staticmethod
    def inside(inner: tuple[int, int], outer: tuple[int, int]) -> bool:
        """Return whether a place lies in another one."""
        return outer[0] <= inner[0] and inner[1] <= outer[1]


def order(parts: list[Source], plan: Plan) -> list[Source]:
    """Return the parts of a module so that what is imported comes before who imports it."""
    by_name = {part.name: part for part in parts}
    graph: dict[str, set[str]] = {}
    for part in parts:
        needs = set()
        for node in part.tree.body:
            if isinstance(node, ast.ImportFrom) and node.module:
                needs |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)} & by_name.keys()
        graph[part.name] = needs - {part.name}
    place = {name: number for number, name in enumerate(by_name)}
    sorter = TopologicalSorter(graph)
    sorter.prepare()
    names: list[str] = []
    ready = list(sorter.get_ready())
    while ready:
        ready.sort(key=place.__getitem__)
        name = ready.pop(0)
        names.append(name)
        sorter.done(name)
        ready += sorter.get_ready()
    return [by_name[name] for name in names]


def collisions(parts: list[Source], plan: Plan, new: str) -> tuple[list[str], dict[str, set[str]]]:
    """Return what two parts mean by one name, and per part the names that are the same thing twice."""
    seen: dict[str, tuple[str, str]] = {}
    wrong, twice = [], defaultdict(set)
    for part in parts:
        for name, meaning in defined(part).items():
            if name in ("__all__", "annotations", "TYPE_CHECKING"):
                continue
            if meaning.startswith("import "):
                whole = meaning.removeprefix("import ")
                module, _, what = whole.rpartition(".")
                if plan.module(module) == new or plan.module(whole) == new:
                    continue
                meaning = f"import {plan.module(module)}.{plan.names.get((module, what), what)}" if module else meaning
            final = plan.names.get((part.name, name), name)
            if final not in seen:
                seen[final] = part.name, meaning
            elif seen[final][1] != meaning:
                wrong.append(f"{new}: {final!r} is one thing in {seen[final][0]} and another in {part.name}")
            elif not meaning.startswith("import "):
                twice[part.name].add(name)
    return wrong, twice


def paragraphs(source: Source) -> tuple[str, str]:
    """Return the first line of a module's docstring, and what comes after it."""
    first, _, rest = (ast.get_docstring(source.tree, clean=True) or "").partition("\n\n")
    return " ".join(first.split()), rest.strip()


def merge(new: str, parts: list[Source], plan: Plan, known: dict[str, Path]) -> str:
    """Return the text of a module that is made of others."""
    if len(parts) == 1:
        return moved(parts[0], new, plan, known)
    wrong, twice = collisions(parts, plan, new)
    if wrong:
        raise PlanError("\n".join(wrong))
    parts = order(parts, plan)
    imports: list[str] = []
    bodies: list[str] = []
    rewriters = [Rewriter(part, plan, known, new) for part in parts]
    tops: set[str] = set()
    for part, rewriter in zip(parts, rewriters, strict=True):
        taken = rewriter.rewrite_imports(hoisted=True, top=set())
        imports += taken
        tops |= {line.split("  #")[0] for line in taken if not line.startswith("TYPE ")}
    for part in parts:
        for name in twice[part.name]:
            for node in part.tree.body:
                if name in {getattr(node, "name", None), *(_targets(node))}:
                    part.edits[part.span(node)] = ""
        for (module, name), word in plan.names.items():
            if module == part.name and name in part.bound[part.tree]:
                if not defined(part)[name].startswith("import ") or (part.name, name) in plan.names:
                    part.rename(name, word, part.tree)
        bodies.append(_body(part))
    doc = plan.docs.get(new) or (ast.get_docstring(parts[0].tree) or "" if len(parts) == 1 else paragraphs(parts[0])[0])
    if len(parts) > 1:
        rest = [text for part in parts if (text := paragraphs(part)[1])]
        doc = "\n\n".join([doc, *rest])
        bodies = [
            f"# {'-' * 3} {paragraphs(part)[0]}\n\n\n{body}" if number and body.strip() else body
            for number, (part, body) in enumerate(zip(parts, bodies, strict=True))
        ]
    plain = list(dict.fromkeys(line for line in imports if not line.startswith("TYPE ")))
    bare = {line.split("  #")[0] for line in plain}
    plain = [line for line in plain if "  #" in line or line in bare]
    typing = [line[5:] for line in dict.fromkeys(imports) if line.startswith("TYPE ")]
    typing = [line for line in typing if line not in bare]
    header = [
        HEADER,
        f'"""{doc}\n"""\n' if "\n" in doc else f'"""{doc}"""\n',
        "\n",
        FUTURE,
        "\n",
        *(f"{line}\n" for line in plain),
    ]
    if typing:
        header += ["\nif TYPE_CHECKING:\n", *(f"    {line}\n" for line in typing)]
    return "".join(header) + "\n\n" + "\n\n\n".join(body.strip("\n") for body in bodies if body.strip()) + "\n"


def moved(part: Source, new: str, plan: Plan, known: dict[str, Path]) -> str:
    """Return the text of a module that only moves."""
    Rewriter(part, plan, known, new).rewrite_imports(hoisted=False, top=set())
    for (module, name), word in plan.names.items():
        if module == part.name and name in part.bound[part.tree]:
            part.rename(name, word, part.tree)
    if new in plan.docs:
        doc = plan.docs[new]
        part.edits[part.span(part.tree.body[0])] = f'"""{doc}\n"""' if "\n" in doc else f'"""{doc}"""'
    return part.edited()


def _targets(node: ast.AST) -> set[str]:
    if isinstance(node, ast.Assign):
        return {each.id for target in node.targets for each in ast.walk(target) if isinstance(each, ast.Name)}
    return {node.target.id} if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) else set()


def _body(part: Source) -> str:
    """Return what a part brings beside header, docstring and imports."""
    start = 0
    for node in part.tree.body:
        docstring = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and node is part.tree.body[0]
        future = isinstance(node, ast.ImportFrom) and node.module == "__future__"
        if docstring or future:
            start = (
                part.at(node.end_lineno + 1, 0) if node.end_lineno < len(part._starts) - 1 else len(part.text.encode())
            )  # type: ignore[attr-defined]
        if isinstance(node, ast.Assign) and _targets(node) == {"__all__"}:
            part.edits[part.span(node)] = ""
    return part.edited(start)


def circles(sources: dict[str, ast.Module]) -> None:
    """Refuse modules that import each other in a circle when they are loaded.

    Raises:
        PlanError: If there is one.
    """
    graph = {}
    for name, tree in sources.items():
        needs = set()
        for node in tree.body:
            if isinstance(node, ast.ImportFrom) and node.module:
                for alias in node.names:
                    whole = f"{node.module}.{alias.name}"
                    needs.add(whole if whole in sources else node.module)
            elif isinstance(node, ast.Import):
                needs |= {alias.name for alias in node.names}
        graph[name] = (needs & sources.keys()) - {name}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as circle:
        raise PlanError(f"a circle of imports: {' -> '.join(circle.args[1])}") from None


def in_words(text: str, plan: Plan, known: dict[str, Path]) -> str:
    """Return a text whose dotted names and paths are the new ones."""

    def dotted(found: re.Match[str]) -> str:
        parts = found[0].split(".")
        for length in range(len(parts), 1, -1):
            name = ".".join(parts[:length])
            if name in known or name in plan.packages:
                new = plan.modules.get(name) or plan.packages.get(name) or name
                rest = parts[length:]
                if rest and (name, rest[0]) in plan.names:
                    rest[0] = plan.names[name, rest[0]]
                return ".".join([new, *rest])
        return found[0]

    text = re.sub(rf"\b(?:{'|'.join(HOMES)})(?:\.\w+)+", dotted, text)
    for old, new in plan.packages.items():
        text = re.sub(
            rf"\b(src/)?{old.replace('.', '/')}(?=/)", lambda m, n=new: (m[1] or "") + n.replace(".", "/"), text
        )
    for old, new in plan.modules.items():
        if old != new and "/" in (path := old.replace(".", "/")) and f"{path}.py" in text:
            text = text.replace(f"{path}.py", f"{new.replace('.', '/')}.py")
    return text


def wrapped(text: str, width: int = 120) -> str:
    """Return a module whose docstrings keep within a line's width: longer names may have pushed words out."""
    lines = text.split("\n")
    if all(len(line) <= width for line in lines):
        return text
    inside: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            inside |= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    number = 0
    while number < len(lines):
        line = lines[number]
        if len(line) > width and number + 1 in inside and not line.lstrip().startswith('"""'):
            indent = line[: len(line) - len(line.lstrip())]
            end = number + 1
            while (
                end + 1 in inside
                and lines[end].strip()
                and lines[end].startswith(indent)
                and lines[end][len(indent)] not in ' -*"`'
            ):
                end += 1
            words = " ".join(each.strip() for each in lines[number:end])
            lines[number:end] = textwrap.wrap(
                words,
                width,
                initial_indent=indent,
                subsequent_indent=indent,
                break_long_words=False,
                break_on_hyphens=False,
            )
        number += 1
    return "\n".join(lines)


def main() -> None:
    """Follow the plans, or say why they cannot be followed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("plans", nargs="*", type=Path)
    parser.add_argument("--check", action="store_true", help="write nothing")
    parser.add_argument("--record", type=Path, help="add what went where to this file (JSON)")
    parser.add_argument("--replay", type=Path, help="rewrite users alone, by what was recorded in this file")
    given = parser.parse_args()
    try:
        if given.replay:
            replay(given.replay)
        else:
            follow(given.plans, check=given.check, record=given.record)
    except PlanError as error:
        sys.exit(f"error: {error}")


def replay(record: Path) -> None:
    """Rewrite users of modules that went elsewhere before: what comes from a branch that does not know the new names."""
    steps = json.loads(record.read_text(encoding="utf-8"))
    for step in steps:
        everything = files()
        now = {name: path for path in everything if path.suffix == ".py" and (name := module_name(path))}
        modules = {old: new for old, new in step["modules"].items() if old not in now or old == new}
        names = {(old, name): new for old, name, new in step["names"] if old in modules or old in now}
        packages = {old: new for old, new in step["packages"].items()}
        plan = Plan(modules, {}, {}, packages, {key: new for key, new in names.items() if key[0] in modules})
        known = {**now, **dict.fromkeys(modules, ROOT / "gone.py")}
        for path in everything:
            if path.suffix not in TEXTS or path == record:
                continue
            text = path.read_text(encoding="utf-8")
            changed = text
            if path.suffix == ".py":
                source = Source.read(path, module_name(path))
                Rewriter(source, plan, known, source.name).rewrite_imports(hoisted=False, top=set())
                changed = source.edited()
            changed = in_words(changed, plan, known)
            changed = wrapped(changed) if path.suffix == ".py" else changed
            if changed != text:
                path.write_text(changed, encoding="utf-8")
                print(path.relative_to(ROOT))


def follow(plans: list[Path], *, check: bool, record: Path | None = None) -> None:
    """Move and merge what the plans say.

    Raises:
        PlanError: If they cannot be followed; nothing was written then.
    """
    everything = files()
    known = {name: path for path in everything if path.suffix == ".py" and (name := module_name(path))}
    plan = read_plan(plans, known)
    sources = {path: Source.read(path, module_name(path)) for path in everything if path.suffix == ".py"}
    written: dict[Path, str] = {}
    gone: set[Path] = set()
    movers: dict[Path, Path] = {}
    problems: list[str] = []
    for new, old in plan.merged.items():
        parts = [sources[known[name]] for name in old]
        packaged = any(part.path.name == "__init__.py" and len(parts) == 1 for part in parts)
        place = _place(new, packaged)
        try:
            written[place] = merge(new, parts, plan, known)
        except PlanError as error:
            problems.append(str(error))
            continue
        largest = max(parts, key=lambda part: len(part.text))
        movers[largest.path] = place
        gone |= {part.path for part in parts} - {place}
    for path, source in sources.items():
        if path in written or source.name in plan.modules:
            continue
        try:
            Rewriter(source, plan, known, source.name).rewrite_imports(hoisted=False, top=set())
            for (module, name), word in plan.names.items():
                if module == source.name:
                    source.rename(name, word, source.tree)
        except PlanError as error:
            problems.append(str(error))
        written[path] = source.edited()
    for path, text in list(written.items()):
        written[path] = wrapped(in_words(text, plan, known))
    if problems:
        raise PlanError("\n".join(problems))
    trees = {}
    for path, text in written.items():
        try:
            trees[module_name(path)] = ast.parse(text)
        except SyntaxError as error:
            raise PlanError(f"{path}: {error}") from None
    circles({name: tree for name, tree in trees.items() if name.startswith("gazeveil")})
    print(f"{len(plan.modules)} modules become {len(plan.merged)}; {len(gone)} files go")
    if check:
        return
    for path, place in movers.items():
        if path != place:
            place.parent.mkdir(parents=True, exist_ok=True)
            subprocess.run(["git", "mv", "-f", str(path), str(place)], cwd=ROOT, check=True)
    for path in gone:
        if path.exists() and path not in written:
            subprocess.run(["git", "rm", "-qf", "--cached", str(path)], cwd=ROOT, check=False)
            path.unlink()
    for old, new in sorted(plan.packages.items(), key=lambda pair: -len(pair[0])):
        _move_data(old, new, everything)
    for path in everything:
        if path.suffix in TEXTS and path.suffix != ".py" and path.exists():
            text = path.read_text(encoding="utf-8")
            if (changed := in_words(text, plan, known)) != text:
                path.write_text(changed, encoding="utf-8")
    for path, text in written.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
    _sweep()
    if record is not None:
        steps = json.loads(record.read_text(encoding="utf-8")) if record.exists() else []
        names = [[old, name, word] for (old, name), word in plan.names.items()]
        steps.append({"modules": plan.modules, "packages": plan.packages, "names": names})
        record.write_text(json.dumps(steps, indent=1), encoding="utf-8")


def _place(new: str, packaged: bool) -> Path:
    root, *rest = new.split(".")
    place = HOMES[root].joinpath(*rest)
    return place / "__init__.py" if packaged else place.with_name(f"{place.name}.py")


def _move_data(old: str, new: str, everything: list[Path]) -> None:
    """Move what lies beside the modules of a package."""
    here, there = _place(old, True).parent, _place(new, True).parent
    for path in everything:
        if path.is_relative_to(here) and path.suffix != ".py" and path.exists():
            place = there / path.relative_to(here)
            place.parent.mkdir(parents=True, exist_ok=True)
            subprocess.run(["git", "mv", str(path), str(place)], cwd=ROOT, check=True)


def _sweep() -> None:
    """Take out folders in which nothing is left."""
    for home in HOMES.values():
        for folder in sorted((each for each in home.rglob("*") if each.is_dir()), reverse=True):
            if not any(each.is_file() and "__pycache__" not in each.parts for each in folder.rglob("*")):
                shutil.rmtree(folder)


if __name__ == "__main__":
    main()
