# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Figures 1 to 4 of Bozkir et al. 2020, measured again on simulated readers of the same three kinds of documents.

The paper's own data are not used: these are simulated participants, so levels differ and orderings are compared. ε on
its axis is 48 times the ε of a feature (erratum B3). What the published mechanisms really guarantee under declared
ranges is printed beside it, and proven releases are shown at the same number as an honest, observer-level ε.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

import numpy as np

from gazeveil.arrays import FloatArray, Tell, silent
from gazeveil.features.design_learning import learn
from gazeveil.features.extraction import extract_corpus
from gazeveil.features.feature_list import INFORMATIVE, declared_ranges
from gazeveil.features.participant_series import ParticipantSeries
from gazeveil.features.series import SERIES_MECHANISMS, panel_of
from gazeveil.gaze.corpus import Corpus
from gazeveil.lab.as_published.bozkir_series import AsPublished, LaplaceAsPublished, best_kept
from gazeveil.lab.experiments.feature_series import (
    PRIVATE_SEED,
    PUBLIC_SEED,
    Accuracy,
    identify,
    leave_one_person_out,
    other_documents,
)
from gazeveil.lab.utility.releases import correlated_factor, correlation_over_time, nmse, range_error
from gazeveil.noise import NoiseSource
from gazeveil.simulate.reading import ReadingStudy

EPSILONS: Final = (0.01, 0.05, 0.1, 0.5, 1.0)
"""Of one feature; the article's axis shows 48 times these."""

METHODS: Final = (
    ("lpa-as-published", None), ("fpa-as-published", None), ("c-fpa-as-published", 64), ("c-fpa-as-published", 128),
    ("dc-fpa-as-published", 32), ("dc-fpa-as-published", 64),
)  # fmt: skip
SHOWN: Final = "large_share"
LEARNERS: Final = ("nearest", "svm", "forest")

AUTHORS: Final[Mapping[str, tuple[float, float, float]]] = {
    "LPA": (2.5e9, 2.5e8, 2.5e7),
    "FPA": (1.0e12, 1.3e10, 1.3e8),
    "C-FPA 64": (5.6e7, 3.7e5, 2.4e3),
    "C-FPA 128": (4.3e7, 4.0e5, 5.0e3),
    "DC-FPA 32": (3.8e6, 3.7e5, 4.2e4),
    "DC-FPA 64": (1.3e7, 3.0e6, 1.5e5),
}
"""NMSE that the authors published for the comic, at ε of a feature of .01, .1 and 1."""


@dataclass(frozen=True, slots=True, eq=False)
class Readers:
    """Series of simulated readers.

    Attributes:
        series: Reader and document by step by feature, from 0 to 1.
        people: Who.
        documents: Which document, as a number.
        groups: Which group, as a number.
        names: The documents.
        features: The features.
    """

    series: FloatArray
    people: np.ndarray
    documents: np.ndarray
    groups: np.ndarray
    names: tuple[str, ...]
    features: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Figures:
    """All that is shown.

    Attributes:
        correlations: Figure 1: document, whether differences are meant, correlation over steps.
        factors: ε′/ε of series and of differences, by document.
        errors: Figure 2: one row a method, document and ε.
        accuracies: Figures 3 and 4, and who is recognised.
    """

    correlations: list[tuple[str, bool, list[float]]]
    factors: dict[str, tuple[float, float]]
    errors: list[dict[str, Any]]
    accuracies: list[dict[str, Any]]

    def to_dict(self) -> dict[str, Any]:
        """Return all numbers as plain values."""
        return {
            "figure_1": [
                {"document": name, "differences": differences, "correlation": values}
                for name, differences, values in self.correlations
            ],
            "correlated_factor": {
                name: {"series": both[0], "differences": both[1]} for name, both in self.factors.items()
            },
            "figure_2": self.errors,
            "orderings": orderings(self.errors),
            "figures_3_4": self.accuracies,
            "authors_nmse_comic": {name: list(values) for name, values in AUTHORS.items()},
        }


def orderings(errors: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return, for every ε that the authors published numbers for, which mechanism was best for the comic, and so on.

    Theirs by their error, ours by the same and by the stable one.
    """
    rows = []
    for column, epsilon in enumerate((0.01, 0.1, 1.0)):
        mine = {
            row["method"].removesuffix(", as published"): row
            for row in errors
            if row["document"] == "comic" and row["method"].endswith("as published")
            and math.isclose(row["stated_epsilon"], 48 * epsilon)
        }  # fmt: skip
        if mine:
            rows.append(
                {
                    "stated_epsilon": 48 * epsilon,
                    "authors": _ranked({name: values[column] for name, values in AUTHORS.items()}),
                    "ours_by_nmse": _ranked({name: row["nmse"] for name, row in mine.items()}),
                    "ours_by_range_error": _ranked({name: row["range_error"] for name, row in mine.items()}),
                }
            )
    return rows


def _ranked(errors: Mapping[str, float]) -> list[str]:
    return sorted(errors, key=errors.__getitem__)


def readers(people: int = 20, seconds: float = 600.0, seed: int = PRIVATE_SEED, *, public: bool = False) -> Readers:
    """Return simulated readers' 48 features; public ones read other documents."""
    study = ReadingStudy(people, seconds, documents=other_documents(), seed=PUBLIC_SEED) if public else None
    study = study or ReadingStudy(people, seconds, seed=seed)
    table = extract_corpus(Corpus.of(study.recordings()), groups=study.groups()).table
    ranges = declared_ranges(unit="deg").only(INFORMATIVE)
    steps = int((seconds - 30.0) / 0.5) + 1
    panel = panel_of(table, ranges, steps)
    names = tuple(sorted(set(panel.tasks)))
    observers, kinds = panel.observers, sorted(set(panel.groups))
    return Readers(
        panel.values,
        np.array([observers.index(key.observer) for key in panel.keys]),
        np.array([names.index(task) for task in panel.tasks]),
        np.array([kinds.index(group) for group in panel.groups]),
        names,
        INFORMATIVE,
    )


def run(
    *, people: int = 20, seconds: float = 600.0, runs: int = 5, every: int = 10, seed: int = 1,
    epsilons: Sequence[float] = EPSILONS, learners: Sequence[str] = LEARNERS, tell: Tell = silent,
) -> Figures:  # fmt: skip
    """Return all figures' numbers.

    Args:
        people: How many readers.
        seconds: How long each document is read.
        runs: Noisy runs in which the number of bins is searched; the article uses 100.
        every: Which windows classifiers see; the article uses every tenth.
        seed: Of the noise.
        epsilons: Of one feature.
        learners: Who recognises participants, beyond the article's figures; empty for nobody.
        tell: Called with the progress.
    """
    noise = NoiseSource.seeded(seed)
    private, public = readers(people, seconds), readers(people, seconds, public=True)
    todo = len(epsilons) * (len(METHODS) * len(private.names) + len(METHODS) + 2) + 4
    done = 0

    def step() -> None:
        nonlocal done
        done += 1
        tell(done, todo)

    correlations, factors = _correlations(private)
    step()
    errors, noisy = [], {}
    for epsilon in epsilons:
        for name, chunk in METHODS:
            rows, series = _published(private, name, chunk, epsilon, runs, noise, step)
            errors += rows
            noisy[(_title(name, chunk), epsilon)] = series
    accuracies = [{**_classified("raw", None, private.series, private, every, learners)}]
    step()
    for (title, epsilon), series in noisy.items():
        accuracies.append(_classified(f"{title}, as published", 48 * epsilon, series, private, every, learners))
        step()
    ranges = declared_ranges(unit="deg").only(INFORMATIVE)
    design = learn(
        [public.series[public.documents == kind] for kind in range(len(public.names))], ranges, "public readers"
    )
    for epsilon in epsilons:
        total = 48 * epsilon
        steps, features = private.series.shape[1:]
        sound = SERIES_MECHANISMS["fpa"](epsilon=total, steps=steps, features=features)
        for title, released in (
            ("FPA, corrected", sound.perturb(private.series, noise)),
            (
                "low-rank, proven",
                ParticipantSeries(epsilon=total, delta=1e-5, design=design).perturb(private.series, noise),
            ),
        ):
            accuracies.append(_classified(title, total, released, private, every, learners))
            errors += _errors(private, title, total, released, total)
            step()
    return Figures(correlations, factors, errors, accuracies)


def _correlations(private: Readers) -> tuple[list[tuple[str, bool, list[float]]], dict[str, tuple[float, float]]]:
    column = private.features.index(SHOWN)
    shown: list[tuple[str, bool, list[float]]] = []
    factors = {}
    for number, name in enumerate(private.names):
        series = private.series[private.documents == number][:, :, column]
        rises = np.diff(series, axis=1)
        shown.append((name, False, correlation_over_time(series).tolist()))
        shown.append((name, True, correlation_over_time(rises).tolist()))
        factors[name] = (correlated_factor(series), correlated_factor(rises))
    return shown, factors


def _published(
    private: Readers, name: str, chunk: int | None, epsilon: float, runs: int, noise: NoiseSource,
    step: Callable[[], None],
) -> tuple[list[dict[str, Any]], FloatArray]:  # fmt: skip
    """Return one published mechanism's errors, and the series clipped to their ranges, document by document."""
    steps, features = private.series.shape[1:]
    options: dict[str, Any] = {} if chunk is None else {"chunk": min(chunk, steps)}
    rows, released = [], np.empty_like(private.series)
    for number, document in enumerate(private.names):
        mine = private.documents == number
        series = private.series[mine]
        mechanism = SERIES_MECHANISMS[name](epsilon=epsilon, steps=steps, features=features, **options)
        if isinstance(mechanism, AsPublished):
            if not isinstance(mechanism, LaplaceAsPublished):
                mechanism = best_kept(mechanism, series, noise, runs)
            free = mechanism.unclipped(series, noise)
            released[mine] = np.clip(free, 0.0, 1.0)
            rows.append(
                {
                    "method": f"{_title(name, chunk)}, as published",
                    "document": document,
                    "stated_epsilon": 48 * epsilon,
                    "true_epsilon": _true(mechanism),
                    "nmse": _mean_nmse(series, free),
                    "range_error": range_error(series, released[mine]),
                    "kept": mechanism.kept,
                }
            )
        step()
    return rows, released


def _errors(private: Readers, title: str, stated: float, released: FloatArray, true: float) -> list[dict[str, Any]]:
    rows = []
    for number, document in enumerate(private.names):
        mine = private.documents == number
        rows.append(
            {
                "method": title, "document": document, "stated_epsilon": stated, "true_epsilon": true,
                "nmse": _mean_nmse(private.series[mine], released[mine]),
                "range_error": range_error(private.series[mine], released[mine]), "kept": None,
            }
        )  # fmt: skip
    return rows


def _true(mechanism: AsPublished) -> float | None:
    """Return what the noise would guarantee a participant under declared ranges.

    None where a value leaves in the clear.
    """
    return None if mechanism.has_differences else float(mechanism.epsilon_for(mechanism.steps))


def _mean_nmse(true: FloatArray, released: FloatArray) -> float:
    """Return the article's error averaged over participants and features that are not zero throughout."""
    values = [
        abs(nmse(true[person, :, feature], released[person, :, feature]))
        for person in range(len(true))
        for feature in range(true.shape[2])
        if true[person, :, feature].any()
    ]
    return float(np.nanmean(values))


def _classified(
    title: str, epsilon: float | None, series: FloatArray, private: Readers, every: int, learners: Sequence[str]
) -> dict[str, Any]:
    told: dict[str, Accuracy] = {
        "document": leave_one_person_out(series, private.documents, private.people, every),
        "group": leave_one_person_out(series, private.groups, private.people, every),
        **{
            f"participant, {learner}": identify(series, private.people, private.documents, learner, every)
            for learner in learners
        },
    }
    return {"method": title, "epsilon": epsilon, **{name: asdict(accuracy) for name, accuracy in told.items()}}


def _title(name: str, chunk: int | None) -> str:
    short = name.removesuffix("-as-published").upper()
    return short if chunk is None else f"{short} {chunk}"
