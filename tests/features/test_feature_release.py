# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""From tables to releases: one public length, nothing beside the noisy features leaves, everything is paid for."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from gazeveil.errors import BudgetExceeded, InputError, OptionError
from gazeveil.features.bins import BinRules
from gazeveil.features.design import Design
from gazeveil.features.design_learning import learn
from gazeveil.features.group_series import GroupSeries
from gazeveil.features.mechanisms.c_fpa import ChunkFourierPerturbation
from gazeveil.features.mechanisms.fpa import FourierPerturbation
from gazeveil.features.participant_series import ParticipantSeries, RawGaze
from gazeveil.features.ranges import Range, Ranges
from gazeveil.features.series import noisy_lengths, panel_of, scaled_series
from gazeveil.features.series_release import ParticipantRelease, about_raw_gaze
from gazeveil.features.settings import Settings
from gazeveil.features.table import BINS, FeatureTable, Info
from gazeveil.noise import NoiseSource
from gazeveil.privacy.guarantee import ApproxDP, PureDP, Unproven
from gazeveil.privacy.ledger import Ledger
from gazeveil.privacy.protection import FeatureSeries, Observer
from gazeveil.release.feature_settings import observed_facts, with_series
from gazeveil.release.release import Release

RANGES = Ranges.of({"saccades_per_s": Range(0, 4, "test"), "amplitude_mean": Range(1, 100, "test", log=True)})
SETTINGS = Settings.windows(degrees=True)
INFO = Info("windows", RANGES.names, 30.0, 0.5, "deg", settings=SETTINGS.info.settings)


def table(lengths: dict[str, int], seed: int = 0, session: str = "1") -> FeatureTable:
    rng = np.random.default_rng(seed)
    frames = []
    for name, length in lengths.items():
        frames.append(
            pl.DataFrame(
                {
                    "observer": [name] * length, "stimulus": "page", "session": session, "trial": "1",
                    "task": "reading", "group": "", "start": np.arange(length) * 0.5,
                    "end": np.arange(length) * 0.5 + 30, "samples": np.full(length, 900), "covered": 1.0,
                    "errors": 0.0, "repeats": 0.0, "usable": True,
                    "saccades_per_s": rng.uniform(0, 4, length), "amplitude_mean": rng.uniform(1, 100, length),
                }
            )
        )  # fmt: skip
    return FeatureTable(pl.concat(frames), INFO)


def design() -> Design:
    public = [
        np.clip(np.random.default_rng(s).normal(0.5, 0.1, (20, 1, 2)) + np.zeros((1, 20, 1)), 0, 1) for s in (1, 2)
    ]
    return learn(public, RANGES, "made up")


def released(mechanism: Any, given: FeatureTable, *, series: int = 1, **options: Any) -> Release:
    ranges = {} if hasattr(mechanism, "design") else {"ranges": RANGES}
    plan = with_series(observed_facts(given), series).plan(mechanism, settings=SETTINGS, **ranges)
    return plan.release(given, anyway=True, **options)


class TestPanels:
    def test_series_are_cut_and_filled_to_the_public_length(self) -> None:
        panel = panel_of(table({"a": 30, "b": 10}), RANGES, 20, np.array([0.1, 0.9]))
        assert panel.values.shape == (2, 20, 2)
        assert np.allclose(panel.values[1, 10:], [0.1, 0.9])

    def test_what_is_missing_is_filled_where_it_is_and_nowhere_else(self) -> None:
        whole = table({"a": 20})
        name = RANGES.names[0]
        holes = FeatureTable(
            whole.rows.with_columns(
                pl.when(pl.int_range(pl.len()) == 3).then(float("nan")).otherwise(pl.col(name)).alias(name),
                usable=pl.int_range(pl.len()) != 7,
            ),
            INFO,
        )
        before, after = panel_of(whole, RANGES, 20), panel_of(holes, RANGES, 20)
        changed = np.argwhere(before.values != after.values)
        assert changed.tolist() == [[0, 3, 0], [0, 7, 0], [0, 7, 1]]
        assert np.all(after.values[0, 7] == 0.5)

    def test_values_outside_their_ranges_are_clipped_and_counted(self) -> None:
        first, second = RANGES.names
        narrow = Ranges.of({first: Range(0, 1, "too narrow"), second: RANGES[second]})
        values, clipped = scaled_series(next(table({"a": 400}).series()), narrow, 400)
        assert values.max() <= 1
        assert clipped.counts[first] == pytest.approx(300, abs=60)
        assert (clipped + clipped).total == 2 * clipped.total

    def test_an_empty_table_is_refused(self) -> None:
        empty = table({"a": 3}).where(pl.col("observer") == "nobody")
        with pytest.raises(InputError, match="no series"):
            panel_of(empty, RANGES, 20)

    def test_a_table_without_any_usable_value_is_refused_and_an_absent_feature_filled(self) -> None:
        given = table({"a": 20, "b": 20})
        frozen = FeatureTable(given.rows.with_columns(usable=pl.lit(value=False)), INFO)
        with pytest.raises(InputError, match="no usable value of saccades_per_s, amplitude_mean"):
            panel_of(frozen, RANGES, 20)
        blind = FeatureTable(given.rows.with_columns(amplitude_mean=pl.lit(float("nan"))), INFO)
        panel = panel_of(blind, RANGES, 20)
        assert np.all(panel.values[..., 1] == 0.5)


class TestParticipantReleases:
    def test_nothing_beside_the_noisy_features_leaves(self) -> None:
        given = table({"a": 40, "b": 7})
        release = released(FourierPerturbation(epsilon=1, steps=40, features=2), given)
        out = release.value
        assert isinstance(out, FeatureTable)
        assert release.guarantee == PureDP(1)
        lengths = out.rows.group_by("observer").len()["len"].to_list()
        assert lengths == [40, 40]
        for column in ("samples", "covered", "errors", "repeats", "usable"):
            assert out.rows[column].n_unique() == 1

    def test_series_beyond_the_declared_number_are_cut_and_those_that_are_missing_are_there(self) -> None:
        twice = FeatureTable.concat([table({"a": 20, "b": 20}), table({"a": 20}, seed=1, session="2")])
        mechanism = FourierPerturbation(epsilon=10**6, steps=20, features=2, kept=11)
        once = released(mechanism, twice)
        assert len(once.value) == 2 * 20
        assert np.allclose(
            once.value.values[:20], twice.values[:20], rtol=1e-2, atol=1e-2
        )  # the first session, hardly noised
        assert once.private is not None
        assert any("1 recordings beyond the declared number were cut" in remark for remark in once.private.remarks)
        both = released(mechanism, twice, series=2)
        assert both.guarantee == PureDP(10**6)
        assert both.value.rows["trial"].unique().sort().to_list() == ["1", "2"]
        middle = np.array([2.0, 10.0])
        assert np.allclose(both.value.values[60:], middle, rtol=1e-2, atol=1e-2)  # b's second series: public values

    def test_a_person_splits_epsilon_among_series_and_a_stretch_does_not(self) -> None:
        whole = ParticipantRelease(mechanism=FourierPerturbation(epsilon=1, delta="1e-5", steps=20))
        assert whole.each(4).guarantee == ApproxDP("0.25", "0.0000025")
        assert whole.guarantee(4) == ApproxDP(1, "1e-5")
        stretch = ParticipantRelease(mechanism=ChunkFourierPerturbation(epsilon=1, steps=64, stretch=8))
        assert stretch.each(4).guarantee == stretch.guarantee(4) == PureDP(1, unit=FeatureSeries(8))

    def test_what_is_stated_is_what_every_series_really_gets(self) -> None:
        """S7: unsplit, radial noise is the smaller one and ε is pure; split among series, Gaussian noise is."""
        made_up = learn([np.random.default_rng(1).uniform(size=(20, 20, 2))], RANGES, "made up")
        whole = ParticipantSeries(epsilon=1, delta="0.01", design=made_up)
        job = ParticipantRelease(mechanism=whole)
        assert whole.guarantee == job.guarantee(1) == PureDP(1)
        assert job.each(4).guarantee == ApproxDP("0.25", "0.0025")
        assert job.guarantee(4) == ApproxDP(1, "0.01")
        assert job.to_dict(4)["noise"] == "gaussian"
        assert ParticipantRelease(mechanism=whole, length_epsilon="0.25").guarantee(4) == ApproxDP(2, "0.01")

    def test_a_delta_that_lets_one_participant_out_is_refused(self) -> None:
        """S7: δ is checked against the number of participants."""
        many = table({f"p{i}": 20 for i in range(12)})
        with pytest.raises(OptionError, match="no smaller than one in 12 participants"):
            released(FourierPerturbation(epsilon=1, delta="0.1", steps=20, features=2), many)
        with pytest.raises(OptionError, match="no smaller than one in 12 participants"):
            released(GroupSeries(epsilon=1, delta="0.1", design=design()), many)

    def test_lengths_cost_more(self) -> None:
        paid = ParticipantRelease(mechanism=FourierPerturbation(epsilon=1, steps=40, features=2), length_epsilon="0.5")
        assert paid.guarantee(1) == PureDP("1.5")
        assert paid.guarantee(3) == PureDP("2.5")
        release = released(paid, table({"a": 40, "b": 7}), noise=NoiseSource.seeded(3))
        assert len(release.value) <= 80
        with pytest.raises(OptionError, match="observer-level"):
            ParticipantRelease(mechanism=FourierPerturbation(epsilon=1, steps=40, stretch=4), length_epsilon=1)

    def test_noisy_lengths_are_noisy_and_stay_possible(self) -> None:
        lengths = noisy_lengths([0, 50, 100, 500], 100, Fraction(1, 10), NoiseSource.seeded(1))
        assert all(0 <= length <= 100 for length in lengths)
        assert noisy_lengths([60], 100, 10**6, NoiseSource.seeded(1)) == [60]

    def test_exact_amounts_fit_an_exact_budget_and_no_more(self, tmp_path: Path) -> None:
        given = table({"a": 20})
        job = FourierPerturbation(epsilon="0.1", steps=20, features=2)
        with Ledger.open(tmp_path / "book.db", create=True) as book:
            book.grant("study", PureDP("0.3"))
            for _ in range(3):
                assert released(job, given, ledger=book, account="study").receipt is not None
            with pytest.raises(BudgetExceeded):
                released(job, given, ledger=book, account="study")

    def test_seeded_noise_promises_nothing(self) -> None:
        mechanism = FourierPerturbation(epsilon=1, steps=20, features=2)
        release = released(mechanism, table({"a": 20}), noise=NoiseSource.seeded(1))
        assert isinstance(release.guarantee, Unproven)

    def test_own_series_need_a_roster(self) -> None:
        given = table({"a": 20, "b": 20})
        study = observed_facts(given, number=2)
        with pytest.raises(OptionError, match="declare a roster"):
            study.plan(FourierPerturbation(epsilon=1, steps=20, features=2), settings=SETTINGS, ranges=RANGES)

    def test_raw_gaze_is_hidden_through_the_bins_that_are_released_or_not_at_all(self) -> None:
        given = table({"a": 20, "b": 20})
        hidden = ParticipantSeries(epsilon=1, design=design(), raw=RawGaze(1.0, BinRules()))
        with pytest.raises(OptionError, match="other bins"):
            observed_facts(given).plan(hidden, settings=SETTINGS)

    def test_a_table_made_in_another_way_is_refused_before_anything_is_spent(self) -> None:
        given = table({"a": 20, "b": 20})
        mechanism = FourierPerturbation(epsilon=1, steps=20, features=2)
        plan = observed_facts(given).plan(mechanism, settings=Settings.windows(degrees=True, window=20), ranges=RANGES)
        with pytest.raises(OptionError, match="other settings"):
            plan.release(given)


class TestGroupReleases:
    def test_the_mean_of_a_group_comes_with_a_band(self) -> None:
        release = released(GroupSeries(epsilon=3, design=design()), table({f"p{i}": 20 for i in range(30)}))
        assert release.guarantee.unit == Observer()
        rows = release.to_frame()
        assert rows.columns == ["start", "feature", "mean", "low", "high", "public"]
        assert (rows["low"] <= rows["mean"]).all()
        assert (rows["mean"] <= rows["high"]).all()

    def test_people_with_many_series_count_once_with_their_mean(self) -> None:
        both = FeatureTable.concat([table({"a": 20, "b": 20}), table({"a": 20}, seed=1, session="2")])
        release = released(GroupSeries(epsilon=3, design=design()), both, series=2)
        assert release.recipe()["participants"] == 2

    def test_a_group_may_be_declared_by_number(self) -> None:
        plan = observed_facts(table({"a": 20, "b": 20}), number=7).plan(
            GroupSeries(epsilon=3, design=design()), settings=SETTINGS
        )
        assert plan.to_dict()["recipe"]["participants"] == 7
        assert [fact.name for fact in plan.facts if not fact.declared] == ["stimuli", "recordings", "extraction"]


@pytest.mark.parametrize(("stretch", "words"), [(1, "hide nothing"), (32, "hide nothing"), (64, "less than 2 s")])
def test_steps_of_overlapping_windows_hide_next_to_nothing_of_raw_gaze(stretch: int, words: str) -> None:
    """B10."""
    assert words in about_raw_gaze(stretch, INFO)
    assert "hidden seconds" in about_raw_gaze(stretch, Info(BINS, ("x",), 0.5, 0.5, "deg", reach=0.3))
