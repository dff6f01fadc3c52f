# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""From tables to releases: one public length, nothing beside the noisy features leaves, everything is paid for."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import polars as pl
import pytest

from gazeveil.errors import BudgetExceeded, InputError, OptionError
from gazeveil.features.group import GroupSeries
from gazeveil.features.learning import learn
from gazeveil.features.mechanisms.c_fpa import ChunkFourierPerturbation
from gazeveil.features.mechanisms.fpa import FourierPerturbation
from gazeveil.features.own import OwnSeries
from gazeveil.features.panel import mean_per_person, noisy_lengths, panel_of
from gazeveil.features.publish import OwnRelease, about_raw_gaze, group_table, release_group, table_of
from gazeveil.features.ranges import Range, Ranges
from gazeveil.features.table import BINS, WINDOWS, FeatureTable, Info
from gazeveil.noise import NoiseSource
from gazeveil.privacy.guarantee import ApproxDP, PureDP, Unproven
from gazeveil.privacy.ledger import Ledger
from gazeveil.privacy.unit import FeatureSeries, Observer

RANGES = Ranges.of({"rate": Range(0, 4, "test"), "size": Range(1, 100, "test", log=True)})
INFO = Info(WINDOWS, RANGES.names, 30.0, 0.5, "deg")


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
                    "rate": rng.uniform(0, 4, length), "size": rng.uniform(1, 100, length),
                }
            )
        )  # fmt: skip
    return FeatureTable(pl.concat(frames), INFO)


class TestPanels:
    def test_series_are_cut_and_filled_to_the_public_length(self) -> None:
        panel = panel_of(table({"a": 30, "b": 10}), RANGES, 20, np.array([0.1, 0.9]))
        assert panel.values.shape == (2, 20, 2)
        assert np.allclose(panel.values[1, 10:], [0.1, 0.9])
        assert panel.lengths == (30, 10)
        assert panel.filled == 20
        assert "1 of 2 series were longer than 20 steps and cut" in panel.told()

    def test_what_is_missing_is_filled_where_it_is_and_nowhere_else(self) -> None:
        whole = table({"a": 20})
        holes = FeatureTable(
            whole.rows.with_columns(
                rate=pl.when(pl.int_range(pl.len()) == 3).then(float("nan")).otherwise(pl.col("rate")),
                usable=pl.int_range(pl.len()) != 7,
            ),
            INFO,
        )
        before, after = panel_of(whole, RANGES, 20), panel_of(holes, RANGES, 20)
        changed = np.argwhere(before.values != after.values)
        assert changed.tolist() == [[0, 3, 0], [0, 7, 0], [0, 7, 1]]
        assert np.all(after.values[0, 7] == 0.5)

    def test_values_outside_their_ranges_are_clipped_and_counted(self) -> None:
        narrow = Ranges.of({"rate": Range(0, 1, "too narrow"), "size": RANGES["size"]})
        panel = panel_of(table({"a": 400}), narrow, 400)
        assert panel.values.max() <= 1
        assert panel.clipped.counts["rate"] == pytest.approx(300, abs=60)
        assert "lay outside the declared ranges and were clipped" in panel.told()

    def test_an_empty_table_is_refused(self) -> None:
        empty = table({"a": 3}).where(pl.col("observer") == "nobody")
        with pytest.raises(InputError, match="no series"):
            panel_of(empty, RANGES, 20)

    def test_a_table_without_any_usable_value_is_refused_and_an_absent_feature_is_told(self) -> None:
        given = table({"a": 20, "b": 20})
        frozen = FeatureTable(given.rows.with_columns(usable=pl.lit(value=False)), INFO)
        with pytest.raises(InputError, match="no usable value of rate, size"):
            panel_of(frozen, RANGES, 20)
        blind = FeatureTable(given.rows.with_columns(size=pl.lit(float("nan"))), INFO)
        panel = panel_of(blind, RANGES, 20)
        assert panel.absent == ("size",)
        assert "size: in no series" in panel.told()
        assert np.all(panel.values[..., 1] == 0.5)

    def test_people_with_many_series_count_once_in_a_group(self) -> None:
        both = FeatureTable.concat([table({"a": 20, "b": 20}), table({"a": 20}, seed=1, session="2")])
        names, values = mean_per_person(panel_of(both, RANGES, 20))
        assert names == ["a", "b"]
        assert values.shape == (2, 20, 2)


class TestOwnReleases:
    def test_nothing_beside_the_noisy_features_leaves(self) -> None:
        given = table({"a": 40, "b": 7})
        panel = panel_of(given, RANGES, 40)
        mechanism = FourierPerturbation(epsilon=1, steps=40, features=2)
        release = OwnRelease(mechanism=mechanism).release(panel, RANGES, INFO, noise=NoiseSource.secure())
        out = release.value
        assert isinstance(out, FeatureTable)
        assert release.guarantee == PureDP(1)
        lengths = out.rows.group_by("observer").len()["len"].to_list()
        assert lengths == [40, 40]
        for column in ("samples", "covered", "errors", "repeats", "usable"):
            assert out.rows[column].n_unique() == 1

    def test_more_series_than_the_promise_covers_are_refused(self) -> None:
        both = FeatureTable.concat([table({"a": 20}), table({"a": 20}, seed=1, session="2")])
        panel = panel_of(both, RANGES, 20)
        mechanism = FourierPerturbation(epsilon=1, steps=20, features=2)
        with pytest.raises(InputError, match="a has 2 series, and the promise covers 1"):
            OwnRelease(mechanism=mechanism).release(panel, RANGES, INFO, noise=NoiseSource.secure())
        release = OwnRelease(mechanism=mechanism, series=2).release(panel, RANGES, INFO, noise=NoiseSource.secure())
        assert release.guarantee == PureDP(1)

    def test_a_person_splits_epsilon_among_series_and_a_stretch_does_not(self) -> None:
        whole = OwnRelease(mechanism=FourierPerturbation(epsilon=1, delta="1e-5", steps=20), series=4, people=9)
        assert whole.each.guarantee == ApproxDP("0.25", "0.0000025")
        stretch = OwnRelease(mechanism=ChunkFourierPerturbation(epsilon=1, steps=64, stretch=8), series=4)
        assert stretch.each.guarantee == PureDP(1, unit=FeatureSeries(8))

    def test_what_is_stated_is_what_every_series_really_gets(self) -> None:
        # Unsplit, radial noise is the smaller one and ε is pure; split among series, Gaussian noise is.
        design = learn([np.random.default_rng(1).uniform(size=(20, 20, 2))], RANGES, "made up")
        whole = OwnSeries(epsilon=1, delta="0.01", design=design)
        job = OwnRelease(mechanism=whole, series=4, people=20)
        assert whole.guarantee == PureDP(1)
        assert job.each.guarantee == ApproxDP("0.25", "0.0025")
        assert job.guarantee == ApproxDP(1, "0.01")
        assert job.to_dict()["noise"] == "gaussian"
        assert replace(job, length_epsilon="0.25").guarantee == ApproxDP(2, "0.01")

    def test_a_delta_is_checked_against_the_declared_people(self) -> None:
        mechanism = FourierPerturbation(epsilon=1, delta="0.1", steps=20, features=2)
        with pytest.raises(OptionError, match="how many people"):
            OwnRelease(mechanism=mechanism)
        with pytest.raises(OptionError, match="no smaller than one in 10 people"):
            OwnRelease(mechanism=mechanism, people=10)
        job = OwnRelease(mechanism=mechanism, people=2)
        panel = panel_of(table({"a": 20, "b": 20, "c": 20}), RANGES, 20)
        with pytest.raises(InputError, match="3 people, and 2 were declared"):
            job.release(panel, RANGES, INFO, noise=NoiseSource.secure())
        assert OwnRelease(mechanism=replace(mechanism, delta=0)).guarantee == PureDP(1)

    def test_lengths_cost_more(self) -> None:
        paid = OwnRelease(mechanism=FourierPerturbation(epsilon=1, steps=40, features=2), length_epsilon="0.5")
        assert paid.guarantee == PureDP("1.5")
        panel = panel_of(table({"a": 40, "b": 7}), RANGES, 40)
        release = paid.release(panel, RANGES, INFO, noise=NoiseSource.seeded(3))
        assert len(release.value) <= 80
        with pytest.raises(OptionError, match="observer-level"):
            OwnRelease(mechanism=FourierPerturbation(epsilon=1, steps=40, stretch=4), length_epsilon=1)

    def test_noisy_lengths_are_noisy_and_stay_possible(self) -> None:
        lengths = noisy_lengths([0, 50, 100, 500], 100, Fraction(1, 10), NoiseSource.seeded(1))
        assert all(0 <= length <= 100 for length in lengths)
        assert noisy_lengths([60], 100, 10**6, NoiseSource.seeded(1)) == [60]

    def test_the_ledger_is_charged_before_noise_is_drawn_and_can_say_no(
        self, tmp_path_factory: pytest.TempPathFactory
    ) -> None:
        path = tmp_path_factory.mktemp("ledger") / "book.db"
        panel = panel_of(table({"a": 20}), RANGES, 20)
        with Ledger.open(path, create=True) as book:
            book.grant("study", PureDP(2))
            job = OwnRelease(mechanism=FourierPerturbation(epsilon=1.5, steps=20, features=2))
            first = job.release(panel, RANGES, INFO, noise=NoiseSource.secure(), ledger=book, dataset="study")
            assert first.receipt is not None
            with pytest.raises(BudgetExceeded):
                job.release(panel, RANGES, INFO, noise=NoiseSource.secure(), ledger=book, dataset="study")

    def test_seeded_noise_promises_nothing(self) -> None:
        panel = panel_of(table({"a": 20}), RANGES, 20)
        mechanism = FourierPerturbation(epsilon=1, steps=20, features=2)
        release = OwnRelease(mechanism=mechanism).release(panel, RANGES, INFO, noise=NoiseSource.seeded(1))
        assert isinstance(release.guarantee, Unproven)

    def test_a_table_goes_out_as_a_table(self) -> None:
        panel = panel_of(table({"a": 20, "b": 20}), RANGES, 20)
        out = table_of(RANGES.from_unit(panel.values), panel, INFO)
        assert np.allclose(out.values, table({"a": 20, "b": 20}).values)


class TestGroupReleases:
    def test_the_mean_of_a_group_comes_with_a_band(self) -> None:
        public = [
            np.clip(np.random.default_rng(s).normal(0.5, 0.1, (20, 1, 2)) + np.zeros((1, 20, 1)), 0, 1) for s in (1, 2)
        ]
        design = learn(public, RANGES, "made up")
        panel = panel_of(table({f"p{i}": 20 for i in range(30)}), RANGES, 20, design.mean)
        mechanism = GroupSeries(epsilon=3, people=30, design=design)
        release = release_group(mechanism, panel, noise=NoiseSource.secure())
        assert release.guarantee.unit == Observer()
        rows = group_table(release.value, RANGES, 0.5)
        assert rows.columns == ["start", "feature", "mean", "low", "high", "public"]
        assert (rows["low"] <= rows["mean"]).all()
        assert (rows["mean"] <= rows["high"]).all()
        with pytest.raises(InputError, match="29 were declared"):
            release_group(GroupSeries(epsilon=3, people=29, design=design), panel, noise=NoiseSource.secure())


@pytest.mark.parametrize(("stretch", "words"), [(1, "hide nothing"), (32, "hide nothing"), (64, "less than 2 s")])
def test_steps_of_overlapping_windows_hide_next_to_nothing_of_raw_gaze(stretch: int, words: str) -> None:
    """B10."""
    assert words in about_raw_gaze(stretch, INFO)
    assert "hidden seconds" in about_raw_gaze(stretch, Info(BINS, ("x",), 0.5, 0.5, "deg", reach=0.3))
