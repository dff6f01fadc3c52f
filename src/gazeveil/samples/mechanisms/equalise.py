# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Fixations that all last equally long (Kaleido 2021, section 8; Wilson 2024, future work)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from gazeveil.errors import OptionError
from gazeveil.noise import NoiseSource
from gazeveil.privacy.guarantee import Guarantee, Unproven
from gazeveil.samples.mechanism import MECHANISMS, SampleMechanism, Veil
from gazeveil.samples.space import in_degrees
from gazeveil.samples.veils import CompiledVeil, Kernels, positive

BETWEEN = ("nothing", "hold")


@MECHANISMS.register("equalise")
@dataclass(frozen=True, slots=True, kw_only=True)
class EqualFixations(SampleMechanism):
    """Show one point for a fixed time per fixation, and nothing, or the same point, until the next.

    Gaze that stays within ``radius`` of its running centre for ``settle`` seconds is a fixation; its centre so far is
    shown for ``show`` seconds. One that settles while another is shown waits its turn, and the latest such one gets it.

    What it protects: two streams whose fixations settle at the same times in the same places give the same output,
    however long each of them lasts, and whatever the eye did in between. What it does not: where fixations are, how
    many there are, and when each begins. The time from one beginning to the next still bounds how long a fixation
    can have been. So no guarantee of ours is made. Where gaze is missing, nothing is found, and what is shown stays.

    Attributes:
        show: T, how long each fixation is shown, in seconds.
        settle: How long gaze must stay to be a fixation, in seconds.
        radius: How far from its centre a fixation reaches, in degrees; in a room, in its own unit.
        between: ``nothing`` (no point, NaN) or ``hold`` (the last point stays in sight).
    """

    name: ClassVar[str] = "equalise"
    draws_noise: ClassVar[bool] = False

    show: float = 0.25
    settle: float = 0.1
    radius: float = 1.0
    between: str = "nothing"

    def __post_init__(self) -> None:
        SampleMechanism.__post_init__(self)
        object.__setattr__(self, "radius", in_degrees(self.radius, self.space, "radius"))
        for name in ("show", "settle", "radius"):
            positive(self, name)
        if max(self.show, self.settle) > 3600:
            raise OptionError("show and settle are at most an hour")
        if self.between not in BETWEEN:
            raise OptionError(f"between must be {' or '.join(BETWEEN)}, not {self.between!r}")
        self.space.degrees(self.radius)

    @property
    def guarantee(self) -> Guarantee:
        """Nothing is guaranteed."""
        return Unproven("durations are equal, but places and beginnings of fixations are released (Kaleido, section 8)")

    def start(self, noise: NoiseSource) -> Veil:
        """Return a veil for a new stream."""
        from gazeveil.samples import point_kernels as kernels  # noqa: PLC0415

        fixed = (
            self.space.degrees(self.radius),
            round(self.settle * 1e6),
            round(self.show * 1e6),
            float(self.between == "hold"),
        )
        return CompiledVeil(
            self, noise, Kernels(kernels.equalise_step, kernels.equalise_run), fixed=fixed, integers=7, floats=9
        )
