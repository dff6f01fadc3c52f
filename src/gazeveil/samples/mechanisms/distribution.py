# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Budget distribution (BD) for gaze: a release gets half of what is left in the window.

`Slotted` is the part shared with budget absorption (Kellaris, Papadopoulos, Xiao and Papadias 2014): in slots, a test
whether gaze is farther from the latest output than the noise of a release would be.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from gazeveil.errors import OptionError
from gazeveil.exact import exact
from gazeveil.samples.mechanism import MECHANISMS
from gazeveil.samples.mechanisms.kaleido import check_tests, halving
from gazeveil.samples.stream import Compiled, StreamMechanism, StreamPlan


@dataclass(frozen=True, slots=True, kw_only=True)
class Slotted(StreamMechanism):
    """A mechanism that decides in slots.

    The defaults were tuned on simulated gaze.

    Attributes:
        test_share: The share of a window's budget that all its tests get.
        t_skip: The least time between two slots, in seconds; 0 takes a share of the window.
        noises: How many mean displacements of a release's noise gaze must be away to be worth it.
    """

    test_share: Fraction = Fraction(1, 20)
    t_skip: Fraction = Fraction(0)
    noises: float = 0.0

    def compiled(self) -> Compiled:
        """Return the compiled kernels that take one sample, and many; numba loads on use."""
        from gazeveil.samples import release_kernels as kernels  # noqa: PLC0415

        return kernels.tested_step, kernels.tested_run

    def _check(self) -> None:
        check_tests(self)
        object.__setattr__(self, "test_share", exact(self.test_share, "test_share"))
        if not 0 < self.test_share < 1:
            raise OptionError("test_share is a share of a window's budget, between 0 and 1")
        if not 0 <= self.noises <= 100:
            raise OptionError(f"noises must be between 0 and 100, not {self.noises!r}")


@MECHANISMS.register("distribution")
@dataclass(frozen=True, slots=True, kw_only=True)
class Distribution(Slotted):
    """Budget distribution: in each slot a private test, and where it says far, half of what is left.

    Attributes:
        floor: The least share of a window's budget that a release may get.
    """

    name: ClassVar[str] = "distribution"
    floor: Fraction = Fraction(1, 10)

    def plan(self) -> StreamPlan:
        """Return what tests and releases may cost."""
        return halving(self, self._rule(), noises=self.noises)

    def _check(self) -> None:
        Slotted._check(self)
        object.__setattr__(self, "floor", exact(self.floor, "floor"))
        if not 0 <= self.floor < 1:
            raise OptionError("floor is a share of a window's budget, between 0 and 1")
