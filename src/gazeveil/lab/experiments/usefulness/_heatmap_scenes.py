# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Who looked at what in a study of how useful private heatmaps are.

Simulated participants, OSIE, or a corpus of your own. Others are in `_heatmap_other_scenes`.

Constants of the decoder were tuned on some of these scenes. So there are two splits that share no scene: what was used
for tuning, and what was not.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from gazeveil.aggregate.engine import Columns
from gazeveil.arrays import FloatArray, Tell, silent
from gazeveil.errors import InputError, OptionError
from gazeveil.gaze.conventions import assumed_fields, assumption, with_usual_screen
from gazeveil.gaze.corpus import Corpus
from gazeveil.geometry import Geometry, screen
from gazeveil.lab.datasets.osie import osie_fixations
from gazeveil.simulate.population import Purpose, generator
from gazeveil.simulate.study import SimulatedStudy
from gazeveil.simulate.tracker import TRACKERS

_DISTANCE_MM = 570.0
PLANE = screen(
    800,
    600,
    2 * _DISTANCE_MM * math.tan(math.radians(16)),
    2 * _DISTANCE_MM * math.tan(math.radians(12)),
    _DISTANCE_MM,
)
"""A screen of 32 x 24 degrees: 768 cells of one degree."""

SIMULATED_PEOPLE = 300
_SIMULATED_SECONDS = 5.0
_TRACKER = replace(TRACKERS["remote"], name="remote-60", rate_hz=60, geometry=PLANE)
_SPLIT_SEED = {"tune": 1_000, "test": 9_000}
"""Simulated studies of the two splits have seeds that are never the same (up to 8,000 seeds of each)."""

_OSIE_TUNED_ON = frozenset((*range(1001, 1061), *range(1100, 1140), *range(1102, 1701, 15)))
"""Images on which constants were tuned."""
_OSIE_IMAGES = range(1001, 1701)
_HELD_OUT = 120
_MS_PER_SAMPLE = 10.0
_PIECES = 20
"""Into this many stretches gaze is cut that has no fixations, to draw from them."""


class Split(StrEnum):
    """Which scenes: those that constants were tuned on, or others."""

    TUNE = "tune"
    TEST = "test"


@dataclass(frozen=True, slots=True, eq=False)
class Viewer:
    """One participant's gaze on one scene.

    Attributes:
        x: Across, one value a sample; only valid gaze.
        y: Down.
        looks: Where each look (a fixation, or a stretch of samples) begins, and behind them the number of samples.
    """

    x: FloatArray
    y: FloatArray
    looks: NDArray[np.int64]

    def rows(self) -> Columns:
        """Return the gaze as kernels take it."""
        return {"x": self.x, "y": self.y, "valid": np.ones(len(self.x), dtype=np.bool_)}

    def with_looks(self, chosen: NDArray[np.int64]) -> Viewer:
        """Return someone whose looks are these of this participant's, in this order, some perhaps more than once."""
        if not len(chosen):
            return self
        samples = np.concatenate([np.arange(self.looks[k], self.looks[k + 1]) for k in chosen])
        lengths = np.diff(self.looks)[chosen]
        return Viewer(self.x[samples], self.y[samples], np.concatenate(([0], np.cumsum(lengths))))


@dataclass(frozen=True, slots=True, eq=False)
class Scene:
    """One stimulus and everyone who looked at it."""

    name: str
    viewers: tuple[Viewer, ...]

    def drawn(self, count: int, seed: int, repeat: int) -> list[Columns]:
        """Return ``count`` participants: different ones as long as there are enough, else drawn with replacement.

        In the second case each drawn participant's looks are drawn with replacement as well, so that no two are alike.
        """
        rng = generator(seed, Purpose.STREAM, self.name, count, repeat)
        if count <= len(self.viewers):
            return [self.viewers[k].rows() for k in rng.permutation(len(self.viewers))[:count]]
        people = [self.viewers[k] for k in rng.integers(0, len(self.viewers), count)]
        looks = [len(person.looks) - 1 for person in people]
        return [
            person.with_looks(rng.integers(0, most, most) if most else np.zeros(0, dtype=np.int64)).rows()
            for person, most in zip(people, looks, strict=True)
        ]


@dataclass(frozen=True, slots=True, eq=False)
class Gallery:
    """Scenes on one viewing plane.

    Attributes:
        name: Where they come from.
        geometry: The viewing plane.
        scenes: The scenes.
        assumed: What is assumed about the viewing plane, in words; nothing where all of it is known.
        split: Which split of its scenes this is; nothing where there is none.
    """

    name: str
    geometry: Geometry
    scenes: tuple[Scene, ...]
    assumed: str = ""
    split: str = ""

    @property
    def viewers(self) -> int:
        """How many participants every scene has at least: more than that are drawn with replacement."""
        return min(len(scene.viewers) for scene in self.scenes)


def simulated(split: Split, scenes: int, seed: int = 0, people: int = SIMULATED_PEOPLE, tell: Tell = silent) -> Gallery:
    """Return simulated participants looking at made-up scenes."""
    study = SimulatedStudy(
        observers=people,
        stimuli=scenes,
        sessions=1,
        tracker=_TRACKER,
        seconds=_SIMULATED_SECONDS,
        seed=_SPLIT_SEED[split] + seed,
    )
    seen: dict[str, list[Viewer]] = {}
    for done, recording in enumerate(study.recordings(), start=1):
        seen.setdefault(recording.stimulus, []).append(in_pieces(recording.x, recording.y, recording.tracked))
        tell(done, len(study))
    made = tuple(Scene(name, tuple(viewers)) for name, viewers in seen.items())
    return Gallery("simulated", PLANE, made, split=split)


def osie(path: Path, split: Split, images: int) -> Gallery:
    """Return the OSIE images of a split (Xu et al. 2014): 15 participants, 3 s of free viewing each, as fixations.

    A fixation counts as `as_samples` says.
    """
    table = osie_fixations(path)
    every = table["image"].unique().sort().to_list()
    wanted = spread([name for name in every if (name in _OSIE_TUNED_ON) == (split is Split.TUNE)], images)
    scenes = []
    for name, rows in table.filter(pl.col("image").is_in(wanted)).group_by("image", maintain_order=True):
        people = [
            as_samples(*(own[column].to_numpy().astype(np.float64) for column in ("x", "y", "dur_ms")))
            for own in rows.partition_by("user", maintain_order=True)
        ]
        scenes.append(Scene(str(name[0]), tuple(people)))
    return Gallery("osie", PLANE, tuple(scenes), split=split)


def of_corpus(folder: Path, images: int, sizes: Mapping[str, float] = MappingProxyType({})) -> Gallery:
    """Return the stimuli of a corpus, with everyone who looked at them.

    Args:
        folder: The corpus.
        images: How many stimuli at most.
        sizes: What is known about the screen beside what recordings say, as fields of `Geometry`.

    Raises:
        OptionError: If recordings say another size.
    """
    corpus = Corpus.open(folder)
    stated = corpus.geometry
    for name, size in sizes.items():
        if (found := getattr(stated, name)) not in (None, size):
            raise OptionError(
                f"{name} is given as {size:g}, but the screen of {folder.name} has {found:g}",
                hint="leave the option out, or mend what the recordings say",
            )
    declared = stated.with_sizes(**sizes)
    geometry = with_usual_screen(declared)
    assumed = assumption(geometry, assumed_fields(declared, geometry)) if geometry != declared else ""
    wanted = spread(corpus.stimuli, images)
    seen: dict[str, dict[str, list[tuple[FloatArray, FloatArray, NDArray[Any]]]]] = {name: {} for name in wanted}
    for recording in corpus.select(stimulus=wanted).recordings():
        own = seen[recording.stimulus].setdefault(recording.observer, [])
        own.append((recording.x, recording.y, recording.tracked))
    scenes = tuple(
        Scene(name, tuple(in_pieces(*map(np.concatenate, zip(*own, strict=True))) for own in people.values()))
        for name, people in seen.items()
        if people
    )
    if not scenes:
        raise InputError(f"{folder} has no recordings")
    return Gallery(folder.name, geometry, scenes, assumed)


def spread(names: Sequence[Any], count: int) -> list[Any]:
    """Return at most ``count`` names, evenly spread over all."""
    if count >= len(names):
        return list(names)
    return [names[(2 * k + 1) * len(names) // (2 * count)] for k in range(count)]


OSIE_NEVER_SEEN = frozenset(spread([image for image in _OSIE_IMAGES if image not in _OSIE_TUNED_ON], _HELD_OUT))
"""Images of the test split that the shipped picture model was not trained on."""


def only(gallery: Gallery, names: Collection[str]) -> Gallery:
    """Return a gallery with the scenes of these names alone.

    Raises:
        OptionError: If none is left.
    """
    scenes = tuple(scene for scene in gallery.scenes if scene.name in names)
    if not scenes:
        raise OptionError(f"none of the scenes of {gallery.name} is among them", hint="scenes are found by their names")
    return replace(gallery, scenes=scenes)


def watched_by(gallery: Gallery, first: int, last: int) -> Gallery:
    """Return a gallery as seen by some of its viewers alone, counted from 1.

    Raises:
        OptionError: If there are no such viewers.
    """
    if not 1 <= first <= last <= gallery.viewers:
        raise OptionError(f"viewers are numbered 1 to {gallery.viewers}, not {first} to {last}")
    scenes = tuple(replace(scene, viewers=scene.viewers[first - 1 : last]) for scene in gallery.scenes)
    return replace(gallery, scenes=scenes)


def as_samples(x: FloatArray, y: FloatArray, duration_ms: FloatArray) -> Viewer:
    """Return a viewer with these fixations; one of d ms counts as d/10 samples, and at least as one."""
    lengths = np.maximum(np.rint(duration_ms / _MS_PER_SAMPLE).astype(np.int64), 1)
    return Viewer(np.repeat(x, lengths), np.repeat(y, lengths), _starts(lengths))


def in_pieces(x: FloatArray, y: FloatArray, tracked: NDArray[Any]) -> Viewer:
    """Return a viewer with this gaze where it is tracked, cut into stretches of the same length."""
    x, y = x[tracked], y[tracked]
    pieces = min(_PIECES, len(x))
    lengths = np.diff(np.arange(pieces + 1) * len(x) // pieces) if pieces else np.zeros(0, dtype=np.int64)
    return Viewer(x, y, _starts(lengths))


def _starts(lengths: Iterable[int]) -> NDArray[np.int64]:
    return np.concatenate(([0], np.cumsum(np.asarray(lengths, dtype=np.int64))))
