# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Scenes for heatmaps: who looked at what, on which tracker and task, and what the pictures say about gaze.

Simulated participants, OSIE, or a corpus of your own. Others are in `_heatmap_other_scenes`.

Constants of the decoder were tuned on some of these scenes. So there are two splits that share no scene: what was used
for tuning, and what was not.

All are stretched to the viewing plane of `_heatmap_scenes`, whatever they were seen on. They have no splits: which of
them were looked at when constants were chosen, says docs/reference/heatmap-decoder.md.
"""

from __future__ import annotations

import math
import zipfile
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from gazeveil.aggregate.engine import Columns
from gazeveil.aggregate.saliency import Saliency
from gazeveil.arrays import BoolArray, FloatArray, Tell, silent
from gazeveil.errors import FileFormatError, InputError, OptionError
from gazeveil.gaze.corpus import Corpus
from gazeveil.geometry import Geometry, Unit, assumed_fields, assumption, screen, with_usual_screen
from gazeveil.lab.datasets import edvam, osie_fixations, vr_recordings
from gazeveil.lab.datasets import eyetribe as eyetribe_runs
from gazeveil.lab.training.picture_sets import fixations_of, listed_in
from gazeveil.release.map_files import read_pixels
from gazeveil.simulate import TRACKERS, SimulatedStudy
from gazeveil.simulate.population import Purpose, generator

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


# --- Scenes of other participants, trackers and tasks, to see how far heatmaps of few participants carry over.


_WIDTH, _HEIGHT = float(PLANE.width_px or 1), float(PLANE.height_px or 1)
_PX_PER_DEGREE = _WIDTH / 32

_RUN_S: Final = 30
_RUN_VIEWERS, _RUN_SAMPLES = 20, 100
_ROOM_DEG, _ROOM_SAMPLES = 50.0, 30
_WALK_S, _WALK_PARTS, _WALK_SAMPLES = 10, 6, 30

_EVERY = 1_000
"""More pictures than OSIE has."""
_WEB_VIEWERS = 60
_WEB_MIDDLE = (0.5, 0.48)
_WEB_SPREAD = 0.16
_WEB_SHARE = (0.3, 0.8)
_WEB_OFF_DEG = 2.0


def eyetribe(path: Path, most: int) -> Gallery:
    """Return half-minutes of the EyeTribe runs: a task with a fixation cross and pictures at both sides.

    A scene is half a minute of a run, counted from a participant's first valid gaze in it. A participant is one of its
    viewers with more than 100 valid samples on the screen. Scenes with fewer than 20 viewers are left out.
    """
    seen: dict[tuple[int, int], list[Viewer]] = {}
    for recording in eyetribe_runs(path):
        if not recording.tracked.any():
            continue
        gaze = recording.take(recording.tracked).to(Unit.FRACTION)
        t = gaze.t - gaze.t.min()
        for part in range(int(t.max() // _RUN_S)):
            viewer = _stretched(gaze.x, gaze.y, _within(t, part, _RUN_S))
            if len(viewer.x) > _RUN_SAMPLES:
                seen.setdefault((int(gaze.session), _RUN_S * part), []).append(viewer)
    scenes = (Scene(f"run {run}, {start} s", tuple(own)) for (run, start), own in sorted(seen.items()))
    return _gallery("eyetribe", [scene for scene in scenes if len(scene.viewers) >= _RUN_VIEWERS], most, path)


def rooms(path: Path, most: int) -> Gallery:
    """Return the trials of the search for objects in virtual rooms: gaze in the head's frame, from a headset.

    A scene is one trial in one room; its viewers are its participants in each of their four sessions, so the same
    participant is several of them. 50 x 50 degrees are stretched. A viewer has more than 30 samples there.
    """
    seen: dict[tuple[str, int], list[Viewer]] = {}
    for recording in vr_recordings(path):
        viewer = _stretched(recording.x / _ROOM_DEG + 0.5, recording.y / _ROOM_DEG + 0.5)
        if len(viewer.x) > _ROOM_SAMPLES:
            seen.setdefault((recording.stimulus, int(recording.trial)), []).append(viewer)
    scenes = [Scene(f"{room}, trial {trial}", tuple(own)) for (room, trial), own in sorted(seen.items())]
    return _gallery("rooms", scenes, most, path)


def museum(path: Path, most: int) -> Gallery:
    """Return the first minute of walks through a virtual museum: gaze in the view, wherever the head points.

    A scene is ten seconds of it, so there are six. A viewer has more than 30 samples in the view.
    """
    seen: dict[int, list[Viewer]] = {}
    for recording in edvam(path):
        t = recording.t - recording.t.min()
        for part in range(_WALK_PARTS):
            viewer = _stretched(recording.x, recording.y, _within(t, part, _WALK_S))
            if len(viewer.x) > _WALK_SAMPLES:
                seen.setdefault(_WALK_S * part, []).append(viewer)
    scenes = [Scene(f"walk, {start} s", tuple(own)) for start, own in sorted(seen.items())]
    return _gallery("museum", scenes, most, path)


def web_pages(path: Path, most: int, seed: int) -> Gallery:
    """Return made web pages: gaze goes to the middle as it does there, and the tracker is a poor one.

    They are made from OSIE's test pictures that the shipped picture model never saw. A share of 30 to 80 % is drawn for
    each picture. Each of its 60 viewers is one of the picture's 15 viewers, drawn with replacement. With this share as
    probability, a fixation is moved to the middle: it then lies about a point half across and 48 % down, with a
    standard deviation of 16 % of width and height. Last, all fixations of a viewer are shifted alike, with a standard
    deviation of 2 degrees across and down, and stay on the screen. Durations are as they were.
    """
    gallery = only(osie(path, Split.TEST, _EVERY), {str(name) for name in OSIE_NEVER_SEEN})
    return _gallery("web-pages", [_as_a_web_page(scene, seed) for scene in spread(gallery.scenes, most)], most, path)


def of_fixations(folder: Path, most: int) -> Gallery:
    """Return a set of pictures with fixations, in the format that the picture model is trained from.

    A scene is a picture, by its name without the ending; where the set lists held-out pictures, only these. Durations
    are in ms. Fixations outside their picture or without a duration are left out.

    Raises:
        InputError: If something is missing or makes no sense.
    """
    kept = listed_in(folder)
    listed = [(name, part) for name, part in fixations_of(folder) if kept is None or name in kept]
    scenes = []
    for name, part in spread(listed, most):
        height, width = read_pixels(folder / "images" / name).shape[:2]
        viewers = [_fixating(own, width, height) for own in part.partition_by("viewer", maintain_order=True)]
        scenes.append(Scene(Path(name).stem, tuple(viewer for viewer in viewers if len(viewer.x))))
    return _gallery(folder.name, [scene for scene in scenes if scene.viewers], most, folder)


def _gallery(name: str, scenes: Sequence[Scene], most: int, path: Path) -> Gallery:
    if not scenes:
        raise InputError(f"{path} has no scene that enough participants saw")
    return Gallery(name, PLANE, tuple(spread(scenes, most)))


def _stretched(across: FloatArray, down: FloatArray, chosen: BoolArray | bool = True) -> Viewer:
    """Return a viewer with the gaze that is inside, given as fractions of what was seen, and chosen."""
    inside = (across >= 0) & (across < 1) & (down >= 0) & (down < 1)  # false where gaze is missing
    return in_pieces(across * _WIDTH, down * _HEIGHT, inside & chosen)


def _within(t: FloatArray, part: int, seconds: int) -> BoolArray:
    return (t >= seconds * part) & (t < seconds * (part + 1))


def _as_a_web_page(scene: Scene, seed: int) -> Scene:
    rng = generator(seed, Purpose.SCENE, "web-pages", scene.name)
    share = rng.uniform(*_WEB_SHARE)
    viewers = []
    for _ in range(_WEB_VIEWERS):
        one = scene.viewers[rng.integers(len(scene.viewers))]
        starts, lengths = one.looks[:-1], np.diff(one.looks)
        moved = rng.random(len(starts)) < share
        off = rng.normal(size=2) * _WEB_OFF_DEG * _PX_PER_DEGREE
        placed = []
        for gaze, size, middle, shift in zip((one.x, one.y), (_WIDTH, _HEIGHT), _WEB_MIDDLE, off, strict=True):
            central = (middle + rng.normal(size=len(starts)) * _WEB_SPREAD) * size
            fixations = np.clip(np.where(moved, central, gaze[starts]) + shift, 0, size - 1)
            placed.append(np.repeat(fixations, lengths))
        viewers.append(Viewer(placed[0], placed[1], one.looks))
    return Scene(scene.name, tuple(viewers))


def _fixating(own: pl.DataFrame, width: int, height: int) -> Viewer:
    x, y, duration = own["x"].to_numpy() / width, own["y"].to_numpy() / height, own["duration"].to_numpy()
    kept = (x >= 0) & (x < 1) & (y >= 0) & (y < 1) & (duration > 0) & np.isfinite(duration)
    return as_samples(x[kept] * _WIDTH, y[kept] * _HEIGHT, duration[kept])


# --- What the pictures of scenes say about gaze: from the pictures, or from maps that were predicted before.


SUFFIXES = (".jpg", ".jpeg", ".png")
_LABELS = ("ids", "label")


def from_pictures(folder: Path, names: Iterable[str]) -> dict[str, Saliency]:
    """Return what the pictures of a folder say, for scenes of these names.

    Raises:
        InputError: If the folder has no picture of a scene's name.
    """
    found = {}
    for name in names:
        paths = [path for suffix in SUFFIXES if (path := folder / f"{name}{suffix}").is_file()]
        if not paths:
            raise InputError(
                f"{folder} has no picture of the scene {name!r}", hint=f"its name is {name} with {', '.join(SUFFIXES)}"
            )
        found[name] = Saliency.of(read_pixels(paths[0]))
    return found


def from_maps(path: Path, names: Iterable[str]) -> tuple[dict[str, Saliency], dict[str, str]]:
    """Return what predicted maps say for those of the scenes that have one, and the categories that scenes are of.

    The file holds a map for each scene's name, perhaps with its file's ending, as `gazeveil lab experiment
    picture-model --maps` writes them. Two more arrays, ``ids`` and ``label``, may say what category each scene is of.

    Raises:
        InputError: If there is no such file.
        FileFormatError: If it holds something else.
    """
    wanted = set(names)
    stored = read_arrays(path, "a map for each scene", "experiment picture-model --maps writes such a file")
    held = {Path(key).stem: key for key in stored if key not in {*_LABELS, "test"}}
    try:
        maps = {name: Saliency.of_map(stored[held[name]]) for name in sorted(wanted & held.keys())}
    except InputError as error:
        raise FileFormatError(path, expected="a map for each scene", found=str(error)) from error
    if not set(_LABELS) <= stored.keys():
        return maps, {}
    if len(stored["ids"]) != len(stored["label"]):
        raise FileFormatError(path, expected="a label for each of its ids", found=f"{len(stored['label'])} labels")
    labels = {str(one): str(label) for one, label in zip(stored["ids"], stored["label"], strict=True)}
    return maps, labels


def read_arrays(path: Path, what: str, hint: str) -> dict[str, NDArray[Any]]:
    """Read the arrays of a file by their names.

    Raises:
        InputError: If there is no such file.
        FileFormatError: If it holds something else.
    """
    if not path.is_file():
        raise InputError(f"there is no {path}", hint=hint)
    try:
        with np.load(path) as stored:
            return {name: stored[name] for name in stored.files}
    except (AttributeError, EOFError, OSError, ValueError, zipfile.BadZipFile) as error:
        raise FileFormatError(path, expected=f"an .npz file with {what}", found=str(error)) from error
