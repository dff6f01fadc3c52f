# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""How good the forecasts of whole studies and of movies are: what came out, beside what was forecast.

"Beyond the mean" is the correlation with the map of the same viewers without noise, after their mean over all stimuli,
or over time, has been regressed out of both: what is special about a stimulus or a moment.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gazeveil.aggregate.engine import Columns
from gazeveil.aggregate.grid import Grid, render
from gazeveil.aggregate.maps import dwell
from gazeveil.aggregate.movie import HeatmapMovie, MoviePlan
from gazeveil.aggregate.study_heatmaps import PrivateHeatmaps, StudyPlan
from gazeveil.arrays import FloatArray
from gazeveil.exact import Number, exact
from gazeveil.geometry import Geometry
from gazeveil.lab.experiments.usefulness._heatmap_scenes import Gallery
from gazeveil.lab.experiments.usefulness.whole_study import SHOT_S, SHOTS, TRACKER
from gazeveil.lab.utility.maps import residual_correlation
from gazeveil.noise import NoiseSource
from gazeveil.privacy.protection import Neighbours
from gazeveil.release.forecast import HEATMAPS, Forecast
from gazeveil.release.products.maps import curve_of
from gazeveil.simulate.population import Population, Purpose, generator
from gazeveil.simulate.stimuli import scene
from gazeveil.simulate.study import record
from gazeveil.simulate.tracker import TRACKERS

DELTA = "1e-5"
FILM, FILM_S = TRACKERS[TRACKER].geometry, SHOTS * SHOT_S
TEST_FILM = 15
"""Films from this seed on were not calibrated on; 5 and 6 were."""

_SAMPLE_S = 0.01
"""Samples of OSIE galleries are so long (`gazeveil.lab.experiments.usefulness._heatmap_scenes`)."""


@dataclass(frozen=True, slots=True)
class JointOutcome:
    """What came out of one release of several maps.

    Attributes:
        participants: How many were drawn.
        maps: How many stimuli, or bins of time, were released.
        epsilon: The ε of all of it.
        theory: What the theory says before it was calibrated.
        cc: Correlations beyond the mean, one a map.
        forecast: What was forecast.
    """

    participants: int
    maps: int
    epsilon: float
    theory: float
    cc: tuple[float, ...]
    forecast: Forecast

    @property
    def off(self) -> float:
        """By how much the forecast was too high, on average over maps."""
        return self.forecast.expected - float(np.mean(self.cc))

    @property
    def covered(self) -> float:
        """The share of maps within the forecast interval."""
        return float(np.mean([self.forecast.low <= value <= self.forecast.high for value in self.cc]))


def study_outcome(gallery: Gallery, stimuli: int, participants: int, epsilon: Number, seed: int = 0) -> JointOutcome:
    """Release the first stimuli of a gallery together."""
    scenes = gallery.scenes[:stimuli]
    seen = [scene.drawn(participants, seed, 0) for scene in scenes]
    names = tuple(f"s{number}" for number in range(len(scenes)))
    mechanism = PrivateHeatmaps(epsilon=epsilon)
    plan = mechanism.plan_for(gallery.geometry, names, participants, Neighbours.REPLACE_ONE, exact(DELTA))
    kernel, total = plan.kernel(), np.zeros(plan.size, dtype=np.int64)
    for person in range(participants):
        parts = [
            {**rows[person], "stimulus": _same(name, rows[person])} for name, rows in zip(names, seen, strict=True)
        ]
        total += kernel({key: np.concatenate([part[key] for part in parts]) for key in parts[0]})
    noise = NoiseSource.seeded(seed).spawn(f"{gallery.name}/{stimuli}/{participants}/{epsilon}")
    made = [estimate.map for estimate in plan.decode(plan._noised(total, noise)).maps.values()]
    true = _true([[dwell(plan.grid, rows) for rows in people] for people in seen], plan)
    theory = plan.carried()
    return _outcome(participants, float(exact(epsilon)), theory, made, true, HEATMAPS.forecast(theory))


def movie_outcome(
    course: Sequence[Columns], mechanism: HeatmapMovie, screen: Geometry, seconds: float, seed: int = 0
) -> JointOutcome:
    """Release the time course of some viewers, each with their times."""
    plan = mechanism.plan_for(screen, seconds, len(course), Neighbours.REPLACE_ONE, exact(DELTA))
    kernel, total = plan.kernel(), np.zeros(plan.size, dtype=np.int64)
    for rows in course:
        total += kernel(rows)
    noise = NoiseSource.seeded(seed).spawn(f"{len(course)}/{plan.epsilon}")
    made = list(plan.decode(plan._noised(total, noise)).frames.maps)
    edges = plan.edges
    bins = [[_bin(plan.grid, rows, edges[at], edges[at + 1]) for rows in course] for at in range(plan.bins)]
    theory = plan.carried()
    said = curve_of(plan.pictures).forecast(theory)
    return _outcome(len(course), float(exact(plan.epsilon)), theory, made, _true(bins, plan), said)


def osie_course(gallery: Gallery, image: int, participants: int, seed: int = 0) -> list[Columns]:
    """Return the time courses of viewers of an OSIE image; drawn with replacement where there are too few."""
    viewers = gallery.scenes[image].viewers
    rng = generator(seed, Purpose.STREAM, "course", image, participants)
    few = participants <= len(viewers)
    chosen = rng.permutation(len(viewers))[:participants] if few else rng.integers(0, len(viewers), participants)
    return [
        timed(viewers[number].rows(), np.arange(len(viewers[number].x), dtype=np.float64) * _SAMPLE_S)
        for number in chosen.tolist()
    ]


def film_course(participants: int, seed: int) -> list[Columns]:
    """Return the time courses of simulated viewers of a film of five scenes, a cut every 2.2 s."""
    tracker = TRACKERS[TRACKER]
    found = []
    for person in Population(seed).observers(participants):
        today, shots = person.on_day(1), []
        for shot in range(SHOTS):
            own = record(today, scene(seed, shot), tracker, SHOT_S, tracker.geometry)
            shots.append({"x": own.x, "y": own.y, "valid": own.tracked, "t": own.t - own.t[0] + shot * SHOT_S})
        rows = {name: np.concatenate([shot[name] for shot in shots]) for name in shots[0]}
        found.append(timed(rows, rows["t"]))
    return found


def timed(rows: Columns, times: FloatArray) -> Columns:
    """Return gaze with its times, as one recording that begins at 0 s."""
    start = {"t": np.zeros(1), "x": np.full(1, np.nan), "y": np.full(1, np.nan), "valid": np.zeros(1, dtype=np.bool_)}
    found = {name: np.concatenate([start[name], {**rows, "t": times}[name]]) for name in start}
    return {**found, "session": _same("1", found), "trial": _same("1", found)}


def _bin(grid: Grid, rows: Columns, begin: float, end: float) -> FloatArray:
    here = (rows["t"] >= begin) & (rows["t"] < end)
    return dwell(grid, {name: rows[name][here] for name in ("x", "y", "valid")})


def _true(dwells: list[list[FloatArray]], plan: StudyPlan | MoviePlan) -> FloatArray:
    maps = np.array([np.mean(people, axis=0) for people in dwells])
    return render(maps.reshape(-1, *plan.grid.shape), plan.blur_cells)


def _outcome(
    participants: int, epsilon: float, theory: float, made: list[FloatArray], true: FloatArray, forecast: Forecast
) -> JointOutcome:
    mean = true.mean(axis=0)
    cc = tuple(residual_correlation(map_, own, mean) for map_, own in zip(made, true, strict=True))
    return JointOutcome(participants, len(true), epsilon, theory, cc, forecast)


def _same(word: str, rows: Columns) -> np.ndarray:
    return np.full(len(rows["x"]), word, dtype=object)
