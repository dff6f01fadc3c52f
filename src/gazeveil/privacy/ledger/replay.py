# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Replay a ledger's events and report everything that is wrong with it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from gazeveil.errors import LedgerError
from gazeveil.privacy.ledger.account import account_label, by_name, in_letters
from gazeveil.privacy.ledger.events import GENESIS, LedgerEvent, digest_of_text, from_text
from gazeveil.privacy.ledger.spending import NoPrice, Totals
from gazeveil.privacy.ledger.store import Reader, StoredAccount, StoredEvent


@dataclass(frozen=True, slots=True)
class Verification:
    """What a replay found.

    Attributes:
        accounts: How many accounts were replayed.
        events: How many events were replayed.
        faults: What is wrong; empty if the ledger is valid.
    """

    accounts: int
    events: int
    faults: tuple[str, ...]

    @property
    def sound(self) -> bool:
        """Whether nothing is wrong."""
        return not self.faults

    def to_dict(self) -> dict[str, Any]:
        """Return the findings as plain values."""
        return {"sound": self.sound, "accounts": self.accounts, "events": self.events, "faults": list(self.faults)}


def verify(reader: Reader, anchors: Iterable[str]) -> Verification:
    """Replay every account; ``anchors`` are digests of events that must still be there."""
    faults = reader.faults()
    tails = reader.tails()
    missing = dict.fromkeys(anchors)
    events = 0
    for tail in tails:
        replay = _Replay(tail)
        for line in reader.lines(tail.account):
            replay.take(line)
            events += 1
            missing.pop(line.digest, None)
        if not replay.number:
            replay.fault("it has no events")
        faults += replay.faults
    faults += [f"the exported event with the digest {digest} is gone" for digest in missing]
    return Verification(len(tails), events, tuple(faults))


class _Replay:
    """One account, replayed event by event."""

    def __init__(self, tail: StoredAccount) -> None:
        self.tail = tail
        self.number, self.head, self.totals = 0, GENESIS, Totals()
        self.faults: list[str] = []
        self.readable = True

    def fault(self, what: str) -> None:
        self.faults.append(f"{account_label(self.tail.dataset, self.tail.person)}: {what}")

    def take(self, line: StoredEvent) -> None:
        self.number += 1
        if line.number != self.number:
            self.fault(f"event {self.number} is missing")
            self.number = line.number
        if digest_of_text(line.text) != line.digest:
            self.fault(f"event {line.number} was changed: its text does not match its digest")
        try:
            event = from_text(line.text)
            self._check_place(line, event)
            self.totals = self.totals.after(event)
        except (LedgerError, NoPrice) as error:
            self.readable = False
            self.fault(f"event {line.number}: {error.message if isinstance(error, LedgerError) else error}")
        else:
            if self.totals.overspent:
                left = in_letters(by_name(self.totals.budget, self.totals.remaining), up=False)
                self.fault(f"event {line.number} overspent the budget: left {left}")
            if self.readable and line.totals != self.totals.to_text():
                self.readable = False
                self.fault(f"from event {line.number} on, the running totals are not what the events come to")
        self.head = line.digest

    def _check_place(self, line: StoredEvent, event: LedgerEvent) -> None:
        if event.previous != self.head:
            self.fault(f"event {line.number} does not follow the event before it")
        place = (event.number, event.id, event.dataset, event.person)
        if place != (line.number, line.id, self.tail.dataset, self.tail.person):
            self.fault(f"event {line.number} belongs somewhere else")
