# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Hold every K-th gaze point and repeat it in between (temporal downsampling, Wilson 2024, section 3.2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from gazeveil.errors import OptionError
from gazeveil.exact import whole_number
from gazeveil.noise import NoiseSource
from gazeveil.privacy.guarantee import Guarantee, Unproven
from gazeveil.samples.mechanism import MECHANISMS, SampleMechanism, Veil
from gazeveil.samples.veils import CompiledVeil, Kernels

MOST = 10**6


@MECHANISMS.register("temporal")
@dataclass(frozen=True, slots=True, kw_only=True)
class TemporalHold(SampleMechanism):
    """Let every ``keep_every``-th point through and repeat it until the next.

    Guarantee: none. The points that pass are true gaze. Where gaze is missing when a point is due, the last gaze seen
    is repeated instead.

    Attributes:
        keep_every: K: one point of this many passes.
    """

    name: ClassVar[str] = "temporal"
    draws_noise: ClassVar[bool] = False

    keep_every: int = 3

    def __post_init__(self) -> None:
        SampleMechanism.__post_init__(self)
        keep_every = whole_number(self.keep_every, "keep_every", at_least=1)
        if keep_every > MOST:
            raise OptionError(f"keep_every must be at most {MOST:,} samples, not {keep_every:,}")
        object.__setattr__(self, "keep_every", keep_every)

    @property
    def guarantee(self) -> Guarantee:
        """Nothing is guaranteed."""
        return Unproven("the points that pass are true gaze (temporal downsampling, Wilson 2024)")

    def start(self, noise: NoiseSource) -> Veil:
        """Return a veil for a new stream."""
        from gazeveil.samples import point_kernels as kernels  # noqa: PLC0415

        return _HoldVeil(
            self, noise, Kernels(kernels.hold_step, kernels.hold_run), fixed=(self.keep_every,), integers=1, floats=3
        )


class _HoldVeil(CompiledVeil):
    """How many points until the next one passes, and the point being repeated."""

    __slots__ = ()

    def _is_sane(self) -> bool:
        from gazeveil.samples import point_kernels as kernels  # noqa: PLC0415

        return bool(0 <= self._clock[kernels.HOLD_LEFT] < self.mechanism.keep_every)  # type: ignore[attr-defined]
