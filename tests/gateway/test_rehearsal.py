# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What takes its time when it is first asked for is done before gaze comes."""

from __future__ import annotations

from pathlib import Path

import pytest

from gazeveil.gateway import veiling
from gazeveil.gateway.hub import hub
from gazeveil.gateway.policy.settings import read_policy

POLICY = """
version = 1
[gateway]
ledger = "ledger.sqlite"

[[tracker]]
name = "desk"
protocol = "simulate"
screen = { width_px = 1920, height_px = 1080, width_mm = 530, height_mm = 300, distance_mm = 650 }

[[app]]
name = "game"
tracker = "desk"
protocol = "websocket"
listen = 7381
veil = { preset = "lphu" }
levels = ["lphu", "hplu"]

[[budget]]
participant = "*"
epsilon_per_day = 5000
radius = "60px"
"""


def test_an_app_that_may_get_fixations_has_found_some_before_gaze_comes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found: list[object] = []
    monkeypatch.setattr(hub, "feed_of", lambda *given, **more: _Watched(veiling.feed_of(*given, **more), found))
    hub._rehearse_fixations.cache_clear()
    (tmp_path / "policy.toml").write_text(POLICY)
    hub.rehearse(read_policy(tmp_path / "policy.toml"))
    hub._rehearse_fixations.cache_clear()
    assert found, "the detector was not run as far as a whole fixation"


class _Watched:
    def __init__(self, feed: veiling.Feed, found: list[object]) -> None:
        self.feed, self.found = feed, found

    def give(self, t: float, x: float, y: float, show: object) -> None:
        self.feed.give(t, x, y, self.found.append)


def test_a_knob_is_turned_before_gaze_comes(tmp_path: Path) -> None:
    (tmp_path / "policy.toml").write_text(POLICY)
    policy = read_policy(tmp_path / "policy.toml")
    hub._rehearse_change.cache_clear()
    hub.rehearse(policy)
    assert hub._rehearse_change.cache_info().misses == 1
