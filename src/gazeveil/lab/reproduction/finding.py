# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What came out of a figure or table: the paper's statements, ours beside them, and whether they agree.

A statement agrees, differs, or is not comparable. It is not comparable where other data or machines make the paper's
number another quantity, or where the interval of ours is too wide to decide. The reason is always stated. A figure
differs if one of its statements does; it agrees if at least one statement agrees and none differs.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import pairwise
from pathlib import Path
from typing import Any, Protocol


class Verdict(StrEnum):
    """Whether ours is what the paper says."""

    AGREES = "agrees"
    DIFFERS = "differs"
    NOT_COMPARABLE = "not comparable"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Check:
    """One statement of a paper.

    Attributes:
        claim: What the paper states: a number or a shape.
        ours: What was measured, with its interval where there is one.
        verdict: Whether they agree.
        reason: Why they differ or cannot be compared, or what else must be known.
    """

    claim: str
    ours: str
    verdict: Verdict
    reason: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return the statement as plain values."""
        return {"claim": self.claim, "ours": self.ours, "verdict": str(self.verdict), "reason": self.reason}


@dataclass(frozen=True, slots=True, eq=False)
class Finding:
    """A figure or table, measured again.

    Attributes:
        name: Short name, such as ``kaleido-10``.
        paper: Authors and year.
        title: Which figure or table, and what it shows.
        data: On what it was measured.
        checks: The paper's statements.
        columns: Head of the table of numbers.
        rows: The numbers.
        pictures: PNG pictures by caption.
        notes: What else must be known: errata, how the set-up differs.
        command: What measures it alone.
        error: Why it failed; empty if it did not.
        wall_s: Seconds that the measurement took, shared by all figures of one measurement.
        cpu_s: Processor seconds of the same.
    """

    name: str
    paper: str
    title: str
    data: str
    checks: tuple[Check, ...]
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[object, ...], ...] = ()
    pictures: Mapping[str, bytes] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    command: str = ""
    error: str = ""
    wall_s: float = math.nan
    cpu_s: float = math.nan

    @property
    def verdict(self) -> Verdict:
        """The verdict on all statements together."""
        if self.error:
            return Verdict.FAILED
        found = {check.verdict for check in self.checks}
        return next((one for one in (Verdict.DIFFERS, Verdict.AGREES) if one in found), Verdict.NOT_COMPARABLE)

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the pictures as plain values."""
        return {
            **{name: getattr(self, name) for name in ("name", "paper", "title", "data", "command", "error")},
            "verdict": str(self.verdict),
            "checks": [check.to_dict() for check in self.checks],
            "columns": list(self.columns),
            "rows": [list(row) for row in self.rows],
            "notes": list(self.notes),
            "wall_s": self.wall_s,
            "cpu_s": self.cpu_s,
        }


class Job(Protocol):
    """Measures the figures of one experiment."""

    def __call__(self, data: Path | None, *, quick: bool) -> list[Finding]:
        """Return one finding per figure; ``quick`` measures on less, never on nothing."""
        ...


def judged(claim: str, ours: str, holds: bool | None, reason: str = "") -> Check:
    """Return a statement that holds, does not hold, or (None) cannot be judged for the reason given."""
    verdict = {True: Verdict.AGREES, False: Verdict.DIFFERS, None: Verdict.NOT_COMPARABLE}[holds]
    return Check(claim, ours, verdict, reason)


def counted(claim: str, right: int, pairs: int, *, most: float = 0.9, reason: str = "") -> Check:
    """Return a statement about a trend: in how many pairs of neighbouring settings it holds.

    It agrees if at least ``most`` of the pairs go the stated way, differs if less than half of them do, and is not
    decided between.
    """
    share = right / pairs if pairs else math.nan
    holds = None if not pairs or 0.5 <= share < most else share >= most
    undecided = f"a trend counts from {100 * most:.0f} % of the pairs on" if holds is None else ""
    return judged(claim, f"in {right} of {pairs} neighbouring pairs", holds, reason or undecided)


def rises(values: Sequence[float]) -> int:
    """Return in how many neighbouring pairs the second is larger."""
    return sum(later > earlier for earlier, later in pairwise(values))


def percent(value: float, interval: Sequence[float] | None = None) -> str:
    """Return a share in percent, with its interval."""
    if interval is None:
        return f"{100 * value:.0f} %"
    low, high = interval
    return f"{100 * value:.0f} % ({100 * low:.0f}–{100 * high:.0f})"


def ranged(value: float, interval: Sequence[float], digits: int = 2) -> str:
    """Return a number with its interval."""
    low, high = interval
    return f"{value:.{digits}f} ({low:.{digits}f}–{high:.{digits}f})"
