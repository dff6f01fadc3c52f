# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Anchors: what a ledger must still hold, as remembered elsewhere. They show that an old copy was put back.

A chain of digests shows that nothing in it was changed, not that its end is missing. An anchor does: it names events
that were on disk, and a ledger that lost one of them is an old copy. There is one in this machine's state folder,
written after each event, and one in the record of every release.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gazeveil.errors import LedgerError, LedgerRolledBack, OutputError
from gazeveil.privacy.ledger._anchor_file import AnchorFile, Known
from gazeveil.privacy.ledger.account import Account, named
from gazeveil.privacy.ledger.store import Reader, Tail

if TYPE_CHECKING:
    from gazeveil.privacy.ledger.ledger import Ledger

Notice = Callable[[str], None]

notice: Notice = logging.getLogger("gazeveil.ledger").warning
"""Where notes for participants go by default."""


@dataclass(frozen=True, slots=True)
class Loss:
    """What the anchor names and the ledger does not hold.

    Attributes:
        events: The newest event known of each account that lost some, and where the account stands now; None for an
            account that is gone altogether.
        damaged: Why the anchor cannot be read; empty if it can.
    """

    events: tuple[tuple[Known, Tail | None], ...] = ()
    damaged: str = ""

    def __bool__(self) -> bool:
        return bool(self.events or self.damaged)

    def in_words(self) -> list[str]:
        """Say it for participants, an account a line."""
        if self.damaged:
            return [self.damaged]
        return [_lost_in_words(known, tail) for known, tail in self.events]


def _lost_in_words(known: Known, tail: Tail | None) -> str:
    if tail is None:
        return f"account {known.account} is gone; it had {known.number:,} events"
    whose = named(tail.dataset, tail.person)
    if tail.number < known.number:
        return f"{whose}: it has {tail.number:,} events and had {known.number:,}"
    return f"{whose}: event {known.number:,} is not the one that was there"


class Watch:
    """Compares one ledger with its anchor on this machine, before each event and after."""

    def __init__(self, where: str, tell: Notice | None = None) -> None:
        self._where, self._tell = where, tell or notice
        self.identity = ""
        self._file: AnchorFile | None = None
        self._newest: Known | None = None

    def check(self, reader: Reader, tail: Tail | None, *, written: bool = False) -> None:
        """Make sure that the ledger holds what its anchor names: everything at first, then what can have changed.

        The anchor is read before the ledger, since others may add to both meanwhile.

        Args:
            reader: The ledger.
            tail: The account that is to be written.
            written: Whether the reader sees events that are not on disk yet: those must not become an anchor.

        Raises:
            LedgerRolledBack: If it does not.
            LedgerError: If the anchor cannot be read, or one that is missing cannot be written.
        """
        if self._file is None or not self._file.is_there():
            if not written:
                self._check_everything(reader)
            return
        known = self._file.known((0,) if tail is None else (0, tail.account))
        if self._newest is not None:
            known.append(self._newest)
        for event in set(known):
            if tail is not None and (event.account, event.number) == (tail.account, tail.number):
                held = tail.head == event.digest
            else:
                held = reader.digest(event.account, event.number) == event.digest
            if not held:
                raise self._rolled_back(self.loss(reader))

    def remember(self, account: int, after: Account) -> None:
        """Write down an event that is on disk now.

        Raises:
            LedgerError: If it cannot be written down. The event stands; asking again with the same id is free.
        """
        self.identity = self.identity or after.head  # the first event of all
        self._file = self._file or AnchorFile(self.identity)
        self._newest = Known(account, after.number, after.head)
        self._file.remember([self._newest])

    def loss(self, reader: Reader) -> Loss:
        """Return what the anchor names and the ledger does not hold."""
        identity = self.identity or reader.identity()
        if not identity:
            return Loss()
        try:
            file = AnchorFile(identity)
            known = file.everything() if file.is_there() else []
        except LedgerError as error:
            return Loss(damaged=error.message)
        if self._newest is not None:
            known.append(self._newest)
        tails = {tail.account: tail for tail in reader.tails() if tail.number}
        lost = {event for event in known if not _holds(reader, tails.get(event.account), event)}
        furthest = {event.account: event for event in sorted(lost)}
        return Loss(tuple((event, tails.get(event.account)) for event in furthest.values()))

    def begin_anew(self, reader: Reader) -> None:
        """Accept the ledger as it stands."""
        self.identity, self._newest = reader.identity(), None
        self._file = AnchorFile(self.identity)
        try:
            self._file.begin_anew(_ends(reader))
        except OutputError as error:
            raise LedgerError(error.message, hint=error.hint) from error

    def close(self) -> None:
        """Flush what was written lately."""
        if self._file is not None:
            self._file.close()

    def _check_everything(self, reader: Reader) -> None:
        if not (identity := reader.identity()):
            if self._newest is not None:
                raise self._rolled_back(Loss(((self._newest, None),)))
            return
        file = AnchorFile(identity)
        if file.is_there():
            file.everything()  # a damaged one is an error of its own
        if loss := self.loss(reader):
            raise self._rolled_back(loss)
        ends = list(_ends(reader))
        is_new = not file.is_there()
        file.remember(ends)
        if is_new:
            count = sum(event.number for event in ends)
            self._tell(
                f"the ledger {self._where} has {count:,} events and no anchor on this machine yet; it is accepted as "
                f"it is, and remembered in {file.path}"
            )
        self.identity, self._file = identity, file

    def _rolled_back(self, loss: Loss) -> LedgerRolledBack:
        lines = loss.in_words()
        more = [f"and {len(lines) - 3:,} accounts more"] if len(lines) > 3 else []
        return LedgerRolledBack(
            f"the ledger {self._where} is an old copy: events are missing that it held before\n  "
            + "\n  ".join([*lines[:3], *more]),
            hint="put the newest copy back; if it is lost, `gazeveil ledger restore` shows what is missing and "
            "how to go on without it",
        )


def check_anchor(ledger: Ledger, anchor: Mapping[str, Any]) -> None:
    """Make sure that a ledger holds what the anchor in a release's record names.

    Raises:
        LedgerRolledBack: If the ledger does not hold it.
        LedgerError: If the anchor is of another ledger, or is none.
    """
    try:
        identity, number, head = str(anchor["ledger"]), int(anchor["events"]), str(anchor["head"])
        dataset, person = str(anchor["dataset"]), str(anchor["person"])
    except (KeyError, TypeError, ValueError):
        raise LedgerError("the record holds an anchor that is none", hint="was the record changed?") from None
    with ledger.store.reading() as reader:
        found = reader.identity()
        tail = reader.tail(dataset, person)
        held = None if tail is None else reader.digest(tail.account, number)
    where = ledger.store.where
    if found and found != identity:
        raise LedgerError(f"the record is of another ledger than {where}", hint="name the ledger that was charged")
    if held != head:
        raise LedgerRolledBack(
            f"the ledger {where} does not hold event {number:,} of {named(dataset, person)}, which the record names",
            hint="the ledger is an old copy, or was changed: see `gazeveil ledger verify`",
        )


def _holds(reader: Reader, tail: Tail | None, event: Known) -> bool:
    if tail is None or tail.number < event.number:
        return False
    if tail.number == event.number:
        return tail.head == event.digest
    return reader.digest(event.account, event.number) == event.digest


def _ends(reader: Reader) -> Iterable[Known]:
    """Return the newest event of each account."""
    return [Known(tail.account, tail.number, tail.head) for tail in reader.tails() if tail.number]
