# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from gazeveil.aggregate.grid import Grid
from gazeveil.aggregate.liu import ObserverMaps, PrivateCap, lost_squares, optimal_cap
from gazeveil.aggregate.liu.mechanism import powers_up_to
from gazeveil.engines import engine_at
from gazeveil.errors import OptionError
from gazeveil.gaze.corpus import Corpus
from gazeveil.gaze.recording import Recording
from gazeveil.geometry import screen
from gazeveil.lab.as_published.liu_maps import GaussianAsPublished
from gazeveil.noise import NoiseSource
from gazeveil.privacy.guarantee import PureDP, Unproven

Table = NDArray[np.int64]


def tables(seed: int, rows: int, columns: int, busy: float) -> Table:
    return np.random.default_rng(seed).negative_binomial(0.5, 1 / (1 + busy), size=(rows, columns))


def dense_algorithm_1(table: Table, unit_sd: float) -> list[float]:
    """Theorem 4.1, cap by cap, over all n·r counts, as the paper has it."""
    original = table.mean(axis=0)
    errors = []
    for cap in range(1, max(int(table.max()), 1) + 1):
        bias = np.minimum(table, cap).mean(axis=0) - original
        errors.append((cap * unit_sd) ** 2 + float(np.mean(bias**2)))
    return errors


# --- algorithm 1 -----------------------------------------------------------------------------------------------------


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 8), st.integers(1, 8), st.floats(0, 20))
def test_one_pass_gives_what_every_cap_takes_away(seed: int, rows: int, columns: int, busy: float) -> None:
    table = tables(seed, rows, columns, busy)
    caps = range(1, max(int(table.max()), 1) + 1)
    expected = [int(np.square(np.maximum(table - cap, 0).sum(axis=0)).sum()) for cap in caps]
    assert lost_squares(ObserverMaps.of_table(table)).tolist() == expected


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.floats(0.001, 3))
def test_the_expected_error_of_every_cap_is_that_of_theorem_4_1(seed: int, unit_sd: float) -> None:
    table = tables(seed, 6, 10, 5.0)
    expected = dense_algorithm_1(table, unit_sd)
    choice = optimal_cap(ObserverMaps.of_table(table), unit_sd)
    np.testing.assert_allclose(choice.expected_mse, expected, rtol=1e-12)
    assert expected[choice.cap - 1] == pytest.approx(min(expected), rel=1e-12)


def test_the_expected_error_is_what_noise_really_does() -> None:
    """The mean of 400 releases; its standard error is about 0.4 %, so 2 % is five of them."""
    table = tables(5, 20, 200, 3.0)
    maps = ObserverMaps.of_table(table)
    mechanism = GaussianAsPublished(20, 200, 3, cap=2)
    source = NoiseSource.seeded(8)
    capped = maps.summed(2).total
    means = [mechanism._noisy_sum(capped, source) / mechanism.observers for _ in range(400)]
    errors = [np.mean((mean - table.mean(axis=0)) ** 2) for mean in means]
    expected = optimal_cap(maps, GaussianAsPublished(20, 200, 3).noise_sd).expected_mse[1]
    assert np.mean(errors) == pytest.approx(expected, rel=0.02)


def test_a_cap_from_raw_maps_promises_nothing_L7() -> None:
    choice = optimal_cap(ObserverMaps.of_table(np.array([[9, 0], [0, 1]])), 0.0)
    assert choice.cap == 9
    assert isinstance(choice.guarantee, Unproven)
    assert "L7" in choice.guarantee.reason
    assert optimal_cap(ObserverMaps.of_table(np.array([[9, 0], [0, 1]])), 100.0).cap == 1


def test_nobody_looking_needs_no_cap() -> None:
    empty = ObserverMaps.of_table(np.zeros((3, 4), dtype=np.int64))
    assert lost_squares(empty).tolist() == [0]
    assert optimal_cap(empty, 1.0).cap == 1


def test_large_counts_are_exact_and_too_large_ones_are_refused() -> None:
    million = 1_000_000
    one = ObserverMaps(2, 1, np.array([0, 1]), np.array([0, 0]), np.array([million, million]))
    assert lost_squares(one)[0] == (2 * million - 2) ** 2
    huge = ObserverMaps(1, 1, np.array([0]), np.array([0]), np.array([2**31]))
    with pytest.raises(OptionError, match="64 bits"):
        lost_squares(huge)


# --- the private choice ----------------------------------------------------------------------------------------------


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 5), st.integers(1, 40), st.integers(1, 4))
def test_one_observer_moves_no_score_by_more_than_the_sensitivity(
    seed: int, cells: int, samples: int, others: int
) -> None:
    rng = np.random.default_rng(seed)
    candidates = tuple(sorted(set(rng.integers(1, samples + 1, size=4).tolist())))
    choice = PrivateCap(others + 1, cells, samples, 1, 1000, "0.01", candidates)
    rows = [rng.multinomial(rng.integers(samples + 1), rng.dirichlet(np.full(cells, 0.2))) for _ in range(others)]
    extremes = [np.eye(cells, dtype=np.int64)[k % cells] * samples for k in range(2)]
    extremes.append(rng.multinomial(samples, rng.dirichlet(np.full(cells, 0.3))))
    extremes.append(np.zeros(cells, dtype=np.int64))
    scores = [choice.scores(ObserverMaps.of_table(np.vstack([*rows, last]))) for last in extremes]
    for one in scores:
        for other in scores:
            assert max(abs(a - b) for a, b in zip(one, other, strict=True)) <= choice.sensitivity


def chances(choice: PrivateCap, scores: Sequence[int]) -> list[float]:
    """The exact chance of each candidate: |rounded Laplace| ≥ k has chance exp(-(k - 1/2)/b) for k ≥ 1, and 1 below."""
    scale = 2 * choice.sensitivity / float(choice.epsilon)

    def at_least(k: NDArray[np.int64]) -> NDArray[np.float64]:
        return np.where(k >= 1, np.exp(-(np.maximum(k, 1) - 0.5) / scale), 1.0)

    best = -min(scores)
    values = np.arange(-max(scores), best + int(40 * scale) + 2)
    won = []
    for i, score in enumerate(scores):
        mass = at_least(values + score) - at_least(values + score + 1)
        beaten = [1 - at_least(values + other + (1 if j > i else 0)) for j, other in enumerate(scores) if j != i]
        won.append(float(np.sum(mass * np.prod(beaten, axis=0))))
    return won


@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_no_choice_becomes_more_than_e_to_the_epsilon_times_likelier(epsilon: float) -> None:
    choice = PrivateCap(3, 2, 40, epsilon, 1000, "0.01")
    bound, rng = choice.sensitivity, np.random.default_rng(4)
    worst = 0.0
    for _ in range(40):
        here = rng.integers(0, 3 * bound, size=len(choice.candidates))
        there = here + rng.choice([-bound, bound], size=len(here))
        pair = [chances(choice, (row - min(0, int(row.min()))).tolist()) for row in (here, there)]
        assert sum(pair[0]) == pytest.approx(1, abs=1e-9)
        worst = max(worst, float(np.max(np.abs(np.log(pair[0]) - np.log(pair[1])))))
    assert 0.5 * epsilon < worst <= epsilon + 1e-9


def test_choices_come_as_often_as_the_proof_says() -> None:
    """Chi-squared over 20,000 choices, at a false-alarm rate of 1 in 10,000."""
    choice = PrivateCap(3, 2, 12, 1, 1000, "0.01")
    scores = [20, 0, 9, 25, 30]
    assert choice.candidates == (1, 2, 4, 8, 12)
    drawn = choice.choose(scores, NoiseSource.seeded(6), 20_000)
    seen = [int(np.count_nonzero(drawn == cap)) for cap in choice.candidates]
    assert stats.chisquare(seen, np.array(chances(choice, scores)) * 20_000).pvalue > 1e-4


def test_a_large_budget_finds_the_cap_of_algorithm_1() -> None:
    table = np.minimum(tables(7, 400, 50, 8.0), 30)
    table[:, 5:] = 0
    maps = ObserverMaps.of_table(table)
    choice = PrivateCap(400, 50, 150, 10_000, candidates=tuple(range(1, 31)))
    best = optimal_cap(maps, lambda cap: choice.map_with(cap).noise_sd)
    assert 1 < best.cap < 30
    assert choice.choose(choice.scores(maps), NoiseSource.seeded(1)).tolist() == [best.cap]


def test_the_choice_has_a_price_and_says_it_before() -> None:
    choice = PrivateCap(3, 4, 8, "0.25")
    assert choice.guarantee == PureDP("0.25")
    json.dumps(choice.to_dict())


def test_one_pass_over_the_data_gives_the_scores_of_the_maps_and_the_sum_that_the_cap_leaves() -> None:
    grid, rng = Grid(3, 2, screen(60, 40, 60, 40, 600)), np.random.default_rng(8)
    cells = rng.integers(0, 6, (5, 40)) * (rng.random((5, 40)) < 0.5)
    recordings = [
        Recording(np.arange(40) / 60, row % 3 * 20.0 + 10, row // 3 * 20.0 + 10, grid.geometry, f"p{i}", "page")
        for i, row in enumerate(cells)
    ]
    choice = PrivateCap(5, 6, 30, 1, 1000, "0.01")
    maps = ObserverMaps.of_samples(np.repeat(np.arange(5), 40), cells.ravel(), observers=5, cells=6, samples=30)
    seen: list[list[int]] = []

    class Watched(PrivateCap):
        def choose(self, scores: Sequence[int], noise: NoiseSource, times: int = 1) -> NDArray[np.int64]:
            seen.append(list(scores))
            return np.array([4])

    watched = Watched(5, 6, 30, 1, 1000, "0.01")
    cap, noisy = watched.measure(grid, Corpus.of(recordings), NoiseSource.seeded(2), engine_at())
    assert seen == [choice.scores(maps)]
    assert len(set(seen[0])) > 3
    assert cap == 4
    assert np.array_equal(noisy, choice.map_with(4)._noisy_sum(maps.summed(4).total, NoiseSource.seeded(2)))


def test_a_single_candidate_costs_nothing_and_wins() -> None:
    choice = PrivateCap(3, 4, 1, 1)
    assert choice.candidates == (1,)
    assert choice.sensitivity == 0
    assert choice.choose([5], NoiseSource.seeded(1)).tolist() == [1]


def test_candidates_must_rise_within_the_samples() -> None:
    for wrong in ((2, 1), (1, 1), (0, 1), (1, 9)):
        with pytest.raises(OptionError, match="candidate"):
            PrivateCap(3, 4, 8, 1, candidates=wrong)
    assert powers_up_to(1) == (1,)
    assert powers_up_to(8) == (1, 2, 4, 8)
    assert powers_up_to(9) == (1, 2, 4, 8, 9)


def test_the_sensitivity_is_that_of_the_proof() -> None:
    assert PrivateCap(3, 400, 8, 1).sensitivity == math.ceil(math.sqrt(2 * 7 * 7))
    assert PrivateCap(3, 400, 300, 1, candidates=(1, 4)).sensitivity == math.ceil(math.sqrt(2 * 3 * 299))
    assert PrivateCap(3, 2, 300, 1, candidates=(1, 4)).sensitivity == math.ceil(3 * math.sqrt(2))
