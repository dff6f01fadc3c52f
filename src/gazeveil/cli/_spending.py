# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What commands that spend budget and write a folder ask before they begin."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from gazeveil.errors import OptionError, OutputError
from gazeveil.noise import NoiseSource
from gazeveil.privacy.ledger import Ledger

VARIABLE = "GAZEVEIL_LEDGER"

LedgerAt = Annotated[
    str | None, typer.Option("--ledger", envvar=VARIABLE, help="The ledger to charge: a file or postgresql://…")
]


def ledger_of(ledger: str | None, dataset: str, *, no_ledger: bool) -> str | None:
    """Check that it is said who is charged; return the ledger to charge.

    Raises:
        OptionError: If neither a ledger nor ``--no-ledger`` is given, or both.
    """
    if no_ledger and ledger == os.environ.get(VARIABLE):  # what is said outweighs what is set
        ledger = None
    if (ledger is None) != no_ledger:
        raise OptionError(
            "say which ledger to charge with --ledger and --dataset, or --no-ledger to keep no account",
            hint="make one with `gazeveil ledger init DATASET --epsilon 3 --delta 1e-4`",
        )
    if ledger is not None and not dataset:
        raise OptionError("--ledger needs --dataset, the data set's name in it")
    return ledger


def check_apart(out: Path, corpus: Path, ledger: str | None) -> None:
    """Check that what is written takes the place of nothing that is needed, and lies apart from raw gaze.

    Raises:
        OutputError: If it is, holds or lies in the corpus, or is or holds the ledger or the folder one works in.
    """
    place, gaze = out.resolve(), corpus.resolve()
    if gaze == place or place in gaze.parents or gaze in place.parents:
        raise OutputError(
            f"{out} and the raw gaze in {corpus} are not apart", hint="write releases to a place without raw gaze"
        )
    kept = {"the folder that you work in": Path.cwd()}
    if ledger is not None and "://" not in ledger:
        kept["the ledger"] = Path(ledger).resolve()
    for name, path in kept.items():
        if path == place or place in path.parents:
            raise OutputError(f"{out} would take the place of {name}", hint="choose another name")


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
