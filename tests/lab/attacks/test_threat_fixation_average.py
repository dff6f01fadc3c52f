# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Averaging over fixations divides independent noise by the root of their length (erratum W5)."""

from __future__ import annotations

import math

import numpy as np
import pytest

from gazeveil.errors import OptionError
from gazeveil.lab.attacks import Knowledge
from gazeveil.lab.attacks.restoring_kernels import stretches
from gazeveil.lab.attacks.threats.fixation_average import noise_of
from tests.lab.attacks.veiled_people import attack_of, error, fixations, people, veil, veil_of


@pytest.mark.parametrize(("length", "sigma"), [(20, 1.0), (80, 1.0), (80, 3.0)])
def test_noise_shrinks_with_the_root_of_the_length_of_fixations(length: int, sigma: float) -> None:
    raw = fixations(length, 200)
    shown = veil(veil_of("gaussian", sigma=sigma), raw)
    guess = attack_of("fixation-average").prepare(Knowledge()).query(shown)
    # 200 means: their root mean square is within 15 % of sigma / sqrt(length) with a chance above 0.999
    assert error(guess, raw) * math.sqrt(length) / (sigma * math.sqrt(2)) == pytest.approx(1.0, abs=0.15)


def test_the_noise_is_estimated_where_it_is_not_known() -> None:
    shown = veil(veil_of("gaussian", sigma=2.0), fixations(40, 100))
    assert noise_of(shown.x, shown.y) == pytest.approx(2.0, rel=0.06)
    known = attack_of("fixation-average", sigma=2.0).prepare(Knowledge()).query(shown)
    found = attack_of("fixation-average").prepare(Knowledge()).query(shown)
    assert error(known, found) < 0.2


def test_people_are_closer_after_it_than_behind_the_noise() -> None:
    raw = people()[0]
    for sigma, share in ((1.0, 0.75), (3.0, 0.6)):
        shown = veil(veil_of("gaussian", sigma=sigma), raw)
        guess = attack_of("fixation-average").prepare(Knowledge()).query(shown)
        assert error(guess, raw) < share * error(shown, raw)


def test_the_division_is_the_best_there_is() -> None:
    rng = np.random.default_rng(7)
    x, y = np.repeat([0.0, 3.0, 1.0], 4) + rng.normal(size=12), rng.normal(size=12)
    found, penalty = stretches(x, y, 4.0), 4.0

    def cost(begins: tuple[int, ...]) -> float:
        parts = [slice(a, b) for a, b in zip(begins, (*begins[1:], 12), strict=True)]
        return float(sum(v[p].var() * (p.stop - p.start) for v in (x, y) for p in parts)) + penalty * len(parts)

    every = [(0, *(i for i in range(1, 12) if mask >> i & 1)) for mask in range(0, 1 << 12, 2)]
    assert cost(tuple(found.tolist())) == pytest.approx(min(map(cost, every)))


def test_gaze_without_noise_comes_back() -> None:
    raw = fixations(30, 10)
    guess = attack_of("fixation-average").prepare(Knowledge()).query(raw)
    assert np.array_equal(guess.x, raw.x)
    for bad in ({"sigma": 0.0}, {"penalty": -1.0}):
        with pytest.raises(OptionError):
            attack_of("fixation-average", **bad)
