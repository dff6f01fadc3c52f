# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The front door: what it promises, what it refuses, and that it pays before it releases."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gazeveil import Corpus, Ledger, NoiseSource, PureDP, Recording, screen
from gazeveil.aggregate.choice import tells_much
from gazeveil.aggregate.engine import Kernel, Summed
from gazeveil.aggregate.heatmap import COUNT_SHARE, PrivateHeatmap
from gazeveil.aggregate.saliency import Saliency
from gazeveil.errors import BudgetExceeded, InputError, OptionError
from gazeveil.privacy.guarantee import ApproxDP, Unproven
from gazeveil.privacy.unit import Neighbours
from gazeveil.types import Tell, silent

DESK = screen(1600, 1200, 400, 300, 600)
COARSE: dict[str, Any] = {"cell_deg": 4.0, "blur_deg": 4.0}


def a_corpus(people: int = 30, stimulus: str = "a.png") -> Corpus:
    rng = np.random.default_rng(5)
    recordings = []
    for person in range(people):
        x, y = rng.normal(500, 60, 40), rng.normal(400, 60, 40)
        recordings.append(Recording(np.arange(40) / 60, x, y, DESK, f"p{person}", stimulus))
    return Corpus.of(recordings)


class Broken:
    """An engine that never finishes."""

    def sum_over_observers(self, corpus: Corpus, kernel: Kernel, tell: Tell = silent) -> Summed:
        raise InputError("the cluster is gone")


def test_the_promise_is_stated_before_data_and_kept_by_the_release() -> None:
    mechanism = PrivateHeatmap(epsilon=1.0, delta=1e-5, **COARSE)
    assert mechanism.guarantee == ApproxDP(1.0, 1e-5)
    release = mechanism.release(a_corpus(), noise=NoiseSource.secure())
    assert release.guarantee <= mechanism.guarantee
    estimate = release.value
    assert estimate.map.min() >= 0
    assert estimate.map.sum() == pytest.approx(1)
    assert 0 <= estimate.data_share <= 1
    assert release.provenance["observers"] == 30


def test_seeded_noise_promises_nothing_and_repeats() -> None:
    mechanism = PrivateHeatmap(epsilon=1.0, **COARSE)
    one, two = (mechanism.release(a_corpus(), noise=NoiseSource.seeded(3)) for _ in range(2))
    assert isinstance(one.guarantee, Unproven)
    np.testing.assert_array_equal(one.value.map, two.value.map)


def test_a_generous_budget_shows_where_people_looked() -> None:
    release = PrivateHeatmap(epsilon=50.0, **COARSE).release(a_corpus(300), noise=NoiseSource.seeded(1))
    row, column = np.unravel_index(release.value.map.argmax(), release.value.map.shape)
    rows, columns = release.value.map.shape
    assert abs(column / columns - 500 / 1600) < 0.15
    assert abs(row / rows - 400 / 1200) < 0.15


def test_where_the_number_of_people_is_a_secret_it_is_counted_within_the_budget() -> None:
    mechanism = PrivateHeatmap(epsilon=2.0, neighbours=Neighbours.ADD_REMOVE, **COARSE)
    strategy = mechanism.plan(DESK, 30)
    assert strategy.task.epsilon + mechanism.epsilon * COUNT_SHARE <= mechanism.epsilon
    seen = {
        mechanism.release(a_corpus(20), noise=NoiseSource.seeded(seed)).provenance["observers"] for seed in range(6)
    }
    assert len(seen) > 1
    declared = PrivateHeatmap(epsilon=2.0, neighbours=Neighbours.ADD_REMOVE, observers=25, **COARSE)
    assert declared.release(a_corpus(20), noise=NoiseSource.seeded(1)).provenance["observers"] == 25


def test_it_pays_first_and_over_budget_nothing_leaves(tmp_path: Path) -> None:
    with Ledger.open(tmp_path / "ledger.sqlite", create=True) as ledger:
        ledger.grant("study", ApproxDP(1, "1e-4"))
        mechanism = PrivateHeatmap(epsilon=0.75, **COARSE)
        first = mechanism.release(a_corpus(), noise=NoiseSource.secure(), ledger=ledger, dataset="study")
        assert first.receipt is not None
        with pytest.raises(BudgetExceeded):
            mechanism.release(a_corpus(), noise=NoiseSource.secure(), ledger=ledger, dataset="study")


def test_a_job_that_cannot_finish_may_waste_budget_but_releases_nothing(tmp_path: Path) -> None:
    with Ledger.open(tmp_path / "ledger.sqlite", create=True) as ledger:
        ledger.grant("study", ApproxDP(1, "1e-4"))
        with pytest.raises(InputError, match="cluster"):
            PrivateHeatmap(epsilon=0.5, **COARSE).release(
                a_corpus(), noise=NoiseSource.secure(), ledger=ledger, dataset="study", engine=Broken()
            )
        assert ledger.account("study").spent["epsilon"] > 0


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"epsilon": 0.0}, "epsilon"),
        ({"epsilon": float("nan")}, "epsilon"),
        ({"delta": 1.0}, "delta"),
        ({"delta": -1e-9}, "delta"),
        ({"blur_deg": 0.0}, "blur"),
        ({"blur_deg": 1e9}, "blur"),
        ({"observers": 0}, "observers"),
        ({"strategy": "magic"}, "magic"),
    ],
)
def test_what_makes_no_sense_is_refused(changes: dict[str, object], words: str) -> None:
    with pytest.raises((OptionError, InputError), match=words):
        PrivateHeatmap(**{"epsilon": 1.0, **changes})  # type: ignore[arg-type]


def test_a_delta_of_one_in_n_is_an_empty_promise() -> None:
    with pytest.raises(OptionError, match="empty"):
        PrivateHeatmap(epsilon=1.0, delta=0.1, **COARSE).release(a_corpus(20), noise=NoiseSource.secure())


def test_a_heatmap_is_of_one_stimulus() -> None:
    both = Corpus.of([*a_corpus(2, "a").recordings(), *a_corpus(2, "b").recordings()])
    with pytest.raises(InputError, match="one stimulus"):
        PrivateHeatmap(epsilon=1.0).release(both, noise=NoiseSource.secure())
    with pytest.raises(InputError, match="one stimulus"):
        PrivateHeatmap(epsilon=1.0).release(Corpus.of([]), noise=NoiseSource.secure())


def test_the_public_number_of_people_does_not_depend_on_who_looked() -> None:
    elsewhere = [Recording(np.arange(3.0), np.ones(3), np.ones(3), DESK, f"q{k}", "b.png") for k in range(7)]
    study = Corpus.of([*a_corpus(20).recordings(), *elsewhere])
    release = PrivateHeatmap(epsilon=1.0, **COARSE).release(study, "a.png", noise=NoiseSource.secure())
    assert release.provenance["observers"] == 27
    with pytest.raises(InputError, match="one stimulus"):
        PrivateHeatmap(epsilon=1.0, **COARSE).release(study, "c.png", noise=NoiseSource.secure())


def test_one_observer_and_no_gaze_are_no_special_cases() -> None:
    lonely = PrivateHeatmap(epsilon=1.0, **COARSE).release(a_corpus(1), noise=NoiseSource.secure())
    assert np.isfinite(lonely.value.map).all()
    blind = Recording(np.arange(3.0), np.full(3, np.nan), np.full(3, np.nan), DESK, "p", "a")
    nothing = PrivateHeatmap(epsilon=1.0, **COARSE).release(Corpus.of([blind]), noise=NoiseSource.secure())
    assert nothing.value.map.sum() == pytest.approx(1)


def test_a_pure_budget_gets_a_pure_promise() -> None:
    release = PrivateHeatmap(epsilon=1.0, delta=0.0, **COARSE).release(a_corpus(), noise=NoiseSource.secure())
    assert release.guarantee == PureDP(1.0)


def test_the_picture_goes_into_the_recipe_as_its_hash_and_its_share_is_told() -> None:
    picture = Saliency.of(np.random.default_rng(1).integers(0, 256, (60, 80, 3)).astype(np.uint8))
    mechanism = PrivateHeatmap(epsilon=1.0, picture=picture, **COARSE)
    release = mechanism.release(a_corpus(), noise=NoiseSource.secure())
    assert release.recipe_values()["picture"] == picture.digest
    assert 0 < release.value.picture_share < 1
    plain = PrivateHeatmap(epsilon=1.0, **COARSE).release(a_corpus(), noise=NoiseSource.secure())
    assert plain.recipe_values()["picture"] is None
    assert plain.value.picture_share == 0
    assert release.guarantee == plain.guarantee


def test_a_strategy_that_cannot_use_a_picture_says_so() -> None:
    picture = Saliency.of(np.zeros((60, 80, 3), dtype=np.uint8))
    with pytest.raises(OptionError, match="no use of a picture"):
        PrivateHeatmap(epsilon=1.0, strategy="hierarchical", picture=picture)


def test_gaussian_noise_keeps_no_pure_promise() -> None:
    with pytest.raises(OptionError, match="delta 0"):
        PrivateHeatmap(epsilon=1.0, delta=0.0, strategy="bumps", **COARSE).plan(DESK, 30)


@pytest.mark.parametrize(
    ("people", "epsilon", "delta", "much"), [(1, 1.0, 1e-5, False), (30, 1.0, 1e-5, True), (5, 1.0, 0.0, False)]
)
def test_public_numbers_say_whether_a_map_can_tell_much(people: int, epsilon: float, delta: float, much: bool) -> None:
    assert tells_much(PrivateHeatmap(epsilon=epsilon, delta=delta, **COARSE).plan(DESK, people).task) is much
