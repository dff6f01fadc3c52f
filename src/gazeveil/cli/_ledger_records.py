# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What was kept elsewhere, to compare a ledger with: exports, and the receipts in records of releases."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gazeveil.errors import FileFormatError, LedgerError

if TYPE_CHECKING:
    from gazeveil.privacy.ledger import Ledger

_RECORD = "release.json"


def exported_digests(path: Path) -> Iterator[str]:
    """Go through the digests of an export."""
    expected = "one exported event a line"
    try:
        with path.open(encoding="utf-8") as file:
            for number, text in enumerate(file, start=1):
                try:
                    values = json.loads(text)
                    yield str(values["digest"])
                except (ValueError, KeyError, TypeError):
                    raise FileFormatError(path, line=number, expected=expected, found=text[:60]) from None
    except (OSError, UnicodeDecodeError) as error:
        raise FileFormatError(path, expected=expected, found=str(error)) from None


def release_faults(ledger: Ledger, releases: Iterable[Path]) -> list[str]:
    """Return what the records of releases name and the ledger does not hold."""
    from gazeveil.privacy.ledger import check_anchor

    held = {line.digest for line in ledger.lines()}
    faults = []
    for record in (record for release in releases for record in _records(release)):
        for receipt in _receipts(record):
            if isinstance(receipt, Mapping) and receipt.get("anchor") is not None:
                try:
                    check_anchor(ledger, receipt["anchor"])
                except LedgerError as error:
                    faults.append(f"{record}: {error.message}")
            digest = receipt.get("digest") if isinstance(receipt, Mapping) else receipt
            if digest not in held:
                faults.append(f"{record}: its charge with the digest {digest} is gone")
    return faults


def _records(release: Path) -> list[Path]:
    """Return the records of a release: in its folder, beside its file, or the record itself."""
    if release.is_dir():
        found = sorted(release.glob(f"*{_RECORD}"))
    else:
        beside = release.with_name(f"{release.name}.{_RECORD}")  # of a file that an earlier version released
        found = [path for path in (release, beside) if path.name.endswith(_RECORD) and path.is_file()]
    if not found:
        raise FileFormatError(release, expected="a release with its record", found=f"no {_RECORD}")
    return found


def _receipts(record: Path) -> list[Any]:
    """Return the receipts in a record; those of earlier versions are digests, or know no anchor."""
    try:
        values = json.loads(record.read_text(encoding="utf-8"))
        found = [*values.get("receipts", []), values.get("receipt")]
    except (OSError, ValueError, AttributeError, TypeError) as error:
        raise FileFormatError(record, expected="the record of a release", found=str(error)) from None
    receipts = [receipt for receipt in found if isinstance(receipt, str | Mapping)]
    if not receipts:
        raise FileFormatError(record, expected="a receipt", found="none: the release was not charged to a ledger")
    return receipts
