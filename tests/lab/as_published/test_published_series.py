# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The published mechanisms for feature series: what they do, and by how much they miss what they claim."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gazeveil.errors import InputError, UnknownName
from gazeveil.features.series import SERIES_MECHANISMS, SeriesMechanism
from gazeveil.lab import load
from gazeveil.lab.as_published.feature_series import AsPublished, best_kept
from gazeveil.noise import NoiseSource
from gazeveil.privacy.guarantee import Unproven

load()
PUBLISHED = sorted(set(SERIES_MECHANISMS.names(unlisted=True)) - set(SERIES_MECHANISMS.names()))


def made(name: str, **options: Any) -> SeriesMechanism:
    return SERIES_MECHANISMS[name](**{"epsilon": 1, "steps": 100, "features": 3, **options})


def people(count: int = 4, steps: int = 100, features: int = 3, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    walk = np.cumsum(rng.normal(size=(count, steps, features)), axis=1) / np.sqrt(steps)
    return np.asarray(np.clip(0.5 + 0.2 * walk, 0.0, 1.0))


def test_they_are_found_by_name_and_not_offered() -> None:
    assert len(PUBLISHED) == 5
    with pytest.raises(UnknownName) as caught:
        SERIES_MECHANISMS["fpaa"]
    assert "as-published" not in caught.value.hint


@pytest.mark.parametrize("name", PUBLISHED)
def test_series_come_back_in_shape_and_range_and_by_their_noise(name: str) -> None:
    values = people()
    noisy = made(name).perturb(values, NoiseSource.seeded(1))
    assert noisy.shape == values.shape
    assert noisy.min() >= 0
    assert noisy.max() <= 1
    first = made(name, epsilon=100).perturb(values, NoiseSource.seeded(5))
    assert np.array_equal(first, made(name, epsilon=100).perturb(values, NoiseSource.seeded(5)))
    assert not np.array_equal(first, made(name, epsilon=100).perturb(values, NoiseSource.seeded(6)))


class TestAsPublished:
    @pytest.mark.parametrize("name", PUBLISHED)
    def test_it_says_why_it_promises_nothing(self, name: str) -> None:
        guarantee = made(name).guarantee
        assert isinstance(guarantee, Unproven)
        assert "B1" in guarantee.reason

    @pytest.mark.parametrize(("chunk", "factor"), [(64, 8.0), (128, np.sqrt(128))])
    def test_the_true_loss_of_one_chunk_is_root_n_times_the_claim(self, chunk: int, factor: float) -> None:
        """B4: 8 times for chunks of 64, 11.3 times for chunks of 128."""
        mechanism = made("c-fpa-as-published", steps=chunk, features=1, chunk=chunk, measures_people=False)
        assert float(mechanism.epsilon_for(chunk)) == pytest.approx(factor, rel=1e-6)

    def test_over_ten_minutes_and_48_features_it_is_in_the_thousands(self) -> None:
        mechanism = made("c-fpa-as-published", steps=18 * 64, features=48, chunk=64, measures_people=False)
        assert float(mechanism.epsilon_for(18 * 64)) == pytest.approx(48 * 18 * 8, rel=1e-6)

    def test_the_first_element_of_a_chunk_of_differences_leaves_in_the_clear(self) -> None:
        values = people()
        noisy = made("dc-fpa-as-published", chunk=20).perturb(values, NoiseSource.seeded(1))
        assert np.array_equal(noisy[:, ::20], values[:, ::20])

    @pytest.mark.parametrize("name", PUBLISHED)
    def test_one_person_alone_has_nobody_to_differ_from(self, name: str) -> None:
        with pytest.raises(InputError, match="at least two"):
            made(name).perturb(people(count=1), NoiseSource.seeded(1))

    def test_the_search_for_the_best_number_of_bins_looks_at_the_data(self) -> None:
        values = people(count=6, features=1)
        slow = np.full_like(values, 0.5) + np.linspace(0, 0.2, 6)[:, None, None]
        mechanism = made("fpa-as-published", features=1, epsilon=3)
        assert isinstance(mechanism, AsPublished)
        few = best_kept(mechanism, slow, NoiseSource.seeded(1), runs=3)
        assert few.kept == 1
        assert best_kept(mechanism, values, NoiseSource.seeded(1), runs=3).kept > 1
