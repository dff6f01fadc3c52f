# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""jsPsych's JSON with WebGazer: trials, names of stimuli, the window, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gazeveil.errors import FileFormatError, GazeveilError
from gazeveil.gaze.geometry import screen
from gazeveil.gaze.reading import find_format, read
from gazeveil.gaze.recording import Key

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
