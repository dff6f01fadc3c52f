# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gazeveil import Recording, headset, normalised, screen
from gazeveil.errors import FileFormatError, GeometryError, InputError
from gazeveil.gaze.aoi import AreasOfInterest, Ellipse, Polygon, Rectangle

DESK = screen(1000, 800, 400, 320, 600)
FACE = Ellipse("face", 500, 400, 100, 50, 30)
TEXT = Rectangle("text", 400, 300, 800, 500)
STAR = Polygon("star", ((0, 0), (100, 0), (100, 100), (50, 20), (0, 100)))
AREAS = AreasOfInterest((FACE, TEXT, STAR), DESK)


def test_a_rectangle_owns_its_left_and_top_edge_only() -> None:
    area = Rectangle("r", 0, 10, 2, 20)
    x = [0, 2, 1, 1, 1, -0.001, np.nan, 1]
    y = [15, 15, 10, 20, 15, 15, 15, np.inf]
    assert area.contains(x, y).tolist() == [True, False, True, False, True, False, False, False]


def test_an_ellipse_owns_its_rim_and_turns_clockwise() -> None:
    flat = Ellipse("e", 10, 20, 4, 2)
    assert flat.contains([14, 10, 14.001, 10, np.nan], [20, 22, 20, 22.001, 20]).tolist() == [
        True,
        True,
        False,
        False,
        False,
    ]
    turned = Ellipse("e", 0, 0, 4, 1, 45)
    assert turned.contains([2.5, 2.5], [2.5, -2.5]).tolist() == [True, False]  # y grows downwards


def test_a_polygon_may_be_concave_and_cross_itself() -> None:
    assert STAR.contains([50, 50, 10, 90], [10, 60, 60, 60]).tolist() == [True, False, True, True]
    bow = Polygon("bow", ((0, 0), (10, 10), (10, 0), (0, 10)))
    assert bow.contains([1, 9, 5, 5], [5, 5, 1, 9]).tolist() == [True, True, False, False]


def test_a_polygon_of_a_rectangles_corners_is_that_rectangle() -> None:
    rng = np.random.default_rng(1)
    x, y = rng.integers(-1, 6, (2, 500)).astype(float)  # many on edges and corners
    rectangle = Rectangle("r", 0, 1, 4, 5)
    for corners in (((0, 1), (4, 1), (4, 5), (0, 5)), ((0, 5), (4, 5), (4, 1), (0, 1))):
        assert (Polygon("p", corners).contains(x, y) == rectangle.contains(x, y)).all()


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32))
def test_triangles_that_tile_a_square_share_no_point_and_leave_none_out(seed: int) -> None:
    rng = np.random.default_rng(seed)
    apex = tuple(rng.uniform(1, 9, 2))
    corners = [(0.0, 0.0), (10.0, 0.0), (10.0, 10.0), (0.0, 10.0)]
    triangles = [Polygon("t", (corners[i], corners[(i + 1) % 4], apex)) for i in range(4)]
    along = rng.random(300)[:, None]
    edge = np.array(corners)[rng.integers(0, 4, 300)] * along + np.array(apex) * (1 - along)
    points = np.vstack([edge, rng.uniform(0, 9.999, (300, 2)), [apex], [(0, 0)]])
    points = points[(points >= 0).all(axis=1) & (points < 10).all(axis=1)]
    hits = sum(triangle.contains(points[:, 0], points[:, 1]).astype(int) for triangle in triangles)
    assert np.all(hits == 1)


@pytest.mark.parametrize(
    ("make", "complaint"),
    [
        (lambda: Rectangle("r", 5, 0, 5, 1), "no area"),
        (lambda: Rectangle("r", 0, 2, 5, 1), "no area"),
        (lambda: Rectangle("r", 0, 0, float("nan"), 1), "right must be a number"),
        (lambda: Rectangle("", 0, 0, 1, 1), "needs a name"),
        (lambda: Ellipse("e", 0, 0, 0, 1), "no area"),
        (lambda: Ellipse("e", 0, 0, 1, 1, float("inf")), "angle must be a number"),
        (lambda: Polygon("p", ((0, 0), (1, 1))), "at least 3 points, found 2"),
        (lambda: Polygon("p", ()), "at least 3 points, found 0"),
        (lambda: Polygon("p", ((0, 0), (1, 1), (2, 2), (5, 5))), "on one line"),
        (lambda: Polygon("p", ((3, 3), (3, 3), (3, 3))), "on one line"),
        (lambda: Polygon("p", ((0, 0), (1, 0), (0, float("inf")))), "finite"),
        (lambda: Polygon("p", ((0, 0), (1, 0), "ab")), "pairs of numbers"),  # type: ignore[arg-type]
        (lambda: Polygon("p", ((0, 0), (1, 0), (1, 2, 3))), "pairs of numbers"),  # type: ignore[arg-type]
        (lambda: AreasOfInterest((TEXT, TEXT), DESK), "two areas are called 'text'"),
    ],
)
def test_areas_that_cannot_be_are_refused(make: Any, complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        make()


def test_where_areas_overlap_the_first_one_wins_but_all_can_be_seen() -> None:
    x, y = np.array([500.0, 450, 50, 999]), np.array([400.0, 310, 10, 799])
    assert AREAS.label(x, y).tolist() == [0, 1, 2, -1]
    assert AREAS.contains(x, y)[:, 0].tolist() == [True, True, False]
    assert AREAS.label(500.0, 400.0) == 0
    assert AreasOfInterest((), DESK).label(x, y).tolist() == [-1] * 4
    assert AREAS.names == ("face", "text", "star")


def test_gaze_is_brought_into_the_areas_unit() -> None:
    t, x, y = np.arange(4) / 100, np.array([0.5, 0.45, 0.05, np.nan]), np.array([0.5, 0.39, 0.01, 0.5])
    plane = normalised(1000, 800, 400, 320, 600)
    r = Recording(t, x, y, plane, "a")
    assert AREAS.hits(r).tolist() == [0, 1, 2, -1]
    assert AREAS.hits(r.to("deg")).tolist() == [0, 1, 2, -1]
    with pytest.raises(GeometryError, match=r"width_px is 500, but the areas were drawn on 1000"):
        AREAS.hits(Recording(t, x, y, screen(500, 800), "a"))
    with pytest.raises(GeometryError):
        AREAS.hits(Recording(t, x, y, headset(), "a"))


def test_dwell_and_entries() -> None:
    areas = AreasOfInterest((Rectangle("left", 0, 0, 0.5, 1), Rectangle("right", 0.5, 0, 1, 1)), normalised())
    place = {"l": 0.2, "r": 0.7, "o": 2.0, ".": np.nan}
    x = np.array([place[c] for c in "llll..llrrolll"])
    r = Recording(np.arange(len(x)) / 100, x, np.full(len(x), 0.5), normalised(), "a")
    found = areas.dwell(r)
    assert found["area"].to_list() == ["left", "right", None]
    assert found["seconds"].to_list() == pytest.approx([0.08, 0.02, 0.01])  # the last sample holds for no time
    assert found["share"].sum() == pytest.approx(1)
    assert found["entries"].to_list() == [2, 1, 1]  # a blink is no entry
    assert found["samples"].to_list() == [9, 2, 1]


def test_time_in_a_hole_or_before_a_step_back_belongs_to_nobody() -> None:
    areas = AreasOfInterest((Rectangle("all", 0, 0, 1, 1),), normalised())
    t = np.array([0, 0.01, 0.02, 5.0, 5.01, 1.0, 1.01])
    found = areas.dwell(Recording(t, 0 * t, 0 * t, normalised(), "a"))
    assert found["seconds"][0] == pytest.approx(0.04)
    assert found["entries"][0] == 3
    longer = areas.dwell(Recording(t, 0 * t, 0 * t, normalised(), "a"), max_step=10)
    assert longer["seconds"][0] == pytest.approx(5.02)


def test_dwell_of_nothing_is_nothing() -> None:
    empty = np.empty(0)
    found = AREAS.dwell(Recording(empty, empty, empty, DESK, "a"))
    assert found["seconds"].to_list() == [0] * 4
    assert found["entries"].to_list() == [0] * 4


def test_areas_survive_a_file(tmp_path: Path) -> None:
    AREAS.to_json(tmp_path / "areas.json")
    assert AreasOfInterest.from_json(tmp_path / "areas.json") == AREAS
    assert [path.name for path in tmp_path.iterdir()] == ["areas.json"]


GOOD: dict[str, Any] = {
    "geometry": {"unit": "px", "width_px": 100, "height_px": 100},
    "areas": [{"shape": "ellipse", "name": "e", "x": 1, "y": 2, "radius_x": 3, "radius_y": 4}],
}


def changed(**values: Any) -> dict[str, Any]:
    return {**GOOD, "areas": [{**GOOD["areas"][0], **values}]}


def test_an_optional_field_may_be_left_out(tmp_path: Path) -> None:
    path = tmp_path / "areas.json"
    path.write_text("\ufeff" + json.dumps(GOOD), encoding="utf-8")
    assert AreasOfInterest.from_json(path).areas == (Ellipse("e", 1, 2, 3, 4, 0.0),)


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("", "line 1: expected JSON"),
        ('{"areas": [\n}', "line 2: expected JSON"),
        ("[]", "the whole: expected an object, found list"),
        ({"areas": []}, "column geometry: expected a value, found nothing"),
        ({**GOOD, "area": 1}, "column area: expected only areas, geometry"),
        ({**GOOD, "geometry": {"unit": "inch"}}, "column geometry: .*unit must be px, deg or norm"),
        ({**GOOD, "geometry": {"unit": "deg", "colour": 1}}, "column geometry: .*colour"),
        ({**GOOD, "areas": {}}, "column areas: expected a list, found dict"),
        ({**GOOD, "areas": [7]}, r"column areas\[0\]: expected an object, found int"),
        (changed(shape="blob"), r"column areas\[0\].shape: expected one of rectangle, ellipse, polygon, found 'blob'"),
        (changed(shape=None), r"column areas\[0\].shape: .*found nothing"),
        (changed(shape="rectangle"), r"column areas\[0\].bottom: expected a value, found nothing"),
        (changed(weight=1), r"column areas\[0\].weight: expected only"),
        (
            changed(radius_x="3"),
            r"column areas\[0\]: expected the fields of ellipse, .*radius_x must be a number",
        ),
        (changed(name=4), r"column areas\[0\]: .*needs a name, not 4"),
        ({**GOOD, "areas": GOOD["areas"] * 2}, "column areas: expected different names"),
    ],
)
def test_a_wrong_file_is_told_by_field(tmp_path: Path, content: Any, complaint: str) -> None:
    path = tmp_path / "areas.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    with pytest.raises(FileFormatError, match=complaint):
        AreasOfInterest.from_json(path)


def test_a_file_that_is_no_text_or_not_there_is_told(tmp_path: Path) -> None:
    (tmp_path / "areas.json").write_bytes(b"\xff\xfe\x00\x81")
    with pytest.raises(FileFormatError, match="JSON in UTF-8"):
        AreasOfInterest.from_json(tmp_path / "areas.json")
    with pytest.raises(InputError, match="cannot read"):
        AreasOfInterest.from_json(tmp_path / "nothing.json")
