# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""A window of gaze as one row of numbers, from the groups an attacker chooses and is allowed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

import numpy as np

from gazeveil.arrays import FloatArray
from gazeveil.errors import OptionError, closest
from gazeveil.lab.attacks.contract import Trial
from gazeveil.lab.attacks.features.cache import cached
from gazeveil.lab.attacks.features.event_features import events
from gazeveil.lab.attacks.features.motion_features import ALLOWED, MOTION
from gazeveil.lab.attacks.features.movement import Movement, stretches

GROUPS: Final[Mapping[str, Callable[[Movement], FloatArray]]] = MappingProxyType({**MOTION, "events": events})
"""Groups that use neither absolute position nor pupil."""

_MEASURES = {**GROUPS, **ALLOWED}

SECONDS: Final = 20.0
STEP: Final = 10.0
"""Windows where nothing else is stated: long enough for some dozens of saccades."""

_FEWEST_SAMPLES = 50


@dataclass(frozen=True, slots=True)
class Description:
    """What is measured of a window.

    Attributes:
        groups: Which groups of features; names of `GROUPS`.
        allow: What the attacker may look at beside movement: ``position``, ``pupil``, both or nothing.
        seconds: How long a window is; infinite for whole trials.
        step: How much later the next window begins.
    """

    groups: tuple[str, ...]
    allow: frozenset[str]
    seconds: float
    step: float

    def __post_init__(self) -> None:
        for chosen, known in ((self.groups, GROUPS), (self.allow, ALLOWED)):
            if unknown := sorted(set(chosen) - set(known)):
                raise OptionError(f"no feature is called {unknown[0]!r}", hint=closest(unknown[0], known))
        if not self.groups and not self.allow:
            raise OptionError("an attacker who uses no fields can identify no one", hint="choose at least one group")
        if not self.seconds > 0 or not self.step > 0:
            raise OptionError(f"windows and steps must be longer than 0 s, not {self.seconds!r} and {self.step!r}")

    def rows(self, trial: Trial) -> FloatArray:
        """Return a row for every window of a trial that has enough gaze."""
        names = (*self.groups, *sorted(self.allow))
        return np.concatenate([self._of_group(name, trial) for name in names], axis=1)

    def _of_group(self, name: str, trial: Trial) -> FloatArray:
        measure = _MEASURES[name]

        def work_out(trial: Trial) -> FloatArray:
            movements = [Movement.of(window) for window in stretches(trial, self.seconds, self.step)]
            rows = [measure(one) for one in movements if np.isfinite(one.x).sum() >= _FEWEST_SAMPLES]
            return np.array(rows) if rows else np.empty((0, 0))

        seen = trial if name == "pupil" else trial.with_gaze(trial.x, trial.y)  # what is denied cannot leak
        return cached((name, self.seconds, self.step), seen, work_out)
