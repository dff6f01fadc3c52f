# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What is written as study.toml is read back as the same study, whatever things are called."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gazeveil import Geometry, headset, normalised, screen
from gazeveil.errors import FileFormatError, InputError, OutputError
from gazeveil.release.study import Budget, Custody, Participants, Recordings, Stimulus, Study, spelt
from gazeveil.release.study_toml import read_study, with_whole_paths, write_study

DESK = screen(1600, 1200, 400, 300, 600)
ODD = ['"', "\\", "'", '"""', "ü", "u\u0308", "眼", "👁", "#", "]", "a = b", "~", "p 1", "=", "\\n", "0"]

printable = st.text(st.characters(exclude_categories=("C", "Z")), min_size=1, max_size=12)
names = st.one_of(st.sampled_from(ODD), printable)
sizes = st.floats(0.1, 5000, allow_nan=False)
screens = st.one_of(
    st.builds(screen, sizes, sizes),
    st.builds(lambda w, h, d: screen(1920, 1080, w, h, d), sizes, sizes, sizes),
    st.builds(headset, st.floats(1, 360), st.floats(1, 360)),
    st.builds(normalised),
)
files = st.one_of(
    st.none(),
    st.tuples(
        names.filter(lambda name: "/" not in name and name not in {".", ".."}).map(
            lambda name: Path("/study/p") / name
        ),
        st.just("ab" * 32),
    ),
)


@st.composite
def studies(draw: st.DrawFn) -> Study:
    withdrawn = tuple(draw(st.lists(names, max_size=2)))
    gone = {spelt(name) for name in withdrawn}
    who = draw(st.sampled_from(["roster", "number", "secret", "guess"]))
    roster = draw(st.lists(names, min_size=1, max_size=15, unique_by=spelt).filter(lambda r: {*map(spelt, r)} - gone))
    number = draw(st.integers(1, 10_000))
    people = {
        "roster": lambda: Participants(roster=tuple(roster), withdrawn=withdrawn),
        "number": lambda: Participants(number=number, withdrawn=withdrawn),
        "secret": lambda: Participants(secret=True, withdrawn=withdrawn),
        "guess": lambda: Participants(secret=True, number=number, withdrawn=withdrawn),
    }[who]()
    stimuli = draw(st.lists(st.one_of(st.just(""), names), min_size=1, max_size=4, unique_by=spelt))
    texts = st.one_of(st.just(""), names)
    return Study(
        name=draw(names),
        participants=people,
        stimuli=tuple(
            Stimulus(
                name=name,
                screen=draw(screens),
                seconds=draw(st.one_of(st.none(), st.floats(0.001, 86400))),
                task=draw(texts),
                picture=draw(files),
                areas=draw(files),
                prior=draw(files),
            )
            for name in stimuli
        ),
        recordings=Recordings(
            sessions=tuple(draw(st.lists(names, max_size=3))),
            per_stimulus=draw(st.integers(1, 100)),
            rate_hz=draw(st.one_of(st.none(), st.floats(0.1, 10_000))),
            pupil_unit=draw(texts),
            groups=draw(st.dictionaries(names, names, max_size=3)),
        ),
        delta=draw(st.sampled_from([Fraction(1, 3), Fraction(1, 100_000), Fraction(1, 7**40)])),
        budget=Budget(
            ledger=draw(st.sampled_from(["", "/study/l.sqlite", "/else/l", "postgresql://db/x"])), account=draw(texts)
        ),
        custody=Custody(holder=draw(texts), until=draw(texts)),
    )


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(study=studies())
def test_what_is_written_is_read_back_as_the_same_study(study: Study, tmp_path: Path) -> None:
    path = tmp_path / "study.toml"
    write_study(study, path, remarks={"": "head\nof the file", "participants": 'a "remark"'}, overwrite=True)
    assert read_study(path) == study


def small(**changes: object) -> Study:
    facts = {"name": "s", "participants": Participants(number=3), "stimuli": (Stimulus(name="a", screen=DESK),)}
    return Study(**(facts | changes))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "study",
    [
        small(name="a\nb"),
        small(name=""),
        small(participants=Participants(roster=("a\nb",))),
        small(stimuli=(Stimulus(name="a\nb", screen=DESK),)),
        small(recordings=Recordings(sessions=("\t",))),
        small(custody=Custody(holder="a\x7fb")),
    ],
)
def test_a_name_that_cannot_be_printed_is_refused_and_nothing_is_written(study: Study, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be declared"):
        write_study(study, tmp_path / "study.toml")
    assert list(tmp_path.iterdir()) == []


def test_a_file_is_not_replaced_unless_that_is_said(tmp_path: Path) -> None:
    path = tmp_path / "study.toml"
    path.write_text("mine")
    with pytest.raises(OutputError, match="exists"):
        write_study(small(), path)
    assert path.read_text() == "mine"


def test_files_beside_the_study_are_written_relative_to_it_and_move_with_it(tmp_path: Path) -> None:
    (tmp_path / "one" / "pictures").mkdir(parents=True)
    picture = (tmp_path / "one" / "pictures" / "a.png", "00" * 32)
    study = small(
        stimuli=(Stimulus(name="a", screen=DESK, picture=picture),),
        budget=Budget(ledger=str(tmp_path / "one" / "ledger.sqlite"), account="x"),
    )
    write_study(study, tmp_path / "one" / "study.toml")
    (tmp_path / "one").rename(tmp_path / "two")
    moved = read_study(tmp_path / "two" / "study.toml")
    assert moved.stimuli[0].picture == (tmp_path / "two" / "pictures" / "a.png", "00" * 32)
    assert moved.budget.ledger == str(tmp_path / "two" / "ledger.sqlite")


def test_relative_paths_mean_the_same_after_reading(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    study = small(
        stimuli=(Stimulus(name="a", screen=DESK, picture=(Path("pictures/a.png"), "00" * 32)),),
        budget=Budget(ledger="ledger.sqlite"),
    )
    write_study(study, Path("declared/study.toml"))
    assert read_study(Path("declared/study.toml")) == with_whole_paths(study)


def test_a_screen_is_written_once_and_others_with_their_stimulus(tmp_path: Path) -> None:
    other: Geometry = screen(800, 600)
    stimuli = (Stimulus(name="a", screen=DESK), Stimulus(name="b", screen=DESK), Stimulus(name="c", screen=other))
    write_study(small(stimuli=stimuli), tmp_path / "study.toml")
    text = (tmp_path / "study.toml").read_text()
    assert (text.count("\n[screen]"), text.count("[stimuli.screen]")) == (1, 1)


def test_custody_must_be_text(tmp_path: Path) -> None:
    write_study(small(), tmp_path / "study.toml")
    text = (tmp_path / "study.toml").read_text().replace('# holder = ""', "holder = 5")
    (tmp_path / "study.toml").write_text(text)
    with pytest.raises(FileFormatError, match=r"custody\.holder"):
        read_study(tmp_path / "study.toml")
