# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Ways round a gateway are tried as an app's user, and closed by the rules of the how-to."""

from __future__ import annotations

import asyncio
import io
import json
import os
import pwd
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from gazeveil.cli.main import run
from gazeveil.cli.policy import in_words
from gazeveil.errors import FileFormatError, InputError, UnknownName
from gazeveil.gateway.machine_checks import Bypass, can_be_bypassed, tried_bypasses
from gazeveil.gateway.policy.settings import read_policy
from gazeveil.gateway.serve import Gateway
from gazeveil.gateway.telemetry import log_to
from tests.recipes import blocks

POLICY = """
version = 1
[gateway]
ledger = "ledger.sqlite"
control = "127.0.0.1:7380"
[[tracker]]
name = "desk"
protocol = "opengaze"
address = "127.0.0.1:{port}"
screen = {{ width_px = 1920, height_px = 1080 }}
[[app]]
name = "game"
tracker = "desk"
protocol = "jsonlines"
listen = "127.0.0.1:0"
veil = {{ preset = "mpmu" }}
"""

ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="only root may act as another user")


@pytest.fixture
def tracker() -> Iterator[socket.socket]:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        yield listener


@pytest.fixture
def policy(tracker: socket.socket, tmp_path: Path) -> Path:
    path = tmp_path / "policy.toml"
    path.write_text(POLICY.format(port=tracker.getsockname()[1]))
    return path


def test_an_open_port_is_a_way_round_and_a_closed_one_is_not(policy: Path, tracker: socket.socket) -> None:
    read = read_policy(policy)
    assert can_be_bypassed(read)
    (way,) = tried_bypasses(read)
    assert way.is_open
    assert way.what == f"tracker desk at tcp://127.0.0.1:{tracker.getsockname()[1]}"
    assert "raw gaze bypasses the veil" in way.meaning
    tracker.close()
    (way,) = tried_bypasses(read)
    assert not way.is_open
    assert "refused, or the tracker is off" in way.meaning


def test_the_doctor_reports_what_is_open_to_whoever_runs_it_and_is_healthy(
    policy: Path, tracker: socket.socket, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["doctor", str(policy), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [one["state"] for one in told["findings"] if one["what"].startswith("tracker")] == ["open"]
    tracker.close()
    assert run(["doctor", str(policy), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [one["state"] for one in told["findings"] if one["what"].startswith("tracker")] == ["missing"]


def test_for_the_apps_user_a_way_round_is_wrong(
    policy: Path, tracker: socket.socket, capsys: pytest.CaptureFixture[str]
) -> None:
    me = pwd.getpwuid(os.geteuid()).pw_name
    (policy.parent / "ledger.sqlite").touch()
    assert run(["doctor", str(policy), "--as-user", me, "--json"]) == 1
    told = {one["what"].split()[0]: one for one in json.loads(capsys.readouterr().out)["findings"]}
    assert {name: one["state"] for name, one in told.items()} == {
        "tracker": "wrong", "policy": "wrong", "folder": "wrong", "control": "ok", "ledger": "wrong",
    }  # fmt: skip
    assert "undo what was spent" in told["ledger"]["advice"]


@ROOT
def test_another_user_may_not_write_the_gateways_files(policy: Path, tracker: socket.socket) -> None:
    (policy.parent / "ledger.sqlite").touch(0o600)
    (policy.parent / "control.token").touch(0o600)
    tracker.close()
    assert [way.what for way in tried_bypasses(read_policy(policy), "nobody") if way.is_open] == []


@pytest.mark.parametrize(("is_open", "code"), [(True, 1), (False, 0), (None, 1)])
def test_what_could_not_be_tried_is_not_taken_for_closed(
    policy: Path, is_open: bool | None, code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "gazeveil.gateway.machine_checks.tried_bypasses", lambda policy, user: [Bypass("tracker", is_open, "")]
    )
    assert run(["doctor", str(policy), "--as-user", "anna"]) == code


def test_a_user_who_is_not_there_is_refused(policy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(UnknownName, match="no user 'nobody-at-all'"):
        tried_bypasses(read_policy(policy), "nobody-at-all")
    assert run(["doctor", "--as-user", "nobody"]) != 0
    assert "needs a policy" in capsys.readouterr().err


def test_simulated_eyes_have_no_way_round(tmp_path: Path) -> None:
    path = tmp_path / "policy.toml"
    assert run(["policy", "example", str(path)]) == 0
    assert not can_be_bypassed(read_policy(path))
    assert tried_bypasses(read_policy(path)) == []


@pytest.mark.parametrize("session", ["", "a'b", "raw\\nKnownPeers = {10.0.0.1}", "x" * 65])
def test_a_session_is_a_plain_word(policy: Path, session: str) -> None:
    policy.write_text(f'version = 1\n[gateway]\nlsl_session = "{session}"\n' + policy.read_text().split("\n", 4)[4])
    with pytest.raises(FileFormatError, match="an LSL session"):
        read_policy(policy)


def test_a_running_gateway_does_not_change_its_session(policy: Path, tracker: socket.socket) -> None:
    tracker.close()

    policy.write_text(policy.read_text().replace('control = "127.0.0.1:7380"\n', ""))
    running = replace(read_policy(policy), lsl_session="other")

    async def run_and_reload() -> None:
        async with Gateway(running, log_to(io.StringIO())) as gateway:
            with pytest.raises(InputError, match="lsl_session takes a restart"):
                await gateway.reload()

    asyncio.run(run_and_reload())


def test_a_policy_says_when_apps_may_pick_the_raw_stream(policy: Path) -> None:
    text = policy.read_text()
    address = next(line for line in text.splitlines() if line.startswith("address"))
    on_lsl = text.replace('protocol = "opengaze"', 'protocol = "lsl"').replace(address, 'stream = "eyes"')
    policy.write_text(on_lsl)
    assert any("may pick its raw one" in line for line in in_words(read_policy(policy)))
    policy.write_text(on_lsl.replace('stream = "eyes"', 'stream = "eyes"\nsession = "raw"'))
    assert not any("may pick its raw one" in line for line in in_words(read_policy(policy)))


HOW_TO = Path(__file__).parents[2] / "docs/how-to/keep-apps-from-the-tracker.md"
RULES = {one.title: one.code.replace('"gazeveil"', '"root"') for one in blocks(HOW_TO) if one.title.endswith(".nft")}
"""The rules of the how-to, with root as the gateway's user."""

APPS_AND_GATEWAY = """
import socket, sys
from gazeveil.gateway.machine_checks import tried_bypasses
from gazeveil.gateway.policy.settings import read_policy
policy = read_policy(sys.argv[1])
with socket.socket() as tracker:
    tracker.bind(("127.0.0.1", 4242))
    tracker.listen()
    print([tried_bypasses(policy, user)[0].is_open for user in ("nobody", "root")])
"""


@ROOT
@pytest.mark.skipif(not (shutil.which("nft") and shutil.which("unshare")), reason="needs nft and unshare")
def test_a_firewall_rule_by_user_closes_the_port_to_apps_and_not_to_the_gateway(policy: Path, tmp_path: Path) -> None:
    """In a network namespace of its own: nothing on the machine's own network changes."""
    policy.write_text(POLICY.format(port=4242))
    for name, rules in RULES.items():
        (tmp_path / name).write_text(rules)
    commands = ["ip link set lo up", *(f"nft -c -f {name}" for name in RULES)]
    ask = '"$PYTHON" -c "$ASK" policy.toml'
    steps = "\n".join([*commands, ask, "nft -f by-user.nft", ask])
    given = {**os.environ, "PYTHON": sys.executable, "ASK": APPS_AND_GATEWAY}
    done = subprocess.run(
        ["unshare", "-n", "bash", "-ec", steps], cwd=tmp_path, env=given, capture_output=True, text=True, check=False
    )
    assert not done.returncode, done.stderr
    assert sorted(RULES) == ["by-user.nft", "lsl.nft", "namespace.nft"]
    assert done.stdout == "[True, True]\n[False, True]\n"
