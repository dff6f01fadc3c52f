# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What the documentation shows must run, and what it links to must exist."""

from __future__ import annotations

import functools
import importlib
import re
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from markdown.extensions.toc import slugify  # type: ignore[import-untyped]

import gazeveil
from gazeveil.registry import Registry
from tests.commandline import commands
from tests.recipes import BLOCK, PAGES, ROOT, Block, Reader, blocks, named, recipes

LINK = re.compile(r"\]\((?!https?://|mailto:)([^)#]*)(?:#([^)]*))?\)")
HEADING = re.compile(r"^#+ (.+?)$", re.MULTILINE)
MARKUP = re.compile(r"\]\([^)]*\)|[\[`*]")
SHOWN = re.compile(r"^::: ([\w.]+)$", re.MULTILINE)
API = ROOT / "docs" / "reference"
OF_RESULTS = {ROOT / "docs" / "results.md", ROOT / "docs" / "performance.md"}
"""Tables that programs write; nobody reads them from top to bottom."""
MOST_WORDS = 3500
MOST_DECISIONS, WORDS_OF_A_DECISION = 25, 300
OUT_OF_SEARCH = "---\nsearch:\n  exclude: true\n---\n"

RUNNING = {"python", "bash", "console"}
STILL = {"text", "toml", "json", "csv", "javascript", "csharp", "cpp"}
"""Languages of blocks that nothing runs: pictures, formulas, and files (with a title they are written)."""

REASONS = {
    "needs a cluster",
    "needs a GPU",
    "needs data that is not shipped",
    "needs root",
    "needs a tracker",
    "sets the project up",
    "takes hours",
    "takes minutes",
}
NOT_RUN_AT_MOST = 19


@pytest.mark.parametrize(
    "recipe",
    [
        pytest.param(recipe, id=f"{named(page)}-{number}" if number else named(page))
        for page in PAGES
        for number, recipe in enumerate(recipes(page))
    ],
)
def test_a_page_does_what_it_says_from_top_to_bottom(
    recipe: list[Block], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    reader = Reader(capfd)
    try:
        with reader.ends:
            for block in recipe:
                reader.follow(block)
    finally:
        forget_what_the_docs_registered()


def forget_what_the_docs_registered() -> None:
    """Take the examples of the docs out of all registries again, so that other tests do not find them."""
    modules_of_ours = [module for name, module in sys.modules.items() if name.partition(".")[0] == "gazeveil"]
    for registry in [thing for module in modules_of_ours for thing in vars(module).values() if type(thing) is Registry]:
        for name, thing in list(registry._table.items()):
            modules = {str(getattr(thing, "__module__", "")), type(thing).__module__}
            if any(module.startswith(("__docs__", "gazeveil_own_")) for module in modules):
                del registry._table[name]


def test_every_block_has_a_language_that_is_run_or_known_to_stand_still() -> None:
    unknown = [f"{block}: {block.language}" for page in PAGES for block in blocks(page)
               if block.language not in RUNNING | STILL]  # fmt: skip
    assert not unknown


def test_blocks_that_are_not_run_are_few_and_say_why() -> None:
    skipped = {
        str(block): block.marks["not run"] for page in PAGES for block in blocks(page) if "not run" in block.marks
    }
    print("\n".join(f"{block}: {reason}" for block, reason in skipped.items()))
    assert set(skipped.values()) <= REASONS
    assert len(skipped) <= NOT_RUN_AT_MOST


def test_every_command_is_on_the_page_of_the_command_line() -> None:
    page = (ROOT / "docs/reference/cli.md").read_text()
    missing = [typed for typed in commands() if not re.search(rf"`gazeveil {typed}[ `]", page)]
    assert not missing


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_links_lead_somewhere(page: Path) -> None:
    prose = BLOCK.sub("", page.read_text(encoding="utf-8"))
    missing = []
    for target, anchor in LINK.findall(prose):
        place = (page.parent / target).resolve() if target else page
        if not place.exists() or (anchor and place.suffix == ".md" and anchor not in anchors(place)):
            missing.append(f"{target}#{anchor}")
    assert not missing


@functools.cache
def anchors(page: Path) -> set[str]:
    """Return what links may point to on a page: its headings, as Markdown calls them, and its own anchors."""
    prose = BLOCK.sub("", page.read_text(encoding="utf-8"))
    slugs = [slugify(MARKUP.sub("", heading), "-") for heading in HEADING.findall(prose)]
    numbered = [f"{slug}_{slugs[:place].count(slug)}" for place, slug in enumerate(slugs)]  # as Markdown does
    return {slug.removesuffix("_0") for slug in numbered} | set(re.findall(r'<a id="([\w-]+)">', prose))


def test_no_page_is_longer_than_one_can_read() -> None:
    words = {named(page): len(page.read_text(encoding="utf-8").split()) for page in PAGES if page not in OF_RESULTS}
    assert {page: count for page, count in words.items() if count > MOST_WORDS} == {}


def test_every_public_name_is_in_the_api_once() -> None:
    shown = [
        name for page in sorted(API.glob("api*.md")) for name in re.findall(r"^::: ([\w.]+)$", page.read_text(), re.M)
    ]
    names = {f"gazeveil.{name}" for name in gazeveil.__all__}
    packages = {name for name in shown if name not in names and find_spec(name) is not None}
    assert set(shown) - packages == names
    assert len(shown) == len(set(shown))
    for package in packages:
        assert importlib.import_module(package).__all__


def test_every_page_is_in_the_table_of_contents_once() -> None:
    contents = re.findall(r": (\S+\.(?:md|ipynb))$", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"), re.MULTILINE)
    docs = ROOT / "docs"
    pages = [*docs.rglob("*.md"), *docs.rglob("*.ipynb")]
    assert sorted(contents) == sorted(page.relative_to(docs).as_posix() for page in pages)


def test_decisions_are_few_and_short_and_their_index_names_each_once() -> None:
    records = sorted((ROOT / "docs" / "decisions").glob("0*.md"))
    assert len(records) <= MOST_DECISIONS
    words = {record.name: len(record.read_text(encoding="utf-8").split()) for record in records}
    assert {record: count for record, count in words.items() if count > WORDS_OF_A_DECISION} == {}
    rows = re.findall(r"^\| \[(\d+)\]\((.+?)\) \|", (records[0].parent / "index.md").read_text(encoding="utf-8"), re.M)
    assert [name for _, name in rows] == [record.name for record in records]
    assert all(int(number) == int(name[:4]) for number, name in rows)


def test_a_decision_that_is_cited_exists() -> None:
    known = {record.name for record in (ROOT / "docs" / "decisions").glob("*.md")}
    numbers = {int(name[:4]) for name in known if name[0].isdigit()}
    files = [path for kind in ("src", "tests", "benchmarks", "docs") for path in (ROOT / kind).rglob("*")
             if path.suffix in {".py", ".md", ".ipynb"}]  # fmt: skip
    wrong = []
    for path in files:
        text = path.read_text(encoding="utf-8")
        wrong += [f"{path}: {name}" for name in re.findall(r"decisions/(\d{4}[\w-]+\.md)", text) if name not in known]
        wrong += [f"{path}: {n}" for n in re.findall(r"\b[Dd]ecision (\d+)\b", text) if int(n) not in numbers]
    assert wrong == []


def test_proofs_decisions_and_tables_are_left_out_of_the_search() -> None:
    pages = [*(ROOT / "docs" / "proofs").glob("*.md"), *(ROOT / "docs" / "decisions").glob("*.md"), *OF_RESULTS]
    assert [named(page) for page in pages if not page.read_text(encoding="utf-8").startswith(OUT_OF_SEARCH)] == []


def test_no_page_has_the_product_release_what_only_the_lab_measures() -> None:
    """The tests of pages run in a process that has loaded the lab, and would not notice."""
    released = re.compile(r"gazeveil (?!lab )[^`|]*-as-published|--strategy (?:histogram|hierarchical)\b")
    found = {named(page): released.findall(page.read_text(encoding="utf-8").replace("\\\n", " ")) for page in PAGES}
    assert {page: lines for page, lines in found.items() if lines} == {}
    assert released.search("gazeveil features release x --mechanism dc-fpa-as-published")
    assert not released.search("gazeveil lab audit liu-as-published")
