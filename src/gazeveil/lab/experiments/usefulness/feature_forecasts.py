# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""How good the forecasts of feature series are: tasks and participants that were held out, beside what was forecast.

A design is learnt from public participants on public tasks. Other participants do a task that was held out, or, where a
data set has but one task, the same. What a release of theirs is off by is put beside what the design said beforehand.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from gazeveil.arrays import FloatArray, Tell, silent
from gazeveil.features.design import Design
from gazeveil.features.design_learning import learn
from gazeveil.features.extraction import extract_corpus
from gazeveil.features.feature_list import declared_ranges
from gazeveil.features.group_series import GroupPlan, GroupSeries
from gazeveil.features.participant_series import ParticipantPlan, ParticipantSeries
from gazeveil.features.series import panel_of
from gazeveil.gaze.corpus import Corpus
from gazeveil.lab.datasets.eyetribe import EYETRIBE_PUPIL
from gazeveil.lab.datasets.vr_objects import VR_FILE, vr_sessions
from gazeveil.lab.experiments.feature_people import (
    CHOSEN,
    PRIVATE_SEED,
    PUBLIC_SEED,
    by_task,
    first_runs,
    other_documents,
)
from gazeveil.lab.utility.series import range_error
from gazeveil.noise import NoiseSource
from gazeveil.simulate.population import Purpose, generator
from gazeveil.simulate.reading import DOCUMENTS, ReadingStudy

EPSILONS = (1.0, 3.0, 10.0)
STRETCH = 64
_SPLITS, _REPEATS = 4, 2
_READ_S = 120.0
_VR_STEPS = 176
"""About two minutes of windows, which all sessions in the headset have."""


@dataclass(frozen=True, slots=True, eq=False)
class HeldOut:
    """A design, and participants who are not in it.

    Attributes:
        kind: What was held out, and what the design has seen.
        design: Learnt from public participants.
        people: Series of others, by steps by features, from 0 to 1.
    """

    kind: str
    design: Design
    people: FloatArray


@dataclass(frozen=True, slots=True)
class FeatureOutcome:
    """What came out, over all that was held out in one way.

    Attributes:
        kind: What was held out.
        product: ``mean`` of a group, or ``own`` series.
        releases: How many releases that is.
        error: The forecast error over the real one (root mean square of the releases of a plan), as a geometric mean.
        without_data: The same for publishing the public mean.
        covered: The share of releases within the forecast interval.
        low: 5 % quantile of the real error over the forecast one.
        high: 95 % quantile.
    """

    kind: str
    product: str
    releases: int
    error: float
    without_data: float
    covered: float
    low: float
    high: float


def held_out_readers(private: int = 30, public: int = 16) -> list[HeldOut]:
    """Return simulated readers: each of eight documents is held out, the design knows seven, three or one of others."""
    ranges, steps = declared_ranges(unit="deg").only(CHOSEN), int((_READ_S - 30.0) / 0.5) + 1
    documents = (*DOCUMENTS, *other_documents())
    halves = []
    for people, seed in ((public, PUBLIC_SEED), (private, PRIVATE_SEED)):
        study = ReadingStudy(people, _READ_S, documents=documents, seed=seed)
        halves.append(by_task(panel_of(extract_corpus(Corpus.of(study.recordings())).table, ranges, steps)))
    known, strange = halves
    found = []
    for place, task in enumerate(strange):
        others = [name for name in known if name != task]
        for count in (7, 3, 1):
            seen = others if count == 7 else [others[(place + 2 * step) % 7] for step in range(count)]
            design = learn([known[name] for name in seen], ranges, f"{count} other documents")
            kind = f"readers, {count} other document{'s' if count > 1 else ''} known"
            found.append(HeldOut(kind, design, strange[task]))
        same = learn([known[task]], ranges, "the same document")
        found.append(HeldOut("readers, the same document known", same, strange[task]))
    return found


def held_out_eyetribe(path: Path) -> list[HeldOut]:
    """Return the EyeTribe runs, one task: half of the participants are public, split in several ways."""
    table = extract_corpus(Corpus.of(first_runs(path))).table
    ranges = declared_ranges(unit="deg", pupil_range=EYETRIBE_PUPIL).only(CHOSEN)
    steps = int(np.median([len(series.values) for series in table.series()]))
    values = panel_of(table, ranges, steps).values
    found = []
    for split in range(_SPLITS):
        order = generator(split, Purpose.STREAM, "eyetribe").permutation(len(values))
        public, private = values[order[: len(values) // 2 + 1]], values[order[len(values) // 2 + 1 :]]
        found.append(HeldOut("EyeTribe, the same task known", learn([public], ranges, "EyeTribe runs"), private))
    return found


def held_out_vr(folder: Path) -> list[HeldOut]:
    """Return sessions in a headset.

    Each of four tasks is held out, half of the participants are public, in two ways.
    """
    ranges = declared_ranges(unit="deg", pupil_range=None).only([name for name in CHOSEN if "pupil" not in name])
    sessions = [replace(one.recording, stimulus=f"task {one.session}") for one in vr_sessions(folder, every=1)]
    panel = panel_of(extract_corpus(Corpus.of(sessions)).table, ranges, _VR_STEPS)
    values, who = panel.values, np.array([key.observer for key in panel.keys])
    tasks, found = np.array([key.session for key in panel.keys]), []
    for split in range(2):
        order = generator(split, Purpose.STREAM, "vr").permutation(np.unique(who))
        public = np.isin(who, order[: len(order) // 2])
        for task in np.unique(tasks):
            known = [values[public & (tasks == other)] for other in np.unique(tasks) if other != task]
            design = learn(known, ranges, "sessions in a headset")
            found.append(HeldOut("headset, 3 other tasks known", design, values[~public & (tasks == task)]))
    return found


def held_out(data: str) -> list[HeldOut]:
    """Return what is held out of ``simulated``, a Parquet file of EyeTribe runs, or a folder of headset sessions."""
    if data == "simulated":
        return held_out_readers()
    return held_out_vr(Path(data)) if (Path(data) / VR_FILE).is_file() else held_out_eyetribe(Path(data))


def outcomes(cases: list[HeldOut], seed: int = 1, tell: Tell = silent) -> list[FeatureOutcome]:
    """Release everything that was held out, and put what was forecast beside it."""
    noise = NoiseSource.seeded(seed)
    found: dict[tuple[str, str], list[_Release]] = {}
    for done, case in enumerate(cases):
        found.setdefault((case.kind, "mean"), []).extend(_of_groups(case, noise))
        found.setdefault((case.kind, "own"), []).extend(_of_people(case, noise))
        tell(done + 1, len(cases))
    rows = []
    for (kind, product), made in sorted(found.items(), key=lambda pair: pair[0][1]):
        parts = np.concatenate([one.errors / one.plan.error for one in made])
        within = [one.plan.interval[0] <= error <= one.plan.interval[1] for one in made for error in one.errors]
        low, high = np.quantile(parts, [0.05, 0.95]).tolist()
        rows.append(
            FeatureOutcome(
                kind=kind,
                product=product,
                releases=len(parts),
                error=_typical([one.plan.error / _root_mean_square(one.errors) for one in made]),
                without_data=_typical([one.plan.floor / _root_mean_square(one.without) for one in made]),
                covered=float(np.mean(within)),
                low=low,
                high=high,
            )
        )
    return rows


class _Release(NamedTuple):
    """Releases under one plan: what was forecast, real errors, and those of the public mean."""

    plan: GroupPlan | ParticipantPlan
    errors: FloatArray
    without: FloatArray


def _of_groups(case: HeldOut, noise: NoiseSource) -> Iterator[_Release]:
    half = max(len(case.people) // 2, 4)
    for groups in ([case.people], [case.people[:half], case.people[half : 2 * half]]):
        means = [group.mean(axis=0) for group in groups]
        nothing = np.array([range_error(mean, np.broadcast_to(case.design.mean, mean.shape)) for mean in means])
        for epsilon in EPSILONS:
            mechanism = GroupSeries(epsilon=epsilon, design=case.design)
            errors = [
                range_error(mean, mechanism.estimate(group, noise).mean)
                for group, mean in zip(groups, means, strict=True)
                for _ in range(_REPEATS)
            ]
            yield _Release(mechanism.plan(len(groups[0])), np.array(errors), nothing)


def _of_people(case: HeldOut, noise: NoiseSource) -> Iterator[_Release]:
    public = np.broadcast_to(case.design.mean, case.people.shape[1:])
    nothing = np.array([range_error(raw, public) for raw in case.people])
    for epsilon, stretch in ((1, None), (10, None), (3, STRETCH)):
        mechanism = ParticipantSeries(epsilon=epsilon, design=case.design, delta="1e-5", stretch=stretch)
        shown = mechanism.perturb(case.people, noise)
        errors = [range_error(raw, own) for raw, own in zip(case.people, shown, strict=True)]
        yield _Release(mechanism.plan(), np.array(errors), nothing)


def _root_mean_square(errors: FloatArray) -> float:
    return float(np.sqrt(np.mean(np.square(errors))))


def _typical(ratios: list[float]) -> float:
    """Return the geometric mean."""
    return float(np.exp(np.mean(np.log(ratios))))
