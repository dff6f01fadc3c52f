# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Whose feature series are released.

Simulated readers, participants before a desktop tracker, or a corpus of one's own.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gazeveil.arrays import FloatArray, IntArray
from gazeveil.errors import InputError
from gazeveil.features.design import Design
from gazeveil.features.design_learning import learn
from gazeveil.features.extraction import extract_corpus
from gazeveil.features.feature_list import declared_ranges
from gazeveil.features.series import panel_of
from gazeveil.gaze.corpus import Corpus
from gazeveil.lab.datasets.eyetribe import EYETRIBE_FILE
from gazeveil.lab.experiments.feature_people import CHOSEN
from gazeveil.lab.experiments.feature_people import readers as simulated_readers
from gazeveil.lab.experiments.grid.contract import Protected, Source
from gazeveil.lab.experiments.usefulness.feature_recognition import eyetribe_runs
from gazeveil.noise import NoiseSource
from gazeveil.registry import Registry

SOURCES: Registry[Source] = Registry("set of feature series")


@dataclass(frozen=True, eq=False)
class SeriesData:
    """Feature series as parts of their declared ranges.

    Attributes:
        name: Short name.
        words: What they are.
        series: Series by steps by features.
        people: Whose each is, as a number.
        tasks: Which document, or session, as a number.
        design: Learnt from other participants, who are public.
        groups: The group of each series' participant, as a number; None where there are none.
        what: What tasks are: documents, whose kind is worth knowing, or sessions.
        public: Whether nobody was recorded.
    """

    name: str
    words: str
    series: FloatArray
    people: IntArray
    tasks: IntArray
    design: Design
    groups: IntArray | None = None
    what: str = "sessions"
    public: bool = False

    @cached_property
    def each(self) -> int:
        """How many series a participant has."""
        return int(np.bincount(self.people).max())

    def perturbed(self, protected: Protected, values: FloatArray, noise: NoiseSource) -> FloatArray:
        """Return series behind a mechanism."""
        return values if protected.mechanism is None else np.asarray(protected.mechanism.perturb(values, noise))


@lru_cache(maxsize=4)
def released_series(data: SeriesData, protected: Protected, seed: int) -> FloatArray:
    """Return all series behind a mechanism."""
    noise, released = NoiseSource.seeded(seed).spawn("series"), np.empty_like(data.series)
    for task in np.unique(data.tasks):  # one series a person at a time: some mechanisms mix people
        of_task = data.tasks == task
        released[of_task] = data.perturbed(protected, data.series[of_task], noise)
    return released


def readers(data: Path | None, people: int = 20, seconds: float = 120.0) -> SeriesData:
    """Return simulated readers of a comic, a newspaper and a textbook."""
    del data
    found = simulated_readers(people, max(10, people // 2), seconds)
    tasks = list(found.private.values())
    numbers = np.unique(np.array(found.groups), return_inverse=True)[1]
    return SeriesData(
        "readers",
        f"{people} simulated readers of {len(tasks)} documents, {seconds:g} s each",
        np.concatenate(tasks),
        np.tile(np.arange(people), len(tasks)),
        np.repeat(np.arange(len(tasks)), people),
        found.design,
        np.tile(numbers, len(tasks)),
        what="documents",
        public=True,
    )


def eyetribe(data: Path | None, people: int = 0) -> SeriesData:
    """Return three runs each of participants before a desktop tracker; as many others are public."""
    found = eyetribe_runs(SOURCES["eyetribe"].path(data) or Path())
    kept: NDArray[Any] = found.people < people if people else np.ones(len(found.people), dtype=np.bool_)
    count = len(np.unique(found.people[kept]))
    words = f"{count} participants before a desktop tracker, three runs each (EyeTribe)"
    return SeriesData("eyetribe", words, found.series[kept], found.people[kept], found.runs[kept], found.design)


SOURCES.register("readers")(Source(readers))
SOURCES.register("eyetribe")(Source(eyetribe, str(EYETRIBE_FILE)))


def of_corpus(path: Path, people: int = 0) -> SeriesData:
    """Return the series of a corpus of one's own; every second participant is public and makes the design."""
    table = extract_corpus(Corpus.open(path)).table
    ranges = declared_ranges(unit="deg").only([name for name in CHOSEN if not name.startswith("pupil")])
    steps = int(np.median([len(one.values) for one in table.series()]))
    keys = [one.key for one in table.series()]
    names = sorted({key.observer for key in keys})[: 2 * people or None]
    who = np.array([names.index(key.observer) if key.observer in names else -1 for key in keys])
    tasks = np.unique([f"{key.stimulus}/{key.session}/{key.trial}" for key in keys], return_inverse=True)[1]
    if len(names) < 4:
        raise InputError(f"{path} has {len(names)} participants; four are needed, half of them public")
    is_public = (who >= 0) & (who % 2 == 0)
    fill = panel_of(table, ranges, steps).values[is_public].mean(axis=(0, 1))
    values = panel_of(table, ranges, steps, fill).values
    design = learn([values[is_public]], ranges, f"every second participant of {path.name}")
    kept = (who >= 0) & ~is_public
    words = f"{path.name}: {len(np.unique(who[kept]))} participants"
    return SeriesData(path.name, words, values[kept], who[kept] // 2, tasks[kept], design)
