# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The control page on real sockets: what apps' sockets carry while a page looks on, and streams that end."""

from __future__ import annotations

import asyncio
import http.client
import io
import json
import re
import socket
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from gazeveil.gateway.control import http as control_http
from gazeveil.gateway.control.http import LIVE_PATH, server_of
from gazeveil.gateway.control.recovery import MOST_POINTS, RecoveryProgram, thinned
from gazeveil.gateway.policy.settings import read_policy
from gazeveil.gateway.sample import RawSample
from gazeveil.gateway.serve import Gateway
from gazeveil.gateway.telemetry import log_to
from tests.gateway.page_bench import AREAS

for _package in ("starlette", "uvicorn", "msgspec", "websockets"):
    pytest.importorskip(_package)

POLICY = """
version = 1
[gateway]
control = "127.0.0.1:0"
token_file = "token"
[[tracker]]
name = "desk"
protocol = "push"
listen = "127.0.0.1:0"
raw_view = true
screen = { width_px = 1920, height_px = 1080, width_mm = 527, height_mm = 296, distance_mm = 600 }
[[app]]
name = "game"
tracker = "desk"
protocol = "jsonlines"
listen = "127.0.0.1:0"
rate_hz = 1000
veil = { preset = "gaussian-low" }
unproven = "allow"
areas = "areas.json"
"""
CANARY = (0.1234567 * 1920, 0.7654321 * 1080)
SEEN = re.compile(rb"0\.1234[56]\d*[^0-9]{1,12}0\.7654[34]\d*")


class Page:
    """A running gateway, an app that is connected to it, and a browser."""

    def __init__(self, gateway: Gateway, reader: asyncio.StreamReader, token: str) -> None:
        self.gateway, self.reader, self._token = gateway, reader, token
        self._t = 100.0
        control = gateway._control
        assert control is not None
        self.port = control.port

    def look(self, count: int, at: tuple[float, float] = CANARY) -> None:
        for _ in range(count):
            self._t += 0.005
            self.gateway.hub.push("desk", [RawSample(self._t, *at)], time.monotonic())

    async def heard(self, count: int) -> list[bytes]:
        async with asyncio.timeout(20):
            return [await self.reader.readline() for _ in range(count)]

    async def ask(self, method: str, path: str, body: Any = None) -> Any:
        def ask() -> Any:
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
            headers = {"Authorization": f"Bearer {self._token}"}
            connection.request(method, path, None if body is None else json.dumps(body), headers)
            told = json.loads(connection.getresponse().read())
            connection.close()
            return told

        return await asyncio.to_thread(ask)

    async def stream(self, **headers: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        given = {"Host": f"127.0.0.1:{self.port}", "Authorization": f"Bearer {self._token}", **headers}
        lines = [f"GET {LIVE_PATH}?tracker=desk HTTP/1.1", *(f"{name}: {value}" for name, value in given.items())]
        writer.write("\r\n".join([*lines, "", ""]).encode())
        async with asyncio.timeout(20):
            head = await reader.readuntil(b"\r\n\r\n")
            assert head.startswith(b"HTTP/1.1 200")
            await reader.readuntil(b"}}\n")
        return reader, writer


def running(folder: Path, play: Callable[[Page], Awaitable[None]], undo: RecoveryProgram | None = None) -> str:
    """Run a gateway while something is played on it; return its log."""
    (folder / "policy.toml").write_text(POLICY)
    (folder / "areas.json").write_text(AREAS)
    log = io.StringIO()

    async def run() -> None:
        async with Gateway(read_policy(folder / "policy.toml"), log_to(log), undo=undo) as gateway:
            reader, writer = await asyncio.open_connection("127.0.0.1", gateway.outlets["game"].port)
            page = Page(gateway, reader, (folder / "token").read_text().strip())
            hello = json.loads((await page.heard(1))[0])
            assert hello["output"] == "samples"
            page.look(1)
            await page.heard(2)  # that there is no gaze yet, and that a stream begins
            try:
                await play(page)
            finally:
                writer.close()

    asyncio.run(run())
    return log.getvalue()


def test_no_app_socket_carries_raw_gaze_while_a_page_looks_at_it(tmp_path: Path) -> None:
    async def play(page: Page) -> None:
        shown = (await page.ask("POST", "/v1/trackers/desk/raw"))["capability"]
        reader, writer = await page.stream(**{"Gazeveil-Raw": shown})
        page.look(50)
        heard = b"".join(await page.heard(50))
        async with asyncio.timeout(20):
            seen = b""
            while not SEEN.search(seen):
                seen += await reader.read(1 << 16)
        writer.close()
        assert heard.count(b'"valid":true') == 50
        assert not SEEN.search(heard)

    log = running(tmp_path, play)
    assert not SEEN.search(log.encode())
    assert [json.loads(line)["event"] for line in log.splitlines()].count("raw view opened") == 1


def test_an_export_equals_what_the_socket_carried_and_a_rule_changes_the_socket_at_once(tmp_path: Path) -> None:
    async def play(page: Page) -> None:
        page.look(30)
        carried = [json.loads(line) for line in await page.heard(30)]
        told = (await page.ask("GET", "/v1/apps/game/received?format=json"))["received"]
        assert [(one["t"], one["x"], one["y"]) for one in told] == [(one["t"], one["x"], one["y"]) for one in carried]
        assert (await page.ask("POST", "/v1/apps/game/rule", {"output": "hits"}))["output"] == "hits"
        page.look(10)
        hello, hit = map(json.loads, await page.heard(2))
        assert (hello["type"], hello["output"], hello["areas"]) == ("hello", "hits", ["left"])
        assert (hit["type"], hit["area"]) == ("hit", "left")
        await page.ask("POST", "/v1/apps/game/rule", {"output": None})
        page.look(3)
        hello, *samples = map(json.loads, await page.heard(4))
        assert hello["output"] == "samples"
        assert all(sample["valid"] for sample in samples)
        last = (await page.ask("GET", "/v1/apps/game/received?format=json"))["received"][30:]
        assert [one["kind"] for one in last] == ["hit", "sample", "sample", "sample"]

    running(tmp_path, play)


def test_a_page_that_is_open_does_not_hold_up_the_end_of_the_gateway(tmp_path: Path) -> None:
    ended: list[float] = []

    async def play(page: Page) -> None:
        reader, writer = await page.stream()

        async def until_the_end() -> None:
            while await reader.read(1 << 16):
                page.look(1)
            ended.append(time.monotonic())
            writer.close()

        waiting.append(asyncio.create_task(until_the_end()))
        begun.append(time.monotonic())

    waiting: list[asyncio.Task[None]] = []
    begun: list[float] = []
    running(tmp_path, play)
    assert ended[0] - begun[0] < 3


def test_guesses_reach_the_page_from_a_program_that_sees_veiled_points_alone(tmp_path: Path) -> None:
    async def play(page: Page) -> None:
        reader, writer = await page.stream()
        async with asyncio.timeout(60):
            undone: list[list[float]] = []
            while not undone:
                page.look(8)
                for line in re.findall(rb'\{"now".*?\}\n', await reader.read(1 << 16)):
                    undone += json.loads(line)["apps"]["game"]["undone"]
        writer.close()
        received: list[Any] = page.gateway.hub.app_of("game").received.since(0)
        shown = {round(thing[0], 4): thing for thing in received}
        for t, x, y in undone:  # the program gives back what it got, moved to the right by a tenth of the width
            assert x == pytest.approx(shown[t][1] / 1920 + 0.1, abs=2e-5)
            assert y == pytest.approx(shown[t][2] / 1080, abs=2e-5)

    running(tmp_path, play, RecoveryProgram("tests.gateway.moved_points", lambda veil: "moved"))


def test_a_program_that_fails_costs_the_guesses_and_nothing_else(tmp_path: Path) -> None:
    async def play(page: Page) -> None:
        reader, writer = await page.stream()
        async with asyncio.timeout(20):
            while not any(event == "recovery failed" for event in events):
                page.look(8)
                await reader.read(1 << 16)
                events[:] = [json.loads(line)["event"] for line in logged()]
        page.look(5)
        assert await page.heard(5)
        writer.close()

    events: list[str] = []
    log = io.StringIO()
    (tmp_path / "areas.json").write_text(AREAS)
    (tmp_path / "policy.toml").write_text(POLICY)

    def logged() -> list[str]:
        return log.getvalue().splitlines()

    async def run() -> None:
        undo = RecoveryProgram("tests.gateway.no_such_program", lambda veil: "none")
        async with Gateway(read_policy(tmp_path / "policy.toml"), log_to(log), undo=undo) as gateway:
            reader, writer = await asyncio.open_connection("127.0.0.1", gateway.outlets["game"].port)
            await play(Page(gateway, reader, (tmp_path / "token").read_text().strip()))
            writer.close()

    asyncio.run(run())


def test_long_streams_are_thinned_and_their_latest_point_stays() -> None:
    points = [(n / 1000, 1.0, 2.0) for n in range(20_000)]
    kept = thinned(points)
    assert len(kept) <= MOST_POINTS
    assert kept[-1] == points[-1]
    assert kept[0][0] > 9.9
    assert thinned([]) == []


# The server's patience


async def lasts(path: str, size: int) -> float:
    """Return how long an endless answer goes on to a client that sends its request and reads nothing."""
    over = asyncio.Event()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        gone = asyncio.ensure_future(_disconnected(receive))
        while not gone.done():
            await send({"type": "http.response.body", "body": b"x" * size, "more_body": True})
            await asyncio.wait([gone], timeout=0.02)
        over.set()

    listening = socket.create_server(("127.0.0.1", 0))
    server, task = server_of(app, listening, None)
    _, writer = await asyncio.open_connection(*listening.getsockname(), limit=1 << 10)
    begun = time.monotonic()
    writer.write(f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
    try:
        async with asyncio.timeout(20):
            await over.wait()
    finally:
        writer.close()
        server.should_exit = True
        await task
        listening.close()
    return time.monotonic() - begun


async def _disconnected(receive: Any) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def test_a_stream_outlives_the_patience_for_answers_but_nobody_waits_for_one_who_does_not_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(control_http, "ANSWER_S", 0.1)
    monkeypatch.setattr(control_http, "LIVE_S", 0.6)
    assert asyncio.run(lasts("/other", 10)) < 0.5
    assert asyncio.run(lasts(LIVE_PATH, 10)) >= 0.5
    monkeypatch.setattr(control_http, "LIVE_S", 15.0)
    monkeypatch.setattr(control_http, "STALLED_S", 0.2)
    assert asyncio.run(lasts(LIVE_PATH, 1 << 20)) < 10
