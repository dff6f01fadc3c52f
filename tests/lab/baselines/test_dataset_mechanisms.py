# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Peers for whole data sets of gaze keep one contract, state what they lack, and test what they say they test."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gazeveil import NoiseSource, Unproven
from gazeveil.errors import InputError, OptionError
from gazeveil.gaze.recording import Recording
from gazeveil.geometry import headset, screen
from gazeveil.lab.baselines import DATASET_MECHANISMS
from gazeveil.lab.baselines.event_synth import EventSynth
from gazeveil.lab.baselines.k_same import KSameSynth
from gazeveil.lab.baselines.synthetic_gaze import (
    PROFILE,
    REGION,
    HiddenNumbers,
    bell,
    buckets,
    deniable,
    find_events,
    fit_bells,
    fixation_log_chances,
)
from gazeveil.samples import MECHANISMS

RATE = 100.0
PLANE = headset(50, 50).in_unit("deg")
Places = list[tuple[float, float]]


def gaze(person: str, places: Places, *, held: float = 0.3, seed: int = 0, **labels: Any) -> Recording:
    """Fixations of 0.3 s at some places, 40 ms of even movement between them."""
    rng, points = np.random.default_rng(seed), []
    for number, place in enumerate(places):
        if number:
            shares = np.linspace(0.0, 1.0, 6)[1:-1, None]
            points.append(np.array(places[number - 1]) * (1 - shares) + np.array(place) * shares)
        points.append(np.array(place) + 0.05 * rng.standard_normal((round(held * RATE), 2)))
    x, y = np.concatenate(points).T
    return Recording(np.arange(len(x)) / RATE, x, y, PLANE, person, "scene", rate_hz=RATE, **labels)


def walk(seed: int, count: int = 6) -> Places:
    return [tuple(place) for place in np.random.default_rng(seed).uniform(-15, 15, (count, 2))]


@pytest.fixture(scope="module")
def people() -> list[Recording]:
    return [gaze(f"p{n}", walk(n // 2), seed=n) for n in range(6)]  # three pairs who look at the same places


@pytest.mark.parametrize("name", sorted(DATASET_MECHANISMS))
class TestTheContract:
    def test_names_times_and_order_stay_and_nothing_beside_gaze_leaves(
        self, name: str, people: list[Recording]
    ) -> None:
        more = [replace(one, pupil=np.full(len(one), 3.0)) for one in people]
        out = DATASET_MECHANISMS[name]().apply_all(more, NoiseSource.seeded(1))
        assert [one.key for one in out] == [one.key for one in people]
        for before, after in zip(more, out, strict=True):
            assert np.array_equal(before.t, after.t)
            assert after.geometry == before.geometry
            assert after.pupil is None
            assert after.left is None
            assert len(after.events) == 0

    def test_equal_noise_gives_equal_gaze_and_other_noise_other(self, name: str, people: list[Recording]) -> None:
        peer = DATASET_MECHANISMS[name]()
        first, again, other = (peer.apply_all(people, NoiseSource.seeded(seed)) for seed in (1, 1, 2))
        assert all(one.equals(same) for one, same in zip(first, again, strict=True))
        assert not all(one.equals(same) for one, same in zip(first, other, strict=True))

    def test_no_recorded_point_passes_through(self, name: str, people: list[Recording]) -> None:
        out = DATASET_MECHANISMS[name]().apply_all(people, NoiseSource.seeded(1))
        recorded = np.concatenate([one.x for one in people])
        assert not np.isin(np.concatenate([one.x for one in out]), recorded).any()

    def test_where_the_tracker_saw_nothing_there_is_nothing(self, name: str, people: list[Recording]) -> None:
        blind = replace(people[0], x=np.full(len(people[0]), np.nan), valid=None)
        lost = people[1].x.copy()
        lost[:60] = np.nan
        out = DATASET_MECHANISMS[
            name
        ](
            k=2
        ).apply_all(  # type: ignore[call-arg]
            [blind, replace(people[1], x=lost, valid=None), *people[2:]], NoiseSource.seeded(1)
        )
        assert np.isnan(out[0].x).all()
        assert np.isnan(out[1].x[:60]).all()

    def test_it_is_no_veil_and_says_what_it_lacks(self, name: str) -> None:
        peer = DATASET_MECHANISMS[name]()
        assert isinstance(peer.guarantee, Unproven)
        assert "alone" in peer.guarantee.reason
        assert f"k = {peer.k}" in peer.guarantee.reason  # type: ignore[attr-defined]
        assert peer.claimed.endswith(".")
        assert name not in MECHANISMS
        assert peer.in_words().startswith(name)

    def test_it_is_written_as_plain_values(self, name: str) -> None:
        values = json.loads(json.dumps(DATASET_MECHANISMS[name]().to_dict()))
        assert values.pop("mechanism") == name
        assert DATASET_MECHANISMS[name](**values) == DATASET_MECHANISMS[name]()

    def test_pixels_come_back_as_pixels(self, name: str) -> None:
        plane = screen(1920, 1080, 520, 290, 600)
        some = [gaze(f"p{n}", walk(3), seed=n) for n in range(4)]
        pixels = [replace(one, geometry=plane.in_unit("deg")).to("px") for one in some]
        out = DATASET_MECHANISMS[name](k=2).apply_all(pixels, NoiseSource.seeded(1))  # type: ignore[call-arg]
        there = [np.isfinite(one.x) for one in out]
        assert sum(some.sum() for some in there) > 100
        apart = np.concatenate([np.abs(a.x - b.x)[t] for a, b, t in zip(out, pixels, there, strict=True)])
        assert np.median(apart) < 60

    def test_what_cannot_be_used_is_refused(self, name: str, people: list[Recording]) -> None:
        peer = DATASET_MECHANISMS[name]()
        with pytest.raises(InputError, match="participants"):
            peer.apply_all(people[:1], NoiseSource.seeded(1))
        with pytest.raises(InputError, match="two recordings"):
            peer.apply_all([*people, people[0]], NoiseSource.seeded(1))
        with pytest.raises(InputError, match="clock"):
            peer.apply_all([*people[1:], replace(people[0], t=people[0].t[::-1])], NoiseSource.seeded(1))
        with pytest.raises(OptionError, match="k"):
            DATASET_MECHANISMS[name](k=0)  # type: ignore[call-arg]


class TestKSameSynth:
    def test_the_events_of_a_group_lie_at_their_common_mean(self) -> None:
        people = [gaze(f"p{n}", [(4.0 * n, 1.0 * n), (-10.0 + n, 5.0)], held=1.0, seed=n) for n in range(4)]
        out = KSameSynth(k=4).apply_all(people, NoiseSource.seeded(1))
        for one in out:
            assert one.x[5:90].mean() == pytest.approx(6.0, abs=0.1)
            assert one.x[-90:].mean() == pytest.approx(-8.5, abs=0.1)

    def test_how_long_events_last_stays_each_persons_own(self) -> None:
        """What the guarantee says it lacks."""
        people = [gaze(f"p{n}", [(0.0, 0.0), (8.0, 0.0)], held=held) for n, held in enumerate((0.2, 0.5))]
        out = KSameSynth(k=2).apply_all(people, NoiseSource.seeded(1))
        assert [int(np.argmax(one.x > 4)) for one in out] == pytest.approx([22, 52], abs=2)

    def test_a_stimulus_that_too_few_of_a_group_saw_is_withheld(self, people: list[Recording]) -> None:
        alone = gaze("p0", walk(9), session="2")
        out = KSameSynth(k=3).apply_all([*people, alone], NoiseSource.seeded(1))
        assert np.isnan(out[-1].x).all()
        assert np.isfinite(out[0].x).any()

    def test_bells_are_fitted_by_least_squares(self) -> None:
        optimize = pytest.importorskip("scipy.optimize")
        rng = np.random.default_rng(1)
        true = np.column_stack([rng.uniform(100, 500, 20), rng.uniform(0.3, 0.7, 20), rng.uniform(0.1, 0.4, 20)])
        noisy = bell(true) + rng.normal(0, 20, (20, PROFILE))
        assert fit_bells(bell(true)) == pytest.approx(true, rel=1e-6)
        for profile, found in zip(noisy, fit_bells(noisy), strict=True):
            best = optimize.least_squares(lambda p, v=profile: bell(p) - v, found)
            assert np.square(bell(found) - profile).sum() == pytest.approx(2 * best.cost, rel=1e-6)


class TestPlausibleDeniability:
    def test_buckets_are_those_of_the_definition(self) -> None:
        chances = np.array([1.0, 0.9, 0.5, 0.49, 0.25, 1e-9])
        found = buckets(np.log(chances), 2.0)
        assert np.all((2.0 ** -(found + 1) < chances) & (chances <= 2.0**-found))
        assert math.isnan(buckets(np.array([-math.inf]), 2.0)[0])

    @given(seed=st.integers(0, 999), k=st.integers(1, 5), gamma=st.sampled_from([1.5, 2.0, 3.0]))
    @settings(max_examples=40, deadline=None)
    def test_the_test_is_the_papers_loop(self, seed: int, k: int, gamma: float) -> None:
        rng = np.random.default_rng(seed)
        seeds, others = -3 * rng.random(6), -3 * rng.random((6, 12))
        owners = rng.integers(0, 5, 12)
        found = deniable(seeds, others, owners, k, gamma)
        for made in range(6):
            bucket, able = buckets(seeds[made : made + 1], gamma)[0], 0
            for person in range(5):
                for event in np.flatnonzero(owners == person):
                    if buckets(others[made, event : event + 1], gamma)[0] == bucket:
                        able += 1
                        break
            assert found[made] == (able >= k - 1)

    def test_many_events_of_one_other_person_count_once(self) -> None:
        same = np.full((1, 5), -1.0)
        assert deniable(np.array([-1.0]), same, np.array([7, 7, 7, 7, 7]), 2, 2.0)[0]
        assert not deniable(np.array([-1.0]), same, np.array([7, 7, 7, 7, 7]), 3, 2.0)[0]

    def test_chances_of_a_fixation_are_those_of_the_normal_distribution(self) -> None:
        samples = np.random.default_rng(1).normal(0, 0.3, (2, 20, 2)) + np.array([5.0, -2.0])
        place = np.array([5.1, -2.1, 0.3, 0.4])

        def below(value: float, axis: int) -> float:
            return 0.5 * math.erfc((place[axis] - value) / (place[2 + axis] * math.sqrt(2)))

        for lot, found in zip(samples, fixation_log_chances(samples, place[None])[:, 0], strict=True):
            exact = sum(
                math.log(below(sample[axis] + REGION, axis) - below(sample[axis] - REGION, axis))
                for sample in lot
                for axis in range(2)
            )
            assert found == pytest.approx(exact, abs=0.02)

    def test_who_looks_where_nobody_else_does_is_withheld(self) -> None:
        """The same fixations at first; then one looks alone. What is released must not show where."""
        people = [gaze(f"p{n}", [(0.0, 0.0)], held=0.1, seed=n) for n in range(8)]
        people[0] = gaze("p0", [(0.0, 0.0), (20.0, 10.0)], held=0.1)
        out, passed = EventSynth(k=2, gamma=20, attempts=50).tested(people, NoiseSource.seeded(1))
        lonely = find_events(people[0]).places[-1]
        assert lonely[0] == pytest.approx(20, abs=0.2)
        assert passed.fixations < passed.of_fixations
        assert not np.any(np.hypot(out[0].x - 20, out[0].y - 10) < 1)
        assert passed.fixations >= 6
        shown = EventSynth(k=2, gamma=20, attempts=50, failing="release").apply_all(people, NoiseSource.seeded(1))
        assert np.any(np.hypot(shown[0].x - 20, shown[0].y - 10) < 1)

    def test_releasing_what_fails_is_said(self) -> None:
        assert "fail" in EventSynth(failing="release").guarantee.reason
        assert "fail" not in EventSynth().guarantee.reason

    @pytest.mark.parametrize("wrong", [{"gamma": 1}, {"gamma": "0.5"}, {"failing": "hide"}, {"attempts": 0}])
    def test_numbers_that_make_no_sense_are_refused(self, wrong: dict[str, Any]) -> None:
        with pytest.raises(OptionError):
            EventSynth(**wrong)

    def test_hidden_numbers_are_the_likeliest_linear_model(self) -> None:
        rng = np.random.default_rng(1)
        conditions = rng.uniform(0, 10, (4000, 2))
        wave = np.sin(np.linspace(0, np.pi, PROFILE))
        profiles = (
            300 + 5 * conditions[:, :1] + 40 * rng.normal(size=(4000, 1)) * wave + rng.normal(0, 3, (4000, PROFILE))
        )
        model = HiddenNumbers.of(profiles, conditions, 1)
        assert model.rest == pytest.approx(9, rel=0.05)
        assert np.abs(model.loadings[:, 0]) == pytest.approx(40 * wave, abs=2.5)
        drawn = model.drawn_again(profiles[0], conditions[0], 2000, NoiseSource.seeded(1))
        assert drawn.mean(axis=0) == pytest.approx(profiles[0], abs=15)
        assert drawn[:, PROFILE // 2].std() == pytest.approx(3 / np.linalg.norm(wave), rel=0.2)
