# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Routes of the control API for the page: its files and session, apps' outputs, scenes, and live gaze.

A page that reads slowly delays its own answer alone, and misses what it did not read. One that does not read at all is
cut off by the server (`gazeveil.gateway.control.http`). Senders of frames and boxes show the scene's own token, which
opens these two routes of its tracker and nothing else.
"""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import json
import time
from importlib import resources
from typing import TYPE_CHECKING, Any, Final, cast

from gazeveil.errors import GazeveilError, InputError, PrivacyError, UnknownName
from gazeveil.gateway.control import guide
from gazeveil.gateway.control.http import (
    HEADERS,
    INDEX,
    LINK_S,
    LIVE_PATH,
    RAW_S,
    Guard,
    Keys,
    PageFiles,
    Tries,
    body,
    bytes_of,
    only,
    refusal,
)
from gazeveil.gateway.control.page_view import MOST_STREAMS, PageView, Trails
from gazeveil.gateway.scene_watcher import MOST_PICTURE, SceneWatcher
from gazeveil.scene.regions import regions_from

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import Route
    from starlette.types import Receive, Scope, Send

    from gazeveil.gateway.control.server import ControlledGateway


LINES_A_SECOND: Final = 30


class LiveAnswer:
    """An ASGI answer that sends a page's trails until the page is gone or the gateway closes."""

    def __init__(self, page: PageView, trails: Trails) -> None:
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
            self._page.close_view(self._trails)
            gone.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await gone

    def _next(self) -> dict[str, Any] | None:
        return None if self._trails.over else self._trails.line(time.monotonic())


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


# --- The page itself: its files, the link that opens it, its session; and the module for other pages.


MODULE: Final = "gazeveil.js"
"""The module by which web pages read gaze. Pages of other ports of this machine may import it."""


def link_to(origin: str, links: Keys) -> str:
    """Return a new link to the page. Its key is in the fragment, which no server, log or referrer sees."""
    return f"{origin}/#key={links.make()}"


def page_routes(guard: Guard, gateway: ControlledGateway, links: Keys) -> list[Route]:
    """Return the routes of the page.

    Args:
        guard: Checks the requests.
        gateway: Counts wrong keys.
        links: The keys of links.
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
        Route("/", guard.without_token(file)),
        Route("/page/{file}", guard.without_token(file)),
        Route(f"/{MODULE}", guard.from_local_pages(module)),
        Route("/v1/page/link", guard.with_policy_token(link), methods=["POST"]),
        Route("/v1/page/session", guard.without_token(session), methods=["POST"]),
    ]


# --- What participants decide: outputs of apps, tags, sources, the guide; and what apps received.


def rule_routes(guard: Guard, gateway: ControlledGateway) -> list[Route]:
    """Return the routes of outputs, tags, sources, exports and the guide."""
    from starlette.responses import JSONResponse, Response  # noqa: PLC0415
    from starlette.routing import Route  # noqa: PLC0415

    async def rule(request: Request) -> Response:
        given, name = await only(request, "output"), request.path_params["name"]
        if "output" not in given:
            raise InputError(
                'the body must be {"output": …}', hint="samples, fixations, hits, or null for the policy's"
            )
        gateway.page.rule(name, given["output"])
        return JSONResponse(gateway.app(name))

    async def tags(request: Request) -> Response:
        given, name = await only(request, "tags"), request.path_params["name"]
        gateway.page.tag(name, given.get("tags"))
        return JSONResponse(gateway.app(name))

    async def received(request: Request) -> Response:
        make = gateway.page.received(request.path_params["name"], request.query_params.get("format", "csv"))
        file = await asyncio.to_thread(make)
        named = {"Content-Disposition": f'attachment; filename="{file.name}"'}
        return Response(file.content, media_type=file.kind, headers={**HEADERS, **named})

    async def source(request: Request) -> Response:
        kind = (await only(request, "kind")).get("kind")
        if not isinstance(kind, str):
            raise InputError('the body must be {"kind": "…"}')
        return JSONResponse(await gateway.use_source(request.path_params["name"], kind), headers=HEADERS)

    async def offer(request: Request) -> Response:
        return JSONResponse(await asyncio.to_thread(guide.choices))

    async def written(request: Request) -> Response:
        return JSONResponse(await asyncio.to_thread(guide.policy_from, await body(request)))

    return [
        Route("/v1/guide", guard(offer)),
        Route("/v1/guide/policy", guard(written), methods=["POST"]),
        Route("/v1/apps/{name}/rule", guard(rule), methods=["POST"]),
        Route("/v1/apps/{name}/tags", guard(tags), methods=["POST"]),
        Route("/v1/apps/{name}/received", guard(received)),
        Route("/v1/trackers/{name}/source", guard(source), methods=["POST"]),
    ]


# --- Scenes: what was read, the last keyframe, and what a game engine or an app pushes.


def scene_routes(guard: Guard, gateway: ControlledGateway) -> list[Route]:
    """Return the routes of scenes."""
    from starlette.responses import JSONResponse, Response  # noqa: PLC0415
    from starlette.routing import Route  # noqa: PLC0415

    async def scene(request: Request) -> Response:
        name = request.path_params["name"]
        gateway.watcher(name)
        return JSONResponse(next(one["scene"] for one in gateway.status()["trackers"] if one["name"] == name))

    async def keyframe(request: Request) -> Response:
        picture = gateway.watcher(request.path_params["name"]).keyframe
        if picture is None:
            raise UnknownName("this scene has no keyframe yet")
        return Response(picture, media_type="image/png", headers={"Cache-Control": "no-store"})

    async def boxes(request: Request) -> Response:
        watcher = _pushed_to(gateway, request)
        given = await only(request, "boxes")
        if "boxes" not in given:
            raise InputError('the body must be {"boxes": [[x0, y0, x1, y1], …]}')
        return await taken(watcher, {"boxes": [list(box) for box in regions_from(given["boxes"])]})

    async def frame(request: Request) -> Response:
        watcher = _pushed_to(gateway, request)
        most = f"a picture has at most {MOST_PICTURE >> 20} MiB"
        picture = await bytes_of(request, MOST_PICTURE, InputError(most, hint="send a smaller one, or a JPEG"))
        if not picture:
            raise InputError("the body must be a PNG or JPEG picture")
        return await taken(watcher, {}, picture)

    async def taken(watcher: SceneWatcher, message: dict[str, Any], data: bytes = b"") -> Response:
        try:
            return JSONResponse(await watcher.push(message, data))
        except InputError:
            raise
        except GazeveilError as error:
            return JSONResponse(error.details(), 429, headers={"Retry-After": "1"})

    def token_of(name: str) -> str:
        try:
            return gateway.watcher(name).token
        except UnknownName:
            return ""

    return [
        Route("/v1/trackers/{name}/scene", guard(scene)),
        Route("/v1/trackers/{name}/scene/frame", guard(keyframe)),
        Route("/v1/trackers/{name}/scene/frame", guard.with_own_token(frame, token_of), methods=["POST"]),
        Route("/v1/trackers/{name}/scene/boxes", guard.with_own_token(boxes, token_of), methods=["POST"]),
    ]


def _pushed_to(gateway: ControlledGateway, request: Request) -> SceneWatcher:
    watcher = gateway.watcher(request.path_params["name"])
    if watcher.setting.source != "push":
        raise PrivacyError(
            f"the scene comes from a {watcher.setting.source}, and no other can be pushed",
            hint='source = "push" in the policy takes what is pushed, which may only raise radius and window',
        )
    return watcher


# --- Live trails, and the capability to see raw gaze: on this machine alone.


RAW_HEADER: Final = "gazeveil-raw"
"""The header with the capability for raw gaze: an address might be logged or kept in a history."""
_PASSED_ON: Final = ("forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-real-ip")
"""Headers that a proxy adds: its client may be anywhere."""


def live_routes(guard: Guard, gateway: ControlledGateway) -> list[Route]:
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
            return refusal(429, f"{MOST_STREAMS} pages are open already", "close one of them")
        try:
            trails = gateway.page.open_view(name, capability)
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
    """Whether a request comes from this machine, and not through a proxy."""
    if request.client is None or any(name in request.headers for name in _PASSED_ON):
        return False
    try:
        return ipaddress.ip_address(request.client.host).is_loopback
    except ValueError:
        return False
