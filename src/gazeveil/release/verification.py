# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What was found when a release was verified."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from gazeveil.display import html_table
from gazeveil.errors import GazeveilError
from gazeveil.release.manifest import digest_of_file


class Outcome(StrEnum):
    """What came of one check."""

    OK = "ok"
    FAULT = "fault"
    UNCHECKED = "unchecked"
    """The record is of a kind that does not allow the check, or nothing was given to check it with."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What came of one check.

    Attributes:
        check: What was checked.
        outcome: What came of it.
        text: What was found, in words.
    """

    check: str
    outcome: Outcome
    text: str = ""

    def to_dict(self) -> dict[str, str]:
        """Return the finding as plain values."""
        return {"check": self.check, "outcome": str(self.outcome), "text": self.text}


@dataclass(frozen=True, slots=True)
class Verification:
    """What was found when a release was verified.

    Attributes:
        path: The release.
        format: The format of its record.
        version: The version of that format.
        findings: What was checked, and what came of it.
    """

    path: Path
    format: str
    version: int
    findings: tuple[Finding, ...]

    @property
    def ok(self) -> bool:
        """Whether no check failed."""
        return not self.faults

    @property
    def faults(self) -> tuple[Finding, ...]:
        """The checks that failed."""
        return tuple(finding for finding in self.findings if finding.outcome is Outcome.FAULT)

    @property
    def unchecked(self) -> tuple[Finding, ...]:
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


WRONG = (GazeveilError, LookupError, TypeError, ValueError, AttributeError, ArithmeticError)
"""What reading a record may raise that is not what it should be."""


def holds(path: Path, digest: object) -> bool:
    """Return whether a path is a plain file with this SHA-256; one that cannot be read is not."""
    try:
        return path.is_file() and not path.is_symlink() and digest_of_file(path) == digest
    except OSError:
        return False


@dataclass(slots=True)
class Findings:
    """Collects what is found on the way."""

    found: list[Finding] = field(default_factory=list)

    def check(self, what: str, holds: bool, fault: str, ok: str = "") -> bool:
        """Note a check, with words for either outcome; return whether it holds."""
        self.found.append(Finding(what, Outcome.OK if holds else Outcome.FAULT, ok if holds else fault))
        return holds

    def unchecked(self, what: str, why: str) -> None:
        """Note what could not be checked."""
        self.found.append(Finding(what, Outcome.UNCHECKED, why))
