# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Simulated participants play the whole study in a real browser, through the real gateway.

The player's eyes are a tracker: they send gaze to the gateway with the tracker's token. The page gets what the gateway
lets through. The player sees the page's pictures (what is where, and the cursor), and has a keyboard.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gazeveil.errors import InputError, needing
from gazeveil.gateway.policy.settings import read_policy
from gazeveil.lab.userstudy.design import UserStudy
from gazeveil.lab.userstudy.player import Player, Scene

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
POLL = """() => ({
    step: document.body.dataset.step ?? "", stage: !document.getElementById("stage").hidden, ...window.gazeveilStage(),
})"""
FORM = """() => ({
    items: document.querySelectorAll("fieldset").length,
    source: document.querySelector("form .source").textContent,
    points: Math.max(0, ...[...document.querySelectorAll("fieldset input")].map((one) => Number(one.value) || 0)),
})"""
PAUSE_S = 1 / 120
PATIENCE_S = 120.0
Tell = Callable[[str], None]


def browser_path() -> str | None:
    """Return where a Chromium is, None if there is none."""
    return next((found for name in BROWSERS if (found := shutil.which(name))), None)


@dataclass
class Eyes:
    """The tracker: gaze that is sent to the gateway; lost connections are made anew."""

    port: int
    token: Path
    socket: Any = None
    held: contextlib.ExitStack = field(default_factory=contextlib.ExitStack)

    def send(self, t: float, x: float, y: float) -> None:
        """Send one sample, or drop it if the gateway is away."""
        from websockets.exceptions import WebSocketException  # noqa: PLC0415
        from websockets.sync.client import connect  # noqa: PLC0415

        try:
            if self.socket is None:
                self.socket = self.held.enter_context(
                    connect(f"ws://127.0.0.1:{self.port}", open_timeout=2, proxy=None)
                )
                self.socket.send(json.dumps({"token": self.token.read_text(encoding="ascii").strip()}))
                self.socket.recv(timeout=2)
            self.socket.send(json.dumps({"t": t, "x": min(max(x, -0.2), 1.2), "y": min(max(y, -0.2), 1.2)}))
        except (OSError, WebSocketException, TimeoutError):
            self.close()

    def close(self) -> None:
        """Hang up."""
        self.socket = None
        with contextlib.suppress(Exception):  # the gateway may be gone
            self.held.close()


@contextlib.contextmanager
def opened_browser() -> Iterator[Any]:
    """Run a browser without a window until the block ends.

    Raises:
        MissingExtra: If playwright is not installed.
        InputError: If there is no Chromium.
    """
    with needing("playwright", "browser", "playing the study in a browser"):
        from playwright.sync_api import sync_playwright  # noqa: PLC0415
    if (path := browser_path()) is None:
        raise InputError("there is no Chromium on this machine", hint="install chromium, or play with participants")
    with sync_playwright() as driver:
        rights = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
        browser = driver.chromium.launch(executable_path=path, args=rights)
        try:
            yield browser
        finally:
            browser.close()


def play(study: UserStudy, link: str, participant: str, seed: int, browser: Any, tell: Tell = lambda _: None) -> None:
    """Let one simulated participant go through the whole study.

    Raises:
        InputError: If the policy's tracker is not one that gaze is sent to, or nothing happens for two minutes.
    """
    tracker = read_policy(study.policy).trackers[0]
    if tracker.protocol != "push" or (inlet := tracker.inlet) is None:
        raise InputError(
            "simulated participants send gaze, and the policy's tracker is another one",
            hint='play with a copy of the policy whose tracker has protocol = "push"',
        )
    eyes = Eyes(inlet.listen.port, inlet.token_file)
    context = browser.new_context(viewport={"width": 1280, "height": 720})
    try:
        page = context.new_page()
        page.goto(f"{link}?participant={participant}")
        _Visit(page, Player(seed), eyes, study, tell).go()
    finally:
        eyes.close()
        context.close()


class _Visit:
    def __init__(self, page: Any, player: Player, eyes: Eyes, study: UserStudy, tell: Tell) -> None:
        self.page, self.player, self.eyes, self.tell = page, player, eyes, tell
        self.successes: list[float] = []
        self.of = len(study.steps(0))

    def go(self) -> None:
        self.page.check("input[name=agreed]")
        self.page.click("button[type=submit]")
        before, changed, playing, levels = "", time.monotonic(), False, 0.0
        while True:
            seen = self.page.evaluate(POLL)
            now = time.monotonic()
            if seen["step"] != before:
                before, changed = seen["step"], now
                self.tell(f"step {before.split()[0]} of {self.of}" if before != "done" else "done")
            if before == "done":
                return
            if now - changed > PATIENCE_S and not seen["stage"]:
                raise InputError(f"nothing happened for two minutes at step {before!r}")
            if seen["stage"]:
                if seen["playing"] != playing:
                    playing = seen["playing"]
                    self.player.begin()
                scene = Scene.of(seen)
                (x, y), press = self.player.look(now, scene)
                self.eyes.send(now, x, y)
                if press and scene.control == "key":
                    self.page.keyboard.press("Space")
                if before.endswith("free") and now - levels > 2:
                    levels = now
                    self.page.keyboard.press("2" if int(now) % 4 < 2 else "1")
                time.sleep(PAUSE_S)
            else:
                self.eyes.send(now, 0.5, 0.5)
                self._read(before)

    def _read(self, step: str) -> None:
        """Do what a page of words asks for."""
        if step.endswith("form") and self.page.query_selector("form fieldset, form textarea"):
            self._answer()
        else:
            self.page.evaluate("() => document.querySelector('#words > button')?.click()")  # if it is still there
        time.sleep(PAUSE_S)

    def _answer(self) -> None:
        form = self.page.evaluate(FORM)
        success = self._success()
        if form["items"]:
            answers = self.player.answers(form["points"], form["items"], success)
            turned = "Post-Study" in form["source"] or "Task Load" in form["source"]  # 1 is best there
            chosen = [form["points"] + 1 - answer if turned else answer for answer in answers]
            for item, answer in enumerate(chosen):
                self.page.check(f"input[name=item-{item}][value='{answer}']")
        before = self.page.evaluate("document.body.dataset.step")
        self.page.click("form button[type=submit]")
        self.page.wait_for_function("(old) => document.body.dataset.step !== old", arg=before)

    def _success(self) -> float:
        found = self.page.evaluate("() => window.gazeveilLast ?? null")
        return float(found) if found is not None else 0.5
