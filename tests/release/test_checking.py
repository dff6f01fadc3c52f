# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The private report: everything that does not fit the declaration is found, and nothing stops it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from gazeveil import Corpus, Eye, Recording, screen, write_corpus
from gazeveil.aggregate.heatmap import PrivateHeatmap
from gazeveil.errors import FileFormatError
from gazeveil.release.check import KINDS, NOT_TO_PUBLISH, check, private_report, write_findings
from gazeveil.release.data import bind
from gazeveil.release.record import private_report_path
from gazeveil.release.study import Participants, Recordings, Stimulus, Study

DESK = screen(1600, 1200, 400, 300, 600)
RNG = np.random.default_rng(3)


def gaze(observer: str, stimulus: str = "a", *, seconds: float = 2.0, rate: float = 100, **more: Any) -> Recording:
    count = round(seconds * rate)
    values: dict[str, Any] = {
        "t": np.arange(count) / rate,
        "x": RNG.uniform(100, 1500, count),
        "y": RNG.uniform(100, 1100, count),
        "geometry": DESK,
    }
    return Recording(**(values | {"observer": observer, "stimulus": stimulus} | more))


def declared(*people: str, stimuli: tuple[str, ...] = ("a",), **recordings: Any) -> Study:
    return Study(
        name="s",
        participants=Participants(roster=people or ("ann",)),
        stimuli=tuple(Stimulus(name=name, screen=DESK, seconds=2) for name in stimuli),
        recordings=Recordings(rate_hz=100, **recordings),
    )


def kinds(study: Study, *recordings: Recording) -> list[str]:
    return [finding.kind for finding in check(study, Corpus.of(recordings))]


def with_(values: np.ndarray, chosen: Any, value: float) -> np.ndarray:
    values = values.copy()
    values[chosen] = value
    return values


def test_recordings_that_fit_are_not_reported() -> None:
    findings = check(declared("ann", "bob"), Corpus.of([gaze("ann"), gaze("bob")]))
    assert (findings.participants, findings.recordings, len(findings)) == (2, 2, 0)


STEADY = gaze("ann")
TIME = np.arange(200) / 100


@pytest.mark.parametrize(
    ("recording", "kind", "words"),
    [
        (gaze("ann", seconds=1.7), "too-short", "1.7 s, declared are 2 s"),
        (gaze("ann", seconds=2.3), "too-long", "2.3 s"),
        (replace(STEADY, t=with_(TIME, 50, 0.1)), "clock", "1 times back"),
        (replace(STEADY, t=with_(TIME, 50, TIME[49])), "clock", "1 times the same"),
        (replace(STEADY, t=with_(TIME, 50, np.nan)), "clock", "1 times it is no number"),
        (gaze("ann", rate=90), "rate", "90 Hz, declared are 100 Hz"),
        (
            replace(STEADY, x=with_(STEADY.x, slice(4), 0), y=with_(STEADY.y, slice(4), 0)),
            "parked",
            "2% of gaze is at exactly (0, 0)",
        ),
        (
            replace(STEADY, x=with_(STEADY.x, slice(50), 9), y=with_(STEADY.y, slice(50), 7)),
            "parked",
            "25% of gaze is at exactly (9, 7)",
        ),
        (replace(STEADY, x=with_(STEADY.x, slice(12), 1700)), "outside", "6% of gaze is outside"),
        (replace(STEADY, x=with_(STEADY.x, slice(60), np.nan)), "loss", "30% of samples have no gaze"),
        (replace(STEADY, x=np.full(200, np.nan)), "no-gaze", "none of 200 samples"),
        (
            replace(
                STEADY,
                left=Eye(with_(STEADY.x, slice(50), np.nan), STEADY.y),
                right=Eye(STEADY.x, STEADY.y),
            ),
            "one-eye",
            "left eye is lost in 25%",
        ),
        (gaze("ann", geometry=screen(1600, 1200, 400, 300, 700)), "other-size", "at 700 mm"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_is_odd_about_one_recording_is_found(recording: Recording, kind: str, words: str) -> None:
    findings = check(declared("ann"), Corpus.of([recording]))
    assert [finding.kind for finding in findings] == [kind]
    (finding,) = findings
    assert words in finding.sentence
    assert (finding.participant, finding.recording, finding.rule) == ("ann", recording.key, KINDS[kind][1])


def test_a_recording_that_does_not_say_its_size_contradicts_nothing() -> None:
    assert kinds(declared("ann"), gaze("ann", geometry=screen(1600, 1200))) == []


def test_who_is_missing_unknown_or_withdrew_is_found() -> None:
    study = declared("ann", "bob", "cyd").withdraw("bob")
    findings = check(study, Corpus.of([gaze("ann"), gaze("bob"), gaze("eve")])).by_kind()
    assert {kind: [each.participant for each in items] for kind, items in findings.items()} == {
        "participant-missing": ["cyd"],
        "participant-unknown": ["eve"],
        "participant-withdrawn": ["bob"],
    }


def test_a_participant_whose_recordings_do_not_count_is_missing() -> None:
    study = declared("ann", sessions=("1",))
    assert kinds(study, gaze("ann", session="pilot")) == ["participant-missing", "undeclared-session"]
    assert kinds(study, gaze("ann", geometry=screen(800, 600))) == ["participant-missing", "other-raster"]


def test_names_stimuli_and_numbers_are_compared() -> None:
    study = declared("Zo\u00eb", stimuli=("a", "b"), per_stimulus=2)
    twice = [gaze("Zo\u00eb"), gaze("Zoe\u0308"), gaze("Zo\u00eb", trial="2"), gaze("Zo\u00eb", "c")]
    assert kinds(study, *twice) == ["undeclared-stimulus", "two-spellings", "recorded-twice", "recording-missing"]
    number = replace(study, participants=Participants(number=5))
    assert kinds(number, gaze("p"), gaze("p", "b")) == ["number-differs"]
    assert kinds(replace(study, participants=Participants(secret=True)), gaze("p"), gaze("p", "b")) == []


def test_a_recording_in_pieces_is_counted_as_one(tmp_path: Path) -> None:
    whole = Corpus.of([gaze("ann")])
    (part,) = whole.parts
    pieces = tuple(replace(part, samples=part.samples.slice(start, 100)) for start in (0, 100))
    assert len(check(declared("ann"), replace(whole, parts=pieces))) == 0
    (found,) = check(declared("ann"), replace(whole, parts=pieces[::-1]))
    assert found.kind == "clock"


def test_pictures_that_are_missing_or_changed_are_found(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_text("new")
    stimuli = (
        Stimulus(
            name="a", screen=DESK, picture=(tmp_path / "a.png", "00" * 32), areas=(tmp_path / "a.json", "00" * 32)
        ),
    )
    findings = check(replace(declared("ann"), stimuli=stimuli), Corpus.of([gaze("ann")]))
    assert [finding.kind for finding in findings] == ["file-changed", "file-changed"]


def test_damaged_files_and_odd_rows_do_not_stop_the_report_on_the_others(tmp_path: Path) -> None:
    stimuli = ("a", "b", "c", "d")
    write_corpus([gaze("ann", name) for name in ("a", "b", "c")] + [gaze("ann", "d", seconds=1)], tmp_path / "gaze")
    for name, content in (("b", b"PAR1" + bytes(100) + b"PAR1"), ("c", b"")):
        (path,) = (tmp_path / "gaze" / f"stimulus={name}").glob("*.parquet")
        path.write_bytes(content)
    findings = check(declared("ann", stimuli=stimuli), tmp_path / "gaze")
    assert [finding.kind for finding in findings] == ["unreadable", "unreadable", "recording-missing", "too-short"]
    with pytest.raises(FileFormatError, match="corpus"):
        check(declared("ann"), tmp_path)


def test_samples_that_are_damaged_while_labels_can_be_read_are_one_finding() -> None:
    (part,), (other,) = Corpus.of([gaze("ann")]).parts, Corpus.of([gaze("bob", seconds=1)]).parts
    broken = replace(part, samples=part.samples.with_columns(x=pl.lit("no number")))
    findings = check(declared("ann", "bob"), Corpus((broken, other)))
    assert [finding.kind for finding in findings] == ["unreadable", "too-short"]


def test_rows_without_a_participant_are_found() -> None:
    (part,) = Corpus.of([gaze("ann")]).parts
    nobody = replace(part, samples=part.samples.with_columns(observer=pl.lit(None, dtype=pl.String)))
    assert [each.kind for each in check(declared("ann"), Corpus((part, nobody)))] == ["no-participant"]


def test_the_report_of_a_release_reads_labels_alone_and_lists_what_binding_left_out() -> None:
    study = declared("ann", "bob", "cyd", sessions=("1",)).withdraw("cyd")
    recordings = [
        gaze("ann", seconds=1),
        gaze("bob", geometry=screen(800, 600)),
        gaze("cyd"),
        gaze("eve"),
        gaze("ann", "b"),
        gaze("ann", session="2"),
    ]
    data = bind(study, Corpus.of(recordings))
    data.remarks.append("something else")
    report = private_report(study, data)
    assert report["notice"] == NOT_TO_PUBLISH
    assert set(report["counts"]) == {
        "participant-missing",
        "participant-unknown",
        "participant-withdrawn",
        "other-raster",
        "undeclared-stimulus",
        "undeclared-session",
    }
    assert report["participants_found"] == 1
    assert report["remarks"] == ["something else"]
    json.dumps(report, allow_nan=False)


def test_the_report_of_a_release_is_not_stopped_by_data() -> None:
    (part,) = Corpus.of([gaze("ann")]).parts
    broken = replace(part, samples=pl.LazyFrame({"nothing": [1]}))
    data = bind(declared("ann"), Corpus((part, broken)))
    assert private_report(declared("ann"), data)["counts"] == {"unreadable": 1}
    assert private_report(declared("ann"), None)["findings"] == []


def test_a_release_writes_the_report_beside_its_folder(tmp_path: Path) -> None:
    study = declared("ann", "bob", "cyd")
    plan = study.plan(PrivateHeatmap(epsilon="1", delta="1e-5", cell_deg=4, blur_deg=4), stimulus="a")
    plan.release(Corpus.of([gaze("ann"), gaze("eve")]), anyway=True).save(tmp_path / "map")
    report = json.loads(private_report_path(tmp_path / "map").read_text())
    assert report["counts"] == {"participant-missing": 2, "participant-unknown": 1}
    released = b"".join(path.read_bytes() for path in (tmp_path / "map").rglob("*") if path.is_file())
    assert b"eve is not" not in released


def test_findings_are_written_for_their_owner_alone(tmp_path: Path) -> None:
    findings = check(declared("ann"), Corpus.of([gaze("<b>eve</b>")]))
    for name in ("report.html", "report.json"):
        write_findings(findings, tmp_path / name)
        assert (tmp_path / name).stat().st_mode & 0o077 == 0
        assert NOT_TO_PUBLISH in (tmp_path / name).read_text()
    assert "<b>eve" not in (tmp_path / "report.html").read_text()
