# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Was a release charged as its record says? Looks the charge up in the ledger."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gazeveil.errors import LedgerError
from gazeveil.privacy.ledger import Charged, Ledger
from gazeveil.privacy.ledger.anchor import check_anchor
from gazeveil.privacy.ledger.events import digest_of_text, from_text
from gazeveil.privacy.ledger.store import Line
from gazeveil.release.verification import Findings


def check_charge(
    found: Findings, values: Mapping[str, Any], receipt: Any, recipe_digest: str, ledger: Ledger | None
) -> None:
    """Compare a receipt with the record that it pays for, and with the ledger if there is one."""
    if receipt is None:
        if ledger is None:
            found.unchecked("charge", "no account was kept")
        else:
            found.check("charge", False, "the record names no charge: no account was kept")
        return
    if not isinstance(receipt, dict):
        found.check("receipt", False, "the receipt is none")
        return
    stated = (values.get("guarantee"), values.get("id"), values.get("date"))
    same = (receipt.get("guarantee"), receipt.get("charge_id"), receipt.get("time")) == stated
    found.check("receipt", same, "the receipt is for another release", "for this release")
    if ledger is None:
        found.unchecked("charge", "give --ledger to look it up")
        return
    _look_up(found, receipt, recipe_digest, ledger)


def _look_up(found: Findings, receipt: Mapping[str, Any], recipe_digest: str, ledger: Ledger) -> None:
    lines = ledger.lines(str(receipt.get("dataset")), str(receipt.get("person", "")))
    _compare(
        found, receipt, recipe_digest, next((line for line in lines if line.digest == receipt.get("digest")), None)
    )
    anchor = receipt.get("anchor")
    if anchor is None:
        found.unchecked("anchor", "the record has none")
        return
    try:
        check_anchor(ledger, anchor)
    except LedgerError as error:
        found.check("anchor", False, error.message)
    else:
        found.check("anchor", True, "", "the ledger goes on from it")


def _compare(found: Findings, receipt: Mapping[str, Any], recipe_digest: str, line: Line | None) -> None:
    """Compare a receipt with the event that has its digest."""
    if line is None or digest_of_text(line.text) != line.digest:
        found.check("charge", False, "the ledger does not hold this charge")
        return
    try:
        event = from_text(line.text)
    except LedgerError as error:
        found.check("charge", False, error.message)
        return
    charged = {"charge_id": event.id, "time": event.time, "dataset": event.dataset, "person": event.person}
    charged_ok = all(not receipt.get(name) or receipt[name] == value for name, value in charged.items())
    paid = isinstance(event, Charged) and event.guarantee == receipt.get("guarantee") and event.recipe == recipe_digest
    found.check("charge", charged_ok and paid, "the ledger holds it as something else", "the ledger holds it")
