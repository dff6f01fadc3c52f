# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""How useful private heatmaps are, measured on both data sets and both splits, and put into the documentation.

``python -m benchmarks.usefulness`` measures and writes. Given names of methods, it measures these alone and keeps what
is stored of the others; with ``--stored`` it measures nothing. Every part is what
``gazeveil judge experiment heatmap`` gives with the same options.

The comparison with peers is older than the design around pictures. What is stored of releases and their priors
(``trust-*.json``) was written by ``gazeveil judge experiment heatmap --trust`` or ``--contents``; its maps are not in
this project, so nothing here measures it again.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from benchmarks.harness import RESULTS
from gazeveil.experiments.usefulness import _heatmap_report as report
from gazeveil.experiments.usefulness import _trust_report
from gazeveil.experiments.usefulness._heatmap_plots import usefulness_plot
from gazeveil.experiments.usefulness._heatmap_scenes import Gallery, Split, osie, simulated
from gazeveil.experiments.usefulness.heatmaps import Found, Plan, Score, compare, refreshed
from gazeveil.experiments.usefulness.trust import Trial, by_category, lines, trials_from

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
TRUST_BEGIN, TRUST_END = "<!-- trust: begin -->", "<!-- trust: end -->"
TRUST = {
    "osie": "OSIE, the 120 images that the picture model never saw",
    "viewers": "OSIE, a model trained with viewers 1 to 8, judged by viewers 9 to 15",
    "simulated": "Simulated scenes, *test* split",
    "scene": "Photographs of scenes by another lab, a model trained without that lab's",
    "crowd": "Photographs of crowds, a model trained without these",
}
"""Releases and their priors, by the name of the stored file."""
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


def trials_of(name: str) -> list[Trial]:
    """Return stored releases."""
    return trials_from(json.loads((STORED / f"trust-{name}.json").read_text())["trials"])


def trust_tables() -> str:
    """Return what releases add to their priors, beside what came out before there were designs around pictures."""
    parts = []
    for name, title in TRUST.items():
        tried = trials_of(name)
        parts += [f"**{title}**", "", _trust_report.to_markdown(lines(tried))]
        if name in {"osie", "simulated"}:
            parts += [f"*Release without a picture less the earlier one, scene by scene*: {_since(name, tried)}.", ""]
    categories = json.loads((STORED / "trust-kinds.json").read_text())["kinds"]
    parts += ["**A kind of OSIE image left out of training**", ""]
    parts.append(_trust_report.category_table(by_category(trials_of("kinds"), categories)))
    return "\n".join(parts)


def _since(name: str, tried: list[Trial]) -> str:
    """Return by how much releases without a picture exceed those of the stored comparison with peers, in words."""
    before, found = stored(name, Split.TEST), []
    names = json.loads((STORED / f"trust-{name}.json").read_text())["scenes"]
    for count in dict.fromkeys(trial.participants for trial in tried):
        earlier = dict(zip(names, before.row("ours", count).by_scene, strict=True))
        own = [one for one in tried if (one.picture, one.participants) == ("none", count)]
        score = Score.of(one.release - earlier[one.scene][0] for one in own)
        found.append(f"n = {count}: {_trust_report.cell(score, 'gain')}")
    return ", ".join(found)


HEATMAPS = ROOT / "docs" / "concepts" / "private-heatmaps.md"
PAGES = {
    HEATMAPS: long_tables,
    ROOT / "docs" / "performance.md": short_tables,
}


def with_tables(page: str, tables: str, begin: str = BEGIN, end: str = END) -> str:
    """Return a page with the stretch between its two marks replaced."""
    before, _, rest = page.partition(begin)
    _, _, after = rest.partition(end)
    return f"{before}{begin}\n\n{tables}\n{end}{after}"


def with_trust(page: str) -> str:
    """Return the page on heatmaps with what releases add to their priors."""
    return with_tables(page, trust_tables(), TRUST_BEGIN, TRUST_END)


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
    HEATMAPS.write_text(with_trust(HEATMAPS.read_text()))
    (ROOT / "docs" / "images" / "heatmap-trust-osie.png").write_bytes(
        _trust_report.trust_plot(lines(trials_of("osie")))
    )
    for name in ("osie", "simulated"):
        picture = ROOT / "docs" / "images" / f"heatmap-usefulness-{name}.png"
        picture.write_bytes(usefulness_plot(stored(name, Split.TEST)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
