# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Budget absorption (BA, Kellaris and others 2014) for gaze: a release takes the shares of slots that were skipped."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from gazeveil.errors import OptionError
from gazeveil.samples.mechanism import MECHANISMS
from gazeveil.samples.mechanisms.distribution import Slotted
from gazeveil.samples.mechanisms.kaleido import tests_in
from gazeveil.samples.stream import StreamPlan
from gazeveil.samples.window_budget import Rule


@MECHANISMS.register("absorption")
@dataclass(frozen=True, slots=True, kw_only=True)
class Absorption(Slotted):
    """Budget absorption: every slot has a share; a release takes it, those skipped before, and locks as many after."""

    name: ClassVar[str] = "absorption"
    test_share: Fraction = Fraction(3, 20)

    def plan(self) -> StreamPlan:
        """Return what tests and releases may cost."""
        rule = self._rule()
        spacing, slots, cost = tests_in(rule, self.t_skip or self.window * Fraction(17, 50), self.test_share)
        releases = Rule(rule.cap - slots * cost, rule.window_us)
        share = releases.cap // slots
        if share < 1:
            raise OptionError("there are too many slots in a window for its budget", hint="use a larger t_skip")
        own = (1.0, float(cost), 0.0, self.noises, float(share), float(share), float(slots))
        return StreamPlan(releases, share * slots, spacing, Rule(slots * cost, rule.window_us), share, own=own)
