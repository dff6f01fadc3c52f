# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Budgets that survive: what may be spent on a data set, and what was."""

from __future__ import annotations

from gazeveil.privacy.ledger.account import Account, Receipt
from gazeveil.privacy.ledger.anchor import check_anchor, state_folder
from gazeveil.privacy.ledger.events import (
    AccountClosed,
    AllowanceSet,
    BudgetGranted,
    Charged,
    Leased,
    LedgerEvent,
    Restored,
    UnprovenRecorded,
)
from gazeveil.privacy.ledger.ledger import DEFAULT, Clock, Ledger
from gazeveil.privacy.ledger.replay import Verification

__all__ = [
    "DEFAULT",
    "Account",
    "AccountClosed",
    "AllowanceSet",
    "BudgetGranted",
    "Charged",
    "Clock",
    "Leased",
    "Ledger",
    "LedgerEvent",
    "Receipt",
    "Restored",
    "UnprovenRecorded",
    "Verification",
    "check_anchor",
    "state_folder",
]
