# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The routes of what a page looks at live, and of the capability to see raw gaze: on this machine alone."""

from __future__ import annotations

import ipaddress
from typing import TYPE_CHECKING, Final, cast

from gazeveil.errors import InputError, PrivacyError
from gazeveil.gateway._control_guard import Guard, only, refusal
from gazeveil.gateway._control_server import LIVE_PATH
from gazeveil.gateway._page_files import HEADERS
from gazeveil.gateway._page_keys import RAW_S
from gazeveil.gateway._page_stream import LiveAnswer
from gazeveil.gateway.page_side import MOST_STREAMS

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import Route

    from gazeveil.gateway.control import Controlled

RAW_HEADER: Final = "gazeveil-raw"
"""Where the capability for raw gaze is shown: an address may be logged or kept in a history."""
_PASSED_ON: Final = ("forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-real-ip")
"""What a proxy adds: whoever asked it may be anywhere."""


def live_routes(guard: Guard, gateway: Controlled) -> list[Route]:
    """Return the routes of live trails and raw gaze."""
    from starlette.responses import JSONResponse  # noqa: PLC0415
    from starlette.routing import Route  # noqa: PLC0415

    async def raw(request: Request) -> Response:
        await only(request)
        name = request.path_params["name"]
        if not _is_here(request):
            return far_away(name)
        try:
            return JSONResponse({"capability": gateway.page.allow_raw(name), "lasts_s": RAW_S}, headers=HEADERS)
        except PrivacyError:
            gateway.refused("raw", "")
            raise

    async def live(request: Request) -> Response:
        if unknown := sorted(request.query_params.keys() - {"tracker"}):
            raise InputError(f"there is no {unknown[0]!r} here", hint=f"a capability goes into the header {RAW_HEADER}")
        name, capability = request.query_params.get("tracker", ""), request.headers.get(RAW_HEADER)
        if capability is not None and not _is_here(request):
            return far_away(name)
        if gateway.page.is_full:
            return refusal(429, f"{MOST_STREAMS} pages look on already", "close one of them")
        try:
            trails = gateway.page.look(name, capability)
        except PrivacyError:
            gateway.refused("raw", "")
            raise
        return cast("Response", LiveAnswer(gateway.page, trails))  # an ASGI application, as all answers are

    def far_away(tracker: str) -> Response:
        gateway.refused("raw", "")
        gateway.page.refuse_raw(tracker, "asked from another machine")
        return refusal(403, "raw gaze is shown on this machine alone")

    return [
        Route(LIVE_PATH, guard(live)),
        Route("/v1/trackers/{name}/raw", guard(raw), methods=["POST"]),
    ]


def _is_here(request: Request) -> bool:
    """Whether a request comes from this machine, and nobody passed it on."""
    if request.client is None or any(name in request.headers for name in _PASSED_ON):
        return False
    try:
        return ipaddress.ip_address(request.client.host).is_loopback
    except ValueError:
        return False
