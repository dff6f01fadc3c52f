# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.ndimage import gaussian_filter

from gazeveil.aggregate.grid import Edge, blur_matrix, noise_gain, render
from gazeveil.errors import OptionError

EDGES: list[Edge] = ["reflect", "zero"]
MODE = {"reflect": "reflect", "zero": "constant"}


@pytest.mark.parametrize("edge", EDGES)
@pytest.mark.parametrize("shape", [(24, 32), (300, 40), (40, 300), (301, 277)])
@pytest.mark.parametrize("blur", [0.75, 2.5, 11.0])
def test_short_and_long_sides_agree_with_a_reference(shape: tuple[int, int], blur: float, edge: Edge) -> None:
    values = np.random.default_rng(1).normal(size=shape)
    expected = gaussian_filter(values, blur, mode=MODE[edge], radius=int(np.ceil(4 * blur)))
    np.testing.assert_allclose(render(values, blur, edge), expected, atol=1e-12)


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 12), st.integers(1, 12), st.floats(0, 30), st.integers(0, 2**32 - 1))
def test_a_reflecting_edge_keeps_mass_and_sign(rows: int, columns: int, blur: float, seed: int) -> None:
    values = np.random.default_rng(seed).random((rows, columns))
    smooth = render(values, blur)
    assert smooth.min() >= 0
    assert smooth.sum() == pytest.approx(values.sum(), rel=1e-9)


def test_an_even_map_stays_even_where_the_edge_reflects_and_dims_where_it_does_not() -> None:
    even = np.ones((40, 300))
    np.testing.assert_allclose(render(even, 3.0), even)
    dim = render(even, 3.0, "zero")
    assert dim[20, 150] == pytest.approx(1)
    assert dim[0, 0] < 0.4


def test_each_axis_may_have_its_own_blur_and_none_leaves_the_map() -> None:
    point = np.zeros((9, 9))
    point[4, 4] = 1
    along = render(point, (0.0, 1.0))
    assert np.flatnonzero(along.sum(axis=1)).tolist() == [4]
    assert np.array_equal(render(point, 0.0), point)


def test_stacks_of_maps_are_rendered_one_by_one() -> None:
    stack = np.random.default_rng(2).normal(size=(3, 270, 20))
    np.testing.assert_allclose(render(stack, 1.5), [render(one, 1.5) for one in stack], atol=1e-13)


def test_the_matrix_is_the_blur_and_the_gain_is_its_effect_on_noise() -> None:
    values = np.random.default_rng(3).normal(size=(12, 17))
    down, across = blur_matrix(12, 1.1), blur_matrix(17, 1.1)
    np.testing.assert_allclose(down @ values @ across.T, render(values, 1.1), atol=1e-13)
    with pytest.raises(ValueError, match="read-only"):
        down[0, 0] = 2
    unit = np.eye(12 * 17).reshape(-1, 12, 17)
    expected = np.sqrt(np.square(render(unit, 1.1)).sum(axis=0))
    np.testing.assert_allclose(noise_gain((12, 17), 1.1), expected, rtol=1e-12)


def test_what_is_given_is_left_alone() -> None:
    values = np.ones((4, 4))
    render(values, 0.0)[0, 0] = 7
    assert values[0, 0] == 1


@pytest.mark.parametrize("blur", [-1.0, float("nan"), float("inf")])
def test_a_blur_that_cannot_be_is_refused(blur: float) -> None:
    with pytest.raises(OptionError, match="blur"):
        render(np.ones((3, 3)), blur)


def test_an_unknown_edge_or_a_flat_map_is_refused() -> None:
    with pytest.raises(OptionError, match="wrap"):
        render(np.ones((3, 3)), 1.0, "wrap")  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="rows and columns"):
        render(np.ones(3), 1.0)
