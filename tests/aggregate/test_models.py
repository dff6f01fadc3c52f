# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What is known before anybody looks: covariances against dense matrices written out cell by cell."""

from __future__ import annotations

import math

import numpy as np
import pytest

from gazeveil.aggregate.grid import Grid
from gazeveil.aggregate.map_prior import (
    FEW_NUMBERS_PICTURE_WEIGHT,
    MANY_NUMBERS_PICTURE_WEIGHT,
    PICTURE_KINDS,
    PICTURE_WEIGHT,
    PLAIN_KINDS,
    Plane,
    directions,
    mean_of,
    models_of,
    picture_weight,
    pictured_models,
    plain_models,
    prior_of,
)
from gazeveil.aggregate.saliency import SPECTRAL, Saliency
from gazeveil.geometry import normalised, screen

GRID = Grid(8, 6, screen(800, 600))
PLANE = Plane(GRID, (0.7, 0.9))
FINE = Plane(Grid(32, 24, screen(800, 600)), (1.1, 1.1))


def bright_spot(row=1, column=2):
    values = np.ones((6, 8))
    values[row, column] = 60.0
    return Saliency.of_map(values)


def distances(grid):
    width, height = prior_of(grid).cell_deg
    row, column = np.divmod(np.arange(grid.size), grid.columns)
    return ((column[:, None] - column) * width) ** 2 + ((row[:, None] - row) * height) ** 2


def dense_between(plane, mean, kind):
    """The covariance over stimuli as the definition says it."""
    variance, length = plane.kind_here(kind)
    size = len(mean)
    keep_mass = np.eye(size) - np.outer(mean, np.ones(size))
    raw = np.diag(mean**0.7) @ np.exp(-distances(plane.grid) / (2 * length**2)) @ np.diag(mean**0.7)
    kept = keep_mass @ raw @ keep_mass.T
    kept *= variance * np.sum(mean**2) / kept.trace()
    row, column = np.divmod(np.arange(size), plane.grid.columns)
    x, y = (((at + 0.5) / count - 0.5) / 0.2 for at, count in ((column, plane.grid.columns), (row, plane.grid.rows)))
    for way in (x, y, x**2 / 2, y**2 / 2):
        moved = 0.1 * mean * (way - mean @ way)
        kept += np.outer(moved, moved)
    return kept


def dense_within(plane, mean):
    """The covariance over observers: blurred maps of 7.6 looks."""
    blur = plane.blurred(np.eye(len(mean)))
    return blur.T @ (np.diag(mean) - np.outer(mean, mean)) @ blur / 7.6


@pytest.mark.parametrize("saliency", [None, bright_spot()])
def test_what_features_should_be_follows_from_the_covariances_written_out(saliency):
    features = np.random.default_rng(1).normal(size=(GRID.size, 5))
    models = models_of(PLANE, saliency)
    found = PLANE.project(models, features)
    for place in (0, 5, len(models) - 1):
        model = models[place]
        between = features.T @ dense_between(PLANE, model.mean, model.kind) @ features
        within = features.T @ dense_within(PLANE, model.mean) @ features
        np.testing.assert_allclose(found.expected[place], features.T @ model.mean)
        np.testing.assert_allclose(found.between[place], between, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(found.within[place], within, rtol=1e-9, atol=1e-12)


def test_no_model_makes_or_loses_mass():
    ones = np.ones((FINE.grid.size, 1))
    found = FINE.project(models_of(FINE, bright_spot()), ones)
    np.testing.assert_allclose(found.expected, 1)
    np.testing.assert_allclose(found.between, 0, atol=1e-12)
    np.testing.assert_allclose(found.within, 0, atol=1e-12)


def test_one_observer_varies_in_each_cell_as_the_covariance_says():
    mean = plain_models(PLANE)[0].mean
    np.testing.assert_allclose(PLANE.observers_variance(mean), np.diag(dense_within(PLANE, mean)), atol=1e-15)


def test_moments_are_those_of_the_mixture():
    models = plain_models(PLANE)[:3]
    weights = np.array([0.5, 0.3, 0.2])
    mean, between, within = PLANE.project(models, np.eye(GRID.size)).moments(weights * 7)
    expected = sum(weight * model.mean for weight, model in zip(weights, models, strict=True))
    spread = sum(
        weight * (dense_between(PLANE, model.mean, model.kind) + np.outer(model.mean - expected, model.mean - expected))
        for weight, model in zip(weights, models, strict=True)
    )
    np.testing.assert_allclose(mean, expected)
    np.testing.assert_allclose(between, spread, atol=1e-12)
    np.testing.assert_allclose(
        within, sum(w * dense_within(PLANE, m.mean) for w, m in zip(weights, models, strict=True)), atol=1e-12
    )


def test_at_the_usual_blur_kinds_are_what_they_are():
    for kind in PLAIN_KINDS + PICTURE_KINDS:
        assert FINE.kind_here(kind) == pytest.approx(kind)


def test_less_blur_makes_what_stands_out_sharper_and_stronger():
    sharp, blunt = (Plane(FINE.grid, (blur, blur)) for blur in (0.5, 2.5))
    for kind in PLAIN_KINDS:
        assert sharp.kind_here(kind)[0] > kind[0] > blunt.kind_here(kind)[0]
        assert sharp.kind_here(kind)[1] < kind[1] < blunt.kind_here(kind)[1]
    variance, length = Plane(FINE.grid, (0.0, 0.0)).kind_here((6.0, 1.2))
    assert length == 1.0, "nothing is smaller than a cell"
    assert math.isfinite(variance)


def test_all_means_are_positive_maps_of_mass_1_and_weights_add_up():
    models = models_of(FINE, bright_spot())
    assert sum(model.weight for model in models) == pytest.approx(1)
    for model in models:
        assert model.mean.min() > 0
        assert model.mean.sum() == pytest.approx(1)
    assert mean_of(models).sum() == pytest.approx(1)
    assert sum(model.weight for model in models if model.pictured) == pytest.approx(
        picture_weight(bright_spot()) * FEW_NUMBERS_PICTURE_WEIGHT / PICTURE_WEIGHT
    )


def test_where_many_numbers_are_measured_pictures_and_weak_variation_are_believed_less():
    few, many = models_of(FINE, bright_spot()), models_of(FINE, bright_spot(), many=True)

    def share(models, wanted):
        return sum(model.weight for model in models if wanted(model))

    assert share(many, lambda model: True) == pytest.approx(1)
    assert share(many, lambda model: model.pictured) == pytest.approx(
        MANY_NUMBERS_PICTURE_WEIGHT / FEW_NUMBERS_PICTURE_WEIGHT * share(few, lambda model: model.pictured)
    )
    weak = [
        share(models, lambda model: not model.pictured and model.kind[0] < 1)
        / share(models, lambda model: not model.pictured)
        for models in (few, many)
    ]
    assert weak[1] < weak[0] / 2
    np.testing.assert_allclose(mean_of(plain_models(FINE, many=True)), mean_of(plain_models(FINE)), atol=1e-15)


def test_a_picture_moves_the_mean_and_nothing_else_is_known_without_one():
    assert all(not model.pictured for model in models_of(FINE, None))
    plain = mean_of(models_of(FINE, None)).reshape(24, 32)
    np.testing.assert_allclose(plain, plain[::-1, ::-1])
    pictured = mean_of(models_of(FINE, bright_spot())).reshape(24, 32)
    row, column = np.unravel_index((pictured - plain).argmax(), pictured.shape)
    assert 4 <= row <= 7
    assert 8 <= column <= 11


def test_a_predicted_map_is_not_blurred_again_and_a_spectral_one_is():
    values = bright_spot().values
    predicted = pictured_models(FINE, Saliency("a", values, "picture model 1"))
    spectral = pictured_models(FINE, Saliency("b", values, SPECTRAL))
    edge = np.s_[5, 11:13]  # the patch ends between these columns
    inside, outside = predicted[0].mean.reshape(24, 32)[edge]
    assert inside / outside > 10
    inside, outside = spectral[0].mean.reshape(24, 32)[edge]
    assert inside / outside < 4


@pytest.mark.parametrize("kind", PLAIN_KINDS + PICTURE_KINDS)
@pytest.mark.parametrize("blur", [0.3, 1.1, 5.0])
def test_the_logarithms_vary_by_a_covariance(kind, blur):
    """It has no negative eigenvalue; where it had, small noise made the map worse than large noise."""
    plane = Plane(Grid(16, 12, screen(800, 600)), (blur, blur))
    mean = plain_models(plane)[2].mean
    dense = plane.log_field(mean, kind).times(np.eye(plane.grid.size))
    np.testing.assert_allclose(dense, dense.T, atol=1e-12)
    values = np.linalg.eigvalsh(dense)
    assert values[0] > -1e-9 * values[-1]


def test_a_cell_s_logarithm_varies_as_that_of_a_log_normal_number():
    mean = plain_models(FINE)[0].mean
    moved = FINE.moves(mean) / mean[:, None]
    variance = FINE.log_field(mean, (0.7, 2.4)).variance - np.sum(moved**2, axis=1)
    assert float((np.expm1(variance) * mean**2).sum()) == pytest.approx(0.7 * float(mean @ mean))


def test_features_of_the_blurred_map_see_what_they_saw_before_the_blur():
    rng = np.random.default_rng(4)
    x, y = np.meshgrid(np.arange(32), np.arange(24))
    wide = np.stack(
        [np.exp(-((x - a) ** 2 + (y - b) ** 2) / 18).ravel() for a, b in rng.uniform(2, 22, (6, 2))], axis=1
    )
    map_ = rng.random(FINE.grid.size)
    map_ /= map_.sum()
    np.testing.assert_allclose(FINE.blurred(map_) @ FINE.in_blurred(wide), map_ @ wide, rtol=0.01)


def test_directions_are_orthonormal_slow_waves():
    ways = directions(FINE.grid)
    np.testing.assert_allclose(ways.T @ ways, np.eye(150), atol=1e-12)
    np.testing.assert_allclose(ways[:, 0], 1 / math.sqrt(768))
    mean = mean_of(models_of(FINE, None))
    assert np.linalg.norm(ways.T @ mean) > 0.999 * np.linalg.norm(mean)


@pytest.mark.parametrize("plane", [screen(800, 600), normalised(), screen(800, 600, 2860, 2145, 1000)])
@pytest.mark.parametrize("shape", [(1, 1), (7, 1), (1, 9)])
def test_models_of_extreme_planes_are_finite(plane, shape):
    columns, rows = shape
    at = Plane(Grid(columns, rows, plane), (0.3, 5.0))
    found = at.project(models_of(at, bright_spot()), directions(at.grid))
    for values in (found.expected, found.between, found.within):
        assert np.isfinite(values).all()
