# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Only a veil makes what leaves, it makes nothing while it is closed, and what apps get is made of veiled points."""

from __future__ import annotations

import ast
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gazeveil
from gazeveil.errors import OptionError, UnknownName, VeilShut
from gazeveil.gateway.sample import Veiled, VeiledFixation, VeiledHit, VeiledSample
from gazeveil.gateway.veiling import EDGES, LiveVeil, NoVeil, feed_of, mechanism_of, window_of
from gazeveil.gaze.aoi import AreasOfInterest, Ellipse, Rectangle
from gazeveil.geometry import headset, screen
from gazeveil.noise import NoiseSource
from gazeveil.privacy.guarantee import GazeStreamDP, PureDP
from gazeveil.samples.mechanisms.edge import EdgeRule
from gazeveil.samples.space import Screen, Sphere, space_of

PACKAGE = Path(gazeveil.__file__).parent
PLANE = screen(1920, 1080, 527, 296, 600)
SPACE = space_of(PLANE)
MAKERS = {"make_veiled_sample", "make_veiled_fixation", "make_veiled_hit"}


def users_of_the_makers(path: Path) -> set[str]:
    """Return how a file reaches for what makes veiled things, by import, as an attribute or as text."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module == "gazeveil.gateway.sample":
            found |= {alias.name for alias in node.names} & {*MAKERS, "_new", "_set", "*"}
        elif isinstance(node, ast.ImportFrom) and node.module == "gazeveil.gateway":
            found |= {alias.name for alias in node.names} & {"sample"}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names} & {"gazeveil.gateway.sample"}
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "__new__":
            found |= {name.id for name in node.args if isinstance(name, ast.Name) and name.id.startswith("Veiled")}
        elif isinstance(node, ast.Constant) and node.value in ("gazeveil.gateway.sample",):
            found.add("as text")
    return found


def test_nothing_but_this_file_makes_what_a_sink_accepts() -> None:
    """The kit for tests has makers too; tests/test_architecture.py checks that nothing of the product imports it."""
    users = {path.relative_to(PACKAGE).as_posix(): users_of_the_makers(path) for path in PACKAGE.rglob("*.py")}
    found = {name: found for name, found in users.items() if found}
    assert found == {"gateway/veiling.py": MAKERS, "testing.py": MAKERS}


@pytest.mark.parametrize(
    "line",
    [
        "from gazeveil.gateway.sample import VeiledSample, make_veiled_hit",
        "import gazeveil.gateway.sample as s",
        "from gazeveil.gateway import sample",
        "object.__new__(VeiledSample)",
        'importlib.import_module("gazeveil.gateway.sample")',
    ],
)
def test_another_maker_would_be_found(tmp_path: Path, line: str) -> None:
    (tmp_path / "intruder.py").write_text(line)
    assert users_of_the_makers(tmp_path / "intruder.py")


def test_nothing_but_this_file_passes_gaze_through_a_veil() -> None:
    callers = {
        path.name
        for path in (PACKAGE / "gateway").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Attribute) and node.attr in ("step", "step3", "run3", "apply")
    }
    assert callers == {"veiling.py"}


def live(quiet_s: float = 1.0, **values: object) -> LiveVeil:
    mechanism = mechanism_of(values or {"preset": "mpmu"}, SPACE)
    return LiveVeil(mechanism, NoiseSource.secure(), quiet_s=quiet_s)


def test_a_new_veil_is_closed_until_somebody_opens_it() -> None:
    veil = live()
    assert veil.pass_through(0.0, 300.0, 500.0, 0.0) is None
    veil.open_until(10.0, 10.0)
    assert veil.pass_through(0.0, 300.0, 500.0, 0.0) is not None
    veil.shut()
    assert veil.pass_through(1.0, 300.0, 500.0, 1.0) is None
    assert veil.points == 1


@pytest.mark.parametrize(("t", "now"), [(10.0, 0.0), (0.0, 10.0), (11.0, 11.0)])
def test_a_veil_closes_when_either_clock_says_so(t: float, now: float) -> None:
    veil = live()
    veil.open_until(10.0, 10.0)
    assert veil.pass_through(t, 300.0, 500.0, now) is None


@pytest.mark.parametrize(
    ("t", "now", "quiet"),
    [(5.0, 50.0, True), (6.0, 51.0, True), (6.01, 50.5, True), (5.5, 51.01, True), (6.01, 51.01, False)],
)
def test_a_quiet_start_lasts_on_both_clocks_from_the_first_sample(t: float, now: float, quiet: bool) -> None:
    veil = live(quiet_s=1.0)
    assert veil.is_quiet(5.0, 50.0)
    assert veil.is_quiet(t, now) is quiet


def test_what_came_while_it_was_closed_never_enters_the_veil() -> None:
    # The filter remembers what was released: gaze far off, before the lease, must leave no trace in what follows.
    quiet, loud = (
        LiveVeil(mechanism_of({"preset": "mpmu"}, SPACE), NoiseSource.seeded(7), quiet_s=0.0) for _ in range(2)
    )
    for i in range(200):
        assert loud.pass_through(i / 60, 1900.0, 1070.0, i / 60) is None
    for veil in (quiet, loud):
        veil.open_until(math.inf, math.inf)
    told = [[veil.pass_through(i / 60, 300.0, 500.0, i / 60) for i in range(200, 400)] for veil in (quiet, loud)]
    assert told[0] == told[1]


def test_a_closed_veil_stays_closed() -> None:
    veil = live()
    veil.open_until(10.0, 10.0)
    veil.close("done")
    assert veil.pass_through(0.0, 1.0, 1.0, 0.0) is None
    veil.open_until(10.0, 10.0)
    with pytest.raises(VeilShut):
        veil.pass_through(0.0, 1.0, 1.0, 0.0)


def test_a_veil_that_is_off_promises_nothing_and_says_so() -> None:
    off = mechanism_of({"preset": "off"}, SPACE)
    assert off == mechanism_of({"mechanism": "off"}, SPACE) == NoVeil(SPACE)
    assert not off.guarantee.proven
    veil = off.start(NoiseSource.secure())
    assert veil.step(0.0, 1.5, 2.5) == (1.5, 2.5)
    xs, _ = veil.run(np.zeros(2), np.ones(2), np.ones(2))
    assert xs.tolist() == [1.0, 1.0]
    veil.close()
    with pytest.raises(VeilShut):
        veil.step(0.0, 1.0, 1.0)
    with pytest.raises(OptionError, match="no parameters"):
        mechanism_of({"preset": "off", "epsilon": 1}, SPACE)


def test_equal_descriptions_give_equal_veils() -> None:
    preset = mechanism_of({"preset": "mpmu"}, SPACE)
    assert preset == mechanism_of({"mechanism": "clock", "epsilon": 1.5, "window": 1.5, "radius": 90}, SPACE)
    assert preset != mechanism_of({"preset": "mpmu", "epsilon": 2}, SPACE)
    with pytest.raises(UnknownName, match="mpmo"):
        mechanism_of({"preset": "mpmo"}, SPACE)


def test_a_window_is_rounded_up_and_no_promise_has_none() -> None:
    assert 1.5 < window_of(GazeStreamDP(1, "1.5", 60)) < 1.51
    assert window_of(NoVeil(SPACE).guarantee) == 0.0
    assert window_of(PureDP(1)) == 10.0


def told(feed_name: str, points: list[tuple[float, float, float]], **options: object) -> list[Veiled]:
    given = {"edge": "clamp", "rate_hz": 1000.0, "space": SPACE, "geometry": PLANE, "areas": None, **options}
    feed = feed_of(feed_name, **given)  # type: ignore[arg-type]
    out: list[Veiled] = []
    for point in points:
        feed.give(*point, out.append)
    return out


@pytest.mark.parametrize(
    ("source", "rate", "expected"), [(60, 60, 600), (120, 60, 600), (90, 60, 600), (60, 120, 600), (120, 1, 10)]
)
def test_samples_come_at_the_rate_of_the_policy(source: int, rate: int, expected: int) -> None:
    jitter = np.random.default_rng(3).uniform(-0.2, 0.2, 10 * source) / source
    points = [(i / source + jitter[i], 5.0, 5.0) for i in range(10 * source)]
    out = told("samples", points, rate_hz=float(rate))
    assert abs(len(out) - expected) <= 1
    assert all(type(veiled) is VeiledSample for veiled in out)


def test_a_gap_is_not_made_up_for_with_a_burst() -> None:
    points = [(i / 100, 5.0, 5.0) for i in range(100)] + [(50 + i / 100, 5.0, 5.0) for i in range(100)]
    assert len(told("samples", points, rate_hz=10.0)) <= 22


def test_fixations_are_told_when_they_are_over_and_numbered() -> None:
    points = [(i / 100, 300.0, 300.0) for i in range(50)] + [(0.5 + i / 100, 900.0, 600.0) for i in range(50)]
    points += [(1.0 + i / 100, 100.0, 900.0) for i in range(30)]
    out = told("fixations", points)
    assert [type(veiled) for veiled in out] == [VeiledFixation, VeiledFixation]
    first, second = out
    assert isinstance(first, VeiledFixation)
    assert isinstance(second, VeiledFixation)
    assert (first.number, second.number) == (1, 2)
    assert (first.x, first.y) == pytest.approx((300, 300), abs=0.1)
    assert first.t == pytest.approx(0.49, abs=0.02)
    assert first.duration == pytest.approx(0.49, abs=0.02)


def test_hits_are_told_when_the_area_changes() -> None:
    areas = AreasOfInterest((Rectangle("left", 0, 0, 960, 1080), Ellipse("disc", 1400, 500, 100, 100)), PLANE)
    points = [(0.0, 5.0, 5.0), (0.1, 50.0, 5.0), (0.2, 1400.0, 500.0), (0.3, 1900.0, 5.0), (0.4, -9.0, 5.0)]
    out = told("hits", points, areas=areas)
    assert [(veiled.t, veiled.area) for veiled in out if isinstance(veiled, VeiledHit)] == [
        (0.0, "left"), (0.2, "disc"), (0.3, ""), (0.4, "left"),
    ]  # fmt: skip
    with pytest.raises(OptionError, match="areas"):
        told("hits", [])


def test_after_a_silence_a_feed_begins_anew() -> None:
    areas = AreasOfInterest((Rectangle("all", 0, 0, 1920, 1080),), PLANE)
    feed = feed_of("hits", edge="clamp", rate_hz=10.0, space=SPACE, geometry=PLANE, areas=areas)
    out: list[Veiled] = []
    feed.give(0.0, 5.0, 5.0, out.append)
    feed.give(1.0, 5.0, 5.0, out.append)
    feed.forget()
    feed.give(1.01, 5.0, 5.0, out.append)
    assert len(out) == 2


COORDINATES = st.one_of(st.floats(-1e4, 1e4), st.sampled_from([math.nan, 0.0, 1080.0, -180.0, 180.0]))


@given(
    COORDINATES, COORDINATES, st.sampled_from(["clamp", "reflect"]), st.sampled_from([SPACE, Sphere(), Sphere(100, 90)])
)
@settings(max_examples=200, deadline=None)
def test_edges_are_those_of_the_edge_rule(x: float, y: float, rule: str, space: Screen | Sphere) -> None:
    geometry = PLANE if isinstance(space, Screen) else headset(space.fov_x, space.fov_y)
    (shown,) = told("samples", [(0.0, x, y)], edge=rule, space=space, geometry=geometry)
    assert isinstance(shown, VeiledSample)
    expected = EdgeRule(space, rule=rule).start(NoiseSource.secure()).step(0.0, x, y)
    if math.isnan(x) or math.isnan(y):
        assert math.isnan(shown.x) or math.isnan(shown.y)
    elif rule == "clamp" or max(abs(x), abs(y)) < 8 * min(space.size):
        assert (shown.x, shown.y) == pytest.approx(expected, abs=1e-6)


def test_points_may_be_left_where_they_are() -> None:
    (shown,) = told("samples", [(0.0, -7.0, 5000.0)], edge="leave")
    assert isinstance(shown, VeiledSample)
    assert (shown.x, shown.y) == (-7.0, 5000.0)
    assert "leave" in EDGES
    with pytest.raises(OptionError, match="edge"):
        told("samples", [], edge="bounce")
