# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What the documentation shows must run, and what it links to must exist."""

from __future__ import annotations

import gc
import re
from pathlib import Path

import pytest

from gazeveil.registry import Registry
from tests.commandline import commands
from tests.recipes import BLOCK, PAGES, ROOT, Reader, blocks, named

LINK = re.compile(r"\]\((?!https?://|#|mailto:)([^)#]+)(?:#[^)]*)?\)")

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


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page)], ids=named)
def test_a_page_does_what_it_says_from_top_to_bottom(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    reader = Reader(capfd)
    try:
        with reader.ends:
            for block in blocks(page):
                reader.follow(block)
    finally:
        forget_what_the_docs_registered()


def forget_what_the_docs_registered() -> None:
    """Take the examples of the docs out of all registries again, so that other tests do not find them."""
    # by type, since isinstance asks every object for its class, and some of torch's warn when asked
    for registry in [thing for thing in gc.get_objects() if issubclass(type(thing), Registry)]:
        for name, thing in list(registry._entries.items()):
            modules = {str(getattr(thing, "__module__", "")), type(thing).__module__}
            if any(module.startswith(("__docs__", "gazeveil_own_")) for module in modules):
                del registry._entries[name]


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
    prose = BLOCK.sub("", page.read_text())
    missing = [target for target in LINK.findall(prose) if not (page.parent / target).exists()]
    assert not missing


def test_no_page_is_lost_from_the_table_of_contents() -> None:
    contents = (ROOT / "mkdocs.yml").read_text()
    pages = {str(page.relative_to(ROOT / "docs")) for page in PAGES if page.is_relative_to(ROOT / "docs")}
    assert sorted(page for page in pages if page not in contents) == []
