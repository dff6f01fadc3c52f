# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""One Python file: its syntax tree, what each scope binds, and edits of its text by place."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

Import = ast.Import | ast.ImportFrom
Placed = ast.stmt | ast.expr
Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_DEFINED = re.compile(rb"(?:async\s+def|def|class)\s+")


class PlanError(Exception):
    """The plan cannot be followed."""


@dataclass
class Source:
    """A Python file, and the edits that are wanted.

    Attributes:
        path: The file.
        name: The module's dotted name.
        text: What it holds.
        tree: Its syntax tree.
        edits: What takes the place of the bytes from one offset to another.
    """

    path: Path
    name: str
    text: str
    tree: ast.Module
    edits: dict[tuple[int, int], str] = field(default_factory=dict)
    parents: dict[ast.AST, ast.AST] = field(default_factory=dict)
    bound: dict[ast.AST, set[str]] = field(default_factory=lambda: defaultdict(set))
    starts: list[int] = field(default_factory=lambda: [0])

    @classmethod
    def read(cls, path: Path, name: str) -> Source:
        """Read and parse a file."""
        text = path.read_text(encoding="utf-8")
        source = cls(path, name, text, ast.parse(text))
        for node in ast.walk(source.tree):
            for child in ast.iter_child_nodes(node):
                source.parents[child] = node
        for line in text.splitlines(keepends=True):
            source.starts.append(source.starts[-1] + len(line.encode()))
        source._bind()
        return source

    def at(self, line: int, column: int) -> int:
        """Return the offset in bytes of a place; of a line after the last one, the end."""
        return self.starts[min(line, len(self.starts)) - 1] + column

    def span(self, node: Placed) -> tuple[int, int]:
        """Return where a node begins and ends."""
        return self.at(node.lineno, node.col_offset), self.at(node.end_lineno or node.lineno, node.end_col_offset or 0)

    def decorated(self, node: ast.stmt) -> tuple[int, int]:
        """Return where a statement begins, with its decorators, and where it ends."""
        start, end = self.span(node)
        if isinstance(node, Definition) and node.decorator_list:
            start = self.at(node.decorator_list[0].lineno, node.col_offset)
        return start, end

    def whole_lines(self, node: Placed) -> tuple[int, int]:
        """Return the place of a statement with its indentation and what stands behind it on its line."""
        return self.at(node.lineno, 0), self.at((node.end_lineno or node.lineno) + 1, 0)

    def written(self, node: Placed) -> str:
        """Return the text of a node."""
        start, end = self.span(node)
        return self.text.encode()[start:end].decode()

    def scope(self, node: ast.AST) -> ast.AST:
        """Return the scope that holds a node: a function, class, comprehension, or the module."""
        child, parent = node, self.parents.get(node)
        while parent is not None:
            match parent:
                case ast.FunctionDef() | ast.AsyncFunctionDef():
                    if child in parent.body or (isinstance(node, ast.arg) and child is parent.args):
                        return parent
                case ast.ClassDef():
                    if child in parent.body:
                        return parent
                case ast.Lambda() | ast.Module():
                    return parent
                case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                    return parent
            child, parent = parent, self.parents.get(parent)
        return self.tree

    def home(self, node: ast.AST, name: str) -> ast.AST:
        """Return the scope in which a name that is used at a node is bound; the module if nowhere else."""
        here = scope = self.scope(node)
        while not isinstance(scope, ast.Module):
            if name in self.bound.get(scope, ()) and (scope is here or not isinstance(scope, ast.ClassDef)):
                return scope
            scope = self.scope(scope)
        return scope

    def uses(self, name: str, home: ast.AST) -> Iterator[ast.Name]:
        """Yield every use of a name that is bound in a scope."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Name) and node.id == name and self.home(node, name) is home:
                yield node

    def replace(self, node: ast.expr, old: str, new: str) -> None:
        """Note that the text of a node becomes another one."""
        if self.written(node) != old:  # before Python 3.12 nodes within f-strings have no places of their own
            raise PlanError(f"{self.path}:{node.lineno}: {old!r} is not where it should be; run this with Python 3.12")
        self.edits[self.span(node)] = new

    def rename(self, name: str, new: str, home: ast.AST) -> None:
        """Note that a name that is bound in a scope becomes another one, with all its uses."""
        if name == new:
            return
        for use in self.uses(name, home):
            self.replace(use, name, new)
            inner = self.home(use, new)
            if inner is not home and not isinstance(inner, ast.Module):
                raise PlanError(f"{self.path}:{use.lineno}: {new!r} for {name!r} would be caught by another {new!r}")
        for node in ast.walk(self.tree):
            if isinstance(node, Definition) and node.name == name and self.scope(node) is home:
                word = _DEFINED.match(self.text.encode(), self.at(node.lineno, node.col_offset))
                if word is None:
                    raise PlanError(f"{self.path}:{node.lineno}: no definition of {name}")
                self.edits[word.end(), word.end() + len(name.encode())] = new
            elif isinstance(node, ast.Global) and name in node.names and isinstance(home, ast.Module):
                self.edits[self.span(node)] = f"global {', '.join(new if n == name else n for n in node.names)}"

    def edited(self, words: Callable[[str], str], start: int = 0) -> str:
        """Return the text from a place on, with all edits made, and the words between them rewritten."""
        raw = self.text.encode()
        parts, last = [], start
        for (first, after), new in sorted(self.edits.items()):
            if first >= last:
                parts += [words(raw[last:first].decode()), new]
                last = after
        return "".join([*parts, words(raw[last:].decode())])

    def _bind(self) -> None:
        declared: dict[ast.AST, set[str]] = defaultdict(set)
        for node in ast.walk(self.tree):
            match node:
                case ast.Global():
                    declared[self.scope(node)] |= set(node.names)
                case ast.Name(ctx=ast.Store() | ast.Del()):
                    self.bound[self._target_scope(node)].add(node.id)
                case ast.arg():
                    self.bound[self.parents[self.parents[node]]].add(node.arg)
                case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                    self.bound[self.scope(node)].add(node.name)
                case ast.Import() | ast.ImportFrom():
                    self.bound[self.scope(node)] |= {local_name(alias) for alias in node.names}
                case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                    self.bound[self.scope(node)].add(name)
        for scope, names in declared.items():
            self.bound[scope] -= names

    def _target_scope(self, node: ast.Name) -> ast.AST:
        scope = self.scope(node)
        while isinstance(self.parents.get(node), ast.NamedExpr) and isinstance(scope, _COMPREHENSIONS):
            scope = self.scope(scope)
        return scope


def local_name(alias: ast.alias) -> str:
    """Return the name that an import binds."""
    return (alias.asname or alias.name).split(".")[0]


def targets(node: ast.AST) -> set[str]:
    """Return the names that a statement defines or assigns."""
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            return {node.name}
        case ast.Assign():
            return {each.id for target in node.targets for each in ast.walk(target) if isinstance(each, ast.Name)}
        case ast.AnnAssign(target=ast.Name(id=name)) | ast.AugAssign(target=ast.Name(id=name)):
            return {name}
    return set()
