# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Gaze that is sent to the gateway over WebSocket: by a page, a headset's runtime or a small program.

The gateway listens and the sender connects. `pushed_gaze` has the conversation, `websocket_connection` decides which
web pages may connect. Samples leave only through a veil.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gazeveil.gateway.protocol import PROTOCOLS, Gate, Protocol, ViewingPlane
from gazeveil.gateway.protocols.pushed_gaze import (
    LEAVES,
    MOST_BYTES,
    NOT_TEXT,
    PATIENCE_S,
    PLAIN,
    POLICY,
    WITHHELD,
    PushedTextSource,
    PushRefused,
)
from gazeveil.gateway.protocols.websocket_connection import TextServer
from gazeveil.gateway.tracker_fields import Fields

PING_EVERY_S: Final = 5.0


class PushSource(PushedTextSource):
    """One sender on a WebSocket."""

    def __init__(self, plane: ViewingPlane, gate: Gate, fields: Fields = PLAIN) -> None:
        super().__init__(plane, gate, fields)
        refusal = "This page may not send gaze here; the policy can list it."
        self._texts = TextServer(MOST_BYTES, gate.origins, refusal=refusal)
        self._pinged = False
        self._pongs = 0

    def _texts_in(self, data: bytes) -> Iterator[str]:
        yield from self._texts.feed(data)
        if self._texts.binaries:
            raise PushRefused("samples", "a message is not text", code=NOT_TEXT)

    def _texts_read(self, now: float) -> None:
        self._out += self._texts.to_send()
        self.refused_origin, self.ended = self._texts.refused_origin, self._texts.closed
        if self._texts.pongs > self._pongs or self._conversation.admitted is not self.admitted:
            self._pongs, self._pinged = self._texts.pongs, False
            self._deadline = now + PING_EVERY_S

    def _overdue(self, now: float) -> None:
        if self._pinged:
            self._end("no answer to a ping", POLICY)
        else:
            self._texts.ping()
            self._out += self._texts.to_send()
            self._pinged = True
            self._deadline = now + PATIENCE_S

    def _say(self, text: str) -> None:
        self._out += self._texts.to_send()
        if self._texts.open:
            self._out += self._texts.packed(text)

    def _end(self, reason: str, code: int, text: str = "") -> None:
        if text:
            self._say(text)
        self._texts.close(reason, code)
        self._out += self._texts.to_send()
        self.ended = True


PROTOCOLS.register("push")(
    Protocol(
        name="push",
        title="WebSocket that gaze is sent to",
        port=7383,
        leaves=LEAVES,
        withheld=WITHHELD,
        listener=PushSource,
        outputs=frozenset(),
        fields=True,
    )
)
