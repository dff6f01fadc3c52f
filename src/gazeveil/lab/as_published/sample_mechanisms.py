# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Mechanisms for gaze samples to the letter of their papers, to compare with.

Kaleido's algorithm 1 does not keep its guarantee (errata K1, K2, K3). Wilson's strengths come with the paper's bias
(W4) and its start from zero (W2).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from gazeveil.errors import OptionError, UnknownName, closest
from gazeveil.exact import above_zero
from gazeveil.privacy.guarantee import GazeStreamDP, Guarantee, Unproven
from gazeveil.samples.mechanism import MECHANISMS, SampleMechanism
from gazeveil.samples.mechanisms.kaleido import check_tests
from gazeveil.samples.recipes import PRESETS, Preset
from gazeveil.samples.space import Space
from gazeveil.samples.stream import Compiled, StreamMechanism, StreamPlan
from gazeveil.samples.window_budget import LONGEST_WINDOW, LOSS_UNIT, Rule

REASON = (
    "Kaleido as published: test noise that ignores the radius (K1), one test too few in a window (K2), "
    "windows counted in samples (K3)"
)


@MECHANISMS.add_unlisted("kaleido-as-published")
@dataclass(frozen=True, slots=True, kw_only=True)
class KaleidoAsPublished(StreamMechanism):
    """Tests with noise of scale 1 / ε_test, releases with half of what is left of a window counted in samples.

    Guarantee: none; with ``radius`` in pixels the tests lose about ``radius`` times what the paper says.

    Attributes:
        h: One h-th of a window's budget goes to its tests.
        t_skip: The least time between two tests, in seconds.
        l_thresh: How far gaze must be from the latest output to be published, in the unit of the space.
        rate_hz: The nominal rate of samples, by which windows are counted.
    """

    name: ClassVar[str] = "kaleido-as-published"
    filter: bool = False
    h: Fraction = Fraction(10)
    t_skip: Fraction = Fraction(1, 20)
    l_thresh: float = 100.0
    rate_hz: Fraction = Fraction(120)

    def compiled(self) -> Compiled:
        """Return the compiled kernels that take one sample, and many; numba loads on use."""
        from gazeveil.samples import release_kernels as kernels  # noqa: PLC0415

        return kernels.tested_step, kernels.tested_run

    @property
    def guarantee(self) -> Guarantee:
        """Nothing is guaranteed."""
        return Unproven(REASON, unit=self.claimed.unit)

    @property
    def claimed(self) -> GazeStreamDP:
        """What the paper claims."""
        return GazeStreamDP(self.epsilon, self.window, self.radius, self.space.unit)

    @property
    def tests(self) -> int:
        """How many tests a window is said to have."""
        return math.ceil(self.window / self.t_skip)

    @property
    def fixed(self) -> str:
        """The paper has no accounting for a privacy level that is turned."""
        return "Kaleido as published does not say what a change costs (K4); 'kaleido' does"

    def plan(self) -> StreamPlan:
        """Return what the algorithm spends; its windows are this many samples long."""
        rule = self._rule()
        samples = round(self.window * self.rate_hz)
        if samples < 1:
            raise OptionError("a window must hold at least one sample", hint="use a longer window or a higher rate")
        # windows are counted in samples, so a sample may last as long as suits the ledger, which keeps ten seconds
        sample_us = LONGEST_WINDOW * 1_000_000 // samples
        releases = Rule(rule.cap - math.floor(rule.cap / self.h), (samples - 1) * sample_us)
        test_noise = math.ceil(self.epsilon / (self.h * self.tests) * (LOSS_UNIT + (LOSS_UNIT >> 10)))
        least = max(1, rule.cap >> 20)
        own = (2.0, float(test_noise), self.l_thresh, 0.0, float(least), 0.0, 0.0, float(sample_us))
        return StreamPlan(
            releases,
            releases.cap // 2,
            math.ceil(self.t_skip * 1_000_000),
            least_loss=least,
            spacing_us=sample_us,
            own=own,
        )

    def _check(self) -> None:
        check_tests(self)
        for name in ("h", "rate_hz"):
            object.__setattr__(self, name, above_zero(getattr(self, name), name))
        if not self.t_skip or self.h <= 1 or not 0 <= self.l_thresh <= 1e9 or self.rate_hz > 10_000:
            raise OptionError("t_skip must be above 0, h above 1, l_thresh at least 0, rate_hz at most 10,000")


# --- Wilson's strengths as published: also with the paper's bias (W4) and its start from zero (W2); and all presets.


ALL_PRESETS: dict[str, Preset] = {
    **PRESETS,
    "spatial-low-as-published": Preset("spatial", {"factor": 48.0, "centred": False}),
    "spatial-high-as-published": Preset("spatial", {"factor": 144.0, "centred": False}),
    "smoothing-low-as-published": Preset("smoothing", {"window": 50, "start_with": "zeros"}),
    "smoothing-high-as-published": Preset("smoothing", {"window": 150, "start_with": "zeros"}),
}
"""The presets of the product, and those that only the lab knows."""


def preset(name: str, space: Space, **changes: Any) -> SampleMechanism:
    """Return the mechanism of a preset in a space; ``changes`` win over the preset's own parameters.

    Raises:
        UnknownName: If there is no such preset.
    """
    if name not in ALL_PRESETS:
        raise UnknownName(f"no preset is called {name!r}", hint=closest(name, ALL_PRESETS))
    return ALL_PRESETS[name].mechanism_in(space, **changes)
