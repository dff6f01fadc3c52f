# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What stands before every route of the control API: host, origin and token, and the same words for every refusal."""

from __future__ import annotations

import hmac
import json
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from gazeveil.errors import GazeveilError, InputError, UnknownName, closest
from gazeveil.gateway._page_keys import Sessions
from gazeveil.gateway.protocols._websocket_text import may_read

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

Answer = Callable[["Request"], Awaitable["Response"]]
Refused = Callable[[str, str], None]

MOST_BODY: Final = 1 << 16


class Guard:
    """Lets requests through to the routes that it is put before.

    Args:
        token: The policy's token.
        hosts: The ``Host`` headers that are taken, with port; None for all, where a certificate names the gateway.
        refused: Is told of what was refused: ``host``, ``origin`` or ``token``, and what was shown.
    """

    def __init__(self, token: str, hosts: frozenset[str] | None, refused: Refused) -> None:
        self._token, self._hosts, self._refused = f"Bearer {token}".encode(), hosts, refused
        self.sessions = Sessions(token)

    def __call__(self, answer: Answer) -> Answer:
        """Return a route for whoever shows the policy's token, or the token of a page's session."""
        return self._before(answer, lambda given: self._is_owner(given) or self._is_page(given))

    def owner(self, answer: Answer) -> Answer:
        """Return a route for the policy's token alone."""
        return self._before(answer, self._is_owner)

    def anybody(self, answer: Answer) -> Answer:
        """Return a route that needs no token; host and origin are looked at all the same."""
        return self._before(answer, lambda given: True)

    def local_page(self, answer: Answer) -> Answer:
        """Return a route without a token that any page of this machine may ask, as it may an app's WebSocket."""
        return self._before(answer, lambda given: True, pages_of_this_machine=True)

    def pusher(self, answer: Answer, token_of: Callable[[str], str]) -> Answer:
        """Return a route that the token of the thing named in its path opens, too; empty where that has none."""

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
        return given.startswith("Bearer ") and self.sessions.holds(given.removeprefix("Bearer "))

    def _before(self, answer: Answer, may: Callable[[str], bool], *, pages_of_this_machine: bool = False) -> Answer:
        from starlette.responses import JSONResponse  # noqa: PLC0415

        async def ask(request: Request) -> Response:
            if (no := self._no(request, may, pages_of_this_machine)) is not None:
                return no
            try:
                return await answer(request)
            except UnknownName as error:
                return JSONResponse(error.details(), 404)
            except InputError as error:
                return JSONResponse(error.details(), 422)
            except GazeveilError as error:
                return JSONResponse(error.details(), 409)

        return ask

    def _no(self, request: Request, may: Callable[[str], bool], pages_of_this_machine: bool) -> Response | None:
        """Refuse a request before anyone looks at what it wants, and say so; None if there is no reason."""
        host, origins = request.headers.get("host", "").lower(), request.headers.getlist("origin")
        local = pages_of_this_machine and may_read(origins, ())
        if self._hosts is not None and host not in self._hosts:
            self._refused("host", host)
            return refusal(403, "this host name is not the gateway's")
        if not local and any(origin.lower() != f"{request.url.scheme}://{host}" for origin in origins):
            self._refused("origin", ", ".join(origins))
            return refusal(403, "web pages may not steer a gateway")
        if not may(request.headers.get("authorization", "")):
            self._refused("token", "")
            return refusal(401, "a token is needed", "send the header Authorization: Bearer TOKEN")
        return None


def refusal(status: int, message: str, hint: str = "", headers: Mapping[str, str] | None = None) -> Response:
    """Return the answer to a request that is refused."""
    from starlette.responses import JSONResponse  # noqa: PLC0415

    return JSONResponse({"error": "refused", "message": message, "hint": hint}, status, headers)


async def whole(request: Request, most: int, too_long: InputError) -> bytes:
    """Return what a request brings.

    Raises:
        InputError: The one that is given, if it is more than ``most`` bytes.
    """
    taken = bytearray()
    async for part in request.stream():
        taken += part
        if len(taken) > most:
            raise too_long
    return bytes(taken)


async def body(request: Request) -> dict[str, Any]:
    """Return the JSON object that a request brings.

    Raises:
        InputError: If it brings something else, or too much.
    """
    taken = await whole(request, MOST_BODY, InputError("the body is too long"))
    try:
        given = json.loads(taken or b"{}")
    except (ValueError, RecursionError):
        raise InputError("the body must be one JSON object") from None
    if not isinstance(given, dict):
        raise InputError("the body must be one JSON object")
    return given


async def only(request: Request, *known: str) -> dict[str, Any]:
    """Return the JSON object that a request brings, if it holds nothing but what is known.

    Raises:
        InputError: If it does not.
    """
    given = await body(request)
    if unknown := sorted(given.keys() - set(known)):
        raise InputError(f"the body has an unknown {unknown[0]!r}", hint=closest(unknown[0], known))
    return given
