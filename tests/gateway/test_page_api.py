# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The control page's API as a browser uses it: link, session, rules, exports, raw gaze for the participant alone."""

from __future__ import annotations

import asyncio
import csv
import io
import json
import math
import re
from pathlib import Path
from typing import Any

import pytest

from gazeveil.errors import OutputError
from gazeveil.gateway.control.decisions import Decisions
from gazeveil.gateway.control.http import HEADERS, MOST_TRIES, PageFiles
from gazeveil.gateway.control.openapi import OPENAPI
from gazeveil.gateway.control.page_view import MOST_STREAMS, shares_of
from gazeveil.gateway.policy.settings import read_policy
from gazeveil.gateway.sample import VeiledFixation, VeiledHit, VeiledSample
from tests.gateway.page_bench import HOST, OURS, POLICY, TOKEN, PageBench

for _package in ("starlette", "httpx", "msgspec", "websockets"):
    pytest.importorskip(_package)
pytestmark = pytest.mark.filterwarnings("ignore:Using `httpx`")

CANARY = (0.1234567 * 1920, 0.7654321 * 1080)
SEEN = re.compile(r"0\.1234[56]\d*\D{1,12}0\.7654[34]\d*|237\.03\d*\D{1,12}826\.66\d*")
"""The canary as shares or as pixels. Both numbers side by side by chance: less than once in 10^9 pairs."""


@pytest.fixture
def bench(tmp_path: Path) -> PageBench:
    return PageBench(tmp_path)


def open_paths() -> set[str]:
    """Return the paths that need no token."""
    paths = OPENAPI["paths"]
    return {path for path, ways in paths.items() if any(way.get("security") == [] for way in ways.values())}


def asked() -> list[tuple[str, str]]:
    """Return every method and path that is described, with names of the bench."""
    found = []
    for path, ways in OPENAPI["paths"].items():
        named = path.replace("/apps/{name}", "/apps/game").replace("/trackers/{name}", "/trackers/desk")
        found += [(way.upper(), named.replace("{file}", "index.html")) for way in ways]
    return found


# Who gets in


def test_without_a_token_every_route_says_401_and_nothing_else(bench: PageBench) -> None:
    client, before = bench.client(), bench.gateway.status()
    free = {path.replace("{file}", "index.html") for path in open_paths()}
    for method, path in asked():
        if path in free:
            continue
        for token in ("", "Bearer ", "Bearer page.9999999999.x.y", TOKEN):
            answer = client.request(method, path, headers={**OURS, "Authorization": token})
            assert answer.status_code == 401, (method, path)
            assert set(answer.json()) == {"error", "message", "hint"}
    assert bench.gateway.status() | {"control_refused": {}} == before | {"control_refused": {}}


def test_a_foreign_host_or_origin_is_refused_even_where_no_token_is_needed(bench: PageBench) -> None:
    client = bench.client()
    for method, path in asked():
        if path in ("/health", "/metrics"):
            continue
        assert client.request(method, path, headers={**OURS, "Host": "evil.example:7380"}).status_code == 403
        assert client.request(method, path, headers={**OURS, "Origin": "http://evil.example"}).status_code == 403


def session(bench: PageBench) -> dict[str, str]:
    client = bench.client()
    url = client.post("/v1/page/link", headers=OURS).json()["url"]
    key = url.partition("#key=")[2]
    token = client.post("/v1/page/session", headers={"Host": HOST}, json={"key": key}).json()["token"]
    return {"Host": HOST, "Authorization": f"Bearer {token}"}


def test_a_link_opens_one_session_and_its_key_stays_in_the_fragment(bench: PageBench) -> None:
    client = bench.client()
    url = client.post("/v1/page/link", headers=OURS).json()["url"]
    before, _, key = url.partition("#key=")
    assert before == f"http://{HOST}/"
    first = client.post("/v1/page/session", headers={"Host": HOST}, json={"key": key})
    assert first.status_code == 200
    ours = {"Host": HOST, "Authorization": f"Bearer {first.json()['token']}"}
    assert client.get("/v1/status", headers=ours).status_code == 200
    again = client.post("/v1/page/session", headers={"Host": HOST}, json={"key": key})
    assert again.status_code == 403
    assert "token" not in again.json()
    assert bench.gateway.meters.control_refused["key"] == 1
    assert key not in bench.log.getvalue()
    assert first.json()["token"] not in bench.log.getvalue()


def test_a_session_cannot_make_links_so_it_ends_when_it_ends(bench: PageBench) -> None:
    assert bench.client().post("/v1/page/link", headers=session(bench)).status_code == 401


def test_a_session_is_still_good_after_a_restart(bench: PageBench, tmp_path: Path) -> None:
    ours = session(bench)
    assert PageBench(tmp_path).client().get("/v1/status", headers=ours).status_code == 200


def test_guessing_keys_is_stopped_and_a_right_one_does_not_help_then(bench: PageBench) -> None:
    client = bench.client()
    key = client.post("/v1/page/link", headers=OURS).json()["url"].partition("#key=")[2]
    for _ in range(MOST_TRIES):
        assert client.post("/v1/page/session", headers={"Host": HOST}, json={"key": "wrong"}).status_code == 403
    assert client.post("/v1/page/session", headers={"Host": HOST}, json={"key": key}).status_code == 429
    assert client.post("/v1/page/session", headers={"Host": HOST}, json={"key": key, "more": 1}).status_code == 429


@pytest.mark.parametrize("body", [b'{"key": "\\ud800"}', b'{"key": null}', b'{"key": ["x"]}', b"{}", b""])
def test_what_is_no_key_is_refused_and_counted(bench: PageBench, body: bytes) -> None:
    assert bench.client().post("/v1/page/session", headers={"Host": HOST}, content=body).status_code == 403
    assert bench.gateway.meters.control_refused["key"] == 1


def test_the_page_is_served_with_headers_that_let_it_do_no_more_than_it_must(bench: PageBench) -> None:
    answer = bench.client().get("/", headers={"Host": HOST})
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/html")
    for name, value in HEADERS.items():
        assert answer.headers[name] == value
    assert "unsafe" not in HEADERS["Content-Security-Policy"]
    assert "default-src 'none'" in HEADERS["Content-Security-Policy"]


def test_pages_of_this_machine_may_import_the_module_and_others_may_not(bench: PageBench) -> None:
    client = bench.client()
    for origin in ("http://localhost:8000", "https://127.0.0.1:1", f"http://{HOST}"):
        answer = client.get("/gazeveil.js", headers={"Host": HOST, "Origin": origin})
        assert answer.status_code == 200
        assert answer.headers["access-control-allow-origin"] == origin
        assert answer.headers["content-type"].startswith("text/javascript")
        assert all(answer.headers[name] == value for name, value in HEADERS.items())
        assert (
            client.get("/page/index.html", headers={"Host": HOST, "Origin": "http://localhost:8000"}).status_code == 403
        )
    assert "access-control-allow-origin" not in client.get("/gazeveil.js", headers={"Host": HOST}).headers
    for origin in ("http://evil.example", "null", "http://localhost.evil.example", "file://"):
        assert client.get("/gazeveil.js", headers={"Host": HOST, "Origin": origin}).status_code == 403
    assert client.get("/gazeveil.js", headers={"Host": "evil.example:7380"}).status_code == 403
    assert client.get("/package.json", headers={"Host": HOST}).status_code == 404


@pytest.mark.parametrize(
    "name", ["../control.py", "..%2fcontrol.py", "%2e%2e/serve.py", "index.html%00", ".hidden", ""]
)
def test_no_other_file_is_served(bench: PageBench, name: str) -> None:
    assert bench.client().get(f"/page/{name}", headers={"Host": HOST}).status_code == 404


def test_only_kinds_of_files_that_a_page_needs_are_kept(tmp_path: Path) -> None:
    for name in ("index.html", "notes.txt", "secret.py", "a.js"):
        (tmp_path / name).write_text("x")
    assert set(PageFiles(tmp_path)._files) == {"index.html", "a.js"}


# What an app gets


def test_a_rule_changes_what_an_app_is_shown_at_once(bench: PageBench) -> None:
    client, shown = bench.client(), bench.shown["game"].things
    bench.look(200, 500, 5)
    assert {type(thing) for thing in shown} == {VeiledSample}
    told = client.post("/v1/apps/game/rule", headers=OURS, json={"output": "hits"}).json()
    assert (told["output"], told["rule"], told["outputs"]) == ("hits", "hits", ["samples", "fixations", "hits"])
    shown.clear()
    bench.look(200, 500, 5)
    assert [type(thing) for thing in shown] == [VeiledHit]
    told = client.post("/v1/apps/game/rule", headers=OURS, json={"output": None}).json()
    assert (told["output"], told["rule"]) == ("samples", None)


def test_an_app_can_be_given_fixations_instead_of_samples(tmp_path: Path) -> None:
    still = 'mechanism = "gaussian", sigma = 0.02'
    bench = PageBench(tmp_path, POLICY.replace('preset = "gaussian-low"', still))
    bench.client().post("/v1/apps/game/rule", headers=OURS, json={"output": "fixations"})
    bench.look(200, 500, 60)
    bench.look(1500, 500, 60)
    assert {type(thing) for thing in bench.shown["game"].things} == {VeiledFixation}


def test_a_rule_gives_no_more_than_the_policy(bench: PageBench) -> None:
    client = bench.client()
    assert client.post("/v1/apps/dear/rule", headers=OURS, json={"output": "hits"}).status_code == 409
    assert client.post("/v1/apps/dear/rule", headers=OURS, json={"output": "raw"}).status_code == 422
    assert client.post("/v1/apps/dear/rule", headers=OURS, json={}).status_code == 422
    assert client.post("/v1/apps/dear/rule", headers=OURS, json={"output": "hits", "more": 1}).status_code == 422
    assert client.post("/v1/apps/nobody/rule", headers=OURS, json={"output": "hits"}).status_code == 404


def test_a_policy_of_hits_cannot_be_made_to_tell_samples(tmp_path: Path) -> None:
    text = POLICY.replace('areas = "areas.json"', 'areas = "areas.json"\noutput = "hits"')
    bench = PageBench(tmp_path, text)
    for output in ("samples", "fixations"):
        assert bench.client().post("/v1/apps/game/rule", headers=OURS, json={"output": output}).status_code == 409


def test_rules_and_tags_outlive_a_restart(bench: PageBench, tmp_path: Path) -> None:
    client = bench.client()
    client.post("/v1/apps/game/rule", headers=OURS, json={"output": "hits"})
    tagged = client.post("/v1/apps/game/tags", headers=OURS, json={"tags": ["work", "läuft", "work"]})
    assert tagged.json()["tags"] == ["work", "läuft"]
    after = PageBench(tmp_path)
    told = after.gateway.app("game")
    assert (told["output"], told["tags"]) == ("hits", ["work", "läuft"])
    after.look(200, 500, 3)
    assert [type(thing) for thing in after.shown["game"].things] == [VeiledHit]


def test_a_rule_that_the_policy_does_not_allow_any_more_switches_the_app_off(bench: PageBench, tmp_path: Path) -> None:
    """It must not get samples, only because its areas are gone."""
    bench.client().post("/v1/apps/game/rule", headers=OURS, json={"output": "hits"})
    after = PageBench(tmp_path, POLICY.replace('areas = "areas.json"\n', ""))
    assert after.gateway.app("game")["state"] == "off"
    after.look(200, 500, 3)
    assert after.shown["game"].things == []
    assert after.logged("rule not restored")


def test_what_tells_less_holds_even_if_it_cannot_be_kept_and_what_tells_more_does_not(
    bench: PageBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = bench.client()

    def full(memory: Decisions) -> None:
        raise OutputError("the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(Decisions, "_keep", full)
        assert client.post("/v1/apps/game/rule", headers=OURS, json={"output": "hits"}).status_code == 409
        assert bench.gateway.app("game")["output"] == "hits"
        assert client.post("/v1/apps/game/rule", headers=OURS, json={"output": None}).status_code == 409
        assert bench.gateway.app("game")["output"] == "hits"
    client.post("/v1/apps/game/tags", headers=OURS, json={"tags": ["x"]})  # what is kept next keeps the rule as well
    assert json.loads(bench.path.with_name("policy.state.json").read_text())["rules"] == {"game": "hits"}


@pytest.mark.parametrize("tags", [None, "work", [1], [""], ["a" * 41], [" x"], ["a\n"], ["a"] * 17])
def test_tags_are_a_few_short_words(bench: PageBench, tags: Any) -> None:
    assert bench.client().post("/v1/apps/game/tags", headers=OURS, json={"tags": tags}).status_code == 422


def test_an_export_holds_what_the_app_was_shown_and_no_more(bench: PageBench) -> None:
    client = bench.client()
    bench.look(*CANARY, count=40)
    bench.look(float("nan"), float("nan"))
    shown = [thing for thing in bench.shown["game"].things if isinstance(thing, VeiledSample)]
    answer = client.get("/v1/apps/game/received?format=json", headers=OURS)
    assert answer.headers["content-disposition"] == 'attachment; filename="game-received.json"'
    told = answer.json()["received"]
    assert [row["t"] for row in told] == [round(thing.t, 6) for thing in shown]
    assert [row["x"] for row in told[:40]] == [round(thing.x / 1920, 6) for thing in shown[:40]]
    rows = list(csv.DictReader(io.StringIO(client.get("/v1/apps/game/received", headers=OURS).text)))
    assert [float(row["y"]) for row in rows[:40]] == [row["y"] for row in told[:40]]
    assert client.get("/v1/apps/game/received?format=xml", headers=OURS).status_code == 422
    bench.client().post("/v1/trackers/desk/participant", headers=OURS, json={"participant": "bert"})
    assert client.get("/v1/apps/game/received?format=json", headers=OURS).json()["received"] == []


def test_a_looser_level_says_when_it_holds_and_a_stricter_one_holds_at_once(bench: PageBench) -> None:
    client = bench.client()
    bench.look(500, 500, 400)
    stricter = client.post("/v1/apps/dear/level", headers=OURS, json={"preset": "hplu"}).json()["level"]
    assert (stricter["preset"], stricter["weaker_in_s"], stricter["requested"]) == ("hplu", 0, None)
    bench.gateway.hub.set_level("dear", now=bench.now, epsilon="1.5")
    bench.look(500, 500, 1)
    looser = bench.gateway.app("dear")["level"]
    assert looser["preset"] is None
    assert 1.9 < looser["weaker_in_s"] <= 2.01  # a window of hplu
    assert looser["requested"] == {"epsilon": 1.5, "window_s": 2.0, "radius": 450.0}
    bench.look(500, 500, 201)
    assert bench.gateway.app("dear")["level"]["weaker_in_s"] == 0


# Raw gaze


def capability(bench: PageBench) -> str:
    return str(bench.client().post("/v1/trackers/desk/raw", headers=OURS).json()["capability"])


async def stream(bench: PageBench, **given: Any) -> tuple[int, bytes]:
    def look(n: int) -> None:
        bench.look(*CANARY, count=5)

    return await bench.live(4, look, **given)


def test_raw_gaze_is_in_no_answer_but_the_one_with_a_capability(bench: PageBench) -> None:
    async def run() -> tuple[bytes, bytes]:
        with_it = (await stream(bench, headers={"Gazeveil-Raw": capability(bench)}))[1]
        return with_it, (await stream(bench))[1]

    with_it, without = asyncio.run(run())
    assert SEEN.search(with_it.decode())
    assert b'"raw":[' in with_it
    assert not SEEN.search(without.decode())
    assert b'"raw":[' not in without
    assert b'"veiled":[[' in without
    client = bench.client()
    for method, path in asked():
        if path not in ("/v1/page/live", "/v1/policy/reload"):  # a stream, and what opens doors
            answer = client.request(method, path, headers=OURS)
            assert answer.status_code < 500, (method, path)
            assert not SEEN.search(answer.text), (method, path)
    assert not SEEN.search(bench.log.getvalue())


def test_apps_see_nothing_of_raw_gaze_while_a_page_looks_at_it(bench: PageBench) -> None:
    asyncio.run(stream(bench, headers={"Gazeveil-Raw": capability(bench)}))
    shown = [thing for thing in bench.shown["game"].things if isinstance(thing, VeiledSample)]
    assert len(shown) >= 15
    assert all(abs(thing.x - CANARY[0]) > 1e-3 for thing in shown)


@pytest.mark.parametrize(
    ("tracker", "waited", "uses", "why"),
    [("desk", 0.0, 2, "used"), ("lab", 0.0, 1, "something else"), ("desk", 30.0, 1, "too old")],
    ids=["twice", "for another tracker", "after 30 s"],
)
def test_a_capability_works_once_soon_and_for_its_tracker(
    bench: PageBench, tracker: str, waited: float, uses: int, why: str
) -> None:
    clock = [1000.0]
    page = bench.gateway.page
    page._capabilities._now = lambda: clock[0]
    shown = {"Gazeveil-Raw": capability(bench)}
    clock[0] += waited

    async def run() -> list[tuple[int, bytes]]:
        return [await stream(bench, headers=shown, tracker=tracker) for _ in range(uses)]

    *good, (status, body) = asyncio.run(run())
    assert all(each[0] == 200 for each in good)
    assert status == 409
    assert why in json.loads(body)["message"]
    assert not SEEN.search(body.decode())
    assert [line["tracker"] for line in bench.logged("raw view refused")] == [tracker]
    assert bench.gateway.hub.tracker_of(tracker).raw is None


def test_a_made_up_capability_is_refused(bench: PageBench) -> None:
    assert asyncio.run(stream(bench, headers={"Gazeveil-Raw": "x"}))[0] == 409
    assert asyncio.run(stream(bench, headers={"Gazeveil-Raw": ""}))[0] == 409


def test_without_raw_view_in_the_policy_there_is_no_capability(bench: PageBench) -> None:
    answer = bench.client().post("/v1/trackers/lab/raw", headers=OURS)
    assert answer.status_code == 409
    assert "raw_view" in answer.json()["hint"]
    assert bench.logged("raw view refused")[0]["tracker"] == "lab"
    assert bench.gateway.meters.control_refused["raw"] == 1


@pytest.mark.parametrize("passed_on", ["x-forwarded-for", "forwarded", "via", "x-real-ip"])
def test_raw_gaze_is_for_this_machine_alone(bench: PageBench, passed_on: str) -> None:
    assert bench.client("192.168.1.7").post("/v1/trackers/desk/raw", headers=OURS).status_code == 403
    proxied = {**OURS, passed_on: "127.0.0.1"}
    assert bench.client().post("/v1/trackers/desk/raw", headers=proxied).status_code == 403
    shown = {"Gazeveil-Raw": capability(bench)}
    assert asyncio.run(stream(bench, headers=shown, client="192.168.1.7"))[0] == 403
    assert asyncio.run(stream(bench, headers={**shown, passed_on: "127.0.0.1"}))[0] == 403
    assert bench.gateway.hub.tracker_of("desk").raw is None


def test_a_page_that_leaves_ends_the_view_and_everything_is_logged(bench: PageBench) -> None:
    during = []

    def look(n: int) -> None:
        during.append(bench.gateway.hub.tracker_of("desk").raw is not None)
        bench.look(*CANARY, count=5)

    asyncio.run(bench.live(3, look, headers={"Gazeveil-Raw": capability(bench)}))
    assert all(during)
    assert bench.gateway.hub.tracker_of("desk").raw is None
    for event in ("raw view granted", "raw view opened", "raw view closed"):
        assert [line["tracker"] for line in bench.logged(event)] == ["desk"]


@pytest.mark.parametrize("change", ["participant", "policy"])
def test_a_view_ends_when_the_participant_changes_or_the_policy_takes_it_back(bench: PageBench, change: str) -> None:
    marks: list[int] = []

    async def between(n: int) -> None:
        bench.look(*CANARY, count=5)
        if n == 3:
            if change == "participant":
                bench.gateway.set_participant("desk", "bert")
            else:
                bench.path.write_text(POLICY.replace("raw_view = true\n", ""))
                bench.gateway.hub.reload(read_policy(bench.path), bench.now)
            bench.look(*CANARY, count=5)
        marks.append(n)

    _, body = asyncio.run(bench.live(50, between, headers={"Gazeveil-Raw": capability(bench)}))
    assert len(body.splitlines()) == marks[-1] == 3
    assert bench.gateway.hub.tracker_of("desk").raw is None
    assert bench.logged("raw view closed")


def test_a_capability_in_the_address_is_refused_since_addresses_are_kept(bench: PageBench) -> None:
    answer = bench.client().get("/v1/page/live?tracker=desk&raw=x", headers=OURS)
    assert answer.status_code == 422
    assert "header" in answer.json()["hint"]


# Streams


def test_the_first_line_says_what_comes_and_points_are_shares_of_the_plane(bench: PageBench) -> None:
    _, body = asyncio.run(stream(bench))
    hello, *lines = map(json.loads, body.splitlines())
    assert hello["hello"]["plane"] == {"width": 1920.0, "height": 1080.0, "unit": "px"}
    assert sorted(hello["hello"]["apps"]) == ["dear", "game"]
    told = [point for line in lines for point in line["apps"]["game"]["veiled"]]
    shown = [thing for thing in bench.shown["game"].things if isinstance(thing, VeiledSample)][: len(told)]
    assert told == [[round(v.t, 4), round(v.x / 1920, 5), round(v.y / 1080, 5)] for v in shown]
    assert all(line["now"] >= line["apps"]["game"]["veiled"][-1][0] for line in lines)


def test_no_more_pages_look_on_than_are_allowed_and_a_full_house_uses_up_no_capability(bench: PageBench) -> None:
    page, shown = bench.gateway.page, capability(bench)
    asyncio.run(_with_others(bench, shown))
    assert not page.is_full


async def _with_others(bench: PageBench, shown: str) -> None:
    page = bench.gateway.page
    others = [page.open_view("desk", None) for _ in range(MOST_STREAMS)]
    assert (await stream(bench, headers={"Gazeveil-Raw": shown}))[0] == 429
    for other in others:
        page.close_view(other)
    assert (await stream(bench, headers={"Gazeveil-Raw": shown}))[0] == 200


def test_a_page_that_reads_slowly_loses_the_oldest_points_and_holds_nobody_up(bench: PageBench) -> None:
    async def run() -> dict[str, Any]:
        trails = bench.gateway.page.open_view("desk", None)
        bench.look(500, 500, 1000)
        line = trails.line(bench.now)
        bench.gateway.page.close_view(trails)
        assert line is not None
        return line

    told = asyncio.run(run())["apps"]["game"]["veiled"]
    shown = bench.shown["game"].things
    assert len(shown) == 1000
    assert [point[0] for point in told] == [round(thing.t, 4) for thing in shown[-256:]]


def test_streams_end_when_the_gateway_closes(bench: PageBench) -> None:
    async def between(n: int) -> None:
        bench.look(500, 500, 5)
        if n == 3:
            await bench.gateway.page.close()

    _, body = asyncio.run(bench.live(1000, between))
    assert len(body.splitlines()) == 3


def test_hits_are_told_by_name_and_missing_gaze_as_missing(bench: PageBench) -> None:
    async def run() -> dict[str, Any]:
        trails = bench.gateway.page.open_view("desk", None)
        bench.gateway.page.rule("game", "hits")
        bench.look(100, 500, 3)
        line = trails.line(bench.now)
        bench.gateway.page.close_view(trails)
        assert line is not None
        return line

    told = asyncio.run(run())["apps"]["game"]
    assert told["veiled"] == []
    assert [hit[1] for hit in told["hits"]] == ["left"]
    assert shares_of([(1.0, math.nan, math.nan)], lambda x, y: (x, y)) == [[1.0, None, None]]
