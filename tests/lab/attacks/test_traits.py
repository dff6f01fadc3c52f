# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Traits: any recogniser infers them, and guessing is computed."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import f1_score

from gazeveil.errors import InputError
from gazeveil.lab.attacks import RECOGNISERS, Trial
from gazeveil.lab.attacks.judging import infer, macro_f1
from tests.lab.attacks.veiled_people import veil_of

KINDS = {f"p{number}": ("steady" if number % 2 else "restless") for number in range(6)}


def gaze(person: str, session: int) -> Trial:
    """Return gaze whose steps are three times larger for restless people."""
    rng = np.random.default_rng([int(person[1:]), session])
    size = 0.1 if KINDS[person] == "steady" else 0.3
    t = np.arange(40 * 60) / 60
    places = rng.normal(0, 8 * size, (2, len(t))).repeat(18, axis=1)[:, : len(t)]
    x, y = places + rng.normal(0, size / 5, (2, len(t)))
    return Trial(person, str(session), "a", t, x, y, 60.0)


TRIALS = [gaze(person, session) for person in KINDS for session in (1, 2)]


@pytest.mark.parametrize("leave", ["session", "person"])
def test_a_trait_that_shows_is_inferred_in_strangers_too(leave: str) -> None:
    found = infer(RECOGNISERS["clusterfix"](), TRIALS, KINDS, leave=leave)  # type: ignore[arg-type]
    assert (found.kinds, found.people, found.queries) == (("restless", "steady"), 6, 12)
    assert found.f1 == found.accuracy == 1.0
    assert 0.3 < found.guessing < 0.7


def test_a_veil_is_worn_in_training_and_in_queries() -> None:
    strong = veil_of("gaussian", sigma=30.0)
    found = infer(RECOGNISERS["clusterfix"](), TRIALS, KINDS, strong)
    assert found.f1 < 1.0
    again = infer(RECOGNISERS["clusterfix"](), TRIALS, KINDS, strong)
    assert again == found


def test_gaze_that_says_nothing_has_no_answer_and_no_score() -> None:
    lost = [trial.with_gaze(*np.full((2, len(trial.t)), np.nan)) for trial in TRIALS]
    found = infer(RECOGNISERS["clusterfix"](), lost, KINDS)
    assert (found.answered, found.accuracy) == (0.0, 0.0)
    assert np.isnan(found.f1)


def test_macro_f1_is_that_of_scikit_learn_and_counts_silence_as_wrong() -> None:
    rng = np.random.default_rng(1)
    truth, guess = rng.integers(0, 4, (2, 200))
    ours = macro_f1(truth, guess, np.ones(200), 4)
    assert ours == pytest.approx(f1_score(truth, guess, average="macro"))
    assert macro_f1(truth, np.full(200, -1), np.ones(200), 4) == 0.0
    assert np.isnan(macro_f1(truth, guess, np.zeros(200), 4))


def test_one_kind_is_nothing_to_tell_apart() -> None:
    with pytest.raises(InputError, match="two kinds"):
        infer(RECOGNISERS["clusterfix"](), TRIALS, dict.fromkeys(KINDS, "same"))
    with pytest.raises(InputError, match="no participant"):
        infer(RECOGNISERS["clusterfix"](), TRIALS[::2], {name: name for name in KINDS})
