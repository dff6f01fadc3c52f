# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What is computed here agrees with scipy, with what statsmodels 0.15 and pingouin 0.7 gave, and with definitions."""

from __future__ import annotations

import math
from itertools import product

import mpmath
import numpy as np
import pytest

from gazeveil.errors import InputError, OptionError
from gazeveil.lab.userstudy.statistics import (
    aligned,
    aligned_anova,
    as_cells,
    average_ranks,
    bayes_for_none,
    friedman,
    holm,
    interval_of_d,
    paired_difference,
    participants_for,
    power,
    signed_ranks,
    smallest_difference,
    within_anova,
)

stats = pytest.importorskip("scipy.stats")

SIZES = (8, 11, 18)
"""The numbers of participants of the two papers' studies, and of the part that met all mechanisms."""
FACTORS = ("mechanism", "strength", "control")

# eight participants x three mechanisms x three strengths x two controls
TENTHS = """
34 37 27 21 19 14 34 47 25 24 29 27 35 24 29 37 10 19 8 14 5 21 5 20 29 25 -2 18 17 18 12 22 13 15
28 9 52 61 43 47 44 43 40 53 62 33 51 44 46 73 56 37 43 48 37 45 34 41 43 22 40 34 36 23 23 26 47
50 21 27 35 9 45 49 58 53 36 36 47 65 41 43 43 38 48 39 46 41 51 46 40 47 33 47 30 36 27 44 19 16
27 21 42 63 28 30 32 35 31 31 36 34 13 22 33 23 32 20 33 25 34 27 28 9 12 27 15 45 15 40 18 35 38
21 45 47 26 24 35 27 44 27 26 19
"""
KEPT = np.array(TENTHS.split(), dtype=float).reshape(8, 3, 3, 2) / 10
STATSMODELS = {
    "mechanism": (0.04916261480281134, 0.9521899100827688),
    "strength": (12.057801737047026, 0.0009019379239100418),
    "control": (0.3976783132702752, 0.5483177923504461),
    "mechanism x strength": (0.8979674004805502, 0.4783546234720879),
    "mechanism x control": (2.575826129110447, 0.11154561878782827),
    "strength x control": (1.6198450164781357, 0.23291104218340358),
    "mechanism x strength x control": (0.2733173320712616, 0.8926847315376891),
}


def pairs(seed: int, people: int, levels: int = 0) -> tuple[np.ndarray, np.ndarray]:
    made = np.random.default_rng(seed)
    if levels:
        return made.integers(1, levels, people).astype(float), made.integers(1, levels, people).astype(float)
    first = made.normal(size=people)
    return first, first + made.normal(0.4, 1, people)


@pytest.mark.parametrize("people", SIZES)
@pytest.mark.parametrize("seed", range(5))
def test_wilcoxon_is_scipys(people: int, seed: int) -> None:
    first, second = pairs(seed, people)
    assert signed_ranks(first, second).p == pytest.approx(
        stats.wilcoxon(second, first, method="exact").pvalue, abs=1e-12
    )
    first, second = pairs(seed, people, levels=8)
    found = signed_ranks(first, second)
    theirs = stats.wilcoxon(second, first, method="approx", correction=False)
    assert abs(found.z) == pytest.approx(abs(theirs.zstatistic), abs=1e-12)


def test_with_ties_every_way_to_sign_the_ranks_counts() -> None:
    first, second = pairs(3, 8, levels=6)
    kept = (second - first)[second != first]
    ranks = average_ranks(np.abs(kept))
    sums = [
        sum(rank for rank, sign in zip(ranks, signs, strict=True) if sign)
        for signs in product((0, 1), repeat=len(ranks))
    ]
    seen = ranks[kept > 0].sum()
    below, above = np.mean([each <= seen for each in sums]), np.mean([each >= seen for each in sums])
    assert signed_ranks(first, second).p == pytest.approx(min(1.0, 2 * min(below, above)), abs=1e-12)


def test_the_interval_of_a_shift_holds_what_the_test_does_not_refuse() -> None:
    first, second = pairs(5, 11)
    found = signed_ranks(first, second)
    assert found.low < found.shift < found.high
    for shift, refused in (
        (found.low - 1e-6, True),
        (found.low + 1e-6, False),
        (found.high - 1e-6, False),
        (found.high + 1e-6, True),
    ):
        assert (signed_ranks(first + shift, second).p <= 0.05) is refused
    assert signed_ranks(first[:4], second[:4]).high == math.inf  # four pairs cannot refuse anything


def test_no_difference_at_all_is_no_difference() -> None:
    same = np.arange(5.0)
    found, difference = signed_ranks(same, same), paired_difference(same, same)
    assert (found.p, found.shift, difference.d, difference.p) == (1.0, 0.0, 0.0, 1.0)
    assert difference.for_none > 1
    assert paired_difference(same, same + 1).p == 0.0


@pytest.mark.parametrize("people", SIZES)
def test_friedman_is_scipys_with_ties_too(people: int) -> None:
    table = np.random.default_rng(people).integers(1, 8, (people, 7)).astype(float)
    found, theirs = friedman(table), stats.friedmanchisquare(*table.T)
    assert (found.chi_square, found.p) == pytest.approx((theirs.statistic, theirs.pvalue), abs=1e-9)
    assert friedman(np.tile(np.arange(4.0), (people, 1))).agreement == pytest.approx(1.0)


def test_holm_by_hand() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([]) == []


def test_three_way_analysis_is_what_statsmodels_gave() -> None:
    found = within_anova(KEPT, FACTORS)
    for name, (f, p) in STATSMODELS.items():
        assert (found[name].f, found[name].p) == pytest.approx((f, p), abs=1e-9), name
    assert found["mechanism x strength"].degrees == 4
    assert found["mechanism x strength"].error_degrees == 28  # as in the paper


def test_corrections_for_sphericity_are_what_pingouin_gave() -> None:
    found = within_anova(KEPT.mean(axis=(1, 3)), ["strength"])["strength"]
    theirs = (0.8821584079395721, 0.0015921497437707318, 0.1238232794131611, 0.6503999672411547)
    ours = found.greenhouse_geisser, found.p_corrected, found.generalised_eta_squared, found.mauchly_p
    assert ours == pytest.approx(theirs, abs=1e-9)


def test_with_few_participants_sphericity_cannot_be_judged() -> None:
    found = within_anova(KEPT[:3].reshape(3, -1)[:, :6], ["condition"])["condition"]
    assert math.isnan(found.mauchly_p)


def test_two_levels_are_a_paired_t_test() -> None:
    found = within_anova(KEPT.mean(axis=(1, 2)), ["control"])["control"]
    theirs = stats.ttest_rel(*KEPT.mean(axis=(1, 2)).T)
    assert (found.f, found.p) == pytest.approx((theirs.statistic**2, theirs.pvalue), abs=1e-9)


def test_alignment_leaves_one_effect_alone() -> None:
    for names in (("mechanism",), ("mechanism", "strength"), FACTORS):
        left = within_anova(aligned(KEPT, FACTORS, names), FACTORS)
        for effect in left.effects:
            wanted = within_anova(KEPT, FACTORS)[effect.name].squares if effect.factors == names else 0.0
            assert effect.squares == pytest.approx(wanted, abs=1e-9)


def test_aligned_ranks_do_not_mind_an_outlier() -> None:
    wild = KEPT.copy()
    wild[0, 0, 0, 0] = 1e6
    assert within_anova(wild, FACTORS)["strength"].p > 0.1
    assert aligned_anova(wild, FACTORS)["strength"].p < 0.01
    assert not within_anova(wild, FACTORS).plain_assumptions_hold


def test_under_no_effect_aligned_ranks_find_one_in_twenty() -> None:
    """With 400 studies a rate of .05 gives more than 38 with a chance below 1e-4."""
    made = np.random.default_rng(2)
    found = [aligned_anova(made.normal(size=(8, 3, 2)), ["a", "b"])["a"].p < 0.05 for _ in range(400)]
    assert 6 <= sum(found) <= 38


@pytest.mark.parametrize(("t", "people"), [(0.0, 8), (2.3, 18), (9.0, 18), (-1.1, 11)])
def test_the_bayes_factor_is_its_integral(t: float, people: int) -> None:
    degrees, scale = people - 1, mpmath.sqrt(2) / 2

    def inside(g: mpmath.mpf) -> mpmath.mpf:
        spread = 1 + people * g * scale**2
        return (
            spread**-0.5 * (1 + t**2 / (spread * degrees)) ** (-(degrees + 1) / 2)
            * (2 * mpmath.pi) ** -0.5 * g**-1.5 * mpmath.exp(-1 / (2 * g))
        )  # fmt: skip

    some = mpmath.quad(inside, [0, 0.1, 1, 10, 1000, mpmath.inf])
    none = (1 + t**2 / mpmath.mpf(degrees)) ** (-(degrees + 1) / 2)
    assert bayes_for_none(t, people) == pytest.approx(float(none / some), rel=1e-9)


def test_the_interval_of_d_covers_it() -> None:
    """Of 500 studies 95 % cover; fewer than 455 or more than 491 has a chance below 1e-4."""
    made = np.random.default_rng(4)
    covered = 0
    for _ in range(500):
        sample = made.normal(0.5, 1, 11)
        low, high = interval_of_d(sample.mean() / sample.std(ddof=1), 11)
        covered += low < 0.5 < high
    assert 455 <= covered <= 491


def test_power_is_what_statsmodels_gave() -> None:
    assert power(0.5, 18, ranks=False) == pytest.approx(0.5163649719167616, abs=1e-9)
    assert power(0.8, 8, comparisons=6, ranks=False) == pytest.approx(0.18446966162311373, abs=1e-9)
    assert participants_for(0.5, ranks=False) == 34
    assert participants_for(0.5) == 35
    assert participants_for(0.001) is None
    found = smallest_difference(18)
    assert found is not None
    assert power(found, 18) == pytest.approx(0.8, abs=1e-6)


def test_participants_are_searched_for_up_to_ten_thousand_and_no_further() -> None:
    for d in (0.031, 0.0295):
        found = participants_for(d)
        assert found is not None
        assert 8_192 < found <= 10_000
        assert power(d, found) >= 0.8 > power(d, found - 1)
    last = smallest_difference(10_000)
    assert last is not None
    assert participants_for(last) == 10_000
    assert participants_for(last * 0.999) is None


def test_where_no_exact_p_is_small_enough_nothing_is_found_however_large_it_is() -> None:
    """Seven people who all differ one way have p = 1/64; the first of six steps of Holm asks for less than 1/120."""
    assert power(50, 7, comparisons=6) == 0.0
    assert smallest_difference(7, comparisons=6) is None
    assert participants_for(50, comparisons=6) == 8
    assert participants_for(50) == 6


def test_differences_that_are_equal_share_ranks_whatever_floating_point_makes_of_them() -> None:
    hits, more = np.array([10, 11, 12, 9, 8, 7, 13, 10.0]), np.array([1, 1, -1, 1, 1, 1, 1, 2.0])
    whole, shares = signed_ranks(hits, hits + more), signed_ranks(hits / 15, (hits + more) / 15)
    assert shares.p == whole.p == 0.0625
    assert shares.low == pytest.approx(whole.low / 15, abs=1e-12)


def test_the_interval_of_a_very_large_d_is_no_narrower_than_it_is() -> None:
    low, high = interval_of_d(100.0, 18)
    assert low / 100 == pytest.approx(interval_of_d(10.0, 18)[0] / 10, rel=0.02)
    assert high / 100 == pytest.approx(interval_of_d(10.0, 18)[1] / 10, rel=0.02)


def test_only_those_who_met_everything_are_analysed_and_repeats_are_averaged() -> None:
    rows = [
        {"participant": who, "control": control, "value": value}
        for who, control, value in [("a", "dwell", 1.0), ("a", "dwell", 3.0), ("a", "key", 5.0), ("b", "key", 1.0)]
    ]
    people, cells = as_cells(rows, {"control": ["dwell", "key"]})
    assert people == ["a"]
    assert cells.tolist() == [[2.0, 5.0]]


def test_what_cannot_be_compared_is_said() -> None:
    with pytest.raises(InputError, match="pairs of numbers"):
        signed_ranks(np.ones(3), np.ones(4))
    with pytest.raises(InputError, match="lacks a number"):
        paired_difference(np.array([1.0, math.nan]), np.ones(2))
    with pytest.raises(InputError, match="3 conditions"):
        friedman(np.ones((5, 2)))
    with pytest.raises(InputError, match="one axis"):
        within_anova(KEPT, ["mechanism"])
    with pytest.raises(OptionError, match="two participants"):
        power(0.5, 1)
