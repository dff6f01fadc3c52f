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


def body(**properties: dict[str, Any]) -> dict[str, Any]:
    schema = {"type": "object", "additionalProperties": False, "properties": properties}
    return {"required": True, "content": {"application/json": {"schema": schema}}}


def named(what: str) -> list[dict[str, Any]]:
    return [{"name": "name", "in": "path", "required": True, "schema": {"type": "string"}, "description": what}]


NUMBER: Final = {"type": ["number", "string"], "description": "A number, or its exact decimal text."}
LENGTH: Final = {
    "type": ["number", "string"],
    "description": "A number and its unit, such as 60px; alone it is pixels.",
}
