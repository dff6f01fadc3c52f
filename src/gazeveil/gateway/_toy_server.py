# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Two toy apps, which show what a veil costs an app: static pages on a port, and so an origin, of their own.

A toy plays the untrusted app. It gets its gaze from its app's WebSocket like any other, and cannot reach the control
API: another origin, and a policy for the browser that lets it open nothing but WebSockets to this machine.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import resources
from typing import TYPE_CHECKING, Any, Final

from gazeveil.gateway._page_files import PageFiles
from gazeveil.gateway.control import LocalServer
from gazeveil.gateway.policy import LOOPBACK, TOYS, Policy

if TYPE_CHECKING:
    from gazeveil.gateway._hub_seat import Door

HEADERS: Final = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
        "connect-src ws://127.0.0.1:* ws://localhost:*; base-uri 'none'; form-action 'none'; "
        "frame-ancestors http://127.0.0.1:* http://localhost:*"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
    "Cache-Control": "no-store",
}


class ToyServer(LocalServer):
    """The toys on a socket of their own, in the running loop."""

    def __init__(self, port: int, host: str = LOOPBACK) -> None:
        super().__init__(toy_app, port, host, "the toy apps")

    def told(self, policy: Policy, outlets: Mapping[str, Door]) -> list[dict[str, str]]:
        """Return the toys of a policy: whose they are, and where they are opened."""
        return [
            {
                "app": app.name,
                "title": TOYS[app.toy],
                "url": f"http://{LOOPBACK}:{self.port}/{app.toy}.html?ws=ws://{LOOPBACK}:{outlets[app.name].port}",
            }
            for app in policy.apps
            if app.toy and app.name in outlets
        ]


def toy_app(hosts: frozenset[str]) -> Any:
    """Return the toys as an ASGI application; ``hosts`` are the ``Host`` headers that are taken, with port."""
    from starlette.applications import Starlette  # noqa: PLC0415
    from starlette.responses import PlainTextResponse  # noqa: PLC0415
    from starlette.routing import Route  # noqa: PLC0415

    kept = PageFiles(resources.files("gazeveil.gateway").joinpath("toys"), HEADERS)

    async def file(request: Any) -> Any:
        name = request.path_params["file"]
        if request.headers.get("host", "").lower() not in hosts:
            return PlainTextResponse("this host name is not the toys'", 403, headers=HEADERS)
        return kept.answer(name) if name in kept else PlainTextResponse("nothing there", 404, headers=HEADERS)

    return Starlette(routes=[Route("/{file}", file, methods=["GET"])])
