# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Frames a second: the control page with ten apps, and a demo app while the scene is updated up to 8 times a second.

A real gateway and a real browser without a window. The peer is an empty page in the same browser, so a busy machine
slows both; a row's seconds are the mean time between two frames in the best of five rounds. Kaleido 2021 (Fig 9) draws
its frame rate against context updates of 0 to 8 a second: the last rows do the same with the dwell app. What the page
itself needs for a frame is in the notes.
"""

from __future__ import annotations

import contextlib
import tempfile
import threading
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.harness import Row
from gazeveil.scene.frames import encode_png
from tests.page.browser import opened_browser, opened_page
from tests.page.running import Running, running
from tests.ports import free_port

SECONDS = 3.0
ROUNDS = 5
UPDATES_HZ = (1, 2, 4, 8)
AIM = 0.9
SEEN: dict[str, Any] = {"viewport": {"width": 1440, "height": 1000}, "reduced_motion": "no-preference"}
_HEAD = """
version = 1
[gateway]
control = "127.0.0.1:{control}"
demo_apps = "127.0.0.1:{demo_apps}"
[[tracker]]
name = "desk"
protocol = "simulate"
scene = {{ source = "push", token_file = "scene.token", updates_hz = 8 }}
screen = {{ width_px = 1920, height_px = 1080, width_mm = 527, height_mm = 296, distance_mm = 600 }}
"""
_APP = """
[[app]]
name = "app-{number}"
tracker = "desk"
protocol = "websocket"
listen = "127.0.0.1:{port}"
veil = {{{{ mechanism = "clock", epsilon = {epsilon}, window = 0.5, radius = "90px" }}}}
{demo_app}
"""
_COUNT = """(ms) => new Promise((done) => {
  const times = [];
  const frame = (now) => {
    times.push(now);
    if (now - times[0] < ms) requestAnimationFrame(frame);
    else done((now - times[0]) / 1000 / (times.length - 1));
  };
  requestAnimationFrame(frame);
})"""
_BUSY = """() => { const draw = window.requestAnimationFrame; window.spent = []; window.requestAnimationFrame = (job) =>
  draw((now) => { const begun = performance.now(); job(now); window.spent.push(performance.now() - begun); }); }"""


def _policy(apps: int) -> str:
    ports = [free_port() for _ in range(apps)]
    parts = [
        _APP.format(number=i, port=port, epsilon=3 - i / 10, demo_app='demo_app = "dwell"' if i == 0 else "")
        for i, port in enumerate(ports)
    ]
    return _HEAD + "".join(parts)


def _watch(gateway: Running, apps: int) -> contextlib.ExitStack:
    """Connect to every app, so that all trails flow."""
    from tests.page.listener import listening

    kept = contextlib.ExitStack()
    for one in gateway.ask("v1/status")["apps"][:apps]:
        kept.enter_context(listening(int(one["port"])))
    return kept


@contextlib.contextmanager
def _updates(gateway: Running, hz: float) -> Iterator[list[int]]:
    """Push another picture so many times a second; the list holds how many were taken."""
    rng, over, taken = np.random.default_rng(1), threading.Event(), [0]
    pictures = [encode_png(rng.integers(0, 255, (270, 480, 3), np.uint8)) for _ in range(4)]
    token = (gateway.folder / "scene.token").read_text().strip()
    where = f"{gateway.address}v1/trackers/desk/scene/frame"

    def push() -> None:
        turn = 0
        while not over.wait(1 / hz):
            request = urllib.request.Request(where, pictures[turn % 4], {"Authorization": f"Bearer {token}"})
            with contextlib.suppress(OSError):
                urllib.request.urlopen(request, timeout=5).close()
                taken[0] += 1
            turn += 1

    pushing = threading.Thread(target=push)
    pushing.start()
    try:
        yield taken
    finally:
        over.set()
        pushing.join()


def _frame_s(page: Any) -> float:
    return float(page.evaluate(_COUNT, 1000 * SECONDS))


def _rate(frame_s: float) -> str:
    return f"{1 / frame_s:.0f} frames a second"


def _in_turns(page: Any, empty: Any) -> tuple[float, float]:
    """Return the mean time of a frame in a page and in an empty one, each in its best round."""
    ours, peers = [], []
    for _ in range(ROUNDS):
        empty.bring_to_front()
        peers.append(_frame_s(empty))
        page.bring_to_front()
        ours.append(_frame_s(page))
    return min(ours), min(peers)


def run() -> list[Row]:
    rows = []
    with (
        tempfile.TemporaryDirectory() as folder,
        running(Path(folder), _policy(10), ("control", "demo_apps")) as gateway,
        _watch(gateway, 10),
        opened_browser() as browser,
    ):
        with opened_page(browser, gateway.link(), **SEEN) as (page, _):
            empty = page.context.new_page()
            page.bring_to_front()
            page.evaluate(_BUSY)
            page.wait_for_timeout(3000)
            ours, peer = _in_turns(page, empty)
            spent = np.array(page.evaluate("window.spent"))
            slowest = np.quantile(spent, 0.99)
            note = f"{_rate(ours)}; drawing takes {np.median(spent):.2f} ms (99 %: {slowest:.2f} ms)"
            rows.append(
                Row("control page with ten apps: a frame", "an empty page", ours, peer, AIM, unit="frames", note=note)
            )
        demo_app = gateway.ask("v1/status")["demo_apps"][0]["url"]
        with opened_page(browser, **SEEN) as (page, _):
            page.goto(demo_app)
            empty = page.context.new_page()
            still, peer = _in_turns(page, empty)
            rows.append(
                Row(
                    "demo app, no scene updates: a frame",
                    "an empty page",
                    still,
                    peer,
                    AIM,
                    unit="frames",
                    note=_rate(still),
                )
            )
            for hz in UPDATES_HZ:
                with _updates(gateway, hz) as taken:
                    ours, peer = _in_turns(page, empty)
                note = f"{_rate(ours)}; {taken[0]} pictures taken"
                name = f"demo app, {hz} scene updates a second: a frame"
                rows.append(Row(name, "an empty page", ours, peer, AIM, unit="frames", note=note))
    return rows
