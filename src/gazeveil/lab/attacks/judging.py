# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""How often participants, or their traits, are identified behind a mechanism: the judge and its judgement.

The protocol is that of Wilson et al. 2024, sections 3.3 and 5.2. Trials are sorted into folds, one for each session.
Every ordered pair of distinct folds is measured: the participants of one are enrolled, those of the other asked about,
and accuracy is the mean over participants and pairs. Only queries are veiled, unless the attack itself veils the
reference (white box).

- An attack sees queries without names, and of the mechanism only what its threat model grants.
- An attack that learns from exemplars learns from one half of the participants and is used on the other, and the
  reverse.
- Intervals are of participants resampled (percentile bootstrap): the few participants, not the many windows, limit what
  is known.
- Who has no usable window counts as not identified.

The attacker of Kaleido's figure 12: trained on gaze behind the same mechanism as what is asked about, one session left
out after the other. The paper's attacker has seen the same participants in other sessions, so that knowing who it is
would be enough. ``leave="person"`` leaves out all of a participant instead, and so asks whether the trait itself shows
in gaze.

Success is macro F1: the mean over kinds of the harmonic mean of precision and recall. Guessing is what the same
answers give in random order, computed on the same data. Intervals are of participants resampled.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from gazeveil.arrays import FloatArray, PlainRow, Tell
from gazeveil.errors import InputError, OptionError
from gazeveil.lab.attacks.contract import Attack, Exemplar, Gallery, Grant, Knowledge, Prepared, Recogniser, Trial
from gazeveil.lab.attacks.matching import Pairs, Verdict, cumulative_matches, interval, resampled_people, vote
from gazeveil.noise import NoiseSource
from gazeveil.samples.mechanism import SampleMechanism
from gazeveil.simulate.population import Purpose, generator

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


# --- The judgement: how often is someone behind a mechanism still identified?


DRAWS = 1000
_ATTACKERS_SEED = 1_000_003
"""Added to the seed for whatever the attacker draws: nobody is granted the mechanism's own noise."""


@dataclass(frozen=True, slots=True, eq=False)
class Stage:
    """Veiled and attacked queries, ready for any recogniser.

    Attributes:
        prepared: The attack as each half of the participants meets it.
        shown: What the attack made of each query, by fold, in the order of the trials and without names.
    """

    mechanism: SampleMechanism | None
    attack: Attack | None
    prepared: tuple[Prepared | None, Prepared | None]
    shown: Mapping[str, tuple[Trial, ...]]


@dataclass(frozen=True, slots=True, eq=False)
class _Attacker:
    """An attack that has learnt, or none, and the recogniser that it uses."""

    prepared: Prepared | None
    recogniser: Recogniser

    def references(self, raw: Trial) -> tuple[Trial, ...]:
        return (raw,) if self.prepared is None else self.prepared.references(raw)


@dataclass(slots=True, eq=False)
class Judge:
    """Recordings and a recogniser, ready to judge one mechanism and attack after the other.

    Participants who are enrolled as they are, are enrolled once for all judgements.

    Attributes:
        recogniser: Who tells participants apart.
        trials: Whose gaze; at least two participants and two folds.
        data: What they are, in words.
        seconds: Use only the first seconds of every trial.
        fold: What makes a fold: the session, or the name of the trial.
        enrolled: From what participants are known: ``one`` other fold, as in the paper, or all ``others`` together.
        seed: All noise follows from it.
        draws: How often participants are resampled for an interval.
    """

    recogniser: Recogniser
    trials: Sequence[Trial]
    data: str = ""
    seconds: float | None = None
    fold: Literal["session", "name"] = "session"
    enrolled: Literal["one", "others"] = "one"
    seed: int = 1
    draws: int = DRAWS
    _folds: dict[str, list[Trial]] = field(init=False)
    _half: dict[str, int] = field(init=False)
    _plain: dict[tuple[tuple[str, ...], bool], Gallery] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        if self.seconds is not None and not self.seconds > 0:
            raise OptionError(f"the recording length must be above 0 s, not {self.seconds!r}")
        self._folds = {}
        for trial in self.trials:
            # two samples more, or a clock that jitters may leave the last window one short
            kept = trial if self.seconds is None else trial.first(self.seconds + 2 / trial.rate_hz)
            self._folds.setdefault(getattr(trial, self.fold), []).append(kept)
        people = sorted({trial.person for trial in self.trials})
        self._half = {person: number % 2 for number, person in enumerate(people)}
        if len(self._folds) < 2 or len(people) < 2:
            raise InputError(
                f"at least two participants and two {self.fold}s are needed, not {len(people)} and {len(self._folds)}",
                hint="participants are enrolled from one and asked about in another",
            )

    def judge(
        self,
        mechanism: SampleMechanism | None = None,
        attack: Attack | None = None,
        *,
        tell: Tell | None = None,
    ) -> Judgement:
        """Measure how often participants are identified.

        Args:
            mechanism: The mechanism; without one, gaze is as it was recorded, pupil included.
            attack: What is done against it.
            tell: Called with how many folds are done.

        Raises:
            OptionError: If the attack needs what is not there.
        """
        return self.measure(self.stage(mechanism, attack), tell=tell)

    def stage(self, mechanism: SampleMechanism | None = None, attack: Attack | None = None) -> Stage:
        """Protect the queries and attack the mechanism: all that can be done before anyone is told apart.

        Raises:
            OptionError: If the attack needs what is not there.
        """
        veiled = {key: [self._veil(trial, mechanism) for trial in trials] for key, trials in self._folds.items()}
        prepared = self._prepared(veiled, mechanism, attack)
        shown = {
            key: tuple(_query(prepared[self._half[trial.person]], trial) for trial in trials)
            for key, trials in veiled.items()
        }
        return Stage(mechanism, attack, prepared, shown)

    def measure(self, stage: Stage, *, tell: Tell | None = None) -> Judgement:
        """Measure how often participants are identified, in what was staged here or by a judge of the same trials.

        Raises:
            InputError: If it was staged for other trials, or no queried participant is enrolled.
        """
        if {key: len(trials) for key, trials in stage.shown.items()} != {
            key: len(trials) for key, trials in self._folds.items()
        }:
            raise InputError("this was staged with other trials", hint="stage it again")
        bare = stage.mechanism is not None or stage.attack is not None
        attackers = self._attackers(stage.prepared)
        answers: list[Answer] = []
        for done, fold in enumerate(self._folds, start=1):
            others = tuple(other for other in self._folds if other != fold)
            references, queries = ((fold,), others) if self.enrolled == "one" else (others, (fold,))
            galleries = self._galleries(references, bare, attackers)
            for query in queries:
                for trial, seen in zip(self._folds[query], stage.shown[query], strict=True):
                    gallery = galleries[self._half[trial.person]]
                    if trial.person in gallery.people:
                        answers.append(Answer(trial.person, vote(gallery.windows(seen), gallery.people)))
            if tell is not None:
                tell(done, len(self._folds))
        if not answers:
            raise InputError("no queried participant is enrolled", hint="the same participants must be in two folds")
        folds = len(self._folds)
        pairs = folds * (folds - 1) if self.enrolled == "one" else folds
        facts = Facts(
            self.recogniser,
            stage.mechanism,
            stage.attack,
            self.data,
            self.seconds,
            folds,
            pairs,
            self.seed,
            min(trial.rate_hz for trial in self.trials),
            self.enrolled,
        )
        return judgement_of(answers, facts, self.draws)

    def _veil(self, trial: Trial, mechanism: SampleMechanism | None) -> Trial:
        if mechanism is None:
            return trial
        noise = NoiseSource.seeded(self.seed).spawn(f"veil/{trial.person}/{trial.session}/{trial.name}")
        return trial.with_gaze(*mechanism.start(noise).run(trial.t, trial.x, trial.y))

    def _prepared(
        self, veiled: Mapping[str, Sequence[Trial]], mechanism: SampleMechanism | None, attack: Attack | None
    ) -> tuple[Prepared | None, Prepared | None]:
        """Return the attack for each half of the participants.

        The same for both unless it learns from the other half.
        """
        if attack is None:
            return None, None
        seed = self.seed + _ATTACKERS_SEED
        if Grant.EXEMPLARS not in attack.grants:
            prepared = attack.prepare(Knowledge(mechanism), seed)
            return prepared, prepared
        halves: tuple[list[Exemplar], list[Exemplar]] = [], []
        for key, trials in self._folds.items():
            for raw, behind in zip(trials, veiled[key], strict=True):
                halves[self._half[raw.person]].append(Exemplar(raw, behind))
        first, second = (
            attack.prepare(Knowledge(mechanism, tuple(others)), seed + half)
            for half, others in enumerate(reversed(halves))
        )
        return first, second

    def _attackers(self, prepared: tuple[Prepared | None, Prepared | None]) -> tuple[_Attacker, _Attacker]:
        first, second = prepared
        one = _Attacker(first, self.recogniser if first is None else first.recogniser(self.recogniser))
        if second is first or second is None:
            return one, one
        return one, _Attacker(second, second.recogniser(self.recogniser))

    def _galleries(
        self, folds: tuple[str, ...], bare: bool, attackers: tuple[_Attacker, _Attacker]
    ) -> tuple[Gallery, Gallery]:
        """Enrol some folds for each half of the participants, as the attacker wants it."""
        first, second = attackers
        gallery = self._gallery(folds, bare, first)
        return gallery, gallery if second is first else self._gallery(folds, bare, second)

    def _gallery(self, folds: tuple[str, ...], bare: bool, attacker: _Attacker) -> Gallery:
        # neither a veil nor an attack lets the pupil through, so there is nothing to compare it with
        known = [trial for fold in folds for trial in self._folds[fold]]
        trials = [trial.with_gaze(trial.x, trial.y) if bare else trial for trial in known]
        enrolled = [reference for trial in trials for reference in attacker.references(trial)]
        if attacker.recogniser is not self.recogniser or not _same(enrolled, trials):
            return attacker.recogniser.enrol(enrolled, self.seed)
        if (folds, bare) not in self._plain:
            self._plain[folds, bare] = self.recogniser.enrol(trials, self.seed)
        return self._plain[folds, bare]


def _query(prepared: Prepared | None, veiled: Trial) -> Trial:
    asked = veiled.anonymous()
    return asked if prepared is None else prepared.query(asked.with_gaze(asked.x, asked.y))


def _same(some: Sequence[Trial], others: Sequence[Trial]) -> bool:
    return len(some) == len(others) and all(one is other for one, other in zip(some, others, strict=True))


def judge(
    recogniser: Recogniser,
    trials: Sequence[Trial],
    mechanism: SampleMechanism | None = None,
    attack: Attack | None = None,
    **options: Any,
) -> Judgement:
    """Measure once how often participants are identified; options are those of `Judge`. For many, keep a `Judge`."""
    return Judge(recogniser, trials, **options).judge(mechanism, attack)


# --- What kind of participant is it? Any recogniser infers traits if it is taught kinds instead of participants.


_ORDERS = 200


class Veiling(Protocol):
    """A mechanism for gaze: a sample mechanism, or one that is wrapped."""

    def start(self, noise: NoiseSource) -> Any:
        """Return what has ``run(t, x, y)``, the veiled gaze."""
        ...


@dataclass(frozen=True, slots=True)
class Inference(PlainRow):
    """How well a trait is inferred.

    Attributes:
        recogniser: Who infers it.
        left_out: What was left out of training: the session or the participant.
        kinds: What there is to tell apart.
        people: How many participants were asked about.
        queries: How many times.
        f1: Macro F1.
        f1_interval: Where that lies, over participants resampled.
        guessing: Macro F1 of the same answers in random order.
        accuracy: Share of answers that are right, mean over participants.
        answered: Share of questions that had an answer; those without count as wrong. Where the attacker can learn
            nothing at all, there is none, and no F1.
    """

    recogniser: str
    left_out: str
    kinds: tuple[str, ...]
    people: int
    queries: int
    f1: float
    f1_interval: tuple[float, float]
    guessing: float
    accuracy: float
    answered: float


def infer(
    recogniser: Recogniser,
    trials: Sequence[Trial],
    kinds: Mapping[str, str],
    mechanism: Veiling | None = None,
    *,
    leave: Literal["session", "person"] = "session",
    seed: int = 1,
) -> Inference:
    """Infer the kind of every trial's participant from trials of known kind behind the same mechanism.

    Args:
        recogniser: Who infers it; it learns kinds as if they were participants.
        trials: Gaze of everyone; a participant without a kind is left out.
        kinds: The kind of every participant: a trait, or the participant's own name to infer identity.
        mechanism: The mechanism; without one, gaze is as it was recorded, pupil and fields included.
        leave: What is left out of training at a time.
        seed: All noise follows from it.

    Raises:
        InputError: If there are not two kinds, or nothing is left to learn from.
    """
    known = [trial for trial in trials if trial.person in kinds]
    names = tuple(sorted({kinds[trial.person] for trial in known}))
    if len(names) < 2:
        raise InputError(f"two kinds of participants are needed to tell apart, found {len(names)}")
    shown = [_taught(trial, kinds[trial.person], mechanism, seed) for trial in known]
    number = {name: at for at, name in enumerate(names)}
    asked: list[tuple[str, int, int]] = []
    for fold in sorted({getattr(trial, leave) for trial in known}):
        inside = [getattr(trial, leave) == fold for trial in known]
        reference = [one for one, mine in zip(shown, inside, strict=True) if not mine]
        if len({one.person for one in reference}) < 2:
            continue
        gallery = _enrolled(recogniser, reference, seed)
        taught = {one.person for one in reference}
        for trial, one, mine in zip(known, shown, inside, strict=True):
            if mine and kinds[trial.person] in taught:
                guess = None if gallery is None else vote(gallery.windows(one.anonymous()), gallery.people).highest
                asked.append((trial.person, number[kinds[trial.person]], -1 if guess is None else number[guess]))
    if not asked:
        raise InputError(
            "no participant can be queried", hint="every kind must be there in two sessions, or two participants"
        )
    return _summed(recogniser.name, leave, names, asked, seed)


def _enrolled(recogniser: Recogniser, reference: Sequence[Trial], seed: int) -> Gallery | None:
    """Return the gallery, or None where a mechanism leaves nothing to learn from."""
    try:
        return recogniser.enrol(reference, seed)
    except InputError:
        return None


def _taught(trial: Trial, kind: str, mechanism: Veiling | None, seed: int) -> Trial:
    """Return a trial behind the mechanism under the name of its kind; sessions of different participants stay apart."""
    if mechanism is not None:
        noise = NoiseSource.seeded(seed).spawn(f"traits/{trial.person}/{trial.session}/{trial.name}")
        trial = trial.with_gaze(*mechanism.start(noise).run(trial.t, trial.x, trial.y))
    return replace(trial, person=kind, session=f"{trial.person}/{trial.session}")


def _summed(
    recogniser: str, leave: str, names: tuple[str, ...], asked: Sequence[tuple[str, int, int]], seed: int
) -> Inference:
    people = sorted({person for person, _, _ in asked})
    owner = np.array([people.index(person) for person, _, _ in asked])
    truth, guess = (np.array([row[at] for row in asked]) for at in (1, 2))
    even = np.ones(len(asked))
    if (guess < 0).all():
        nothing = (np.nan, np.nan)
        return Inference(recogniser, leave, names, len(people), len(asked), np.nan, nothing, np.nan, 0.0, 0.0)
    rng = generator(seed, Purpose.RESAMPLING, "orders of answers")
    drawn = resampled_people(len(people), DRAWS, seed)
    right = np.bincount(owner, truth == guess, len(people)) / np.bincount(owner, minlength=len(people))
    return Inference(
        recogniser=recogniser,
        left_out=leave,
        kinds=names,
        people=len(people),
        queries=len(asked),
        f1=macro_f1(truth, guess, even, len(names)),
        f1_interval=interval(np.array([macro_f1(truth, guess, weights[owner], len(names)) for weights in drawn])),
        guessing=float(np.mean([macro_f1(truth, rng.permutation(guess), even, len(names)) for _ in range(_ORDERS)])),
        accuracy=float(right.mean()),
        answered=float((guess >= 0).mean()),
    )


def macro_f1(truth: NDArray[np.int64], guess: NDArray[np.int64], weights: FloatArray, kinds: int) -> float:
    """Return the mean F1 over kinds that weigh anything; a guess of -1 is none. NaN without any kind."""
    true = np.bincount(truth, weights, kinds)
    named = guess >= 0
    guessed = np.bincount(guess[named], weights[named], kinds)
    both = np.bincount(truth, weights * (truth == guess), kinds)
    there = true > 0
    return float((2 * both[there] / (true + guessed)[there]).mean()) if there.any() else np.nan
