# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Run all benchmarks, or those named: ``python -m benchmarks [NAME …]``."""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path

from benchmarks.harness import RESULTS, Row, machine


def main(names: list[str]) -> int:
    known = sorted(path.stem.removeprefix("bench_") for path in Path(__file__).parent.glob("bench_*.py"))
    if unknown := set(names) - set(known):
        print(f"unknown: {', '.join(sorted(unknown))}; known: {', '.join(known)}", file=sys.stderr)
        return 2
    RESULTS.mkdir(exist_ok=True)
    print(f"machine: {machine()}")
    print("| benchmark | peer | ours | peer takes | ratio | target | reached |")
    print("|---|---|---|---|---|---|---|")
    missed = 0
    for name in names or known:
        rows: list[Row] = importlib.import_module(f"benchmarks.bench_{name}").run()
        for row in rows:
            missed += not row.reached
            rate = f"{row.ours_s:.4g} s ({row.work / row.ours_s:,.0f} {row.unit}/s)"
            told = f"{row.ratio:,.2f}x | {row.target:g}x | {'yes' if row.reached else 'NO'}"
            print(f"| {row.name} | {row.peer} | {rate} | {row.peer_s:.4g} s | {told} |", flush=True)
        result = {"machine": machine(), "rows": [row.to_dict() for row in rows]}
        (RESULTS / f"{name}.json").write_text(json.dumps(result, indent=2) + "\n")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
