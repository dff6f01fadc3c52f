# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Programs that try to refute what statements say, on the real code; `test_every_sentence` says which sentence.

Each one also shows that a bolder sentence would have been refuted, so that it is known to be able to.
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gazeveil.noise import NoiseSource
from gazeveil.privacy.audit import audit, build
from gazeveil.privacy.calibration import gaussian_delta, gaussian_sigma
from gazeveil.privacy.guarantee import PureDP, ZeroConcentratedDP
from gazeveil.privacy.ledger import Ledger
from gazeveil.privacy.statement import statement
from gazeveil.samples import stream_kernels as sphere
from gazeveil.samples.identification import table
from gazeveil.samples.mechanism import MECHANISMS, SampleMechanism
from gazeveil.samples.space import Screen, Sphere
from gazeveil.samples.stream import StreamMechanism
from tests.statements.programs import Stream, likelier

# Windows of gaze

STREAMS = [Stream(), Stream(ticks=1), Stream(epsilon="3", ticks=3)]


def stated(stream: Stream) -> dict[str, float]:
    rows = stream.statement.to_dict()["over_time"]
    return {row["difference"]: float(Fraction(row["epsilon"])) for row in rows}


@pytest.mark.parametrize("stream", STREAMS)
def test_paths_that_differ_everywhere_are_told_apart_in_one_window_by_epsilon_at_most(stream: Stream) -> None:
    """The log ratio of any window's noised points, and what samples show of it: wrong with a chance of 1e-6."""
    epsilon = float(Fraction(stream.epsilon))
    scores = []
    for seed, apart in enumerate((0.0, stream.radius)):
        t, points = stream.released(apart, 2000, seed)
        ratios = stream.log_ratios(points, stream.radius)
        first = np.searchsorted(t, t - float(stream.window) - 1e-9)  # closed windows, wherever they end
        sums = np.concatenate([[0.0], np.cumsum(np.abs(ratios))])
        assert (sums[1:] - sums[first]).max() <= epsilon * (1 + 1e-6)
        whole = ratios[: len(ratios) // stream.ticks * stream.ticks].reshape(-1, stream.ticks).sum(axis=1)
        scores.append(whole)
    assert 0.5 * epsilon < np.abs(scores[0]).max()
    assert likelier(scores[0], scores[1], 1e-6) <= epsilon
    assert likelier(-scores[1], -scores[0], 1e-6) <= epsilon


def test_with_half_the_noise_the_same_program_refutes_the_window() -> None:
    stream = Stream()
    first, second = (stream.log_ratios(stream.released(2 * apart, 4000, 3)[1], 120.0) for apart in (0.0, 60.0))
    assert likelier(first[::2] + first[1::2], second[::2] + second[1::2], 1e-6) > 1.0


@pytest.mark.parametrize("stream", STREAMS)
@pytest.mark.parametrize(("span", "seconds"), [("1 second", 1), ("1 minute", 60), ("1 hour", 3600)])
def test_windows_add_up_as_the_table_says(stream: Stream, span: str, seconds: int) -> None:
    """Two paths that differ everywhere for so long: their log ratio, summed, passes one window's ε, not the table's."""
    largest = max(
        float(np.abs(stream.log_ratios(stream.released(0.0, seconds, seed)[1], stream.radius)).sum())
        for seed in range(3)
    )
    assert largest <= stated(stream)[span] * (1 + 1e-6)
    if seconds > 1:
        assert largest > 0.3 * stated(stream)[span] > float(Fraction(stream.epsilon))


def test_paths_that_differ_for_an_hour_are_told_apart_for_certain_so_identity_is_not_claimed() -> None:
    """Whoever looks 60 px beside somebody else, all the time, is recognised every time."""
    stream = Stream()
    for seed, apart in itertools.product(range(3), (0.0, stream.radius)):
        total = stream.log_ratios(stream.released(apart, 3600, seed)[1], stream.radius).sum()
        assert (total > 100) == (apart == 0.0)
    assert "Who you are is not protected" in stream.statement.limits()


def test_a_difference_of_twice_the_distance_counts_twice() -> None:
    stream = Stream(ticks=1)
    ratios = np.abs(stream.log_ratios(stream.released(0.0, 1000, 1)[1], 2 * stream.radius))
    assert 1.0 < ratios.max() <= 2.0


def test_a_difference_that_goes_on_in_another_recording_counts_there_again() -> None:
    stream = Stream(ticks=1)
    losses = [abs(float(stream.log_ratios(stream.released(0.0, 0.4, seed)[1], stream.radius)[0])) for seed in (1, 2)]
    assert max(losses) <= 1.0 < sum(losses) <= 2.0


# Directions


@pytest.mark.parametrize("degrees", [2.0, 1.0])
def test_directions_across_the_pole_are_told_apart_by_epsilon_at_most(degrees: float) -> None:
    """Half a turn of yaw at a pitch of 89 degrees is two degrees of visual angle; wrong with a chance of 4e-6."""
    places = [(0.0, 90.0 - degrees / 2), (180.0 - 1e-9, 90.0 - degrees / 2)]
    here, there = (np.array(sphere.direction(*place)) for place in places)
    assert math.degrees(math.acos(here @ there)) == pytest.approx(degrees, abs=1e-6)
    kind: Any = MECHANISMS["clock"]
    veil: StreamMechanism = kind(Sphere(), epsilon=1, window="0.001", radius=str(degrees), ticks=1, filter=False)
    t = np.arange(40_000) / 100
    scores = []
    for seed, place in enumerate(places):
        yaw, pitch = (
            np.radians(each) for each in veil.start(NoiseSource.seeded(seed)).run(t, *np.tile(place, (40_000, 1)).T)
        )
        shown = np.stack([np.cos(pitch) * np.sin(yaw), np.sin(pitch), np.cos(pitch) * np.cos(yaw)], axis=1)
        scores.append(shown @ (here - there))
    assert 0.3 < likelier(scores[0], scores[1], 1e-6) <= 1.0
    assert likelier(-scores[1], -scores[0], 1e-6) <= 1.0


# Maps, areas, features: one participant replaced

SUBJECTS = [
    "heatmap-modes", "whole-study", "dynamic-heatmap", "aoi-together", "aoi-comparison", "liu-gaussian-map",
    "features-group", "features-own", "features-fpa", "heatmap-count",
]  # fmt: skip
"""What the products name as their audits; the last is about taking part or not."""


@pytest.mark.parametrize("name", SUBJECTS)
def test_no_conclusion_is_likelier_with_one_participant_replaced_than_the_statement_says(name: str) -> None:
    """The auditor is wrong with a chance of 1e-4 for each; its noise comes from a seed, so it is not wrong by turns."""
    assert not audit(build(name), trials=2000, confidence=0.9999, seed=1).violated


def test_the_same_audit_refutes_a_release_with_half_the_noise() -> None:
    assert audit(build("half-scale-laplace"), trials=2000, confidence=0.9999, seed=1, method="sampling").violated


# What somebody may believe


def beliefs(epsilon: float, others: int) -> list[float]:
    """Return what somebody may believe of your answer after a noisy count of all answers; before, it was 50 %.

    They know how many of the others say yes. The noise is discrete Laplace noise.
    """
    chances = [[math.exp(-epsilon * abs(seen - others - yours)) for yours in (0, 1)] for seen in range(-60, 120)]
    return [yes / (no + yes) for no, yes in chances]


@pytest.mark.parametrize("epsilon", ["0.1", "1", "3"])
def test_nobody_who_knows_all_other_data_comes_to_believe_more_than_the_statement_says(epsilon: str) -> None:
    most = statement(PureDP(epsilon)).belief_at_most()
    assert most is not None
    for count in (0, 1, 30):
        found = beliefs(float(epsilon), count)
        assert 1 - float(most) <= min(found)
        assert max(found) <= float(most)
    assert max(found) > float(most) - 0.01  # nothing less would be true


def test_whoever_knows_nobody_learns_of_you_from_people_in_general_so_the_statement_excepts_it() -> None:
    """If everybody answers as you do, sixty answers say what yours is: a sentence about anybody would be false."""
    epsilon, people = 1.0, 60
    answers = [math.exp(-epsilon * abs(people - count)) for count in (people, 0)]
    belief = answers[0] / sum(answers)
    stated_ = statement(PureDP(1))
    assert belief > float(stated_.belief_at_most() or 1)
    assert "someone who knows all other data and was undecided" in stated_.how_much()
    assert "What holds for people in general is not hidden" in stated_.limits()


def test_a_conclusion_becomes_likelier_by_the_factor_and_its_odds_may_change_by_the_square() -> None:
    """Randomised response at ε: a sentence about the odds of a conclusion would be false, one about chances is true."""
    epsilon = 1.0
    truth = math.exp(epsilon) / (1 + math.exp(epsilon))
    factor = float(statement(PureDP(1)).odds or 0)
    assert truth / (1 - truth) <= factor
    assert (truth / (1 - truth)) / ((1 - truth) / truth) > factor
    for words in (statement(PureDP(1)).how_much(), PureDP(1).in_words()):
        assert "more or less likely by a factor" in words
        assert "the odds" not in words


def test_whoever_knows_the_noise_learns_the_gaze_so_the_statement_excepts_them() -> None:
    stream = Stream()
    here, there = (stream.released(apart, 10, seed=7)[1] for apart in (0.0, 30.0))
    np.testing.assert_allclose(there - here, [[30.0, 0.0]] * len(here), atol=0.5)
    assert "but not the noise" in stream.statement.paragraph()
    assert "but the noise" in stream.mechanism.guarantee.in_words()


# Chances of failure


@pytest.mark.parametrize(("epsilon", "delta"), [("1", "1e-6"), ("0.5", "1e-3")])
def test_a_release_differs_from_one_without_exceptions_by_delta_at_most(epsilon: str, delta: str) -> None:
    """How much of one law of Gaussian noise lies above e^ε times the other: summed up on a fine grid, it is δ."""
    sigma = gaussian_sigma(epsilon, delta)
    x = np.linspace(-60 * sigma, 60 * sigma, 2_000_001)
    here, there = (np.exp(-0.5 * ((x - at) / sigma) ** 2) for at in (1.0, 0.0))
    weight = (x[1] - x[0]) / (sigma * math.sqrt(2 * math.pi))
    beyond = float(np.maximum(here - math.exp(float(epsilon)) * there, 0).sum() * weight)
    assert 0.99 * float(delta) < beyond <= float(delta) * (1 + 1e-6)
    assert gaussian_delta(sigma, 1, epsilon) <= float(delta) * (1 + 1e-9)


def test_at_another_chance_the_factor_is_another() -> None:
    concentrated = ZeroConcentratedDP("0.02")
    assert concentrated.to_approx("1e-9").epsilon > concentrated.to_approx("1e-6").epsilon


# Accounts


def test_all_releases_of_an_account_together_keep_to_the_total(tmp_path: Path) -> None:
    ledger = Ledger.open(tmp_path / "ledger.sqlite", create=True)
    ledger.grant("study", PureDP(5))
    receipts = [ledger.charge("study", PureDP(amount)) for amount in ("0.5", "1", "2")]
    assert [receipt.account.guarantee for receipt in receipts] == [PureDP("0.5"), PureDP("1.5"), PureDP("3.5")]


# Identification


def _clock(epsilon: float, window: float, radius: float, on_screen: bool) -> StreamMechanism:
    kind: Any = MECHANISMS["clock"]
    space = Screen(1920.0, 1080.0, 40.0) if on_screen else Sphere(50.0, 50.0)
    made: StreamMechanism = kind(
        space, epsilon=str(epsilon), window=str(window), radius=str(radius * (40.0 if on_screen else 1.0))
    )
    return made


WANTED = st.builds(
    _clock,
    st.floats(0.05, 20),
    st.floats(0.1, 10),
    st.floats(0.2, 20),
    st.booleans(),
)


@given(WANTED)
@settings(max_examples=200, deadline=None)
def test_no_level_is_said_to_protect_as_much_as_a_stronger_one_that_was_measured(wanted: StreamMechanism) -> None:
    found = table().look_up(wanted)
    measured = found.row.mechanism
    if measured is None:
        assert found.relation == "no veil"
        assert "was not measured" in found.in_words()
        return
    assert isinstance(measured, StreamMechanism)
    assert wanted.epsilon <= measured.epsilon * (1 + Fraction(1, 10**5))
    assert measured.window <= wanted.window * (1 + Fraction(1, 10**5))
    assert measured.radius <= wanted.radius / Fraction(wanted.space.degrees(1.0)) * (1 + Fraction(1, 10**5))
    assert found.relation == "nearest" or measured.privacy_level == wanted.privacy_level
    same = [row for row in table().rows if row.veil == found.row.veil]
    assert found.row.rate == max(row.rate for row in same)


def test_noise_on_directions_at_half_as_large_an_epsilon_again_hides_less_than_noise_on_a_screen() -> None:
    """What `look_up` rests on where gaze is on a screen and was measured in directions: quantile by quantile."""
    rng = np.random.default_rng(1)
    seen = np.sqrt(1 - rng.uniform(size=200_000) ** 2) * rng.gamma(3, 1 / 1.5, 200_000)
    on_screen = rng.gamma(2, 1, 200_000)
    cuts = np.linspace(0.01, 0.999, 100)
    assert np.all(np.quantile(seen, cuts) < np.quantile(on_screen, cuts))
    assert np.quantile(seen * 1.5, 0.5) > np.quantile(on_screen, 0.5)  # at the same ε it hides more


def test_what_was_measured_without_a_veil_is_never_less_than_the_strongest_attacker_there() -> None:
    unknown: Any = MECHANISMS["kaleido"]
    veil: SampleMechanism = unknown(Screen(1280.0, 720.0), epsilon=1, window=1, radius=60)
    found = table().look_up(veil)
    assert found.relation == "no veil"
    assert found.row.rate == max(row.rate for row in table().rows if row.veil is None)
