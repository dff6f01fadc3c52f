# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Broken files in every table-shaped format: a clear error or a counted skip, never a wrong number."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gazeveil.errors import FileFormatError, GazeveilError
from gazeveil.gaze.formats.base import FORMATS
from gazeveil.gaze.reading import Reading, find_format, read
from gazeveil.geometry import screen

SCREEN = screen(1600, 1200)


@dataclass(frozen=True)
class Sample:
    """How a tiny good file of a format is made: a header and rows from a step and x."""

    format: str
    name: str
    header: str
    row: str
    per_second: float
    needed: str
    options: Mapping[str, Any] = field(default_factory=dict)
    beside: Mapping[str, str] = field(default_factory=dict)

    def line(self, step: object, x: object) -> str:
        time = round(step * 0.008 * self.per_second) if isinstance(step, int) and self.per_second > 1 else step
        time = round(step * 0.008, 3) if isinstance(step, int) and self.per_second == 1 else time
        return self.row.replace("TIME", str(time)).replace("XXX", str(x))

    def text(self, *lines: str, header: str | None = None) -> str:
        first = self.header if header is None else header
        return "\n".join([first, *lines] if first else lines) + "\n"

    def good(self, count: int = 4) -> list[str]:
        return [self.line(step, step / 8) for step in range(count)]


PHYSIO = {
    "PhysioType": "eyetrack",
    "RecordedEye": "left",
    "SamplingFrequency": 125,
    "StartTime": 0,
    "Columns": ["timestamp", "x_coordinate", "y_coordinate"],
    "timestamp": {"Units": "s"},
    "x_coordinate": {"Units": "normalized"},
    "y_coordinate": {"Units": "normalized"},
}
VIVE_EYES = "\t".join(
    "\t".join([f"eye_valid_{eye}", *(f"gaze_origin_{eye}.{axis}(mm)" for axis in "xyz"), *directions])
    for eye in "LR"
    for directions in [[f"gaze_direct_{eye}.{axis}" for axis in "xyz"]]
)
DIRECTIONS = ("varjo-csv", "vive-csv")

SAMPLES = [
    Sample("csv", "gaze.csv", "time_ms,x,y", "TIME,XXX,0.5", 1e3, "x", {"geometry": SCREEN}),
    Sample(
        "tobii-tsv",
        "export.tsv",
        "Recording timestamp [us]\tSensor\tGaze point X [DACS px]\tGaze point Y [DACS px]",
        "TIME\tEye Tracker\tXXX\t0.5",
        1e6,
        "Gaze point X [DACS px]",
        {"geometry": SCREEN},
    ),
    Sample(
        "fixations-csv",
        "list.csv",
        "start_ms,x,y,duration_ms",
        "TIME,XXX,0.5,200",
        1e3,
        "x",
        {"geometry": SCREEN},
    ),
    Sample("gazepoint-csv", "User 1_all_gaze.csv", "TIME,BPOGX,BPOGY,BPOGV", "TIME,XXX,0.5,1", 1, "BPOGY"),
    Sample(
        "pupil-core",
        "gaze_positions.csv",
        "gaze_timestamp,world_index,confidence,norm_pos_x,norm_pos_y",
        "TIME,0,1.0,XXX,0.5",
        1,
        "gaze_timestamp",
    ),
    Sample(
        "pupil-cloud",
        "gaze.csv",
        "recording id,timestamp [ns],gaze x [px],gaze y [px]",
        "rec,TIME,XXX,0.5",
        1e9,
        "gaze x [px]",
        {"geometry": SCREEN},
    ),
    Sample(
        "sr-report",
        "samples.txt",
        "RECORDING_SESSION_LABEL\tTRIAL_INDEX\tTIMESTAMP\tLEFT_GAZE_X\tLEFT_GAZE_Y",
        ".\t1\tTIME\tXXX\t0.5",
        1e3,
        "LEFT_GAZE_X",
        {"geometry": SCREEN},
    ),
    Sample("gazebase", "S_1001_S1_TEX.csv", "n,x,y,val,xT,yT", "TIME,XXX,0.5,0,1,1", 1e3, "y"),
    Sample(
        "varjo-csv",
        "varjo_gaze_output.csv",
        "raw_timestamp,status,gaze_forward_x,gaze_forward_y,gaze_forward_z",
        "TIME,2,XXX,0.5,1",
        1e9,
        "gaze_forward_y",
    ),
    Sample(
        "vive-csv",
        "vive.csv",
        f"time(100ns)\t{VIVE_EYES}",
        "TIME\t31\t-32\t1\t1\tXXX\t0.5\t1\t31\t32\t1\t1\tXXX\t0.5\t1",
        1e7,
        "gaze_origin_R.y(mm)",
    ),
    Sample(
        "smi-text",
        "samples.txt",
        "Time\tType\tTrial\tL POR X [px]\tL POR Y [px]",
        "TIME\tSMP\t1\tXXX\t0.5",
        1e6,
        "L POR X [px]",
        {"geometry": SCREEN},
    ),
    Sample(
        "smi-text",
        "raw.csv",
        "RecordingTime [ms],Trial,Category Right,Point of Regard Right X [px],Point of Regard Right Y [px]",
        "TIME,Trial001,Fixation,XXX,0.5",
        1e3,
        "Point of Regard Right Y [px]",
        {"geometry": SCREEN},
    ),
    Sample(
        "pygaze",
        "log.tsv",
        "timestamp\ttime\tfix\tstate\trawx\trawy",
        "now\tTIME\tFalse\t7\tXXX\t0.5",
        1e3,
        "rawx",
        {"geometry": SCREEN},
    ),
    Sample(
        "bids",
        "sub-1_task-a_recording-eye1_physio.tsv.gz",
        "",
        "TIME\tXXX\t0.5",
        1,
        "",
        beside={"sub-1_task-a_recording-eye1_physio.json": json.dumps(PHYSIO)},
    ),
]
WITH_HEADER = [sample for sample in SAMPLES if sample.header]


def put(folder: Path, sample: Sample, content: str | bytes) -> Path:
    data = content if isinstance(content, bytes) else content.encode()
    path = folder / sample.name
    path.write_bytes(gzip.compress(data) if sample.name.endswith(".gz") else data)
    for name, text in sample.beside.items():
        (folder / name).write_text(text)
    return path


def read_it(folder: Path, sample: Sample, content: str | bytes, **options: Any) -> Reading:
    return read(put(folder, sample, content), format=sample.format, **{**sample.options, **options})


def x_of(reading: Reading) -> list[float]:
    """Return the x of each sample; of a direction one ahead, what it is aside, not its angle."""
    [recording] = reading.recordings
    if reading.format in DIRECTIONS:
        return [round(float(value), 12) for value in np.tan(np.radians(recording.x))]
    return [float(value) for value in recording.x]


@pytest.fixture(params=SAMPLES, ids=lambda sample: sample.format)
def sample(request: pytest.FixtureRequest) -> Sample:
    return request.param  # type: ignore[no-any-return]


@pytest.fixture(params=WITH_HEADER, ids=lambda sample: sample.format)
def headed(request: pytest.FixtureRequest) -> Sample:
    return request.param  # type: ignore[no-any-return]


def test_a_good_file_is_read_and_claimed_by_its_format_only(tmp_path: Path, sample: Sample) -> None:
    reading = read_it(tmp_path, sample, sample.text(*sample.good()))
    [recording] = reading.recordings
    np.testing.assert_allclose(recording.t, [0.0, 0.008, 0.016, 0.024], rtol=1e-12)
    assert x_of(reading) == [0.0, 0.125, 0.25, 0.375]
    path = tmp_path / sample.name
    assert find_format(path) == sample.format
    head = sample.text(*sample.good()).encode()
    claims = {name for name in FORMATS.names() if FORMATS[name].sniff(path, head)}
    assert claims - {"csv"} == {sample.format} - {"csv"}


def test_an_empty_file_says_so(tmp_path: Path, sample: Sample) -> None:
    with pytest.raises(FileFormatError, match="an empty file"):
        read_it(tmp_path, sample, b"")


def test_a_header_alone_says_so(tmp_path: Path, headed: Sample) -> None:
    with pytest.raises(FileFormatError, match="expected samples, found only a header"):
        read_it(tmp_path, headed, headed.text())


def test_binary_data_under_the_right_name_says_so(tmp_path: Path, sample: Sample) -> None:
    with pytest.raises(FileFormatError, match="expected text, found binary data"):
        read_it(tmp_path, sample, bytes(range(256)) * 40)


def test_a_truncated_gzip_says_so(tmp_path: Path, sample: Sample) -> None:
    path = put(tmp_path, sample, b"")
    noise = np.random.default_rng(7).integers(0, 10**9, 4000)
    packed = gzip.compress(sample.text(*(sample.line(step, value) for step, value in enumerate(noise))).encode())
    path.write_bytes(packed[: len(packed) // 2])
    for skip_bad in (False, True):
        with pytest.raises(FileFormatError, match="a complete gzip file"):
            read(path, format=sample.format, skip_bad=skip_bad, **sample.options)


def test_a_packed_file_is_unpacked(tmp_path: Path, sample: Sample) -> None:
    path = put(tmp_path, sample, b"")
    path.write_bytes(gzip.compress(sample.text(*sample.good()).encode()))
    assert x_of(read(path, format=sample.format, **sample.options)) == [0.0, 0.125, 0.25, 0.375]


@pytest.mark.parametrize("token", ["", "nan", "NaN", "n/a"])
def test_a_missing_position_is_not_valid(tmp_path: Path, sample: Sample, token: str) -> None:
    lines = [*sample.good(2), sample.line(2, token), *sample.good()[3:]]
    [recording] = read_it(tmp_path, sample, sample.text(*lines)).recordings
    assert recording.tracked.tolist() == [True, True, False, True]


@pytest.mark.parametrize("token", ["inf", "-inf", "oops", "1.2.3"])
@pytest.mark.parametrize("where", ["time", "x"])
def test_what_is_no_number_is_a_bad_line(tmp_path: Path, sample: Sample, token: str, where: str) -> None:
    bad = sample.line(token, 0.25) if where == "time" else sample.line(2, token)
    content = sample.text(*sample.good(2), bad, *sample.good()[3:])
    line = 4 if sample.header else 3
    with pytest.raises(FileFormatError, match="expected a number, found") as caught:
        read_it(tmp_path, sample, content)
    assert caught.value.line == line
    assert repr(token) in caught.value.found
    reading = read_it(tmp_path, sample, content, skip_bad=True)
    assert x_of(reading) == [0.0, 0.125, 0.375]
    assert reading.report.bad_lines == 1


@pytest.mark.parametrize("token", ["nan", ""])
def test_a_missing_time_is_a_bad_line(tmp_path: Path, sample: Sample, token: str) -> None:
    content = sample.text(*sample.good(2), sample.line(token, 0.25), *sample.good()[3:])
    with pytest.raises(FileFormatError, match=r"line \d, column .*: expected a (number|time)"):
        read_it(tmp_path, sample, content)
    assert x_of(read_it(tmp_path, sample, content, skip_bad=True)) == [0.0, 0.125, 0.375]


def test_negative_times_are_times(tmp_path: Path, sample: Sample) -> None:
    lines = [sample.line(step, step) for step in (-3, -2, -1)]
    [recording] = read_it(tmp_path, sample, sample.text(*lines)).recordings
    np.testing.assert_allclose(recording.t, [-0.024, -0.016, -0.008], rtol=1e-12)


def test_a_byte_order_mark_is_no_letter(tmp_path: Path, sample: Sample) -> None:
    text = sample.text(*sample.good())
    for encoding in ("utf-8-sig", "utf-16", "utf-32"):
        assert x_of(read_it(tmp_path, sample, text.encode(encoding))) == [0.0, 0.125, 0.25, 0.375]


def test_mixed_line_ends_and_blank_lines_are_no_fault(tmp_path: Path, sample: Sample) -> None:
    first, *rest = sample.text(*sample.good()).splitlines()
    content = f"{first}\r\n" + f"{rest[0]}\r\n\n{rest[1]}\n" + "\r".join(rest[2:])
    assert x_of(read_it(tmp_path, sample, content)) == [0.0, 0.125, 0.25, 0.375]


def test_a_wrong_encoding_names_the_line(tmp_path: Path, sample: Sample) -> None:
    lines = [line.encode() for line in sample.good()]
    lines[1] = sample.line(1, "\xe9").encode("latin-1")
    content = b"\n".join([sample.header.encode(), *lines] if sample.header else lines) + b"\n"
    with pytest.raises(FileFormatError, match="expected text in utf-8") as caught:
        read_it(tmp_path, sample, content)
    assert "--encoding" in caught.value.hint
    assert x_of(read_it(tmp_path, sample, content, skip_bad=True)) == [0.0, 0.25, 0.375]


@pytest.mark.parametrize("cut", ["short", "long"])
def test_a_wrong_number_of_columns_names_the_line(tmp_path: Path, sample: Sample, cut: str) -> None:
    mark = "\t" if "\t" in sample.row else ","
    good = sample.good()
    lines = list(good)
    lines[2] = good[2].rsplit(mark, 1)[0] if cut == "short" else f"{good[2]}{mark}7"
    with pytest.raises(FileFormatError, match=r"expected \d+ columns, found \d+") as caught:
        read_it(tmp_path, sample, sample.text(*lines))
    assert caught.value.line == (4 if sample.header else 3)
    reading = read_it(tmp_path, sample, sample.text(*lines), skip_bad=True)
    assert x_of(reading) == [0.0, 0.125, 0.375]
    assert reading.report.bad_lines == 1


def test_a_missing_column_is_named_with_those_found(tmp_path: Path, headed: Sample) -> None:
    header = headed.header.replace(headed.needed, "something else", 1)
    with pytest.raises(FileFormatError, match="expected a column") as caught:
        read_it(tmp_path, headed, headed.text(*headed.good(), header=header))
    assert "'something else'" in caught.value.found


def test_a_column_that_comes_twice_is_refused(tmp_path: Path, headed: Sample) -> None:
    mark = "\t" if "\t" in headed.header else ","
    header = f"{headed.header}{mark}{headed.header.split(mark)[0]}"
    with pytest.raises(FileFormatError, match="columns with different names"):
        read_it(tmp_path, headed, headed.text(*(f"{line}{mark}1" for line in headed.good()), header=header))


def test_a_line_that_is_far_too_long_names_itself(tmp_path: Path, sample: Sample) -> None:
    lines = sample.good()
    lines[1] = sample.line(1, "1" * 3_000_000)
    with pytest.raises(FileFormatError, match="lines of at most"):
        read_it(tmp_path, sample, sample.text(*lines))
    reading = read_it(tmp_path, sample, sample.text(*lines), skip_bad=True)
    assert x_of(reading) == [0.0, 0.25, 0.375]
    assert reading.report.bad_lines == 1


@pytest.mark.parametrize("tabbed", [sample for sample in SAMPLES if "\t" in sample.row], ids=lambda item: item.format)
def test_decimal_commas_are_read_where_they_do_not_separate(tmp_path: Path, tabbed: Sample) -> None:
    lines = [line.replace(".", ",") for line in tabbed.good()]
    assert x_of(read_it(tmp_path, tabbed, tabbed.text(*lines))) == [0.0, 0.125, 0.25, 0.375]


def test_an_observer_may_be_called_anything(tmp_path: Path, headed: Sample) -> None:
    name = 'a/b "c", ../d'
    [recording] = read_it(tmp_path, headed, headed.text(*headed.good()), observer=name).recordings
    assert recording.observer == name


@pytest.mark.parametrize("seed", range(12))
def test_noise_never_ends_in_anything_but_our_errors(tmp_path: Path, sample: Sample, seed: int) -> None:
    """Damage a good file at random places: it is read, or one of our errors says why not."""
    random = np.random.default_rng(seed)
    data = bytearray(sample.text(*sample.good(40)).encode())
    for _ in range(int(random.integers(1, 12))):
        place = int(random.integers(0, len(data)))
        data[place] = int(random.choice(list(b'\n\r\t,;"\x00\xff 0-.eEnaN')))
    for skip_bad in (False, True):
        try:
            reading = read_it(tmp_path, sample, bytes(data), skip_bad=skip_bad)
        except GazeveilError:
            continue
        assert all(len(recording) for recording in reading.recordings)
