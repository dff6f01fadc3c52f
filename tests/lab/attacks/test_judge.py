# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The judgement, with people of one tremor each and a recogniser that hears nothing else."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from gazeveil.errors import InputError, OptionError
from gazeveil.lab.attacks import Attack, Gallery, Grant, Knowledge, Prepared, Recogniser, Trial
from gazeveil.lab.attacks.judging import Answer, Facts, Judge, judge, judgement_of
from gazeveil.lab.attacks.matching import EmbeddedGallery, vote
from gazeveil.noise import NoiseSource
from gazeveil.samples import MECHANISMS, Sphere
from gazeveil.samples.mechanism import SampleMechanism
from tests.lab.attacks.windows import windows

RATE = 50.0


def people(count: int, sessions: int = 3, seconds: float = 12.0, seed: int = 1, pupil: bool = False) -> list[Trial]:
    rng = np.random.default_rng(seed)
    t = np.arange(round(seconds * RATE)) / RATE
    made = []
    for person in range(count):
        for session in range(sessions):
            x, y = (
                np.sin(2 * np.pi * (2 + person) * t + rng.uniform(0, 6)) + 0.3 * rng.normal(size=len(t))
                for _ in range(2)
            )
            size = np.full(len(t), 3.0 + person) if pupil else None
            made.append(Trial(f"p{person}", f"s{session}", "all", t, x, y, RATE, size))
    return made


@dataclass(frozen=True)
class Spectrum(Recogniser):
    name: ClassVar[str] = "spectrum"
    enrolled: ClassVar[list[list[Trial]]] = []

    @property
    def sees(self) -> frozenset[str]:
        return frozenset({"position"})

    def enrol(self, reference: Sequence[Trial], seed: int = 1) -> Gallery:
        self.enrolled.append(list(reference))
        return EmbeddedGallery(self.embed, reference)

    @staticmethod
    def embed(trial: Trial) -> np.ndarray:
        cut = windows(trial, 5, 1, RATE)
        powers = np.abs(np.fft.rfft(np.nan_to_num(cut), axis=2)) ** 2
        return powers.sum(axis=1)[:, 1:120] if len(cut) else np.empty((0, 119))


@dataclass(frozen=True)
class NamesAskedAbout(Attack):
    """Does nothing, but notes all that it is given."""

    name: ClassVar[str] = "notes"
    threat_model: ClassVar[str] = "black box"
    seen: ClassVar[list[Trial]] = []
    known: ClassVar[list[Knowledge]] = []

    def _prepare(self, knowledge: Knowledge, seed: int) -> Prepared:
        self.known.append(knowledge)
        noted = self.seen

        class Noting(Prepared):
            def query(self, veiled: Trial) -> Trial:
                noted.append(veiled)
                return veiled

        return Noting()


@dataclass(frozen=True)
class NotesWithExemplars(NamesAskedAbout):
    grants: ClassVar[frozenset[Grant]] = frozenset({Grant.EXEMPLARS})
    known: ClassVar[list[Knowledge]] = []


@dataclass(frozen=True)
class WhiteBox(Attack):
    name: ClassVar[str] = "white"
    threat_model: ClassVar[str] = "white box"
    grants: ClassVar[frozenset[Grant]] = frozenset({Grant.MECHANISM})

    def _prepare(self, knowledge: Knowledge, seed: int) -> Prepared:
        assert knowledge.mechanism is not None
        mechanism: SampleMechanism = knowledge.mechanism

        class Both(Prepared):
            def query(self, veiled: Trial) -> Trial:
                return veiled

            def reference(self, raw: Trial) -> Trial:
                noise = NoiseSource.seeded(seed).spawn(raw.person + raw.session)
                return raw.with_gaze(*mechanism.start(noise).run(raw.t, raw.x, raw.y))

        return Both()


def veil(name: str, **options: float) -> SampleMechanism:
    return MECHANISMS[name](Sphere(), **options)


def test_people_without_a_veil_are_named() -> None:
    told = judge(Spectrum(), people(5), data="tremors", draws=200)
    assert told.accuracy == 1
    assert told.accuracy_interval == (1.0, 1.0)
    assert told.eer < 0.01
    assert told.d_prime > 3
    assert (told.people, told.folds, told.pairs, told.queries) == (5, 3, 6, 30)
    assert told.windows == 30 * 8
    assert told.chance == pytest.approx(0.2)
    assert told.cmc[0] == told.accuracy
    assert told.sees == ("position",)
    assert (told.mechanism, told.attack, told.threat_model, told.data) == ("", "", "none", "tremors")
    json.dumps(told.to_dict())


def test_noise_hides_people_and_knowing_the_veil_helps_the_attacker() -> None:
    trials, noise = people(6, seed=2), veil("gaussian", sigma=8.0)
    black = judge(Spectrum(), trials, noise, draws=100)
    white = judge(Spectrum(), trials, veil("temporal", keep_every=12), WhiteBox(), draws=100)
    blind = judge(Spectrum(), trials, veil("temporal", keep_every=12), draws=100)
    assert black.accuracy < 0.9
    assert black.accuracy_interval[0] < black.accuracy < black.accuracy_interval[1]
    assert white.accuracy > blind.accuracy
    assert white.grants == ("mechanism",)
    assert "unproven" in black.promise.lower() or "nothing" in black.promise.lower()


def test_an_attack_never_sees_a_name_nor_more_than_it_is_granted() -> None:
    NamesAskedAbout.seen.clear()
    NamesAskedAbout.known.clear()
    judge(Spectrum(), people(3), veil("gaussian", sigma=1.0), NamesAskedAbout(), draws=10)
    assert len(NamesAskedAbout.seen) == 9  # every query once, however many folds it is compared with
    assert {trial.person for trial in NamesAskedAbout.seen} == {""}
    assert all(known.mechanism is None and known.exemplars is None for known in NamesAskedAbout.known)


def test_exemplars_are_of_the_other_half_of_the_people() -> None:
    NotesWithExemplars.known.clear()
    judge(Spectrum(), people(5), veil("gaussian", sigma=1.0), NotesWithExemplars(), draws=10)
    halves = [{exemplar.raw.person for exemplar in known.exemplars or ()} for known in NotesWithExemplars.known]
    assert halves == [{"p1", "p3"}, {"p0", "p2", "p4"}]  # who is even is asked about by the first, and so on
    pair = (NotesWithExemplars.known[0].exemplars or ())[0]
    assert not np.array_equal(pair.raw.x, pair.veiled.x)


def test_the_halves_are_asked_about_by_the_attack_that_did_not_learn_from_them() -> None:
    @dataclass(frozen=True)
    class Telling(Attack):
        name: ClassVar[str] = "telling"
        threat_model: ClassVar[str] = "black box with exemplars"
        grants: ClassVar[frozenset[Grant]] = frozenset({Grant.EXEMPLARS})

        def _prepare(self, knowledge: Knowledge, seed: int) -> Prepared:
            heard = [exemplar.veiled.x for exemplar in knowledge.exemplars or ()]

            class Checking(Prepared):
                def query(self, veiled: Trial) -> Trial:
                    assert not any(np.array_equal(veiled.x, x) for x in heard)
                    return veiled

            return Checking()

    judge(Spectrum(), people(4), veil("gaussian", sigma=1.0), Telling(), draws=10)


def test_what_is_enrolled_as_it_is_is_enrolled_once_for_all_judgements() -> None:
    Spectrum.enrolled.clear()
    court = Judge(Spectrum(), people(3, pupil=True), draws=10)
    court.judge(veil("gaussian", sigma=1.0))
    court.judge(veil("gaussian", sigma=2.0), NamesAskedAbout())
    assert len(Spectrum.enrolled) == 3
    assert all(trial.pupil is None for fold in Spectrum.enrolled for trial in fold)
    court.judge()  # without a veil the pupil is there to be seen
    assert len(Spectrum.enrolled) == 6
    assert all(trial.pupil is not None for fold in Spectrum.enrolled[3:] for trial in fold)
    court.judge(veil("gaussian", sigma=1.0), WhiteBox())
    assert len(Spectrum.enrolled) == 9


def test_the_same_seed_gives_the_same_judgement_and_another_one_another() -> None:
    trials, noise = people(4), veil("gaussian", sigma=4.0)
    one, again, other = (judge(Spectrum(), trials, noise, draws=20, seed=seed) for seed in (1, 1, 2))
    assert one == again
    assert one.d_prime != other.d_prime


def test_the_first_seconds_alone_have_fewer_windows_and_too_few_none_at_all() -> None:
    told = judge(Spectrum(), people(3), seconds=6, draws=10)
    assert told.windows == told.queries * 2
    assert told.seconds == 6
    trials = people(3)
    short = [trial.first(4) if trial.person == "p1" and trial.session == "s0" else trial for trial in trials]
    told = judge(Spectrum(), short, draws=10)
    assert told.unanswered == 2  # asked about against two folds, without a window
    assert told.queries == 18 - 2  # and not asked about where not enrolled
    assert told.accuracy == pytest.approx((1 + 1 + 2 / 4) / 3)


def test_folds_may_be_trials_instead_of_sessions() -> None:
    trials = [
        Trial(trial.person, "only", trial.session, trial.t, trial.x, trial.y, RATE) for trial in people(3, sessions=2)
    ]
    assert judge(Spectrum(), trials, fold="name", draws=10).accuracy == 1
    with pytest.raises(InputError, match="at least two participants and two sessions are needed, not 3 and 1"):
        judge(Spectrum(), trials)


def test_nonsense_is_refused() -> None:
    with pytest.raises(OptionError, match="above 0 s"):
        Judge(Spectrum(), people(2), seconds=0)
    with pytest.raises(OptionError, match="needs the mechanism"):
        judge(Spectrum(), people(2), None, WhiteBox())
    strangers = [trial for trial in people(4, sessions=2) if (trial.person in ("p0", "p1")) == (trial.session == "s0")]
    with pytest.raises(InputError, match="no queried participant is enrolled"):
        judge(Spectrum(), strangers)


def test_it_tells_how_far_it_is() -> None:
    heard: list[tuple[float, float | None]] = []
    Judge(Spectrum(), people(2), draws=5).judge(tell=lambda done, total: heard.append((done, total)))
    assert heard == [(1, 3), (2, 3), (3, 3)]


def test_an_attack_may_enrol_several_draws_and_bring_its_own_recogniser() -> None:
    @dataclass(frozen=True)
    class Louder(Spectrum):
        heard: ClassVar[list[int]] = []

        def enrol(self, reference: Sequence[Trial], seed: int = 1) -> Gallery:
            self.heard.append(len(reference))
            return EmbeddedGallery(self.embed, reference)

    class Twice(Prepared):
        def query(self, veiled: Trial) -> Trial:
            return veiled

        def references(self, raw: Trial) -> tuple[Trial, ...]:
            return raw, raw

        def recogniser(self, given: Recogniser) -> Recogniser:
            return Louder()

    @dataclass(frozen=True)
    class Retrained(Attack):
        name: ClassVar[str] = "retrained"
        threat_model: ClassVar[str] = "white box"

        def _prepare(self, knowledge: Knowledge, seed: int) -> Prepared:
            return Twice()

    Spectrum.enrolled.clear()
    told = judge(Spectrum(), people(3), veil("gaussian", sigma=0.1), Retrained(), draws=10)
    assert told.accuracy == 1
    assert Spectrum.enrolled == []
    assert Louder.heard == [6, 6, 6]


def test_what_one_judge_staged_another_may_hear_if_it_knows_the_trials() -> None:
    trials = people(3)
    staged = Judge(Spectrum(), trials, draws=10).stage(veil("gaussian", sigma=1.0), NamesAskedAbout())
    here = Judge(Spectrum(), trials, draws=10).judge(veil("gaussian", sigma=1.0), NamesAskedAbout())
    assert Judge(Spectrum(), trials, draws=10).measure(staged) == here
    with pytest.raises(InputError, match="staged with other trials"):
        Judge(Spectrum(), people(4), draws=10).measure(staged)


def test_people_may_be_known_from_all_other_sessions_together() -> None:
    Spectrum.enrolled.clear()
    told = judge(Spectrum(), people(3), enrolled="others", draws=10)
    assert told.accuracy == 1
    assert (told.pairs, told.queries) == (3, 9)
    assert [sorted({trial.session for trial in fold}) for fold in Spectrum.enrolled] == [
        ["s1", "s2"],
        ["s0", "s2"],
        ["s0", "s1"],
    ]


def test_the_highest_mean_score_is_judged_beside_the_vote() -> None:
    known = ("a", "b")
    two_to_one = np.array([[0.5, 0.4], [0.5, 0.4], [0.0, 0.9]])  # two windows vote for a, but b has the higher mean
    answers = [Answer("b", vote(two_to_one, known)), Answer("a", vote(np.array([[0.9, 0.1]]), known))]
    nothing = Answer("a", vote(np.empty((0, 2)), known))
    told = judgement_of([*answers, nothing], Facts(Spectrum(), None, None, "", None, 2, 2, 1), draws=200)
    assert told.accuracy == pytest.approx((0.5 + 0.0) / 2)
    assert told.pooled_accuracy == pytest.approx((0.5 + 1.0) / 2)
    assert told.pooled_interval == pytest.approx((0.5, 1.0))
