# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The folder that holds the data sets."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from gazeveil.errors import InputError
from gazeveil.lab.datasets.dorr2010 import DORR_FOLDER
from gazeveil.lab.datasets.jemr2022 import JEMR_FOLDER
from gazeveil.lab.datasets.lund2013 import LUND_FOLDER
from gazeveil.lab.datasets.vr_objects import VR_FOLDER

_KNOWN = (VR_FOLDER, LUND_FOLDER, JEMR_FOLDER, DORR_FOLDER.parts[0])


def find_data(given: Path | None) -> Path | None:
    """Return the folder that holds the data sets: the given one, or data/ or shared/data/ here or above, or None.

    Raises:
        InputError: If the given folder holds none of them.
    """
    if given is not None:
        if not any((given / name).is_dir() for name in _KNOWN):
            raise InputError(
                f"{given} has no folder {', '.join(_KNOWN[:-1])} or {_KNOWN[-1]}",
                hint="leave --data out to use simulated streams",
            )
        return given
    return next((folder for folder in _folders() if any((folder / name).is_dir() for name in _KNOWN)), None)


def need_data(given: Path | None, hint: str = "say where it is with --data FOLDER") -> Path:
    """Return the folder that holds the data sets, as `find_data` does.

    Raises:
        InputError: If there is none, with the hint; or if the given folder holds none of them.
    """
    folder = find_data(given)
    if folder is None:
        raise InputError("no folder of data sets is here or above", hint=hint)
    return folder


def found_above(name: str) -> Path | None:
    """Return the folder of one data set, in data/ or shared/data/ here or above, or None."""
    return next((folder / name for folder in _folders() if (folder / name).is_dir()), None)


def _folders() -> Iterator[Path]:
    here = Path.cwd()
    for base in (here, *here.parents):
        yield base / "data"
        yield base / "shared" / "data"
