# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The network that learns from exemplars gets closer to people it has never seen."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from gazeveil.errors import InputError, OptionError
from gazeveil.lab.attacks import Knowledge, Trial
from gazeveil.lab.attacks.contract import Exemplar
from tests.lab.attacks.veiled_people import attack_of, error, exemplars, people, veil, veil_of

pytest.importorskip("torch")


def test_smoothing_is_partly_undone_for_people_who_were_not_among_the_exemplars() -> None:
    smoothing, crowd = veil_of("smoothing", window=50), people(6, 30.0)
    attack = attack_of("exemplars", seconds=2.0, channels=12, batch=8, epochs=8)
    ready = attack.prepare(Knowledge(None, exemplars(smoothing, crowd[2:])))
    for raw in crowd[:2]:
        shown = veil(smoothing, raw)
        assert error(ready.query(shown), raw) < 0.8 * error(shown, raw)


@pytest.mark.parametrize("crowd", [1, 2, 6])
def test_no_sample_is_both_learnt_from_and_judged_by(crowd: int, monkeypatch: pytest.MonkeyPatch) -> None:
    from gazeveil.lab.attacks import restoring_network

    seen: dict[bool, set[float]] = {True: set(), False: set()}
    loss = restoring_network._loss

    def watched(model: Any, given: Any, wanted: Any, weight: Any) -> Any:
        steps = given.diff(dim=2).abs()  # no two are alike, and a window's middle does not matter to them
        seen[model.training].update(np.round(steps[steps > 1e-3].numpy(), 4).tolist())
        return loss(model, given, wanted, weight)

    monkeypatch.setattr(restoring_network, "_loss", watched)
    rng = np.random.default_rng(5)
    pairs = []
    for person in range(crowd):
        x, y = np.cumsum(rng.uniform(-90, 90, (2, 250)), axis=1) % 37 + 100 * person
        raw = Trial(f"{person}", "1", "a", np.arange(250) / 50, x, y, 50.0)
        pairs.append(Exemplar(raw, raw))
    attack_of("exemplars", seconds=1.0, channels=4, kernel=3, epochs=1).prepare(Knowledge(None, tuple(pairs)))
    assert len(seen[False]) > 30
    shared = len(seen[True] & seen[False]) / len(seen[False])
    assert shared < 0.3  # rounded numbers meet by chance; where windows overlap it is nearly 1


def test_exemplars_that_cannot_be_learnt_from_are_refused() -> None:
    gaussian = veil_of("gaussian")
    pairs, attack = exemplars(gaussian, people()[:2]), attack_of("exemplars")
    with pytest.raises(InputError, match="no exemplars"):
        attack.prepare(Knowledge(None, ()))
    short = tuple(replace(pair, raw=pair.raw.first(1), veiled=pair.veiled.first(1)) for pair in pairs)
    with pytest.raises(InputError, match="as long as a window"):
        attack.prepare(Knowledge(None, short))
    other = replace(pairs[0], veiled=replace(pairs[0].veiled, rate_hz=50.0))
    with pytest.raises(InputError, match="one rate"):
        attack.prepare(Knowledge(None, (other, pairs[1])))
    with pytest.raises(OptionError, match="odd"):
        attack_of("exemplars", kernel=4)


def test_a_query_shorter_than_a_window_is_attacked_too() -> None:
    gaussian, crowd = veil_of("gaussian"), people()
    attack = attack_of("exemplars", channels=4, kernel=3, epochs=1)
    ready = attack.prepare(Knowledge(None, exemplars(gaussian, crowd[1:])))
    assert np.isfinite(ready.query(veil(gaussian, crowd[0]).first(2)).x).all()
