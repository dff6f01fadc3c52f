# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The rules of the game, in node: the same rounds for everybody, and hits where there is gaze."""

from __future__ import annotations

import itertools
import json
import shutil
import subprocess
from importlib import resources
from typing import Any

import pytest

RULES = resources.files("gazeveil.lab.userstudy").joinpath("game/rules.js")
PROGRAM = """
import {{ plan, radius, Round }} from "{rules}";
const rules = {{ targets: 15, distractors: 15, slowest: 1, fastest: 5, dwell_s: 0.5 }};
const planned = plan(rules, "key/0/0/1", 30);
const play = (control, aim, press, step = 1 / 60) => {{
  const round = new Round(rules, control, "key/0/0/1", 30);
  for (let now = 0; !round.over; now += step) round.step(now, aim(round), press(round), 9 / 16);
  return round;
}};
const at = (kind) => (round) => {{
  const thing = round.here.find((each) => each.kind === kind);
  return thing ? [thing.x, thing.y] : null;
}};
const never = () => false;
const fates = (round) => round.gone.map(({{ kind, fate }}) => kind + " " + fate);
const told = (round) => ({{ fates: fates(round), now: round.now, empty: round.empty, gone: round.gone }});
let [on, flickers] = [0, at("target")];
console.log(JSON.stringify({{
  planned,
  again: plan(rules, "key/0/0/1", 30),
  other: plan(rules, "key/0/0/2", 30),
  sizes: [radius(10), radius(0)],
  dwelling: told(play("dwell", at("target"), never)),
  flickering: told(play("dwell", (round) => (on++ % 20 === 0 ? [0, 0] : flickers(round)), never)),
  away: told(play("dwell", () => [0.02, 0.02], never)),
  blind: told(play("dwell", () => null, never)),
  pressing: told(play("key", at("distractor"), () => true)),
  missing: told(play("key", () => [0.02, 0.02], () => true, 0.5)),
}}));
"""


@pytest.fixture(scope="module")
def found() -> dict[str, Any]:
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed")
    program = PROGRAM.format(rules=f"file://{RULES}")
    command = [node, "--input-type=module", "--no-warnings"]
    done = subprocess.run(command, input=program, capture_output=True, text=True, timeout=60, check=True)
    return dict(json.loads(done.stdout))


def count(round_told: dict[str, Any], what: str) -> int:
    return int(round_told["fates"].count(what))


def test_a_round_has_its_things_and_is_the_same_for_everybody(found: dict[str, Any]) -> None:
    planned = found["planned"]
    assert planned == found["again"]
    assert planned != found["other"]
    kinds = [thing["kind"] for thing in planned]
    assert (kinds.count("target"), kinds.count("distractor")) == (15, 15)
    assert all(one != other for one, other in itertools.pairwise(kinds))  # they take turns
    lanes = [thing["lane"] for thing in planned]
    assert all(one != other for one, other in itertools.pairwise(lanes))
    assert set(lanes) <= set(range(7))
    assert all(0.05 < thing["x"] < 0.95 for thing in planned)
    assert found["sizes"] == pytest.approx([0.02, 0.07])


def test_who_looks_at_targets_destroys_them_all(found: dict[str, Any]) -> None:
    dwelling = found["dwelling"]
    assert count(dwelling, "target destroyed") == 15
    assert count(dwelling, "distractor destroyed") <= 1  # one that came before a target in its lane
    times = [thing["ended"] - thing["born"] for thing in dwelling["gone"] if thing["kind"] == "target"]
    assert min(times) >= 0.5
    assert dwelling["now"] <= 30.1


def test_dwelling_that_is_broken_off_begins_anew(found: dict[str, Any]) -> None:
    assert count(found["flickering"], "target destroyed") == 0  # gaze leaves every third of a second


def test_who_looks_elsewhere_or_nowhere_destroys_nothing_and_things_arrive(found: dict[str, Any]) -> None:
    for told in (found["away"], found["blind"]):
        assert count(told, "target destroyed") == count(told, "distractor destroyed") == 0
        assert count(told, "target reached") + count(told, "target left") == 15
        assert count(told, "target reached") >= 14


def test_a_key_selects_what_is_looked_at_and_presses_at_nothing_are_counted(found: dict[str, Any]) -> None:
    assert count(found["pressing"], "distractor destroyed") == 15
    assert count(found["missing"], "target destroyed") == 0
    assert found["missing"]["empty"] >= 50
