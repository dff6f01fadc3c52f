# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""A stranger's path: the first page leads from a table with odd column names to a methods paragraph.

`make stranger` walks it in a fresh clone and times it; tests/test_docs.py follows the page as it stands. Here the same
commands run on less data, and what lies there at the end is looked at.
"""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

from benchmarks.strangers_path import MOST_COMMANDS, MOST_SECONDS, PAGE, STORED
from gazeveil.cli.main import run
from gazeveil.privacy.ledger import Ledger
from tests.recipes import ROOT, Block, blocks

SMALLER = {"observers=60": "observers=40", "stimuli=4": "stimuli=2", "seconds=4": "seconds=1"}
COARSER = ["--cell-deg", "3", "--blur-deg", "3"]


def walked() -> list[Block]:
    found = [block for block in blocks(ROOT / PAGE) if block.language in {"bash", "console"}]
    return [block for block in found if "not run" not in block.marks]


def test_it_takes_at_most_eight_commands() -> None:
    assert sum(len(block.steps) for block in walked()) <= MOST_COMMANDS


def test_it_took_less_than_ten_minutes_when_it_was_timed_and_the_page_says_so() -> None:
    timed = json.loads(STORED.read_text(encoding="utf-8"))
    assert timed["total_s"] < MOST_SECONDS
    assert f"{timed['total_s']:.0f} seconds" in (ROOT / PAGE).read_text(encoding="utf-8")


def test_each_command_names_the_next_and_the_last_folder_holds_the_methods_paragraph(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (simulation,) = [block.code for block in blocks(ROOT / PAGE) if block.language == "python"]
    exec(re.sub("|".join(SMALLER), lambda found: SMALLER[found[0]], simulation), {})
    steps = [(step, int(block.marks.get("exit", 0))) for block in walked() for step in block.steps]
    advised = "--column t=NAME"
    for step, ends in steps:
        words = shlex.split(step.command)[1:]
        said = run([*words, *(COARSER if words[0] == "heatmaps" else [])])
        printed = "".join(capsys.readouterr())
        assert said == ends, printed
        if words[0] in {"info", "convert", "study", "heatmaps"}:
            assert advised in printed if ends else re.search(r"^next:? +gazeveil ", printed, re.MULTILINE)
    paragraph = Path("maps/methods.md").read_text(encoding="utf-8")
    assert "(ε, δ)-differential privacy with ε = 3" in paragraph
    drawn = {path.name for path in Path("maps/stimuli").glob("*.png")}
    assert {"scene-01.jpg.png", "scene-02.jpg.png"} <= drawn
    with Ledger.open("ledger.sqlite") as ledger:
        (account,) = ledger.accounts()
        assert account.totals.charges == 1
