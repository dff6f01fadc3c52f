# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""HTTP below the routes: the server, the check of host, origin and token, the page's keys, sessions and static files.

A session is signed with the policy's token, so it stays valid after a restart, until the token changes. Of a key only
the digest is kept.

uvicorn waits for ever for a request that has begun. Here a request must be complete in time, and connections without
one give way to others: switching an app off must work while someone else holds hundreds of connections.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import hmac
import json
import re
import secrets
import socket
import ssl
import time
from collections import deque
from collections.abc import Awaitable, Callable, Iterator, Mapping
from importlib import resources
from typing import TYPE_CHECKING, Any, Final

from gazeveil.errors import GazeveilError, InputError, UnknownName, closest, needing
from gazeveil.gateway.protocols.websocket_connection import may_read

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

    from starlette.requests import Request
    from starlette.responses import Response


LINK_S: Final = 600.0
"""Seconds for which a link can be opened."""
SESSION_S: Final = 12 * 3600
"""Seconds after which a page needs a new link."""
RAW_S: Final = 30.0
"""Seconds for which a capability to see raw gaze can be used."""
MOST_KEYS: Final = 16
"""Unused keys of one kind; beyond that the oldest becomes invalid."""
MOST_TRIES, TRIES_S = 10, 60.0
"""After this many wrong keys within this many seconds, none is checked for a while."""

_SESSION = re.compile(r"page\.(\d{1,12})\.([A-Za-z0-9_-]{22})\.([0-9a-f]{64})")


class Keys:
    """Keys that work once and for a short time, each for one thing."""

    def __init__(self, lasts_s: float, now: Callable[[], float] = time.monotonic) -> None:
        self._lasts, self._now = lasts_s, now
        self._known: dict[bytes, tuple[float, str]] = {}

    def make(self, thing: str = "") -> str:
        """Return a new key for a thing."""
        key = secrets.token_urlsafe(32)
        while len(self._known) >= MOST_KEYS:
            del self._known[next(iter(self._known))]
        self._known[_digest(key)] = (self._now() + self._lasts, thing)
        return key

    def take(self, key: str, thing: str = "") -> bool:
        """Whether a key is valid for a thing; it is invalid afterwards, whatever the answer."""
        until, meant = self._known.pop(_digest(key), (0.0, ""))
        return until > 0.0 and self._now() < until and hmac.compare_digest(meant.encode(), thing.encode())


class Tries:
    """Counts wrong keys, and says when there were too many."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._wrong: deque[float] = deque(maxlen=MOST_TRIES)

    @property
    def wait_s(self) -> float:
        """Seconds until another try is allowed; 0 if it is."""
        if len(self._wrong) < MOST_TRIES:
            return 0.0
        return max(0.0, self._wrong[0] + TRIES_S - self._now())

    def wrong(self) -> None:
        """Count a wrong key."""
        self._wrong.append(self._now())


class Sessions:
    """Tokens of pages, signed with the policy's token."""

    def __init__(self, token: str, wall: Callable[[], float] = time.time) -> None:
        self._secret, self._wall = token.encode(), wall

    def make(self) -> str:
        """Return the token of a new session."""
        until, salt = int(self._wall()) + SESSION_S, secrets.token_urlsafe(16)
        return f"page.{until}.{salt}.{self._signed(str(until), salt)}"

    def is_valid(self, token: str) -> bool:
        """Whether a token is that of a session that is not over."""
        found = _SESSION.fullmatch(token)
        if found is None:
            return False
        until, salt, mark = found.groups()
        return hmac.compare_digest(mark, self._signed(until, salt)) and 0 < int(until) - self._wall() <= SESSION_S

    def _signed(self, until: str, salt: str) -> str:
        return hmac.new(
            self._secret, f"gazeveil live page session\n{until}\n{salt}".encode(), hashlib.sha256
        ).hexdigest()


def _digest(key: str) -> bytes:
    return hashlib.sha256(key.encode(errors="surrogatepass")).digest()  # JSON can hold what is no text


# --- The files of the control page, with headers that let the page do no more than it must.


INDEX: Final = "index.html"
HEADERS: Final = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; "
        "connect-src 'self' ws://127.0.0.1:* ws://localhost:*; frame-src http://127.0.0.1:*; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
    "Cache-Control": "no-store",
}
_KINDS: Final = {
    "html": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
    "png": "image/png",
    "json": "application/json",
}


class PageFiles:
    """Static files of a folder of the package, read once."""

    def __init__(self, folder: Traversable | None = None, headers: Mapping[str, str] = HEADERS) -> None:
        self._headers = headers
        folder = folder or resources.files("gazeveil.gateway").joinpath("page")
        kept = [file for file in folder.iterdir() if file.is_file()] if folder.is_dir() else []
        self._files = {file.name: file.read_bytes() for file in kept if _kind(file.name)}

    def __contains__(self, name: str) -> bool:
        return name in self._files

    def answer(self, name: str) -> Response:
        """Return a file with its headers.

        Raises:
            UnknownName: If the page has no such file.
        """
        from starlette.responses import Response  # noqa: PLC0415

        if name not in self._files:
            raise UnknownName(f"the control page has no file {name!r}")
        return Response(self._files[name], headers={**self._headers, "Content-Type": _kind(name)})


def _kind(name: str) -> str:
    return _KINDS.get(name.rpartition(".")[2], "")


# --- The HTTP server: uvicorn in the running loop, with time limits.


REQUEST_S: Final = 5.0
"""Seconds that a request may take, from the connection to its last byte; and that a TLS handshake may take."""
ANSWER_S: Final = 60.0
"""Seconds that an answer may take, until it is read."""
LIVE_PATH: Final = "/v1/page/live"
LIVE_S: Final = 3600.0
"""Seconds that a streamed answer may take; only this path has one."""
STALLED_S: Final = 10.0
"""Seconds that a stream may stay unread before it is closed."""
MOST_UNFINISHED: Final = 64
"""Connections without a complete request; beyond that the oldest is closed."""


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
        proxy_headers=False,  # the client is whoever is connected, not whom a header names
        headers=[("Connection", "close")],  # one request a connection, so one deadline covers it
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


# --- The check before every route: host, origin and token.


Answer = Callable[["Request"], Awaitable["Response"]]
Refused = Callable[[str, str], None]

MOST_BODY: Final = 1 << 16


class Guard:
    """Checks requests before they reach a route.

    Args:
        token: The policy's token.
        hosts: The ``Host`` headers that are taken, with port; None for all, where a certificate names the gateway.
        refused: Called with what was refused, ``host``, ``origin`` or ``token``, and the value that was shown.
    """

    def __init__(self, token: str, hosts: frozenset[str] | None, refused: Refused) -> None:
        self._token, self._hosts, self._refused = f"Bearer {token}".encode(), hosts, refused
        self.sessions = Sessions(token)

    def __call__(self, answer: Answer) -> Answer:
        """Return a route that needs the policy's token or that of a page's session."""
        return self._before(answer, lambda given: self._is_owner(given) or self._is_page(given))

    def with_policy_token(self, answer: Answer) -> Answer:
        """Return a route that needs the policy's token."""
        return self._before(answer, self._is_owner)

    def without_token(self, answer: Answer) -> Answer:
        """Return a route that needs no token; host and origin are checked all the same."""
        return self._before(answer, lambda given: True)

    def from_local_pages(self, answer: Answer) -> Answer:
        """Return a route that any page of this machine may use without a token, like an app's WebSocket."""
        return self._before(answer, lambda given: True, pages_of_this_machine=True)

    def with_own_token(self, answer: Answer, token_of: Callable[[str], str]) -> Answer:
        """Return a route that also takes the own token of the tracker in its path; empty if it has none."""

        async def ask(request: Request) -> Response:
            token = token_of(request.path_params["name"])
            own = f"Bearer {token}".encode()

            def may(given: str) -> bool:
                pushes = bool(token) and hmac.compare_digest(given.encode(), own)
                return pushes or self._is_owner(given) or self._is_page(given)

            return await self._before(answer, may)(request)

        return ask

    def _is_owner(self, given: str) -> bool:
        return hmac.compare_digest(given.encode(), self._token)

    def _is_page(self, given: str) -> bool:
        return given.startswith("Bearer ") and self.sessions.is_valid(given.removeprefix("Bearer "))

    def _before(self, answer: Answer, may: Callable[[str], bool], *, pages_of_this_machine: bool = False) -> Answer:
        from starlette.responses import JSONResponse  # noqa: PLC0415

        async def ask(request: Request) -> Response:
            if (refused := self._refusal_of(request, may, pages_of_this_machine)) is not None:
                return refused
            try:
                return await answer(request)
            except UnknownName as error:
                return JSONResponse(error.details(), 404)
            except InputError as error:
                return JSONResponse(error.details(), 422)
            except GazeveilError as error:
                return JSONResponse(error.details(), 409)

        return ask

    def _refusal_of(self, request: Request, may: Callable[[str], bool], pages_of_this_machine: bool) -> Response | None:
        """Return the refusal of a request, before its content is looked at; None if it may pass."""
        host, origins = request.headers.get("host", "").lower(), request.headers.getlist("origin")
        local = pages_of_this_machine and may_read(origins, ())
        if self._hosts is not None and host not in self._hosts:
            self._refused("host", host)
            return refusal(403, "this host name is not the gateway's")
        if not local and any(origin.lower() != f"{request.url.scheme}://{host}" for origin in origins):
            self._refused("origin", ", ".join(origins))
            return refusal(403, "web pages of other origins may not control a gateway")
        if not may(request.headers.get("authorization", "")):
            self._refused("token", "")
            return refusal(401, "a token is needed", "send the header Authorization: Bearer TOKEN")
        return None


def refusal(status: int, message: str, hint: str = "", headers: Mapping[str, str] | None = None) -> Response:
    """Return the answer to a request that is refused."""
    from starlette.responses import JSONResponse  # noqa: PLC0415

    return JSONResponse({"error": "refused", "message": message, "hint": hint}, status, headers)


async def bytes_of(request: Request, most: int, too_long: InputError) -> bytes:
    """Return the body of a request.

    Raises:
        InputError: The given one, if it has more than ``most`` bytes.
    """
    taken = bytearray()
    async for part in request.stream():
        taken += part
        if len(taken) > most:
            raise too_long
    return bytes(taken)


async def body(request: Request) -> dict[str, Any]:
    """Return the JSON object in a request's body.

    Raises:
        InputError: If the body is something else, or too long.
    """
    taken = await bytes_of(request, MOST_BODY, InputError("the body is too long"))
    try:
        given = json.loads(taken or b"{}")
    except (ValueError, RecursionError):
        raise InputError("the body must be one JSON object") from None
    if not isinstance(given, dict):
        raise InputError("the body must be one JSON object")
    return given


async def only(request: Request, *known: str) -> dict[str, Any]:
    """Return the JSON object in a request's body, if it has no other fields than these.

    Raises:
        InputError: If it has.
    """
    given = await body(request)
    if unknown := sorted(given.keys() - set(known)):
        raise InputError(f"the body has an unknown {unknown[0]!r}", hint=closest(unknown[0], known))
    return given
