# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""``gazeveil serve --demo`` as a real process, and the demo apps on their own origin."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from gazeveil.cli.main import run as command
from gazeveil.errors import FileFormatError
from gazeveil.gateway.policy.levels import longest_window
from gazeveil.gateway.policy.settings import read_policy
from gazeveil.gateway.serve import demo_areas, demo_folder
from gazeveil.geometry import screen

for _package in ("starlette", "uvicorn", "websockets"):
    pytest.importorskip(_package)
connect = pytest.importorskip("websockets.sync.client").connect


@pytest.fixture
def places(tmp_path: Path) -> dict[str, str]:
    """An environment in which everything that a process leaves behind would be found."""
    for name in ("tmp", "home", "state"):
        (tmp_path / name).mkdir()
    home, state = str(tmp_path / "home"), str(tmp_path / "state")
    return {**os.environ, "TMPDIR": str(tmp_path / "tmp"), "HOME": home, "GAZEVEIL_STATE": state}


def fetched(url: str, body: bytes | None = None, **headers: str) -> tuple[int, http.client.HTTPMessage, bytes]:
    """Ask a server, and return status, headers and body."""
    parts = urlsplit(url)
    with contextlib.closing(http.client.HTTPConnection(parts.netloc, timeout=20)) as connection:
        where = f"{parts.path}?{parts.query}" if parts.query else parts.path
        connection.request("GET" if body is None else "POST", where, body, headers)
        answer = connection.getresponse()
        return answer.status, answer.headers, answer.read()


def ask(url: str, body: dict[str, str] | None = None, token: str = "") -> dict[str, Any]:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    status, _, told = fetched(url, None if body is None else json.dumps(body).encode(), **headers)
    assert status == 200, told
    return json.loads(told)  # type: ignore[no-any-return]


@pytest.mark.timeout(300)  # a first start compiles
def test_the_demo_starts_shows_veiled_gaze_and_leaves_nothing_behind(tmp_path: Path, places: dict[str, str]) -> None:
    command = [sys.executable, "-m", "gazeveil", "serve", "--demo", "--no-open"]
    demo = subprocess.Popen(
        command,
        cwd=tmp_path,
        env=places,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        text=True,
    )
    said = ""
    try:
        assert demo.stdout is not None
        for line in demo.stdout:
            said += line
            if "works once" in line:
                break
        assert said.startswith("This is a demo.")
        page, key = re.search(r"open (http://127\.0\.0\.1:\d+)/#key=(\S+)", said).groups()  # type: ignore[union-attr]
        assert ask(f"{page}/health") == {"alive": True, "latched": False}
        token = ask(f"{page}/v1/page/session", {"key": key})["token"]
        assert fetched(f"{page}/v1/page/session", json.dumps({"key": key}).encode())[0] == 403
        status = ask(f"{page}/v1/status", token=token)
        (tracker,) = status["trackers"]
        assert status["demo"]
        assert tracker["source"] == {"kind": "simulate", "choices": ["simulate", "mouse", "replay"]}
        assert [demo_app["app"] for demo_app in status["demo_apps"]] == ["targets", "reading"]
        urls = [demo_app["url"] for demo_app in status["demo_apps"]]
        assert all(url in said for url in urls)
        _check_demo_server(urls[0])
        with connect(urls[1].partition("?ws=")[2], compression=None, open_timeout=20) as app:
            hello, *rest = (json.loads(app.recv(timeout=20)) for _ in range(40))
            assert "e^3" in hello["guarantee"]
            while not any(told.get("valid") for told in rest):
                rest.append(json.loads(app.recv(timeout=20)))
    finally:
        demo.send_signal(signal.SIGINT)
        out, err = demo.communicate(timeout=30)
    assert (demo.returncode, err) == (0, "")
    assert "nothing of it was kept" in out
    assert [*(tmp_path / "tmp").iterdir(), *(tmp_path / "state").iterdir()] == []
    assert {path.name for path in (tmp_path / "home").iterdir()} <= {".cache"}  # compiled code may be kept


def _check_demo_server(url: str) -> None:
    """Nothing but the demo apps' own files is there, and no control API."""
    origin = "/".join(url.split("/")[:3])
    for path in ("/v1/status", "/", "/health", "/../demo.toml", "/page/main.js"):
        assert fetched(origin + path)[0] == 404
    assert fetched(url, Host="elsewhere.example")[0] == 403
    status, headers, _ = fetched(url)
    assert status == 200
    assert "default-src 'none'" in headers["Content-Security-Policy"]
    assert "connect-src ws://127.0.0.1:* ws://localhost:*;" in headers["Content-Security-Policy"]
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Content-Type"].startswith("text/html")


@pytest.mark.parametrize("arguments", [[], ["policy.toml", "--demo"]])
def test_serve_wants_a_policy_or_the_demo(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert command(["serve", *arguments]) != 0
    assert "give a policy or --demo" in capsys.readouterr().err


@pytest.fixture
def demo_policy() -> Iterator[Path]:
    with demo_folder() as path:
        yield path


def test_the_demos_policy_is_an_ordinary_one_and_demo_apps_stay_on_this_machine(demo_policy: Path) -> None:
    policy = read_policy(demo_policy)
    (tracker,) = policy.trackers
    assert tracker.raw_view
    assert all(app.mechanism.guarantee.proven for app in policy.apps)
    assert policy.apps[0].mechanism == policy.apps[1].mechanism  # one noise at first
    assert tracker.using("replay").loop
    assert all(longest_window(app, tracker.space) < 2.01 for app in policy.apps)  # so long a new source is quiet
    text = demo_policy.read_text()
    for wrong, complaint in (
        (text.replace('demo_apps = "127.0.0.1:0"', 'demo_apps = "0.0.0.0:0"'), "an address of this machine alone"),
        (text.replace('demo_app = "reading"', 'demo_app = "chess"'), "one of dwell, reading"),
        (text.replace('"websocket"', '"jsonlines"', 1), "the protocol websocket without tls"),
    ):
        demo_policy.write_text(wrong)
        with pytest.raises(FileFormatError, match=complaint):
            read_policy(demo_policy)


def test_the_targets_do_not_overlap_and_lie_on_the_screen() -> None:
    found = demo_areas(screen(1920, 1080))
    assert [one.name for one in found] == [str(number) for number in range(1, 10)]
    assert all(0 <= one.left < one.right <= 1920 and 0 <= one.top < one.bottom <= 1080 for one in found)
    for one in found:
        for other in found:
            apart = one.right < other.left or other.right < one.left or one.bottom < other.top or other.bottom < one.top
            assert one is other or apart
