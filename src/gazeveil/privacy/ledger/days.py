# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Day accounts of earlier versions: what still counts of them when a budget that comes back takes their place.

Streams once had one account for each calendar day, ``gateway 2026-03-01``, each with a budget of its own. The account
that follows them begins with what they had spent, counted as if all of it had paid for gaze until the end of the day,
or until the account's newest event if that is later. An account that was closed, or that was kept in terms that the new
budget does not know, counts as wholly spent. So there is never more than calendar days or 24 hours would leave.
"""

from __future__ import annotations

import math
from datetime import UTC, date, datetime, timedelta
from fractions import Fraction
from typing import Any

from gazeveil.errors import CannotCompose, LedgerError
from gazeveil.exact import as_text
from gazeveil.privacy.guarantee import GazeStreamDP
from gazeveil.privacy.ledger.events import from_text
from gazeveil.privacy.ledger.rolling import counts_at
from gazeveil.privacy.ledger.spending import Totals
from gazeveil.privacy.ledger.store import Reader, Tail

_LONGEST_LEASE_S = 600
"""For how long a charge of an earlier version can have paid after it was written."""


def carried_over(reader: Reader, dataset: str, person: str, allowance: GazeStreamDP, at: int) -> dict[str, Any]:
    """Return what of a participant's day accounts still counts, as `AllowanceSet.carried` has it.

    Empty if nothing does.
    """
    spent, unproven = [], set()
    for tail in reader.tails_of(f"{dataset} ", person):
        day = _day(tail.dataset.removeprefix(f"{dataset} "))
        if day is None:
            continue
        until = max(_end(day), _newest(reader, tail) + _LONGEST_LEASE_S)
        if not counts_at(at, until, allowance.window):
            continue
        totals = Totals.from_text(tail.totals)
        unproven |= set(totals.unproven)
        if (epsilon := _counted(totals, allowance)) > 0:
            spent.append([until, as_text(epsilon)])
    if not spent and not unproven:
        return {}
    return {"spent": spent, "unproven": sorted(unproven)}


def _counted(totals: Totals, allowance: GazeStreamDP) -> Fraction:
    if totals.budget is None:
        return Fraction(0)
    if totals.closed or not isinstance(totals.budget, GazeStreamDP):
        return allowance.epsilon
    held = totals.budget
    try:
        spent = GazeStreamDP(totals.spent[0], held.window, held.radius, held.radius_unit, held.head_radius)
        return spent.restated(unit=allowance.unit).numbers()["epsilon"]
    except CannotCompose:
        return allowance.epsilon


def _day(text: str) -> date | None:
    try:
        return datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=UTC).date()
    except ValueError:
        return None


def _end(day: date) -> int:
    return int(datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp()) + int(timedelta(days=1).total_seconds())


def _newest(reader: Reader, tail: Tail) -> int:
    text = reader.text(tail.account, tail.number)
    if text is None:
        return 0  # an account that was opened and never used
    try:
        return math.ceil(datetime.fromisoformat(from_text(text).time).timestamp())
    except ValueError:
        raise LedgerError(
            f"the newest event of {tail.dataset} has no time", hint="see `gazeveil ledger verify`"
        ) from None
