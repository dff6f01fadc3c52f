# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""A corpus under a study's rules: every rule, in memory and on disk."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from gazeveil import Corpus, Geometry, Recording, screen, write_corpus
from gazeveil.errors import PrivacyError
from gazeveil.gaze import schema
from gazeveil.gaze.recording import Key
from gazeveil.release.data import BoundCorpus, bind
from gazeveil.release.study import Participants, Recordings, Stimulus, Study

DESK = screen(1600, 1200, 400, 300, 600)
COMPOSED, DECOMPOSED = "Zo\u00eb", "Zoe\u0308"
FIXATION = schema.event_table(pl.DataFrame({"kind": ["fixation"], "onset": [0.0], "offset": [0.1]}))


def gaze(observer: str, stimulus: str = "a", session: str = "1", where: Geometry = DESK) -> Recording:
    values = np.arange(10.0)
    return Recording(values / 60, values, values, where, observer, stimulus, session, events=FIXATION)


@pytest.fixture(params=["in memory", "on disk"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    """Return a way to make a corpus of recordings."""

    def make(recordings: Iterable[Recording]) -> Corpus:
        if request.param == "in memory":
            return Corpus.of(recordings)
        write_corpus(recordings, tmp_path / "gaze")
        return Corpus.open(tmp_path / "gaze")

    return make


def declared(*people: str, stimuli: Iterable[str] = ("a",), **facts: Any) -> Study:
    participants = facts.pop("participants", None) or Participants(roster=people)
    shown = tuple(Stimulus(name=name, screen=DESK) for name in stimuli)
    return Study(name="s", participants=participants, stimuli=shown, **facts)


def keys(data: BoundCorpus) -> set[Key]:
    """Return the recordings that are left; samples and events must agree on them."""
    samples = {Key(*row) for row in data.corpus.scan().select(schema.KEYS).unique().collect().iter_rows()}
    events = {Key(*row) for row in data.corpus.scan_events().select(schema.KEYS).unique().collect().iter_rows()}
    assert samples == events
    return samples


def test_all_that_is_declared_stays_as_it_is(store: Any) -> None:
    corpus = store([gaze("ann"), gaze("bob")])
    data = bind(declared("ann", "bob"), corpus)
    assert keys(data) == {Key("ann", "a"), Key("bob", "a")}
    assert data.corpus.scan().collect().equals(corpus.scan().collect())


def test_who_is_not_in_the_roster_is_left_out(store: Any) -> None:
    assert keys(bind(declared("ann", "cyd"), store([gaze("ann"), gaze("bob")]))) == {Key("ann", "a")}


def test_who_withdrew_is_left_out_with_a_roster_and_with_a_number(store: Any) -> None:
    corpus = store([gaze("ann"), gaze("bob")])
    by_number = declared(participants=Participants(number=2)).withdraw("bob")
    for study in (declared("ann", "bob").withdraw("bob"), by_number):
        assert keys(bind(study, corpus)) == {Key("ann", "a")}


def test_a_name_in_two_unicode_forms_is_one_participant(store: Any) -> None:
    corpus = store([gaze(COMPOSED), gaze(DECOMPOSED, session="2"), gaze("bob")])
    data = bind(declared(DECOMPOSED, "bob"), corpus)
    assert keys(data) == {Key(COMPOSED, "a"), Key(COMPOSED, "a", "2"), Key("bob", "a")}
    assert keys(bind(declared("bob", COMPOSED).withdraw(DECOMPOSED), corpus)) == {Key("bob", "a")}


def test_stimuli_and_sessions_are_compared_in_one_spelling_too(store: Any) -> None:
    corpus = store([gaze("ann", DECOMPOSED, DECOMPOSED), gaze("ann", COMPOSED, "other")])
    data = bind(declared("ann", stimuli=[COMPOSED], recordings=Recordings(sessions=(COMPOSED,))), corpus)
    assert keys(data) == {Key("ann", COMPOSED, COMPOSED)}
    assert len(data.corpus.keys()) == 1


def test_sessions_and_stimuli_that_are_not_declared_are_left_out(store: Any) -> None:
    corpus = store([gaze("ann"), gaze("ann", session="pilot"), gaze("ann", "b"), gaze("ann", "")])
    assert keys(bind(declared("ann"), corpus)) == {Key("ann", "a"), Key("ann", "a", "pilot")}
    only = declared("ann", stimuli=["a", ""], recordings=Recordings(sessions=("1",)))
    assert keys(bind(only, corpus)) == {Key("ann", "a"), Key("ann", "")}


@pytest.mark.parametrize(
    "other",
    [screen(1920, 1080, 400, 300, 600), DESK.in_unit("norm"), replace(DESK, fov_x_deg=40.0, fov_y_deg=30.0)],
    ids=["raster", "unit", "field of view"],
)
def test_a_recording_on_another_raster_or_in_another_unit_counts_as_absent(store: Any, other: Geometry) -> None:
    assert keys(bind(declared("ann", "bob"), store([gaze("ann"), gaze("bob", where=other)]))) == {Key("ann", "a")}


def test_size_and_distance_are_taken_as_declared(store: Any) -> None:
    odd = [screen(1600, 1200, 410, 300, 600), screen(1600, 1200, 400, 300, 900), screen(1600, 1200)]
    corpus = store([gaze(f"p{number}", where=where) for number, where in enumerate(odd)])
    data = bind(declared("p0", "p1", "p2"), corpus)
    assert {key.observer for key in keys(data)} == {"p0", "p1", "p2"}
    assert data.corpus.geometry == DESK
    assert {recording.geometry for recording in data.corpus.recordings()} == {DESK}


@pytest.mark.parametrize("participants", [Participants(roster=("ann",)), Participants(number=1)])
def test_rows_without_a_participant_are_left_out(participants: Participants) -> None:
    corpus = Corpus.of([gaze("ann"), gaze("bob", session="2")])
    nobody = pl.when(pl.col("observer") == "bob").then(None).otherwise(pl.col("observer")).alias("observer")
    parts = tuple(
        replace(part, samples=part.samples.with_columns(nobody), events=part.events.with_columns(nobody))
        for part in corpus.parts
    )
    data = bind(declared(participants=participants), replace(corpus, parts=parts))
    assert keys(data) == {Key("ann", "a")}


def test_a_part_whose_labels_cannot_be_read_bothers_only_who_needs_it(tmp_path: Path) -> None:
    write_corpus([gaze("ann"), gaze("ann", "b")], tmp_path / "gaze")
    corpus = Corpus.open(tmp_path / "gaze")
    (path,) = (part.path for part in corpus.parts if part.stimulus == "b" and part.path)
    path.write_bytes(b"PAR1" + bytes(100) + b"PAR1")
    data = bind(declared("ann", stimuli=["a", "b"]), corpus, ["a"])
    assert data.corpus.scan().collect().height == 10
    assert not data.remarks
    assert len(bind(declared("ann", stimuli=["a", "b"]), corpus).remarks) == 1


def test_parts_whose_labels_all_pass_are_not_filtered(tmp_path: Path) -> None:
    write_corpus([gaze("ann"), gaze("bob")], tmp_path / "gaze")
    corpus = Corpus.open(tmp_path / "gaze")
    kept = bind(declared("ann", "bob"), corpus).corpus.parts[0].samples.explain()
    cut = bind(declared("ann"), corpus).corpus.parts[0].samples.explain()
    assert "FILTER" not in kept
    assert "SELECTION" not in kept
    assert kept != cut


def test_the_original_stays_at_hand_and_nobody_else_makes_a_bound_corpus() -> None:
    corpus = Corpus.of([gaze("ann"), gaze("bob")])
    study = declared("ann")
    assert bind(study, corpus).original is corpus
    with pytest.raises(PrivacyError, match="bind"):
        BoundCorpus(study, corpus, corpus)
