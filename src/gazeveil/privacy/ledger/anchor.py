# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Anchors: what a ledger must still hold, remembered in a file away from it. They show that an old copy was restored.

A chain of digests shows that nothing in it was changed, not that its end is missing. An anchor does: it names events
that were on disk, and a ledger that lost one of them is an old copy. There is one in this machine's state folder,
written after each event, and one in the record of every release.

The file: a title of 128 bytes with the ledger's identity, then places of 128 bytes: place 0 for the newest event of the
whole ledger, place *n* for the newest event of account *n*. A place has two halves that are written in turns, each with
a checksum, so a write that power loss cuts short leaves the half before it. A charge writes two places, however many
accounts there are. Every place names an event that was on disk before it was written. So whatever part of a write
survives, the file names events that a ledger which lost nothing must hold.
"""

from __future__ import annotations

import logging
import os
import struct
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from gazeveil.errors import LedgerError, LedgerRolledBack, OutputError
from gazeveil.files import replacing
from gazeveil.privacy.ledger.account import Account, account_label
from gazeveil.privacy.ledger.store import Reader, StoredAccount
from gazeveil.process import lock, unlock

if TYPE_CHECKING:
    from gazeveil.privacy.ledger.ledger import Ledger


STATE = "GAZEVEIL_STATE"
"""The environment variable that names the folder for what gazeveil remembers."""

_PLACE = 128
_HALF = struct.Struct(">QQQ32sQ")  # turn, account, number, digest, checksum
_BODY = _HALF.size - 8
_BINARY: int = getattr(os, "O_BINARY", 0)
_TITLE = b"gazeveil ledger anchor 1\n"
_FLUSH_S = 1.0
"""How long a written place may wait to be flushed: power loss alone can take it, and then the anchor is behind."""


class KnownEvent(NamedTuple):
    """An event that the ledger must hold: account, number and digest."""

    account: int
    number: int
    digest: str


class AnchorFile:
    """The anchor of one ledger on this machine. Opened for each use, so that threads and forks may share it."""

    def __init__(self, identity: str) -> None:
        bytes_of(identity)  # it becomes a file's name
        self.path = state_folder() / "anchors" / identity
        self._name = str(self.path)
        self._identity = identity
        self._title = (_TITLE + identity.encode()).ljust(_PLACE, b"\n")
        self._seed = zlib.crc32(self._title)
        self._flushed = 0.0
        self._waiting = False

    def is_there(self) -> bool:
        """Whether there is one."""
        try:
            return os.stat(self._name).st_size > 0  # noqa: PTH116  (on the way of every charge)
        except FileNotFoundError:
            return False
        except OSError as error:
            raise self._trouble("read", error) from error

    def known(self, accounts: Iterable[int]) -> list[KnownEvent]:
        """Return what is known of some accounts, and of account 0: the newest event of all."""
        with self._open(os.O_RDONLY) as file:
            self._check_title(file)
            places = (self._read(file, account)[1] for account in accounts)
            return [place for place in places if place is not None]

    def everything(self) -> list[KnownEvent]:
        """Return what is known of every account, and the newest event of all."""
        with self._open(os.O_RDONLY) as file:
            self._check_title(file)
            count = (os.lseek(file, 0, os.SEEK_END) + _PLACE - 1) // _PLACE - 1
            places = (self._read(file, account)[1] for account in range(count))
            return [place for place in places if place is not None]

    def remember(self, events: Iterable[KnownEvent]) -> None:
        """Write down events that are on disk in the ledger, the newest last; what is known never goes back."""
        if not self.is_there():
            self._make()
        with self._open(os.O_RDWR) as file:
            self._check_title(file)
            newest = None
            for event in events:
                turn, before = self._read(file, event.account)
                if before is None or before.number < event.number:
                    self._write(file, event.account, turn, event)
                    newest = event
            if newest is not None:
                self._write(file, 0, self._read(file, 0)[0], newest)
            self._waiting = True
            if time.monotonic() - self._flushed > _FLUSH_S:
                self._flush(file)

    def begin_anew(self, events: Iterable[KnownEvent]) -> None:
        """Forget everything and remember only these events; for a ledger that was restored on purpose."""
        with replacing(self.path) as temporary:
            fresh = AnchorFile(self._identity)
            fresh.path, fresh._name = temporary, str(temporary)
            fresh.remember(events)

    def close(self) -> None:
        """Flush what was written lately, if that is possible; if not, the anchor may be behind."""
        if self._waiting:
            with suppress(LedgerError), self._open(os.O_RDWR) as file:
                self._flush(file)

    def _flush(self, file: int) -> None:
        os.fsync(file)
        self._flushed, self._waiting = time.monotonic(), False

    @contextmanager
    def _open(self, mode: int) -> Iterator[int]:
        try:
            file = os.open(self._name, mode | _BINARY)
            try:
                lock(file, shared=mode == os.O_RDONLY)
                try:
                    yield file
                finally:
                    unlock(file)
            finally:
                os.close(file)
        except OSError as error:
            raise self._trouble("read" if mode == os.O_RDONLY else "written", error) from error

    def _make(self) -> None:
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self.path.touch(mode=0o600)
        except OSError as error:
            raise self._trouble("written", error) from error
        with self._open(os.O_RDWR) as file:
            if not os.lseek(file, 0, os.SEEK_END):
                os.write(file, self._title)

    def _check_title(self, file: int) -> None:
        os.lseek(file, 0, os.SEEK_SET)
        if os.read(file, _PLACE) != self._title:
            raise self._damaged()

    def _read(self, file: int, account: int) -> tuple[int, KnownEvent | None]:
        """Return how often a place was written, and what it says."""
        os.lseek(file, _PLACE * (1 + account), os.SEEK_SET)
        place = os.read(file, _PLACE).ljust(_PLACE, b"\0")
        read = _parsed(place, zlib.crc32(b"%d" % account, self._seed))
        if read is None:
            raise self._damaged()
        return read

    def _write(self, file: int, account: int, turn: int, event: KnownEvent) -> None:
        half = (turn + 1, event.account, event.number, bytes_of(event.digest))
        checksum = _checksum(_HALF.pack(*half, 0)[:_BODY], zlib.crc32(b"%d" % account, self._seed))
        os.lseek(file, _PLACE * (1 + account) + _HALF.size * (turn % 2), os.SEEK_SET)
        os.write(file, _HALF.pack(*half, checksum))

    def _damaged(self) -> LedgerError:
        return LedgerError(
            f"the ledger's anchor {self.path} is damaged, so it is unknown whether the ledger is an old copy",
            hint="compare the ledger with your releases (`gazeveil ledger verify --release FOLDER`); if it is the "
            "right one, `gazeveil ledger restore --confirm --note REASON` writes a new anchor",
        )

    def _trouble(self, done: str, error: OSError) -> LedgerError:
        return LedgerError(
            f"the ledger's anchor {self.path} cannot be {done}: {error.strerror or error}",
            hint=f"let it be read and written, or name another folder with the environment variable {STATE}",
        )


@lru_cache(maxsize=64)
def _parsed(place: bytes, seed: int) -> tuple[int, KnownEvent | None] | None:
    """Return how often a place was written, and what it says; None if it is damaged."""
    if not any(place):
        return 0, None
    halves = ((_HALF.unpack_from(place, at), place[at : at + _BODY]) for at in (0, _HALF.size))
    whole = [half for half, body in halves if half[-1] == _checksum(body, seed)]
    if not whole:
        return None
    turn, owner, number, digest, _ = max(whole)
    return turn, KnownEvent(owner, number, digest.hex())


def _checksum(body: bytes, seed: int) -> int:
    """Return a number that damage changes; that of a half which was never written is not 0."""
    return 1 + zlib.crc32(body, seed)


def bytes_of(digest: str) -> bytes:
    """Return a digest as bytes.

    Raises:
        LedgerError: If it is none.
    """
    try:
        found = bytes.fromhex(digest)
    except ValueError:
        found = b""
    if len(found) != 32 or found.hex() != digest:
        raise LedgerError(
            f"the ledger holds a digest that is none: {digest[:80]!r}", hint="see `gazeveil ledger verify`"
        )
    return found


def state_folder() -> Path:
    """Return the folder for what gazeveil remembers on this machine."""
    if named := os.environ.get(STATE):
        return Path(named).absolute()
    if own := os.environ.get("STATE_DIRECTORY", "").split(os.pathsep)[0]:  # systemd's, for a unit with StateDirectory=
        return Path(own).absolute() / "remembered"
    if base := os.environ.get("XDG_STATE_HOME"):
        return Path(base).absolute() / "gazeveil"
    if base := os.environ.get("LOCALAPPDATA"):  # Windows
        return Path(base).absolute() / "gazeveil"
    try:
        return Path.home() / ".local" / "state" / "gazeveil"
    except RuntimeError:
        raise LedgerError(
            "there is no home folder in which to remember how far the ledger had come",
            hint=f"name a folder with the environment variable {STATE}",
        ) from None


# --- A ledger and its anchor, compared.


Notice = Callable[[str], None]

log_notice: Notice = logging.getLogger("gazeveil.ledger").warning
"""Where notices go by default: to the log."""


@dataclass(frozen=True, slots=True)
class LostEvents:
    """What the anchor names and the ledger does not hold.

    Attributes:
        events: The newest event known of each account that lost some, and the account as it stands; None for an account
            that is gone altogether.
        damaged: Why the anchor cannot be read; empty if it can.
    """

    events: tuple[tuple[KnownEvent, StoredAccount | None], ...] = ()
    damaged: str = ""

    def __bool__(self) -> bool:
        return bool(self.events or self.damaged)

    def in_words(self) -> list[str]:
        """Say what is lost, an account a line."""
        if self.damaged:
            return [self.damaged]
        return [_lost_in_words(known, tail) for known, tail in self.events]


def _lost_in_words(known: KnownEvent, tail: StoredAccount | None) -> str:
    if tail is None:
        return f"account {known.account} is gone; it had {known.number:,} events"
    whose = account_label(tail.dataset, tail.person)
    if tail.number < known.number:
        return f"{whose}: it has {tail.number:,} events and had {known.number:,}"
    return f"{whose}: event {known.number:,} is not the one that was there"


class AnchorCheck:
    """Compares one ledger with its anchor on this machine, before each event and after."""

    def __init__(self, where: str, tell: Notice | None = None) -> None:
        self._where, self._tell = where, tell or log_notice
        self.identity = ""
        self._file: AnchorFile | None = None
        self._newest: KnownEvent | None = None

    def check(self, reader: Reader, tail: StoredAccount | None, *, written: bool = False) -> None:
        """Check that the ledger holds what its anchor names: everything at first, then what can have changed.

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
        self._newest = KnownEvent(account, after.number, after.head)
        self._file.remember([self._newest])

    def loss(self, reader: Reader) -> LostEvents:
        """Return what the anchor names and the ledger does not hold."""
        identity = self.identity or reader.identity()
        if not identity:
            return LostEvents()
        try:
            file = AnchorFile(identity)
            known = file.everything() if file.is_there() else []
        except LedgerError as error:
            return LostEvents(damaged=error.message)
        if self._newest is not None:
            known.append(self._newest)
        tails = {tail.account: tail for tail in reader.tails() if tail.number}
        lost = {event for event in known if not _holds(reader, tails.get(event.account), event)}
        furthest = {event.account: event for event in sorted(lost)}
        return LostEvents(tuple((event, tails.get(event.account)) for event in furthest.values()))

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
                raise self._rolled_back(LostEvents(((self._newest, None),)))
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

    def _rolled_back(self, loss: LostEvents) -> LedgerRolledBack:
        lines = loss.in_words()
        more = [f"and {len(lines) - 3:,} accounts more"] if len(lines) > 3 else []
        return LedgerRolledBack(
            f"the ledger {self._where} is an old copy: events are missing that it held before\n  "
            + "\n  ".join([*lines[:3], *more]),
            hint="put the newest copy back; if it is lost, `gazeveil ledger restore` shows what is missing and "
            "how to go on without it",
        )


def check_anchor(ledger: Ledger, anchor: Mapping[str, Any]) -> None:
    """Check that a ledger holds what the anchor in a release's record names.

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
            f"the ledger {where} does not hold event {number:,} of {account_label(dataset, person)}, "
            "which the record names",
            hint="the ledger is an old copy, or was changed: see `gazeveil ledger verify`",
        )


def _holds(reader: Reader, tail: StoredAccount | None, event: KnownEvent) -> bool:
    if tail is None or tail.number < event.number:
        return False
    if tail.number == event.number:
        return tail.head == event.digest
    return reader.digest(event.account, event.number) == event.digest


def _ends(reader: Reader) -> Iterable[KnownEvent]:
    """Return the newest event of each account."""
    return [KnownEvent(tail.account, tail.number, tail.head) for tail in reader.tails() if tail.number]
