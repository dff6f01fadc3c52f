# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The commands of the gateway, with a real gateway as a process of its own."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.parse
import urllib.request
import webbrowser
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gazeveil.cli.main import run
from gazeveil.cli.serve import niceness
from tests.ports import free_port

for _package in ("starlette", "uvicorn", "msgspec", "websockets"):
    pytest.importorskip(_package)


@pytest.fixture
def policy(tmp_path: Path) -> Path:
    path = tmp_path / "policy.toml"
    assert run(["policy", "example", str(path)]) == 0
    text = path.read_text()
    for port in (7380, 6555, 7381):
        text = re.sub(rf"\b{port}\b", str(free_port()), text)  # whole numbers: a free port may hold such digits
    path.write_text(text)
    return path


@contextlib.contextmanager
def gateway(policy: Path) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "gazeveil", "serve", str(policy), "--create-ledger"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


def answered(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    """Ask until the gateway answers."""
    until = time.monotonic() + 60
    while run([*arguments, "--json"]) != 0:
        capsys.readouterr()
        assert time.monotonic() < until, "the gateway does not answer"
        time.sleep(0.1)
    return dict(json.loads(capsys.readouterr().out))


def test_a_running_gateway_is_seen_steered_and_ends_cleanly(policy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    with gateway(policy) as process:
        apps = answered(["apps", "list", str(policy)], capsys)["apps"]
        assert [app["name"] for app in apps] == ["game", "page"]
        assert run(["apps", "turn", str(policy), "game", "--preset", "hplu"]) == 0
        assert "e^0.5" in capsys.readouterr().out
        assert run(["apps", "turn", str(policy), "game", "--preset", "off"]) == 5
        assert "does not allow" in capsys.readouterr().err
        assert run(["apps", "off", str(policy), "page"]) == 0
        assert "page: off" in capsys.readouterr().out
        assert run(["apps", "on", str(policy), "page"]) == 0
        assert run(["budget", str(policy)]) == 0
        assert "anna" in capsys.readouterr().out
        _check_page(policy, capsys)
        assert run(["policy", "reload", str(policy)]) == 0
        assert "2 apps on 1 trackers" in capsys.readouterr().out
        process.send_signal(signal.SIGTERM)
        told, log = process.communicate(timeout=30)
    assert process.returncode == 0
    assert "shares its noise with page" in told
    events = [json.loads(line)["event"] for line in log.splitlines()]
    assert events[0] == "gateway started"
    assert events[-1] == "gateway stopped"
    assert "#key=" not in told + log  # standard output is no terminal here


def _check_page(policy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Open the control page: the browser gets a private file, since anybody can read a command line."""
    opened: list[str] = []

    def browser(url: str) -> bool:
        opened.append(url)
        return True

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(webbrowser, "open", browser)
        patch.setenv("GAZEVEIL_STATE", str(policy.parent / "state"))
        assert run(["page", str(policy)]) == 0
    link = capsys.readouterr().out.splitlines()[0]
    (file,) = [Path(urllib.parse.urlsplit(url).path) for url in opened]
    assert file.stat().st_mode & 0o077 == 0
    assert link in file.read_text()
    assert run(["page", str(policy), "--json"]) == 0
    link = json.loads(capsys.readouterr().out)["url"]
    where, _, key = link.partition("#key=")
    asked = urllib.request.Request(
        f"{where}v1/page/session", json.dumps({"key": key}).encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(asked, timeout=10) as answer:
        assert json.load(answer)["token"].startswith("page.")


def test_a_taken_port_is_told_in_short_and_the_policy_is_not_said(
    policy: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    port = int(policy.read_text().split('listen = "127.0.0.1:')[1].split('"')[0])
    with socket.create_server(("127.0.0.1", port)):
        assert run(["serve", str(policy), "--create-ledger"]) == 3
    told = capsys.readouterr()
    assert told.out == ""
    assert "cannot listen" in told.err
    assert len([line for line in told.err.splitlines() if not line.startswith("{")]) <= 2


def test_without_a_gateway_the_commands_say_what_to_do(policy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["apps", "list", str(policy)]) == 3
    assert "gazeveil serve" in capsys.readouterr().err
    (policy.parent / "control.token").write_text("a" * 20)
    assert run(["apps", "list", str(policy), "--json"]) == 5
    told = json.loads(capsys.readouterr().out)
    assert "no gateway answers" in told["message"]


def test_a_policy_is_said_in_plain_words_and_errors_name_the_line(
    policy: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert run(["policy", "check", str(policy)]) == 0
    assert "together they know no more than all points of one veil" in capsys.readouterr().out
    assert run(["policy", "check", str(policy), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["apps"][0]["shares_noise_with"] == ["page"]
    policy.write_text(policy.read_text().replace('preset = "mpmu"', 'preset = "mpmo"', 1))
    assert run(["policy", "check", str(policy), "--json"]) == 3
    told = json.loads(capsys.readouterr().out)
    assert told["line"] == policy.read_text().splitlines().index('veil = { preset = "mpmo" }') + 1
    assert run(["policy", "example", str(policy)]) == 4


def test_the_doctor_finds_a_taken_port_and_a_broken_policy(policy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert run(["doctor", str(policy), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["healthy"]
    port = json.loads(json.dumps(policy.read_text().split('listen = "127.0.0.1:')[1].split('"')[0]))
    with socket.socket() as other:
        other.bind(("127.0.0.1", int(port)))
        other.listen()
        assert run(["doctor", str(policy), "--json"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert [one["what"] for one in told["findings"] if one["state"] == "wrong"] == [f"app game on 127.0.0.1:{port}"]
    policy.write_text("version = 7")
    assert run(["doctor", str(policy), "--json"]) == 1
    assert "line 1" in capsys.readouterr().out
    assert run(["doctor"]) == 0


def test_nobody_plays_a_tracker_in_a_protocol_that_no_app_reads(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["track", "--simulate", "--protocol", "push"]) != 0
    assert "no app reads 'push'" in capsys.readouterr().err


def test_a_tracker_without_hardware_shows_simulated_gaze(capsys: pytest.CaptureFixture[str]) -> None:
    port = free_port()
    command = [
        sys.executable, "-m", "gazeveil", "track", "--simulate", "--protocol", "jsonlines",
        "--listen", f"127.0.0.1:{port}", "--rate", "100", "--json",
    ]  # fmt: skip
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        until = time.monotonic() + 60
        while True:
            try:
                client = socket.create_connection(("127.0.0.1", port), timeout=5)
                break
            except OSError:
                assert time.monotonic() < until
                time.sleep(0.1)
        with client, client.makefile() as lines:
            told = [json.loads(next(lines)) for _ in range(40)]
        process.send_signal(signal.SIGTERM)
        out, _ = process.communicate(timeout=30)
    finally:
        if process.poll() is None:
            process.kill()
            process.communicate()
    gaze = [one for one in told if one.get("valid")]
    assert len(gaze) > 10
    assert "Nothing is guaranteed" in told[0]["guarantee"]
    assert json.loads(out)["sent"] >= len(gaze)


@pytest.mark.parametrize(
    "arguments",
    [
        ["--protocol", "jsonlines"],
        ["--protocol", "jsonlines", "--simulate", "--screen", "big"],
        ["--protocol", "telepathy", "--simulate"],
        ["--protocol", "jsonlines", "--simulate", "--listen", "nowhere"],
    ],
)
def test_a_tracker_that_makes_no_sense_is_refused(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["track", *arguments, "--seconds", "0.1"]) == 3
    assert "error:" in capsys.readouterr().err


@pytest.mark.parametrize(("started_at", "asked", "runs_at"), [(0, 7, 7), (5, None, 5), (5, 9, 9)])
def test_a_gateway_runs_at_the_niceness_that_somebody_set(started_at: int, asked: int | None, runs_at: int) -> None:
    program = (
        "import os; from gazeveil.cli.serve import niceness\n"
        f"os.setpriority(os.PRIO_PROCESS, 0, {started_at})\n"
        f"with niceness({asked}, print): print(os.nice(0))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == [str(runs_at)]


def test_a_gateway_that_nobody_ranked_goes_first_or_says_that_it_may_not(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    said: list[str] = []
    monkeypatch.setattr(os, "nice", lambda by: 0)
    monkeypatch.setattr(os, "setpriority", lambda which, who, nice: asked.append(nice))
    with niceness(None, lambda event, **fields: said.append(event)):
        assert asked == [-10]
    assert (asked, said) == ([-10, 0], [])

    def refuse(*_: int) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "setpriority", refuse)
    with niceness(None, lambda event, **fields: said.append(event)):
        assert said == ["no priority"]
