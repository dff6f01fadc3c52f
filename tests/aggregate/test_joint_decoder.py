# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Maps decoded together: the quick way gives what the formulas, written out one by one, give."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from gazeveil import screen
from gazeveil.aggregate import joint_decoder
from gazeveil.aggregate.grid import Grid, render
from gazeveil.aggregate.joint_decoder import (
    FIXATIONS_PER_OBSERVER,
    BlurResponse,
    MapCorrelation,
    MeasuredMaps,
    decode_jointly,
    decode_mean,
    positive_factor,
    smooth_fields,
)
from gazeveil.aggregate.map_prior import Prior, prior_of
from gazeveil.arrays import FloatArray

PRIOR = prior_of(Grid(8, 6, screen(800, 600, 80, 60, 573)))
BLUR = (1.1, 1.3)


def measured(noise_sd: FloatArray, correlation: MapCorrelation | None = None, features: int = 12) -> MeasuredMaps:
    """Return made-up numbers of maps that have a hot spot each."""
    rng = np.random.default_rng(7)
    count, cells = len(noise_sd), PRIOR.grid.size
    seen = np.abs(rng.normal(size=(cells, features)))
    maps = PRIOR.mean * (1 + 3 * rng.random((count, cells)) ** 4)
    maps /= maps.sum(axis=1, keepdims=True)
    return MeasuredMaps(
        numbers=0.6 * maps @ seen + noise_sd[:, None] * rng.normal(size=(count, features)),
        noise_sd=noise_sd,
        features=seen,
        observers=20.0,
        weights=np.full(count, 1 / count),
        unrelated=float(count),
        correlations=(MapCorrelation.none(count) if correlation is None else correlation,),
    )


def mean_the_slow_way(prior: Prior, found: MeasuredMaps) -> tuple[FloatArray, float]:
    """Weigh every mean map, kind of hot spots and gain by the density of what was measured."""
    numbers, features = found.weights @ found.numbers, found.features
    noise = float(np.sum((found.weights * found.noise_sd) ** 2)) * np.eye(len(numbers))
    kinds = [(relative / found.unrelated, length) for relative, length in joint_decoder.MEAN_HOT_SPOTS]
    logs, maps = [], []
    for mean, weight in zip(prior.means, prior.weights, strict=True):
        for kind in kinds:
            around = prior.covariance_times(mean, kind, np.eye(prior.grid.size))
            one_look = np.diag(mean) - np.outer(mean, mean)
            looks = FIXATIONS_PER_OBSERVER * found.observers * found.unrelated
            for gain in joint_decoder.GAINS:
                spread = gain**2 * features.T @ (around + one_look / looks) @ features + noise
                miss = numbers - gain * mean @ features
                logs.append(
                    math.log(weight) - 0.5 * (miss @ np.linalg.solve(spread, miss) + np.linalg.slogdet(spread)[1])
                )
                maps.append(mean + gain * around @ features @ np.linalg.solve(spread, miss))
    chances = np.exp(np.array(logs) - max(logs)).reshape(-1, len(joint_decoder.GAINS))
    chances[chances.sum(axis=1) < joint_decoder._RARE * chances.sum()] = 0
    chances /= chances.sum()
    map_ = np.maximum(chances.ravel() @ np.array(maps), joint_decoder._FLOOR / prior.grid.size)
    return map_ / map_.sum(), float(chances.sum(axis=0) @ joint_decoder.GAINS)


@pytest.mark.parametrize("noise", [0.001, 0.1])
def test_the_mean_is_what_every_model_weighed_by_its_density_gives(noise: float) -> None:
    found = measured(np.full(4, noise))
    center = decode_mean(PRIOR, found, BLUR)
    map_, gain = mean_the_slow_way(PRIOR, found)
    np.testing.assert_allclose(center.map, map_, rtol=1e-8)
    assert center.gain == pytest.approx(gain, rel=1e-8)


def test_maps_that_are_not_turned_are_maps_turned_by_nothing() -> None:
    ones, noise = np.ones(5), np.full(5, 0.01)
    plain = decode_jointly(PRIOR, measured(noise), BLUR)
    turned = decode_jointly(PRIOR, measured(noise, MapCorrelation(np.eye(5), ones, ones)), BLUR)
    for one, other in ((plain.maps, turned.maps), (plain.noise_sd, turned.noise_sd)):
        np.testing.assert_allclose(one, other, rtol=1e-9)
    np.testing.assert_allclose(plain.data_share, turned.data_share, rtol=1e-9)


def test_maps_whose_noise_hardly_differs_hardly_differ() -> None:
    even = decode_jointly(PRIOR, measured(np.full(5, 0.01)), BLUR)
    apart = decode_jointly(PRIOR, replace(measured(np.full(5, 0.01)), noise_sd=0.01 + 1e-9 * np.arange(5.0)), BLUR)
    np.testing.assert_allclose(even.maps, apart.maps, rtol=1e-4)
    np.testing.assert_allclose(even.noise_sd, apart.noise_sd, rtol=1e-4)


def test_each_map_moves_as_nudges_of_its_field_move_it() -> None:
    rng = np.random.default_rng(3)
    cells, shape = PRIOR.grid.size, PRIOR.grid.shape
    changes, own, field = rng.normal(size=(cells, 5)), rng.random(5), rng.normal(size=cells)
    map_ = PRIOR.mean * positive_factor(field)
    map_ /= map_.sum()
    expected = np.zeros(shape)
    for change, variance in zip(changes.T, own, strict=True):
        there, back = (PRIOR.mean * positive_factor(field + step * change) for step in (1e-5, -1e-5))
        moved = (there / there.sum() - back / back.sum()) / 2e-5
        expected += variance * render(moved.reshape(shape), BLUR) ** 2
    np.testing.assert_allclose(
        BlurResponse(changes, shape, BLUR).variance(map_, own, 1 / np.maximum(field, 1)), expected, rtol=1e-5
    )


def test_a_clear_hot_spot_does_not_run_away() -> None:
    assert positive_factor(np.array([-2.0, 0.0, 1.0, 8.0])) == pytest.approx([math.exp(-2), 1, math.e, 8 * math.e])


def test_smooth_fields_have_nearly_the_covariance_of_hot_spots() -> None:
    found = smooth_fields(PRIOR, ((2.0, 1.5), (0.5, 5.0)))
    whole = sum(size * PRIOR.correlated(np.eye(PRIOR.grid.size), length) for size, length in ((2.0, 1.5), (0.5, 5.0)))
    assert float(np.abs(found @ found.T - whole).max()) < 0.05 * float(np.abs(whole).max())


def test_less_noise_leaves_less_uncertain_and_never_less_than_the_draw_of_the_people() -> None:
    sure, unsure = (decode_jointly(PRIOR, measured(np.full(5, noise)), BLUR, uncertain=True) for noise in (0.001, 0.1))
    assert np.median(sure.variance / unsure.variance) < 0.8
    assert np.all(sure.variance >= sure.sampling)
    assert np.all(sure.sampling > 0)


def test_many_maps_need_no_room_for_maps_times_maps() -> None:
    assert MapCorrelation.none(100_000).turn is None
