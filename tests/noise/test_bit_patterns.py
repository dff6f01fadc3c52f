# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The precision-grid test: the bits of a noisy float must not tell what was added to the noise.

An event is "this bit of the float is set" or "the float is a multiple of 2**-j", within a quarter of zero. For each
event the privacy loss between the values 0 and 1 is bounded from below by Clopper-Pearson intervals. A bound above ε
proves a leak. Joint level 1e-6 over all events and both directions.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from gazeveil.noise import NoiseSource, add_gaussian, add_laplace, add_radial, from_lattice, lattice_step, to_lattice

Floats = NDArray[np.float64]
COUNT = 200_000
EPSILON = 1.0


def events(outputs: Floats) -> NDArray[np.int64]:
    """Count every event and its opposite."""
    near = outputs[np.abs(outputs) < 0.25]
    patterns = near.view(np.uint64)
    bits = [patterns >> np.uint64(bit) & np.uint64(1) == 1 for bit in range(64)]
    grids = [np.ldexp(near, j) == np.rint(np.ldexp(near, j)) for j in range(0, 80, 2)]
    counts = np.array([np.count_nonzero(event) for event in bits + grids])
    return np.concatenate([counts, len(near) - counts])


def proven_loss(outputs_of_zero: Floats, outputs_of_one: Floats) -> float:
    """Return the largest privacy loss that the events prove."""
    zero, one = events(outputs_of_zero), events(outputs_of_one)
    level = 1e-6 / (4 * len(zero))

    def loss(a: NDArray[np.int64], b: NDArray[np.int64]) -> float:
        least = stats.beta.ppf(level, a, COUNT - a + 1)
        most = stats.beta.ppf(1 - level, b + 1, COUNT - b)
        return float(np.max(np.log(np.maximum(np.nan_to_num(least), 1e-300) / most)))

    return max(loss(zero, one), loss(one, zero))


def our_laplace(value: float, seed: int) -> Floats:
    step = lattice_step(1 / EPSILON)
    return from_lattice(
        add_laplace(NoiseSource.seeded(seed), to_lattice(np.full(COUNT, value), step), 1 / EPSILON, step), step
    )


def our_gaussian(value: float, seed: int) -> Floats:
    step = lattice_step(
        3.0
    )  # a third of a standard deviation between 0 and 1: far below the loss bound for these events
    return from_lattice(
        add_gaussian(NoiseSource.seeded(seed), to_lattice(np.full(COUNT, value), step), 3.0, step), step
    )


def our_radial(value: float, seed: int) -> Floats:
    # A point off the lattice, whose last bits differ from those of its neighbour at distance one.
    points = np.full((COUNT, 2), [0.1 + value, 0.2])
    return add_radial(NoiseSource.seeded(seed), points, 1 / EPSILON, 2.0**-6)[:, 0]


@pytest.mark.parametrize("mechanism", [our_laplace, our_gaussian, our_radial])
def test_no_bit_pattern_tells_zero_from_one(mechanism: Callable[[float, int], Floats]) -> None:
    assert proven_loss(mechanism(0.0, 400), mechanism(1.0, 401)) <= EPSILON


@pytest.mark.parametrize("mechanism", [our_laplace, our_gaussian, our_radial])
def test_all_outputs_lie_on_one_lattice_whatever_the_value(mechanism: Callable[[float, int], Floats]) -> None:
    for value in (0.0, 1.0):
        outputs = mechanism(value, 402) * 64
        assert np.array_equal(outputs, np.rint(outputs))


def test_the_laplace_noise_of_numpy_fails_the_same_test() -> None:
    outputs = [value + np.random.default_rng(403).laplace(scale=1 / EPSILON, size=COUNT) for value in (0.0, 1.0)]
    assert proven_loss(*outputs) > 5 * EPSILON


def test_half_the_noise_that_is_needed_fails_the_same_test() -> None:
    halves = []
    for value in (0.0, 1.0):
        noisy = add_laplace(NoiseSource.seeded(404), np.full(COUNT, int(64 * value)), 32)
        halves.append(from_lattice(noisy, 2.0**-6))
    assert proven_loss(*halves) > EPSILON
