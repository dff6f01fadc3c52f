# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What every carrier of a sender's texts has in common: patience, limits, and how a refusal is reported."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import Final

from gazeveil.errors import WireError
from gazeveil.gateway.fields import Fields
from gazeveil.gateway.plane import Plane
from gazeveil.gateway.protocol import Gate, PushedSource
from gazeveil.gateway.protocols._push_refusals import BAD_DATA, GOING_AWAY, POLICY, PushRefused
from gazeveil.gateway.protocols._pushing import MOST_BYTES_A_SECOND, Allowance, Conversation
from gazeveil.gateway.sample import RawSample

MOST_BYTES: Final = 1 << 16
"""Of one text."""
PATIENCE_S: Final = 5.0
"""How long a sender may take until it has shown the token."""
PLAIN: Final = Fields()


class Carried(PushedSource):
    """One sender, whose texts come out of bytes."""

    def __init__(self, plane: Plane, gate: Gate, fields: Fields = PLAIN) -> None:
        super().__init__(plane, gate)
        self._talk = Conversation(plane, gate, fields)
        self._allowance: Allowance | None = None
        self._deadline: float | None = None

    def connected(self, now: float) -> None:
        """Wait for the token, but not for ever."""
        self._deadline = now + PATIENCE_S
        self._allowance = Allowance(MOST_BYTES_A_SECOND, now)

    def received(self, data: bytes, now: float) -> list[RawSample]:
        """Take bytes and return the samples that may be used.

        Raises:
            WireError: If the sender broke the rules. It was told why in what waits to be sent.
        """
        if self.ended:
            return []
        found: list[RawSample] = []
        try:
            if self._allowance is not None and not self._allowance.spend(len(data), now):
                raise PushRefused("rate", f"more than {MOST_BYTES_A_SECOND:,} bytes a second", code=POLICY)
            for text in self._texts_in(data):
                found += self._talk.heard(text, now)
                self.remark = self._talk.remark or self.remark
                if self._talk.answer:
                    self._say(self._talk.answer)
        except PushRefused as error:
            self.admitted, self.refused_token = self._talk.admitted, error.kind == "token"
            self._end(error.message, error.code, error.told())
            raise
        except WireError as error:
            self._end(error.message, BAD_DATA)  # unless the handshake failed, or its own close frame waits already
            raise
        self._heard(now)
        self.admitted = self._talk.admitted
        return found

    def tick(self, now: float) -> None:
        """End with a sender that shows no token in time; see to it that others still live."""
        if self.ended or self._deadline is None or now < self._deadline:
            return
        if self.admitted:
            self._overdue(now)
        else:
            self.refused_token = True
            self._end(f"no token within {PATIENCE_S:g} seconds", POLICY)

    def close(self, reason: str, code: int = GOING_AWAY) -> None:
        """Say why, and close."""
        self._end(reason, code)

    @abstractmethod
    def _texts_in(self, data: bytes) -> Iterator[str]:
        """Yield the texts that are whole now."""

    @abstractmethod
    def _heard(self, now: float) -> None:
        """Look after the connection when all texts were heard; whether the sender was admitted before is still set."""

    @abstractmethod
    def _overdue(self, now: float) -> None:
        """Do what is to be done when the deadline of an admitted sender has passed."""

    @abstractmethod
    def _say(self, text: str) -> None:
        """Queue a text."""

    @abstractmethod
    def _end(self, reason: str, code: int, text: str = "") -> None:
        """Queue a last text and the carrier's good-bye, and set ``ended``."""


LEAVES: Final = {
    "ok": "That the token was right.",
    "error": "Of what kind a fault is; for the sender alone.",
    "warning": "Of what kind an oddity is; for the sender alone.",
    "message": "What it is, without what was sent.",
    "hint": "What to do about it.",
}
WITHHELD: Final = {
    "time and point of the sender": "Raw gaze: it goes into a veil and nowhere else.",
    "every other field": "Unknown; a message that has one is refused, or the field dropped if the policy says so.",
}
