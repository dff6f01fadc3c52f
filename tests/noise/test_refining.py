# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Interval refining: error bounds that hold, fast and exact paths that agree, laws that survive forced refinement."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from gazeveil.errors import InternalError
from gazeveil.noise import NoiseSource, exact_rounding, gaussian, laplace
from gazeveil.noise import sampling_kernels as kernels
from gazeveil.noise.exact_rounding import LAPLACE, table
from gazeveil.noise.radial import words_per_point
from gazeveil.noise.sampling_kernels import walk

ETA = 2.0**-53
LEVEL = 1e-8
DIMENSIONS = [1, 2, 3, 4, 7]


@pytest.fixture(autouse=True)
def many_digits() -> None:
    mpmath.mp.prec = 200


def telling_words() -> list[int]:
    """Words at the edges of everything, and random ones."""
    words = {0, 1, 2, 3, 2**64 - 1, 2**64 - 2, 2**63, 2**63 - 1, 2**63 + 1}
    words |= {(2**63 | n << 56) + shift for n in range(128) for shift in (0, 1, 2**55 - 1, 2**55, 2**56 - 1)}
    words |= {(n << 57) + shift & 2**64 - 1 for n in range(128) for shift in (-1, 0, 1, 12345)}
    words |= {2**n + shift for n in range(2, 63) for shift in (-1, 0, 1)}
    source = NoiseSource.seeded(200)
    words |= {word >> n for n in range(0, 50, 7) for word in source.words(150).tolist()}
    return sorted(words)


def test_the_logarithm_stays_within_its_bound() -> None:
    worst = 0.0
    for word in telling_words():
        value, error = kernels.exponential(np.uint64(word))
        if word == 0:
            assert error == np.inf
            continue
        for end in (word, word + 1, word + 2):
            truth = -mpmath.log(mpmath.ldexp(end, -64))
            assert abs(truth - mpmath.mpf(value)) <= mpmath.mpf(error), word
        rounding = abs(-mpmath.log(mpmath.ldexp(word, -64)) - mpmath.mpf(value))
        worst = max(worst, float(rounding / (ETA * (value + 1))))
    assert 0.3 < worst < 3  # the bound says 4


def test_cosine_and_sine_stay_within_their_bound() -> None:
    worst = 0.0
    for word in telling_words():
        cosine, sine = kernels.cos_sin(np.uint64(word))
        for end in (word, word + 1):
            angle = 2 * mpmath.pi * mpmath.ldexp(end, -64)
            off = max(abs(mpmath.cos(angle) - mpmath.mpf(cosine)), abs(mpmath.sin(angle) - mpmath.mpf(sine)))
            worst = max(worst, float(off) / ETA)
    assert 0.5 < worst < 4  # the bound says 6


def gaussian_in_high_precision(words: Sequence[int], scale: float) -> mpmath.mpf:
    first, second = (mpmath.ldexp(word + mpmath.mpf(0.5), -64) for word in words)
    return mpmath.mpf(scale) * mpmath.sqrt(-2 * mpmath.log(first)) * mpmath.cos(2 * mpmath.pi * second)


def radial_in_high_precision(words: Sequence[int], scale: float, centre: Sequence[float]) -> list[mpmath.mpf]:
    """Build the sample from Gaussians, norm and radius, as the proof does."""
    dimension = len(centre)
    uniforms = [mpmath.ldexp(word + mpmath.mpf(0.5), -64) for word in words]
    gaussians: list[mpmath.mpf] = []
    for uniform, turns in zip(uniforms, uniforms[dimension:], strict=False):
        length = mpmath.sqrt(-2 * mpmath.log(uniform))
        gaussians += [length * mpmath.cos(2 * mpmath.pi * turns), length * mpmath.sin(2 * mpmath.pi * turns)]
    gaussians = gaussians[:dimension]
    norm = mpmath.sqrt(sum(value**2 for value in gaussians))
    radius = -mpmath.log(mpmath.fprod(uniforms[:dimension]))
    return [
        mpmath.mpf(x) + mpmath.mpf(scale) * radius * value / norm for x, value in zip(centre, gaussians, strict=True)
    ]


def test_gaussian_samples_agree_with_high_precision_on_the_same_bits() -> None:
    words = NoiseSource.seeded(201).words(1000)
    out = np.empty(500, np.int64)
    assert kernels.gaussian(words, 1e6, 0.0, out) == 0
    for k, sample in enumerate(out.tolist()):
        assert sample == mpmath.nint(gaussian_in_high_precision(words[2 * k : 2 * k + 2].tolist(), 1e6))


def test_the_widest_noise_often_needs_the_exact_path_and_agrees_with_high_precision() -> None:
    scale, words = 2.0**40, NoiseSource.seeded(211).words(1200)
    out = np.empty(600, np.int64)
    assert kernels.gaussian(words, scale, 0.0, out) > 2
    for k, sample in enumerate(gaussian(NoiseSource.seeded(211), scale, 600).tolist()):
        assert sample == mpmath.nint(gaussian_in_high_precision(words[2 * k : 2 * k + 2].tolist(), scale))
    out = np.empty(1200, np.int64)
    assert kernels.laplace(words, scale, 0.0, out) > 2
    for word, sample in zip(words.tolist(), laplace(NoiseSource.seeded(211), scale, 1200).tolist(), strict=True):
        magnitude = -mpmath.mpf(scale) * mpmath.log(mpmath.ldexp((word >> 1) + mpmath.mpf(0.5), -63))
        assert sample == (-1) ** (word & 1) * mpmath.nint(magnitude)


def test_a_sample_beyond_belief_is_our_own_mistake() -> None:
    with pytest.raises(InternalError):
        exact_rounding.settle([3 << 61], 64, exact_rounding.laplace_recipe(Fraction(2**60)), lambda: 0)


def centres(rows: int, dimension: int) -> NDArray[np.float64]:
    source = NoiseSource.seeded(202)
    return source.words(rows * dimension).reshape(rows, dimension) / 2.0**64 - 0.5


@pytest.mark.parametrize("dimension", DIMENSIONS)
@pytest.mark.parametrize("scale", [0.3, 100.0])
def test_radial_samples_agree_with_high_precision_on_the_same_bits(dimension: int, scale: float) -> None:
    rows, per_row = 150, words_per_point(dimension)
    words, parts = NoiseSource.seeded(203).words(rows * per_row), centres(rows, dimension)
    out = np.empty((rows, dimension), np.int64)
    assert kernels.radial(words, scale, parts, 0.0, out) == 0
    for row in range(rows):
        exact = radial_in_high_precision(words[row * per_row : (row + 1) * per_row].tolist(), scale, parts[row])
        assert out[row].tolist() == [int(mpmath.nint(value)) for value in exact]


@pytest.mark.parametrize("dimension", DIMENSIONS)
def test_fast_and_exact_paths_agree(dimension: int) -> None:
    rows, per_row, scale = 300, words_per_point(dimension), 40.0
    words, parts = NoiseSource.seeded(204).words(rows * per_row), centres(rows, dimension)
    plain, forced = np.empty((rows, dimension), np.int64), np.empty((rows, dimension), np.int64)
    assert kernels.radial(words, scale, parts, 0.0, plain) == 0
    undecided = kernels.radial(words, scale, parts, 0.3, forced)
    assert undecided > rows * 0.4
    settled = [
        exact_rounding.settle(
            words[row * per_row : (row + 1) * per_row].tolist(),
            64,
            exact_rounding.radial_recipe(Fraction(scale), [Fraction(value) for value in parts[row].tolist()]),
            NoiseSource.seeded(205).more,
        )
        for row in range(rows)
    ]
    assert settled == plain.tolist()
    decided = forced[:, 0] != kernels.UNDECIDED
    assert np.array_equal(forced[decided], plain[decided])


def test_fast_and_exact_laplace_and_gaussian_agree() -> None:
    words = NoiseSource.seeded(206).words(800)
    out = np.empty(400, np.int64)
    kernels.gaussian(words, 1e5, 0.0, out)
    for k, sample in enumerate(out.tolist()):
        heads = words[2 * k : 2 * k + 2].tolist()
        assert exact_rounding.settle(heads, 64, exact_rounding.gaussian_recipe(Fraction(10**5)), lambda: 0) == [sample]
    kernels.laplace(words[:400], 1e5, 0.0, out)
    for word, sample in zip(words[:400].tolist(), out.tolist(), strict=True):
        exact = exact_rounding.settle([word >> 1], 63, exact_rounding.laplace_recipe(Fraction(10**5)), lambda: 0)
        assert exact == [abs(sample)]
        assert sample == 0 or (sample < 0) == (word & 1)


def test_laplace_by_refining_equals_laplace_by_table() -> None:
    words = NoiseSource.seeded(207).words(100_000)
    by_table, by_refining = np.empty(len(words), np.int64), np.empty(len(words), np.int64)
    boundaries = table(LAPLACE, Fraction(2500.5))
    assert walk(words, boundaries.tails, boundaries.guide, boundaries.shift, boundaries.width, by_table) == 0
    assert kernels.laplace(words, 2500.5, 0.0, by_refining) == 0
    assert np.array_equal(by_table, by_refining)


@pytest.mark.parametrize("known", [0, 2, 7])
def test_a_gaussian_that_starts_from_few_bits_has_the_same_law(known: int) -> None:
    source = NoiseSource.seeded(208)
    recipe = exact_rounding.gaussian_recipe(Fraction(2))
    samples = [
        exact_rounding.settle([source.bits(known), source.bits(known)], known, recipe, source.more)[0]
        for _ in range(4000)
    ]
    cuts = np.arange(-4.5, 5)
    chances = np.diff(stats.norm.cdf(np.concatenate([[-np.inf], cuts, [np.inf]]) / 2))
    counts = np.bincount(np.searchsorted(cuts, samples), minlength=len(chances))
    assert stats.chisquare(counts, chances * len(samples)).pvalue > LEVEL


@pytest.mark.parametrize("known", [0, 7])
@pytest.mark.parametrize("dimension", [2, 3])
def test_a_radial_sample_that_starts_from_few_bits_has_the_same_law(dimension: int, known: int) -> None:
    source = NoiseSource.seeded(209)
    recipe = exact_rounding.radial_recipe(Fraction(50), [Fraction(0)] * dimension)
    uniforms = words_per_point(dimension)
    points = np.array(
        [
            exact_rounding.settle([source.bits(known) for _ in range(uniforms)], known, recipe, source.more)
            for _ in range(1500)
        ]
    )
    radii = np.linalg.norm(points, axis=1)
    assert stats.kstest(radii / 50, stats.gamma(dimension).cdf).pvalue > LEVEL
    first = points[:, 0] / radii
    expected = stats.arcsine(-1, 2) if dimension == 2 else stats.uniform(-1, 2)
    assert stats.kstest(first, expected.cdf).pvalue > LEVEL


def test_bits_in_use_stay_the_leading_bits() -> None:
    source = NoiseSource.seeded(210)
    for _ in range(100):
        heads = [source.bits(7), source.bits(7)]
        drawn: list[int] = []

        def more() -> int:
            drawn.append(int(source.words(1)[0]))  # noqa: B023
            return drawn[-1]  # noqa: B023

        sample = exact_rounding.settle(heads, 7, exact_rounding.gaussian_recipe(Fraction(30)), more)
        assert drawn
        assert len(drawn) % 2 == 0
        whole = list(heads)
        for start in range(0, len(drawn), 2):
            whole = [head << 64 | word for head, word in zip(whole, drawn[start : start + 2], strict=True)]
        bits = 7 + 32 * len(drawn)
        first, second = (mpmath.ldexp(head + mpmath.mpf(0.5), -bits) for head in whole)
        exact = 30 * mpmath.sqrt(-2 * mpmath.log(first)) * mpmath.cos(2 * mpmath.pi * second)
        assert sample == [int(mpmath.nint(exact))]
