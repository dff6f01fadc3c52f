# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What an audit found: bounds, how sure they are, and what they mean."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from gazeveil.privacy.guarantee import Guarantee


class Verdict(StrEnum):
    """What the bounds say about the claim."""

    CONSISTENT = "consistent"
    """No violation was found. That is not a proof that there is none."""
    VIOLATED = "violated"
    """The claim is false, unless the audit was unlucky, with a chance of at most one minus its confidence."""
    NO_GUARANTEE = "no guarantee"
    """Nothing is claimed, so nothing can be violated."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One event, how often it was counted on the two inputs, and what follows.

    Attributes:
        event: The event in words.
        pair: The two inputs in words.
        likelier_on: The input it was expected to be likelier on: first or second.
        seen: How often it happened there.
        seen_on_neighbour: How often it happened on the other input.
        runs: How many fresh runs of each were counted.
        epsilon: Lower bound on ε, at the claimed δ.
        delta: Lower bound on δ, at the claimed ε; None where no ε is claimed.
    """

    event: str
    pair: str
    likelier_on: str
    seen: int
    seen_on_neighbour: int
    runs: int
    epsilon: float
    delta: float | None


@dataclass(frozen=True, slots=True)
class AuditResult:
    """What an audit found.

    Attributes:
        claim: What was claimed.
        claimed_epsilon: The ε that was tested; None if nothing was claimed.
        claimed_delta: The δ that was tested.
        epsilon_lower_bound: ε is at least this, at the claimed δ.
        delta_lower_bound: δ is at least this, at the claimed ε; None if no ε was claimed.
        confidence: How sure both bounds are together.
        verdict: What they say about the claim.
        method: sampling, or exact where the loss was computed.
        event: What was seen, in words.
        trials: Runs on each of the two inputs, those for choosing the event included; 0 if none were needed.
        noise: Where the noise came from.
        findings: Every event that was counted.
        smallest_caught: The power: the smallest ε that the counted runs would have caught, shown by an event in half of
            them; infinity if none; None where nothing is claimed or the loss was computed.
    """

    claim: Guarantee
    claimed_epsilon: float | None
    claimed_delta: float
    epsilon_lower_bound: float
    delta_lower_bound: float | None
    confidence: float
    verdict: Verdict
    method: str
    event: str
    trials: int
    noise: str
    findings: tuple[Finding, ...] = ()
    smallest_caught: float | None = None

    @property
    def violated(self) -> bool:
        """Whether the claim is shown to be false."""
        return self.verdict is Verdict.VIOLATED

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain values."""
        return {
            "claim": self.claim.to_dict(),
            "claimed_epsilon": self.claimed_epsilon,
            "claimed_delta": self.claimed_delta,
            "epsilon_lower_bound": self.epsilon_lower_bound,
            "delta_lower_bound": self.delta_lower_bound,
            "confidence": self.confidence,
            "verdict": str(self.verdict),
            "method": self.method,
            "event": self.event,
            "trials": self.trials,
            "noise": self.noise,
            "smallest_caught": self.smallest_caught,
            "findings": [
                {name: getattr(finding, name) for name in Finding.__dataclass_fields__} for finding in self.findings
            ],
        }

    def in_words(self) -> str:
        """Say what the result means."""
        sure = "computed, not sampled" if self.method == "exact" else f"with {self.confidence:.6g} confidence"
        if self.verdict is Verdict.VIOLATED:
            if self.claimed_delta:
                return (
                    f"The claim is false: at ε = {self.claimed_epsilon:.6g}, δ is at least "
                    f"{self.delta_lower_bound:.4g}, and {self.claimed_delta:.4g} was claimed ({sure})."
                )
            return (
                f"The claim is false: ε is at least {self.epsilon_lower_bound:.4g}, "
                f"and {self.claimed_epsilon:.6g} was claimed ({sure})."
            )
        if self.verdict is Verdict.NO_GUARANTEE:
            return f"Nothing is claimed. ε is at least {self.epsilon_lower_bound:.4g} ({sure})."
        return (
            f"No violation was found: ε is at least {self.epsilon_lower_bound:.4g}, "
            f"and {self.claimed_epsilon:.6g} is claimed ({sure}). {self.power()}"
            "This is not a proof that the claim holds."
        )

    def power(self) -> str:
        """Say which violation would have been caught, where runs were counted."""
        if self.smallest_caught is None:
            return ""
        if self.smallest_caught == math.inf:
            return "With so few runs no ε would have been caught. "
        return (
            f"An ε of {self.smallest_caught:.4g} or more would have been caught, "
            "if an event in half of all runs shows it. "
        )
