# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The auditor: runs a mechanism on two neighbouring inputs and bounds from below what it really gives away.

There are three disjoint sets of runs: from the first, families of events learn to tell the inputs apart; on the second,
the best event is chosen; on the third, it is counted. Only those last counts enter the bounds, so they hold with the
stated confidence however the event was found: choosing well only makes the bound sharp. Proof: docs/proofs/audit.md.

Each batch has noise of its own, named after the batch. So with a seed the outputs are the same whatever the number of
processes, and without one every batch is keyed by the operating system. Memory holds one batch for each process, and
the outputs that events are learned from; counted outputs are thrown away at once.
"""

from __future__ import annotations

import math
import multiprocessing
import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from types import TracebackType
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from gazeveil.arrays import FloatArray, Tell
from gazeveil.errors import OptionError
from gazeveil.exact import float_up
from gazeveil.noise.source import NoiseSource
from gazeveil.privacy.audit.bounds import (
    MOST_RUNS,
    delta_bound,
    epsilon_bound,
    lower_bound,
    smallest_caught,
    upper_bound,
)
from gazeveil.privacy.audit.events import FAMILIES, KnownLogRatio, OutputEvent, Outputs, Sample, Score
from gazeveil.privacy.audit.result import AuditResult, Finding, Verdict
from gazeveil.privacy.audit.subject import ExactLoss, LogRatio, Subject
from gazeveil.privacy.guarantee import ApproxDP, Guarantee, PureDP, Unproven, ZeroConcentratedDP

_BATCH_NUMBERS = 2**19
_BATCH_ROWS = 2**16

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Batch:
    """Some runs on one of the two inputs of a pair, for one part of the audit."""

    part: str
    pair: int
    side: int
    number: int
    size: int

    @property
    def label(self) -> str:
        """The name of the batch's noise."""
        return f"{self.part}, pair {self.pair}, side {self.side}, batch {self.number}"


class TrialRunner:
    """Runs a subject in batches, here or in other processes; a context manager, so that its processes end."""

    def __init__(self, subject: Subject, *, seed: int | None, workers: int, tell: Tell | None = None) -> None:
        probe = _BatchRunner(subject, seed).outputs(Batch("probe", 0, 0, 0, 1))
        self.width = int(probe.shape[1])
        self._bench = _BatchRunner(subject, seed, self.width)
        self._workers = workers
        self._pool: ProcessPoolExecutor | None = None
        self._tell = tell
        self._done = 0
        self.total = 0

    @property
    def noise(self) -> str:
        """Where the noise came from."""
        return self._bench.noise("any").description.split(",")[0]

    def outputs(self, part: str, pair: int, runs: int) -> tuple[Outputs, Outputs]:
        """Return the outputs of this many runs on both inputs of a pair."""
        batches = [self._batches(part, pair, side, runs) for side in (0, 1)]
        rows = list(self._each(_BatchRunner.outputs, [*batches[0], *batches[1]]))
        return np.vstack(rows[: len(batches[0])]), np.vstack(rows[len(batches[0]) :])

    def counts(self, part: str, pair: int, events: Sequence[OutputEvent], runs: int) -> list[tuple[int, int]]:
        """Return how often each event happens in this many new runs on both inputs of a pair."""
        batches = [batch for side in (0, 1) for batch in self._batches(part, pair, side, runs)]
        jobs = [(batch, tuple(events)) for batch in batches]
        totals = np.zeros((len(events), 2), dtype=np.int64)
        for batch, counts in zip(batches, self._each(_BatchRunner.counts, jobs), strict=True):
            totals[:, batch.side] += counts
        return [(int(first), int(second)) for first, second in totals]

    def _batches(self, part: str, pair: int, side: int, runs: int) -> list[Batch]:
        rows = max(1, min(_BATCH_ROWS, _BATCH_NUMBERS // self.width))
        sizes = [min(rows, runs - start) for start in range(0, runs, rows)]
        return [Batch(part, pair, side, number, size) for number, size in enumerate(sizes)]

    def _each(self, method: Callable[[_BatchRunner, Any], T], jobs: Sequence[Any]) -> Iterable[T]:
        """Do jobs in order, here or in other processes."""
        if self._workers > 1 and len(jobs) > 1:
            results: Iterable[T] = self._processes().map(partial(_in_worker, method), jobs)
        else:
            results = map(partial(method, self._bench), jobs)
        try:
            for job, result in zip(jobs, results, strict=True):
                self._done += (job if isinstance(job, Batch) else job[0]).size
                if self._tell:
                    self._tell(self._done, self.total)
                yield result
        except BrokenProcessPool:
            raise OptionError(
                "a process of the audit ended early",
                hint="a script that uses several workers keeps its calls under: if __name__ == '__main__'",
            ) from None

    def _processes(self) -> ProcessPoolExecutor:
        if self._pool is None:
            try:
                pickle.dumps(self._bench)
            except (pickle.PicklingError, AttributeError, TypeError):
                raise OptionError(
                    "this mechanism cannot be sent to other processes",
                    hint="use one worker, or make it a function of a module or a method of a plain value",
                ) from None
            # Spawned, not forked: a fork would copy threads' locks and whatever the parent holds.
            context = multiprocessing.get_context("spawn")
            self._pool = ProcessPoolExecutor(self._workers, context, initializer=_prepare, initargs=(self._bench,))
        return self._pool

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)


@dataclass(frozen=True, slots=True, eq=False)
class _BatchRunner:
    """Runs batches of one subject in one process."""

    subject: Subject
    seed: int | None
    width: int | None = None

    def noise(self, label: str) -> NoiseSource:
        return NoiseSource.secure() if self.seed is None else NoiseSource.seeded(self.seed).spawn(label)

    def outputs(self, batch: Batch) -> Outputs:
        pair = self.subject.pairs[batch.pair]
        data = pair.second if batch.side else pair.first
        outputs = _table(self.subject.run(data, self.noise(batch.label), batch.size), batch.size)
        if self.width not in (None, outputs.shape[1]):
            raise OptionError(
                f"outputs have {outputs.shape[1]} numbers here and {self.width} there, which may tell inputs apart",
                hint="make all outputs equally long; fill up with not-a-number, which the auditor looks at too",
            )
        return outputs

    def counts(self, job: tuple[Batch, tuple[OutputEvent, ...]]) -> list[int]:
        batch, events = job
        outputs = self.outputs(batch)
        return [event.count(outputs) for event in events]


def _table(outputs: Any, rows: int) -> Outputs:
    """Return outputs as a table of floats or integers, one row a trial."""
    table = np.asarray(outputs)
    table = table[:, None] if table.ndim == 1 else table
    if table.dtype.kind not in "biuf" or table.ndim != 2 or len(table) != rows or table.shape[1] == 0:
        raise OptionError(
            f"a mechanism must return one row of numbers for each of {rows:,} trials, "
            f"not {table.dtype} of shape {table.shape}"
        )
    return np.ascontiguousarray(table, dtype=np.float64 if table.dtype.kind == "f" else np.int64)


_batch_runner: _BatchRunner | None = None


def _prepare(runner: _BatchRunner) -> None:
    global _batch_runner  # noqa: PLW0603  (one for each process, sent once instead of with every batch)
    _batch_runner = runner


def _in_worker(method: Callable[[_BatchRunner, Any], T], job: Any) -> T:
    if _batch_runner is None:
        raise OptionError("this process was not prepared for an audit")
    return method(_batch_runner, job)


# --- The event to count: the one that makes the largest lower bound on outputs that were kept apart for this.


_CAUTIOUS, _BOLD = 3.0, 1.0
"""How many standard errors to allow for; boldly where no event convinces anyway."""
_READABLE = 0.003
"""How much worse an event that is easier to read may be, in ε or as a share of δ."""
_CUTS = 2_000


@dataclass(frozen=True, slots=True)
class Goal:
    """What an event should show: a large ε at δ, or a large δ at ε, of one input against the other.

    Attributes:
        epsilon: The claimed ε; None if nothing is claimed, or if ε itself is the goal.
        delta: The claimed δ.
        side: Which input the event should be likelier on: 0 the first, 1 the second.
    """

    epsilon: float | None
    delta: float
    side: int

    def values(self, here: FloatArray, there: FloatArray) -> FloatArray:
        """Return how far events with such chances go toward the goal."""
        with np.errstate(divide="ignore", invalid="ignore"):
            if self.epsilon is not None:
                return here - math.exp(min(self.epsilon, 700.0)) * there
            return np.where(here > self.delta, np.log((here - self.delta) / there), -np.inf)


@dataclass(frozen=True, slots=True, eq=False)
class Candidate:
    """An event and how much it is expected to show: cautiously, and boldly."""

    event: OutputEvent
    cautious: float
    bold: float


def candidates(scores: Iterable[Score], kept: Sample, goals: list[Goal]) -> list[list[Candidate]]:
    """Return, for each goal, the best event of each score on outputs that the scores were not learned from."""
    found: list[list[Candidate]] = [[] for _ in goals]
    for score in scores:
        sides = [np.sort(values[~np.isnan(values)]) for values in (score(kept.first), score(kept.second))]
        sizes = (len(kept.first), len(kept.second))
        for goal, best in zip(goals, found, strict=True):
            best.extend(_cuts(score, sides, sizes, goal))
    return found


def choose(found: list[Candidate], goal: Goal) -> Candidate:
    """Return the event to count: the most readable, that is the first, of those that are about as good as the best."""
    best = max(candidate.cautious for candidate in found)
    if goal.epsilon is None or best > goal.delta:
        slack = _READABLE * (1.0 if goal.epsilon is None else best)
        return next(candidate for candidate in found if candidate.cautious >= best - slack)
    # Too few runs to see δ: the known densities say where to look, else the most promising event must do.
    known = [candidate for candidate in found if isinstance(candidate.event.score, KnownLogRatio)]
    return max(known or found, key=lambda candidate: candidate.bold)


def _cuts(score: Score, sides: list[FloatArray], sizes: tuple[int, int], goal: Goal) -> Iterator[Candidate]:
    pooled = np.sort(np.concatenate(sides))
    if not len(pooled):
        return
    here, there = sides[goal.side], sides[1 - goal.side]
    runs_here, runs_there = sizes[goal.side], sizes[1 - goal.side]
    thresholds = _thresholds(pooled)
    for above in (True, False):
        cuts = thresholds
        if isinstance(score, KnownLogRatio) and goal.epsilon is not None:
            if above == bool(goal.side):
                continue
            cuts = np.array([goal.epsilon if above else -goal.epsilon])  # no other cut shows a larger δ
        seen_here, seen_there = _seen(here, cuts, above), _seen(there, cuts, above)
        cautious, bold = (
            goal.values(_wilson(seen_here, runs_here, -z), _wilson(seen_there, runs_there, z))
            for z in (_CAUTIOUS, _BOLD)
        )
        for index in {int(np.argmax(cautious)), int(np.argmax(bold))}:
            yield Candidate(OutputEvent(score, float(cuts[index]), above), float(cautious[index]), float(bold[index]))


def _thresholds(pooled: FloatArray) -> FloatArray:
    """Return where to cut: at every value if they are few, else evenly by rank and finely in both tails."""
    last = len(pooled) - 1
    if last <= 2 * _CUTS:
        return np.unique(pooled)
    even = np.linspace(0, last, _CUTS)
    tail = np.geomspace(1, last / 2, _CUTS // 4)
    ranks = np.unique(np.concatenate([even, tail, last - tail]).astype(np.int64))
    return np.unique(pooled[ranks])


def _seen(values: FloatArray, cuts: FloatArray, above: bool) -> NDArray[np.int64]:
    if above:
        return (len(values) - np.searchsorted(values, cuts, side="left")).astype(np.int64)
    return np.searchsorted(values, cuts, side="right").astype(np.int64)


def _wilson(seen: NDArray[np.int64], runs: int, z: float) -> FloatArray:
    """Return Wilson's bound on a chance, lower for negative z: quick, and good enough for choosing."""
    share = seen / runs
    middle = share + z * z / (2 * runs)
    half = z * np.sqrt(share * (1 - share) / runs + z * z / (4 * runs * runs))
    return np.asarray(np.clip((middle + half) / (1 + z * z / runs), 0.0, 1.0), dtype=np.float64)


# --- The points (ε, δ) that a guarantee implies and an audit can test.


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
            return Verdict.NO_GUARANTEE
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


# --- The audit.


LEAST_TRIALS = 100
METHODS = ("auto", "sampling", "exact")

_MOST_LEARNED_FROM = 100_000
_MOST_CHOSEN_ON = 400_000
_FOR_EACH_PAIR = 25_000
"""How many runs each pair is learned from and chosen on at least, where several pairs share the most."""
_MOST_NUMBERS = 8_000_000


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
    names = families or FAMILIES
    with TrialRunner(subject, seed=seed, workers=workers, tell=tell) as runner:
        return _Audit(subject, runner, trials, confidence, tuple(names)).run()


@dataclass(frozen=True, slots=True, eq=False)
class _PairLogRatio:
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
    runner: TrialRunner
    trials: int
    confidence: float
    families: tuple[str, ...]

    def run(self) -> AuditResult:
        rows = max(LEAST_TRIALS, _MOST_NUMBERS // self.runner.width)
        pairs = range(len(self.subject.pairs))
        shared = [max(_FOR_EACH_PAIR, most // len(pairs)) for most in (_MOST_LEARNED_FROM, _MOST_CHOSEN_ON)]
        learned, chosen = (min(self.trials // 4, most, rows) for most in shared)
        counted = self.trials - learned - chosen
        self.runner.total = 2 * len(pairs) * (learned + chosen) + 2 * counted
        points = points_of(self.subject.claim)
        point, choices = _most_promising([self._search(pair, learned, chosen, points) for pair in pairs], points)
        return self._result(point, self._count(choices, counted, point))

    def _search(self, pair: int, learned: int, chosen: int, points: list[Point]) -> list[list[_Choice]]:
        """Return, for each point of the claim, the event to count for each of its goals."""
        inputs = self.subject.pairs[pair]
        log_ratio = self.subject.log_ratio
        known = None if log_ratio is None else _PairLogRatio(log_ratio, inputs.first, inputs.second)
        sample = Sample(*self.runner.outputs("learn", pair, learned), known)
        scores = [score for name in self.families for score in FAMILIES[name](sample)]
        kept = Sample(*self.runner.outputs("choose", pair, chosen), known)
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
        self.runner.total += 2 * counted * (len(pairs) - 1)
        alpha = self._alpha(len(choices))
        findings = []
        for pair in pairs:
            here = [choice for choice in choices if choice.pair == pair]
            counts = self.runner.counts("count", pair, [choice.candidate.event for choice in here], counted)
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
            noise=self.runner.noise,
            findings=tuple(sorted(findings, key=lambda finding: finding is not telling)),
            smallest_caught=None
            if point.epsilon_float is None
            else smallest_caught(point.epsilon_float, point.delta_float, telling.runs, self._alpha(len(findings))),
        )


def _most_promising(found: list[list[list[_Choice]]], points: list[Point]) -> tuple[Point, list[_Choice]]:
    """Return the point of the claim that looks weakest, and for each of its goals the pair that looks weakest."""
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
