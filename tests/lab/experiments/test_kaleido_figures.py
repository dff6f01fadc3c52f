# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

from gazeveil.errors import OptionError
from gazeveil.lab.experiments.stream_errors import Point, Setting, StreamSet, measure, settings, simulated_recordings
from gazeveil.lab.reproduction.kaleido_figures import (
    COLUMNS,
    CONTENDERS,
    MEASURED,
    UNFILTERED,
    Registered,
    against_the_study,
    reproduce,
    shape,
    summary,
    to_markdown,
)
from gazeveil.noise import NoiseSource
from gazeveil.samples.space import Screen

SPACE = Screen(1280, 720)
FEW = settings([1.0, 3.0], [0.5, 1.0], [60.0, 300.0])
VEILS = {name: CONTENDERS[name] for name in ("kaleido as published", "clock, no filter", "clock")}
PNG = b"\x89PNG"


@pytest.fixture(scope="module")
def streams() -> StreamSet:
    return StreamSet("simulated", "simulated", simulated_recordings(6, 40.0))


@pytest.fixture(scope="module")
def points(streams: StreamSet) -> list[Point]:
    return measure([streams], CONTENDERS, FEW, repeats=3)


def of(points: list[Point], veil: str) -> list[float]:
    return [point.rmse / point.centre for point in points if point.veil == veil]


@pytest.mark.parametrize("name", [*CONTENDERS, *UNFILTERED])
def test_every_contender_can_be_made_and_only_the_published_one_promises_nothing(name: str) -> None:
    contender = {**CONTENDERS, **UNFILTERED}[name]
    assert contender.is_sound(SPACE) == (name != "kaleido as published")
    for setting in settings():
        contender.at(SPACE, setting, 90)


def test_all_sound_contenders_make_the_same_promise() -> None:
    setting = Setting(60, 1, 2)
    promises = {str(each.at(SPACE, setting).guarantee) for each in CONTENDERS.values() if each.is_sound(SPACE)}
    assert len(promises) == 1


def test_only_the_scales_are_corrected_whatever_the_defaults_become() -> None:
    corrected, published = (
        CONTENDERS[name].at(SPACE, Setting(60, 1, 2), 90).to_dict()
        for name in ("kaleido, scales corrected", "kaleido as published")
    )
    assert (corrected["test_share"], corrected["t_skip"], corrected["floor"]) == ("0.1", "0.05", "0")
    assert (published["h"], published["t_skip"], published["rate_hz"]) == ("10", "0.05", "90")
    assert corrected["l_thresh"] * np.hypot(1280, 720) == pytest.approx(published["l_thresh"])
    assert not corrected["filter"]


def test_clock_is_best_among_those_that_answer_at_once(points: list[Point]) -> None:
    """On average over eight promises; a wide margin, six people and three repeats."""
    clock = np.mean(of(points, "clock"))
    for name in CONTENDERS:
        if not name.startswith("clock"):
            assert np.mean(of(points, name)) > 1.03 * clock
    assert np.mean(of(points, "clock, 0.25 s late")) < 0.97 * clock
    assert np.mean(of(points, "clock, no filter")) > clock


def test_kaleido_as_published_is_worse_than_the_centre_at_almost_every_promise(points: list[Point]) -> None:
    assert summary(points, "kaleido as published")["worse_than_centre"] >= 7
    assert summary(points, "clock")["worse_than_centre"] == 0
    told = summary(points, "clock")
    assert told["cells"] == 8
    assert told["r60"] < told["all"] < told["r300"]


def test_the_shape_is_the_papers(points: list[Point]) -> None:
    for name in ("kaleido as published", "clock"):
        told = shape(points, name, "rmse")
        assert (told["epsilon"], told["window"], told["radius"]) == (4, 4, 4)
        assert (told["epsilon_pairs"], told["window_pairs"], told["radius_pairs"]) == (4, 4, 4)


def test_a_shape_that_does_not_hold_is_seen() -> None:
    rising = [
        Point("s", "v", setting, setting.epsilon, 0, 0, 1 / setting.epsilon, 0, 1, 1)
        for setting in settings([1.0, 2.0], [1.0], [60.0])
    ]
    assert shape(rising, "v", "rmse")["epsilon"] == 0
    assert shape(rising, "v", "cc")["epsilon"] == 0
    assert shape(rising, "v", "rmse")["radius_pairs"] == 0


def test_output_that_is_late_is_compared_with_gaze_of_that_time() -> None:
    t = np.arange(300) / 100
    gaze = np.where(t < 1.5, 200.0, 1000.0)
    setting = Setting(1, 0.1, 1000)  # next to no noise
    late = Registered("clock", (("lag", 0.2),), late=0.2)
    as_if_on_time = Registered("clock", (("lag", 0.2),))
    aligned, _ = late(SPACE, setting, 100)(NoiseSource.seeded(1), t, gaze, gaze * 0 + 360)
    shown, _ = as_if_on_time(SPACE, setting, 100)(NoiseSource.seeded(1), t, gaze, gaze * 0 + 360)
    assert np.abs(aligned[20:-25] - gaze[20:-25]).mean() < 40
    assert shown[20:].tobytes() == aligned[:-20].tobytes()


def test_two_processes_give_what_one_gives(streams: StreamSet) -> None:
    few, clock = settings([1.0], [1.0], [60.0]), {"clock": CONTENDERS["clock"]}
    one, two = (measure([streams.some(2)], clock, few, repeats=2, workers=number) for number in (1, 2))
    assert [point.rmse for point in one] == [point.rmse for point in two]


def test_the_study_is_there_with_all_its_cells() -> None:
    assert set(MEASURED) == {"vr", "lund"}
    for cells in MEASURED.values():
        assert len(cells) == 32
        assert all(len(row) == len(COLUMNS) + 1 for row in cells.values())
    assert MEASURED["vr"][60, 0.5, 0.5][COLUMNS.index("clock")] == 296
    assert MEASURED["lund"][300, 2, 3][-2:] == (252, 13)


def test_our_numbers_are_set_against_the_studys() -> None:
    setting = Setting(60, 0.5, 0.5)
    told = against_the_study([Point("vr", "clock", setting, 0.9 * 296, 1, 6, math.nan, math.nan, 416, 361)])
    assert told == [
        {"streams": "vr", "veil": "clock", "cells": 1, "gain": pytest.approx(0.1), "least_gain": pytest.approx(0.1),
         "better": 1, "within": 0}
    ]  # fmt: skip
    assert against_the_study([Point("simulated", "clock", setting, 1, 1, 1, 1, 1, 1, 1)]) == []


@pytest.mark.parametrize("figure", [13, 15])
def test_figures_numbers_and_tables_are_written(figure: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    few = settings([1.0, 3.0], [1.0], [60.0])
    told = reproduce(figure, tmp_path / "out", quick=True, repeats=1, contenders=VEILS, chosen=few)
    assert sorted(told["files"]) == sorted(path.name for path in (tmp_path / "out").iterdir())
    assert (tmp_path / "out" / f"figure-{figure}.png").read_bytes().startswith(PNG)
    written = json.loads((tmp_path / "out" / f"figure-{figure}.json").read_text())
    assert [one["name"] for one in written["sets"]] == ["simulated"]
    assert len(written["points"]) == 2 * len(VEILS)
    page = (tmp_path / "out" / f"figure-{figure}.md").read_text()
    assert page == to_markdown(told)
    assert "| 60 | 1 | 3 |" in page
    clock = next(point for point in written["points"] if point["veil"] == "clock" and point["epsilon"] == 3)
    assert (clock["cc"] is None) == (figure == 13)


def test_a_figure_that_is_not_measured_is_refused() -> None:
    with pytest.raises(OptionError, match="figure 12"):
        reproduce(12)
