# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""One observer's gaze as integers: what is counted, and that bounds hold in integers."""

from __future__ import annotations

import math
import pickle
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from gazeveil import screen
from gazeveil.aggregate import map_kernels, maps
from gazeveil.aggregate.engine import Columns, Kernel, ManyKernel, add_exactly, add_up
from gazeveil.aggregate.grid import Grid
from gazeveil.aggregate.maps import (
    LARGEST_BOUND,
    CountMap,
    NormalisedMap,
    add_features,
    add_products,
    counts,
    dwell,
    to_bounded_integers,
)
from gazeveil.errors import InternalError, OptionError

DESK = screen(40, 30, 200, 150, 600)
GRID = Grid(4, 3, DESK)

points = st.lists(
    st.tuples(
        st.floats(-5, 45) | st.sampled_from([0.0, 10.0, 20.0, 40.0, np.nan]),
        st.floats(-5, 35) | st.sampled_from([0.0, 10.0, 30.0]),
        st.booleans(),
    ),
    max_size=40,
)
people = st.lists(points, max_size=6)
bounds = st.integers(1, LARGEST_BOUND) | st.sampled_from([1, 2, 5, LARGEST_BOUND])
vectors = arrays(
    np.float64, st.integers(1, 30), elements=st.floats(-1e300, 1e300) | st.floats(0, 1) | st.sampled_from([3.0, 4.0])
)


def columns_of(samples: list[tuple[float, float, bool]]) -> Columns:
    table = np.array([(x, y) for x, y, _ in samples], dtype=np.float64).reshape(-1, 2)
    return {"x": table[:, 0], "y": table[:, 1], "valid": np.array([ok for _, _, ok in samples], dtype=np.bool_)}


def naive_counts(samples: list[tuple[float, float, bool]]) -> Counter[int]:
    found: Counter[int] = Counter()
    for x, y, ok in samples:
        if ok and 0 <= x <= 40 and 0 <= y <= 30:
            found[min(int(y * 0.1), 2) * 4 + min(int(x * 0.1), 3)] += 1
    return found


def length_squared(integers: Any) -> int:
    return sum(int(value) ** 2 for value in integers)


@given(samples=points, cap=st.none() | st.integers(1, 4))
@settings(max_examples=150, deadline=None)
def test_counts_are_those_of_a_dictionary(samples: list[tuple[float, float, bool]], cap: int | None) -> None:
    naive = naive_counts(samples)
    expected = [naive[cell] if cap is None else min(naive[cell], cap) for cell in range(GRID.size)]
    assert CountMap(GRID, cap)(columns_of(samples)).tolist() == expected


@given(
    study=people,
    kernel=st.builds(CountMap, st.just(GRID), st.none() | st.integers(1, 4) | st.just(LARGEST_BOUND))
    | st.builds(NormalisedMap, st.just(GRID), bounds),
)
@settings(max_examples=200, deadline=None)
def test_many_observers_at_once_give_the_same_integers_as_one_by_one(
    study: list[list[tuple[float, float, bool]]], kernel: CountMap | NormalisedMap
) -> None:
    one_by_one = sum((kernel(columns_of(samples)) for samples in study), np.zeros(GRID.size, dtype=np.int64))
    at_once = np.zeros(GRID.size, dtype=np.int64)
    starts = np.cumsum([0, *map(len, study)])
    add_up(kernel, columns_of([sample for samples in study for sample in samples]), starts, at_once)
    assert at_once.tolist() == one_by_one.tolist()


@pytest.mark.parametrize("cap", [1, 3, None])
def test_the_fast_way_takes_the_same_cells_on_a_fine_grid_in_degrees(cap: int | None) -> None:
    plane = screen(1680, 1050, 474, 296, 570).in_unit("deg")
    rng = np.random.default_rng(5)
    rows = {
        "x": np.round(rng.normal(0, 15, 40_000), 1),
        "y": np.round(rng.normal(0, 10, 40_000), 1),
        "valid": rng.random(40_000) < 0.9,
    }
    starts = np.array([0, 7, 7, 20_000, 40_000])
    for grid in (Grid(97, 61, plane), Grid(1680, 1050, plane)):
        kernel, found = CountMap(grid, cap), np.zeros(grid.size, dtype=np.int64)
        kernel.add_many(rows, starts, found)
        slices = [slice(0, 7), slice(7, 20_000), slice(20_000, 40_000)]
        expected = sum(kernel({name: column[part] for name, column in rows.items()}) for part in slices)
        np.testing.assert_array_equal(found, expected)


def test_counts_too_large_for_the_small_tally_are_still_right() -> None:
    samples = [(5.0, 5.0, True)] * 50_000
    found = np.zeros(GRID.size, dtype=np.int64)
    CountMap(GRID, LARGEST_BOUND).add_many(columns_of(samples), np.arange(0, 50_001), found)
    assert found.tolist() == [50_000] + [0] * 11


def test_long_recordings_are_counted_in_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(2)
    rows = {"x": rng.uniform(-5, 45, 1000), "y": rng.uniform(-5, 35, 1000), "valid": rng.random(1000) < 0.5}
    whole = counts(GRID, rows)
    monkeypatch.setattr(maps, "_CHUNK", 7)
    assert counts(GRID, rows).tolist() == whole.tolist()
    assert 0 < whole.sum() < 1000


@given(samples=points)
@settings(max_examples=100, deadline=None)
def test_dwell_has_mass_one_or_none(samples: list[tuple[float, float, bool]]) -> None:
    found = dwell(GRID, columns_of(samples))
    naive = naive_counts(samples)
    assert found.min() >= 0
    assert found.sum() == pytest.approx(1.0 if naive else 0.0)
    assert found.tolist() == [naive[cell] / (naive.total() or 1) for cell in range(GRID.size)]


@given(vector=vectors, bound=bounds, only_clip=st.booleans())
@settings(max_examples=400, deadline=None)
def test_the_bound_holds_in_integers_and_signs_are_kept(vector: Any, bound: int, only_clip: bool) -> None:
    found = to_bounded_integers(vector, bound, only_clip=only_clip)
    assert found.dtype == np.int64
    assert length_squared(found) <= bound**2
    assert np.all(found[vector >= 0] >= 0)
    assert np.all(found[vector <= 0] <= 0)


@given(vector=vectors, bound=st.integers(1000, LARGEST_BOUND))
@settings(max_examples=200, deadline=None)
def test_scaling_loses_no_more_than_rounding_toward_zero_does(vector: Any, bound: int) -> None:
    found = to_bounded_integers(vector, bound)
    if not vector.any():
        assert not found.any()
        return
    scaled = vector / np.abs(vector).max()
    scaled *= bound / np.sqrt((scaled**2).sum())
    assert np.all(np.abs(found) <= np.abs(scaled) * (1 + 1e-12) + 1e-9)
    assert np.all(np.abs(found - scaled) <= 2)


@given(vector=arrays(np.float64, st.integers(1, 20), elements=st.floats(-40, 40)))
@settings(max_examples=100, deadline=None)
def test_clipping_leaves_short_vectors_alone(vector: Any) -> None:
    found = to_bounded_integers(vector, 1000, only_clip=True)
    assert np.all(np.abs(found - vector) < 1 + 1e-9)
    assert np.all(np.abs(found) <= np.abs(vector) + 1e-9)


def test_clipping_shortens_long_vectors() -> None:
    right, left = to_bounded_integers(np.array([300.0, -400.0]), 50, only_clip=True).tolist()
    assert right in {29, 30}
    assert left in {-39, -40}
    assert to_bounded_integers(np.array([0.0, 1e9]), 50, only_clip=True).tolist() == [0, 50]


def test_a_proposal_one_step_too_long_is_shortened() -> None:
    # what a scale that is wrong in its last bit could propose
    assert length_squared(maps._shorten(np.array([3, 5], dtype=np.int64), 5)) <= 25
    assert maps._shorten(np.array([-6, 0], dtype=np.int64), 5).tolist() == [-5, 0]
    assert maps._shorten(np.array([3, 4], dtype=np.int64), 5).tolist() == [3, 4]


@given(
    proposed=arrays(np.int64, st.integers(2, 9), elements=st.integers(0, 50)),
    bound=st.integers(1, 50),
    shuffler=st.randoms(use_true_random=False),
)
@settings(max_examples=60, deadline=None)
def test_the_compiled_way_shortens_in_the_same_steps(proposed: Any, bound: int, shuffler: Any) -> None:
    from gazeveil.aggregate import map_kernels

    found, order = proposed.copy(), np.flatnonzero(proposed)
    shuffler.shuffle(order)
    if len(order):
        map_kernels.shorten(found, order, bound**2 - length_squared(proposed))
    assert found.tolist() == maps._shorten(proposed.copy(), bound).tolist()
    assert length_squared(found) <= bound**2


def test_squares_that_do_not_fit_into_64_bits_are_added_exactly() -> None:
    large = np.full(9, LARGEST_BOUND, dtype=np.int64)
    assert maps.sum_of_squares(large) == 9 * LARGEST_BOUND**2 > 2**63
    assert length_squared(maps._shorten(np.array([LARGEST_BOUND, 3, 0], dtype=np.int64), LARGEST_BOUND)) <= (
        LARGEST_BOUND**2
    )


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_what_is_no_number_is_not_made_one(bad: float) -> None:
    with pytest.raises(InternalError, match="finite"):
        to_bounded_integers(np.array([1.0, bad]), 10)


@given(samples=points, bound=bounds)
@settings(max_examples=100, deadline=None)
def test_a_normalised_map_keeps_its_bound_and_is_never_negative(
    samples: list[tuple[float, float, bool]], bound: int
) -> None:
    found = NormalisedMap(GRID, bound)(columns_of(samples))
    assert length_squared(found) <= bound**2
    assert found.min() >= 0
    # the largest integers that are not above the exact ones, or a step below where the exact one is whole
    naive = naive_counts(samples)
    squares = sum(count**2 for count in naive.values())
    for cell in range(GRID.size):
        exact = math.isqrt(naive[cell] ** 2 * bound**2 // (squares or 1))
        assert exact - 1 <= found[cell] <= exact + 1
    assert np.abs(found - to_bounded_integers(dwell(GRID, columns_of(samples)), bound)).max() <= 2
    if not naive_counts(samples):
        assert not found.any()
    elif bound > 1000:
        assert length_squared(found) > (bound - 12) ** 2


@given(samples=points.filter(bool), times=st.integers(2, 5))
@settings(max_examples=50, deadline=None)
def test_looking_longer_in_the_same_way_does_not_weigh_more(
    samples: list[tuple[float, float, bool]], times: int
) -> None:
    kernel = NormalisedMap(GRID)
    once, often = kernel(columns_of(samples)), kernel(columns_of(samples * times))
    assert np.abs(once - often).max() <= 1


@given(one=points, other=points)
@settings(max_examples=100, deadline=None)
def test_two_observers_differ_by_at_most_root_two_times_the_bound(
    one: list[tuple[float, float, bool]], other: list[tuple[float, float, bool]]
) -> None:
    kernel = NormalisedMap(GRID, 1000)
    assert length_squared(kernel(columns_of(one)) - kernel(columns_of(other))) <= 2 * 1000**2


@pytest.mark.parametrize("kernel", [CountMap(GRID), CountMap(GRID, 3), NormalisedMap(GRID, 9)])
def test_kernels_travel_to_other_processes(kernel: Kernel) -> None:
    back = pickle.loads(pickle.dumps(kernel))
    rows = columns_of([(5.0, 5.0, True), (15.0, 5.0, True)])
    assert back == kernel
    assert back.size == 12
    assert back(rows).tolist() == kernel(rows).tolist()
    assert isinstance(kernel, ManyKernel)


@pytest.mark.parametrize("number", [0, -1, 1.5, True, LARGEST_BOUND + 1, "3"])
def test_caps_and_bounds_are_whole_numbers_in_range(number: Any) -> None:
    with pytest.raises(OptionError, match="cap"):
        CountMap(GRID, number)
    with pytest.raises(OptionError, match="bound"):
        NormalisedMap(GRID, number)
    with pytest.raises(OptionError, match="bound"):
        to_bounded_integers(np.ones(3), number)


def test_a_sum_that_needs_more_than_64_bits_is_an_error() -> None:
    total = np.array([2**62, -(2**62)], dtype=np.int64)
    add_exactly(total, np.array([2**62 - 1, 1], dtype=np.int64))
    assert total.tolist() == [2**63 - 1, -(2**62) + 1]
    with pytest.raises(InternalError, match="64 bits"):
        add_exactly(total, np.array([1, 0], dtype=np.int64))
    assert total[0] == 2**63 - 1


ACROSS = np.exp(-0.5 * (np.arange(4)[:, None] - np.linspace(0, 3, 5)) ** 2)
DOWN = np.exp(-0.5 * (np.arange(3)[:, None] - np.linspace(0, 2, 4)) ** 2)


@given(study=people, bound=bounds)
@settings(max_examples=100, deadline=None)
def test_products_of_features_are_seen_as_one_by_one_and_cell_by_cell(
    study: list[list[tuple[float, float, bool]]], bound: int
) -> None:
    dense = np.kron(DOWN, ACROSS)
    found = np.zeros(20, dtype=np.int64)
    rows, starts = columns_of([sample for samples in study for sample in samples]), np.cumsum([0, *map(len, study)])
    add_products(GRID, ACROSS, DOWN, bound, rows, starts, found)
    one_by_one = [to_bounded_integers(dwell(GRID, columns_of(samples)) @ dense, bound) for samples in study]
    far = np.abs(found - sum(one_by_one, np.zeros(20, dtype=np.int64)))
    assert far.max() <= 2 * len(study)  # the last bit of floating point may round each number the other way
    alone = [np.zeros(20, dtype=np.int64) for _ in study]
    for samples, mine in zip(study, alone, strict=True):
        add_products(GRID, ACROSS, DOWN, bound, columns_of(samples), np.array([0, len(samples)]), mine)
        assert length_squared(mine) <= bound**2
        assert mine.min() >= 0
    assert np.array_equal(found, sum(alone, np.zeros(20, dtype=np.int64)))


@given(study=people, bound=st.integers(1, 1 << 20), scale=st.floats(1e-3, 1e9))
@settings(max_examples=100, deadline=None)
def test_features_are_clipped_to_a_ball_around_their_origin(
    study: list[list[tuple[float, float, bool]]], bound: int, scale: float
) -> None:
    features = scale * np.random.default_rng(5).normal(size=(GRID.size, 7))
    origin = features.mean(axis=0)
    found = np.zeros(7, dtype=np.int64)
    rows, starts = columns_of([sample for samples in study for sample in samples]), np.cumsum([0, *map(len, study)])
    add_features(GRID, features, origin, bound, rows, starts, found)
    expected = np.zeros(7, dtype=np.int64)
    for samples in study:
        map_ = dwell(GRID, columns_of(samples))
        if map_.any():
            expected += to_bounded_integers(map_ @ features - origin, bound, only_clip=True)
    assert np.abs(found - expected).max() <= 2 * len(study)
    for samples in study:
        mine = np.zeros(7, dtype=np.int64)
        add_features(GRID, features, origin, bound, columns_of(samples), np.array([0, len(samples)]), mine)
        assert length_squared(mine) <= bound**2
        found -= mine
    assert not found.any()


def test_the_order_of_rows_does_not_change_what_features_see() -> None:
    rng = np.random.default_rng(2)
    rows = {"x": rng.uniform(0, 40, 500), "y": rng.uniform(0, 30, 500), "valid": np.ones(500, dtype=np.bool_)}
    order = rng.permutation(500)
    sums = [np.zeros(20, dtype=np.int64) for _ in range(2)]
    for chosen, found in zip((rows, {name: column[order] for name, column in rows.items()}), sums, strict=True):
        add_products(GRID, ACROSS, DOWN, 1 << 20, chosen, np.array([0, 500]), found)
    assert sums[0].any()
    assert np.array_equal(sums[0], sums[1])


@pytest.mark.parametrize("bad", [np.nan, np.inf, 1e200])
def test_features_that_are_no_finite_numbers_are_an_error(bad: float) -> None:
    rows, starts = columns_of([(5.0, 5.0, True)]), np.array([0, 1])
    total = np.zeros(20, dtype=np.int64)
    with pytest.raises(InternalError, match="finite"):
        add_features(GRID, np.full((GRID.size, 20), bad), np.zeros(20), 10, rows, starts, total)
    with pytest.raises(InternalError, match="finite"):
        add_products(GRID, np.full((4, 5), bad), DOWN, 10, rows, starts, total)
    assert not total.any()


def test_samples_beyond_what_64_bits_hold_are_cut_not_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(map_kernels, "MOST_SAMPLES", 3)
    rows = columns_of([(5.0, 5.0, True)] * 3 + [(35.0, 25.0, True)] * 9)
    found, first = np.zeros(GRID.size, dtype=np.int64), NormalisedMap(GRID, 100)(columns_of([(5.0, 5.0, True)] * 3))
    map_kernels.add_normalised.py_func(*maps._gaze(rows), np.array([0, 12]), *maps._raster(GRID), 100, found)
    assert found.any()
    assert np.array_equal(found, first)
