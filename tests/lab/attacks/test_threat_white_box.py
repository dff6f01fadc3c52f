# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The white box of the paper: the reference goes through the same mechanism, with noise of its own."""

from __future__ import annotations

import numpy as np

from gazeveil.lab.attacks import Knowledge
from tests.lab.attacks.veiled_people import attack_of, error, people, veil, veil_of


def test_the_query_is_compared_as_it_is() -> None:
    shown = veil(veil_of("gaussian", sigma=1.0), people()[0])
    query = attack_of("white-box").prepare(Knowledge(veil_of("gaussian", sigma=1.0))).query(shown)
    assert np.array_equal(query.x, shown.x)


def test_every_draw_has_noise_of_its_own() -> None:
    gaussian, raw = veil_of("gaussian", sigma=1.0), people()[0]
    ready = attack_of("white-box", draws=3).prepare(Knowledge(gaussian))
    draws = ready.references(raw)
    assert len(draws) == 3
    assert error(draws[0], draws[1]) > 1.5
    assert error(ready.references(people()[1])[0], people()[1]) > 1
    assert error(ready.reference(raw), draws[0]) == 0


def test_a_veil_without_noise_is_applied_once() -> None:
    smoothing, raw = veil_of("smoothing", window=50), people()[0]
    draws = attack_of("white-box").prepare(Knowledge(smoothing)).references(raw)
    assert len(draws) == 1
    assert error(draws[0], veil(smoothing, raw)) == 0
