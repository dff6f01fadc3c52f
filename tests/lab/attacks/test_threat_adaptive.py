# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The attacker who may choose chooses what works on the exemplars, and nothing else."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gazeveil.errors import InputError, OptionError
from gazeveil.lab.attacks import Knowledge
from gazeveil.lab.attacks.threats.adaptive import Adaptive
from tests.lab.attacks.veiled_people import attack_of, error, exemplars, people, veil, veil_of

QUICK = ("none", "fixation-average", "inverse-smoothing", "kalman", "spatial-dither")


def test_it_takes_what_gets_closest_where_people_have_one_session() -> None:
    crowd = people()
    for mechanism, best in ((veil_of("smoothing"), "inverse-smoothing"), (veil_of("spatial"), "spatial-dither")):
        adaptive = Adaptive(candidates=QUICK)
        scores = adaptive.scores(mechanism, exemplars(mechanism, crowd[1:]))
        assert max(scores, key=lambda name: scores[name]) == best
        assert scores["none"] < scores[best] <= 0
        shown = veil(mechanism, crowd[0])
        ready = adaptive.prepare(Knowledge(mechanism, exemplars(mechanism, crowd[1:])))
        chosen = attack_of(best).prepare(Knowledge(mechanism)).query(shown)
        assert error(ready.query(shown), chosen) == 0


def test_it_takes_what_names_people_where_they_have_two_sessions() -> None:
    smoothing = veil_of("smoothing", window=150)
    pairs = exemplars(smoothing, people(6, 30.0, 3, 2))
    scores = Adaptive(candidates=("none", "inverse-smoothing")).scores(smoothing, pairs)
    assert 0 <= scores["none"] < scores["inverse-smoothing"] <= 1


def test_the_choice_is_made_on_people_whom_an_attack_has_not_learnt_from(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch")
    from gazeveil.lab.attacks.threats.exemplars import ExemplarNetwork

    learnt: list[set[str]] = []
    usual = ExemplarNetwork.prepare

    def watched(self: ExemplarNetwork, knowledge: Knowledge, seed: int = 1) -> object:
        learnt.append({one.raw.person for one in knowledge.exemplars or ()})
        return usual(replace(self, epochs=1, channels=2, kernel=3), knowledge, seed)

    monkeypatch.setattr(ExemplarNetwork, "prepare", watched)
    gaussian, crowd = veil_of("gaussian"), people()
    Adaptive(candidates=("exemplars",)).scores(gaussian, exemplars(gaussian, crowd))
    assert len(learnt) == 2
    assert not learnt[0] & learnt[1]
    assert learnt[0] | learnt[1] == {trial.person for trial in crowd}


def test_it_cannot_do_without_exemplars_or_candidates() -> None:
    gaussian = veil_of("gaussian")
    with pytest.raises(InputError, match="no exemplars"):
        attack_of("adaptive").prepare(Knowledge(gaussian, ()))
    with pytest.raises(InputError, match="no attack"):
        Adaptive(candidates=("spatial-dither",)).scores(gaussian, exemplars(gaussian, people()))
    with pytest.raises(OptionError, match="itself"):
        attack_of("adaptive", candidates=("adaptive",))


def test_a_candidate_that_cannot_learn_from_so_little_does_not_stop_the_others() -> None:
    pytest.importorskip("torch")
    gaussian = veil_of("gaussian")
    short = exemplars(gaussian, people(4, 3.0))  # the network needs five seconds
    assert set(Adaptive(candidates=("none", "exemplars")).scores(gaussian, short)) == {"none"}
    with pytest.raises(InputError, match="as long as a window"):
        Adaptive(candidates=("exemplars",)).scores(gaussian, short)
