# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""One veil for eyes and head: one clock, one budget, and a guarantee that says what both may do."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from gazeveil.errors import OptionError
from gazeveil.noise import NoiseSource
from gazeveil.privacy.guarantee import GazeStreamDP, guarantee_from_dict
from gazeveil.privacy.protection import WindowOfGaze
from gazeveil.privacy.statement import neighbours_in_words
from gazeveil.release.release import formal_guarantee
from gazeveil.samples.mechanisms.clock import Clock
from gazeveil.samples.mechanisms.eye_and_head import EyeAndHead
from gazeveil.samples.space import Sphere
from gazeveil.samples.window_budget import spends

EYES = Sphere(110, 100)


def joint(**options: Any) -> EyeAndHead:
    return EyeAndHead(EYES, **{"epsilon": 3, "window": "0.5", "radius": "5deg", "ticks": 2, **options})


def looking(count: int = 200) -> list[Any]:
    """Return times, gaze and head, with gaps in both."""
    rng = np.random.default_rng(3)
    t = np.cumsum(rng.uniform(0.005, 0.02, count))
    columns = np.cumsum(rng.normal(0, 2, (4, count)), axis=1) % 40 - 20
    columns[:2, 20:30] = columns[2:, 25:40] = np.nan
    return [t, *columns]


def test_gaze_is_what_the_clock_shows_with_what_the_head_leaves_of_the_budget() -> None:
    t, x, y, yaw, pitch = looking()
    shown = joint(share="0.25").start(NoiseSource.seeded(4)).run_both(t, x, y, yaw, pitch)
    alone = Clock(EYES, epsilon=Fraction("2.25"), window="0.5", radius=5, ticks=2).start(NoiseSource.seeded(4))  # type: ignore[arg-type]
    assert np.array_equal(shown[:2], alone.run(t, x, y))
    assert joint(share="0.25").head.epsilon == Fraction("0.75")


def test_live_and_on_file_show_the_same_of_gaze_and_head() -> None:
    samples = looking()
    live = joint().start(NoiseSource.seeded(4))
    stepped = np.array([live.step_both(*now) for now in zip(*(column.tolist() for column in samples), strict=True)])
    assert np.array_equal(stepped.T, joint().start(NoiseSource.seeded(4)).run_both(*samples))


@pytest.mark.parametrize("filtered", [True, False])
def test_eyes_and_head_are_released_at_the_same_moments_whatever_they_do(filtered: bool) -> None:
    t, x, y, yaw, pitch = looking()
    found = []
    for head in ((yaw, pitch), (np.full(len(t), np.nan),) * 2):
        veil = joint(filter=filtered).start(NoiseSource.seeded(4))
        veil.run_both(t, x, y, *head)
        eyes, heads = (spends(part._budget) for part in (veil._eyes, veil._head))  # type: ignore[attr-defined]
        assert [moment for moment, _ in eyes] == [moment for moment, _ in heads]
        found.append(heads)
    assert found[0] == found[1]
    assert len(found[0]) > 5


def test_what_a_window_costs_is_one_budget() -> None:
    """The losses of every closed window, times how far gaze and head may move, never exceed epsilon."""
    mechanism = joint(share="0.4", head_radius=7)
    veil = mechanism.start(NoiseSource.seeded(4))
    t, *columns = looking(600)
    veil.run_both(t, *columns)
    costs = [
        [(at, Fraction(loss, 1 << 30) * radius) for at, loss in spends(part._budget)]  # type: ignore[attr-defined]
        for part, radius in ((veil._eyes, mechanism.radius), (veil._head, mechanism.head_radius))
    ]
    both = [(at, eyes + head) for (at, eyes), (_, head) in zip(*costs, strict=True)]
    windows = [sum(cost for at, cost in both if begin <= at <= begin + 500_001) for begin, _ in both]
    assert max(windows) <= 3
    assert max(windows) > Fraction("2.99")


def test_a_head_that_is_not_known_never_shows_and_never_stops_gaze() -> None:
    t, x, y, _, _ = looking()
    nowhere = np.full(len(t), np.nan)
    one, two = (joint().start(NoiseSource.seeded(4)) for _ in range(2))
    assert np.array_equal(one.run(t, x, y), two.run_both(t, x, y, nowhere, nowhere)[:2])
    assert np.isfinite(one.step_both(t[-1] + 1, 1.0, 1.0, np.nan, np.nan)).all()


def test_the_guarantee_says_unit_and_neighbours_of_both() -> None:
    guarantee = joint().guarantee
    assert guarantee == GazeStreamDP(3, "0.5", 5, "deg", 10)
    assert guarantee_from_dict(guarantee.to_dict()) == guarantee
    assert "gaze and head pointed during any 0.5 s" in guarantee.in_words()
    assert "5 degrees for gaze and 10 degrees for the head at each sample" in neighbours_in_words(guarantee)
    assert "10 deg for the head" in formal_guarantee(guarantee)
    assert eval(repr(guarantee)) == guarantee
    assert guarantee != GazeStreamDP(3, "0.5", 5, "deg")


def test_steps_move_gaze_and_head_at_once() -> None:
    unit = WindowOfGaze(1, 5, "deg", 10)
    assert unit.steps_to(WindowOfGaze(3, 5, "deg")) == 3
    assert unit.steps_to(WindowOfGaze(1, 10, "deg", 15)) == 2
    assert unit.steps_to(WindowOfGaze(1, 5, "deg", 25)) == 3
    assert WindowOfGaze(1, 5, "deg").steps_to(unit) is None  # it says nothing of heads
    assert unit.lasting(2) == WindowOfGaze(2, 5, "deg", 10)
    assert unit != WindowOfGaze(1, 5, "deg")


@pytest.mark.parametrize(
    "options", [{"share": 1}, {"share": 0}, {"head_radius": 0}, {"head_radius": "5px"}, {"epsilon": 0}, {"ticks": 2000}]
)
def test_what_cannot_be_kept_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(OptionError):
        joint(**options)
