# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Dwell shares beside which a picture may speak: the noisy number drawn towards what the picture says of an area.

A noisy share is unbiased, and at few participants far off. What the stimulus's own pixels say (`gazeveil.aggregate.
saliency`) is biased, and often closer. Both together have a smaller error: each share is taken to lie around the
predicted one, or around that of an even bump over the middle, closely or loosely; the noisy numbers decide which. It is
given beside the unbiased number and never instead of it. Post-processing: it costs no privacy.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from gazeveil.aggregate.grid import Grid
from gazeveil.aggregate.models import Plane, mean_of, picture_weight, pictured_models, plain_models
from gazeveil.aggregate.prior import prior_of
from gazeveil.aggregate.saliency import Saliency
from gazeveil.gaze.aoi import AreasOfInterest
from gazeveil.gaze.recording import Recording
from gazeveil.geometry import Geometry
from gazeveil.types import FloatArray

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
