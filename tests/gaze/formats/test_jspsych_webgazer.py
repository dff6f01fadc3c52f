# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""jsPsych's JSON and CSV with WebGazer: trials, names of stimuli, the window, and what is refused."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gazeveil.errors import FileFormatError, GazeveilError
from gazeveil.gaze.reading import find_format, read
from gazeveil.gaze.recording import Key
from gazeveil.geometry import screen

WINDOW = screen(1280, 720)
GAZE = [{"x": 659, "y": 378.5, "t": -1}, {"x": None, "y": None, "t": 35}, {"x": -20, "y": 350, "t": 70.5}]


def trial(index: int, **values: Any) -> dict[str, Any]:
    common = {"trial_type": "image-keyboard-response", "trial_index": index, "subject_id": "s1"}
    return {**common, "stimulus": "img/a.png", "webgazer_data": GAZE, **values}


def put(folder: Path, trials: object) -> Path:
    path = folder / "data.json"
    path.write_text(trials if isinstance(trials, str) else json.dumps(trials))
    return path


def test_each_trial_with_gaze_is_a_recording(tmp_path: Path) -> None:
    welcome = {"trial_type": "html-button-response", "trial_index": 0, "subject_id": "s1"}
    path = put(tmp_path, [welcome, trial(4), trial(9, stimulus="img/b.png")])
    assert find_format(path) == "jspsych-webgazer"
    first, second = read(path, geometry=WINDOW).recordings
    assert (first.key, second.key) == (Key("s1", "img/a.png", "1", "4"), Key("s1", "img/b.png", "1", "9"))
    np.testing.assert_array_equal(first.t, [-0.001, 0.035, 0.0705])
    np.testing.assert_array_equal(first.x, [659, np.nan, -20])
    assert first.geometry == WINDOW


@pytest.mark.parametrize(
    ("stimulus", "name"),
    [
        ("audio/1.mp3", "audio/1.mp3"),
        ('<div><img id="l" src="img/a.jpg"></img><img src=\'img/b.jpg\'></div>', "img/a.jpg + img/b.jpg"),
        ("<p>Look here</p>", "image-keyboard-response"),
        (None, "image-keyboard-response"),
    ],
)
def test_a_stimulus_is_named_by_its_file_or_its_pictures(tmp_path: Path, stimulus: str | None, name: str) -> None:
    [recording] = read(put(tmp_path, [trial(1, stimulus=stimulus)]), geometry=WINDOW).recordings
    assert recording.stimulus == name


def test_the_window_is_the_one_the_file_states(tmp_path: Path) -> None:
    check = {"trial_type": "browser-check", "trial_index": 0, "width": 1000, "height": 600}
    later = trial(2, screen_width=1920, screen_height=1080)
    first, second = read(put(tmp_path, [check, trial(1), later]), geometry=WINDOW).recordings
    assert (first.geometry, second.geometry) == (screen(1000, 600), screen(1920, 1080))


def test_without_a_window_the_size_is_asked_for(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match="the browser window's size") as caught:
        read(put(tmp_path, [trial(1)]))
    assert "--screen" in caught.value.hint


@pytest.mark.parametrize("text", [json.dumps(GAZE), str(GAZE)])
def test_gaze_that_was_kept_as_text_is_read_as_well(tmp_path: Path, text: str) -> None:
    [recording] = read(put(tmp_path, [trial(1, webgazer_data=text)]), geometry=WINDOW).recordings
    np.testing.assert_array_equal(recording.x, [659, np.nan, -20])


@pytest.mark.parametrize(
    "sample",
    [
        {"x": 1, "y": 2},
        {"y": 2, "t": 3},
        {"x": "1", "y": 2, "t": 3},
        {"x": 1, "y": 2, "t": None},
        {"x": True, "y": 2, "t": 3},
        7,
    ],
)
def test_an_odd_sample_is_refused_or_counted(tmp_path: Path, sample: object) -> None:
    path = put(tmp_path, [trial(1, webgazer_data=[*GAZE, sample])])
    with pytest.raises(FileFormatError, match="samples with numbers x, y and t in entry 0"):
        read(path, geometry=WINDOW)
    reading = read(path, geometry=WINDOW, skip_bad=True)
    assert (len(reading.recordings[0]), reading.report.bad_lines) == (3, 1)


@pytest.mark.parametrize("gaze", ["oops", 3, {"x": 1}])
def test_gaze_that_is_no_list_is_refused(tmp_path: Path, gaze: object) -> None:
    with pytest.raises(FileFormatError, match="a list of samples"):
        read(put(tmp_path, [trial(1, webgazer_data=gaze)]), geometry=WINDOW)


def test_empty_gaze_is_counted_and_no_gaze_at_all_refused(tmp_path: Path) -> None:
    reading = read(put(tmp_path, [trial(1), trial(2, webgazer_data=[])]), geometry=WINDOW)
    assert reading.report.remarks["trials whose gaze is empty were left out"] == 1
    with pytest.raises(FileFormatError, match="expected trials with gaze"):
        read(put(tmp_path, [{"trial_type": "a", "trial_index": 1}]), geometry=WINDOW)


def test_a_trial_that_comes_twice_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match="each trial once"):
        read(put(tmp_path, [trial(1), trial(1)]), geometry=WINDOW)


def test_a_file_that_was_cut_is_refused(tmp_path: Path) -> None:
    text = json.dumps([trial(1), trial(2)])
    for end in (len(text) - 1, len(text) // 2):
        with pytest.raises(FileFormatError, match="jsPsych's data as JSON"):
            read(put(tmp_path, text[:end]), format="jspsych-webgazer", geometry=WINDOW)


def test_a_wrong_encoding_is_named(tmp_path: Path) -> None:
    path = tmp_path / "data.json"
    path.write_bytes(json.dumps([trial(1, stimulus="é")], ensure_ascii=False).encode("latin-1"))
    with pytest.raises(FileFormatError, match="expected text in utf-8"):
        read(path, geometry=WINDOW)
    assert read(path, geometry=WINDOW, encoding="latin-1").recordings[0].stimulus == "é"


def put_table(folder: Path, *trials: dict[str, Any]) -> Path:
    """Write trials as jsPsych does: every field in quotes, values that are no text as JSON, nothing for none."""
    path = folder / "data.csv"
    names = list(dict.fromkeys(name for each in trials for name in each))
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, quoting=csv.QUOTE_ALL)
        writer.writerow(names)
        for each in trials:
            values = [each.get(name, "") for name in names]
            writer.writerow([value if isinstance(value, str) else json.dumps(value) for value in values])
    return path


def test_a_table_of_trials_gives_what_its_json_gives(tmp_path: Path) -> None:
    page = {
        "trial_type": "html-keyboard-response",
        "trial_index": 0,
        "stimulus": '<p>\n  Look, "here"\n</p>',
        "rt": None,
    }
    check = {"trial_type": "browser-check", "trial_index": 1, "width": 1000, "height": 600}
    trials = [page, check, trial(4), trial(5, webgazer_data=[]), trial(9, stimulus='<img\n src="img/b.png">')]
    table, text = read(put_table(tmp_path, *trials)), read(put(tmp_path, trials))
    assert table.format == text.format == "jspsych-webgazer"
    assert [each.key for each in table] == [each.key for each in text]
    assert table.recordings[0].geometry == screen(1000, 600)
    assert all(one.equals(other) for one, other in zip(table, text, strict=True))
    assert table.report.remarks == text.report.remarks


def test_a_long_trial_in_a_table_is_read(tmp_path: Path) -> None:
    gaze = [{"x": step % 1000, "y": 500, "t": 33 * step} for step in range(60_000)]
    [recording] = read(put_table(tmp_path, trial(1, webgazer_data=gaze)), geometry=WINDOW).recordings
    assert len(recording) == 60_000
    assert csv.field_size_limit() == 131_072


def test_a_table_that_was_cut_is_refused(tmp_path: Path) -> None:
    path = put_table(tmp_path, trial(1), trial(2))
    whole = path.read_text()
    path.write_text(whole[: whole.rindex("378.5")])
    with pytest.raises(FileFormatError, match="jsPsych's data as CSV"):
        read(path, geometry=WINDOW)


def test_a_row_with_other_columns_is_refused_or_counted(tmp_path: Path) -> None:
    path = put_table(tmp_path, trial(1))
    path.write_text(path.read_text() + '"7","8"\n')
    with pytest.raises(FileFormatError, match="line 3: expected 5 columns, found 2"):
        read(path, geometry=WINDOW)
    reading = read(path, geometry=WINDOW, skip_bad=True)
    assert (len(reading.recordings), reading.report.bad_lines) == (1, 1)


@pytest.mark.parametrize("needed", ["webgazer_data", "trial_index"])
def test_a_table_without_a_column_that_is_needed_is_refused(tmp_path: Path, needed: str) -> None:
    path = put_table(tmp_path, trial(1))
    path.write_text(path.read_text().replace(f'"{needed}"', '"other"', 1))
    with pytest.raises(FileFormatError, match=f"expected a column '{needed}'"):
        read(path, format="jspsych-webgazer", geometry=WINDOW)


def test_a_table_with_a_column_twice_is_refused(tmp_path: Path) -> None:
    path = put_table(tmp_path, trial(1))
    path.write_text(path.read_text().replace('"subject_id"', '"stimulus"', 1))
    with pytest.raises(FileFormatError, match="columns with different names"):
        read(path, geometry=WINDOW)


def test_gaze_that_was_lost_in_a_table_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match="a list of samples in webgazer_data in entry 0"):
        read(put_table(tmp_path, trial(1, webgazer_data="[object Object],[object Object]")), geometry=WINDOW)


@pytest.mark.parametrize("seed", range(5))
def test_noise_in_a_table_never_ends_in_anything_but_our_errors(tmp_path: Path, seed: int) -> None:
    random = np.random.default_rng(seed)
    path = put_table(tmp_path, *(trial(index) for index in range(9)))
    data = bytearray(path.read_bytes())
    for _ in range(int(random.integers(1, 6))):
        data[int(random.integers(0, len(data)))] = int(random.choice(list(b'{}[],:"\n\xff 0-.eE')))
    path.write_bytes(data)
    for skip_bad in (False, True):
        try:
            read(path, format="jspsych-webgazer", geometry=WINDOW, skip_bad=skip_bad)
        except GazeveilError:
            continue


@pytest.mark.parametrize("seed", range(10))
def test_noise_never_ends_in_anything_but_our_errors(tmp_path: Path, seed: int) -> None:
    random = np.random.default_rng(seed)
    data = bytearray(json.dumps([trial(index) for index in range(9)]).encode())
    for _ in range(int(random.integers(1, 6))):
        data[int(random.integers(0, len(data)))] = int(random.choice(list(b'{}[],:"\xff 0-.eE')))
    path = tmp_path / "data.json"
    path.write_bytes(data)
    for skip_bad in (False, True):
        try:
            read(path, format="jspsych-webgazer", geometry=WINDOW, skip_bad=skip_bad)
        except GazeveilError:
            continue
