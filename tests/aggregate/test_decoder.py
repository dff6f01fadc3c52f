# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import pytest
from scipy import optimize, stats

from gazeveil.aggregate._lbfgs import minimise
from gazeveil.aggregate.decoder import Channel, Decoder, gamma_quantiles
from gazeveil.aggregate.grid import Grid
from gazeveil.aggregate.prior import HOT_SPOTS, features_spread, prior_of
from gazeveil.aggregate.render import render
from gazeveil.gaze.geometry import screen

GRID = Grid(16, 12, screen(800, 600))
BLUR = (1.0, 1.0)


def channel_of(noise_sd, *, gains=(1.0,), observers=10**6, radial_scale=None, averages_models=False, count=40):
    features = np.eye(GRID.size) if count is None else np.random.default_rng(5).random((GRID.size, count))
    return Channel(
        features=features,
        offset=np.zeros(GRID.size),
        gains=gains,
        observers=observers,
        noise_sd=noise_sd,
        radial_scale=radial_scale,
        averages_models=averages_models,
    )


def two_hot_spots():
    x, y = np.meshgrid(np.arange(16), np.arange(12))
    spots = np.exp(-((x - 4) ** 2 + (y - 3) ** 2) / 4) + 0.6 * np.exp(-((x - 11) ** 2 + (y - 8) ** 2) / 5)
    flat = (spots + 0.01).ravel()
    return flat / flat.sum()


def test_the_search_finds_the_minimum_that_scipy_finds():
    def objective(at):
        return float(optimize.rosen(at)), optimize.rosen_der(at)

    found = minimise(objective, np.zeros(6), most_steps=500, tolerance=1e-12)
    assert np.allclose(found, 1, atol=1e-4)


def test_the_search_stays_where_it_is_flat():
    start = np.full(3, 2.0)
    assert np.array_equal(minimise(lambda at: (1.0, np.zeros(3)), start, 10), start)


@pytest.mark.parametrize("shape", [1.0, 2.5, 6.5, 40.5])
def test_gamma_quantiles_are_those_of_scipy(shape):
    expected = stats.gamma(shape).ppf((np.arange(6) + 0.5) / 6)
    assert np.allclose(gamma_quantiles(shape, 6), expected, rtol=5e-3)


def test_the_evidence_is_that_of_a_normal_law():
    channel = channel_of(0.05, gains=(0.4, 0.6), observers=20, count=5)
    prior = prior_of(GRID)
    measured = 0.5 * two_hot_spots() @ channel.features
    weights = Decoder(prior, channel)._weigh(measured).weights
    expected = np.zeros((3, len(prior.means)))
    for k, hot_spots in enumerate(HOT_SPOTS):
        means, covariances = features_spread(prior, channel.features, hot_spots, 20)
        for h in range(len(prior.means)):
            for gain in channel.gains:
                law = stats.multivariate_normal(gain * means[h], gain**2 * covariances[h] + 0.05**2 * np.eye(5))
                expected[k, h] += prior.weights[h] * law.pdf(measured)
    assert np.allclose(weights, expected / expected.sum(), rtol=1e-6, atol=1e-12)


def test_the_weights_answer_to_a_change_as_stated():
    decoder = Decoder(prior_of(GRID), channel_of(0.05, gains=(0.4, 0.6), observers=20, count=5))
    measured = 0.5 * two_hot_spots() @ decoder.channel.features
    step = np.array([0.0, 1e-6, 0.0, 0.0, 0.0])
    seen = (decoder._weigh(measured + step).weights - decoder._weigh(measured - step).weights) / 2e-6
    assert np.allclose(decoder._weigh(measured).answers[:, :, 1], seen, atol=1e-6)


def test_the_linear_estimate_is_the_posterior_mean_of_the_mixture():
    channel = channel_of(0.05, observers=20, averages_models=True, count=5)
    prior = prior_of(GRID)
    measured = two_hot_spots() @ channel.features
    evidence = Decoder(prior, channel)._weigh(measured)
    weights, linear = evidence.weights, evidence.linear
    expected = np.zeros(GRID.size)
    for k, hot_spots in enumerate(HOT_SPOTS):
        means, covariances = features_spread(prior, channel.features, hot_spots, 20)
        for h in range(len(prior.means)):
            shift = prior.covariance_times(prior.means[h], hot_spots, channel.features)
            pull = np.linalg.solve(covariances[h] + 0.05**2 * np.eye(5), measured - means[h])
            expected += weights[k, h] * (prior.means[h] + shift @ pull)
    assert np.allclose(linear, expected, atol=1e-10)


def test_without_noise_the_map_comes_back():
    truth = two_hot_spots()
    decoded = Decoder(prior_of(GRID), channel_of(1e-5, count=None)).decode(truth, BLUR)
    assert np.corrcoef(decoded.map.ravel(), render(truth.reshape(GRID.shape), 1.0).ravel())[0, 1] > 0.999
    assert decoded.data_share > 0.95


def test_under_huge_noise_the_prior_comes_back():
    prior = prior_of(GRID)
    channel = channel_of(1e6)
    noise = np.random.default_rng(2).normal(0, 1e6, 40)
    decoded = Decoder(prior, channel).decode(two_hot_spots() @ channel.features + noise, BLUR)
    assert np.allclose(decoded.map, render(prior.mean.reshape(GRID.shape), 1.0), rtol=1e-3)
    assert decoded.data_share < 1e-6
    assert decoded.noise_sd.max() < 1e-4 * decoded.map.mean()


def test_an_unknown_gain_is_found():
    truth = two_hot_spots()
    decoder = Decoder(prior_of(GRID), channel_of(1e-4, gains=(0.3, 0.5, 0.75), count=None))
    decoded = decoder.decode(0.42 * truth, BLUR)
    assert np.corrcoef(decoded.map.ravel(), render(truth.reshape(GRID.shape), 1.0).ravel())[0, 1] > 0.99


@pytest.mark.parametrize("radial", [False, True])
def test_the_error_bars_are_what_fresh_noise_does(radial):
    """The standard deviation over 80 seeded draws, pooled over cells, is not far off even with eight random features.

    How right the bars of the strategies are is tested in test_error_bars.py.
    """
    truth, count, sd = two_hot_spots(), 8, 0.02
    scale = sd / np.sqrt(count + 1)
    channel = channel_of(sd, radial_scale=scale if radial else None, averages_models=radial, count=count)
    decoder = Decoder(prior_of(GRID), channel)
    rng = np.random.default_rng(3)
    maps, said = [], []
    for _ in range(80):
        noise = rng.normal(size=count)
        if radial:
            noise *= rng.gamma(count, scale) / np.linalg.norm(noise)
        else:
            noise *= sd
        decoded = decoder.decode(truth @ channel.features + noise, BLUR)
        maps.append(decoded.map)
        said.append(decoded.noise_sd)
    seen = np.sqrt(np.mean(np.var(maps, axis=0)))
    stated = np.sqrt(np.mean(np.square(said)))
    assert 0.6 < stated / seen < 1.5


def test_the_share_of_data_grows_as_noise_falls():
    truth = two_hot_spots()
    shares = []
    for noise_sd in (1.0, 0.1, 0.01, 0.001):
        channel = channel_of(noise_sd)
        shares.append(Decoder(prior_of(GRID), channel).decode(truth @ channel.features, BLUR).data_share)
    assert shares == sorted(shares)
    assert 0 <= shares[0] < shares[-1] <= 1
