# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Where gaze lives."""

from __future__ import annotations

import math

import pytest

from gazeveil import headset, normalised, screen
from gazeveil.errors import GeometryError
from gazeveil.samples import Room3D, Screen, Space, Sphere, space_of
from gazeveil.samples.space import EYE_FIELD, USUAL_FIELD, space_from_dict

SPACES: list[Space] = [
    Screen(1920, 1080),
    Screen(1920, 1080, 40.0),
    Screen(1, 1, unit="norm"),
    Sphere(),
    Sphere(100, 90),
    Room3D((-1, -2, 0), (1, 2, 5), "m"),
]


@pytest.mark.parametrize("space", SPACES, ids=str)
def test_a_space_survives_being_written_down(space: Space) -> None:
    assert space_from_dict(space.to_dict()) == space


@pytest.mark.parametrize("space", SPACES, ids=str)
def test_the_centre_is_in_the_middle_and_stays_where_it_is(space: Space) -> None:
    assert space.clamp(*space.centre) == space.centre
    assert len(space.size) == space.axes == len(space.low)
    assert all(low < centre < high for low, centre, high in zip(space.low, space.centre, space.high, strict=True))


def test_a_screen_ends_at_its_edges_and_a_sphere_comes_round() -> None:
    assert Screen(100, 50).clamp(130, -5) == (100, 0)
    assert Sphere().clamp(190, 95) == (-170, 90)
    assert Sphere().clamp(-180, -95) == (-180, -90)
    assert Sphere(100, 90).clamp(190, 95) == (50, 45)
    assert Sphere().difference((-179, 0), (179, 0)) == (2, 0)
    assert Sphere(100, 90).difference((-40, 0), (40, 0)) == (-80, 0)
    assert Room3D((0, 0, 0), (1, 1, 1)).clamp(2, 0.5, -1) == (1, 0.5, 0)


def test_a_degree_is_as_large_as_the_screen_makes_it() -> None:
    measured = space_of(screen(1000, 500, 500, 250, 600))
    assert measured.degrees(1) == pytest.approx(600 * math.pi / 180 * 2)
    assert Sphere().degrees(3) == 3
    with pytest.raises(GeometryError, match="how large a degree"):
        Screen(1000, 500).degrees(1)


def test_a_field_that_ends_is_the_heads_and_its_filter_expects_what_eyes_usually_use() -> None:
    assert Sphere(*EYE_FIELD).usual == (USUAL_FIELD, USUAL_FIELD)
    assert Sphere(40, 30).usual == (40, 30)
    assert Sphere().usual == (360, 180)
    assert Screen(1920, 1080).usual == (1920, 1080)


def test_another_field_can_be_declared_for_directions_and_for_nothing_else() -> None:
    assert space_of(headset(), (100, 80)) == Sphere(100, 80)
    assert space_of(headset(100, 90), (360, 180)).period == 360
    with pytest.raises(GeometryError, match="directions in degrees"):
        space_of(screen(1000, 500), (100, 80))


def test_spaces_come_from_geometries() -> None:
    assert space_of(screen(1000, 500)) == Screen(1000, 500)
    assert space_of(headset(100, 90)) == Sphere(100, 90)
    assert space_of(headset()) == Sphere(*EYE_FIELD)
    assert space_of(headset(360, 180)).period == 360
    assert space_of(normalised(1000, 500)) == Screen(1, 1, unit="norm")
    assert Space.of(screen(1000, 500).in_unit("px")) == Screen(1000, 500)
    measured = space_of(screen(1000, 500, 500, 250, 250).in_unit("deg"))
    assert measured.size[0] == pytest.approx(90)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: Screen(0, 10),
        lambda: Screen(math.nan, 10),
        lambda: Screen(10, 10, -1),
        lambda: Screen(10, 10, unit="deg"),
        lambda: Sphere(400),
        lambda: Sphere(100, 200),
        lambda: Room3D((0, 0, 0), (1, 1, 0)),
        lambda: Room3D((0, 0), (1, 1)),
        lambda: Room3D((0, 0, 0), (1, 1, 1), "px"),
        lambda: space_from_dict({"kind": "cave"}),
        lambda: space_from_dict({"kind": "screen", "width": 3}),
        lambda: space_from_dict({"kind": "screen", "width": 3, "height": 4, "depth": 5}),
    ],
)
def test_a_space_that_cannot_be_is_refused(wrong) -> None:
    with pytest.raises(GeometryError):
        wrong()
