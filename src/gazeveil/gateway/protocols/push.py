# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Gaze that is sent to the gateway over WebSocket: by a page, a headset's runtime or a small program.

The gateway listens, and the sender connects. `_pushing` has what a sender says, `_websocket_text` which web pages may
connect. Nothing that is sent here ever leaves but through a veil.
"""

from __future__ import annotations

from typing import Final

from gazeveil.errors import WireError
from gazeveil.gateway.plane import Plane
from gazeveil.gateway.protocol import PROTOCOLS, Gate, Protocol, PushedSource
from gazeveil.gateway.protocols._pushing import (
    BAD_DATA,
    MOST_BYTES_A_SECOND,
    POLICY,
    Allowance,
    Conversation,
    PushRefused,
)
from gazeveil.gateway.protocols._websocket_text import GOING_AWAY, TextServer
from gazeveil.gateway.sample import RawSample

MOST_BYTES: Final = 1 << 16
"""Of one message."""
PATIENCE_S: Final = 5.0
"""How long a sender may take until it has shown the token, and for the answer to a ping."""
PING_EVERY_S: Final = 5.0
NOT_TEXT: Final = 1003


class PushSource(PushedSource):
    """One sender on a WebSocket."""

    def __init__(self, plane: Plane, gate: Gate) -> None:
        super().__init__(plane, gate)
        self._talk = Conversation(plane, gate)
        refusal = "This page may not send gaze here; the policy can list it."
        self._texts = TextServer(MOST_BYTES, gate.origins, refusal=refusal)
        self._allowance: Allowance | None = None
        self._deadline: float | None = None
        self._pinged = False

    def connected(self, now: float) -> None:
        """Wait for the handshake and the token, but not for ever."""
        self._deadline = now + PATIENCE_S
        self._allowance = Allowance(MOST_BYTES_A_SECOND, now)

    def received(self, data: bytes, now: float) -> list[RawSample]:
        """Take bytes and return the samples that may be used.

        Raises:
            WireError: If the sender broke the rules. It was told why in what waits to be sent.
        """
        if self.ended:
            return []
        pongs, found = self._texts.pongs, []
        try:
            self._spend(len(data), now)
            for text in self._texts.feed(data):
                found += self._talk.heard(text, now)
                if self._talk.answer:
                    self._say(self._talk.answer)
            if self._texts.binaries:
                raise PushRefused("samples", "a message is not text", code=NOT_TEXT)
        except PushRefused as error:
            self.admitted, self.refused_token = self._talk.admitted, error.kind == "token"
            self._say(error.told())
            self._end(error.message, error.code)
            raise
        except WireError as error:
            self._end(error.message, BAD_DATA)  # unless the handshake failed, or its own close frame waits already
            raise
        self._out += self._texts.to_send()
        self.refused_origin, self.ended = self._texts.refused_origin, self._texts.closed
        self._look(now, answered=self._texts.pongs > pongs)
        return found

    def tick(self, now: float) -> None:
        """Ping the sender now and then, and end with one that does not answer or shows no token in time."""
        if self.ended or self._deadline is None or now < self._deadline:
            return
        if not self.admitted:
            self.refused_token = True
            self._end(f"no token within {PATIENCE_S:g} seconds", POLICY)
        elif self._pinged:
            self._end("no answer to a ping", POLICY)
        else:
            self._texts.ping()
            self._out += self._texts.to_send()
            self._pinged = True
            self._deadline = now + PATIENCE_S

    def close(self, reason: str, code: int = GOING_AWAY) -> None:
        """Say why, and close."""
        self._end(reason, code)

    def _spend(self, size: int, now: float) -> None:
        if self._allowance is not None and not self._allowance.spend(size, now):
            raise PushRefused("rate", f"more than {MOST_BYTES_A_SECOND:,} bytes a second", code=POLICY)

    def _look(self, now: float, *, answered: bool) -> None:
        if answered or self._talk.admitted is not self.admitted:
            self._pinged = False
            self._deadline = now + PING_EVERY_S
        self.admitted = self._talk.admitted

    def _say(self, text: str) -> None:
        self._out += self._texts.to_send()
        if self._texts.open:
            self._out += self._texts.packed(text)

    def _end(self, reason: str, code: int) -> None:
        self._texts.close(reason, code)
        self._out += self._texts.to_send()
        self.ended = True


PROTOCOLS.register("push")(
    Protocol(
        name="push",
        title="WebSocket that gaze is sent to",
        port=7383,
        leaves={
            "ok": "That the token was right.",
            "error": "Of what kind a fault is; for the sender alone.",
            "message": "What the fault is, without what was sent.",
            "hint": "What to do about it.",
        },
        withheld={
            "t, x and y of the sender": "Raw gaze: it goes into a veil and nowhere else.",
            "every other field": "Unknown; a message that has one is refused.",
        },
        listener=PushSource,
        outputs=frozenset(),
    )
)
