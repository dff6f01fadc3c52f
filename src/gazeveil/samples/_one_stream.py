# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Many trials of an audit in one stream: they follow one another so far apart that no window meets two of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from gazeveil.arrays import FloatArray
from gazeveil.noise import NoiseSource
from gazeveil.privacy.audit.events import Outputs
from gazeveil.samples.mechanism import SampleMechanism


class Watched(Protocol):
    """Gaze, and which of its samples the auditor looks at."""

    @property
    def t(self) -> FloatArray:
        """When samples are taken."""
        ...

    @property
    def axes(self) -> tuple[FloatArray, ...]:
        """Gaze, one list a coordinate."""
        ...

    @property
    def seen(self) -> NDArray[Any]:
        """The samples that are looked at."""
        ...

    @property
    def width(self) -> int:
        """How many numbers an output has; those without a sample are 0."""
        ...


@dataclass(frozen=True, slots=True)
class OneStream:
    """A mechanism on one long stream. Half of the trials are stepped through, as a live app does; the rest is a file.

    Attributes:
        mechanism: What is audited.
        apart: How many seconds after one trial the next begins; longer than any window and turn, and a trial.
    """

    mechanism: SampleMechanism
    apart: float

    def run(self, data: Watched, noise: NoiseSource, trials: int) -> Outputs:
        """Return what is shown at the samples that are looked at, coordinates by turns."""
        veil = self.mechanism.start(noise)
        names = {2: ("step", "run"), 3: ("step3", "run3"), 4: ("step_both", "run_both")}[len(data.axes)]
        step, run = (getattr(veil, name) for name in names)
        t = (np.arange(trials)[:, None] * self.apart + data.t).ravel()
        gaze = [np.tile(axis, trials) for axis in data.axes]
        live = (trials + 1) // 2 * len(data.t)
        columns: list[Any] = [t, *gaze]
        shown = np.array([step(*now) for now in zip(*(column[:live].tolist() for column in columns), strict=True)])
        if live < len(t):
            shown = np.vstack([shown, np.column_stack(run(*(column[live:] for column in columns)))])
        looked_at = shown.reshape(trials, len(data.t), -1)[:, data.seen].reshape(trials, -1)
        rows = np.zeros((trials, data.width))
        rows[:, : looked_at.shape[1]] = looked_at
        return rows
