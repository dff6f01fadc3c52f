# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Participants who saw the same films repeatedly on two days (Dorr et al. 2010), 250 Hz, by the folder's path.

Each of six films of about 20 s was shown five times on one day and five times on another. The University of Lübeck
gives the recordings away as text, a file a showing: ``AMS1_rep_10_beach.coord``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import numpy as np

from gazeveil.errors import FileFormatError, InputError
from gazeveil.gaze.recording import Recording
from gazeveil.geometry import screen

DORR_FOLDER: Final = Path("dorr2010") / "repetitive_gaze"
"""Where the files lie in the folder of data sets."""

_NAME = re.compile(r"(?P<person>\w+?)_rep_(?P<showing>\d+)_(?P<film>\w+)")
_HEADER = ("gaze 1280 720", "geometry distance 0.45 width 0.4 height 0.225")
_PLANE = screen(1280, 720, 400, 225, 450)
_A_DAY: Final = 5


def dorr2010(folder: Path | str) -> Iterator[Recording]:
    """Yield the showings, participant by participant in the order they were seen.

    A session is a day, a stimulus a film.

    Raises:
        InputError: If there are none.
        FileFormatError: If one is not as we expect.
    """
    met = [(name, path) for path in Path(folder).glob("*.coord") if (name := _NAME.fullmatch(path.stem))]
    if not met:
        raise InputError(f"{folder} has no files like AMS1_rep_10_beach.coord", hint="they come from Dorr et al. 2010")
    for name, path in sorted(met, key=lambda one: (one[0]["person"], int(one[0]["showing"]), one[0]["film"])):
        showing = int(name["showing"])
        t, x, y, there = _columns(path)
        yield Recording(
            t / 1e6, x, y, _PLANE, name["person"], name["film"],
            session="1" if showing <= _A_DAY else "2", trial=str(showing), valid=there > 0,
        )  # fmt: skip


def _columns(path: Path) -> tuple[np.ndarray, ...]:
    lines = path.read_text(encoding="utf-8").splitlines()
    if tuple(lines[:2]) != _HEADER:
        raise FileFormatError(path, expected=" / ".join(_HEADER), found=" / ".join(lines[:2]) or "an empty file")
    try:
        found = np.array([line.split() for line in lines[2:]], dtype=np.float64).reshape(-1, 4)
    except ValueError:
        raise FileFormatError(path, expected="time, x, y and validity in every line", found="something else") from None
    return tuple(found.T)
