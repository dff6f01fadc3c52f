# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Read a real file with gazeveil, and compare every sample with the plain parse."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gazeveil import read, screen
from gazeveil.errors import GazeveilError
from gazeveil.gaze.reading import Reading
from tests.real_files.plain import Rows, plain_rows
from tests.real_files.sources import Source

TOLERANCE = 1e-9
"""Absolute for places; relative too, because nanoseconds since 1970 have more digits than a float keeps."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one file: ``equal`` is None where it was refused or there is no plain parser."""

    repository: str
    commit: str
    path: str
    format: str
    samples: int
    tracked: int
    equal: bool | None
    refusal: str = ""
    remarks: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, object]:
        """Return it as plain values."""
        return asdict(self)


def check(source: Source, folder: Path) -> Outcome | None:
    """Return what came of a file; None if it is not there."""
    path = source.at(folder)
    if not path.exists():
        return None
    about = (source.repository, source.commit, source.path)
    try:
        reading = read(path, **_options(source.given))
    except GazeveilError as error:
        # the file is told beside, and its folder is nobody's business
        said = f"{error}".replace(f"{path}: ", "").replace(f"{path}, ", "").replace(str(path), path.name)
        return Outcome(*about, "", 0, 0, None, " ".join(said.split()))
    ours, remarks = our_rows(reading), reading.report.in_words()
    try:
        theirs = plain_rows(reading.format, path, source.given)
    except (ValueError, LookupError, StopIteration) as error:
        theirs = None
        remarks.append(f"the plain parse failed: {type(error).__name__} {error}")
    tracked = int((~np.isnan(ours[:, 1])).sum())
    equal = None if theirs is None else same(ours, theirs)
    return Outcome(*about, reading.format, len(ours), tracked, equal, remarks=tuple(remarks))


def our_rows(reading: Reading) -> Rows:
    """Return all samples of all recordings: seconds, x and y, the latter not a number where gaze is lost."""
    parts = [
        np.column_stack([each.t, np.where(each.tracked, each.x, np.nan), np.where(each.tracked, each.y, np.nan)])
        for each in reading.recordings
    ]
    return np.concatenate(parts) if parts else np.empty((0, 3))


def same(ours: Rows, theirs: Rows) -> bool:
    """Whether both have the same samples: as many, in the file's order, or sorted where recordings are interleaved."""
    if ours.shape != theirs.shape:
        return False
    if _close(ours, theirs):
        return True
    return _close(*(rows[np.lexsort(rows.T[::-1])] for rows in (ours, theirs)))


def _close(ours: Rows, theirs: Rows) -> bool:
    return bool(np.allclose(ours, theirs, rtol=1e-15, atol=TOLERANCE, equal_nan=True))


def _options(given: Mapping[str, Any]) -> dict[str, Any]:
    options = dict(given)
    if size := options.pop("screen", None):
        options["geometry"] = screen(*size)
    return options
