# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Payments run in a process of their own, so that neither the ledger's disk nor its arithmetic delays a sample.

`PaymentProcess` is the gateway's side. The other side is this module as a program: it opens the ledger, reads charges
from its input, pays them together, and answers with one outcome for each. It ends when its input does, whatever
happened to the gateway. What it had charged until then stays charged.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import pickle
import signal
import struct
import sys
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import IO, Any

from gazeveil.errors import GazeveilError, LedgerBusy, LedgerError, LedgerRolledBack
from gazeveil.gateway.hub.budget import LeaseCharge
from gazeveil.privacy.ledger import Ledger, Receipt
from gazeveil.privacy.ledger.ledger import THIS_PROCESS, Clock

Outcome = Receipt | GazeveilError

PATIENCE_S = 2.0
"""Seconds that a payment waits for a ledger that others hold; a gateway that is stopped waits little longer."""
_FEW, _PARTS = 8, 10
_SLOW_S = 0.1
_LENGTH = struct.Struct(">I")
_ENDED = "the process that pays has ended"


@dataclass(frozen=True, slots=True)
class LedgerLocation:
    """Which ledger pays.

    Attributes:
        ledger: Its path or address.
        create: Whether to create it if there is none.
        identity: Its identity when it last paid; empty if that is not known.
        kept: The file that holds this identity.
        clock: The clock by which budgets come back: the gateway's own, so that a later process has the same.
    """

    ledger: str
    create: bool = False
    identity: str = ""
    kept: str = ""
    clock: Clock = field(default_factory=lambda: THIS_PROCESS)


@dataclass(slots=True)
class PaymentResults:
    """What became of payments.

    Attributes:
        outcomes: One for each.
        trouble: Why all of them failed, if they did.
        notes: Notices for the log that are no errors.
    """

    outcomes: list[Outcome]
    trouble: GazeveilError | None = None
    notes: list[str] = field(default_factory=list)

    @classmethod
    def failed(cls, charges: Sequence[LeaseCharge], why: GazeveilError) -> PaymentResults:
        """Return the results if all of them failed for one reason."""
        return cls([why for _ in charges], why)


class PaymentQueue:
    """Payments that are due, and how many of them are paid at once.

    Encoding many at once would delay samples; paying few at once waits for the disk often. So they are paid a few at a
    time while the ledger is fast, and all together when it is slow.
    """

    def __init__(self) -> None:
        self._due: deque[LeaseCharge] = deque()
        self._slow = False

    def add(self, charges: Iterable[LeaseCharge]) -> None:
        """Add payments that are due."""
        self._due.extend(charges)

    def next(self) -> list[LeaseCharge]:
        """Return what to pay together now; it may be nothing."""
        due = len(self._due)
        many = due if self._slow else max(_FEW, due // _PARTS)
        return [self._due.popleft() for _ in range(min(due, many))]

    def took(self, seconds: float) -> None:
        """Take the duration of the last payment."""
        self._slow = seconds > _SLOW_S


class PaymentProcess:
    """The gateway's side of the process that pays. If it died it is replaced at the next payment."""

    def __init__(self, where: LedgerLocation, note: Callable[[str], None]) -> None:
        self._where, self._note = where, note
        self._process: asyncio.subprocess.Process | None = None
        self._alone = asyncio.Lock()

    @property
    def is_to_create(self) -> bool:
        """Whether a ledger is still to be created."""
        return self._where.create

    async def open(self) -> None:
        """Open the ledger; create it if that was asked for.

        Raises:
            LedgerError: If it cannot be used.
        """
        trouble = (await self._ask([])).trouble
        if trouble is not None:
            raise trouble

    async def pay(self, charges: Sequence[LeaseCharge]) -> list[Outcome]:
        """Pay together; return a receipt once it is on disk, or an error, for each. Never raises."""
        return (await self._ask(charges)).outcomes

    async def close(self) -> None:
        """Wait for the current payment, then end the process."""
        process, self._process = self._process, None
        if process is None or process.stdin is None:
            return
        process.stdin.close()
        try:
            async with asyncio.timeout(2 * PATIENCE_S):
                await process.wait()
        except TimeoutError:
            process.kill()
            await process.wait()

    async def _ask(self, charges: Sequence[LeaseCharge]) -> PaymentResults:
        async with self._alone:
            try:
                answer = await self._asked(charges)
            except (OSError, EOFError) as error:
                await self.close()
                return PaymentResults.failed(charges, LedgerError(f"{_ENDED}: {type(error).__name__}"))
        for note in answer.notes:
            self._note(note)
        identity = next((one.ledger for one in answer.outcomes if isinstance(one, Receipt) and one.ledger), "")
        self._where = replace(
            self._where,
            create=self._where.create and answer.trouble is not None,
            identity=identity or self._where.identity,
        )
        return answer

    async def _asked(self, charges: Sequence[LeaseCharge]) -> PaymentResults:
        if self._process is None:
            self._process = await asyncio.create_subprocess_exec(
                sys.executable, "-m", __name__, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
            )
        process = self._process
        if process.stdin is None or process.stdout is None:
            raise EOFError
        sent = pickle.dumps((self._where, list(charges)))
        process.stdin.write(_LENGTH.pack(len(sent)) + sent)
        await process.stdin.drain()
        (length,) = _LENGTH.unpack(await process.stdout.readexactly(_LENGTH.size))
        answer: PaymentResults = pickle.loads(await process.stdout.readexactly(length))  # noqa: S301  (from our own child)
        return answer


class _LedgerSide:
    """The ledger, in the process that pays."""

    def __init__(self) -> None:
        self._ledger: Ledger | None = None
        self._notes: list[str] = []

    def answer(self, where: LedgerLocation, charges: Sequence[LeaseCharge]) -> PaymentResults:
        """Open the ledger if it is not open, and pay together.

        After an error the ledger is closed and used again, but never opened as if for the first time: it remembers its
        file, and so notices another one in its place.
        """
        try:
            ledger = self._opened(where)
            with ledger.transaction():
                answer = PaymentResults([_paid(ledger, charge) for charge in charges])
        except Exception as error:  # noqa: BLE001  (whatever it is: all of them failed, or that is unknown)
            answer = PaymentResults.failed(charges, _as_ours(error))
        if self._ledger is not None and any(_is_broken(one) for one in (answer.trouble, *answer.outcomes)):
            with contextlib.suppress(GazeveilError):
                self._ledger.close()
        answer.notes, self._notes[:] = [*self._notes], []
        return answer

    def _opened(self, where: LedgerLocation) -> Ledger:
        if self._ledger is None:
            ledger = Ledger.open(
                where.ledger,
                create=where.create,
                patience_s=PATIENCE_S,
                notice=self._notes.append,
                clock=where.clock,
            )
            if where.identity and ledger.identity != where.identity:
                ledger.close()
                raise LedgerRolledBack(
                    f"{ledger.store.where} is not the ledger that this gateway paid from, but another or an empty one",
                    hint="put the right one back; to go on with this one on purpose, remove its line under "
                    f'"ledgers" from {where.kept}',
                )
            ledger.check()
            self._ledger = ledger
        return self._ledger


def _paid(ledger: Ledger, charge: LeaseCharge) -> Outcome:
    try:
        return charge.pay(ledger)
    except Exception as error:  # noqa: BLE001  (whatever the ledger does, an unpaid lease is an unpaid lease)
        return _as_ours(error)


def _as_ours(error: Exception) -> GazeveilError:
    return error if isinstance(error, GazeveilError) else LedgerError(f"the ledger failed: {type(error).__name__}")


def _is_broken(outcome: Outcome | None) -> bool:
    return isinstance(outcome, LedgerError) and not isinstance(outcome, LedgerBusy)


def _read(file: IO[bytes]) -> Any:
    """Return the next message; None at the end."""
    head = file.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return None
    (length,) = _LENGTH.unpack(head)
    body = file.read(length)
    return pickle.loads(body) if len(body) == length else None  # noqa: S301  (from the gateway, which started us)


def main() -> None:
    """Pay what the gateway asks for until it closes the connection."""
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):  # those are for the gateway, which then closes the pipe
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_IGN)
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # nothing else may write where answers go
    from gazeveil.gateway.hub.payments import _LedgerSide as LedgerSide  # noqa: PLC0415  (pickle needs the module's name, not __main__)

    ledger = LedgerSide()
    while (asked := _read(sys.stdin.buffer)) is not None:
        sent = pickle.dumps(ledger.answer(*asked))
        answers.write(_LENGTH.pack(len(sent)) + sent)
        answers.flush()


if __name__ == "__main__":
    main()
