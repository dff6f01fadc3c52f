# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Releases as tables, one row a number with its error bars, and dwell shares corrected by a picture model.

A noisy share is unbiased, and at few participants far off. What the stimulus's own pixels say (`gazeveil.aggregate.
saliency`) is biased, and often closer. Both together have a smaller error: each share is taken to lie around the
predicted one, or around that of an even bump over the middle, closely or loosely; the noisy numbers decide which. It is
given beside the unbiased number and never instead of it. Post-processing: it costs no privacy.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np
import polars as pl

from gazeveil.aggregate.aoi.noisy_means import Difference, NoisyMean
from gazeveil.aggregate.aoi.statistics import DwellShare, Question
from gazeveil.aggregate.grid import Grid
from gazeveil.aggregate.map_prior import Plane, mean_of, picture_weight, pictured_models, plain_models, prior_of
from gazeveil.aggregate.saliency import Saliency
from gazeveil.arrays import FloatArray
from gazeveil.gaze.aoi import AreasOfInterest
from gazeveil.gaze.recording import Recording
from gazeveil.geometry import Geometry

_ACROSS = 32
_BLUR_DEG = 1.1
_CLOSE, _LOOSE = (0.01, 0.03, 0.1), (0.03, 0.1, 0.3)
"""Variances of shares around the picture's and around those without a picture, relative to the expected share."""
_LEAST = 0.02


@dataclass(frozen=True, slots=True, eq=False)
class WithPicture:
    """Shares that a picture helped with.

    Attributes:
        share: The estimates.
        sd: How far the shares of the same participants without noise may be from them, as a standard deviation.
        picture_share: How much of the expectation behind them follows the picture, from 0 to 1.
    """

    share: FloatArray
    sd: FloatArray
    picture_share: float


def with_picture(
    noisy: FloatArray, noise_sd: float, areas: AreasOfInterest, screen: Geometry, saliency: Saliency
) -> WithPicture:
    """Return shares of time in areas, drawn towards what a picture says as far as the noisy shares agree.

    Args:
        noisy: The noisy shares, one an area.
        noise_sd: The standard deviation of their noise.
        areas: The areas.
        screen: The viewing plane of the gaze.
        saliency: What the picture says.
    """
    logs, means, variances = [], [], []
    for chance, expected, open_ in _guesses(areas, screen, saliency):
        both = open_ + noise_sd**2
        logs.append(np.log(chance) - 0.5 * np.sum((noisy - expected) ** 2 / both + np.log(both)))
        means.append(expected + open_ / both * (noisy - expected))
        variances.append(open_ * noise_sd**2 / both)
    weights = np.exp(np.array(logs) - max(logs))
    weights /= weights.sum()
    share = weights @ np.array(means)
    variance = weights @ (np.array(variances) + (np.array(means) - share) ** 2)
    return WithPicture(np.clip(share, 0.0, 1.0), np.sqrt(variance), float(weights[: len(_CLOSE)].sum()))


def expected_error(noise_sd: float, areas: AreasOfInterest, screen: Geometry, saliency: Saliency) -> float:
    """Return the root mean square error to expect of shares drawn towards a picture: a matter of public facts."""
    variances = [
        chance * float(np.mean(open_ * noise_sd**2 / (open_ + noise_sd**2)))
        for chance, _, open_ in _guesses(areas, screen, saliency)
    ]
    return math.sqrt(sum(variances))


def _guesses(
    areas: AreasOfInterest, screen: Geometry, saliency: Saliency
) -> list[tuple[float, FloatArray, FloatArray]]:
    """Return what may hold: how likely it is, the shares that are expected, and their variances around that."""
    pictured, plain = expected_shares(areas, screen, saliency)
    weight = picture_weight(saliency)
    guesses = [(weight / len(_CLOSE), pictured, spread) for spread in _CLOSE]
    guesses += [((1 - weight) / len(_LOOSE), plain, spread) for spread in _LOOSE]
    return [(chance, expected, spread * np.maximum(expected, _LEAST)) for chance, expected, spread in guesses]


def expected_shares(areas: AreasOfInterest, screen: Geometry, saliency: Saliency) -> tuple[FloatArray, FloatArray]:
    """Return the share of gaze that a picture expects in each area, and what is expected without one."""
    left, top, right, bottom = screen.extent()
    rows = max(round(_ACROSS * abs((bottom - top) / (right - left))), 1)
    grid = Grid(_ACROSS, rows, screen)
    width, height = prior_of(grid).cell_deg
    plane = Plane(grid, (_BLUR_DEG / height, _BLUR_DEG / width))
    row, column = np.divmod(np.arange(grid.size), grid.columns)
    x = left + (column + 0.5) * (right - left) / grid.columns
    y = top + (row + 0.5) * (bottom - top) / grid.rows
    labels = areas.hits(Recording(np.arange(grid.size) / 60, x, y, screen, "nobody", "middles of cells"))
    inside = labels[None, :] == np.arange(len(areas))[:, None]
    return inside @ mean_of(pictured_models(plane, saliency)), inside @ mean_of(plain_models(plane))


# --- The tables.


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
