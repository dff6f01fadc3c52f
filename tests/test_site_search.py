# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Who searches the site for a word of the field finds the right page first: the theme's own search, run by node.

The site is built without the pages that come from docstrings, which takes seconds instead of most of a minute.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

import material  # type: ignore[import-untyped]
import pytest
from mkdocs.commands.build import build
from mkdocs.config import load_config

from tests.recipes import ROOT

WORKERS = Path(material.__file__).parent / "templates" / "assets" / "javascripts" / "workers"
FIRST = {
    "GDPR": "concepts/differential-privacy/",
    "confidence interval": "how-to/publish-aoi-statistics/",
    "t-test": "how-to/publish-aoi-statistics/",
    "consent form": "how-to/describe-it-in-a-paper/",
    "fixation duration": "how-to/publish-features/",
    "withdraw": "how-to/keep-a-budget/",
    "leaderboard": "concepts/threat-models/",
    "unity": "how-to/connect-programs/",
    "tobii": "reference/formats/tobii/",
}
"""What is searched for, and the page that comes first."""
MOST_PAGES = 72


@pytest.fixture
def index(tmp_path: Path) -> Path:
    """Build the site and return what its search reads."""
    build(load_config(str(ROOT / "mkdocs.yml"), site_dir=str(tmp_path), plugins=["search"], strict=False))
    return tmp_path / "search" / "search_index.json"


def first_pages(index: Path, queries: Iterable[str]) -> dict[str, str]:
    """Return the page that is found first for each query."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed")
    (worker,) = WORKERS.glob("search.*.min.js")
    command = [node, str(Path(__file__).with_name("search.js")), str(worker), str(index), *queries]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    found = map(json.loads, done.stdout.splitlines())
    return {query: (pages or ["nothing"])[0] for query, pages in zip(queries, found, strict=True)}


def test_the_right_page_comes_first_and_tables_of_results_not_at_all(index: Path) -> None:
    pages = {each["location"].partition("#")[0] for each in json.loads(index.read_text(encoding="utf-8"))["docs"]}
    assert [page for page in pages if page.startswith(("proofs/", "decisions/", "results/", "performance/"))] == []
    assert len(pages) >= MOST_PAGES // 2
    assert len(pages) <= MOST_PAGES
    assert first_pages(index, FIRST) == FIRST
