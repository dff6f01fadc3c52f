# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""BIDS eye tracking: data sets that keep the rules, read back exactly, and a check that finds what does not."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gazeveil.errors import InputError, InternalError, OutputError
from gazeveil.gaze import schema
from gazeveil.gaze.fileio import bids_writer
from gazeveil.gaze.fileio.bids import BidsLabels, Indices, parse_bids_name, validate
from gazeveil.gaze.formats.base import FORMATS, Chunk, WritableFormat
from gazeveil.gaze.reading import ChunkStream, read
from gazeveil.gaze.recording import Eye, Key, Recording
from gazeveil.geometry import Geometry, headset, normalised, screen

SCREEN = screen(1920, 1080, 530, 300, 600)


def write_bids(recordings: Iterable[Recording], folder: Path) -> None:
    writer = FORMATS["bids"]
    assert isinstance(writer, WritableFormat)
    writer.write([chunk_of(recording) for recording in recordings], folder)


def chunk_of(recording: Recording) -> Chunk:
    return Chunk(
        recording.key,
        recording.to_frame(),
        recording.geometry,
        recording.events,
        recording.rate_hz,
        recording.pupil_unit,
    )


def recording(observer: str = "anna", geometry: Geometry = SCREEN, **changes: Any) -> Recording:
    fields: dict[str, Any] = {
        "t": np.arange(5) / 100 + 12.5,
        "x": np.array([1.0, 2.0, np.nan, 4.0, 5.25]),
        "y": np.array([1.0, 2.0, np.nan, 4.0, 5.25]),
        "stimulus": "forest",
        "rate_hz": 100.0,
        **changes,
    }
    return Recording(geometry=geometry, observer=observer, **fields)


def binocular(**changes: Any) -> Recording:
    left = Eye(np.array([1.0, 2.0, np.nan]), np.array([1.0, 2.0, np.nan]), pupil=np.array([3.0, np.nan, 4.0]))
    right = Eye(np.array([3.0, np.nan, np.nan]), np.array([3.0, np.nan, 5.0]), pupil=np.array([3.5, 3.5, np.nan]))
    return Recording.from_eyes(
        np.array([0.0, 0.001, 0.002]), left, right, SCREEN, Key("bo", "sea"), pupil_unit="mm", rate_hz=1000.0, **changes
    )


def unpacked(path: Path) -> list[str]:
    return gzip.decompress(path.read_bytes()).decode().splitlines()


Change = Callable[[dict[str, Any]], dict[str, Any]]

ODD_LABELS = [
    recording("anna/1"),
    recording("anna-1"),
    recording("Anna1"),
    recording('"', stimulus="ä/b.png", session="día 1", trial="first"),
    recording('"', stimulus="ä/b.png", session="día 1", trial="01"),
    recording('"', stimulus="", session="día 1", trial="1"),
]


def test_a_data_set_has_the_files_that_bids_asks_for(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    write_bids([binocular()], folder)
    assert sorted(str(path.relative_to(folder)) for path in folder.rglob("*.*") if path.is_file()) == [
        "README.md",
        "dataset_description.json",
        "participants.tsv",
        "sub-bo/ses-1/beh/sub-bo_ses-1_task-sea_run-1_events.json",
        "sub-bo/ses-1/beh/sub-bo_ses-1_task-sea_run-1_events.tsv",
        "sub-bo/ses-1/beh/sub-bo_ses-1_task-sea_run-1_recording-eye1_physio.json",
        "sub-bo/ses-1/beh/sub-bo_ses-1_task-sea_run-1_recording-eye1_physio.tsv.gz",
        "sub-bo/ses-1/beh/sub-bo_ses-1_task-sea_run-1_recording-eye2_physio.json",
        "sub-bo/ses-1/beh/sub-bo_ses-1_task-sea_run-1_recording-eye2_physio.tsv.gz",
    ]
    stem = folder / "sub-bo/ses-1/beh/sub-bo_ses-1_task-sea_run-1"
    assert unpacked(Path(f"{stem}_recording-eye2_physio.tsv.gz")) == [
        "0.0\t3.0\t3.0\t3.5",
        "0.001\tn/a\tn/a\t3.5",
        "0.002\tn/a\tn/a\tn/a",
    ]
    about = json.loads(Path(f"{stem}_recording-eye2_physio.json").read_text())
    assert about["RecordedEye"] == "right"
    assert about["SampleCoordinateSystem"] == "gaze-on-screen"
    assert about["SamplingFrequency"] == 1000.0
    screen_told = json.loads(Path(f"{stem}_events.json").read_text())["StimulusPresentation"]
    assert screen_told["ScreenResolution"] == [1920, 1080]
    assert screen_told["ScreenSize"] == [0.53, 0.3]
    assert (folder / "participants.tsv").read_text() == "participant_id\nsub-bo\n"


def test_combined_gaze_of_its_own_gets_a_file_of_its_own(tmp_path: Path) -> None:
    both = binocular()
    filtered = Recording(
        both.t,
        both.x + 1,
        both.y,
        SCREEN,
        *both.key,
        left=both.left,
        right=both.right,
        pupil=both.pupil,
        rate_hz=1000.0,
    )
    write_bids([filtered], tmp_path / "out")
    assert len(list((tmp_path / "out").rglob("*eye3_physio.tsv.gz"))) == 1
    assert read(tmp_path / "out").recordings[0].equals(filtered)


def test_odd_labels_are_given_back(tmp_path: Path) -> None:
    write_bids(ODD_LABELS, tmp_path / "out")
    back = {recording.key: recording for recording in read(tmp_path / "out").recordings}
    assert set(back) == {recording.key for recording in ODD_LABELS}
    assert all(back[mine.key].equals(mine) for mine in ODD_LABELS)
    folders = sorted(path.name.lower() for path in (tmp_path / "out").glob("sub-*"))
    assert len(set(folders)) == 4


EVENT_ROWS = schema.event_table(
    pl.DataFrame(
        {
            "kind": ["fixation", "saccade", "message"],
            "source": ["tracker", "ivt", "tracker"],
            "eye": ["left", "both", "both"],
            "onset": [12.1, 12.3, 12.35],
            "offset": [12.3, 12.34, None],
            "x": [5.5, 6.5, None],
            "y": [5.5, 6.5, None],
            "end_x": [None, 9.0, None],
            "end_y": [None, 9.5, None],
            "amplitude": [None, 2.25, None],
            "peak_velocity": [None, 120.0, None],
            "text": [None, None, 'say "go"\tnow'],
        }
    )
)


@pytest.mark.parametrize(
    "mine",
    [
        recording(),
        binocular(),
        recording(events=EVENT_ROWS),
        recording(rate_hz=None),
        recording(geometry=screen(1920, 1080)),
        recording(geometry=headset(100, 90)),
        recording(geometry=headset()),
        recording(geometry=normalised(1920.5, 1080)),
        recording(geometry=SCREEN.in_unit("deg")),
        recording(pupil=np.array([1.0, np.nan, 2.0, 3.0, 1e-300]), pupil_unit="mm"),
        recording(t=np.array([-3.0, -2.0, -2.0, -2.5, 7.0])),
    ],
    ids=["plain", "eyes", "events", "no rate", "unmeasured", "headset", "bare", "odd", "degrees", "pupil", "time"],
)
def test_what_is_written_reads_back_exactly_and_is_valid(tmp_path: Path, mine: Recording) -> None:
    folder = tmp_path / "out"
    write_bids([mine], folder)
    assert validate(folder) == []
    [back] = read(folder).recordings
    assert back.equals(mine)


def test_the_same_recordings_give_the_same_bytes(tmp_path: Path) -> None:
    for name in ("a", "b"):
        write_bids([binocular(events=EVENT_ROWS)], tmp_path / name)
    files = [path for path in (tmp_path / "a").rglob("*") if path.is_file()]
    assert files
    for path in files:
        assert path.read_bytes() == (tmp_path / "b" / path.relative_to(tmp_path / "a")).read_bytes()


def test_chunks_are_put_together(tmp_path: Path) -> None:
    long = recording(t=np.arange(999) / 250, x=np.arange(999.0), y=np.arange(999.0))
    whole = chunk_of(long)
    pieces = [
        Chunk(whole.key, piece, whole.geometry, rate_hz=whole.rate_hz) for piece in whole.samples.iter_slices(100)
    ]
    pieces.insert(3, Chunk(whole.key, whole.samples.clear(), whole.geometry, EVENT_ROWS, whole.rate_hz))
    bids_writer.write(pieces, tmp_path / "out")
    [back] = read(tmp_path / "out").recordings
    assert back.to_frame().equals(long.to_frame())
    assert back.events.equals(EVENT_ROWS)


@pytest.mark.parametrize(
    ("recordings", "message"),
    [
        ([], "nothing to write"),
        ([recording(), recording("b"), recording()], "comes twice"),
        ([recording(t=np.array([0.0, 0.1, np.inf, 0.3, 0.4]))], "not finite"),
        ([recording(pupil=np.full(5, np.inf))], "not finite"),
        ([recording(stimulus="a\nb")], "line break"),
        ([recording(events=EVENT_ROWS.with_columns(text=pl.lit("a\nb")))], "line break"),
        ([recording(t=np.array([1.0]), x=np.array([1.0]), y=np.array([1.0]), rate_hz=None)], "no sampling rate"),
        ([recording(t=np.array([]), x=np.array([]), y=np.array([]))], "has no samples"),
    ],
    ids=["nothing", "twice", "time", "pupil", "stimulus", "message", "one sample", "no samples"],
)
def test_what_bids_cannot_hold_is_refused_and_leaves_nothing(
    tmp_path: Path, recordings: list[Recording], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        write_bids(recordings, tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_of_others_is_never_replaced(tmp_path: Path) -> None:
    folder = tmp_path / "study"
    folder.mkdir()
    write_bids([recording()], folder)  # an empty folder is fine
    write_bids([recording("bo")], folder)  # and so is one of ours
    assert [path.name for path in folder.glob("sub-*")] == ["sub-bo"]
    (folder / "dataset_description.json").write_text('{"Name": "mine", "BIDSVersion": "1.11.0"}')
    with pytest.raises(OutputError, match="was not written by gazeveil"):
        write_bids([recording()], folder)
    assert [path.name for path in folder.glob("sub-*")] == ["sub-bo"]
    other = tmp_path / "photos"
    other.mkdir()
    (other / "cat.jpg").write_bytes(b"meow")
    with pytest.raises(OutputError, match="was not written by gazeveil"):
        write_bids([recording()], other)


def test_output_that_breaks_a_rule_is_not_put_in_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bids_writer, "coordinate_system", lambda geometry: {"SampleCoordinateSystem": "somewhere"})
    with pytest.raises(InternalError, match="SampleCoordinateSystem has to be one of"):
        write_bids([recording()], tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def edit(pattern: str, change: Change) -> Callable[[Path], None]:
    def apply(folder: Path) -> None:
        for path in folder.rglob(pattern):
            path.write_text(json.dumps(change(json.loads(path.read_text()))))

    return apply


def repack(pattern: str, rows: str) -> Callable[[Path], None]:
    def apply(folder: Path) -> None:
        for path in folder.rglob(pattern):
            path.write_bytes(gzip.compress(rows.encode()))

    return apply


def rename(old: str, new: str) -> Callable[[Path], None]:
    def apply(folder: Path) -> None:
        for path in list(folder.rglob(f"*{old}*")):
            if path.is_file():
                path.rename(path.with_name(path.name.replace(old, new)))

    return apply


def without(field: str) -> Change:
    return lambda value: {name: item for name, item in value.items() if name != field}


@pytest.mark.parametrize(
    ("damage", "problem"),
    [
        (lambda folder: (folder / "dataset_description.json").unlink(), "dataset_description"),
        (edit("dataset_description.json", without("BIDSVersion")), "needs BIDSVersion"),
        (lambda folder: (folder / "participants.tsv").write_text("participant_id\n"), "sub-bo is missing"),
        (lambda folder: (folder / "participants.tsv").write_text("id\nsub-bo\n"), "has to be participant_id"),
        (edit("*_physio.json", without("SamplingFrequency")), "SamplingFrequency has to be"),
        (edit("*_physio.json", without("StartTime")), "StartTime has to be"),
        (edit("*_physio.json", lambda v: {**v, "RecordedEye": "both"}), "RecordedEye has to be"),
        (edit("*_physio.json", lambda v: {**v, "RecordedEye": "left"}), "is of the same eye"),
        (edit("*_physio.json", lambda v: {**v, "SampleCoordinateSystem": "x"}), "SampleCoordinateSystem has to be"),
        (edit("*_physio.json", lambda v: {**v, "Columns": v["Columns"][::-1]}), "Columns have to begin with"),
        (edit("*_physio.json", lambda v: {**v, "x_coordinate": {}}), "x_coordinate needs Units"),
        (edit("*_physio.json", lambda v: {**v, "PhysioType": "generic"}), "no eye tracking"),
        (edit("*_events.json", without("StimulusPresentation")), "needs StimulusPresentation"),
        (
            edit(
                "*_events.json", lambda v: {"StimulusPresentation": {**v["StimulusPresentation"], "ScreenSize": "n/a"}}
            ),
            "ScreenSize has to be known",
        ),
        (
            edit(
                "*_events.json", lambda v: {"StimulusPresentation": {**v["StimulusPresentation"], "ScreenOrigin": []}}
            ),
            "ScreenOrigin has to be",
        ),
        (edit("*_physioevents.json", lambda v: {**v, "OnsetSource": "nowhere"}), "OnsetSource has to be a column"),
        (edit("*_physioevents.json", lambda v: {**v, "Columns": ["duration"]}), "Columns have to begin with onset"),
        (repack("*eye1_physio.tsv.gz", "0.0\t1\t1\n"), "expected 4 columns, found 3"),
        (repack("*eye1_physio.tsv.gz", "t\tx\ty\tp\n"), "neither a number nor n/a"),
        (repack("*eye1_physio.tsv.gz", "0.0\t\t1\t1\n"), "has empty fields"),
        (repack("*eye1_physio.tsv.gz", "n/a\t1\t1\t1\n"), "timestamp may not be n/a"),
        (repack("*eye1_physio.tsv.gz", "0\t1\tinf\t1\n"), "neither a number nor n/a"),
        (repack("*eye1_physio.tsv.gz", ""), "found an empty file"),
        (
            lambda folder: [p.write_bytes(p.read_bytes()[:-9]) for p in folder.rglob("*eye1_physio.tsv.gz")],
            "a complete gzip file",
        ),
        (rename("_task-sea", ""), "the name needs task-"),
        (rename("_run-1", "_run-x"), "run- has to be a number"),
        (rename("_ses-1", ""), "session in the name and in the folder differ"),
        (rename("sub-bo_", "sub-al_"), "which is another subject"),
        (rename("_recording-eye1", "_eye-1"), "unknown entity eye"),
        (rename("_ses-1_task-sea", "_task-sea_ses-1"), "in the wrong order"),
    ],
)
def test_the_check_finds_each_broken_rule(tmp_path: Path, damage: Callable[[Path], object], problem: str) -> None:
    folder = tmp_path / "out"
    write_bids([binocular(events=EVENT_ROWS)], folder)
    assert validate(folder) == []
    damage(folder)
    found = validate(folder)
    assert any(problem in sentence for sentence in found), found


# labels

LABEL = st.text(max_size=8)


@settings(deadline=None, derandomize=True)
@given(st.lists(LABEL, unique=True, max_size=30))
def test_labels_are_plain_and_never_shared(texts: list[str]) -> None:
    labels = BidsLabels("x")
    given_labels = [labels.of(text) for text in texts]
    assert [labels.of(text) for text in texts] == given_labels
    assert len({label.casefold() for label in given_labels}) == len(texts)
    assert all(label.isascii() and label.isalnum() for label in given_labels)


@settings(deadline=None, derandomize=True)
@given(st.lists(st.from_regex(r"0{0,2}[0-9]{1,3}", fullmatch=True) | LABEL, unique=True, max_size=30))
def test_numbers_are_never_shared(texts: list[str]) -> None:
    indices = Indices()
    numbers = [int(indices.of(text)) for text in texts]
    assert len(set(numbers)) == len(texts)


def test_names_are_taken_apart() -> None:
    name = parse_bids_name("sub-01_task-rest_recording-eye1_physio.tsv.gz")
    assert name == ({"sub": "01", "task": "rest", "recording": "eye1"}, "physio", ".tsv.gz")
    assert parse_bids_name("dataset_description.json") is None
    assert parse_bids_name("sub-01_sub-02_physio.json") is None
    assert parse_bids_name("notes") is None


NUMBER = st.floats(-1e9, 1e9, allow_nan=False)
KEY_TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\n\r\0", exclude_categories=["Cs"]), max_size=6)


@settings(max_examples=25, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(
    keys=st.lists(st.tuples(KEY_TEXT.filter(bool), KEY_TEXT, KEY_TEXT, KEY_TEXT), min_size=1, max_size=3, unique=True),
    data=st.data(),
)
def test_any_recordings_read_back_exactly(
    tmp_path_factory: pytest.TempPathFactory, keys: list[tuple[str, str, str, str]], data: st.DataObject
) -> None:
    def column(length: int) -> Any:
        value = NUMBER | st.just(float("nan"))
        return np.array(data.draw(st.lists(value, min_size=length, max_size=length)))

    recordings = []
    for key in keys:
        length = data.draw(st.integers(1, 12))
        t = np.array(data.draw(st.lists(NUMBER, min_size=length, max_size=length)))
        eyes = {side: Eye(column(length), column(length)) for side in ("left", "right") if data.draw(st.booleans())}
        recordings.append(Recording(t, column(length), column(length), SCREEN, *key, rate_hz=250.0, **eyes))  # type: ignore[arg-type]
    folder = tmp_path_factory.mktemp("bids") / "out"
    write_bids(recordings, folder)
    back = {recording.key: recording for recording in read(folder).recordings}
    assert set(back) == {recording.key for recording in recordings}
    for mine in recordings:
        assert back[mine.key].equals(mine)


def test_files_are_streamed(tmp_path: Path) -> None:
    long = recording(t=np.arange(5000) / 250, x=np.arange(5000.0), y=np.arange(5000.0))
    write_bids([long], tmp_path / "out")
    from gazeveil.gaze.formats.base import ReadOptions

    sizes = [len(chunk.samples) for chunk in ChunkStream(tmp_path / "out", ReadOptions(chunk_rows=300))]
    assert max(sizes) <= 300
    assert sum(sizes) == 5000
