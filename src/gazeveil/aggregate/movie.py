# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Heatmaps that move: one for each stretch of a stimulus's own time, released together under one guarantee.

Time is counted from the first sample of each recording (`gazeveil.aggregate.movie_plan`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from gazeveil.aggregate.grid import Grid
from gazeveil.aggregate.map_view import MAP_VIEWS
from gazeveil.aggregate.movie_plan import MoviePlan, bins_of
from gazeveil.aggregate.render import WIDEST_DEG
from gazeveil.aggregate.saliency import Saliency
from gazeveil.errors import OptionError, closest
from gazeveil.exact import Number, above_zero, chance_of_failure
from gazeveil.geometry import Geometry
from gazeveil.options import check_settings, setting
from gazeveil.privacy.unit import Neighbours

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
