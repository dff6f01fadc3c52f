# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""From a table of features to series that may be noised: scaled to declared ranges, all of one public length.

Whatever is not known about a series is filled with a public value, step by step: a series that is too short at its end,
a window that is not usable, a feature that is not defined there. Nothing is interpolated and nothing is scaled by what
a participant did, because that would carry one step's secret to others. Series longer than the public length are cut.
So the length of a release tells nothing about the length of a recording.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gazeveil.errors import InputError, OptionError
from gazeveil.exact import Number
from gazeveil.features.ranges import Clipped, Ranges
from gazeveil.features.table import FeatureTable, Series
from gazeveil.gaze.recording import Key
from gazeveil.noise import NoiseSource, laplace
from gazeveil.privacy.calibrate import laplace_scale
from gazeveil.types import FloatArray

MIDDLE = 0.5


@dataclass(frozen=True, slots=True, eq=False)
class Panel:
    """Series of one length. Everything here is raw: not private until noise is added.

    Attributes:
        values: Series by steps by features, from 0 to 1, nothing missing.
        keys: Whose recording each series is.
        tasks: What they did.
        groups: Which group they belong to.
    """

    values: FloatArray
    keys: tuple[Key, ...]
    tasks: tuple[str, ...]
    groups: tuple[str, ...]

    @property
    def observers(self) -> list[str]:
        """Everyone, sorted."""
        return sorted({key.observer for key in self.keys})


def panel_of(table: FeatureTable, ranges: Ranges, steps: int, fill: FloatArray | None = None) -> Panel:
    """Return the series of a table, scaled, cut and filled.

    Args:
        table: The features.
        ranges: The declared ranges; which features are taken, and in which order.
        steps: The public length.
        fill: The public value of every feature, from 0 to 1; the middle of the range if not given.

    Raises:
        InputError: If the table has no rows, lacks a feature, or has no usable value at all.
    """
    if not len(table):
        raise InputError("the table has no series")
    public = np.full(len(ranges), MIDDLE) if fill is None else np.asarray(fill, dtype=np.float64)
    if public.shape != (len(ranges),) or not np.all((public >= 0) & (public <= 1)):
        raise OptionError(f"the public values are {len(ranges)} numbers from 0 to 1")
    found = list(table.only(ranges.names).series())
    scaled = np.stack([scaled_series(series, ranges, steps)[0] for series in found])
    missing = np.isnan(scaled)
    if missing.all():
        raise InputError(
            f"the table has no usable value of {', '.join(ranges.names[:5])}{', …' if len(ranges) > 5 else ''}",
            hint="see `gazeveil features describe`: the tracker may have lost the eyes, or recorded no pupil",
        )
    return Panel(
        np.where(missing, public, scaled),
        tuple(series.key for series in found),
        tuple(series.task for series in found),
        tuple(series.group for series in found),
    )


def scaled_series(series: Series, ranges: Ranges, steps: int) -> tuple[FloatArray, Clipped]:
    """Return one series from 0 to 1, steps by features in the order of the ranges, NaN where nothing is known."""
    values = np.full((steps, len(ranges)), np.nan)
    some = np.where(series.usable[:steps, None], series.values[:steps], np.nan)
    values[: len(some)] = np.where(np.isfinite(some), some, np.nan)
    return ranges.to_unit(values)


def noisy_lengths(lengths: Sequence[int], steps: int, epsilon: Number, noise: NoiseSource) -> list[int]:
    """Return how long every series was, with ε-private noise, from 0 to the public length.

    A participant's length can be anything from 0 to the public length, so the noise is as wide as that over ε.
    """
    scale = laplace_scale(epsilon, steps)
    cut = np.minimum(np.asarray(lengths, dtype=np.int64), steps)
    noisy = cut + laplace(noise, scale, cut.shape)
    return [int(length) for length in np.clip(noisy, 0, steps)]
