# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The privacy levels of Liu 2019, section 3.2, and what is refused or warned about.

The paper names three examples: good is ε = 1, okay is ε = 3, both with δ = n^(-3/2); poor is a δ of the order of 1/n.
Here a guarantee has the best level that it implies; whatever implies neither is poor. Rules:

- refused: δ ≥ 1/n. A mechanism that publishes one whole participant picked at random would satisfy it.
- warned about: every other poor guarantee, ε above 10, and a δ above 1/100,000 however few participants there are (L9).
"""

from __future__ import annotations

from enum import StrEnum
from fractions import Fraction

from gazeveil.errors import OptionError, PrivacyError
from gazeveil.exact import Number, at_least_zero, in_digits, probability, root_up, whole_number

HUGE_EPSILON = 10
WEAK_DELTA = Fraction(1, 100_000)


class Level(StrEnum):
    """How the paper calls a guarantee."""

    GOOD = "good"
    OKAY = "okay"
    POOR = "poor"


_EPSILON = {Level.GOOD: Fraction(1), Level.OKAY: Fraction(3)}


def delta_of(observers: int) -> Fraction:
    """Return n^(-3/2), the paper's δ, rounded down in its fortieth digit where it is not a fraction.

    Raises:
        OptionError: If there are fewer than two observers: one cannot hide behind oneself.
    """
    people = whole_number(observers, "observers", at_least=1)
    if people < 2:
        raise OptionError("a gaze map of one observer cannot be private at δ = n^(-3/2)", hint="more observers")
    return 1 / root_up(Fraction(people) ** 3)


def demands(level: Level | str, observers: int) -> tuple[Fraction, Fraction]:
    """Return the ε and δ of a level.

    Raises:
        OptionError: If the level is unknown, or poor, which demands nothing.
    """
    try:
        epsilon = _EPSILON[Level(level)]
    except (KeyError, ValueError):
        raise OptionError(f"no guarantee can be asked for as {str(level)!r}", hint="known: good, okay") from None
    return epsilon, delta_of(observers)


def level_of(epsilon: Number, delta: Number, observers: int) -> Level:
    """Return the best level that (ε, δ) implies for this many observers."""
    spent, failure = at_least_zero(epsilon, "epsilon"), probability(delta, "delta")
    people = whole_number(observers, "observers", at_least=1)
    if failure**2 * people**3 > 1:  # δ > n^(-3/2), without a root
        return Level.POOR
    return next((level for level, most in _EPSILON.items() if spent <= most), Level.POOR)


def check(epsilon: Number, delta: Number, observers: int) -> tuple[str, ...]:
    """Return what there is to warn about; refuse what is no privacy at all.

    Raises:
        PrivacyError: If δ ≥ 1/n.
    """
    level = level_of(epsilon, delta, observers)
    spent, failure = at_least_zero(epsilon, "epsilon"), probability(delta, "delta")
    if failure * observers >= 1:
        raise PrivacyError(
            f"δ = {in_digits(failure)} is at least 1/n for {observers:,} observers: "
            "publishing one whole participant at random would satisfy that",
            hint=f"ask for a δ well below {in_digits(Fraction(1, observers), up=False)}",
        )
    warnings = []
    if level is Level.POOR:
        warnings.append(
            f"Liu 2019 would call this poor: it takes ε ≤ 3 and δ ≤ n^(-3/2), for {observers:,} participants"
        )
    if spent > HUGE_EPSILON:
        warnings.append(f"ε = {in_digits(spent)} lets the odds change by e^{in_digits(spent)}: hardly a guarantee")
    if failure > WEAK_DELTA:
        warnings.append(f"δ = {in_digits(failure)} is a large δ; n^(-3/2) is weak for few participants (L9)")
    return tuple(warnings)
