# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The routes by which a participant decides what apps get: rules, tags, sources, the guide; and what they received."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from gazeveil.errors import InputError
from gazeveil.gateway import guide
from gazeveil.gateway._control_guard import Guard, body, only
from gazeveil.gateway._page_files import HEADERS

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import Route

    from gazeveil.gateway.control import Controlled


def rule_routes(guard: Guard, gateway: Controlled) -> list[Route]:
    """Return the routes of rules, tags, sources, exports and the guide."""
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
