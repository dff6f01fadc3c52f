# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Whether everybody can take part: axe's rules in light and dark, the keyboard alone, and German in German."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from gazeveil.lab.userstudy.design import FORMS, Step, UserStudy, read_user_study
from gazeveil.lab.userstudy.proposal import propose
from gazeveil.lab.userstudy.sessions import Sessions
from tests.lab.userstudy.running import reach, served
from tests.page.browser import Seen, chromium, opened_browser, opened_page

for package in ("playwright.sync_api", "starlette", "uvicorn"):
    pytest.importorskip(package)
axe = pytest.importorskip("axe_playwright_python.sync_playwright")
pytestmark = [pytest.mark.skipif(chromium() is None, reason="no browser"), pytest.mark.timeout(300)]

RULES = {"resultTypes": ["violations"], "runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]}
CONTRAST = {"resultTypes": ["violations"], "runOnly": ["color-contrast"]}
FOCUS = "() => document.activeElement.name || document.activeElement.tagName"


@dataclass
class Place:
    """A study that is served, and a browser in front of it."""

    study: UserStudy
    link: str
    browser: Any

    def session(self, who: str, language: str, reached: Callable[[Step], bool]) -> None:
        """Let somebody have done everything before a step."""
        reach(self.study, who, language, reached)

    @contextlib.contextmanager
    def opened(self, who: str = "", **given: Any) -> Iterator[tuple[Any, Seen]]:
        """Open the study's first page; it must ask nobody else and write no errors."""
        with opened_page(self.browser, **given) as (page, seen):
            page.goto(f"{self.link}?participant={who}")
            page.wait_for_selector("form")
            yield page, seen
            assert seen.hosts == {"127.0.0.1"}
            assert seen.errors == []


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """Serve a study in which every form is asked for once; there is no gateway, and nothing that sends gaze."""
    folder = tmp_path_factory.mktemp("study")
    propose(folder, "A game")
    text = (folder / "userstudy.toml").read_text()
    every = ", ".join(f'"{name}"' for name in FORMS)
    text = text.replace('["sysuse", "comfort"] ', "[]").replace('["privacy", "open"]', f"[{every}]")
    (folder / "userstudy.toml").write_text(text)
    study = read_user_study(folder / "userstudy.toml")
    assert study.last_forms == tuple(FORMS)
    with served(study) as link, opened_browser() as browser:
        yield Place(study, link, browser)


def violations(page: Any) -> list[str]:
    """Return what axe finds: all rules in light, and contrast once more in dark, where nothing else differs."""
    found = []
    for look, rules in (("light", RULES), ("dark", CONTRAST)):
        page.emulate_media(color_scheme=look)
        if not page.evaluate("() => 'axe' in window"):
            page.evaluate(axe.Axe().axe_script)
        wrong = page.evaluate("async (rules) => (await axe.run(rules)).violations", rules)
        found += [f"{look}: {one['id']}: {[node['target'] for node in one['nodes']]}" for one in wrong]
    return found


def go_on(page: Any) -> None:
    """Agree, and be where one was."""
    page.check("[name=agreed]")
    page.click("button[type=submit]")
    page.wait_for_function("() => document.body.dataset.step")


def test_axe_finds_nothing_on_any_page(place: Place) -> None:
    found = {}
    with place.opened() as (page, _):
        found["welcome"] = violations(page)
        page.fill("[name=participant]", "axe")
        page.click("button[type=submit]")
        assert "Tick the box" in page.inner_text("[role=alert]")
        found["not agreed"] = violations(page)
        page.click("button[type=button]")
        page.wait_for_selector("h1:text-is('Thank you.')")
        found["declined"] = violations(page)
    place.session("axe", "en", lambda step: step.kind == "pause")
    with place.opened("axe") as (page, _):
        go_on(page)
        page.wait_for_selector("h1:text-is('A break')")
        found["pause"] = violations(page)
    place.session("axe", "en", lambda step: step.kind == "form")
    with place.opened("axe") as (page, _):
        go_on(page)
        for name, form in FORMS.items():
            page.wait_for_selector(f"h1:text-is('{form.title}')")
            page.wait_for_selector(f".source span:text-is('{form.source}')")
            found[name] = violations(page)
            fill(page)
            page.click("button[type=submit]")
        page.wait_for_selector("h1:text-is('Thank you!')")
        found["done"] = violations(page)
    assert {name: wrong for name, wrong in found.items() if wrong} == {}
    assert len(found) == 5 + len(FORMS)


def fill(page: Any) -> None:
    page.evaluate("for (const one of document.querySelectorAll('fieldset')) one.querySelector('input').checked = true")


def test_the_game_that_waits_for_gaze_says_so(place: Place) -> None:
    place.session("waits", "de", lambda step: step.kind == "free")
    with opened_page(place.browser) as (page, _):  # there is no gateway to connect to: the console says so
        page.goto(f"{place.link}?participant=waits")
        go_on(page)
        page.keyboard.press("Enter")
        page.wait_for_selector("[role=status]:has-text('Warte auf den Blick')")
        assert page.get_attribute("#field", "aria-label") == "Das Spiel"
        assert violations(page) == []


def test_the_keyboard_alone_is_enough_from_the_first_page_to_the_end_of_a_form(place: Place) -> None:
    place.session("keys", "en", lambda step: step.details.get("form") == "sus")
    with place.opened("keys") as (page, _):
        keys = page.keyboard
        for wanted in ("language", "participant", "agreed"):
            keys.press("Tab")
            assert page.evaluate(FOCUS) == wanted
        keys.press("Space")
        keys.press("Tab")
        keys.press("Enter")
        page.wait_for_selector("fieldset")
        assert page.evaluate(FOCUS) == "H1"  # so that a screen reader begins there
        for number in range(10):
            keys.press("Tab")
            assert page.evaluate(FOCUS) == f"item-{number}"
            if number == 4:
                continue
            keys.press("Space")
            for _ in range(number % 5):
                keys.press("ArrowRight")
        keys.press("Tab")
        keys.press("Enter")
        assert page.inner_text("[role=alert]") == "Please answer item 5."
        assert page.evaluate(FOCUS) == "item-4"
        assert page.get_attribute("fieldset:nth-of-type(5)", "aria-describedby") == "complaint"
        keys.press("Space")
        for _ in range(6):
            keys.press("Tab")
        keys.press("Enter")
        page.wait_for_function("() => !document.querySelector('[name=item-9]')")
    session = Sessions(place.study).find("keys")
    assert session is not None
    (kept,) = [line["data"]["answers"] for line in session.done.values() if line.get("form") == "sus"]
    assert kept == [1, 2, 3, 4, 1, 1, 2, 3, 4, 5]


def test_german_is_german_and_published_items_stay_english(place: Place) -> None:
    place.session("anna", "de", lambda step: step.kind == "form")
    with place.opened("anna") as (page, _):
        page.select_option("[name=language]", "de")
        assert page.get_attribute("html", "lang") == "de"
        assert "willigen" in page.inner_text(".consent")
        page.select_option("[name=language]", "en")  # whoever goes on does so in the language in which they began
        go_on(page)
        for form in FORMS.values():
            page.wait_for_selector(f"h1:text-is('{form.german_title}')")
            page.wait_for_selector(f".source span:text-is('{form.source}')")
            assert page.get_attribute("html", "lang") == "de"
            inside = page.inner_text("form > div")
            language = page.get_attribute("form > div", "lang")
            assert language == ("de" if form.german else "en")
            assert all(item in inside for item in form.german or form.items)
            assert ("strongly" in inside or "very low" in inside) == (language == "en")
            assert page.inner_text("button") == "Weiter"
            if form.optional:
                assert page.get_attribute("label:has-text('entfällt')", "lang") == "de"
            fill(page)
            page.click("button[type=submit]")
        page.wait_for_selector("h1:text-is('Vielen Dank!')")


def test_what_a_server_that_is_away_means_is_said_and_nothing_is_lost(place: Place) -> None:
    place.session("away", "en", lambda step: step.kind == "pause")
    with opened_page(place.browser) as (page, _):
        page.goto(f"{place.link}?participant=away")
        go_on(page)
        page.route("**/api/done", lambda route: route.abort())
        page.keyboard.press("Enter")
        page.wait_for_selector("[role=status]:has-text('No answer')")
        page.unroute("**/api/done")
        page.wait_for_selector("h1:text-is('Practice')")
        assert page.inner_text("#away") == ""
