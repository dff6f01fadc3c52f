# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The best linear filter, learnt from simulated strangers behind the same veil."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gazeveil.errors import OptionError
from gazeveil.lab.attacks import Exemplar, Knowledge, Trial
from gazeveil.lab.attacks.threats.wiener import best_filter
from tests.lab.attacks.veiled_people import attack_of, error, people, veil, veil_of

CASES: list[tuple[str, dict[str, Any], float]] = [
    ("gaussian", {"sigma": 3.0}, 0.55),
    ("smoothing", {"window": 50}, 0.2),
    ("spatial", {"centred": False}, 0.7),
    ("temporal", {"keep_every": 20}, 0.8),
    ("kalman", {}, 0.4),
    ("clock", {"epsilon": 3, "window": "0.5", "radius": "2.25"}, 0.85),
]


@pytest.mark.parametrize(("name", "options", "share"), CASES, ids=[case[0] for case in CASES])
def test_every_veil_is_weakened_by_it(name: str, options: dict[str, Any], share: float) -> None:
    mechanism = veil_of(name, **options)
    ready = attack_of("wiener", people=12).prepare(Knowledge(mechanism))
    before, after = [], []
    for number, raw in enumerate(people(4, 30.0)):
        shown = veil(mechanism, raw, number)
        before.append(error(shown, raw))
        after.append(error(ready.query(shown), raw))
    assert np.mean(after) < share * np.mean(before)


def test_a_matched_filter_beats_one_for_another_veil() -> None:
    wide, narrow = veil_of("gaussian", sigma=3.0), veil_of("gaussian", sigma=0.3)
    errors = []
    for known in (wide, narrow):
        ready = attack_of("wiener", people=8).prepare(Knowledge(known))
        errors.append(np.mean([error(ready.query(veil(wide, raw, n)), raw) for n, raw in enumerate(people())]))
    assert errors[0] < 0.7 * errors[1]


def test_a_known_filter_is_found() -> None:
    """White gaze through a filter with two taps: its best inverse is the inverse."""
    rng = np.random.default_rng(3)
    pairs = []
    for _ in range(20):
        x, y = rng.normal(size=(2, 1000))
        raw = Trial("", "1", "a", np.arange(1000) / 50, x, y, 50.0)
        late = [values + 0.5 * np.concatenate(([0.0], values[:-1])) for values in (x, y)]
        pairs.append(Exemplar(raw, raw.with_gaze(*late)))
    taps, shift = best_filter(tuple(pairs), 64)
    assert np.allclose(taps[0, 32:36], [1.0, -0.5, 0.25, -0.125], atol=0.05)
    assert np.abs(taps[:, :32]).max() < 0.05
    assert np.abs(shift).max() < 0.05


def test_another_rate_gets_a_filter_of_its_own() -> None:
    smoothing, raw = veil_of("smoothing", window=20), people()[0]
    ready = attack_of("wiener", people=4).prepare(Knowledge(smoothing))
    slow = Trial("", "1", "a", raw.t[::2], raw.x[::2], raw.y[::2], raw.rate_hz / 2)
    for trial in (raw, slow):
        shown = veil(smoothing, trial)
        assert error(ready.query(shown), trial) < 0.5 * error(shown, trial)
    with pytest.raises(OptionError, match="seconds"):
        attack_of("wiener", seconds=0.0)
