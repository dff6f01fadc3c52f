# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Events in makers' files, and what SMI's, PyGaze's and GazeBase's files say besides samples."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from gazeveil import Recording, headset, read, screen
from gazeveil.errors import InputError
from gazeveil.gaze import schema
from gazeveil.gaze.corpus_writer import chunk_of
from gazeveil.gaze.formats.base import Chunk, writer_of
from gazeveil.geometry import normalised

SCREEN = screen(1680, 1050, 474, 297.1, 700)
TIMES = np.round(10.0 + 0.004 * np.arange(50), 3)
EVENTS: list[dict[str, Any]] = [
    {"kind": "message", "onset": 9.5, "text": "before  the first sample"},
    {"kind": "button", "onset": 10.0105, "text": "5 1"},
    {"kind": "input", "onset": 10.011, "text": "127"},
    {"kind": "fixation", "eye": "left", "onset": 10.0, "offset": 10.02, "x": 0.1 + 0.2, "y": 1e-7, "pupil": 812.0},
    {"kind": "message", "onset": 10.05, "text": "!V TRIAL_VAR answer yes"},
    {
        "kind": "saccade",
        "eye": "right",
        "onset": 10.024,
        "offset": 10.052,
        "x": 3.5,
        "y": -2.25,
        "end_x": 700.125,
        "end_y": 80.0,
        "amplitude": 4.75,
        "peak_velocity": 311.5,
    },
    {"kind": "blink", "eye": "left", "onset": 10.1, "offset": 10.15},
    {"kind": "message", "onset": 99.0, "text": "after the last"},
]


def a_recording(events: list[dict[str, Any]] = (), **changes: Any) -> Recording:  # type: ignore[assignment]
    x = 500 + np.arange(50) / 3
    made = Recording(TIMES, x, x / 2, SCREEN, "ann", "lake.png", rate_hz=250.0, **changes)
    table = schema.event_table(pl.DataFrame([{"source": "tracker", **each} for each in events])) if events else None
    return made if table is None else made.with_events(table)


def written(name: str, recording: Recording, path: Path) -> tuple[Path, tuple[str, ...]]:
    lost = writer_of(name).write([chunk_of(recording)], path)
    (file,) = path.iterdir()
    return file, lost


def test_events_come_back_from_an_eyelink_file(tmp_path: Path) -> None:
    made = a_recording(EVENTS)
    file, lost = written("eyelink-asc", made, tmp_path / "asc")
    assert not [phrase for phrase in lost if "event" in phrase or "message" in phrase]
    (back,) = read(file).recordings
    own = pl.col("text").str.contains("^(?:TRIALID|GAZE_COORDS|!V TRIAL_VAR image)").fill_null(False)
    found = back.events.filter(~own).sort("onset", "kind")
    assert found.equals(made.events.sort("onset", "kind"))


HELD: dict[str, tuple[str, ...]] = {
    "pygaze": ("message",),
    "smi-text": ("message", "fixation", "saccade", "blink"),
    "pupil-core": ("message", "fixation", "blink"),
    "pupil-cloud": ("message", "fixation", "saccade", "blink"),
    "tobii-tsv": ("message", "fixation", "saccade"),
    "gazepoint-csv": ("message", "fixation", "blink"),
    "sr-report": ("message", "saccade", "blink"),
}
ON_ROWS = {"gazepoint-csv", "sr-report"}  # a message stands on the sample of its time
OWN_MESSAGES = "^(?:lake.png|image .*|start_recording|stop_recording|display .*|distance .*)$"


def events_for(name: str) -> list[dict[str, Any]]:
    """Events that the format holds with all that is known of them."""
    place: dict[str, Any] = (
        {"x": 0.25, "y": 0.75} if name in {"pupil-core", "gazepoint-csv"} else {"x": 300.5, "y": 1e-7}
    )
    place = {} if name == "smi-text" else place
    early, among, late = (TIMES[0], TIMES[12], TIMES[-1]) if name in ON_ROWS else (9.5, 10.0505, 99.0)
    found: list[dict[str, Any]] = [
        {"kind": "message", "onset": early, "offset": early, "text": 'before, the  first: "sample"'},
        {"kind": "fixation", "onset": TIMES[0], "offset": TIMES[8], **place},
        {"kind": "saccade", "onset": TIMES[9], "offset": TIMES[12]}
        | ({"amplitude": 4.75} if name == "pupil-cloud" else {}),
        {"kind": "message", "onset": among, "offset": among, "text": "!V TRIAL_VAR answer yes é"},
        {"kind": "fixation", "onset": TIMES[13], "offset": TIMES[19], **place},
        {"kind": "blink", "onset": TIMES[20], "offset": TIMES[29]},
        {"kind": "message", "onset": late, "offset": late, "text": "after the last"},
    ]
    return [{"eye": "both", **each} for each in found if each["kind"] in HELD[name]]


def made_for(name: str, events: list[dict[str, Any]]) -> Recording:
    """A recording whose gaze is lost while its eyes are closed."""
    made = a_recording(events)
    lost = (made.t >= TIMES[20]) & (made.t <= TIMES[29])
    x, y = np.where(lost, np.nan, made.x), np.where(lost, np.nan, made.y)
    changes: dict[str, Any] = {} if name in {"pygaze", "smi-text"} else {"geometry": screen(1680, 1050)}
    changes |= {"stimulus": ""} if name.startswith("pupil") else {}
    if name in {"pupil-core", "gazepoint-csv"}:
        x, y, changes["geometry"] = x / 1680, y / 1050, normalised(1680, 1050)
    return replace(made, x=x, y=y, valid=~lost, **changes)


@pytest.mark.parametrize("rows", [50, 18])
@pytest.mark.parametrize("name", HELD)
def test_events_come_back_from_other_makers_files(name: str, rows: int, tmp_path: Path) -> None:
    made = made_for(name, events_for(name))
    pieces = list(in_pieces(chunk_of(made), rows))
    lost = writer_of(name).write(pieces, tmp_path / "out")
    assert not [phrase for phrase in lost if "event" in phrase or "message" in phrase], lost
    (back,) = read(only_file(tmp_path / "out"), geometry=screen(1680, 1050)).recordings
    assert back.tracked.tolist() == made.tracked.tolist()
    own = pl.col("text").str.contains(OWN_MESSAGES).fill_null(False)
    assert back.events.filter(~own).sort("onset", "kind").equals(made.events.sort("onset", "kind"))


def only_file(written: Path) -> Path:
    """What to read: the file, or the one file or folder of a participant."""
    return next(written.iterdir()) if written.is_dir() else written


def in_pieces(chunk: Chunk, rows: int) -> Iterator[Chunk]:
    """Return a chunk in pieces; events come when they have ended, with the samples around that time."""
    rest = chunk.events.sort("offset")
    for start in range(0, chunk.samples.height, rows):
        is_last = start + rows >= chunk.samples.height
        until = np.inf if is_last else chunk.samples["t"][start + rows - 1]
        yield replace(chunk, samples=chunk.samples[start : start + rows], events=rest.filter(pl.col("offset") <= until))
        rest = rest.filter(pl.col("offset") > until)


@pytest.mark.parametrize("name", HELD)
def test_written_again_other_makers_files_do_not_grow(name: str, tmp_path: Path) -> None:
    folders = [tmp_path / "first", tmp_path / "second"]
    writer_of(name).write([chunk_of(made_for(name, events_for(name)))], folders[0])
    file = only_file(folders[0])
    rule = "MSG image" if name == "pygaze" else None
    (back,) = read(file, geometry=screen(1680, 1050), stimulus_from=rule).recordings
    writer_of(name).write([chunk_of(back)], folders[1])
    texts = []
    for folder in folders:
        files = [each for each in (folder, *folder.rglob("*")) if each.is_file()]
        texts.append({each.relative_to(folder): each.read_text() for each in files})
    assert texts[0] == texts[1]


@pytest.mark.parametrize(
    ("name", "event", "phrase"),
    [
        *((name, {"kind": "pursuit", "onset": 10.0, "offset": 10.1}, "no place for") for name in HELD),
        *((name, {"kind": "message", "onset": 10.0, "text": "two\nlines"}, "no place for") for name in HELD),
        *((name, {"kind": "message", "onset": 10.0, "text": "m", "source": "x"}, "by which detector") for name in HELD),
        *((name, {"kind": "message", "onset": 10.0, "text": "m", "eye": "left"}, "of which eye") for name in HELD),
        *((name, {"kind": "message", "onset": 10.0, "text": "m", "x": 3.0}, "details of events") for name in HELD),
        ("pygaze", {"kind": "message", "onset": 10.0, "text": "start_recording"}, None),
        ("pygaze", {"kind": "message", "onset": 10.0, "text": "image b.png"}, "the file says its own"),
        ("pygaze", {"kind": "message", "onset": 10.0, "text": "display resolution: 8x6"}, "the file says its own"),
        ("pygaze", {"kind": "message", "onset": 10.0, "text": "a\tb"}, "no place for"),
        ("pygaze", {"kind": "fixation", "onset": 10.0, "offset": 10.1}, "no place for"),
        ("smi-text", {"kind": "message", "onset": 10.0, "text": "other.png"}, "the file says its own"),
        ("smi-text", {"kind": "message", "onset": 10.0, "text": "# Message: m"}, "no place for"),
        ("smi-text", {"kind": "fixation", "onset": 10.001, "offset": 10.1}, "no place for"),
        ("smi-text", {"kind": "blink", "onset": TIMES[0], "offset": TIMES[4]}, "no place for"),
        ("smi-text", {"kind": "fixation", "onset": TIMES[0], "offset": TIMES[4], "x": 1.0}, "details of events"),
        ("pupil-core", {"kind": "saccade", "onset": 10.0, "offset": 10.1}, "no place for"),
        ("pupil-core", {"kind": "blink", "onset": 10.0}, "no place for"),
        ("pupil-core", {"kind": "blink", "onset": 0.1, "offset": 1e-17}, "the last digit of the ends"),
        ("pupil-cloud", {"kind": "blink", "onset": 10.0, "offset": 10.1, "pupil": 3.0}, "details of events"),
    ],
)
def test_what_other_makers_files_cannot_say_of_events_is_reported(
    name: str, event: dict[str, Any], phrase: str | None, tmp_path: Path
) -> None:
    made = made_for(name, [{"eye": "both", **event}])
    lost = writer_of(name).write([chunk_of(made)], tmp_path / "out")
    assert phrase is None or any(phrase in each for each in lost), lost
    (back,) = read(only_file(tmp_path / "out"), geometry=screen(1680, 1050)).recordings
    assert (back.geometry, back.tracked.tolist()) == (made.geometry, made.tracked.tolist())


def test_events_of_one_kind_next_to_each_other_are_never_read_as_one(tmp_path: Path) -> None:
    events = [{"kind": "fixation", "eye": "both", "onset": TIMES[a], "offset": TIMES[b]} for a, b in ((2, 5), (6, 9))]
    lost = writer_of("smi-text").write([chunk_of(made_for("smi-text", events))], tmp_path / "out")
    assert "events that such files have no place for" in lost
    (fixation,) = read(tmp_path / "out" / "ann.txt").recordings[0].events.filter(kind="fixation").iter_rows(named=True)
    assert (fixation["onset"], fixation["offset"]) == (TIMES[2], TIMES[5])


@pytest.mark.parametrize("name", ["pupil-core", "pupil-cloud"])
def test_pupils_beside_the_gaze_come_back_with_their_gaps(name: str, tmp_path: Path) -> None:
    made = made_for(name, [])
    rng = np.random.default_rng(4)
    pupil = np.where(rng.random(50) < 0.4, np.nan, rng.uniform(2, 5, 50))
    study = [replace(made, pupil=pupil, pupil_unit="mm", observer=who) for who in ("ann", "bob")]
    lost = writer_of(name).write([chunk_of(each) for each in study], tmp_path / "out")
    assert not [phrase for phrase in lost if "pupil" in phrase]
    for each in study:
        (back,) = read(tmp_path / "out" / each.observer).recordings
        np.testing.assert_array_equal(back.pupil, pupil)
        assert back.pupil_unit == "mm"
        assert name == "pupil-core" or back.geometry == made.geometry  # the folder says it, without an option


def test_pupils_of_a_folder_that_cannot_be_told_apart_are_reported(tmp_path: Path) -> None:
    made = made_for("pupil-core", [])
    t = made.t.copy()
    t[10] = t[9]
    pupil = np.linspace(2, 4, 50)
    pupil[3] = 0.0
    lost = writer_of("pupil-core").write([chunk_of(replace(made, t=t, pupil=pupil, pupil_unit="px"))], tmp_path / "out")
    assert any("where the time repeats" in phrase for phrase in lost)
    assert any("pupils of 0 or less" in phrase for phrase in lost)
    assert any("the last digit of y" in phrase for phrase in lost)


def test_events_stand_among_the_samples_of_their_time(tmp_path: Path) -> None:
    file, _ = written("eyelink-asc", a_recording(EVENTS), tmp_path / "asc")
    lines = [line.split() for line in file.read_text().splitlines()]
    at = {line[0]: number for number, line in enumerate(lines) if line}
    assert float(lines[at["EFIX"] - 1][0]) == 10020
    assert float(lines[at["ESACC"] - 1][0]) == 10052
    assert lines[-1][0] == "END"
    assert lines[-2][2:] == ["after", "the", "last"]


def test_written_again_an_eyelink_file_does_not_grow(tmp_path: Path) -> None:
    first, _ = written("eyelink-asc", a_recording(EVENTS), tmp_path / "first")
    second, _ = written("eyelink-asc", read(first).recordings[0], tmp_path / "second")
    assert first.read_text() == second.read_text()


@pytest.mark.parametrize(
    ("event", "phrase"),
    [
        ({"kind": "pursuit", "onset": 10.0, "offset": 10.1}, "no line for"),
        ({"kind": "message", "onset": 10.0, "text": "two\nlines"}, "no line for"),
        ({"kind": "message", "onset": -1.0, "text": "early"}, "no line for"),
        ({"kind": "fixation", "eye": "left", "onset": 10.0}, "no line for"),
        ({"kind": "fixation", "eye": "left", "onset": None, "offset": 10.1}, "no line for"),
        ({"kind": "fixation", "eye": "both", "onset": 10.0, "offset": 10.1}, "of both eyes together"),
        ({"kind": "fixation", "eye": "left", "onset": 10.0, "offset": 10.1, "amplitude": 1.0}, "details of events"),
        ({"kind": "blink", "eye": "left", "onset": 10.0, "offset": 10.1, "source": "ivt"}, "by which detector"),
        ({"kind": "message", "onset": 10.0, "text": "TRIALID another"}, "the file says its own"),
        ({"kind": "message", "onset": 10.0, "text": "DISPLAY_COORDS 0 0 9 9"}, "the file says its own"),
    ],
)
def test_what_an_eyelink_file_cannot_say_of_events_is_told(event: dict[str, Any], phrase: str, tmp_path: Path) -> None:
    file, lost = written("eyelink-asc", a_recording([event]), tmp_path / "asc")
    assert any(phrase in each for each in lost)
    (back,) = read(file).recordings
    assert (back.stimulus, back.trial, back.geometry.width_px) == ("lake.png", "1", 1680)


def test_a_message_never_names_a_recording_without_a_stimulus(tmp_path: Path) -> None:
    made = a_recording([{"kind": "message", "onset": 10.0, "text": "!V TRIAL_VAR image other.png"}])
    file, lost = written("eyelink-asc", replace(made, stimulus=""), tmp_path / "asc")
    assert any("the file says its own" in each for each in lost)
    assert read(file).recordings[0].stimulus == ""


def test_events_are_turned_into_pixels_with_the_gaze(tmp_path: Path) -> None:
    made = a_recording([{"kind": "fixation", "eye": "left", "onset": 10.0, "offset": 10.1, "x": 0.0, "y": 0.0}])
    made = replace(made, x=made.x / 100, y=made.y / 100, geometry=SCREEN.in_unit("deg"))
    file, _ = written("eyelink-asc", made, tmp_path / "asc")
    (fixation,) = read(file).recordings[0].events.filter(pl.col("kind") == "fixation").iter_rows(named=True)
    assert (fixation["x"], fixation["y"]) == pytest.approx((840, 525))


@pytest.mark.parametrize("name", ["pygaze", "smi-text"])
def test_the_screen_comes_back(name: str, tmp_path: Path) -> None:
    file, lost = written(name, a_recording(), tmp_path / "out")
    (back,) = read(file).recordings
    assert back.geometry == SCREEN
    assert not [phrase for phrase in lost if "screen" in phrase]
    assert name != "smi-text" or (back.rate_hz, back.observer) == (250.0, "ann")


def test_an_smi_file_says_itself_who_looked(tmp_path: Path) -> None:
    lost = writer_of("smi-text").write([chunk_of(a_recording())], tmp_path / "other.txt")
    assert not [phrase for phrase in lost if "participant" in phrase]
    assert read(tmp_path / "other.txt").recordings[0].observer == "ann"


def test_pygaze_names_stimuli_in_messages_that_a_rule_reads(tmp_path: Path) -> None:
    study = [replace(a_recording(), stimulus=stimulus) for stimulus in ("lake.png", "a forest")]
    writer_of("pygaze").write([chunk_of(each) for each in study], tmp_path / "out")
    found = read(tmp_path / "out" / "ann.tsv", stimulus_from="MSG image").recordings
    assert [each.key for each in found] == [each.key for each in study]


@pytest.mark.parametrize("name", ["pygaze", "smi-text"])
def test_gaze_at_the_mark_of_a_loss_is_told(name: str, tmp_path: Path) -> None:
    made = a_recording()
    x, y = made.x.copy(), made.y.copy()
    x[3] = y[3] = 0.0
    _, lost = written(name, replace(made, x=x, y=y), tmp_path / "out")
    assert "gaze at exactly (0, 0), which stands for lost gaze" in lost


@pytest.mark.parametrize(
    ("name", "changes", "message"),
    [
        ("smi-text", {"stimulus": "lake"}, "picture's or film's file name"),
        ("smi-text", {"stimulus": ""}, "not all with a stimulus"),
        ("smi-text", {"stimulus": "b.png", "rate_hz": 60.0}, "the rate once"),
        ("smi-text", {"stimulus": "b.png", "geometry": screen(800, 600)}, "the rate once"),
        ("pygaze", {"stimulus": ""}, "with and without"),
        ("pygaze", {"stimulus": "a\tb"}, "cannot hold the stimulus"),
    ],
)
def test_recordings_that_would_be_read_as_others_are_refused(
    name: str, changes: dict[str, Any], message: str, tmp_path: Path
) -> None:
    study = [a_recording(), replace(a_recording(), **changes)]
    with pytest.raises(InputError, match=message):
        writer_of(name).write([chunk_of(each) for each in study], tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "labels",
    [{"observer": "1"}, {"observer": "0011"}, {"stimulus": "tex"}, {"session": "1"}, {"session": "round 10 session 1"}],
)
def test_gazebase_refuses_labels_that_its_names_cannot_say(labels: dict[str, str], tmp_path: Path) -> None:
    fitting = {"observer": "001", "stimulus": "TEX", "session": "round 2 session 1", "geometry": headset()}
    made = replace(a_recording(), **fitting)  # type: ignore[arg-type]
    file, _ = written("gazebase", made, tmp_path / "out")
    assert file.name == "S_2001_S1_TEX.csv"
    assert read(file).recordings[0].key == made.key
    with pytest.raises(InputError, match="three digits"):
        written("gazebase", replace(made, **labels), tmp_path / "refused")  # type: ignore[arg-type]
