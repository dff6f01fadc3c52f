# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""How useful private heatmaps are, measured on both data sets and both splits, and put into the documentation.

``python -m benchmarks.usefulness`` measures and writes. Given names of methods, it measures these alone and keeps what
is stored of the others; with ``--stored`` it measures nothing. Every part is what
``gazeveil experiment heatmap`` gives with the same options.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from benchmarks.harness import RESULTS
from gazeveil.experiments.usefulness import _heatmap_report as report
from gazeveil.experiments.usefulness._heatmap_plots import usefulness_plot
from gazeveil.experiments.usefulness._heatmap_scenes import Gallery, Split, osie, simulated
from gazeveil.experiments.usefulness.heatmaps import Found, Plan, compare, refreshed

ROOT = Path(__file__).parents[1]
STORED = RESULTS / "usefulness"
OSIE = ROOT.parent / "shared" / "data" / "osie" / "fixations.parquet"
PARTS = {
    ("osie", Split.TEST): 120,
    ("simulated", Split.TEST): 40,
    ("osie", Split.TUNE): 60,
    ("simulated", Split.TUNE): 24,
}
"""What is measured, and on how many scenes."""
BEGIN, END = "<!-- usefulness: begin -->", "<!-- usefulness: end -->"
SHORT = ("prior", "liu", "hierarchical", "grid", "recipe", "ours", "none")


def measured(name: str, split: Split, plan: Plan) -> Found:
    """Measure one part."""
    images = PARTS[name, split]
    gallery: Gallery = osie(OSIE, split, images) if name == "osie" else simulated(split, images)
    return compare(gallery, plan, split=split)


def stored(name: str, split: Split) -> Found:
    """Return one part as it was measured before."""
    return Found.from_dict(json.loads((STORED / f"heatmap-{name}-{split}.json").read_text()))


def long_tables() -> str:
    """Return all numbers, one table a part."""
    parts = []
    for name, split in PARTS:
        found = stored(name, split)
        parts += [f"**{report.note(found)}**", "", report.to_markdown(found)]
    return "\n".join(parts)


def short_tables() -> str:
    """Return the correlations on scenes that no constant was tuned on, one table a data set."""
    parts = []
    for name in ("osie", "simulated"):
        found = stored(name, Split.TEST)
        numbers = [f"n = {count}{'*' if count > found.viewers else ''}" for count in found.plan.observers]
        parts += [f"**{report.note(found)}**", "", f"| | {' | '.join(numbers)} |", f"|---|{'---|' * len(numbers)}"]
        known = found.plan.chosen()
        for method in SHORT:
            rows = [found.row(method, count) for count in found.plan.observers]
            cells = [f"{report.score_in_words(row.cc)} ({report.short(row.residual.mean)})" for row in rows]
            parts.append(f"| {known[method].title} | {' | '.join(cells)} |")
        parts.append("")
    return "\n".join(parts)


PAGES = {
    ROOT / "docs" / "concepts" / "private-heatmaps.md": long_tables,
    ROOT / "docs" / "performance.md": short_tables,
}


def with_tables(page: str, tables: str) -> str:
    """Return a page with the stretch between its two marks replaced."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n\n{tables}\n{END}{after}"


def main(words: list[str]) -> int:
    """Measure unless told not to, then write the pages and their pictures."""
    if words != ["--stored"]:
        STORED.mkdir(parents=True, exist_ok=True)
        for name, split in PARTS:
            found = measured(name, split, Plan(methods=tuple(dict.fromkeys(("prior", *words))) if words else ()))
            found = refreshed(stored(name, split), found) if words else found
            (STORED / f"heatmap-{name}-{split}.json").write_text(report.to_json(found))
            print(report.note(found), report.to_markdown(found), sep="\n\n", flush=True)
    for page, tables in PAGES.items():
        page.write_text(with_tables(page.read_text(), tables()))
    for name in ("osie", "simulated"):
        picture = ROOT / "docs" / "images" / f"heatmap-usefulness-{name}.png"
        picture.write_bytes(usefulness_plot(stored(name, Split.TEST)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
