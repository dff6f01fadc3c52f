# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from gazeveil.errors import InputError
from gazeveil.lab.experiments.simulator_realism import (
    Measures,
    add_saccade,
    add_settling,
    add_spectrum,
    add_steadiness,
    ks_distance,
    run,
    runs,
    to_markdown,
)

DATA = Path(__file__).resolve().parents[4] / "shared" / "data"


def test_ks_distance_is_scipys() -> None:
    rng = np.random.default_rng(1)
    for sizes in ((5, 5), (100, 37), (400, 1000)):
        one, other = rng.normal(size=sizes[0]).round(1), rng.normal(0.3, 1.2, size=sizes[1]).round(1)
        assert ks_distance(one, other) == pytest.approx(stats.ks_2samp(one, other).statistic)


def test_runs_cover_all_labels_in_order() -> None:
    assert list(runs(np.array([1, 1, 2, 1, 3, 3]))) == [(0, 2, 1), (2, 3, 2), (3, 4, 1), (4, 6, 3)]


def test_a_known_saccade_is_measured_as_it_is() -> None:
    t = np.arange(200) / 500
    x = 6.0 / (1 + np.exp(-(t - 0.2) / 0.005))
    into = Measures()
    add_saccade(into, x, np.zeros(200), 80, 120, 500.0)
    assert into.of("saccade amplitude") == pytest.approx(6.0, rel=1e-3)
    assert into.of("saccade duration") == pytest.approx(80.0)
    assert into.of("peak velocity, 5-8 deg") == pytest.approx(6.0 / 4 / 0.005, rel=0.03)


def test_a_swing_after_a_saccade_is_measured_along_it() -> None:
    place = np.concatenate((np.linspace(0, 5, 20), [5.3, 5.3, 4.9, 4.9], np.full(60, 5.0)))
    into = Measures()
    add_settling(into, place * 0.6, place * 0.8, 0, 20, 500.0)
    assert into.of("swing after a saccade, forth") == pytest.approx(0.3)
    assert into.of("swing after a saccade, back") == pytest.approx(-0.1)


def test_white_noise_is_of_type_root_two_and_its_velocity_spectrum_rises() -> None:
    rng = np.random.default_rng(2)
    into = Measures()
    for _ in range(200):
        white = rng.normal(size=300)
        add_steadiness(into, white, rng.normal(size=300))
        add_spectrum(into, white, 500.0)
    assert np.median(into.of("RMS-S2S / STD")) == pytest.approx(np.sqrt(2), rel=0.02)
    assert np.median(into.of("velocity spectrum slope, 4-100 Hz")) > 1.2


def test_a_random_walk_has_a_flat_velocity_spectrum() -> None:
    rng = np.random.default_rng(3)
    into = Measures()
    for _ in range(200):
        add_spectrum(into, np.cumsum(rng.normal(size=300)), 500.0)
    assert np.median(into.of("velocity spectrum slope, 4-100 Hz")) == pytest.approx(0.0, abs=0.15)


def test_a_folder_without_the_data_says_what_was_expected(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"lund2013\.parquet"):
        run(tmp_path)


@pytest.mark.skipif(not (DATA / "lund2013").exists(), reason="the open data sets are not here")
def test_simulated_eyes_are_like_real_ones_where_the_docs_say_so() -> None:
    rows = {(row["data_set"], row["measure"]): row for row in run(DATA)}
    table = to_markdown(list(rows.values()))
    assert table.count("\n") == len(rows) + 1
    for key, largest in {
        ("lund2013", "fixation duration"): 0.2,
        ("lund2013", "saccade amplitude"): 0.2,
        ("lund2013", "saccade duration"): 0.3,
        ("lund2013", "RMS-S2S"): 0.25,
        ("osie", "fixation duration"): 0.15,
        ("osie", "saccade amplitude"): 0.25,
        ("osie", "distance from the middle"): 0.2,
        ("eyetribe_contextlab", "RMS-S2S / STD"): 0.25,
    }.items():
        if key in rows:
            assert rows[key]["ks"] < largest, key
    for (data_set, measure), row in rows.items():
        # medians of velocities, amplitudes and durations within a factor of 1.5
        if data_set == "lund2013" and row["unit"] in {"ms", "deg", "deg/s"} and "swing" not in measure:
            assert 1 / 1.5 < row["simulated_50"] / row["real_50"] < 1.5, measure
