# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The tutorials run from top to bottom, show what their code makes, and are pages of the documentation."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.notebook_pages import page
from benchmarks.notebooks import MADE_BY, code_cells, digest, load, notebooks, outputs, source
from tests.test_docs import LINK, forget_what_the_docs_registered
from tests.test_words import WRITE, found_in, prose

LARGEST = 200_000
"""Bytes of a notebook, with its pictures."""

each_notebook = pytest.mark.parametrize("path", notebooks(), ids=lambda path: path.stem)


def test_there_is_one_for_each_job() -> None:
    jobs = {"publish-a-study", "share-a-data-set", "run-a-gateway", "compare-mechanisms", "check-a-claim"}
    assert {path.stem for path in notebooks()} == jobs


@each_notebook
def test_a_tutorial_runs_in_an_empty_folder(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    try:
        shown = list(outputs(load(path)))
    finally:
        forget_what_the_docs_registered()
    if path.stem == "publish-a-study":  # the way of docs/start/first-steps.md
        assert "(ε, δ)-differential privacy with ε = 3" in "".join(shown[-2][0]["text"])
        assert "over budget" in "".join(shown[-1][0]["text"])


@each_notebook
def test_what_a_tutorial_shows_was_made_by_its_code_and_is_small(path: Path) -> None:
    notebook = load(path)
    assert notebook["metadata"]["gazeveil"][MADE_BY] == digest(notebook), "run `make notebooks`"
    assert path.stat().st_size < LARGEST
    assert all(cell["execution_count"] for cell in code_cells(notebook))


@each_notebook
def test_a_tutorial_is_a_page_with_all_of_it(path: Path) -> None:
    notebook = load(path)
    written = page(notebook, path.name)
    assert written.startswith("# ")
    assert all(source(cell) in written for cell in notebook["cells"])
    shown = [each["data"] for cell in code_cells(notebook) for each in cell["outputs"] if "data" in each]
    pictures = [data for data in shown if "image/png" in data]
    assert written.count("<img ") == len(pictures)


@each_notebook
def test_the_words_of_a_tutorial_are_the_fields_and_its_links_lead_somewhere(path: Path, tmp_path: Path) -> None:
    words = "\n\n".join(source(cell) for cell in load(path)["cells"] if cell["cell_type"] == "markdown")
    (tmp_path / "words.md").write_text(words, encoding="utf-8")
    assert found_in(prose(tmp_path / "words.md"), WRITE, set()) == []
    assert [target for target, _ in LINK.findall(words) if not (path.parent / target).exists()] == []
