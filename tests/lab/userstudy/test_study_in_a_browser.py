# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Two simulated participants play two whole sessions in Chromium, through a real gateway that is killed on the way."""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from gazeveil.lab.userstudy.design import UserStudy, read_user_study
from gazeveil.lab.userstudy.playing import browser_path, opened_browser, play
from gazeveil.lab.userstudy.proposal import propose
from gazeveil.lab.userstudy.server import GatewayProcess, running
from gazeveil.lab.userstudy.sessions import Sessions
from tests.ports import free_port

for package in ("playwright.sync_api", "starlette", "uvicorn", "websockets"):
    pytest.importorskip(package)
pytestmark = [
    pytest.mark.skipif(browser_path() is None, reason="no browser"),
    pytest.mark.timeout(400),  # a first start of the gateway compiles for a minute on a slow machine
]

SHORT = """
[[condition]]
name = "gaussian-high"
mechanism = "gaussian"
strength = "high"
app = "game-gaussian-high"
"""


def short_study(folder: Path) -> UserStudy:
    """Return a study of two conditions and rounds of two seconds, on ports that nobody uses."""
    propose(folder, "A short game")
    text = (folder / "userstudy.toml").read_text()
    changes = {
        "seconds = 30": "seconds = 2", "targets = 15": "targets = 2", "distractors = 15": "distractors = 1",
        "repeats = 2": "repeats = 1", "slowest = 1": "slowest = 5", "fastest = 5": "fastest = 9",
        "practice_s = 15": "practice_s = 1", "free_s = 120": "free_s = 5",
    }  # fmt: skip
    for old, new in changes.items():
        assert old in text
        text = text.replace(old, new)
    (folder / "userstudy.toml").write_text(text.partition('[[condition]]\nname = "gaussian-low"')[0] + SHORT)
    policy = (folder / "policy.toml").read_text()
    for port in range(7400, 7410):
        policy = policy.replace(f':{port}"', f':{free_port()}"')
    (folder / "policy.toml").write_text(policy)
    return read_user_study(folder / "userstudy.toml")


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> tuple[UserStudy, GatewayProcess]:
    """Return a study that two simulated participants have played; during the second one the gateway was killed."""
    study = short_study(tmp_path_factory.mktemp("study"))
    said: list[str] = []

    async def run() -> GatewayProcess:
        async with running(study, 0, said.append, lambda app, level: said.append(f"{app} {level}")) as (link, gateway):

            def both() -> None:
                def tell(words: str) -> None:
                    if words.startswith("step 6 "):  # a round under noise begins
                        os.kill(gateway.pid, getattr(signal, "SIGKILL", signal.SIGTERM))  # as a crash does

                with opened_browser() as browser:
                    play(study, link, "anna", 1, browser)
                    play(study, link, "ben", 2, browser, tell)

            await asyncio.to_thread(both)
            return gateway

    gateway = asyncio.run(run())
    assert any(words.startswith("the gateway ended") for words in said)
    assert "game-free mpmu" in said
    return study, gateway


def lines(study: UserStudy, who: str) -> list[dict[str, Any]]:
    session = Sessions(study).find(who)
    assert session is not None
    return list(session.done.values())


def test_both_went_through_every_step(played: tuple[UserStudy, GatewayProcess]) -> None:
    study, _ = played
    for number, who in enumerate(("anna", "ben")):
        assert [line["index"] for line in lines(study, who)] == list(range(len(study.steps(number)) - 1))
        for line in lines(study, who):
            if line["kind"] in ("trial", "practice"):
                assert len(line["data"]["things"]) == 3
                assert sum(x is not None for _, x, _ in line["data"]["gaze"]) > 5


def test_a_killed_gateway_came_back_and_nothing_was_lost(played: tuple[UserStudy, GatewayProcess]) -> None:
    study, gateway = played
    assert gateway.starts == 2
    assert max(line["data"].get("attempts", 1) for line in lines(study, "anna")) >= 1
    assert len(lines(study, "ben")) == len(lines(study, "anna"))


def test_without_a_mechanism_the_game_sees_where_they_look_and_with_noise_it_does_not(
    played: tuple[UserStudy, GatewayProcess],
) -> None:
    study, _ = played
    points = [point for who in ("anna", "ben") for point in lines(study, who)[0]["data"]["points"] if point["samples"]]
    assert len(points) >= 12
    errors = sorted(abs(point["gaze_x"] - point["x"]) for point in points)
    assert errors[len(errors) // 2] < 0.03

    def jumps(name: str) -> float:
        steps = []
        for who in ("anna", "ben"):
            for line in lines(study, who):
                if line["kind"] == "trial" and line["condition"] == name:
                    xs = [x for _, x, _ in line["data"]["gaze"] if x is not None]
                    steps += [abs(one - other) for one, other in itertools.pairwise(xs)]
        return float(sorted(steps)[len(steps) // 2])

    assert jumps("gaussian-high") > 3 * jumps("none")


def test_the_free_part_says_which_level_was_chosen_when(played: tuple[UserStudy, GatewayProcess]) -> None:
    study, _ = played
    (free,) = [line for line in lines(study, "anna") if line["kind"] == "free"]
    assert free["data"]["levels"]
    assert all(level in ("lphu", "mpmu", "hplu") for _, level in free["data"]["levels"])


def test_what_is_kept_is_json_of_one_line_a_step(played: tuple[UserStudy, GatewayProcess]) -> None:
    study, _ = played
    text = (study.path.parent / "sessions" / "anna.jsonl").read_text()
    assert all(json.loads(line) for line in text.splitlines())
