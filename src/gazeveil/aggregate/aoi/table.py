# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Releases as tables: one row a number, with its error bars, in the units that participants read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import NormalDist
from typing import Any

import numpy as np
import polars as pl

from gazeveil.aggregate.aoi.intervals import Difference, NoisyMean
from gazeveil.aggregate.aoi.kernel import Question
from gazeveil.aggregate.aoi.pictured import with_picture
from gazeveil.aggregate.aoi.statistics import DwellShare
from gazeveil.aggregate.saliency import Saliency
from gazeveil.geometry import Geometry
from gazeveil.types import FloatArray

ARROW = " → "
"""Between areas that are visited one after the other."""

SCHEMA: dict[str, type[pl.DataType]] = {
    "stimulus": pl.String,
    "statistic": pl.String,
    "areas": pl.String,
    "group": pl.String,  # null where everybody is together
    "estimate": pl.Float64,  # within the range that is possible
    "unclipped": pl.Float64,  # the same, unbiased
    "noise_sd": pl.Float64,
    "study_low": pl.Float64,
    "study_high": pl.Float64,
    "population_low": pl.Float64,
    "population_high": pl.Float64,
}

PICTURED: dict[str, type[pl.DataType]] = {
    "with_picture": pl.Float64,  # drawn towards what the picture says: biased, and often closer
    "with_picture_low": pl.Float64,
    "with_picture_high": pl.Float64,
    "picture_share": pl.Float64,
}
"""Further columns, where pictures are known."""


def means_table(
    questions: Sequence[Question], means: Sequence[NoisyMean], confidence: float, group: str | None = None
) -> pl.DataFrame:
    """Return the means of everyone, or of one group."""
    return pl.concat(
        [_rows(question, mean, confidence, group, (0.0, 1.0)) for question, mean in zip(questions, means, strict=True)]
    )


def pictures_table(
    questions: Sequence[Question],
    means: Sequence[NoisyMean],
    confidence: float,
    screen: Geometry,
    pictures: Mapping[str, Saliency],
) -> pl.DataFrame:
    """Return the columns of shares that pictures helped with, a row a number; null where none did."""
    reach = NormalDist().inv_cdf((1 + confidence) / 2)
    rows: list[tuple[float | None, ...]] = []
    for question, mean in zip(questions, means, strict=True):
        if question.stimulus not in pictures or question.statistic.name != DwellShare.name:
            rows += [(None,) * len(PICTURED)] * question.bounds.cells
            continue
        found = with_picture(mean.mean, mean.noise_sd, question.areas, screen, pictures[question.stimulus])
        low, high = (np.clip(found.share + way * reach * found.sd, 0.0, 1.0) for way in (-1, 1))
        share = [found.picture_share] * len(found.share)
        rows += zip(found.share.tolist(), low.tolist(), high.tolist(), share, strict=True)
    return pl.DataFrame(rows, schema=PICTURED, orient="row")


def differences_table(
    questions: Sequence[Question], differences: Sequence[Difference], confidence: float, group: str
) -> pl.DataFrame:
    """Return the differences between two groups."""
    return pl.concat(
        [
            _rows(question, difference, confidence, group, (-1.0, 1.0))
            for question, difference in zip(questions, differences, strict=True)
        ]
    )


def prediction_table(questions: Sequence[Question], means: Sequence[NoisyMean], confidence: float) -> pl.DataFrame:
    """Return for each question how far off its numbers will be, in the units that participants read."""
    rows = []
    for question, mean in zip(questions, means, strict=True):
        zero, full = question.statistic.span()
        size = abs(full - zero)
        middle = NoisyMean(np.array([0.5]), mean.people, mean.largest, mean.step, mean.noise)
        low, high = middle.in_population(confidence)
        rows.append(
            {
                "stimulus": question.stimulus,
                "statistic": question.statistic.name,
                "unit": question.statistic.words,
                "numbers": question.bounds.cells,
                "most": max(zero, full),
                "noise": str(mean.noise.law),
                "noise_sd": mean.noise_sd * size,
                "study_reach": mean.noise.quantile(1 - confidence) / (mean.people * mean.largest) * size,
                "population_reach": float(high[0] - low[0]) / 2 * size,
            }
        )
    return pl.DataFrame(rows)


def _rows(
    question: Question,
    mean: NoisyMean | Difference,
    confidence: float,
    group: str | None,
    possible: tuple[float, float],
) -> pl.DataFrame:
    zero, full = question.statistic.span()
    offset = zero if isinstance(mean, NoisyMean) else 0.0
    factor = full - zero

    def read(values: FloatArray) -> FloatArray:
        return offset + factor * values

    count = question.bounds.cells
    columns: dict[str, Any] = {
        "stimulus": [question.stimulus] * count,
        "statistic": [question.statistic.name] * count,
        "areas": [ARROW.join(areas) for areas in question.labels()],
        "group": [group] * count,
        "estimate": read(np.clip(mean.mean, *possible)),
        "unclipped": read(mean.mean),
        "noise_sd": [mean.noise_sd * abs(factor)] * count,
    }
    for name, (low, high) in (
        ("study", mean.in_study(confidence)),
        ("population", mean.in_population(confidence)),
    ):
        ends = np.sort(np.stack([read(low), read(high)]), axis=0)  # early is high, but a small number of seconds
        columns[f"{name}_low"], columns[f"{name}_high"] = ends
    return pl.DataFrame(columns, schema=SCHEMA)
