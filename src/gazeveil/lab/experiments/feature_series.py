# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Feature series to judge releases on, of simulated readers and EyeTribe runs, and what classifiers read off them.

Public participants make the design; private participants are released. They are never the same. For simulated readers
the public ones also read other documents, so that the design has not seen the documents that are released.

Which document was read, which group a participant belongs to, who the participant is.

As Bozkir 2020 does it: a support vector machine with radial kernel, C = 1 and automatic scale, on features normalised
by the training participants, leaving one participant out at a time, every tenth window; with a majority vote over a
participant's windows and without. A participant is recognised in the release of one document after training on those of
the others.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gazeveil import FeatureTable
from gazeveil.arrays import FloatArray
from gazeveil.errors import InputError, needing
from gazeveil.features.design import HAAR, Design
from gazeveil.features.design_learning import learn
from gazeveil.features.extraction import extract_corpus
from gazeveil.features.feature_list import declared_ranges
from gazeveil.features.ranges import Ranges
from gazeveil.features.series import Panel, panel_of
from gazeveil.gaze.corpus import Corpus
from gazeveil.gaze.recording import Recording
from gazeveil.lab.datasets import EYETRIBE_PUPIL, eyetribe
from gazeveil.simulate.readers import DOCUMENTS, Document, ReadingStudy

CHOSEN: Final = (
    "fixations_per_s", "saccades_per_s", "large_share", "right_share", "saccades_per_fixation", "amplitude_mean",
    "amplitude_var", "fixation_duration_mean", "fixation_duration_max", "spread_x_mean", "pupil_mean_of_means",
    "blinks_per_s", "words2_distinct",
)  # fmt: skip
"""Thirteen of the 52, of all kinds, fixed in advance."""

PUBLIC_SEED, PRIVATE_SEED = 101, 202


@dataclass(frozen=True, slots=True, eq=False)
class People:
    """One data set, split.

    Attributes:
        name: What it is called.
        ranges: The declared ranges.
        design: Learnt from the public half.
        wavelets: The same with Haar wavelets over time instead of cosines.
        public: The public half's series, participant by step by feature, from 0 to 1.
        private: The private half's, by task.
        groups: Which of two groups the private participants of a task belong to, where that is known.
    """

    name: str
    ranges: Ranges
    design: Design
    wavelets: Design
    public: np.ndarray
    private: dict[str, np.ndarray]
    groups: tuple[str, ...]

    @property
    def steps(self) -> int:
        """How long a series is."""
        return self.design.steps


def other_documents() -> tuple[Document, ...]:
    """Return documents that are none of the three: half way between two of them, and beyond them."""
    comic, newspaper, textbook = DOCUMENTS
    return (
        _between("leaflet", comic, newspaper, 0.5),
        _between("magazine", newspaper, textbook, 0.5),
        _between("schoolbook", comic, textbook, 0.5),
        _between("form", newspaper, comic, -0.4),
        _between("novel", textbook, newspaper, -0.4),
    )


def readers(private: int = 100, public: int = 40, seconds: float = 600.0, names: tuple[str, ...] = CHOSEN) -> People:
    """Return simulated readers of a comic, a newspaper and a textbook; public ones read five other documents."""
    ranges = declared_ranges(unit="deg").only(names)
    steps = int((seconds - 30.0) / 0.5) + 1
    outside = _table(ReadingStudy(public, seconds, documents=other_documents(), seed=PUBLIC_SEED))
    inside = _table(ReadingStudy(private, seconds, seed=PRIVATE_SEED))
    first = panel_of(outside, ranges, steps)
    fill = first.values.mean(axis=(0, 1))
    open_half = panel_of(outside, ranges, steps, fill)
    tasks, source = list(by_task(open_half).values()), f"{public} simulated readers of five other documents"
    design, wavelets = learn(tasks, ranges, source), learn(tasks, ranges, source, HAAR)
    panel = panel_of(inside, ranges, steps, design.mean)
    study = ReadingStudy(private, seconds, seed=PRIVATE_SEED)
    groups = study.groups()
    some = [key.observer for key, task in zip(panel.keys, panel.tasks, strict=True) if task == panel.tasks[0]]
    group_of = tuple(groups[who] for who in some)
    return People("simulated readers", ranges, design, wavelets, open_half.values, by_task(panel), group_of)


def eyetribe_people(path: Path, names: tuple[str, ...] = CHOSEN) -> People:
    """Return each participant's first EyeTribe run: every second participant is public, the others private."""
    table = extract_corpus(Corpus.of(first_runs(path))).table
    ranges = declared_ranges(unit="deg", pupil_range=EYETRIBE_PUPIL).only(names)
    steps = int(np.median([len(series.values) for series in table.series()]))
    first = panel_of(table, ranges, steps)
    even = np.arange(len(first.keys)) % 2 == 0
    fill = first.values[even].mean(axis=(0, 1))
    panel = panel_of(table, ranges, steps, fill)
    public, source = panel.values[even], "EyeTribe runs, every second participant"
    design, wavelets = learn([public], ranges, source), learn([public], ranges, source, HAAR)
    return People("EyeTribe runs", ranges, design, wavelets, public, {"attention": panel.values[~even]}, ())


def first_runs(path: Path) -> list[Recording]:
    """Return each participant's first EyeTribe run."""
    found: dict[str, Recording] = {}
    for recording in eyetribe(path):
        found.setdefault(recording.observer, recording)
    return list(found.values())


def by_task(panel: Panel) -> dict[str, np.ndarray]:
    """Return the series of every task, by name."""
    tasks = np.array(panel.tasks)
    return {task: panel.values[tasks == task] for task in sorted(set(panel.tasks))}


def _table(study: ReadingStudy) -> FeatureTable:
    return extract_corpus(Corpus.of(study.recordings()), groups=study.groups()).table


def _between(name: str, first: Document, second: Document, share: float) -> Document:
    """Return a document part of the way from one to another, or beyond the first if the share is negative."""

    def mixed(field: str, low: float, high: float) -> float:
        value = getattr(first, field) + share * (getattr(second, field) - getattr(first, field))
        return float(min(max(value, low), high))

    return replace(
        first,
        name=name,
        lines=round(mixed("lines", 2, 20)),
        line_deg=mixed("line_deg", 4, 18),
        forward_deg=mixed("forward_deg", 1.5, 3),
        fixation_factor=mixed("fixation_factor", 0.85, 1.3),
        regressions=mixed("regressions", 0.05, 0.25),
        skips=mixed("skips", 0, 0.1),
        pictures=mixed("pictures", 0, 0.9),
        brightness=mixed("brightness", 0.3, 0.8),
    )


# --- What feature series still tell.


EVERY = 10
TREES = 100
LEARNERS: Final = ("nearest", "svm", "forest")
"""Who tells participants apart."""


@dataclass(frozen=True, slots=True)
class Accuracy:
    """How often a label was told right.

    Attributes:
        windows: Of single windows.
        voted: Of whole series, by the majority of their windows.
        chance: By guessing.
    """

    windows: float
    voted: float
    chance: float


class Told(NamedTuple):
    """What was told of one series: whose it is, the share of windows that are right, and whether their majority is."""

    person: int
    windows: float
    voted: float


def leave_one_person_out(
    series: FloatArray,
    labels: NDArray[np.int64],
    people: NDArray[np.int64],
    every: int = EVERY,
    asked: FloatArray | None = None,
) -> Accuracy:
    """Return how well a label of a series is told by participants who were not trained on.

    Args:
        series: Series by steps by features.
        labels: The label of every series.
        people: Whose series each is.
        every: Which windows are taken.
        asked: What is asked about, if that is not the release itself: the same participants and labels.
    """
    return _summed(told_of_strangers(series, labels, people, every, asked), 1 / len(np.unique(labels)))


def told_of_strangers(
    series: FloatArray,
    labels: NDArray[np.int64],
    people: NDArray[np.int64],
    every: int = EVERY,
    asked: FloatArray | None = None,
) -> list[Told]:
    """Return the same series by series."""
    svm, some, found = _learner("svm"), series[:, ::every], []
    questions = (series if asked is None else asked)[:, ::every]
    for person in np.unique(people):
        test = people == person
        rows, names = _rows(some[~test], labels[~test])
        model = svm.fit(rows, names)
        of_person = zip(questions[test], labels[test], strict=True)
        found += [_told(model, int(person), one, label) for one, label in of_person]
    return found


def identify(
    series: FloatArray,
    people: NDArray[np.int64],
    documents: NDArray[np.int64],
    learner: str,
    every: int = EVERY,
    asked: FloatArray | None = None,
) -> Accuracy:
    """Return how well a participant is recognised in the release of a document, having been seen in those of others.

    Every series is a release of its own, with noise of its own. Training on one half of a release and testing on the
    other would recognise the noise, which in smooth releases is the same from beginning to end, instead of the
    participant.

    Args:
        series: Series by steps by features.
        people: Whose series each is.
        documents: What was read, or in which session: left out one at a time.
        learner: ``svm``, ``nearest`` or ``forest``.
        every: Which windows are taken.
        asked: What a participant is recognised in, if that is not the release itself: the same participants and
            documents.

    Raises:
        InputError: If there are fewer than two documents, or a participant has not read all of them.
    """
    return _summed(identified(series, people, documents, learner, every, asked), 1 / len(np.unique(people)))


def identified(
    series: FloatArray,
    people: NDArray[np.int64],
    documents: NDArray[np.int64],
    learner: str,
    every: int = EVERY,
    asked: FloatArray | None = None,
) -> list[Told]:
    """Return the same series by series.

    Raises:
        InputError: If there are fewer than two documents, or a participant has not read all of them.
    """
    kinds = np.unique(documents)
    if len(kinds) < 2 or any(set(people[documents == kind]) != set(people) for kind in kinds):
        raise InputError("recognising participants needs series of every participant on at least two documents")
    found = []
    for kind in kinds:
        test = documents == kind
        rows, names = _rows(series[~test, ::every], people[~test])
        model = _learner(learner).fit(rows, names)
        of_kind = zip((series if asked is None else asked)[test, ::every], people[test], strict=True)
        found += [_told(model, int(person), one, person) for one, person in of_kind]
    return found


def _told(model: Any, person: int, one: FloatArray, label: int) -> Told:
    said = model.predict(one)
    return Told(person, float(np.mean(said == label)), float(np.argmax(np.bincount(said)) == label))


def _summed(found: list[Told], chance: float) -> Accuracy:
    return Accuracy(
        float(np.mean([one.windows for one in found])), float(np.mean([one.voted for one in found])), chance
    )


def _rows(series: FloatArray, labels: NDArray[np.int64]) -> tuple[FloatArray, NDArray[np.int64]]:
    return series.reshape(-1, series.shape[2]), np.repeat(labels, series.shape[1])


def _learner(name: str) -> Any:
    with needing("scikit-learn", "attacks", "telling participants apart"):
        from sklearn.ensemble import RandomForestClassifier  # noqa: PLC0415
        from sklearn.neighbors import KNeighborsClassifier  # noqa: PLC0415
        from sklearn.pipeline import make_pipeline  # noqa: PLC0415
        from sklearn.preprocessing import StandardScaler  # noqa: PLC0415
        from sklearn.svm import SVC  # noqa: PLC0415
    models = {
        "svm": SVC(C=1.0, kernel="rbf", gamma="scale"),
        "nearest": KNeighborsClassifier(5),
        "forest": RandomForestClassifier(TREES, random_state=0),
    }
    return make_pipeline(StandardScaler(), models[name])
