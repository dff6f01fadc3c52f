# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Figures 2 and 3 of Liu et al. 2019."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

from gazeveil.lab.experiments import plots
from gazeveil.lab.reproduction import liu_figures
from gazeveil.lab.reproduction.finding import Check, Finding, counted, judged, ranged, rises
from gazeveil.lab.reproduction.liu_figures import NoiseLevel, Quality
from gazeveil.privacy.calibration import LiuNoise

PAPER = "Liu et al. 2019"
_ABOUT = 0.1
_QUOTED = 0.0986
"""The σ that the paper quotes at ε = 1.5 with 50,000 observers."""


def measure(data: Path | None, *, quick: bool) -> list[Finding]:
    """Return both figures; neither needs recordings."""
    levels = liu_figures.noise_levels(liu_figures.SIDES, liu_figures.OBSERVERS)
    people = liu_figures.simulated_gaze(shrink=4 if quick else 1)
    rows = liu_figures.qualities(people, repeats=10 if quick else 100)
    return [_figure_2(levels), _figure_3(rows, people, quick=quick)]


def _figure_2(levels: Sequence[NoiseLevel]) -> Finding:
    read_off = liu_figures.noise_at_the_points_read_off()
    checks = [
        judged(
            f"a 300 x 300 map of {row.observers} observers has {row.level} privacy at a noise of about 1.5",
            f"{row.published:.3f} by the paper's formula; {row.sound:.3f} is enough (L3)",
            abs(row.published / 1.5 - 1) <= _ABOUT,
            "“about” is read as within 10 % (L6)",
        )
        for row in read_off
    ]
    by_side, by_people = [0, 0], [0, 0]
    for level in ("good", "okay"):
        for people in liu_figures.OBSERVERS:
            curve = [row.published for row in levels if (row.level, row.observers) == (level, people)]
            by_side = [by_side[0] + rises(curve), by_side[1] + len(curve) - 1]
        for side in liu_figures.SIDES:
            curve = [row.published for row in levels if (row.level, row.side) == (level, side)][::-1]
            by_people = [by_people[0] + rises(curve), by_people[1] + len(curve) - 1]
    checks += [
        counted("more pixels need more noise", *by_side),
        counted("more observers need less noise", *by_people),
    ]
    return Finding(
        "liu-2",
        PAPER,
        "Figure 2: noise that a gaze map needs, over its size and the number of observers",
        "none: a formula",
        tuple(checks),
        ("privacy", "observers", "published σ", "corrected σ", "corrected σ, 300 samples each"),
        tuple((row.level, row.observers, row.published, row.sound, row.bounded) for row in read_off),
        {
            "Noise over side and observers": plots.noise_surface(levels),
            "Slice at 300 x 300": plots.noise_slice(levels),
        },
        (
            "The published formula keeps its guarantee on large maps although its proof is wrong (L1, L2), and breaks "
            "it on very small ones (L3). The corrected noise is the least that is enough.",
        ),
        "gazeveil lab reproduce liu",
    )


def _figure_3(rows: Sequence[Quality], people: liu_figures.Gaze, *, quick: bool) -> Finding:
    curves = {name: [row for row in rows if row.mechanism == name] for name in liu_figures.MECHANISMS}
    normal, laplace = curves["Gaussian, published"], curves["Laplace, published"]
    published = (*(normal,), *(laplace,))
    pairs = sum(len(curve) - 1 for curve in published)
    formula = LiuNoise(observers=50_000, pixels=1680 * 1050, epsilon=1.5, delta=50_000**-1.5).sigma_gaussian()
    worst = max(normal, key=lambda row: -row.cc.mean)
    checks: list[Check] = [
        judged(
            "the Laplace mechanism loses much more than the Gaussian at the same ε",
            "; ".join(
                f"ε = {one.epsilon:g}: CC {_spread(two)} against {_spread(one)}"
                for one, two in zip(normal, laplace, strict=True)
                if one.epsilon in (0.5, 1.5, 3.0)
            ),
            all(two.cc.mean < one.cc.mean for one, two in zip(normal, laplace, strict=True)),
        ),
        counted("CC falls as ε gets smaller", sum(rises([row.cc.mean for row in one]) for one in published), pairs),
        counted("MSE grows as ε gets smaller", sum(rises([-row.mse.mean for row in one]) for one in published), pairs),
        judged(
            f"σ = {_QUOTED} at ε = 1.5 and 50,000 observers",
            f"{formula:.4f} by theorem 3.4",
            abs(formula / _QUOTED - 1) < 0.01,
            "the paper names theorem 3.5, which gives 33; within 1 % of theorem 3.4 (L5)",
        ),
    ]
    size = f"{people.shape[1]} x {people.shape[0]}"
    return Finding(
        "liu-3",
        PAPER,
        "Figure 3: correlation and error of noisy heatmaps over ε",
        f"simulated: 5 participants before one picture, counted 10,000 times each; {size} cells, "
        f"{worst.cc.repeats} heatmaps per point",
        tuple(checks),
        ("mechanism", "ε", "noise σ", "CC", "CC, sd", "MSE", "MSE, sd"),
        tuple(
            (row.mechanism, row.epsilon, row.noise_sd, row.cc.mean, row.cc.sd, row.mse.mean, row.mse.sd) for row in rows
        ),
        {"Quality over ε": plots.quality_over_epsilon(rows, people.observers)},
        (
            "Five participants stand for 50,000, as in the paper: the guarantee to each of them is that to a group of "
            "10,000 (L8).",
            "Blur, negative cells and the scale of CC and MSE are ours: the paper leaves them open (L10).",
            *(("The map has 16 times fewer cells than the paper's in this quick run.",) if quick else ()),
        ),
        "gazeveil lab reproduce liu --repeats 100",
    )


def _spread(row: Quality) -> str:
    sd = 0.0 if math.isnan(row.cc.sd) else row.cc.sd
    return ranged(row.cc.mean, (row.cc.mean - 2 * sd, row.cc.mean + 2 * sd), 3)
