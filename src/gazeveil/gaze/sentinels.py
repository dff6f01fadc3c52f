# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Numbers that stand for lost gaze: (0, 0), (-1, -1), 1e8, a point beside the screen to which gaze returns.

They are recognised and reported. They are read as loss only where a format's own rule says so, or where the user does:
``--sentinel 0,0`` (a point) or ``--sentinel -32768`` (a number in x or in y).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np
import polars as pl

from gazeveil.arrays import BoolArray, FloatArray
from gazeveil.display import plain_number
from gazeveil.errors import OptionError
from gazeveil.geometry import Geometry, Unit

if TYPE_CHECKING:
    from gazeveil.gaze.formats.base import Chunk, ReadReport

KNOWN_POINTS: Final = ((0.0, 0.0), (-1.0, -1.0))
"""What trackers write for lost gaze in pixels and fractions. In degrees (0, 0) is straight ahead, and no sign."""

KNOWN_NUMBERS: Final = (1e8, -1e8, -32768.0, 32767.0, -9999.0)
"""What trackers write in x or in y: 1e8 and -32768 are those of EyeLink."""

LEAST_TIMES: Final = 5
LEAST_SHARE: Final = 0.005
"""How often gaze is at one point outside the screen, or in its corner, until the point counts as a sentinel."""

Extent = tuple[float, float, float, float]
Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Sentinel:
    """A point that stands for lost gaze; or a number that does, in x or in y, where ``y`` is None."""

    x: float
    y: float | None = None

    def __str__(self) -> str:
        return plain_number(self.x) if self.y is None else f"{plain_number(self.x)},{plain_number(self.y)}"

    def mask(self, x: FloatArray, y: FloatArray) -> BoolArray:
        """Where positions are this one."""
        found: BoolArray = (x == self.x) | (y == self.x) if self.y is None else (x == self.x) & (y == self.y)
        return found


def parse_sentinel(text: str) -> Sentinel:
    """Return the sentinel that a text says.

    Raises:
        OptionError: If it is neither a number nor two.
    """
    try:
        numbers = [float(part) for part in text.split(",")]
    except ValueError:
        numbers = []
    if len(numbers) not in {1, 2} or not np.isfinite(numbers).all():
        raise OptionError(
            f"--sentinel must be a point or a number, not {text!r}", hint="for example --sentinel 0,0 or -32768"
        )
    return Sentinel(*numbers)


def known_to(geometry: Geometry) -> list[Sentinel]:
    """Return the sentinels that are looked for on a viewing plane."""
    points = () if geometry.unit is Unit.DEGREE else KNOWN_POINTS
    return [*(Sentinel(*point) for point in points), *(Sentinel(number) for number in KNOWN_NUMBERS)]


def is_known(point: Point, geometry: Geometry) -> bool:
    """Whether a point is what trackers write for lost gaze."""
    x, y = np.array([point[0]]), np.array([point[1]])
    return any(bool(sentinel.mask(x, y)[0]) for sentinel in known_to(geometry))


def visible(geometry: Geometry) -> Extent | None:
    """Return left, top, right and bottom of the visible viewing plane; None for a headset whose field is not known."""
    known = geometry.knows_degrees and (geometry.fov_x_deg is not None or geometry.width_mm is not None)
    return geometry.extent() if geometry.unit is not Unit.DEGREE or known else None


def outside(x: FloatArray, y: FloatArray, extent: Extent) -> BoolArray:
    """Where positions are outside the visible viewing plane."""
    left, top, right, bottom = extent
    return (x < left) | (x > right) | (y < top) | (y > bottom)


def corner(x: FloatArray, y: FloatArray, extent: Extent, geometry: Geometry) -> BoolArray:
    """Where positions are exactly in a corner; the last pixel of a screen counts as its edge too."""
    left, top, right, bottom = extent
    last = 1.0 if geometry.unit is Unit.PIXEL else 0.0
    across = (x == left) | (x == right) | (x == right - last)
    found: BoolArray = across & ((y == top) | (y == bottom) | (y == bottom - last))
    return found


def counted(x: FloatArray, y: FloatArray) -> Counter[Point]:
    """Return how often each exact position occurs, the most frequent first."""
    if not x.size:
        return Counter()
    table = pl.DataFrame({"x": x + 0.0, "y": y + 0.0}).group_by("x", "y").len().sort("len", "x", "y", descending=True)
    return Counter({(across, down): count for across, down, count in table.head(64).iter_rows()})


def most_common_point(x: FloatArray, y: FloatArray) -> tuple[Point, int]:
    """Return the point that most samples lie on; where many lie on (0, 0), that one."""
    if not x.size:
        return (0.0, 0.0), 0
    zero = int(((x == 0) & (y == 0)).sum())
    point, most = counted(x, y).most_common(1)[0]
    return ((0.0, 0.0), zero) if 100 * zero >= len(x) and 5 * most < len(x) else (point, most)


def without(chunks: Iterable[Chunk], texts: Sequence[str], report: ReadReport) -> Iterator[Chunk]:
    """Yield the chunks with gaze at the user's sentinels lost, each eye by itself, and count it.

    Where one eye alone is at a sentinel, the combined gaze is the other eye's.
    """
    sentinels = [parse_sentinel(text) for text in texts]
    for chunk in chunks:
        samples = chunk.samples
        for sentinel in sentinels:
            samples = _without(samples, sentinel, report)
        yield replace(chunk, samples=samples) if sentinels else chunk


def _without(samples: pl.DataFrame, sentinel: Sentinel, report: ReadReport) -> pl.DataFrame:
    seen = {prefix: _seen(samples, prefix) for prefix in ("", "left_", "right_") if f"{prefix}x" in samples.columns}
    lost = {prefix: valid & sentinel.mask(x, y) for prefix, (x, y, valid) in seen.items()}
    x, y, valid = seen[""]
    any_lost = lost[""].copy()
    for eye, other in (("left_", "right_"), ("right_", "left_")):
        if eye in seen and other in seen:
            fills = lost[eye] & seen[other][2] & ~lost[other] & valid & ~lost[""]
            x, y = np.where(fills, seen[other][0], x), np.where(fills, seen[other][1], y)
            any_lost |= lost[eye]
    if {"left_", "right_"} <= set(seen):
        lost[""] |= valid & lost["left_"] & lost["right_"]
    if not any_lost.any():
        return samples
    report.remark(f"gaze at the sentinel {sentinel} is lost", int(any_lost.sum()))
    seen[""] = (x, y, valid)
    columns = []
    for prefix, (across, down, stated) in seen.items():
        gone = lost[prefix]
        columns += [
            pl.Series(f"{prefix}x", np.where(gone, np.nan, across), nan_to_null=True),
            pl.Series(f"{prefix}y", np.where(gone, np.nan, down), nan_to_null=True),
            pl.Series(f"{prefix}valid", stated & ~gone),
        ]
    return samples.with_columns(columns)


def _seen(samples: pl.DataFrame, prefix: str) -> tuple[FloatArray, FloatArray, BoolArray]:
    x, y = (samples[f"{prefix}{axis}"].cast(pl.Float64).fill_null(np.nan).to_numpy() for axis in "xy")
    stated = f"{prefix}valid"
    valid = samples[stated].fill_null(False).to_numpy() if stated in samples.columns else True
    return x, y, valid & np.isfinite(x) & np.isfinite(y)
