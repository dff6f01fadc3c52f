# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""CONTRIBUTING.md says where each thing is added: its table of registries is that of the code."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import NamedTuple

import gazeveil

PACKAGE = Path(gazeveil.__file__).parent
ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
ROW = re.compile(
    r"^\| [^|]+ \| [^|]*?`(?P<place>src/[^`]+)`[^|]*\| `(?P<registry>[\w.]+)` \| `(?P<test>tests/[^`]+)` \|$", re.M
)


class Row(NamedTuple):
    place: str
    test: str


ROWS = {found["registry"]: Row(found["place"], found["test"]) for found in ROW.finditer(PAGE)}


def registries() -> dict[str, str]:
    """Return every registry of the package, and where its entries live: a folder that it searches, or its own file."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        if path.name == "registry.py" or "Registry(" not in (text := path.read_text(encoding="utf-8")):
            continue
        module = ".".join(path.relative_to(PACKAGE).with_suffix("").parts)
        for node in ast.parse(text).body:
            if not (isinstance(node, ast.AnnAssign) and isinstance(node.value, ast.Call)):
                continue
            if ast.unparse(node.value.func) == "Registry":
                given = [*node.value.args[1:], *(word.value for word in node.value.keywords)]
                places = [str(each.value) for each in given if isinstance(each, ast.Constant)]
                own = f"src/gazeveil/{path.relative_to(PACKAGE).as_posix()}"
                place = f"src/{places[0].replace('.', '/')}/" if places else own
                found[f"{module}.{ast.unparse(node.target)}"] = place
    return found


def test_the_table_has_every_registry_and_where_its_entries_live() -> None:
    assert {registry: row.place for registry, row in ROWS.items()} == registries()


def test_the_places_and_tests_of_the_table_are_there_and_each_test_is_about_its_registry() -> None:
    for registry, row in ROWS.items():
        assert (ROOT / row.place).exists(), row.place
        name = registry.rpartition(".")[2]
        text = (ROOT / row.test).read_text(encoding="utf-8")
        assert re.search(rf"\b({name}|{name.lower()})\b", text), f"{row.test} does not mention {name}"


def test_the_page_is_short_and_a_registry_that_is_missing_would_be_found() -> None:
    assert len(PAGE.split()) < 2500
    assert len(ROWS) == len(registries()) > 10
    assert "release.plan.PRODUCTS" in ROWS
