# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""A Kalman filter as a veil: gaze as a random walk that is seen with errors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from gazeveil.noise import NoiseSource
from gazeveil.privacy.guarantee import Guarantee, Unproven
from gazeveil.samples.mechanism import MECHANISMS, SampleMechanism, Veil
from gazeveil.samples.veils import CompiledVeil, Kernels, positive


@MECHANISMS.register("kalman")
@dataclass(frozen=True, slots=True, kw_only=True)
class KalmanSmoothing(SampleMechanism):
    """Release what a filter believes that takes every sample for a noisy one.

    Guarantee: none. The filter's gains follow from the time stamps, which are public, so every step can be undone
    (compare erratum W3). Behind a veil with a guarantee it is post-processing and costs nothing. Where gaze is missing,
    the belief stays and the next sample counts for more.

    Attributes:
        error: How far a sample is taken to be off, in degrees (standard deviation); in a room, in its own unit.
        wander: How far gaze is taken to wander in a second, in degrees (standard deviation).
    """

    name: ClassVar[str] = "kalman"
    draws_noise: ClassVar[bool] = False

    error: float = 2.0
    wander: float = 4.0

    def __post_init__(self) -> None:
        SampleMechanism.__post_init__(self)
        positive(self, "error")
        positive(self, "wander")
        self.space.degrees(1.0)

    @property
    def guarantee(self) -> Guarantee:
        """Nothing is guaranteed."""
        return Unproven("a known filter can be undone step by step (W3)")

    def start(self, noise: NoiseSource) -> Veil:
        """Return a veil for a new stream."""
        from gazeveil.samples import point_kernels as kernels  # noqa: PLC0415

        fixed = (self.space.degrees(self.wander) ** 2, self.space.degrees(self.error) ** 2)
        return _KalmanVeil(self, noise, Kernels(kernels.kalman_step, kernels.kalman_run), fixed=fixed, floats=4)


class _KalmanVeil(CompiledVeil):
    """The belief and its variance."""

    __slots__ = ()

    def _is_sane(self) -> bool:
        return bool(self._memory[9] >= 0.0)
