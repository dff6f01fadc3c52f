# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import pytest

from gazeveil.errors import OptionError
from gazeveil.lab.attacks.contract import Trial
from gazeveil.lab.attacks.gaze_features import (
    ALLOWED,
    FIXATION,
    GROUPS,
    LAGS,
    SACCADE,
    Description,
    Movement,
    events,
    find_events,
    quantiles,
    steps,
)

RATE = 250.0


def jumping(jumps: int = 20, size: float = 5.0, rest: float = 0.3, *, noise: float = 0.02) -> Trial:
    """Rests of some seconds, and between them smooth jumps of 40 ms, each to the right."""
    rng = np.random.default_rng(1)
    t = np.arange(round((jumps * (rest + 0.04) + rest) * RATE)) / RATE
    phase = np.clip((t % (rest + 0.04) - rest) / 0.04, 0, 1)
    x = size * (t // (rest + 0.04) + (1 - np.cos(np.pi * phase)) / 2)
    return Trial(
        "ann",
        "1",
        "1",
        t,
        x + noise * rng.standard_normal(len(t)),
        noise * rng.standard_normal(len(t)),
        RATE,
        np.full(len(t), 3.5),
    )


def column(rows: np.ndarray, names: tuple[str, ...], name: str) -> np.ndarray:
    return rows[:, names.index(name)]


def test_events_have_the_size_and_direction_they_were_made_with() -> None:
    found = find_events(Movement.of(jumping()))
    assert len(found.saccades) == len(found.saccade_onsets) == 20
    assert len(found.fixations) == 21
    assert column(found.saccades, SACCADE, "amplitude").mean() == pytest.approx(5, rel=0.06)  # slow ends are cut
    assert (column(found.saccades, SACCADE, "cos") > 0.99).all()
    assert (np.abs(column(found.saccades, SACCADE, "sin")) < 0.05).all()
    # a half cosine of 5 degrees in 40 ms is fastest in its middle, at pi / 2 of its mean speed
    assert column(found.saccades, SACCADE, "max speed").mean() == pytest.approx(5 / 0.04 * np.pi / 2, rel=0.1)
    assert column(found.fixations, FIXATION, "sd y")[1:-1].mean() == pytest.approx(0.02, rel=0.15)
    assert (column(found.fixations, FIXATION, "duration")[1:-1] < 0.32).all()
    np.testing.assert_allclose(found.fixation_places[:, 2], 3.5)
    np.testing.assert_allclose(np.diff(found.fixation_places[:, 0]), 5, atol=0.2)


def test_the_first_event_has_no_way_from_the_one_before() -> None:
    found = find_events(Movement.of(jumping()))
    distance = column(found.fixations, FIXATION, "distance from previous")
    assert np.isnan(distance[0])
    assert np.isfinite(distance[1:]).all()


@pytest.mark.parametrize("group", GROUPS)
def test_no_group_sees_where_gaze_is(group: str) -> None:
    here = jumping()
    there = Trial(here.person, here.session, here.name, here.t, here.x + 7, here.y - 3, here.rate_hz)
    one, other = (GROUPS[group](Movement.of(trial)) for trial in (here, there))
    np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("group", [*GROUPS, *ALLOWED])
def test_a_group_has_one_length_and_no_infinity_whatever_the_window(group: str) -> None:
    measure = {**GROUPS, **ALLOWED}[group]
    whole = jumping()
    lost = whole.with_gaze(np.full(len(whole.t), np.nan), np.full(len(whole.t), np.nan))
    still = whole.with_gaze(np.zeros(len(whole.t)), np.zeros(len(whole.t)))
    lengths = set()
    for trial in (whole, whole.first(0.3), whole.first(0.03), lost, still):
        row = measure(Movement.of(trial))
        assert not np.isinf(row).any()
        lengths.add(len(row))
    assert len(lengths) == 1


def test_longer_ways_take_longer() -> None:
    small, large = (steps(Movement.of(jumping(size=size))).reshape(len(LAGS), 2, 16) for size in (2.0, 6.0))
    assert large[8, 0, 6] - small[8, 0, 6] == pytest.approx(np.log(3), rel=0.1)  # 95 % of ways across in 24 samples


def test_events_of_a_window_with_nothing_in_it_are_unknown() -> None:
    still = jumping(jumps=1)
    assert np.isnan(events(Movement.of(still))[-5:]).all()


def test_quantiles_are_those_of_numpy() -> None:
    values = np.random.default_rng(2).standard_normal(31)
    shares = np.array([0.0, 0.1, 0.5, 1.0])
    np.testing.assert_allclose(quantiles(values, shares), np.quantile(values, shares))


def test_a_description_has_a_row_for_each_window_with_gaze() -> None:
    trial = jumping(jumps=60)
    rows = Description(("steps", "losses"), frozenset({"pupil"}), 5.0, 5.0).rows(trial)
    assert rows.shape == (4, 512 + 5 + 29)
    lost = trial.with_gaze(np.full(len(trial.t), np.nan), trial.y)
    assert len(Description(("steps",), frozenset(), 5.0, 5.0).rows(lost)) == 0


@pytest.mark.parametrize(
    "wrong",
    [
        {"groups": ("nonsense",)},
        {"allow": frozenset({"head"})},
        {"groups": ()},
        {"seconds": 0.0},
        {"step": float("nan")},
    ],
)
def test_a_description_that_cannot_be_is_refused(wrong: dict[str, object]) -> None:
    right: dict[str, object] = {"groups": ("steps",), "allow": frozenset(), "seconds": 5.0, "step": 1.0}
    with pytest.raises(OptionError):
        Description(**{**right, **wrong})  # type: ignore[arg-type]
