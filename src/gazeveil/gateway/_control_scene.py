# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The routes of the scene: what was read from it, its last keyframe, and what a game engine or an app pushes.

Whoever pushes has a token of the scene's own, which opens these two routes of this tracker and nothing else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gazeveil.errors import GazeveilError, InputError, PrivacyError, UnknownName
from gazeveil.gateway._control_guard import Guard, only, whole
from gazeveil.gateway.scenes import MOST_PICTURE, Watcher
from gazeveil.scene.regions import regions_from

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import Route

    from gazeveil.gateway.control import Controlled


def scene_routes(guard: Guard, gateway: Controlled) -> list[Route]:
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
        picture = await whole(request, MOST_PICTURE, InputError(most, hint="send a smaller one, or a JPEG"))
        if not picture:
            raise InputError("the body must be a PNG or JPEG picture")
        return await taken(watcher, {}, picture)

    async def taken(watcher: Watcher, told: dict[str, Any], data: bytes = b"") -> Response:
        try:
            return JSONResponse(await watcher.push(told, data))
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
        Route("/v1/trackers/{name}/scene/frame", guard.pusher(frame, token_of), methods=["POST"]),
        Route("/v1/trackers/{name}/scene/boxes", guard.pusher(boxes, token_of), methods=["POST"]),
    ]


def _pushed_to(gateway: Controlled, request: Request) -> Watcher:
    watcher = gateway.watcher(request.path_params["name"])
    if watcher.setting.source != "push":
        raise PrivacyError(
            f"the scene comes from a {watcher.setting.source}, and no other can be pushed",
            hint='source = "push" in the policy takes what is pushed, which may only raise radius and window',
        )
    return watcher
