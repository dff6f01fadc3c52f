# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Nothing is kept without consent; what was confirmed is kept whatever dies; nobody else gets in."""

from __future__ import annotations

import json
import math
import os
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pytest

from gazeveil.errors import InputError, OutputError
from gazeveil.lab.userstudy.design import UserStudy, read_user_study
from gazeveil.lab.userstudy.proposal import propose
from gazeveil.lab.userstudy.sessions import Sessions, check_round, measures_of, round_measures

for package in ("starlette", "httpx"):
    pytest.importorskip(package)
pytestmark = pytest.mark.filterwarnings("ignore:Using `httpx`")


@pytest.fixture
def study(tmp_path: Path) -> UserStudy:
    propose(tmp_path, "A game")
    return read_user_study(tmp_path / "userstudy.toml")


@pytest.fixture
def page(study: UserStudy) -> Any:
    from starlette.testclient import TestClient

    from gazeveil.lab.userstudy.server import Desk, study_app

    turned: list[tuple[str, str]] = []
    desk = Desk(study, lambda app, level: turned.append((app, level)))
    client = TestClient(study_app(desk, frozenset({"testserver"})))
    client.turned = turned
    return client


def thing(kind: str = "target", fate: str = "destroyed", **given: float) -> dict[str, Any]:
    usual = {"born": 1.0, "ended": 2.0, "distance": 6.0, "x": 0.7, "y": 0.5, "size": 0.1, "from_x": 0.5, "from_y": 0.5}
    return {"kind": kind, "fate": fate, **usual, **given}


def a_round(*things: dict[str, Any]) -> dict[str, Any]:
    return {
        "things": list(things) or [thing()],
        "gaze": [[t / 10, 0.5 + t / 100, 0.5] for t in range(30)],
        "attempts": 1,
    }


def result(step: dict[str, Any]) -> dict[str, Any]:
    if step["kind"] == "form":
        points = step["asks"]["points"]
        return {"answers": [points or "good" for _ in step["asks"]["items"]]}
    return a_round() if step["kind"] in ("trial", "practice", "free") else {}


def test_without_consent_nothing_is_on_disk(page: Any, study: UserStudy) -> None:
    before = sorted(study.path.parent.rglob("*"))
    for agreed in (False, None, "yes", 1):
        asked = {"participant": "p01", "language": "en", "agreed": agreed}
        assert page.post("/api/begin", json=asked).json() == {"declined": True}
    assert page.post("/api/done", json={"participant": "p01", "index": 0, "data": {}}).status_code == 400
    assert sorted(study.path.parent.rglob("*")) == before


def test_a_whole_session_step_by_step_and_again_after_a_crash(page: Any, study: UserStudy) -> None:
    begin = {"participant": "p01", "language": "de", "agreed": True}
    step = page.post("/api/begin", json=begin).json()["step"]
    done = 0
    while step["kind"] != "done":
        if step["kind"] == "trial":
            assert step["stream"].startswith("ws://127.0.0.1:")
        asked = {"participant": "p01", "index": step["index"], "data": result(step)}
        following = page.post("/api/done", json=asked).json()["step"]
        assert page.post("/api/done", json=asked).json()["step"] == following  # sent twice, kept once
        if done % 9 == 0:  # the browser dies, or the server: whoever comes back is where they were
            with (study.path.parent / "sessions" / "p01.jsonl").open("ab") as file:
                file.write(b'{"index": 99, "kin')
            assert page.post("/api/begin", json=begin).json()["step"] == following
        step, done = following, done + 1
    (session,) = Sessions(study).every()
    assert sorted(session.done) == list(range(len(study.steps(0)) - 1))
    table = measures_of([session])
    assert set(table["mechanism"]) == {"none", "gaussian", "spatial", "smoothing"}
    assert table.filter(measure="destroyed").height == 28


def test_steps_cannot_be_skipped_and_others_sessions_not_written(page: Any) -> None:
    page.post("/api/begin", json={"participant": "p01", "language": "en", "agreed": True})
    assert page.post("/api/done", json={"participant": "p01", "index": 3, "data": a_round()}).status_code == 400
    assert page.post("/api/done", json={"participant": "p02", "index": 0, "data": {}}).status_code == 400
    unknown = {"participant": "p01", "index": 0, "data": {"points": [], "raw": [1, 2]}}
    assert page.post("/api/done", json=unknown).status_code == 400
    for label in ("../p01", "", "a b", "x" * 41, "p01.jsonl"):
        asked = {"participant": label, "language": "en", "agreed": True}
        assert page.post("/api/begin", json=asked).status_code == 400


def test_other_pages_and_other_names_of_this_machine_are_refused(page: Any) -> None:
    begin = {"participant": "p01", "language": "en", "agreed": True}
    assert page.post("/api/begin", json=begin, headers={"Origin": "http://elsewhere.example"}).status_code == 403
    assert page.get("/", headers={"Host": "rebound.example"}).status_code == 403
    plain = page.post("/api/begin", content=json.dumps(begin), headers={"Content-Type": "text/plain"})
    assert plain.status_code == 400
    assert page.post("/api/begin", content=b"[1]", headers={"Content-Type": "application/json"}).status_code == 400
    assert page.post("/api/elsewhere", json={}).status_code == 404
    assert page.get("/rules.js").status_code == 200
    assert page.get("/gazeveil.js").status_code == 200
    assert page.get("/secrets.js").status_code == 404
    assert "default-src 'none'" in page.get("/").headers["Content-Security-Policy"]


def test_a_fault_inside_is_not_told_as_a_way_that_is_not_there(
    study: UserStudy, monkeypatch: pytest.MonkeyPatch
) -> None:
    from starlette.testclient import TestClient

    from gazeveil.lab.userstudy.server import Desk, study_app

    def broken(*_: object) -> NoReturn:
        raise KeyError("streams")

    monkeypatch.setattr(Sessions, "begin", broken)
    client = TestClient(study_app(Desk(study), frozenset({"testserver"})), raise_server_exceptions=False)
    assert client.post("/api/begin", json={"participant": "p1", "language": "en", "agreed": True}).status_code == 500
    assert client.post("/api/elsewhere", json={}).status_code == 404
    assert client.post("/api/elsewhere", content=b"no JSON").status_code == 404


def test_the_level_is_turned_in_the_last_part_alone(page: Any, study: UserStudy) -> None:
    step = page.post("/api/begin", json={"participant": "p01", "language": "en", "agreed": True}).json()["step"]
    assert page.post("/api/level", json={"participant": "p01", "level": "mpmu"}).status_code == 400
    while step["kind"] != "free":
        asked = {"participant": "p01", "index": step["index"], "data": result(step)}
        step = page.post("/api/done", json=asked).json()["step"]
    assert step["levels"] == ["lphu", "mpmu", "hplu"]
    assert page.post("/api/level", json={"participant": "p01", "level": "mpmu"}).json() == {"level": "mpmu"}
    assert page.post("/api/level", json={"participant": "p01", "level": "off"}).status_code == 400
    assert page.turned == [("game-free", "mpmu")]


def test_a_session_of_another_version_of_the_study_is_not_mixed_in(study: UserStudy) -> None:
    Sessions(study).begin("p01", "en")
    study.path.write_text(study.path.read_text().replace("seconds = 30", "seconds = 20"))
    with pytest.raises(InputError, match="another version"):
        Sessions(read_user_study(study.path)).every()


def test_a_file_that_a_crash_left_empty_stops_nobody(study: UserStudy) -> None:
    sessions = Sessions(study)
    sessions.folder.mkdir()
    (sessions.folder / "p01.jsonl").write_text('{"partic')
    assert sessions.begin("p02", "en").number == 0
    assert sessions.begin("p01", "en").number == 1
    assert [one.participant for one in Sessions(study).every()] == ["p02", "p01"]


def test_measures_of_a_round_by_hand() -> None:
    things = [
        thing(),
        thing(fate="reached", distance=0.0),
        thing("distractor"),
        thing("distractor", "reached"),
        thing(fate="left"),
    ]
    found = round_measures(a_round(*things))
    assert found["destroyed"] == 0.5
    assert found["false-selections"] == 0.5
    assert found["distance"] == pytest.approx(0.6)
    assert found["selection-time"] == pytest.approx(1.0)
    assert found["throughput"] == pytest.approx(math.log2(0.2 / 0.1 + 1))
    assert found["path"] == pytest.approx(0.1 / 0.2)  # gaze went half of the way
    assert round_measures(a_round(thing(fate="left"))) == {}


@pytest.mark.parametrize(
    "broken",
    [
        {}, {"things": [], "gaze": 3}, {"things": [{"kind": "tree"}], "gaze": []},
        {"things": [thing() | {"born": "soon"}], "gaze": []}, {"things": [], "gaze": [[1, 2]]},
        {"things": [], "gaze": [[0, "a", 1]]}, {"things": [], "gaze": [[0, math.inf, 1]]},
        {"things": [thing(x=10**400)], "gaze": []}, {"things": [], "gaze": [[True, 0.5, 0.5]]},
    ],
)  # fmt: skip
def test_what_is_no_round_is_refused(broken: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        check_round(broken)


def test_gaze_becomes_a_corpus_with_a_declared_study(study: UserStudy, tmp_path: Path) -> None:
    from gazeveil.gaze.corpus import Corpus
    from gazeveil.lab.userstudy.recordings import identified, write_gaze
    from gazeveil.release.study import Study

    sessions = Sessions(study)
    made = np.random.default_rng(1)
    for who in range(3):
        session = sessions.begin(f"p{who}", "en")
        while (step := sessions.current(session)).kind != "done":
            # everybody has a tremor of their own
            walk = np.cumsum(made.normal(0, 0.002 * (1 + 3 * who), (900, 2)), axis=0) % 1
            gaze = [[number / 60, *point] for number, point in enumerate(walk.tolist())]
            sessions.finish(session, step.index, {"things": [thing()], "gaze": gaze, "answers": [4] * 10})
    declared = write_gaze(study, sessions.every(), tmp_path / "gaze")
    assert len(list(Corpus.open(tmp_path / "gaze").recordings())) == 3 * 28
    assert [stimulus.name for stimulus in Study.open(declared).stimuli][:2] == ["none", "gaussian-low"]
    rows = identified(study, sessions.every())
    assert {row[4] for row in rows} == {"identified"}
    assert np.mean([row[5] for row in rows]) > 0.6  # chance is a third


def test_people_and_simulated_participants_are_not_analysed_together(study: UserStudy) -> None:
    sessions = Sessions(study)
    sessions.begin("simulated-001", "en")
    assert len(sessions.to_analyse()) == 1
    sessions.begin("p01", "en")
    with pytest.raises(InputError, match="1 of 2 participants are simulated"):
        sessions.to_analyse()


def test_what_a_full_disk_takes_in_part_is_not_confirmed(study: UserStudy, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = os.write
    monkeypatch.setattr(os, "write", lambda file, data: whole(file, data[: len(data) // 2]))
    with pytest.raises(OutputError, match="cannot be kept"):
        Sessions(study).begin("p01", "en")


def test_who_is_identified_with_and_without_a_mechanism_is_compared_with_as_many_rounds(
    study: UserStudy, monkeypatch: pytest.MonkeyPatch
) -> None:
    from gazeveil.lab.userstudy import recordings

    sessions = Sessions(study)
    for who in ("p1", "p2"):
        session = sessions.begin(who, "en")
        while (step := sessions.current(session)).kind != "done":
            gaze = [[number / 60, 0.5, 0.5] for number in range(30)]
            sessions.finish(session, step.index, {"things": [thing()], "gaze": gaze, "answers": [4] * 10})
    known: dict[str, set[int]] = {}

    def named(reference: Any, queries: Any) -> list[Any]:
        for one in queries:
            known.setdefault(one.stimulus, set()).add(len(reference))
        return []

    monkeypatch.setattr(recordings, "_named", named)
    recordings.identified(study, sessions.every())
    assert set(map(tuple, known.values())) == {(2,)}
