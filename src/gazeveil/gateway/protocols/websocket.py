# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""WebSocket with one JSON object per text message, for browsers and headset runtimes.

`websocket_connection` decides which web pages may read.
"""

from __future__ import annotations

from typing import Final

from gazeveil.gateway.protocol import PROTOCOLS, Protocol, Source, StreamFacts, ViewingPlane
from gazeveil.gateway.protocols.json_gaze import LEAVES, MOST_BYTES, WITHHELD, JsonFields, JsonReader, JsonSink
from gazeveil.gateway.protocols.websocket_connection import GOING_AWAY, POLICY, TextClient, TextServer
from gazeveil.gateway.sample import RawSample
from gazeveil.gateway.tracker_fields import Fields

PATIENCE_S: Final = 10.0
"""Seconds that an app may take for its handshake, and for the answer to a ping."""

PING_EVERY_S: Final = 20.0


class WebSocketSource(Source):
    """The client of a tracker or headset runtime that pushes JSON."""

    def __init__(self, plane: ViewingPlane, fields: JsonFields | Fields | None = None) -> None:
        super().__init__(plane)
        self._reader = JsonReader(plane, fields or JsonFields())
        self._texts = TextClient(MOST_BYTES, "ws://127.0.0.1:7381/")  # the connection itself is someone else's

    def connected(self, now: float) -> None:
        """Ask for a WebSocket."""
        self._texts.open()
        self._out += self._texts.to_send()

    def received(self, data: bytes, now: float) -> list[RawSample]:
        """Take bytes and return the samples of all messages that are complete now; pings are answered.

        Raises:
            WireError: If they are not the answer to the handshake or not messages of JSON.
        """
        found = [self._reader.read(text, now) for text in self._texts.feed(data)]
        self._out += self._texts.to_send()
        return [sample for sample in found if sample is not None]


class WebSocketSink(JsonSink):
    """The server for an app."""

    def __init__(self, shown: StreamFacts) -> None:
        super().__init__(shown)
        self._texts = TextServer(MOST_BYTES, shown.origins, self._writer.hello())
        self._deadline: float | None = None
        self._pinged = False

    @property
    def wants_gaze(self) -> bool:
        """Whether there is a WebSocket."""
        return self._texts.open and not self.ended

    def connected(self, now: float) -> None:
        """Wait for the app's handshake, for a limited time."""
        self._deadline = now + PATIENCE_S

    def regrade(self, shown: StreamFacts) -> None:
        """Greet the app again: another kind of output comes from now on."""
        super().regrade(shown)
        self._texts.greeting = self._writer.hello()

    def received(self, data: bytes, now: float) -> None:
        """Take bytes of the app: its handshake, then pings and pongs. Everything else is ignored.

        Raises:
            WireError: If they are not a WebSocket's.
        """
        if self.ended:
            return
        was_open, pongs = self._texts.open, self._texts.pongs
        self._texts.feed(data)
        self._out += self._texts.to_send()
        self.ended = self._texts.closed
        self.refused_origin = self._texts.refused_origin
        if self._texts.pongs > pongs or self._texts.open is not was_open:
            self._pinged = False
            self._deadline = now + PING_EVERY_S

    def tick(self, now: float) -> None:
        """Ping the app now and then, and drop it if it does not answer."""
        if self.ended or self._deadline is None or now < self._deadline:
            return
        if not self._texts.open or self._pinged:
            self.ended = True
            return
        self._texts.ping()
        self._out += self._texts.to_send()
        self._pinged = True
        self._deadline = now + PATIENCE_S

    def end(self, reason: str, now: float, code: int = POLICY) -> None:
        """Report why nothing more comes, and close: 1008 for the policy's reasons, 1001 when the gateway stops."""
        self._send(self._writer.end(reason))
        self._texts.close(reason, code)
        self._out += self._texts.to_send()
        self.ended = True

    def stop(self, reason: str, now: float) -> None:
        """Report that the gateway stops: clients may connect again."""
        self.end(reason, now, GOING_AWAY)

    def _send(self, message: bytes) -> None:
        if self._texts.open:
            self._out += self._texts.packed(message)


PROTOCOLS.register("websocket")(
    Protocol(
        name="websocket",
        title="WebSocket with JSON messages",
        port=7381,
        leaves=LEAVES,
        withheld=WITHHELD,
        source=WebSocketSource,
        sink=WebSocketSink,
        outputs=frozenset({"samples", "fixations", "hits"}),
        fields=True,
        head_and_eyes=True,
    )
)
