# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What a guarantee says in terms of ε and δ, which is what an audit can test."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from gazeveil.errors import OptionError
from gazeveil.exact import float_up
from gazeveil.privacy._promise import Guarantee
from gazeveil.privacy.audit.choosing import Goal
from gazeveil.privacy.audit.result import Verdict
from gazeveil.privacy.guarantee import ApproxDP, PureDP, Unproven, ZeroConcentratedDP

_ZCDP_DELTAS = ("0.1", "0.01", "0.001", "0.0001", "0.00001", "0.000001")


@dataclass(frozen=True, slots=True)
class Point:
    """One (ε, δ) that the claim implies; no ε if nothing is claimed."""

    epsilon: Fraction | None
    delta: Fraction

    @property
    def epsilon_float(self) -> float | None:
        """ε as a float, rounded up, so that a bound on δ at it holds."""
        return None if self.epsilon is None else float_up(self.epsilon)

    @property
    def delta_float(self) -> float:
        """δ as a float, rounded up, so that a bound on ε at it holds."""
        return float_up(self.delta)

    def verdict(self, epsilon: float, delta: float | None) -> Verdict:
        """Compare bounds with the claim, exactly."""
        if self.epsilon is None:
            return Verdict.NO_PROMISE
        broken = epsilon == math.inf or Fraction(epsilon) > self.epsilon
        broken = broken or (delta is not None and Fraction(delta) > self.delta)
        return Verdict.VIOLATED if broken else Verdict.CONSISTENT

    def goals(self) -> list[Goal]:
        """Return what to look for: a large ε, and where a δ is claimed a large δ, in both directions."""
        goals = [Goal(None, self.delta_float, side) for side in (0, 1)]
        if self.epsilon is not None and self.delta > 0:
            goals += [Goal(self.epsilon_float, self.delta_float, side) for side in (0, 1)]
        return goals


def points_of(claim: Guarantee) -> list[Point]:
    """Return the points that a claim implies; which of several is tested is decided on runs that are not counted.

    Raises:
        OptionError: If it is a kind of guarantee that says nothing in terms of ε and δ.
    """
    if isinstance(claim, Unproven):
        return [Point(None, Fraction(0))]
    if isinstance(claim, ZeroConcentratedDP):
        return [Point(claim.to_approx(delta).epsilon, Fraction(delta)) for delta in _ZCDP_DELTAS]
    if isinstance(claim, ApproxDP):
        return [Point(claim.epsilon, claim.delta)]
    if isinstance(claim, PureDP):
        return [Point(claim.epsilon, Fraction(0))]
    raise OptionError(f"there is no way yet to audit the guarantee {claim}")
