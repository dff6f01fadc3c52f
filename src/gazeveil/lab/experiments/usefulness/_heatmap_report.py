# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The results of `gazeveil.lab.experiments.usefulness.heatmaps` in words, tables and files."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

from gazeveil.files import write_all
from gazeveil.lab.experiments.usefulness._heatmap_plots import usefulness_plot
from gazeveil.lab.experiments.usefulness.heatmaps import Found, Row, Score

_DIGITS = 5


def note(found: Found) -> str:
    """Return what the numbers are of, in a sentence or two."""
    what = " ".join(part for part in (found.gallery, found.split) if part)
    draws = "1 draw" if found.plan.repeats == 1 else f"{found.plan.repeats} draws"
    told = f"{what}: {found.scenes} scenes, {draws} each, {found.viewers} viewers a scene, δ = {found.plan.delta:g}."
    if any(count > found.viewers for count in found.plan.observers):
        told += " * Participants resampled with replacement, and their fixations too."
    return f"{told} Assumed: {found.assumed}." if found.assumed else told


def to_markdown(found: Found, epsilon: float | None = None) -> str:
    """Return a table: correlation ± its standard error, correlation without the prior, hot spots found."""
    plan, epsilon = found.plan, found.plan.epsilons[0] if epsilon is None else epsilon
    told = [f"n = {count}{'*' if count > found.viewers else ''}" for count in plan.observers]
    lines = [f"| ε = {epsilon:g} | {' | '.join(told)} |", f"|---|{'---|' * len(told)}"]
    for name, method in plan.chosen().items():
        cells = [_cell(found.row(name, count, epsilon)) for count in plan.observers]
        oracle = ", grid and cap by an oracle" if method.oracle else ""
        lines.append(f"| {method.title}{oracle} | {' | '.join(cells)} |")
    if {"ours", "recipe"} <= set(plan.chosen()):
        gains = (found.gain("ours", "recipe", count, epsilon) for count in plan.observers)
        cells = [" / ".join(f"{score.mean:+.3f} ± {short(score.error, 3)}" for score in gain[:2]) for gain in gains]
        lines.append(f"| gain of ours over an earlier version, scene by scene |  {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def to_json(found: Found) -> str:
    """Return the numbers as JSON, one row a line, rounded to what they are good for."""
    values = plain_values(found.to_dict())
    rows = ",\n  ".join(json.dumps(row, ensure_ascii=False) for row in values.pop("rows"))
    head = json.dumps(values, ensure_ascii=False, indent=1)
    return f'{head[:-2]},\n "rows": [\n  {rows}\n ]\n}}\n'


def write(found: Found, out: Path) -> list[str]:
    """Write the numbers and a picture of them into a folder; return the names of the files."""
    stem = "-".join(part for part in ("heatmap", found.gallery, found.split) if part)
    tables = "\n".join(to_markdown(found, epsilon) for epsilon in found.plan.epsilons)
    files = {
        f"{stem}.json": to_json(found).encode(),
        f"{stem}.md": f"{note(found)}\n\n{tables}".encode(),
        f"{stem}.png": usefulness_plot(found),
    }
    return write_all(out, files)


def score_in_words(score: Score) -> str:
    """Return a mean and its standard error in two digits."""
    return short(score.mean) if math.isnan(score.error) else f"{short(score.mean)} ± {short(score.error)}"


def short(value: float, digits: int = 2) -> str:
    """Return a number without the zero before its point."""
    if math.isnan(value):
        return "–"
    return f"{round(value, digits) + 0.0:.{digits}f}".replace("0.", ".", 1)


def _cell(row: Row) -> str:
    return f"{score_in_words(row.cc)} / {short(row.residual.mean)} / {short(row.hits.mean)}"


def plain_values(value: Any) -> Any:
    """Return plain, rounded values without NaN, which JSON does not know."""
    if isinstance(value, dict):
        return {key: plain_values(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain_values(item) for item in value]
    if isinstance(value, float):
        return None if math.isnan(value) else float(f"{value:.{_DIGITS}g}")
    return value
