# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""One browser and one gateway for all tests of a file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from tests.page.browser import Seen, chromium, opened_browser, opened_page
from tests.page.running import Running, running

playwright = pytest.importorskip("playwright.sync_api")
Opened = tuple[Any, Seen]
Open = Callable[..., Opened]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    if chromium() is None:
        pytest.skip("no browser")
    with opened_browser() as found:
        yield found


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running(tmp_path_factory.mktemp("gateway")) as found:
        yield found


@pytest.fixture
def opened(browser: Any, gateway: Running) -> Iterator[Open]:
    """Open the page through a link; its test fails if it asked another host or wrote an error but ``refused``."""
    with ExitStack() as kept:
        every: list[tuple[Seen, str]] = []

        def open_page(*, refused: str = "none", **given: Any) -> Opened:
            page, seen = kept.enter_context(opened_page(browser, gateway.link(), **given))
            every.append((seen, f"the server responded with a status of {refused}"))
            return page, seen

        yield open_page
        for seen, expected in every:
            assert [one for one in seen.errors if expected not in one] == []
            assert seen.hosts == {"127.0.0.1"}
