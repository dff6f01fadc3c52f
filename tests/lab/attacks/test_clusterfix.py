# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Features of Cluster Fix: fixations and saccades are told apart without a threshold."""

from __future__ import annotations

import numpy as np

from gazeveil.lab.attacks import Trial
from gazeveil.lab.attacks.gaze_features import EVENT_FEATURES, WIDTH, Movement, clusterfix
from tests.lab.attacks.veiled_people import people


def movement(trial: Trial) -> Movement:
    return Movement.of(trial)


def test_saccades_are_faster_than_fixations() -> None:
    found = clusterfix(movement(people(1)[0])).reshape(2, 2, len(EVENT_FEATURES))
    (fixations, _), (saccades, _) = found
    for name in ("max acceleration", "max velocity", "mean distance", "mean velocity"):
        at = EVENT_FEATURES.index(name)
        assert saccades[at] > fixations[at] + np.log(2), name
    straight = EVENT_FEATURES.index("mean turning")
    assert saccades[straight] > fixations[straight]


def test_they_are_the_same_wherever_gaze_lies_and_say_nothing_of_too_little() -> None:
    trial = people(1)[0]
    moved = trial.with_gaze(trial.x + 3.0, trial.y - 2.0)
    np.testing.assert_allclose(clusterfix(movement(moved)), clusterfix(movement(trial)), rtol=1e-6, atol=1e-6)
    short = trial.first(0.3)
    assert clusterfix(movement(short)).shape == (WIDTH,)
    assert np.isnan(clusterfix(movement(short))).all()


def test_gaze_that_never_moves_does_not_break_them() -> None:
    t = np.arange(400) / 72
    still = Trial("ann", "1", "a", t, np.where(np.arange(400) % 2, 1.0, 1.0 + 1e-9), np.zeros(400), 72.0)
    assert clusterfix(movement(still)).shape == (WIDTH,)
