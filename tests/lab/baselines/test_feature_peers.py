# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Peers for feature series: k-same really shares every series, Steil's mechanism has the formula's chances."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gazeveil import NoiseSource, Unproven
from gazeveil.errors import InputError, OptionError
from gazeveil.features.series import SERIES_MECHANISMS
from gazeveil.lab.as_published.feature_series import ExponentialAsPublished
from gazeveil.lab.baselines import DATASET_SERIES


@pytest.mark.parametrize("name", sorted(DATASET_SERIES))
class TestTheContract:
    def test_series_come_back_in_shape_and_range(self, name: str) -> None:
        values = np.random.default_rng(1).random((9, 12, 3))
        out = DATASET_SERIES[name](steps=12, features=3).perturb(values, NoiseSource.seeded(1))
        assert out.shape == values.shape
        assert out.min() >= 0
        assert out.max() <= 1

    def test_equal_noise_gives_equal_series_and_other_noise_others(self, name: str) -> None:
        values, peer = np.random.default_rng(1).random((9, 12, 3)), DATASET_SERIES[name](steps=12, features=3)
        first = peer.perturb(values, NoiseSource.seeded(1))
        assert np.array_equal(first, peer.perturb(values, NoiseSource.seeded(1)))
        assert not np.array_equal(first, peer.perturb(values, NoiseSource.seeded(2)))

    def test_it_is_no_release_and_says_what_it_lacks(self, name: str) -> None:
        peer = DATASET_SERIES[name](steps=12)
        assert isinstance(peer.guarantee, Unproven)
        assert "alone" in peer.guarantee.reason
        assert peer.claimed.endswith(".")
        assert name not in SERIES_MECHANISMS
        assert not hasattr(peer, "product")

    def test_it_is_written_as_plain_values(self, name: str) -> None:
        values = json.loads(json.dumps(DATASET_SERIES[name](steps=12).to_dict()))
        assert values.pop("mechanism") == name
        assert DATASET_SERIES[name](**values) == DATASET_SERIES[name](steps=12)

    def test_missing_values_other_shapes_and_too_few_people_are_refused(self, name: str) -> None:
        peer = DATASET_SERIES[name](steps=12)
        with pytest.raises(OptionError, match="missing"):
            peer.perturb(np.full((9, 12, 1), np.nan), NoiseSource.seeded(1))
        with pytest.raises(OptionError, match="steps"):
            peer.perturb(np.zeros((9, 11, 1)), NoiseSource.seeded(1))
        with pytest.raises(InputError, match="participants"):
            peer.perturb(np.zeros((1, 12, 1)), NoiseSource.seeded(1))


@given(people=st.integers(2, 25), k=st.integers(1, 8), seed=st.integers(0, 99))
@settings(max_examples=50, deadline=None)
def test_every_released_series_is_that_of_k_people_and_their_mean(people: int, k: int, seed: int) -> None:
    if people < k:
        return
    values = np.random.default_rng(seed).random((people, 4, 2))
    out = DATASET_SERIES["k-same"](steps=4, features=2, k=k).perturb(values, NoiseSource.seeded(seed))  # type: ignore[call-arg]
    for series in out:
        same = np.all(out == series, axis=(1, 2))
        assert same.sum() >= k
        assert series == pytest.approx(values[same].mean(axis=0))


def test_who_knows_the_others_of_a_group_has_the_last_one() -> None:
    """Why k-same is unproven: subtraction, as from any mean without noise (Liu 2019, section 3.3)."""
    values = np.random.default_rng(1).random((4, 5, 1))
    out = DATASET_SERIES["k-same"](steps=5, k=4).perturb(values, NoiseSource.seeded(1))  # type: ignore[call-arg]
    assert 4 * out[3] - values[:3].sum(axis=0) == pytest.approx(values[3])


class TestSteil:
    def test_chances_are_those_of_the_exponential_mechanism(self) -> None:
        """Chi-square over 40 bins of equal chance by the formula. False alarm: below 1e-6 (101 for 39 degrees)."""
        mechanism = ExponentialAsPublished(epsilon=4, steps=1000, every=1, measures_people=False)
        moved = mechanism.unclipped(np.full((60, 1000, 1), 0.5), NoiseSource.seeded(1)).ravel() - 0.5
        shares = np.arange(1, 40) / 40
        scale = 2 / 4  # the density is proportional to exp(-ε |r - x| / 2δ), with δ = 1
        edges = np.where(shares < 0.5, np.log(2 * shares), -np.log(2 * (1 - shares))) * scale
        counts = np.bincount(np.searchsorted(edges, moved), minlength=40)
        assert np.sum(np.square(counts - 1500) / 1500) < 101

    def test_as_published_the_noise_is_as_wide_as_the_people_at_hand_range(self) -> None:
        mechanism = ExponentialAsPublished(epsilon=10, steps=400, every=1)
        near = 0.5 + 0.01 * np.random.default_rng(1).random((5, 400, 1))
        far = np.random.default_rng(1).random((5, 400, 1))
        spread = [np.abs(mechanism.unclipped(some, NoiseSource.seeded(1)) - some).mean() for some in (near, far)]
        assert spread[0] == pytest.approx(0.01 * spread[1], rel=0.1)

    def test_the_true_loss_of_ten_minutes_of_52_features_is_thousands_of_times_the_claim(self) -> None:
        mechanism = ExponentialAsPublished(epsilon=1, steps=1141, features=52)
        assert mechanism.epsilon_for(1) == 26
        assert mechanism.epsilon_for(1141) == Fraction(52 * 115, 2)
        assert "B1" in mechanism.guarantee.reason  # type: ignore[attr-defined]
        assert "ε = 1" in mechanism.claimed
