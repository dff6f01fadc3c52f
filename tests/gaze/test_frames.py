# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Gaze from data frames of polars, pandas and Arrow."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import gazeveil
from gazeveil.errors import FileFormatError, InputError

DESK = gazeveil.screen(1600, 1200)
TIMES = [0.0, 0.01, 0.02, 0.0, 0.01]
COLUMNS: dict[str, list[Any]] = {
    "observer": ["ann", "ann", "ann", "bo", "bo"],
    "t": TIMES,
    "x": [10.0, 11.0, 12.0, 20.0, 21.0],
    "y": [5.0, 6.0, 7.0, 8.0, 9.0],
}


def as_polars(columns: dict[str, Any]) -> Any:
    return pl.DataFrame(columns)


def as_lazy(columns: dict[str, Any]) -> Any:
    return pl.LazyFrame(columns)


def as_pandas(columns: dict[str, Any]) -> Any:
    return pytest.importorskip("pandas").DataFrame(columns)


def as_arrow(columns: dict[str, Any]) -> Any:
    return pytest.importorskip("pyarrow").table(columns)


KINDS = [as_polars, as_lazy, as_pandas, as_arrow]


@pytest.fixture(params=KINDS, ids=[kind.__name__ for kind in KINDS])
def frame(request: pytest.FixtureRequest) -> Any:
    return request.param


def test_every_kind_of_frame_becomes_the_same_recordings(frame: Any) -> None:
    reading = gazeveil.read(frame(COLUMNS), geometry=DESK)
    assert [recording.key for recording in reading] == [("ann", "", "1", "1"), ("bo", "", "1", "1")]
    np.testing.assert_array_equal(reading.recordings[0].x, [10, 11, 12])
    np.testing.assert_array_equal(reading.recordings[1].t, [0, 0.01])
    assert reading.format == "data frame"
    assert reading.report.samples == 5
    assert len(reading.corpus) == 2


def test_gaps_are_samples_without_gaze(frame: Any) -> None:
    gappy = COLUMNS | {"x": [10.0, None, 12.0, 20.0, float("nan")]}
    first, second = gazeveil.read(frame(gappy), geometry=DESK)
    assert first.tracked.tolist() == [True, False, True]
    assert second.tracked.tolist() == [True, False]


def test_columns_of_other_names_are_mapped(frame: Any) -> None:
    theirs = {"Participant": COLUMNS["observer"], "Time": TIMES, "GazeX": COLUMNS["x"], "GazeY": COLUMNS["y"]}
    mapping = {"observer": "Participant", "t": "Time", "x": "GazeX", "y": "GazeY"}
    reading = gazeveil.read(frame(theirs), geometry=DESK, columns=mapping)
    assert [recording.observer for recording in reading] == ["ann", "bo"]


def test_whole_numbers_in_milliseconds_become_seconds(frame: Any) -> None:
    reading = gazeveil.read(frame(COLUMNS | {"t": [0, 10, 20, 0, 10]}), geometry=DESK, time_unit="ms")
    assert reading.recordings[0].t.tolist() == [0.0, 0.01, 0.02]


def test_numbers_as_observers_become_text(frame: Any) -> None:
    reading = gazeveil.read(frame(COLUMNS | {"observer": [1, 1, 1, 2, 2]}), geometry=DESK)
    assert [recording.observer for recording in reading] == ["1", "2"]


def test_times_that_can_hardly_be_seconds_are_asked_about(frame: Any) -> None:
    with pytest.raises(InputError, match="slow for seconds") as caught:
        gazeveil.read(frame(COLUMNS | {"t": [0, 10, 20, 0, 10]}), geometry=DESK)
    assert "time_unit" in caught.value.hint
    slow = gazeveil.read(frame(COLUMNS | {"t": [0, 10, 20, 0, 10]}), geometry=DESK, time_unit="s")
    assert slow.recordings[0].duration == 20


def test_somebody_must_say_who_looked(frame: Any) -> None:
    nobody = {name: values for name, values in COLUMNS.items() if name != "observer"}
    with pytest.raises(InputError, match="does not say who looked"):
        gazeveil.read(frame(nobody), geometry=DESK)
    one = {name: values[:3] for name, values in nobody.items()}
    assert gazeveil.read(frame(one), geometry=DESK, observer="ann").recordings[0].observer == "ann"


def test_a_missing_column_is_told_with_those_that_are_there(frame: Any) -> None:
    without = {name: values for name, values in COLUMNS.items() if name != "y"}
    with pytest.raises(FileFormatError, match=r"columns y.*observer, t, x") as caught:
        gazeveil.read(frame(without), geometry=DESK)
    assert "the data frame" in caught.value.message
    with pytest.raises(FileFormatError, match="columns GazeX"):
        gazeveil.read(frame(COLUMNS), geometry=DESK, columns={"x": "GazeX"})


def test_the_plane_must_be_known(frame: Any) -> None:
    with pytest.raises(InputError, match="does not say what its x and y are"):
        gazeveil.read(frame(COLUMNS))


def test_y_that_grows_upwards_is_turned(frame: Any) -> None:
    reading = gazeveil.read(frame(COLUMNS), geometry=DESK, y_up=True)
    assert reading.recordings[0].y.tolist() == [1195, 1194, 1193]


def test_rows_of_one_recording_in_several_places_come_together(frame: Any) -> None:
    order = [0, 3, 1, 4, 2]
    mixed = {name: [values[row] for row in order] for name, values in COLUMNS.items()}
    apart = gazeveil.read(frame(mixed), geometry=DESK)
    together = gazeveil.read(frame(COLUMNS), geometry=DESK)
    for one, other in zip(apart, together, strict=True):
        assert one.key == other.key
        np.testing.assert_array_equal(one.x, other.x)
        np.testing.assert_array_equal(one.t, other.t)


def test_text_where_numbers_belong_is_told(frame: Any) -> None:
    with pytest.raises(InputError, match=r"column 'x'.*no number"):
        gazeveil.read(frame(COLUMNS | {"x": ["10", "11", "lost", "20", "21"]}), geometry=DESK)


def test_numbers_as_text_are_read(frame: Any) -> None:
    reading = gazeveil.read(frame(COLUMNS | {"x": ["10", "11", None, "20", "21"]}), geometry=DESK)
    assert reading.recordings[0].tracked.tolist() == [True, True, False]
    assert reading.recordings[1].x.tolist() == [20, 21]


def test_categories_and_dictionaries_are_read_as_text() -> None:
    polars = pl.DataFrame(COLUMNS).with_columns(pl.col("observer").cast(pl.Categorical))
    assert gazeveil.read(polars, geometry=DESK).corpus.observers == ["ann", "bo"]
    pandas = as_pandas(COLUMNS)
    assert gazeveil.read(pandas.astype({"observer": "category"}), geometry=DESK).corpus.observers == ["ann", "bo"]
    arrow = as_arrow(COLUMNS)
    encoded = arrow.set_column(0, "observer", arrow["observer"].dictionary_encode())
    assert gazeveil.read(encoded, geometry=DESK).corpus.observers == ["ann", "bo"]


def test_pandas_kinds_that_allow_gaps_are_read() -> None:
    pandas = as_pandas(COLUMNS | {"x": [10, None, 12, 20, 21]}).astype({"x": "Int64", "observer": "string"})
    reading = gazeveil.read(pandas, geometry=DESK)
    assert reading.recordings[0].tracked.tolist() == [True, False, True]
    assert reading.corpus.observers == ["ann", "bo"]


def test_an_empty_frame_has_no_recordings(frame: Any) -> None:
    whole = frame(COLUMNS)
    empty = whole[:0] if frame in (as_arrow, as_pandas) else whole.head(0)
    assert len(gazeveil.read(empty, geometry=DESK)) == 0


def test_a_frame_is_not_changed_by_reading_it() -> None:
    table = pl.DataFrame(COLUMNS)
    before = table.clone()
    gazeveil.read(table, geometry=DESK, y_up=True)
    assert table.equals(before)


@pytest.mark.parametrize("kind", [str, Path])
def test_paths_are_still_files(kind: Any, tmp_path: Path) -> None:
    file = tmp_path / "table.csv"
    pl.DataFrame(COLUMNS).write_csv(file)
    reading = gazeveil.read(kind(file), geometry=DESK)
    assert reading.format == "csv"
    assert len(reading) == 2


@pytest.mark.parametrize("thing", [5, None, {"x": [1]}, [1, 2]])
def test_what_is_neither_a_frame_nor_a_path_is_refused(thing: Any) -> None:
    with pytest.raises(InputError, match="a path or a data frame"):
        gazeveil.read(thing, geometry=DESK)
