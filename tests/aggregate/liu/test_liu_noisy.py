# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import dataclasses
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gazeveil.aggregate.grid import Grid
from gazeveil.aggregate.liu import GaussianMap, LaplaceMap, NoisyMap
from gazeveil.aggregate.liu.noisy_maps import euclidean_sensitivity
from gazeveil.errors import OptionError, PrivacyError
from gazeveil.geometry import screen
from gazeveil.lab.as_published.liu_maps import GaussianAsPublished, LaplaceAsPublished
from gazeveil.privacy.calibration import gaussian_delta
from gazeveil.privacy.guarantee import ApproxDP, PureDP, Unproven

ALL: list[type[NoisyMap]] = [GaussianMap, GaussianAsPublished, LaplaceMap, LaplaceAsPublished]


# --- the numbers of the errata -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("epsilon", "observers", "cells", "published", "needed"),
    [
        (1, 50_000, 1_764_000, 5.578, 4.700),
        (1, 900, 90_000, 4.702, 3.428),
        (3, 300, 90_000, 1.544, 1.172),
        (1, 30, 1024, 3.540, 2.036),
    ],
)
def test_with_many_cells_the_published_noise_is_more_than_enough_L3(
    epsilon: int, observers: int, cells: int, published: float, needed: float
) -> None:
    theirs, ours = GaussianAsPublished(observers, cells, epsilon), GaussianMap(observers, cells, epsilon)
    assert theirs.sigma / math.sqrt(cells) == pytest.approx(published, abs=6e-4)
    assert ours.sigma / math.sqrt(cells) == pytest.approx(needed, abs=6e-4)
    assert theirs.sound
    assert theirs.guarantee == ours.guarantee == ApproxDP(epsilon, ours._delta)


@pytest.mark.parametrize(("observers", "cells", "times"), [(1000, 1, 2.0), (50_000, 16, 4.3), (10**6, 64, 14)])
def test_with_few_cells_the_published_noise_is_too_small_and_promises_nothing_L3(
    observers: int, cells: int, times: float
) -> None:
    theirs = GaussianAsPublished(observers, cells, 1)
    assert theirs.true_delta / float(theirs._delta) == pytest.approx(times, rel=0.03)
    assert isinstance(theirs.guarantee, Unproven)
    assert "L3" in theirs.guarantee.reason
    ours = GaussianMap(observers, cells, 1)
    assert ours.guarantee.proven
    assert ours.sigma > theirs.sigma
    assert gaussian_delta(ours.sigma, ours.sensitivity, 1) <= ours._delta


def test_bounded_samples_need_54_times_less_noise_L4() -> None:
    whole = GaussianMap(50_000, 1050 * 1680, 1)
    bounded = GaussianMap(50_000, 1050 * 1680, 1, samples=300)
    assert float(bounded.sensitivity) == pytest.approx(24.495, abs=1e-3)
    assert float(whole.sensitivity) == pytest.approx(1328.2, abs=0.1)
    assert whole.noise_sd / bounded.noise_sd == pytest.approx(54.2, abs=0.1)


def test_the_noise_that_the_paper_quotes_is_that_of_theorem_3_4_L5() -> None:
    assert GaussianAsPublished(50_000, 1050 * 1680, 1.5).noise_sd == pytest.approx(0.09917, abs=5e-6)
    assert LaplaceAsPublished(50_000, 1050 * 1680, 1.5).noise_sd == pytest.approx(33.26, abs=5e-3)


def test_the_points_of_figure_2_come_out_L6() -> None:
    assert GaussianAsPublished(900, 300 * 300, 1).noise_sd == pytest.approx(1.567, abs=5e-4)
    assert GaussianAsPublished(300, 300 * 300, 3).noise_sd == pytest.approx(1.544, abs=5e-4)


# --- sensitivity -----------------------------------------------------------------------------------------------------


@settings(max_examples=100, deadline=None)
@given(st.integers(1, 6), st.integers(1, 5), st.integers(1, 12), st.integers(0, 2**32 - 1))
def test_no_two_observers_are_further_apart_than_the_sensitivity(cells: int, cap: int, samples: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    weights = rng.dirichlet(np.full(cells, 0.3), size=2)
    one, other = (np.minimum(rng.multinomial(rng.integers(samples + 1), w), cap) for w in weights)
    square = int(np.square(one - other).sum())
    assert square <= euclidean_sensitivity(cells, cap, samples) ** 2
    assert square <= euclidean_sensitivity(cells, cap) ** 2
    assert int(np.abs(one - other).sum()) <= LaplaceMap(2, cells, 1, cap=cap, samples=samples).sensitivity


def test_the_sensitivities_are_reached() -> None:
    full, empty = np.full(5, 3), np.zeros(5, dtype=int)
    assert float(euclidean_sensitivity(5, 3)) == pytest.approx(math.sqrt(np.square(full - empty).sum()))
    left, right = np.array([3, 3, 0, 0]), np.array([0, 0, 3, 3])
    assert float(euclidean_sensitivity(4, 3, 6)) == pytest.approx(math.sqrt(np.square(left - right).sum()))
    assert LaplaceMap(9, 4, 1, cap=3, samples=6).sensitivity == int(np.abs(left - right).sum())
    assert LaplaceAsPublished(9, 4, 1, cap=3, samples=1).sensitivity == 12
    assert float(euclidean_sensitivity(100, 50, 2)) == pytest.approx(math.sqrt(8))  # a cap above T is no more than T


# --- values ----------------------------------------------------------------------------------------------------------


def test_laplace_is_pure_and_gaussian_is_not() -> None:
    assert LaplaceMap(30, 16, "0.5").guarantee == LaplaceAsPublished(30, 16, "0.5").guarantee == PureDP("0.5")
    assert GaussianMap(30, 16, "0.5", "1e-6").guarantee == ApproxDP("0.5", "1e-6")


def test_mechanisms_are_values() -> None:
    assert GaussianMap(30, 16, 0.5, 1e-6) == GaussianMap(30, 16, Fraction(1, 2), 1e-6)
    assert len({LaplaceMap(30, 16, 1), LaplaceMap(30, 16, 1.0)}) == 1
    with pytest.raises(dataclasses.FrozenInstanceError):
        GaussianMap(30, 16, 1).cap = 2  # type: ignore[misc]


# --- refusals --------------------------------------------------------------------------------------------------------


def test_counting_needs_the_cells_themselves() -> None:
    with pytest.raises(OptionError, match="grid"):
        GaussianMap(30, 6, 1).kernel()
    with pytest.raises(OptionError, match="6 cells, not 7"):
        GaussianMap(30, 7, 1, grid=Grid(3, 2, screen(60, 40, 60, 40, 600)))


@pytest.mark.parametrize("epsilon", [0, -1, math.nan, math.inf, "much"])
def test_an_epsilon_that_is_none_is_refused(epsilon: float | str) -> None:
    for kind in ALL:
        with pytest.raises(OptionError, match="epsilon"):
            kind(30, 16, epsilon)


def test_a_delta_of_one_over_n_is_refused_and_less_is_warned_about() -> None:
    with pytest.raises(PrivacyError, match="1/n"):
        GaussianMap(30, 16, 1, Fraction(1, 30))
    assert any("L9" in words for words in GaussianMap(30, 16, 1).warnings)
    assert any("poor" in words for words in LaplaceMap(30, 16, 4).warnings)
    assert any("hardly" in words for words in LaplaceMap(30, 16, 11).warnings)
    assert GaussianMap(30, 16, 1, "1e-6").warnings == ()


@pytest.mark.parametrize("field", ["observers", "cells", "cap", "samples"])
def test_numbers_of_things_are_whole_and_positive(field: str) -> None:
    numbers: dict[str, Any] = {"observers": 30, "cells": 16, "epsilon": 1}
    for wrong in (0, -3, 2.5, True):
        with pytest.raises(OptionError, match=field):
            GaussianMap(**{**numbers, field: wrong})


def test_one_observer_cannot_hide() -> None:
    with pytest.raises(OptionError, match="one observer"):
        GaussianMap(1, 16, 1)
