# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What a ledger remembers: events that are added and never changed.

Compatibility
-------------
A ledger outlives the program that wrote it. Therefore, for every version of gazeveil to come:

1. A kind of event is never removed, never renamed, and never changes its meaning.
2. A field is never removed, never renamed, and never changes its meaning.
3. A new field has a default, and with that default an event means what it meant before. An older program may ignore
   a field that it does not know, so what changes how much was spent becomes a new *kind*, not a new field.
4. An unknown kind is refused: a program that cannot tell what was spent lets nothing be spent.
5. The text of an event is kept as it was written, and its digest is taken of that text.

Each event carries the digest of the event before it in its account. A changed, inserted, swapped or missing event
breaks the chain, and `Ledger.verify` says where. What a chain cannot show by itself is that its newest events were
cut off; an anchor does (see `gazeveil.privacy.ledger.anchor`).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from typing import Any, ClassVar

from gazeveil.errors import LedgerError, OptionError

GENESIS = "0" * 64
"""What stands for the predecessor of an account's first event."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerEvent:
    """What all events have.

    Attributes:
        id: The charger's own name for it, unique in the ledger: a retry with the same id is the same charge. Empty
            where none was given; every event is also known by its digest.
        time: When it was written, in UTC, as the writing machine's clock told it. For participants: nothing is decided
            by it.
        dataset: The account's data set.
        person: The account's participant; empty for the data set as a whole.
        number: 1 for the account's first event, then without gaps.
        previous: The digest of the event before it; `GENESIS` for the first.
        guarantee: The guarantee it is about, as `Guarantee.to_dict` writes it; empty where there is none.
        recipe: The digest of the recipe of the release, see `digest_of`; empty where there is none.
        note: Free text for participants.
    """

    kind: ClassVar[str]

    id: str
    time: str
    dataset: str
    person: str
    number: int
    previous: str
    guarantee: Mapping[str, Any]
    recipe: str = ""
    note: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return the event as plain values."""
        return {"kind": self.kind, **{name: getattr(self, name) for name in _NAMES[self.kind]}}


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetGranted(LedgerEvent):
    """So much more may be spent. The first grant opens the account and fixes what kind of budget it holds."""

    kind: ClassVar[str] = "budget-granted"


@dataclass(frozen=True, slots=True, kw_only=True)
class Charged(LedgerEvent):
    """So much was spent, whether or not the release that it paid for ever left.

    Attributes:
        conversion: On an account's first concentrated charge against an (ε, δ) budget: the terms on which this and
            every later one is converted (see `spending`). None otherwise.
    """

    kind: ClassVar[str] = "charged"

    conversion: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AllowanceSet(LedgerEvent):
    """From now on so much may be spent within any window of the budget; it takes the place of the allowance before.

    The first one opens an account whose budget comes back. In such an account there are leases and no other charges.

    Attributes:
        at: The account's time, in seconds since 1970; it never runs back.
        carried: In the event that opens the account: what counts from the beginning, as ``spent``, a list of [until
            when it paid for gaze, ε as text], and ``unproven``, a list of reasons. Empty where nothing does.
    """

    kind: ClassVar[str] = "allowance-set"

    at: int
    carried: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Leased(LedgerEvent):
    """So much was spent on gaze until a moment; it counts until the budget's window has passed since that moment.

    Attributes:
        at: The account's time, in seconds since 1970; it never runs back.
        until: Until when gaze is paid for, on the same clock.
    """

    kind: ClassVar[str] = "leased"

    at: int
    until: int


@dataclass(frozen=True, slots=True, kw_only=True)
class UnprovenRecorded(LedgerEvent):
    """Something without a proven guarantee was released: whatever else was spent, the account's guarantee is void."""

    kind: ClassVar[str] = "unproven-recorded"


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountClosed(LedgerEvent):
    """Nothing more may be granted or spent."""

    kind: ClassVar[str] = "account-closed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Restored(LedgerEvent):
    """Someone went on with an old copy of the ledger on purpose: events of the account, or whole accounts, are lost.

    Attributes:
        lost: The newest event that the account is known to have had: its ``number`` and ``digest``. From here on, what
            was charged is not all that was spent. Empty if the account itself lost nothing.
        gone: The same for accounts that are lost altogether, by their number in the ledger.
    """

    kind: ClassVar[str] = "restored"

    lost: Mapping[str, Any] = field(default_factory=dict)
    gone: Mapping[str, Any] = field(default_factory=dict)


_ALL = (BudgetGranted, Charged, UnprovenRecorded, AccountClosed, Restored, AllowanceSet, Leased)
KINDS: dict[str, type[LedgerEvent]] = {kind.kind: kind for kind in _ALL}

_NAMES = {name: tuple(field.name for field in fields(kind)) for name, kind in KINDS.items()}
_TYPES: dict[str, type | tuple[type, ...]] = {
    "number": int,
    "guarantee": dict,
    "conversion": (dict, type(None)),
    "lost": dict,
    "gone": dict,
    "at": int,
    "until": int,
    "carried": dict,
}
"""What the fields of events hold that do not hold text."""


def to_text(event: LedgerEvent) -> str:
    """Write an event as the one text that is stored and digested."""
    return _canonical(event.to_dict())


def from_text(text: str) -> LedgerEvent:
    """Read an event.

    Raises:
        LedgerError: If the kind is unknown, or the text is not an event.
    """
    try:
        values = json.loads(text)
        kind = values.pop("kind")
    except (ValueError, KeyError, TypeError, AttributeError):
        raise LedgerError(
            f"the ledger holds a line that is not an event: {text[:80]!r}", hint="see `gazeveil ledger verify`"
        ) from None
    if not isinstance(kind, str) or kind not in KINDS:
        raise LedgerError(
            f"the ledger holds an event of the unknown kind {kind!r}: what was spent is unknown",
            hint="use the version of gazeveil that wrote it, or a newer one",
        )
    given = {name: value for name, value in values.items() if name in _NAMES[kind]}
    wrong = [name for name, value in given.items() if not isinstance(value, _TYPES.get(name, str))]
    if wrong:
        raise LedgerError(f"the ledger holds a {kind!r} event whose {wrong[0]} is {given[wrong[0]]!r}")
    try:
        return KINDS[kind](**given)
    except TypeError as error:
        raise LedgerError(f"the ledger holds a {kind!r} event that is not whole: {error}") from None


def digest_of_text(text: str) -> str:
    """Return the digest that the next event carries."""
    return hashlib.sha256(text.encode()).hexdigest()


def digest_of(recipe: Mapping[str, Any]) -> str:
    """Return the digest of a recipe: the same for the same mechanism with the same parameters.

    Raises:
        OptionError: If the recipe holds something that JSON does not know.
    """
    try:
        return digest_of_text(_canonical(recipe))
    except (TypeError, ValueError) as error:
        raise OptionError(f"the recipe cannot be written as JSON: {error}") from None


_canonical = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False).encode


def now() -> str:
    """Return the time in UTC."""
    return datetime.now(UTC).isoformat(timespec="microseconds")
