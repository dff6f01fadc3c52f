# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What advice consists of, in words that need no statistics.

A guarantee bounds every attack. A measured attack bounds nothing: it is the strongest that we measured. The words keep
the two apart.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

from gazeveil.exact import in_digits
from gazeveil.privacy.protection import Neighbours, strength_of

if TYPE_CHECKING:
    from gazeveil.release.forecast import Forecast


class Use(StrEnum):
    """What is to be published."""

    HEATMAP = "heatmap"
    FEATURES = "features"
    LIVE = "live"
    DATASET = "dataset"


class Harm(StrEnum):
    """What must not happen to a participant."""

    REIDENTIFICATION = "reidentification"
    ATTRIBUTE = "attribute"
    MEMBERSHIP = "membership"

    @property
    def question(self) -> str:
        """What an attacker asks."""
        return {
            Harm.REIDENTIFICATION: "who is it?",
            Harm.ATTRIBUTE: "what kind of participant is it?",
            Harm.MEMBERSHIP: "did this participant take part?",
        }[self]


_RIGHT: Final = {
    **dict.fromkeys(("accuracy", "identified", "linked"), "was right in {} of 100 attempts"),
    "auc": "distinguished the two cases in {} of 100 pairs",
}
"""What a metric means, where it counts something."""


@dataclass(frozen=True, slots=True)
class Success:
    """How well the strongest attack that we measured did.

    Attributes:
        attack: Its name.
        threat: What the attacker knows, in words.
        metric: What was counted: accuracy, auc, f1 or another.
        value: How well it did.
        low: Lower end of the 95 % interval.
        high: Its upper end.
        chance: What guessing gives.
        without: The same attack without protection, where that was measured.
        where: On whom, and behind what, in words.
        mechanism: What it was measured behind, as the tables call it.
    """

    attack: str
    threat: str
    metric: str
    value: float
    low: float
    high: float
    chance: float
    without: float | None
    where: str
    mechanism: str

    @property
    def surely_above_chance(self) -> bool:
        """Whether even the lower end of the interval beats guessing."""
        return self.low > self.chance

    @property
    def strength(self) -> tuple[bool, float]:
        """By which attacks are ranked: one that surely beats guessing before one that may, then by the gain.

        A high rate of few participants must not hide a lower one that surely beats guessing.
        """
        return self.surely_above_chance, self.gain

    @property
    def gain(self) -> float:
        """How far it is from guessing (0) to always right (1), to compare different counts."""
        return (self.value - self.chance) / (1 - self.chance) if self.chance < 1 else 0.0

    def in_words(self) -> str:
        """Say how well it did."""
        right = _RIGHT.get(self.metric.lower())
        if right is None:
            did = f"reached an {self.metric} of {self.value:.2f} (95 % interval {self.low:.2f} to {self.high:.2f}"
            did += f"; guessing {self.chance:.2f})"
            before = "" if self.without is None else f"; without protection {self.without:.2f}"
        else:
            did = f"{right.format(f'{100 * self.value:.0f}')} (95 % interval {100 * self.low:.0f} to "
            did += f"{100 * self.high:.0f}; guessing {100 * self.chance:.0f})"
            before = "" if self.without is None else f"; without protection in {100 * self.without:.0f}"
        knows = f" (granted: {self.threat})" if self.threat else ""
        return f"the strongest attack that we measured, {self.attack}{knows}, {did}{before}. Measured on {self.where}"

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values."""
        return asdict(self) | {"surely_above_chance": self.surely_above_chance}


@dataclass(frozen=True, slots=True, kw_only=True)
class Advice:
    """A recommendation, or the clear answer that nothing fits.

    Attributes:
        use: What is to be published.
        harm: What must not happen.
        fits: Whether something can be recommended.
        headline: The recommendation in a sentence; or why there is none.
        mechanism: What protects, in words.
        guarantee: What is guaranteed.
        level: Where that stands on the scale, in words.
        utility: What to expect of the release.
        attack: How well the strongest measured attack did.
        bound: What the guarantee says about every attack.
        unprotected: What it does not protect from.
        notes: What else must be known about the numbers.
        instead: What else could be done.
        commands: What to type next.
    """

    use: Use
    harm: Harm
    fits: bool
    headline: str
    mechanism: str = ""
    guarantee: str = ""
    level: str = ""
    utility: Forecast | None = None
    attack: Success | None = None
    bound: str = ""
    unprotected: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    instead: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()

    def refused(self, headline: str, *instead: str) -> Advice:
        """Return the same as an answer that nothing fits; what comes nearest stays in it."""
        return replace(self, fits=False, headline=headline, instead=instead, commands=())

    def lines(self) -> list[tuple[str, str]]:
        """Return the advice as pairs of a word and what it is about."""
        told = [("advice" if self.fits else "no advice", self.headline)]
        told += [("against", f"{self.harm}: an attacker who asks “{self.harm.question}”")]
        told += [("instead", text) for text in self.instead]
        nearest = "" if self.fits else "not advised, but nearest: "
        if self.mechanism:
            told.append(("mechanism", nearest + self.mechanism))
        if self.guarantee:
            told += [("guarantee", self.guarantee), ("level", self.level)]
        if self.utility is not None:
            told += [("quality", f"expected is {self.utility.in_words()}"), ("basis", self.utility.basis)]
        if self.bound:
            told.append(("bound", self.bound))
        if self.attack is not None:
            told.append(("measured", f"{self.attack.in_words()}. Others, or more gaze, may do better."))
        elif self.mechanism:
            told.append(("measured", "no attack of this kind was measured at this level or at one that is no stronger"))
        told += [("note", text) for text in self.notes]
        told += [("not from", text) for text in self.unprotected]
        return told + [("next", command) for command in self.commands]

    def to_dict(self) -> dict[str, Any]:
        """Return the advice as plain values."""
        return {
            **{
                name: getattr(self, name)
                for name in ("fits", "headline", "mechanism", "guarantee", "level", "bound")
            },
            "use": str(self.use),
            "harm": str(self.harm),
            "utility": None if self.utility is None else self.utility.to_dict(),
            "attack": None if self.attack is None else self.attack.to_dict(),
            "not_protected": list(self.unprotected),
            "notes": list(self.notes),
            "instead": list(self.instead),
            "commands": list(self.commands),
        }  # fmt: skip


def level_in_words(
    epsilon: Fraction,
    neighbours: Neighbours,
    of: str = "all releases of this study together",
    delta: Fraction = Fraction(0),
) -> str:
    """Say where an ε stands on the scale; with a δ, that it may fail with that chance."""
    counted = 2 * epsilon if neighbours is Neighbours.ADD_REMOVE else epsilon
    sure = 1 / (1 + math.exp(-float(counted)))
    fails = f", except with a chance of at most δ = {float(delta):g}" if delta else ""
    return (
        f"{strength_of(epsilon, neighbours)} (ε = {in_digits(epsilon)}): an attacker who was undecided (50 %) can "
        f"become at most {math.ceil(1000 * sure) / 10:.1f} % sure{fails}. ε is for {of}"
    )


def bound_in_words(epsilon: Fraction, delta: Fraction, neighbours: Neighbours) -> str:
    """Say what (ε, δ) allows every attacker who must tell two equally likely cases apart.

    A guarantee about taking part or not is restated for replacing a participant, which is twice the step.
    """
    cost, failing = float(epsilon), float(delta)
    if neighbours is Neighbours.ADD_REMOVE:
        cost, failing = 2 * cost, (1 + math.exp(cost)) * failing
    most = min(1.0, (math.exp(cost) + failing) / (1 + math.exp(cost)))
    return (
        "every attack on one participant that must choose between two equally likely cases is right in at most "
        f"{math.ceil(1000 * most) / 10:.1f} of 100; that is proven, whatever else the attacker knows"
    )
