# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Scenes of other participants, trackers and tasks, to see how far heatmaps of few participants carry over.

All are stretched to the viewing plane of `_heatmap_scenes`, whatever they were seen on. They have no splits: which of
them were looked at when constants were chosen, says docs/reference/heatmap-decoder.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np
import polars as pl

from gazeveil.arrays import BoolArray, FloatArray
from gazeveil.errors import InputError
from gazeveil.lab.datasets.edvam import edvam
from gazeveil.lab.datasets.eyetribe import eyetribe as eyetribe_runs
from gazeveil.lab.datasets.vr_objects import vr_recordings
from gazeveil.lab.experiments.picture_model.pictures import fixations_of, listed_in
from gazeveil.lab.experiments.usefulness._heatmap_scenes import (
    OSIE_NEVER_SEEN,
    PLANE,
    Gallery,
    Scene,
    Split,
    Viewer,
    as_samples,
    in_pieces,
    only,
    osie,
    spread,
)
from gazeveil.registry import Unit
from gazeveil.release.map_files import read_pixels
from gazeveil.simulate.population import Purpose, generator

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
