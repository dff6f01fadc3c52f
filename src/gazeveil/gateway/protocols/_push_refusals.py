# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What a sender of gaze is shown when it broke the rules."""

from __future__ import annotations

import json
from typing import Final

from gazeveil.errors import WireError

GOING_AWAY: Final = 1001
NOT_TEXT: Final = 1003
BAD_DATA: Final = 1007
POLICY: Final = 1008
LATER: Final = 1013
"""Close codes of WebSocket, which say for any carrier of what kind a refusal is."""


class PushRefused(WireError):  # noqa: N818
    """A sender broke the rules.

    Attributes:
        kind: ``token``, ``sender``, ``rate``, ``time``, ``unit`` or ``samples``.
        code: The close code.
    """

    def __init__(self, kind: str, message: str, hint: str = "", code: int = BAD_DATA) -> None:
        super().__init__(message, hint=hint)
        self.kind, self.code = kind, code

    def told(self) -> str:
        """Return the text for the sender."""
        return told("error", self.kind, self.message, self.hint)


def told(what: str, kind: str, message: str, hint: str = "") -> str:
    """Return an ``error`` or a ``warning`` of a kind as a text for the sender."""
    return json.dumps({what: kind, "message": message, "hint": hint})
