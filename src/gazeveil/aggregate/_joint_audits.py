# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Whole studies and dynamic heatmaps before the auditor: from gaze to noisy integers, on the worst neighbours.

Importing this module enters the subjects.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gazeveil.aggregate._repeated import measured
from gazeveil.aggregate.engine import Columns
from gazeveil.aggregate.grid import Grid
from gazeveil.aggregate.movie_plan import MoviePlan
from gazeveil.aggregate.study_plan import StudyPlan
from gazeveil.geometry import screen
from gazeveil.noise import NoiseSource
from gazeveil.privacy.audit.neighbours.pair import Pair
from gazeveil.privacy.audit.subject import Subject, auditable
from gazeveil.privacy.unit import Neighbours
from gazeveil.types import FloatArray, IntArray

People = tuple[Columns, ...]

_PLANE = screen(400, 300, 40, 30, 573)  # 4 by 3 degrees, so that there are few numbers and the auditor sees sharply
_GRID = Grid(4, 3, _PLANE)
_TEN_HOURS = 10 * 3600 * 10
_STRATEGIES = ("histogram", "bumps")
_CORNER, _OTHER = (10.0, 10.0), (390.0, 290.0)


@dataclass(frozen=True, slots=True)
class JointIntegers:
    """Runs a joint release up to its noisy integers; decoding is post-processing."""

    plan: StudyPlan | MoviePlan

    def run(self, data: People, noise: NoiseSource, trials: int) -> FloatArray:
        """Return noisy integers, one release a row."""
        return measured(self.plan, self._total(data), noise, trials).astype(np.float64)

    def log_ratio(self, outputs: FloatArray, first: People, second: People) -> FloatArray:
        """Return the log ratio of the two densities."""
        here, there = self._total(first), self._total(second)
        return np.asarray((outputs - (here + there) / 2) @ (here - there) / self.plan.sigma**2)

    def _total(self, people: People) -> IntArray:
        kernel = self.plan.kernel()
        total = np.zeros(kernel.size, dtype=np.int64)
        for rows in people:
            total += kernel(rows)
        return total


@auditable("whole-study")
def study_subject(
    stimuli: int = 3,
    most_stimuli: int = 3,
    epsilon: float = 1.0,
    delta: float = 1e-3,
    heavy: float = 2.0,
    bumps: int = 0,
    add_remove: int = 0,
) -> Subject:
    """Heatmaps of several stimuli under one Gaussian noise, the first of another weight."""
    names = tuple(f"s{number}" for number in range(stimuli))
    plan = StudyPlan(
        grid=_GRID,
        stimuli=names,
        weights=(heavy, *(1.0,) * (stimuli - 1)),
        observers=30,
        epsilon=epsilon,
        delta=delta,
        neighbours=Neighbours.ADD_REMOVE if add_remove else Neighbours.REPLACE_ONE,
        strategy=_STRATEGIES[bool(bumps)],
        most_stimuli=min(most_stimuli, stimuli),
        blur_cells=1.1,
    )
    stares = _over_stimuli(names, *_still(_CORNER))
    return _subject(
        plan,
        stares,
        {
            "stares at another pixel in all stimuli": _over_stimuli(names, *_still(_OTHER)),
            "looks everywhere in all stimuli": _over_stimuli(names, *_everywhere()),
            "looks nowhere": _over_stimuli(names, *_still(_CORNER, 0)),
            "looks elsewhere, at the first stimulus alone": _over_stimuli(names[:1], *_still(_OTHER)),
            "looks elsewhere for ten hours, at all stimuli": _over_stimuli(names, *_still(_OTHER, _TEN_HOURS)),
        },
    )


@auditable("dynamic-heatmap")
def movie_subject(
    bins: int = 3, epsilon: float = 1.0, delta: float = 1e-3, bumps: int = 0, add_remove: int = 0
) -> Subject:
    """The time course of a heatmap under one Gaussian noise."""
    plan = MoviePlan(
        grid=_GRID,
        observers=30,
        epsilon=epsilon,
        delta=delta,
        bin_seconds=1.0,
        duration=float(bins),
        neighbours=Neighbours.ADD_REMOVE if add_remove else Neighbours.REPLACE_ONE,
        strategy=_STRATEGIES[bool(bumps)],
        blur_cells=1.1,
    )
    count = 10 * bins
    turns = tuple(np.concatenate([_still(_CORNER, 10)[axis], _still(_OTHER, count)[axis]]) for axis in (0, 1))
    return _subject(
        plan,
        _over_time(*_still(_CORNER, count)),
        {
            "stares at another pixel all the time": _over_time(*_still(_OTHER, count)),
            "looks everywhere": _over_time(*_everywhere()),
            "looks nowhere": _over_time(*_still(_CORNER, 0)),
            "looks elsewhere after the first second": _over_time(*turns),
            "looks elsewhere, for a moment": _over_time(*_still(_OTHER, 1)),
            "looks elsewhere for ten hours": _over_time(*_still(_OTHER, _TEN_HOURS)),
        },
    )


def _subject(plan: StudyPlan | MoviePlan, stares: Columns, others: dict[str, Columns]) -> Subject:
    runner = JointIntegers(plan)
    if plan.neighbours is Neighbours.ADD_REMOVE:
        people = {"stares at one pixel": stares, **others}
        pairs = [Pair((rows,), (), f"one observer who {does}, there or not") for does, rows in people.items()]
    else:
        pairs = [
            Pair((stares,), (rows,), f"one observer stares at one pixel, or {does}") for does, rows in others.items()
        ]
    return Subject(runner.run, plan.guarantee, tuple(pairs), runner.log_ratio)


def _still(at: tuple[float, float], count: int = 10) -> tuple[FloatArray, FloatArray]:
    return np.full(count, at[0]), np.full(count, at[1])


def _everywhere() -> tuple[FloatArray, FloatArray]:
    across, down = np.meshgrid(np.arange(5.0, 400, 10), np.arange(5.0, 300, 10))
    return across.ravel(), down.ravel()


def _over_stimuli(names: tuple[str, ...], x: FloatArray, y: FloatArray) -> Columns:
    stimulus = np.repeat(np.array(names, dtype=object), len(x))
    return {
        "stimulus": stimulus,
        "x": np.tile(x, len(names)),
        "y": np.tile(y, len(names)),
        "valid": np.ones(len(stimulus), dtype=np.bool_),
    }


def _over_time(x: FloatArray, y: FloatArray) -> Columns:
    label = np.full(len(x), "1", dtype=object)
    return {
        "session": label,
        "trial": label,
        "t": np.arange(len(x)) / 10,
        "x": x,
        "y": y,
        "valid": np.ones(len(x), dtype=np.bool_),
    }
