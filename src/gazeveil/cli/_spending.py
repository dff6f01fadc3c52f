# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What commands that spend budget and write a folder ask before they begin."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gazeveil.aggregate.heatmap import LARGE_EPSILON
from gazeveil.errors import OptionError, OutputError
from gazeveil.noise import NoiseSource
from gazeveil.privacy.ledger import Ledger


def check_spending(out: Path, ledger: str | None, dataset: str, *, no_ledger: bool, overwrite: bool) -> None:
    """Check that it is said who is charged, and that the folder may be written.

    Raises:
        OptionError: If neither a ledger nor ``--no-ledger`` is given, or both.
        OutputError: If the folder exists and may not be replaced.
    """
    if (ledger is None) != no_ledger:
        raise OptionError(
            "say which ledger to charge with --ledger and --dataset, or --no-ledger to keep no account",
            hint="make one with `gazeveil ledger init DATASET --epsilon 3 --delta 1e-4`",
        )
    if ledger is not None and not dataset:
        raise OptionError("--ledger needs --dataset, the data set's name in it")
    if out.exists() and not overwrite:
        raise OutputError(f"{out} exists already", hint="choose another name, or add --overwrite")


@contextmanager
def opened(ledger: str | None) -> Iterator[Ledger | None]:
    """Give the ledger at an address, or None where no account is kept."""
    if ledger is None:
        yield None
        return
    with Ledger.open(ledger) as book:
        yield book


def noise_of(seed: int | None) -> NoiseSource:
    """Return secure noise, or that of a seed."""
    return NoiseSource.secure() if seed is None else NoiseSource.seeded(seed)


def warning_of(epsilon: float) -> str:
    """Return what to say about an ε that promises next to nothing; nothing about others."""
    return f"an ε of {epsilon:g} promises next to nothing" if epsilon > LARGE_EPSILON else ""
