# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Private streams before the auditor: the sound ones hold, the published one and one that counts samples do not."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from gazeveil.lab.audited import TestsAlone as Alone
from gazeveil.noise import NoiseSource
from gazeveil.privacy.audit import SUBJECTS, Verdict, audit
from gazeveil.privacy.audit.subject import Subject

SOUND = ["clock", "kaleido", "distribution", "absorption", "sparse-vector", "chain", "rotate"]
KNOWN = ["clock", "kaleido", "distribution", "absorption"]


def pairs(subject: Subject, *words: str) -> Subject:
    chosen = tuple(pair for pair in subject.pairs if all(word in pair.words for word in words))
    assert chosen
    return replace(subject, pairs=chosen)


@pytest.mark.parametrize("name", SOUND)
def test_sound_streams_keep_their_guarantee(name: str) -> None:
    subject = pairs(SUBJECTS[name](), "step", "recorded")
    assert audit(subject, trials=4000, confidence=0.999, seed=1).verdict is Verdict.CONSISTENT


@pytest.mark.parametrize("name", KNOWN)
def test_no_output_tells_more_than_the_guarantee_on_any_clock(name: str) -> None:
    subject = SUBJECTS[name]()
    assert subject.log_ratio is not None
    for pair in subject.pairs:
        outputs = subject.run(pair.first, NoiseSource.seeded(2), 400)
        ratio = subject.log_ratio(outputs, pair.first, pair.second)
        assert np.abs(ratio).max() <= 1.0 + 1e-9, pair.words


@pytest.mark.parametrize("name", KNOWN)
def test_the_known_ratio_of_densities_is_one(name: str) -> None:
    """Under the first input the inverse ratio has mean 1; six standard errors are one false alarm in 10^9."""
    subject = SUBJECTS[name]()
    assert subject.log_ratio is not None
    pair = subject.pairs[0]
    outputs = subject.run(pair.first, NoiseSource.seeded(3), 6000)
    inverse = np.exp(-subject.log_ratio(outputs, pair.first, pair.second))
    assert abs(inverse.mean() - 1) < 6 * inverse.std() / math.sqrt(len(inverse))
    assert inverse.std() > 0.05


def test_the_published_tests_lose_13_8_where_a_quarter_is_claimed() -> None:
    """ε = 0.5, w = 2 s, h = 2, t_skip = 50 ms, r = 60 px: 40 tests with noise of scale 160 px."""
    exact = SUBJECTS["kaleido-as-published"]().exact
    assert isinstance(exact, Alone)
    within, beyond = stats.laplace.sf(-30, scale=160), stats.laplace.sf(30, scale=160)
    assert (exact.tests, exact.stays, exact.stays_beyond) == pytest.approx((40, within, beyond))
    assert exact.epsilon_at(0.0) == pytest.approx(40 * math.log(within / beyond))
    assert exact.epsilon_at(0.0) == pytest.approx(13.8, abs=0.05)
    assert exact.delta_at(0.25) == pytest.approx(max(within**m - math.exp(0.25) * beyond**m for m in range(1, 41)))
    assert exact.epsilon_at(1.0) == 0.0


def test_kaleido_as_published_is_violated_by_calculation() -> None:
    result = audit(SUBJECTS["kaleido-as-published"](), method="exact")
    assert result.violated
    assert result.epsilon_lower_bound > 13.7
    assert result.claimed_epsilon == 0.5


def test_kaleido_as_published_is_violated_by_sampling() -> None:
    builder = SUBJECTS["kaleido-as-published"]
    subject = pairs(builder(epsilon=3.0, window=0.5, l_thresh=80.0), "step", "recorded")
    result = audit(subject, trials=20_000, method="sampling", families=["likelihood-ratio"], seed=1)
    assert result.violated
    assert result.epsilon_lower_bound > 4.0


def test_corrected_kaleido_is_not_violated_where_the_published_one_is() -> None:
    builder = SUBJECTS["kaleido"]
    subject = builder(epsilon=0.5, window=2.0)
    assert subject.log_ratio is not None
    pair = subject.pairs[0]
    ratio = subject.log_ratio(subject.run(pair.first, NoiseSource.seeded(2), 400), pair.first, pair.second)
    assert np.abs(ratio).max() <= 0.5 + 1e-9


def test_counting_samples_is_violated_in_a_burst_and_only_there() -> None:
    subject = SUBJECTS["clock-by-samples"]()
    burst = audit(pairs(subject, "burst"), trials=4000, seed=1)
    assert burst.violated
    assert burst.epsilon_lower_bound > 2.0
    assert not audit(pairs(subject, "recorded"), trials=4000, seed=1).violated
