# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""A gateway with its control API and no sockets, for tests of the page: the test is tracker, app and browser."""

from __future__ import annotations

import asyncio
import io
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gazeveil.gateway.control.server import control_app
from gazeveil.gateway.policy.settings import read_policy
from gazeveil.gateway.sample import RawSample, Veiled
from gazeveil.gateway.serve import Gateway
from gazeveil.gateway.telemetry import log_to

TOKEN = "a-token-for-the-test"
HOST = "127.0.0.1:7380"
OURS = {"Authorization": f"Bearer {TOKEN}", "Host": HOST}
AREAS = (
    '{"geometry": {"unit": "px", "width_px": 1920, "height_px": 1080}, '
    '"areas": [{"shape": "rectangle", "name": "left", "left": 0, "top": 0, "right": 960, "bottom": 1080}]}'
)
POLICY = """
version = 1
[gateway]
control = "127.0.0.1:7380"
token_file = "token"
[[tracker]]
name = "desk"
protocol = "simulate"
participant = "anna"
raw_view = true
screen = { width_px = 1920, height_px = 1080, width_mm = 527, height_mm = 296, distance_mm = 600 }
[[tracker]]
name = "lab"
protocol = "simulate"
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
[[app]]
name = "dear"
tracker = "desk"
protocol = "websocket"
listen = "127.0.0.1:0"
rate_hz = 1000
veil = { preset = "mpmu" }
levels = ["lphu", "mpmu", "hplu"]
epsilon_at_most = 3
"""


@dataclass
class Shown:
    """An outlet that remembers."""

    things: list[Veiled] = field(default_factory=list)

    def show(self, veiled: Veiled) -> None:
        self.things.append(veiled)

    def flush(self, arrived: float) -> None:
        return

    def silence(self, why: str) -> None:
        return

    def end(self, reason: str) -> None:
        return


class PageBench:
    """A gateway whose apps are `Shown`, and whose time is the test's."""

    def __init__(self, folder: Path, text: str = POLICY) -> None:
        self.path = folder / "policy.toml"
        self.path.write_text(text)
        if not (folder / "areas.json").exists():
            (folder / "areas.json").write_text(AREAS)
        self.log = io.StringIO()
        self.gateway = Gateway(read_policy(self.path), log_to(self.log))
        self.now, self.device = 1e6, 50.0
        self.shown: dict[str, Shown] = {}
        for app in self.gateway.policy.apps:
            self.shown[app.name] = Shown()
            self.gateway.hub.attach(app.name, self.shown[app.name])
        for tracker in self.gateway.policy.trackers:  # a gateway that begins is quiet for its longest window
            self.look(1500, 540, 220, on=tracker.name)
        for app in self.gateway.policy.apps:
            self.shown[app.name].things.clear()
            self.gateway.hub.app_of(app.name).received.clear()
        self.app = control_app(self.gateway, TOKEN, frozenset({HOST}))

    def client(self, host: str = "127.0.0.1") -> Any:
        """Return a client of the API on this machine, or on another."""
        from starlette.testclient import TestClient

        return TestClient(self.app, client=(host, 50_000))

    def look(self, x: float, y: float, count: int = 1, *, on: str = "desk", rate: float = 100.0) -> None:
        """Let a tracker send gaze."""
        for _ in range(count):
            self.now += 1 / rate
            self.device += 1 / rate
            self.gateway.hub.push(on, [RawSample(self.device, x, y)], self.now)

    def logged(self, event: str) -> list[dict[str, Any]]:
        """Return all lines of the log about an event."""
        self.gateway.log.close()
        lines = [json.loads(line) for line in self.log.getvalue().splitlines()]
        return [line for line in lines if line["event"] == event]

    async def live(
        self,
        lines: int,
        between: Callable[[int], Awaitable[None] | None] = lambda n: None,
        *,
        headers: dict[str, str] | None = None,
        tracker: str = "desk",
        client: str = "127.0.0.1",
    ) -> tuple[int, bytes]:
        """Read so many lines of the live stream as a browser would, then leave; ``between`` is called after each."""
        gone = asyncio.Event()
        told: dict[str, Any] = {"status": 0, "body": b""}
        asked = [{"type": "http.request", "body": b"", "more_body": False}]

        async def receive() -> dict[str, Any]:
            if asked:
                return asked.pop()
            await gone.wait()
            return {"type": "http.disconnect"}

        async def send(message: Any) -> None:
            if message["type"] == "http.response.start":
                told["status"] = message["status"]
                return
            before = told["body"].count(b"\n")
            told["body"] += message.get("body", b"")
            after = told["body"].count(b"\n")
            if after > before:
                made = between(after)
                if made is not None:
                    await made
            if after >= lines:
                gone.set()

        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": "GET",
            "scheme": "http",
            "path": "/v1/page/live",
            "raw_path": b"/v1/page/live",
            "query_string": f"tracker={tracker}".encode(),
            "headers": [(name.lower().encode(), value.encode()) for name, value in {**OURS, **(headers or {})}.items()],
            "client": (client, 50_000),
            "server": ("127.0.0.1", 7380),
            "root_path": "",
        }
        async with asyncio.timeout(20):
            await self.app(scope, receive, send)
        return told["status"], told["body"]
