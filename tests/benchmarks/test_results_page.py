# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import re

from benchmarks import results_page

PART = re.compile(r"^## (.+)$", re.MULTILINE)
WITHOUT_A_PLOT = {
    "Forecasts of maps beside outcomes",
    "Whole studies and films",
    "Heatmaps: decoders that were tried",
    "Scenes",
    "Audits",
}


def test_the_page_shows_exactly_the_stored_tables() -> None:
    shown = results_page.PAGE.read_text(encoding="utf-8")
    assert results_page.with_tables(shown) == shown, "run `python -m benchmarks.results_page`"


def test_every_stored_table_is_on_the_page_once() -> None:
    shown = results_page.PAGE.read_text(encoding="utf-8")
    for part, tables in results_page.stored().items():
        for number in range(1, len(tables) + 1):
            assert shown.count(f"<!-- {part} {number}: begin -->") == 1


def test_every_part_has_one_plot_before_its_first_table() -> None:
    _, *parts = re.split(r"^(?=## )", results_page.PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    titles = {PART.match(part)[1]: part for part in parts}  # type: ignore[index]
    for title in titles.keys() - WITHOUT_A_PLOT:
        assert -1 < titles[title].find("![") < titles[title].index("\n|"), title
