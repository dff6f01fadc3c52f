# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The best linear filter, learnt from exemplars alone."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from gazeveil.errors import InputError, OptionError
from gazeveil.lab.attacks import Knowledge
from tests.lab.attacks.veiled_people import attack_of, error, exemplars, people, veil, veil_of

CASES: list[tuple[str, dict[str, Any], float]] = [
    ("smoothing", {"window": 50}, 0.3),
    ("gaussian", {"sigma": 3.0}, 0.6),
    ("clock", {"epsilon": 3, "window": "0.5", "radius": "2.25"}, 0.9),
]


@pytest.mark.parametrize(("name", "options", "share"), CASES, ids=[case[0] for case in CASES])
def test_people_who_were_not_among_the_exemplars_are_unveiled(name: str, options: dict[str, Any], share: float) -> None:
    mechanism, crowd = veil_of(name, **options), people(8, 30.0)
    ready = attack_of("exemplar-filter").prepare(Knowledge(None, exemplars(mechanism, crowd[3:])))
    shown = [veil(mechanism, raw, number) for number, raw in enumerate(crowd[:3])]
    before = np.mean([error(one, raw) for one, raw in zip(shown, crowd, strict=False)])
    after = np.mean([error(ready.query(one), raw) for one, raw in zip(shown, crowd, strict=False)])
    assert after < share * before


def test_exemplars_that_cannot_be_learnt_from_are_refused() -> None:
    pairs = exemplars(veil_of("gaussian"), people()[:2])
    with pytest.raises(InputError, match="no exemplars"):
        attack_of("exemplar-filter").prepare(Knowledge(None, ()))
    other = replace(pairs[0], veiled=replace(pairs[0].veiled, rate_hz=50.0))
    with pytest.raises(InputError, match="one rate"):
        attack_of("exemplar-filter").prepare(Knowledge(None, (other, pairs[1])))
    with pytest.raises(OptionError, match="seconds"):
        attack_of("exemplar-filter", seconds=99.0)
