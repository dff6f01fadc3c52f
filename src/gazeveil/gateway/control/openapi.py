# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The control API as an OpenAPI 3.1 description."""

from __future__ import annotations

from typing import Any, Final


def answer(words: str) -> dict[str, Any]:
    """Return the description of an answer, and of the refusals that go with it."""
    content = {"application/json": {"schema": {"$ref": "#/components/schemas/Status"}}}
    refusal = {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}
    return {
        "200": {"description": words, "content": content},
        "401": {"description": "No token, or a wrong one.", "content": refusal},
        "403": {"description": "Asked under a host name that is not the gateway's.", "content": refusal},
        "404": {"description": "No such app or tracker.", "content": refusal},
        "409": {
            "description": "Refused: the guarantee, the budget or the policy does not allow it.",
            "content": refusal,
        },
        "422": {"description": "The request is wrong.", "content": refusal},
    }


def get(
    summary: str, responses: str | dict[str, Any], *, of: str = "", is_open: bool = False, **more: Any
) -> dict[str, Any]:
    """Describe a GET route; ``of`` is what its path names, and an open one needs no token."""
    about = {"summary": summary, **({"security": []} if is_open else {}), **({"parameters": named(of)} if of else {})}
    responses = answer(responses) if isinstance(responses, str) else responses
    return {"get": {**about, **more, "responses": responses}}


def post(
    summary: str, responses: str | dict[str, Any], *, of: str = "", is_open: bool = False, **properties: Any
) -> dict[str, Any]:
    """Describe a POST route, which takes a JSON object with these properties, if there are any."""
    more = {"requestBody": body(properties)} if properties else {}
    return {"post": get(summary, responses, of=of, is_open=is_open, **more)["get"]}


def body(properties: dict[str, Any]) -> dict[str, Any]:
    """Return the description of a request's body with these fields and no others."""
    schema = {"type": "object", "additionalProperties": False, "properties": properties}
    return {"required": True, "content": {"application/json": {"schema": schema}}}


def named(what: str) -> list[dict[str, Any]]:
    """Return the description of a name in an address."""
    return [{"name": "name", "in": "path", "required": True, "schema": {"type": "string"}, "description": what}]


TEXT: Final = {"type": "string"}
NUMBER: Final = {"type": ["number", "string"], "description": "A number, or its exact decimal text."}
LENGTH: Final = {
    "type": ["number", "string"],
    "description": "A number and its unit, such as 60px; alone it is pixels.",
}


_PAGE: Final = {"200": {"description": "The file."}, "404": {"description": "There is no such file."}}
_STREAM: Final = {
    "200": {
        "description": (
            "One JSON object per line. The first describes the viewing plane, the apps, and which filter undoes "
            "their veils. The others hold what is new, up to 30 times a second: [t, x, y] as shares of the viewing "
            "plane, null where there is no gaze. Raw gaze is included only with a capability."
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

_OF_THE_PAGE: Final[dict[str, Any]] = {
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
        "What a tracker's apps are shown, live, and what a filter recovers from it",
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
        "Set the output of an app: fixations or hits instead of samples, or null for the policy's",
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
        "A policy that passes `gazeveil policy check`, or what is wrong.",
        tracker={"type": "object"},
        participant=TEXT,
        app={"type": "object"},
        level=TEXT,
        budget={"type": ["string", "null"], "description": "ε of any 24 hours; null for no budget."},
    ),
}

_PICTURE: Final = {"schema": {"type": "string", "format": "binary"}}
_BOX: Final = {"type": "array", "items": {"type": "number", "minimum": 0, "maximum": 1}, "minItems": 4, "maxItems": 4}
_TOO_FAST: Final = {"429": {"description": "Too many pushes: wait."}}
_PUSHED: Final = "It may only raise radius and window. The scene's own token is enough."

_OF_SCENES: Final[dict[str, Any]] = {
    "/v1/trackers/{name}/scene": get(
        "What was read from the scene, and the radius and window that hold", "The scene.", of="The tracker."
    ),
    "/v1/trackers/{name}/scene/frame": {
        **get(
            "The last keyframe",
            {**answer("A picture."), "200": {"description": "PNG.", "content": {"image/png": _PICTURE}}},
            of="The tracker.",
        ),
        "post": {
            "summary": f"Push what is on the screen. {_PUSHED}",
            "parameters": named("The tracker."),
            "requestBody": {"required": True, "content": {"image/png": _PICTURE, "image/jpeg": _PICTURE}},
            "responses": {**answer("It was read."), **_TOO_FAST},
        },
    },
    "/v1/trackers/{name}/scene/boxes": post(
        f"Push where things are on the screen, in shares of it. {_PUSHED}",
        {**answer("They were taken."), **_TOO_FAST},
        of="The tracker.",
        boxes={"type": "array", "maxItems": 1000, "items": _BOX},
    ),
}

OPENAPI: Final[dict[str, Any]] = {
    "openapi": "3.1.0",
    "info": {
        "title": "gazeveil gateway control",
        "version": "1",
        "description": (
            "Operate a running gateway. No answer holds raw gaze, except the stream of /v1/page/live with a "
            "capability of its own. The token is the policy's, or that of a page's session."
        ),
        "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
    },
    "security": [{"token": []}],
    "paths": {
        "/health": get("Whether the gateway runs", {"200": {"description": "It does."}}, is_open=True),
        "/metrics": get("Metrics for Prometheus", {"200": {"description": "Text exposition."}}),
        "/v1/status": get("The state of everything", "The status."),
        "/v1/apps": get("Apps and their guarantees", "The apps."),
        "/v1/apps/{name}/level": post(
            "Change an app's privacy level: a preset, or ε, window and radius, as the policy allows",
            "The app as it is now.",
            of="The app.",
            preset=TEXT,
            epsilon=NUMBER,
            window=NUMBER,
            radius=LENGTH,
        ),
        "/v1/apps/{name}/switch": post(
            "Switch an app on or off; off means that nothing leaves",
            "The app as it is now.",
            of="The app.",
            on={"type": "boolean"},
        ),
        "/v1/trackers/{name}/participant": post(
            "Set the participant at a tracker: whose budget pays from now on",
            "The tracker as it is now.",
            of="The tracker.",
            participant=TEXT,
        ),
        "/v1/budget": get("Budgets of the last 24 hours, and what comes back when", "The budgets."),
        "/v1/policy/reload": post("Read the policy file again", "What changed."),
        **_OF_THE_PAGE,
        **_OF_SCENES,
    },
    "components": {
        "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        "schemas": {
            "Status": {"type": "object"},
            "Error": {
                "type": "object",
                "required": ["error", "message"],
                "properties": {
                    "error": {"type": "string"},
                    "message": {"type": "string"},
                    "hint": {"type": "string"},
                },
            },
        },
    },
}
