# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gazeveil import GazeveilError, Geometry, headset, normalised, screen
from gazeveil.errors import GeometryError

DESK = screen(1920, 1080, 530, 300, 600)

sizes = st.floats(min_value=1, max_value=1e5)
fractions = st.floats(min_value=-2, max_value=3)


def test_pixels_become_exact_visual_angles() -> None:
    x, y = DESK.convert([960, 1920], [540, 1080], "deg")
    assert x[0] == y[0] == 0
    assert x[1] == pytest.approx(math.degrees(math.atan(265 / 600)))
    assert y[1] == pytest.approx(math.degrees(math.atan(150 / 600)))


def test_the_small_angle_shortcut_is_not_used() -> None:
    wide = screen(1000, 1000, 1000, 1000, 500)
    x, _ = wide.convert(1000, 500, "deg")
    assert float(x) == pytest.approx(45)
    assert abs(float(x) - math.degrees(1.0)) > 10


@given(sizes, sizes, sizes, fractions, fractions)
def test_a_conversion_and_back_changes_nothing(
    width: float, height: float, distance: float, fx: float, fy: float
) -> None:
    plane = screen(1920, 1080, width, height, distance)
    px, py = fx * 1920, fy * 1080
    x, y = plane.convert(px, py, "deg")
    back_x, back_y = plane.in_unit("deg").convert(x, y, "px")
    # near 90 degrees the tangent magnifies the last bit of the angle
    tolerance = 1e-9 * (1 + (max(width, height) * 3 / distance) ** 2)
    assert float(back_x) == pytest.approx(px, rel=tolerance, abs=tolerance * 1920)
    assert float(back_y) == pytest.approx(py, rel=tolerance, abs=tolerance * 1080)


def test_a_headset_converts_by_its_field_of_view() -> None:
    view = headset(100, 90)
    x, y = view.convert([-50, 0, 50], [-45, 0, 45], "norm")
    assert x.tolist() == y.tolist() == [0, 0.5, 1]


def test_what_is_not_known_cannot_be_converted() -> None:
    with pytest.raises(GeometryError, match="field of view"):
        screen(1920, 1080).convert(1, 1, "deg")
    with pytest.raises(GeometryError, match="pixels"):
        headset(100, 90).convert(1, 1, "px")
    with pytest.raises(GeometryError, match="field of view"):
        headset().convert(1, 1, "norm")


def test_beyond_a_right_angle_no_point_of_the_screen_is_seen() -> None:
    x, _ = DESK.in_unit("deg").convert([89.0, 90.0, -120.0], [0, 0, 0], "px")
    assert np.isfinite(x).tolist() == [True, False, False]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("width_px", 0),
        ("height_px", -1),
        ("distance_mm", math.nan),
        ("width_mm", math.inf),
        ("height_mm", 0),
        ("distance_mm", "far"),
    ],
)
def test_a_screen_that_cannot_exist_is_refused_by_the_field_that_is_wrong(field: str, value: object) -> None:
    sizes = {"width_px": 1920, "height_px": 1080, "width_mm": 530, "height_mm": 300, "distance_mm": 600}
    with pytest.raises(GeometryError, match=field):
        Geometry("px", **{**sizes, field: value})  # type: ignore[arg-type]


def test_a_width_without_a_height_is_refused() -> None:
    with pytest.raises(GeometryError, match="go together"):
        screen(1920, 1080, width_mm=530)


def test_pixels_need_a_resolution_and_units_have_names() -> None:
    with pytest.raises(GeometryError, match="resolution"):
        Geometry("px")  # type: ignore[arg-type]
    with pytest.raises(GazeveilError, match="px, deg or norm"):
        Geometry("inch")  # type: ignore[arg-type]
    with pytest.raises(GeometryError, match="360"):
        headset(400, 90)


@pytest.mark.parametrize("plane", [DESK, headset(), headset(100, 90), normalised(), normalised(1920, 1080)])
def test_plain_values_round_trip(plane: Geometry) -> None:
    assert Geometry.from_dict(plane.to_dict()) == plane


def test_unknown_fields_are_refused() -> None:
    with pytest.raises(GeometryError, match="depth"):
        Geometry.from_dict({"unit": "px", "depth": 3})
    with pytest.raises(GeometryError, match="unit"):
        Geometry.from_dict({"width_px": 3, "height_px": 3})


def test_the_extent_is_in_the_planes_own_unit() -> None:
    assert DESK.extent() == (0, 0, 1920, 1080)
    left, top, right, bottom = DESK.in_unit("deg").extent()
    assert left == -right == pytest.approx(-math.degrees(math.atan(265 / 600)))
    assert top == -bottom < 0
    assert normalised().extent() == (0, 0, 1, 1)
