# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Radial and planar Laplace noise: the law of radius and direction, the lattice, live against file.

Tests of significance use the level 1e-8; there are fewer than 100 of them.
"""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from gazeveil.errors import OptionError
from gazeveil.noise import (
    NoiseSource,
    add_radial,
    ball_laplace,
    planar_laplace,
    radial_noise,
    radius_quantile,
)
from gazeveil.noise import sampling_kernels as kernels
from gazeveil.noise.radial import words_per_point

LEVEL = 1e-8
COUNT = 200_000


@pytest.mark.parametrize("dimension", [1, 2, 3, 4, 5, 8, 13, 40])
def test_radius_and_direction_follow_their_laws(dimension: int) -> None:
    rows = COUNT if dimension < 10 else COUNT // 10
    points = radial_noise(NoiseSource.seeded(300), dimension, 1e6, rows)
    radii = np.linalg.norm(points, axis=1)
    assert stats.kstest(radii / 1e6, stats.gamma(dimension).cdf).pvalue > LEVEL
    directions = points / radii[:, None]
    for axis in {0, 1, dimension // 2, dimension - 1} & set(range(dimension)):
        assert stats.binomtest(int(np.sum(points[:, axis] > 0)), rows).pvalue > LEVEL
        if dimension > 1:
            share = stats.beta(0.5, (dimension - 1) / 2)
            assert stats.kstest(directions[:, axis] ** 2, share.cdf).pvalue > LEVEL
    if dimension > 1:
        mixed = directions @ np.random.default_rng(1).standard_normal(dimension)
        turned = mixed / np.linalg.norm(np.random.default_rng(1).standard_normal(dimension))
        assert stats.kstest(turned**2, stats.beta(0.5, (dimension - 1) / 2).cdf).pvalue > LEVEL
        inner, outer = directions[radii <= np.median(radii), 0], directions[radii > np.median(radii), 0]
        assert stats.ks_2samp(inner, outer).pvalue > LEVEL


def test_a_scale_that_is_two_percent_off_is_noticed() -> None:
    radii = np.linalg.norm(radial_noise(NoiseSource.seeded(300), 2, 1.02e6, COUNT), axis=1)
    assert stats.kstest(radii / 1e6, stats.gamma(2).cdf).pvalue < LEVEL


def cell_chances(centre: tuple[float, float], scale: float, reach: int) -> NDArray[np.float64]:
    """Integrate the planar Laplace density over unit cells around the origin."""
    nodes, weights = np.polynomial.legendre.leggauss(60)
    cells = np.arange(-reach, reach + 1)
    x = (cells[:, None] + nodes / 2).ravel()
    density = np.exp(-np.hypot(x[:, None] - centre[0], x[None, :] - centre[1]) / scale) / (2 * np.pi * scale**2)
    each = density * np.outer(np.tile(weights / 2, len(cells)), np.tile(weights / 2, len(cells)))
    return np.asarray(each.reshape(len(cells), 60, len(cells), 60).sum(axis=(1, 3)))


@pytest.mark.parametrize("centre", [(0.0, 0.0), (0.3, -0.45), (0.5, 0.5)])
@pytest.mark.parametrize("scale", [0.2, 1.5])
def test_lattice_cells_have_their_exact_probability_wherever_the_point_lies(
    centre: tuple[float, float], scale: float
) -> None:
    corner = np.array([10.0, -7.0])
    noisy = add_radial(NoiseSource.seeded(301), np.tile(corner + centre, (COUNT, 1)), scale, 1) - corner
    chances = cell_chances(centre, scale, reach=4)
    inside = np.all(np.abs(noisy) <= 4, axis=1)
    cells = (noisy[inside] + 4).astype(int)
    counts = np.zeros_like(chances)
    np.add.at(counts, (cells[:, 0], cells[:, 1]), 1)
    common = chances > 1e-4
    observed = np.append(counts[common], COUNT - counts[common].sum())
    expected = np.append(chances[common], 1 - chances[common].sum()) * COUNT
    assert stats.chisquare(observed, expected).pvalue > LEVEL


def test_neighbouring_points_are_independent() -> None:
    points = radial_noise(NoiseSource.seeded(302), 2, 1000, COUNT)
    signs = (points > 0) @ [1, 2] + 4 * (np.linalg.norm(points, axis=1) > 1678.35)
    table = np.zeros((8, 8))
    np.add.at(table, (signs[:-1], signs[1:]), 1)
    assert stats.chi2_contingency(table).pvalue > LEVEL


@pytest.mark.parametrize(("probability", "radius"), [(0.5, 1.678), (0.9, 3.890), (0.95, 4.744), (0.99, 6.638)])
def test_planar_radius_quantiles_are_the_published_ones(probability: float, radius: float) -> None:
    assert radius_quantile(probability, 2) == pytest.approx(radius, abs=5e-4)
    assert radius_quantile(probability, 2, scale=10.0) == pytest.approx(10 * radius, abs=5e-3)
    x, y = planar_laplace(NoiseSource.seeded(303), np.zeros(COUNT), np.zeros(COUNT), 0.01)
    within = int(np.sum(np.hypot(x, y) <= radius_quantile(probability, 2, scale=100.0)))
    assert stats.binomtest(within, COUNT, probability).pvalue > LEVEL


@pytest.mark.parametrize("dimension", [1, 3, 12])
def test_radius_quantiles_are_those_of_the_gamma_law(dimension: int) -> None:
    for probability in (0.0, 1e-6, 0.3, 0.999999):
        expected = stats.gamma(dimension).ppf(probability)
        assert radius_quantile(probability, dimension) == pytest.approx(expected, rel=1e-9, abs=1e-12)


def test_moments_are_the_published_ones() -> None:
    x, y = planar_laplace(NoiseSource.seeded(304), np.zeros(COUNT), np.zeros(COUNT), 0.02)
    assert np.hypot(x, y).mean() == pytest.approx(2 / 0.02, rel=0.01)
    assert x.var() == pytest.approx(3 / 0.02**2, rel=0.03)
    assert np.mean(x**2 + y**2) == pytest.approx(6 / 0.02**2, rel=0.03)


def gaze(count: int) -> NDArray[np.float64]:
    return np.random.default_rng(5).uniform(-100, 2000, (count, 2))


@pytest.mark.parametrize("step", [None, 1 / 16, 4])
def test_live_points_equal_those_of_a_file(step: float | None) -> None:
    points = gaze(3000)
    live = NoiseSource.seeded(305)
    one_by_one = [planar_laplace(live, x, y, 0.05, step) for x, y in points.tolist()]
    x, y = planar_laplace(NoiseSource.seeded(305), points[:, 0], points[:, 1], 0.05, step)
    assert one_by_one == list(zip(x.tolist(), y.tolist(), strict=True))


def test_a_live_point_that_doubles_cannot_decide_is_settled_and_still_equals_the_file(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    points = gaze(200)
    columns, rows = planar_laplace(NoiseSource.seeded(306), points[:, 0], points[:, 1], 0.05)
    monkeypatch.setattr(kernels, "plane_point", lambda *_: (kernels.UNDECIDED, kernels.UNDECIDED))
    live = NoiseSource.seeded(306)
    one_by_one = [planar_laplace(live, x, y, 0.05) for x, y in points.tolist()]
    assert one_by_one == list(zip(columns.tolist(), rows.tolist(), strict=True))


def test_undecided_rows_are_settled_to_the_same_points(monkeypatch: pytest.MonkeyPatch) -> None:
    points = np.random.default_rng(6).uniform(-50, 50, (200, 3))
    plain = add_radial(NoiseSource.seeded(307), points, 3.0, 1 / 8)
    honest = kernels.radial
    monkeypatch.setattr(kernels, "radial", lambda words, scale, parts, _, out: honest(words, scale, parts, 0.45, out))
    assert np.array_equal(add_radial(NoiseSource.seeded(307), points, 3.0, 1 / 8), plain)


def test_every_output_lies_on_the_lattice_wherever_the_input_lies() -> None:
    points = gaze(5000)
    for outputs in planar_laplace(NoiseSource.seeded(308), points[:, 0], points[:, 1], 0.5, 1 / 32):
        assert np.array_equal(outputs * 32, np.rint(outputs * 32))
    x, y, z = ball_laplace(NoiseSource.seeded(308), points[:, 0], points[:, 1], np.zeros(5000), 0.5, 1 / 32)
    for outputs in (x, y, z):
        assert np.array_equal(outputs * 32, np.rint(outputs * 32))
    assert np.hypot(np.hypot(x - points[:, 0], y - points[:, 1]), z).mean() == pytest.approx(6, rel=0.03)


def test_points_on_the_lattice_get_the_noise_of_the_origin() -> None:
    noise = radial_noise(NoiseSource.seeded(309), 3, 20, 100, step=0.5)
    points = np.random.default_rng(7).integers(-1000, 1000, (100, 3)) / 2
    assert np.array_equal(add_radial(NoiseSource.seeded(309), points, 20, 0.5), points + noise * 0.5)


def test_a_tiny_negative_point_is_not_rounded_before_the_noise() -> None:
    below, above = (add_radial(NoiseSource.seeded(310), [[x, 0.5]], 10, 1) for x in (-1e-20, 1e-20))
    assert np.array_equal(below, above)


@pytest.mark.parametrize("dimension", [1, 2, 3, 7])
def test_words_per_point_are_as_stated_and_batches_agree(dimension: int) -> None:
    source, other = NoiseSource.seeded(311), NoiseSource.seeded(311)
    pieces = np.concatenate([radial_noise(source, dimension, 10, count) for count in (1, 0, 40, 3000)])
    assert np.array_equal(pieces, radial_noise(NoiseSource.seeded(311), dimension, 10, 3041))
    other.words(3041 * words_per_point(dimension))
    assert source.words(1) == other.words(1)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1e300, 2.0**60])
def test_missing_and_absurd_points_are_refused(bad: float) -> None:
    source = NoiseSource.seeded(1)
    for attempt in (
        lambda: planar_laplace(source, bad, 1.0, 0.1, 1),
        lambda: planar_laplace(source, 1.0, bad, 0.1, 1),
        lambda: planar_laplace(source, np.array([1.0, bad]), np.array([1.0, 2.0]), 0.1, 1),
        lambda: ball_laplace(source, 1.0, 2.0, bad, 0.1, 1),
    ):
        with pytest.raises(OptionError, match="finite"):
            attempt()
    assert source.words(1) == NoiseSource.seeded(1).words(1)


def test_a_point_that_would_vanish_on_the_lattice_is_refused() -> None:
    with pytest.raises(OptionError, match="finite"):
        planar_laplace(NoiseSource.seeded(1), 5e-324, 0.0, 2.0**-64, 2.0**64)


@pytest.mark.parametrize("bad", [0, -0.1, float("nan"), float("inf"), True, "1"])
def test_an_epsilon_that_makes_no_sense_is_refused(bad: float) -> None:
    with pytest.raises(OptionError):
        planar_laplace(NoiseSource.seeded(1), 1.0, 2.0, bad)
    with pytest.raises(OptionError):
        radial_noise(NoiseSource.seeded(1), 2, bad)


def test_shapes_that_make_no_sense_are_refused() -> None:
    source = NoiseSource.seeded(1)
    for points in (np.zeros(3), np.zeros((2, 0)), np.zeros((1, 2, 3))):
        with pytest.raises(OptionError, match="rows"):
            add_radial(source, points, 1.0, 1)
    with pytest.raises(OptionError):
        radial_noise(source, -1, 1.0)
    for probability, dimension in ((1.0, 2), (-0.1, 2), (0.5, 0), (float("nan"), 2)):
        with pytest.raises(OptionError):
            radius_quantile(probability, dimension)


def test_whole_numbers_are_points_too() -> None:
    assert planar_laplace(NoiseSource.seeded(1), 3, 4, 0.1) == planar_laplace(NoiseSource.seeded(1), 3.0, 4.0, 0.1)
