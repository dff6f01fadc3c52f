# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What the documentation shows must run, and what it links to must exist."""

from __future__ import annotations

import gc
import re
import shlex
from pathlib import Path

import pytest

from gazeveil.cli.main import run
from gazeveil.registry import Registry

ROOT = Path(__file__).resolve().parents[1]
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
BLOCK = re.compile(r"^```(\w+)[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?!https?://|#|mailto:)([^)#]+)(?:#[^)]*)?\)")


def blocks(page: Path, language: str) -> list[str]:
    return [code for found, code in BLOCK.findall(page.read_text()) if found == language]


def named(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page, "python")], ids=named)
def test_python_in_the_docs_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, object] = {"__name__": "__docs__"}
    try:
        for number, code in enumerate(blocks(page, "python"), start=1):
            exec(compile(code, f"{named(page)}, block {number}", "exec"), namespace)
    finally:
        forget_what_the_docs_registered()


def forget_what_the_docs_registered() -> None:
    """Take the examples of the docs out of all registries again, so that other tests do not find them."""
    # by type, since isinstance asks every object for its class, and some of torch's warn when asked
    for registry in [thing for thing in gc.get_objects() if issubclass(type(thing), Registry)]:
        for name, thing in list(registry._entries.items()):
            if getattr(thing, "__module__", "") == "__docs__" or type(thing).__module__ == "__docs__":
                del registry._entries[name]


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page, "bash")], ids=named)
def test_commands_in_the_docs_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines that begin with gazeveil, in order, in an empty folder; other lines are for the reader's shell."""
    monkeypatch.chdir(tmp_path)
    for code in blocks(page, "bash"):
        for line in code.replace("\\\n", " ").splitlines():
            if line.startswith("gazeveil "):
                words = shlex.split(line, comments=True)[1:]
                assert run(words) == 0, line


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_links_lead_somewhere(page: Path) -> None:
    prose = BLOCK.sub("", page.read_text())
    missing = [target for target in LINK.findall(prose) if not (page.parent / target).exists()]
    assert not missing


def test_no_page_is_lost_from_the_table_of_contents() -> None:
    contents = (ROOT / "mkdocs.yml").read_text()
    pages = {str(page.relative_to(ROOT / "docs")) for page in PAGES if page.is_relative_to(ROOT / "docs")}
    assert sorted(page for page in pages if page not in contents) == []
