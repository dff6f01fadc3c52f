# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Heatmaps that move: one for each stretch of a stimulus's own time, released together under one promise.

Time is counted from the first sample of each recording (`gazeveil.aggregate.movie_plan`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from gazeveil.aggregate.engine import Engine, engine_at
from gazeveil.aggregate.grid import Grid
from gazeveil.aggregate.movie_plan import MoviePlan
from gazeveil.aggregate.render import check_blur
from gazeveil.aggregate.sight import SIGHTS
from gazeveil.errors import InputError, OptionError
from gazeveil.gaze.corpus import Corpus
from gazeveil.gaze.geometry import Geometry
from gazeveil.noise import NoiseSource
from gazeveil.privacy.guarantee import ApproxDP, Guarantee
from gazeveil.privacy.ledger import Ledger
from gazeveil.privacy.release import Release, kept_promise
from gazeveil.privacy.unit import Neighbours
from gazeveil.types import Tell, silent

MOST_BINS = 2000
LONGEST = 24 * 3600.0
"""The longest course, in seconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DynamicHeatmap:
    """A heatmap for each stretch of a stimulus's time, under one observer-level promise for the whole course.

    Attributes:
        epsilon: The ε that may be spent on the whole course.
        delta: The δ that may be spent on it.
        bin_seconds: How long a bin is.
        duration: How long the course is, from the first sample of each recording; public. What comes later does not
            count.
        strategy: What is noted of each map: ``bumps`` or ``histogram``.
        neighbours: How neighbouring data sets differ.
        observers: How many people there are. By default those of the corpus, which is public under replace-one.
        cell_deg: Size of a cell in degrees.
        blur_deg: Standard deviation of the point-spread function in degrees.
    """

    epsilon: float
    bin_seconds: float
    duration: float
    delta: float = 1e-5
    strategy: str = "bumps"
    neighbours: Neighbours = Neighbours.REPLACE_ONE
    observers: int | None = None
    cell_deg: float = 1.0
    blur_deg: float = 1.1

    def __post_init__(self) -> None:
        for name in ("epsilon", "bin_seconds", "duration"):
            value = getattr(self, name)
            if not (math.isfinite(value) and value > 0):
                raise OptionError(f"{name} must be a positive number, not {value!r}")
        check_blur(self.blur_deg)
        if not 0 < self.delta < 1:
            raise OptionError(f"delta must lie between 0 and 1, not at {self.delta!r}: Gaussian noise needs one")
        if self.duration > LONGEST:
            raise OptionError(f"a duration of {self.duration:g} s is more than a day", hint="durations are in seconds")
        bins = self.duration / self.bin_seconds
        if bins <= 1:
            raise OptionError(
                f"bins of {self.bin_seconds:g} s leave one bin of {self.duration:g} s",
                hint="take shorter bins, or a single heatmap",
            )
        if bins > MOST_BINS:
            raise OptionError(f"there are at most {MOST_BINS:,} bins, not {bins:,.0f}", hint="take longer bins")
        if self.observers is not None and (isinstance(self.observers, bool) or self.observers < 1):
            raise OptionError(f"observers must be a whole number from 1 up, not {self.observers!r}")
        if self.strategy not in SIGHTS:
            raise OptionError(f"a course cannot be released by {self.strategy!r}", hint=f"known: {', '.join(SIGHTS)}")
        object.__setattr__(self, "neighbours", Neighbours(self.neighbours))
        if self.neighbours is Neighbours.ADD_REMOVE and self.observers is None:
            raise OptionError(
                "under add/remove the number of people is a secret, but the decoder needs one",
                hint="say about how many there are with observers, from something public such as the invitation",
            )

    @property
    def guarantee(self) -> Guarantee:
        """What a release costs."""
        return ApproxDP(self.epsilon, self.delta, neighbours=self.neighbours)

    def plan(self, geometry: Geometry, observers: int) -> MoviePlan:
        """Return how the course of so many people is released: a matter of public numbers."""
        return MoviePlan(
            grid=Grid.of_degrees(geometry, self.cell_deg),
            observers=observers,
            epsilon=self.epsilon,
            delta=self.delta,
            bin_seconds=self.bin_seconds,
            duration=self.duration,
            neighbours=self.neighbours,
            strategy=self.strategy,
            blur_cells=self.blur_deg / self.cell_deg,
        )

    def release(
        self,
        corpus: Corpus,
        stimulus: str | None = None,
        *,
        noise: NoiseSource,
        ledger: Ledger | None = None,
        dataset: str = "",
        engine: Engine | None = None,
        tell: Tell = silent,
    ) -> Release:
        """Release the dynamic heatmap of one stimulus; its value is a `MovieEstimate`.

        If a ledger is given, it is charged before gaze is read. Hand in the whole study, not a selection of people
        that depends on who looked.

        Raises:
            InputError: If the corpus holds no gaze, or gaze on several stimuli or planes.
            BudgetExceeded: If the ledger does not allow it; nothing was released.
        """
        people = len(corpus.observers) if self.observers is None else self.observers
        chosen = corpus if stimulus is None else corpus.select(stimulus=stimulus)
        if len(chosen.stimuli) != 1:
            some = ", ".join(repr(name) for name in chosen.stimuli[:4]) or "none"
            raise InputError(
                f"a dynamic heatmap is of one stimulus; the corpus has {len(chosen.stimuli)}: {some}",
                hint="name one of them",
            )
        if self.delta * people >= 1:
            raise OptionError(
                f"delta {self.delta:g} is no smaller than one in {people:,} people: such a promise is empty",
                hint="choose delta well below one over the number of people",
            )
        plan = self.plan(chosen.geometry, people)
        recipe = {"mechanism": "dynamic-heatmap", **plan.to_dict()}
        provenance = {"stimulus": chosen.stimuli[0], "observers": people}
        release = Release(None, kept_promise(plan.guarantee, noise), recipe, provenance)
        if ledger is not None:
            release = release.charged(ledger, dataset)
        summed = (engine or engine_at()).sum_over_observers(chosen, plan.kernel(), tell)
        return replace(release, value=plan.decode(plan.measure(summed.total, noise)))
