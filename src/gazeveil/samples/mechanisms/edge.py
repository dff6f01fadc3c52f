# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What becomes of points beyond the edge: moved to it, or folded back (the noisy gaze processor, erratum K10)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from gazeveil.errors import OptionError
from gazeveil.noise import NoiseSource
from gazeveil.privacy.guarantee import Guarantee, Unproven
from gazeveil.samples.mechanism import MECHANISMS, SampleMechanism, Veil
from gazeveil.samples.veils import CompiledVeil, Kernels

RULES = ("clamp", "reflect")


@MECHANISMS.register("edge")
@dataclass(frozen=True, slots=True, kw_only=True)
class EdgeRule(SampleMechanism):
    """Bring every point into the space.

    Guarantee: none by itself; points inside pass as they are. Behind a veil with a guarantee it is post-processing.
    Before one it does no harm either: every point goes by itself, and no two end up farther apart than they were.
    Clamping piles points up at the edges; folding back does not. Missing gaze stays missing.

    Attributes:
        rule: ``clamp`` moves a point to the nearest edge, ``reflect`` folds it back inside.
    """

    name: ClassVar[str] = "edge"
    draws_noise: ClassVar[bool] = False
    keeps_distances: ClassVar[bool] = True

    rule: str = "clamp"

    def __post_init__(self) -> None:
        SampleMechanism.__post_init__(self)
        if self.rule not in RULES:
            raise OptionError(f"rule must be {' or '.join(RULES)}, not {self.rule!r}")

    @property
    def guarantee(self) -> Guarantee:
        """Nothing is guaranteed."""
        return Unproven("points inside the edges pass as they are")

    def start(self, noise: NoiseSource) -> Veil:
        """Return a veil for a new stream."""
        from gazeveil.samples import point_kernels as kernels  # noqa: PLC0415

        unused = 3 - self.space.axes
        low, high = (*self.space.low, *[-1.0] * unused), (*self.space.high, *[1.0] * unused)
        fixed = (float(self.rule == "reflect"), *low, *high)
        return CompiledVeil(self, noise, Kernels(kernels.edge_step, kernels.edge_run), fixed=fixed)
