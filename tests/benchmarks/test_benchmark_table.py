# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
from pathlib import Path

from benchmarks import table
from benchmarks.harness import Row, race


def test_the_page_shows_exactly_the_stored_results() -> None:
    assert table.PAGE.read_text(encoding="utf-8") == table.page(), "run `python -m benchmarks.table`"


def test_a_missed_aim_is_shown_as_missed(tmp_path: Path) -> None:
    row = Row("reading", "peer", ours_s=2.0, peer_s=1.0, target=10, work=4e6, unit="samples")
    (tmp_path / "x.json").write_text(json.dumps({"machine": {"cpu": "abacus"}, "rows": [row.to_dict()]}))
    page = table.page(tmp_path)
    assert "| reading | 2 s (2 M samples/s) | peer | 1 s | 0.50x **missed** | 10x |" in page
    assert "abacus" in page
    assert "- reading, compared with peer: 0.50x, aim 10x" in page


def test_both_sides_of_a_race_take_their_turns() -> None:
    turns: list[str] = []
    ours, theirs = race(lambda: turns.append("ours"), lambda: turns.append("peer"), rounds=3, peer_rounds=1)
    assert turns == ["ours", "ours", "peer", "ours", "ours"]
    assert ours >= 0
    assert theirs >= 0
