# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import dataclasses
import json
import math
from fractions import Fraction
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from gazeveil.aggregate.engine import Kernel, Summed
from gazeveil.aggregate.grid import Grid
from gazeveil.aggregate.liu import GaussianAsPublished, GaussianMap, LaplaceAsPublished, LaplaceMap, NoisyMap
from gazeveil.aggregate.liu.noisy import euclidean_sensitivity
from gazeveil.errors import BudgetExceeded, OptionError, PrivacyError
from gazeveil.gaze.corpus import Corpus
from gazeveil.gaze.geometry import screen
from gazeveil.gaze.mapping import OneByOne
from gazeveil.gaze.recording import Recording
from gazeveil.noise import NoiseSource
from gazeveil.privacy.calibrate import gaussian_delta
from gazeveil.privacy.guarantee import ApproxDP, PureDP, Unproven
from gazeveil.privacy.ledger import Ledger

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


# --- releases --------------------------------------------------------------------------------------------------------


PLANE = screen(60, 40, 60, 40, 600)
GRID = Grid(3, 2, PLANE)


def person(name: str, *cells: int, times: int = 1, stimulus: str = "page") -> Recording:
    """Return somebody who looks at cells of the grid, one after the other, each so many samples long."""
    where = np.repeat(np.array(cells, dtype=np.int64), times)
    x, y = (np.asarray(place * 20.0 + 10, dtype=np.float64) for place in (where % 3, where // 3))
    return Recording(np.arange(len(where)) / 60, x, y, PLANE, name, stimulus)


def people(count: int = 40) -> Corpus:
    return Corpus.of([person(f"p{i}", i % 6, (2 * i) % 6) for i in range(count)])


@pytest.mark.parametrize("kind", ALL)
def test_a_release_with_secure_noise_keeps_the_promise_said_before(kind: type[NoisyMap]) -> None:
    mechanism = kind(40, 6, 1, grid=GRID)
    released = mechanism.release(people(), "page")
    assert released.guarantee == mechanism.guarantee
    assert released.value.shape == (2, 3)
    assert released.recipe_values()["mechanism"] == mechanism.name
    json.dumps([released.recipe_values(), dict(released.provenance)])


@pytest.mark.parametrize("kind", ALL)
def test_a_release_from_a_seed_promises_nothing(kind: type[NoisyMap]) -> None:
    first, second = (kind(40, 6, 1, grid=GRID).release(people(), noise=NoiseSource.seeded(5)) for _ in range(2))
    assert isinstance(first.guarantee, Unproven)
    assert np.array_equal(first.value, second.value)


@pytest.mark.parametrize("kind", ALL)
@pytest.mark.parametrize("samples", [None, 3])
def test_one_person_moves_the_sum_by_no_more_than_the_noise_is_made_for(
    kind: type[NoisyMap], samples: int | None
) -> None:
    """With one seed the noise is the same on both sides, so what is left is what the person did, to the last bit."""
    mechanism = kind(30, 6, 1, cap=1, samples=samples, grid=GRID)
    others = [person(f"p{i}", i % 6) for i in range(29)]
    glances, stares = person("last", 5), person("last", 0, times=29)  # 29 samples in one cell, where one may count
    one, other = (
        mechanism.release(Corpus.of([*others, last]), noise=NoiseSource.seeded(3)).value for last in (glances, stares)
    )
    assert np.round((other - one) * 30, 6).tolist() == [[1, 0, 0], [0, 0, -1]]


def test_only_the_first_samples_count_where_they_are_bounded() -> None:
    mechanism = LaplaceMap(2, 6, 1, cap=9, samples=3, grid=GRID)
    long, short = person("p", 0, 1, 2, 3, 4, 5), person("p", 0, 1, 2)
    one, other = (mechanism.release(Corpus.of([who]), noise=NoiseSource.seeded(3)).value for who in (long, short))
    assert np.array_equal(one, other)


@pytest.mark.parametrize("kind", ALL)
def test_the_noise_has_the_law_that_is_said(kind: type[NoisyMap]) -> None:
    """Kolmogorov-Smirnov at a false-alarm rate of 1 in 10,000, for each of four kinds."""
    grid = Grid(200, 100, PLANE)
    mechanism = kind(100, grid.size, 2, grid=grid)
    nobody = Corpus.of([person("p")])
    noise = mechanism.release(nobody, noise=NoiseSource.seeded(11)).value.ravel()
    law = (
        stats.norm(scale=mechanism.noise_sd)
        if isinstance(mechanism, GaussianMap)
        else stats.laplace(scale=mechanism.noise_sd / math.sqrt(2))
    )
    assert stats.kstest(noise, law.cdf).pvalue > 1e-4


class Unread:
    """A corpus that nobody may look at, and an engine that nobody may ask."""

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(f"{name} was read before the charge")


def test_a_refused_release_reads_nothing(tmp_path: Path) -> None:
    mechanism, unread = LaplaceMap(40, 6, 1, grid=GRID), cast("Any", Unread())
    with Ledger.open(tmp_path / "ledger.sqlite", create=True) as ledger:
        ledger.grant("study", PureDP(1))
        released = mechanism.release(people(), "page", ledger=ledger, dataset="study")
        assert released.receipt is not None
        with pytest.raises(BudgetExceeded):
            mechanism.release(unread, "page", ledger=ledger, dataset="study", engine=unread)


def test_the_engine_that_is_given_sums_the_mechanisms_own_kernel() -> None:
    class Asked(OneByOne):
        def sum_over_observers(self, corpus: Corpus, kernel: Kernel, tell: Any = None) -> Summed:
            assert kernel == mechanism.kernel()
            return Summed(np.full(6, 10**12), 10**9)  # more than so few people can have: cut off, not wrapped around

    mechanism = GaussianMap(40, 6, 1, cap=2, samples=7, grid=GRID)
    released = mechanism.release(people(), engine=Asked(), noise=NoiseSource.seeded(1))
    assert np.abs(released.value - 2).max() < 10 * mechanism.noise_sd


def test_laplace_is_pure_and_gaussian_is_not() -> None:
    assert LaplaceMap(30, 16, "0.5").guarantee == LaplaceAsPublished(30, 16, "0.5").guarantee == PureDP("0.5")
    assert GaussianMap(30, 16, "0.5", "1e-6").guarantee == ApproxDP("0.5", "1e-6")


def test_mechanisms_are_values() -> None:
    assert GaussianMap(30, 16, 0.5, 1e-6) == GaussianMap(30, 16, Fraction(1, 2), 1e-6)
    assert len({LaplaceMap(30, 16, 1), LaplaceMap(30, 16, 1.0)}) == 1
    with pytest.raises(dataclasses.FrozenInstanceError):
        GaussianMap(30, 16, 1).cap = 2  # type: ignore[misc]


# --- refusals --------------------------------------------------------------------------------------------------------


def test_there_is_no_way_to_hand_in_a_sum() -> None:
    with pytest.raises(AttributeError):
        GaussianMap(30, 6, 1, grid=GRID).release(Summed(np.zeros(6, dtype=np.int64), 30))  # type: ignore[arg-type]
    assert not hasattr(GaussianMap, "measure")


def test_a_release_needs_the_cells_themselves() -> None:
    with pytest.raises(OptionError, match="grid"):
        GaussianMap(30, 6, 1).release(people())
    with pytest.raises(OptionError, match="6 cells, not 7"):
        GaussianMap(30, 7, 1, grid=GRID)


def test_who_did_not_look_is_not_told_from_who_did() -> None:
    # an engine counts who has rows; people without any must not turn a release into an error
    for corpus in (people(29), Corpus.of([]), people(29).select(stimulus="another")):
        release = GaussianMap(30, 6, 1, grid=GRID).release(corpus)
        assert release.provenance["observers"] == 30


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
