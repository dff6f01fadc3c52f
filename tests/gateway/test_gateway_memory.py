# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""A restart does not undo what people decided: knobs, switches, and who sits where."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from gazeveil.errors import FileFormatError
from gazeveil.gateway.logs import log_to
from gazeveil.gateway.memory import Memory
from gazeveil.gateway.policy import read_policy
from gazeveil.gateway.serve import Gateway
from tests.gateway.test_gateway_serve import policy_text


def gateway(folder: Path, text: str | None = None) -> tuple[Gateway, io.StringIO]:
    path, log = folder / "policy.toml", io.StringIO()
    if text is not None:
        path.write_text(text)
    return Gateway(read_policy(path), log_to(log)), log


def test_knobs_switches_and_people_outlive_a_crash(tmp_path: Path) -> None:
    first, _ = gateway(tmp_path, policy_text(7001, more="epsilon_at_most = 3\n"))
    first.turn("game", {"preset": "hplu"})
    first.turn("game", {"epsilon": "0.25"})
    first.switch("game", False)
    first.sit_down("desk", "bo")
    again, log = gateway(tmp_path)  # the first one never said good-bye
    status = again.status()
    assert "e^0.25" in status["apps"][0]["promise"]
    assert "any 2 seconds" in status["apps"][0]["promise"]
    assert status["apps"][0]["state"] == "off"
    assert status["trackers"][0]["person"] == "bo"
    assert "not restored" not in log.getvalue()
    assert (tmp_path / "policy.state.json").stat().st_mode & 0o777 == 0o600


def test_a_knob_that_the_policy_does_not_allow_any_more_is_not_restored(tmp_path: Path) -> None:
    first, _ = gateway(tmp_path, policy_text(7001))
    first.turn("game", {"preset": "hplu"})
    again, log = gateway(tmp_path, policy_text(7001).replace('knob = ["lphu", "mpmu", "hplu"]', "knob = []"))
    assert "e^3" in again.status()["apps"][0]["promise"]
    assert "knob not restored" in log.getvalue()


@pytest.mark.parametrize("text", ["", "{", "[]", '{"knobs": 1, "off": [], "people": {}}', '{"knobs": {}, "off": "game", "people": {}}', '{"knobs": {}, "off": [], "people": {"a": 1}}'])  # fmt: skip  # noqa: E501
def test_a_damaged_memory_starts_nothing(tmp_path: Path, text: str) -> None:
    (tmp_path / "policy.state.json").write_text(text)
    with pytest.raises(FileFormatError, match="decided"):
        gateway(tmp_path, policy_text(7001))


def test_what_the_policy_decides_anew_is_forgotten(tmp_path: Path) -> None:
    memory = Memory.of(tmp_path / "policy.toml")
    memory.turned("game", {"preset": "hplu"})
    memory.switched("page", False)
    memory.sat_down("desk", "bo")
    memory.forget(knobs={"game"}, off=set(), people={"desk"})
    kept = Memory.of(tmp_path / "policy.toml")
    assert (kept.knobs, kept.off, kept.people) == ({}, ["page"], {})
    memory.switched("page", True)
    assert Memory.of(tmp_path / "policy.toml").off == []
