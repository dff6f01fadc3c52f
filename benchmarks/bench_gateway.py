# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""A gateway under load against a bare proxy: how much later is veiled gaze than gaze that is passed on unseen?

100 trackers at 120 Hz, each with an app of its own behind the preset ``lphu`` and a budget in a ledger, over JSON
lines on loopback. Gateway and proxy are processes of their own, trackers and apps a third. Gateway and proxy get their
turns of ten seconds one after the other, six each. A row's seconds are latencies: the ratio is the proxy's over ours,
and the aim is at least 1 / 1.5. The notes tell what was lost and how memory grew, and how many streams two cores hold.

Kaleido 2021 (section 7.2) reports 8 µs for noising one gaze position; Wilson 2024 (Table 5) 70.9 frames a second with
and without its mechanisms: the last rows put the hub's own time for a sample beside these.
"""

from __future__ import annotations

import asyncio
import os
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from benchmarks.gateway_load import Senders, Trackers, WebSocketSenders, connect_apps, settle
from benchmarks.harness import Row, busy

STREAMS, RATE_HZ = 100, 120.0
MOST_HZ = 10_000
"""What an app may have: a tracker that is late sends in bursts, and a rate rule that thins them out is not loss."""
ROUNDS, ROUND_S = 6, 10.0
MOST_STREAMS = 800
SENDERS = {"push": WebSocketSenders, "pushlines": Senders}
"""Protocols in which trackers connect to the gateway."""
AIM = 1 / 1.5
KALEIDO_S = 8e-6
WILSON_FRAME_S = 1 / 70.9


def policy(folder: Path, tracker_port: int, streams: int, protocol: str = "jsonlines") -> Path:
    """Write the policy of a gateway with so many trackers and apps; without a tracker's port it listens for each."""
    ports = free_ports(streams if tracker_port else 2 * streams)
    parts = ['version = 1\n[gateway]\nledger = "ledger.sqlite"\n']
    for index, port in enumerate(ports[:streams]):
        where = f'address = "127.0.0.1:{tracker_port}"' if tracker_port else f"listen = {ports[streams + index]}"
        parts.append(
            f'[[tracker]]\nname = "t{index}"\nprotocol = "{protocol}"\n{where}\n'
            f'participant = "p{index}"\nscreen = {{ width_px = 1920, height_px = 1080 }}\n'
            f'[[app]]\nname = "a{index}"\ntracker = "t{index}"\nprotocol = "jsonlines"\n'
            f'listen = "127.0.0.1:{port}"\nveil = {{ preset = "lphu" }}\nrate_hz = {MOST_HZ}\n'
        )
    parts.append('[[budget]]\nperson = "*"\nepsilon_per_day = 100000\nradius = 90\n')
    path = folder / "policy.toml"
    path.write_text("".join(parts))
    return path


def free_ports(count: int) -> list[int]:
    """Return ports that are free now, below those that the system hands out by itself."""
    import socket

    ports: list[int] = []
    for port in range(20_000, 32_000):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) != 0:
                ports.append(port)
        if len(ports) == count:
            break
    return ports


def memory_mb(pid: int) -> float:
    """Return how much memory a process holds."""
    match = re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())
    return int(match[1]) / 1024 if match else float("nan")


def started(log: Path | None, *module: str) -> subprocess.Popen[str]:
    """Start a module as a process; without a log its output can be read."""
    if log is None:
        return subprocess.Popen([sys.executable, "-m", *module], stdout=subprocess.PIPE, text=True)
    with log.open("w") as file:
        return subprocess.Popen([sys.executable, "-m", *module], stdout=file, stderr=file, text=True)


class Contest:
    """A gateway and a proxy side by side, with the same trackers and of the same niceness.

    Trackers of the protocols `SENDERS` connect to both; the proxy gets their samples as lines.
    """

    def __init__(self, streams: int, *serve_options: str, protocol: str = "jsonlines") -> None:
        self.streams, self._options, self._protocol = streams, serve_options, protocol

    async def __aenter__(self) -> Contest:
        try:
            await self._begin()
        except BaseException:
            await self.__aexit__()
            raise
        return self

    async def _begin(self) -> None:
        self._folder = tempfile.TemporaryDirectory()
        sends = self._protocol in SENDERS
        self.trackers = [SENDERS.get(self._protocol, Trackers)(RATE_HZ), (Senders if sends else Trackers)(RATE_HZ)]
        for one in self.trackers:
            await one.open()
        self._pumps = [asyncio.create_task(one.run()) for one in self.trackers]
        folder = Path(self._folder.name)
        path = policy(folder, self.trackers[0].port, self.streams, self._protocol)
        ports = [int(port) for port in re.findall(r'listen = "127.0.0.1:(\d+)"', path.read_text())]
        self.gateway = started(folder / "log", "gazeveil", "serve", str(path), "--create-ledger", *self._options)
        self.proxy = started(None, "benchmarks.gateway_load", str(self.trackers[1].port), str(self.streams))
        told = await asyncio.to_thread(self.proxy.stdout.readline)  # type: ignore[union-attr]
        proxy_ports = [int(port) for port in told.split()]
        if sends:
            doors = [int(port) for port in re.findall(r"listen = (\d+)", path.read_text())]
            await settle(lambda: "gateway started" in (folder / "log").read_text(), 90)
            tokens = [(folder / f"t{index}.token").read_text().strip() for index in range(self.streams)]
            await self.trackers[0].connect(doors, tokens)  # type: ignore[attr-defined]
            await self.trackers[1].connect(proxy_ports[: self.streams], [""] * self.streams)  # type: ignore[attr-defined]
            proxy_ports = proxy_ports[self.streams :]
        ready = await settle(lambda: self.trackers[0].connected == self.streams, 90)
        if not ready:
            raise RuntimeError(f"the gateway did not start: {(folder / 'log').read_text()[-2000:]}")
        self.nice = os.getpriority(os.PRIO_PROCESS, self.gateway.pid)
        os.setpriority(os.PRIO_PROCESS, self.proxy.pid, self.nice)
        self.seen: list[list[float]] = [[], []]
        await connect_apps(ports, self.seen[0])
        await connect_apps(proxy_ports, self.seen[1])
        for one in self.trackers:
            one.awake = True
        for _ in range(60):  # until all first leases are paid and quiet starts are over
            _, lost = await self.round(0, 0.5)
            if not lost:
                break

    async def __aexit__(self, *_: object) -> None:
        for pump in self._pumps:
            pump.cancel()
        for process in (self.gateway, self.proxy):
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        if self.proxy.stdout is not None:
            self.proxy.stdout.close()
        for one in self.trackers:
            await one.close()
        self._folder.cleanup()

    async def round(self, who: int, seconds: float) -> tuple[np.ndarray, int]:
        """Load one of the two, and return every latency and how many samples were lost."""
        self.seen[who].clear()
        before = self.trackers[who].sent
        self.trackers[who].running = True
        await asyncio.sleep(seconds)
        self.trackers[who].running = False
        sent = self.trackers[who].sent - before
        await settle(lambda: len(self.seen[who]) >= sent, 2)
        seen = np.array(self.seen[who])
        return seen, max(sent - len(seen), 0)


@dataclass(frozen=True, slots=True)
class Raced:
    """What one run showed: for gateway and proxy the latencies of each round, and how many samples were lost.

    ``memory`` is what the gateway held after each round, in megabytes; ``nice`` the niceness of both.
    """

    latencies: tuple[list[np.ndarray], list[np.ndarray]]
    lost: list[int]
    memory: list[float]
    nice: int

    def row(self, name: str, share: float, aim: float = AIM) -> Row:
        """Return the median over all rounds of one percentile, gateway against proxy."""
        ours, peer = ([float(np.percentile(one, share)) for one in who] for who in self.latencies)
        low, high, bare_low, bare_high = (f"{edge * 1e3:.2f}" for edge in (min(ours), max(ours), min(peer), max(peer)))
        seen = sum(map(len, self.latencies[0]))
        note = (
            f"rounds {low}–{high} ms, proxy {bare_low}–{bare_high}; lost {self.lost[0]} of {seen + self.lost[0]:,} "
            f"(proxy {self.lost[1]}); memory {self.memory[0]:.0f}→{self.memory[-1]:.0f} MB; both at nice {self.nice}"
        )
        median = statistics.median
        return Row(name, "bare asyncio proxy", median(ours), median(peer), aim, 1, "samples", note)


async def race(
    rounds: int = ROUNDS, seconds: float = ROUND_S, *serve_options: str, protocol: str = "jsonlines"
) -> Raced:
    """Let gateway and proxy take turns at 100 streams."""
    async with Contest(STREAMS, *serve_options, protocol=protocol) as both:
        raced = Raced(([], []), [0, 0], [], both.nice)
        for _ in range(rounds):
            for who in (0, 1):
                seen, gone = await both.round(who, seconds)
                raced.latencies[who].append(seen)
                raced.lost[who] += gone
            raced.memory.append(memory_mb(both.gateway.pid))
    return raced


async def contest() -> list[Row]:
    """Return the rows of the race at 100 streams."""
    raced = await race()
    where = f"{STREAMS} x {RATE_HZ:.0f} Hz{busy()}"
    return [raced.row(f"latency, {name}, {where}", share) for name, share in (("median", 50), ("99th percentile", 99))]


async def capacity() -> Row:
    """Return how many streams are held without loss and with a 99th percentile below 50 ms."""
    held, note, streams = 0, "", STREAMS
    worst = peer = float("nan")
    while streams <= MOST_STREAMS:
        async with Contest(streams) as both:
            ours, lost = await both.round(0, ROUND_S)
            bare, gone = await both.round(1, ROUND_S)
        p99, bare_p99 = (float(np.percentile(one, 99)) if len(one) else float("inf") for one in (ours, bare))
        note += f"{streams}: {p99 * 1e3:.1f} ms, lost {lost} (proxy {bare_p99 * 1e3:.1f}, {gone}); "
        if lost or p99 > 0.05:
            break
        held, worst, peer = streams, p99, bare_p99
        streams = int(streams * 1.5)
    return Row(
        f"streams of {RATE_HZ:.0f} Hz held: {held}", "bare asyncio proxy", worst, peer, 0.0, held, "streams", note
    )


def per_sample() -> list[Row]:
    """Return what one sample costs from the tracker's bytes to the app's, without sockets."""
    from gazeveil.gateway.hub.hub import Hub
    from gazeveil.gateway.policy.settings import read_policy
    from gazeveil.gateway.protocol import PROTOCOLS, StreamFacts
    from gazeveil.noise import NoiseSource

    class Outlet:
        def __init__(self, sink: object) -> None:
            self.sink = sink
            self.bytes = 0

        def show(self, veiled: object) -> None:
            self.sink.show(veiled, 0.0)  # type: ignore[attr-defined]

        def flush(self, arrived: float) -> None:
            self.bytes += len(self.sink.data_to_send())  # type: ignore[attr-defined]

        def silence(self, why: str) -> None:
            return

        def end(self, reason: str) -> None:
            return

    with tempfile.TemporaryDirectory() as folder:
        path = policy(Path(folder), 1, 1)
        text = path.read_text()
        path.write_text(text[: text.index("[[budget]]")])
        read = read_policy(path)
        hub = Hub(read, noise=NoiseSource.secure(), now=0.0, wall=lambda: datetime.now(UTC), log=lambda *a, **k: None)
        outlet = Outlet(PROTOCOLS["jsonlines"].sink(StreamFacts(read.trackers[0].plane)))  # type: ignore[misc]
        hub.attach("a0", outlet)
        source = PROTOCOLS["jsonlines"].source(read.trackers[0].plane)  # type: ignore[misc]
        lines = [f'{{"t":{i / 120:.6f},"x":0.5,"y":0.5,"unit":"norm"}}\n'.encode() for i in range(24_000)]
        taken = []
        for index, line in enumerate(lines):
            begun = time.perf_counter()
            now = index / 120
            hub.push("t0", source.received(line, now), now)
            taken.append(time.perf_counter() - begun)
            if index % 12 == 0:
                hub.tick(now)
        if outlet.bytes < 100_000:
            raise RuntimeError("the hub let too little through to be timed")
    ours = statistics.median(taken[1000:])
    note = "parse, clock, lease, veil, encode; without sockets" + busy()
    name = "one sample through the gateway"
    return [
        Row(name, "Kaleido's noising alone (8 µs, as reported)", ours, KALEIDO_S, 0, 1, "samples", note),
        Row(name, "a frame of Wilson's headset (70.9 Hz)", ours, WILSON_FRAME_S, 100, 1, "samples", note),
    ]


def run() -> list[Row]:
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    return [*per_sample(), *asyncio.run(contest()), asyncio.run(capacity())]
