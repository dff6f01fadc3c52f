# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The module for web pages, run by node: its veils show what Python's show, from the same keys."""

from __future__ import annotations

import json
import math
import re
import secrets
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gazeveil
from gazeveil.arrays import FloatArray
from gazeveil.noise import NoiseSource
from gazeveil.noise.sampling_kernels import plane_point
from gazeveil.samples import stream_kernels as kernels
from gazeveil.samples.mechanism import SampleMechanism, Veil, mechanism_from_dict

WEB = Path(gazeveil.__file__).parent / "gateway" / "web"
RUNNER = Path(__file__).with_name("page_module.mjs")
NODE = shutil.which("node")
SCREEN: dict[str, Any] = {"kind": "screen", "width": 1920, "height": 1080, "pixels_per_degree": 37.5}
WIDE = {"kind": "screen", "width": 2.0**24, "height": 2.0**24}
CLOCK: dict[str, Any] = {"mechanism": "clock", "space": SCREEN, "epsilon": "1.5", "window": "1.5", "radius": "60px"}
TOLERANCE = 1e-9
LONG = "π" * 100
"""A purpose that takes more than one block of the hash."""

pytestmark = [pytest.mark.timeout(300), pytest.mark.skipif(NODE is None, reason="no node")]


def in_node(*jobs: dict[str, Any]) -> list[dict[str, Any]]:
    """Let the page's module veil; gaze that is missing or infinite travels as null or text."""

    def plain(values: Sequence[float]) -> list[Any]:
        return [None if math.isnan(v) else v if math.isfinite(v) else str(v).replace("inf", "Infinity") for v in values]

    sent = [job | {name: plain(job[name]) for name in "xy"} | {"t": list(job["t"])} for job in jobs]
    done = subprocess.run(
        [str(NODE), str(RUNNER)], input=json.dumps(sent), capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr
    answers: list[dict[str, Any]] = json.loads(done.stdout)
    return answers


def path(rng: np.random.Generator, count: int, space: dict[str, Any]) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Fixations and jumps, with gaps, gaze off the screen, jitter in time, and a clock that runs back."""
    t = 1.7e9 * rng.random() + np.cumsum(rng.choice([0.004, 0.0167, 0.034, 0.3], count, p=[0.2, 0.5, 0.28, 0.02]))
    t[rng.random(count) < 0.01] -= 0.5
    jumps = np.cumsum(rng.random(count) < 0.05)
    places = rng.uniform(-0.1, 1.1, (jumps[-1] + 1, 2))[jumps] + 0.005 * rng.standard_normal((count, 2))
    x, y = places[:, 0] * space["width"], places[:, 1] * space["height"]
    x[rng.random(count) < 0.05] = math.nan
    y[rng.random(count) < 0.01] = math.inf
    x[rng.random(count) < 0.01] *= 1000
    return t, x, y


def stepped(veil: Veil, job: dict[str, Any]) -> list[tuple[float, float]]:
    points = []
    for i, (t, x, y) in enumerate(zip(job["t"], job["x"], job["y"], strict=True)):
        if change := job.get("changes", {}).get(i):
            veil.change(t, **change)
        if wall := job.get("wall"):
            veil.pace(wall[i])
        points.append(veil.step(float(t), float(x), float(y)))
    return points


def same_guarantee(answer: dict[str, Any], mechanism: SampleMechanism) -> None:
    assert answer["short"] == str(mechanism.guarantee)
    assert answer["statement"] == mechanism.guarantee.in_words()
    assert answer["text"] == f"{answer['caveat']} {answer['statement']}"
    assert "the page's own code" in answer["caveat"]


CLOCKS: list[dict[str, Any]] = [
    CLOCK,
    {**CLOCK, "epsilon": 3, "window": "1/3", "radius": "1.6deg", "ticks": 5},
    {**CLOCK, "epsilon": 0.1, "window": 2, "radius": "5%", "lag": 0.25},
    {**CLOCK, "lag": 0.5, "ticks": 40, "content": [[0, 0, 500, 300, 2], [900, 500, 2500, 900]]},
    {**CLOCK, "epsilon": 200, "window": 1, "radius": 60, "content": [[100, 100, 200, 200]]},
    {**CLOCK, "filter": False, "space": {**SCREEN, "unit": "norm", "width": 1, "height": 1}, "radius": "0.05"},
]


def test_the_clock_shows_in_a_page_what_it_shows_in_python() -> None:
    rng = np.random.default_rng(secrets.randbits(64))
    jobs: list[dict[str, Any]] = []
    for recipe in CLOCKS:
        t, x, y = path(rng, 800, recipe["space"])
        wall = np.cumsum(np.diff(t, prepend=t[0]).clip(0) * rng.choice([0.5, 1, 1.2], len(t)))
        key = secrets.token_hex(32)
        job = {"recipe": recipe, "noise": {"key": key, "purpose": "tests"}, "t": t.tolist(), "x": x, "y": y}
        jobs += [job, job | {"wall": wall.tolist()}]
    for job, answer in zip(jobs, in_node(*jobs), strict=True):
        mechanism = mechanism_from_dict(job["recipe"])
        veil = mechanism.start(NoiseSource.keyed(bytes.fromhex(job["noise"]["key"]), "tests"))
        assert np.abs(np.array(answer["points"]) - stepped(veil, job)).max() < TOLERANCE
        assert answer["faults"] == veil.faults._asdict()
        same_guarantee(answer, mechanism)


def test_noised_lattice_points_and_tick_times_are_pythons_to_the_last_bit() -> None:
    rng = np.random.default_rng(secrets.randbits(64))
    jobs: list[dict[str, Any]] = []
    for recipe in CLOCKS[:4]:
        t, x, y = path(rng, 2000, recipe["space"])
        x, y = np.nan_to_num(x, nan=3.0), np.nan_to_num(y, nan=3.0, posinf=7.0)
        jobs.append(
            {"recipe": recipe, "noise": {"key": secrets.token_hex(32), "purpose": LONG}, "t": t, "x": x, "y": y}
        )
    ticks = 0
    for job, answer in zip(jobs, in_node(*jobs), strict=True):
        source = NoiseSource.keyed(bytes.fromhex(job["noise"]["key"]), LONG)
        veil: Any = mechanism_from_dict(job["recipe"]).start(NoiseSource.seeded(1))
        spacing, loss, latest, expected = veil._plan[kernels.SPACING], veil._plan[kernels.LOSS], None, []
        for t, x, y in zip(job["t"].tolist(), job["x"].tolist(), job["y"].tolist(), strict=True):
            veil.step(t, x, y)
            if (tick := int(veil._clock[kernels.TICK])) != latest:
                latest, place = tick, (min(max(x, 0.0), 1920.0) / spacing, min(max(y, 0.0), 1080.0) / spacing)
                i, j = plane_point(source.words(3), 2.0**30 / loss / spacing, *place)
                expected.append([tick, i * spacing, j * spacing])
        assert answer["ticks"] == expected
        ticks += len(expected)
    assert ticks > 300


def test_without_filter_and_edges_every_point_shown_is_the_same_lattice_point() -> None:
    rng = np.random.default_rng(secrets.randbits(64))
    t = np.arange(3000) / 60
    x, y = rng.uniform(2.0**22, 2.0**23, (2, len(t)))
    recipe = {**CLOCK, "space": WIDE, "filter": False, "ticks": 30, "window": 1}
    (answer,) = in_node({"recipe": recipe, "noise": {"seed": 3}, "t": t, "x": x, "y": y})
    shown = mechanism_from_dict(recipe).start(NoiseSource.seeded(3)).run(t, x, y)
    assert np.array_equal(answer["points"], np.column_stack(shown))
    assert len(set(map(tuple, answer["points"]))) > 1000
    assert "came from a seed" in answer["short"]


class Scripted:
    """Words from a list, so that rare draws can be tested."""

    def __init__(self, words: list[int], more: list[int]) -> None:
        self._words, self._more = list(words), list(more)

    def words(self, count: int) -> Any:
        taken, self._words = self._words[:count], self._words[count:]
        return np.array(taken, np.uint64)

    def more(self) -> int:
        return self._more.pop(0)


def test_draws_that_doubles_leave_undecided_are_settled_as_in_python() -> None:
    rng = np.random.default_rng(5)
    rare = [0, 1, 2, 5, 63, 2**62, 2**63, 2**64 - 1, 2**64 - 2**57, 2**64 - 2**57 - 1, 2**58]
    words = [int(rng.choice(np.array(rare, np.uint64))) for _ in range(512)]
    more = [int(word) for word in rng.integers(0, 2**64, 3000, np.uint64)]
    t = np.arange(100) / 4.0
    x, y = rng.uniform(0, 1000, (2, len(t)))
    noise = {"words": [str(word) for word in words], "more": [str(word) for word in more]}
    recipes = [
        {**CLOCK, "space": WIDE, "filter": False, "ticks": 6},
        {"mechanism": "gaussian", "space": SCREEN, "sigma": 1.0},
    ]
    jobs = [{"recipe": recipe, "noise": noise, "t": t, "x": x, "y": y} for recipe in recipes]
    for recipe, answer in zip(recipes, in_node(*jobs), strict=True):
        scripted: Any = Scripted(words, more)
        veil = mechanism_from_dict(recipe).start(scripted)
        expected = [veil.step(*now) for now in zip(t.tolist(), x.tolist(), y.tolist(), strict=True)]
        assert np.array_equal(answer["points"], expected)
        assert len(scripted._more) < len(more)


def test_a_changed_guarantee_holds_in_a_page_as_in_python() -> None:
    rng = np.random.default_rng(secrets.randbits(64))
    t, x, y = path(rng, 3000, SCREEN)
    changes = {
        500: {"epsilon": "0.5"},
        520: {"radius": "90px"},
        1500: {"epsilon": 6, "window": "0.7"},
        2000: {"window": 3},
    }
    job = {"recipe": {**CLOCK, "lag": 0.2}, "noise": {"seed": 8}, "t": t.tolist(), "x": x, "y": y, "changes": changes}
    (answer,) = in_node(job)
    veil = mechanism_from_dict(job["recipe"]).start(NoiseSource.seeded(8))
    assert np.abs(np.array(answer["points"]) - stepped(veil, job)).max() < TOLERANCE


WILSON: list[dict[str, Any]] = [
    {"mechanism": "gaussian", "sigma": 1.0},
    {"mechanism": "gaussian", "sigma": 0.031},
    {"mechanism": "gaussian", "sigma": 30.0},
    {"mechanism": "temporal", "keep_every": 7},
    {"mechanism": "spatial", "factor": 48.0},
    {"mechanism": "spatial", "factor": 5.3, "centred": False},
    {"mechanism": "smoothing", "window": 50},
    {"mechanism": "smoothing", "window": 7, "start_with": "zeros"},
]


def test_wilsons_veils_show_the_same_numbers_in_a_page_and_promise_as_little() -> None:
    rng = np.random.default_rng(secrets.randbits(64))
    jobs: list[dict[str, Any]] = []
    for recipe in WILSON:
        t, x, y = path(rng, 1000, SCREEN)
        noise = {"key": secrets.token_hex(32), "purpose": "wilson"}
        jobs.append({"recipe": {**recipe, "space": SCREEN}, "noise": noise, "t": t, "x": x, "y": y})
    for job, answer in zip(jobs, in_node(*jobs), strict=True):
        mechanism = mechanism_from_dict(job["recipe"])
        veil = mechanism.start(NoiseSource.keyed(bytes.fromhex(job["noise"]["key"]), "wilson"))
        assert np.array_equal(answer["points"], np.column_stack(veil.run(job["t"], job["x"], job["y"])))
        assert answer["faults"] == veil.faults._asdict()
        same_guarantee(answer, mechanism)


def test_what_a_page_veil_cannot_do_is_refused_with_a_reason() -> None:
    def job(t: float = 0.0, **changed: Any) -> dict[str, Any]:
        return {"recipe": {**CLOCK, **changed}, "noise": {}, "t": [t], "x": [1.0], "y": [1.0]}

    wrong = {
        "no mechanism is called": job(mechanism="kaleido"),
        "no parameter": job(sigma=1),
        "lives on a screen": job(space={"kind": "sphere"}),
        "positive width": job(space={"width": 0, "height": 1}),
        "radius must be a number": job(radius="far"),
        "no length on this screen": job(radius="2deg", space={"width": 10, "height": 10}),
        "epsilon must be greater": job(epsilon="-1"),
        "window must be between": job(window=11),
        "whole number": job(ticks=0.5),
        "need the filter": job(lag=0.1, filter=False),
        "within ±9e9": job(1e11),
        "fill the ledger": job(window="0.001", ticks=1000),
        "negative, nor all 0": job(content=[[0, 0, 1, 1, -1]]),
    }
    for (words, _), answer in zip(wrong.items(), in_node(*wrong.values()), strict=True):
        assert words in answer.get("error", ""), (words, answer)


PRELUDE = """
Object.assign(globalThis, {
  innerWidth: 1280, innerHeight: 800, WebSocket: class {},
  jsPsychExtensionWebgazer: {}, jsPsychHtmlKeyboardResponse: {},
  webgazer: { setGazeListener(listener) { listener({ x: 1, y: 2 }, 0); return this; }, begin() {} },
  initJsPsych: () => ({ run() {} }),
});
"""


def test_what_the_documentation_shows_runs(tmp_path: Path) -> None:
    page = (RUNNER.parents[2] / "docs" / "how-to" / "veil-in-a-page.md").read_text()
    blocks = re.findall(r"^```javascript\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    main = PRELUDE
    for number, block in enumerate(blocks):
        code = block.replace("./gazeveil.js", (WEB / "gazeveil.js").as_uri())
        (tmp_path / f"{number}.mjs").write_text(code)
        main += f'await import("./{number}.mjs");\n'
    (tmp_path / "main.mjs").write_text(main)
    done = subprocess.run(
        [str(NODE), str(tmp_path / "main.mjs")], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr
    assert len(blocks) == 4
    assert "This veil runs in a web page" in done.stdout


@pytest.fixture(scope="module")
def adapted() -> dict[str, Any]:
    script = RUNNER.with_name("page_adapters.mjs")
    done = subprocess.run([str(NODE), str(script)], capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def test_webgazers_listener_gets_veiled_points_and_nothing_else_of_the_eyes(adapted: dict[str, Any]) -> None:
    assert adapted["heard"] == [[{"x": 150, "y": 750}, elapsed] for elapsed in (20, 40, 60)]


def test_a_tracker_whose_clock_runs_ahead_gets_no_more_releases_than_the_pages_clock_allows(
    adapted: dict[str, Any],
) -> None:
    ticks = mechanism_from_dict({**CLOCK, "space": {**SCREEN, "width": 1000, "height": 800}, "epsilon": 1, "window": 1})
    assert adapted["stalled"] == ticks.chosen_ticks  # type: ignore[attr-defined]


def test_a_jspsych_trial_stores_veiled_gaze_and_the_guarantee(adapted: dict[str, Any]) -> None:
    sample = {"x": 450, "y": 150, "t": 34}
    assert adapted["during"] == adapted["trial"]["gazeveil_data"] == [sample]
    assert adapted["trial"]["gazeveil_guarantee"].startswith("This veil runs in a web page")
    assert set(adapted["trial"]) == {"gazeveil_data", "gazeveil_guarantee"}
    assert adapted["calls"] == ["resume", "start", "stop", "pause"]
    assert adapted["subscribers"] == 0
    assert "needs a veil" in adapted["refused"]


def test_the_client_comes_again_with_longer_pauses_until_the_policy_ends_it(adapted: dict[str, Any]) -> None:
    assert adapted["pauses"] == [500, 1000, 2000, 4000, 8000, 8000, 500]
    assert adapted["after"] == len(adapted["pauses"])
    assert [name for name, *_ in adapted["told"]] == ["hello", "sample", "fixation", "hit", "silence", "end"]
    assert adapted["told"][-1] == ["end", "the budget is spent"]
    assert adapted["hello"] == {"type": "hello", "guarantee": "ε=1"}
    assert adapted["states"][-3:] == ["waiting", "connecting", "closed"]


def test_the_packages_versions_agree() -> None:
    package = json.loads((WEB / "package.json").read_text())
    module = (WEB / "gazeveil.js").read_text()
    version = re.search(r'VERSION = "([^"]+)"', module)
    assert version is not None
    assert version[1] == package["version"] == gazeveil.__version__.replace(".dev", "-dev.")
    assert "dependencies" not in package
    assert not re.search(
        r"^\s*import\b|\bimport\(|\bfetch\(|XMLHttpRequest|sendBeacon|Math\.random", module, re.MULTILINE
    )
