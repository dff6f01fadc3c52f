# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""``python -m tests.lab.userstudy.screenshots``: the pictures of the user study in the documentation.

Welcome, a round and a form are the real pages with a real gateway and a simulated player. The report is of made-up
numbers, and its picture says so.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from benchmarks.bench_userstudy import short_study
from gazeveil.lab.userstudy.design import UserStudy
from gazeveil.lab.userstudy.player import Player, Scene
from gazeveil.lab.userstudy.playing import POLL, Eyes
from gazeveil.lab.userstudy.report import write_user_study
from gazeveil.lab.userstudy.sessions import Sessions, measures_of, overview_of
from tests.lab.userstudy.running import eyes_of, reach, served
from tests.page.browser import opened_browser, opened_page
from tests.page.screenshots import IMAGES

SIZE: dict[str, Any] = {"viewport": {"width": 960, "height": 540}, "reduced_motion": "no-preference"}
PEOPLE = 12
COLOURS = 160
"""Enough for pages with little colour, and small files."""
COST = {"none": 0.0, "gaussian": 0.35, "spatial": 0.2, "smoothing": 0.1}
STRONG = {"none": 0.0, "low": 0.4, "high": 1.0}


def look(page: Any, player: Player, eyes: Eyes, seconds: float) -> None:
    """Let a player look at the page for a while."""
    end = time.monotonic() + seconds
    while (now := time.monotonic()) < end:
        (x, y), _ = player.look(now, Scene.of(page.evaluate(POLL)))
        eyes.send(now, x, y)


def pages(browser: Any, study: UserStudy, link: str) -> None:
    """Take pictures of welcome, a round and a form."""
    for who, kind in (("p01", "trial"), ("p02", "form")):
        reach(study, who, "en", lambda step, kind=kind: step.kind == kind)  # type: ignore[misc]
        with opened_page(browser, **SIZE) as (page, _):
            page.goto(f"{link}?participant={who}")
            page.wait_for_selector("form")
            if kind == "trial":
                page.screenshot(path=IMAGES / "user-study-welcome.png")
            page.check("[name=agreed]")
            page.click("button[type=submit]")
            if kind == "form":
                page.wait_for_selector("fieldset")
                page.check("[name=item-0][value='2']")
                page.screenshot(path=IMAGES / "user-study-form.png")
                continue
            page.click("#words > button")
            eyes, player = eyes_of(study), Player(1)
            while not page.evaluate(POLL)["playing"]:
                look(page, player, eyes, 0.1)
            player.begin()
            look(page, player, eyes, 8)
            page.screenshot(path=IMAGES / "user-study-round.png")
            eyes.close()


def made_up(study: UserStudy) -> None:
    """Give a study sessions of people who never were."""
    made, sessions = np.random.default_rng(18), Sessions(study)
    for person in range(PEOPLE):
        session, skill = sessions.begin(f"p{person + 1:02}", "en"), float(made.normal(0.9, 0.05))
        while (step := sessions.current(session)).kind != "done":
            sessions.finish(session, step.index, _result(study, step.to_dict(), skill, made))


def _result(study: UserStudy, step: dict[str, Any], skill: float, made: np.random.Generator) -> dict[str, Any]:
    if step["kind"] == "check":
        places = [(0.1 + 0.4 * (n % 3), 0.1 + 0.4 * (n // 3)) for n in range(9)]
        gaze = made.normal(0, 0.012, (9, 2))
        return {
            "points": [
                {"x": x, "y": y, "gaze_x": x + dx, "gaze_y": y + dy, "samples": 40}
                for (x, y), (dx, dy) in zip(places, gaze.tolist(), strict=True)
            ]
        }
    if step["kind"] == "form":
        return {"answers": [int(made.integers(1, 5)) for _ in range(8 if step["form"] == "sysuse" else 3)]}
    chance = skill - COST.get(step.get("mechanism", ""), 0) * STRONG.get(step.get("strength", ""), 0)
    kinds = ["target"] * study.trial.targets + ["distractor"] * study.trial.distractors
    usual = {"born": 0.0, "ended": 2.0, "distance": 5.0, "x": 0.7, "y": 0.5, "size": 0.1, "from_x": 0.4, "from_y": 0.5}
    things = [
        {"kind": kind, "fate": "destroyed" if made.random() < (chance if kind == "target" else 0.08) else "reached"}
        | usual
        for kind in kinds
    ]
    times = np.sort(made.uniform(5, 115, int(made.integers(2, 7)))).tolist()
    levels = [[0.0, "lphu"], *([t, str(made.choice(["lphu", "mpmu", "hplu"], p=[0.3, 0.5, 0.2]))] for t in times)]
    return {"things": things, "gaze": [], "attempts": 1, "levels": levels, "seconds": step.get("seconds", 0)}


def report(browser: Any, study: UserStudy, folder: Path) -> None:
    """Take a picture of the report of made-up sessions: one measure, and the level chosen over time."""
    made_up(study)
    sessions = Sessions(study).every()
    title = "User study (made-up numbers)"
    write_user_study(measures_of(sessions), folder, title, overview_of(study, sessions))
    with opened_page(browser, viewport={"width": 960, "height": 720}) as (page, _):
        page.goto((folder / "report.html").as_uri())
        page.locator("section:has-text('Targets destroyed') figure").first.screenshot(
            path=IMAGES / "user-study-report.png"
        )
        page.locator("section:has(h2:text-is('Privacy level chosen over time')) figure").screenshot(
            path=IMAGES / "user-study-levels.png"
        )


def main() -> int:
    """Take the pictures."""
    with tempfile.TemporaryDirectory() as folder, opened_browser() as browser:
        (Path(folder) / "made-up").mkdir()
        report(browser, short_study(Path(folder) / "made-up", 30), Path(folder) / "report")
        print("wrote the report", flush=True)
        study = short_study(Path(folder) / "real", 12)
        with served(study, gateway=True) as link:
            pages(browser, study, link)
    for path in IMAGES.glob("user-study-*.png"):
        with Image.open(path) as taken:
            taken.convert("RGB").quantize(COLOURS).save(path, optimize=True)
        print(f"{path.name}: {path.stat().st_size / 1000:.0f} kB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
