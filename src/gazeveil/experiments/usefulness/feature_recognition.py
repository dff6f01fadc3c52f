# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Are people still recognised in released series? EyeTribe runs: trained on some runs of a person, tested on another.

Every run is a release with noise of its own. Where the promise is for a person, ε is for all runs of the person
together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

import numpy as np

from gazeveil.datasets.eyetribe import EYETRIBE_PUPIL, eyetribe
from gazeveil.experiments.bozkir.classes import identify
from gazeveil.experiments.feature_people import CHOSEN
from gazeveil.experiments.usefulness.features import DELTA, STRETCH
from gazeveil.features.declared import declared_ranges
from gazeveil.features.extract import extract_corpus
from gazeveil.features.learning import learn
from gazeveil.features.own import OwnSeries
from gazeveil.features.panel import panel_of
from gazeveil.features.publish import OwnRelease
from gazeveil.features.series import SERIES_MECHANISMS
from gazeveil.gaze.corpus import Corpus
from gazeveil.gaze.recording import Recording
from gazeveil.noise import NoiseSource
from gazeveil.types import FloatArray, Tell, silent

RUNS: Final = 3
LEARNERS: Final = ("nearest", "svm", "forest")


def run(
    path: Path,
    *,
    epsilons: Sequence[float],
    every: int = 10,
    seed: int = 1,
    tell: Tell = silent,
) -> list[dict[str, Any]]:
    """Return how often people are recognised: a row for every method and ε, raw series first.

    Every second person is public and makes the design; the others are released and recognised.
    """
    noise = NoiseSource.seeded(seed)
    ranges = declared_ranges(unit="deg", pupil_range=EYETRIBE_PUPIL).only(CHOSEN)
    table = extract_corpus(Corpus.of(first_runs_of_everybody(path))).table
    steps = int(np.median([len(series.values) for series in table.series()]))
    who = np.array([series.key.observer for series in table.series()])
    names = np.unique(who)
    number = np.searchsorted(names, who)
    is_public = number % 2 == 0
    fill = panel_of(table, ranges, steps).values[is_public].mean(axis=(0, 1))
    values = panel_of(table, ranges, steps, fill).values
    design = learn([values[is_public]], ranges, "EyeTribe runs, every second person")
    series, people = values[~is_public], number[~is_public] // 2
    runs = np.tile(np.arange(RUNS), len(np.unique(people)))
    rows = [_row("raw", None, series, people, runs, every)]
    shared: dict[str, Any] = {"steps": steps, "features": len(ranges), "kept": 1}
    for done, epsilon in enumerate(epsilons):
        tell(done, len(epsilons))
        methods = {
            "fpa, whole person": SERIES_MECHANISMS["fpa"](epsilon=epsilon, **shared),
            "low-rank (ours), whole person": OwnSeries(epsilon=epsilon, delta=DELTA, design=design),
            f"low-rank (ours), any {STRETCH} steps": OwnSeries(
                epsilon=epsilon, delta=DELTA, design=design, stretch=min(STRETCH, steps)
            ),
        }
        for title, mechanism in methods.items():
            released = OwnRelease(mechanism=mechanism).each(RUNS).perturb(series, noise)
            rows.append(_row(title, epsilon, released, people, runs, every))
    return rows


def first_runs_of_everybody(path: Path) -> list[Recording]:
    """Return the first runs of everybody who has enough that last a window, in order."""
    found: dict[str, list[Recording]] = {}
    for recording in eyetribe(path):
        mine = found.setdefault(recording.observer, [])
        if len(mine) < RUNS and recording.duration > 60.0:
            mine.append(recording)
    return [recording for runs in found.values() if len(runs) == RUNS for recording in runs]


def _row(
    title: str, epsilon: float | None, series: FloatArray, people: np.ndarray, runs: np.ndarray, every: int
) -> dict[str, Any]:
    told = {learner: asdict(identify(series, people, runs, learner, every)) for learner in LEARNERS}
    return {"method": title, "epsilon": epsilon, "people": len(np.unique(people)), **told}
