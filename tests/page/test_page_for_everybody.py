# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Whether everybody can use the control page: axe's rules in light, dark and at a phone's width; the keyboard alone."""

from __future__ import annotations

from typing import Any

import pytest

from tests.page.browser import opened_page
from tests.page.conftest import Open
from tests.page.running import Running

axe = pytest.importorskip("axe_playwright_python.sync_playwright")
pytestmark = pytest.mark.timeout(300)

RULES = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]}
LOOKS: dict[str, dict[str, Any]] = {
    "light": {},
    "dark": {"color_scheme": "dark"},
    "phone": {"viewport": {"width": 320, "height": 700}, "has_touch": True},
}
REACHED = """() => {
  const visible = (node) => node.checkVisibility() && !node.disabled && node.tabIndex >= 0;
  const wanted = [...document.querySelectorAll("a[href], button, input, select, summary, pre[tabindex]")];
  const one = wanted.filter(visible).filter((node) => node.type !== "radio" || node.checked);
  return one.map((node) => node.id || node.outerHTML.slice(0, 90));
}"""
FOCUS = "() => document.activeElement.id || document.activeElement.outerHTML.slice(0, 90)"


def violations(page: Any, within: str | None = None) -> list[str]:
    found = axe.Axe().run(page, within, RULES).response["violations"]
    return [f"{one['id']}: {[node['target'] for node in one['nodes']]}" for one in found]


@pytest.mark.parametrize("look", LOOKS)
def test_axe_finds_no_violation(browser: Any, gateway: Running, look: str) -> None:
    with opened_page(browser, gateway.link(), **LOOKS[look]) as (page, _):
        assert violations(page) == []
        page.click("#source-choices label:has-text('Mouse')")
        page.wait_for_selector(".eye")
        assert violations(page, "#stage") == []
        page.click("#source-choices label:has-text('Simulated')")
        page.click("#level-presets label:has-text('Strong')")
        page.click("#open-guide")
        page.wait_for_selector("#guide h3")
        for title in ("Which tracker", "Whose gaze", "Which app", "How private", "Your policy"):
            page.wait_for_selector(f"#guide h3:has-text('{title}')")
            if look == "light" or title == "How private":
                assert violations(page, "#guide") == []
            if title != "Your policy":
                page.click("#guide-next")
        page.keyboard.press("Escape")
        page.evaluate("sessionStorage.clear()")
        page.reload()
        page.wait_for_selector("#locked:not([hidden])")
        assert violations(page) == []


def test_a_phone_needs_no_sideways_scrolling(opened: Open) -> None:
    page, _ = opened(**LOOKS["phone"])
    for _ in range(2):
        assert page.evaluate("document.documentElement.scrollWidth") <= 320
        page.click("#open-guide")
        page.wait_for_selector("#guide h3")
        assert page.evaluate("document.getElementById('guide').scrollWidth") <= 320
        page.keyboard.press("Escape")


def test_the_keyboard_reaches_everything_and_can_use_it(opened: Open) -> None:
    page, _ = opened()
    page.click("#rows button:text-is('study')")
    page.click("#level-exact summary")
    page.evaluate("document.activeElement.blur(); scrollTo(0, 0)")
    wanted, reached = set(page.evaluate(REACHED)), set()
    page.evaluate(f"window.reached = []; addEventListener('focusin', () => window.reached.push(({FOCUS})()))")
    for _ in range(4):
        for _ in range(len(wanted)):
            page.keyboard.press("Tab")
        reached = set(page.evaluate("window.reached"))
        if wanted <= reached:
            break
    assert wanted - reached == set()

    page.focus("[aria-label='Pause game']")
    page.keyboard.press("Enter")
    page.wait_for_selector("[aria-label='Resume game']")
    page.keyboard.press("Enter")
    page.wait_for_selector("[aria-label='Pause game']")
    page.focus("#open-guide")
    page.keyboard.press("Enter")
    page.wait_for_selector("#guide h3")
    page.keyboard.press("Escape")
    page.wait_for_function("() => !document.getElementById('guide').open")
    assert page.evaluate(FOCUS) == "open-guide"


def test_what_has_the_focus_can_be_seen(opened: Open) -> None:
    page, _ = opened()
    for _ in range(12):
        page.keyboard.press("Tab")
        outline = page.evaluate(
            "() => { const at = document.activeElement; const label = at.closest('label');"
            "return [at, label].filter(Boolean).map((node) => getComputedStyle(node).outlineStyle); }"
        )
        assert "solid" in outline


def test_live_regions_do_not_chatter_and_pictures_have_words(opened: Open) -> None:
    page, _ = opened()
    page.evaluate(
        "() => { window.said = 0; const loud = '[role=status], [role=alert], [aria-live=polite]';"
        "for (const node of document.querySelectorAll(loud)) new MutationObserver(() => window.said++)"
        ".observe(node, { childList: true, characterData: true, subtree: true }); }"
    )
    for _ in range(3):
        with page.expect_response("**/v1/status"):
            pass
    assert page.evaluate("window.said") <= 1
    for canvas in page.query_selector_all(".panel canvas"):
        assert canvas.get_attribute("aria-label")
        assert page.inner_text(f"#{canvas.get_attribute('aria-describedby')}")


COUNTED = """() => new Promise((done) => {
  let drawn = 0;
  const clear = CanvasRenderingContext2D.prototype.clearRect;
  CanvasRenderingContext2D.prototype.clearRect = function (...all) {
    drawn += this.canvas.closest(".panel") ? 1 / 3 : 0;
    clear.apply(this, all);
  };
  setTimeout(() => done(drawn), 2000);
})"""


def test_people_who_asked_for_less_motion_get_two_pictures_a_second_others_more(opened: Open) -> None:
    page, _ = opened(reduced_motion="reduce")
    assert page.evaluate(COUNTED) <= 6
    page, _ = opened(reduced_motion="no-preference")
    page.wait_for_function(f"async () => await ({COUNTED})() > 6")
    page.click("#freeze")
    assert page.evaluate(COUNTED) == 0


def test_the_colours_can_be_chosen(opened: Open) -> None:
    page, _ = opened()
    light = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.select_option("#theme", "dark")
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.reload()
    page.wait_for_selector("#rows tr")
    assert light != dark
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == dark
