# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Samples do not wait for the scene: Kaleido's figure 9 beside ours. Keyframes and regions are in `bench_scene`.

Kaleido 2021 (section 7.2) reports 8 µs for noising a gaze position, and a game whose frame rate falls as its scene is
looked at more often, up to 8 times a second. A gateway's scene is looked at by a process of its own. So samples of the
same gateway are timed without a scene, and with one that is looked at 2 and 8 times a second, over real sockets, in
turns. The aim is the same latency, up to a quarter. ``python -m benchmarks.bench_scene_live --updates-hz 4`` prints the
latencies at another rate; in a policy it is ``updates_hz`` of the tracker's scene.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import gc
import itertools
import os
import signal
import statistics
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Sequence
from datetime import UTC, datetime
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.bench_gateway import KALEIDO_S, free_ports, started
from benchmarks.gateway_load import Trackers, connect_apps, settle
from benchmarks.harness import Row, busy

WIDTH, HEIGHT = 1280, 720
STREAMS, RATE_HZ = 4, 120.0
ROUNDS, ROUND_S = 5, 6.0
UPDATES_HZ = (2.0, 8.0)


def _timed(job: Callable[[], object]) -> float:
    """Return how much of the processor's time something takes, so that a busy machine does not count."""
    begun = time.process_time()
    job()
    return time.process_time() - begun


def noising() -> Row:
    """Return what one sample costs in a hub whose veil follows a lively scene, from the sample to the outlet."""
    from benchmarks.scene_lively import PLANE, Seen
    from gazeveil.gateway import simulated_trackers
    from gazeveil.gateway.hub.hub import Hub
    from gazeveil.gateway.policy.scene import SceneReading
    from gazeveil.gateway.policy.settings import AppSetting, Policy, SceneSetting, TrackerSetting
    from gazeveil.gateway.veiling import mechanism_of
    from gazeveil.noise import NoiseSource

    scene = SceneSetting("video", Path("film.mp4"), gaze_dependent=False)
    tracker = TrackerSetting("desk", "simulate", PLANE, scene=scene)
    app = AppSetting(
        "game", "desk", "jsonlines", mechanism_of({"preset": "mpmu"}, tracker.space), rate_hz=1000.0,
        follow_scene="small", radius_at_least=Fraction(60), window_at_least=Fraction(1),
    )  # fmt: skip
    hub = Hub(
        Policy((tracker,), (app,)), noise=NoiseSource.secure(), now=0.0, wall=lambda: datetime.now(UTC),
        log=lambda *_, **__: None,
    )  # fmt: skip
    hub.attach("game", Seen())
    gc.collect()
    gc.freeze()  # as `gazeveil serve` does, or one look through all objects falls upon some sample or reading
    taken, slow = [], []
    for number, sample in enumerate(itertools.islice(simulated_trackers.simulated(PLANE, rate_hz=60.0), 20_000)):
        if number % 8 == 0:  # eight looks a second
            asked = (70.0, 120.0, 290.0)[number // 400 % 3]
            slow.append(_timed(partial(hub.scene_read, "desk", SceneReading(sample.t, asked), sample.t)))
        taken.append(_timed(partial(hub.push, "desk", [sample], sample.t)))
    gc.unfreeze()
    ours = statistics.median(taken[1000:])
    late = np.percentile(taken[1000:], 99.9)
    note = (
        f"99.9th percentile {late * 1e6:.0f} µs; a reading of the scene {statistics.median(slow) * 1e6:.0f} µs, "
        f"one that changes the veil {max(slow[100:]) * 1e3:.1f} ms at most; processor time"
    )
    name = "one sample, veil that follows the scene"
    return Row(name, "Kaleido's noising (8 µs, as reported)", ours, KALEIDO_S, 0, 1, "samples", note)


def policy(folder: Path, tracker_port: int, updates_hz: float) -> Path:
    """Write the policy of a gateway with a few trackers, of which each has a scene if anyone looks at it."""
    parts = ["version = 1\n"]
    scene = f'scene = {{ source = "video", file = "film.mp4", updates_hz = {updates_hz} }}\n'
    follow = 'follow_scene = "small"\nradius_at_least = "60px"\nwindow_at_least = 1\n'
    for index, port in enumerate(free_ports(STREAMS)):
        watched = updates_hz and not index
        parts.append(
            f'[[tracker]]\nname = "t{index}"\nprotocol = "jsonlines"\naddress = "127.0.0.1:{tracker_port}"\n'
            f"screen = {{ width_px = 1920, height_px = 1080 }}\n{scene if watched else ''}"
            f'[[app]]\nname = "a{index}"\ntracker = "t{index}"\nprotocol = "jsonlines"\n'
            f'listen = "127.0.0.1:{port}"\nveil = {{ preset = "mpmu" }}\nrate_hz = 10000\n{follow if watched else ""}'
        )
    path = folder / "policy.toml"
    path.write_text("".join(parts))
    return path


def film(path: Path) -> None:
    """Write a video with a cut every two seconds."""
    import cv2

    from gazeveil.simulate.stimuli import painted

    writer = cv2.VideoWriter(str(path), cv2.VideoWriter.fourcc(*"mp4v"), 8, (WIDTH, HEIGHT))
    for scene in range(6):
        frame = painted(scene, WIDTH, HEIGHT)
        for _ in range(16):
            writer.write(frame)
    writer.release()


@contextlib.asynccontextmanager
async def gateway(updates_hz: float) -> AsyncIterator[Callable[[float], Any]]:
    """Run a gateway, and give what loads it for some seconds and returns the latencies."""
    trackers, seen = Trackers(RATE_HZ), list[float]()
    await trackers.open()
    pump = asyncio.create_task(trackers.run())
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if updates_hz:
            film(folder / "film.mp4")
        path = policy(folder, trackers.port, updates_hz)
        process = started(folder / "log", "gazeveil", "serve", str(path))
        try:
            if not await settle(lambda: len(trackers._all) == STREAMS, 120):
                raise RuntimeError(f"the gateway did not start: {(folder / 'log').read_text()[-2000:]}")
            ports = [int(line.split(":")[1].strip('"')) for line in path.read_text().splitlines() if "listen" in line]
            await connect_apps(ports, seen)
            trackers.awake = trackers.running = True
            await settle(lambda: len(seen) > 200 * STREAMS, 60)  # quiet starts are over
            trackers.running = False

            async def load(seconds: float) -> np.ndarray:
                seen.clear()
                trackers.running = True
                await asyncio.sleep(seconds)
                trackers.running = False
                await asyncio.sleep(0.2)
                return np.array(seen)

            yield load
        finally:
            process.send_signal(signal.SIGTERM)
            await asyncio.to_thread(process.wait, 30)
            pump.cancel()
            await trackers.close()


async def waits(rates: Sequence[float]) -> dict[float, list[np.ndarray]]:
    """Return the latencies of samples for each rate of looks at the scene, 0 for none, in rounds that take turns."""
    found: dict[float, list[np.ndarray]] = {rate: [] for rate in (0.0, *rates)}
    async with contextlib.AsyncExitStack() as stack:
        loads = {rate: await stack.enter_async_context(gateway(rate)) for rate in found}
        for _ in range(ROUNDS):
            for rate, load in loads.items():
                found[rate].append(await load(ROUND_S))
    return found


def rows_of(found: dict[float, list[np.ndarray]]) -> list[Row]:
    """Return median and 99th percentile with a scene against those without."""
    rows = []
    for rate in [rate for rate in found if rate]:
        for name, share in (("median", 50), ("99th percentile", 99)):
            ours, bare = (
                statistics.median(float(np.percentile(one, share)) for one in found[which]) for which in (rate, 0.0)
            )
            note = f"{STREAMS} x {RATE_HZ:.0f} Hz, {sum(map(len, found[rate])):,} samples{busy()}"
            words = f"latency of a sample, {name}, scene looked at {rate:g} times a second"
            rows.append(Row(words, "the same gateway without a scene", ours, bare, 0.8, 1, "samples", note))
    return rows


def run() -> list[Row]:
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    return [noising(), *rows_of(asyncio.run(waits(UPDATES_HZ)))]


def main() -> None:
    """Print the latencies of samples at one rate of looks."""
    parser = argparse.ArgumentParser(description="Latency of samples while the scene is looked at")
    parser.add_argument("--updates-hz", type=float, default=8.0, help="looks a second, 0.1 to 8")
    rate = parser.parse_args().updates_hz
    for row in rows_of(asyncio.run(waits([rate]))):
        print(f"{row.name}: {row.ours_s * 1e3:.2f} ms; without a scene {row.peer_s * 1e3:.2f} ms; {row.note}")


if __name__ == "__main__":
    main()
