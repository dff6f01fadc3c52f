# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Kaleido (Li, Chowdhury, Fawaz, Kim 2021), corrected: publish when a private test says that gaze has moved.

Corrected are the noise of the tests, which must grow with the radius (K1), the number of tests in a window (K2), and
windows, which are of time instead of samples (K3). The privacy level is accounted for (K4). Proof:
docs/proofs/gaze-stream.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from gazeveil.errors import OptionError
from gazeveil.exact import at_least_zero, exact
from gazeveil.samples.mechanism import MECHANISMS
from gazeveil.samples.stream import Compiled, StreamMechanism, StreamPlan, grain_of
from gazeveil.samples.window_budget import Rule

LEAST_SHARE = Fraction(1, 4096)
"""No release gets less of a window's budget than this: its noise would only leave the screen."""


@MECHANISMS.register("kaleido")
@dataclass(frozen=True, slots=True, kw_only=True)
class Kaleido(StreamMechanism):
    """A private test of distance every ``t_skip`` seconds; where it says far, a noisy point with half of what is left.

    The defaults were tuned on simulated gaze.

    Attributes:
        test_share: The share of a window's budget that all its tests get; 1 / h in the paper.
        t_skip: The least time between two tests, in seconds; 0 takes a tenth of the window.
        l_thresh: How far gaze must be from the latest output to be worth publishing, as a share of the space's
            diagonal. Public.
        floor: The least share of a window's budget that a release may get; below it nothing is published (K8).
    """

    name: ClassVar[str] = "kaleido"
    test_share: Fraction = Fraction(1, 20)
    t_skip: Fraction = Fraction(0)
    l_thresh: float = 0.05
    floor: Fraction = Fraction(1, 20)

    def compiled(self) -> Compiled:
        """Return the compiled kernels that take one sample, and many; numba loads on use."""
        from gazeveil.samples import release_kernels as kernels  # noqa: PLC0415

        return kernels.tested_step, kernels.tested_run

    def plan(self) -> StreamPlan:
        """Return what tests and releases may cost."""
        return halving(self, self._rule(), threshold=self.l_thresh * math.hypot(*self.space.size))

    def _check(self) -> None:
        check_tests(self)
        for name in ("test_share", "floor"):
            object.__setattr__(self, name, exact(getattr(self, name), name))
        if not (0 < self.test_share < 1 and 0 <= self.floor < 1):
            raise OptionError("test_share and floor are shares of a window's budget, between 0 and 1")
        if not 0 <= self.l_thresh <= 1:
            raise OptionError(f"l_thresh is a share of the diagonal, between 0 and 1, not {self.l_thresh!r}")


def halving(mechanism: Any, rule: Rule, *, threshold: float = 0.0, noises: float = 0.0) -> StreamPlan:
    """Return what tests and releases may cost where a release gets half of what is left in the window.

    Raises:
        OptionError: If nothing is left to publish with.
    """
    spacing, tests, cost = tests_in(rule, mechanism.t_skip or mechanism.window / 10, mechanism.test_share)
    releases = Rule(rule.cap - tests * cost, rule.window_us)
    least = math.ceil(max(mechanism.floor, LEAST_SHARE) * rule.cap)
    if least > releases.cap // 2:
        raise OptionError("floor and test_share leave nothing to publish with", hint="lower the floor")
    own = (0.0, float(cost), threshold, noises, float(least))
    return StreamPlan(releases, releases.cap // 2, spacing, Rule(tests * cost, rule.window_us), least, own=own)


def tests_in(rule: Rule, t_skip: Fraction, share: Fraction) -> tuple[int, int, int]:
    """Return the spacing of tests in microseconds, how many a closed window can hold, and what each may cost.

    Raises:
        OptionError: If there are so many that a test would have no budget.
    """
    spacing = math.ceil(t_skip * 1_000_000)
    tests = rule.window_us // spacing + 1
    cost = math.floor(share * rule.cap / tests)
    if cost < 1:
        raise OptionError("there are too many tests in a window for its budget", hint="use a larger t_skip")
    return spacing, tests, cost


def check_tests(mechanism: StreamMechanism) -> None:
    """Check the time between tests, and that the radius is far above the grain that distances are rounded to."""
    t_skip = at_least_zero(mechanism.t_skip, "t_skip")  # type: ignore[attr-defined]
    object.__setattr__(mechanism, "t_skip", t_skip)
    if t_skip and not Fraction(1, 1000) <= t_skip <= 10:
        raise OptionError(f"t_skip must be between 0.001 and 10 seconds, not {float(t_skip):g}")
    if mechanism.radius < 2048 * Fraction(grain_of(mechanism.space.size)):
        raise OptionError(
            f"radius must be at least {2048 * grain_of(mechanism.space.size):g} here, so that distances can be tested"
        )
