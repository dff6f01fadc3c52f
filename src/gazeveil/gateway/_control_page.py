# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The routes of the page itself: its files, the link that opens it, and its session; and the module for other pages."""

from __future__ import annotations

from importlib import resources
from typing import TYPE_CHECKING, Final

from gazeveil.gateway._control_guard import Guard, only, refusal
from gazeveil.gateway._page_files import HEADERS, INDEX, PageFiles
from gazeveil.gateway._page_keys import LINK_S, Keys, Tries

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import Route

    from gazeveil.gateway.control import Controlled


MODULE: Final = "gazeveil.js"
"""What web pages use gaze with. A page of another port of this machine may import it, so it needs leave to read it."""


def link_to(origin: str, links: Keys) -> str:
    """Return a new link to the page; the fragment stays in the browser, so no server, log or referrer sees the key."""
    return f"{origin}/#key={links.make()}"


def page_routes(guard: Guard, gateway: Controlled, links: Keys) -> list[Route]:
    """Return the routes of the page.

    Args:
        guard: What stands before them.
        gateway: Is told of wrong keys.
        links: Where the keys of links are kept.
    """
    from starlette.responses import JSONResponse  # noqa: PLC0415
    from starlette.routing import Route  # noqa: PLC0415

    files, tries = PageFiles(), Tries()
    web = PageFiles(resources.files("gazeveil.gateway").joinpath("web"))

    async def file(request: Request) -> Response:
        return files.answer(request.path_params.get("file", INDEX))

    async def module(request: Request) -> Response:
        found = web.answer(MODULE)
        found.headers["Vary"] = "Origin"
        if origin := request.headers.get("origin"):
            found.headers["Access-Control-Allow-Origin"] = origin
        return found

    async def link(request: Request) -> Response:
        await only(request)
        url = link_to(f"{request.url.scheme}://{request.headers['host']}", links)
        return JSONResponse({"url": url, "lasts_s": LINK_S}, headers=HEADERS)

    async def session(request: Request) -> Response:
        if wait := tries.wait_s:
            return refusal(429, "too many wrong keys", f"try again in {wait:.0f} s", {"Retry-After": f"{wait:.0f}"})
        key = (await only(request, "key")).get("key")
        if not isinstance(key, str) or not links.take(key):
            tries.wrong()
            gateway.refused("key", "")
            why = "this link was used, is too old, or is from before a restart of the gateway"
            return refusal(403, why, "gazeveil page POLICY makes a new one")
        return JSONResponse({"token": guard.sessions.make()}, headers=HEADERS)

    return [
        Route("/", guard.anybody(file)),
        Route("/page/{file}", guard.anybody(file)),
        Route(f"/{MODULE}", guard.local_page(module)),
        Route("/v1/page/link", guard.owner(link), methods=["POST"]),
        Route("/v1/page/session", guard.anybody(session), methods=["POST"]),
    ]
