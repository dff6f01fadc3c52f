# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The live trails as an answer that goes on: one JSON object a line, as long as the page reads them.

A page that reads slowly holds up this answer alone: what it missed is gone. One that stands still is cut off by the
server (`_control_server`).
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from typing import TYPE_CHECKING, Any, Final

from gazeveil.gateway._page_files import HEADERS
from gazeveil.gateway._page_trails import Trails
from gazeveil.gateway.page_side import PageSide

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

LINES_A_SECOND: Final = 30


class LiveAnswer:
    """An ASGI answer that sends a page's trails until the page is gone or the gateway closes."""

    def __init__(self, page: PageSide, trails: Trails) -> None:
        self._page, self._trails = page, trails

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send lines."""
        gone = asyncio.ensure_future(_gone(receive))
        try:
            headers = {**HEADERS, "Content-Type": "application/x-ndjson"}
            plain = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
            await send({"type": "http.response.start", "status": 200, "headers": plain})
            line: dict[str, Any] | None = self._trails.hello()
            while not (gone.done() or self._page.closing or self._trails.over):
                if line is not None:
                    text = json.dumps(line, allow_nan=False, separators=(",", ":")) + "\n"
                    await send({"type": "http.response.body", "body": text.encode(), "more_body": True})
                await asyncio.wait([gone], timeout=1 / LINES_A_SECOND)
                line = self._next()
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        finally:
            self._page.leave(self._trails)
            gone.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await gone

    def _next(self) -> dict[str, Any] | None:
        return None if self._trails.over else self._trails.line(time.monotonic())


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
