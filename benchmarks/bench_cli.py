# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""How soon help is there, against an interpreter that imports click and does nothing else.

Both are new processes, so both pay for the interpreter. Processor time is compared, so that a busy machine does not
decide. The aim is help in less than 0.4 s where click takes 0.06 s.
"""

from __future__ import annotations

import resource
import subprocess
import sys
from functools import partial

from benchmarks.harness import Row, busy, race

AIM = 0.06 / 0.4
ASKED = ("--help", "heatmap --help", "ledger --help", "lab experiment --help", "--version")


def run() -> list[Row]:
    return [row(asked) for asked in ASKED]


def row(asked: str) -> Row:
    ours = partial(started, "-m", "gazeveil", *asked.split())
    ours_s, peer_s = race(ours, partial(started, "-c", "import click"), rounds=5, summary=min, clock=used)
    return Row(f"gazeveil {asked}", "import click", ours_s, peer_s, AIM, note=f"processor time, best of five{busy()}")


def used() -> float:
    """Return the processor seconds of all processes that were started and have ended."""
    times = resource.getrusage(resource.RUSAGE_CHILDREN)
    return times.ru_utime + times.ru_stime


def started(*words: str) -> None:
    subprocess.run([sys.executable, *words], check=True, stdout=subprocess.DEVNULL)
