# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The studies of feature series on few, short readers: shapes, floors, and what must come out even so."""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from gazeveil.errors import InputError
from gazeveil.features.bins import BinRules, extract_bin_corpus, windows_from_bins
from gazeveil.features.table import FeatureTable
from gazeveil.gaze.corpus import Corpus
from gazeveil.lab.commands.experiment import app as experiment
from gazeveil.lab.commands.reproduce import app as reproduce
from gazeveil.lab.experiments import feature_series as feature_classes
from gazeveil.lab.experiments.feature_series import (
    People,
    eyetribe_people,
    identify,
    leave_one_person_out,
    other_documents,
    readers,
)
from gazeveil.lab.experiments.feature_usefulness import (
    BINS_FIRST,
    FLOOR,
    OURS,
    OVERLAPPING,
    best_kept,
    for_mean,
    made,
    means_over_windows,
    measure_usefulness,
    picture,
    reader_bins,
    recognise,
    steps_touched,
)
from gazeveil.lab.experiments.feature_usefulness import compare_promises as raw_gaze
from gazeveil.noise import NoiseSource
from gazeveil.simulate.readers import ReadingStudy

EYETRIBE = Path(__file__).resolve().parents[4] / "shared" / "data" / "eyetribe_contextlab" / "eyetribe_runs.parquet"


@pytest.fixture(autouse=True)
def small_forests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feature_classes, "TREES", 8)


@lru_cache(maxsize=1)
def few() -> People:
    return readers(private=12, public=8, seconds=60.0)


def test_public_people_read_other_documents_than_private_ones() -> None:
    assert not {document.name for document in other_documents()} & set(few().private)
    assert len(few().public) == 8 * len(other_documents())
    assert all(len(series) == 12 for series in few().private.values())


def test_ours_is_best_and_hardly_ever_worse_than_the_public_mean() -> None:
    cells = measure_usefulness(few(), epsilons=(3.0,), sizes=(10,), repeats=1)
    errors = {(cell.product, cell.method, cell.epsilon): cell.error for cell in cells}
    for product in {cell.product for cell in cells}:
        ours = errors[product, OURS, 3.0]
        assert ours < 1.15 * errors[product, FLOOR, 3.0]
        assert all(ours < errors[product, name, 3.0] for name in ("lpa", "fpa", "c-fpa 64", "dc-fpa 32"))


def test_the_number_of_bins_is_chosen_on_public_people() -> None:
    mechanism = made("fpa", 0, epsilon=1e6, steps=few().steps, features=len(few().ranges))
    chosen = best_kept(mechanism, few().public, NoiseSource.seeded(1))
    assert chosen.kept > 4  # type: ignore[attr-defined]


def test_documents_can_be_told_apart_in_a_group_series_with_much_budget() -> None:
    seen = picture(few(), "saccades_per_s", sizes=(12,), epsilons=(100.0,), repeats=3)
    assert seen.pairs > 0
    assert seen.signs[12, 100.0] > 0.8


def test_labels_that_are_there_are_found_and_others_are_not() -> None:
    rng = np.random.default_rng(3)
    labels, people = np.repeat([0, 1], 10), np.tile(np.arange(10), 2)
    series = rng.normal(size=(20, 40, 3)) + 4.0 * labels[:, None, None]
    found = leave_one_person_out(series, labels, people, every=4)
    assert found.voted == 1.0
    blind = leave_one_person_out(rng.normal(size=(20, 40, 3)), labels, people, every=4)
    assert blind.windows < 0.7


@pytest.mark.parametrize("learner", ["svm", "nearest", "forest"])
def test_people_who_differ_are_recognised_on_a_document_that_was_left_out(learner: str) -> None:
    rng = np.random.default_rng(4)
    people, documents = np.tile(np.arange(8), 3), np.repeat(np.arange(3), 8)
    traits = 6.0 * rng.normal(size=(8, 1, 3))
    series = rng.normal(size=(24, 40, 3)) + traits[people]
    assert identify(series, people, documents, learner, every=2).windows > 0.8


def test_noise_that_stays_the_same_through_a_release_recognises_nobody() -> None:
    rng = np.random.default_rng(5)
    people, documents = np.tile(np.arange(8), 3), np.repeat(np.arange(3), 8)
    series = rng.normal(size=(24, 40, 3)) * 0.01 + 6.0 * rng.normal(size=(24, 1, 3))
    assert identify(series, people, documents, "nearest", every=2).voted < 0.45


def test_nobody_is_recognised_from_one_document() -> None:
    with pytest.raises(InputError, match="at least two documents"):
        identify(np.zeros((4, 10, 2)), np.arange(4), np.zeros(4, dtype=np.int64), "nearest")


class TestRawGaze:
    """Hiding seconds of raw gaze."""

    def test_windows_of_bins_are_the_ones_that_the_product_derives(self) -> None:
        study = ReadingStudy(2, 60.0, seed=1)
        table = extract_bin_corpus(Corpus.of(study.recordings())).table
        whole = np.where(np.isfinite(table.values), table.values, 0.25)
        table = FeatureTable(table.rows.with_columns(**{n: whole[:, i] for i, n in enumerate(table.names)}), table.info)
        windows = windows_from_bins(table)
        bins = np.array([series.values for series in table.series()])
        means = means_over_windows(bins, 0.5)
        shown = np.array([series.values for series in windows.series()])
        for channel, name in (("x", "x_mean"), ("pupil", "pupil_mean"), ("log_path", "log_path_mean")):
            assert np.allclose(means[..., table.names.index(channel)], shown[..., windows.names.index(name)])
        counts = means[..., table.names.index("saccades")] / 0.5
        assert np.allclose(counts, shown[..., windows.names.index("saccades_per_s")])

    def test_windows_must_hide_ten_times_as_many_steps_as_bins(self) -> None:
        assert steps_touched(2.0, BinRules()) == 65
        assert BinRules().touched(2.0) == 6

    def test_bins_are_better_for_short_stretches(self) -> None:
        people = reader_bins(6, 4, 60.0)
        cells = raw_gaze(people, epsilons=(3.0,), hidden=(0.5,), repeats=2)
        errors = {(cell.product, cell.method): cell.error for cell in cells}
        for product in {cell.product for cell in cells}:
            assert errors[product, BINS_FIRST] < errors[product, OVERLAPPING]
            assert errors[product, BINS_FIRST] < errors[product, FLOOR]


def test_the_mean_of_many_people_takes_as_much_less_noise() -> None:
    for delta in (0.0, 1e-5):
        one = made("fpa", 0, epsilon=1.0, delta=delta, steps=64, features=2)
        many = for_mean(one, 25)
        assert many.scale == pytest.approx(one.scale / 25, rel=1e-6)  # type: ignore[attr-defined]


@pytest.mark.skipif(not EYETRIBE.is_file(), reason="the EyeTribe runs are not here")
def test_eyetribe_people_are_split_in_halves() -> None:
    people = eyetribe_people(EYETRIBE)
    assert len(people.private["attention"]) >= 12
    assert abs(len(people.public) - len(people.private["attention"])) <= 1


@pytest.mark.skipif(not EYETRIBE.is_file(), reason="the EyeTribe runs are not here")
def test_people_are_recognised_in_raw_runs_far_more_often_than_in_released_ones() -> None:
    rows = recognise(EYETRIBE, epsilons=(1.0,), every=90)
    by_method = {row["method"]: row for row in rows}
    chance = by_method["raw"]["svm"]["chance"]
    assert by_method["raw"]["nearest"]["voted"] > 6 * chance
    assert by_method["low-rank (ours), whole participant"]["nearest"]["voted"] < 4 * chance


def test_the_command_prints_and_draws(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    told = CliRunner().invoke(
        experiment,
        [
            "features",
            "--participants",
            "6",
            "--seconds",
            "60",
            "--repeats",
            "1",
            "--epsilons",
            "1",
            "--out",
            str(tmp_path / "out"),
            "--json",
        ],
    )
    assert told.exit_code == 0, told.output
    assert {"cells", "raw_gaze", "data"} <= json.loads(told.stdout).keys()
    assert (tmp_path / "out" / "usefulness.png").stat().st_size > 1000


def test_bozkirs_figures_are_drawn_on_few_readers(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    told = CliRunner().invoke(
        reproduce,
        [
            "bozkir",
            "--participants",
            "4",
            "--seconds",
            "90",
            "--repeats",
            "1",
            "--every",
            "60",
            "--epsilons",
            "1",
            "--out",
            str(tmp_path),
            "--json",
        ],
    )
    assert told.exit_code == 0, told.output
    numbers = json.loads(told.stdout)
    assert {"figure_1", "figure_2", "figures_3_4", "correlated_factor"} <= numbers.keys()
    (ordering,) = numbers["orderings"]
    assert ordering["authors"][0] == "C-FPA 64"
    assert sorted(ordering["ours_by_nmse"]) == sorted(ordering["authors"])
    for both in numbers["correlated_factor"].values():
        assert both["series"] > both["differences"] >= 1
    assert all((tmp_path / f"figure-{n}.png").is_file() for n in (1, 2, 3, 4))
