# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The table of results, and its place in docs/performance.md, so that no number there was typed by hand."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from benchmarks.harness import RESULTS

PAGE = Path(__file__).parents[1] / "docs" / "performance.md"
BEGIN, END = "<!-- results: begin -->", "<!-- results: end -->"
HEAD = (
    "| benchmark | ours | peer | peer takes | ratio | aim | note |",
    "|---|---|---|---|---|---|---|",
)


def line(row: dict[str, Any]) -> str:
    """Return one result as a line of the table."""
    rate = f"{_seconds(row['ours_s'])} ({_count(row['work'] / row['ours_s'])} {row['unit']}/s)"
    mark = "" if row["reached"] else " **missed**"
    ratio = f"{row['ratio']:,.{2 if row['ratio'] < 10 else 1 if row['ratio'] < 1000 else 0}f}x"
    told = [row["name"], rate, row["peer"], _seconds(row["peer_s"]), ratio + mark, f"{row['target']:.3g}x", row["note"]]
    return f"| {' | '.join(told)} |"


def rendered(results: Path = RESULTS) -> str:
    """Return all stored results as Markdown, one table per benchmark file."""
    parts = []
    for path in sorted(results.glob("*.json")):
        result = json.loads(path.read_text())
        if "rows" not in result:  # audits, which have a page of their own
            continue
        machine = ", ".join(f"{key} {value}" for key, value in result["machine"].items())
        parts += [f"### {path.stem}", "", *HEAD, *(line(row) for row in result["rows"]), "", f"Machine: {machine}.", ""]
    return "\n".join(parts)


def with_results(page: str, results: str) -> str:
    """Return a page with the stretch between its two marks replaced."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n\n{results}\n{END}{after}"


def main() -> None:
    """Put the stored results into the page."""
    PAGE.write_text(with_results(PAGE.read_text(), rendered()))


def print_rows(rows: Iterable[dict[str, Any]]) -> None:
    """Print results as they come."""
    for row in rows:
        print(line(row), flush=True)


def _seconds(value: float) -> str:
    for unit, scale in (("s", 1.0), ("ms", 1e3), ("µs", 1e6)):
        if value * scale >= 1:
            return f"{value * scale:.3g} {unit}"
    return f"{value * 1e9:.3g} ns"


def _count(value: float) -> str:
    for unit, scale in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if value >= scale:
            return f"{value / scale:.3g} {unit}"
    return f"{value:.3g}"


if __name__ == "__main__":
    main()
