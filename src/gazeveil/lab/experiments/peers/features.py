# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Feature series behind baselines: who is still recognised, and which document was read.

Series are scaled to declared ranges. Each document (or run) is protected by itself, as published, with groups or noise
of its own. Recognisers and votes are those of `gazeveil.lab.experiments.bozkir.classes`:

- **published**: trained on protected series of other documents, asked about raw ones (David-John 2022).
- **both**: trained and asked behind the baseline.

Which document was read is asked about raw series, after training on the protected ones of other participants: behind
k-same a participant's own protected series is also that of someone who was trained on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gazeveil.arrays import FloatArray, PlainRow, Tell, silent
from gazeveil.features.extraction import extract_corpus
from gazeveil.features.feature_list import declared_ranges
from gazeveil.features.ranges import Ranges
from gazeveil.features.series import panel_of
from gazeveil.features.table import FeatureTable
from gazeveil.gaze.corpus import Corpus
from gazeveil.lab.baselines.k_same import DatasetSeries
from gazeveil.lab.datasets.eyetribe import EYETRIBE_PUPIL
from gazeveil.lab.experiments.bozkir.classes import EVERY, identify, leave_one_person_out
from gazeveil.lab.experiments.feature_people import CHOSEN
from gazeveil.lab.experiments.peers.naming import FEATURE_PEERS, feature_peer
from gazeveil.lab.experiments.usefulness.feature_recognition import RUNS, first_runs_of_everybody
from gazeveil.lab.utility.series import range_error
from gazeveil.noise import NoiseSource
from gazeveil.simulate.reading import ReadingStudy

LEARNERS: Final = ("svm", "forest")
PEOPLE, SECONDS = 20, 300.0


@dataclass(frozen=True, slots=True, eq=False)
class SeriesSet:
    """All participants' series on every document.

    Attributes:
        name: Short name.
        title: What they are.
        values: Series by steps by features, from 0 to 1.
        people: Whose series each is.
        documents: What was read, or which run it was.
        has_tasks: Whether documents differ, so that one can ask which was read.
    """

    name: str
    title: str
    values: FloatArray
    people: NDArray[np.int64]
    documents: NDArray[np.int64]
    has_tasks: bool


@dataclass(frozen=True, slots=True)
class Row(PlainRow):
    """One baseline on one set.

    Attributes:
        people: Name of the set.
        peer: The baseline as it was named.
        claimed: What its authors state; empty for none.
        guarantee: What we can say about it.
        identified: By recogniser and way of attack, by the majority of a series' windows.
        chance: By guessing.
        document: How often a raw series' document is found, of participants who were not trained on; NaN without
            documents.
        error: Root mean squared error, as a part of the declared ranges.
    """

    people: str
    peer: str
    claimed: str
    guarantee: str
    identified: dict[str, dict[str, float]]
    chance: float
    document: float
    error: float


def readers(people: int = PEOPLE, seconds: float = SECONDS, seed: int = 202) -> SeriesSet:
    """Return simulated readers of a comic, a newspaper and a textbook."""
    study = ReadingStudy(people, seconds, seed=seed)
    table = extract_corpus(Corpus.of(study.recordings())).table
    steps = int((seconds - 30.0) / 0.5) + 1
    title = f"{people} simulated readers of three documents, {seconds:g} s each"
    return _set("readers", title, table, declared_ranges(unit="deg").only(CHOSEN), steps, has_tasks=True)


def eyetribe_runs(path: Path, people: int = 30) -> SeriesSet:
    """Return three runs each of the participants before an EyeTribe (Ziman et al.).

    Raises:
        InputError: If the file is not there.
        FileFormatError: If it is not the table we expect.
    """
    table = extract_corpus(Corpus.of(first_runs_of_everybody(path)[: RUNS * people])).table
    steps = int(np.median([len(series.values) for series in table.series()]))
    ranges = declared_ranges(unit="deg", pupil_range=EYETRIBE_PUPIL).only(CHOSEN)
    title = f"{len(table.observers)} participants, three runs of 4.5 min at an EyeTribe (Ziman et al.)"
    return _set("eyetribe", title, table, ranges, steps, has_tasks=False)


def _set(name: str, title: str, table: FeatureTable, ranges: Ranges, steps: int, *, has_tasks: bool) -> SeriesSet:
    fill = panel_of(table, ranges, steps).values.mean(axis=(0, 1))
    panel = panel_of(table, ranges, steps, fill)
    people = np.searchsorted(panel.observers, [key.observer for key in panel.keys])
    labels = panel.tasks if has_tasks else tuple(key.session for key in panel.keys)
    numbers = np.searchsorted(sorted(set(labels)), labels) if has_tasks else _turns(people)
    return SeriesSet(name, title, panel.values, people, numbers, has_tasks)


def _turns(people: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return for every series which of its participant's it is."""
    return np.array([int(np.sum(people[:at] == person)) for at, person in enumerate(people)], dtype=np.int64)


def measure(
    one: SeriesSet,
    peers: Sequence[str] = FEATURE_PEERS,
    *,
    learners: Sequence[str] = LEARNERS,
    every: int = EVERY,
    seed: int = 1,
    tell: Tell = silent,
) -> list[Row]:
    """Measure baselines on a set of series.

    Raises:
        UnknownName: If a baseline is unknown.
        OptionError: If a baseline has no such parameter.
        InputError: If there are too few participants for a baseline.
    """
    chosen = {name: feature_peer(name, *one.values.shape[1:]) for name in peers}
    rows = []
    for done, (name, peer) in enumerate(chosen.items()):
        tell(done, len(chosen))
        released = one.values.copy()
        if peer is not None:
            for document in np.unique(one.documents):
                mine = one.documents == document
                noise = NoiseSource.seeded(seed).spawn(f"{name}/{document}")
                released[mine] = peer.perturb(one.values[mine], noise)
        found = {}
        for learner in learners:
            known = (released, one.people, one.documents, learner, every)
            found[learner] = {"published": identify(*known, asked=one.values).voted, "both": identify(*known).voted}
        document = np.nan
        if one.has_tasks:
            document = leave_one_person_out(released, one.documents, one.people, every, one.values).voted
        rows.append(
            Row(
                one.name,
                name,
                peer.claimed if isinstance(peer, DatasetSeries) else getattr(peer, "claimed", ""),
                "none" if peer is None else peer.guarantee.in_words(),
                found,
                1 / len(np.unique(one.people)),
                float(document),
                range_error(one.values, released),
            )
        )
    return rows
