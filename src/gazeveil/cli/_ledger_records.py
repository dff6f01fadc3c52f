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
    for record in map(_record, releases):
        receipt = _receipt(record)
        if receipt.get("anchor") is not None:
            try:
                check_anchor(ledger, receipt["anchor"])
            except LedgerError as error:
                faults.append(f"{record}: {error.message}")
        digest = receipt.get("digest")
        if digest not in held:
            faults.append(f"{record}: its charge with the digest {digest} is gone")
    return faults


def _record(release: Path) -> Path:
    """Return the record of a release: in its folder, or the record itself."""
    for path in (release / _RECORD, release):
        if path.name == _RECORD and path.is_file():
            return path
    raise FileFormatError(release, expected="a release with its record", found=f"no {_RECORD}")


def _receipt(record: Path) -> Mapping[str, Any]:
    """Return the receipt in a record."""
    try:
        found = json.loads(record.read_text(encoding="utf-8")).get("receipt")
    except (OSError, ValueError, AttributeError) as error:
        raise FileFormatError(record, expected="the record of a release", found=str(error)) from None
    if not isinstance(found, Mapping):
        raise FileFormatError(record, expected="a receipt", found="none: the release was not charged to a ledger")
    return found
