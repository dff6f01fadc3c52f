# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The auditor: runs a mechanism on two neighbouring inputs and bounds from below what it really gives away.

Three disjoint sets of runs: from the first, families of events learn to tell the inputs apart; on the second, the best
event is chosen; on the third, it is counted. Only those last counts enter the bounds, so they hold with the stated
confidence however the event was found. Proof: docs/proofs/audit.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gazeveil.errors import OptionError
from gazeveil.privacy._promise import Guarantee
from gazeveil.privacy.audit.bounds import MOST_RUNS, delta_bound, epsilon_bound, lower_bound, upper_bound
from gazeveil.privacy.audit.choosing import Candidate, Goal, candidates, choose
from gazeveil.privacy.audit.claims import Point, points_of
from gazeveil.privacy.audit.events.base import FAMILIES, Outputs, Sample
from gazeveil.privacy.audit.power import smallest_caught
from gazeveil.privacy.audit.result import AuditResult, Finding
from gazeveil.privacy.audit.subject import ExactLoss, LogRatio, Subject
from gazeveil.privacy.audit.trials import Laboratory
from gazeveil.types import FloatArray, Tell

LEAST_TRIALS = 100
METHODS = ("auto", "sampling", "exact")

_MOST_LEARNED_FROM = 100_000
_MOST_CHOSEN_ON = 400_000
_FOR_EACH_PAIR = 25_000
"""How many runs each pair is learned from and chosen on at least, where several pairs share the most."""
_MOST_NUMBERS = 8_000_000
_SIMPLEST_FIRST = ("threshold", "likelihood-ratio", "histogram", "order", "classifier", "bit-pattern")


def audit(
    subject: Subject,
    *,
    trials: int = 1_000_000,
    confidence: float = 0.99,
    seed: int | None = None,
    workers: int = 1,
    method: str = "auto",
    families: Sequence[str] | None = None,
    tell: Tell | None = None,
) -> AuditResult:
    """Look for a violation of what a mechanism claims.

    Args:
        subject: The mechanism, its claim, and neighbouring inputs.
        trials: Runs on each input; half of them, or more where there are many, are counted.
        confidence: The chance, at least, that all bounds hold.
        seed: Makes the audit repeatable; without one, noise is keyed by the operating system.
        workers: How many processes to use. The result does not depend on it.
        method: ``sampling``, ``exact``, or ``auto`` for exact where it can be computed.
        families: Names of the event families to use, the most readable first; all if left out.
        tell: Called with the runs done and the runs in all.

    Raises:
        OptionError: If an argument is out of range, or the mechanism does not return one row of numbers a trial.
    """
    if method not in METHODS or (method == "exact" and subject.exact is None):
        known = METHODS if subject.exact else METHODS[:2]
        raise OptionError(f"this subject is not audited by {method!r}", hint=f"choose {' or '.join(known)}")
    if not LEAST_TRIALS <= trials <= MOST_RUNS:
        raise OptionError(f"an audit takes {LEAST_TRIALS} to {MOST_RUNS:,} trials, not {trials!r}")
    if not 0.5 < confidence < 1:
        raise OptionError(f"confidence must lie between 0.5 and 1, not {confidence!r}")
    if workers < 1:
        raise OptionError(f"there must be at least one worker, not {workers!r}")
    if subject.exact is not None and method != "sampling":
        return _computed(subject.claim, subject.exact)
    names = families or sorted(FAMILIES.names(), key=lambda name: (*_SIMPLEST_FIRST, name).index(name))
    with Laboratory(subject, seed=seed, workers=workers, tell=tell) as laboratory:
        return _Audit(subject, laboratory, trials, confidence, tuple(names)).run()


@dataclass(frozen=True, slots=True, eq=False)
class _Between:
    """The known log ratio of one pair."""

    log_ratio: LogRatio
    first: object
    second: object

    def __call__(self, outputs: Outputs) -> FloatArray:
        return self.log_ratio(outputs, self.first, self.second)


@dataclass(frozen=True, slots=True, eq=False)
class _Choice:
    """An event to count for a goal, on a pair."""

    pair: int
    goal: Goal
    candidate: Candidate


@dataclass(frozen=True, slots=True, eq=False)
class _Audit:
    """One audit by sampling."""

    subject: Subject
    laboratory: Laboratory
    trials: int
    confidence: float
    families: tuple[str, ...]

    def run(self) -> AuditResult:
        rows = max(LEAST_TRIALS, _MOST_NUMBERS // self.laboratory.width)
        pairs = range(len(self.subject.pairs))
        shared = [max(_FOR_EACH_PAIR, most // len(pairs)) for most in (_MOST_LEARNED_FROM, _MOST_CHOSEN_ON)]
        learned, chosen = (min(self.trials // 4, most, rows) for most in shared)
        counted = self.trials - learned - chosen
        self.laboratory.total = 2 * len(pairs) * (learned + chosen) + 2 * counted
        points = points_of(self.subject.claim)
        point, choices = _most_promising([self._search(pair, learned, chosen, points) for pair in pairs], points)
        return self._result(point, self._count(choices, counted, point))

    def _search(self, pair: int, learned: int, chosen: int, points: list[Point]) -> list[list[_Choice]]:
        """Return, for each point of the claim, the event to count for each of its goals."""
        inputs = self.subject.pairs[pair]
        log_ratio = self.subject.log_ratio
        known = None if log_ratio is None else _Between(log_ratio, inputs.first, inputs.second)
        sample = Sample(*self.laboratory.outputs("learn", pair, learned), known)
        scores = [score for name in self.families for score in FAMILIES[name](sample)]
        kept = Sample(*self.laboratory.outputs("choose", pair, chosen), known)
        goals = [goal for point in points for goal in point.goals()]
        found = candidates(scores, kept, goals)
        if not all(found):
            raise OptionError(f"the event families {', '.join(self.families)} suggest nothing for this mechanism")
        best = [_Choice(pair, goal, choose(rivals, goal)) for goal, rivals in zip(goals, found, strict=True)]
        per_point = len(goals) // len(points)
        return [best[start : start + per_point] for start in range(0, len(best), per_point)]

    def _count(self, choices: list[_Choice], counted: int, point: Point) -> list[Finding]:
        """Count the chosen events on fresh runs; the chance of error is shared out among all bounds."""
        pairs = sorted({choice.pair for choice in choices})
        self.laboratory.total += 2 * counted * (len(pairs) - 1)
        alpha = self._alpha(len(choices))
        findings = []
        for pair in pairs:
            here = [choice for choice in choices if choice.pair == pair]
            counts = self.laboratory.counts("count", pair, [choice.candidate.event for choice in here], counted)
            words = self.subject.pairs[pair].words
            for choice, seen in zip(here, counts, strict=True):
                findings.append(_judge(choice, seen, counted, alpha, point, words))
        return findings

    def _alpha(self, choices: int) -> float:
        """Return the chance of error that each bound has: two for every event that is counted."""
        return (1 - self.confidence) / (2 * choices) * (1 - 1e-12)

    def _result(self, point: Point, findings: list[Finding]) -> AuditResult:
        epsilon = max(finding.epsilon for finding in findings)
        delta = None if point.epsilon is None else max(finding.delta or 0.0 for finding in findings)
        # With a δ claimed, the event that shows the largest δ is the telling one, if it shows any.
        telling = max(findings, key=lambda finding: ((finding.delta or 0.0) if point.delta else 0.0, finding.epsilon))
        return AuditResult(
            claim=self.subject.claim,
            claimed_epsilon=point.epsilon_float,
            claimed_delta=point.delta_float,
            epsilon_lower_bound=epsilon,
            delta_lower_bound=delta,
            confidence=self.confidence,
            verdict=point.verdict(epsilon, delta),
            method="sampling",
            event=telling.event,
            trials=self.trials,
            noise=self.laboratory.noise,
            findings=tuple(sorted(findings, key=lambda finding: finding is not telling)),
            smallest_caught=None
            if point.epsilon_float is None
            else smallest_caught(point.epsilon_float, point.delta_float, telling.runs, self._alpha(len(findings))),
        )


def _most_promising(found: list[list[list[_Choice]]], points: list[Point]) -> tuple[Point, list[_Choice]]:
    """Return the point of the claim that looks weakest, and for each of its goals the most guaranteeing pair."""
    per_point = [
        [max(rivals, key=lambda choice: choice.candidate.cautious) for rivals in zip(*per_pair, strict=True)]
        for per_pair in zip(*found, strict=True)
    ]

    def excess(index: int) -> float:
        claimed = points[index].epsilon_float or 0.0
        return max(float(c.candidate.cautious) for c in per_point[index] if c.goal.epsilon is None) - claimed

    weakest = max(range(len(points)), key=excess)
    return points[weakest], per_point[weakest]


def _judge(choice: _Choice, seen: tuple[int, int], runs: int, alpha: float, point: Point, pair: str) -> Finding:
    here, there = seen[choice.goal.side], seen[1 - choice.goal.side]
    at_least, at_most = lower_bound(here, runs, alpha), upper_bound(there, runs, alpha)
    claimed = point.epsilon_float
    return Finding(
        event=choice.candidate.event.words,
        pair=pair,
        likelier_on=("first", "second")[choice.goal.side],
        seen=here,
        seen_on_neighbour=there,
        runs=runs,
        epsilon=epsilon_bound(at_least, at_most, point.delta_float),
        delta=None if claimed is None else delta_bound(at_least, at_most, claimed),
    )


def _computed(claim: Guarantee, exact: ExactLoss) -> AuditResult:
    """Compare the claim with the loss itself, at the point where it exceeds the claim most."""
    found: list[tuple[Point, float]] = [(point, exact.epsilon_at(point.delta_float)) for point in points_of(claim)]
    point, epsilon = max(found, key=lambda item: item[1] - (item[0].epsilon_float or 0.0))
    claimed = point.epsilon_float
    delta = None if claimed is None else exact.delta_at(claimed)
    return AuditResult(
        claim=claim,
        claimed_epsilon=claimed,
        claimed_delta=point.delta_float,
        epsilon_lower_bound=epsilon,
        delta_lower_bound=delta,
        confidence=1.0,
        verdict=point.verdict(epsilon, delta),
        method="exact",
        event=exact.words,
        trials=0,
        noise="none: computed, not sampled",
    )
