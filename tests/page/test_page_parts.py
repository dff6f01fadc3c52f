# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The page's own arithmetic, run where it runs: the slider's scale, the trails, live lines, and gazeveil.js."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.page.browser import opened_page
from tests.page.running import Running

pytestmark = pytest.mark.timeout(300)
PRESETS = [
    {"name": "hplu", "epsilon": 0.5, "window_s": 2, "radius": 450},
    {"name": "lphu", "epsilon": 3, "window_s": 0.5, "radius": 90},
    {"name": "mpmu", "epsilon": 1.5, "window_s": 1.5, "radius": 90},
]
LEVEL = {
    "preset": "mpmu", "epsilon": 1.5, "window_s": 1.5, "radius": 90, "unit": "px", "presets": PRESETS,
    "epsilon_at_most": 3, "window_at_least": 0.5, "radius_at_least": 90, "weaker_in_s": 0,
}  # fmt: skip
CONNECT = """(port) => new Promise(async (done) => {
  const { connect } = await import("/gazeveil.js");
  const seen = { samples: [], states: [] };
  const line = connect(`ws://127.0.0.1:${port}`, {
    hello: (hello) => (seen.guarantee = hello.guarantee),
    state: (state) => { seen.states.push(state); if (state === "closed") done(seen); },
    sample: (sample) => { if (seen.samples.push(sample) === 5) line.close(); },
  });
})"""


@pytest.fixture(scope="module")
def page(browser: Any, gateway: Running) -> Any:
    with opened_page(browser) as (found, _):
        found.goto(gateway.address)
        yield found


def test_the_slider_goes_through_all_presets_and_never_becomes_looser(page: Any) -> None:
    told = page.evaluate(
        """async (level) => {
          const { stopsOf, levelAt, positionOf, allowed, STEPS } = await import("/page/scale.js");
          const stops = stopsOf(level);
          const all = Array.from({ length: STEPS + 1 }, (_, i) => levelAt(i, stops));
          const parts = ["epsilon", "window_s", "radius"];
          return { stops, all, back: all.map((one) => positionOf(one, stops)),
            sent: all.map((one) => Object.fromEntries(parts.map((part) => [part, allowed(one[part], part, level)]))) };
        }""",
        LEVEL,
    )
    assert [one["name"] for one in told["stops"]] == ["lphu", "mpmu", "hplu"]
    assert [one["name"] for one in told["all"] if "name" in one] == ["lphu", "mpmu", "hplu"]
    assert told["back"] == list(range(101))
    for weaker, stricter in zip(told["sent"], told["sent"][1:], strict=False):
        assert stricter["epsilon"] <= weaker["epsilon"]
        assert stricter["window_s"] >= weaker["window_s"]
        assert stricter["radius"] >= weaker["radius"]
    for wanted, sent in zip(told["all"], told["sent"], strict=True):
        assert sent["epsilon"] <= wanted["epsilon"] * (1 + 1e-9)
        assert sent["window_s"] >= wanted["window_s"] * (1 - 1e-9)
        assert sent["radius"] >= wanted["radius"] * (1 - 1e-9)
    assert all(one["epsilon"] <= 3 and one["window_s"] >= 0.5 and one["radius"] >= 90 for one in told["sent"])


def test_a_policy_with_one_bound_and_no_presets_has_a_slider_for_that_value_alone(page: Any) -> None:
    level = {**LEVEL, "presets": [], "window_at_least": None, "radius_at_least": None}
    stops = page.evaluate("async (level) => (await import('/page/scale.js')).stopsOf(level)", level)
    assert [(one["epsilon"], one["window_s"], one["radius"]) for one in stops] == [(3, 1.5, 90), (0.3, 1.5, 90)]


def test_a_trail_never_grows_and_shows_gaps_and_heads(page: Any) -> None:
    told = page.evaluate(
        """async () => {
          const { Trail } = await import("/page/trail.js");
          const trail = new Trail();
          for (let i = 0; i < 5000; i++) trail.take([[i / 60, 0.25, i % 2 ? 0.5 : null]], i / 60);
          let [seen, lost] = [0, 0];
          trail.each(5000 / 60, 100, (age, x, y) => { seen++; lost += Number.isNaN(y) ? 1 : 0; });
          const batch = new Trail();
          batch.take([[0, 0.1, 0.1], [0.1, 0.2, 0.2], [0.2, 0.3, 0.3]], 10);
          const heads = [10, 10.1, 10.2, 10.3, 14].map((now) => batch.head(now)?.[0] ?? null);
          return { seen, lost, size: trail.size, heads };
        }"""
    )
    assert told["size"] == 1024
    assert 1000 < told["seen"] <= 1024
    assert abs(told["lost"] - told["seen"] / 2) <= 1
    assert told["heads"] == [None, *(pytest.approx(x) for x in (0.1, 0.2, 0.3)), None]


def test_what_the_gateway_sends_becomes_words_for_all_three_trails(browser: Any, gateway: Running) -> None:
    points = [[i / 60, 0.9, 0.1] for i in range(120)]
    moved = [[i / 60, 0.8, 0.1] for i in range(120)]
    lines = [
        {"hello": {"plane": {}, "apps": ["targets"], "undone_by": {"targets": "saccade-model"}, "raw": True}},
        {"now": 2.0, "raw": points, "apps": {"targets": {"veiled": moved, "undone": points}}},
    ]
    with opened_page(browser) as (page, _):
        body = "".join(json.dumps(line) + "\n" for line in lines)
        page.route("**/v1/page/live*", lambda route: route.fulfill(body=body, content_type="application/x-ndjson"))
        page.goto(gateway.link())
        page.wait_for_selector("#rows tr")
        page.locator("#veiled-summary").filter(has_text="now top right").wait_for()
        page.locator("#undone-summary").filter(has_text="Filter: saccade-model").wait_for()
        assert page.inner_text("#raw-summary") == "Not shown."


def test_a_demo_app_cannot_put_anything_but_text_into_the_page(browser: Any, gateway: Running) -> None:
    with opened_page(browser, gateway.link()) as (page, seen):
        demo_app = next(frame for frame in page.frames if "dwell" in frame.url)
        demo_app.evaluate(  # again and again: the demo app has a score of its own to tell
            "() => setInterval(() => parent.postMessage({ score: { columns: ['<img src=x>'],"
            "rows: [['<b>level</b>', '<i>7</i>'], ['x', 3]] } }, '*'), 20)"
        )
        shown = page.wait_for_function(
            "() => { const costs = document.querySelector('.costs');"
            " return costs.innerText.includes('<b>level</b>') && {"
            " made: costs.querySelectorAll('img, b, i').length,"
            " cells: [...costs.querySelectorAll('td')].map((cell) => cell.innerText) }; }"
        ).json_value()
        assert shown == {"made": 0, "cells": ["–", "3"]}
        reach = "() => { try { return String(parent.document); } catch { return 'kept out'; } }"
        assert demo_app.evaluate(reach) == "kept out"
        assert seen.errors == []


def test_the_client_gets_what_the_gateway_shows_an_app(page: Any, gateway: Running) -> None:
    told = page.evaluate(CONNECT, gateway.ports["targets"])
    assert told["states"] == ["connecting", "open", "closed"]
    assert "factor of at most" in told["guarantee"] or "ε" in told["guarantee"]
    assert [set(sample) for sample in told["samples"]] == [{"t", "x", "y", "unit", "valid"}] * 5


def test_a_status_from_before_the_choice_does_not_undo_it(browser: Any, gateway: Running) -> None:
    with opened_page(browser) as (page, _):
        page.goto(gateway.address)
        on = page.evaluate(
            """async () => {
              const { SourceChoice } = await import("/page/source.js");
              window.WebSocket = class { send() {} close() {} };
              const taken = { kind: "mouse", url: "ws://127.0.0.1:1", token: "" };
              window.fetch = async () => new Response(JSON.stringify(taken));
              const choice = new SourceChoice(() => "desk", () => {});
              await choice.choose("mouse");
              const old = { kind: "simulate", choices: ["simulate", "mouse"] };
              return [old, { ...old, kind: "mouse" }, old].map((one) => { choice.show(one); return choice.eye.on; });
            }"""
        )
        assert on == [True, True, False]
