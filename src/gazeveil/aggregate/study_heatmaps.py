# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The heatmaps of many stimuli under one guarantee: what may be spent, and the plan that it buys.

Every observer gives one vector: what is seen of their map of each stimulus, side by side. All observers' vectors are
added up and get Gaussian noise once. The guarantee covers all of it, whichever stimuli someone saw. Decoding uses that
the stimuli belong together (`gazeveil.aggregate.joint_decoder`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from gazeveil.aggregate.decoded_maps import MOST_SEPARATELY, render_jointly, render_separately
from gazeveil.aggregate.engine import Columns
from gazeveil.aggregate.grid import WIDEST_DEG, Grid
from gazeveil.aggregate.joint_decoder import MapCorrelation, MeasuredMaps, forecast
from gazeveil.aggregate.map_features import (
    MAP_VIEWS,
    MOST_NUMBERS,
    MapView,
    bumps_along,
    directions_of,
    joint_sensitivity,
    view_of,
)
from gazeveil.aggregate.map_prior import prior_of
from gazeveil.aggregate.maps import GAZE, LARGEST_BOUND, add_products, dwell, to_bounded_integers
from gazeveil.aggregate.saliency import Saliency
from gazeveil.aggregate.strategy import STRATEGIES, Estimate, NoisySum, Strategy, Task, choose
from gazeveil.arrays import IntArray, one_thread
from gazeveil.display import a_few, brief
from gazeveil.errors import InternalError, OptionError, closest
from gazeveil.exact import Number, above_zero, as_text, chance_of_failure, exact
from gazeveil.geometry import Geometry
from gazeveil.noise import NoiseSource, add_gaussian
from gazeveil.options import check_settings, setting
from gazeveil.privacy.calibration import gaussian_sigma
from gazeveil.privacy.guarantee import ApproxDP, Guarantee
from gazeveil.privacy.protection import Neighbours

BOUND = 1 << 20
"""The Euclidean length of an observer's integers for a stimulus of the largest weight."""

LEAST_WEIGHT = 1e-3
"""The smallest weight, relative to the largest: below it the fixed point would be too coarse."""

TYPICAL = (0.6, 0.0, 0.25)
"""Gain, and amplitudes of sharp and wide hot spots: what the forecast takes for typical."""

CAUTION = 1.5
"""The power that the model's own correlation is taken to. With `TYPICAL` it was fitted to simulated studies: the mean
and the amplitudes have to be found as well, which the model takes for known."""


@dataclass(frozen=True, slots=True, eq=False)
class StudyKernel:
    """One observer's maps of all stimuli, side by side, as integers without negative entries.

    Attributes:
        view: How a map is seen.
        bounds: The stimuli, and the Euclidean length that an observer's integers for each never exceed.
        square: What the squares of all integers of one observer together never exceed.
    """

    view: MapView
    bounds: tuple[tuple[str, int], ...]
    square: int

    @property
    def size(self) -> int:
        """How many integers it gives."""
        return self.view.size * len(self.bounds)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of gaze, and which stimulus it was on."""
        return ("stimulus", *GAZE)

    @property
    def geometry(self) -> Geometry:
        """The viewing plane of the stimuli."""
        return self.view.grid.geometry

    def __call__(self, rows: Columns) -> IntArray:
        """Return one observer's integers; a stimulus without gaze gives zeros, gaze on others does not count."""
        found = np.zeros((len(self.bounds), self.view.size), dtype=np.int64)
        stretches = _stretches(rows)
        grid, bumps = self.view.grid, bumps_along(self.view.grid) if self.view.name == "bumps" else None
        for own, (name, bound) in zip(found, self.bounds, strict=True):
            if name not in stretches:
                continue
            if bumps is None:
                own[:] = to_bounded_integers(self.view.numbers(dwell(grid, stretches[name])), bound)
            else:  # the same, compiled
                add_products(grid, *bumps, bound, stretches[name], np.array([0, len(stretches[name]["x"])]), own)
        return within(found.ravel(), self.square)


def within(integers: IntArray, square: int) -> IntArray:
    """Return integers whose squares add up to at most ``square``: as they are, or scaled down."""
    if _squares(integers) > square:
        integers = to_bounded_integers(integers.astype(np.float64), min(math.isqrt(square), LARGEST_BOUND))
    if _squares(integers) > square or integers.min(initial=0) < 0:
        raise InternalError("an observer's integers do not keep their bound")
    return integers


def _squares(integers: IntArray) -> int:
    # entries are below 2^31 and few enough that the sum stays below 2^63 (see `StudyPlan`)
    return int(np.dot(integers, integers))


def _stretches(rows: Columns) -> dict[str, Columns]:
    """Return an observer's rows by stimulus, in the corpus's order."""
    names = rows["stimulus"]
    if not len(names):
        return {}
    starts = np.flatnonzero(np.append(True, names[1:] != names[:-1]))
    stops = np.append(starts[1:], len(names))
    places: dict[str, list[slice]] = {}
    for start, stop in zip(starts.tolist(), stops.tolist(), strict=True):
        places.setdefault(str(names[start]), []).append(slice(start, stop))
    return {
        name: {column: np.concatenate([rows[column][at] for at in where]) for column in GAZE}
        for name, where in places.items()
    }


@dataclass(frozen=True, slots=True, eq=False)
class StudyEstimate:
    """The heatmaps of a study.

    Attributes:
        maps: The heatmap of each stimulus. Its ``data_share`` is about what sets it apart from the mean.
        mean: The mean over all stimuli.
    """

    maps: Mapping[str, Estimate]
    mean: Estimate

    def __repr__(self) -> str:
        return f"StudyEstimate({len(self.maps):,} maps: {a_few(self.maps)}; mean {self.mean!r})"


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyPlan(NoisySum):
    """The public facts about the release of a whole study.

    Guarantee: (ε, δ)-differential privacy for observers, for all stimuli together (docs/proofs/whole-studies.md).

    Attributes:
        grid: The cells of the heatmaps.
        stimuli: What is released.
        weights: How much each of them matters.
        observers: How many participants there are.
        epsilon: The ε of all of it together.
        delta: The δ of all of it together.
        neighbours: How neighbouring data sets differ.
        strategy: What is recorded of each map.
        most_stimuli: The most stimuli that one observer counts for.
        blur_cells: Standard deviation of the point-spread function, in cells.
        pictures: What the pictures of stimuli say about gaze, where they are known; only decoding follows them.
    """

    grid: Grid
    stimuli: tuple[str, ...]
    weights: tuple[float, ...]
    observers: int
    epsilon: Number
    delta: Number
    neighbours: Neighbours
    strategy: str
    most_stimuli: int
    blur_cells: float
    pictures: tuple[tuple[str, Saliency], ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", above_zero(self.epsilon, "epsilon"))
        object.__setattr__(self, "delta", chance_of_failure(self.delta, "delta"))
        if self.size > MOST_NUMBERS:
            raise OptionError(
                f"{len(self.stimuli):,} stimuli of {self.view.size} numbers are more than {MOST_NUMBERS:,} at once",
                hint="take fewer stimuli, or the strategy histogram",
            )

    @property
    def view(self) -> MapView:
        """How each map is seen."""
        return view_of(self.strategy, self.grid)

    @property
    def size(self) -> int:
        """How many integers are released."""
        return self.view.size * len(self.stimuli)

    @property
    def bounds(self) -> tuple[int, ...]:
        """The length of an observer's integers for each stimulus."""
        largest = max(self.weights)
        return tuple(max(int(BOUND * (weight / largest)), 1) for weight in self.weights)

    @property
    def square(self) -> int:
        """What the squares of one observer's integers never exceed: those of the longest ``most_stimuli`` parts."""
        return sum(bound * bound for bound in sorted(self.bounds)[-self.most_stimuli :])

    @property
    def sigma(self) -> float:
        """The standard deviation of the noise on the integers."""
        return gaussian_sigma(self.epsilon, self.delta, joint_sensitivity(self.square, self.neighbours))

    @property
    def guarantee(self) -> Guarantee:
        """What it guarantees, before it sees data."""
        return ApproxDP(self.epsilon, self.delta, neighbours=self.neighbours)

    def kernel(self) -> StudyKernel:
        """Return what turns one observer's rows into integers."""
        return StudyKernel(self.view, tuple(zip(self.stimuli, self.bounds, strict=True)), self.square)

    def _noised(self, total: IntArray, noise: NoiseSource) -> IntArray:
        if total.shape[-1:] != (self.size,) or total.dtype != np.int64:
            raise InternalError(f"expected {self.size} integers, found {total.dtype} of shape {total.shape}")
        return add_gaussian(noise, total, self.sigma)

    @one_thread()
    def decode(self, noisy: IntArray) -> StudyEstimate:
        """Return all heatmaps, from the noisy integers alone."""
        turn, features, length = directions_of(self.view)
        scale = np.array([length / (bound * self.viewers) for bound in self.bounds])
        numbers = (noisy.reshape(len(self.stimuli), -1).astype(np.float64) @ turn.T) * scale[:, None]
        weights = np.array(self.bounds) / sum(self.bounds)
        measured = MeasuredMaps(
            numbers=numbers,
            noise_sd=self.sigma * scale,
            features=features,
            observers=self.viewers,
            weights=weights,
            unrelated=1.0 / float(np.sum(weights**2)),
            correlations=(MapCorrelation.none(len(self.stimuli)),),
        )
        prior = prior_of(self.view.working)
        if len(self.stimuli) > MOST_SEPARATELY:
            found = render_jointly(prior, measured, self.grid, self.blur_cells, uncertain=False)
        else:
            pictures = {self.stimuli.index(name): said for name, said in self.pictures}
            found = render_separately(prior, measured, self.grid, self.blur_cells, pictures)
        maps = {name: found.estimate(place) for place, name in enumerate(self.stimuli)}
        return StudyEstimate(maps, found.mean)

    @property
    def viewers(self) -> float:
        """How many participants are expected to have seen a stimulus."""
        return self.observers * self.most_stimuli / len(self.stimuli)

    def expected_correlation(self) -> float:
        """Return the correlation, beyond the study's mean, that a typical stimulus's map is expected to have.

        It follows from public numbers alone: participants, ε, δ, stimuli, weights. `gazeveil.release.forecast` compares
        it with what studies had.
        """
        noise = self.sigma / float(np.mean(self.bounds))
        return expected_correlation(self.view, self.grid, self.blur_cells, self.viewers, noise)

    def equal(self, count: int) -> StudyPlan:
        """Return the plan of the first stimuli alone, with equal weights."""
        first = self.stimuli[:count]
        return replace(
            self,
            stimuli=first,
            weights=(1.0,) * count,
            most_stimuli=min(self.most_stimuli, count),
            pictures=tuple(each for each in self.pictures if each[0] in first),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the plan as plain values."""
        return {
            "strategy": self.strategy,
            "stimuli": dict(zip(self.stimuli, self.weights, strict=True)),
            "most_stimuli": self.most_stimuli,
            "observers": self.observers,
            "epsilon": as_text(exact(self.epsilon)),
            "delta": as_text(exact(self.delta)),
            "neighbours": str(self.neighbours),
            "numbers": self.size,
            "bounds": list(self.bounds),
            "sigma": self.sigma,
            "grid": self.grid.to_dict(),
            "blur_cells": self.blur_cells,
            "pictures": {name: {"sha256": said.digest, "said_by": said.said_by} for name, said in self.pictures},
        }


@lru_cache(maxsize=256)
@one_thread()
def expected_correlation(view: MapView, grid: Grid, blur_cells: float, viewers: float, noise: float) -> float:
    """Return the correlation beyond their mean that maps of this many viewers have, if ``noise`` is on each integer.

    The noise is a part of an observer's length, for one map.
    """
    _, features, length = directions_of(view)
    working = view.working
    blur = blur_cells * working.rows / grid.rows, blur_cells * working.columns / grid.columns
    found = forecast(prior_of(working), features, viewers, noise / viewers * length, blur, TYPICAL)
    return math.pow(found, CAUTION)


# --- The parameters of a release.


@dataclass(frozen=True, slots=True, kw_only=True)
class PrivateHeatmaps:
    """The heatmaps of many stimuli under one participant-level guarantee.

    Attributes:
        epsilon: The total ε of all maps together.
        delta: The δ that may be spent on all of it together; by default the study's.
        weights: How much a stimulus matters, where that is not 1. Twice the weight has half the noise per
            participant. Public.
        most_stimuli: The most stimuli that one participant was shown, if that is fewer than all and public. What goes
            beyond is scaled down; the noise falls with the square root.
        strategy: How the maps are measured.
        mean_only: Release nothing but the mean over all stimuli, with the whole budget.
        cell_deg: Size of a cell in degrees.
        blur_deg: Blur of the pictures in degrees: the standard deviation of the point-spread function.
        pictures: What the pixels of stimuli say about gaze, by name: `Saliency.of(pixels)`. Of the others, what the
            study declares: a map of likely gaze, else the picture.
        picture_prior: Whether declared pictures and maps of likely gaze shape the prior.
    """

    product: ClassVar[str] = "heatmaps"

    epsilon: Number = setting(metavar="NUMBER")
    delta: Number | None = setting(None, metavar="NUMBER")
    weights: Mapping[str, float] = field(default_factory=dict)
    most_stimuli: int | None = setting(None, least=1)
    strategy: str = setting("bumps", names="strategies")
    mean_only: bool = setting(False)
    cell_deg: float = setting(1.0, above=0)
    blur_deg: float = setting(1.1, above=0, most=WIDEST_DEG)
    pictures: Mapping[str, Saliency] = field(default_factory=dict)
    picture_prior: bool = setting(True)

    __repr__ = brief

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", above_zero(self.epsilon, "epsilon"))
        if self.delta is not None:
            object.__setattr__(self, "delta", chance_of_failure(self.delta, "delta"))
        check_settings(self)
        if self.strategy not in MAP_VIEWS:
            raise OptionError(
                f"many maps cannot be released together by the strategy {self.strategy!r}",
                hint=closest(self.strategy, MAP_VIEWS),
            )
        object.__setattr__(self, "weights", _checked_weights(self.weights))
        if self.mean_only and (self.weights or self.most_stimuli is not None):
            raise OptionError("the mean alone weighs all gaze alike: weights and most_stimuli do not apply to it")

    def plan_for(
        self, screen: Geometry, stimuli: tuple[str, ...], observers: int, neighbours: Neighbours, delta: Fraction
    ) -> StudyPlan:
        """Return how this many participants' maps of these stimuli are released: a matter of public facts.

        Raises:
            OptionError: If there are fewer than two stimuli, or weights of unknown ones, or too many numbers.
        """
        if len(stimuli) < 2:
            raise OptionError(
                f"a whole study has at least two stimuli, not {len(stimuli)}",
                hint="release a single one with PrivateHeatmap, or `gazeveil heatmap`",
            )
        if unknown := sorted(set(self.weights) - set(stimuli)):
            raise OptionError(
                f"there are weights for stimuli that are not released: {', '.join(map(repr, unknown[:4]))}",
                hint=f"the stimuli are {', '.join(map(repr, stimuli[:6]))}{'…' if len(stimuli) > 6 else ''}",
            )
        return StudyPlan(
            grid=Grid.of_degrees(screen, self.cell_deg),
            stimuli=stimuli,
            weights=tuple(self.weights.get(name, 1.0) for name in stimuli),
            observers=observers,
            epsilon=self.epsilon,
            delta=delta,
            neighbours=neighbours,
            strategy=self.strategy,
            most_stimuli=min(self.most_stimuli or len(stimuli), len(stimuli)),
            blur_cells=self.blur_deg / self.cell_deg,
            pictures=tuple((name, self.pictures[name]) for name in stimuli if name in self.pictures),
        )

    def strategy_for(self, screen: Geometry, observers: int, neighbours: Neighbours, delta: Fraction) -> Strategy:
        """Return how the mean alone is released: as one heatmap of everything that everyone looked at."""
        task = Task(
            grid=Grid.of_degrees(screen, self.cell_deg),
            observers=observers,
            epsilon=self.epsilon,
            delta=delta,
            neighbours=neighbours,
            blur_cells=self.blur_deg / self.cell_deg,
        )
        return STRATEGIES[choose(task)](task)  # type: ignore[call-arg]


def _checked_weights(weights: Mapping[str, Any]) -> dict[str, float]:
    checked = {}
    for name, weight in dict(weights).items():
        if isinstance(weight, bool) or not isinstance(weight, int | float) or not 0 < weight < math.inf:
            raise OptionError(
                f"the weight of {name!r} must be a positive number, not {weight!r}",
                hint="leave a stimulus out instead of giving it no weight",
            )
        checked[str(name)] = float(weight)
    if checked and LEAST_WEIGHT * max(*checked.values(), 1.0) > min(*checked.values(), 1.0):
        raise OptionError(f"weights differ by more than {1 / LEAST_WEIGHT:,.0f} to 1", hint="those without one weigh 1")
    return checked
