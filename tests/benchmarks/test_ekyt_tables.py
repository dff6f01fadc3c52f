# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json

from benchmarks import ekyt_tables
from benchmarks.harness import RESULTS


def test_the_pages_show_exactly_the_stored_numbers() -> None:
    for page, tables in ekyt_tables.PAGES.items():
        told = page.read_text()
        assert ekyt_tables.with_tables(told, tables) == told, "run `python -m benchmarks.ekyt_tables`"


def test_the_benchmark_rows_are_those_of_the_race() -> None:
    stored = json.loads((RESULTS / "ekyt_gpu.json").read_text())
    assert stored["rows"] == [row.to_dict() for row in ekyt_tables.rows()]


def test_the_stated_tolerance_holds_for_every_pair_of_curves() -> None:
    # the page says: 0.1 % in each of the first ten epochs, 6 % in any epoch
    runs = ekyt_tables.found("curves")
    for one, other in ekyt_tables.PAIRS:
        pairs = zip(runs[one]["losses"], runs[other]["losses"], strict=True)
        apart = [abs(first / second - 1) for first, second in pairs]
        assert len(apart) == 100
        assert max(apart[:10]) < 0.001
        assert max(apart) < 0.06
