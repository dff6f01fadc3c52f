# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The 52 features in sliding windows: against a plain implementation, on known gaze, and on bad input."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from benchmarks.plain_features import one_window
from gazeveil import Corpus, Recording, headset, normalised
from gazeveil.errors import InputError, OptionError
from gazeveil.features.extraction import (
    EventRules,
    EyeEvents,
    QualityRules,
    extract,
    extract_corpus,
    find_events,
    window_features,
    window_starts,
)
from gazeveil.features.feature_list import FEATURES, NAMES, NEARLY_CONSTANT
from gazeveil.simulate import SimulatedStudy

LENIENT = QualityRules(0, np.inf, 2, 0, 1)


def simulated(tracker: str = "remote", seconds: float = 40.0) -> Recording:
    return SimulatedStudy(1, 1, 1, tracker=tracker, seconds=seconds).recording(0, 0)


def random_events(seed: int, saccades: int, letters: int) -> EyeEvents:
    """Many saccades in few directions, so that words repeat."""
    rng = np.random.default_rng(seed)
    t = np.arange(0, 60, 0.02)
    nothing = np.zeros(len(t), dtype=bool)
    angle = rng.integers(0, letters, saccades) * 2 * np.pi / letters
    size = rng.choice([0.5, 1.0, 3.0, 8.0], saccades)
    jumps = np.stack([np.sort(rng.uniform(0, 60, saccades)), size * np.cos(angle), -size * np.sin(angle), size, size])
    rests = rng.uniform(0, 1, (8, saccades))
    rests[0] = np.sort(rng.uniform(0, 60, saccades))
    rests[1] = rests[0] + rng.uniform(0.1, 0.5, saccades)
    rests[6:, rng.random(saccades) < 0.3] = np.nan
    blinks = np.stack([np.sort(rng.uniform(0, 60, 9)), rng.uniform(0.05, 0.5, 9)])
    return EyeEvents(t, nothing, nothing, rests, jumps, blinks)


@pytest.mark.parametrize(
    ("saccades", "letters", "window", "step"), [(150, 3, 30, 0.5), (400, 24, 10, 1), (30, 2, 5, 7), (0, 1, 30, 10)]
)
def test_the_sliding_window_agrees_with_counting_each_window_anew(
    saccades: int, letters: int, window: float, step: float
) -> None:
    events = random_events(saccades, saccades, letters)
    starts = window_starts(events.t, 50.0, window, step)
    values, _ = window_features(events, starts, window, 50.0, 2.0, LENIENT)
    expected = np.stack([one_window(events, start, window, 2.0) for start in starts])
    np.testing.assert_allclose(values, expected, rtol=1e-9, atol=1e-12)
    assert len(starts) == int((60 - window) / step) + 1


def test_when_every_letter_occurs_the_least_frequent_is_above_zero() -> None:
    angle = np.repeat(np.arange(16) * 2 * np.pi / 16, 3)
    small = np.repeat(np.arange(8) * 2 * np.pi / 8, 2)
    size = np.concatenate((np.full(48, 5.0), np.full(16, 1.0)))
    turned = np.concatenate((angle, small))
    onsets = np.linspace(1, 29, 64)
    saccades = np.stack([onsets, size * np.cos(turned), -size * np.sin(turned), size, size])
    t = np.arange(0, 30, 0.02)
    nothing = np.zeros(len(t), dtype=bool)
    events = EyeEvents(t, nothing, nothing, np.empty((8, 0)), saccades, np.empty((2, 0)))
    values, _ = window_features(events, np.zeros(1), 30.0, 50.0, 2.0, LENIENT)
    found = dict(zip(NAMES, values[0], strict=True))
    assert [found[f"words1_{what}"] for what in ("distinct", "max", "min", "range")] == [24, 3, 2, 1]
    assert found["words1_mean"] == pytest.approx(64 / 24)
    assert found["words2_min"] == 0


@pytest.mark.parametrize("tracker", ["eyelink", "remote", "headset"])
def test_a_simulated_recording_has_features_as_defined(tracker: str) -> None:
    recording = simulated(tracker)
    table = extract(recording)
    assert table.names == NAMES
    assert len(table) == 21
    events = find_events(recording, EventRules.in_degrees())
    starts = table.rows["start"].to_numpy()
    np.testing.assert_allclose(
        table.values, np.stack([one_window(events, start, 30.0, 2.0) for start in starts]), rtol=1e-9, atol=1e-12
    )
    found = dict(zip(NAMES, table.values.mean(axis=0), strict=True))
    assert 1 < found["fixations_per_s"] < 5
    assert 0.15 < found["fixation_duration_mean"] < 0.6
    assert found["small_share"] + found["large_share"] == pytest.approx(1)
    assert found["right_saccades_per_s"] + found["left_saccades_per_s"] == pytest.approx(found["saccades_per_s"])
    assert (table.only(NEARLY_CONSTANT[1:]).values == 0).all()
    assert table.rows["usable"].all()
    assert table.rows["task"].unique().to_list() == ["scene-01"]


def test_nan_is_where_the_names_say_so_and_nowhere_else() -> None:
    t = np.arange(0, 31, 1 / 60)
    moving = Recording(t, 40 * np.sin(17 * t), 40 * np.cos(13 * t), headset(), "p1")  # never rests, never blinks
    row = dict(zip(NAMES, extract(moving).values[0], strict=True))
    assert [name for name in NAMES if np.isnan(row[name])] == [f.name for f in FEATURES if f.undefined]


def test_a_recording_shorter_than_a_window_says_so() -> None:
    with pytest.raises(InputError, match=r"lasts 20\.0\d s, which is shorter than a window of 30 s"):
        extract(simulated(seconds=20))
    with pytest.raises(InputError, match=r"lasts 0\.00 s"):
        extract(Recording(np.empty(0), np.empty(0), np.empty(0), headset(), "p1"))
    assert len(extract(simulated("eyelink", 30))) == 1


def test_a_constant_signal_is_a_frozen_tracker_and_not_usable() -> None:
    t = np.arange(0, 32, 1 / 60)
    frozen = extract(Recording(t, np.zeros(len(t)), np.zeros(len(t)), headset(), "p1"))
    assert not frozen.rows["usable"].any()
    assert np.isnan(frozen.values).all()
    assert (frozen.rows["repeats"] > 0.99).all()
    kept = extract(Recording(t, np.zeros(len(t)), np.zeros(len(t)), headset(), "p1"), quality=LENIENT)
    row = dict(zip(NAMES, kept.values[0], strict=True))
    assert row["fixations_per_s"] == pytest.approx(1 / 30)
    assert row["fixation_duration_max"] > 30
    assert row["saccades_per_s"] == 0
    assert np.isnan(row["amplitude_mean"])
    assert np.isnan(row["pupil_mean_of_means"])


def test_a_pupil_that_is_always_missing_leaves_the_other_features_alone() -> None:
    recording = simulated()
    blind = Recording(
        recording.t, recording.x, recording.y, recording.geometry, "p1", pupil=np.full(len(recording), np.nan)
    )
    with_pupil, without = extract(recording), extract(blind)
    others = [name for name in NAMES if not name.startswith("pupil")]
    np.testing.assert_array_equal(with_pupil.only(others).values, without.only(others).values)
    assert np.isnan(without.only(NAMES[21:25]).values).all()


def test_windows_with_too_many_lost_samples_are_kept_as_rows_of_nan() -> None:
    recording = simulated("eyelink", 60)
    valid = recording.tracked.copy()
    valid[:20_000] = False
    table = extract(Recording(recording.t, recording.x, recording.y, recording.geometry, "p1", valid=valid))
    usable = table.rows["usable"].to_numpy()
    assert len(table) == 61
    assert not usable[:10].any()
    assert usable[12:].all()
    assert np.isnan(table.values[~usable]).all()
    assert np.isfinite(table.values[usable][:, 0]).all()


def test_windows_in_which_the_tracker_wrote_too_little_or_too_much_are_not_usable() -> None:
    t = np.arange(0, 60, 1 / 60)
    x = np.random.default_rng(1).normal(0, 0.1, len(t))
    sparse = np.flatnonzero((t < 20) | (t > 25))
    recording = Recording(t[sparse], x[sparse], x[sparse], headset(), "p1", rate_hz=60)
    usable = extract(recording).rows["usable"].to_numpy()
    assert not usable[:41].any()  # 5 s are missing from every window that begins before 20 s
    assert usable[-5:].all()
    assert not extract(Recording(t, x, x, headset(), "p1", rate_hz=50)).rows["usable"].any()


@pytest.mark.parametrize(("window", "step"), [(0, 1), (30, 0), (float("nan"), 1), (30, -1)])
def test_a_window_that_cannot_be_is_refused(window: float, step: float) -> None:
    with pytest.raises(OptionError, match="above 0"):
        extract(simulated(), window=window, step=step)


def test_a_corpus_tells_what_it_left_out_and_carries_labels() -> None:
    study = SimulatedStudy(2, 2, 1, tracker="remote", seconds=31)
    short = SimulatedStudy(3, 1, 1, tracker="remote", seconds=5).recording(2, 0)
    told: list[tuple[float, float | None]] = []

    def tell(done: float, total: float | None = None) -> None:
        told.append((done, total))

    extracted = extract_corpus(
        Corpus.of([*study.recordings(), short]),
        tasks={"scene-01": "search"},
        groups={"p001": "a", "p002": "b"},
        tell=tell,
    )
    assert [key.observer for key in extracted.left_out] == ["p003"]
    assert "shorter than a window" in next(iter(extracted.left_out.values()))
    assert extracted.table.rows["task"].unique().sort().to_list() == ["scene-02", "search"]
    assert dict(extracted.table.rows.select("observer", "group").unique().iter_rows()) == {"p001": "a", "p002": "b"}
    assert told[-1] == (5, 5)


def test_one_person_only_is_fine_and_a_corpus_without_usable_recordings_is_not() -> None:
    one = extract_corpus(Corpus.of([simulated("remote", 31)]))
    assert one.table.observers == ["p001"]
    with pytest.raises(InputError, match="no recording of the corpus can be used: the recording lasts"):
        extract_corpus(Corpus.of([simulated("remote", 5)]))


def test_pupils_in_different_units_are_not_mixed() -> None:
    with pytest.raises(InputError, match="different units"):
        extract_corpus(
            Corpus.of([simulated("remote", 31), SimulatedStudy(2, 1, 1, tracker="headset", seconds=31).recording(1, 0)])
        )


def test_a_plane_of_unknown_size_has_features_in_fractions_as_published() -> None:
    recording = simulated("headset").to("norm")
    plain = Recording(recording.t, recording.x, recording.y, normalised(), "p1", pupil=recording.pupil)
    table = extract(plain)
    assert table.info.unit == "norm"
    assert table.info.settings["rules"]["radius"] == 0.01
    found = dict(zip(NAMES, np.nanmean(table.values, axis=0), strict=True))
    assert found["fixations_per_s"] > 1
    assert 0.02 < found["amplitude_mean"] < 0.5
    mixed = Recording(recording.t, recording.x, recording.y, recording.geometry, "p2", pupil=recording.pupil)
    together = extract_corpus(Corpus.of([plain, mixed])).table
    assert together.info.unit == "norm"


def test_extraction_survives_a_file(tmp_path: Path) -> None:
    table = extract(simulated())
    back = type(table).read(table.write(tmp_path / "f.parquet"))
    assert back.info == table.info
    assert back.rows.equals(table.rows)
