# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Figures 13 and 15 of Kaleido (Li et al. 2021), measured again.

Accuracy over the guarantee, for every proven way beside.

Figure 13 is the root mean square error of noisy gaze over ε, w and r, figure 15 the correlation of each participant's
noisy saliency map with the clean one. The paper prints no numbers; it states the shape, which `shape` checks: errors
fall with ε, rise with w, and are larger for the larger radius. Its recordings are not ours, and its radii come from
scenes; ours are 60 and 300 pixels.

All contenders are held to the same true guarantee. Kaleido as published does not keep it (erratum K1): its error bars
are there to compare, not to choose from.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, TypeVar

import numpy as np

from gazeveil.arrays import Tell, silent
from gazeveil.display import canvas
from gazeveil.errors import OptionError
from gazeveil.files import write_all
from gazeveil.lab.datasets.folder import find_data
from gazeveil.lab.experiments.kaleido._stream_study import COLUMNS, MEASURED
from gazeveil.lab.experiments.kaleido.contenders import CONTENDERS, Registered
from gazeveil.lab.experiments.stream_data import StreamSet, stream_sets
from gazeveil.lab.experiments.stream_grid import Point, Setting, measure, settings
from gazeveil.samples.space import space_of

T = TypeVar("T")

FIGURES: Final[Mapping[int, str]] = {13: "rmse", 15: "cc"}
QUICK_REPEATS, QUICK_RECORDINGS = 5, 6
_BESIDE: Final = tuple((f"clock, {late} s late", COLUMNS.index("clock")) for late in ("0.1", "0.25"))
"""Mechanisms that the study has no column for, and the column they are set against."""


def reproduce(
    figure: int,
    out: Path | None = None,
    *,
    data: Path | None = None,
    repeats: int = 100,
    quick: bool = False,
    workers: int = 1,
    contenders: Mapping[str, Registered] = CONTENDERS,
    chosen: Sequence[Setting] | None = None,
    tell: Tell = silent,
) -> dict[str, Any]:
    """Measure a figure; with a folder, draw it there and write its numbers beside, as JSON and as Markdown.

    Args:
        figure: 13 or 15.
        out: Where to write.
        data: The folder of the data sets; by default they are searched for, and without them only simulated streams
            are used.
        repeats: How often each mechanism runs over each stream.
        quick: Few recordings and at most 5 repeats, to see that it works.
        workers: How many processes.
        contenders: Which mechanisms.
        chosen: Which guarantees; all of the paper's by default.
        tell: Called with the progress.

    Raises:
        OptionError: If there is no such figure.
        OutputError: If the folder cannot be written; it then holds nothing half written.
    """
    if figure not in FIGURES:
        raise OptionError(f"figure {figure} is not measured here", hint="choose 13 (error) or 15 (saliency maps)")
    if out is not None:
        canvas()  # says at once, not after the work, that what draws is not installed
    found = find_data(data)
    sets = stream_sets(found)
    if quick:
        sets, repeats = [one.some(QUICK_RECORDINGS) for one in sets], min(repeats, QUICK_REPEATS)
    grid = settings() if chosen is None else list(chosen)
    points = measure(sets, contenders, grid, repeats=repeats, maps=figure == 15, workers=workers, tell=tell)
    told = to_json(figure, points, sets, contenders, repeats, whole=not quick)
    if out is None:
        return told
    from gazeveil.lab.experiments.kaleido import _plots as plots  # noqa: PLC0415  (it draws what is made here)

    files = {
        f"figure-{figure}.png": plots.over_the_promise(points, figure, told["sets"]),
        f"figure-{figure}-veils.png": plots.veils_compared(points, figure, told["sets"]),
        f"figure-{figure}.json": (json.dumps(_without_nan(told), indent=1, ensure_ascii=False) + "\n").encode(),
        f"figure-{figure}.md": to_markdown(told).encode(),
    }
    return {**told, "files": write_all(out, files)}


def to_json(
    figure: int,
    points: Sequence[Point],
    sets: Sequence[StreamSet],
    contenders: Mapping[str, Registered],
    repeats: int,
    *,
    whole: bool = True,
) -> dict[str, Any]:
    """Return all numbers of a figure, and what follows from them, as plain values."""
    first = {one.name: next(point for point in points if point.streams == one.name) for one in sets}
    told: dict[str, Any] = {
        "paper": "Li et al. 2021 (Kaleido)",
        "figure": figure,
        "measure": FIGURES[figure],
        "repeats": repeats,
        "sets": [
            {
                "name": one.name,
                "title": one.title,
                "centre": first[one.name].centre,
                "own_mean": first[one.name].own_mean,
            }
            for one in sets
        ],
        "veils": [{"name": name, "sound": each.is_sound(space_of(sets[0].plane))} for name, each in contenders.items()],
        "shape": [shape(points, name, FIGURES[figure]) for name in contenders],
        "points": [point.to_dict() for point in points],
    }
    if figure == 13:
        told["summary"] = [summary(points, name) for name in contenders]
        told["against_the_study"] = against_the_study(points) if whole else []
    return told


def shape(points: Iterable[Point], veil: str, measured: str) -> dict[str, Any]:
    """Return in how many neighbouring pairs of settings the paper's three statements hold for one mechanism."""
    values = {(p.streams, p.setting): getattr(p, measured) for p in points if p.veil == veil}
    good = -1 if measured == "rmse" else 1
    told: dict[str, Any] = {"veil": veil}
    for name, wanted in (("epsilon", 1), ("window", -1), ("radius", -1)):
        pairs = list(neighbours(values, name))
        told[name] = sum(wanted * good * (high - low) > 0 for low, high in pairs)
        told[f"{name}_pairs"] = len(pairs)
    return told


def summary(points: Iterable[Point], veil: str) -> dict[str, Any]:
    """Return a mechanism's error relative to "always the centre": by radius, and in how many cells it is worse."""
    mine = [point for point in points if point.veil == veil]
    told: dict[str, Any] = {"veil": veil, "cells": len(mine)}
    for radius in sorted({point.setting.radius for point in mine}):
        told[f"r{radius:g}"] = float(np.mean([p.rmse / p.centre for p in mine if p.setting.radius == radius]))
    told["all"] = float(np.mean([point.rmse / point.centre for point in mine]))
    told["worse_than_centre"] = sum(point.rmse > point.centre for point in mine)
    return told


def against_the_study(points: Iterable[Point]) -> list[dict[str, Any]]:
    """Return how our errors compare with those of the study that decided the design, set by set and veil by veil.

    ``within`` counts cells that differ by no more than the study's own standard error over recordings, which it gives
    for clock alone. ``better`` counts cells with a smaller error. ``gain`` is the mean share of the error that is
    saved.
    """
    rows = []
    for streams, cells in MEASURED.items():
        for veil, column in (*((name, COLUMNS.index(name)) for name in COLUMNS), *_BESIDE):
            pairs = [
                (point.rmse, theirs[column], theirs[-1])
                for point in points
                if point.streams == streams and point.veil == veil
                if (theirs := cells.get((point.setting.radius, point.setting.window, point.setting.epsilon)))
            ]
            if not pairs:
                continue
            ours, theirs_all, se = np.array(pairs).T
            rows.append(
                {
                    "streams": streams,
                    "veil": veil,
                    "cells": len(pairs),
                    "gain": float(np.mean(1 - ours / theirs_all)),
                    "least_gain": float(np.min(1 - ours / theirs_all)),
                    "better": int((ours < theirs_all).sum()),
                    "within": int((np.abs(ours - theirs_all) <= se).sum()),
                }
            )
    return rows


def to_markdown(told: Mapping[str, Any]) -> str:
    """Return the tables of a figure for a page of the docs."""
    measured, veils = told["measure"], [veil["name"] for veil in told["veils"]]
    digits, error = (0, "repeat_se") if measured == "rmse" else (2, "cc_se")
    lines = []
    if "summary" in told:
        radii = [key for key in told["summary"][0] if key.startswith("r")]
        lines += _table(
            ["mechanism", "proven", *(f"r = {key[1:]}" for key in radii), "all", "worse than the centre"],
            [
                [row["veil"], "yes" if veil["sound"] else "**no**", *(f"{row[key]:.3f}" for key in (*radii, "all")),
                 f"{row['worse_than_centre']} of {row['cells']}"]
                for row, veil in zip(told["summary"], told["veils"], strict=True)
            ],
        )  # fmt: skip
    for one in told["sets"]:
        lines.append(
            f"**{one['title']}.** Always the centre: {one['centre']:.0f} px; own mean: {one['own_mean']:.0f} px.\n"
        )
        cells = {
            (p["radius"], p["window"], p["epsilon"], p["veil"]): p
            for p in told["points"]
            if p["streams"] == one["name"]
        }
        promises = sorted({key[:3] for key in cells})
        lines += _table(
            ["r", "w", "ε", *veils],
            [
                [*(f"{number:g}" for number in promise),
                 *(_told(cells[*promise, veil][measured], cells[*promise, veil][error], digits) for veil in veils)]
                for promise in promises
            ],
        )  # fmt: skip
    return "\n".join(lines)


def neighbours(values: Mapping[tuple[str, Setting], T], name: str) -> Iterable[tuple[T, T]]:
    """Yield the values at neighbouring settings that differ in one parameter alone, the lower one first."""
    others = [other for other in ("radius", "window", "epsilon") if other != name]

    def fixed(key: tuple[str, Setting]) -> tuple[Any, ...]:
        return (key[0], *(getattr(key[1], other) for other in others))

    ordered = sorted(values, key=lambda key: (*fixed(key), getattr(key[1], name)))
    for one, other in pairwise(ordered):
        if fixed(one) == fixed(other):
            yield values[one], values[other]


def _told(value: float, error: float, digits: int) -> str:
    return f"{value:.{digits}f}" if math.isnan(error) else f"{value:.{digits}f} ± {error:.{max(digits, 1)}f}"


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    lines = [header, ["---"] * len(header), *rows]
    return [*("| " + " | ".join(line) + " |" for line in lines), ""]


def _without_nan(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_nan(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_without_nan(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
