# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""JSON lines over TCP, for scripts and for trackers without a protocol of their own."""

from __future__ import annotations

from typing import Final

from gazeveil.errors import WireError
from gazeveil.gateway.protocol import PROTOCOLS, Protocol, Source, ViewingPlane
from gazeveil.gateway.protocols.json_gaze import LEAVES, MOST_BYTES, WITHHELD, JsonFields, JsonReader, JsonSink
from gazeveil.gateway.sample import RawSample
from gazeveil.gateway.tracker_fields import Fields

_TOO_LONG: Final = f"a line is longer than {MOST_BYTES:,} bytes"


class JsonLinesSource(Source):
    """Reads a tracker that writes one JSON object a line; it needs no request."""

    def __init__(self, plane: ViewingPlane, fields: JsonFields | Fields | None = None) -> None:
        super().__init__(plane)
        self._reader = JsonReader(plane, fields or JsonFields())
        self._rest = bytearray()

    def connected(self, now: float) -> None:
        """Nothing is asked for."""

    def received(self, data: bytes, now: float) -> list[RawSample]:
        """Take bytes and return the samples of all lines that are complete now.

        Raises:
            WireError: If a line is too long, or no JSON object.
        """
        samples = []
        *lines, rest = data.split(b"\n")
        for line in lines:
            whole: bytes | bytearray = line
            if self._rest:
                self._rest += line
                whole, self._rest = self._rest, bytearray()
            if len(whole) > MOST_BYTES:
                raise WireError(_TOO_LONG)
            if whole and not whole.isspace() and (sample := self._reader.read(whole, now)) is not None:
                samples.append(sample)
        self._rest += rest
        if len(self._rest) > MOST_BYTES:
            raise WireError(_TOO_LONG)
        return samples


class JsonLinesSink(JsonSink):
    """Writes one JSON object per line; the first describes the stream."""

    def connected(self, now: float) -> None:
        """Greet the app."""
        self._send(self._writer.hello())

    def received(self, data: bytes, now: float) -> None:
        """Accept blank lines alone.

        A web page can make a browser send HTTP to any port of its machine: that is refused here.

        Raises:
            WireError: If it is more than blank lines.
        """
        if data.strip():
            raise WireError("an app sends nothing in this protocol")

    def end(self, reason: str, now: float) -> None:
        """Report why nothing more comes."""
        self._send(self._writer.end(reason))
        self.ended = True

    def _send(self, message: bytes) -> None:
        if not self.ended:
            self._out += message
            self._out += b"\n"


PROTOCOLS.register("jsonlines")(
    Protocol(
        name="jsonlines",
        title="JSON lines over TCP",
        port=7382,
        leaves=LEAVES,
        withheld=WITHHELD,
        source=JsonLinesSource,
        sink=JsonLinesSink,
        outputs=frozenset({"samples", "fixations", "hits"}),
        fields=True,
        head_and_eyes=True,
    )
)
