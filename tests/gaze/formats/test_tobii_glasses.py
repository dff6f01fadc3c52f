# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Tobii Pro Glasses 2 and 3 as they lie on the recorder's card: JSON lines, packed or not."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest

from gazeveil.errors import FileFormatError, GazeveilError
from gazeveil.gaze.reading import find_format, read
from gazeveil.geometry import Unit

GLASSES_2 = """\
{"ts":1000,"s":0,"ac":[0.039,-10.2,0.8]}
{"ts":20000,"s":0,"gidx":1,"pd":5.25,"eye":"left"}
{"ts":20000,"s":0,"gidx":1,"pd":5.75,"eye":"right"}
{"ts":20000,"s":0,"gidx":1,"l":434102,"gp":[0.25,0.5]}
{"ts":40000,"s":1,"gidx":2,"pd":0.00,"eye":"left"}
{"ts":40000,"s":1,"gidx":2,"l":1,"gp":[0.0,0.0]}
{"ts":45000,"s":0,"ets":3,"type":"Button","tag":"go"}
{"ts":60000,"s":0,"l":434102,"gp":[0.75,0.5]}
{"ts":60000,"s":0,"pd":4.00,"eye":"left"}
"""
GLASSES_3 = """\
{"type":"gaze","timestamp":0.01,"data":{"gaze2d":[0.25,0.5],"gaze3d":[1,2,3],"eyeleft":{"pupildiameter":3.5},"eyeright":{}}}
{"type":"gaze","timestamp":0.02,"data":{}}
{"type":"gaze","timestamp":0.03,"data":{"gaze2d":[0.75,0.5]}}
"""


def put(folder: Path, text: str, name: str = "livedata.json") -> Path:
    path = folder / name
    path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    return path


def test_glasses_2_are_read_with_the_pupils_of_each_sample(tmp_path: Path) -> None:
    reading = read(put(tmp_path, GLASSES_2, "livedata.json.gz"))
    [recording] = reading.recordings
    assert reading.format == "tobii-glasses"
    assert recording.geometry.unit is Unit.FRACTION
    np.testing.assert_array_equal(recording.t, [0.02, 0.04, 0.06])
    np.testing.assert_array_equal(recording.x, [0.25, np.nan, 0.75])
    assert recording.pupil is not None
    np.testing.assert_array_equal(recording.pupil, [5.5, np.nan, 4.0])
    assert recording.events["text"].to_list() == ["Button: go"]


def test_glasses_3_are_read_and_a_sample_without_a_point_is_lost(tmp_path: Path) -> None:
    path = put(tmp_path, GLASSES_3, "gazedata.gz")
    assert find_format(path) == "tobii-glasses"
    [recording] = read(path).recordings
    np.testing.assert_array_equal(recording.t, [0.01, 0.02, 0.03])
    np.testing.assert_array_equal(recording.x, [0.25, np.nan, 0.75])
    assert recording.pupil is not None
    np.testing.assert_array_equal(recording.pupil, [3.5, np.nan, np.nan])


def test_a_recordings_folder_says_who_looked(tmp_path: Path) -> None:
    segment = tmp_path / "rec" / "segments" / "1"
    segment.mkdir(parents=True)
    put(segment, GLASSES_2, "livedata.json.gz")
    (tmp_path / "rec" / "participant.json").write_text(json.dumps({"pa_info": {"Name": "ann"}}))
    (tmp_path / "rec" / "recording.json").write_text(json.dumps({"rec_id": "gzz"}))
    for path in (tmp_path / "rec", segment / "livedata.json.gz"):
        [recording] = read(path).recordings
        assert (recording.observer, recording.session) == ("ann", "gzz")


def test_who_looked_is_said_to_be_unknown(tmp_path: Path) -> None:
    assert "does not say who looked" in " ".join(read(put(tmp_path, GLASSES_2)).report.in_words())
    [recording] = read(put(tmp_path, GLASSES_2), observer="bob").recordings
    assert recording.observer == "bob"


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ('"gp":[0.75,0.5]', '"gp":[0.75]', "a point 'gp'"),
        ('"gp":[0.75,0.5]', '"gp":["0.75",0.5]', "a point 'gp'"),
        ('"gp":[0.75,0.5]', '"gp":[1e999,0.5]', "a point 'gp'"),
        ('"gp":[0.75,0.5]', '"gp":[NaN,0.5]', "a JSON object"),
        ('"gp":[0.75,0.5]}', '"gp":[0.75,0.5]', "a JSON object"),
        ('"ts":60000,"s":0,"l"', '"tx":60000,"s":0,"l"', "a time"),
        ('"ts":60000,"s":0,"l"', '"ts":"soon","s":0,"l"', "a time 'ts' and a status"),
        ('"ts":60000,"s":0,"l"', '"ts":60000,"l"', "a time 'ts' and a status"),
        ('"pd":5.25', '"pd":null', "a pupil 'pd'"),
    ],
)
def test_a_line_that_is_not_as_it_should_be_is_named(tmp_path: Path, old: str, new: str, expected: str) -> None:
    text = GLASSES_2.replace(old, new)
    assert text != GLASSES_2
    with pytest.raises(FileFormatError, match=expected) as caught:
        read(put(tmp_path, text))
    assert caught.value.line == GLASSES_2[: GLASSES_2.index(old)].count("\n") + 1
    reading = read(put(tmp_path, text), skip_bad=True)
    assert reading.report.bad_lines == 1
    assert len(reading.recordings[0]) == (3 if "pd" in old else 2)


def test_a_cut_last_line_is_a_bad_line(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match="a JSON object on the line"):
        read(put(tmp_path, GLASSES_3[:-5]))


def test_lines_of_an_unknown_kind_are_counted(tmp_path: Path) -> None:
    reading = read(put(tmp_path, GLASSES_2.replace('"ac"', '"xy"')))
    assert reading.report.remarks["lines of a kind that is not known were left out"] == 1


def test_lines_without_gaze_are_refused(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match="expected gaze samples, found none"):
        read(put(tmp_path, GLASSES_2.splitlines()[0] + "\n"))


def test_one_eye_alone_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match="the left eye's own gaze"):
        read(put(tmp_path, GLASSES_2), eye="left")


def test_samples_keep_their_pupils_across_blocks(tmp_path: Path) -> None:
    lines = []
    for step in range(1, 2000):
        lines.append(f'{{"ts":{step * 20000},"s":0,"pd":{step}.5,"eye":"left"}}')
        lines.append(f'{{"ts":{step * 20000},"s":0,"gp":[0.5,0.5]}}')
        lines.append(f'{{"ts":{step * 20000},"s":0,"pd":{step}.5,"eye":"right"}}')
    [recording] = read(put(tmp_path, "\n".join(lines)), chunk_rows=5).recordings
    assert recording.pupil is not None
    np.testing.assert_array_equal(recording.pupil, np.arange(1, 2000) + 0.5)


@pytest.mark.parametrize("seed", range(10))
def test_noise_never_ends_in_anything_but_our_errors(tmp_path: Path, seed: int) -> None:
    random = np.random.default_rng(seed)
    data = bytearray((GLASSES_2 * 5 + GLASSES_3 * 5).encode())
    for _ in range(int(random.integers(1, 12))):
        data[int(random.integers(0, len(data)))] = int(random.choice(list(b'\n{}[],:"\xff 0-.eE')))
    path = tmp_path / "livedata.json"
    path.write_bytes(data)
    for skip_bad in (False, True):
        try:
            read(path, format="tobii-glasses", skip_bad=skip_bad)
        except GazeveilError:
            continue
