# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The study of usefulness: whom it draws, what it compares, and that its numbers mean what they say."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from gazeveil.aggregate.heatmap import PrivateHeatmap
from gazeveil.aggregate.strategy import STRATEGIES, Strategy, Task
from gazeveil.aggregate.strategy_parts import prior_of_task
from gazeveil.errors import FileFormatError, InputError, OptionError
from gazeveil.gaze.corpus import write_corpus
from gazeveil.geometry import Geometry, screen
from gazeveil.lab.experiments import heatmap_methods as methods
from gazeveil.lab.experiments import heatmap_usefulness as report
from gazeveil.lab.experiments.heatmap_methods import _few_modes, _many_bumps, recipe
from gazeveil.lab.experiments.heatmap_scenes import (
    PLANE,
    Gallery,
    Scene,
    Split,
    Viewer,
    of_corpus,
    osie,
    simulated,
    spread,
)
from gazeveil.lab.experiments.heatmap_usefulness import Found, Plan, Score, _noise_of_all, beyond, compare, refreshed
from gazeveil.lab.experiments.plots import usefulness_plot
from gazeveil.lab.utility.releases import correlation, residual_correlation
from gazeveil.noise import NoiseSource
from gazeveil.privacy.protection import Neighbours
from gazeveil.release.study import DELTA
from gazeveil.simulate.study import SimulatedStudy

OSIE = Path(__file__).resolve().parents[4] / "shared" / "data" / "osie" / "fixations.parquet"
SMALL = screen(800, 600, 160, 120, 573)  # 16 x 12 degrees: decoders are set up quickly
needs_osie = pytest.mark.skipif(not OSIE.is_file(), reason="OSIE is not here")


def viewer(seed: int, samples: int = 40) -> Viewer:
    rng = np.random.default_rng(seed)
    left = rng.random(samples) < 0.5
    x = np.where(left, rng.normal(220, 30, samples), rng.normal(580, 30, samples))
    y = np.where(left, rng.normal(180, 30, samples), rng.normal(420, 30, samples))
    return Viewer(x, y, np.arange(0, samples + 1, 4))


@pytest.fixture(scope="module")
def gallery() -> Gallery:
    scenes = tuple(Scene(f"s{k}", tuple(viewer(100 * k + i) for i in range(20))) for k in range(3))
    return Gallery("two spots", SMALL, scenes)


def front_door(plane: Geometry, observers: int, epsilon: float = 1.0) -> Strategy:
    return PrivateHeatmap(epsilon=epsilon).strategy_for(plane, observers, Neighbours.REPLACE_ONE, DELTA)


def task_of(observers: int, epsilon: float = 1.0) -> Task:
    return front_door(SMALL, observers, epsilon).task


# --- whom it draws ---


def test_few_people_are_drawn_once_each(gallery: Gallery) -> None:
    scene = gallery.scenes[0]
    drawn = scene.drawn(20, seed=1, repeat=0)
    assert sorted(rows["x"][0] for rows in drawn) == sorted(one.x[0] for one in scene.viewers)
    some = [tuple(rows["x"]) for rows in scene.drawn(5, 1, 0)]
    assert len(set(some)) == 5
    assert some == [tuple(rows["x"]) for rows in scene.drawn(5, 1, 0)]
    assert some != [tuple(rows["x"]) for rows in scene.drawn(5, 1, 1)]
    assert some != [tuple(rows["x"]) for rows in scene.drawn(5, 2, 0)]


def test_many_people_are_drawn_with_their_looks_redrawn(gallery: Gallery) -> None:
    scene = gallery.scenes[0]
    drawn = scene.drawn(60, seed=1, repeat=0)
    assert len({tuple(rows["x"]) for rows in drawn}) == 60
    looks = {tuple(one.x[start : start + 4]) for one in scene.viewers for start in one.looks[:-1]}
    assert all(tuple(rows["x"][start : start + 4]) in looks for rows in drawn for start in range(0, 40, 4))


def test_somebody_without_gaze_stays_so() -> None:
    nobody = Viewer(np.zeros(0), np.zeros(0), np.zeros(1, dtype=np.int64))
    assert all(not len(rows["x"]) for rows in Scene("empty", (nobody,)).drawn(3, 0, 0))


def test_names_are_spread_evenly() -> None:
    assert spread(range(10), 20) == list(range(10))
    assert spread(range(100), 4) == [12, 37, 62, 87]


def test_the_two_splits_of_simulated_scenes_differ() -> None:
    tune, test = (simulated(split, 2, people=3) for split in Split)
    assert len(tune.scenes) == len(test.scenes) == 2
    assert tune.viewers == 3
    assert not np.array_equal(tune.scenes[0].viewers[0].x, test.scenes[0].viewers[0].x)


@needs_osie
def test_test_images_of_osie_are_none_that_constants_were_tuned_on() -> None:
    tune, test = (osie(OSIE, split, 1000) for split in Split)
    names = {int(scene.name) for scene in test.scenes}
    assert not names & {int(scene.name) for scene in tune.scenes}
    assert not names & {*range(1001, 1061), *range(1100, 1140), *range(1102, 1701, 15)}
    assert len(tune.scenes) + len(test.scenes) == 700
    assert test.viewers == 15


def test_a_fixation_counts_by_its_duration(tmp_path: Path) -> None:
    path = tmp_path / "fixations.parquet"
    columns = {"image": [1070, 1070], "user": [1, 1], "fix": [1, 2], "x": [10.0, 700.0], "y": [20.0, 500.0]}
    pl.DataFrame({**columns, "dur_ms": [100.0, 250.0]}).write_parquet(path)
    person = osie(path, Split.TEST, 5).scenes[0].viewers[0]
    assert person.looks.tolist() == [0, 10, 35]
    assert (person.x == 700).sum() == 25
    pl.DataFrame(columns).write_parquet(path)
    with pytest.raises(FileFormatError, match="dur_ms"):
        osie(path, Split.TEST, 5)


def test_a_corpus_of_your_own_can_be_studied(tmp_path: Path) -> None:
    study = SimulatedStudy(observers=4, stimuli=2, sessions=2, seconds=1.0, geometry=PLANE, seed=5)
    write_corpus(study.recordings(), tmp_path / "mine")
    found = of_corpus(tmp_path / "mine", 5)
    assert len(found.scenes) == 2
    assert found.viewers == 4, "both sessions of a person are one viewer"
    with pytest.raises(InputError):
        of_corpus(tmp_path / "nothing", 5)


# --- what it compares ---


def test_without_privacy_everybody_gives_the_truth_and_the_prior_gives_nothing_beyond_itself(gallery: Gallery) -> None:
    found = compare(gallery, Plan(observers=(20,), methods=("none", "prior")))
    assert found.row("none", 20).cc.mean == pytest.approx(1)
    assert found.row("none", 20).residual.mean == pytest.approx(1)
    assert found.row("none", 20).hits.mean == 1
    assert found.row("prior", 20).residual.mean == 0
    assert found.row("prior", 20).cc.mean < 0.7


def test_a_huge_budget_brings_private_methods_close_to_the_truth(gallery: Gallery) -> None:
    found = compare(gallery, Plan(observers=(20,), epsilons=(500.0,), methods=("liu", "grid", "recipe", "ours")))
    assert found.row("liu", 20).variant.startswith(("16 x 12", "32 x 24"))
    for name, least in (("liu", 0.85), ("grid", 0.85), ("recipe", 0.95), ("ours", 0.95)):
        assert found.row(name, 20).cc.mean > least, name


def test_an_oracle_shows_the_best_variant(gallery: Gallery) -> None:
    plan = Plan(observers=(20,), methods=("liu",))
    best = compare(gallery, plan).row("liu", 20)
    people, task = gallery.scenes[0].drawn(20, 0, 0), task_of(20)
    noise = _noise_of_all(0, "s0/20/1.0/0")["liu", best.variant]
    again = methods.METHODS["liu"].ways[best.variant](people, task, noise)
    whole = methods.truth([one.rows() for one in gallery.scenes[0].viewers], task)
    assert best.by_scene[0][0] == pytest.approx(correlation(again, whole))


def test_a_method_gets_the_same_numbers_whichever_others_are_measured(gallery: Gallery) -> None:
    alone = compare(gallery, Plan(observers=(20,), methods=("hierarchical",)))
    among = compare(gallery, Plan(observers=(20,), methods=("prior", "grid", "hierarchical")))
    assert alone.row("hierarchical", 20) == among.row("hierarchical", 20)


def test_ours_is_what_the_front_door_releases(gallery: Gallery) -> None:
    people, task = gallery.scenes[0].drawn(15, 0, 0), task_of(15)
    strategy = front_door(SMALL, 15)
    total = np.sum([strategy.kernel()(rows) for rows in people], axis=0)
    expected = strategy.decode(strategy._noised(total, NoiseSource.seeded(3))).map
    assert np.array_equal(methods.METHODS["ours"].ways["auto"](people, task, NoiseSource.seeded(3)), expected)


def test_every_strategy_has_a_row_or_can_be_asked_for() -> None:
    assert set(STRATEGIES.names(unlisted=True)) <= {*methods.METHODS, *methods.MORE_METHODS}


@pytest.mark.parametrize("observers", [20, 60])
def test_the_recipe_is_a_map_beyond_the_prior_where_there_is_signal(gallery: Gallery, observers: int) -> None:
    people, task = gallery.scenes[0].drawn(observers, 0, 0), task_of(observers, epsilon=8.0)
    found = recipe(people, task, NoiseSource.seeded(1))
    assert found.shape == task.grid.shape
    assert found.min() >= 0
    assert found.sum() == pytest.approx(1)
    whole = methods.truth([one.rows() for one in gallery.scenes[0].viewers], task)
    assert correlation(found, whole) > correlation(prior_of_task(task), whole) + 0.1


def test_the_recipe_releases_as_many_numbers_as_it_was_described_with() -> None:
    tasks = {count: front_door(PLANE, count).task for count in (15, 30, 50)}
    assert [_few_modes(task).released.shape[1] for task in tasks.values()] == [4, 8, 10]
    assert _many_bumps(tasks[50]).released.shape == (768, 520)


# --- its numbers ---


def test_scores_are_means_and_standard_errors_over_scenes() -> None:
    score = Score.of([1.0, 2.0, math.nan, 3.0])
    assert score.mean == 2
    assert score.error == pytest.approx(1 / math.sqrt(3))
    assert math.isnan(Score.of([1.0]).error)
    assert math.isnan(Score.of([math.nan]).mean)


def test_what_is_beyond_one_prior_is_the_residual_correlation_and_nobody_gains_from_a_prior() -> None:
    rng = np.random.default_rng(4)
    one, other, first, second = rng.random((4, 12, 16))
    assert beyond(one, other, [first]) == pytest.approx(residual_correlation(one, other, first))
    assert beyond(one, other, [first, first]) == pytest.approx(residual_correlation(one, other, first))
    mixed = 0.3 * first + 0.7 * second
    assert beyond(mixed, other, [first, second]) == 0
    assert beyond(one + 5 * mixed, other - mixed, [first, second]) == pytest.approx(beyond(one, other, [first, second]))


def test_results_come_back_from_their_file(gallery: Gallery, tmp_path: Path) -> None:
    found = compare(gallery, Plan(observers=(5, 30), epsilons=(1.0, 3.0), methods=("prior", "grid", "none")))
    assert report.write_usefulness(found, tmp_path) == [f"heatmap-two spots.{kind}" for kind in ("json", "md", "png")]
    again = Found.from_dict(json.loads((tmp_path / "heatmap-two spots.json").read_text()))
    assert report.usefulness_markdown(again, 3.0) == report.usefulness_markdown(found, 3.0)
    assert report.note(again) == report.note(found)
    assert "*" in report.note(found), "30 of 20 people are not real people"
    assert again.row("grid", 30, 3.0).cc.mean == pytest.approx(found.row("grid", 30, 3.0).cc.mean, rel=1e-4)


def test_a_single_number_of_people_and_a_single_scene_can_be_drawn(gallery: Gallery) -> None:
    alone = replace(gallery, scenes=gallery.scenes[:1])
    assert usefulness_plot(compare(alone, Plan(observers=(15,), methods=("prior", "grid")))).startswith(b"\x89PNG")
    assert usefulness_plot(compare(gallery, Plan(observers=(15,), methods=("prior", "ours")))).startswith(b"\x89PNG")


def test_a_gain_is_taken_scene_by_scene(gallery: Gallery) -> None:
    found = compare(gallery, Plan(observers=(5,), methods=("prior", "none")))
    cc, residual, _ = found.gain("none", "prior", 5)
    assert cc.mean == pytest.approx(found.row("none", 5).cc.mean - found.row("prior", 5).cc.mean)
    assert residual.error == pytest.approx(found.row("none", 5).residual.error)
    with pytest.raises(OptionError, match="not measured"):
        found.row("grid", 5)


def test_some_rows_can_be_measured_anew(gallery: Gallery) -> None:
    old = compare(gallery, Plan(observers=(5,), methods=("prior", "grid", "none")))
    new = compare(gallery, Plan(observers=(5,), methods=("prior", "grid")))
    again = refreshed(replace(old, rows=tuple(replace(row, variant="old") for row in old.rows)), new)
    assert [row.variant for row in again.rows] == ["", "", "old"]
    assert again.row("grid", 5) == old.row("grid", 5)
    with pytest.raises(OptionError, match="same scenes"):
        refreshed(old, replace(new, scenes=2))
    with pytest.raises(OptionError, match="same scenes"):
        refreshed(old, compare(gallery, Plan(observers=(5,), methods=("prior",), seed=1)))
    shifted = tuple(replace(row, by_scene=((0.1, 0.0, 0.0),) * 3) for row in new.rows)
    with pytest.raises(OptionError, match="prior has changed"):
        refreshed(old, replace(new, rows=shifted))


def test_numbers_are_told_briefly() -> None:
    assert [report.short(value) for value in (0.834, 1.0, -0.05, -0.001, math.nan)] == [
        ".83",
        "1.00",
        "-.05",
        ".00",
        "–",
    ]
