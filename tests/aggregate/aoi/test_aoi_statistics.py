# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What one observer's gaze becomes, and that no gaze goes beyond the bounds."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from gazeveil import Recording, screen
from gazeveil.aggregate.aoi.statistics import (
    STATISTICS,
    UNIT,
    AoiKernel,
    Bounds,
    DwellShare,
    FixationCount,
    Question,
    Reached,
    Statistic,
    TimeToFirstFixation,
    Transitions,
    VisitOrder,
)
from gazeveil.errors import InputError, InternalError, OptionError
from gazeveil.gaze.aoi import AreasOfInterest, Ellipse, Rectangle
from gazeveil.gaze.events import DispersionThreshold, VelocityThreshold
from gazeveil.privacy.protection import Neighbours

PLANE = screen(1200, 800, 480, 320, 600)
AREAS = AreasOfInterest(
    (Rectangle("left", 0, 0, 400, 800), Rectangle("middle", 400, 0, 800, 800), Ellipse("right", 1000, 400, 150, 150)),
    PLANE,
)
AT = {"l": (200.0, 400.0), "m": (600.0, 400.0), "r": (1000.0, 400.0), "e": (1190.0, 790.0)}
ALL: tuple[Statistic, ...] = tuple(make() for make in STATISTICS.values())


def rows(path: str, seconds: float = 0.5, rate: float = 50, trial: str = "1", stimulus: str = "page") -> dict[str, Any]:
    """Somebody who looks at places in turn: left, middle, right, elsewhere; ``-`` for lost gaze."""
    count = round(seconds * rate)
    places = [AT.get(letter, (np.nan, np.nan)) for letter in path for _ in range(count)]
    x, y = np.array(places, dtype=float).reshape(-1, 2).T
    labels = {"stimulus": stimulus, "session": "1", "trial": trial}
    return {
        **{name: np.full(len(x), value, dtype=object) for name, value in labels.items()},
        "t": np.arange(len(x)) / rate, "x": x, "y": y, "valid": np.isfinite(x),
    }  # fmt: skip


def both(*parts: dict[str, Any]) -> dict[str, Any]:
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def values(statistic: Statistic, gaze: dict[str, Any], detector: Any = None) -> list[float]:
    kernel = AoiKernel((Question("page", AREAS, statistic),), PLANE, detector or DispersionThreshold())
    return [float(value) for value in kernel(gaze) / UNIT]


def test_dwell_is_a_share_of_the_tracked_time() -> None:
    assert values(DwellShare(), rows("llme")) == pytest.approx([0.5, 0.25, 0], abs=0.01)
    assert values(DwellShare(), rows("l-m-")) == pytest.approx([0.5, 0.5, 0], abs=0.03)
    assert values(DwellShare(), rows("eee")) == [0, 0, 0]


def test_all_viewings_of_an_observer_are_one_observer() -> None:
    pooled = both(rows("l", 1), rows("r", 3, trial="2"))
    assert values(DwellShare(), pooled) == pytest.approx([0.25, 0, 0.75], abs=0.01)
    assert values(FixationCount(), pooled) == [0.5, 0, 0.5]
    assert values(Reached(), pooled) == [0.5, 0, 0.5]
    split = both(rows("l", 1), rows("r", 3, trial="2"), rows("m", 1, stimulus="other"))
    assert values(DwellShare(), split) == values(DwellShare(), pooled)


def test_pieces_of_a_recording_that_lie_apart_are_put_together() -> None:
    whole, other = rows("lm"), rows("r", trial="2")
    half = len(whole["t"]) // 2
    first, second = (
        {name: column[part] for name, column in whole.items()} for part in (slice(half), slice(half, None))
    )
    assert values(Transitions(), both(first, other, second)) == values(Transitions(), both(whole, other))


def test_only_the_first_fixations_count() -> None:
    assert values(FixationCount(most=12), rows("lmlml")) == [3, 2, 0]
    assert values(FixationCount(most=3), rows("lmlml")) == [2, 1, 0]
    assert values(FixationCount(most=1), rows("elm")) == [1, 0, 0]


def test_never_looked_counts_as_the_longest_time() -> None:
    statistic = TimeToFirstFixation(within=2)
    early = values(statistic, rows("lmr", 0.8))
    assert [2 - 2 * share for share in early] == pytest.approx([0, 0.8, 1.6], abs=0.03)
    assert values(statistic, rows("l", 3)) == pytest.approx([1, 0, 0], abs=0.01)
    assert values(TimeToFirstFixation(within=0.5), rows("lmr", 0.8)) == pytest.approx([1, 0, 0], abs=0.01)
    assert values(Reached(within=1), rows("lmr", 0.8)) == [1, 1, 0]


def test_time_is_counted_from_the_first_sample() -> None:
    late = rows("lm", 0.8)
    late["t"] = late["t"] + 1_000.0
    assert values(TimeToFirstFixation(), late) == pytest.approx(
        values(TimeToFirstFixation(), rows("lm", 0.8)), abs=1e-5
    )


def test_transitions_are_shares_of_the_moves_between_areas() -> None:
    names = Transitions().cells(AREAS.names)
    found = dict(zip(names, values(Transitions(), rows("lmlmer")), strict=True))
    assert found["left", "middle"] == pytest.approx(0.5, abs=1e-5)
    assert found["middle", "left"] == pytest.approx(0.25, abs=1e-5)
    assert found["middle", "right"] == pytest.approx(0.25, abs=1e-5)  # elsewhere in between does not matter
    assert sum(found.values()) <= 1


def test_orders_occur_or_not_and_the_first_ones_count() -> None:
    statistic = VisitOrder(length=3, most=2)
    names = statistic.cells(AREAS.names)
    found = {name for name, value in zip(names, values(statistic, rows("lmlmr")), strict=True) if value == 1}
    assert found == {("left", "middle", "left"), ("middle", "left", "middle")}
    assert sum(values(VisitOrder(length=1), rows("lmlmr"))) == 3
    assert not any(values(VisitOrder(length=3), rows("lm")))


def test_another_detector_can_find_the_fixations() -> None:
    assert values(FixationCount(), rows("lmr"), VelocityThreshold()) == [1, 1, 1]


def test_whoever_has_no_gaze_counts_as_zero() -> None:
    for statistic in ALL:
        assert not any(values(statistic, rows("")))
        assert not any(values(statistic, rows("----")))
        assert not any(values(statistic, rows("ll", stimulus="other")))


def test_missing_validity_is_not_valid() -> None:
    gaze = rows("l")
    gaze["valid"] = np.full(len(gaze["t"]), None, dtype=object)
    assert values(DwellShare(), gaze) == [0, 0, 0]


@settings(max_examples=60, deadline=None)
@given(
    some.lists(
        some.tuples(
            some.floats(allow_nan=True, allow_infinity=True, width=64),
            some.sampled_from([*AT.values(), (np.nan, 0.0), (1e308, -1e308), (np.inf, 5.0)]),
            some.booleans(),
            some.sampled_from("12"),
        ),
        max_size=40,
    ),
    some.booleans(),
)
def test_no_gaze_goes_beyond_the_bounds(samples: list[Any], in_order: bool) -> None:
    t = np.array([sample[0] for sample in samples], dtype=float)
    if in_order:
        t = np.arange(len(samples)) * 0.06
    gaze = {
        "stimulus": np.full(len(t), "page", dtype=object),
        "session": np.full(len(t), "1", dtype=object),
        "trial": np.array([sample[3] for sample in samples], dtype=object),
        "t": t,
        "x": np.array([sample[1][0] for sample in samples], dtype=float),
        "y": np.array([sample[1][1] for sample in samples], dtype=float),
        "valid": np.array([sample[2] for sample in samples], dtype=bool),
    }
    kernel = AoiKernel(tuple(Question("page", AREAS, each) for each in ALL), PLANE, DispersionThreshold())
    found = kernel(gaze)  # raises if a bound is broken
    assert found.dtype == np.int64
    assert len(found) == kernel.size


def test_a_clock_that_a_detector_refuses_is_no_error() -> None:
    gaze = rows("l", 1, rate=200_000)
    with pytest.raises(InputError, match="samples within"):
        DispersionThreshold().detect(Recording(gaze["t"], gaze["x"], gaze["y"], PLANE, observer="one"))
    assert values(FixationCount(), gaze) == [0, 0, 0]
    assert values(DwellShare(), gaze) == pytest.approx([1, 0, 0], abs=1e-3)


def test_ten_hours_of_gaze_weigh_as_much_as_ten_seconds() -> None:
    assert values(DwellShare(), rows("l", 36_000, rate=20)) == values(DwellShare(), rows("l", 10))


def test_a_statistic_that_breaks_its_bounds_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(DwellShare, "bounds", lambda self, areas: Bounds(areas, UNIT, UNIT // 2, UNIT**2))
    with pytest.raises(InternalError, match="bounds of 'dwell'"):
        values(DwellShare(), rows("l"))


@pytest.mark.parametrize("neighbours", list(Neighbours))
@pytest.mark.parametrize("statistic", ALL, ids=lambda statistic: statistic.name)
def test_the_worst_observers_within_the_bounds_move_sums_by_the_sensitivity(
    statistic: Statistic, neighbours: Neighbours
) -> None:
    """Random corners of the allowed set never go further than stated; the best of them go exactly as far."""
    bounds = statistic.bounds(3)
    rng = np.random.default_rng(4)
    l1, l2 = 0, 0
    for _ in range(3000):
        people = [_corner(bounds, rng), _corner(bounds, rng) if neighbours is Neighbours.REPLACE_ONE else 0]
        if rng.random() < 0.1:
            people[1] = 0
        moved = [int(value) for value in people[0] - people[1]]
        l1, l2 = max(l1, sum(map(abs, moved))), max(l2, sum(value * value for value in moved))
    assert l1 == bounds.l1(neighbours)
    assert l2 == bounds.l2_square(neighbours)


def _corner(bounds: Bounds, rng: np.random.Generator) -> Any:
    corner = np.zeros(bounds.cells, dtype=object)
    for cell in rng.permutation(bounds.cells)[: bounds.total // bounds.largest]:
        corner[cell] = bounds.largest
    assert bounds.hold_for(corner)
    return corner


def test_the_kernel_travels_to_other_processes() -> None:
    kernel = AoiKernel(tuple(Question("page", AREAS, each) for each in ALL), PLANE, DispersionThreshold())
    gaze = rows("lmrl")
    assert np.array_equal(pickle.loads(pickle.dumps(kernel))(gaze), kernel(gaze))


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: FixationCount(most=0), "most must be a whole number"),
        (lambda: FixationCount(most=True), "most must be a whole number"),
        (lambda: TimeToFirstFixation(within=0), "within must be seconds"),
        (lambda: Reached(within=float("nan")), "within must be seconds"),
        (lambda: VisitOrder(length=4), "length must be 1, 2 or 3"),
    ],
)
def test_bad_parameters_are_named(make: Any, words: str) -> None:
    with pytest.raises(OptionError, match=words):
        make()
