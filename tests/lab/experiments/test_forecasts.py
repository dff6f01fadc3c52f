# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Forecasts beside outcomes: what is compared with what."""

from __future__ import annotations

import json

import numpy as np
import pytest

from gazeveil.cli.main import run
from gazeveil.features.design import Design
from gazeveil.features.design_learning import learn
from gazeveil.features.ranges import Range, Ranges
from gazeveil.lab.experiments.forecasts import HeldOut, feature_outcomes

RANGES = Ranges.of({"a": Range(0, 1, "made up"), "b": Range(0, 1, "made up")})


def series(rng: np.random.Generator, people: int) -> np.ndarray:
    """People on one task: the task has a level, and so has everybody."""
    level = 0.5 + 0.06 * rng.normal(size=(1, 1, 2)) + 0.08 * rng.normal(size=(people, 1, 2))
    return np.clip(level + 0.03 * rng.normal(size=(people, 70, 2)), 0, 1)


def design(rng: np.random.Generator, tasks: int = 12) -> Design:
    return learn([series(rng, 30) for _ in range(tasks)], RANGES, "made up")


def test_people_like_the_public_ones_come_out_as_forecast() -> None:
    # Seeded. Tasks are drawn as public ones are; what is allowed for is the calibration to real tasks, of up to 30 %.
    rng = np.random.default_rng(4)
    known = design(rng)
    rows = feature_outcomes([HeldOut("like them", known, series(rng, 30)) for _ in range(12)])
    assert [row.product for row in rows] == ["mean", "own"]
    for row in rows:
        assert 0.75 < row.error < 1.35
        assert 0.75 < row.without_data < 1.35
        assert row.covered > 0.65
        assert row.low < 1 < row.high


def test_a_task_that_lies_far_off_shows_as_a_forecast_that_was_too_low() -> None:
    rng = np.random.default_rng(5)
    far = np.clip(series(rng, 20) + 0.3, 0, 1)
    mean, own = feature_outcomes([HeldOut("far off", design(rng), far)])
    assert mean.without_data < 0.5
    assert own.without_data < 0.7


@pytest.mark.parametrize(
    "product",
    [
        ["heatmap", "--scenes", "2", "--participants", "6"],
        ["heatmaps", "--scenes", "2", "--participants", "6"],
        ["movie", "--scenes", "1", "--participants", "4"],
    ],
)
def test_forecasts_of_maps_are_put_beside_outcomes(product: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["lab", "experiment", "forecast", "--product", *product, "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["rows"]
    assert row["mean"] == pytest.approx(np.mean(row["cc"]))
    assert row["off"] == pytest.approx(row["expected"] - row["mean"])
    low, high = row["interval"]
    assert low <= row["expected"] <= high
    assert row["covered"] == pytest.approx(np.mean([low <= value <= high for value in row["cc"]]))


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--product", "statue"], "no forecast of"),
        (["--product", "feature-group", "--data", "nowhere"], "there is no nowhere"),
        (["--participants", "many"], "--participants takes numbers"),
    ],
)
def test_what_cannot_be_compared_is_refused(options: list[str], says: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["lab", "experiment", "forecast", *options]) != 0
    assert says in capsys.readouterr().err
