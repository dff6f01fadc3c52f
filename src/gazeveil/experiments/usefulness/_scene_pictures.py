# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What the pictures of scenes say about gaze: from the pictures, or from maps that were predicted before."""

from __future__ import annotations

import zipfile
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from gazeveil.aggregate.saliency import Saliency
from gazeveil.errors import FileFormatError, InputError
from gazeveil.release.heatmap_files import read_pixels

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

    The file holds a map for each scene's name, perhaps with its file's ending, as `gazeveil judge experiment
    picture-model
    --maps` writes them. Two more arrays, ``ids`` and ``label``, may say what category each scene is of.

    Raises:
        InputError: If there is no such file.
        FileFormatError: If it holds something else.
    """
    if not path.is_file():
        raise InputError(f"there is no {path}")
    wanted = set(names)
    try:
        with np.load(path) as stored:
            held = {Path(key).stem: key for key in stored.files if key not in {*_LABELS, "test"}}
            maps = {name: Saliency.of_map(stored[held[name]]) for name in sorted(wanted & held.keys())}
            labels = {}
            if set(_LABELS) <= set(stored.files):
                labels = {str(one): str(label) for one, label in zip(stored["ids"], stored["label"], strict=True)}
    except (ValueError, zipfile.BadZipFile) as error:
        raise FileFormatError(path, expected="an .npz file with a map for each scene", found=str(error)) from error
    return maps, labels
