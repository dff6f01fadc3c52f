# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The matched smoother: what a private stream released is read off its output, and smoothed with its own noise."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gazeveil.errors import OptionError
from gazeveil.lab.attacks import Knowledge
from gazeveil.lab.attacks.restoring import Releases, releases_of
from gazeveil.lab.attacks.restoring_kernels import likelihood, smoothed_wander
from gazeveil.noise import NoiseSource
from gazeveil.samples.mechanism import SampleMechanism
from gazeveil.samples.space import Sphere
from gazeveil.samples.stream import StreamVeil
from tests.lab.attacks.veiled_people import SPACE, attack_of, error, fixations, people, veil, veil_of

PROMISE: dict[str, Any] = {"epsilon": 3, "window": "0.5", "radius": "2.25"}
STRONG: dict[str, Any] = {"epsilon": "0.5", "window": 2, "radius": "11.25"}
STREAMS = ["clock", "kaleido", "sparse-vector", "distribution", "absorption"]


def truly_released(mechanism: SampleMechanism, seed: int) -> tuple[Releases, Releases]:
    """What a veil released, by its own books, and what is read off its output; no gaze is missing."""
    raw = fixations(18, 150)
    stream = mechanism.start(NoiseSource.seeded(seed))
    assert isinstance(stream, StreamVeil)
    from gazeveil.samples import stream_kernels as k

    shown, ticks, before = [], [], 0
    for n, (t, x, y) in enumerate(zip(raw.t.tolist(), raw.x.tolist(), raw.y.tolist(), strict=True)):
        shown.append(stream.step(t, x, y))
        if stream._clock[k.TICKS] > before:
            before = stream._clock[k.TICKS]
            ticks.append(n)
    across, down = np.array(shown).T
    at = np.array(ticks)
    return Releases(at, raw.x[at], raw.y[at], np.zeros(len(at))), releases_of(mechanism, raw.t, across, down)


@pytest.mark.parametrize("name", STREAMS)
@pytest.mark.parametrize("filtered", [True, False])
def test_every_release_is_read_off_the_output(name: str, filtered: bool) -> None:
    true, read = truly_released(veil_of(name, filter=filtered, **PROMISE), 3)
    assert np.array_equal(true.at, read.at)
    # planar Laplace noise of scale b is off by 6 b² on average, with a deviation of 9.2 b²; of 60 points the mean is
    # beyond these limits with a chance below 0.01
    squares = (read.x - true.x) ** 2 + (read.y - true.y) ** 2
    assert len(squares) > 55
    assert 0.5 < np.mean(squares / (2 * read.variance)) < 1.6


def test_the_noisy_points_are_the_very_ones_of_the_veil() -> None:
    held, filtered = veil_of("clock", filter=False, ticks=4, **PROMISE), veil_of("clock", ticks=4, **PROMISE)
    (_, plain), (_, read) = truly_released(held, 5), truly_released(filtered, 5)
    inside = (np.abs(plain.x) < 50) & (np.abs(plain.y) < 40)  # what is held without a filter is put on the edge
    assert inside.mean() > 0.8
    assert np.abs(plain.x - read.x)[inside].max() < 1e-6
    assert np.abs(plain.y - read.y)[inside].max() < 1e-6


def test_a_filter_and_an_edge_behind_the_veil_change_nothing() -> None:
    clock, raw = veil_of("clock", **PROMISE), people()[0]
    chain = veil_of("chain", members=(clock, veil_of("kalman"), veil_of("edge")))
    alone = attack_of("kalman").prepare(Knowledge(clock)).query(veil(clock, raw))
    chained = attack_of("kalman").prepare(Knowledge(chain)).query(veil(chain, raw))
    assert error(alone, chained) < 1e-4


def test_the_matched_smoother_beats_the_veil_and_an_unmatched_one() -> None:
    for mechanism in (veil_of("gaussian", sigma=3.0), veil_of("clock", **PROMISE), veil_of("kaleido", **PROMISE)):
        behind: list[float] = []
        matched: list[float] = []
        wide: list[float] = []
        narrow: list[float] = []
        for number, raw in enumerate(people(6, 30.0)):
            shown = veil(mechanism, raw, number)
            behind.append(error(shown, raw))
            for scale, errors in ((1.0, matched), (4.0, wide), (0.25, narrow)):
                guess = attack_of("kalman", scale=scale).prepare(Knowledge(mechanism)).query(shown)
                errors.append(error(guess, raw))
        assert np.mean(matched) < 0.8 * np.mean(behind)
        assert np.mean(matched) < np.mean(wide)
        assert np.mean(matched) < np.mean(narrow)


def test_what_it_gains_on_a_strong_promise_is_bounded() -> None:
    """With ε = 0.5 for 2 s and 11.25°, the smoother cannot do better than not looking at the person at all."""
    strong = veil_of("clock", **STRONG)
    crowd = people(6, 30.0)
    guesses = [
        attack_of("kalman").prepare(Knowledge(strong)).query(veil(strong, raw, n)) for n, raw in enumerate(crowd)
    ]
    spread = [float(np.hypot(np.nanstd(raw.x), np.nanstd(raw.y))) for raw in crowd]
    assert np.mean([error(guess, raw) for guess, raw in zip(guesses, crowd, strict=True)]) > 0.9 * np.mean(spread)


def test_held_points_are_known_exactly_and_joined() -> None:
    hold, raw = veil_of("temporal", keep_every=10), people()[0]
    shown = veil(hold, raw)
    guess = attack_of("kalman").prepare(Knowledge(hold)).query(shown)
    assert error(guess, raw) < 0.75 * error(shown, raw)
    ticks = veil_of("held-ticks", **PROMISE)
    shown = veil(ticks, raw)
    assert error(attack_of("kalman").prepare(Knowledge(ticks)).query(shown), raw) < error(shown, raw)


def test_yaw_all_around_and_a_veil_that_looks_back() -> None:
    raw = people()[0]
    for mechanism in (veil_of("clock", Sphere(), **PROMISE), veil_of("clock", SPACE, lag=0.3, **PROMISE)):
        shown = veil(mechanism, raw)
        assert error(attack_of("kalman").prepare(Knowledge(mechanism)).query(shown), raw) < 0.95 * error(shown, raw)


def test_the_smoother_is_the_conditional_mean_of_the_process() -> None:
    rng = np.random.default_rng(2)
    t = np.cumsum(rng.uniform(0.01, 0.3, 12))
    cover = 9.0 * np.exp(-np.abs(t[:, None] - t) / 0.4)
    noise, seen = rng.uniform(0.5, 2.0, 12), rng.normal(size=12)
    wanted = cover @ np.linalg.solve(cover + np.diag(noise), seen)
    path, spread = smoothed_wander(np.diff(t, prepend=t[:1]), seen, noise, 9.0, 0.4)
    assert np.allclose(path, wanted)
    assert np.allclose(spread, np.diag(cover - cover @ np.linalg.solve(cover + np.diag(noise), cover)))
    total = cover + np.diag(noise) + 4.0  # a mean of variance 4, the same for all
    fit, _ = likelihood(np.diff(t, prepend=t[:1]), seen, noise, 9.0, 0.4, 4.0)
    assert fit == pytest.approx(-0.5 * (seen @ np.linalg.solve(total, seen) + np.linalg.slogdet(total)[1]))


def test_where_nothing_can_be_read_off_it_says_so() -> None:
    assert not attack_of("kalman").fits(veil_of("spatial"))
    assert not attack_of("kalman").fits(veil_of("smoothing"))
    with pytest.raises(OptionError, match="nothing to do"):
        attack_of("kalman").prepare(Knowledge(veil_of("spatial")))
    with pytest.raises(OptionError, match="scale"):
        attack_of("kalman", scale=0.0)
