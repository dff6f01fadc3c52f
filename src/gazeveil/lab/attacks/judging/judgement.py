# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What a judgement says: accuracy, error rates and intervals over participants, from the verdicts on all queries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from gazeveil.arrays import PlainRow
from gazeveil.lab.attacks.contract import Attack, Recogniser
from gazeveil.lab.attacks.judging.matching import Verdict
from gazeveil.lab.attacks.judging.scores import Pairs, cumulative_matches, interval, resampled_people
from gazeveil.samples.mechanism import SampleMechanism

Interval = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Judgement(PlainRow):
    """How well an attacker identifies participants behind a mechanism.

    Attributes:
        recogniser: Who tells participants apart.
        sees: What it looks at beside velocity.
        attack: What was done against the mechanism; empty for nothing.
        threat_model: What the attack is granted, in words.
        grants: The same by name.
        mechanism: The mechanism in words; empty for none.
        recipe: The mechanism as plain values; None for none.
        promise: What the mechanism guarantees, in words.
        data: Whose gaze it is.
        seconds: How much of every trial was used; None for all.
        rate_hz: How many samples a second there were, about.
        enrolled: From what participants were known: one other fold, or all others.
        people: How many participants were asked about.
        folds: How many sessions.
        pairs: How many pairs of a session asked about and what it was compared with.
        queries: How many times someone was asked about.
        unanswered: How many of these had no usable window.
        windows: How many windows there were in all queries.
        accuracy: How often the first guess is right (rank 1), mean over participants.
        accuracy_interval: Where that lies, over participants resampled.
        pooled_accuracy: How often the highest mean score is right. The protocol votes; an attacker need not, and
            behind a mechanism, where every window says little, added scores often say more.
        pooled_interval: Where that lies.
        window_accuracy: How often a single window is right.
        chance: What guessing gives.
        eer: Equal error rate of the trials' mean scores.
        eer_interval: Where that lies.
        d_prime: Distance of true pairs from strangers in standard deviations.
        d_prime_interval: Where that lies.
        cmc: Share of queries whose participant is among the first 1, 2, … guesses.
        seed: From which all noise follows.
    """

    recogniser: str
    sees: tuple[str, ...]
    attack: str
    threat_model: str
    grants: tuple[str, ...]
    mechanism: str
    recipe: dict[str, Any] | None
    promise: str
    data: str
    seconds: float | None
    rate_hz: float
    enrolled: str
    people: int
    folds: int
    pairs: int
    queries: int
    unanswered: int
    windows: int
    accuracy: float
    accuracy_interval: Interval
    pooled_accuracy: float
    pooled_interval: Interval
    window_accuracy: float
    chance: float
    eer: float
    eer_interval: Interval
    d_prime: float
    d_prime_interval: Interval
    cmc: tuple[float, ...]
    seed: int


class Answer(NamedTuple):
    """The verdict on one query, and who it truly was."""

    person: str
    verdict: Verdict


class Facts(NamedTuple):
    """What a judgement is about, apart from what came out."""

    recogniser: Recogniser
    mechanism: SampleMechanism | None
    attack: Attack | None
    data: str
    seconds: float | None
    folds: int
    pairs: int
    seed: int
    rate_hz: float = 0.0
    enrolled: str = "one"


def judgement_of(answers: Sequence[Answer], facts: Facts, draws: int) -> Judgement:
    """Return what all answers, one at least, say together; for intervals participants are resampled ``draws`` times."""
    names = sorted({answer.person for answer in answers} | {name for _, verdict in answers for name in verdict.people})
    numbers = {name: number for number, name in enumerate(names)}
    asked = np.array([numbers[person] for person, _ in answers])
    ranks = np.array([verdict.rank(person) for person, verdict in answers])
    times = np.bincount(asked, minlength=len(names))
    met = times > 0
    drawn = resampled_people(len(names), draws, facts.seed)

    def named(right: Sequence[bool]) -> tuple[float, Interval]:
        """Return the mean over participants, and where it lies over participants resampled."""
        share = np.bincount(asked, right, len(names)) / np.maximum(times, 1)
        asked_about = drawn @ met.astype(np.float64)
        again = np.divide(drawn @ share, asked_about, out=np.full(draws, np.nan), where=asked_about > 0)
        return float(share[met].mean()), interval(again)

    accuracy, accuracy_interval = named([rank == 1 for rank in ranks.tolist()])
    pooled_accuracy, pooled_interval = named([verdict.highest == person for person, verdict in answers])
    answered = [answer for answer in answers if answer.verdict.windows]
    windows = sum(verdict.windows for _, verdict in answered)
    votes = sum(float(verdict.votes[verdict.people.index(person)]) for person, verdict in answered)
    alike = _pairs(answered, numbers)
    comparable = bool(alike.true.any()) and not alike.true.all()
    mechanism, attack = facts.mechanism, facts.attack
    return Judgement(
        recogniser=facts.recogniser.name,
        sees=tuple(sorted(facts.recogniser.sees)),
        attack="" if attack is None else attack.name,
        threat_model="none" if attack is None else attack.threat_model,
        grants=() if attack is None else tuple(sorted(grant.value for grant in attack.grants)),
        mechanism="" if mechanism is None else mechanism.in_words(),
        recipe=None if mechanism is None else mechanism.to_dict(),
        promise="" if mechanism is None else mechanism.guarantee.in_words(),
        data=facts.data,
        seconds=facts.seconds,
        rate_hz=facts.rate_hz,
        enrolled=facts.enrolled,
        people=int(met.sum()),
        folds=facts.folds,
        pairs=facts.pairs,
        queries=len(answers),
        unanswered=len(answers) - len(answered),
        windows=windows,
        accuracy=accuracy,
        accuracy_interval=accuracy_interval,
        pooled_accuracy=pooled_accuracy,
        pooled_interval=pooled_interval,
        window_accuracy=votes / windows if windows else np.nan,
        chance=float(np.mean([1 / len(verdict.people) for _, verdict in answers])),
        eer=alike.roc().equal_error_rate if comparable else np.nan,
        eer_interval=interval(alike.equal_error_rates(drawn)) if comparable else (np.nan, np.nan),
        d_prime=alike.d_prime(),
        d_prime_interval=interval(np.array([alike.d_prime(weights) for weights in drawn])),
        cmc=tuple(cumulative_matches(ranks, max(len(verdict.people) for _, verdict in answers)).tolist()),
        seed=facts.seed,
    )


def _pairs(answers: Sequence[Answer], numbers: Mapping[str, int]) -> Pairs:
    scores = [verdict.similarity for _, verdict in answers]
    asked = [np.full(len(verdict.people), numbers[person]) for person, verdict in answers]
    compared = [np.array([numbers[name] for name in verdict.people]) for _, verdict in answers]
    nothing = [np.empty(0, np.int64)]
    return Pairs(
        np.concatenate([np.empty(0), *scores]),
        np.concatenate(nothing + asked),
        np.concatenate(nothing + compared),
        len(numbers),
    )
