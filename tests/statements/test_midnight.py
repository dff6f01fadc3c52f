# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Twenty minutes around midnight: what is guaranteed for any 24 hours must hold for these too."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from gazeveil.privacy.ledger import Ledger
from tests.gateway.hub_bench import Bench, app, budget, policy, windows_needed


def test_twenty_minutes_around_midnight_cost_no_more_than_the_budget_of_24_hours(tmp_path: Path) -> None:
    """Gaze for a minute at ten to midnight and at ten past, with a budget for 24 windows in any 24 hours."""
    ledger = Ledger.open(tmp_path / "ledger.sqlite", create=True)
    bench = Bench(policy(app(), budget(36)), ledger, start=datetime(2026, 3, 1, 23, 50, tzinfo=UTC))
    bench.gaze(60)
    before = len(bench.seen["game"].when)
    bench.now += 19 * 60
    bench.device += 19 * 60
    bench.wait(1)
    bench.gaze(60)
    assert before > 0
    spent = 1.5 * windows_needed(bench.seen["game"].when, 1.5)
    assert 30 < spent <= 36
