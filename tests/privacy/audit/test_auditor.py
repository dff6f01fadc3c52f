# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The auditor must catch what is broken and must not accuse what is sound. Seeds make every verdict repeatable."""

from __future__ import annotations

import math
import multiprocessing
import os
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from gazeveil.errors import OptionError
from gazeveil.noise import NoiseSource, add_laplace, from_lattice
from gazeveil.privacy.audit import AuditResult, Pair, Subject, Verdict, audit
from gazeveil.privacy.audit.audited import GaussianCount, LaplaceCount
from gazeveil.privacy.audit.auditor import Goal, candidates, choose
from gazeveil.privacy.audit.bounds import epsilon_bound, lower_bound, upper_bound
from gazeveil.privacy.audit.events import FAMILIES, Outputs, Sample
from gazeveil.privacy.calibration import gaussian_sigma
from gazeveil.privacy.guarantee import ApproxDP, Guarantee, PureDP, Unproven, ZeroConcentratedDP

ZERO_OR_ONE = (Pair(0.0, 1.0, "a count of 0 and a count of 1"),)


def uniform(noise: NoiseSource, shape: tuple[int, ...]) -> Outputs:
    return (noise.words(math.prod(shape)) >> np.uint64(11)).reshape(shape) * 2.0**-53


def laplace(scale: float, claim: Guarantee) -> Subject:
    return Subject(LaplaceCount(scale).run, claim, ZERO_OR_ONE)


@dataclass(frozen=True)
class Leaky:
    """Laplace noise, but with some chance the secret comes out beside it, marked by a large value."""

    chance: float

    def run(self, data: float, noise: NoiseSource, trials: int) -> Outputs:
        noisy = LaplaceCount(1.0).run(data, noise, trials)
        return np.where(uniform(noise, (trials,)) < self.chance, 1000.0 + data, noisy)


@dataclass(frozen=True)
class RevealsItself:
    """Laplace noise, but with some chance the true value comes out as it is."""

    chance: float

    def run(self, data: float, noise: NoiseSource, trials: int) -> Outputs:
        noisy = 0.1 + LaplaceCount(1.0).run(data, noise, trials)
        return np.where(uniform(noise, (trials,)) < self.chance, data, noisy)


def last_bit(data: float, noise: NoiseSource, trials: int) -> Outputs:
    """The value says nothing at all; the last bit of its representation is the secret."""
    words = (1.0 + uniform(noise, (trials,))).view(np.uint64)
    return ((words & ~np.uint64(1)) | np.uint64(int(data))).view(np.float64)


def order_of_a_list(data: float, noise: NoiseSource, trials: int) -> Outputs:
    """Three random numbers in a random cyclic order, the other way round if the secret is 1."""
    numbers = np.sort(uniform(noise, (trials, 3)), axis=1)
    turned = (np.arange(3) + (3 * uniform(noise, (trials, 1))).astype(int)) % 3
    return np.take_along_axis(numbers, turned[:, ::-1] if data else turned, axis=1)


def goes_missing(data: float, noise: NoiseSource, trials: int) -> Outputs:
    lost = uniform(noise, (trials,)) < 0.02 + 0.2 * data
    return np.where(lost, np.nan, uniform(noise, (trials,)))


def noisy_vector(data: Outputs, noise: NoiseSource, trials: int) -> Outputs:
    return from_lattice(add_laplace(noise, np.tile(data, (trials, 1)), 4.0))


def test_a_tight_mechanism_is_found_to_be_tight() -> None:
    result = audit(laplace(1.0, PureDP(1)), trials=100_000, confidence=0.95, seed=1)
    assert result.verdict is Verdict.CONSISTENT
    assert 0.93 < result.epsilon_lower_bound <= 1
    assert result.delta_lower_bound == 0


@pytest.mark.parametrize("trials", [5_000, 50_000])
def test_twice_the_claim_is_caught(trials: int) -> None:
    result = audit(laplace(0.5, PureDP(1)), trials=trials, seed=2)
    assert result.violated
    assert 1.7 < result.epsilon_lower_bound <= 2
    assert result.delta_lower_bound is not None
    assert 0.1 < result.delta_lower_bound <= 1 - math.exp(-0.5)  # the true δ of Laplace noise with ε = 2, at ε = 1


def test_ten_per_cent_above_the_claim_is_caught_with_enough_runs() -> None:
    assert audit(laplace(1 / 1.1, PureDP(1)), trials=200_000, seed=3).violated


@pytest.mark.parametrize("mechanism", [Leaky(0.01), RevealsItself(0.01)])
def test_a_leak_in_one_run_of_a_hundred_is_caught(mechanism: Leaky | RevealsItself) -> None:
    result = audit(Subject(mechanism.run, PureDP(1), ZERO_OR_ONE), trials=40_000, seed=4)
    assert result.violated
    assert result.epsilon_lower_bound > 2


@pytest.mark.parametrize("run", [last_bit, order_of_a_list, goes_missing])
def test_leaks_beside_the_values_are_caught(run: Any) -> None:
    result = audit(Subject(run, PureDP("0.5"), ZERO_OR_ONE), trials=20_000, seed=5)
    assert result.violated
    assert result.epsilon_lower_bound > 1.5


def test_a_change_in_one_of_many_numbers_is_caught() -> None:
    here, there = np.zeros(200, dtype=np.int64), np.zeros(200, dtype=np.int64)
    there[17] = 8
    subject = Subject(noisy_vector, PureDP(1), (Pair(here, there),))
    result = audit(subject, trials=8_000, seed=6)
    assert result.violated  # a shift of 8 at scale 4 costs 2
    assert result.epsilon_lower_bound <= 2


def test_the_worst_of_several_pairs_is_found() -> None:
    pairs = (Pair(0.0, 0.25, "near"), Pair(0.0, 2.0, "far"), Pair(0.0, 0.5, "middling"))
    result = audit(Subject(LaplaceCount(1.0).run, PureDP(1), pairs), trials=20_000, seed=7)
    assert result.violated
    assert result.findings[0].pair == "far"


def test_delta_is_bounded_where_a_delta_is_claimed() -> None:
    def claimed(delta: float) -> AuditResult:
        return audit(Subject(Leaky(0.02).run, ApproxDP(1, delta), ZERO_OR_ONE), trials=60_000, seed=8)

    broken = claimed(0.001)
    assert broken.violated
    assert broken.delta_lower_bound is not None
    assert 0.015 < broken.delta_lower_bound <= 0.02
    assert claimed(0.02).verdict is Verdict.CONSISTENT


def test_gaussian_noise_is_tight_at_its_delta() -> None:
    sigma = gaussian_sigma(1, "0.05")
    sound = GaussianCount(sigma)
    subject = Subject(sound.run, ApproxDP(1, "0.05"), ZERO_OR_ONE, sound.log_ratio)
    result = audit(subject, trials=100_000, seed=9)
    assert result.verdict is Verdict.CONSISTENT
    assert result.delta_lower_bound is not None
    assert 0.035 < result.delta_lower_bound <= 0.05
    weak = GaussianCount(sigma / 1.5)
    assert audit(Subject(weak.run, ApproxDP(1, "0.05"), ZERO_OR_ONE), trials=20_000, seed=9).violated


def test_zcdp_is_audited_by_what_it_implies() -> None:
    mechanism = GaussianCount(1.0)  # ρ = 1/2
    sound = audit(Subject(mechanism.run, ZeroConcentratedDP("0.5"), ZERO_OR_ONE), trials=20_000, seed=10)
    assert sound.verdict is Verdict.CONSISTENT
    assert sound.claimed_delta > 0
    assert sound.claimed_epsilon is not None
    broken = audit(Subject(mechanism.run, ZeroConcentratedDP("0.08"), ZERO_OR_ONE), trials=20_000, seed=10)
    assert broken.violated


def test_the_chance_of_error_is_shared_out_over_every_bound() -> None:
    for claim, bounds in ((PureDP(1), 4), (ApproxDP(1, "0.01"), 8)):
        result = audit(laplace(0.5, claim), trials=4_000, confidence=0.9, seed=14)
        assert 2 * len(result.findings) == bounds
        for finding in result.findings:
            at_least = lower_bound(finding.seen, finding.runs, 0.1 / bounds)
            at_most = upper_bound(finding.seen_on_neighbour, finding.runs, 0.1 / bounds)
            expected = epsilon_bound(at_least, at_most, result.claimed_delta)
            assert finding.epsilon == pytest.approx(expected, rel=1e-9)
        assert result.epsilon_lower_bound == max(finding.epsilon for finding in result.findings)


def test_where_nothing_is_promised_nothing_is_violated() -> None:
    result = audit(laplace(0.5, Unproven("for comparison")), trials=5_000, seed=11)
    assert result.verdict is Verdict.NO_GUARANTEE
    assert result.claimed_epsilon is None
    assert result.delta_lower_bound is None
    assert result.epsilon_lower_bound > 1.5
    assert "Nothing is claimed" in result.in_words()


def test_sound_mechanisms_are_accused_no_more_often_than_stated() -> None:
    """If one audit in four erred, as it may at a confidence of 0.75, 110 of 300 would have a chance below 1e-5."""
    subject = laplace(1.0, PureDP(1))  # exactly as private as it claims: the hardest case
    accused = sum(
        audit(subject, trials=600, confidence=0.75, seed=seed, families=("threshold", "histogram")).violated
        for seed in range(300)
    )
    assert accused < 110


def test_counting_on_the_runs_that_chose_the_event_would_accuse_the_innocent() -> None:
    """Why fresh runs are needed: the same bounds on the runs that the event was made for are wrong most of the time."""
    mechanism, accused = LaplaceCount(1.0), 0
    goal = Goal(None, 0.0, 0)
    for seed in range(20):
        noise = NoiseSource.seeded(seed)
        sample = Sample(mechanism.run(0.0, noise, 300)[:, None], mechanism.run(1.0, noise, 300)[:, None])
        found = candidates(FAMILIES["histogram"](sample), sample, [goal])[0]
        event = choose(found, goal).event
        here, there = event.count(sample.first), event.count(sample.second)
        accused += epsilon_bound(lower_bound(here, 300, 0.025), upper_bound(there, 300, 0.025)) > 1
    assert accused > 10


def test_the_result_depends_on_the_seed_and_not_on_the_number_of_processes() -> None:
    subject = laplace(1.0, PureDP(1))
    alone = audit(subject, trials=150_000, seed=12, families=["threshold"])
    together = audit(subject, trials=150_000, seed=12, families=["threshold"], workers=2)
    assert alone.to_dict() == together.to_dict()
    other = audit(subject, trials=150_000, seed=13, families=["threshold"])
    assert other.findings != alone.findings


def test_without_a_seed_the_noise_is_the_operating_systems() -> None:
    subject = laplace(1.0, PureDP(1))
    first, second = (audit(subject, trials=2_000, families=["threshold"]) for _ in range(2))
    assert "operating system" in first.noise
    assert first.findings != second.findings


def test_progress_is_told_up_to_the_end() -> None:
    told: list[tuple[float, float | None]] = []

    def tell(done: float, total: float | None) -> None:
        told.append((done, total))

    audit(laplace(1.0, PureDP(1)), trials=3_000, seed=1, tell=tell)
    steps = [done for done, _ in told]
    assert steps == sorted(steps)
    assert steps[-1] == told[-1][1] == 6_000


def test_a_mechanism_that_cannot_travel_is_refused_several_processes() -> None:
    subject = Subject(lambda data, noise, trials: np.zeros(trials), PureDP(1), ZERO_OR_ONE)
    with pytest.raises(OptionError, match="cannot be sent to other processes"):
        audit(subject, trials=1_000, workers=2)


def dies_in_other_processes(data: float, noise: NoiseSource, trials: int) -> Outputs:
    if multiprocessing.parent_process() is not None:
        os._exit(3)
    return np.zeros(trials)


def test_a_process_that_dies_is_told_in_words() -> None:
    with pytest.raises(OptionError, match="ended early"):
        audit(Subject(dies_in_other_processes, PureDP(1), ZERO_OR_ONE), trials=1_000, seed=1, workers=2)


def returns(value: Any) -> Subject:
    return Subject(lambda data, noise, trials: value(data, trials), PureDP(1), ZERO_OR_ONE)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (lambda data, trials: np.zeros(trials + 1), "one row of numbers"),
        (lambda data, trials: 3.0, "one row of numbers"),
        (lambda data, trials: np.array(["a"] * trials), "one row of numbers"),
        (lambda data, trials: np.zeros((trials, 0)), "one row of numbers"),
        (lambda data, trials: np.zeros((trials, 1 + int(data))), "may tell inputs apart"),
    ],
)
def test_a_mechanism_that_does_not_return_rows_is_refused(value: Any, words: str) -> None:
    with pytest.raises(OptionError, match=words):
        audit(returns(value), trials=200, seed=1)


def test_a_constant_mechanism_gives_nothing_away() -> None:
    result = audit(returns(lambda data, trials: np.zeros(trials)), trials=1_000, seed=1)
    assert (result.verdict, result.epsilon_lower_bound) == (Verdict.CONSISTENT, 0.0)


def test_a_mechanism_without_noise_gives_everything_away() -> None:
    result = audit(returns(lambda data, trials: np.full(trials, data)), trials=1_000, seed=1)
    assert result.violated
    assert result.epsilon_lower_bound > 4


def test_families_that_suggest_nothing_are_told() -> None:
    with pytest.raises(OptionError, match="suggest nothing"):
        audit(laplace(1.0, PureDP(1)), trials=1_000, seed=1, families=["likelihood-ratio"])


@pytest.mark.parametrize(
    "wrong",
    [{"trials": 10}, {"confidence": 1.0}, {"confidence": 0.2}, {"workers": 0}, {"method": "exact"}, {"method": "x"}],
)
def test_impossible_audits_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(OptionError):
        audit(laplace(1.0, PureDP(1)), **wrong)


def test_a_subject_needs_inputs() -> None:
    with pytest.raises(OptionError, match="at least one pair"):
        Subject(last_bit, PureDP(1), ())
