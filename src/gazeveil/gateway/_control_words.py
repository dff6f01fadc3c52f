# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Short ways to describe a route in the words of OpenAPI 3.1."""

from __future__ import annotations

from typing import Any, Final


def answer(words: str) -> dict[str, Any]:
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
    """Describe a route that is asked; ``of`` is what its path names, and an open one needs no token."""
    told = {"summary": summary, **({"security": []} if is_open else {}), **({"parameters": named(of)} if of else {})}
    responses = answer(responses) if isinstance(responses, str) else responses
    return {"get": {**told, **more, "responses": responses}}


def post(
    summary: str, responses: str | dict[str, Any], *, of: str = "", is_open: bool = False, **properties: Any
) -> dict[str, Any]:
    """Describe a route that something is sent to: a JSON object with these properties, if there are any."""
    more = {"requestBody": body(properties)} if properties else {}
    return {"post": get(summary, responses, of=of, is_open=is_open, **more)["get"]}


def body(properties: dict[str, Any]) -> dict[str, Any]:
    schema = {"type": "object", "additionalProperties": False, "properties": properties}
    return {"required": True, "content": {"application/json": {"schema": schema}}}


def named(what: str) -> list[dict[str, Any]]:
    return [{"name": "name", "in": "path", "required": True, "schema": {"type": "string"}, "description": what}]


TEXT: Final = {"type": "string"}
NUMBER: Final = {"type": ["number", "string"], "description": "A number, or its exact decimal text."}
LENGTH: Final = {
    "type": ["number", "string"],
    "description": "A number and its unit, such as 60px; alone it is pixels.",
}
