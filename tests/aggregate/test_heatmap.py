# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""One heatmap: what it guarantees, what it refuses, and that it pays before it releases."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gazeveil import Corpus, Ledger, NoiseSource, PureDP, Recording, screen
from gazeveil.aggregate.engine import Kernel, Summed
from gazeveil.aggregate.heatmap import COUNT_SHARE, PrivateHeatmap
from gazeveil.aggregate.saliency import Saliency
from gazeveil.arrays import Tell, silent
from gazeveil.errors import BudgetExceeded, InputError, OptionError, ReleaseFailed
from gazeveil.privacy.guarantee import ApproxDP, Unproven
from gazeveil.privacy.protection import Neighbours
from gazeveil.release.study import DELTA
from tests.releasing import planned, released

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


def test_the_guarantee_is_stated_before_data_and_kept_by_the_release() -> None:
    plan = planned(PrivateHeatmap(epsilon=1.0, delta=1e-5, **COARSE), a_corpus())
    assert plan.guarantee <= ApproxDP(1.0, 1e-5)
    release = plan.release(a_corpus())
    assert release.guarantee == plan.guarantee
    estimate = release.value
    assert estimate.map.min() >= 0
    assert estimate.map.sum() == pytest.approx(1)
    assert 0 <= estimate.data_share <= 1
    assert {fact.name: fact.value for fact in release.facts}["participants"] == 30


def test_decimal_amounts_are_exact() -> None:
    plan = planned(PrivateHeatmap(epsilon="0.1", delta="1e-6", strategy="bumps", **COARSE), a_corpus())
    assert plan.guarantee == ApproxDP("0.1", "1e-6")
    assert plan.measurement.recipe()["epsilon"] == "0.1"


def test_seeded_noise_guarantees_nothing_and_repeats() -> None:
    mechanism = PrivateHeatmap(epsilon=1.0, **COARSE)
    one, two = (released(mechanism, a_corpus(), noise=NoiseSource.seeded(3)) for _ in range(2))
    assert isinstance(one.guarantee, Unproven)
    np.testing.assert_array_equal(one.value.map, two.value.map)


def test_a_generous_budget_shows_where_people_looked() -> None:
    release = released(PrivateHeatmap(epsilon=50.0, **COARSE), a_corpus(300), noise=NoiseSource.seeded(1))
    row, column = np.unravel_index(release.value.map.argmax(), release.value.map.shape)
    rows, columns = release.value.map.shape
    assert abs(column / columns - 500 / 1600) < 0.15
    assert abs(row / rows - 400 / 1200) < 0.15


def test_where_the_number_of_people_is_a_secret_it_is_counted_within_the_budget() -> None:
    mechanism = PrivateHeatmap(epsilon=2, **COARSE)
    counting = planned(mechanism, a_corpus(20), secret=True)
    assert counting.guarantee == ApproxDP(2, DELTA, neighbours=Neighbours.ADD_REMOVE)
    measurement = counting.measurement
    left = measurement._strategy(30).task.epsilon  # type: ignore[attr-defined]
    assert left + COUNT_SHARE * 2 == 2
    counts = {mechanism.noisy_count(20, NoiseSource.seeded(seed)) for seed in range(6)}
    assert len(counts) > 1
    declared = planned(mechanism, a_corpus(20), number=25, secret=True).measurement
    assert declared.strategy.task.observers == 25  # type: ignore[attr-defined]
    assert declared.strategy.task.epsilon == 2  # type: ignore[attr-defined]


def test_it_pays_first_and_over_budget_nothing_leaves(tmp_path: Path) -> None:
    with Ledger.open(tmp_path / "ledger.sqlite", create=True) as ledger:
        ledger.grant("study", ApproxDP(1, "1e-4"))
        mechanism = PrivateHeatmap(epsilon=0.75, **COARSE)
        first = released(mechanism, a_corpus(), ledger=ledger, account="study")
        assert first.receipt is not None
        with pytest.raises(BudgetExceeded):
            released(mechanism, a_corpus(), ledger=ledger, account="study")


def test_a_job_that_cannot_finish_may_waste_budget_but_releases_nothing(tmp_path: Path) -> None:
    with Ledger.open(tmp_path / "ledger.sqlite", create=True) as ledger:
        ledger.grant("study", ApproxDP(1, "1e-4"))
        with pytest.raises(ReleaseFailed) as failed:
            released(PrivateHeatmap(epsilon=0.5, **COARSE), a_corpus(), ledger=ledger, account="study", engine=Broken())
        assert "cluster" not in str(failed.value)
        assert ledger.account("study").spent["epsilon"] > 0


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"epsilon": 0.0}, "epsilon"),
        ({"epsilon": float("nan")}, "epsilon"),
        ({"delta": 1.5}, "delta"),
        ({"delta": -1e-9}, "delta"),
        ({"blur_deg": 0.0}, "blur"),
        ({"blur_deg": 1e9}, "blur"),
        ({"strategy": "magic"}, "magic"),
    ],
)
def test_what_makes_no_sense_is_refused(changes: dict[str, object], words: str) -> None:
    with pytest.raises((OptionError, InputError), match=words):
        PrivateHeatmap(**{"epsilon": 1.0, **changes})  # type: ignore[arg-type]


def test_a_delta_of_one_in_n_is_an_empty_guarantee() -> None:
    with pytest.raises(OptionError, match="empty"):
        planned(PrivateHeatmap(epsilon=1.0, delta=0.1, **COARSE), a_corpus(20))


def test_a_heatmap_is_of_one_stimulus() -> None:
    both = Corpus.of([*a_corpus(2, "a").recordings(), *a_corpus(2, "b").recordings()])
    with pytest.raises(OptionError, match="of one stimulus"):
        planned(PrivateHeatmap(epsilon=1.0), both)
    with pytest.raises(InputError, match="no stimulus 'c'"):
        planned(PrivateHeatmap(epsilon=1.0), both, stimulus="c")
    with pytest.raises(InputError, match="no recordings"):
        planned(PrivateHeatmap(epsilon=1.0), Corpus.of([]))


def test_the_public_number_of_people_does_not_depend_on_who_looked() -> None:
    elsewhere = [Recording(np.arange(3.0), np.ones(3), np.ones(3), DESK, f"q{k}", "b.png") for k in range(7)]
    study = Corpus.of([*a_corpus(20).recordings(), *elsewhere])
    plan = planned(PrivateHeatmap(epsilon=1.0, **COARSE), study, stimulus="a.png")
    assert plan.measurement.strategy.task.observers == 27  # type: ignore[attr-defined]


def test_one_observer_and_no_gaze_are_no_special_cases() -> None:
    lonely = released(PrivateHeatmap(epsilon=1.0, **COARSE), a_corpus(1))
    assert np.isfinite(lonely.value.map).all()
    blind = Recording(np.arange(3.0), np.full(3, np.nan), np.full(3, np.nan), DESK, "p", "a")
    nothing = released(PrivateHeatmap(epsilon=1.0, **COARSE), Corpus.of([blind]))
    assert nothing.value.map.sum() == pytest.approx(1)


def test_a_pure_budget_gets_a_pure_guarantee() -> None:
    assert planned(PrivateHeatmap(epsilon=1.0, delta=0.0, **COARSE), a_corpus()).guarantee == PureDP(1.0)


def test_the_picture_goes_into_the_recipe_as_its_hash_and_its_share_is_told() -> None:
    picture = Saliency.of(np.random.default_rng(1).integers(0, 256, (60, 80, 3)).astype(np.uint8))
    release = released(PrivateHeatmap(epsilon=1.0, picture=picture, **COARSE), a_corpus())
    assert release.recipe()["picture"] == picture.digest
    assert 0 < release.value.picture_share < 1
    plain = released(PrivateHeatmap(epsilon=1.0, **COARSE), a_corpus())
    assert plain.recipe()["picture"] is None
    assert plain.value.picture_share == 0
    assert release.guarantee == plain.guarantee


def test_gaussian_noise_keeps_no_pure_guarantee() -> None:
    with pytest.raises(OptionError, match="delta 0"):
        planned(PrivateHeatmap(epsilon=1.0, delta=0.0, strategy="bumps", **COARSE), a_corpus())
