# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The subjects that come with the package: ours are sound, the broken ones are found out."""

from __future__ import annotations

import pickle
from fractions import Fraction

import pytest

from gazeveil.errors import OptionError, UnknownName
from gazeveil.lab.audited import GaussianLoss
from gazeveil.privacy.audit import SUBJECTS, Verdict, audit, build
from gazeveil.privacy.audit.subject import about, options_of
from gazeveil.privacy.calibration import LiuNoise, gaussian_sigma

BROKEN = ("half-scale-laplace", "liu-as-published", "numpy-laplace")
OURS = sorted(
    [
        "lattice-gaussian",
        "lattice-gaussian-wide",
        "lattice-laplace",
        "lattice-laplace-wide",
        "planar-laplace",
        "planar-laplace-3d",
        "planar-laplace-live",
        "radial",
    ]
)


@pytest.mark.parametrize("name", OURS)
def test_our_samplers_are_consistent_with_their_claims(name: str) -> None:
    result = audit(build(name), trials=20_000, confidence=0.99, seed=1)
    assert result.verdict is Verdict.CONSISTENT
    assert result.epsilon_lower_bound > 0.4  # and the audit is not blind


@pytest.mark.parametrize("name", BROKEN)
def test_broken_mechanisms_are_found_out(name: str) -> None:
    assert audit(build(name), trials=20_000, confidence=0.99, seed=1).violated


def test_numpys_laplace_noise_is_found_out_by_its_bits_alone() -> None:
    subject = build("numpy-laplace")
    by_bits = audit(subject, trials=20_000, seed=2, families=["bit-pattern"])
    assert by_bits.violated
    assert by_bits.epsilon_lower_bound > 5
    values = ["threshold", "classifier"]
    assert audit(subject, trials=20_000, seed=2, families=values).verdict is Verdict.CONSISTENT


@pytest.mark.parametrize("name", ["lattice-laplace", "planar-laplace"])
def test_no_bit_pattern_tells_on_our_noise(name: str) -> None:
    result = audit(build(name), trials=40_000, seed=3, families=["bit-pattern"])
    assert result.verdict is Verdict.CONSISTENT


@pytest.mark.parametrize(("observers", "pixels", "factor"), [(1000, 1, 2.0), (50_000, 16, 4.3), (1_000_000, 64, 14.0)])
def test_liu_as_published_breaks_its_claim_by_the_factors_of_erratum_l3(
    observers: int, pixels: int, factor: float
) -> None:
    result = audit(build("liu-as-published", {"observers": str(observers), "pixels": str(pixels)}))
    assert (result.method, result.verdict) == ("exact", Verdict.VIOLATED)
    assert result.delta_lower_bound is not None
    assert result.delta_lower_bound / result.claimed_delta == pytest.approx(factor, rel=0.03)
    assert "computed, not sampled" in result.in_words()
    noise = LiuNoise(observers=observers, pixels=pixels, epsilon=1)
    assert result.delta_lower_bound < noise.true_delta()  # rounded down here, up there
    assert result.delta_lower_bound == pytest.approx(noise.true_delta(), rel=1e-14)


def test_liu_as_published_keeps_its_claim_with_many_pixels() -> None:
    result = audit(build("liu-as-published", {"observers": "30", "pixels": "1024"}))
    assert result.verdict is Verdict.CONSISTENT
    assert result.epsilon_lower_bound < 1


def test_sampling_alone_accuses_liu_of_nothing_at_few_trials() -> None:
    """δ of one in thirty thousand is out of sight of twenty thousand runs, which is why the exact way exists."""
    result = audit(build("liu-as-published"), trials=20_000, seed=1, method="sampling")
    assert (result.method, result.verdict) == ("sampling", Verdict.CONSISTENT)


def test_liu_is_found_out_by_sampling_where_delta_can_be_seen() -> None:
    """With a hundred observers a δ of 0.001 is claimed, and at ε = 3 it is 2.2 times that."""
    subject = build("liu-as-published", {"observers": "100", "epsilon": "3"})
    exact = audit(subject)
    families = ["likelihood-ratio"]
    sampled = audit(subject, trials=3_000_000, confidence=0.9, seed=4, method="sampling", families=families)
    assert exact.violated
    assert sampled.violated
    assert sampled.delta_lower_bound is not None
    assert exact.delta_lower_bound is not None
    assert sampled.delta_lower_bound <= exact.delta_lower_bound


def test_the_loss_of_sound_gaussian_noise_is_its_calibration() -> None:
    loss = GaussianLoss(gaussian_sigma(1, "1e-6"), Fraction(1))
    assert loss.delta_at(1.0) == pytest.approx(1e-6, rel=1e-12)
    assert loss.delta_at(1.0) <= 1e-6
    assert loss.epsilon_at(1e-6) == pytest.approx(1.0, rel=1e-12)
    assert loss.epsilon_at(0.0) == float("inf")


def test_every_subject_explains_itself_and_travels() -> None:
    assert {*OURS, *BROKEN} <= set(SUBJECTS.names())
    for name in SUBJECTS.names():
        assert about(SUBJECTS[name]).endswith(".")
        subject = build(name)
        assert subject.pairs[0].words
        assert pickle.loads(pickle.dumps(subject)).claim == subject.claim


def test_options_are_read_by_their_type() -> None:
    assert options_of(SUBJECTS["radial"]) == {"epsilon": 1.0, "dimensions": 5}
    assert len(build("radial", {"dimensions": "3"}).pairs[0].first) == 3
    with pytest.raises(OptionError, match="dimensions must be of type int, not 'few'"):
        build("radial", {"dimensions": "few"})
    with pytest.raises(OptionError, match="radial has no option 'size'"):
        build("radial", {"size": "3"})
    with pytest.raises(UnknownName, match="did you mean 'radial'"):
        build("radiant")
