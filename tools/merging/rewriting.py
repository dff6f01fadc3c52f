# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Rewrites the imports of one file, and the uses of what they bring."""

from __future__ import annotations

import ast
from collections import defaultdict

from tools.merging.planning import HOMES, Plan
from tools.merging.syntax import Import, PlanError, Source, local_name


class Rewriter:
    """Rewrites one file that will be part of the module `own`."""

    def __init__(self, source: Source, plan: Plan, own: str) -> None:
        self.source, self.plan, self.own = source, plan, own

    def rewrite(self, *, hoisted: bool) -> tuple[list[str], list[str]]:
        """Rewrite all imports.

        Args:
            hoisted: Whether imports at the top are taken out and returned: those that run, and those for types alone.
        """
        plain: list[str] = []
        typing: list[str] = []
        for node in [each for each in ast.walk(self.source.tree) if isinstance(each, Import)]:
            if isinstance(node, ast.ImportFrom) and node.module == "__future__":
                continue
            new = self._imported(node)
            comment = self._comment(node)
            place = self.source.whole_lines(node)
            checking = self._for_types(self.source.parents[node])
            if hoisted and (checking or self.source.parents[node] is self.source.tree):
                lines = [ast.unparse(node)] if new is None else new
                (typing if checking else plain).extend(f"{line}{comment}" for line in lines)
                self.source.edits[place] = ""
            elif new is not None:
                indent = " " * node.col_offset
                alone = len(getattr(self.source.parents[node], "body", "two")) == 1
                lines = new or (["pass"] if alone else [])
                self.source.edits[place] = "".join(f"{indent}{line}{comment}\n" for line in lines)
        if hoisted:
            for block in self.source.tree.body:
                if self._for_types(block):
                    first, last = self.source.whole_lines(block)
                    for key in [key for key in self.source.edits if first <= key[0] and key[1] <= last]:
                        del self.source.edits[key]
                    self.source.edits[first, last] = ""
        return plain, typing

    def _for_types(self, node: ast.AST) -> bool:
        """Return whether a statement at the top is a block of imports for type checkers alone."""
        return (
            isinstance(node, ast.If)
            and ast.unparse(node.test) == "TYPE_CHECKING"
            and self.source.parents[node] is self.source.tree
            and all(isinstance(each, Import) for each in node.body)
        )

    def _imported(self, node: Import) -> list[str] | None:
        """Return the statements that take an import's place; None if it stays as it is."""
        if isinstance(node, ast.Import):
            return self._plain(node)
        if node.module is None or node.module.split(".")[0] not in HOMES:
            return None
        groups: dict[str, list[str]] = defaultdict(list)
        changed = False
        for alias in node.names:
            if f"{node.module}.{alias.name}" in self.plan.known:
                changed |= self._module(node, alias, groups)
            else:
                changed |= self._name(node, alias, groups)
        if not changed:
            return None
        return [f"from {module} import {', '.join(dict.fromkeys(names))}" for module, names in groups.items()]

    def _name(self, node: ast.ImportFrom, alias: ast.alias, groups: dict[str, list[str]]) -> bool:
        """Rewrite the import of one name; return whether anything changed."""
        module, home, local = str(node.module), self.source.scope(node), local_name(alias)
        target, name = self.plan.module(module), self.plan.name(module, alias.name)
        if target == self.own and module != self.source.name:
            self.source.rename(local, name, home)
            return True
        again = self.plan.names.get((self.source.name, local)) if home is self.source.tree else None
        if again is not None or (alias.asname is not None and alias.asname != name):
            groups[target].append(f"{name} as {again or local}")
        else:
            self.source.rename(local, name, home)
            groups[target].append(name)
        return again is not None or target != module or name != alias.name

    def _module(self, node: ast.ImportFrom, alias: ast.alias, groups: dict[str, list[str]]) -> bool:
        """Rewrite the import of a module as a thing, and the uses of its names; return whether anything changed."""
        whole, home, local = f"{node.module}.{alias.name}", self.source.scope(node), local_name(alias)
        target = self.plan.module(whole)
        if target == self.own and whole != self.source.name:
            self._within(whole, local, home)
            return True
        for use in self.source.uses(local, home):
            self._attribute(whole, use)
        parent, _, last = target.rpartition(".")
        if target == whole:
            groups[parent].append(last if alias.asname is None else f"{last} as {alias.asname}")
            return False
        if last == local or (alias.asname is None and self._free(last, target)):
            self.source.rename(local, last, home)
            groups[parent].append(last)
        else:
            groups[parent].append(f"{last} as {local}")
        return True

    def _within(self, whole: str, local: str, home: ast.AST) -> None:
        """Turn ``module.name`` into ``name``: both will be in one module."""
        for use in self.source.uses(local, home):
            dot = self.source.parents[use]
            where = f"{self.source.path}:{use.lineno}"
            if not (isinstance(dot, ast.Attribute) and dot.value is use):
                raise PlanError(f"{where}: {local} is used as a value within {self.own}")
            name = self.plan.name(whole, dot.attr)
            if not isinstance(self.source.home(use, name), ast.Module):
                raise PlanError(f"{where}: {local}.{dot.attr} would become {name}, which is bound there")
            if name in self.source.bound[self.source.tree] and self.plan.name(self.source.name, name) == name:
                raise PlanError(f"{where}: {local}.{dot.attr} would become {name}, which this module has")
            self.source.replace(dot, f"{local}.{dot.attr}", name)

    def _attribute(self, whole: str, use: ast.Name) -> None:
        """Rename what is asked of a module: ``module.name``, and ``setattr(module, "name", …)``."""
        dot = self.source.parents[use]
        if isinstance(dot, ast.Attribute) and (new := self.plan.names.get((whole, dot.attr))):
            end = self.source.span(dot)[1]
            self.source.edits[end - len(dot.attr.encode()), end] = new
        elif isinstance(dot, ast.Call) and use in dot.args and len(dot.args) > 1:
            word = dot.args[1]
            if isinstance(word, ast.Constant) and (new := self.plan.names.get((whole, str(word.value)))):
                self.source.edits[self.source.span(word)] = f'"{new}"'

    def _free(self, name: str, target: str) -> bool:
        """Return whether a name means nothing in this file yet, or the new module already."""
        already = False
        for node in ast.walk(self.source.tree):
            if isinstance(node, ast.ImportFrom):
                for alias in node.names:
                    same = self.plan.module(f"{node.module}.{alias.name}") == target and alias.asname is None
                    already |= same and alias.name == name
        bound = any(name in names for names in self.source.bound.values())
        used = any(isinstance(node, ast.Name) and node.id == name for node in ast.walk(self.source.tree))
        return already or not (bound or used)

    def _plain(self, node: ast.Import) -> list[str] | None:
        """Rewrite ``import a.b.c``, and ``a.b.c`` wherever it is used."""
        lines, changed = [], False
        for alias in node.names:
            new = self.plan.module(alias.name)
            lines.append(f"import {new}" + (f" as {alias.asname}" if alias.asname else ""))
            if new == alias.name:
                continue
            changed = True
            for use in ast.walk(self.source.tree):
                if isinstance(use, ast.Attribute) and not alias.asname and ast.unparse(use) == alias.name:
                    self.source.edits[self.source.span(use)] = new
        return lines if changed else None

    def _comment(self, node: Import) -> str:
        """Return the comment of an import: at its end, or at the end of one of its lines."""
        for line in self.source.text.encode()[slice(*self.source.whole_lines(node))].decode().splitlines():
            if "#" in line:
                return f"  #{line.split('#', 1)[1].rstrip()}"
        return ""
