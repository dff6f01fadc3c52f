# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Who looked at what, for heatmaps.

Participants before scenes, and one participant more who stands in for the target.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from gazeveil.aggregate.engine import Engine
from gazeveil.aggregate.grid import Grid, overlap, render
from gazeveil.aggregate.heatmap import PrivateHeatmap
from gazeveil.aggregate.liu import LiuMap
from gazeveil.aggregate.strategy import Task
from gazeveil.aggregate.strategy_parts import prior_of_task
from gazeveil.arrays import FloatArray
from gazeveil.errors import InputError
from gazeveil.exact import probability
from gazeveil.gaze.corpus import Corpus
from gazeveil.gaze.recording import Recording
from gazeveil.lab.baselines.unprotected_maps import UnprotectedLiuMap
from gazeveil.lab.datasets.osie import OSIE_FILE
from gazeveil.lab.experiments.grid.contract import Source
from gazeveil.lab.experiments.scanpaths.data import OSIE_FOLDER, osie
from gazeveil.lab.experiments.usefulness._heatmap_scenes import PLANE
from gazeveil.noise import NoiseSource
from gazeveil.privacy.protection import Neighbours
from gazeveil.registry import Registry
from gazeveil.release.plan import Plan
from gazeveil.release.study import Study
from gazeveil.simulate import TRACKERS, SimulatedStudy

_RATE_HZ = 60.0
_SEED = 1
_BLUR_DEG = 1.1
_DELTA = "0.00001"

SOURCES: Registry[Source] = Registry("set of scenes")


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


def simulated(data: Path | None, people: int = 15, scenes: int = 6, seconds: float = 5.0) -> MapData:
    """Return simulated participants before scenes on a screen."""
    del data
    tracker = replace(TRACKERS["remote"], name="remote-60", rate_hz=_RATE_HZ, geometry=PLANE)
    study = SimulatedStudy(people + 1, scenes, 1, 1, tracker, seconds, _SEED)
    words = f"{people} simulated participants before {scenes} scenes, {seconds:g} s each, at {_RATE_HZ:g} Hz"
    return replace(_gathered("simulated", words, list(study.recordings())), public=True)


def osie_viewers(data: Path | None, people: int = 14, images: int = 20) -> MapData:
    """Return participants before images (Xu et al. 2014): fixations, held for as long as they lasted."""
    seen = osie(SOURCES["osie"].path(data) or Path(), images, people + 1)
    recordings = [one.to("px") for scene in seen.scenes for one in scene]
    return _gathered("osie", f"{len(seen.people) - 1} of {seen.title}", recordings)


SOURCES.register("simulated")(Source(simulated))
SOURCES.register("osie")(Source(osie_viewers, f"{OSIE_FOLDER}/{OSIE_FILE}"))


def of_corpus(path: Path, people: int = 0) -> MapData:
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
