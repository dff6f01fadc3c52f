# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""How good the heatmaps of whole studies and of time courses are, on simulated participants.

The tables of the how-to pages.

``python -m gazeveil.lab.experiments.whole_study`` prints them; ``--quick`` does a small part. The truth is
the map of all simulated participants, of whom those in a release are some. "Beyond the mean" is the correlation after
the true mean over stimuli, or over time, has been regressed out of both maps: what is special about a stimulus or a
moment.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gazeveil.aggregate.engine import Columns, Kernel
from gazeveil.aggregate.grid import Grid, render
from gazeveil.aggregate.map_features import joint_sensitivity
from gazeveil.aggregate.maps import counts
from gazeveil.aggregate.movie import HeatmapMovie
from gazeveil.aggregate.strategy import STRATEGIES, Strategy, Task, choose
from gazeveil.aggregate.study_heatmaps import BOUND, PrivateHeatmaps
from gazeveil.arrays import FloatArray, IntArray
from gazeveil.exact import exact
from gazeveil.gaze.recording import Recording
from gazeveil.lab.utility.releases import correlation, residual_correlation
from gazeveil.noise import NoiseSource
from gazeveil.privacy.calibration import gaussian_epsilon
from gazeveil.privacy.protection import Neighbours
from gazeveil.simulate import TRACKERS, Population, SimulatedStudy, record, scene

DELTA = 1e-5
TRACKER = "webcam"
SHOT_S, SHOTS, BIN_S = 2.2, 5, 0.5
_JUDGED_ALONE = 12
"""How many stimuli are decoded one by one for comparison: that is slow, and stimuli are alike."""

_STRIDE = 7919
"""A prime, so that steps of it visit everyone in a scrambled order."""


@dataclass(frozen=True, slots=True)
class Score:
    """How well some maps agree with the truth.

    Attributes:
        cc: Mean correlation.
        beyond: Mean correlation beyond the true mean.
    """

    cc: float
    beyond: float

    @staticmethod
    def of(maps: Sequence[FloatArray], truth: FloatArray, mean: FloatArray) -> Score:
        """Compare maps with as many of the true ones."""
        pairs = list(zip(maps, truth, strict=False))
        return Score(
            float(np.mean([correlation(map_, true) for map_, true in pairs])),
            float(np.mean([residual_correlation(map_, true, mean) for map_, true in pairs])),
        )

    @staticmethod
    def mean(scores: Sequence[Score]) -> Score:
        """Return the mean of some scores."""
        return Score(float(np.mean([score.cc for score in scores])), float(np.mean([score.beyond for score in scores])))

    def __str__(self) -> str:
        return f"{self.cc:.2f} ({self.beyond:.2f})"


@dataclass(frozen=True, slots=True, eq=False)
class Viewed:
    """How often participants looked into cells: participants by stimuli (or bins of time) by cells."""

    grid: Grid
    counts: IntArray

    def truth(self, blur_cells: float) -> FloatArray:
        """Return the blurred map of everyone, of each stimulus or bin."""
        mass = self.counts.sum(axis=-1, keepdims=True)
        maps = np.divide(self.counts, mass, out=np.zeros(self.counts.shape), where=mass > 0)
        return render(maps.mean(axis=0).reshape(-1, *self.grid.shape), blur_cells)

    def rows(self, person: int, which: Sequence[int]) -> Columns:
        """Return gaze that gives these counts: in the middle of each cell, as often as someone looked there."""
        left, top, right, bottom = self.grid.geometry.extent()
        where = [np.repeat(np.arange(self.grid.size), self.counts[person, at]) for at in which]
        row, column = np.divmod(np.concatenate(where), self.grid.columns)
        number = np.repeat(np.arange(len(which)), [len(cells) for cells in where])
        return {
            "stimulus": np.array([f"s{at}" for at in number], dtype=object),
            "session": np.full(len(row), "1", dtype=object),
            "trial": np.full(len(row), "1", dtype=object),
            "t": (number + 0.5) * BIN_S,
            "x": left + (column + 0.5) * (right - left) / self.grid.columns,
            "y": top + (row + 0.5) * (bottom - top) / self.grid.rows,
            "valid": np.ones(len(row), dtype=np.bool_),
        }

    def some(self, observers: int, seed: int) -> list[int]:
        """Return some of the participants."""
        return _scrambled(len(self.counts), observers, seed)


def view_scenes(people: int, scenes: int, seed: int = 3) -> Viewed:
    """Let participants look at scenes for five seconds each."""
    study = SimulatedStudy(observers=people, stimuli=scenes, sessions=1, tracker=TRACKER, seconds=5, seed=seed)
    grid = Grid.of_degrees(study.plane)
    place = {stimulus.name: number for number, stimulus in enumerate(study.scenes())}
    found = np.zeros((people, scenes, grid.size), dtype=np.int64)
    for number, recording in enumerate(study.recordings()):
        found[number // scenes, place[recording.stimulus]] = counts(grid, _gaze(recording))
    return Viewed(grid, found)


def view_film(people: int, seed: int = 5) -> Viewed:
    """Let participants watch a film of five scenes, a cut every 2.2 s."""
    tracker = TRACKERS[TRACKER]
    grid = Grid.of_degrees(tracker.geometry)
    bins = math.ceil(SHOTS * SHOT_S / BIN_S - 1e-9)
    found = np.zeros((people, bins, grid.size), dtype=np.int64)
    for number, person in enumerate(Population(seed).observers(people)):
        today = person.on_day(1)
        for shot in range(SHOTS):
            recording = record(today, scene(seed, shot), tracker, SHOT_S, tracker.geometry)
            when = ((recording.t - recording.t[0] + shot * SHOT_S) / BIN_S).astype(np.int64)
            for at in np.unique(when[when < bins]).tolist():
                rows = {name: column[when == at] for name, column in _gaze(recording).items()}
                found[number, at] += counts(grid, rows)
    return Viewed(grid, found)


@dataclass(frozen=True, slots=True)
class StudyRow:
    """One release of a whole study, several ways.

    Attributes:
        stimuli: How many stimuli.
        observers: How many participants.
        epsilon: The ε of all of it.
        apart: Each stimulus on its own with an equal part of ε and δ.
        alone: Released together, decoded one by one.
        together: Released together, decoded together.
        mean: The study's mean in place of each map.
        carried: What was forecast for ``together`` beyond the mean.
    """

    stimuli: int
    observers: int
    epsilon: float
    apart: Score
    alone: Score
    together: Score
    mean: Score
    carried: float


def measure_study(viewed: Viewed, stimuli: int, observers: int, epsilon: float, seed: int = 0) -> StudyRow:
    """Release a study of some of the participants and some of the scenes, several ways."""
    people = viewed.some(observers, seed)
    which = _scrambled(viewed.counts.shape[1], stimuli, seed)
    names = tuple(f"s{number}" for number in range(stimuli))
    mechanism = PrivateHeatmaps(epsilon=epsilon)
    plan = mechanism.plan_for(viewed.grid.geometry, names, observers, Neighbours.REPLACE_ONE, exact(DELTA))
    noise = NoiseSource.seeded(1_000_000 * seed + 1000 * stimuli + observers)
    found = plan.decode(plan._noised(_total(plan.kernel(), viewed, people, which), noise))
    truth = viewed.truth(plan.blur_cells)[which]
    mean = truth.mean(axis=0)

    def singly(epsilon: float, delta: float, strategy: str) -> Score:
        task = Task(grid=viewed.grid, observers=observers, epsilon=epsilon, delta=delta, blur_cells=plan.blur_cells)
        single: Strategy = STRATEGIES[strategy or choose(task)](task)  # type: ignore[call-arg]
        maps = [_release(single, viewed, people, at, noise) for at in which[:_JUDGED_ALONE]]
        return Score.of(maps, truth, mean)

    reach = joint_sensitivity(BOUND * BOUND, Neighbours.REPLACE_ONE)
    return StudyRow(
        stimuli,
        observers,
        epsilon,
        singly(epsilon / stimuli, DELTA / stimuli, ""),
        singly(gaussian_epsilon(plan.sigma, reach, DELTA), DELTA, "bumps"),
        Score.of([estimate.map for estimate in found.maps.values()][:_JUDGED_ALONE], truth, mean),
        Score.of([found.mean.map] * min(stimuli, _JUDGED_ALONE), truth, mean),
        plan.expected_correlation(),
    )


def _release(strategy: Strategy, viewed: Viewed, people: list[int], at: int, noise: NoiseSource) -> FloatArray:
    return strategy.decode(strategy._noised(_total(strategy.kernel(), viewed, people, [at]), noise)).map


def _total(kernel: Kernel, viewed: Viewed, people: list[int], which: list[int]) -> IntArray:
    total = np.zeros(kernel.size, dtype=np.int64)
    for person in people:
        total += kernel(viewed.rows(person, which))
    return total


@dataclass(frozen=True, slots=True)
class MovieRow:
    """One release of a time course.

    Attributes:
        observers: How many participants.
        epsilon: The ε of the whole course.
        score: How well the bins agree with the truth.
        mean: The same for the mean over time in place of each bin.
    """

    observers: int
    epsilon: float
    score: Score
    mean: Score


def measure_movie(viewed: Viewed, observers: int, epsilon: float, seed: int = 0) -> MovieRow:
    """Release the time course of some of the participants."""
    bins = viewed.counts.shape[1]
    mechanism = HeatmapMovie(epsilon=epsilon, bin_seconds=BIN_S)
    screen, seconds = viewed.grid.geometry, bins * BIN_S
    plan = mechanism.plan_for(screen, seconds, observers, Neighbours.REPLACE_ONE, exact(DELTA))
    kernel = plan.kernel()
    course = list(range(bins))
    start: Columns = {  # somebody is there from the beginning, off the screen, so that bins are counted from it
        "stimulus": np.array(["s0"], dtype=object),
        "session": np.array(["1"], dtype=object),
        "trial": np.array(["1"], dtype=object),
        "t": np.zeros(1),
        "x": np.full(1, np.nan),
        "y": np.full(1, np.nan),
        "valid": np.zeros(1, dtype=np.bool_),
    }
    total = np.zeros(plan.size, dtype=np.int64)
    for person in viewed.some(observers, seed):
        rows = viewed.rows(person, course)
        total += kernel({name: np.concatenate([start[name], column]) for name, column in rows.items()})
    frames = plan.decode(plan._noised(total, NoiseSource.seeded(1000 * seed + observers))).frames
    truth = viewed.truth(plan.blur_cells)
    mean = truth.mean(axis=0)
    return MovieRow(
        observers, epsilon, Score.of(list(frames.maps), truth, mean), Score.of([frames.mean.map] * bins, truth, mean)
    )


def study_table(viewed: Viewed, stimuli: Sequence[int], observers: Sequence[int], seeds: Sequence[int]) -> str:
    """Return the table of whole studies, in Markdown; each row is the mean over the seeds."""
    lines = [
        "| stimuli | participants | ε | ε/k each | together, decoded alone | together | mean alone | forecast |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for count in stimuli:
        for people in observers:
            for epsilon in (1.0, 3.0, 10.0):
                rows = [measure_study(viewed, count, people, epsilon, seed) for seed in seeds]
                scores = (
                    Score.mean([getattr(row, name) for row in rows]) for name in ("apart", "alone", "together", "mean")
                )
                told = " | ".join(str(score) for score in scores)
                lines.append(f"| {count} | {people} | {epsilon:g} | {told} | ({rows[0].carried:.2f}) |")
    return "\n".join(lines)


def movie_table(films: Sequence[Viewed], observers: Sequence[int]) -> str:
    """Return the table of dynamic heatmaps, in Markdown; each row is the mean over the films."""
    lines = ["| participants | ε | bins | mean over time |", "|---|---|---|---|"]
    for people in observers:
        for epsilon in (1.0, 3.0, 10.0):
            rows = [measure_movie(film, people, epsilon) for film in films]
            told = " | ".join(str(Score.mean([getattr(row, name) for row in rows])) for name in ("score", "mean"))
            lines.append(f"| {people} | {epsilon:g} | {told} |")
    return "\n".join(lines)


def _gaze(recording: Recording) -> Columns:
    return {"x": recording.x, "y": recording.y, "valid": recording.tracked}


def _scrambled(count: int, wanted: int, seed: int) -> list[int]:
    return [(number * _STRIDE + 31 * seed) % count for number in range(wanted)]


def main(quick: bool) -> None:
    """Print the tables."""
    scenes = view_scenes(40, 12) if quick else view_scenes(160, 60)
    for count in (12,) if quick else (12, 60):
        for people in (30,) if quick else (30, 100):
            sys.stdout.write(study_table(scenes, (count,), (people,), (0,) if quick else (0, 1, 2)) + "\n\n")
            sys.stdout.flush()
    films = [view_film(40)] if quick else [view_film(300, seed) for seed in (5, 6)]
    for people in (30,) if quick else (30, 100, 300):
        sys.stdout.write(movie_table(films, (people,)) + "\n\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main("--quick" in sys.argv[1:])
