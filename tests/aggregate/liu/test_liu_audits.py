# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from gazeveil.aggregate.audited import gaussian_map_subject, laplace_map_subject, noisy_map_subject, private_cap_subject
from gazeveil.aggregate.liu import GaussianMap, LaplaceMap
from gazeveil.lab.as_published.liu_maps import GaussianAsPublished
from gazeveil.lab.audited import random_selection_subject
from gazeveil.privacy.audit import SUBJECTS, Subject, audit, build
from gazeveil.privacy.audit.result import Verdict
from gazeveil.privacy.guarantee import PureDP

SHARP = ("threshold", "likelihood-ratio")


@pytest.mark.parametrize(
    ("subject", "at_least", "trials"),
    [
        (gaussian_map_subject(), 0.4, 20_000),
        (laplace_map_subject(cells=2, cap=12), 0.3, 20_000),
        (private_cap_subject(), 0.1, 5_000),  # each trial chooses anew, which takes its time
    ],
    ids=["gaussian", "laplace", "private cap"],
)
def test_the_auditor_finds_what_is_promised_and_no_more(subject: Subject, at_least: float, trials: int) -> None:
    """Bounds hold with confidence 0.99, so a sound mechanism fails at most 1 in 100 seeds; this seed is fixed."""
    families = SHARP if subject.log_ratio is not None else ("threshold",)
    result = audit(subject, trials=trials, seed=1, families=families)
    assert result.verdict is Verdict.CONSISTENT
    assert at_least < result.epsilon_lower_bound <= 1


def test_the_auditor_catches_too_little_noise() -> None:
    honest = noisy_map_subject(LaplaceMap(30, 4, 4, cap=2))
    liar = Subject(honest.run, PureDP(1), honest.pairs, honest.log_ratio)
    assert audit(liar, trials=20_000, seed=1, families=SHARP).verdict is Verdict.VIOLATED


def test_random_selection_shows_people_as_they_are() -> None:
    result = audit(random_selection_subject(), trials=2_000, seed=1, families=("threshold",))
    assert result.verdict is Verdict.NO_GUARANTEE
    assert result.epsilon_lower_bound > 3


def test_as_published_claims_only_what_is_true() -> None:
    assert noisy_map_subject(GaussianAsPublished(900, 90, 1)).claim == GaussianMap(900, 90, 1).guarantee
    assert not noisy_map_subject(GaussianAsPublished(1000, 1, 1)).claim.proven


def test_they_are_found_by_name() -> None:
    names = {"liu-gaussian-map", "liu-laplace-map", "liu-private-cap", "liu-random-selection"}
    assert names <= set(SUBJECTS.names())
    assert "theorem 3.3" in str(build("liu-random-selection", {"replacement": "1"}).claim)
