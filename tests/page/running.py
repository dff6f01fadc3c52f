# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""A real gateway in a process of its own, for tests that look at its control page."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.ports import free_port

GIVE_UP_S = 240.0
"""A first start compiles for a minute on a slow machine."""
PAUSE_S = 0.05

POLICY = """
version = 1

[gateway]
ledger = "ledger.sqlite"
control = "127.0.0.1:{control}"
demo_apps = "127.0.0.1:{demo_apps}"
lease_s = 2

[[tracker]]
name = "desk"
protocol = "simulate"
rate_hz = 60
participant = "anna"
raw_view = true
sources = ["mouse"]
listen = "127.0.0.1:{mouse}"
take_over = true
screen = {{ width_px = 1920, height_px = 1080, width_mm = 527, height_mm = 296, distance_mm = 600 }}

[[app]]
name = "targets"
tracker = "desk"
protocol = "websocket"
listen = "127.0.0.1:{targets}"
demo_app = "dwell"
veil = {{ preset = "lphu" }}
levels = ["lphu", "mpmu", "hplu"]

[[app]]
name = "reading"
tracker = "desk"
protocol = "websocket"
listen = "127.0.0.1:{reading}"
demo_app = "reading"
veil = {{ preset = "lphu" }}
levels = ["lphu", "mpmu", "hplu"]

[[app]]
name = "game"
tracker = "desk"
protocol = "jsonlines"
listen = {game}
veil = {{ preset = "mpmu" }}

[[budget]]
participant = "anna"
epsilon_per_day = 200000
radius = "90px"

[[tracker]]
name = "lab"
protocol = "simulate"
participant = "ben"
screen = {{ width_px = 1280, height_px = 720, width_mm = 527, height_mm = 296, distance_mm = 600 }}

[[app]]
name = "study"
tracker = "lab"
protocol = "jsonlines"
listen = {study}
veil = {{ preset = "mpmu" }}
levels = ["lphu", "mpmu", "hplu"]
epsilon_at_most = 3
window_at_least = 0.5
radius_at_least = "60px"

[[app]]
name = "heat"
tracker = "lab"
protocol = "jsonlines"
listen = {heat}
veil = {{ preset = "spatial-low" }}
unproven = "allow"
"""
PORTS = ("control", "demo_apps", "mouse", "targets", "reading", "game", "study", "heat")


class Running:
    """A gateway that can be killed and started again.

    Attributes:
        ports: Its ports by name.
        log: What it writes.
    """

    def __init__(self, folder: Path, policy: str = POLICY, names: tuple[str, ...] = PORTS, **ports: int) -> None:
        self.folder, self.log = folder, folder / "gateway.log"
        self.ports = {name: free_port() for name in names} | ports
        self.policy = folder / "policy.toml"
        self.policy.write_text(policy.format(**self.ports))
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def address(self) -> str:
        """Where the page is."""
        return f"http://127.0.0.1:{self.ports['control']}/"

    def start(self) -> None:
        """Start it, and wait until it answers."""
        command = [sys.executable, "-m", "gazeveil", "serve", str(self.policy), "--create-ledger"]
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        until = time.monotonic() + GIVE_UP_S
        while True:
            with contextlib.suppress(OSError):
                urllib.request.urlopen(f"{self.address}health", timeout=2).close()
                return
            if self._process.poll() is not None or time.monotonic() > until:
                raise AssertionError(self.log.read_text()[-3000:])
            time.sleep(PAUSE_S)

    def kill(self) -> None:
        """End it as a crash would."""
        self._end(signal.SIGKILL)

    def stop(self) -> None:
        """End it as its owner would."""
        self._end(signal.SIGTERM)

    def _end(self, how: signal.Signals) -> None:
        if self._process is not None and self._process.poll() is None:
            os.kill(self._process.pid, how)
            self._process.wait(30)

    def ask(self, path: str, given: dict[str, Any] | None = None) -> Any:
        """Ask the control API as the policy's owner."""
        token = (self.folder / "control.token").read_text().strip()
        request = urllib.request.Request(
            f"{self.address}{path}",
            data=None if given is None else json.dumps(given).encode(),
            headers={"Authorization": f"Bearer {token}"},
        )
        with urllib.request.urlopen(request, timeout=10) as answer:
            return json.loads(answer.read())

    def link(self) -> str:
        """Return a link that opens the page once."""
        return str(self.ask("v1/page/link", {})["url"])

    def veiled(self, points: int) -> None:
        """Wait until so many more points have left all veils."""
        most = sum(one["points"] for one in self.ask("v1/status")["groups"]) + points
        until = time.monotonic() + 60
        while sum(one["points"] for one in self.ask("v1/status")["groups"]) < most:
            assert time.monotonic() < until
            time.sleep(PAUSE_S)

    def app(self, name: str) -> dict[str, Any]:
        """Return what the status says of an app."""
        return next(one for one in self.ask("v1/status")["apps"] if one["name"] == name)


@contextlib.contextmanager
def running(folder: Path, policy: str = POLICY, names: tuple[str, ...] = PORTS, **ports: int) -> Iterator[Running]:
    """Run a gateway until the block ends."""
    gateway = Running(folder, policy, names, **ports)
    try:
        gateway.start()
        yield gateway
    finally:
        gateway.stop()
