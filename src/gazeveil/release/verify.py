# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Verify a release: is its folder complete and unchanged, does its record agree with itself, was it charged as it says?

Without a ledger only the folder is checked; with one, that it was charged, and that the ledger is no old copy. Someone
else can forge a record that agrees with itself: a signature checked with a key that you know, or a ledger, shows who
made it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gazeveil import __version__
from gazeveil.display import html_table
from gazeveil.errors import FileFormatError, GazeveilError, LedgerError, why
from gazeveil.privacy.composition import is_seeded
from gazeveil.privacy.guarantee import Guarantee, guarantee_from_dict
from gazeveil.privacy.ledger import Charged, Ledger
from gazeveil.privacy.ledger.anchor import check_anchor
from gazeveil.privacy.ledger.events import digest_of, digest_of_text, from_text
from gazeveil.privacy.ledger.store import StoredEvent
from gazeveil.privacy.statement import Statement, statement
from gazeveil.release.documents import parts_in
from gazeveil.release.record import FORMAT, NAME, VERSION, digest_of_record, is_signed, public_key, record_text
from gazeveil.release.release import Shares, facts_from_record, stated_facts
from gazeveil.release.study import Fact
from gazeveil.release.study_toml import digest_of_file
from gazeveil.samples.identification import Identification, table
from gazeveil.samples.mechanism import mechanism_from_dict
from gazeveil.samples.veiled_recordings import VeiledRecordings

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey


def verify(path: Path | str, ledger: Ledger | Path | str | None = None, key: Path | str | None = None) -> Verification:
    """Verify a release.

    Args:
        path: The release's folder, or the record in it.
        ledger: The ledger that was charged, or its address: the charge must be in it.
        key: A file with an Ed25519 public key (PEM): the record must be signed with it.

    Raises:
        FileFormatError: If there is no record, or it cannot be read, or another version wrote it.
        LedgerError: If the ledger cannot be used.
    """
    if isinstance(ledger, Path | str):
        with Ledger.open(ledger) as opened:
            return verify(path, opened, key)
    public = None if key is None else public_key(Path(key))
    record = record_of(Path(path))
    text, values = _read(record)
    if (values.get("format"), values.get("version")) != (FORMAT, VERSION):
        raise FileFormatError(
            record,
            expected=f"{FORMAT} version {VERSION}",
            found=f"{values.get('format')} version {values.get('version')}",
            hint="use the version of gazeveil that wrote it",
        )
    found = CheckLog()
    found.check("format", True, "", f"{FORMAT} {VERSION}")
    _check_record(found, values, text, record.parent, ledger, public)
    return Verification(record.parent, FORMAT, VERSION, tuple(found.found))


@dataclass(frozen=True, slots=True)
class Verification:
    """What was found when a release was verified.

    Attributes:
        path: The release.
        format: The format of its record.
        version: The version of that format.
        findings: What was checked, with its result.
    """

    path: Path
    format: str
    version: int
    findings: tuple[CheckResult, ...]

    @property
    def ok(self) -> bool:
        """Whether no check failed."""
        return not self.faults

    @property
    def faults(self) -> tuple[CheckResult, ...]:
        """The checks that failed."""
        return tuple(finding for finding in self.findings if finding.outcome is Outcome.FAULT)

    @property
    def unchecked(self) -> tuple[CheckResult, ...]:
        """What could not be checked."""
        return tuple(finding for finding in self.findings if finding.outcome is Outcome.UNCHECKED)

    def to_dict(self) -> dict[str, Any]:
        """Return the verification as plain values."""
        return {
            "path": str(self.path),
            "format": self.format,
            "version": self.version,
            "ok": self.ok,
            "findings": [finding.to_dict() for finding in self.findings],
        }

    def __repr__(self) -> str:
        done = len(self.findings) - len(self.unchecked)
        said = "ok" if self.ok else f"{len(self.faults)} faults: {', '.join(fault.check for fault in self.faults[:3])}"
        return f"Verification({self.path.name!r}, {said}, {done} checks, {len(self.unchecked)} unchecked)"

    def _repr_html_(self) -> str:
        rows = [(finding.outcome, finding.check, finding.text) for finding in self.findings]
        return html_table(repr(self), rows, most=len(rows))


@dataclass(frozen=True, slots=True)
class CheckResult:
    """One check and its result.

    Attributes:
        check: What was checked.
        outcome: Its result.
        text: What was found, in words.
    """

    check: str
    outcome: Outcome
    text: str = ""

    def to_dict(self) -> dict[str, str]:
        """Return the result as plain values."""
        return {"check": self.check, "outcome": str(self.outcome), "text": self.text}


class Outcome(StrEnum):
    """The result of a check."""

    OK = "ok"
    FAULT = "fault"
    UNCHECKED = "unchecked"
    """The record is of a kind that does not allow the check, or nothing was given to check it with."""


@dataclass(slots=True)
class CheckLog:
    """Collects the results of checks."""

    found: list[CheckResult] = field(default_factory=list)

    def check(self, what: str, holds: bool, fault: str, ok: str = "") -> bool:
        """Add a check, with words for either outcome; return whether it holds."""
        self.found.append(CheckResult(what, Outcome.OK if holds else Outcome.FAULT, ok if holds else fault))
        return holds

    def unchecked(self, what: str, why: str) -> None:
        """Add what could not be checked."""
        self.found.append(CheckResult(what, Outcome.UNCHECKED, why))


RECORD_ERRORS = (GazeveilError, LookupError, TypeError, ValueError, AttributeError, ArithmeticError)
"""What reading a wrong record may raise."""


def record_of(path: Path) -> Path:
    """Return where the record of a release is: in its folder, or the path itself.

    Raises:
        FileFormatError: If there is none.
    """
    for place in (path / NAME, path):
        if place.is_file() and place.name == NAME:
            return place
    raise FileFormatError(
        path,
        expected=f"a release: a folder with a {NAME}",
        found="something else" if path.exists() else "nothing there",
    )


def _read(record: Path) -> tuple[str, dict[str, Any]]:
    try:
        text = record.read_bytes().decode("utf-8")
        values = json.loads(text)
        record_text(values).encode()  # what could not be written was not written by us
    except (OSError, ValueError, TypeError, RecursionError) as error:
        raise FileFormatError(record, expected="the record of a release, as JSON", found=why(error)) from None
    if not isinstance(values, dict) or "guarantee" not in values:
        raise FileFormatError(record, expected="the record of a release", found="JSON of another kind")
    return text, values


def _check_record(
    found: CheckLog,
    values: Mapping[str, Any],
    text: str,
    folder: Path,
    ledger: Ledger | None,
    public: Ed25519PublicKey | None,
) -> None:
    found.check("spelling of the record", text == record_text(values), f"{NAME} was rewritten after it was made")
    digest = digest_of_record(values)
    found.check("digest of the record", values.get("digest") == digest, f"{NAME} was changed after it was made")
    _check_key(found, values.get("signature"), digest, public)
    _check_files(found, values.get("files"), folder)
    try:
        recipe_digest = digest_of(values["recipe"])
        guarantee = guarantee_from_dict(values["guarantee"])
        _check_statement(found, values, guarantee, folder)
    except RECORD_ERRORS as error:
        found.check("contents of the record", False, f"a field is missing or wrong: {error}")
        return
    found.check("digest of the recipe", values.get("recipe_digest") == recipe_digest, "the recipe is another one")
    check_charge(found, values, values.get("receipt"), recipe_digest, ledger)


def _check_files(found: CheckLog, listed: Any, folder: Path) -> None:
    """Compare what lies in the folder with what the record lists. No path is taken from the record."""
    expected = listed if isinstance(listed, dict) else {}
    paths = {path.relative_to(folder).as_posix(): path for path in sorted(folder.rglob("*")) if not _is_folder(path)}
    paths.pop(NAME, None)
    found.check("no file is missing", not (gone := sorted(expected.keys() - paths)), f"missing: {_some(gone)}")
    found.check("no file was added", not (more := sorted(paths.keys() - expected)), f"not in the record: {_some(more)}")
    changed = [name for name, path in paths.items() if name in expected and not holds(path, expected[name])]
    found.check("contents of the files", not changed, f"changed: {_some(changed)}", f"{len(paths):,} files")


def holds(path: Path, digest: object) -> bool:
    """Return whether a path is a plain file with this SHA-256; one that cannot be read is not."""
    try:
        return path.is_file() and not path.is_symlink() and digest_of_file(path) == digest
    except OSError:
        return False


def _check_statement(found: CheckLog, values: Mapping[str, Any], guarantee: Guarantee, folder: Path) -> None:
    total = None if values.get("total") is None else guarantee_from_dict(values["total"])
    facts = facts_from_record(values["public_facts"])
    identified = _check_identification(found, values, guarantee, facts)
    shares = Shares.from_record(values.get("about_the_value") or {})
    said = statement(
        guarantee,
        total=total,
        facts=stated_facts(facts),
        identification=identified,
        shows=() if shares is None else (*shares.in_words(), *shares.warnings()),
    )
    read = [fact.name for fact in facts if not fact.declared]
    found.check(
        "conditions",
        values["conditional_on"] == read,
        "the record hides that the guarantee rests on facts from the data",
    )
    if values["software"]["gazeveil"] == __version__:
        same = values["statement"] == said.paragraph() and _documents_say(said, folder)
    else:
        found.unchecked("wording of the statement", "another version wrote it; its numbers are checked")
        same = all(figure in values["statement"] for figure in said.figures())
    found.check("statement", same, "the statement does not say what the guarantee says")


def _check_identification(
    found: CheckLog, values: Mapping[str, Any], guarantee: Guarantee, facts: tuple[Fact, ...]
) -> str:
    """Compare what the record says about identification with the packaged table; return it in words."""
    written = values.get("identification")
    stated = None if written is None else Identification.from_dict(written)
    wanted = values["product"] == VeiledRecordings.product and not is_seeded(guarantee)
    if wanted and (stated is None or stated.version != table().version):
        found.unchecked("identification", "another version of the table of measurements was read")
    else:
        expected = None
        if wanted:
            mechanisms = [mechanism_from_dict(screen["mechanism"]) for screen in values["recipe"]["screens"]]
            rate = next((fact.value.get("rate_hz") for fact in facts if fact.name == "recordings"), None)
            expected = table().worst(mechanisms, rate)
        found.check("identification", stated == expected, "it does not state what was measured behind this mechanism")
    return "" if stated is None else stated.in_words()


def _documents_say(said: Statement, folder: Path) -> bool:
    try:
        documents = said.files(parts_in(folder))
        return all((folder / name).read_bytes() == text.encode() for name, text in documents.items())
    except OSError:
        return False


def _check_key(found: CheckLog, signature: Any, digest: str, public: Ed25519PublicKey | None) -> None:
    if signature is None:
        if public is not None:
            found.check("signature", False, "the record is not signed")
        else:
            found.unchecked("signature", "the record is not signed")
        return
    signed = is_signed(signature, digest)
    if not found.check("signature", signed, "the signature is not one of this record", "valid"):
        return
    if public is None:
        found.unchecked("signer", f"public key {signature['public_key']}; give --key to check whose it is")
    else:
        found.check("signer", is_signed(signature, digest, public), "signed with another key")


def _is_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()


def _some(names: list[str]) -> str:
    more = f" and {len(names) - 5:,} more" if len(names) > 5 else ""
    return ", ".join(names[:5]) + more


# --- Was the release charged as its record says?


def check_charge(
    found: CheckLog, values: Mapping[str, Any], receipt: Any, recipe_digest: str, ledger: Ledger | None
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


def _look_up(found: CheckLog, receipt: Mapping[str, Any], recipe_digest: str, ledger: Ledger) -> None:
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


def _compare(found: CheckLog, receipt: Mapping[str, Any], recipe_digest: str, line: StoredEvent | None) -> None:
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
