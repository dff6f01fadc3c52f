# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What every product forecasts, and how many participants or which ε a wanted quality takes."""

from __future__ import annotations

import operator
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest

from gazeveil import screen
from gazeveil.aggregate.aoi.mechanism import AoiStatistics, GroupComparison
from gazeveil.aggregate.grid import Grid
from gazeveil.aggregate.heatmap import PrivateHeatmap
from gazeveil.aggregate.movie import HeatmapMovie
from gazeveil.aggregate.saliency import PREDICTED, SPECTRAL, Saliency
from gazeveil.aggregate.strategy import Task
from gazeveil.aggregate.study_heatmaps import PrivateHeatmaps
from gazeveil.errors import OptionError
from gazeveil.features.design import Design
from gazeveil.features.design_learning import learn
from gazeveil.features.group_series import GroupSeries
from gazeveil.features.participant_series import ParticipantSeries
from gazeveil.gaze.aoi import AreasOfInterest, Rectangle
from gazeveil.privacy.protection import MOST_ADVISED
from gazeveil.release.feature_settings import study_settings
from gazeveil.release.forecast import (
    HEATMAP,
    HEATMAP_WITH_PICTURE,
    HEATMAPS,
    MOVIE,
    PURE_HEATMAP,
    PURE_HEATMAP_WITH_PICTURE,
    Curve,
)
from gazeveil.release.plan import Plan
from gazeveil.release.product_base import smallest_number
from gazeveil.release.products.maps import heatmap_forecast
from gazeveil.release.sample_size import advice, sample_size_for
from gazeveil.release.study import Participants, Recordings, Stimulus, Study
from gazeveil.samples.recipes import PRESETS
from gazeveil.samples.veiled_recordings import VeiledRecordings

DESK = screen(800, 600, 400, 300, 573)
CLOCK = {"epsilon": "2", "window": "0.5", "radius": "60"}
STIMULI = tuple(Stimulus(name=f"s{number}", screen=DESK, seconds=4.0) for number in range(8))
AREAS = {"s0": AreasOfInterest((Rectangle("left", 0, 0, 400, 600), Rectangle("right", 400, 0, 800, 600)), DESK)}


def study(number: int = 30, **more: Any) -> Study:
    return Study(name="study", participants=Participants(number=number), stimuli=STIMULI, **more)


def design() -> Design:
    ranges = study_settings(study()).ranges()
    rng = np.random.default_rng(1)
    tasks = [np.clip(level + 0.1 * rng.normal(size=(12, 1, 3)), 0, 1).repeat(20, axis=1) for level in (0.3, 0.5, 0.7)]
    return learn(tasks, ranges.only(ranges.names[:3]), "made up")


def plan_of(product: str, number: int = 30, epsilon: str = "1") -> Plan:
    declared = study(number)
    one = {"stimulus": "s0"}
    if product == "heatmap":
        return declared.plan(PrivateHeatmap(epsilon=epsilon), **one)
    if product == "heatmaps":
        return declared.plan(PrivateHeatmaps(epsilon=epsilon))
    if product == "movie":
        return declared.plan(HeatmapMovie(epsilon=epsilon), **one)
    if product == "aoi":
        return declared.plan(AoiStatistics(AREAS, epsilon=epsilon))
    if product == "feature-group":
        return declared.plan(GroupSeries(epsilon=epsilon, design=design()), task="s0")
    named = replace(declared, participants=Participants(roster=tuple(f"p{k}" for k in range(number))))
    if product == "feature-series":
        return named.plan(ParticipantSeries(epsilon=epsilon, design=design()), task="s0")
    return named.plan(VeiledRecordings(mechanism="clock", parameters={**CLOCK, "epsilon": epsilon}))


SUMMED = ("heatmap", "heatmaps", "movie", "aoi", "feature-group")
SINGLE = ("feature-series", "veil")


def quality(plan: Plan) -> float:
    """How good it is expected to be: more is better."""
    forecast = plan.forecast
    assert forecast is not None
    return forecast.expected if forecast.measure == "cc" else -forecast.expected


@pytest.mark.parametrize("product", [*SUMMED, *SINGLE])
def test_every_product_has_a_forecast_that_hangs_together(product: str) -> None:
    plan = plan_of(product)
    assert plan.measurement.product == product
    found = plan.forecast
    assert found is not None
    assert found == plan_of(product).forecast  # the same answer every time
    assert found.low <= found.expected <= found.high
    better = found.floor > found.without_data if found.measure == "cc" else found.floor < found.without_data
    assert better
    assert found.basis


@pytest.mark.parametrize("product", [*SUMMED, *SINGLE])
def test_a_larger_budget_is_never_worse(product: str) -> None:
    plan = plan_of(product)
    qualities = [quality(plan.at(epsilon=epsilon)) for epsilon in ("0.2", "1", "3", "10")]
    assert qualities == sorted(qualities)
    assert qualities[0] < qualities[-1]


@pytest.mark.parametrize("product", SUMMED)
def test_more_participants_are_never_worse(product: str) -> None:
    plan = plan_of(product)
    qualities = [quality(plan.at(participants=number)) for number in (10, 30, 100, 1000)]
    assert qualities == sorted(qualities)
    assert qualities[0] < qualities[-1]


@pytest.mark.parametrize("product", SINGLE)
def test_where_everybody_is_released_on_their_own_their_number_does_not_matter(product: str) -> None:
    plan = plan_of(product)
    assert plan.at(participants=1000).forecast == plan.forecast
    found = plan.forecast
    assert found is not None
    answer = sample_size_for(plan, 0.5 * found.expected)
    assert answer.participants is None
    assert any("does not matter" in line for line in answer.in_words())
    assert not answer.to_dict()["participants_matter"]


@pytest.mark.parametrize("product", SUMMED)
def test_what_is_enough_is_enough_and_less_is_not(product: str) -> None:
    plan = plan_of(product, number=60, epsilon="0.05")
    found = plan.forecast
    assert found is not None
    answer = sample_size_for(plan, found.floor)
    sign = 1 if found.measure == "cc" else -1
    wanted = sign * found.floor
    assert answer.participants is not None
    assert answer.participants > 2
    assert quality(plan.at(participants=answer.participants)) >= wanted
    assert quality(plan.at(participants=answer.participants - 1)) < wanted
    assert answer.epsilon is not None
    assert answer.epsilon <= MOST_ADVISED
    assert quality(plan.at(epsilon=answer.epsilon)) >= wanted
    assert quality(plan.at(epsilon=answer.epsilon * Fraction(85, 100))) < wanted


@pytest.mark.parametrize("product", [*SUMMED, *SINGLE])
def test_a_higher_wish_never_takes_less(product: str) -> None:
    plan = plan_of(product)
    found = plan.forecast
    assert found is not None
    wishes = (0.1, 0.3, 0.5, 0.7, 0.8) if found.measure == "cc" else (0.2, 0.1, 0.05, 0.02, 0.005)
    answers = [sample_size_for(plan, wish) for wish in wishes]
    for needed in ([answer.participants for answer in answers], [answer.epsilon for answer in answers]):
        amounts = [float("inf") if amount is None else float(amount) for amount in needed]
        assert amounts == sorted(amounts)
    assert all(answer.epsilon is None or answer.epsilon <= MOST_ADVISED for answer in answers)


def test_no_advice_goes_beyond_the_scale() -> None:
    plan = plan_of("heatmaps", number=4)
    answer = sample_size_for(plan, 0.8)
    assert answer.epsilon is None
    assert any("no ε up to 10 is enough" in line for line in answer.in_words())
    assert answer.participants is not None
    said = advice(plan_of("heatmaps", number=2, epsilon="0.05"))
    assert "no ε up to 10 is enough" in said
    assert "participants" in said
    with pytest.raises(OptionError) as refused:
        plan_of("heatmaps", number=2, epsilon="0.05").check_worth()
    assert refused.value.hint == said


def test_advice_names_what_would_do() -> None:
    plan = plan_of("heatmaps", number=60, epsilon="0.8")
    assert plan.forecast is not None
    assert not plan.forecast.worth_it
    said = advice(plan)
    assert "at most" in said
    assert "--mean-only" in said
    assert "an ε of" in said
    fewer = int(said.split("at most ")[1].split()[0])
    names = [stimulus.name for stimulus in STIMULI]
    kept, one_more = (
        plan.study.plan(plan.measurement.mechanism, stimuli=names[:count]).forecast for count in (fewer, fewer + 1)
    )
    assert kept is not None
    assert one_more is not None
    assert kept.worth_it
    assert not one_more.worth_it


def test_a_delta_limits_how_many_participants_are_suggested() -> None:
    plan = study(30, delta=Fraction(1, 200)).plan(PrivateHeatmap(epsilon="0.05"), stimulus="s0")
    assert sample_size_for(plan, 0.9).participants is None  # more than 199 would make δ empty
    plan = study(30, delta=Fraction(1, 200)).plan(PrivateHeatmap(epsilon="2"), stimulus="s0")
    found = sample_size_for(plan, 0.7).participants
    assert found is not None
    assert found < 200


@pytest.mark.parametrize("want", [0.0, 1.0, -0.1, float("nan"), float("inf")])
def test_no_release_can_be_wanted_that_cannot_be(want: float) -> None:
    with pytest.raises(OptionError, match="between 0 and 1"):
        sample_size_for(plan_of("heatmap"), want)


def test_nothing_is_promised_where_nothing_is_known() -> None:
    plan = study().plan(PrivateHeatmap(epsilon=1, strategy="bumps"), stimulus="s0")
    with pytest.raises(OptionError, match="nothing is known"):
        sample_size_for(plan, 0.5)


def test_groups_that_are_compared_keep_their_members() -> None:
    groups = {"old": ["a", "b", "c"], "young": ["d", "e"]}
    plan = study().plan(GroupComparison(AoiStatistics(AREAS, epsilon=1), groups))
    assert plan.at(epsilon=2).measurement.recipe()["groups"] == {"old": 3, "young": 2}


def test_every_preset_of_veils_has_a_forecast_proven_or_not() -> None:
    for name in PRESETS:
        plan = study().plan(VeiledRecordings(preset=name))
        found = plan.forecast
        assert found is not None
        assert 0 < found.low <= found.expected <= found.high
        assert 0.2 < found.without_data < 0.27


def test_a_veil_without_an_epsilon_says_so() -> None:
    plan = study().plan(VeiledRecordings(preset="gaussian-high"))
    with pytest.raises(OptionError, match="no ε"):
        plan.at(epsilon=1)
    answer = sample_size_for(plan, 0.01)
    assert answer.epsilon is None
    assert "this mechanism has no ε that could be changed" in answer.in_words()
    with pytest.raises(OptionError, match="nothing to draw"):
        answer.plot()
    assert plan.plot() is None
    chain = {"mechanism": "chain", "members": [{"mechanism": "clock", **CLOCK}, {"mechanism": "smoothing"}]}
    assert sample_size_for(study().plan(VeiledRecordings(recipe=chain)), 0.01).epsilon is None


def test_a_veil_is_forecast_at_the_declared_rate() -> None:
    smoothing = VeiledRecordings(preset="smoothing-low")  # a window of 50 samples
    fast, slow = (study(recordings=Recordings(rate_hz=rate)).plan(smoothing) for rate in (500, 50))
    assert quality(fast) > quality(slow)


@pytest.mark.parametrize("product", ["heatmap", "aoi", "veil"])
def test_the_answer_can_be_drawn(product: str) -> None:
    plan = plan_of(product)
    found = plan.forecast
    assert found is not None
    assert sample_size_for(plan, found.floor).plot().png.startswith(b"\x89PNG")


@pytest.mark.parametrize(
    "curve", [HEATMAP, PURE_HEATMAP, HEATMAP_WITH_PICTURE, PURE_HEATMAP_WITH_PICTURE, HEATMAPS, MOVIE]
)
def test_curves_rise_and_hold_their_mean(curve: Curve) -> None:
    assert list(curve.at) == sorted(curve.at)
    assert list(curve.expected) == sorted(curve.expected)
    assert all(low <= mean <= high for low, mean, high in zip(curve.low, curve.expected, curve.high, strict=True))
    assert len(curve.without_data) == len(curve.at)
    assert curve.forecast(1e-9).expected == curve.expected[0]
    assert curve.forecast(1e9).expected == curve.expected[-1]


def test_a_predicted_picture_has_a_forecast_of_its_own_and_the_spectral_residual_has_not() -> None:
    said = np.ones((6, 8))
    plain = Task(grid=Grid(32, 24, screen(800, 600)), observers=15, epsilon=1)
    predicted = replace(plain, saliency=Saliency("a", said, PREDICTED))
    own = replace(plain, saliency=Saliency.of_map(said))
    spectral = replace(plain, saliency=Saliency("b", said, SPECTRAL))
    assert heatmap_forecast(predicted) == heatmap_forecast(own)
    assert heatmap_forecast(own).expected == pytest.approx(HEATMAP_WITH_PICTURE.forecast(15).expected, abs=1e-4)
    assert heatmap_forecast(spectral) == heatmap_forecast(plain)
    assert heatmap_forecast(plain).expected == pytest.approx(HEATMAP.forecast(15).expected, abs=1e-4)
    assert heatmap_forecast(replace(own, delta=0)) == PURE_HEATMAP_WITH_PICTURE.forecast(15)
    assert heatmap_forecast(replace(plain, delta=0)) == PURE_HEATMAP.forecast(15)


def test_a_heatmap_is_worth_it_if_it_brings_a_part_of_what_the_prior_lacks() -> None:
    with_picture, without = HEATMAP_WITH_PICTURE.forecast(15), HEATMAP.forecast(15)
    assert with_picture.floor - with_picture.without_data < 0.015
    assert without.floor - without.without_data > 0.025
    assert with_picture.worth_it
    assert without.worth_it
    assert not HEATMAP_WITH_PICTURE.forecast(5).worth_it
    assert not HEATMAP.forecast(3).worth_it


def test_the_least_good_number_is_found() -> None:
    for first in range(1, 12):
        assert smallest_number(partial(operator.le, first), 1, 10) == (first if first <= 10 else None)
    assert smallest_number(bool, 3, 2) is None
