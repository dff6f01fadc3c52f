# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The control API of a running gateway, on loopback or encrypted, with a token; and the server of the demo apps.

`OPENAPI` describes the API and is served at ``/openapi.json``. A request needs ``Authorization: Bearer TOKEN``. On
loopback its Host must be the address that was bound, so that no web page can reach it under another name; elsewhere the
certificate ensures that. Web pages of any other origin are refused. No answer holds raw gaze, except one stream that
the policy and a capability of its own allow (`gazeveil.gateway.control.page_view`).

A demo app plays the untrusted app. It reads its app's WebSocket like any other program and cannot reach the control
API: it has another origin, and a content security policy that allows only WebSockets to this machine.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
from collections.abc import Callable, Mapping
from importlib import resources
from typing import TYPE_CHECKING, Any, Final, Protocol

from gazeveil.errors import InputError, needing
from gazeveil.gateway.control.http import LINK_S, Guard, Keys, PageFiles, body, server_of
from gazeveil.gateway.control.openapi import OPENAPI
from gazeveil.gateway.control.page_view import PageView
from gazeveil.gateway.control.routes import link_to, live_routes, page_routes, rule_routes, scene_routes
from gazeveil.gateway.policy.settings import DEMO_APPS, LOOPBACK, Address, Policy
from gazeveil.gateway.scene_watcher import SceneWatcher
from gazeveil.gateway.tcp import cannot_listen

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response

    from gazeveil.gateway.hub.app_stream import AppListener


class ControlledGateway(Protocol):
    """What the control API can ask of a gateway.

    Attributes:
        page: What the control page can do beyond that.
    """

    page: PageView

    def status(self) -> dict[str, Any]:
        """Return the state of everything."""
        ...

    def watcher(self, tracker: str) -> SceneWatcher:
        """Return the watcher of a tracker's scene; raises `UnknownName` if there is none."""
        ...

    def set_level(self, app: str, given: Mapping[str, Any]) -> dict[str, Any]:
        """Change an app's privacy level."""
        ...

    def switch(self, app: str, on: bool) -> dict[str, Any]:
        """Switch an app on or off."""
        ...

    def set_participant(self, tracker: str, participant: str) -> dict[str, Any]:
        """Set the participant at a tracker."""
        ...

    def app(self, name: str) -> dict[str, Any]:
        """Return one app's part of the status."""
        ...

    async def use_source(self, tracker: str, kind: str) -> dict[str, Any]:
        """Use another source for a tracker."""
        ...

    async def reload(self) -> dict[str, Any]:
        """Read the policy file again."""
        ...

    def refused(self, why: str, value: str) -> None:
        """Count and log a request that was refused; ``why`` is one of `gazeveil.gateway.telemetry.REFUSALS`."""
        ...

    def exposition(self) -> tuple[bytes, str]:
        """Return the metrics as Prometheus reads them, and their content type."""
        ...


def control_app(
    gateway: ControlledGateway, token: str, hosts: frozenset[str] | None, links: Keys | None = None
) -> Starlette:
    """Return the API as an ASGI application.

    Args:
        gateway: What it controls.
        token: The token that a request must show.
        hosts: The ``Host`` headers that are taken, with port; None for all, where a certificate names the gateway.
        links: The keys of links to the control page.
    """
    with needing("starlette", "live", "the control API"):
        from starlette.applications import Starlette  # noqa: PLC0415
        from starlette.responses import JSONResponse, Response  # noqa: PLC0415
        from starlette.routing import Route  # noqa: PLC0415

    guarded = Guard(token, hosts, gateway.refused)

    async def status(request: Request) -> Response:
        return JSONResponse(gateway.status())

    async def apps(request: Request) -> Response:
        found = gateway.status()
        return JSONResponse({"apps": found["apps"], "latched": found["latched"]})

    async def budget(request: Request) -> Response:
        found = gateway.status()
        return JSONResponse({"budgets": found["budgets"], "latched": found["latched"]})

    async def level(request: Request) -> Response:
        return JSONResponse(gateway.set_level(request.path_params["name"], await body(request)))

    async def switch(request: Request) -> Response:
        on = (await body(request)).get("on")
        if not isinstance(on, bool):
            raise InputError('the body must be {"on": true} or {"on": false}')
        return JSONResponse(gateway.switch(request.path_params["name"], on))

    async def participant(request: Request) -> Response:
        name = (await body(request)).get("participant")
        if not isinstance(name, str) or not name:
            raise InputError('the body must be {"participant": "NAME"}')
        return JSONResponse(gateway.set_participant(request.path_params["name"], name))

    async def reload(request: Request) -> Response:
        return JSONResponse(await gateway.reload())

    async def metrics(request: Request) -> Response:
        text, kind = gateway.exposition()
        return Response(text, media_type=kind)

    async def description(request: Request) -> Response:
        return JSONResponse(OPENAPI)

    async def health(request: Request) -> Response:
        return JSONResponse({"alive": True, "latched": bool(gateway.status()["latched"])})

    return Starlette(
        routes=[
            Route("/health", health),
            Route("/openapi.json", description),
            Route("/metrics", guarded(metrics)),
            Route("/v1/status", guarded(status)),
            Route("/v1/apps", guarded(apps)),
            Route("/v1/apps/{name}/level", guarded(level), methods=["POST"]),
            Route("/v1/apps/{name}/switch", guarded(switch), methods=["POST"]),
            Route("/v1/trackers/{name}/participant", guarded(participant), methods=["POST"]),
            Route("/v1/budget", guarded(budget)),
            Route("/v1/policy/reload", guarded(reload), methods=["POST"]),
            *page_routes(guarded, gateway, links or Keys(LINK_S)),
            *live_routes(guarded, gateway),
            *rule_routes(guarded, gateway),
            *scene_routes(guarded, gateway),
        ]
    )


class ControlServer:
    """The control API on a socket of its own, in the running loop; beyond loopback it is encrypted."""

    def __init__(
        self, gateway: ControlledGateway, host: str, port: int, token: str, tls: ssl.SSLContext | None = None
    ) -> None:
        self._gateway, self._host, self._token, self._tls = gateway, host, token, tls
        self._socket = bound(host, port)
        self.port = int(self._socket.getsockname()[1])
        self._task: asyncio.Task[None] | None = None
        self._server: Any = None
        self._links = Keys(LINK_S)

    def link(self) -> str:
        """Return a link that opens the control page once; its key is in the fragment, which no server or log sees."""
        at = Address(self._host, self.port).from_here
        return link_to(f"{'https' if self._tls else 'http'}://{at}", self._links)

    def start(self) -> None:
        """Start to answer."""
        names = {self._host, "localhost", "127.0.0.1", "[::1]"}
        hosts = None if self._tls is not None else frozenset(f"{name}:{self.port}" for name in names)
        self._server, self._task = server_of(
            control_app(self._gateway, self._token, hosts, self._links), self._socket, self._tls
        )

    async def close(self) -> None:
        """Stop answering; streams end first."""
        await self._gateway.page.close()
        if self._server is not None and self._task is not None:
            await _stopped(self._server, self._task)
        self._socket.close()


class LocalServer:
    """An application for pages of this machine on a socket of its own, in the running loop.

    Args:
        app_of: Makes the application from the ``Host`` headers that are taken, with port.
        port: Where to listen; 0 for any port that is free.
        host: The address to listen on.
        who: What cannot listen if the port is taken.
    """

    def __init__(self, app_of: Callable[[frozenset[str]], Any], port: int, host: str, who: str) -> None:
        self._socket = bound(host, port, who)
        self.port = int(self._socket.getsockname()[1])
        hosts = frozenset(f"{name}:{self.port}" for name in (host, "localhost", "127.0.0.1"))
        self._server, self._task = server_of(app_of(hosts), self._socket, None)

    async def close(self) -> None:
        """Stop answering."""
        await _stopped(self._server, self._task)
        self._socket.close()


async def _stopped(server: Any, task: asyncio.Task[None]) -> None:
    server.should_exit = True
    with contextlib.suppress(asyncio.CancelledError, TimeoutError):
        await asyncio.wait_for(task, 3)


def bound(host: str, port: int, who: str = "the control API") -> socket.socket:
    """Return a socket that listens.

    Raises:
        InputError: If the port is taken or the address is not this machine's.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    made = socket.socket(family, socket.SOCK_STREAM)
    try:
        # On Windows "reuse" would let any program take the port over; there the opposite has to be asked for.
        option = getattr(socket, "SO_EXCLUSIVEADDRUSE", socket.SO_REUSEADDR)
        made.setsockopt(socket.SOL_SOCKET, option, 1)
        made.bind((host, port))
        made.listen(64)
    except OSError as error:
        made.close()
        raise cannot_listen(who, host, port, error) from error
    return made


# --- Two demo apps, which show what a veil costs an app: static pages on a port, and so an origin, of their own.


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


class DemoAppServer(LocalServer):
    """The demo apps on a socket of their own, in the running loop."""

    def __init__(self, port: int, host: str = LOOPBACK) -> None:
        super().__init__(demo_asgi_app, port, host, "the demo apps")

    def describe(self, policy: Policy, outlets: Mapping[str, AppListener]) -> list[dict[str, str]]:
        """Return the demo apps of a policy: each with its app, title and address."""
        return [
            {
                "app": app.name,
                "title": DEMO_APPS[app.demo_app],
                "url": f"http://{LOOPBACK}:{self.port}/{app.demo_app}.html?ws=ws://{LOOPBACK}:{outlets[app.name].port}",
            }
            for app in policy.apps
            if app.demo_app and app.name in outlets
        ]


def demo_asgi_app(hosts: frozenset[str]) -> Any:
    """Return the demo apps as an ASGI application; ``hosts`` are the ``Host`` headers that are taken, with port."""
    from starlette.applications import Starlette  # noqa: PLC0415
    from starlette.responses import PlainTextResponse  # noqa: PLC0415
    from starlette.routing import Route  # noqa: PLC0415

    kept = PageFiles(resources.files("gazeveil.gateway").joinpath("demo_apps"), HEADERS)

    async def file(request: Any) -> Any:
        name = request.path_params["file"]
        if request.headers.get("host", "").lower() not in hosts:
            return PlainTextResponse("this host name is not the demo apps'", 403, headers=HEADERS)
        return kept.answer(name) if name in kept else PlainTextResponse("nothing there", 404, headers=HEADERS)

    return Starlette(routes=[Route("/{file}", file, methods=["GET"])])
