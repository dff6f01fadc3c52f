# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The routes of the control page in the words of OpenAPI 3.1."""

from __future__ import annotations

from typing import Any, Final

from gazeveil.gateway._control_words import TEXT, answer, get, named, post

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
    {"name": "tracker", "in": "query", "required": True, "schema": TEXT},
    {
        "name": "Gazeveil-Raw",
        "in": "header",
        "schema": TEXT,
        "description": "A capability to see raw gaze.",
    },
]
_FILE: Final = [{"name": "file", "in": "path", "required": True, "schema": TEXT}]

PAGE_PATHS: Final[dict[str, Any]] = {
    "/": get("The control page", _PAGE, is_open=True),
    "/page/{file}": get("A file of the control page", _PAGE, is_open=True, parameters=_FILE),
    "/gazeveil.js": get("The module for web pages; pages of this machine may import it", _PAGE, is_open=True),
    "/v1/page/link": post(
        "Make a link that opens the control page once, within ten minutes; the policy's token alone",
        "The link; its key is in the fragment.",
    ),
    "/v1/page/session": post(
        "Trade the key of a link for the token of a session, which holds for 12 hours",
        {**answer("The token."), "429": {"description": "Too many wrong keys: wait."}},
        is_open=True,
        key=TEXT,
    ),
    "/v1/page/live": get(
        "What a tracker's apps are shown, as it happens, and what a filter recovers from it",
        {**answer("A stream."), **_STREAM},
        parameters=_TRACKER,
    ),
    "/v1/trackers/{name}/raw": post(
        "Make a capability to see raw gaze once, within 30 s, on this machine; if the policy allows it",
        "The capability.",
        of="The tracker.",
    ),
    "/v1/trackers/{name}/source": post(
        "Take a tracker's gaze from another source that the policy allows",
        "The source; where the page itself sends gaze, where to and with which token.",
        of="The tracker.",
        kind=TEXT,
    ),
    "/v1/apps/{name}/rule": post(
        "Let an app have less than the policy gives: fixations or hits instead of samples",
        "The app as it is now.",
        of="The app.",
        output={"enum": ["samples", "fixations", "hits", None]},
    ),
    "/v1/apps/{name}/tags": post(
        "Give an app a description, so that it can be found",
        "The app as it is now.",
        of="The app.",
        tags={"type": "array", "items": TEXT},
    ),
    "/v1/apps/{name}/received": get(
        "What an app was shown lately, as a file: veiled things alone",
        {**answer("The file."), "200": {"description": "The file."}},
        parameters=[*named("The app."), _FORM],
    ),
    "/v1/guide": get("What a first policy can be made of", "The choices."),
    "/v1/guide/policy": post(
        "Write a policy from answers; nothing is saved or run",
        "A policy that passes `gazeveil live policy check`, or what is wrong.",
        tracker={"type": "object"},
        person=TEXT,
        app={"type": "object"},
        level=TEXT,
        budget={"type": ["string", "null"], "description": "ε of any 24 hours; null for no budget."},
    ),
}
