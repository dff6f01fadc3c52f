# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The low-rank mechanism: designs, sensitivities against what is attained, plans that tell the truth beforehand."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest

from gazeveil.errors import FileFormatError, InputError, OptionError
from gazeveil.features.bins import BinRules
from gazeveil.features.design import COSINES, HAAR, Design, left_by_averaging, seen_energy, shapes
from gazeveil.features.design_learning import learn
from gazeveil.features.group_series import BOUND, GroupSeries
from gazeveil.features.participant_series import ParticipantSeries, RawGaze
from gazeveil.features.ranges import Range, Ranges
from gazeveil.features.series import gaussian_scale
from gazeveil.features.spherical_noise import SphericalNoise
from gazeveil.noise import NoiseSource
from gazeveil.privacy.calibration import gaussian_sigma
from gazeveil.privacy.guarantee import ApproxDP, PureDP
from gazeveil.privacy.protection import FeatureSeries, Observer, StretchOfGaze

STEPS, FEATURES = 120, 6
RANGES = Ranges.of({f"f{i}": Range(0, 1, "test") for i in range(FEATURES)})


def people(count: int, task: int, seed: int) -> np.ndarray:
    """Series that vary by task, by person, slowly in time and from step to step."""
    mixing = np.random.default_rng(7).normal(size=(3, FEATURES))
    level = 0.08 * np.random.default_rng(100 + task).normal(size=3)
    rng = np.random.default_rng([seed, task])
    t = np.arange(STEPS) / STEPS
    own = level + 0.1 * rng.normal(size=(count, 3))
    drift = 0.06 * rng.normal(size=(count, 1, 3)) * np.cos(np.pi * t)[None, :, None]
    series = 0.5 + 0.5 * (own[:, None, :] + drift) @ mixing + 0.03 * rng.normal(size=(count, STEPS, FEATURES))
    return np.clip(series, 0.0, 1.0)


@lru_cache(maxsize=1)
def design() -> Design:
    return learn([people(40, task, 0) for task in range(5)], RANGES, "made up")


class TestShapes:
    @pytest.mark.parametrize("kind", [COSINES, HAAR])
    @pytest.mark.parametrize(("steps", "count"), [(1, 1), (7, 7), (120, 24), (100, 17)])
    def test_they_are_orthonormal(self, kind: str, steps: int, count: int) -> None:
        rows = shapes(kind, steps, count)
        assert np.allclose(rows @ rows.T, np.eye(count), atol=1e-12)

    @pytest.mark.parametrize("kind", [COSINES, HAAR])
    @pytest.mark.parametrize(("count", "changed"), [(1, 20), (4, 20), (8, 20), (8, 3), (24, 60)])
    def test_no_stretch_is_seen_more_than_stated_and_the_worst_nearly_as_much(
        self, kind: str, count: int, changed: int
    ) -> None:
        rows = shapes(kind, STEPS, count)
        stated = seen_energy(kind, STEPS, count, changed)
        seen = [np.linalg.norm(rows[:, i : i + changed], ord=2) ** 2 for i in range(STEPS - changed + 1)]
        assert max(seen) - 1e-9 <= stated <= max(seen) + 1e-6

    def test_sign_vectors_come_close_to_the_bound(self) -> None:
        rows, changed = shapes(COSINES, STEPS, 4), 20
        bound = np.sqrt(changed * seen_energy(COSINES, STEPS, 4, changed))
        attained = 0.0
        for begin in range(STEPS - changed + 1):
            part = rows[:, begin : begin + changed]
            worst = np.sign(np.linalg.svd(part)[2][0])
            attained = max(attained, float(np.linalg.norm(part @ worst)))
        assert 0.9 * bound < attained <= bound

    @pytest.mark.parametrize("kind", [COSINES, HAAR])
    def test_averaging_leaves_slow_shapes_and_takes_fast_ones(self, kind: str) -> None:
        left = left_by_averaging(kind, 240, 24, 60)
        assert left[0] == pytest.approx(1)
        assert left[1] > 0.6
        assert left[16:].max() < 0.25
        assert np.allclose(left_by_averaging(kind, 240, 24, 1), 1)

    def test_unknown_or_too_many_are_refused(self) -> None:
        with pytest.raises(OptionError, match="no shapes"):
            shapes("splines", 10, 2)
        with pytest.raises(OptionError, match="from 1 to 10"):
            shapes(COSINES, 10, 11)


class TestNoise:
    @pytest.mark.parametrize(("dimension", "radial"), [(1, True), (12, True), (14, False), (64, False)])
    def test_few_numbers_get_a_pure_promise(self, dimension: int, radial: bool) -> None:
        """At ε = 1 and δ = 10⁻⁵ radial noise is better up to 12 numbers."""
        noise = SphericalNoise(dimension, 2.0, 1, 1e-5)
        assert noise.is_radial is radial
        assert isinstance(noise.guarantee(Observer()), PureDP if radial else ApproxDP)

    def test_radial_noise_has_the_stated_spread(self) -> None:
        """E z² = (d + 1) b²; false alarms in one of 10⁴ seeds or fewer."""
        noise = SphericalNoise(5, 1.0, 2)
        draws = noise.add(np.zeros((40_000, 5)), NoiseSource.seeded(4))
        assert np.mean(np.square(draws)) == pytest.approx(noise.sd**2, rel=0.03)

    @pytest.mark.parametrize("delta", [0, 1e-5])
    def test_the_loss_of_radial_and_gaussian_noise_is_what_is_promised(self, delta: float) -> None:
        noise = SphericalNoise(20, 1.0, 1, delta)
        here, there = np.zeros(20), np.full(20, 1 / np.sqrt(20))
        draws = noise.add(np.broadcast_to(here, (200_000, 20)), NoiseSource.seeded(8))
        if noise.is_radial:
            loss = (np.linalg.norm(draws - there, axis=1) - np.linalg.norm(draws - here, axis=1)) / noise.scale
            assert loss.max() <= 1
        else:
            loss = ((draws - (here + there) / 2) @ (here - there)) / noise.scale**2
            assert np.mean(np.maximum(0, 1 - np.exp(1 - loss))) <= 3e-5

    @pytest.mark.parametrize("change", [1e-6, 0.3, 7.0, 2.0**21])
    def test_gaussian_noise_is_as_wide_as_the_analytic_mechanism_asks_and_hardly_wider(self, change: float) -> None:
        least, ours = gaussian_sigma(1, 1e-5, change), gaussian_scale(1, 1e-5, Fraction(change))
        assert least <= ours <= least * (1 + 1e-12)

    def test_gaussian_noise_has_a_price_in_rho_and_radial_noise_none(self) -> None:
        gaussian = SphericalNoise(64, 2.0, 1, 1e-5)
        assert float(gaussian.concentrated(Observer()).rho) == pytest.approx(1 / (2 * 3.7305**2), rel=1e-3)
        with pytest.raises(OptionError, match="no ρ"):
            SphericalNoise(2, 2.0, 1, 1e-5).concentrated(Observer())


class TestDesign:
    def test_it_is_written_and_read_without_loss(self, tmp_path: Path) -> None:
        path = design().save(tmp_path / "design.json")
        again = Design.load(path)
        assert again.digest == design().digest
        assert again.features == design().features

    def test_series_within_its_directions_come_back(self) -> None:
        inside = design().series(np.array([[0.5, -0.2, 0.1]]))
        rows = design().coordinates(inside, 3)
        assert np.allclose(rows, [[0.5, -0.2, 0.1]])

    def test_it_depends_on_public_people_alone(self) -> None:
        """Plans for two different private data sets are the same, number by number."""
        mechanism = GroupSeries(epsilon=1, design=design())
        before = mechanism.to_dict(30)
        mechanism.estimate(people(30, 8, 1), NoiseSource.seeded(1))
        mechanism.estimate(people(30, 9, 2), NoiseSource.seeded(2))
        assert mechanism.to_dict(30) == before

    @pytest.mark.parametrize(
        ("text", "found"),
        [
            ("", "Expecting"),
            ("{}", "something else"),
            ('{"format": "gazeveil-feature-design", "version": 1}', "mean"),
        ],
    )
    def test_a_file_that_is_none_says_so(self, tmp_path: Path, text: str, found: str) -> None:
        path = tmp_path / "design.json"
        path.write_text(text)
        with pytest.raises(FileFormatError, match=found):
            Design.load(path)

    def test_one_person_alone_is_no_design(self) -> None:
        with pytest.raises(InputError, match="two public participants"):
            learn([people(1, 0, 0)], RANGES, "too few")

    def test_missing_values_are_refused(self) -> None:
        series = people(4, 0, 0)
        series[0, 0, 0] = np.nan
        with pytest.raises(InputError, match="missing"):
            learn([series], RANGES, "holes")


class TestGroups:
    def test_nobodys_integers_are_too_long_however_extreme_the_series(self) -> None:
        mechanism = GroupSeries(epsilon=1, design=design())
        plan = mechanism.plan(3)
        zigzag = np.where(np.arange(STEPS) % 2, 1.0, 0.0)[:, None] * np.ones(FEATURES)
        extreme = np.array([np.zeros((STEPS, FEATURES)), np.ones((STEPS, FEATURES)), zigzag])
        whole = mechanism.integers(extreme, plan)
        squares = [sum(int(number) ** 2 for number in row) for row in whole]
        assert max(squares) <= BOUND**2
        assert max(squares) > 0.99 * BOUND**2

    def test_the_promise_is_for_a_whole_person(self) -> None:
        assert GroupSeries(epsilon=1, design=design()).guarantee(30) == PureDP(1)
        many = GroupSeries(epsilon=10, design=design())
        assert many.guarantee(500) in (PureDP(10), ApproxDP(10, "1e-5"))

    @pytest.mark.parametrize(("count", "epsilon"), [(20, 1), (50, 1), (50, 3), (100, 3)])
    def test_the_error_told_beforehand_is_about_the_error_found(self, count: int, epsilon: int) -> None:
        """Over tasks that the design has never seen: between a third and one and a quarter of what was told."""
        mechanism = GroupSeries(epsilon=epsilon, design=design())
        found = []
        for task in range(10, 22):
            private = people(count, task, 3)
            estimate = mechanism.estimate(private, NoiseSource.seeded(task))
            found.append(np.mean(np.square(estimate.mean - private.mean(axis=0))))
        error = float(np.sqrt(np.mean(found)))
        plan = mechanism.plan(count)
        assert 0.3 * plan.error < error < 1.25 * plan.error
        assert plan.interval[0] < plan.error < plan.interval[1]

    def test_it_is_better_than_the_public_mean_where_it_says_so(self) -> None:
        mechanism = GroupSeries(epsilon=3, design=design())
        assert mechanism.plan(50).error < 0.9 * mechanism.plan(50).floor
        found, floor = [], []
        for task in range(30, 40):
            private = people(50, task, 5)
            truth = private.mean(axis=0)
            found.append(np.mean(np.square(mechanism.estimate(private, NoiseSource.seeded(task)).mean - truth)))
            floor.append(np.mean(np.square(design().mean - truth)))
        assert np.sqrt(np.mean(found)) < 0.6 * np.sqrt(np.mean(floor))

    def test_whoever_has_the_public_mean_adds_nothing_so_the_absent_need_not_be_there(self) -> None:
        mechanism, there = GroupSeries(epsilon=1, design=design()), people(20, 8, 1)
        absent = np.broadcast_to(design().mean, (10, STEPS, FEATURES))
        sums = [mechanism.integers(rows, mechanism.plan(30)).sum(axis=0) for rows in (there, np.r_[there, absent])]
        assert np.array_equal(*sums)

    def test_one_person_is_no_group(self) -> None:
        with pytest.raises(OptionError, match="at least two participants"):
            GroupSeries(epsilon=1, design=design()).plan(1)

    def test_more_budget_never_promises_a_larger_error(self) -> None:
        errors = [GroupSeries(epsilon=e, design=design()).plan(50).error for e in (0.1, 0.5, 1, 3, 10, 48)]
        assert errors == sorted(errors, reverse=True)


class TestParticipantSeries:
    def test_steps_are_one_promise_raw_gaze_another_a_person_a_third(self) -> None:
        raw = RawGaze(2.0, BinRules())
        assert ParticipantSeries(epsilon=1, design=design(), stretch=20).guarantee.unit == FeatureSeries(20)
        assert ParticipantSeries(epsilon=1, design=design()).guarantee.unit == Observer()
        mechanism = ParticipantSeries(epsilon=1, design=design(), raw=raw)
        assert mechanism.guarantee == PureDP(1, unit=StretchOfGaze(2.0))
        assert mechanism.stretch == BinRules().touched(2.0)

    def test_the_receipt_goes_up_to_the_whole_recording(self) -> None:
        mechanism = ParticipantSeries(epsilon=1, design=design(), raw=RawGaze(2.0, BinRules()))
        rows = dict(mechanism.epsilon_by_seconds())
        assert rows[2.0] == 1
        assert max(rows) == STEPS * 0.5
        prices = [float(rows[seconds]) for seconds in sorted(rows)]
        assert prices == sorted(prices)
        assert prices[-1] > 3

    @pytest.mark.parametrize("stretch", [1, 5, 20, 60])
    def test_no_two_neighbours_are_farther_apart_than_the_noise_is_made_for(self, stretch: int) -> None:
        mechanism = ParticipantSeries(epsilon=30, design=design(), delta=1e-5, stretch=stretch)
        plan = mechanism.plan()
        rng = np.random.default_rng(stretch)
        size = plan.ball.size
        mixing = design().components[:, :size] * design().component_weights[:size]
        farthest = 0.0
        for _ in range(200):
            first = rng.choice([0.0, 1.0], (STEPS, FEATURES))
            second = first.copy()
            begin = rng.integers(0, STEPS - stretch + 1)
            second[begin : begin + stretch] = 1 - first[begin : begin + stretch]
            rows = []
            for series in (first, second):
                vectors = (series - design().mean) @ mixing
                lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
                rows.append(design().time[: plan.shapes] @ (vectors * np.minimum(1, plan.ball.radius / lengths)))
            farthest = max(farthest, float(np.linalg.norm(rows[0] - rows[1])))
        assert 0 < farthest <= plan.noise.change

    @pytest.mark.parametrize(("stretch", "epsilon"), [(None, 3), (None, 48), (20, 1), (20, 10)])
    def test_it_is_never_much_worse_than_the_public_mean(self, stretch: int | None, epsilon: int) -> None:
        private = people(60, 50, 9)
        mechanism = ParticipantSeries(epsilon=epsilon, design=design(), delta=1e-5, stretch=stretch)
        noisy = mechanism.perturb(private, NoiseSource.seeded(2))
        error = np.sqrt(np.mean(np.square(noisy - private)))
        assert error < 1.05 * np.sqrt(np.mean(np.square(design().mean - private)))

    def test_with_much_budget_it_is_far_better(self) -> None:
        private = people(60, 50, 9)
        noisy = ParticipantSeries(epsilon=48, design=design(), delta=1e-5, stretch=20).perturb(
            private, NoiseSource.seeded(2)
        )
        floor = np.sqrt(np.mean(np.square(design().mean - private)))
        assert np.sqrt(np.mean(np.square(noisy - private))) < 0.5 * floor

    def test_what_averages_out_in_windows_is_not_released(self) -> None:
        steps = np.random.default_rng(3).normal(size=(60, STEPS, FEATURES))
        restless = learn([np.clip(0.5 + 0.03 * np.cumsum(steps, axis=1), 0, 1)], RANGES, "walks")
        rules = BinRules()
        long, short = (
            ParticipantSeries(epsilon=30, design=restless, raw=RawGaze(0.1, rules, window)).plan()
            for window in (20.0, 0.5)
        )
        assert long.shapes < short.shapes
        with pytest.raises(OptionError, match="a window lasts more than 0 seconds"):
            RawGaze(1.0, rules, 0.0)

    def test_both_seconds_and_steps_are_one_too_many(self) -> None:
        with pytest.raises(OptionError, match="not both"):
            ParticipantSeries(epsilon=1, design=design(), stretch=3, raw=RawGaze(1.0, BinRules()))
        with pytest.raises(OptionError, match="more than 0 seconds"):
            RawGaze(0.0, BinRules())
