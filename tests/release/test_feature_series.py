# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Feature releases under one declaration: whoever takes a participant's place, only noisy numbers differ (S1)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from gazeveil.cli.main import run
from gazeveil.errors import OptionError
from gazeveil.features.bins import BinRules, bin_ranges
from gazeveil.features.design_learning import learn
from gazeveil.features.group_series import GroupSeries
from gazeveil.features.mechanisms.fpa import FourierPerturbation
from gazeveil.features.participant_series import ParticipantSeries, RawGaze
from gazeveil.features.series_release import ParticipantRelease
from gazeveil.features.table import FeatureTable
from gazeveil.gaze.corpus import Corpus, write_corpus
from gazeveil.gaze.recording import Recording
from gazeveil.noise import NoiseSource
from gazeveil.release.feature_settings import source_settings, study_settings
from gazeveil.release.plan import Plan
from gazeveil.release.release import Release
from gazeveil.release.study import Participants, Recordings, Stimulus, Study
from gazeveil.release.study_toml import write_study
from gazeveil.simulate.readers import DOCUMENTS, ReadingStudy
from tests.release import hostile

STEPS = 61
FEATURES = ("saccades_per_s", "amplitude_mean", "pupil_mean_of_means")


@cache
def readers() -> tuple[Recording, ...]:
    """Return six readers of a comic, a minute each."""
    return tuple(ReadingStudy(6, seconds=60, documents=DOCUMENTS[:1], seed=2).recordings())


def declared() -> Study:
    first = readers()[0]
    return Study(
        name="readers",
        participants=Participants(roster=tuple(f"p{i:03d}" for i in range(1, 7))),
        stimuli=(Stimulus(name=first.stimulus, screen=first.geometry, seconds=60.0),),
        recordings=Recordings(rate_hz=first.rate_hz, pupil_unit=first.pupil_unit),
    )


def stopped_early(usual: Recording) -> list[Recording]:
    return [usual.between(0.0, 25.0)]


def recorded_twice(usual: Recording) -> list[Recording]:
    return [usual, replace(usual, trial="2"), replace(usual, session="2")]


def clock_ran_back(usual: Recording) -> list[Recording]:
    t = usual.t.copy()
    t[len(t) // 2 :] -= 10.0
    return [replace(usual, t=t)]


def clock_ran_back_unseen(usual: Recording) -> list[Recording]:
    t = usual.t.copy()
    t[len(t) // 2 :] -= 10.0
    t[len(t) // 2] = np.nan
    return [replace(usual, t=t)]


def clock_jumped_by_years(usual: Recording) -> list[Recording]:
    t = usual.t.copy()
    t[-1] = 1e300
    return [replace(usual, t=t)]


def clock_too_large_to_tell_windows_apart(usual: Recording) -> list[Recording]:
    return [replace(usual, t=usual.t + 1e16)]


def other_pupil(usual: Recording) -> list[Recording]:
    return [replace(usual, pupil_unit="px")]


def gone(usual: Recording) -> list[Recording]:
    return []


REPLACED: list[Callable[[Recording], list[Recording]]] = [
    stopped_early, recorded_twice, clock_ran_back, clock_ran_back_unseen, clock_jumped_by_years,
    clock_too_large_to_tell_windows_apart, other_pupil, gone,
]  # fmt: skip


def with_replaced(make: Callable[[Recording], list[Recording]]) -> Corpus:
    usual = readers()
    return Corpus.of([each for one in usual for each in (make(one) if one.observer == "p005" else [one])])


def design_of(steps: int, ranges: Any) -> Any:
    return learn([np.random.default_rng(1).beta(5, 5, (12, steps, len(ranges)))], ranges, "made up")


@cache
def plans() -> dict[str, Plan]:
    study = declared()
    windows = study_settings(study)
    ranges = windows.ranges(FEATURES)
    design = design_of(STEPS, ranges)
    fpa = FourierPerturbation(epsilon=1, steps=STEPS, features=len(ranges))
    return {
        "group": study.plan(GroupSeries(epsilon=1, design=design)),
        "low-rank": study.plan(ParticipantSeries(epsilon=1, delta="1e-5", design=design)),
        "fpa": study.plan(ParticipantRelease(mechanism=fpa, length_epsilon=1), ranges=ranges),
    }


@cache
def usual_releases() -> dict[str, Release]:
    """Return the releases of everybody as they are, with a seed."""
    usual = Corpus.of(readers())
    return {name: plan.release(usual, anyway=True, noise=NoiseSource.seeded(1)) for name, plan in plans().items()}


def looks(release: Release) -> dict[str, Any]:
    """Return all of a release but noisy numbers; noisy lengths are noisy numbers too."""
    frame = release.to_frame()
    names = [name for name, kind in frame.schema.items() if kind == pl.String]
    return {
        "schema": frame.schema,
        "names": frame.select(names).unique().sort(names).rows(),
        "guarantee": release.guarantee,
        "recipe": release.recipe(),
        "facts": [fact.to_dict() for fact in release.facts],
    }


@pytest.mark.parametrize("make", REPLACED)
def test_a_release_looks_the_same_whatever_became_of_one_participant(
    make: Callable[[Recording], list[Recording]],
) -> None:
    """S1: `group` said 5 people instead of 6, `low-rank` left p5 out by name, recorded twice gave more rows."""
    other = with_replaced(make)
    for name, plan in plans().items():
        before, after = usual_releases()[name], plan.release(other, anyway=True, noise=NoiseSource.seeded(1))
        assert looks(before) == looks(after), name
        if name != "fpa":
            assert before.to_frame().shape == after.to_frame().shape


def test_whoever_is_unusable_has_public_values_and_others_keep_theirs() -> None:
    study = declared()
    ranges = study_settings(study).ranges(FEATURES)
    exact = FourierPerturbation(epsilon=10**9, steps=STEPS, features=len(ranges), kept=31)
    plan = study.plan(exact, ranges=ranges)
    before = plan.release(Corpus.of(readers())).value
    after = plan.release(with_replaced(stopped_early))
    mine = pl.col("observer") == "p005"
    assert np.allclose(before.where(~mine).values, after.value.where(~mine).values, rtol=1e-3, atol=1e-3)
    middle = ranges.from_unit(np.full((STEPS, len(ranges)), 0.5))
    assert np.allclose(after.value.where(mine).values, middle, rtol=1e-3)
    assert after.private is not None
    assert any("p005" in remark and "counts as absent" in remark for remark in after.private.remarks)


def test_a_pupil_in_another_unit_is_missing_and_everybody_else_is_processed_as_before() -> None:
    study = declared()
    ranges = study_settings(study).ranges(FEATURES)
    exact = FourierPerturbation(epsilon=10**9, steps=STEPS, features=len(ranges), kept=31)
    released = study.plan(exact, ranges=ranges).release(with_replaced(other_pupil)).value
    mine = released.where(pl.col("observer") == "p005")
    assert np.allclose(mine.values[:, 2], ranges["pupil_mean_of_means"].from_unit(0.5), rtol=1e-3)
    others = released.where(pl.col("observer") != "p005").values[:, 2]
    assert not np.isclose(others, ranges["pupil_mean_of_means"].from_unit(0.5), rtol=1e-2).all()


@cache
def plans_for_anybody() -> tuple[Plan, ...]:
    study = hostile.study()
    numbered = replace(study, participants=Participants(number=len(hostile.PEOPLE)))
    bins = study_settings(study, bins=0.5)
    design = design_of(16, bin_ranges(BinRules()))
    twice = replace(study, recordings=replace(study.recordings, per_stimulus=2, sessions=("1", "day-2")))
    return (
        numbered.plan(GroupSeries(epsilon=1, design=design), settings=bins),
        study.plan(ParticipantSeries(epsilon=1, design=design, raw=RawGaze(1.0, BinRules())), settings=bins),
        twice.plan(ParticipantSeries(epsilon=1, design=design), settings=bins, task="forest"),
    )


@pytest.mark.parametrize("replacement", hostile.REPLACEMENTS)
def test_noisy_numbers_have_one_shape_whoever_takes_a_place(replacement: str, tmp_path: Path) -> None:
    """Over random neighbours: nothing fails, and what is measured has the declared shape."""
    found = plans_for_anybody()
    shapes = [None, (5 * 2, 16, 11), (5 * 2, 16, 11)]
    for seed in range(3):
        folder = hostile.write_corpus_with(replacement, tmp_path / str(seed), seed)
        for plan, shape in zip(found, shapes, strict=True):
            release = plan.release(folder, anyway=True, noise=NoiseSource.seeded(seed))
            if shape is None:
                assert release.to_frame().shape == (16 * 11, 6)
            else:
                assert release.value.values.shape == (shape[0] * shape[1], shape[2])
                assert np.isfinite(release.value.values).all()
    by_session = release.value.rows.select("observer", "stimulus", "session", "trial").unique()
    assert sorted(by_session["session"].unique()) == ["1", "day-2"]
    assert sorted(by_session["observer"].unique()) == sorted(hostile.PEOPLE)


class TestTables:
    def test_a_declared_study_takes_a_table_that_was_extracted_with_it(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.chdir(tmp_path)
        write_study(declared(), Path("study.toml"))
        shapes = set()
        asked = ["--mechanism", "fpa", "--epsilon", "1", "--features", ",".join(FEATURES), "--study", "study.toml"]
        for make in (None, *REPLACED):
            corpus = Corpus.of(readers()) if make is None else with_replaced(make)
            name = "usual" if make is None else make.__name__
            write_corpus(list(corpus.recordings()), name)
            made = ["features", "extract", name, "--out", f"{name}.parquet", "--study", "study.toml"]
            assert run(made) == 0
            capsys.readouterr()
            assert run(["features", "release", f"{name}.parquet", *asked, "--no-ledger", "--out", f"{name}-out"]) == 0
            said = capsys.readouterr()
            rows = FeatureTable.read(tmp_path / f"{name}-out" / "features.parquet").rows
            shapes.add((said.out.replace(name, "NAME"), said.err, str(rows.select("observer", "session", "trial"))))
        assert len(shapes) == 1
        undeclared = ["features", "extract", "usual", "--out", "plain.parquet"]
        assert run(undeclared) == 0
        assert run(["features", "release", "plain.parquet", *asked, "--no-ledger", "--out", "no"]) == 3
        assert "not extracted with the declaration" in capsys.readouterr().err

    def test_a_corpus_and_its_table_give_the_same_series(self, tmp_path: Path) -> None:
        study = declared()
        write_study(study, tmp_path / "study.toml")
        write_corpus(readers(), tmp_path / "gaze")
        made = ["features", "extract", str(tmp_path / "gaze"), "--study", str(tmp_path / "study.toml")]
        assert run([*made, "--bins", "0.5", "--out", str(tmp_path / "bins.parquet")]) == 0
        bins = source_settings(study, tmp_path / "bins.parquet")
        assert bins.info == study_settings(study, bins=0.5).info
        mechanism = ParticipantSeries(epsilon=3, delta="1e-5", design=design_of(120, bins.ranges()), stretch=20)
        plan = study.plan(mechanism, settings=bins)
        both = [
            plan.release(tmp_path / source, noise=NoiseSource.seeded(4), anyway=True).value.rows
            for source in ("gaze", "bins.parquet")
        ]
        assert both[0].equals(both[1])


def test_a_secret_number_of_participants_is_refused_at_planning() -> None:
    study = replace(declared(), participants=Participants(secret=True))
    with pytest.raises(OptionError, match="public number"):
        study.plan(GroupSeries(epsilon=1, design=design_of(STEPS, study_settings(study).ranges(FEATURES))))


def test_a_group_is_those_whom_the_study_puts_there() -> None:
    study = declared()
    grouped = replace(
        study, recordings=replace(study.recordings, groups={"p001": "a", "p002": "a", "p003": "b", "p006": "a"})
    )
    mechanism = GroupSeries(epsilon=1, design=design_of(STEPS, study_settings(study).ranges(FEATURES)))
    assert grouped.plan(mechanism, group="a").measurement.recipe()["participants"] == 3
    with pytest.raises(OptionError, match="at least two participants"):
        grouped.plan(mechanism, group="b")
    own = ParticipantSeries(epsilon=1, design=mechanism.design)
    released = grouped.plan(own, group="a").release(Corpus.of(readers()), anyway=True)
    assert released.value.observers == ["p001", "p002", "p006"]
