# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""A film that a study declares: prior of each moment of a movie, with its digest, and refused if it was changed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from gazeveil import screen
from gazeveil.aggregate.movie import HeatmapMovie
from gazeveil.aggregate.saliency import Saliency
from gazeveil.errors import FileFormatError, InputError
from gazeveil.release.study import Participants, Stimulus, Study
from gazeveil.release.study_toml import read_study, write_study
from tests.gaze.test_video import film

SCREEN = screen(800, 600, 80, 60, 573)


def declared(path: Path) -> Study:
    study = Study(
        name="films",
        participants=Participants(number=20),
        stimuli=(Stimulus(name="film", screen=SCREEN, seconds=3.0),),
    )
    return study.with_file("film", "film", path)


def test_a_declared_film_is_written_read_and_a_prior_of_each_moment(tmp_path: Path) -> None:
    study = declared(film(tmp_path / "film.avi"))
    write_study(study, tmp_path / "study.toml")
    assert 'film = "film.avi"' in (tmp_path / "study.toml").read_text()
    again = read_study(tmp_path / "study.toml")
    assert again.stimuli == study.stimuli
    plan = again.plan(HeatmapMovie(epsilon=3, bin_seconds=1))
    assert len({picture["sha256"] for picture in plan.measurement.recipe()["pictures"]}) == 3
    (fact,) = [fact for fact in plan.measurement.facts() if fact.name == "stimuli"]
    assert fact.value[0]["film"] == study.stimuli[0].film[1]  # type: ignore[index]
    still = again.plan(HeatmapMovie(epsilon=3, bin_seconds=1, picture_prior=False))
    assert still.measurement.recipe()["pictures"] == []


def test_the_middle_of_a_shorter_last_bin_is_its_own() -> None:
    assert HeatmapMovie(epsilon=1, bin_seconds=1, duration=2.5).middles(None) == (0.5, 1.5, 2.25)


def test_a_film_that_was_changed_or_is_too_short_or_of_another_shape_is_refused(tmp_path: Path) -> None:
    mechanism = HeatmapMovie(epsilon=3, bin_seconds=1)
    study = declared(film(tmp_path / "film.avi"))
    with pytest.raises(InputError, match="lasts"):
        study.plan(replace(mechanism, duration=9.0))
    wide = replace(study, stimuli=(replace(study.stimuli[0], screen=screen(1200, 600, 120, 60, 573)),))
    with pytest.raises(InputError, match="other proportions"):
        wide.plan(mechanism)
    film(tmp_path / "film.avi", seconds=4.0)
    with pytest.raises(FileFormatError, match="another one"):
        study.plan(mechanism)


def test_the_forecast_knows_what_was_to_be_seen_at_each_moment() -> None:
    rng = np.random.default_rng(0)
    moments = tuple(Saliency.of_map(rng.random((6, 8)) + 0.1) for _ in range(3))
    study = Study(
        name="films", participants=Participants(number=30), stimuli=(Stimulus(name="f", screen=SCREEN, seconds=3.0),)
    )
    mechanism = HeatmapMovie(epsilon=3, bin_seconds=1)
    none, still, each = (
        study.plan(replace(mechanism, pictures=pictures)).forecast for pictures in ((), moments[:1], moments)
    )
    assert none is not None
    assert each is not None
    assert still == none  # one picture for all moments says nothing about what sets them apart
    assert each.without_data > 0.5 > none.without_data == 0
    assert each.expected > each.without_data
