# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The control API in the words of OpenAPI 3.1."""

from __future__ import annotations

from typing import Any, Final

from gazeveil.gateway._control_page_words import PAGE_PATHS
from gazeveil.gateway._control_scene_words import SCENE_PATHS
from gazeveil.gateway._control_words import LENGTH, NUMBER, answer, body, named

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
        "/health": {
            "get": {
                "summary": "Whether the gateway runs",
                "security": [],
                "responses": {"200": {"description": "It does."}},
            }
        },
        "/metrics": {
            "get": {"summary": "Metrics for Prometheus", "responses": {"200": {"description": "Text exposition."}}}
        },
        "/v1/status": {"get": {"summary": "Everything there is to tell", "responses": answer("The status.")}},
        "/v1/apps": {"get": {"summary": "Apps and their guarantees", "responses": answer("The apps.")}},
        "/v1/apps/{name}/knob": {
            "post": {
                "summary": "Change an app's privacy level: a preset, or ε, window and radius, as the policy allows",
                "parameters": named("The app."),
                "requestBody": body(preset={"type": "string"}, epsilon=NUMBER, window=NUMBER, radius=LENGTH),
                "responses": answer("The app as it is now."),
            }
        },
        "/v1/apps/{name}/switch": {
            "post": {
                "summary": "Switch an app on or off; off means that nothing leaves",
                "parameters": named("The app."),
                "requestBody": body(on={"type": "boolean"}),
                "responses": answer("The app as it is now."),
            }
        },
        "/v1/trackers/{name}/person": {
            "post": {
                "summary": "Say who sits before a tracker: whose budget pays from now on",
                "parameters": named("The tracker."),
                "requestBody": body(person={"type": "string"}),
                "responses": answer("The tracker as it is now."),
            }
        },
        "/v1/budget": {
            "get": {
                "summary": "Budgets of the last 24 hours, and what comes back when",
                "responses": answer("The budgets."),
            }
        },
        "/v1/policy/reload": {"post": {"summary": "Read the policy file again", "responses": answer("What changed.")}},
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
