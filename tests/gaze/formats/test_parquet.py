# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from gazeveil import Eye, Recording, headset, read, screen
from gazeveil.errors import FileFormatError, InputError, OutputError
from gazeveil.gaze.corpus import chunk_of
from gazeveil.gaze.formats import parquet
from gazeveil.gaze.formats.base import FORMATS, Chunk, ReadOptions, WritableFormat
from gazeveil.gaze.formats.parquet import events_beside
from gazeveil.gaze.reading import ChunkStream
from gazeveil.gaze.schema import guarded

DESK = screen(1920, 1080, 530, 300, 600)


def a_recording(observer: str = "ann", n: int = 30, **labels: object) -> Recording:
    rng = np.random.default_rng(n)
    eye = Eye(rng.normal(900, 9, n), rng.normal(500, 9, n), pupil=rng.normal(3, 1, n))
    values = {"geometry": DESK, "observer": observer, "stimulus": "a.png", "left": eye, "pupil_unit": "mm"} | labels
    return Recording(np.arange(n) / 10, rng.normal(900, 9, n), rng.normal(500, 9, n), **values)  # type: ignore[arg-type]


def write(recordings: list[Recording], path: Path) -> None:
    writer = FORMATS["parquet"]
    assert isinstance(writer, WritableFormat)
    writer.write((chunk_of(recording) for recording in recordings), path)


def test_one_file_keeps_everything(tmp_path: Path) -> None:
    events = pl.DataFrame({"kind": ["message"], "onset": [0.5], "text": ["start"]})
    study = [a_recording("ann").with_events(events), a_recording('b/o"b'), a_recording("cyd", trial="2")]
    write(study, tmp_path / "study.parquet")
    reading = read(tmp_path / "study.parquet")
    assert reading.format == "parquet"
    assert all(found.equals(given) for found, given in zip(reading.recordings, study, strict=True))
    assert events_beside(tmp_path / "study.parquet").exists()


def test_somebody_elses_file_is_not_taken_for_the_events(tmp_path: Path) -> None:
    events_beside(tmp_path / "a.parquet").write_text("precious")
    with pytest.raises(OutputError, match=r"a\.events\.parquet exists already"):
        write([a_recording()], tmp_path / "a.parquet")
    assert [path.name for path in tmp_path.iterdir()] == ["a.events.parquet"]
    assert events_beside(tmp_path / "a.parquet").read_text() == "precious"


def test_no_gaze_leaves_the_folder_that_was_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir(mode=0o700)
    monkeypatch.setattr(tempfile, "tempdir", str(elsewhere))
    seen: set[str] = set()

    def chunks() -> Iterator[Chunk]:
        for observer in ("ann", "bob"):
            yield chunk_of(a_recording(observer))
            seen.update(path.name for path in elsewhere.iterdir())

    writer = FORMATS["parquet"]
    assert isinstance(writer, WritableFormat)
    writer.write(chunks(), tmp_path / "here" / "a.parquet")
    assert not seen
    assert [path.name for path in (tmp_path / "here").iterdir()] == ["a.parquet"]


def test_a_panic_of_the_reader_is_told_as_damage(tmp_path: Path) -> None:
    def panic() -> None:
        raise pl.exceptions.PanicException("assertion failed")

    with pytest.raises(FileFormatError, match="a damaged one"):
        guarded(tmp_path, panic)


def test_old_events_do_not_survive_a_file_without_any(tmp_path: Path) -> None:
    events = pl.DataFrame({"kind": ["message"], "onset": [0.5], "text": ["start"]})
    write([a_recording().with_events(events)], tmp_path / "a.parquet")
    write([a_recording()], tmp_path / "a.parquet")
    assert len(read(tmp_path / "a.parquet").recordings[0].events) == 0


def test_chunks_are_as_small_as_asked_and_add_up(tmp_path: Path) -> None:
    study = [a_recording("ann", 25), a_recording("bob", 25)]
    write(study, tmp_path / "a.parquet")
    sizes = [len(chunk.samples) for chunk in ChunkStream(tmp_path / "a.parquet", ReadOptions(chunk_rows=10))]
    assert max(sizes) <= 10
    assert sum(sizes) == 50
    reading = read(tmp_path / "a.parquet", chunk_rows=10)
    assert all(found.equals(given) for found, given in zip(reading.recordings, study, strict=True))


def test_many_small_recordings_fit_one_file_in_their_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet, "_HELD_CHUNKS", 4)
    events = pl.DataFrame({"kind": ["message"], "onset": [0.5], "text": ["start"]})
    study = [a_recording(f"p{number}", 5).with_events(events) for number in range(10)]
    write(study, tmp_path / "a.parquet")
    reading = read(tmp_path / "a.parquet")
    assert all(found.equals(given) for found, given in zip(reading.recordings, study, strict=True))


def test_two_geometries_need_a_folder(tmp_path: Path) -> None:
    study = [a_recording("ann"), a_recording("bob", geometry=headset(100, 90))]
    with pytest.raises(InputError, match="corpus folder"):
        write(study, tmp_path / "a.parquet")
    assert list(tmp_path.iterdir()) == []
    write(study, tmp_path / "corpus")
    assert len(read(tmp_path / "corpus").recordings) == 2


def test_nothing_to_write_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="nothing to write"):
        write([], tmp_path / "a.parquet")
    assert list(tmp_path.iterdir()) == []


def test_a_strangers_times_that_can_hardly_be_seconds_are_asked_about(tmp_path: Path) -> None:
    table = pl.DataFrame({"t": [0, 34, 68], "x": [1.0, 2.0, 3.0], "y": [1.0, 2.0, 3.0]})
    table.write_parquet(tmp_path / "theirs.parquet")
    with pytest.raises(InputError, match="step by 34, which is slow for seconds") as caught:
        read(tmp_path / "theirs.parquet", geometry=DESK)
    assert "--time-unit ms" in caught.value.hint


def test_a_strangers_table_is_read_by_a_column_mapping(tmp_path: Path) -> None:
    table = pl.DataFrame({"user": [1, 1, 2], "ms": [0, 500, 0], "gx": [0.25, None, 0.5], "gy": [0.1, 0.2, 0.3]})
    table.write_parquet(tmp_path / "theirs.parquet")
    reading = read(
        tmp_path / "theirs.parquet",
        geometry=screen(1920, 1080).in_unit("norm"),
        columns={"observer": "user", "t": "ms", "x": "gx", "y": "gy"},
        time_unit="ms",
        y_up=True,
    )
    first, second = reading.recordings
    assert (first.observer, second.observer) == ("1", "2")
    assert first.t.tolist() == [0, 0.5]
    assert first.tracked.tolist() == [True, False]
    assert second.y[0] == pytest.approx(0.7)


def test_a_strangers_table_without_directions_says_what_is_missing(tmp_path: Path) -> None:
    pl.DataFrame({"a": [1.0], "b": [2.0]}).write_parquet(tmp_path / "theirs.parquet")
    with pytest.raises(InputError, match="--screen"):
        read(tmp_path / "theirs.parquet")
    with pytest.raises(FileFormatError, match=r"columns t, x, y.*only a, b"):
        read(tmp_path / "theirs.parquet", geometry=DESK)


def test_rows_of_one_recording_in_several_places_are_not_mixed_up(tmp_path: Path) -> None:
    table = pl.DataFrame({"observer": ["a", "b", "a"], "t": [0.0, 0, 0.1], "x": [1.0, 1, 1], "y": [1.0, 1, 1]})
    table.write_parquet(tmp_path / "mixed.parquet")
    with pytest.raises(FileFormatError, match="sort the table"):
        read(tmp_path / "mixed.parquet", geometry=DESK)


@pytest.mark.parametrize("content", [b"PAR1", b"PAR1" + b"\0" * 100 + b"PAR1"])
def test_a_damaged_file_is_told_as_such(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.parquet").write_bytes(content)
    with pytest.raises(FileFormatError, match=r"a\.parquet.*Parquet"):
        read(tmp_path / "a.parquet")


def test_a_file_of_a_later_version_is_refused(tmp_path: Path) -> None:
    table = a_recording().to_frame().with_columns(observer=pl.lit("a"), stimulus=pl.lit("s"))
    table.write_parquet(tmp_path / "a.parquet", metadata={"gazeveil": '{"schema": 2}'})
    with pytest.raises(FileFormatError, match="schema 2"):
        read(tmp_path / "a.parquet")
    table.write_parquet(tmp_path / "b.parquet", metadata={"gazeveil": '{"schema": 1, "geometry": {"unit": "furlong"}}'})
    with pytest.raises(FileFormatError, match="label"):
        read(tmp_path / "b.parquet")
