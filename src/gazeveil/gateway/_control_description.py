# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The control API in the words of OpenAPI 3.1."""

from __future__ import annotations

from typing import Any, Final


def _answer(words: str, schema: str = "Status") -> dict[str, Any]:
    content = {"application/json": {"schema": {"$ref": f"#/components/schemas/{schema}"}}}
    refusal = {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}
    return {
        "200": {"description": words, "content": content},
        "401": {"description": "No token, or a wrong one.", "content": refusal},
        "403": {"description": "Asked under a host name that is not the gateway's.", "content": refusal},
        "404": {"description": "No such app or tracker.", "content": refusal},
        "409": {"description": "Refused: the promise, the budget or the policy does not allow it.", "content": refusal},
        "422": {"description": "The request is wrong.", "content": refusal},
    }


def _body(**properties: dict[str, Any]) -> dict[str, Any]:
    schema = {"type": "object", "additionalProperties": False, "properties": properties}
    return {"required": True, "content": {"application/json": {"schema": schema}}}


def _named(what: str) -> list[dict[str, Any]]:
    return [{"name": "name", "in": "path", "required": True, "schema": {"type": "string"}, "description": what}]


_NUMBER = {"type": ["number", "string"], "description": "A number, or its exact decimal text."}
_LENGTH = {"type": ["number", "string"], "description": "A number and its unit, such as 60px; alone it is pixels."}

OPENAPI: Final[dict[str, Any]] = {
    "openapi": "3.1.0",
    "info": {
        "title": "gazeveil gateway control",
        "version": "1",
        "description": "Operate a running gateway. No answer holds gaze.",
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
        "/v1/status": {"get": {"summary": "Everything there is to tell", "responses": _answer("The status.")}},
        "/v1/apps": {"get": {"summary": "Apps and their promises", "responses": _answer("The apps.")}},
        "/v1/apps/{name}/knob": {
            "post": {
                "summary": "Turn an app's knob: a preset, or ε, window and radius, within what the policy allows",
                "parameters": _named("The app."),
                "requestBody": _body(preset={"type": "string"}, epsilon=_NUMBER, window=_NUMBER, radius=_LENGTH),
                "responses": _answer("The app as it is now."),
            }
        },
        "/v1/apps/{name}/switch": {
            "post": {
                "summary": "Switch an app on or off; off means that nothing leaves",
                "parameters": _named("The app."),
                "requestBody": _body(on={"type": "boolean"}),
                "responses": _answer("The app as it is now."),
            }
        },
        "/v1/trackers/{name}/person": {
            "post": {
                "summary": "Say who sits before a tracker: whose budget pays from now on",
                "parameters": _named("The tracker."),
                "requestBody": _body(person={"type": "string"}),
                "responses": _answer("The tracker as it is now."),
            }
        },
        "/v1/budget": {
            "get": {
                "summary": "Budgets of the last 24 hours, and what comes back when",
                "responses": _answer("The budgets."),
            }
        },
        "/v1/policy/reload": {"post": {"summary": "Read the policy file again", "responses": _answer("What changed.")}},
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
