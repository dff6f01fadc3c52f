# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What feature series still tell.

Which document was read, which group a participant belongs to, who the participant is.

As Bozkir 2020 does it: a support vector machine with radial kernel, C = 1 and automatic scale, on features normalised
by the training participants, leaving one participant out at a time, every tenth window; with a majority vote over a
participant's windows and without. A participant is recognised in the release of one document after training on those of
the others.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gazeveil.arrays import FloatArray
from gazeveil.errors import InputError, needing

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
