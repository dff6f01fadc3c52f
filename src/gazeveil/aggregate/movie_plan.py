# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""How a dynamic heatmap is released, as public numbers: kernel, noise and decoding.

An observer's whole time course is one vector: what is seen of the map in each bin, smoothed a little over time, side by
side, scaled to one length. Gaze stays where it is for a while; smoothing before the vector is scaled says so, and makes
more of the budget. Decoding knows how alike bins are that follow one another, by a cosine transform of time.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from gazeveil.aggregate.engine import Columns
from gazeveil.aggregate.grid import Grid
from gazeveil.aggregate.map_view import MOST_NUMBERS, MapView, directions_of, joint_sensitivity, view_of
from gazeveil.aggregate.maps import GAZE, LARGEST_BOUND, dwell, to_bounded_integers
from gazeveil.aggregate.measured import Kinship, Measured
from gazeveil.aggregate.noisy_sum import NoisySum
from gazeveil.aggregate.picture import Drawn, drawn
from gazeveil.aggregate.prior import prior_of
from gazeveil.aggregate.render import blur_matrix
from gazeveil.aggregate.saliency import Saliency
from gazeveil.aggregate.study_plan import BOUND, carried, within
from gazeveil.errors import InternalError, OptionError
from gazeveil.exact import Number, above_zero, as_text, chance_of_failure, exact
from gazeveil.geometry import Geometry
from gazeveil.noise import NoiseSource, add_gaussian
from gazeveil.privacy.calibrate import gaussian_sigma
from gazeveil.privacy.guarantee import ApproxDP, Guarantee
from gazeveil.privacy.unit import Neighbours
from gazeveil.types import FloatArray, IntArray

SMOOTHING_S = 0.3
"""The standard deviation of the smoothing over time: about as long as a fixation."""

MEMORIES_S = (0.3, 0.8, 2.0, 6.0)
"""After this many seconds the likeness of two maps may have fallen to 1/e; the evidence decides."""

_ALIKE_S = 0.8
"""For this many seconds maps are taken for alike in what is expected beforehand."""

_LOOKS_A_SECOND, _MOST_LOOKS = 2.5, 5.0
"""How many independent fixations one observer's map of a bin is worth: nobody has less than one."""

_UNRELATED = 3.0
"""How many unrelated maps the mean over a time course is worth: shots of a film, or phases of looking."""


@dataclass(frozen=True, slots=True, eq=False)
class CourseKernel:
    """One observer's time course as integers without negative entries and of bounded length.

    Attributes:
        view: How a map is seen.
        edges: Where bins begin and end, in seconds since a recording began.
        smoothing: How much each bin (a row) takes of each bin's gaze (a column).
        bound: The Euclidean length of an observer's integers.
    """

    view: MapView
    edges: FloatArray
    smoothing: FloatArray
    bound: int

    @property
    def size(self) -> int:
        """How many integers it gives."""
        return self.view.size * (len(self.edges) - 1)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of gaze, and what tells recordings and their times."""
        return ("session", "trial", "t", *GAZE)

    @property
    def geometry(self) -> Geometry:
        """The viewing plane of the stimulus."""
        return self.view.grid.geometry

    def __call__(self, rows: Columns) -> IntArray:
        """Return one observer's integers; bins without gaze add nothing."""
        bins = _bins(rows, self.edges)
        seen = np.zeros((len(self.edges) - 1, self.view.size))
        for number in np.unique(bins[bins >= 0]).tolist():
            here = bins == number
            map_ = dwell(self.view.grid, {column: rows[column][here] for column in GAZE})
            if not map_.any():
                continue
            numbers = self.view.numbers(map_)
            for place in np.flatnonzero(self.smoothing[:, number]).tolist():  # bin by bin: every machine adds alike
                seen[place] += self.smoothing[place, number] * numbers
        return within(to_bounded_integers(seen.ravel(), self.bound), self.bound * self.bound)


def _bins(rows: Columns, edges: FloatArray) -> IntArray:
    """Return the bin of each row, -1 for none, in seconds since the first sample of its recording."""
    times = np.asarray(rows["t"], dtype=np.float64)
    if not len(times):
        return np.zeros(0, dtype=np.int64)
    other = np.append(True, (rows["session"][1:] != rows["session"][:-1]) | (rows["trial"][1:] != rows["trial"][:-1]))
    since = np.full(len(times), np.nan)
    begins: dict[tuple[str, str], float] = {}
    stretches = [*np.flatnonzero(other).tolist(), len(times)]
    for first, last in pairwise(stretches):
        recording = str(rows["session"][first]), str(rows["trial"][first])
        finite = times[first:last][np.isfinite(times[first:last])]
        if len(finite):
            begins[recording] = min(begins.get(recording, math.inf), float(finite.min()))
    for first, last in pairwise(stretches):
        begin = begins.get((str(rows["session"][first]), str(rows["trial"][first])))
        if begin is not None:
            with np.errstate(over="ignore", invalid="ignore"):
                since[first:last] = times[first:last] - begin
    inside = (since >= 0) & (since < edges[-1])
    found = np.searchsorted(edges, np.where(inside, since, 0.0), side="right") - 1
    return np.where(inside, found, -1)


@dataclass(frozen=True, slots=True, eq=False)
class MovieEstimate:
    """A heatmap for each bin of time.

    Attributes:
        edges: Where bins begin and end, in seconds.
        frames: The heatmaps. Their ``data_share`` is about what sets each apart from the mean.
    """

    edges: FloatArray
    frames: Drawn

    def __repr__(self) -> str:
        return f"MovieEstimate({len(self.edges) - 1:,} bins over {self.edges[-1]:g} s)"


@dataclass(frozen=True, slots=True, kw_only=True)
class MoviePlan(NoisySum):
    """The public facts about one dynamic heatmap.

    Guarantee: (ε, δ)-differential privacy for observers, for all bins together (docs/proofs/whole-studies.md).

    Attributes:
        grid: The cells of the heatmaps.
        observers: How many participants there are.
        epsilon: The ε of the whole course.
        delta: The δ of the whole course.
        bin_seconds: How long a bin is.
        duration: How long the course is; the last bin may be shorter.
        neighbours: How neighbouring data sets differ.
        strategy: What is recorded of each map.
        blur_cells: Standard deviation of the point-spread function, in cells.
        pictures: What was to be seen says about gaze: one for each bin, or one for all; only decoding follows it.
    """

    grid: Grid
    observers: int
    epsilon: Number
    delta: Number
    bin_seconds: float
    duration: float
    neighbours: Neighbours
    strategy: str
    blur_cells: float
    pictures: tuple[Saliency, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", above_zero(self.epsilon, "epsilon"))
        object.__setattr__(self, "delta", chance_of_failure(self.delta, "delta"))
        if len(self.pictures) not in (0, 1, self.bins):
            raise OptionError(
                f"there are {len(self.pictures):,} pictures for {self.bins:,} bins", hint="one for each, or one for all"
            )
        if self.size > MOST_NUMBERS:
            raise OptionError(
                f"{self.bins:,} bins of {self.view.size} numbers are more than {MOST_NUMBERS:,} at once",
                hint="take longer bins, or the strategy histogram",
            )

    @property
    def bins(self) -> int:
        """How many bins there are."""
        return bins_of(self.duration, self.bin_seconds)

    @property
    def edges(self) -> FloatArray:
        """Where bins begin and end."""
        return np.append(np.arange(self.bins) * self.bin_seconds, self.duration)

    @property
    def view(self) -> MapView:
        """How each map is seen."""
        return view_of(self.strategy, self.grid)

    @property
    def size(self) -> int:
        """How many integers are released."""
        return self.view.size * self.bins

    @property
    def bound(self) -> int:
        """The length of an observer's integers."""
        return min(math.isqrt(self.bins * BOUND * BOUND), LARGEST_BOUND)

    @property
    def sigma(self) -> float:
        """The standard deviation of the noise on the integers."""
        return gaussian_sigma(self.epsilon, self.delta, joint_sensitivity(self.bound**2, self.neighbours))

    @property
    def smoothing(self) -> FloatArray:
        """How gaze is smoothed over time, edges reflected: a cosine transform of time makes it diagonal."""
        return blur_matrix(self.bins, SMOOTHING_S / self.bin_seconds)

    @property
    def guarantee(self) -> Guarantee:
        """What it guarantees, before it sees data."""
        return ApproxDP(self.epsilon, self.delta, neighbours=self.neighbours)

    def kernel(self) -> CourseKernel:
        """Return what turns one observer's rows into integers."""
        return CourseKernel(self.view, self.edges, self.smoothing, self.bound)

    def _noised(self, total: IntArray, noise: NoiseSource) -> IntArray:
        if total.shape[-1:] != (self.size,) or total.dtype != np.int64:
            raise InternalError(f"expected {self.size} integers, found {total.dtype} of shape {total.shape}")
        return add_gaussian(noise, total, self.sigma)

    def decode(self, noisy: IntArray) -> MovieEstimate:
        """Return the heatmap of each bin, from the noisy integers alone."""
        turn, features, length = directions_of(self.view)
        scale = length / (BOUND * self.observers)
        measured = Measured(
            numbers=(noisy.reshape(self.bins, -1).astype(np.float64) @ turn.T) * scale,
            noise_sd=np.full(self.bins, self.sigma * scale),
            features=features,
            observers=float(self.observers),
            weights=np.full(self.bins, 1.0 / self.bins),
            unrelated=min(_UNRELATED, float(self.bins)),
            kinships=tuple(self._kinship(memory) for memory in MEMORIES_S),
            looks=min(max(_LOOKS_A_SECOND * self.bin_seconds, 1.0), _MOST_LOOKS),
        )
        prior = prior_of(self.view.working)
        return MovieEstimate(self.edges, drawn(prior, measured, self.grid, self.blur_cells, self.pictures))

    def carried(self) -> float:
        """Return the correlation, beyond the mean over time, that a typical bin's map is expected to have.

        It follows from public numbers alone. Bins that are alike are taken for one bin with so much less noise.
        """
        noise = self.sigma / BOUND / math.sqrt(1 + _ALIKE_S / self.bin_seconds)
        return carried(self.view, self.grid, self.blur_cells, float(self.observers), noise)

    def _kinship(self, memory: float) -> Kinship:
        """Return how bins are related when their likeness falls to 1/e after this many seconds."""
        turn = _cosines(self.bins)
        apart = np.abs(np.subtract.outer(np.arange(self.bins), np.arange(self.bins))) * self.bin_seconds
        alike = np.exp(-apart / memory)
        return Kinship(
            turn,
            np.maximum(np.sum(turn * (alike @ turn), axis=0), 1e-6),
            np.sum(turn * (self.smoothing @ turn), axis=0),
        )

    def to_dict(self) -> Mapping[str, Any]:
        """Return the plan as plain values."""
        return {
            "strategy": self.strategy,
            "observers": self.observers,
            "epsilon": as_text(exact(self.epsilon)),
            "delta": as_text(exact(self.delta)),
            "bin_seconds": self.bin_seconds,
            "duration": self.duration,
            "neighbours": str(self.neighbours),
            "numbers": self.size,
            "bound": self.bound,
            "sigma": self.sigma,
            "smoothing_seconds": SMOOTHING_S,
            "grid": self.grid.to_dict(),
            "blur_cells": self.blur_cells,
            "pictures": [{"sha256": picture.digest, "said_by": picture.said_by} for picture in self.pictures],
        }


def bins_of(duration: float, bin_seconds: float) -> int:
    """Return how many bins a course has; the last may be shorter."""
    return math.ceil(duration / bin_seconds - 1e-9)


def _cosines(count: int) -> FloatArray:
    """Return the orthonormal cosines of a stretch of time, a column each."""
    waves = np.cos(math.pi * np.outer(np.arange(count) + 0.5, np.arange(count)) / count) * math.sqrt(2 / count)
    waves[:, 0] /= math.sqrt(2)
    return np.asarray(waves)
