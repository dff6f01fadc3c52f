# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""White box: a coarse grid tells which cell gaze is in, and when it leaves; between the two lies more than a cell.

Gaze near an edge of a cell flickers across it, for the tracker's own noise is a dither. Gaze that went a short way into
a neighbouring cell and stayed there more likely came from the near side. Smooth pursuit is not in the model.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from gazeveil.arrays import FloatArray
from gazeveil.errors import OptionError
from gazeveil.lab.attacks.contract import ATTACKS, Attack, Grant, Knowledge, Prepared, Trial
from gazeveil.lab.attacks.restoring import (
    AxisObservations,
    Gaze,
    Restoration,
    expected_path,
    fitting,
    if_named,
    noisy_part,
    undo_tail,
)
from gazeveil.samples.mechanism import SampleMechanism


@ATTACKS.register("spatial-dither")
@dataclass(frozen=True, slots=True, kw_only=True)
class SpatialDither(Attack):
    """The expected gaze under a hidden Markov model of drift and saccades, given the cell of every sample.

    Attributes:
        dither: Standard deviation of the tracker's noise, in degrees: how far from an edge gaze still flickers.
    """

    name: ClassVar[str] = "spatial-dither"
    threat_model: ClassVar[str] = "white box, cells and their edges"
    grants: ClassVar[frozenset[Grant]] = frozenset({Grant.MECHANISM})

    dither: float = 0.15

    def __post_init__(self) -> None:
        if not (math.isfinite(self.dither) and self.dither > 0):
            raise OptionError(f"dither must be above 0 degrees, not {self.dither!r}")

    def fits(self, mechanism: SampleMechanism) -> bool:
        """Whether the mechanism is a grid, or ends with one behind which there are only filters."""
        last = noisy_part(mechanism)
        return last is not None and if_named(last, "spatial") is not None

    def _prepare(self, knowledge: Knowledge, seed: int) -> Prepared:
        mechanism = fitting(self, knowledge)
        return Restoration(lambda veiled: self.guess(mechanism, veiled))

    def guess(self, mechanism: SampleMechanism, veiled: Trial) -> Gaze:
        """Return where gaze is expected to have been; one unit of the mechanism's space is a degree."""
        left, x, y = undo_tail(mechanism, veiled.t, veiled.x, veiled.y)
        grid = if_named(left[-1], "spatial")
        if grid is None:
            return x, y
        across, down = self._observations(grid, x), self._observations(grid, y)
        return expected_path(veiled.t, across), expected_path(veiled.t, down)

    def _observations(self, grid: Any, shown: FloatArray) -> AxisObservations:
        from gazeveil.lab.attacks import restoring_kernels as kernels  # noqa: PLC0415  (numba loads on use)

        cell = grid.cell
        low = np.rint((shown - (cell / 2.0 if grid.centred else 0.0)) / cell) * cell
        kind = np.full(len(shown), kernels.BETWEEN)
        grain = float(np.clip(cell / 12.0, 0.2, 0.5))
        ends = float(low.min()), float(low.max()) + cell
        middle = float(np.mean(low)) + cell / 2.0
        return AxisObservations(kind, low, low + cell, *ends, middle, grain, soft=math.sqrt(2.0) * self.dither)
