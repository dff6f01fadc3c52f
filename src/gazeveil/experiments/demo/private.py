# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The demo's private part: one heatmap as it is, as Liu 2019 would release it, and as we do, with their guarantees."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gazeveil.aggregate.grid import Grid
from gazeveil.aggregate.heatmap import PrivateHeatmap
from gazeveil.aggregate.liu import LiuMap
from gazeveil.aggregate.maps import CountMap
from gazeveil.aggregate.render import render
from gazeveil.engines import engine_at
from gazeveil.gaze.corpus import Corpus
from gazeveil.noise import NoiseSource
from gazeveil.release import plots, report
from gazeveil.release.heatmap_files import enlarged
from gazeveil.release.study import Study
from gazeveil.types import FloatArray
from gazeveil.utility.maps import correlation

EPSILON = 1.0
DELTA = 1e-5
CELL_DEG = 1.5
BLUR_DEG = 1.5


def private_section(corpus: Corpus, stimulus: str, picture: NDArray[np.uint8]) -> report.Section:
    """Release one stimulus's heatmap in three ways and show them side by side."""
    chosen = corpus.select(stimulus=stimulus)
    grid = Grid.of_degrees(chosen.geometry, CELL_DEG)
    raw = engine_at().sum_over_observers(chosen, CountMap(grid))
    truth = _unit_mass(render(raw.total.reshape(grid.shape).astype(np.float64), BLUR_DEG / CELL_DEG))
    noise = NoiseSource.secure()
    published = _liu(corpus, stimulus, grid, noise)
    mechanism = PrivateHeatmap(epsilon=EPSILON, delta=DELTA, cell_deg=CELL_DEG, blur_deg=BLUR_DEG)
    plan = Study.observed_in(corpus).plan(mechanism, stimulus=stimulus)
    ours = plan.release(corpus, noise=noise, anyway=True)  # shown even with so few people that most of it is prior
    share = ours.value.data_share
    shown = (
        ("raw gaze", truth, "no guarantee at all"),
        ("Liu 2019, corrected", published, f"ε = {EPSILON:g}: one number per cell, each with its noise"),
        ("gazeveil", ours.value.map, f"{ours.guarantee}: {share:.0%} of the picture is data, the rest is prior"),
    )
    pictures = [
        report.picture(
            plots.heat_over_picture(picture, enlarged(np.clip(values, 0, None), *picture.shape[:2]), name),
            f"{name}: {promise}; correlation with the raw heatmap {correlation(values, truth):.2f}",
        )
        for name, values, promise in shown
    ]
    lead = (
        f"The same {raw.observers} participants and the same image, released in three ways. The noise is new in every "
        "run, so these pictures change. With few participants and a strong guarantee, most of a private map comes from "
        "the prior. The share that comes from data is reported; it grows with more participants or a larger ε."
    )
    return report.Section(
        f"A heatmap with a guarantee ({stimulus})",
        (report.words(lead), report.gallery(pictures), report.words(ours.statement().paragraph())),
    )


def _liu(corpus: Corpus, stimulus: str, grid: Grid, noise: NoiseSource) -> FloatArray:
    mechanism = LiuMap(epsilon=EPSILON, delta=DELTA, columns=grid.columns, rows=grid.rows)
    released = Study.observed_in(corpus).plan(mechanism, stimulus=stimulus).release(corpus, noise=noise)
    return render(released.value.map, BLUR_DEG / CELL_DEG)


def _unit_mass(values: FloatArray) -> FloatArray:
    total = float(values.sum())
    return values / total if total > 0 else values
