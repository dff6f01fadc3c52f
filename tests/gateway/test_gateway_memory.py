# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""A restart does not undo what participants decided: privacy levels, switches and participants."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from gazeveil.errors import FileFormatError, OutputError
from gazeveil.gateway.control import decisions as memory_module
from gazeveil.gateway.control.decisions import Decisions
from gazeveil.gateway.policy.settings import read_policy
from gazeveil.gateway.serve import Gateway
from gazeveil.gateway.telemetry import log_to
from tests.gateway.test_gateway_serve import policy_text


def gateway(folder: Path, text: str | None = None) -> tuple[Gateway, io.StringIO]:
    path, log = folder / "policy.toml", io.StringIO()
    if text is not None:
        path.write_text(text)
    return Gateway(read_policy(path), log_to(log)), log


def test_knobs_switches_and_people_outlive_a_crash(tmp_path: Path) -> None:
    first, _ = gateway(tmp_path, policy_text(7001, more="epsilon_at_most = 3\n"))
    first.set_level("game", {"preset": "hplu"})
    first.set_level("game", {"epsilon": "0.25"})
    first.switch("game", False)
    first.set_participant("desk", "bo")
    again, log = gateway(tmp_path)  # the first one never said good-bye
    status = again.status()
    assert "e^0.25" in status["apps"][0]["guarantee"]
    assert "any 2 seconds" in status["apps"][0]["guarantee"]
    assert status["apps"][0]["state"] == "off"
    assert status["trackers"][0]["participant"] == "bo"
    assert "not restored" not in log.getvalue()
    assert (tmp_path / "policy.state.json").stat().st_mode & 0o777 == 0o600


def test_a_knob_that_the_policy_does_not_allow_any_more_is_not_restored(tmp_path: Path) -> None:
    first, _ = gateway(tmp_path, policy_text(7001))
    first.set_level("game", {"preset": "hplu"})
    again, log = gateway(tmp_path, policy_text(7001).replace('levels = ["lphu", "mpmu", "hplu"]', "levels = []"))
    assert "e^3" in again.status()["apps"][0]["guarantee"]
    assert "privacy level not restored" in log.getvalue()


@pytest.mark.parametrize("text", ["", "{", "[]", '{"levels": 1, "off": [], "participants": {}}', '{"levels": {}, "off": "game", "participants": {}}', '{"levels": {}, "off": [], "participants": {"a": 1}}'])  # fmt: skip  # noqa: E501
def test_a_damaged_memory_starts_nothing(tmp_path: Path, text: str) -> None:
    (tmp_path / "policy.state.json").write_text(text)
    with pytest.raises(FileFormatError, match="decided"):
        gateway(tmp_path, policy_text(7001))


def test_what_the_policy_decides_anew_is_forgotten(tmp_path: Path) -> None:
    memory = Decisions.of(tmp_path / "policy.toml")
    memory.level_set("game", {"preset": "hplu"})
    memory.switched("page", False)
    memory.participant_set("desk", "bo")
    memory.forget(levels={"game"}, off=set(), participants={"desk"})
    kept = Decisions.of(tmp_path / "policy.toml")
    assert (kept.levels, kept.off, kept.participants) == ({}, ["page"], {})
    memory.switched("page", True)
    assert Decisions.of(tmp_path / "policy.toml").off == []


def test_where_the_policy_cannot_be_written_beside_decisions_are_kept_in_the_state_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = tmp_path / "state"
    monkeypatch.setenv("GAZEVEIL_STATE", str(state))
    first, _ = gateway(tmp_path, policy_text(7001))
    first.switch("game", False)
    assert first.status()["state_file"] == str(tmp_path / "policy.state.json")
    monkeypatch.setattr(memory_module, "_can_be_kept", lambda place: state in place.parents)
    second, _ = gateway(tmp_path)
    assert second.status()["apps"][0]["state"] == "off", "what lies beside the policy still counts"
    (tmp_path / "policy.state.json").unlink()
    second.set_participant("desk", "bo")
    (file,) = (state / "gateways").iterdir()
    assert second.status()["state_file"] == str(file)
    assert file.stat().st_mode & 0o777 == 0o600
    third, _ = gateway(tmp_path)
    assert third.status()["apps"][0]["state"] == "off"
    assert third.status()["trackers"][0]["participant"] == "bo"


def test_a_policy_says_where_decisions_are_kept(tmp_path: Path) -> None:
    text = policy_text(7001).replace("lease_s", 'state_file = "kept/here.json"\nlease_s')
    first, _ = gateway(tmp_path, text)
    first.switch("game", False)
    assert (tmp_path / "kept" / "here.json").exists()
    assert not (tmp_path / "policy.state.json").exists()
    assert gateway(tmp_path)[0].status()["apps"][0]["state"] == "off"


def test_a_gateway_that_cannot_keep_decisions_starts_only_if_there_can_be_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory_module, "_can_be_kept", lambda place: False)
    with pytest.raises(OutputError, match="a restart would undo them"):
        gateway(tmp_path, policy_text(7001))
    text = policy_text(7001)
    without_control = "\n".join(line for line in text.splitlines() if not line.startswith("control"))
    assert gateway(tmp_path, without_control)[0].status()["apps"][0]["state"] != "off"


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="no /proc, where even root cannot make a file")
def test_a_folder_that_only_looks_writable_does_not_count(tmp_path: Path) -> None:
    text = policy_text(7001).replace("[gateway]", '[gateway]\nstate_file = "/proc/nowhere/state.json"')
    with pytest.raises(OutputError, match="a restart would undo them"):
        gateway(tmp_path, text)


def test_memory_that_cannot_be_read_starts_nothing(tmp_path: Path) -> None:
    (tmp_path / "policy.state.json").mkdir()  # nobody can read a folder as a file, not even root
    with pytest.raises(FileFormatError, match="cannot be read"):
        gateway(tmp_path, policy_text(7001))


def test_a_decision_that_cannot_be_kept_fails_loudly_and_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, log = gateway(tmp_path, policy_text(7001))

    def full(self: Decisions) -> None:
        raise OutputError("cannot write: no space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(Decisions, "_keep", full)
        with pytest.raises(OutputError, match="'game' is off now, but decisions cannot be kept"):
            made.switch("game", False)
        assert made.status()["apps"][0]["state"] == "off", "nothing leaves all the same"
        with pytest.raises(OutputError, match="'game' stays off"):
            made.switch("game", True)
        assert made.status()["apps"][0]["state"] == "off"
    assert "decision not kept" in log.getvalue()
    made.set_participant("desk", "bo")  # the disk has room again
    assert gateway(tmp_path)[0].status()["apps"][0]["state"] == "off"
