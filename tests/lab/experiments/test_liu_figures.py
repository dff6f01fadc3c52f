# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from gazeveil.aggregate.grid import render
from gazeveil.aggregate.liu import GaussianMap, LaplaceMap, NoisyMap
from gazeveil.cli.main import run
from gazeveil.errors import OptionError
from gazeveil.lab.reproduction import liu_figures
from gazeveil.lab.reproduction.liu_figures import (
    MECHANISMS,
    SAMPLES,
    Gaze,
    caps_of_algorithm_1,
    noise_at_the_points_read_off,
    noisy_heatmaps,
    qualities,
    reproduce,
    simulated_gaze,
)
from gazeveil.lab.utility.releases import correlation, mean_squared_error
from gazeveil.noise import NoiseSource
from gazeveil.terminal.printing import EXIT_OK

PNG = b"\x89PNG"


@pytest.fixture(scope="module")
def gaze() -> Gaze:
    """A tenth of the resolution, with copies to match, so that noise and signal are in proportion."""
    return simulated_gaze(copies=200, shrink=10)


def test_the_two_points_that_the_paper_reads_off_come_out_L6() -> None:
    good, okay = noise_at_the_points_read_off()
    assert (good.level, good.observers, okay.level, okay.observers) == ("good", 900, "okay", 300)
    assert good.published == pytest.approx(1.567, abs=5e-4)
    assert okay.published == pytest.approx(1.544, abs=5e-4)
    for row in (good, okay):
        assert row.bounded < row.sound < row.published


def test_five_people_are_copied_as_in_the_paper(gaze: Gaze) -> None:
    assert gaze.maps.observers == 5
    assert gaze.observers == 1000
    assert gaze.shape == (105, 168)
    assert gaze.mean(cap=10**6).sum() <= SAMPLES
    assert gaze.mean().max() <= 1
    assert 3 < gaze.blur < 5  # about a degree


def test_quality_falls_with_epsilon_and_sound_noise_is_not_worse_than_published(gaze: Gaze) -> None:
    rows = qualities(gaze, epsilons=(0.5, 1.0, 3.0), repeats=12)
    by_name = {name: [row for row in rows if row.mechanism == name] for name in MECHANISMS}
    for points in by_name.values():
        errors = [row.mse.mean for row in points]
        assert errors == sorted(errors, reverse=True)
        assert all(row.cc.repeats == 12 and row.mse.sd > 0 for row in points)
    for ours, theirs in zip(by_name["Gaussian, corrected"], by_name["Gaussian, published"], strict=True):
        assert ours.mse.mean < theirs.mse.mean
        assert ours.cc.mean > theirs.cc.mean
    for gaussian, laplace in zip(by_name["Gaussian, published"], by_name["Laplace, published"], strict=True):
        assert laplace.mse.mean > 100 * gaussian.mse.mean
    assert by_name["Gaussian, corrected, samples bounded"][-1].cc.mean > by_name["Gaussian, corrected"][-1].cc.mean


@pytest.mark.parametrize("name", ["Gaussian, corrected, samples bounded", "Laplace, corrected, samples bounded"])
def test_scaled_unit_noise_is_as_good_as_a_real_release(gaze: Gaze, name: str) -> None:
    """Means of 24 repeats each; the tolerance is five standard errors of their difference."""
    kind, _ = MECHANISMS[name]
    mechanism: NoisyMap = kind(gaze.observers, gaze.maps.cells, 2.0, samples=SAMPLES)
    assert isinstance(mechanism, GaussianMap | LaplaceMap)
    truth, source = render(gaze.mean(), gaze.blur), NoiseSource.seeded(77)
    total = gaze.maps.summed(1, np.full(5, gaze.copies)).total
    noisy = [mechanism._noisy_sum(total, source) / gaze.observers for _ in range(24)]
    heat = [render(one.reshape(gaze.shape), gaze.blur) for one in noisy]
    expected = next(row for row in qualities(gaze, epsilons=(2.0,), repeats=24) if row.mechanism == name)
    for told, measure in ((expected.cc, correlation), (expected.mse, mean_squared_error)):
        values = [measure(one, truth) for one in heat]
        assert told.mean == pytest.approx(np.mean(values), abs=5 * (2 / 24) ** 0.5 * told.sd)


def test_algorithm_1_picks_a_cap_of_one_at_full_resolution_as_in_the_paper() -> None:
    caps = caps_of_algorithm_1(simulated_gaze(), (1.0, 3.0))
    assert caps == {1.0: 1, 3.0: 1}


def test_the_pictures_are_of_real_releases(gaze: Gaze) -> None:
    heat = noisy_heatmaps(gaze)
    assert list(heat) == ["no noise", "Gaussian, published", "Gaussian, corrected, samples bounded"]
    truth = heat["no noise"]
    assert correlation(heat["Gaussian, corrected, samples bounded"], truth) > correlation(
        heat["Gaussian, published"], truth
    )


def test_figures_and_numbers_are_written(gaze: Gaze, tmp_path: Path) -> None:
    done: list[float] = []
    told = reproduce(tmp_path / "out", repeats=2, gaze=gaze, tell=lambda so_far, total: done.append(so_far))
    assert sorted(told["files"]) == sorted(path.name for path in (tmp_path / "out").iterdir())
    for name in ("figure-2a.png", "figure-2b.png", "figure-3.png", "heatmaps.png"):
        assert (tmp_path / "out" / name).read_bytes().startswith(PNG)
    written = json.loads((tmp_path / "out" / "liu.json").read_text())
    assert written["figure_3"]["points"] == told["figure_3"]["points"]
    assert "200 times (L8)" in written["figure_3"]["note"]
    assert done == [1, 2]


def test_the_command_prints_both_figures_as_json_or_as_tables(
    gaze: Gaze, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(liu_figures, "simulated_gaze", lambda: gaze)
    assert run(["lab", "reproduce", "liu", "--repeats", "2", "--json"]) == EXIT_OK
    told = json.loads(capsys.readouterr().out)
    assert [round(row["published"], 3) for row in told["figure_2"]["read_off"]] == [1.567, 1.544]
    assert len(told["figure_3"]["points"]) == 5 * 6
    assert run(["lab", "reproduce", "liu", "--repeats", "2"]) == EXIT_OK
    printed = capsys.readouterr().out
    assert "1.567" in printed
    assert "L8" in printed


def test_no_repeats_are_refused(gaze: Gaze) -> None:
    with pytest.raises(OptionError, match="repeat"):
        qualities(gaze, repeats=0)
    with pytest.raises(OptionError, match="pixel"):
        simulated_gaze(shrink=0)
