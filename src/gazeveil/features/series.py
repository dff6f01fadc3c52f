# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Feature series of one public length, scaled to declared ranges, and what a mechanism for one series is.

What is missing in a series is filled with a public value, step by step: the end of a series that is too short, a window
that is not usable, a feature that is not defined there. Nothing is interpolated and nothing is scaled by what a
participant did, because that would carry one step's secret to others. Series longer than the public length are cut. So
the length of a release says nothing about the length of a recording.

Values are scaled to their declared ranges first, so they lie from 0 to 1 whoever they come from. Each participant's
series is released by itself, with noise of its own: what a participant contributed touches that participant's release
alone, so the guarantee to one is the guarantee to all. ε pays for all features of a participant together.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from gazeveil.arrays import FloatArray
from gazeveil.errors import InputError, OptionError
from gazeveil.exact import Number, above_zero, as_text, exact, float_up, probability, whole_number
from gazeveil.features.ranges import Clipped, Ranges
from gazeveil.features.table import FeatureTable, Series
from gazeveil.gaze.recording import Key
from gazeveil.noise import NoiseSource, laplace
from gazeveil.options import setting
from gazeveil.privacy.calibration import gaussian_sigma, laplace_scale
from gazeveil.privacy.guarantee import ApproxDP, Guarantee, PureDP
from gazeveil.privacy.protection import FeatureSeries, Observer, ProtectedUnit
from gazeveil.registry import Registry

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


# --- The contract of a mechanism for one participant's own series.


MOST_STEPS = 1 << 16
STEP = 2.0**-24
"""The lattice that noise lives on, as a part of a declared range."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SeriesMechanism(ABC):
    """A way of releasing one participant's own series: public numbers, nothing else.

    Attributes:
        epsilon: The total ε of all features together.
        steps: The public length of a series, in steps.
        features: How many features are released.
        delta: The δ to spend; by default 0, for a group the study's. 0 asks for Laplace noise, more for Gaussian noise.
        stretch: Consecutive steps that the guarantee hides; by default all that the participant contributed.
    """

    name: ClassVar[str]
    product: ClassVar[str] = "feature-series"

    epsilon: Number = setting(metavar="NUMBER")
    steps: int = setting()
    features: int = 1
    delta: Number = setting(0, metavar="NUMBER")
    stretch: int | None = setting(None)

    def __post_init__(self) -> None:
        fix = object.__setattr__
        fix(self, "epsilon", above_zero(self.epsilon, "epsilon"))
        fix(self, "delta", probability(self.delta, "delta"))
        fix(self, "steps", whole_number(self.steps, "steps", at_least=1))
        fix(self, "features", whole_number(self.features, "features", at_least=1))
        if exact(self.delta) == 1:
            raise OptionError("delta must be below 1")
        if self.steps > MOST_STEPS:
            raise OptionError(
                f"a series has at most {MOST_STEPS:,} steps, not {self.steps:,}", hint="cut it into parts"
            )
        if self.stretch is not None:
            fix(self, "stretch", whole_number(self.stretch, "stretch", at_least=1))
            if self.stretch > self.steps:
                raise OptionError(f"a stretch of {self.stretch:,} steps is longer than the series, {self.steps:,}")

    @property
    def changed(self) -> int:
        """How many consecutive steps may change at once."""
        return self.steps if self.stretch is None else self.stretch

    @property
    def unit(self) -> ProtectedUnit:
        """What the guarantee protects."""
        return Observer() if self.stretch is None else FeatureSeries(self.stretch)

    @property
    def guarantee(self) -> Guarantee:
        """What is guaranteed to every participant, before any data is seen."""
        return dp_guarantee(self.epsilon, self.delta, self.unit)

    def epsilon_by_steps(self) -> list[tuple[int, Fraction]]:
        """Return the ε that the same noise guarantees for stretches of 1, 2, 4, … steps up to the whole series."""
        lengths = sorted({min(1 << j, self.steps) for j in range(self.steps.bit_length() + 1)} | {self.changed})
        return [(length, self.epsilon_for(length)) for length in lengths]

    @abstractmethod
    def epsilon_for(self, changed: int) -> Fraction:
        """Return the ε that the noise guarantees for a stretch of this many steps, at the same δ."""

    @abstractmethod
    def perturb(self, values: FloatArray, noise: NoiseSource) -> FloatArray:
        """Return noisy series: participants by steps by features, each value from 0 to 1."""

    def to_dict(self) -> dict[str, Any]:
        """Return the mechanism and its parameters as plain values."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {"mechanism": self.name} | {
            name: as_text(value) if isinstance(value, Fraction) else value for name, value in values.items()
        }


SERIES_MECHANISMS: Registry[type[SeriesMechanism]] = Registry("feature mechanism", "gazeveil.features.mechanisms")
"""Mechanisms for a participant's own series, by name."""


def dp_guarantee(epsilon: Number, delta: Number, unit: ProtectedUnit) -> Guarantee:
    """Return the guarantee with this ε and δ: pure if δ is 0."""
    return ApproxDP(epsilon, delta, unit=unit) if exact(delta) else PureDP(epsilon, unit=unit)


def gaussian_scale(epsilon: Number, delta: Number, change: Fraction) -> float:
    """Return the σ for a change of this length: the σ for a change of 1, which is cached, times it, rounded up."""
    return float_up(Fraction(gaussian_sigma(epsilon, delta)) * change)


def checked(values: FloatArray, steps: int, features: int) -> FloatArray:
    """Return values as an array of participants by steps by features, each clipped to its range.

    Raises:
        OptionError: If the shape is another, or a value is missing: what is missing must be filled with public values.
    """
    table = np.asarray(values, dtype=np.float64)
    if table.ndim != 3 or table.shape[1:] != (steps, features):
        raise OptionError(
            f"expected participants by {steps:,} steps by {features:,} features, found shape {table.shape}"
        )
    if np.isnan(table).any():
        raise OptionError("a value is missing", hint="fill what is missing with the public mean first")
    return np.clip(table, 0.0, 1.0)
