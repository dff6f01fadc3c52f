# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Gaze that is sent to the gateway as lines of JSON over TCP: by a game engine, a headset's runtime or a small program.

The same conversation as over WebSocket, one text per line. A browser is refused: its first line is no token.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gazeveil.gateway.protocol import PROTOCOLS, Gate, Protocol, ViewingPlane
from gazeveil.gateway.protocols.pushed_gaze import (
    GOING_AWAY,
    LEAVES,
    MOST_BYTES,
    PLAIN,
    POLICY,
    WITHHELD,
    PushedTextSource,
    PushRefused,
    refusal_text,
)
from gazeveil.gateway.tracker_fields import Fields

SILENT_S: Final = 10.0
"""Seconds without a line after which a sender is dropped: nothing else shows that a cable was pulled."""


class PushLinesSource(PushedTextSource):
    """One sender on a TCP connection."""

    def __init__(self, plane: ViewingPlane, gate: Gate, fields: Fields = PLAIN) -> None:
        super().__init__(plane, gate, fields)
        self._waiting = bytearray()

    def _texts_in(self, data: bytes) -> Iterator[str]:
        self._waiting += data
        if b"\n" in data:
            *lines, rest = self._waiting.split(b"\n")
            self._waiting = rest
            yield from (self._text(line) for line in lines if line and not line.isspace())
        if len(self._waiting) > MOST_BYTES:
            self._text(self._waiting)

    def _texts_read(self, now: float) -> None:
        if self._conversation.admitted:
            self._deadline = now + SILENT_S

    def _overdue(self, now: float) -> None:
        self._end(f"nothing was sent for {SILENT_S:g} seconds", POLICY)

    def _text(self, line: bytearray) -> str:
        if len(line) > MOST_BYTES:
            raise self._refused(f"a line is longer than {MOST_BYTES:,} bytes", "end every message with a newline")
        try:
            return line.decode()
        except UnicodeDecodeError:
            raise self._refused("a line is not UTF-8", "send JSON") from None

    def _refused(self, message: str, hint: str) -> PushRefused:
        return PushRefused("samples" if self._conversation.admitted else "token", message, hint)

    def _say(self, text: str) -> None:
        self._out += text.encode() + b"\n"

    def _end(self, reason: str, code: int, text: str = "") -> None:
        kind, hint = ("closed", "come again later") if code == GOING_AWAY else ("sender", "")
        self._say(text or refusal_text("error", kind, reason, hint))
        self._waiting.clear()
        self.ended = True


PROTOCOLS.register("pushlines")(
    Protocol(
        name="pushlines",
        title="JSON lines that gaze is sent in",
        port=7385,
        leaves=LEAVES,
        withheld=WITHHELD,
        listener=PushLinesSource,
        outputs=frozenset(),
        fields=True,
    )
)
