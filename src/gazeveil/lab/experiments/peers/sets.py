# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The participants that baselines are judged on, by name."""

from __future__ import annotations

from pathlib import Path

from gazeveil.lab.datasets.eyetribe import EYETRIBE_FILE
from gazeveil.lab.datasets.folder import need_data
from gazeveil.lab.datasets.vr_objects import VR_FOLDER
from gazeveil.lab.experiments.identity_data import IdentitySet, simulated_people, vr_people
from gazeveil.lab.experiments.peers.features import SeriesSet, eyetribe_runs, readers


def gaze_set(name: str, data: Path | None, people: int, seconds: float) -> IdentitySet:
    """Return ``vr`` or ``simulated`` participants with this many seconds of every session.

    Raises:
        InputError: If the data are not there.
    """
    if name == "simulated":
        return simulated_people(people, 4, seconds)
    return vr_people(need_data(data) / VR_FOLDER, seconds).some(people)


def series_set(name: str, data: Path | None, people: int, seconds: float) -> SeriesSet:
    """Return ``readers``, who read this many seconds, or the runs of ``eyetribe``.

    Raises:
        InputError: If the data are not there.
    """
    return readers(people, seconds) if name == "readers" else eyetribe_runs(need_data(data) / EYETRIBE_FILE, people)
