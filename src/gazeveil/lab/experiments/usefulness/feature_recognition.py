# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Are participants still recognised in released series? EyeTribe runs.

Trained on some runs of a participant, tested on another.

Every run is a release with noise of its own. Where the guarantee is for a participant, ε is for all runs of the
participant together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from gazeveil.arrays import FloatArray, Tell, silent
from gazeveil.features.design import Design
from gazeveil.features.design_learning import learn
from gazeveil.features.extraction import extract_corpus
from gazeveil.features.feature_list import declared_ranges
from gazeveil.features.participant_series import ParticipantSeries
from gazeveil.features.series import SERIES_MECHANISMS, panel_of
from gazeveil.features.series_release import ParticipantRelease
from gazeveil.gaze.corpus import Corpus
from gazeveil.gaze.recording import Recording
from gazeveil.lab.datasets.eyetribe import EYETRIBE_PUPIL, eyetribe
from gazeveil.lab.experiments.bozkir.classes import LEARNERS, identify
from gazeveil.lab.experiments.feature_people import CHOSEN
from gazeveil.lab.experiments.usefulness.features import DELTA, STRETCH
from gazeveil.noise import NoiseSource

RUNS: Final = 3


def run(
    path: Path,
    *,
    epsilons: Sequence[float],
    every: int = 10,
    seed: int = 1,
    tell: Tell = silent,
) -> list[dict[str, Any]]:
    """Return how often participants are recognised: a row for every method and ε, raw series first.

    Every second participant is public and makes the design; the others are released and recognised.
    """
    noise = NoiseSource.seeded(seed)
    found = eyetribe_runs(path)
    series, people, runs, design = found.series, found.people, found.runs, found.design
    rows = [_row("raw", None, series, people, runs, every)]
    shared: dict[str, Any] = {"steps": design.steps, "features": len(design.ranges), "kept": 1}
    for done, epsilon in enumerate(epsilons):
        tell(done, len(epsilons))
        methods = {
            "fpa, whole participant": SERIES_MECHANISMS["fpa"](epsilon=epsilon, **shared),
            "low-rank (ours), whole participant": ParticipantSeries(epsilon=epsilon, delta=DELTA, design=design),
            f"low-rank (ours), any {STRETCH} steps": ParticipantSeries(
                epsilon=epsilon, delta=DELTA, design=design, stretch=min(STRETCH, design.steps)
            ),
        }
        for title, mechanism in methods.items():
            released = ParticipantRelease(mechanism=mechanism).each(RUNS).perturb(series, noise)
            rows.append(_row(title, epsilon, released, people, runs, every))
    return rows


@dataclass(frozen=True, slots=True, eq=False)
class Runs:
    """Series of participants in several runs each.

    Attributes:
        series: Series by steps by features.
        people: Whose each is, as a number.
        runs: Of which run each is.
        design: Learnt from other participants.
    """

    series: FloatArray
    people: NDArray[np.int64]
    runs: NDArray[np.int64]
    design: Design


def eyetribe_runs(path: Path) -> Runs:
    """Return three EyeTribe runs of every second participant; the others are public and make the design."""
    ranges = declared_ranges(unit="deg", pupil_range=EYETRIBE_PUPIL).only(CHOSEN)
    table = extract_corpus(Corpus.of(first_runs_of_everybody(path))).table
    steps = int(np.median([len(series.values) for series in table.series()]))
    who = np.array([series.key.observer for series in table.series()])
    names = np.unique(who)
    number = np.searchsorted(names, who)
    is_public = number % 2 == 0
    fill = panel_of(table, ranges, steps).values[is_public].mean(axis=(0, 1))
    values = panel_of(table, ranges, steps, fill).values
    design = learn([values[is_public]], ranges, "EyeTribe runs, every second participant")
    series, people = values[~is_public], number[~is_public] // 2
    runs = np.tile(np.arange(RUNS), len(np.unique(people)))
    return Runs(series, people, runs, design)


def first_runs_of_everybody(path: Path) -> list[Recording]:
    """Return the first runs of everyone who has enough that last a window, in order."""
    found: dict[str, list[Recording]] = {}
    for recording in eyetribe(path):
        mine = found.setdefault(recording.observer, [])
        if len(mine) < RUNS and recording.duration > 60.0:
            mine.append(recording)
    return [recording for runs in found.values() if len(runs) == RUNS for recording in runs]


def _row(
    title: str,
    epsilon: float | None,
    series: FloatArray,
    people: NDArray[np.int64],
    runs: NDArray[np.int64],
    every: int,
) -> dict[str, Any]:
    told = {learner: asdict(identify(series, people, runs, learner, every)) for learner in LEARNERS}
    return {"method": title, "epsilon": epsilon, "people": len(np.unique(people)), **told}
