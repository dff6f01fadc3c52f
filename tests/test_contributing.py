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


def registries() -> dict[str, set[str]]:
    """Return every registry and literal table, and where it is extended: its own file, or a folder that it searches."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if path.name == "registry.py" or not ("Registry(" in text or "Names(" in text):
            continue
        module = ".".join(path.relative_to(PACKAGE).with_suffix("").parts)
        for node in ast.parse(text).body:
            if not (isinstance(node, ast.AnnAssign) and isinstance(node.value, ast.Call)):
                continue
            if ast.unparse(node.value.func) in ("Registry", "Names"):
                given = [*node.value.args[1:], *(word.value for word in node.value.keywords)]
                searched = [str(each.value) for each in given if isinstance(each, ast.Constant)]
                places = {f"src/{each.replace('.', '/')}{end}" for each in searched for end in ("/", ".py")}
                own = f"src/gazeveil/{path.relative_to(PACKAGE).as_posix()}"
                found[f"{module}.{ast.unparse(node.target)}"] = {own, *places}
    return found


def test_the_table_has_every_registry_and_where_its_entries_live() -> None:
    found = registries()
    assert found.keys() <= ROWS.keys()
    assert {
        registry: row.place for registry, row in ROWS.items() if row.place not in found.get(registry, row.place)
    } == {}


def test_a_plain_table_that_the_page_names_is_in_its_module() -> None:
    for registry in ROWS.keys() - registries().keys():
        module, _, name = registry.rpartition(".")
        place = PACKAGE.joinpath(*module.split("."))
        path = place / "__init__.py" if place.is_dir() else place.with_suffix(".py")
        assert re.search(rf"^{name}\b", path.read_text(encoding="utf-8"), re.M), registry


def test_every_place_that_the_page_names_is_there() -> None:
    packages = "src|tests|docs|tools|cli|aggregate|features|samples|privacy|noise|release|gateway|gaze"
    named = re.findall(rf"`((?:{packages})/[\w./-]*)`", PAGE)
    assert len(named) > 60
    roots = (ROOT, PACKAGE)
    assert [place for place in named if not any((root / place).exists() for root in roots)] == []


def test_the_places_and_tests_of_the_table_are_there_and_each_test_is_about_its_registry() -> None:
    for registry, row in ROWS.items():
        assert (ROOT / row.place).exists(), row.place
        name = registry.rpartition(".")[2]
        words = (name, name.lower(), name.lower().rpartition("_")[2])
        text = (ROOT / row.test).read_text(encoding="utf-8")
        assert re.search(rf"\b({'|'.join(words)})\b", text), f"{row.test} does not mention {name}"


def test_the_page_is_short_and_a_registry_that_is_missing_would_be_found() -> None:
    assert len(PAGE.split()) < 2500
    assert len(ROWS) > len(registries()) > 10
    assert "release.plan.PRODUCTS" in ROWS
