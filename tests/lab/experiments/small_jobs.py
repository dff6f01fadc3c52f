# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Measurements that work, fail or die; in a file of their own, because other processes import it."""

from __future__ import annotations

import os
from pathlib import Path

from gazeveil.errors import InputError
from gazeveil.lab.reproduction.all_papers import Part
from gazeveil.lab.reproduction.finding import Check, Finding, Verdict

AGREES = Check("up", "up", Verdict.AGREES)
DIFFERS = Check("down", "up | sideways", Verdict.DIFFERS, "other people")
OPEN = Check("8 µs", "2 µs", Verdict.NOT_COMPARABLE, "another machine")


def good(data: Path | None, *, quick: bool) -> list[Finding]:
    """A measurement that works."""
    return [Finding("good", "us", "Figure 1", "made up", (AGREES, OPEN), ("n",), ((1.5,),), {"a dot": b"png"})]


def bad(data: Path | None, *, quick: bool) -> list[Finding]:
    """A measurement that raises."""
    raise InputError("no such data")


def dying(data: Path | None, *, quick: bool) -> list[Finding]:
    """A measurement whose process dies."""
    os._exit(9)


GOOD, BAD = Part(good, "us", {"good": "Figure 1"}), Part(bad, "us", {"bad": "Figure 2", "bad too": "Figure 3"})
DYING = Part(dying, "us", {"dying": "Figure 4"})
