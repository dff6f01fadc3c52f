# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""From noisy numbers to a map: evidence, posterior, and whether what it says about its own errors is so."""

from __future__ import annotations

from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from scipy import stats

from gazeveil.aggregate.bayes_decoder import FALSE_DISCOVERIES, Channel, Decoder, gamma_quantiles, hot_spots
from gazeveil.aggregate.grid import Grid
from gazeveil.aggregate.map_prior import FEW_NUMBERS_PICTURE_WEIGHT, Plane, directions, mean_of, models_of
from gazeveil.aggregate.saliency import Saliency
from gazeveil.geometry import screen

PLANE = Plane(Grid(20, 15, screen(800, 600, 211, 158, 600)), (1.1, 1.1))  # cells of a degree
SIZE = PLANE.grid.size


def a_picture():
    values = np.ones((12, 16))
    values[2:5, 3:6] = 30.0
    return Saliency.of_map(values)


def channel_of(noise_sd, *, gains=(1.0,), observers=10**6, radial_scale=None, count=40, offset=None):
    return Channel(
        features=np.ascontiguousarray(directions(PLANE.grid)[:, 1 : count + 1]),
        offset=np.zeros(SIZE) if offset is None else offset,
        gains=gains,
        observers=observers,
        noise_sd=noise_sd,
        radial_scale=radial_scale,
    )


def two_hot_spots():
    x, y = np.meshgrid(np.arange(20), np.arange(15))
    spots = np.exp(-((x - 4) ** 2 + (y - 3) ** 2) / 4) + 0.6 * np.exp(-((x - 11) ** 2 + (y - 8) ** 2) / 5)
    flat = (spots + 0.01).ravel()
    return PLANE.blurred(flat / flat.sum())


def correlation(one, other):
    return float(np.corrcoef(one.ravel(), other.ravel())[0, 1])


@pytest.mark.parametrize("shape", [1.0, 2.5, 6.5, 40.5])
def test_gamma_quantiles_are_those_of_scipy(shape):
    expected = stats.gamma(shape).ppf((np.arange(6) + 0.5) / 6)
    assert np.allclose(gamma_quantiles(shape, 6), expected, rtol=5e-3)


@pytest.mark.parametrize("saliency", [None, a_picture()])
def test_the_evidence_is_that_of_a_normal_law(saliency):
    models = models_of(PLANE, saliency)
    channel = channel_of(0.01, gains=(0.4, 0.6), observers=20, count=5, offset=mean_of(models))
    measured = 0.5 * (two_hot_spots() - channel.offset) @ channel.features
    chances = Decoder(PLANE, models, channel)._weigh(measured)
    seen = PLANE.project(models, channel.features)
    expected = np.zeros((len(models), 2, 1))
    for place, model in enumerate(models):
        spread = seen.between[place] + seen.within[place] / 20
        away = seen.expected[place] - channel.offset @ channel.features
        for i, gain in enumerate(channel.gains):
            law = stats.multivariate_normal(gain * away, gain**2 * spread + 0.01**2 * np.eye(5))
            expected[place, i, 0] = model.weight * law.pdf(measured)
    np.testing.assert_allclose(chances, expected / expected.sum(), rtol=1e-6, atol=1e-12)


def test_radial_noise_is_a_mixture_of_gaussians_of_the_same_size():
    """The mean of six quantiles is a little below that of the law, which is its mean square a number."""
    scale, count = 0.02, 8
    variances = channel_of(0.06, radial_scale=scale, count=count).variances()
    assert len(variances) == 6
    assert np.mean(variances) == pytest.approx((count + 1) * scale**2, rel=0.05)


def test_models_that_were_projected_before_are_decoded_alike():
    models = models_of(PLANE, a_picture())
    channel = channel_of(0.01, observers=20)
    measured = two_hot_spots() @ channel.features
    one = Decoder(PLANE, models, channel).decode(measured)
    other = Decoder(PLANE, models, channel, PLANE.project(models, channel.features)).decode(measured)
    np.testing.assert_array_equal(one.map, other.map)


@pytest.mark.parametrize("saliency", [None, a_picture()])
def test_without_noise_the_map_comes_back(saliency):
    truth = two_hot_spots()
    channel = channel_of(1e-6, count=149)
    decoded = Decoder(PLANE, models_of(PLANE, saliency), channel).decode(truth @ channel.features)
    assert correlation(decoded.map, truth) > 0.995
    assert decoded.data_share > 0.85


def test_less_noise_never_makes_the_map_much_worse():
    truth, models = two_hot_spots(), models_of(PLANE, None)
    noise = np.random.default_rng(7).normal(size=100)
    found = []
    for noise_sd in (3e-2, 1e-2, 3e-3, 1e-3, 1e-4, 1e-5, 1e-6):
        channel = channel_of(noise_sd, count=100, gains=(0.8, 1.0, 1.2))
        decoded = Decoder(PLANE, models, channel).decode(1.1 * truth @ channel.features + noise_sd * noise)
        found.append(correlation(decoded.map, truth))
    assert all(later > earlier - 0.01 for earlier, later in pairwise(found))
    assert found[-1] > 0.995


@pytest.mark.parametrize("saliency", [None, a_picture()])
def test_under_huge_noise_the_prior_comes_back(saliency):
    models, channel = models_of(PLANE, saliency), channel_of(1e6)
    noise = np.random.default_rng(2).normal(0, 1e6, 40)
    decoder = Decoder(PLANE, models, channel)
    decoded = decoder.decode(two_hot_spots() @ channel.features + noise)
    np.testing.assert_allclose(decoded.map.ravel(), mean_of(models), rtol=0.02)
    assert decoded.data_share < 1e-6
    assert decoded.noise_sd.max() < 1e-4 * decoded.map.mean()
    assert decoded.picture_share == pytest.approx(0.0 if saliency is None else FEW_NUMBERS_PICTURE_WEIGHT, abs=1e-3)


def test_an_unknown_gain_is_found():
    truth = two_hot_spots()
    channel = channel_of(1e-4, gains=(0.3, 0.5, 0.75), count=100)
    decoded = Decoder(PLANE, models_of(PLANE, None), channel).decode(0.46 * truth @ channel.features)
    assert correlation(decoded.map, truth) > 0.99


def test_the_share_of_data_grows_as_noise_falls():
    truth, shares = two_hot_spots(), []
    for noise_sd in (1.0, 0.1, 0.01, 0.001):
        channel = channel_of(noise_sd)
        shares.append(Decoder(PLANE, models_of(PLANE, None), channel).decode(truth @ channel.features).data_share)
    assert shares == sorted(shares)
    assert 0 <= shares[0] < shares[-1] <= 1


def test_a_picture_that_gaze_follows_is_believed_and_another_is_not():
    channel = channel_of(0.005, observers=100)
    decoder = Decoder(PLANE, models_of(PLANE, a_picture()), channel)
    follows = next(model.mean for model in decoder.models if model.pictured)
    elsewhere = follows.reshape(PLANE.grid.shape)[::-1, ::-1].ravel()
    assert decoder.decode(follows @ channel.features).picture_share > 0.95
    assert decoder.decode(elsewhere @ channel.features).picture_share < 0.5


@pytest.mark.parametrize("radial", [False, True])
def test_noise_sd_is_what_fresh_noise_does(radial):
    """The standard deviation over 60 seeded draws, pooled over cells; how right those of strategies are is tested in
    test_error_bars.py."""
    truth, count, sd = two_hot_spots(), 8, 0.01
    scale = sd / np.sqrt(count + 1)
    channel = channel_of(sd, radial_scale=scale if radial else None, count=count)
    decoder = Decoder(PLANE, models_of(PLANE, None), channel)
    rng = np.random.default_rng(3)
    maps, said = [], []
    for _ in range(60):
        noise = rng.normal(size=count)
        noise *= rng.gamma(count, scale) / np.linalg.norm(noise) if radial else sd
        decoded = decoder.decode(truth @ channel.features + noise)
        maps.append(decoded.map)
        said.append(decoded.noise_sd)
    ratio = np.sqrt(np.mean(np.square(said)) / np.mean(np.var(maps, axis=0)))
    assert 0.6 < ratio < 1.5


@cache
def simulated(noise_sd, pictured):
    """Maps drawn from the models, with the maps of 30 observers of each, and what is decoded of them."""
    rng = np.random.default_rng(11)
    models = models_of(PLANE, a_picture() if pictured else None)
    channel = channel_of(noise_sd, observers=30, gains=(0.8, 1.0, 1.25))
    decoder = Decoder(PLANE, models, channel)
    found = []
    for _ in range(40):
        model = models[rng.choice(len(models), p=[model.weight for model in models])]
        covariance = PLANE.log_field(model.mean, model.kind).times(np.eye(SIZE))
        values, vectors = np.linalg.eigh(covariance)
        logs = np.log(model.mean) - covariance.diagonal() / 2
        everybody = np.exp(logs + vectors @ (np.sqrt(np.maximum(values, 0)) * rng.normal(size=SIZE)))
        everybody /= everybody.sum()
        looks = rng.multinomial(int(30 * 7.6), everybody) / int(30 * 7.6)
        these = np.maximum(everybody + PLANE.blurred(looks - everybody), 0)
        these /= these.sum()
        measured = these @ channel.features + rng.normal(0, noise_sd, channel.features.shape[1])
        found.append((everybody, these, decoder.decode(measured)))
    return found


@pytest.mark.parametrize("pictured", [False, True])
@pytest.mark.parametrize("noise_sd", [0.03, 0.01])
def test_95_percent_intervals_cover_what_they_say(noise_sd, pictured):
    """Of 40 seeded maps and 300 cells each, those of these observers and those of everybody, 90 to 99 %."""
    found = simulated(noise_sd, pictured)
    these = np.mean([np.abs(d.map.ravel() - map_) <= 1.96 * d.error_sd.ravel() for _, map_, d in found])
    everybody = np.mean([np.abs(d.map.ravel() - map_) <= 1.96 * d.population_sd.ravel() for map_, _, d in found])
    assert 0.90 <= these <= 0.99
    assert 0.90 <= everybody <= 0.99
    assert all((d.population_sd >= d.error_sd).all() and (d.error_sd >= 0).all() for *_, d in found)


@pytest.mark.parametrize("pictured", [False, True])
@pytest.mark.parametrize("noise_sd", [0.03, 0.01])
def test_hot_spots_are_false_as_rarely_as_stated(noise_sd, pictured):
    called, false = 0, 0
    for _, these, decoded in simulated(noise_sd, pictured):
        cells = hot_spots(decoded.hot).ravel()
        called += int(cells.sum())
        false += int((cells & (these <= 4 / SIZE)).sum())
    assert called >= 40 or not pictured  # few maps without a picture have any
    assert false <= FALSE_DISCOVERIES * called


def test_every_decoded_map_is_positive_of_mass_1():
    for *_, decoded in simulated(0.03, pictured=True):
        assert decoded.map.min() > 0
        assert decoded.map.sum() == pytest.approx(1)
        assert 0 <= decoded.data_share <= 1
        assert 0 <= decoded.picture_share <= 1


def test_as_many_cells_are_called_as_the_stated_share_of_false_ones_allows():
    chances = np.array([[0.99, 0.2, 0.95], [0.85, 0.7, 0.0]])
    np.testing.assert_array_equal(hot_spots(chances), [[True, False, True], [True, False, False]])  # .07, then .1275
    assert not hot_spots(np.full((3, 4), 0.89)).any()
    assert hot_spots(np.full((3, 4), 0.91)).all()


@pytest.mark.parametrize("measured", [0.0, 1e9, -1e9])
@pytest.mark.parametrize("radial", [None, 1e-3])
def test_absurd_numbers_still_give_finite_maps(measured, radial):
    channel = channel_of(0.01, observers=1, radial_scale=radial, gains=(0.5, 1.0))
    decoded = Decoder(PLANE, models_of(PLANE, a_picture()), channel).decode(np.full(40, measured))
    for values in (decoded.map, decoded.noise_sd, decoded.error_sd, decoded.population_sd, decoded.hot):
        assert np.isfinite(values).all()
    assert decoded.map.sum() == pytest.approx(1)
    assert 0 <= decoded.data_share <= 1
