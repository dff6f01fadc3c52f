# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Heatmap movies: one heatmap for each stretch of a stimulus's time, released together under one guarantee.

An observer's whole time course is one vector: what is seen of the map in each bin, smoothed a little over time, side by
side, scaled to one length. Gaze stays where it is for a while; smoothing before the vector is scaled uses that, and
makes more of the budget. Decoding uses how correlated consecutive bins are, by a cosine transform of time.

Time is counted from the first sample of each recording.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from gazeveil.aggregate.decoded_maps import RenderedMaps, render_jointly
from gazeveil.aggregate.engine import Columns
from gazeveil.aggregate.grid import WIDEST_DEG, Grid, blur_matrix
from gazeveil.aggregate.joint_decoder import MapCorrelation, MeasuredMaps
from gazeveil.aggregate.map_features import MAP_VIEWS, MOST_NUMBERS, MapView, directions_of, joint_sensitivity, view_of
from gazeveil.aggregate.map_prior import cosines, prior_of
from gazeveil.aggregate.maps import GAZE, LARGEST_BOUND, dwell, to_bounded_integers
from gazeveil.aggregate.saliency import Saliency
from gazeveil.aggregate.strategy import NoisySum
from gazeveil.aggregate.study_heatmaps import BOUND, expected_correlation, within
from gazeveil.arrays import FloatArray, IntArray
from gazeveil.errors import InternalError, OptionError, closest
from gazeveil.exact import Number, above_zero, as_text, chance_of_failure, exact
from gazeveil.geometry import Geometry
from gazeveil.noise import NoiseSource, add_gaussian
from gazeveil.options import check_settings, setting
from gazeveil.privacy.calibration import gaussian_sigma
from gazeveil.privacy.guarantee import ApproxDP, Guarantee
from gazeveil.privacy.protection import Neighbours

SMOOTHING_S = 0.3
"""The standard deviation of the smoothing over time: about as long as a fixation."""

CORRELATION_TIMES_S = (0.3, 0.8, 2.0, 6.0)
"""Seconds after which the correlation of two maps may have fallen to 1/e; the evidence decides."""

_TYPICAL_CORRELATION_S = 0.8
"""Seconds over which the forecast takes maps for one map."""

_FIXATIONS_A_SECOND, _MOST_FIXATIONS = 2.5, 5.0
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
        bins = bins_of_rows(rows, self.edges)
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


def bins_of_rows(rows: Columns, edges: FloatArray) -> IntArray:
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
    frames: RenderedMaps

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
        measured = MeasuredMaps(
            numbers=(noisy.reshape(self.bins, -1).astype(np.float64) @ turn.T) * scale,
            noise_sd=np.full(self.bins, self.sigma * scale),
            features=features,
            observers=float(self.observers),
            weights=np.full(self.bins, 1.0 / self.bins),
            unrelated=min(_UNRELATED, float(self.bins)),
            correlations=tuple(self._correlation(memory) for memory in CORRELATION_TIMES_S),
            fixations=min(max(_FIXATIONS_A_SECOND * self.bin_seconds, 1.0), _MOST_FIXATIONS),
        )
        prior = prior_of(self.view.working)
        return MovieEstimate(self.edges, render_jointly(prior, measured, self.grid, self.blur_cells, self.pictures))

    def expected_correlation(self) -> float:
        """Return the correlation, beyond the mean over time, that a typical bin's map is expected to have.

        It follows from public numbers alone. Bins that are alike are taken for one bin with so much less noise.
        """
        noise = self.sigma / BOUND / math.sqrt(1 + _TYPICAL_CORRELATION_S / self.bin_seconds)
        return expected_correlation(self.view, self.grid, self.blur_cells, float(self.observers), noise)

    def _correlation(self, memory: float) -> MapCorrelation:
        """Return how bins are correlated when that falls to 1/e after this many seconds."""
        turn = cosines(self.bins)
        apart = np.abs(np.subtract.outer(np.arange(self.bins), np.arange(self.bins))) * self.bin_seconds
        alike = np.exp(-apart / memory)
        return MapCorrelation(
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


# --- The parameters of a release.


MOST_BINS = 2000
LONGEST = 24 * 3600.0
"""The longest course, in seconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HeatmapMovie:
    """A heatmap for each stretch of a stimulus's time, under one participant-level guarantee for the whole course.

    Attributes:
        epsilon: The total ε of the whole course.
        delta: The δ that may be spent on it; by default the study's.
        bin_seconds: Seconds of a bin.
        duration: Seconds from the first sample of each recording that count; by default as many as the study declares
            that the stimulus was shown.
        strategy: How the maps are measured.
        cell_deg: Size of a cell in degrees.
        blur_deg: Blur of the pictures in degrees: the standard deviation of the point-spread function.
        pictures: What was to be seen says about gaze, `Saliency.of(pixels)`: one for each bin, as of the frame in its
            middle, or one for all. Without any, what the study declares about the stimulus.
        picture_prior: Whether declared pictures and maps of likely gaze shape the prior.
    """

    product: ClassVar[str] = "movie"

    epsilon: Number = setting(metavar="NUMBER")
    bin_seconds: float = setting(0.5, above=0, metavar="SECONDS")
    duration: float | None = setting(None, above=0, metavar="SECONDS")
    delta: Number | None = setting(None, metavar="NUMBER")
    strategy: str = setting("bumps", names="strategies")
    cell_deg: float = setting(1.0, above=0)
    blur_deg: float = setting(1.1, above=0, most=WIDEST_DEG)
    pictures: tuple[Saliency, ...] = ()
    picture_prior: bool = setting(True)

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", above_zero(self.epsilon, "epsilon"))
        if self.delta is not None:
            object.__setattr__(self, "delta", chance_of_failure(self.delta, "delta"))
        check_settings(self)
        if self.duration is not None:
            self._check_duration(self.duration)
        if self.strategy not in MAP_VIEWS:
            raise OptionError(
                f"a course cannot be released by {self.strategy!r}", hint=closest(self.strategy, MAP_VIEWS)
            )

    def _check_duration(self, duration: float) -> None:
        if not (math.isfinite(duration) and duration > 0):
            raise OptionError(f"duration must be a positive number, not {duration!r}")
        if duration > LONGEST:
            raise OptionError(f"a duration of {duration:g} s is more than a day", hint="durations are in seconds")
        bins = duration / self.bin_seconds
        if bins <= 1:
            raise OptionError(
                f"bins of {self.bin_seconds:g} s leave one bin of {duration:g} s",
                hint="take shorter bins, or a single heatmap",
            )
        if bins > MOST_BINS:
            raise OptionError(f"there are at most {MOST_BINS:,} bins, not {bins:,.0f}", hint="take longer bins")

    def bins(self, seconds: float | None) -> int:
        """Return how many bins a course has that the study declares to be so long."""
        return bins_of(self._course(seconds), self.bin_seconds)

    def middles(self, seconds: float | None) -> tuple[float, ...]:
        """Return the middle of each bin, in seconds."""
        duration = self._course(seconds)
        begins = [number * self.bin_seconds for number in range(bins_of(duration, self.bin_seconds))]
        return tuple((begin + min(begin + self.bin_seconds, duration)) / 2 for begin in begins)

    def _course(self, seconds: float | None) -> float:
        duration = seconds if self.duration is None else self.duration
        if duration is None:
            raise OptionError(
                "a movie needs a public duration", hint="give one, or declare the seconds of the stimulus in the study"
            )
        self._check_duration(duration)
        return duration

    def plan_for(
        self, screen: Geometry, seconds: float | None, observers: int, neighbours: Neighbours, delta: Fraction
    ) -> MoviePlan:
        """Return how the course of this many participants is released: a matter of public facts.

        Raises:
            OptionError: If nobody says how long the course is, or that does not fit the bins.
        """
        duration = self._course(seconds)
        return MoviePlan(
            grid=Grid.of_degrees(screen, self.cell_deg),
            observers=observers,
            epsilon=self.epsilon,
            delta=delta,
            bin_seconds=self.bin_seconds,
            duration=duration,
            neighbours=neighbours,
            strategy=self.strategy,
            blur_cells=self.blur_deg / self.cell_deg,
            pictures=tuple(self.pictures),
        )
