# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gazeveil.arrays import FloatArray
from gazeveil.errors import OptionError
from gazeveil.simulate import TRAITS, Observer, Population, SimulatedStudy


@pytest.fixture(scope="module")
def people() -> list[Observer]:
    return list(Population(3).observers(600))


def values(people: list[Observer], name: str) -> FloatArray:
    return np.array([getattr(person, name) for person in people])


def test_every_trait_is_a_field_of_an_observer_and_the_other_way_round() -> None:
    fields = {field.name for field in dataclasses.fields(Observer)} - {"name", "index", "seed"}
    assert fields == set(TRAITS)


@given(seed=st.integers(0, 2**63), index=st.integers(0, 10**6), session=st.integers(1, 50))
@settings(max_examples=60, deadline=None)
def test_everyone_stays_within_the_stated_ranges_every_day(seed: int, index: int, session: int) -> None:
    person = Population(seed).observer(index)
    for someone in (person, person.on_day(session)):
        for name, trait in TRAITS.items():
            assert trait.low <= getattr(someone, name) <= trait.high, name


@pytest.mark.parametrize("name", TRAITS)
def test_people_differ_as_much_as_their_traits_say(name: str, people: list[Observer]) -> None:
    trait = TRAITS[name]
    seen = np.log(values(people, name)) if trait.ratio else values(people, name)
    centre = np.log(trait.typical) if trait.ratio else trait.typical
    # 600 people: six standard errors of a mean and of a standard deviation (clipping takes a little off)
    assert abs(seen.mean() - centre) < 6 * trait.spread / np.sqrt(600) + 0.05 * trait.spread
    assert 0.75 * trait.spread < seen.std() < 1.2 * trait.spread


@pytest.mark.parametrize("name", TRAITS)
def test_a_person_is_much_the_same_on_another_day(name: str, people: list[Observer]) -> None:
    trait = TRAITS[name]
    first = values([person.on_day(1) for person in people[:300]], name)
    second = values([person.on_day(2) for person in people[:300]], name)
    assert not np.array_equal(first, second)
    together = np.corrcoef(first, second)[0, 1]
    # the standard error of a correlation of .85 among 300 is .016
    assert together == pytest.approx(trait.reliability, abs=0.08)


def test_fixation_durations_and_amplitudes_repeat_as_published() -> None:
    assert TRAITS["fixation_s"].reliability > 0.8
    assert TRAITS["amplitude_deg"].reliability > 0.8


def test_what_people_do_repeats_over_days_more_than_it_varies() -> None:
    study = SimulatedStudy(observers=40, stimuli=8, sessions=2, seconds=15, seed=11)
    rows = []
    for recording in study.recordings():
        events = recording.events
        rests = events.filter(pl.col("kind") == "fixation").select((pl.col("offset") - pl.col("onset")).mean()).item()
        reach = events.filter(pl.col("kind") == "saccade")["amplitude"].mean()
        rows.append((recording.observer, recording.session, rests, reach))
    table = pl.DataFrame(rows, schema=["who", "day", "rest", "reach"], orient="row")
    days = table.group_by("who", "day").agg(pl.col("rest", "reach").mean()).pivot("day", index="who").drop_nulls()
    # the traits repeat at .9; measuring them on 400 fixations takes some off, and 40 people leave ± .06
    assert np.corrcoef(days["rest_1"], days["rest_2"])[0, 1] > 0.7
    assert np.corrcoef(days["reach_1"], days["reach_2"])[0, 1] > 0.65


def test_a_person_does_not_depend_on_how_many_others_there_are() -> None:
    assert list(Population(5).observers(3)) == list(Population(5).observers(30))[:3]
    assert Population(5).observer(29) == list(Population(5).observers(30))[29]


def test_another_seed_is_another_population() -> None:
    assert Population(1).observer(0) != Population(2).observer(0)


def test_the_main_sequence_saturates() -> None:
    person = Population(1).observer(0)
    assert person.peak_velocity(1e6) == pytest.approx(person.saccade_ceiling)
    assert person.peak_velocity(0) == 0


@pytest.mark.parametrize("seed", [-1, 1.5, "1", True])
def test_a_seed_that_is_none_says_so(seed: Any) -> None:
    with pytest.raises(OptionError, match="seed"):
        Population(seed).observer(0)


def test_people_are_counted_from_zero() -> None:
    with pytest.raises(OptionError, match="counted from 0"):
        Population(1).observer(-1)
