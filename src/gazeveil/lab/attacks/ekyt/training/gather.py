# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Training data from real gaze: trials of any source as velocities, and what lies at some paths."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

from gazeveil.errors import InputError
from gazeveil.geometry import Geometry
from gazeveil.lab.attacks.contract import Trial
from gazeveil.lab.attacks.ekyt.network.preprocess import velocities
from gazeveil.lab.attacks.ekyt.training.dataset import Velocities, load, packed
from gazeveil.lab.attacks.trials import trials_at


def velocities_of(
    trials: Iterable[Trial],
    rate_hz: float,
    about: dict[str, Any] | None = None,
    tell: Callable[[int], None] | None = None,
) -> Velocities:
    """Return trials as velocities at one rate, one recording each; sessions are numbered in the order of names."""
    found = []
    for trial in trials:
        velocity = packed(velocities(trial.t, trial.x, trial.y, trial.rate_hz, rate_hz))
        found.append((trial.person, trial.session, velocity))
        if tell is not None:
            tell(len(found))
    if not found:
        raise InputError("there is no gaze to train on")
    names = tuple(sorted({person for person, _, _ in found}))
    days = sorted({session for _, session, _ in found}, key=lambda name: (len(name), name))
    return Velocities(
        tuple(velocity for _, _, velocity in found),
        np.array([names.index(person) for person, _, _ in found], dtype=np.int32),
        np.array([days.index(session) + 1 for _, session, _ in found], dtype=np.int32),
        names,
        rate_hz,
        about or {},
    )


def gathered(
    paths: list[Path],
    rate_hz: float,
    tell: Callable[[int], None] | None = None,
    plane: Geometry | None = None,
) -> Velocities:
    """Return what lies at some paths: files of velocities, or gaze as `trials_at` finds it; tell how many trials."""
    if all(path.suffix == ".npz" for path in paths):
        kept = load(paths)
        if kept.rate_hz != rate_hz:
            raise InputError(f"the velocities are at {kept.rate_hz:g} Hz, not at {rate_hz:g}", hint="give their --rate")
        return kept
    about = {"source": [path.name for path in paths]}
    return velocities_of((trial for path in paths for trial in trials_at(path, plane)), rate_hz, about, tell)
