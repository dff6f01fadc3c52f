# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What holds for every registered format. A new format needs one small example here, and gets all of it."""

from __future__ import annotations

import gzip
import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from gazeveil import Recording, read, screen
from gazeveil.cli.main import run
from gazeveil.errors import GazeveilError
from gazeveil.gaze import schema
from gazeveil.gaze.corpus import chunk_of
from gazeveil.gaze.formats.base import FORMATS, ReadOptions, ReadReport, WritableFormat
from gazeveil.gaze.reading import ChunkStream, assemble, find_format

DESK = screen(1920, 1080, 530, 300, 600)
ROWS = 40


def eyelink(folder: Path) -> Path:
    lines = [
        "** CONVERTED FROM a.edf",
        "MSG\t100 GAZE_COORDS 0.00 0.00 1919.00 1079.00",
        "START\t100 LEFT SAMPLES EVENTS",
    ]
    lines += ["SAMPLES\tGAZE\tLEFT\tRATE\t500.00\tTRACKING\tCR\tFILTER\t2"]
    lines += [f"{100 + 2 * k}\t{900 + k}.5\t  500.0\t 800.0\t..." for k in range(ROWS)]
    lines += [f"END\t{100 + 2 * ROWS} SAMPLES EVENTS RES 30.0 30.0"]
    return written(folder / "a.asc", lines)


def tobii(folder: Path) -> Path:
    header = "Recording timestamp [μs]\tSensor\tParticipant name\tGaze point X [DACS px]\tGaze point Y [DACS px]"
    rows = [f"{8000 * k}\tEye Tracker\tann\t{900 + k}\t500" for k in range(ROWS)]
    return written(folder / "export.tsv", [header, *rows])


def tobii_glasses(folder: Path) -> Path:
    rows = [f'{{"ts":{20000 * k},"s":0,"gidx":{k},"l":1,"gp":[{0.5 + k / 1000:.4f},0.5]}}' for k in range(ROWS)]
    return written(folder / "livedata.json", ['{"ts":0,"s":0,"pts":622438,"pv":4}', *rows])


def tobii_sdk(folder: Path) -> Path:
    header = "device_time_stamp,left_gaze_point_on_display_area,left_gaze_point_validity"
    rows = [f'{8333 * k},"({0.5 + k / 1000:.4f}, 0.5)",1' for k in range(ROWS)]
    return written(folder / "sdk.csv", [header, *rows])


def gazepoint(folder: Path) -> Path:
    rows = [f"{k},{k / 60:.4f},{0.5 + k / 1000:.4f},0.5000,1" for k in range(ROWS)]
    return written(folder / "User 1_all_gaze.csv", ["CNT,TIME(2024/05/01 10:00:00.000),BPOGX,BPOGY,BPOGV", *rows])


def jspsych(folder: Path) -> Path:
    samples = ",\n".join(f'{{"x":{900 + k},"y":500,"t":{33 * k}}}' for k in range(ROWS))
    trial = '"trial_type":"html-keyboard-response","trial_index":3,"subject_id":"ann"'
    return written(folder / "data.json", ["[", f'{{{trial},"webgazer_data":[', samples, "]}]"])


def pupil_core(folder: Path) -> Path:
    header = "gaze_timestamp,world_index,confidence,norm_pos_x,norm_pos_y,base_data"
    rows = [f"{100 + k / 120:.6f},{k // 4},0.98,{0.5 + k / 1000:.4f},0.25,{100 + k / 120:.6f}-0" for k in range(ROWS)]
    return written(folder / "gaze_positions.csv", [header, *rows])


def pupil_cloud(folder: Path) -> Path:
    header = "section id,recording id,timestamp [ns],gaze x [px],gaze y [px],worn,fixation id,blink id"
    rows = [f"s,r,{10**18 + 5_000_000 * k},{800 + k},600.5,1.0,1," for k in range(ROWS)]
    return written(folder / "gaze.csv", [header, *rows])


def pupil_native(folder: Path) -> Path:
    recording = folder / "recording"
    recording.mkdir()
    written(recording / "info.json", ['{"module_serial_number": "1", "wearer_id": "ann", "recording_id": "r"}'])
    (10**18 + 5_000_000 * np.arange(ROWS)).astype("<i8").tofile(recording / "gaze ps1.time")
    np.column_stack([800 + np.arange(ROWS), np.full(ROWS, 600.5)]).astype("<f4").tofile(recording / "gaze ps1.raw")
    return recording


def gazebase(folder: Path) -> Path:
    rows = [f"{k},{k / 100:.2f},-1.5,0,NaN,NaN" for k in range(ROWS)]
    return written(folder / "S_1001_S1_TEX.csv", ["n,x,y,val,xT,yT", *rows])


def varjo(folder: Path) -> Path:
    header = "raw_timestamp,status,gaze_forward_x,gaze_forward_y,gaze_forward_z"
    rows = [f"{10**18 + 5_000_000 * k},2,{k / 1000:.4f},0.1,0.9" for k in range(ROWS)]
    return written(folder / "varjo_gaze_output.csv", [header, *rows])


def vive(folder: Path) -> Path:
    eyes = "eye_valid_L;eye_valid_R;" + ";".join(f"gaze_origin_{eye}.{axis}(mm)" for eye in "LR" for axis in "xyz")
    header = f"time(100ns);{eyes};" + ";".join(f"gaze_direct_{eye}.{axis}" for eye in "LR" for axis in "xyz")
    rows = [f"{10**17 + 83333 * k};31;31;32;1;-30;-31;1;-30;0.{k:03};0.1;0.9;0.{k:03};0.1;0.9" for k in range(ROWS)]
    return written(folder / "vive.csv", [header, *rows])


def csv(folder: Path) -> Path:
    rows = [f"ann,{4 * k},{900 + k},500" for k in range(ROWS)]
    return written(folder / "table.csv", ["observer,time_ms,x,y", *rows])


def fixations_csv(folder: Path) -> Path:
    rows = [f"ann,{k},{300 * k},{900 + k},500,{200 + k}" for k in range(ROWS)]
    return written(folder / "list.csv", ["observer,fixation_index,start_ms,x,y,duration_ms", *rows])


def smi(folder: Path) -> Path:
    preamble = ["## [iView]", "## Subject:\tann", "## Calibration Area:\t1920\t1080"]
    rows = [f"{8333 * k}\tSMP\t1\t{900 + k}.50\t500.00" for k in range(ROWS)]
    header = "Time\tType\tTrial\tL POR X [px]\tL POR Y [px]"
    return written(folder / "samples.txt", [*preamble, header, *rows[:20], "166000\tMSG\t1\t# Message: go", *rows[20:]])


def pygaze(folder: Path) -> Path:
    rows = [f"2016-05-14 17:33:42\t{5000 + 16 * k}\tFalse\t7\t{900 + k}.5\t500.0" for k in range(ROWS)]
    said = "MSG\t2016-05-14 17:33:42\t5000\tstart_recording"
    return written(folder / "log.tsv", ["timestamp\ttime\tfix\tstate\trawx\trawy", said, *rows])


def sr_report(folder: Path) -> Path:
    header = "RECORDING_SESSION_LABEL\tTRIAL_INDEX\tTIMESTAMP\tRIGHT_GAZE_X\tRIGHT_GAZE_Y\tRIGHT_PUPIL_SIZE"
    rows = [f"ann\t1\t{5000 + 2 * k}.00\t{900 + k}.50\t500.00\t{800 + k}.00" for k in range(ROWS)]
    return written(folder / "samples.txt", [header, *rows])


def parquet(folder: Path) -> Path:
    return by_writer("parquet", folder / "table.parquet")


def bids(folder: Path) -> Path:
    return by_writer("bids", folder / "dataset")


def written(path: Path, lines: list[str]) -> Path:
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def by_writer(name: str, path: Path) -> Path:
    writer = FORMATS[name]
    assert isinstance(writer, WritableFormat)
    writer.write([chunk_of(a_recording())], path)
    return path


def a_recording(observer: str = "ann", stimulus: str = "picture", trial: str = "1") -> Recording:
    t = np.arange(ROWS) / 250
    x = 900 + np.arange(ROWS) / 7
    x[5] = np.nan
    events = pl.DataFrame({"kind": ["message"], "source": ["tracker"], "onset": [0.02], "text": ["start"]})
    values = {"valid": np.isfinite(x), "pupil": 3 + t, "rate_hz": 250.0, "pupil_unit": "mm"}
    recording = Recording(t, x, np.full(ROWS, 500.25), DESK, observer, stimulus, "1", trial, **values)  # type: ignore[arg-type]
    return recording.with_events(events)


EXAMPLES: dict[str, Callable[[Path], Path]] = {
    "bids": bids,
    "csv": csv,
    "eyelink-asc": eyelink,
    "fixations-csv": fixations_csv,
    "gazebase": gazebase,
    "gazepoint-csv": gazepoint,
    "jspsych-webgazer": jspsych,
    "parquet": parquet,
    "pupil-cloud": pupil_cloud,
    "pupil-core": pupil_core,
    "pupil-native": pupil_native,
    "tobii-glasses": tobii_glasses,
    "tobii-sdk": tobii_sdk,
    "pygaze": pygaze,
    "smi-text": smi,
    "sr-report": sr_report,
    "tobii-tsv": tobii,
    "varjo-csv": varjo,
    "vive-csv": vive,
}
TEXT = [name for name in EXAMPLES if name not in {"bids", "parquet", "pupil-native"}]


def options(**changes: object) -> ReadOptions:
    return ReadOptions(**{"geometry": DESK, **changes})  # type: ignore[arg-type]


def test_every_format_has_an_example_here() -> None:
    assert sorted(EXAMPLES) == FORMATS.names()


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_file_is_known_by_looking_at_it_and_by_one_format_alone(name: str, tmp_path: Path) -> None:
    path = EXAMPLES[name](tmp_path)
    assert find_format(path) == name
    head = b"" if path.is_dir() else path.read_bytes()[:65536]
    claims = [other for other in FORMATS.names() if FORMATS[other].sniff(path, head)]
    assert [claim for claim in claims if claim != "csv" or name == "csv"] == [name]


@pytest.mark.parametrize("name", EXAMPLES)
def test_what_is_read_follows_the_schema(name: str, tmp_path: Path) -> None:
    chunks = list(ChunkStream(EXAMPLES[name](tmp_path), options()))
    assert sum(len(chunk.samples) for chunk in chunks) == ROWS
    for chunk in chunks:
        assert chunk.key.observer
        assert set(schema.REQUIRED) <= set(chunk.samples.columns) <= set(schema.SAMPLES)
        assert all(chunk.samples.schema[column] == schema.SAMPLES[column] for column in chunk.samples.columns)
        assert chunk.events.schema == dict(schema.EVENTS)


@pytest.mark.parametrize("name", EXAMPLES)
def test_small_chunks_give_the_same_recordings(name: str, tmp_path: Path) -> None:
    path = EXAMPLES[name](tmp_path)
    whole = list(assemble(ChunkStream(path, options())))
    pieces = list(assemble(ChunkStream(path, options(chunk_rows=7))))
    assert len(whole) == len(pieces) == 1
    assert whole[0].equals(pieces[0])


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_file_is_the_same_after_reading(name: str, tmp_path: Path) -> None:
    path = EXAMPLES[name](tmp_path)
    before = {file: file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()}
    read(path, geometry=DESK)
    assert {file: file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()} == before


@pytest.mark.parametrize("name", TEXT)
@pytest.mark.parametrize(
    "content",
    [b"", b"\n\n\n", b"\x00\x01\x02" * 5000, b"\x1f\x8b\x08\x00half", b"\xff\xfe", b"\xef\xbb\xbf", b"," * 3000],
    ids=["empty", "blank", "binary", "cut gzip", "bare mark", "bare utf-8 mark", "commas"],
)
def test_what_is_no_gaze_is_a_clear_error(name: str, content: bytes, tmp_path: Path) -> None:
    path = EXAMPLES[name](tmp_path)
    path.write_bytes(content)
    for skip_bad in (False, True):
        with pytest.raises(GazeveilError) as caught:
            read(path, format=name, geometry=DESK, skip_bad=skip_bad)
        assert path.name in str(caught.value)


@pytest.mark.parametrize("name", TEXT)
def test_a_header_alone_is_a_clear_error(name: str, tmp_path: Path) -> None:
    path = EXAMPLES[name](tmp_path)
    path.write_text(path.read_text(encoding="utf-8").splitlines()[0] + "\n", encoding="utf-8")
    with pytest.raises(GazeveilError, match=path.name):
        read(path, format=name, geometry=DESK)


@pytest.mark.parametrize("name", TEXT)
@pytest.mark.parametrize("style", ["packed", "marked", "utf-16", "returns", "mixed"])
def test_packing_marks_and_line_ends_change_nothing(name: str, style: str, tmp_path: Path) -> None:
    path = EXAMPLES[name](tmp_path)
    expected = read(path, geometry=DESK).recordings[0]
    text = path.read_text(encoding="utf-8")
    if style == "packed":
        path = path.with_name(path.name + ".gz")
        path.write_bytes(gzip.compress(text.encode()))
    elif style == "marked":
        path.write_bytes(b"\xef\xbb\xbf" + text.encode())
    elif style == "utf-16":
        path.write_bytes(text.encode("utf-16"))
    elif style == "returns":
        path.write_bytes(text.replace("\n", "\r\n").encode())
    else:
        lines = text.split("\n")
        path.write_bytes("".join(line + ("\n", "\r\n", "\r")[k % 3] for k, line in enumerate(lines)).encode())
    found = read(path, geometry=DESK)
    assert found.format == name
    np.testing.assert_array_equal(found.recordings[0].x, expected.x)
    np.testing.assert_array_equal(found.recordings[0].t, expected.t)


@pytest.mark.parametrize("name", TEXT)
def test_damage_gives_an_error_or_a_counted_skip_and_never_an_invented_sample(name: str, tmp_path: Path) -> None:
    path = EXAMPLES[name](tmp_path)
    good = path.read_bytes()
    rng = np.random.default_rng(11)
    for _ in range(60):
        bad = bytearray(good)
        for at in rng.integers(0, len(bad), rng.integers(1, 6)):
            bad[at] = rng.integers(0, 256)
        path.write_bytes(bad[: rng.integers(1, len(bad) + 1)] if rng.random() < 0.3 else bad)
        for skip_bad in (False, True):
            report = ReadReport(skip_bad=skip_bad)
            try:
                chunks = list(FORMATS[name].read(path, options(skip_bad=skip_bad), report))
            except GazeveilError:
                continue
            assert sum(len(chunk.samples) for chunk in chunks) <= ROWS


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_command_line_converts_it(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = EXAMPLES[name](tmp_path)
    plane = ["--screen", "1920x1080", "--size-mm", "530x300", "--distance-mm", "600"]
    assert run(["convert", str(path), "--out", str(tmp_path / "corpus"), "--json", *plane]) == 0
    assert json.loads(capsys.readouterr().out)["samples"] == ROWS
    shutil.rmtree(tmp_path / "corpus")


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_rule_of_validity_is_kept_or_refused(name: str, tmp_path: Path) -> None:
    path = EXAMPLES[name](tmp_path)
    with pytest.raises(GazeveilError, match=r"--valid") as refused:
        list(ChunkStream(path, options(valid=("no such column == 1",))))
    found = re.search(r"found columns (.*)", refused.value.message)
    if found is None:
        assert "has none that it could name" in refused.value.message
        return
    column = re.findall(r"'([^']+)'", found[1])[-1]
    for never in (f"'{column}' < -1e300", f"'{column}' == 'never'"):
        stream = ChunkStream(path, options(valid=(never,)))
        try:
            recordings = list(assemble(stream))
        except GazeveilError:  # a column of texts is not compared with numbers
            continue
        assert sum(len(recording) for recording in recordings) == ROWS
        assert not any(recording.tracked.any() for recording in recordings)
        assert any("does not hold" in remark for remark in stream.report.remarks)
        return
    pytest.fail("neither rule was kept")


@pytest.mark.parametrize("name", EXAMPLES)
def test_gaze_at_a_sentinel_is_lost_and_counted(name: str, tmp_path: Path) -> None:
    path = EXAMPLES[name](tmp_path)
    (whole,) = assemble(ChunkStream(path, options()))
    x, y = whole.x[3], whole.y[3]
    at = (whole.x == x) & (whole.y == y)
    stream = ChunkStream(path, options(sentinels=(f"{float(x)!r},{float(y)!r}",)))
    (read_again,) = assemble(stream)
    np.testing.assert_array_equal(read_again.tracked, whole.tracked & ~at)
    assert [count for remark, count in stream.report.remarks.items() if "at the sentinel" in remark] == [at.sum()]
