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

from gazeveil.cli.reproduce import app as reproduce
from gazeveil.cli.study import app as study
from gazeveil.noise import NoiseSource
from gazeveil.study.feature_classes import identify, leave_one_person_out
from gazeveil.study.feature_people import People, eyetribe_people, other_documents, readers
from gazeveil.study.feature_usefulness import best_kept, made, run
from gazeveil.study.group_series import picture

EYETRIBE = Path(__file__).resolve().parents[3] / "shared" / "data" / "eyetribe_contextlab" / "eyetribe_runs.parquet"


@lru_cache(maxsize=1)
def few() -> People:
    return readers(private=12, public=8, seconds=60.0)


def test_public_people_read_other_documents_than_private_ones() -> None:
    assert not {document.name for document in other_documents()} & set(few().private)
    assert len(few().public) == 8 * len(other_documents())
    assert all(len(series) == 12 for series in few().private.values())


def test_ours_is_best_and_hardly_ever_worse_than_the_public_mean() -> None:
    cells = run(few(), epsilons=(1.0, 10.0), sizes=(10,), repeats=2)
    errors = {(cell.product, cell.method, cell.epsilon): cell.error for cell in cells}
    for product in {cell.product for cell in cells}:
        for epsilon in (1.0, 10.0):
            ours = errors[product, "low-rank (ours)", epsilon]
            assert ours < 1.15 * errors[product, "public mean", epsilon]
            assert all(ours < errors[product, name, epsilon] for name in ("lpa", "fpa", "c-fpa 64"))


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
def test_people_who_differ_are_recognised(learner: str) -> None:
    rng = np.random.default_rng(4)
    people = np.arange(8)
    series = rng.normal(size=(8, 40, 3)) + 6.0 * rng.normal(size=(8, 1, 3))
    assert identify(series, people, learner, every=2).windows > 0.8


@pytest.mark.skipif(not EYETRIBE.is_file(), reason="the EyeTribe runs are not here")
def test_eyetribe_people_are_split_in_halves() -> None:
    people = eyetribe_people(EYETRIBE)
    assert len(people.private["attention"]) >= 12
    assert abs(len(people.public) - len(people.private["attention"])) <= 1


def test_the_command_prints_and_draws(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    told = CliRunner().invoke(
        study,
        ["features", "--people", "6", "--seconds", "60", "--repeats", "1", "--out", str(tmp_path / "out"), "--json"],
    )
    assert told.exit_code == 0, told.output
    assert {"cells", "data"} <= json.loads(told.stdout).keys()
    assert (tmp_path / "out" / "usefulness.png").stat().st_size > 1000


def test_bozkirs_figures_are_drawn_on_few_readers(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    told = CliRunner().invoke(
        reproduce,
        [
            "bozkir",
            "--people",
            "4",
            "--seconds",
            "90",
            "--runs",
            "1",
            "--every",
            "60",
            "--out",
            str(tmp_path),
            "--json",
        ],
    )
    assert told.exit_code == 0, told.output
    numbers = json.loads(told.stdout)
    assert {"figure_1", "figure_2", "figures_3_4", "correlated_factor"} <= numbers.keys()
    for both in numbers["correlated_factor"].values():
        assert both["series"] > both["differences"] >= 1
    assert all((tmp_path / f"figure-{n}.png").is_file() for n in (1, 2, 3, 4))
