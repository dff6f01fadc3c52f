# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What the pictures of scenes say about gaze: from the pictures, or from maps that were predicted before."""

from __future__ import annotations

import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gazeveil.aggregate.saliency import Saliency
from gazeveil.errors import FileFormatError, InputError
from gazeveil.release.map_files import read_pixels

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
