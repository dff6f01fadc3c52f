# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Whole studies: bounds in exact integers, the guarantee, the forecast, bad input, one pass, one charge."""

from __future__ import annotations

import math
import pickle
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gazeveil import ApproxDP, Corpus, Ledger, NoiseSource, Recording, Unproven, screen
from gazeveil.aggregate.map_features import joint_sensitivity, view_of
from gazeveil.aggregate.strategy import Estimate
from gazeveil.aggregate.study_heatmaps import BOUND, PrivateHeatmaps, StudyPlan
from gazeveil.engines.local import LocalEngine
from gazeveil.errors import BudgetExceeded, InputError, OptionError
from gazeveil.exact import exact
from gazeveil.gaze.corpus import OneByOne
from gazeveil.privacy.calibration import gaussian_delta
from gazeveil.privacy.protection import Neighbours
from tests.releasing import planned, released

PLANE = screen(800, 600, 80, 60, 573)  # 8 by 6 degrees, so that decoding is quick
NAMES = ("a", "b", "c")


def study(**changes: Any) -> PrivateHeatmaps:
    options: dict[str, Any] = {"epsilon": 5.0, "delta": 1e-4, **changes}
    return PrivateHeatmaps(**options)


def planned_for(
    names: tuple[str, ...], observers: int = 40, neighbours=Neighbours.REPLACE_ONE, **changes: Any
) -> StudyPlan:
    return study(**changes).plan_for(PLANE, names, observers, neighbours, exact(1e-4))


def plan(weights=(1.0, 1.0, 1.0), observers=40, **changes: Any) -> StudyPlan:
    named = dict(zip(NAMES, weights, strict=True))
    return planned_for(NAMES, observers, weights=named, **changes)


def rows(*views):
    """Return an observer's rows; a view is a stimulus, x and y."""
    parts = [(name, np.atleast_1d(x).astype(float), np.atleast_1d(y).astype(float)) for name, x, y in views]
    empty = np.empty(0)
    return {
        "stimulus": np.array([name for name, x, _ in parts for _ in x], dtype=object),
        "x": np.concatenate([empty, *(x for _, x, _ in parts)]),
        "y": np.concatenate([empty, *(y for _, _, y in parts)]),
        "valid": np.ones(sum(len(x) for _, x, _ in parts), dtype=bool),
    }


def everywhere(name):
    across, down = np.meshgrid(np.arange(5.0, 800, 20), np.arange(5.0, 600, 20))
    return name, across.ravel(), down.ravel()


PEOPLE = {
    "stares in all": rows(*((name, 10, 10) for name in NAMES)),
    "stares elsewhere in all": rows(*((name, 790, 590) for name in NAMES)),
    "looks everywhere": rows(*(everywhere(name) for name in NAMES)),
    "nobody": rows(),
    "one stimulus only": rows(("b", 400, 300)),
    "off the screen": rows(*((name, -50, 10) for name in NAMES)),
    "another stimulus": rows(("other", 400, 300)),
    "recorded for hours": rows(("a", np.full(200_000, 700.0), np.full(200_000, 20.0)), ("c", 1, 1)),
}


def squares(integers) -> int:
    return sum(value * value for value in integers.tolist())


@pytest.mark.parametrize("strategy", ["bumps", "histogram"])
@pytest.mark.parametrize("most", [1, 2, 3])
def test_no_two_people_are_further_apart_than_the_noise_covers(strategy, most):
    chosen = plan((3.0, 1.0, 2.0), strategy=strategy, most_stimuli=most)
    kernel = chosen.kernel()
    vectors = [kernel(person) for person in PEOPLE.values()]
    assert all(vector.min() >= 0 for vector in vectors)
    assert max(squares(vector) for vector in vectors) <= chosen.square
    apart = max(squares(one - other) for one in vectors for other in vectors)
    assert apart <= joint_sensitivity(chosen.square, Neighbours.REPLACE_ONE) ** 2
    assert apart > 0.9 * 2 * chosen.square * (1 if strategy == "histogram" else 0.8)
    alone = max(squares(vector) for vector in vectors)
    assert alone <= joint_sensitivity(chosen.square, Neighbours.ADD_REMOVE) ** 2


@settings(max_examples=40, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from([*NAMES, "other"]), st.floats(-100, 900), st.floats(-100, 700)),
        min_size=0,
        max_size=30,
    ),
    st.integers(1, 3),
)
def test_whatever_somebody_does_the_bound_holds(views, most):
    chosen = plan((0.01, 1.0, 5.0), most_stimuli=most)
    vector = chosen.kernel()(rows(*views))
    assert vector.dtype == np.int64
    assert vector.min() >= 0
    assert squares(vector) <= chosen.square


def test_parts_of_each_stimulus_keep_their_own_length_and_place():
    chosen = plan((1.0, 2.0, 4.0))
    assert chosen.bounds == (BOUND // 4, BOUND // 2, BOUND)
    found = chosen.kernel()(PEOPLE["one stimulus only"]).reshape(3, -1)
    assert not found[0].any()
    assert not found[2].any()
    assert 0.999 * chosen.bounds[1] < math.sqrt(squares(found[1])) <= chosen.bounds[1]


def test_the_order_of_rows_and_sessions_does_not_matter():
    kernel = plan().kernel()
    one = rows(("a", 10, 10), ("b", 400, 300), ("a", 700, 20))
    other = rows(("b", 400, 300), ("a", [10, 700], [10, 20]))
    assert np.array_equal(kernel(one), kernel(other))
    assert np.array_equal(pickle.loads(pickle.dumps(kernel))(one), kernel(one))


@pytest.mark.parametrize("neighbours", list(Neighbours))
def test_sigma_is_enough_for_the_promise_and_hardly_more(neighbours):
    chosen = plan((1.0, 2.0, 1.0), neighbours=neighbours)
    far = joint_sensitivity(chosen.square, neighbours)
    squared = chosen.square * (2 if neighbours is Neighbours.REPLACE_ONE else 1)
    assert squared < far**2 < squared * (1 + Fraction(1, 10**12))
    assert gaussian_delta(chosen.sigma, far, chosen.epsilon) <= exact(chosen.delta)
    assert gaussian_delta(0.9999 * chosen.sigma, far, chosen.epsilon) > exact(chosen.delta)
    assert chosen.guarantee == ApproxDP(5.0, 1e-4, neighbours=neighbours)


def test_noise_grows_with_the_root_of_the_number_of_stimuli_not_with_the_number():
    def noise(count):
        return planned_for(tuple(f"s{k}" for k in range(count))).sigma

    assert noise(32) / noise(2) == pytest.approx(4, rel=1e-9)


def test_fewer_stimuli_an_observer_mean_less_noise():
    assert plan(most_stimuli=1).sigma == pytest.approx(plan().sigma / math.sqrt(3), rel=1e-9)


def test_the_forecast_rises_with_people_and_budget_and_falls_with_stimuli():
    many = tuple(f"s{k}" for k in range(12))

    def carried(count, observers, epsilon):
        return planned_for(many[:count], observers, epsilon=epsilon).expected_correlation()

    assert 0 < carried(12, 30, 1.0) < carried(12, 30, 3.0) < carried(12, 100, 3.0) < carried(3, 100, 3.0) < 1


SPOTS = {"a": (200, 150), "b": (600, 450), "c": (600, 150), "d": (200, 450)}


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    rng = np.random.default_rng(7)
    recordings = []
    for person in range(60):
        seen = list(SPOTS)[: 4 if person % 3 else 2]  # a third saw two stimuli only
        for name in seen:
            at = np.where(rng.random((20, 1)) < 0.6, SPOTS[name], (400, 300)) + rng.normal(0, 40, (20, 2))
            recordings.append(Recording(np.arange(20) / 10, at[:, 0], at[:, 1], PLANE, f"p{person}", name))
    return Corpus.of(recordings)


def test_every_map_peaks_where_its_stimulus_was_looked_at(corpus):
    release = released(study(epsilon=8.0), corpus, noise=NoiseSource.seeded(1))
    found = release.value
    assert list(found.maps) == list(SPOTS)
    for name, (x, y) in SPOTS.items():
        estimate = found.maps[name]
        assert estimate.map.sum() == pytest.approx(1)
        assert estimate.map.min() > 0
        assert 0 < estimate.data_share < 1
        assert (estimate.noise_sd > 0).all()
        gained = estimate.map - found.mean.map
        row, column = np.unravel_index(int(np.argmax(gained)), gained.shape)
        assert abs(column + 0.5 - x / 100) < 1.6
        assert abs(row + 0.5 - y / 100) < 1.6
    assert found.mean.map.sum() == pytest.approx(1)
    assert isinstance(release.guarantee, Unproven)  # the noise came from a seed


def spread_of(estimate: Estimate) -> float:
    assert estimate.error_sd is not None
    return float(estimate.error_sd.mean())


def test_more_weight_makes_a_better_map(corpus):
    light = planned_for(tuple(SPOTS), 60, epsilon=3.0)
    heavy = planned_for(tuple(SPOTS), 60, epsilon=3.0, weights={"a": 4.0})
    one, other = (
        chosen.decode(chosen.measure(corpus, NoiseSource.seeded(3), LocalEngine())).maps for chosen in (light, heavy)
    )
    assert spread_of(other["a"]) < spread_of(one["a"])
    assert spread_of(other["b"]) > spread_of(one["b"])


def test_the_mean_alone_has_the_whole_budget(corpus):
    release = released(study(epsilon=1.0, mean_only=True), corpus)
    assert release.value.maps == {}
    assert release.value.mean.map.sum() == pytest.approx(1)
    assert release.guarantee <= ApproxDP(1.0, 1e-4)


def test_a_hopeless_budget_is_refused_before_anything_is_spent(corpus, tmp_path):
    hopeless = planned(study(epsilon=0.05), corpus)
    with Ledger.open(str(tmp_path / "book.sqlite"), create=True) as ledger:
        ledger.grant("study", ApproxDP(1, "1e-3"))
        with pytest.raises(OptionError, match=r"hardly be better than none.*Nothing was spent") as refused:
            hopeless.release(corpus, ledger=ledger, account="study")
        assert "mean-only" in refused.value.hint
        before = len(list(ledger.history("study")))
        release = hopeless.release(corpus, ledger=ledger, account="study", anyway=True)
        assert before == 1  # the grant
        assert len(list(ledger.history("study"))) == 2
        assert release.receipt is not None
        assert release.receipt.guarantee == ApproxDP(0.05, 1e-4)


class _Counting(OneByOne):
    """An engine that counts how often it is asked."""

    def __init__(self) -> None:
        self.passes = 0

    def sum_over_observers(self, corpus, kernel, tell=None):
        self.passes += 1
        return LocalEngine().sum_over_observers(corpus, kernel)


def test_one_pass_and_one_charge_for_all_stimuli(corpus, tmp_path):
    engine = _Counting()
    with Ledger.open(str(tmp_path / "book.sqlite"), create=True) as ledger:
        ledger.grant("study", ApproxDP(8, "1e-3"))
        plan = planned(study(epsilon="5", delta="1e-4"), corpus)
        release = plan.release(corpus, ledger=ledger, account="study", engine=engine)
        assert engine.passes == 1
        assert release.guarantee == ApproxDP(5, "1e-4")
        with pytest.raises(BudgetExceeded):
            plan.release(corpus, ledger=ledger, account="study", engine=engine)
        assert engine.passes == 1  # gaze is not even read


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"epsilon": 0.0}, "epsilon"),
        ({"epsilon": math.nan}, "epsilon"),
        ({"delta": 0.0}, "delta"),
        ({"weights": {"a": 0}}, "weight of 'a'"),
        ({"weights": {"a": -1.0}}, "weight of 'a'"),
        ({"weights": {"a": math.inf}}, "weight of 'a'"),
        ({"weights": {"a": "2"}}, "weight of 'a'"),
        ({"weights": {"a": True}}, "weight of 'a'"),
        ({"weights": {"a": 1e5}}, "differ by more than"),
        ({"strategy": "modes"}, "cannot be released together"),
        ({"most_stimuli": 0}, "most_stimuli"),
        ({"mean_only": True, "weights": {"a": 2.0}}, "weighs all gaze alike"),
        ({"blur_deg": 0.0}, "blur_deg"),
        ({"blur_deg": 1e9}, "blur_deg"),
    ],
)
def test_senseless_options_are_refused(options, words):
    with pytest.raises(OptionError, match=words):
        study(**options)


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"stimuli": ("a",)}, OptionError, "at least two stimuli"),
        ({"stimuli": ("a", "z")}, InputError, "no stimulus 'z'"),
        ({"stimuli": ("a", "a")}, OptionError, "listed twice"),
        ({"weights": {"z": 2.0}}, OptionError, "weights for stimuli that are not released: 'z'"),
        ({"delta": 0.5}, OptionError, "such a guarantee is empty"),
        ({"secret": True}, OptionError, "number of participants is secret"),
    ],
)
def test_what_does_not_fit_the_study_is_refused_at_planning(corpus, options, error, words):
    facts = {name: options.pop(name) for name in ("stimuli", "secret") if name in options}
    with pytest.raises(error, match=words):
        planned(study(**options), corpus, **facts)


def test_a_guess_at_a_secret_number_tunes_the_decoder(corpus):
    plan = planned(study(), corpus, number=50, secret=True)
    measurement: Any = plan.measurement
    assert measurement.plan.observers == 50
    assert plan.guarantee == ApproxDP(5.0, 1e-4, neighbours=Neighbours.ADD_REMOVE)


def test_stimuli_on_different_screens_are_told_apart():
    t = np.arange(5.0)
    both = Corpus.of(
        [
            Recording(t, t, t, PLANE, "p", "a"),
            Recording(t, t, t, screen(1000, 800, 200, 160, 573), "p", "b"),
        ]
    )
    with pytest.raises(InputError, match=r"2 screens.*'a'.*'b'"):
        planned(study(), both)


def test_a_corpus_without_recordings_is_refused():
    with pytest.raises(InputError):
        planned(study(), Corpus.of([]))


def test_what_is_too_large_for_memory_is_said_before_anything_is_read():
    size = view_of("bumps", plan().grid).size
    with pytest.raises(OptionError, match="at once"):
        planned_for(tuple(str(k) for k in range((1 << 24) // size + 1)))
