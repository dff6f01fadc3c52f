# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The cells that gaze is counted in."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gazeveil import headset, normalised, screen
from gazeveil.aggregate.grid import MOST_CELLS, OFF_GRID, Grid
from gazeveil.errors import GeometryError, OptionError
from gazeveil.geometry import Geometry

DESK = screen(400, 300, 200, 150, 600)


def cell(grid: Grid, x: float, y: float) -> int:
    return int(grid.cells(np.array([x]), np.array([y]))[0])


def test_cells_are_counted_row_by_row_from_the_top_left() -> None:
    grid = Grid(4, 3, DESK)
    assert grid.size == 12
    assert grid.shape == (3, 4)
    assert [cell(grid, x, 50) for x in (50, 150, 250, 350)] == [0, 1, 2, 3]
    assert [cell(grid, 50, y) for y in (50, 150, 250)] == [0, 4, 8]


def test_the_edges_of_the_plane_belong_to_it() -> None:
    grid = Grid(4, 3, DESK)
    assert cell(grid, 0, 0) == 0
    assert cell(grid, 100, 100) == 5
    assert cell(grid, 400, 300) == 11


@pytest.mark.parametrize(
    ("x", "y"), [(-1e-9, 5), (400.001, 5), (5, -1), (5, 301), (np.nan, 5), (5, np.nan), (np.inf, 5), (5, -np.inf)]
)
def test_what_is_off_the_plane_or_missing_has_no_cell(x: float, y: float) -> None:
    assert cell(Grid(4, 3, DESK), x, y) == OFF_GRID


@given(
    columns=st.integers(1, 40),
    rows=st.integers(1, 40),
    across=st.floats(0, 1),
    down=st.floats(0, 1),
    plane=st.sampled_from([DESK, DESK.in_unit("deg"), DESK.in_unit("norm"), normalised(), headset(100, 90)]),
)
@settings(max_examples=150, deadline=None)
def test_every_point_of_the_plane_lies_in_the_cell_that_covers_it(
    columns: int, rows: int, across: float, down: float, plane: Geometry
) -> None:
    left, top, right, bottom = plane.extent()
    x, y = min(left + across * (right - left), right), min(top + down * (bottom - top), bottom)
    found = cell(Grid(columns, rows, plane), x, y)
    row, column = divmod(found, columns)
    assert 0 <= found < columns * rows
    assert abs((x - left) / (right - left) * columns - (column + 0.5)) <= 0.5 + 1e-9
    assert abs((y - top) / (bottom - top) * rows - (row + 0.5)) <= 0.5 + 1e-9


def test_a_grid_of_pixels_has_a_cell_per_pixel() -> None:
    grid = Grid.of_pixels(screen(1680, 1050))
    assert grid.shape == (1050, 1680)
    assert cell(grid, 1679.5, 1049.5) == grid.size - 1
    assert cell(grid, 17.9, 3.2) == 3 * 1680 + 17


def test_a_grid_of_degrees_has_cells_of_about_that_size() -> None:
    left, top, right, bottom = DESK.in_unit("deg").extent()
    grid = Grid.of_degrees(DESK, 2.0)
    assert grid.columns == pytest.approx((right - left) / 2, abs=0.5)
    assert grid.rows == pytest.approx((bottom - top) / 2, abs=0.5)
    assert Grid.of_degrees(DESK, 1000.0).shape == (1, 1)


@pytest.mark.parametrize("count", [0, -1, 1.5, True, "3", None])
def test_a_grid_needs_whole_numbers_of_cells(count: Any) -> None:
    with pytest.raises(OptionError, match="columns"):
        Grid(count, 3, DESK)
    with pytest.raises(OptionError, match="rows"):
        Grid(3, count, DESK)


@pytest.mark.parametrize("size", [0.0, -1.0, np.nan, np.inf])
def test_a_cell_needs_a_size(size: float) -> None:
    with pytest.raises(OptionError, match="degrees"):
        Grid.of_degrees(DESK, size)


def test_a_grid_too_large_to_hold_is_refused() -> None:
    with pytest.raises(OptionError, match="at most"):
        Grid(MOST_CELLS, 2, DESK)


def test_a_plane_without_the_sizes_a_grid_needs_is_refused() -> None:
    with pytest.raises(GeometryError):
        Grid.of_pixels(normalised())
    with pytest.raises(GeometryError):
        Grid.of_degrees(normalised())


def test_a_grid_is_plain_values() -> None:
    grid = Grid(4, 3, DESK)
    told = grid.to_dict()
    assert Grid(told["columns"], told["rows"], Geometry.from_dict(told["geometry"])) == grid
