# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The gateway's load table: what is lost and how late gaze is, alone and with busy processes beside it.

``python -m benchmarks.gateway_busy [--busy 0 3] [--runs 5] [--rounds 6] [--seconds 10]``

Each run is one race of `bench_gateway`: 100 x 120 Hz for a minute, in turns with a bare proxy. The busy processes spin
in plain Python at the usual niceness from before the gateway starts to the end of the run. The proxy gets the niceness
that the gateway asked for and was granted. Where there are busy processes, one more run has both at the usual niceness,
as for a user who may not set it; it has no aim. Rows go to results/gateway_busy.json and so into docs/performance.md. A
run takes a little over two minutes.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from benchmarks import table
from benchmarks.bench_gateway import AIM, RATE_HZ, ROUND_S, ROUNDS, STREAMS, race
from benchmarks.harness import RESULTS, machine


@contextmanager
def spinning(count: int) -> Iterator[None]:
    """Keep so many processes busy meanwhile."""
    processes = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


def main(arguments: list[str]) -> int:
    """Run, tell and keep the table; the exit code says whether every run lost nothing and kept the aim."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gateway_busy")
    parser.add_argument("--busy", type=int, nargs="+", default=[0, 3], help="how many busy processes")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--seconds", type=float, default=ROUND_S, help="of each round")
    parser.add_argument("--try", action="store_true", dest="only_try", help="print the rows and keep nothing")
    given = parser.parse_args(arguments)
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    rows, missed = [], 0
    print(f"machine: {machine()}", *table.HEAD, sep="\n", flush=True)
    for busy in given.busy:
        for run in range(1, given.runs + 1 + bool(busy)):
            usual = run > given.runs
            with spinning(busy):
                raced = asyncio.run(race(given.rounds, given.seconds, *(("--nice", "0") if usual else ())))
            name = f"{STREAMS} x {RATE_HZ:.0f} Hz, {busy or 'no'} busy processes beside it, "
            name += "usual niceness" if usual else f"run {run}"
            aim = 0.0 if usual else AIM
            told = [
                raced.row(f"{name}, {title}", share, aim) for title, share in (("median", 50), ("99th percentile", 99))
            ]
            missed += bool(raced.lost[0]) or not told[-1].reached
            rows += [row.to_dict() for row in told]
            table.print_rows(row.to_dict() for row in told)
    if not given.only_try:
        RESULTS.mkdir(exist_ok=True)
        (RESULTS / "gateway_busy.json").write_text(json.dumps({"machine": machine(), "rows": rows}, indent=2) + "\n")
        table.main()
    print(f"{missed} of {len(rows) // 2} runs lost something or missed the aim")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
