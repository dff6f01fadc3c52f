# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The routes of the control page in the words of OpenAPI 3.1."""

from __future__ import annotations

from typing import Any, Final

from gazeveil.gateway._control_words import answer, body

_PAGE: Final = {"200": {"description": "The file."}, "404": {"description": "There is no such file."}}
_FILE: Final = [{"name": "file", "in": "path", "required": True, "schema": {"type": "string"}}]

PAGE_PATHS: Final[dict[str, Any]] = {
    "/": {"get": {"summary": "The control page", "security": [], "responses": _PAGE}},
    "/page/{file}": {
        "get": {"summary": "A file of the control page", "security": [], "parameters": _FILE, "responses": _PAGE}
    },
    "/v1/page/link": {
        "post": {
            "summary": "Make a link that opens the control page once, within ten minutes; the policy's token alone",
            "responses": answer("The link; its key is in the fragment."),
        }
    },
    "/v1/page/session": {
        "post": {
            "summary": "Trade the key of a link for the token of a session, which holds for 12 hours",
            "security": [],
            "requestBody": body(key={"type": "string"}),
            "responses": {**answer("The token."), "429": {"description": "Too many wrong keys: wait."}},
        }
    },
}
