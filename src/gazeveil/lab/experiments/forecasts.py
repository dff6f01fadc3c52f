# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""How good forecasts are: what came out of heatmaps, whole studies, movies and series, beside what was forecast.

For each scene some viewers are drawn, a private map of them is made, and its correlation with the map of the same
viewers without noise is what the forecast is about.

"Beyond the mean" is the correlation with the map of the same viewers without noise, after their mean over all stimuli,
or over time, has been regressed out of both: what is special about a stimulus or a moment.

A design is learnt from public participants on public tasks. Other participants do a task that was held out, or, where a
data set has but one task, the same. What a release of theirs is off by is put beside what the design said beforehand.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from gazeveil import PrivateHeatmap
from gazeveil.aggregate.engine import Columns
from gazeveil.aggregate.grid import Grid, render
from gazeveil.aggregate.maps import dwell
from gazeveil.aggregate.movie import HeatmapMovie, MoviePlan
from gazeveil.aggregate.saliency import Saliency
from gazeveil.aggregate.study_heatmaps import PrivateHeatmaps, StudyPlan
from gazeveil.arrays import FloatArray, Tell, silent
from gazeveil.exact import Number, exact
from gazeveil.features.design import Design
from gazeveil.features.design_learning import learn
from gazeveil.features.extraction import extract_corpus
from gazeveil.features.feature_list import declared_ranges
from gazeveil.features.group_series import GroupPlan, GroupSeries
from gazeveil.features.participant_series import ParticipantPlan, ParticipantSeries
from gazeveil.features.series import panel_of
from gazeveil.gaze.corpus import Corpus
from gazeveil.geometry import Geometry
from gazeveil.lab.datasets import EYETRIBE_PUPIL, VR_FILE, vr_sessions
from gazeveil.lab.experiments.feature_series import (
    CHOSEN,
    PRIVATE_SEED,
    PUBLIC_SEED,
    by_task,
    first_runs,
    other_documents,
)
from gazeveil.lab.experiments.heatmap_scenes import Gallery
from gazeveil.lab.experiments.heatmap_usefulness import trials
from gazeveil.lab.experiments.whole_study import SHOT_S, SHOTS, TRACKER
from gazeveil.lab.utility.releases import range_error, residual_correlation
from gazeveil.noise import NoiseSource
from gazeveil.privacy.protection import Neighbours
from gazeveil.release.forecast import HEATMAPS, Forecast
from gazeveil.release.products.maps import curve_of, heatmap_forecast
from gazeveil.simulate import TRACKERS, record, scene
from gazeveil.simulate.population import Population, Purpose, generator
from gazeveil.simulate.readers import DOCUMENTS, ReadingStudy

PARTICIPANTS = (6, 10, 15, 20, 25, 30, 40, 60, 100, 200)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came out for this many participants.

    Attributes:
        participants: How many were drawn.
        cc: Correlations with the map without noise, one a scene.
        prior: The same for the prior alone.
        expected: What was forecast.
        low: The lower end of the forecast interval.
        high: Its upper end.
    """

    participants: int
    cc: tuple[float, ...]
    prior: tuple[float, ...]
    expected: float
    low: float
    high: float

    @property
    def off(self) -> float:
        """By how much the forecast was too high, on average over scenes."""
        return self.expected - float(np.mean(self.cc))

    @property
    def covered(self) -> float:
        """The share of scenes within the forecast interval."""
        return float(np.mean([self.low <= value <= self.high for value in self.cc]))


def heatmap_outcomes(
    gallery: Gallery,
    pictures: Mapping[str, Saliency] = MappingProxyType({}),
    *,
    participants: Sequence[int] = PARTICIPANTS,
    epsilon: Number = 1,
    delta: Number = Fraction(1, 100_000),
    seed: int = 0,
    tell: Tell = silent,
) -> list[Outcome]:
    """Make private maps of every scene, with its picture where there are pictures, beside what was forecast."""
    found = []
    mechanism = PrivateHeatmap(epsilon=epsilon, delta=delta)
    kinds = ("right",) if pictures else ("none",)
    for done, count in enumerate(participants):
        tried = trials(gallery, pictures, participants=(count,), epsilon=epsilon, delta=delta, kinds=kinds, seed=seed)
        task = mechanism.task_for(gallery.geometry, count, Neighbours.REPLACE_ONE, exact(delta))
        if pictures:
            task = replace(task, saliency=next(iter(pictures.values())))
        forecast = heatmap_forecast(task)
        cc, prior = (
            tuple(values) for values in zip(*((one.same_release, one.same_prior) for one in tried), strict=True)
        )
        found.append(Outcome(count, cc, prior, forecast.expected, forecast.low, forecast.high))
        tell(done + 1, len(participants))
    return found


# --- How good the forecasts of whole studies and of movies are: what came out, beside what was forecast.


DELTA = "1e-5"
FILM, FILM_S = TRACKERS[TRACKER].geometry, SHOTS * SHOT_S
TEST_FILM = 15
"""Films from this seed on were not calibrated on; 5 and 6 were."""

_SAMPLE_S = 0.01
"""Samples of OSIE galleries are so long (`gazeveil.lab.experiments.heatmap_scenes`)."""


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
    theory = plan.expected_correlation()
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
    theory = plan.expected_correlation()
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


# --- How good the forecasts of feature series are: tasks and participants that were held out, beside what was forecast.


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


def feature_outcomes(cases: list[HeldOut], seed: int = 1, tell: Tell = silent) -> list[FeatureOutcome]:
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
