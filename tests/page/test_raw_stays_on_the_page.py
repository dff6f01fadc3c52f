# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Raw gaze on the person's page stays there: a tap on every app's socket while the page shows it."""

from __future__ import annotations

import contextlib
import json
import random
import socket
import threading
import time
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.page.browser import opened_page
from tests.page.running import Running, running
from tests.taps.raw import Canaries, Gaze, Points
from tests.taps.search import search

pytestmark = pytest.mark.timeout(300)
RATE_HZ = 60
HEARD = 180
"""Messages of each app that are enough."""
PATIENCE_S = 100.0
POLICY = """
version = 1

[gateway]
control = "127.0.0.1:{control}"

[[tracker]]
name = "desk"
protocol = "jsonlines"
address = "127.0.0.1:{tracker}"
raw_view = true
screen = {{ width_px = 1920, height_px = 1080, width_mm = 527, height_mm = 296, distance_mm = 600 }}

[[app]]
name = "one"
tracker = "desk"
protocol = "jsonlines"
listen = {one}
veil = {{ preset = "lphu" }}

[[app]]
name = "two"
tracker = "desk"
protocol = "jsonlines"
listen = {two}
veil = {{ preset = "mpmu" }}
"""


class Tracker:
    """Sends gaze that never repeats, and canaries beside it, to whoever connects."""

    def __init__(self) -> None:
        self.gaze, self.canaries = Gaze(random.Random(7)), Canaries(random.Random(7))
        self._over = threading.Event()
        self._door = socket.create_server(("127.0.0.1", 0))
        self._door.settimeout(0.1)
        self.port = int(self._door.getsockname()[1])
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    def _serve(self) -> None:
        while not self._over.is_set():
            with contextlib.suppress(OSError):
                reader, _ = self._door.accept()
                with reader:
                    begun = time.monotonic()
                    while not self._over.wait(1 / RATE_HZ):
                        x, y = self.gaze.next()
                        told = {"t": time.monotonic() - begun, "x": x, "y": y, "unit": "norm"}
                        told["pupil"] = self.canaries.number("pupil")
                        reader.sendall(json.dumps(told).encode() + b"\n")

    def close(self) -> None:
        """Stop."""
        self._over.set()
        self._thread.join()
        self._door.close()


@pytest.fixture
def tracker() -> Iterator[Tracker]:
    found = Tracker()
    yield found
    found.close()


def hear(port: int) -> bytes:
    """Return every byte that an app gets, until it is enough."""
    heard, until = b"", time.monotonic() + PATIENCE_S
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S) as app:
        while heard.count(b'"t":') < HEARD and time.monotonic() < until:
            heard += app.recv(65536)
    return heard


def live(gateway: Running) -> bytes:
    """Return a second of what a page with a capability gets."""
    capability = gateway.ask("v1/trackers/desk/raw", {})["capability"]
    token = (gateway.folder / "control.token").read_text().strip()
    headers = {"Authorization": f"Bearer {token}", "Gazeveil-Raw": capability}
    request = urllib.request.Request(f"{gateway.address}v1/page/live?tracker=desk", headers=headers)
    with urllib.request.urlopen(request, timeout=30) as answer:
        return b"".join(answer.readline() for _ in range(30))


def test_no_app_hears_raw_gaze_while_the_page_shows_it(browser: Any, tmp_path: Path, tracker: Tracker) -> None:
    names = ("control", "one", "two")
    with running(tmp_path, POLICY, names, tracker=tracker.port) as gateway:
        with opened_page(browser, gateway.link()) as (page, _):
            page.click("#raw-toggle")
            page.locator("#raw-summary").filter(has_text="points per second").wait_for(timeout=30_000)
            with ThreadPoolExecutor() as taps:
                heard = list(taps.map(hear, [gateway.ports["one"], gateway.ports["two"]]))
            assert "points per second" in page.inner_text("#raw-summary")
        points = Points.of(tracker.gaze.everything(), up=True)
        for data in heard:
            found = search(data, points, tracker.canaries, binary=False)
            assert found.pairs > HEARD / 2
            assert (found.raw_points, found.canaries) == (0, 0)
        shown = live(gateway)
        points = Points.of(tracker.gaze.everything(), up=True)
        assert search(shown, points, tracker.canaries, binary=False).raw_points > 10  # so raw gaze would be found
        assert search(shown, points, tracker.canaries, binary=False).canaries == 0
        log = gateway.log.read_bytes()
        assert search(log, points, tracker.canaries, binary=False).canaries == 0
        assert b"raw view opened" in log
