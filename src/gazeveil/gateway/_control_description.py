# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The control API in the words of OpenAPI 3.1."""

from __future__ import annotations

from typing import Any, Final

from gazeveil.gateway._control_page_words import PAGE_PATHS
from gazeveil.gateway._control_scene_words import SCENE_PATHS
from gazeveil.gateway._control_words import LENGTH, NUMBER, TEXT, get, post

OPENAPI: Final[dict[str, Any]] = {
    "openapi": "3.1.0",
    "info": {
        "title": "gazeveil gateway control",
        "version": "1",
        "description": (
            "Operate a running gateway. No answer holds raw gaze, but for the stream of /v1/page/live with a "
            "capability of its own. The token is the policy's, or that of a page's session."
        ),
        "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
    },
    "security": [{"token": []}],
    "paths": {
        "/health": get("Whether the gateway runs", {"200": {"description": "It does."}}, is_open=True),
        "/metrics": get("Metrics for Prometheus", {"200": {"description": "Text exposition."}}),
        "/v1/status": get("Everything there is to tell", "The status."),
        "/v1/apps": get("Apps and their guarantees", "The apps."),
        "/v1/apps/{name}/knob": post(
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
        "/v1/trackers/{name}/person": post(
            "Say who sits before a tracker: whose budget pays from now on",
            "The tracker as it is now.",
            of="The tracker.",
            person=TEXT,
        ),
        "/v1/budget": get("Budgets of the last 24 hours, and what comes back when", "The budgets."),
        "/v1/policy/reload": post("Read the policy file again", "What changed."),
        **PAGE_PATHS,
        **SCENE_PATHS,
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
