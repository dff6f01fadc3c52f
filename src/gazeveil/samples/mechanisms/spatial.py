# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""A coarse grid: all gaze in a cell becomes one point (spatial downsampling, Wilson 2024, section 3.2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from gazeveil.noise import NoiseSource
from gazeveil.privacy.guarantee import Guarantee, Unproven
from gazeveil.samples.mechanism import MECHANISMS, SampleMechanism, Veil
from gazeveil.samples.veils import CompiledVeil, Kernels, positive, truth

POINTS_PER_DEGREE = 2160 / 180
"""The paper's reference grid: 2160 points over 180 degrees."""


@MECHANISMS.register("spatial")
@dataclass(frozen=True, slots=True, kw_only=True)
class SpatialGrid(SampleMechanism):
    """Give all gaze in a cell the same point.

    Guarantee: none. The map is fixed and known, so whoever sees the cell knows that gaze was in it, and when it moved
    to the next. Where gaze is missing, the last gaze seen stays.

    Attributes:
        factor: L: a cell is L points of a grid of 2160 points over 180 degrees, that is, L / 12 degrees wide. In a
            room, L / 12 of its own unit.
        centred: Whether the point is the cell's middle. As published it is its lower corner, which moves all gaze by
            half a cell (erratum W4).
    """

    name: ClassVar[str] = "spatial"
    draws_noise: ClassVar[bool] = False

    factor: float = 48.0
    centred: bool = True

    def __post_init__(self) -> None:
        SampleMechanism.__post_init__(self)
        positive(self, "factor")
        truth(self, "centred")
        self.space.degrees(self.factor)

    @property
    def cell(self) -> float:
        """How wide a cell is in the unit of the space."""
        return self.space.degrees(self.factor / POINTS_PER_DEGREE)

    @property
    def guarantee(self) -> Guarantee:
        """Nothing is guaranteed."""
        return Unproven("a known, fixed grid reveals which cell gaze is in, and when it leaves (W4)")

    def start(self, noise: NoiseSource) -> Veil:
        """Return a veil for a new stream."""
        from gazeveil.samples import point_kernels as kernels  # noqa: PLC0415

        shift = self.cell / 2.0 if self.centred else 0.0
        return CompiledVeil(self, noise, Kernels(kernels.grid_step, kernels.grid_run), fixed=(self.cell, shift))
