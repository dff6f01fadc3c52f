# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The public design of a low-rank release: shapes over time, and what series are like, learnt outside the release.

A design holds declared ranges, the mean, the directions in which series vary and by how much, and where to clip. It is
shipped with every release made from it, and its digest stands in the recipe. A design that does not fit costs accuracy,
never privacy; one learnt from the participants who are to be protected costs everything. So learn it from simulated or
published recordings (`gazeveil.features.design_learning`).
"""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from gazeveil.arrays import FloatArray
from gazeveil.display import a_few, html_table
from gazeveil.errors import FileFormatError, OptionError, closest
from gazeveil.features.ranges import Ranges
from gazeveil.files import replacing

COSINES, HAAR = "cosines", "haar"


@lru_cache(maxsize=32)
def shapes(kind: str, steps: int, count: int) -> FloatArray:
    """Return orthonormal rows: the first cosines of the DCT-II, or the coarsest Haar wavelets.

    Raises:
        OptionError: If the kind is unknown, or there are not this many.
    """
    if not 1 <= count <= steps:
        raise OptionError(f"{steps:,} steps have from 1 to {steps:,} shapes, not {count:,}")
    if kind == COSINES:
        rows = np.cos(math.pi / steps * np.arange(count)[:, None] * (np.arange(steps) + 0.5))
    elif kind == HAAR:
        rows = _haar(steps, count)
    else:
        raise OptionError(f"no shapes are called {kind!r}", hint=closest(kind, (COSINES, HAAR)))
    rows = np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), dtype=np.float64)
    rows.setflags(write=False)
    return rows


@lru_cache(maxsize=512)
def seen_energy(kind: str, steps: int, count: int, changed: int) -> float:
    """Return how much of the energy of any stretch of this many changed steps the shapes see, at most.

    The largest eigenvalue over all places where the stretch may lie, and a little more for rounding; never above 1.
    """
    if changed >= steps or count >= steps:
        return 1.0
    rows = shapes(kind, steps, count)
    sums = np.cumsum(rows[:, None, :] * rows[None, :, :], axis=-1)
    sums = np.concatenate([np.zeros((count, count, 1)), sums], axis=-1)
    within = np.moveaxis(sums[..., changed:] - sums[..., :-changed], -1, 0)
    return min(1.0, float(np.linalg.eigvalsh(within)[:, -1].max()) + 1e-9)


@lru_cache(maxsize=128)
def left_by_averaging(kind: str, steps: int, count: int, width: int) -> FloatArray:
    """Return which share of every shape's energy is left in moving means over this many steps: little of fast ones."""
    rows = shapes(kind, steps, count)
    span = min(max(width, 1), steps)
    sums = np.concatenate([np.zeros((count, 1)), np.cumsum(rows, axis=1)], axis=1)
    means = (sums[:, span:] - sums[:, :-span]) / span
    left = np.asarray(np.mean(np.square(means), axis=1) * steps)
    left.setflags(write=False)
    return left


def _haar(steps: int, count: int) -> FloatArray:
    """Return the constant and then steps up in ever smaller parts, the series halved again and again."""
    rows = [np.ones(steps)]
    parts = [(0, steps)]
    while len(rows) < count:
        begin, end = parts.pop(0)
        if end - begin < 2:
            continue
        middle = (begin + end) // 2
        row = np.zeros(steps)
        row[begin:middle] = 1.0 / (middle - begin)
        row[middle:end] = -1.0 / (end - middle)
        rows.append(row)
        parts += [(begin, middle), (middle, end)]
    return np.array(rows)


# --- The design.


VERSION: Final = 1
MOST_DIRECTIONS: Final = 200

_FORMAT = "gazeveil-feature-design"


@dataclass(frozen=True, slots=True, eq=False)
class Ball:
    """Where vectors are clipped, and what clipping does to public participants' vectors.

    Attributes:
        size: How many directions (of whole series), or components (of single steps), a vector has.
        quantile: Which part of the public vectors is not clipped.
        radius: The length that vectors are clipped to.
        cross: The mean product of a coordinate with itself clipped.
        square: The mean square of a clipped coordinate.
    """

    size: int
    quantile: float
    radius: float
    cross: FloatArray
    square: FloatArray

    def __repr__(self) -> str:
        return f"Ball({self.size} coordinates, radius {self.radius:.4g})"

    def to_dict(self) -> dict[str, Any]:
        """Return the ball as plain values."""
        return {
            "size": self.size,
            "quantile": self.quantile,
            "radius": self.radius,
            "cross": self.cross.tolist(),
            "square": self.square.tolist(),
        }


@dataclass(frozen=True, eq=False)
class Design:
    """What is public about feature series.

    Attributes:
        ranges: The declared range of every feature.
        steps: How long a series is.
        kind: Which shapes over time are used.
        mean: The public mean of every feature, from 0 to 1.
        components: Orthonormal columns: features that vary together.
        energies: The mean square of every coordinate: shape by component.
        between: The variance of every coordinate's mean between public tasks.
        rest: The energy a value that lies outside all directions.
        series_balls: Where to clip whole series, in the first directions, weighted.
        step_balls: Where to clip single steps, in the first components, weighted.
        source: Where the public participants come from.
    """

    ranges: Ranges
    steps: int
    kind: str
    mean: FloatArray
    components: FloatArray
    energies: FloatArray
    between: FloatArray
    rest: float
    series_balls: tuple[Ball, ...]
    step_balls: tuple[Ball, ...]
    source: str

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Design) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    def __repr__(self) -> str:
        return (
            f"Design({len(self.ranges):,} features over {self.steps:,} steps, from {self.source[:80]!r}, "
            f"digest {self.digest[:12]}…)"
        )

    def _repr_html_(self) -> str:
        rows: dict[str, object] = {
            "features": a_few(self.features, 8),
            "steps": f"{self.steps:,}",
            "shapes over time": self.kind,
            "learnt from": self.source,
            "digest": self.digest,
        }
        return html_table("Public design of feature series", rows.items())

    @property
    def features(self) -> tuple[str, ...]:
        """The features, in order."""
        return self.ranges.names

    @property
    def values(self) -> int:
        """How many values a series has: steps times features."""
        return self.steps * len(self.ranges)

    @property
    def time(self) -> FloatArray:
        """The shapes over time, one a row."""
        return shapes(self.kind, self.steps, len(self.energies))

    @cached_property
    def directions(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Shape and component of every direction, by falling energy, as many as may be used."""
        flat = np.argsort(-self.energies, axis=None, kind="stable")[:MOST_DIRECTIONS]
        shape, component = np.unravel_index(flat, self.energies.shape)
        return shape, component

    @cached_property
    def weights(self) -> FloatArray:
        """What coordinates are multiplied with before clipping: (λ₁/λⱼ)^¼, which splits the noise best."""
        return quarter_root(self.energies[self.directions])

    @cached_property
    def component_weights(self) -> FloatArray:
        """The same for the components of single steps."""
        return quarter_root(self.energies.sum(axis=0))

    @cached_property
    def digest(self) -> str:
        """The design's fingerprint."""
        return hashlib.sha256(json.dumps(self.to_dict(), sort_keys=True, ensure_ascii=False).encode()).hexdigest()

    def coordinates(self, values: FloatArray, count: int) -> FloatArray:
        """Return the first weighted coordinates of series, participant by step by feature from 0 to 1.

        One row a participant.
        """
        parts = np.einsum("kt,ntf,fp->nkp", self.time, values - self.mean, self.components, optimize=True)
        shape, component = self.directions
        return np.asarray(parts[:, shape[:count], component[:count]] * self.weights[:count])

    def series(self, rows: FloatArray) -> FloatArray:
        """Return series, not clipped to 0 … 1, from their first weighted coordinates; one row a series."""
        count = rows.shape[1]
        shape, component = self.directions
        parts = np.zeros((len(rows), *self.energies.shape))
        parts[:, shape[:count], component[:count]] = rows / self.weights[:count]
        return np.asarray(np.einsum("kt,nkp,fp->ntf", self.time, parts, self.components, optimize=True) + self.mean)

    def to_dict(self) -> dict[str, Any]:
        """Return the design as plain values."""
        return {
            "format": _FORMAT,
            "version": VERSION,
            "source": self.source,
            "steps": self.steps,
            "kind": self.kind,
            "ranges": self.ranges.to_dict(),
            **{name: getattr(self, name).tolist() for name in ("mean", "components", "energies", "between")},
            "rest": self.rest,
            "series_balls": [ball.to_dict() for ball in self.series_balls],
            "step_balls": [ball.to_dict() for ball in self.step_balls],
        }

    def save(self, path: Path | str, *, overwrite: bool = False) -> Path:
        """Write the design as JSON."""
        with replacing(Path(path), overwrite=overwrite) as temporary:
            temporary.write_text(json.dumps(self.to_dict(), ensure_ascii=False) + "\n", encoding="utf-8", newline="\n")
        return Path(path)

    @staticmethod
    def load(path: Path | str) -> Design:
        """Read a design that `save` wrote.

        Raises:
            FileFormatError: If there is none, or it is damaged or of another version.
        """
        path = Path(path)
        try:
            values = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise FileFormatError(path, expected="a feature design", found=str(error)) from None
        if not isinstance(values, dict) or (values.get("format"), values.get("version")) != (_FORMAT, VERSION):
            raise FileFormatError(
                path,
                expected=f"{_FORMAT} version {VERSION}",
                found="something else",
                hint="make one with `gazeveil features design TABLE --out FILE`",
            )
        try:
            return _from_values(values)
        except (KeyError, TypeError, ValueError, OptionError) as error:
            raise FileFormatError(path, expected="a whole feature design", found=str(error)) from None


def error_interval(error: float, left: FloatArray, values: int, widening: float = 0.0) -> tuple[float, float]:
    """Return the interval of errors of 9 of 10 studies, if coordinates vary as normally as public participants' do.

    The squared error is then a weighted sum of chi-squares, whose weights are the energies left in each coordinate; it
    has about as many degrees of freedom as coordinates matter (Satterthwaite), and Wilson and Hilferty's cube gives its
    quantiles. What lies outside all directions is spread over this many values that it hardly varies.

    New tasks and participants are not drawn from the public ones: ``widening`` widens the interval, by an independent
    factor whose logarithm lies within this much of 0 for 9 of 10.
    """
    freedom = (values * error * error) ** 2 / max(float(np.square(left).sum()), 1e-300)
    slack = 2 / (9 * max(freedom, 1e-9))
    low, high = (max(1 - slack + z * math.sqrt(slack), 0.0) ** 1.5 for z in (-1.645, 1.645))
    below = error * math.exp(-math.hypot(math.log(low), widening)) if low > 0 else 0.0
    return below, error * math.exp(math.hypot(math.log(high), widening))


def quarter_root(energies: FloatArray) -> FloatArray:
    """Return the weights that split noise best between coordinates of these energies."""
    floor = 1e-6 * max(float(energies.max()), 1e-12)
    return np.asarray((np.maximum(energies, floor) / max(float(energies.max()), 1e-12)) ** -0.25)


def _from_values(values: dict[str, Any]) -> Design:
    arrays = {name: np.array(values[name], dtype=np.float64) for name in ("mean", "components", "energies", "between")}
    design = Design(
        ranges=Ranges.from_dict(values["ranges"]),
        steps=int(values["steps"]),
        kind=str(values["kind"]),
        rest=float(values["rest"]),
        series_balls=tuple(_ball(ball) for ball in values["series_balls"]),
        step_balls=tuple(_ball(ball) for ball in values["step_balls"]),
        source=str(values["source"]),
        **arrays,
    )
    features, components = design.components.shape
    gram = design.components.T @ design.components
    fits = (
        design.mean.shape == (len(design.ranges),) == (features,)
        and design.energies.shape == design.between.shape == (len(design.energies), components)
        and design.series_balls
        and design.step_balls
        and all(np.isfinite(array).all() for array in arrays.values())
        and np.abs(gram - np.eye(components)).max() < 1e-9
    )
    if not fits:
        raise ValueError("its parts do not fit together")
    shapes(design.kind, design.steps, len(design.energies))
    return design


def _ball(values: dict[str, Any]) -> Ball:
    ball = Ball(
        int(values["size"]),
        float(values["quantile"]),
        float(values["radius"]),
        np.array(values["cross"], dtype=np.float64),
        np.array(values["square"], dtype=np.float64),
    )
    if not (ball.radius > 0 and np.isfinite(ball.radius) and ball.cross.shape == ball.square.shape):
        raise ValueError("a ball needs a positive radius, and its moments must fit together")
    return ball
