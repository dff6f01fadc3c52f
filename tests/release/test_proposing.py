# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What is proposed for a study: nominal values, and blanks where the data cannot say."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gazeveil import Corpus, Geometry, Recording, screen, write_corpus
from gazeveil.errors import InputError, OptionError
from gazeveil.release.study import Budget, Study
from gazeveil.release.study_proposal import KnownFacts, delta_for, nominal_rate, propose
from gazeveil.release.study_toml import write_study

DESK = screen(1600, 1200, 400, 300, 600)


def gaze(
    observer: str,
    stimulus: str = "a",
    *,
    seconds: float = 5.0,
    rate: float = 60.0,
    where: Geometry = DESK,
    **more: Any,
) -> Recording:
    count = round(seconds * rate)
    values = np.linspace(0, 100, count)
    return Recording(np.arange(count) / rate, values, values, where, observer, stimulus, **more)


@pytest.mark.parametrize(
    ("found", "nominal"),
    [(59.94, 60), (119.2, 120), (1003.0, 1000), (299.6, 300), (30.3, 30), (42.3, 42), (676.0, 680), (7.77, 7.8)],
)
def test_rates_are_rounded_to_those_of_trackers(found: float, nominal: float) -> None:
    assert nominal_rate(found) == nominal


def test_delta_is_small_beside_one_over_the_number_of_participants() -> None:
    assert delta_for(None) == delta_for(20) == delta_for(1000) == Fraction(1, 10**5)
    assert delta_for(1001) == Fraction(1, 10**6)
    assert delta_for(10_000_000) * 10_000_000 <= Fraction(1, 100)


def test_lengths_rates_screens_and_counts_are_nominal(tmp_path: Path) -> None:
    distances = [598.0, 603.0, 611.0, 560.0]
    people = [
        gaze(f"p{k}", s, seconds=4.97 + k / 50, rate=59.9, where=screen(1600, 1200, 400.2, 300.1, d), session=session)
        for k, d in enumerate(distances)
        for s in ("a", "b")
        for session in ("1", "2")
    ]
    strange = gaze("p9", "a", seconds=2, rate=250, where=screen(800, 600))
    study, remarks = propose(Corpus.of([*people, strange]), name="nominal")
    assert study.participants.roster == ("p0", "p1", "p2", "p3", "p9")
    assert {stimulus.screen for stimulus in study.stimuli} == {DESK}
    assert [stimulus.seconds for stimulus in study.stimuli] == [5, 5]
    assert (study.recordings.rate_hz, study.recordings.per_stimulus) == (60, 2)
    assert study.recordings.sessions == ("1", "2")
    assert "1 of 17 recordings are on another raster" in remarks["screen"]
    write_study(study, tmp_path / "study.toml", remarks=remarks)
    assert Study.open(tmp_path / "study.toml") == study
    text = (tmp_path / "study.toml").read_text()
    assert "PROPOSES" in text
    assert "Nothing is published" in text
    assert '# holder = ""' in text


def test_what_recordings_do_not_share_stays_blank_and_says_what_to_fill_in() -> None:
    reading = [gaze(f"p{k}", "text", seconds=3 + 2 * k, where=screen(1600, 1200), session=f"day {k}") for k in range(8)]
    study, remarks = propose(Corpus.of(reading))
    assert study.stimuli[0].seconds is None
    assert "seconds = …" in remarks["stimuli.text"]
    assert study.recordings.sessions == ()
    assert "sessions = " in remarks["recordings"]
    assert "distance_mm" in remarks["screen"]


def test_participants_can_be_a_number_or_a_secret_and_then_no_name_is_in_the_file(tmp_path: Path) -> None:
    corpus = Corpus.of([gaze("Zo\u00eb"), gaze("Zoe\u0308", session="2"), gaze("bob")])
    for who in ("number", "secret"):
        study, remarks = propose(corpus, who=who)
        write_study(study, tmp_path / who, remarks=remarks)
        assert "bob" not in (tmp_path / who).read_text()
        assert Study.open(tmp_path / who) == study
    assert propose(corpus, who="number")[0].participants.number == 2
    secret = propose(corpus, who="secret")[0]
    assert secret.participants.number is None
    assert secret.participants.secret
    with pytest.raises(OptionError, match="roster"):
        propose(corpus, who="number", known=KnownFacts(groups={"bob": "x"}))


def test_pictures_areas_groups_and_account_come_from_known_facts(tmp_path: Path) -> None:
    for name in ("a.png", "b.jpg", "c.JSON", "a.json", "b.png.json", "secret.png"):
        (tmp_path / name).write_text(name)
    corpus = Corpus.of([gaze("ann", name) for name in ("a", "b.jpg", "c", "../" + tmp_path.name + "/secret", "")])
    known = KnownFacts(
        pictures=tmp_path, areas=tmp_path, groups={"ann": "x", "nobody": "y"}, budget=Budget(ledger="l", account="s")
    )
    (tmp_path / "sub").mkdir()
    study, remarks = propose(corpus, known=known)
    found = {each.name: each for each in study.stimuli}
    assert found["a"].picture
    assert found["a"].picture[0] == tmp_path / "a.png"
    assert found["a"].areas
    assert found["a"].areas[0] == tmp_path / "a.json"
    assert found["b.jpg"].picture
    assert found["b.jpg"].picture[0] == tmp_path / "b.jpg"
    assert found["c"].picture is None
    assert found[""].picture is None
    assert study.recordings.groups == {"ann": "x"}
    write_study(study, tmp_path / "study.toml", remarks=remarks)
    assert Study.open(tmp_path / "study.toml") == study
    outside = propose(corpus, known=KnownFacts(pictures=tmp_path / "sub"))[0]
    assert all(stimulus.picture is None for stimulus in outside.stimuli)


def test_a_damaged_file_is_left_out_and_said(tmp_path: Path) -> None:
    write_corpus([gaze("ann"), gaze("bob", "b")], tmp_path / "gaze")
    corpus = Corpus.open(tmp_path / "gaze")
    (path,) = (part.path for part in corpus.parts if part.stimulus == "b" and part.path)
    path.write_bytes(b"PAR1" + bytes(50) + b"PAR1")
    study, remarks = propose(corpus)
    assert study.participants.roster == ("ann",)
    assert "1 of 2 files could not be read" in remarks[""]


def test_nothing_to_look_at_is_an_error() -> None:
    with pytest.raises(InputError, match="no recordings"):
        propose(Corpus.of([]))
    with pytest.raises(InputError, match="cannot be declared"):
        propose(Corpus.of([gaze("ann", "a\nb")]))
