# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The control page of a running gateway, driven in a real browser: what it shows, and what it changes."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.page.browser import opened_page
from tests.page.conftest import Open
from tests.page.listener import Listener, listening
from tests.page.running import Running

pytestmark = pytest.mark.timeout(300)
PATIENCE_MS = 30_000
INK = """() => {
  const canvas = document.querySelector("[data-kind=raw] canvas");
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  return data.reduce((sum, one) => sum + one, 0);
}"""
"""How much is drawn on the picture of raw gaze."""


@pytest.fixture(scope="module")
def app(gateway: Running) -> Iterator[Listener]:
    """An app that listens all the time, so that the veil need not begin anew for each test."""
    with listening(gateway.ports["targets"]) as found:
        yield found


def says(page: Any, words: str, *, within: str) -> None:
    """Wait until a part of the page says something."""
    page.locator(within).filter(has_text=words).first.wait_for(timeout=PATIENCE_MS)


def until(page: Any, condition: str, argument: Any = None) -> None:
    page.wait_for_function(condition, arg=argument, timeout=PATIENCE_MS)


def identified(page: Any) -> int:
    found = re.match(
        r"(\d+) in 100 attempts, 95 % interval (\d+) to (\d+)\. Guessing: (\d+)", page.inner_text("#gauge-words")
    )
    assert found is not None
    share, low, high, chance = (int(one) for one in found.groups())
    assert low <= share <= high
    assert page.text_content(".gauge-number") == str(share)
    assert chance < share
    return share


LEAP = 0.01
"""A share of the screen: further than a filtered point moves between releases."""


def left(page: Any, name: str) -> float:
    text = page.inner_text(f"#rows tr:has(button:text-is('{name}')) .left")
    return float(re.search(r"ε ([\d,]+)", text).group(1).replace(",", ""))  # type: ignore[union-attr]


def test_a_stricter_level_changes_the_stream_and_statement_gauge_and_budget_follow(
    opened: Open, gateway: Running, app: Listener
) -> None:
    page, _ = opened()
    page.click("#rows button:text-is('targets')")
    says(page, "0.5 seconds", within="#guarantee-words")
    until(page, "() => document.querySelector('#rows .left').innerText.includes(' of ')")
    before, spent = identified(page), left(page, "targets")
    app.hear(270)
    fast = app.steps(240)
    page.check("#level-presets input[value=hplu]", force=True)
    says(page, "Holds now", within="#level-when")
    says(page, "450 px", within="#guarantee-words")
    says(page, "2 seconds", within="#guarantee-words")
    assert identified(page) < before
    assert gateway.app("targets")["level"]["preset"] == "hplu"
    app.hear(270)
    slow = app.steps(240)
    assert np.isfinite(slow).all()
    assert (slow > LEAP).sum() < (fast > LEAP).sum(), "a fourth of the releases, so fewer leaps"
    page.locator("#rows .left").first.filter(has_not_text=f"{spent:,.0f} of").wait_for(timeout=PATIENCE_MS)
    assert left(page, "targets") < spent
    page.check("#level-presets input[value=lphu]", force=True)
    says(page, "holds from", within="#level-when")
    says(page, "Holds now.", within="#level-when")
    assert gateway.app("targets")["level"]["preset"] == "lphu"


def test_the_slider_reaches_everything_between_the_presets(opened: Open, gateway: Running) -> None:
    page, _ = opened(refused="409")
    page.click("#rows button:text-is('study')")
    page.focus("#level-slider")
    for _ in range(5):
        page.keyboard.press("ArrowRight")
    says(page, "Holds now", within="#level-when")
    level = gateway.app("study")["level"]
    assert level["preset"] is None
    assert 0.5 < level["epsilon"] < 1.5
    assert 1.5 < level["window_s"] < 2
    assert 60 < level["radius"] < 300
    page.click("#level-exact summary")
    page.fill("#level-epsilon", "0.75")
    page.fill("#level-window", "1.75")
    page.fill("#level-radius", "200")
    page.press("#level-radius", "Enter")
    says(page, "ε 0.75 for any 1.75 s, up to 200 px", within="#level-reading")
    page.fill("#level-epsilon", "4")
    page.click("#level-use")
    says(page, "epsilon_at_most", within="#level-problem")
    assert gateway.app("study")["level"]["epsilon"] == 0.75


def test_a_mechanism_without_a_guarantee_or_a_measurement_says_so(opened: Open) -> None:
    page, _ = opened()
    page.click("#rows button:text-is('heat')")
    says(page, "heat", within="#detail-title")
    assert page.get_attribute(".guarantee", "data-proven") == "no"
    assert "no guarantee" in page.inner_text("#rows tr:has(button:text-is('heat'))")


def test_without_a_token_nothing_is_shown(browser: Any, gateway: Running) -> None:
    with opened_page(browser) as (page, seen):
        page.goto(gateway.address)
        page.wait_for_selector("#locked:not([hidden])")
        assert not page.is_visible("#open")
        assert not [path for path in seen.paths if path.startswith("/v1/")]
        page.fill("#locked-link", "http://127.0.0.1:1/#key=wrong")
        page.click("#locked-form button")
        says(page, "used or is too old", within="#locked")
        page.evaluate("sessionStorage.setItem('gazeveil-token', 'made-up')")
        page.reload()
        page.wait_for_selector("#locked:not([hidden])")
        assert not page.is_visible("#open")
        assert "anna" not in page.content()
        assert page.locator("#rows tr").count() == 0


def test_a_link_opens_one_page_and_leaves_no_trace_in_the_address(browser: Any, gateway: Running) -> None:
    link = gateway.link()
    with opened_page(browser, link) as (page, _):
        assert page.url == gateway.address
    with opened_page(browser) as (page, _):
        page.goto(link)
        says(page, "used or is too old", within="#locked")


def test_raw_gaze_is_off_until_asked_for(opened: Open, app: Listener) -> None:
    page, _ = opened()
    assert page.inner_text("#raw-toggle") == "Show raw gaze"
    assert "No app gets it" in page.inner_text("#raw-who")
    says(page, "points per second", within="#veiled-summary")
    assert page.inner_text("#raw-summary") == "Not shown."
    page.click("#raw-toggle")
    says(page, "points per second", within="#raw-summary")
    says(page, "off by", within="#veiled-summary")
    page.click("#freeze")
    page.click("#raw-toggle")
    page.wait_for_selector("#raw-toggle:text-is('Show raw gaze')")
    assert page.evaluate(INK) == 0
    page.click("#freeze")
    says(page, "Not shown.", within="#raw-summary")


def test_the_mouse_is_an_eye_and_the_demo_app_learns_of_it_from_veiled_gaze_alone(
    opened: Open, gateway: Running, app: Listener
) -> None:
    page, _ = opened()
    demo_app = next(frame for frame in page.frames if "dwell" in frame.url)
    demo_app.evaluate("() => { window.moves = 0; addEventListener('pointermove', () => window.moves++); }")
    page.check("#source-choices input[value=mouse]", force=True)
    says(page, "The pointer is an eye now", within="#source-words")
    assert gateway.ask("v1/status")["trackers"][0]["source"]["kind"] == "mouse"
    box = page.locator(".demo-app-box").first
    box.scroll_into_view_if_needed()
    place = box.bounding_box()
    for turn in range(60):
        page.mouse.move(place["x"] + place["width"] * (0.2 + 0.01 * turn), place["y"] + place["height"] / 2)
        page.wait_for_timeout(60)
    demo_app.wait_for_function("() => !document.getElementById('marker').hidden")
    assert demo_app.evaluate("window.moves") == 0
    page.check("#source-choices input[value=simulate]", force=True)
    until(page, "() => document.querySelectorAll('.eye').length === 0")


def test_the_arrow_keys_are_an_eye_too(opened: Open, app: Listener) -> None:
    page, _ = opened()
    page.check("#source-choices input[value=mouse]", force=True)
    says(page, "The pointer is an eye now", within="#source-words")
    page.evaluate(
        "() => { const send = WebSocket.prototype.send; window.sent = [];"
        "WebSocket.prototype.send = function (text) { window.sent.push(text); send.call(this, text); }; }"
    )
    page.focus(".panel[data-kind=veiled] .eye")
    for _ in range(3):
        page.keyboard.press("Shift+ArrowRight")
    until(page, "() => window.sent.length > 5")
    sent = page.evaluate("window.sent")
    assert '"x":0.8' in sent[-1]
    assert '"y":0.5' in sent[-1]
    page.check("#source-choices input[value=simulate]", force=True)


def test_a_rule_gives_an_app_fixations_only(opened: Open, gateway: Running, app: Listener) -> None:
    page, _ = opened()
    page.click("#rows button:text-is('targets')")
    page.select_option("#rule", "fixations")
    says(page, "fixations only", within="#rows tr:has(button:text-is('targets'))")
    assert gateway.app("targets")["output"] == "fixations"
    heard = len(app.heard)
    gateway.veiled(150)
    assert not [one for one in app.messages[heard + 5 :] if one.get("valid")]
    page.select_option("#rule", "samples")
    says(page, "every point", within="#rows tr:has(button:text-is('targets'))")


def test_apps_are_paused_tagged_found_and_exported(
    opened: Open, gateway: Running, app: Listener, tmp_path: Path
) -> None:
    page, _ = opened()
    page.click("[aria-label='Pause game']")
    says(page, "Paused", within="#rows tr:has(button:text-is('game'))")
    assert gateway.app("game")["state"] == "off"
    page.select_option("#filter", "off")
    assert page.locator("#rows tr:visible").count() == 1
    page.click("[aria-label='Resume game']")
    says(page, "No app matches", within="#apps")
    page.select_option("#filter", "all")
    page.click("#rows button:text-is('targets')")
    page.fill("#tags-field", "living room, trusted")
    page.click("#tags-form button")
    says(page, "trusted", within="#rows tr:has(button:text-is('targets'))")
    page.fill("#search", "LIVING")
    assert page.locator("#rows tr:visible").count() == 1
    page.fill("#search", "")
    with page.expect_download() as download:
        page.click("#export-csv")
    download.value.save_as(tmp_path / "received.csv")
    header, *rows = (tmp_path / "received.csv").read_text().splitlines()
    assert "x" in header
    assert len(rows) > 10


def test_the_guide_ends_in_a_policy_that_passes_the_check(opened: Open, tmp_path: Path) -> None:
    page, _ = opened()
    page.click("#open-guide")
    page.wait_for_selector("#guide h3:has-text('Which tracker')")
    page.fill("#guide-tracker", "")
    page.click("#guide-next")
    says(page, "Give the tracker a name", within="#guide-problem")
    page.fill("#guide-tracker", "desk")
    for title in ("Whose gaze", "Which app", "How private", "Your policy"):
        page.click("#guide-next")
        page.wait_for_selector(f"#guide h3:has-text('{title}')")
    with page.expect_download() as download:
        page.click("#guide-next")
    assert download.value.suggested_filename == "policy.toml"
    download.value.save_as(tmp_path / "policy.toml")
    done = subprocess.run(
        [sys.executable, "-m", "gazeveil", "policy", "check", str(tmp_path / "policy.toml")],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "participant-1" in done.stdout


def test_a_gateway_that_is_killed_and_started_again_is_missed_and_found(
    browser: Any, gateway: Running, app: Listener
) -> None:
    with opened_page(browser, gateway.link()) as (page, seen):
        gateway.kill()
        says(page, "does not answer", within="#banner")
        says(page, "Next try in", within="#banner")
        assert page.inner_text("#connection-words") == "Gateway gone"
        gateway.start()
        until(page, "() => document.getElementById('banner').hidden")
        says(page, "Gateway runs", within="#connection")
        says(page, "points per second", within="#veiled-summary")
        killed = ("ERR_", "closed before receiving a handshake")  # what a browser says of a server that is killed
        assert not [one for one in seen.errors if not any(each in one for each in killed)]
