# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Makes one module of several: in the order of their imports, each name once."""

from __future__ import annotations

import ast
import re
import textwrap
from collections import defaultdict
from collections.abc import Mapping
from graphlib import CycleError, TopologicalSorter

from tools.merging.planning import Plan
from tools.merging.rewriting import Rewriter
from tools.merging.syntax import Import, PlanError, Source, local_name, targets

HEADER = "# SPDX-FileCopyrightText: 2026 The gazeveil authors\n# SPDX-License-Identifier: Apache-2.0\n"
FUTURE = "from __future__ import annotations\n"
WIDTH = 120


def moved(part: Source, new: str, plan: Plan) -> str:
    """Return the text of a module that only moves."""
    Rewriter(part, plan, new).rewrite(hoisted=False)
    _rename(part, plan)
    if new in plan.docs and ast.get_docstring(part.tree) is not None:
        first = part.tree.body[0]
        part.edits[part.span(first)] = _docstring(plan.docs[new]).rstrip("\n")
    return part.edited(plan.in_words)


def merged(new: str, parts: list[Source], plan: Plan) -> str:
    """Return the text of a module that is made of others.

    Raises:
        PlanError: If two parts mean two things by one name.
    """
    if len(parts) == 1:
        return moved(parts[0], new, plan)
    twice = _same_names(new, parts, plan)
    parts = _in_order(parts)
    plain: dict[str, None] = {}
    typing: dict[str, None] = {}
    sections: list[str] = []
    for part in parts:
        running, checking = Rewriter(part, plan, new).rewrite(hoisted=True)
        plain |= dict.fromkeys(running)
        typing |= dict.fromkeys(checking)
    for number, part in enumerate(parts):
        for node in part.tree.body:
            if targets(node) & twice[part.name] or targets(node) == {"__all__"}:
                part.edits[part.decorated(node)] = ""
        _rename(part, plan)
        body = part.edited(plan.in_words, _after_docstring(part)).strip("\n")
        if body.strip():
            subject = plan.in_words(_paragraphs(part)[0])
            sections.append(f"# --- {subject}\n\n\n{body}" if number and sections else body)
    more = [plan.in_words(rest) for part in parts if (rest := _paragraphs(part)[1])]
    doc = _docstring("\n\n".join([plan.docs.get(new) or plan.in_words(_paragraphs(parts[0])[0]), *more]))
    run = {line.split("  #")[0] for line in plain}
    for_types = [line for line in typing if line.split("  #")[0] not in run]
    lines = [*plain, *(["", "if TYPE_CHECKING:", *(f"    {line}" for line in for_types)] if for_types else [])]
    return f"{HEADER}{doc}\n{FUTURE}\n" + "\n".join(lines) + "\n\n\n" + "\n\n\n".join(sections) + "\n"


def _rename(part: Source, plan: Plan) -> None:
    """Rename what a part defines."""
    for (module, name), word in plan.names.items():
        if module == part.name and name in part.bound[part.tree]:
            part.rename(name, word, part.tree)


def _docstring(text: str) -> str:
    return f'"""{text}\n"""\n' if "\n" in text else f'"""{text}"""\n'


def _paragraphs(source: Source) -> tuple[str, str]:
    """Return the first line of a module's docstring, and what comes after it."""
    first, _, rest = (ast.get_docstring(source.tree) or "").partition("\n\n")
    return " ".join(first.split()), rest.strip()


def _after_docstring(part: Source) -> int:
    """Return where a module's body begins: behind its docstring and the import from the future."""
    start = 0
    for node in part.tree.body:
        docstring = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and node is part.tree.body[0]
        if docstring or (isinstance(node, ast.ImportFrom) and node.module == "__future__"):
            start = part.whole_lines(node)[1]
    return start


def _in_order(parts: list[Source]) -> list[Source]:
    """Return the parts of a module so that what is imported comes before who imports it, else as they were given."""
    by_name = {part.name: part for part in parts}
    graph = {part.name: imported_when_loaded(part.tree, by_name) - {part.name} for part in parts}
    sorter = TopologicalSorter(graph)
    sorter.prepare()
    place = {name: number for number, name in enumerate(by_name)}
    names: list[str] = []
    ready = list(sorter.get_ready())
    while ready:
        ready.sort(key=lambda name: place[name])
        names.append(ready.pop(0))
        sorter.done(names[-1])
        ready += sorter.get_ready()
    return [by_name[name] for name in names]


def imported_when_loaded(tree: ast.Module, known: Mapping[str, object]) -> set[str]:
    """Return the known modules that a module imports when it is loaded, not on use and not for types."""
    needs: set[str] = set()
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                needs.add(whole if whole in known else node.module)
        elif isinstance(node, ast.Import):
            needs |= {alias.name for alias in node.names}
    return needs & known.keys()


def refuse_circles(trees: Mapping[str, ast.Module]) -> None:
    """Refuse modules that import each other in a circle when they are loaded.

    Raises:
        PlanError: If there is one.
    """
    try:
        TopologicalSorter({name: imported_when_loaded(tree, trees) - {name} for name, tree in trees.items()}).prepare()
    except CycleError as circle:
        raise PlanError(f"a circle of imports: {' -> '.join(circle.args[1])}") from None


def _meanings(source: Source) -> dict[str, str]:
    """Return every name that a module binds at its top, with where it is imported from, or the text that defines it."""
    found: dict[str, str] = {}
    for node in ast.walk(source.tree):
        if isinstance(node, Import) and source.scope(node) is source.tree:
            module = f"{node.module}:" if isinstance(node, ast.ImportFrom) else ""
            found |= {local_name(alias): f"import {module}{alias.name}" for alias in node.names}
    for name in source.bound[source.tree] - found.keys():
        places = [source.decorated(node) for node in source.tree.body if name in targets(node)]
        texts = [source.text.encode()[start:end].decode() for start, end in places]
        found[name] = "\n".join(texts) or f"something within {source.name}"
    return found


def _same_names(new: str, parts: list[Source], plan: Plan) -> dict[str, set[str]]:
    """Return for each part the names that an earlier part defines by the same words.

    Raises:
        PlanError: If two parts mean two things by one name.
    """
    seen: dict[str, tuple[str, str]] = {}
    twice: dict[str, set[str]] = defaultdict(set)
    wrong = []
    for part in parts:
        for name, meaning in _meanings(part).items():
            what = meaning
            if meaning.startswith("import ") and ":" in meaning:
                module, _, word = meaning.removeprefix("import ").partition(":")
                if plan.module(module) == new or plan.module(f"{module}.{word}") == new:
                    continue
                whole = f"{module}.{word}"
                there = (
                    plan.module(whole) if whole in plan.known else f"{plan.module(module)}:{plan.name(module, word)}"
                )
                what = f"import {there}"
            final = plan.name(part.name, name)
            if name == "__all__":
                continue
            if final not in seen:
                seen[final] = part.name, what
            elif seen[final][1] != what:
                wrong.append(f"{new}: {final!r} is one thing in {seen[final][0]} and another in {part.name}")
            elif not what.startswith("import "):
                twice[part.name].add(name)
    if wrong:
        raise PlanError("\n".join(wrong))
    return twice


def wrapped(text: str) -> str:
    """Return a module whose docstrings keep within a line's width: longer names may have pushed words out."""
    lines = text.split("\n")
    if all(len(line) <= WIDTH for line in lines):
        return text
    inside: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            inside |= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    number = 0
    while number < len(lines):
        line = lines[number]
        indent = line[: len(line) - len(line.lstrip())]
        if len(line) > WIDTH and number + 1 in inside and not line.lstrip().startswith('"""'):
            end = number + 1
            while end + 1 in inside and _goes_on(lines[end], indent):
                end += 1
            words = " ".join(each.strip() for each in lines[number:end])
            lines[number:end] = textwrap.wrap(
                words,
                WIDTH,
                initial_indent=indent,
                subsequent_indent=indent,
                break_long_words=False,
                break_on_hyphens=False,
            )
        elif len(line) > WIDTH and line.startswith("# --- "):
            lines[number : number + 1] = textwrap.wrap(line, WIDTH, subsequent_indent="# ", break_on_hyphens=False)
        number += 1
    return "\n".join(lines)


def _goes_on(line: str, indent: str) -> bool:
    """Return whether a line belongs to the paragraph of the line before it, and is no entry of a list."""
    if not line.strip() or not line.startswith(indent) or line[len(indent)] in ' -*"`':
        return False
    return re.match(r" *\**\w+(?: \([^)]*\))?: ", line) is None
