# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What values a feature may plausibly take, declared in public before any data: sensitivity follows from this.

A declared range is part of the guarantee: values outside are clipped to it, so one participant can move a value by at
most the width. It comes from physiology, the viewing plane or the definition of the feature, never from the data to be
protected (errata B1). Too narrow a range costs accuracy and is counted; it never costs privacy.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gazeveil.arrays import FloatArray
from gazeveil.display import a_few
from gazeveil.errors import OptionError


@dataclass(frozen=True, slots=True)
class Range:
    """Lowest and highest plausible value of one feature, and on which scale it is spread evenly.

    Attributes:
        low: Smaller values count as this.
        high: Larger values count as this.
        why: Where the numbers come from.
        log: Whether the value is measured on a logarithmic scale: for positive, heavy-tailed features.
    """

    low: float
    high: float
    why: str = ""
    log: bool = False

    def __post_init__(self) -> None:
        ends: tuple[object, object] = (self.low, self.high)
        numbers = all(isinstance(end, int | float) and math.isfinite(end) for end in ends)
        if not numbers or not self.low < self.high or (self.log and self.low <= 0):
            kind = "above 0 and in order" if self.log else "in order"
            raise OptionError(f"a range needs two finite numbers {kind}, not {self.low!r} to {self.high!r}")

    def to_unit(self, values: ArrayLike) -> FloatArray:
        """Clip values to the range and scale it to 0..1; NaN stays NaN."""
        clipped = np.clip(np.asarray(values, dtype=np.float64), self.low, self.high)
        low, high = self._ends()
        return np.clip(((np.log(clipped) if self.log else clipped) - low) / (high - low), 0.0, 1.0)

    def from_unit(self, shares: ArrayLike) -> FloatArray:
        """Turn 0..1 back into values; what lies outside is clipped."""
        low, high = self._ends()
        values = low + np.clip(np.asarray(shares, dtype=np.float64), 0.0, 1.0) * (high - low)
        return np.clip(np.exp(values) if self.log else values, self.low, self.high)

    def outside(self, values: ArrayLike) -> NDArray[np.bool_]:
        """Return which values are clipped; NaN is not."""
        array = np.asarray(values, dtype=np.float64)
        return np.asarray((array < self.low) | (array > self.high))

    def _ends(self) -> tuple[float, float]:
        return (math.log(self.low), math.log(self.high)) if self.log else (self.low, self.high)

    def to_dict(self) -> dict[str, Any]:
        """Return the range as plain values."""
        return {"low": self.low, "high": self.high, "log": self.log, "why": self.why}


@dataclass(frozen=True, slots=True)
class Clipped:
    """How many values lay outside their ranges, per feature."""

    counts: Mapping[str, int]
    values: int

    @property
    def total(self) -> int:
        """All of them."""
        return sum(self.counts.values())

    def __add__(self, other: Clipped) -> Clipped:
        names = {**self.counts, **other.counts}
        counts = {name: self.counts.get(name, 0) + other.counts.get(name, 0) for name in names}
        return Clipped(counts, self.values + other.values)

    def __str__(self) -> str:
        if not self.total:
            return f"none of {self.values:,} values was clipped"
        worst = max(self.counts, key=lambda name: self.counts[name])
        share = self.total / max(self.values, 1)
        return (
            f"{self.total:,} of {self.values:,} values ({share:.1%}) lay outside the declared ranges and were clipped; "
            f"most in {worst} ({self.counts[worst]:,})"
        )


@dataclass(frozen=True, slots=True)
class Ranges:
    """Declared ranges of several features, in order."""

    names: tuple[str, ...]
    ranges: tuple[Range, ...]

    def __post_init__(self) -> None:
        if len(self.names) != len(self.ranges) or len(set(self.names)) != len(self.names):
            raise OptionError("every feature needs one range")

    @staticmethod
    def of(ranges: Mapping[str, Range]) -> Ranges:
        """Build from a mapping, in its order."""
        return Ranges(tuple(ranges), tuple(ranges.values()))

    def __repr__(self) -> str:
        return f"Ranges({len(self.names):,} features: {a_few(self.names)})"

    def __len__(self) -> int:
        return len(self.names)

    def __getitem__(self, name: str) -> Range:
        if name not in self.names:
            raise OptionError(f"no range is declared for {name!r}", hint=f"declared: {', '.join(self.names[:8])}, …")
        return self.ranges[self.names.index(name)]

    def __iter__(self) -> Iterator[tuple[str, Range]]:
        return iter(zip(self.names, self.ranges, strict=True))

    def only(self, names: Sequence[str]) -> Ranges:
        """Return the ranges of these features, in this order."""
        return Ranges(tuple(names), tuple(self[name] for name in names))

    def to_unit(self, values: FloatArray) -> tuple[FloatArray, Clipped]:
        """Scale values (… x features) to 0..1 and say how many were clipped; NaN stays NaN."""
        self._check_shape(values)
        scaled = np.stack([item.to_unit(values[..., i]) for i, item in enumerate(self.ranges)], axis=-1)
        counts = {name: int(item.outside(values[..., i]).sum()) for i, (name, item) in enumerate(self)}
        return scaled, Clipped(counts, int(np.isfinite(values).sum()))

    def from_unit(self, shares: FloatArray) -> FloatArray:
        """Turn 0..1 (… x features) back into values."""
        self._check_shape(shares)
        return np.stack([item.from_unit(shares[..., i]) for i, item in enumerate(self.ranges)], axis=-1)

    def _check_shape(self, values: FloatArray) -> None:
        if values.shape[-1:] != (len(self),):
            raise OptionError(f"{len(self)} ranges do not fit values of shape {values.shape}")

    def to_dict(self) -> dict[str, Any]:
        """Return the ranges as plain values."""
        return {name: item.to_dict() for name, item in self}

    @staticmethod
    def from_dict(values: Mapping[str, Any]) -> Ranges:
        """Build ranges from what `to_dict` gave."""
        try:
            return Ranges.of(
                {
                    name: Range(item["low"], item["high"], item.get("why", ""), item.get("log", False))
                    for name, item in values.items()
                }
            )
        except (KeyError, TypeError, AttributeError) as error:
            raise OptionError(f"these are no declared ranges: {error!r}") from None
