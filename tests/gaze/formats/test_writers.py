# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What holds for every format that is written: what it has a place for comes back equal, and what is lost is told."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from gazeveil import Eye, Recording, headset, read, screen
from gazeveil.cli.main import run
from gazeveil.errors import GazeveilError, InputError
from gazeveil.gaze.corpus import chunk_of
from gazeveil.gaze.fileio.bids import validate
from gazeveil.gaze.formats.base import FORMATS, LOSABLE, Chunk, ReadOptions, WritableFormat, writer_of
from gazeveil.gaze.reading import ChunkStream
from gazeveil.gaze.schema import VeilNote

WRITERS = [name for name in FORMATS.names() if isinstance(FORMATS[name], WritableFormat)]
ONE_FILE = {"csv": "study.csv", "parquet": "study.parquet"}
ANY_UNIT = {"bids", "csv", "parquet"}
PIXELS = screen(1920, 1080)
SIZED = screen(1920, 1080, 530, 300, 600)
ROWS = 40
NOTE = VeilNote("clock (ε = 3)", "ε=3 for 0.5 s", '{"epsilon": "3"}')


def a_recording(name: str, observer: str, stimulus: str, trial: str = "1", **changes: Any) -> Recording:
    """A recording with odd numbers: irregular times of a device, long fractions, gaps, values outside the screen."""
    rng = np.random.default_rng(zlib.crc32(f"{observer} {stimulus} {trial}".encode()))
    t = np.round(1234.5 + np.cumsum(rng.uniform(0.003, 0.005, ROWS)), 6)
    x, y = rng.uniform(-0.1, 1.1, (2, ROWS))
    x[0] = 1.25e-7
    lost = rng.random(ROWS) < 0.2
    x, y = 1920 * x, 1080 * y
    pupil = np.where(lost, np.nan, rng.uniform(2, 5, ROWS))
    values = {"valid": ~lost, "pupil": pupil, "pupil_unit": pupil_unit_of(name), **changes}
    return Recording(t, x, y, PIXELS, observer, stimulus, "1", trial, **values)


def lost_by(name: str) -> tuple[str, ...]:
    return writer_of(name).lost


def pupil_unit_of(name: str) -> str:
    return {"eyelink-asc": "area"}.get(name, "" if "pupil_unit" in lost_by(name) else "mm")


def a_study(name: str) -> list[Recording]:
    """Recordings that differ in all that the format can tell."""
    keys = [("ann", "forest.png", "1"), ("bob", "forest.png", "1"), ("ann", "a b.png", "1"), ("ann", "forest.png", "2")]
    return [a_recording(name, *key) for key in keys]


def written(name: str, recordings: list[Recording], folder: Path, note: VeilNote | None = None) -> tuple[Path, Any]:
    path = folder / ONE_FILE.get(name, "study")
    chunks = [replace(chunk_of(recording), veiled=note) for recording in recordings]
    return path, writer_of(name).write(chunks, path)


def items(name: str, path: Path) -> list[Path]:
    """What to read of what was written: the file, the data set, or what lies in the folder."""
    return sorted(path.iterdir()) if path.is_dir() and name not in {"bids", "parquet"} else [path]


def read_back(name: str, path: Path) -> dict[Any, Recording]:
    geometry = None if name in {"bids", "parquet"} else PIXELS
    found = [read(item, geometry=geometry, format=None) for item in items(name, path)]
    assert {each.format for each in found} == {name}
    recordings = [recording for each in found for recording in each.recordings]
    assert len({recording.key for recording in recordings}) == len(recordings)
    return {recording.key: recording for recording in recordings}


@pytest.mark.parametrize("name", FORMATS.names())
def test_every_format_is_written_or_says_what_is(name: str) -> None:
    found = FORMATS[name]
    if isinstance(found, WritableFormat):
        assert set(found.lost) <= set(LOSABLE)
        return
    with pytest.raises(InputError, match="not written") as caught:
        writer_of(name)
    assert caught.value.hint == "write one of: bids, csv, eyelink-asc, parquet"


@pytest.mark.parametrize("name", WRITERS)
def test_what_is_written_is_read_back_with_equal_values(name: str, tmp_path: Path) -> None:
    study = a_study(name)
    path, lost = written(name, study, tmp_path)
    assert not [phrase for phrase in lost if "participant" in phrase or "trial" in phrase or "pupil" in phrase]
    found = read_back(name, path)
    assert found.keys() == {recording.key for recording in study}
    for recording in study:
        same = found[recording.key]
        np.testing.assert_array_equal(same.t, recording.t)
        np.testing.assert_array_equal(same.x, recording.x)
        np.testing.assert_array_equal(same.y, recording.y)
        np.testing.assert_array_equal(same.tracked, recording.tracked)
        if recording.pupil is not None:
            np.testing.assert_array_equal(same.pupil, recording.pupil)
            assert same.pupil_unit == recording.pupil_unit


@pytest.mark.parametrize("name", WRITERS)
def test_both_eyes_come_back(name: str, tmp_path: Path) -> None:
    made = a_recording(name, "ann", "forest.png")
    rng = np.random.default_rng(3)
    eyes = []
    for shift in (0.0, 0.25):
        seen = made.tracked & (rng.random(ROWS) < 0.9)
        pupil = None if made.pupil is None else np.where(seen, made.pupil, np.nan)
        eyes.append(Eye(made.x + shift, made.y, seen, pupil))
    recording = Recording.from_eyes(made.t, eyes[0], eyes[1], made.geometry, made.key, pupil_unit=made.pupil_unit)
    path, _ = written(name, [recording], tmp_path)
    (same,) = read_back(name, path).values()
    np.testing.assert_array_equal(same.x, recording.x)
    np.testing.assert_array_equal(same.pupil, recording.pupil)
    for mine, theirs in zip(eyes, (same.left, same.right), strict=True):
        assert theirs is not None
        np.testing.assert_array_equal(theirs.x, mine.x)
        np.testing.assert_array_equal(theirs.y, mine.y)
        np.testing.assert_array_equal(theirs.tracked, mine.tracked)
        np.testing.assert_array_equal(theirs.pupil, mine.pupil)


@pytest.mark.parametrize("name", [name for name in WRITERS if lost_by(name)])
def test_everything_that_is_lost_is_told(name: str, tmp_path: Path) -> None:
    events = pl.DataFrame({"kind": ["message"], "source": ["tracker"], "onset": [1235.0], "text": ["start"]})
    made = a_recording(name, "ann", "forest.png", "1", rate_hz=250.0, pupil_unit="mm", pupil=np.full(ROWS, 3.0))
    session = "2" if "session" in lost_by(name) else made.session
    made = replace(made, session=session, geometry=replace(made.geometry, distance_mm=600.0)).with_events(events)
    eye = Eye(made.x, made.y, made.tracked, made.pupil)
    made = replace(made, left=eye, right=eye)
    _, lost = written(name, [made], tmp_path)
    assert {LOSABLE[what] for what in lost_by(name)} <= set(lost)


@pytest.mark.parametrize("name", WRITERS)
def test_small_chunks_give_the_same_files(name: str, tmp_path: Path) -> None:
    study = a_study(name)
    for folder, rows in (("one", ROWS), ("many", 7)):
        (tmp_path / folder).mkdir()
        path = tmp_path / folder / ONE_FILE.get(name, "study")
        writer_of(name).write(in_pieces(study, rows), path)
    files = [sorted(file for file in (tmp_path / folder).rglob("*") if file.is_file()) for folder in ("one", "many")]
    assert [file.name for file in files[0]] == [file.name for file in files[1]]
    found = [read_back(name, tmp_path / folder / ONE_FILE.get(name, "study")) for folder in ("one", "many")]
    assert all(found[0][key].equals(found[1][key]) for key in found[0])


def in_pieces(study: list[Recording], rows: int) -> Iterator[Chunk]:
    for recording in study:
        chunk = chunk_of(recording)
        for piece in chunk.samples.iter_slices(rows):
            yield replace(chunk, samples=piece)


@pytest.mark.parametrize("name", WRITERS)
def test_a_writer_that_fails_leaves_nothing_behind_and_what_was_there_stays(name: str, tmp_path: Path) -> None:
    def chunks() -> Iterator[Chunk]:
        yield chunk_of(a_study(name)[0])
        raise RuntimeError("the disk is gone")

    path = tmp_path / ONE_FILE.get(name, "study")
    with pytest.raises(RuntimeError, match="disk"):
        writer_of(name).write(chunks(), path)
    assert list(tmp_path.iterdir()) == []
    written(name, a_study(name), tmp_path)
    before = {file: file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()}
    with pytest.raises(RuntimeError, match="disk"):
        writer_of(name).write(chunks(), path)
    assert {file: file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()} == before


@pytest.mark.parametrize("name", WRITERS)
def test_the_same_recordings_give_the_same_bytes(name: str, tmp_path: Path) -> None:
    contents = []
    for folder in (tmp_path / "a", tmp_path / "b"):
        folder.mkdir()
        written(name, a_study(name), folder)
        contents.append({file.relative_to(folder): file.read_bytes() for file in folder.rglob("*") if file.is_file()})
    assert contents[0] == contents[1]


@pytest.mark.parametrize("name", sorted(set(WRITERS) - ANY_UNIT))
def test_directions_without_a_screen_are_refused_with_what_to_use_instead(name: str, tmp_path: Path) -> None:
    made = a_study(name)[0]
    with pytest.raises(InputError, match="gaze in") as caught:
        written(name, [replace(made, geometry=headset())], tmp_path)
    assert "Parquet" in (caught.value.hint or "")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", sorted(set(WRITERS) - ANY_UNIT))
def test_gaze_in_another_unit_is_turned_and_that_is_told(name: str, tmp_path: Path) -> None:
    plane = SIZED.in_unit("deg")
    made = a_study(name)[0]
    made = replace(made, x=made.x / 100, y=made.y / 100, geometry=plane)
    x, y = plane.convert(made.x, made.y, PIXELS.unit)
    path, lost = written(name, [made], tmp_path)
    assert any("turned into" in phrase for phrase in lost)
    (same,) = read_back(name, path).values()
    np.testing.assert_allclose(same.x, x, rtol=1e-12)
    np.testing.assert_allclose(same.y, y, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("name", sorted(set(WRITERS) - ANY_UNIT))
def test_recordings_that_could_not_be_told_apart_are_refused(name: str, tmp_path: Path) -> None:
    made = a_study(name)[0]
    with pytest.raises(InputError, match="no place for the session"):
        written(name, [made, replace(made, session="9")], tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize("observer", ['o/"b', "a.b", " c", "d\u00e9", "none"])
def test_odd_participants_come_back_or_are_refused(name: str, observer: str, tmp_path: Path) -> None:
    made = a_recording(name, observer, "forest.png")
    try:
        path, _ = written(name, [made], tmp_path)
    except InputError:
        return
    assert list(read_back(name, path)) == [made.key]


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize("stimulus", ["a/b.png", " c", "<b>", 'say "x", y', "n/a", "5", "tab\there", "", "none"])
def test_odd_stimuli_come_back_or_are_refused(name: str, stimulus: str, tmp_path: Path) -> None:
    made = a_recording(name, "ann", stimulus)
    try:
        path, _ = written(name, [made], tmp_path)
    except GazeveilError:
        return
    assert list(read_back(name, path)) == [made.key]


@pytest.mark.parametrize("name", WRITERS)
def test_veiled_gaze_says_so_in_the_files(name: str, tmp_path: Path) -> None:
    path, _ = written(name, a_study(name)[:1], tmp_path, NOTE)
    files = [file for file in [path, *path.rglob("*")] if file.is_file()]
    texts = [gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes() for file in files]
    assert any(b"veiled" in text.lower() for text in texts)
    (tmp_path / "raw").mkdir()
    path, _ = written(name, a_study(name)[:1], tmp_path / "raw")
    assert not any(b"veiled" in file.read_bytes().lower() for file in path.rglob("*") if file.is_file())


@pytest.mark.parametrize("name", WRITERS)
def test_the_note_of_a_veil_is_read_back_and_goes_on_to_the_next_file(name: str, tmp_path: Path) -> None:
    path, _ = written(name, a_study(name), tmp_path, NOTE)
    options = ReadOptions(geometry=PIXELS, chunk_rows=7)
    chunks = [chunk for item in items(name, path) for chunk in ChunkStream(item, options)]
    assert all(chunk.veiled is not None for chunk in chunks)
    if name != "csv":
        assert {chunk.veiled.mechanism for chunk in chunks if chunk.veiled} == {NOTE.mechanism}
        assert {chunk.veiled.guarantee for chunk in chunks if chunk.veiled} == {NOTE.guarantee}


def test_other_programs_read_the_lines(tmp_path: Path) -> None:
    path, _ = written("eyelink-asc", [a_study("eyelink-asc")[0]], tmp_path / "asc")
    samples = [line.split() for line in (path / "ann.asc").read_text().splitlines() if line[:1].isdigit()]
    assert all(len(fields) == 5 and "e" not in "".join(fields[:4]) for fields in samples)


def test_one_file_of_one_participant_may_be_asked_for(tmp_path: Path) -> None:
    chunks = [chunk_of(recording) for recording in a_study("eyelink-asc")]
    with pytest.raises(InputError, match="holds one participant"):
        writer_of("eyelink-asc").write(chunks, tmp_path / "all.asc")
    lost = writer_of("eyelink-asc").write(chunks[:1], tmp_path / "other.asc")
    assert any("the file's name stands for it" in phrase for phrase in lost)
    assert read(tmp_path / "other.asc").recordings[0].observer == "other"


def test_convert_tells_what_is_lost_and_which_formats_are_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, _ = written("parquet", [replace(a_recording("parquet", "ann", "forest.png"), rate_hz=250.0)], tmp_path)
    assert run(["convert", str(path), "--to", "csv", "--out", str(tmp_path / "gaze.csv")]) == 0
    said = capsys.readouterr().out
    assert "not in csv files: the stated sampling rate" in said
    assert run(["convert", str(path), "--to", "pupil-native", "--out", str(tmp_path / "pn")]) != 0
    assert "write one of: bids, csv" in capsys.readouterr().err


def test_veiled_gaze_as_bids_is_a_derivative_with_its_guarantee(tmp_path: Path) -> None:
    path, _ = written("bids", a_study("bids"), tmp_path, NOTE)
    about = json.loads((path / "dataset_description.json").read_text())
    assert about["DatasetType"] == "derivative"
    assert about["GeneratedBy"][0]["Name"] == "gazeveil"
    assert NOTE.guarantee in about["GeneratedBy"][0]["Description"]
    assert about["Gazeveil"]["veiled"][0]["details"] == {"epsilon": "3"}
    assert validate(path) == []
    about["GeneratedBy"] = []
    (path / "dataset_description.json").write_text(json.dumps(about))
    assert any("GeneratedBy" in problem for problem in validate(path))


def test_raw_and_veiled_recordings_make_no_data_set_together(tmp_path: Path) -> None:
    first, second = (chunk_of(recording) for recording in a_study("bids")[:2])
    with pytest.raises(InputError, match="raw, or a derivative"):
        writer_of("bids").write([first, replace(second, veiled=NOTE)], tmp_path / "study")
    assert list(tmp_path.iterdir()) == []


def test_a_release_is_marked_and_stays_so_in_a_vendors_format(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, _ = written("parquet", a_study("parquet"), tmp_path)
    veil = ["--mechanism", "clock", "--epsilon", "3", "--window", "0.5", "--radius", "60px", "--no-ledger"]
    assert run(["veil", str(path), *veil, "--out", str(tmp_path / "v")]) == 0
    assert run(["convert", str(tmp_path / "v"), "--to", "eyelink-asc", "--out", str(tmp_path / "asc")]) == 0
    assert run(["convert", str(tmp_path / "v"), "--to", "bids", "--out", str(tmp_path / "bids")]) == 0
    capsys.readouterr()
    said = (tmp_path / "asc" / "ann.asc").read_text(encoding="utf-8")
    assert "Veiled gaze, not raw gaze" in said
    assert "ε=3" in said
    about = json.loads((tmp_path / "bids" / "dataset_description.json").read_text(encoding="utf-8"))
    assert about["DatasetType"] == "derivative"
    assert about["Gazeveil"]["veiled"][0]["details"]["epsilon"] == "3"


@pytest.mark.parametrize("name", WRITERS)
def test_a_list_of_fixations_is_never_written_as_samples(name: str, tmp_path: Path) -> None:
    lists = [a_recording(name, "ann", "", durations=np.full(ROWS, 0.25))]
    if name not in {"csv", "parquet"}:
        whose = " / ".join(part for part in lists[0].key if part)
        with pytest.raises(InputError, match=f"{name} files hold samples, and {whose} is a list of fixations"):
            written(name, lists, tmp_path)
        return
    path, _ = written(name, lists, tmp_path)
    (back,) = read(path, geometry=None if name == "parquet" else PIXELS).recordings
    assert back.durations is not None
    np.testing.assert_array_equal(back.durations, lists[0].durations)
