# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The results of `gazeveil.lab.experiments.usefulness.trust` in tables, files and a picture."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from gazeveil.display import BLUE, GREEN, GREY, ORANGE, canvas, legend_below, png
from gazeveil.files import write_all
from gazeveil.lab.experiments.usefulness._heatmap_report import plain_values, short
from gazeveil.lab.experiments.usefulness.heatmaps import Score
from gazeveil.lab.experiments.usefulness.trust import NORMAL, Line, Trial, by_category, lines, plain

TITLES: Final[Mapping[str, str]] = {
    "prior": "prior alone, CC",
    "release": "release, CC",
    "gain": "release − prior",
    "over_none": "release − release without picture",
    "own": "CC without the prior",
    "covered": "in 95 % intervals, these participants",
    "population_covered": "in 95 % intervals, all participants",
    "false": "false hot spots",
    "flags": "hot spots of a map",
    "below": "releases below the prior",
}
"""The measures of a table, in its order."""
PICTURES: Final[Mapping[str, str]] = {"right": "right picture", "wrong": "wrong picture", "none": "no picture"}
_LOOKS: Final = {"right": BLUE, "wrong": ORANGE, "none": GREEN}


def to_markdown(found: Iterable[Line]) -> str:
    """Return a table for each kind of picture: a row a measure, a column a number of participants."""
    groups: dict[str, list[Line]] = {}
    for line in found:
        groups.setdefault(line.picture, []).append(line)
    parts = []
    for kind, own in groups.items():
        counts = " | ".join(f"n = {line.participants}" for line in own)
        parts += [f"| {PICTURES[kind]}, {own[0].scenes} scenes | {counts} |", f"|---|{'---|' * len(own)}"]
        for name, title in TITLES.items():
            cells = [cell(getattr(line, name), name) for line in own]
            if set(cells) != {"–"} and not (name == "over_none" and kind == "none"):
                parts.append(f"| {title} | {' | '.join(cells)} |")
        parts.append("")
    return "\n".join(parts)


def category_table(found: Mapping[str, Sequence[Line]]) -> str:
    """Return a table of the releases with the right picture: a row a category and number of participants."""
    names = ("prior", "release", "gain", "over_none")
    parts = [f"| category | scenes | n | {' | '.join(TITLES[name] for name in names)} |", f"|---|{'---|' * 6}"]
    for category, own in found.items():
        parts += [
            f"| {category} | {line.scenes} | {line.participants} | "
            + " | ".join(cell(getattr(line, name), name) for name in names)
            + " |"
            for line in own
            if line.picture == "right"
        ]
    return "\n".join(parts) + "\n"


def cell(value: Score | float, name: str = "") -> str:
    """Return a measure with its 95 % bound."""
    if not isinstance(value, Score):
        return f"{value:.1f}" if name == "flags" else short(value)
    if math.isnan(value.mean):
        return "–"
    signed = "+" if name in {"gain", "over_none"} and value.mean >= 0 else ""
    bound = "" if math.isnan(value.error) else f" ± {short(NORMAL * value.error, 3)}"
    return f"{signed}{short(value.mean, 3)}{bound}"


def to_dict(tried: Sequence[Trial], about: Mapping[str, Any], categories: Mapping[str, str]) -> dict[str, Any]:
    """Return everything as plain values: what it is of, the lines and each single release."""
    found: dict[str, Any] = {**about, "lines": plain_values([asdict(line) for line in lines(tried)])}
    if categories:
        found["categories"] = {
            name: plain_values([asdict(line) for line in own]) for name, own in by_category(tried, categories).items()
        }
    return {**found, "trials": plain_values(plain(tried))}


def write(tried: Sequence[Trial], about: Mapping[str, Any], categories: Mapping[str, str], out: Path) -> list[str]:
    """Write numbers, tables and a picture of them into a folder; return the names of the files."""
    stem = "-".join(str(part) for part in ("trust", about["data"], about["split"]) if part)
    tables = to_markdown(lines(tried))
    if categories:
        tables += "\n" + category_table(by_category(tried, categories))
    files = {
        f"{stem}.json": (json.dumps(to_dict(tried, about, categories), ensure_ascii=False, indent=1) + "\n").encode(),
        f"{stem}.md": tables.encode(),
        f"{stem}.png": trust_plot(lines(tried)),
    }
    return write_all(out, files)


def trust_plot(found: Sequence[Line]) -> bytes:
    """Draw release and prior, the data's own part and the coverage over the number of participants."""
    figure, axes = canvas(12, 4.4, columns=3, sharex=True)
    titles = ("correlation with the map of all", "… after the prior is regressed out", "cells in their 95 % intervals")
    counts = sorted({line.participants for line in found})
    for panel, title, name in zip(axes, titles, ("release", "own", "covered"), strict=True):
        panel.set_xscale("log")
        panel.set_xlim(counts[0] / 1.2, counts[-1] * 1.2)
        for kind in dict.fromkeys(line.picture for line in found):
            own = [line for line in found if line.picture == kind]
            at = [line.participants for line in own]
            scores = [getattr(line, name) for line in own]
            bounds = [0.0 if math.isnan(score.error) else NORMAL * score.error for score in scores]
            panel.errorbar(
                *(at, [score.mean for score in scores], bounds),
                color=_LOOKS[kind],
                marker="o",
                markersize=3,
                label=PICTURES[kind],
            )
            if name == "release":
                panel.plot(at, [line.prior.mean for line in own], color=_LOOKS[kind], linestyle=":")
        if name == "covered":
            panel.axhline(0.95, color=GREY, linestyle="--", linewidth=1)
        panel.set_xticks(counts, [str(count) for count in counts])
        panel.minorticks_off()
        panel.set_xlabel("participants")
        panel.set_title(title)
        panel.grid(alpha=0.3)
    legend_below(figure, axes[0])
    figure.suptitle("private heatmaps and their priors alone (dotted)")
    return png(figure)
