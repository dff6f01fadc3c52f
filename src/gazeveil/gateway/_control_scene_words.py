# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The routes of scenes in the words of OpenAPI 3.1."""

from __future__ import annotations

from typing import Any, Final

from gazeveil.gateway._control_words import answer, get, named, post

_PICTURE: Final = {"schema": {"type": "string", "format": "binary"}}
_BOX: Final = {"type": "array", "items": {"type": "number", "minimum": 0, "maximum": 1}, "minItems": 4, "maxItems": 4}
_TOO_FAST: Final = {"429": {"description": "More is pushed than is looked at: wait."}}
_PUSHED: Final = "It may only raise radius and window. The scene's own token is enough."

SCENE_PATHS: Final[dict[str, Any]] = {
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
            "responses": {**answer("It was looked at."), **_TOO_FAST},
        },
    },
    "/v1/trackers/{name}/scene/boxes": post(
        f"Push where things are on the screen, in shares of it. {_PUSHED}",
        {**answer("They were taken."), **_TOO_FAST},
        of="The tracker.",
        boxes={"type": "array", "maxItems": 1000, "items": _BOX},
    ),
}
