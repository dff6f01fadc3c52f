# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""BIDS file names, labels and sidecars: what a name says, and which JSON files speak about a file.

BIDS is the Brain Imaging Data Structure, version 1.11 (https://bids-specification.readthedocs.io). A sidecar may lie
in the file's own folder or in any folder above it, up to the data set's root; nearer ones win (inheritance).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from itertools import combinations
from pathlib import Path
from typing import Any, Final, NamedTuple

from gazeveil.errors import FileFormatError

DESCRIPTION: Final = "dataset_description.json"
VERSION: Final = "1.11.1"
OURS: Final = "Gazeveil"
"""The key in our sidecars under which BIDS has no field for something: original labels, exact geometry."""

ENTITIES: Final = ("sub", "ses", "task", "acq", "ce", "rec", "dir", "run", "recording")
"""The order of the entities that names of physiological recordings may have."""

_NAME = re.compile(r"((?:[A-Za-z]+-[A-Za-z0-9+]+_)*)([A-Za-z0-9]+)((?:\.[A-Za-z0-9]+)+)")


class BidsName(NamedTuple):
    """The parts of a file's name: ``sub-01_task-rest_physio.tsv.gz``."""

    entities: Mapping[str, str]
    suffix: str
    extension: str

    def without(self, *names: str) -> str:
        """Return the entities in front of the suffix, without some of them."""
        return "_".join(f"{name}-{label}" for name, label in self.entities.items() if name not in names)


def parse_bids_name(name: str) -> BidsName | None:
    """Return the parts of a name; None if it is not a BIDS name."""
    match = _NAME.fullmatch(name)
    if match is None:
        return None
    pairs = [(pair.partition("-")[0], pair.partition("-")[2]) for pair in match[1].split("_") if pair]
    if len(dict(pairs)) != len(pairs):
        return None
    return BidsName(dict(pairs), match[2], match[3])


def data_set_root(path: Path) -> Path | None:
    """Return the folder above a file that describes the data set; None if there is none."""
    return next((folder for folder in path.resolve().parents if (folder / DESCRIPTION).is_file()), None)


_Pairs = frozenset[tuple[str, str]]


class Sidecars:
    """The metadata of files, from all JSON files that speak about them. Folders are listed once."""

    def __init__(self) -> None:
        self._shelves: dict[tuple[Path, str], dict[int, dict[_Pairs, Path]]] = {}

    def of(self, path: Path, suffix: str | None = None) -> dict[str, Any]:
        """Return what the sidecars of a file say, from the root down, nearer ones over farther ones.

        With another ``suffix`` (``events``), the sidecars of the files of that kind that belong to it.
        """
        name = parse_bids_name(path.name)
        if name is None:
            return {}
        folder = path.resolve().parent
        root = data_set_root(path) or folder
        folders = [root]
        for part in folder.relative_to(root).parts:
            folders.append(folders[-1] / part)
        merged: dict[str, Any] = {}
        for place in folders:
            by_length = self._shelf(place, suffix or name.suffix)
            for length in sorted(by_length):
                for entities in combinations(name.entities.items(), length):
                    if candidate := by_length[length].get(frozenset(entities)):
                        merged |= load_json(candidate)
        return merged

    def _shelf(self, folder: Path, suffix: str) -> dict[int, dict[_Pairs, Path]]:
        """Return the sidecars of one kind in a folder, by how many entities they have, and which."""
        if (folder, suffix) not in self._shelves:
            by_length: dict[int, dict[_Pairs, Path]] = {}
            for candidate in folder.glob(f"*{suffix}.json"):
                other = parse_bids_name(candidate.name)
                if other and other.suffix == suffix:
                    entities = frozenset(other.entities.items())
                    by_length.setdefault(len(entities), {})[entities] = candidate
            self._shelves[folder, suffix] = by_length
        return self._shelves[folder, suffix]


def load_json(path: Path) -> dict[str, Any]:
    """Return a JSON object.

    Raises:
        FileFormatError: If the file is none.
    """
    try:
        value = json.loads(path.read_text(encoding="utf-8-sig"))
    except (ValueError, OSError) as error:
        raise FileFormatError(path, expected="a JSON object", found=str(error)) from None
    if not isinstance(value, dict):
        raise FileFormatError(path, expected="a JSON object", found=type(value).__name__)
    return value


def units_of(about: Mapping[str, Any], column: str) -> Any:
    """Return the ``Units`` that a sidecar states for a column, or None."""
    described = about.get(column)
    return described.get("Units") if isinstance(described, dict) else None


class Labels:
    """Gives every text a label of letters and digits; no two texts share one, not even in another case."""

    def __init__(self, instead_of_nothing: str) -> None:
        self._instead_of_nothing = instead_of_nothing
        self._given: dict[str, str] = {}
        self._taken: set[str] = set()

    def of(self, text: str) -> str:
        """Return the text's label: itself if it can be one."""
        if text not in self._given:
            plain = "".join(letter for letter in text if letter.isascii() and letter.isalnum())[:40]
            base = label = plain or self._instead_of_nothing
            number = 1
            while label.casefold() in self._taken:
                number += 1
                label = f"{base}x{number}"
            self._taken.add(label.casefold())
            self._given[text] = label
        return self._given[text]


class Indices:
    """Gives every text a number; no two texts share one, and a text that is a number keeps it if it can."""

    def __init__(self) -> None:
        self._given: dict[str, str] = {}
        self._taken: set[int] = set()

    def of(self, text: str) -> str:
        """Return the text's number."""
        if text not in self._given:
            fits = text.isascii() and text.isdigit() and len(text) <= 6 and int(text) not in self._taken
            label = text if fits else str(max(self._taken, default=0) + 1)
            self._taken.add(int(label))
            self._given[text] = label
        return self._given[text]
