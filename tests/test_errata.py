# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The errata of the four papers: what code and docs cite is on the page, and the evidence it names is there."""

from __future__ import annotations

import re

import gazeveil.lab.audited  # noqa: F401  (enters the subjects of the lab)
from gazeveil.privacy.audit import SUBJECTS
from tests.recipes import ROOT

PAGE = (ROOT / "docs/reference/errata.md").read_text(encoding="utf-8")
ITEM = re.compile(r'<a id="(\w+)"></a>\*\*(\w+)\. ')
CITED = re.compile(r"errat(?:um|a) ([LBWK]\d+)(?:(?:, | and | to )([LBWK]\d+))*")


def test_the_numbers_run_without_a_gap_and_can_be_linked_to() -> None:
    assert all(anchor == number.lower() for anchor, number in ITEM.findall(PAGE))
    numbers = [number for _, number in ITEM.findall(PAGE)]
    most = {"L": 11, "B": 11, "W": 10, "K": 11}
    assert numbers == [f"{letter}{which}" for letter, last in most.items() for which in range(1, last + 1)]


def test_every_number_that_is_cited_is_on_the_page() -> None:
    numbers = {number for _, number in ITEM.findall(PAGE)}
    files = [path for kind in ("src/**/*.py", "docs/**/*.md") for path in ROOT.glob(kind)]
    cited = {number for path in files for found in CITED.findall(path.read_text(encoding="utf-8")) for number in found}
    assert {"B10", "K1", "L3"} <= cited
    assert cited - {""} <= numbers


def test_every_item_names_evidence_that_exists() -> None:
    items = PAGE[: PAGE.index("## Numbers")].split("<a id=")[1:]
    assert [item[:8] for item in items if "*Evidence:*" not in item and "measured again" not in item] == []
    paths = re.findall(r"`((?:src|tests)/[\w/.]+)`", PAGE)
    assert [path for path in paths if not (ROOT / path).is_file()] == []
    assert set(re.findall(r"gazeveil lab audit ([\w-]+)", PAGE)) <= set(SUBJECTS.names())
