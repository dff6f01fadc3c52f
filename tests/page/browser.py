# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Debian's chromium without a window, and pages in it that remember what went wrong."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

NAMES = ("chromium", "chromium-browser", "google-chrome")


def chromium() -> str | None:
    """Return where a chromium is, None if there is none."""
    return next((found for name in NAMES if (found := shutil.which(name))), None)


@contextlib.contextmanager
def opened_browser() -> Iterator[Browser]:
    """Run a browser until the block ends."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        rights = ["--no-sandbox"] if os.geteuid() == 0 else []  # chromium's own sandbox does not work for root
        browser = driver.chromium.launch(executable_path=chromium(), args=rights)
        try:
            yield browser
        finally:
            browser.close()


@dataclass
class Seen:
    """What a page did.

    Attributes:
        errors: Errors in its console.
        hosts: Hosts that it asked, or tried to.
        paths: What it asked of them.
    """

    errors: list[str] = field(default_factory=list)
    hosts: set[str] = field(default_factory=set)
    paths: list[str] = field(default_factory=list)


@contextlib.contextmanager
def opened_page(browser: Browser, link: str | None = None, **given: Any) -> Iterator[tuple[Page, Seen]]:
    """Open a page in a context of its own; two pictures a second are enough for most tests."""
    given = {"viewport": {"width": 1100, "height": 800}, "color_scheme": "light", "reduced_motion": "reduce"} | given
    context = browser.new_context(**given)
    seen = Seen()
    context.on("console", lambda message: seen.errors.append(message.text) if message.type == "error" else None)
    context.on("weberror", lambda error: seen.errors.append(str(error.error)))

    def asked(url: str) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("blob", "data"):
            seen.hosts.add(parts.hostname or url)
            seen.paths.append(parts.path)

    context.on("request", lambda request: asked(request.url))
    page = context.new_page()
    page.on("websocket", lambda one: asked(one.url))
    page.set_default_timeout(45_000)
    try:
        if link is not None:
            page.goto(link)
            page.wait_for_selector("#rows tr")
        yield page, seen
    finally:
        context.close()
