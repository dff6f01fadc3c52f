# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The routes of the control page in the words of OpenAPI 3.1."""

from __future__ import annotations

from typing import Any, Final

from gazeveil.gateway._control_words import answer, body, named

_PAGE: Final = {"200": {"description": "The file."}, "404": {"description": "There is no such file."}}
_STREAM: Final = {
    "200": {
        "description": (
            "One JSON object per line. The first describes the viewing plane, the apps, and which filter undoes "
            "their veils. The others hold what is new, up to 30 times a second: [t, x, y] as shares of the viewing "
            "viewing plane, null where there is no gaze. Raw gaze is included only with a capability."
        ),
        "content": {"application/x-ndjson": {"schema": {"type": "object"}}},
    },
    "429": {"description": "Four pages are watching already."},
}
_FORM: Final = {"name": "format", "in": "query", "schema": {"enum": ["csv", "json"], "default": "csv"}}
_TRACKER: Final = [
    {"name": "tracker", "in": "query", "required": True, "schema": {"type": "string"}},
    {
        "name": "Gazeveil-Raw",
        "in": "header",
        "schema": {"type": "string"},
        "description": "A capability to see raw gaze.",
    },
]
_FILE: Final = [{"name": "file", "in": "path", "required": True, "schema": {"type": "string"}}]

PAGE_PATHS: Final[dict[str, Any]] = {
    "/": {"get": {"summary": "The control page", "security": [], "responses": _PAGE}},
    "/page/{file}": {
        "get": {"summary": "A file of the control page", "security": [], "parameters": _FILE, "responses": _PAGE}
    },
    "/gazeveil.js": {
        "get": {
            "summary": "The module for web pages; pages of this machine may import it",
            "security": [],
            "responses": _PAGE,
        }
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
    "/v1/page/live": {
        "get": {
            "summary": "What a tracker's apps are shown, as it happens, and what a filter recovers from it",
            "parameters": _TRACKER,
            "responses": {**answer("A stream."), **_STREAM},
        }
    },
    "/v1/trackers/{name}/raw": {
        "post": {
            "summary": "Make a capability to see raw gaze once, within 30 s, on this machine; if the policy allows it",
            "parameters": named("The tracker."),
            "responses": answer("The capability."),
        }
    },
    "/v1/trackers/{name}/source": {
        "post": {
            "summary": "Take a tracker's gaze from another source that the policy allows",
            "parameters": named("The tracker."),
            "requestBody": body(kind={"type": "string"}),
            "responses": answer("The source; where the page itself sends gaze, where to and with which token."),
        }
    },
    "/v1/apps/{name}/rule": {
        "post": {
            "summary": "Let an app have less than the policy gives: fixations or hits instead of samples",
            "parameters": named("The app."),
            "requestBody": body(output={"enum": ["samples", "fixations", "hits", None]}),
            "responses": answer("The app as it is now."),
        }
    },
    "/v1/apps/{name}/tags": {
        "post": {
            "summary": "Give an app a description, so that it can be found",
            "parameters": named("The app."),
            "requestBody": body(tags={"type": "array", "items": {"type": "string"}}),
            "responses": answer("The app as it is now."),
        }
    },
    "/v1/apps/{name}/received": {
        "get": {
            "summary": "What an app was shown lately, as a file: veiled things alone",
            "parameters": [*named("The app."), _FORM],
            "responses": {**answer("The file."), "200": {"description": "The file."}},
        }
    },
    "/v1/guide": {"get": {"summary": "What a first policy can be made of", "responses": answer("The choices.")}},
    "/v1/guide/policy": {
        "post": {
            "summary": "Write a policy from answers; nothing is saved or run",
            "requestBody": body(
                tracker={"type": "object"},
                person={"type": "string"},
                app={"type": "object"},
                level={"type": "string"},
                budget={"type": ["string", "null"], "description": "ε of any 24 hours; null for no budget."},
            ),
            "responses": answer("A policy that passes `gazeveil live policy check`, or what is wrong."),
        }
    },
}
