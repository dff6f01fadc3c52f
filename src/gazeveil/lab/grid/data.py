# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Data that mechanisms are tried on, recordings, scenes and feature series, and recordings behind a mechanism.

Participants before scenes, and one participant more who stands in for the target.

Simulated readers, participants before a desktop tracker, or a corpus of one's own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache, partial
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from gazeveil import PrivateHeatmap, Study
from gazeveil.aggregate.engine import Engine
from gazeveil.aggregate.grid import Grid, overlap, render
from gazeveil.aggregate.liu import LiuMap
from gazeveil.aggregate.strategy import Task
from gazeveil.aggregate.strategy_parts import prior_of_task
from gazeveil.arrays import FloatArray, IntArray
from gazeveil.errors import InputError
from gazeveil.exact import probability
from gazeveil.features.design import Design
from gazeveil.features.design_learning import learn
from gazeveil.features.extraction import extract_corpus
from gazeveil.features.feature_list import declared_ranges
from gazeveil.features.series import panel_of
from gazeveil.gaze import schema
from gazeveil.gaze.corpus import Corpus
from gazeveil.gaze.recording import Recording
from gazeveil.geometry import Geometry, headset
from gazeveil.lab.as_published.liu_maps import UnprotectedLiuMap
from gazeveil.lab.attacks.contract import Trial
from gazeveil.lab.attacks.trials import trials_of, without_pupil
from gazeveil.lab.datasets import EYETRIBE_FILE, OSIE_FILE, VR_FOLDER, vr_sessions
from gazeveil.lab.experiments.feature_series import CHOSEN
from gazeveil.lab.experiments.feature_series import readers as simulated_readers
from gazeveil.lab.experiments.feature_usefulness import eyetribe_runs
from gazeveil.lab.experiments.heatmap_scenes import PLANE
from gazeveil.lab.experiments.identification import PAPERS_RATE_HZ, simulated_traits
from gazeveil.lab.experiments.scanpath_privacy import OSIE_FOLDER, SceneSet, osie
from gazeveil.lab.grid.contract import DoesNotApply, Protected, Source
from gazeveil.noise import NoiseSource
from gazeveil.privacy.protection import Neighbours
from gazeveil.release.plan import Plan
from gazeveil.samples.mechanism import SampleMechanism
from gazeveil.simulate import TRACKERS, SimulatedStudy

_GAZE_SEED = 8


@dataclass(frozen=True, eq=False)
class GazeData:
    """Recordings, and what is known of the participants.

    Attributes:
        name: Short name.
        words: What they are.
        corpus: The recordings, on one viewing plane.
        kinds: For every question about participants, the answer for each of them.
        public: Whether nobody was recorded, so that gaze may be shown.
    """

    name: str
    words: str
    corpus: Corpus
    kinds: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    public: bool = False

    @cached_property
    def plane(self) -> Geometry:
        """Where gaze lies, in degrees."""
        return self.corpus.geometry.in_unit("deg")

    @cached_property
    def recordings(self) -> tuple[Recording, ...]:
        """All recordings in degrees, in memory."""
        return tuple(recording.to("deg") for recording in self.corpus.recordings())

    @cached_property
    def trials(self) -> tuple[Trial, ...]:
        """The same as trials, without pupil."""
        return without_pupil(trials_of(self.recordings))

    @cached_property
    def scenes(self) -> SceneSet:
        """The recordings of everyone before the same stimuli.

        Raises:
            DoesNotApply: If no three participants looked at one stimulus.
        """
        seen: dict[tuple[str, str, str], dict[str, Recording]] = {}
        for one in self.recordings:
            seen.setdefault((one.stimulus, one.session, one.trial), {})[one.observer] = one
        most = max((len(who) for who in seen.values()), default=0)
        whole = [who for who in seen.values() if len(who) == most]
        people = tuple(sorted(whole[0])) if whole else ()
        same = [who for who in whole if tuple(sorted(who)) == people]
        if most < 3 or not whole[0][people[0]].stimulus:
            raise DoesNotApply(
                "scanpaths are compared between participants before the same stimulus, and here are none"
            )
        scenes = tuple(tuple(who[name] for name in people) for who in same)
        return SceneSet(self.name, self.words, self.plane, people, scenes)


def simulated_gaze(data: Path | None, people: int = 16, sessions: int = 2, seconds: float = 60.0) -> GazeData:
    """Return simulated participants before one scene in a headset, each session on another day."""
    del data
    tracker = replace(TRACKERS["headset"], name="headset-72", rate_hz=PAPERS_RATE_HZ)
    study = SimulatedStudy(people, 1, sessions, 1, tracker, seconds, _GAZE_SEED)
    recordings = [_bare(recording.to("deg")) for recording in study.recordings()]
    words = (
        f"{people} simulated participants x {sessions} days, {seconds:g} s each, in a headset at {PAPERS_RATE_HZ:g} Hz"
    )
    return GazeData("simulated", words, Corpus.of(recordings), simulated_traits(people, _GAZE_SEED), public=True)


def vr(data: Path | None, people: int = 16, sessions: int = 4, seconds: float = 60.0) -> GazeData:
    """Return participants who looked for objects in a headset (Schuetz et al. 2024)."""
    folder = GAZE_SOURCES["vr"].path(data)
    found = [
        Recording(room.t, room.yaw, room.pitch, headset(50, 50), f"user-{room.user:02d}", "", str(room.session))
        for room in vr_sessions(folder or Path(), every=1, seconds=seconds)
    ]
    names = sorted({one.observer for one in found})[:people]
    days = sorted({one.session for one in found})[:sessions]
    kept = [one for one in found if one.observer in names and one.session in days]
    words = f"{len(names)} participants x {len(days)} sessions, {seconds:g} s each, in a headset (Schuetz et al. 2024)"
    return GazeData("vr", words, Corpus.of(kept))


def osie_gaze(data: Path | None, people: int = 15, images: int = 20) -> GazeData:
    """Return participants before images (Xu et al. 2014): fixations, held for as long as they lasted."""
    scenes = osie(GAZE_SOURCES["osie"].path(data) or Path(), images, people)
    return GazeData("osie", scenes.title, Corpus.of(one for scene in scenes.scenes for one in scene))


GAZE_SOURCES: Final = {
    "simulated": Source(simulated_gaze),
    "vr": Source(vr, VR_FOLDER),
    "osie": Source(osie_gaze, f"{OSIE_FOLDER}/{OSIE_FILE}"),
}


def gaze_of_corpus(path: Path, people: int = 0) -> GazeData:
    """Return a corpus of one's own, of this many participants at most."""
    corpus = Corpus.open(path)
    names = sorted(corpus.observers)
    kept = corpus if not people or people >= len(names) else corpus.select(observer=names[:people])
    return GazeData(path.name, f"{path.name}: {min(people or len(names), len(names))} participants", kept)


def _bare(recording: Recording) -> Recording:
    """Return gaze alone: what was simulated is known better than it could be, and no mechanism lets it through."""
    return replace(recording, pupil=None, left=None, right=None, pupil_unit="", events=schema.no_events())


# --- Who looked at what, for heatmaps.


_RATE_HZ = 60.0
_MAP_SEED = 1
_BLUR_DEG = 1.1
_DELTA = "0.00001"


@dataclass(frozen=True, eq=False)
class MapData:
    """Scenes, each with everyone who looked.

    Attributes:
        name: Short name.
        words: What they are.
        scenes: For every scene, the recordings of those who take part.
        others: For every scene, the recordings of someone who does not.
        samples: The most samples that a participant has on a scene.
        public: Whether nobody was recorded.
    """

    name: str
    words: str
    scenes: tuple[Corpus, ...]
    others: tuple[Corpus, ...]
    samples: int
    public: bool = False

    @cached_property
    def study(self) -> Study:
        """What is declared of the first scene."""
        return Study.observed_in(self.scenes[0])

    @cached_property
    def people(self) -> int:
        """How many take part."""
        return len(self.scenes[0].observers)

    @cached_property
    def task(self) -> Task:
        """The map of the first scene, in cells of a degree."""
        screen = self.scenes[0].geometry
        delta = probability(_DELTA, "delta")
        return PrivateHeatmap(epsilon=1, blur_deg=_BLUR_DEG).task_for(
            screen, self.people, Neighbours.REPLACE_ONE, delta
        )

    @cached_property
    def prior(self) -> FloatArray:
        """The map that needs no data."""
        return prior_of_task(self.task)

    def plan(self, mechanism: Any, scene: int = 0) -> Plan:
        """Return the plan of a release of one scene."""
        study = self.study if scene == 0 else Study.observed_in(self.scenes[scene])
        return study.plan(mechanism)

    def released(self, mechanism: Any, scene: int, seed: int, engine: Engine | str = "local") -> FloatArray:
        """Return the released map of a scene, blurred, in cells of a degree."""
        noise = NoiseSource.seeded(seed).spawn(f"map of scene {scene}")
        plan = self.plan(mechanism, scene)
        value = plan.release(self.scenes[scene], noise=noise, engine=engine, anyway=True).value
        return self.shown(mechanism, np.asarray(value.map, dtype=np.float64))

    def shown(self, mechanism: Any, values: FloatArray) -> FloatArray:
        """Return a released map as a picture of it is drawn; of heatmaps, that is the map itself."""
        if isinstance(mechanism, PrivateHeatmap):
            return values
        coarse = Grid(mechanism.columns, mechanism.rows, self.task.grid.geometry)
        fine = overlap(self.task.grid, coarse) @ values.ravel() * (coarse.size / self.task.grid.size)
        return np.maximum(render(fine.reshape(self.task.grid.shape), self.task.blur_cells), 0.0)

    def cells(self, selected: int | None = None) -> UnprotectedLiuMap:
        """Return the map without noise, in cells of a degree."""
        grid = self.task.grid
        return UnprotectedLiuMap(columns=grid.columns, rows=grid.rows, selected=selected)

    def recordings(self, scene: int = 0) -> tuple[list[Recording], Recording]:
        """Return who takes part, one recording each, and who does not."""
        inside = {one.observer: one for one in self.scenes[scene].recordings()}
        return list(inside.values()), next(iter(self.others[scene].recordings()))


def simulated_maps(data: Path | None, people: int = 15, scenes: int = 6, seconds: float = 5.0) -> MapData:
    """Return simulated participants before scenes on a screen."""
    del data
    tracker = replace(TRACKERS["remote"], name="remote-60", rate_hz=_RATE_HZ, geometry=PLANE)
    study = SimulatedStudy(people + 1, scenes, 1, 1, tracker, seconds, _MAP_SEED)
    words = f"{people} simulated participants before {scenes} scenes, {seconds:g} s each, at {_RATE_HZ:g} Hz"
    return replace(_gathered("simulated", words, list(study.recordings())), public=True)


def osie_maps(data: Path | None, people: int = 14, images: int = 20) -> MapData:
    """Return participants before images (Xu et al. 2014): fixations, held for as long as they lasted."""
    seen = osie(MAP_SOURCES["osie"].path(data) or Path(), images, people + 1)
    recordings = [one.to("px") for scene in seen.scenes for one in scene]
    return _gathered("osie", f"{len(seen.people) - 1} of {seen.title}", recordings)


MAP_SOURCES: Final = {"simulated": Source(simulated_maps), "osie": Source(osie_maps, f"{OSIE_FOLDER}/{OSIE_FILE}")}


def maps_of_corpus(path: Path, people: int = 0) -> MapData:
    """Return a corpus of one's own: its stimuli are the scenes, and its last participant stands by."""
    corpus = Corpus.open(path)
    names = sorted(corpus.observers)[: people + 1 if people else None]
    if len(names) < 3:
        raise InputError(f"{path} has {len(names)} participants; three are needed, one of them to stand by")
    inside, outside = corpus.select(observer=names[:-1]), corpus.select(observer=names[-1:])
    kept = [name for name in inside.stimuli if name in outside.stimuli]
    most = max(int(part.samples.group_by("observer").len().collect()["len"].to_numpy().max()) for part in inside.parts)
    return MapData(
        path.name,
        f"{path.name}: {len(names) - 1} participants before {len(kept)} stimuli",
        tuple(inside.select(stimulus=[name]) for name in kept),
        tuple(outside.select(stimulus=[name]) for name in kept),
        most,
    )


def _gathered(name: str, words: str, recordings: list[Recording]) -> MapData:
    last = recordings[-1].observer
    by_scene: dict[str, list[Recording]] = {}
    for one in recordings:
        by_scene.setdefault(one.stimulus, []).append(one)
    return MapData(
        name,
        words,
        tuple(Corpus.of([one for one in who if one.observer != last]) for who in by_scene.values()),
        tuple(Corpus.of([one for one in who if one.observer == last]) for who in by_scene.values()),
        max(len(one) for one in recordings),
    )


def liu_map(noise: str, data: MapData, parameters: dict[str, Any]) -> LiuMap:
    """Return Liu's map with noise; a participant's samples are bounded by how many there can be."""
    return LiuMap(noise=noise, **{"columns": 16, "rows": 12, "cap": 60, "samples": data.samples, **parameters})


# --- Whose feature series are released.


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
    found = eyetribe_runs(SERIES_SOURCES["eyetribe"].path(data) or Path())
    kept: NDArray[Any] = found.people < people if people else np.ones(len(found.people), dtype=np.bool_)
    count = len(np.unique(found.people[kept]))
    words = f"{count} participants before a desktop tracker, three runs each (EyeTribe)"
    return SeriesData("eyetribe", words, found.series[kept], found.people[kept], found.runs[kept], found.design)


SERIES_SOURCES: Final = {"readers": Source(readers), "eyetribe": Source(eyetribe, str(EYETRIBE_FILE))}


def series_of_corpus(path: Path, people: int = 0) -> SeriesData:
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


# --- Recordings behind a mechanism: each behind a mechanism of its own, or all of them made anew together.


@lru_cache(maxsize=4)
def released(data: GazeData, protected: Protected, seed: int) -> tuple[Recording, ...]:
    """Return all recordings behind a mechanism, in their order."""
    mechanism = protected.mechanism
    if mechanism is None or isinstance(mechanism, SampleMechanism):
        return tuple(map(veiler(mechanism, seed), data.recordings))
    return tuple(mechanism.apply_all(data.recordings, NoiseSource.seeded(seed).spawn("all recordings")))


def veiler(mechanism: SampleMechanism | None, seed: int) -> Callable[[Recording], Recording]:
    """Return what veils a recording; it can be sent to other machines."""
    return partial(_veiled, mechanism, seed)


def _veiled(mechanism: SampleMechanism | None, seed: int, recording: Recording) -> Recording:
    if mechanism is None:
        return recording
    return mechanism.apply(recording, NoiseSource.seeded(seed).spawn("/".join(recording.key)))
