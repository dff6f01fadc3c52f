# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Lattice samples follow the law they claim, at all scales; and the tests would notice if they did not.

Every test of significance here uses the level 1e-8; there are fewer than 100 of them, so that a correct sampler with
fresh seeds fails any of them with probability below 1e-6.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from gazeveil.errors import OptionError
from gazeveil.noise import (
    NoiseSource,
    add_gaussian,
    add_laplace,
    from_lattice,
    gaussian,
    laplace,
    lattice_step,
    to_lattice,
)

LEVEL = 1e-8
SCALES = [0.1, 0.5, 1, 3.7, 50, 1000, 1e5, 1e6]
COUNT = 2_000_000

Sampler = Callable[..., NDArray[np.int64]]
LAWS = [pytest.param(gaussian, stats.norm, id="gaussian"), pytest.param(laplace, stats.laplace, id="laplace")]


def edges(law: stats.rv_continuous, scale: float, bins: int = 60) -> NDArray[np.float64]:
    """Return half-integers that cut the law into bins of about equal chance, none of them rare."""
    cuts = np.unique(np.floor(law.ppf(np.arange(1, bins) / bins) * scale) + 0.5)
    chances = np.diff(law.cdf(np.concatenate([[-np.inf], cuts, [np.inf]]) / scale))
    return np.asarray(cuts[(chances[:-1] > 1e-4) & (chances[1:] > 1e-4)])


def chi_square(samples: NDArray[np.int64], law: stats.rv_continuous, scale: float) -> float:
    cuts = edges(law, scale)
    chances = np.diff(law.cdf(np.concatenate([[-np.inf], cuts, [np.inf]]) / scale))
    counts = np.bincount(np.searchsorted(cuts, samples), minlength=len(cuts) + 1)
    return float(stats.chisquare(counts, chances * len(samples)).pvalue)


@pytest.mark.parametrize(("sampler", "law"), LAWS)
@pytest.mark.parametrize("scale", SCALES)
def test_counts_match_the_exact_probabilities(sampler: Sampler, law: stats.rv_continuous, scale: float) -> None:
    samples = sampler(NoiseSource.seeded(100), scale, COUNT)
    if len(edges(law, scale)):
        assert chi_square(samples, law, scale) > LEVEL
    else:  # Gaussian at a tenth of a step: hardly ever anything but zero
        assert stats.binomtest(int(np.count_nonzero(samples)), COUNT, 2 * law.sf(0.5 / scale)).pvalue > LEVEL


@pytest.mark.parametrize(("sampler", "law"), LAWS)
@pytest.mark.parametrize("scale", [3.7, 1000, 1e5])
def test_a_scale_that_is_one_percent_off_is_noticed(sampler: Sampler, law: stats.rv_continuous, scale: float) -> None:
    samples = sampler(NoiseSource.seeded(100), 1.01 * scale, COUNT)
    assert chi_square(samples, law, scale) < LEVEL


@pytest.mark.parametrize(("sampler", "law"), LAWS)
@pytest.mark.parametrize("scale", SCALES)
def test_mean_variance_and_skew_are_right(sampler: Sampler, law: stats.rv_continuous, scale: float) -> None:
    samples = sampler(NoiseSource.seeded(101), scale, COUNT)
    if scale < 10:
        support = np.arange(-400, 401)
        chances = law.cdf((support + 0.5) / scale) - law.cdf((support - 0.5) / scale)
        variance, fourth, sixth = (float(np.sum(chances * support**power)) for power in (2.0, 4.0, 6.0))
    else:
        variance = law.var() * scale**2 + 1 / 12
        fourth, sixth = (float(law.moment(power)) * scale**power for power in (4, 6))
    limit = stats.norm.isf(LEVEL / 2)
    assert abs(samples.mean()) < limit * np.sqrt(variance / COUNT) + 4 / COUNT
    if fourth * COUNT > 1e4:  # otherwise the normal approximation says nothing
        assert abs(np.mean(samples.astype(float) ** 2) - variance) < limit * np.sqrt((fourth - variance**2) / COUNT)
        assert abs(np.mean(samples.astype(float) ** 3)) < limit * np.sqrt(sixth / COUNT)


@pytest.mark.parametrize(("sampler", "law"), LAWS)
@pytest.mark.parametrize("scale", [1, 50, 1000, 1e5])
def test_tails_have_their_mass(sampler: Sampler, law: stats.rv_continuous, scale: float) -> None:
    magnitudes = np.abs(sampler(NoiseSource.seeded(102), scale, COUNT))
    for chance in (1e-2, 1e-3, 1e-4, 1e-5):
        beyond = np.ceil(law.isf(chance / 2) * scale)
        expected = 2 * law.sf((beyond + 0.5) / scale)
        assert stats.binomtest(int(np.sum(magnitudes > beyond)), len(magnitudes), expected).pvalue > LEVEL


@pytest.mark.parametrize(("sampler", "law"), LAWS)
@pytest.mark.parametrize("scale", [1, 50, 1e5])
def test_neighbours_are_independent(sampler: Sampler, law: stats.rv_continuous, scale: float) -> None:
    samples = sampler(NoiseSource.seeded(103), scale, COUNT)
    binned = np.searchsorted(edges(law, scale, bins=8), samples)
    for lag in (1, 2):
        table = np.zeros((binned.max() + 1, binned.max() + 1))
        np.add.at(table, (binned[:-lag], binned[lag:]), 1)
        assert stats.chi2_contingency(table).pvalue > LEVEL
    signs, magnitudes = np.sign(samples), np.abs(samples)
    assert abs(np.corrcoef(signs, magnitudes)[0, 1]) * np.sqrt(COUNT) < stats.norm.isf(LEVEL / 2)


@pytest.mark.parametrize("sampler", [gaussian, laplace])
@pytest.mark.parametrize("scale", [1, 50, 20_000])
def test_a_vector_equals_single_samples_from_an_equal_source(sampler: Sampler, scale: float) -> None:
    one_by_one = NoiseSource.seeded(104)
    singles = [int(sampler(one_by_one, scale)[0]) for _ in range(500)]
    uneven = NoiseSource.seeded(104)
    portions = np.concatenate([sampler(uneven, scale, count) for count in (1, 0, 199, 300)])
    whole = sampler(NoiseSource.seeded(104), scale, (50, 10))
    assert whole.shape == (50, 10)
    assert singles == whole.ravel().tolist() == portions.tolist()


@pytest.mark.parametrize(("sampler", "scale", "words"), [(gaussian, 50, 1), (laplace, 5000, 1), (gaussian, 20_000, 2)])
def test_every_sample_uses_the_words_it_says(sampler: Sampler, scale: float, words: int) -> None:
    source, other = NoiseSource.seeded(105), NoiseSource.seeded(105)
    sampler(source, scale, 1000)
    other.words(1000 * words)
    assert source.words(1) == other.words(1)


def test_only_the_ratio_of_scale_and_step_matters() -> None:
    fine = gaussian(NoiseSource.seeded(106), 0.75, 1000, step=1 / 64)
    assert np.array_equal(fine, gaussian(NoiseSource.seeded(106), 48, 1000))


@pytest.mark.parametrize("scale", [1e-3, 0.1, 0.5, 1, 1.999, 2, 63.9, 100, 127.9])
def test_the_suggested_step_has_64_to_128_steps_to_the_scale(scale: float) -> None:
    step = lattice_step(scale)
    assert 64 <= scale / step < 128
    assert np.frexp(step)[0] == 0.5


@pytest.mark.parametrize("scale", [128, 129.5, 1e9])
def test_the_suggested_step_of_a_large_scale_is_one(scale: float) -> None:
    assert lattice_step(scale) == 1


def test_noise_is_added_to_integers_only() -> None:
    counts = np.array([[1, 2], [3, 2**61]])
    noise = gaussian(NoiseSource.seeded(107), 10, (2, 2))
    assert np.array_equal(add_gaussian(NoiseSource.seeded(107), counts, 10), counts + noise)
    noise = laplace(NoiseSource.seeded(107), 10, (2, 2))
    assert np.array_equal(add_laplace(NoiseSource.seeded(107), counts.astype(np.uint64), 10), counts + noise)
    assert counts[0, 0] == 1
    for wrong in ([1.0, 2.0], [True], ["1"]):
        with pytest.raises(OptionError, match="integers"):
            add_gaussian(NoiseSource.seeded(1), wrong, 10)


@pytest.mark.parametrize("value", [2**62 + 1, -(2**62) - 1, np.iinfo(np.int64).min, np.iinfo(np.uint64).max])
@pytest.mark.parametrize("add", [add_gaussian, add_laplace])
def test_a_value_that_might_overflow_is_refused(value: int, add: Sampler) -> None:
    with pytest.raises(OptionError, match="overflow"):
        add(NoiseSource.seeded(1), np.array([value, 0]) if value < 2**63 else np.array([value], np.uint64), 10)


def test_nothing_in_gives_nothing_out() -> None:
    source = NoiseSource.seeded(1)
    assert gaussian(source, 10, 0).shape == (0,)
    assert add_laplace(source, np.empty((0, 3), np.int64), 10).shape == (0, 3)


def test_values_go_to_the_lattice_toward_zero() -> None:
    values = [0.9, -0.9, 1.24, -1.26, 3.0, -0.0, 1e-320]
    assert to_lattice(values, 0.25).tolist() == [3, -3, 4, -5, 12, 0, 0]
    assert from_lattice([3, -5], 0.25).tolist() == [0.75, -1.25]
    for wrong in (np.nan, np.inf, 2.0**63):
        with pytest.raises(OptionError, match="finite"):
            to_lattice([wrong])


BAD_NUMBERS = [
    0,
    -1,
    0.0,
    -0.5,
    float("nan"),
    float("inf"),
    -float("inf"),
    True,
    "1",
    None,
    1j,
    10**400,
    [1.0],
    np.array([1.0, 2.0]),
]


@pytest.mark.parametrize("bad", BAD_NUMBERS, ids=lambda bad: repr(bad)[:8])
@pytest.mark.parametrize("sampler", [gaussian, laplace])
def test_scales_and_steps_that_make_no_sense_are_refused(bad: float, sampler: Sampler) -> None:
    with pytest.raises(OptionError):
        sampler(NoiseSource.seeded(1), bad, 3)
    with pytest.raises(OptionError):
        sampler(NoiseSource.seeded(1), 1.0, 3, bad)


@pytest.mark.parametrize("step", [0.1, 3, 0.75])
def test_a_step_that_is_no_power_of_two_is_refused(step: float) -> None:
    with pytest.raises(OptionError, match="power of two"):
        gaussian(NoiseSource.seeded(1), 1.0, 3, step)


@pytest.mark.parametrize("scale", [2.0**41, 2.0**-21])
def test_a_scale_beyond_what_the_lattice_carries_is_refused(scale: float) -> None:
    with pytest.raises(OptionError, match="lattice steps"):
        laplace(NoiseSource.seeded(1), scale)


@pytest.mark.parametrize("size", [-1, 1.5, (2, -1), "3"])
def test_a_size_that_makes_no_sense_is_refused(size: int) -> None:
    with pytest.raises(OptionError, match="size"):
        gaussian(NoiseSource.seeded(1), 1.0, size)


def test_no_word_is_spent_on_a_refused_request() -> None:
    source = NoiseSource.seeded(1)
    with pytest.raises(OptionError):
        add_gaussian(source, [2**62 + 1], 10)
    with pytest.raises(OptionError):
        gaussian(source, -1)
    assert source.words(1) == NoiseSource.seeded(1).words(1)


@pytest.mark.parametrize("wrong", [[2**53 + 3], [-(2**53) - 3], [np.longdouble(1) / 3], ["1.5"], [1j], [10**400]])
def test_values_that_would_grow_when_made_doubles_are_refused(wrong: Any) -> None:
    """2**53 + 3 as a double is 2**53 + 4: beyond the bound that it may have been clipped to."""
    with pytest.raises(OptionError, match="exactly doubles"):
        to_lattice(wrong)


def test_whole_numbers_short_floats_and_nothing_are_put_on_the_lattice() -> None:
    assert to_lattice(np.array([2**53, -3])).tolist() == [2**53, -3]
    assert to_lattice(np.array([1.7, -0.3], dtype=np.float32), 0.5).tolist() == [3, 0]
    assert to_lattice([]).tolist() == []
