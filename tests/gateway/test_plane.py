# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Single points convert as arrays do."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gazeveil import Geometry, headset, normalised, screen
from gazeveil.errors import GeometryError
from gazeveil.gateway.protocol import ViewingPlane
from gazeveil.geometry import Unit

PLANES = [
    screen(1920, 1080),
    screen(1920, 1080, 527, 296, 600),
    normalised(),
    normalised(1920, 1080),
    headset(100, 90),
    Geometry(Unit.DEGREE, 1920, 1080, 527, 296, 600),
]


@pytest.mark.parametrize("geometry", PLANES, ids=str)
@settings(max_examples=50, deadline=None)
@given(across=st.floats(-0.5, 1.5), down=st.floats(-0.5, 1.5))
def test_a_point_converts_as_an_array_of_one_does(geometry: Geometry, across: float, down: float) -> None:
    plane = ViewingPlane(geometry)
    x, y = geometry.in_unit(Unit.FRACTION).convert([across], [down], geometry.unit)
    assert plane.from_fraction(across, down) == pytest.approx((x[0], y[0]), abs=1e-9)
    assert plane.to_fraction(*plane.from_fraction(across, down)) == pytest.approx((across, down), abs=1e-9)


@pytest.mark.parametrize("geometry", PLANES, ids=str)
def test_a_missing_coordinate_stays_missing(geometry: Geometry) -> None:
    x, y = ViewingPlane(geometry).to_fraction(math.nan, math.nan)
    assert math.isnan(x)
    assert math.isnan(y)


def test_beyond_ninety_degrees_nothing_meets_a_screen() -> None:
    plane = ViewingPlane(Geometry(Unit.DEGREE, 1920, 1080, 527, 296, 600))
    assert all(math.isnan(value) for value in plane.to_fraction(91.0, 0.0))


def test_a_headset_of_unknown_size_has_no_fractions() -> None:
    with pytest.raises(GeometryError):
        ViewingPlane(headset()).to_fraction(1.0, 2.0)
