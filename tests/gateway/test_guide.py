# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The first-run guide: whatever can be chosen makes a policy that can be read, and nothing slips in with a name."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest

from gazeveil.errors import InputError
from gazeveil.gateway.control.guide import LEVELS, choices, policy_from
from gazeveil.gateway.policy.settings import Policy, read_policy

for _package in ("msgspec", "websockets", "zmq", "pylsl", "msgpack"):
    pytest.importorskip(_package)

SCREEN = {"width_px": 1920, "height_px": 1080, "width_mm": 531, "height_mm": 299, "distance_mm": 600}
ANSWERS: dict[str, Any] = {
    "tracker": {"name": "desk", "protocol": "simulate", "screen": SCREEN},
    "participant": "anna",
    "app": {"name": "game", "protocol": "jsonlines", "listen": 7399, "output": "samples"},
    "level": "mpmu",
    "budget": "20000",
}


def read(folder: Path, told: dict[str, Any]) -> Policy:
    assert told["problems"] == []
    path = folder / "policy.toml"
    path.write_text(told["toml"], encoding="utf-8")
    return read_policy(path)


def test_every_choice_makes_a_policy_that_says_what_was_chosen(tmp_path: Path) -> None:
    offered = choices()
    assert [preset["name"] for preset in offered["presets"]] == [*LEVELS]
    pairs = [(source, offered["sinks"][0]) for source in offered["sources"]]
    pairs += [(offered["sources"][0], sink) for sink in offered["sinks"]]
    for number, (source, sink) in enumerate(pairs):
        answers = copy.deepcopy(ANSWERS)
        answers["tracker"]["protocol"] = source["name"]
        if source["name"] == "neon":
            camera = next(one for one in offered["screens"] if one["title"] == "scene camera of Neon")
            answers["tracker"]["screen"] = {name: value for name, value in camera.items() if name != "title"}
        answers["app"] = {"name": "game", "protocol": sink["name"], "listen": 7400, "output": sink["outputs"][-1]}
        if sink["name"] == "lsl":
            del answers["app"]["listen"]
        answers["level"] = LEVELS[number % len(LEVELS)]
        policy = read(tmp_path, policy_from(answers))
        assert policy.trackers[0].protocol == source["name"]
        assert (policy.apps[0].protocol, policy.apps[0].output) == (sink["name"], sink["outputs"][-1])
        assert float(policy.budgets[0].epsilon_per_day) == 20000
        assert not policy.trackers[0].raw_view


def test_every_screen_that_is_offered_can_be_used(tmp_path: Path) -> None:
    for screen in choices()["screens"]:
        size = {name: value for name, value in screen.items() if name != "title"}
        answers = {**ANSWERS, "tracker": {**ANSWERS["tracker"], "screen": size}, "budget": None}
        policy = read(tmp_path, policy_from(answers))
        assert policy.trackers[0].geometry.knows_degrees
        assert policy.budgets == ()


def test_the_levels_are_those_that_the_policy_gets(tmp_path: Path) -> None:
    size = {name: value for name, value in choices()["screens"][0].items() if name != "title"}
    for preset in choices()["presets"]:
        answers = {**ANSWERS, "level": preset["name"], "tracker": {**ANSWERS["tracker"], "screen": size}}
        knob = read(tmp_path, policy_from(answers)).apps[0].mechanism.privacy_level
        assert [float(value) for value in knob.values()] == [preset["epsilon"], preset["window_s"], preset["radius"]]


@pytest.mark.parametrize(
    "name",
    [
        'x"\nunproven = "allow',
        'x" ',
        "a\\",
        "é",
        "日本",
        "'",
        '"""',
        "#",
        "x\x7f",
        "x\u2028y",
        "x" * 1000,
        " x",
        "=1+1",
    ],
)
def test_whatever_is_in_a_name_nothing_else_gets_into_the_policy(tmp_path: Path, name: str) -> None:
    for part in ("tracker", "app"):
        answers = copy.deepcopy(ANSWERS)
        answers[part]["name"] = name
        told = policy_from(answers)
        if told["problems"]:
            assert told["toml"] == ""
            continue
        policy = read(tmp_path, told)
        assert getattr(policy, f"{part}s")[0].name == name
        assert not policy.apps[0].unproven
        assert (len(policy.trackers), len(policy.apps), len(policy.budgets)) == (1, 1, 1)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"level": "off"}, "level"),
        ({"level": None}, "level"),
        ({"budget": "-1"}, "budget"),
        ({"budget": "much"}, "budget"),
        ({"participant": ""}, "participant"),
        ({"participant": 1}, "participant"),
        ({"more": 1}, "more"),
        ({"tracker": None}, "tracker"),
        ({"tracker": {**ANSWERS["tracker"], "raw_view": True}}, "raw_view"),
        ({"tracker": {**ANSWERS["tracker"], "protocol": "replay"}}, "file"),
        ({"tracker": {**ANSWERS["tracker"], "screen": {**SCREEN, "width_px": "1920 }\nx = 1"}}}, "width_px"),
        ({"tracker": {**ANSWERS["tracker"], "screen": {"width_px": 1e400}}}, "width_px"),
        ({"app": {**ANSWERS["app"], "listen": "0.0.0.0:1"}}, "port"),
        ({"app": {**ANSWERS["app"], "listen": True}}, "port"),
        ({"app": {**ANSWERS["app"], "output": "hits"}}, "areas"),
        ({"app": {**ANSWERS["app"], "unproven": "allow"}}, "unproven"),
    ],
)
def test_what_makes_no_policy_is_told_in_words_and_gives_no_file(change: dict[str, Any], words: str) -> None:
    told = policy_from({**ANSWERS, **change})
    assert told["toml"] == ""
    assert words in told["problems"][0]
    assert "/tmp" not in told["problems"][0]


def test_answers_that_are_no_answers_are_refused() -> None:
    with pytest.raises(InputError):
        raise InputError(policy_from({})["problems"][0])
