# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Whose gaze the decoder is trained on: public sets of fixations, and simulated participants.

The sets are those of the picture model (`gazeveil.lab.training.picture_sets`): a folder for each, with
``images`` and ``fixations.csv``; of pictures in ``held_out.txt`` nothing is seen. Coordinates are parts of the picture.
What models say of pictures that they never saw comes from files that `gazeveil lab experiment picture-model --maps`
writes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from gazeveil.aggregate.saliency import shrunk
from gazeveil.arrays import Float32Array, FloatArray
from gazeveil.errors import FileFormatError, InputError
from gazeveil.lab.experiments.heatmap_scenes import PLANE, Split, Viewer, read_arrays, simulated
from gazeveil.lab.training.picture_sets import fixations_of, listed_in
from gazeveil.release.map_files import read_pixels

MOST_VIEWERS: Final = 16
MOST_LOOKS: Final = 24
"""Of longer recordings the longest looks are kept."""
_LEAST_VIEWERS: Final = 6
_FINE: Final = (36, 48)
"""Raw gaze becomes looks at the middles of this many rows and columns."""
_CONTENT: Final = (30, 40)
"""Rows and columns of what is said of a picture."""

Contents = dict[str, FloatArray]
"""What one model says of pictures, by the name of the set, a slash, and the name of the picture."""


@dataclass(frozen=True, slots=True, eq=False)
class Looks:
    """Looks of many viewers at many pictures.

    Attributes:
        values: Pictures by viewers by looks by x, y and share of the viewer's time; 0 where there is none.
        often: How often each picture is drawn beside the others.
        contents: What models that never saw the pictures say of them: pictures by models by rows by columns; 0
            everywhere where none says anything.
    """

    values: Float32Array
    often: Float32Array
    contents: Float32Array


def read_contents(path: Path) -> Contents:
    """Read what a model says of pictures.

    Raises:
        InputError: If there is no such file.
        FileFormatError: If it holds something else.
    """
    stored = read_arrays(path, "a map for each picture", "experiment picture-model --maps writes such a file")
    try:
        return {name: np.asarray(map_, dtype=np.float64) for name, map_ in stored.items()}
    except ValueError as error:
        raise FileFormatError(path, expected="an .npz file with a map for each picture", found=str(error)) from error


def read_looks(folder: Path, often: float, contents: Sequence[Contents] = ()) -> Looks:
    """Read the looks at the pictures of a set that are not held out.

    Args:
        folder: The set.
        often: How often its pictures are drawn.
        contents: What models say of pictures that they never saw.

    Raises:
        InputError: If something is missing or makes no sense.
    """
    kept, found, said = listed_in(folder) or set(), [], []
    for name, part in fixations_of(folder):
        if name in kept:
            continue
        path = folder / "images" / name
        if not path.is_file():
            raise InputError(f"there is no picture {path}", hint="names in fixations.csv are those of files in images")
        height, width = read_pixels(path).shape[:2]
        viewers = [
            _longest(own["x"].to_numpy() / width, own["y"].to_numpy() / height, own["duration"].to_numpy())
            for own in part.partition_by("viewer", maintain_order=True)
        ]
        seen = [each for each in viewers if each.any()][:MOST_VIEWERS]
        if len(seen) >= _LEAST_VIEWERS:
            found.append(np.stack(seen + [np.zeros_like(seen[0])] * (MOST_VIEWERS - len(seen))))
            said.append(_said(f"{folder.name}/{name}", contents))
    if not found:
        raise InputError(
            f"{folder} has no picture to train on", hint=f"at least {_LEAST_VIEWERS} viewers a picture are needed"
        )
    return Looks(np.stack(found), np.full(len(found), often, dtype=np.float32), np.stack(said))


def simulated_looks(studies: int, scenes: int, often: float, models: int = 0) -> Looks:
    """Return the looks of simulated participants at made-up scenes, none of which is in a test or has a picture."""
    found = [
        np.stack([_of_raw(viewer) for viewer in scene.viewers[:MOST_VIEWERS]])
        for seed in range(1, studies + 1)
        for scene in simulated(Split.TUNE, scenes, seed=seed, people=MOST_VIEWERS).scenes
    ]
    whole = [each for each in found if each[..., 2].any(axis=1).all()]
    nothing = np.zeros((len(whole), max(models, 1), *_CONTENT), dtype=np.float32)
    return Looks(np.stack(whole), np.full(len(whole), often, dtype=np.float32), nothing)


def _said(picture: str, contents: Sequence[Contents]) -> Float32Array:
    """Return what each model says of a picture; the others again for one that says nothing."""
    found = [shrunk(each[picture], *_CONTENT) for each in contents if picture in each]
    if not found:
        return np.zeros((max(len(contents), 1), *_CONTENT), dtype=np.float32)
    said = np.stack([found[place % len(found)] for place in range(len(contents))])
    return np.asarray(said / said.mean(axis=(1, 2), keepdims=True), dtype=np.float32)


def _of_raw(viewer: Viewer) -> Float32Array:
    width, height = float(PLANE.width_px or 1), float(PLANE.height_px or 1)
    x, y = viewer.x / width, viewer.y / height
    inside = (x >= 0) & (x < 1) & (y >= 0) & (y < 1)
    rows, columns = _FINE
    cells = np.floor(y[inside] * rows) * columns + np.floor(x[inside] * columns)
    places, counts = np.unique(cells, return_counts=True)
    return _longest((places % columns + 0.5) / columns, (places // columns + 0.5) / rows, counts.astype(np.float64))


def _longest(x: FloatArray, y: FloatArray, time: FloatArray) -> Float32Array:
    """Return the longest looks within the picture, as shares of their time."""
    inside = (x >= 0) & (x < 1) & (y >= 0) & (y < 1) & (time > 0) & np.isfinite(time)
    looks = np.stack((x[inside], y[inside], time[inside]), axis=1)
    looks = looks[np.argsort(-looks[:, 2], kind="stable")[:MOST_LOOKS]]
    found = np.zeros((MOST_LOOKS, 3), dtype=np.float32)
    if len(looks):
        looks[:, 2] /= looks[:, 2].sum()
        found[: len(looks)] = looks
    return found
