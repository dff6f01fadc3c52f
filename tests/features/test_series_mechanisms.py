# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Every mechanism for own series keeps one contract; sensitivities hold, and are attained where they can be."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gazeveil.errors import OptionError
from gazeveil.features import fourier
from gazeveil.features.fourier import ChunkedSeries
from gazeveil.features.series import SERIES_MECHANISMS, SeriesMechanism
from gazeveil.noise import NoiseSource
from gazeveil.privacy.guarantee import ApproxDP, PureDP
from gazeveil.privacy.protection import FeatureSeries, Observer
from gazeveil.testing import check_series_mechanism

SOUND = SERIES_MECHANISMS.names()
WITH_GAUSSIAN = ["lpa", "fpa", "c-fpa", "dc-fpa"]


def made(name: str, **options: Any) -> SeriesMechanism:
    return SERIES_MECHANISMS[name](**{"epsilon": 1, "steps": 100, "features": 3, **options})


@pytest.mark.parametrize("name", SERIES_MECHANISMS.names())
class TestTheContract:
    def test_it_keeps_the_contract_that_users_test_theirs_with(self, name: str) -> None:
        check_series_mechanism(made(name))
        check_series_mechanism(made(name, epsilon="0.1", features=1))
        check_series_mechanism(made(name, stretch=10))

    def test_the_promise_is_for_all_that_a_participant_contributes(self, name: str) -> None:
        mechanism = made(name)
        assert mechanism.guarantee.unit == Observer()
        assert isinstance(mechanism.guarantee, PureDP)

    def test_it_is_written_under_its_name(self, name: str) -> None:
        values = made(name, epsilon="0.1").to_dict()
        assert values["mechanism"] == name
        assert values["epsilon"] == "0.1"

    @pytest.mark.parametrize(
        "wrong", [{"epsilon": 0}, {"epsilon": -1}, {"steps": 0}, {"steps": 1 << 17}, {"features": 0}, {"delta": 1}]
    )
    def test_numbers_that_make_no_sense_are_refused(self, name: str, wrong: dict[str, Any]) -> None:
        with pytest.raises(OptionError):
            made(name, **wrong)


@pytest.mark.parametrize("name", SOUND)
class TestSoundOnes:
    def test_a_stretch_of_steps_is_its_own_promise(self, name: str) -> None:
        mechanism = made(name, stretch=10)
        assert mechanism.guarantee == PureDP(1, unit=FeatureSeries(10))

    def test_the_receipt_lists_longer_stretches_at_a_higher_price(self, name: str) -> None:
        rows = made(name, stretch=10).epsilon_by_steps()
        assert (10, Fraction(1)) in rows
        assert rows[0][0] == 1
        assert rows[-1][0] == 100
        prices = [float(price) for _, price in rows]
        assert prices == sorted(prices)
        assert prices[-1] > 2

    def test_a_stretch_longer_than_the_series_is_refused(self, name: str) -> None:
        with pytest.raises(OptionError, match="longer"):
            made(name, stretch=101)

    def test_with_a_huge_epsilon_what_is_kept_comes_through(self, name: str) -> None:
        slow = 0.5 + 0.3 * np.cos(2 * np.pi * np.arange(100) / 100)[None, :, None] * np.ones((2, 1, 3))
        options = {"chunk": 25, "kept": 13} if name in ("c-fpa", "dc-fpa") else {}
        if name == "exponential":
            options = {"every": 1, "levels": 101}
        noisy = made(name, epsilon=1e9, **options).perturb(slow, NoiseSource.seeded(3))
        assert np.abs(noisy - slow).max() < 0.02


@pytest.mark.parametrize("name", WITH_GAUSSIAN)
def test_with_a_delta_the_noise_is_gaussian(name: str) -> None:
    mechanism = made(name, delta="1e-5")
    assert mechanism.guarantee == ApproxDP(1, "1e-5")
    assert isinstance(mechanism, ChunkedSeries)
    assert mechanism.is_gaussian


@pytest.mark.parametrize("name", ["efpa", "spa", "exponential"])
def test_pure_mechanisms_refuse_a_delta(name: str) -> None:
    with pytest.raises(OptionError, match="delta"):
        made(name, delta=1e-5)


class TestBins:
    @given(steps=st.integers(1, 130), seed=st.integers(0, 99))
    @settings(max_examples=40, deadline=None)
    def test_all_bins_give_the_series_back(self, steps: int, seed: int) -> None:
        series = np.random.default_rng(seed).random((2, steps))
        every = fourier.bin_count(steps)
        parts = fourier.fourier_coordinates(series, every)
        assert np.allclose(fourier.series_of_coordinates(parts, steps), series, atol=1e-12)
        even = fourier.orthonormal(steps, every)
        assert np.allclose(np.sum(np.square(parts * even), axis=1), np.sum(np.square(series), axis=1))

    @pytest.mark.parametrize(("steps", "kept"), [(64, 1), (64, 5), (65, 33), (64, 33), (128, 17)])
    def test_the_l1_bound_is_attained_so_no_less_noise_would_do(self, steps: int, kept: int) -> None:
        """B5: the worst change has coordinates that all pull alike."""
        worst = np.ones(fourier.coordinate_count(steps, kept)) / fourier.orthonormal(steps, kept) ** 2
        change = fourier.series_of_coordinates(worst, steps)
        parts = fourier.fourier_coordinates(change, kept)
        assert np.abs(parts).sum() / np.linalg.norm(change) == pytest.approx(np.sqrt(kept), rel=1e-9)

    @given(
        steps=st.integers(8, 60), kept=st.integers(1, 6), changed=st.integers(1, 40), where=st.integers(0, 99),
        seed=st.integers(0, 999),
    )  # fmt: skip
    @settings(max_examples=60, deadline=None)
    def test_no_change_of_a_stretch_is_seen_more_than_stated(
        self, steps: int, kept: int, changed: int, where: int, seed: int
    ) -> None:
        kept, changed = min(kept, fourier.bin_count(steps)), min(changed, steps)
        begin = where % (steps - changed + 1)
        change = np.zeros(steps)
        change[begin : begin + changed] = np.random.default_rng(seed).choice([-1.0, 1.0], changed)
        parts = fourier.fourier_coordinates(change, kept) * fourier.orthonormal(steps, kept)
        assert np.sum(np.square(parts)) <= changed * fourier.slow_share(steps, kept, changed) + 1e-9


@given(
    name=st.sampled_from(WITH_GAUSSIAN), chunk=st.sampled_from([4, 8, 16]), kept=st.integers(1, 3),
    changed=st.integers(1, 40), where=st.integers(0, 99), seed=st.integers(0, 999), delta=st.sampled_from([0, 1e-5]),
)  # fmt: skip
@settings(max_examples=120, deadline=None)
def test_no_two_neighbours_are_farther_apart_than_the_noise_is_made_for(
    name: str, chunk: int, kept: int, changed: int, where: int, seed: int, delta: float
) -> None:
    """All coordinates of both neighbours, rounded as they are released, for random and for extreme series."""
    steps = 40
    options = {} if name == "lpa" else {"kept": kept} if name == "fpa" else {"kept": kept, "chunk": chunk}
    mechanism = SERIES_MECHANISMS[name](epsilon=1, steps=steps, features=2, delta=delta, stretch=changed, **options)
    assert isinstance(mechanism, ChunkedSeries)
    rng = np.random.default_rng(seed)
    first = rng.choice([0.0, 0.3, 1.0], (2, steps))
    second = first.copy()
    begin = where % (steps - changed + 1)
    second[:, begin : begin + changed] = rng.choice([0.0, 1.0], (2, changed))
    apart = np.concatenate([
        (there - here).ravel()
        for here, there in zip(released(mechanism, first), released(mechanism, second), strict=True)
    ])  # fmt: skip
    order = 2 if delta else 1
    assert np.linalg.norm(apart, ord=order) <= float(mechanism.sensitivity(changed))


def released(mechanism: ChunkedSeries, series: np.ndarray) -> list[np.ndarray]:
    """What noise is added to, rounded to the lattice: that of a mechanism with hardly any noise."""
    out = []
    for part in mechanism._parts(series[None]):
        prepared = mechanism.prepare(part)
        kept = min(mechanism.kept, fourier.bin_count(prepared.shape[-1]))
        parts = fourier.fourier_coordinates(prepared, kept)
        if mechanism.is_gaussian:
            parts = parts * fourier.orthonormal(prepared.shape[-1], kept)
        out.append(np.trunc(parts * 2**24) / 2**24)
    return out


class TestChunks:
    def test_a_person_pays_for_every_chunk(self) -> None:
        """B2: with as much noise, ten chunks cost ten times what one does."""
        mechanism = made("c-fpa", steps=640, features=1, chunk=64, epsilon=10)
        assert isinstance(mechanism, ChunkedSeries)
        one = made("fpa", steps=64, features=1, epsilon=1)
        assert isinstance(one, ChunkedSeries)
        assert mechanism.scale == pytest.approx(one.scale, rel=1e-6)

    def test_a_stretch_as_long_as_a_chunk_meets_two(self) -> None:
        """B11: noise for one chunk is too little by √2."""
        mechanism = made("c-fpa", steps=640, features=1, chunk=64, stretch=64)
        assert isinstance(mechanism, ChunkedSeries)
        assert mechanism.touched(64) == 2
        assert mechanism.touched(1) == 1
        assert mechanism.touched(66) == 3
        assert float(mechanism.sensitivity(64)) == pytest.approx(np.sqrt(2 * 2 * 64), rel=1e-3)

    def test_the_bound_of_one_chunk_is_exceeded_by_a_stretch_across_two(self) -> None:
        rng = np.random.default_rng(0)
        longest = 0.0
        for _ in range(300):
            change = np.zeros(128)
            slow = rng.choice([-1.0, 1.0]), rng.choice([-1.0, 1.0])
            change[32:64], change[64:96] = slow
            parts = fourier.fourier_coordinates(change.reshape(2, 64), 2)
            longest = max(longest, float(np.abs(parts).sum()))
        assert longest > np.sqrt(2 * 64)

    def test_a_chunk_longer_than_the_series_is_refused(self) -> None:
        with pytest.raises(OptionError, match="longer than the series"):
            made("c-fpa", chunk=101)

    def test_more_bins_than_there_are_are_refused(self) -> None:
        with pytest.raises(OptionError, match="33 bins"):
            made("c-fpa", chunk=64, kept=34)

    def test_gaussian_noise_does_not_care_how_chunks_lie(self) -> None:
        short = made("c-fpa", steps=640, features=1, chunk=8, kept=5, stretch=64, delta=1e-5)
        long = made("c-fpa", steps=640, features=1, chunk=64, kept=33, stretch=64, delta=1e-5)
        assert isinstance(short, ChunkedSeries)
        assert isinstance(long, ChunkedSeries)
        assert short.scale == pytest.approx(long.scale, rel=1e-4)
