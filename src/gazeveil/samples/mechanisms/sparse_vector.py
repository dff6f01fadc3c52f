# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The sparse vector technique for gaze: test often, pay once for all tests up to the next release.

An epoch's tests go on only while the window has room for that epoch, so a window meets no more epochs than releases.
Proof: docs/proofs/gaze-stream.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from gazeveil.errors import OptionError
from gazeveil.exact import exact, whole_number
from gazeveil.samples.mechanism import MECHANISMS
from gazeveil.samples.mechanisms.kaleido import check_tests
from gazeveil.samples.stream import Compiled, StreamMechanism, StreamPlan


@MECHANISMS.register("sparse-vector")
@dataclass(frozen=True, slots=True, kw_only=True)
class SparseVector(StreamMechanism):
    """Above-threshold tests of how far gaze is from the latest output; a noisy point where they say far.

    The defaults were tuned on simulated gaze.

    Attributes:
        releases: How many releases share a window's budget.
        test_share: The share of an epoch's budget that its tests get.
        t_skip: The least time between two tests, in seconds; 0 takes a tenth of the window.
        l_thresh: How far gaze must be from the latest output, as a share of the space's diagonal.
    """

    name: ClassVar[str] = "sparse-vector"
    releases: int = 1
    test_share: Fraction = Fraction(1, 10)
    t_skip: Fraction = Fraction(0)
    l_thresh: float = 0.1

    def compiled(self) -> Compiled:
        """Return the compiled kernels that take one sample, and many; numba loads on use."""
        from gazeveil.samples import release_kernels as kernels  # noqa: PLC0415

        return kernels.sparse_step, kernels.sparse_run

    def plan(self) -> StreamPlan:
        """Return what an epoch and its release cost."""
        rule = self._rule()
        epoch = rule.cap // self.releases
        tests = math.floor(epoch * self.test_share)
        if tests < 1:
            raise OptionError("test_share leaves nothing to test with", hint="raise it, or use fewer releases")
        spacing = math.ceil((self.t_skip or self.window / 10) * 1_000_000)
        own = (float(tests), self.l_thresh * math.hypot(*self.space.size))
        return StreamPlan(rule, epoch - tests, spacing, epoch_loss=tests, own=own)

    def _check(self) -> None:
        check_tests(self)
        whole_number(self.releases, "releases", at_least=1)
        object.__setattr__(self, "test_share", exact(self.test_share, "test_share"))
        if not 0 < self.test_share < 1:
            raise OptionError("test_share is a share of a window's budget, between 0 and 1")
        if not 0 <= self.l_thresh <= 1:
            raise OptionError(f"l_thresh is a share of the diagonal, between 0 and 1, not {self.l_thresh!r}")
