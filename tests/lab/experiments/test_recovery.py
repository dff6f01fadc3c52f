# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The table of what attacks recover: veils, attacks, and people who are not among the exemplars."""

from __future__ import annotations

import numpy as np
import pytest

from gazeveil.errors import InputError
from gazeveil.lab.attacks.contract import ATTACKS
from gazeveil.lab.experiments.identification import simulated_people
from gazeveil.lab.reproduction.wilson_recovery import RESTORING, VEILS, Recovered, main, measure, own_mean, table


def test_attacks_that_fit_get_closer_and_others_are_left_out() -> None:
    people = simulated_people(4, 1, 12.0)
    rows = measure(people, ["smoothing-low", "lphu", "kaleido, mpmu"], ["inverse-smoothing", "kalman"])
    found = {(row.veil, row.attack): row.error_deg for row in rows}
    assert found["smoothing-low", "inverse-smoothing"] < 1e-9 < found["smoothing-low", ""]
    assert ("smoothing-low", "kalman") not in found
    assert found["lphu", "kalman"] < found["lphu", ""]
    assert ("kaleido, mpmu", "kalman") in found
    assert own_mean(people) > 1


def test_every_attack_that_guesses_gaze_is_in_the_table() -> None:
    assert set(ATTACKS.names()) - set(RESTORING) == {
        "adaptive",
        "late-releases",
        "mirrored",
        "retrained",
        "timed-white-box",
        "white-box",
    }
    assert {"lphu", "mpmu", "hplu"} < set(VEILS)


def test_the_best_of_a_row_is_marked() -> None:
    rows = [Recovered("p", "v", "", 2.0), Recovered("p", "v", "a", 1.0), Recovered("p", "w", "", 3e-12)]
    assert table(rows) == [
        "| mechanism | veiled | a |",
        "|---|---|---|",
        "| v | 2.00 | **1.00** |",
        "| w | **3e-12** |  |",
    ]


def test_one_person_is_not_enough() -> None:
    with pytest.raises(InputError, match="two participants"):
        measure(simulated_people(1, 1, 12.0))


def test_the_quick_table_has_every_veil(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("skimage")
    pytest.importorskip("pywt")
    main(None, quick=True)
    out = capsys.readouterr().out
    assert all(f"| {veil} |" in out for veil in VEILS)
    assert np.isfinite(float(out.split("own mean: ")[1].split(" ")[0]))
