# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The judgement: how often is someone behind a mechanism still identified?

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
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from gazeveil.arrays import Tell
from gazeveil.errors import InputError, OptionError
from gazeveil.lab.attacks.contract import Attack, Exemplar, Gallery, Grant, Knowledge, Prepared, Recogniser, Trial
from gazeveil.lab.attacks.judging.judgement import Answer, Facts, Judgement, judgement_of
from gazeveil.lab.attacks.judging.matching import vote
from gazeveil.noise import NoiseSource
from gazeveil.samples.mechanism import SampleMechanism

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
