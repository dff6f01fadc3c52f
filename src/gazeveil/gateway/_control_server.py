# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The control API's HTTP server: uvicorn in the running loop, with patience that ends.

uvicorn waits for ever for a request that was begun. Here a request must be whole in time, and who has not sent one
makes room for others: switching an app off must work while someone else holds hundreds of connections.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
from collections.abc import Iterator
from typing import Any, Final

from gazeveil.errors import needing

REQUEST_S: Final = 5.0
"""How long a request may take, from the connection to its last byte; and an encrypted connection to be made."""
ANSWER_S: Final = 60.0
"""How long it may take to make an answer and to read it."""
LIVE_PATH: Final = "/v1/page/live"
LIVE_S: Final = 3600.0
"""How long an answer may go on that is a stream, which is this path's alone."""
STALLED_S: Final = 10.0
"""How long nobody may read a stream before it is cut off."""
MOST_UNFINISHED: Final = 64
"""Connections without a whole request; beyond that the oldest is cut off."""


def server_of(app: Any, listening: socket.socket, tls: ssl.SSLContext | None) -> tuple[Any, asyncio.Task[None]]:
    """Serve an ASGI application at a socket. Returns the server, whose ``should_exit`` stops it, and its task.

    Raises:
        MissingExtra: If uvicorn is not installed.
    """
    with needing("uvicorn", "live", "the control API"):
        import uvicorn  # noqa: PLC0415
    config = uvicorn.Config(
        app,
        http=_connection_kind(),
        ws="none",
        log_config=None,
        access_log=False,
        lifespan="off",
        timeout_graceful_shutdown=1,
        limit_concurrency=256,
        server_header=False,
        proxy_headers=False,  # who asks is whoever is connected, not who a header names
        headers=[("Connection", "close")],  # one request a connection: so one deadline covers all of it
    )

    class Quiet(uvicorn.Server):
        @contextlib.contextmanager
        def capture_signals(self) -> Iterator[None]:
            yield  # signals are the gateway's

        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            def connection() -> asyncio.Protocol:
                made: asyncio.Protocol = config.http_protocol_class(  # type: ignore[call-arg]
                    config=config, server_state=self.server_state, app_state={}
                )
                return made

            wait = None if tls is None else REQUEST_S
            serving = await asyncio.get_running_loop().create_server(
                connection, sock=listening, ssl=tls, ssl_handshake_timeout=wait, backlog=config.backlog
            )
            self.servers, self.started = [serving], True

    server = Quiet(config)
    return server, asyncio.create_task(server.serve(sockets=[listening]))


def _connection_kind() -> type[asyncio.Protocol]:
    """Return the class of one server's connections."""
    from uvicorn.protocols.http.h11_impl import H11Protocol  # noqa: PLC0415

    unfinished: dict[Any, None] = {}

    class Connection(H11Protocol):
        _deadline: asyncio.TimerHandle | None = None
        _stalled: asyncio.TimerHandle | None = None

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            unfinished[self] = None
            self._deadline = self.loop.call_later(REQUEST_S, self._cut_off)
            if len(unfinished) > MOST_UNFINISHED:
                next(iter(unfinished))._cut_off()

        def handle_events(self) -> None:
            super().handle_events()
            cycle: Any = self.cycle  # None before a request
            if self in unfinished and cycle is not None and not cycle.more_body:
                unfinished.pop(self)
                self._wait_anew(LIVE_S if cycle.scope["path"] == LIVE_PATH else ANSWER_S)

        def pause_writing(self) -> None:
            super().pause_writing()
            self._stalled = self.loop.call_later(STALLED_S, self._cut_off)

        def resume_writing(self) -> None:
            super().resume_writing()
            if self._stalled is not None:
                self._stalled.cancel()

        def connection_lost(self, exc: Exception | None) -> None:
            unfinished.pop(self, None)
            for timer in (self._deadline, self._stalled):
                if timer is not None:
                    timer.cancel()
            super().connection_lost(exc)

        def _wait_anew(self, seconds: float) -> None:
            if self._deadline is not None:
                self._deadline.cancel()
            self._deadline = self.loop.call_later(seconds, self._cut_off)

        def _cut_off(self) -> None:
            unfinished.pop(self, None)
            self.transport.abort()

    return Connection
