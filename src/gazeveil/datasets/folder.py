# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The folder that holds the data sets."""

from __future__ import annotations

from pathlib import Path

from gazeveil.datasets.dorr2010 import DORR_FOLDER
from gazeveil.datasets.jemr2022 import JEMR_FOLDER
from gazeveil.datasets.lund2013 import LUND_FOLDER
from gazeveil.datasets.vr_objects import VR_FOLDER
from gazeveil.errors import InputError

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
    here = Path.cwd()
    for base in (here, *here.parents):
        for folder in (base / "data", base / "shared" / "data"):
            if any((folder / name).is_dir() for name in _KNOWN):
                return folder
    return None
