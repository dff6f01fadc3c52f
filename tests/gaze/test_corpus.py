# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gazeveil import Eye, Recording, headset, read, screen
from gazeveil.errors import FileFormatError, GeometryError, InputError, OutputError
from gazeveil.gaze import corpus as corpus_writer
from gazeveil.gaze.corpus import NO_STIMULUS, Corpus, chunk_of, write_corpus, writing_corpus
from gazeveil.gaze.fileio.row_assembly import no_samples
from gazeveil.gaze.formats.base import FORMATS, Chunk, WritableFormat

DESK = screen(1920, 1080, 530, 300, 600)


def a_recording(observer: str, stimulus: str, n: int = 20, **labels: object) -> Recording:
    rng = np.random.default_rng(len(observer) * 1000 + len(stimulus))
    events = pl.DataFrame({"kind": ["message"], "onset": [0.5], "text": [f"{observer} saw {stimulus}"]})
    values = {"geometry": DESK, "observer": observer, "stimulus": stimulus, "pupil": rng.normal(3, 1, n)} | labels
    return Recording(np.arange(n) / 10, rng.normal(900, 9, n), rng.normal(500, 9, n), **values).with_events(events)  # type: ignore[arg-type]


STUDY = [a_recording(observer, stimulus) for observer in ("ann", "bob") for stimulus in ("a.png", "b.png")]


@pytest.fixture(params=["folder", "memory"])
def corpus(request: pytest.FixtureRequest, tmp_path: Path) -> Corpus:
    if request.param == "memory":
        return Corpus.of(STUDY)
    write_corpus(STUDY, tmp_path / "study")
    return Corpus.open(tmp_path / "study")


def test_a_corpus_gives_back_what_went_in(corpus: Corpus) -> None:
    found = {recording.key: recording for recording in corpus.recordings()}
    assert len(corpus) == len(found) == 4
    assert all(found[recording.key].equals(recording) for recording in STUDY)
    assert corpus.stimuli == ["a.png", "b.png"]
    assert corpus.observers == ["ann", "bob"]
    assert corpus.geometry == DESK


def test_selecting_returns_a_new_corpus_and_leaves_the_old_one(corpus: Corpus) -> None:
    chosen = corpus.select(observer="ann", stimulus=["b.png", "nothing"])
    assert [recording.key[:2] for recording in chosen.recordings()] == [("ann", "b.png")]
    assert len(corpus) == 4
    assert len(corpus.select(session="2")) == 0


def test_samples_and_events_are_lazy_tables_with_keys(corpus: Corpus) -> None:
    assert isinstance(corpus.scan(), pl.LazyFrame)
    assert corpus.scan().filter(pl.col("stimulus") == "a.png").select(pl.len()).collect().item() == 40
    assert corpus.scan_events().collect()["text"].sort().to_list()[0] == "ann saw a.png"


def test_the_files_tell_their_units_to_any_tool(tmp_path: Path) -> None:
    write_corpus(STUDY, tmp_path / "study")
    part = next((tmp_path / "study" / "stimulus=a.png").glob("*.parquet"))
    label = json.loads(pl.read_parquet_metadata(part)["gazeveil"])
    assert label["schema"] == 1
    assert label["units"]["t"] == "s"
    assert label["units"]["x"] == "px"
    assert label["geometry"]["distance_mm"] == 600
    plain = pl.read_parquet(tmp_path / "study" / "stimulus=*" / "*.parquet", hive_partitioning=True)
    assert plain["stimulus"].unique().sort().to_list() == ["a.png", "b.png"]


names = st.text(min_size=1, max_size=12)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(names, st.text(max_size=12)), min_size=1, max_size=4, unique=True))
def test_any_text_can_name_an_observer_or_a_stimulus(
    tmp_path_factory: pytest.TempPathFactory, labels: list[tuple[str, str]]
) -> None:
    folder = tmp_path_factory.mktemp("names") / "study"
    study = [a_recording(observer, stimulus, n=2) for observer, stimulus in labels]
    write_corpus(study, folder)
    found = {recording.key: recording for recording in Corpus.open(folder).recordings()}
    assert all(found[recording.key].equals(recording) for recording in study)


def test_a_stimulus_name_too_long_for_a_folder_is_told(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="too long"):
        write_corpus([a_recording("ann", "x" * 300)], tmp_path / "study")
    assert list(tmp_path.iterdir()) == []


def test_the_same_recording_twice_is_refused(tmp_path: Path) -> None:
    twice = [a_recording("ann", "a.png"), a_recording("bob", "a.png"), a_recording("ann", "a.png")]
    with pytest.raises(InputError, match="two recordings"):
        Corpus.of(twice)
    with pytest.raises(InputError, match="two recordings"):
        write_corpus(twice, tmp_path / "study")
    assert list(tmp_path.iterdir()) == []


def test_an_error_half_way_leaves_the_old_corpus_as_it_was(tmp_path: Path) -> None:
    write_corpus(STUDY[:1], tmp_path / "study")

    def fails() -> None:
        with writing_corpus(tmp_path / "study") as writer:
            writer.add(chunk_of(STUDY[1]))
            raise RuntimeError("power cut")

    with pytest.raises(RuntimeError):
        fails()
    assert [recording.key for recording in Corpus.open(tmp_path / "study").recordings()] == [STUDY[0].key]
    assert [path.name for path in tmp_path.iterdir()] == ["study"]
    write_corpus(STUDY[1:], tmp_path / "study")
    assert len(Corpus.open(tmp_path / "study")) == 3


def test_a_folder_with_other_things_in_it_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter1.tex").write_text("years of work")
    with pytest.raises(OutputError, match="no corpus"):
        write_corpus(STUDY, tmp_path / "thesis")
    assert (tmp_path / "thesis" / "chapter1.tex").read_text() == "years of work"


def test_a_recording_larger_than_a_part_comes_back_in_one_piece(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(corpus_writer, "PART_ROWS", 7)
    whole = a_recording("ann", "a.png", n=50)
    pieces = [
        whole.take(np.arange(start, min(start + 5, 50))).with_events(whole.events.clear()) for start in range(0, 50, 5)
    ]
    with writing_corpus(tmp_path / "study") as writer:
        for piece in pieces:
            writer.add(chunk_of(piece))
    corpus = Corpus.open(tmp_path / "study")
    assert len(corpus.parts) == 5
    assert [part.path for part in corpus.parts] == sorted((tmp_path / "study").glob("stimulus=*/*.parquet"))
    (back,) = corpus.recordings()
    assert back.equals(whole.with_events(whole.events.clear()))


def test_events_after_the_last_sample_survive_a_part_that_is_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(corpus_writer, "PART_ROWS", 20)
    first, second = a_recording("ann", "a.png"), a_recording("bob", "a.png")
    after = Chunk(first.key, no_samples(), first.geometry, first.events)
    with writing_corpus(tmp_path / "study") as writer:
        for chunk in (chunk_of(first), after, chunk_of(second)):
            writer.add(chunk)
    corpus = Corpus.open(tmp_path / "study")
    assert [len(recording.events) for recording in corpus.recordings()] == [2, 1]
    assert [len(recording.events) for recording in read(tmp_path / "study").recordings] == [2, 1]


def test_events_alone_are_not_lost(tmp_path: Path) -> None:
    quiet = a_recording("ann", "a.png").take(np.arange(0))
    write_corpus([quiet, a_recording("bob", "a.png")], tmp_path / "study")
    for corpus in (Corpus.open(tmp_path / "study"), Corpus.of([quiet, a_recording("bob", "a.png")])):
        found = {recording.observer: recording for recording in corpus.recordings()}
        assert found["ann"].equals(quiet)
    assert sorted(recording.observer for recording in read(tmp_path / "study").recordings) == ["ann", "bob"]


def test_each_recording_keeps_its_own_channels(tmp_path: Path) -> None:
    eye = Eye(np.ones(20), np.ones(20))
    study = [
        a_recording("ann", "a.png"),
        a_recording("bob", "a.png", pupil=None),
        a_recording("cyd", "a.png", pupil=None, left=eye),
        a_recording("dan", "a.png", pupil=None, right=eye),
    ]
    write_corpus(study, tmp_path / "study")
    found = {recording.key: recording for recording in Corpus.open(tmp_path / "study").recordings()}
    assert all(found[recording.key].equals(recording) for recording in study)


def test_pieces_of_a_recording_follow_one_another_whatever_was_written_between(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(corpus_writer, "PART_ROWS", 10)
    monkeypatch.setattr(corpus_writer, "HELD_ROWS", 15)
    long, other = a_recording("ann", "a.png", n=40), a_recording("bob", "a.png", n=9, rate_hz=500.0)
    with writing_corpus(tmp_path / "study") as writer:
        writer.add(chunk_of(other))
        for start in range(0, 40, 5):
            piece = long.take(np.arange(start, start + 5))
            writer.add(chunk_of(piece if start == 0 else piece.with_events(long.events.clear())))
    assert {recording.key: len(recording) for recording in read(tmp_path / "study").recordings} == {
        long.key: 40,
        other.key: 9,
    }
    assert len(read(tmp_path / "study").recordings) == 2


def test_a_recording_that_changes_its_plane_half_way_is_refused(tmp_path: Path) -> None:
    first = chunk_of(a_recording("ann", "a.png"))
    parquet = FORMATS["parquet"]
    assert isinstance(parquet, WritableFormat)
    with pytest.raises(InputError, match="changes half way"):
        parquet.write([first, replace(first, geometry=headset(100, 90))], tmp_path / "study")
    assert not (tmp_path / "study").exists()


def test_a_stimulus_may_be_called_what_no_stimulus_is_called(tmp_path: Path) -> None:
    write_corpus([a_recording("ann", NO_STIMULUS), a_recording("ann", "")], tmp_path / "study")
    assert Corpus.open(tmp_path / "study").stimuli == ["", NO_STIMULUS]


def test_a_selection_speaks_only_of_what_is_in_it(tmp_path: Path) -> None:
    study = [a_recording("ann", "a.png"), a_recording("bob", "b.png", geometry=headset(100, 90))]
    write_corpus(study, tmp_path / "study")
    for corpus in (Corpus.open(tmp_path / "study"), Corpus.of(study)):
        chosen = corpus.select(observer="ann")
        assert chosen.stimuli == ["a.png"]
        assert chosen.geometry == DESK


def test_mixed_geometries_live_together_but_have_no_common_one(tmp_path: Path) -> None:
    write_corpus([a_recording("ann", "a"), a_recording("bob", "a", geometry=headset(100, 90))], tmp_path / "study")
    corpus = Corpus.open(tmp_path / "study")
    assert len(corpus) == 2
    with pytest.raises(GeometryError, match="2 geometries"):
        _ = corpus.geometry
    assert corpus.select(observer="ann").parts  # parts stay, rows go
    with pytest.raises(GeometryError, match="no recordings"):
        _ = Corpus.of([]).geometry


@pytest.mark.parametrize("content", ["", "{}", "[1]", '{"schema": 99}', "\x00"])
def test_a_manifest_that_is_wrong_says_so(tmp_path: Path, content: str) -> None:
    write_corpus(STUDY, tmp_path / "study")
    (tmp_path / "study" / "_corpus.json").write_text(content)
    with pytest.raises(FileFormatError, match=r"_corpus\.json"):
        Corpus.open(tmp_path / "study")


def test_opening_what_is_no_corpus_says_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match="gazeveil convert"):
        Corpus.open(tmp_path)
    with pytest.raises(FileFormatError, match="nothing there"):
        Corpus.open(tmp_path / "missing")


def test_a_part_that_is_damaged_inside_is_told_as_such(tmp_path: Path) -> None:
    write_corpus(STUDY, tmp_path / "study")
    for part in (tmp_path / "study").rglob("*.parquet"):
        content = bytearray(part.read_bytes())
        content[4:200] = bytes(196)
        part.write_bytes(content)
    corpus = Corpus.open(tmp_path / "study")
    with pytest.raises(FileFormatError, match="a damaged one"):
        list(corpus.recordings())
    with pytest.raises(FileFormatError, match="a damaged one"):
        read(tmp_path / "study")


def test_a_damaged_part_names_the_file(tmp_path: Path) -> None:
    write_corpus(STUDY, tmp_path / "study")
    part = next((tmp_path / "study").glob("stimulus=*/*.parquet"))
    part.write_bytes(part.read_bytes()[:100])
    with pytest.raises(FileFormatError, match=part.name):
        Corpus.open(tmp_path / "study")


def test_labels_of_many_parts_are_read_few_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each file takes a thread of polars, which warns of a deadlock at 512."""
    corpus = Corpus.of(Recording(np.arange(2.0), np.ones(2), np.ones(2), DESK, f"p{n}", f"s{n}") for n in range(300))
    sizes: list[int] = []
    real = pl.collect_all

    def watched(tables: list[pl.LazyFrame]) -> list[pl.DataFrame]:
        sizes.append(len(tables))
        return real(tables)

    monkeypatch.setattr(pl, "collect_all", watched)
    assert len(corpus.observers) == 300
    assert max(sizes) <= 64
