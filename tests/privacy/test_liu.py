# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Liu's noise as published, and what is wrong with it: the numbers of errata L1 to L6."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from gazeveil.errors import OptionError
from gazeveil.privacy.calibration import LiuNoise, gaussian_delta

HD = 1050 * 1680


def noise(epsilon: str | int, observers: int, pixels: int) -> LiuNoise:
    return LiuNoise(observers=observers, pixels=pixels, epsilon=epsilon)


@pytest.mark.parametrize(
    ("epsilon", "observers", "pixels", "sigma"),
    [(1, 900, 90_000, 1.567), (3, 300, 90_000, 1.544), ("1.5", 50_000, HD, 0.09917)],
)
def test_the_published_sigma_is_reproduced(epsilon: str, observers: int, pixels: int, sigma: float) -> None:
    digits = 5e-4 if sigma > 1 else 5e-6
    assert noise(epsilon, observers, pixels).sigma_gaussian() == pytest.approx(sigma, abs=digits)


def test_the_published_laplace_spread_is_reproduced() -> None:
    assert noise("1.5", 50_000, HD).sigma_laplace() == pytest.approx(33.26, abs=5e-3)  # erratum L5


@pytest.mark.parametrize(
    ("epsilon", "observers", "pixels", "published", "analytic"),
    [
        (1, 50_000, HD, 5.578, 4.700),
        (1, 900, 90_000, 4.702, 3.428),
        (3, 300, 90_000, 1.544, 1.172),
        (1, 30, 1024, 3.540, 2.036),
    ],
)
def test_with_many_pixels_the_number_is_more_than_enough(
    epsilon: int, observers: int, pixels: int, published: float, analytic: float
) -> None:
    liu = noise(epsilon, observers, pixels)
    sensitivity = float(liu.sensitivity())
    assert liu.sigma_gaussian() / sensitivity == pytest.approx(published, abs=6e-4)
    assert liu.sigma_sound() / sensitivity == pytest.approx(analytic, abs=6e-4)
    assert liu.sound
    assert liu.true_delta() < liu.delta


@pytest.mark.parametrize(
    ("observers", "pixels", "ratio"), [(1000, 1, 2.0), (50_000, 16, 4.3), (1_000_000, 64, 14)], ids=str
)
def test_with_few_pixels_the_claim_is_broken(observers: int, pixels: int, ratio: float) -> None:
    liu = noise(1, observers, pixels)
    assert not liu.sound
    assert liu.true_delta() / float(liu.delta) == pytest.approx(ratio, rel=0.03)
    assert liu.sigma_sound() > liu.sigma_gaussian()
    assert Fraction(gaussian_delta(liu.sigma_sound(), liu.sensitivity(), liu.epsilon)) <= liu.delta


def test_the_stated_sigma_leaves_more_of_the_tail_than_the_proof_says() -> None:
    # L2: r exp(-t²/2σ²) at t = εσ²/Δ, less the small shift, is √(r δ) and not δ.
    liu = noise(1, 900, 90_000)
    tail = liu.pixels * math.exp(-((liu.sigma_gaussian() / float(liu.sensitivity())) ** 2) / 2)
    assert tail == pytest.approx(math.sqrt(liu.pixels * liu.delta) * math.exp(-1 / 4))
    assert tail > 1000 * liu.delta


def test_delta_is_the_people_to_the_power_of_minus_three_halves() -> None:
    assert float(noise(1, 30, 4).delta) == pytest.approx(30**-1.5, rel=1e-15)
    assert noise(1, 100, 4).delta == Fraction(1, 1000)
    assert LiuNoise(observers=30, pixels=4, epsilon=1, delta="1e-9").delta == Fraction(1, 10**9)


def test_a_bound_on_samples_makes_the_map_far_less_sensitive() -> None:
    one = LiuNoise(observers=1, pixels=HD, epsilon=1, delta="1e-5")
    assert float(one.sensitivity()) == pytest.approx(1328, abs=0.5)
    assert float(one.sensitivity(samples=300)) == pytest.approx(24.5, abs=0.01)  # erratum L4
    assert one.sigma_sound() / one.sigma_sound(samples=300) == pytest.approx(54, abs=0.5)
    assert one.sensitivity(samples=10**9) == one.sensitivity()


def test_noise_grows_with_the_cap_and_shrinks_with_people() -> None:
    capped = LiuNoise(observers=10, pixels=64, epsilon=1, cap="2.5", delta="1e-6")
    plain = LiuNoise(observers=20, pixels=64, epsilon=1, delta="1e-6")
    assert capped.sigma_gaussian() == pytest.approx(5 * plain.sigma_gaussian())
    assert capped.sigma_laplace() == pytest.approx(5 * plain.sigma_laplace())
    assert capped.true_delta() == pytest.approx(plain.true_delta())


@pytest.mark.parametrize(
    "wrong",
    [{"observers": 0}, {"pixels": 0}, {"epsilon": 0}, {"cap": 0}, {"delta": 1}, {"observers": 1}, {"epsilon": "nan"}],
)
def test_nonsense_is_refused(wrong: dict[str, int]) -> None:
    (named,) = wrong
    with pytest.raises(OptionError, match="delta" if wrong == {"observers": 1} else named):
        LiuNoise(**{"observers": 10, "pixels": 10, "epsilon": 1, **wrong})


@pytest.mark.parametrize("wrong", [{"pixels": 10**320}, {"epsilon": "1e-300"}, {"cap": "1e-300"}, {"delta": "1e-329"}])
def test_what_floats_cannot_hold_is_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(OptionError, match="out of all proportion"):
        LiuNoise(**{"observers": 10, "pixels": 10, "epsilon": 1, **wrong})
