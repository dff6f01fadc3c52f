# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The demo's private heatmap: raw beside private, and beside them the prior and a baseline (Liu 2019)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gazeveil.aggregate.grid import Grid, render
from gazeveil.aggregate.heatmap import PrivateHeatmap
from gazeveil.aggregate.liu import LiuMap
from gazeveil.aggregate.maps import CountMap
from gazeveil.arrays import FloatArray
from gazeveil.engines import engine_at
from gazeveil.gaze.corpus import Corpus
from gazeveil.lab.utility.maps import correlation
from gazeveil.noise import NoiseSource
from gazeveil.release import visual_report
from gazeveil.release.map_files import enlarged
from gazeveil.release.study import Study

EPSILON = 3.0
DELTA = 1e-5
CELL_DEG = 1.5
BLUR_DEG = 1.5


def private_section(corpus: Corpus, stimulus: str, picture: NDArray[np.uint8]) -> visual_report.ReportSection:
    """Release one stimulus's heatmap and show it beside the raw one; then the prior and a baseline."""
    chosen = corpus.select(stimulus=stimulus)
    grid = Grid.of_degrees(chosen.geometry, CELL_DEG)
    raw = engine_at().sum_over_observers(chosen, CountMap(grid))
    truth = _unit_mass(render(raw.total.reshape(grid.shape).astype(np.float64), BLUR_DEG / CELL_DEG))
    noise = NoiseSource.secure()
    published = _liu(corpus, stimulus, grid, noise)
    mechanism = PrivateHeatmap(epsilon=EPSILON, delta=DELTA, cell_deg=CELL_DEG, blur_deg=BLUR_DEG)
    plan = Study.observed_in(corpus).plan(mechanism, stimulus=stimulus)
    ours = plan.release(
        corpus, noise=noise, anyway=True
    )  # shown even with so few participants that most of it is prior
    share = ours.value.data_share

    def drawn(name: str, values: FloatArray, words: str) -> str:
        over = visual_report.heat_over_picture(picture, enlarged(np.clip(values, 0, None), *picture.shape[:2]), name)
        return visual_report.html_picture(
            over, f"{words}; correlation with the raw heatmap {correlation(values, truth):.2f}"
        )

    from_data = f"{share:.0%} of this map comes from the data, {1 - share:.0%} from the prior"
    first = [
        visual_report.html_picture(
            visual_report.heat_over_picture(picture, enlarged(truth, *picture.shape[:2]), "raw gaze"),
            f"Raw gaze of {raw.observers} participants: no guarantee",
        ),
        drawn("differentially private", ours.value.map, f"Released: {from_data}"),
    ]
    compared = [
        drawn("the prior alone", ours.value.prior, "What is known without any data"),
        drawn("baseline: Liu 2019, corrected", published, f"One noisy number per cell, ε = {EPSILON:g}"),
    ]
    lead = f"The same {raw.observers} participants and the same image, raw and with the guarantee {ours.guarantee}."
    below = (
        "The noise is fresh, so the private pictures change from run to run. More participants or a larger ε give a "
        "map with more data in it; gazeveil plan says how good it will be before anything is spent. For comparison:"
    )
    return visual_report.ReportSection(
        "A private heatmap",
        (
            visual_report.paragraph(lead),
            visual_report.html_gallery(first),
            visual_report.html_details("The privacy statement", visual_report.paragraph(ours.statement().paragraph())),
            visual_report.paragraph(below),
            visual_report.html_gallery(compared),
        ),
    )


def _liu(corpus: Corpus, stimulus: str, grid: Grid, noise: NoiseSource) -> FloatArray:
    mechanism = LiuMap(epsilon=EPSILON, delta=DELTA, columns=grid.columns, rows=grid.rows)
    released = Study.observed_in(corpus).plan(mechanism, stimulus=stimulus).release(corpus, noise=noise)
    return render(released.value.map, BLUR_DEG / CELL_DEG)


def _unit_mass(values: FloatArray) -> FloatArray:
    total = float(values.sum())
    return values / total if total > 0 else values
