# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Run all benchmarks, or those named: ``python -m benchmarks [NAME …]``."""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path

from benchmarks import table
from benchmarks.harness import RESULTS, Row, machine


def main(names: list[str]) -> int:
    known = sorted(path.stem.removeprefix("bench_") for path in Path(__file__).parent.glob("bench_*.py"))
    if unknown := set(names) - set(known):
        print(f"unknown: {', '.join(sorted(unknown))}; known: {', '.join(known)}", file=sys.stderr)
        return 2
    RESULTS.mkdir(exist_ok=True)
    print(f"machine: {machine()}", *table.HEAD, sep="\n", flush=True)
    missed = 0
    for name in names or known:
        rows: list[Row] = importlib.import_module(f"benchmarks.bench_{name}").run()
        told = [row.to_dict() for row in rows]
        table.print_rows(told)
        missed += sum(not row.reached for row in rows)
        (RESULTS / f"{name}.json").write_text(json.dumps({"machine": machine(), "rows": told}, indent=2) + "\n")
    table.main()
    print(f"{missed} aims missed; results are in {RESULTS.name}/ and docs/performance.md")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
