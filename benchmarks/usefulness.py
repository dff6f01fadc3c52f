# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""How useful private heatmaps are, measured on both data sets and both splits, and put into the documentation.

``python -m benchmarks.usefulness`` measures and writes. Given names of methods, it measures these alone and keeps what
is stored of the others; with ``--stored`` it measures nothing. Every part is what
``gazeveil lab experiment heatmap`` gives with the same options.

What is stored of releases and their priors (``trust-*.json``) was written by ``gazeveil lab experiment heatmap`` with
``--trust``, ``--pictures`` or ``--contents``; pictures and predicted maps are not in this project, so nothing here
measures it again.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

from benchmarks.harness import RESULTS
from gazeveil.lab.experiments import heatmap_usefulness
from gazeveil.lab.experiments import heatmap_usefulness as report
from gazeveil.lab.experiments.heatmap_scenes import Gallery, Split, osie, simulated
from gazeveil.lab.experiments.heatmap_usefulness import (
    Found,
    Plan,
    Trial,
    by_category,
    compare,
    lines,
    refreshed,
    trials_from,
)
from gazeveil.lab.experiments.plots import usefulness_plot

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
TRUST = {
    "osie": "OSIE, the 120 images that the picture model never saw",
    "viewers": "OSIE, a model trained with viewers 1 to 8, judged by viewers 9 to 15",
    "simulated": "Simulated scenes, *test* split",
    "scene": "Photographs of scenes by another lab, a model trained without that lab's",
    "crowd": "Photographs of crowds, a model trained without these",
}
"""Releases and their priors, by the name of the stored file."""
LEFT_OUT = ("recipe",)
"""What was measured and is of no interest to readers: an earlier version of ours."""
SHORT = ("liu", "hierarchical", "grid")
RELEASES = (
    ("prior of the picture, no gaze data", "right", "prior"),
    ("**gazeveil**, no picture", "none", "release"),
    ("**gazeveil**, with the picture", "right", "release"),
)
"""Rows of the short table that come from stored releases: title, which picture, and which number."""


def measured(name: str, split: Split, plan: Plan) -> Found:
    """Measure one part."""
    images = PARTS[name, split]
    gallery: Gallery = osie(OSIE, split, images) if name == "osie" else simulated(split, images)
    return compare(gallery, plan, split=split)


def stored(name: str, split: Split) -> Found:
    """Return one part as it was measured before."""
    return Found.from_dict(json.loads((STORED / f"heatmap-{name}-{split}.json").read_text()))


def shown(name: str, split: Split) -> Found:
    """Return one stored part with the methods that are compared in the documentation."""
    found = stored(name, split)
    methods = tuple(method for method in found.plan.chosen() if method not in LEFT_OUT)
    return replace(found, plan=replace(found.plan, methods=methods))


def long_tables(split: Split) -> str:
    """Return all numbers of a split, one table for each data set."""
    parts = []
    for name in (name for name, own in PARTS if own == split):
        found = shown(name, split)
        parts += [f"**{report.note(found)}**", "", report.usefulness_markdown(found)]
    return "\n".join(parts)


def short_table() -> str:
    """Return the correlations on real scenes that no constant was tuned on, beside releases with a picture."""
    found, tried = shown("osie", Split.TEST), lines(trials_of("osie"))
    counts = list(dict.fromkeys(line.participants for line in tried))
    parts = [f"| {' | '.join(['method', *(f'n = {count}' for count in counts)])} |", f"|---|{'---|' * len(counts)}"]
    known = found.plan.chosen()
    rows = [(known[name].title, [report.score_in_words(found.row(name, count).cc) for count in counts])
            for name in SHORT]  # fmt: skip
    for title, picture, part in RELEASES:
        own = [getattr(line, part) for line in tried if line.picture == picture]
        rows.append((title, [report.score_in_words(score) for score in own]))
    parts += [f"| {title} | {' | '.join(cells)} |" for title, cells in rows]
    return "\n".join(parts) + "\n"


def trials_of(name: str) -> list[Trial]:
    """Return stored releases."""
    return trials_from(json.loads((STORED / f"trust-{name}.json").read_text())["trials"])


def trust_tables() -> str:
    """Return what releases add to their priors."""
    parts = []
    for name, title in TRUST.items():
        tried = trials_of(name)
        parts += [f"**{title}**", "", heatmap_usefulness.trust_markdown(lines(tried))]
    categories = json.loads((STORED / "trust-kinds.json").read_text())["kinds"]
    parts += ["**A kind of OSIE image left out of training**", ""]
    parts.append(heatmap_usefulness.category_table(by_category(trials_of("kinds"), categories)))
    return "\n".join(parts)


HEATMAPS = ROOT / "docs" / "concepts" / "private-heatmaps.md"
RESULTS_PAGE = ROOT / "docs" / "results.md"
PAGES: dict[Path, dict[str, Callable[[], str]]] = {
    HEATMAPS: {"usefulness": short_table},
    RESULTS_PAGE: {
        "usefulness test": partial(long_tables, Split.TEST),
        "usefulness tune": partial(long_tables, Split.TUNE),
        "trust": trust_tables,
    },
}
"""What is written into which page, between the marks of what name."""


def with_tables(page: str, tables: dict[str, Callable[[], str]]) -> str:
    """Return a page with the stretches between their marks replaced."""
    for name, table in tables.items():
        begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
        before, _, rest = page.partition(begin)
        _, _, after = rest.partition(end)
        page = f"{before}{begin}\n\n{table()}\n{end}{after}"
    return page


def main(words: list[str]) -> int:
    """Measure unless told not to, then write the pages and their pictures."""
    if words != ["--stored"]:
        STORED.mkdir(parents=True, exist_ok=True)
        for name, split in PARTS:
            found = measured(name, split, Plan(methods=tuple(dict.fromkeys(("prior", *words))) if words else ()))
            found = refreshed(stored(name, split), found) if words else found
            (STORED / f"heatmap-{name}-{split}.json").write_text(report.to_json(found))
            print(report.note(found), report.usefulness_markdown(found), sep="\n\n", flush=True)
    for page, tables in PAGES.items():
        page.write_text(with_tables(page.read_text(), tables))
    images = ROOT / "docs" / "images"
    (images / "heatmap-trust-osie.png").write_bytes(heatmap_usefulness.trust_plot(lines(trials_of("osie"))))
    for name in ("osie", "simulated"):
        (images / f"heatmap-usefulness-{name}.png").write_bytes(usefulness_plot(shown(name, Split.TEST)))
    (images / "heatmap-tuning.png").write_bytes(usefulness_plot(shown("osie", Split.TUNE)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
