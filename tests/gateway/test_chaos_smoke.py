# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""A short round of ``make chaos``, and that its tap would hear a leak."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.chaos.apps import App
from tests.chaos.trackers import Tracker
from tests.chaos.world import World

FAULTS = ["kill -9 and restart", "clock jump", "garbage from tracker", "kill source", "disk full"]


@pytest.mark.parametrize("protocol", ["jsonlines", "opengaze", "eyetribe"])
def test_the_tap_hears_raw_gaze_and_canaries(protocol: str) -> None:
    tracker = Tracker(protocol, seed=1)
    app = App("a", protocol, 0, tracker)
    app.taste(tracker.record().replace(b'"unit"', b'"valid": true, "unit"'))
    assert (app.samples, app.leaks, app.canaries) == (1, 1, 1)


@pytest.mark.timeout(180)
def test_nothing_raw_leaves_and_streams_come_back(tmp_path: Path) -> None:
    async def run() -> dict[str, object]:
        async with World(tmp_path, seed=7) as world:
            await world.warm_up()
            for kind in FAULTS:
                await world.suffer(kind)
            return await world.verdict()

    verdict = asyncio.run(run())
    clean = {
        name: verdict[name] for name in ("raw_samples_out", "canaries_out", "overspent", "too_early_after_restart")
    }
    assert clean == {"raw_samples_out": 0, "canaries_out": 0, "overspent": [], "too_early_after_restart": []}
    assert verdict["ledger_sound"]
    assert verdict["stopped_cleanly"]
    assert int(str(verdict["samples"])) > 100
