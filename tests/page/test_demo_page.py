# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""``gazeveil serve --demo`` in a real browser: one link, and everything is there to play with."""

from __future__ import annotations

import contextlib
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from tests.page.browser import opened_page

pytestmark = pytest.mark.timeout(300)
PATIENCE_MS = 60_000


@contextlib.contextmanager
def demo() -> Iterator[str]:
    """Run the demo until the block ends; gives its link."""
    command = [sys.executable, "-m", "gazeveil", "serve", "--demo", "--no-open"]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield next(found[0] for line in process.stdout if (found := re.search(r"http://\S+#key=\S+", line)))
        finally:
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=60)


def test_one_link_opens_a_page_to_play_with(browser: Any) -> None:
    with demo() as link, opened_page(browser, link) as (page, seen):
        assert "made up" in page.inner_text("#demo")
        page.locator("#veiled-summary").filter(has_text="points per second").wait_for(timeout=PATIENCE_MS)
        page.click("#source-choices label:has-text('Mouse')")
        page.locator("#source-words").filter(has_text="The pointer is an eye now").wait_for(timeout=PATIENCE_MS)
        page.select_option("#rule", "hits")
        page.locator("#rows tr").first.filter(has_text="hits only").wait_for(timeout=PATIENCE_MS)
        demo_app = next(frame for frame in page.frames if "dwell" in frame.url)
        box = page.locator(".demo-app-box").first
        box.scroll_into_view_if_needed()
        place = box.bounding_box()
        said: set[str] = set()
        assert place is not None
        for turn in range(200):
            x, y = (1 + 2 * (turn // 20 % 3)) / 6, 0.29 * (0.5 + turn // 60 % 3)
            page.mouse.move(place["x"] + place["width"] * x, place["y"] + place["height"] * y)
            said.add(demo_app.inner_text("#said"))
            if any("Only hits come: area" in one for one in said):
                break
            page.wait_for_timeout(150)
        else:
            raise AssertionError(said)
        assert demo_app.locator("#marker").is_hidden()
        assert seen.errors == []
        assert seen.hosts == {"127.0.0.1"}
