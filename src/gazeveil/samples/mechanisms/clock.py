# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The default for Kaleido's guarantee: noisy points on a public clock, and a filter that knows how eyes move.

When to publish never depends on gaze, so no budget goes into tests. A few ticks per window, chosen in advance, get
planar Laplace noise; between them the filter's estimate goes out. Proof: docs/proofs/gaze-stream.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from gazeveil.errors import OptionError
from gazeveil.exact import whole_number
from gazeveil.samples import gaze_model
from gazeveil.samples.gaze_model import ContentRegion, Prior, content_regions, prior_of
from gazeveil.samples.mechanism import MECHANISMS
from gazeveil.samples.space import Sphere
from gazeveil.samples.stream import LONGEST_LAG, Compiled, StreamMechanism, StreamPlan, check_seconds


@MECHANISMS.register("clock")
@dataclass(frozen=True, slots=True, kw_only=True)
class Clock(StreamMechanism):
    """Planar Laplace noise on a public clock, then a Kalman filter.

    Attributes:
        ticks: How many ticks share a window's budget; 0 takes the number of least expected error.
        lag: By how many seconds the output looks back, 0 to 0.5: an estimate of a while ago is much better, and free.
        content: What is on the screen, if that is public and stays the same: regions that draw the eye, each (left,
            top, right, bottom, weight). It must not follow from the gaze that is protected. For content that changes
            see `StreamVeil.expect`.
    """

    name: ClassVar[str] = "clock"
    ticks: int = 0
    lag: float = 0.0
    content: tuple[ContentRegion, ...] | None = None

    def compiled(self) -> Compiled:
        """Return the compiled kernels that take one sample, and many; numba loads on use."""
        from gazeveil.samples import release_kernels as kernels  # noqa: PLC0415

        return kernels.clock_step, kernels.clock_run

    @property
    def delay(self) -> float:
        """By how many seconds the output looks back."""
        return float(self.lag)

    @property
    def chosen_ticks(self) -> int:
        """How many ticks a window has."""
        if self.ticks:
            return self.ticks
        scale = float(self.radius / self.epsilon)
        variance = gaze_model.OF_DIRECTIONS if isinstance(self.space, Sphere) else gaze_model.ON_A_SCREEN
        return gaze_model.choose_ticks(gaze_model.EYES, self.space.usual, scale, float(self.window), variance)

    def prior(self) -> Prior:
        """Return what is known of gaze before any is seen, given what is shown."""
        return prior_of(self.space, self.content, self.model)

    def plan(self) -> StreamPlan:
        """Return the loss of a tick and the time between two."""
        rule, ticks = self._rule(), self.chosen_ticks
        return StreamPlan(rule, rule.cap // ticks, max(1, rule.window_us // ticks))

    def _check(self) -> None:
        if whole_number(self.ticks, "ticks", at_least=0) > 1000:
            raise OptionError(f"ticks must be at most 1000, not {self.ticks}")
        check_seconds(self.lag, 0.0, LONGEST_LAG, "lag")
        if self.lag and not self.filter:
            raise OptionError("a lag needs the filter: without it there is nothing to look back on")
        if self.content is not None:
            if not self.filter:
                raise OptionError("content needs the filter: without it nothing is expected")
            object.__setattr__(self, "content", content_regions(self.content))
            self.prior()
