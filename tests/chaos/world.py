# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""A gateway with trackers and apps around it, and the faults that befall them."""

from __future__ import annotations

import asyncio
import contextlib
import random
import resource
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from gazeveil.privacy.ledger import Ledger
from tests.chaos.apps import App
from tests.chaos.trackers import HEIGHT, WIDTH, Tracker

monotonic = time.monotonic
PROTOCOLS = ("jsonlines", "opengaze", "eyetribe")
WINDOW_S = 0.5
BACK_WITHIN_S = 5.0
GIVE_UP_S = 40.0
BUDGET, POOR = 100_000, 600
POOR_PERSON = "poor"


class World:
    """Three trackers, two apps each, one of them with a small budget."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.folder = folder
        self.random = random.Random(seed)
        self.trackers = [Tracker(protocol, seed + index) for index, protocol in enumerate(PROTOCOLS)]
        self.poor = Tracker("jsonlines", seed + 10, rate_hz=60)
        self.apps: list[App] = []
        self.gateway: subprocess.Popen[bytes] | None = None
        self.cause_gone: float | None = None
        self.late: list[str] = []
        self.early: list[str] = []
        self.suffered: dict[str, list[float]] = {}
        self._tasks: list[asyncio.Task[None]] = []

    async def __aenter__(self) -> World:
        for tracker in (*self.trackers, self.poor):
            await tracker.open()
        self._write_policy()
        self.start_gateway()
        self._tasks = [asyncio.create_task(tracker.pump()) for tracker in (*self.trackers, self.poor)]
        self._tasks += [asyncio.create_task(app.run()) for app in self.apps]
        return self

    async def __aexit__(self, *_: object) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if self.gateway is not None and self.gateway.poll() is None:
            self.gateway.kill()
            self.gateway.wait()
        for tracker in (*self.trackers, self.poor):
            await tracker.close()

    # The gateway

    def start_gateway(self) -> None:
        command = [sys.executable, "-m", "gazeveil", "serve", str(self.folder / "policy.toml"), "--create-ledger"]
        with (self.folder / "gateway.log").open("ab") as log:
            self.gateway = subprocess.Popen(command, stdout=log, stderr=log)

    @property
    def process(self) -> subprocess.Popen[bytes]:
        if self.gateway is None:
            raise RuntimeError("there is no gateway")
        return self.gateway

    async def warm_up(self) -> None:
        """Wait until every app has gaze, however long a first start takes."""
        await self._until(lambda: all(app.samples > 20 for app in self._rich()), 120)

    # Faults

    async def suffer(self, kind: str) -> float:
        """Let one fault befall the world, end its cause, and return how long the streams took to come back."""
        self.cause_gone = None
        await FAULTS[kind](self)
        gone = self._cause_gone_at()
        counts = {app: app.samples for app in self._rich()}
        await self._until(lambda: all(app.samples > count for app, count in counts.items()), GIVE_UP_S)
        seconds = monotonic() - gone
        self.suffered.setdefault(kind, []).append(seconds)
        if seconds > BACK_WITHIN_S:
            self.late.append(f"{kind}: {seconds:.1f} s")
        if self.process.poll() is not None:
            raise RuntimeError(f"the gateway died: {(self.folder / 'gateway.log').read_text()[-2000:]}")
        return seconds

    def _cause_gone_at(self) -> float:
        return monotonic() if self.cause_gone is None else self.cause_gone

    def any_tracker(self) -> Tracker:
        return self.random.choice(self.trackers)

    def any_app(self) -> App:
        return self.random.choice(self._rich())

    def _rich(self) -> list[App]:
        return [app for app in self.apps if app.tracker is not self.poor]

    async def _until(self, condition: Callable[[], bool], seconds: float) -> None:
        until = monotonic() + seconds
        while not condition() and monotonic() < until:  # noqa: ASYNC110  (what is waited for is another process)
            await asyncio.sleep(0.02)

    # The verdict

    async def verdict(self) -> dict[str, Any]:
        """Stop the gateway and say what was found."""
        self.process.send_signal(signal.SIGTERM)
        clean = await asyncio.to_thread(self.process.wait, 20) == 0
        with Ledger.open(self.folder / "ledger.sqlite") as ledger:
            accounts = [
                (account.person, float(account.spent["epsilon"]), POOR if account.person == POOR_PERSON else BUDGET)
                for account in ledger.accounts()
            ]
            verified = ledger.verify().sound
        overspent = [person for person, spent, limit in accounts if spent > limit]
        found = {
            "faults": sum(map(len, self.suffered.values())),
            "samples": sum(app.samples for app in self.apps),
            "bytes_searched": sum(app.bytes for app in self.apps),
            "raw_samples_out": sum(app.leaks for app in self.apps),
            "canaries_out": sum(app.canaries for app in self.apps),
            "overspent": overspent,
            "ledger_sound": verified,
            "spent": {person: round(spent, 1) for person, spent, _ in accounts},
            "too_early_after_restart": self.early,
            "late": self.late,
            "slowest_s": round(max((max(times) for times in self.suffered.values()), default=0.0), 2),
            "stopped_cleanly": clean,
            "poor_app_was_told": next((app.ended for app in self.apps if app.tracker is self.poor), ""),
        }
        bad = ("raw_samples_out", "canaries_out", "overspent", "too_early_after_restart", "late")
        found["sound"] = verified and clean and not any(found[name] for name in bad)
        return found

    def _write_policy(self) -> None:
        parts = ['version = 1\n[gateway]\nledger = "ledger.sqlite"\nlease_s = 4\n']
        for tracker in (*self.trackers, self.poor):
            is_poor = tracker is self.poor
            name = "t-poor" if is_poor else f"t-{tracker.protocol}"
            person = POOR_PERSON if is_poor else f"p-{tracker.protocol}"
            parts.append(
                f'[[tracker]]\nname = "{name}"\nprotocol = "{tracker.protocol}"\naddress = "127.0.0.1:{tracker.port}"\n'
                f'participant = "{person}"\nscreen = {{ width_px = {WIDTH}, height_px = {HEIGHT} }}\n'
            )
            for index, protocol in enumerate(("jsonlines",) if is_poor else self.random.sample(PROTOCOLS, 2)):
                port = _free_port({other.port for other in self.apps})
                app = App(f"{name}-{index}", protocol, port, tracker)
                self.apps.append(app)
                veil = (
                    'preset = "lphu"' if index == 0 else 'mechanism = "clock", epsilon = 2, window = 0.5, radius = 80'
                )
                parts.append(
                    f'[[app]]\nname = "{app.name}"\ntracker = "{name}"\nprotocol = "{protocol}"\n'
                    f'listen = "127.0.0.1:{port}"\nveil = {{ {veil} }}\nrate_hz = 240\n'
                )
        parts.append(f'[[budget]]\nparticipant = "{POOR_PERSON}"\nepsilon_per_day = {POOR}\nradius = 90\n')
        parts.append(f'[[budget]]\nparticipant = "*"\nepsilon_per_day = {BUDGET}\nradius = 90\n')
        (self.folder / "policy.toml").write_text("".join(parts))


async def kill_source(world: World) -> None:
    tracker = world.any_tracker()
    await tracker.close()
    await asyncio.sleep(world.random.uniform(0.05, 1.0))
    await tracker.open()


async def kill_sink(world: World) -> None:
    world.any_app().cut()


async def half_open(world: World) -> None:
    """The tracker's connection stays, but nothing comes through it any more, as when a cable is pulled."""
    tracker = world.any_tracker()
    tracker.silent = True
    await asyncio.sleep(world.random.uniform(0.7, 2.5))
    tracker.silent = False


async def stalled_reader(world: World) -> None:
    app = world.any_app()
    with socket.socket() as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
        client.connect(("127.0.0.1", app.port))
        await asyncio.sleep(world.random.uniform(0.5, 2.0))


async def garbage_from_tracker(world: World) -> None:
    world.any_tracker().garbage()


async def garbage_from_app(world: World) -> None:
    app = world.any_app()
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", app.port), timeout=2) as client:
        client.sendall(world.random.randbytes(world.random.choice((1, 300, 70_000))) + b"\r\n\r\n{[<\n")
        await asyncio.sleep(0.1)


async def clock_jump(world: World) -> None:
    world.any_tracker().offset += world.random.choice((-1e4, -5.0, 5.0, 1e4))


async def burst(world: World) -> None:
    tracker = world.any_tracker()
    tracker.speed = 10.0
    await asyncio.sleep(world.random.uniform(0.3, 1.5))
    tracker.speed = 1.0


async def ledger_locked(world: World) -> None:
    """Another program holds the ledger, for longer than a lease lasts."""
    lock = sqlite3.connect(world.folder / "ledger.sqlite", isolation_level=None, timeout=10)
    with contextlib.closing(lock):
        lock.execute("BEGIN EXCLUSIVE")
        await asyncio.sleep(world.random.uniform(1.0, 7.0))
        lock.execute("ROLLBACK")


async def disk_full(world: World) -> None:
    """No file can grow any more, as the gateway sees it."""
    pid = world.process.pid
    before = resource.prlimit(pid, resource.RLIMIT_FSIZE)
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (0, before[1]))
    await asyncio.sleep(world.random.uniform(1.0, 7.0))
    resource.prlimit(pid, resource.RLIMIT_FSIZE, before)


async def terminate(world: World) -> None:
    await _restarted(world, signal.SIGTERM)


async def kill_nine(world: World) -> None:
    await _restarted(world, signal.SIGKILL)


async def _restarted(world: World, number: signal.Signals) -> None:
    world.process.send_signal(number)
    await asyncio.to_thread(world.process.wait, 20)
    for tracker in (*world.trackers, world.poor):
        tracker.first_after = None
    await asyncio.sleep(0.1)
    for app in world.apps:
        app.first_since = None
    for tracker in world.trackers:
        tracker.first_after = None
    world.cause_gone = monotonic()
    world.start_gateway()
    await world._until(lambda: all(app.first_since is not None for app in world._rich()), GIVE_UP_S)
    for app in world._rich():
        first, spoke = app.tracker.first_after, app.first_since
        if first is not None and spoke is not None and spoke - first < WINDOW_S:
            world.early.append(f"{app.name}: {spoke - first:.3f} s after the first raw sample")


FAULTS: dict[str, Callable[[World], Awaitable[None]]] = {
    "kill source": kill_source,
    "kill sink": kill_sink,
    "half-open socket": half_open,
    "stalled reader": stalled_reader,
    "garbage from tracker": garbage_from_tracker,
    "garbage from app": garbage_from_app,
    "clock jump": clock_jump,
    "burst at 10x": burst,
    "ledger locked": ledger_locked,
    "disk full": disk_full,
    "SIGTERM and restart": terminate,
    "kill -9 and restart": kill_nine,
}


def told(verdict: dict[str, Any]) -> str:
    """Say a verdict in plain words."""
    return (
        f"{verdict['faults']} faults, {verdict['samples']:,} veiled samples, "
        f"{verdict['bytes_searched']:,} bytes searched: "
        f"{verdict['raw_samples_out']} raw samples, {verdict['canaries_out']} canaries, "
        f"{len(verdict['overspent'])} budgets overspent, {len(verdict['too_early_after_restart'])} too early, "
        f"{len(verdict['late'])} late; slowest {verdict['slowest_s']} s: {'SOUND' if verdict['sound'] else 'NOT VALID'}"
    )


def _free_port(known: set[int]) -> int:
    """Return a port below those that the system hands out, so that it stays free while the gateway is down."""
    for port in range(21_000, 32_000):
        with socket.socket() as probe:
            if port not in known and probe.connect_ex(("127.0.0.1", port)) != 0:
                return port
    raise RuntimeError("no port is free")
