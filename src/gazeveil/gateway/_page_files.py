# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The files of the control page, from the package, with headers that let the page do no more than it must."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import resources
from typing import TYPE_CHECKING, Final

from gazeveil.errors import UnknownName

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

    from starlette.responses import Response

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
    """The page's files, read once; there is nothing secret in them."""

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
