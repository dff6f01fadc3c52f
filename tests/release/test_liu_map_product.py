# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Liu's gaze maps through a study's plan."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from pathlib import Path
from typing import Any, cast

import numpy as np
import polars as pl
import pytest
from scipy import stats

from gazeveil.aggregate.engine import Kernel, Summed
from gazeveil.aggregate.grid import Grid
from gazeveil.aggregate.liu import GaussianMap, LiuMap
from gazeveil.aggregate.liu.noisy_maps import NOISES
from gazeveil.errors import BudgetExceeded, InputError, OptionError, PrivacyError
from gazeveil.gaze.corpus import Corpus
from gazeveil.gaze.recording import Recording
from gazeveil.geometry import screen
from gazeveil.lab.as_published.liu_maps import UnprotectedLiuMap
from gazeveil.noise import NoiseSource
from gazeveil.privacy.guarantee import ApproxDP, PureDP, Unproven
from gazeveil.privacy.ledger import Ledger
from gazeveil.release.plan import Plan
from gazeveil.release.study import Participants, Stimulus, Study
from gazeveil.release.verify import verify
from tests.releasing import released

PLANE = screen(60, 40, 60, 40, 600)
CELLS: dict[str, Any] = {"columns": 3, "rows": 2}


def person(name: str, *cells: int, times: int = 1, stimulus: str = "page") -> Recording:
    """Return somebody who looks at cells of the grid, one after the other, each so many samples long."""
    where = np.repeat(np.array(cells, dtype=np.int64), times)
    x, y = (np.asarray(place * 20.0 + 10, dtype=np.float64) for place in (where % 3, where // 3))
    return Recording(np.arange(len(where)) / 60, x, y, PLANE, name, stimulus)


def people(count: int = 40) -> Corpus:
    return Corpus.of([person(f"p{i}", i % 6, (2 * i) % 6) for i in range(count)])


def study(number: int = 40) -> Study:
    shown = (Stimulus(name="page", screen=PLANE), Stimulus(name="other", screen=PLANE))
    return Study(name="pages", participants=Participants(number=number), stimuli=shown)


def planned(mechanism: Any, number: int = 40, stimulus: str = "page") -> Plan:
    return study(number).plan(mechanism, stimulus=stimulus)


def noisy(mechanism: Any, corpus: Corpus, number: int = 40, seed: int = 3) -> Any:
    return planned(mechanism, number).release(corpus, noise=NoiseSource.seeded(seed)).value


@pytest.mark.parametrize("noise", NOISES.names())
def test_a_release_with_secure_noise_keeps_the_guarantee_of_the_plan(noise: str) -> None:
    plan = planned(LiuMap(epsilon=1, noise=noise, **CELLS))
    made = plan.release(people())
    assert made.guarantee == plan.guarantee
    assert made.value.map.shape == (2, 3)
    assert made.recipe()["made"]["observers"] == 40
    json.dumps(plan.to_dict())


@pytest.mark.parametrize("noise", NOISES.names())
def test_a_release_from_a_seed_guarantees_nothing(noise: str) -> None:
    plan = planned(LiuMap(epsilon=1, noise=noise, **CELLS))
    first, second = (plan.release(people(), noise=NoiseSource.seeded(5)) for _ in range(2))
    assert isinstance(first.guarantee, Unproven)
    assert np.array_equal(first.value.map, second.value.map)


@pytest.mark.parametrize("noise", NOISES.names())
@pytest.mark.parametrize("samples", [None, 3])
def test_one_participant_moves_the_sum_by_no_more_than_the_noise_is_made_for(noise: str, samples: int | None) -> None:
    """With one seed the noise is the same on both sides, so what is left is what the participant did."""
    mechanism = LiuMap(epsilon=1, noise=noise, samples=samples, **CELLS)
    others = [person(f"p{i}", i % 6) for i in range(29)]
    glances, stares = person("last", 5), person("last", 0, times=29)  # 29 samples in one cell, where one may count
    one, other = (noisy(mechanism, Corpus.of([*others, last]), 30).map for last in (glances, stares))
    assert np.round((other - one) * 30, 6).tolist() == [[1, 0, 0], [0, 0, -1]]


def test_only_the_first_samples_count_where_they_are_bounded() -> None:
    mechanism = LiuMap(epsilon=1, noise="laplace", cap=9, samples=3, **CELLS)
    long, short = person("p", 0, 1, 2, 3, 4, 5), person("p", 0, 1, 2)
    one, other = (noisy(mechanism, Corpus.of([who]), 2).map for who in (long, short))
    assert np.array_equal(one, other)


@pytest.mark.parametrize("noise", NOISES.names())
def test_the_noise_has_the_law_that_is_reported(noise: str) -> None:
    """Kolmogorov-Smirnov at a false-alarm rate of 1 in 10,000, for each of four kinds."""
    value = noisy(LiuMap(epsilon=2, noise=noise, columns=200, rows=100), Corpus.of([person("p")]), 100, seed=11)
    gaussian = stats.norm(scale=value.noise_sd)
    law = gaussian if noise.startswith("gaussian") else stats.laplace(scale=value.noise_sd / math.sqrt(2))
    assert stats.kstest(value.map.ravel(), law.cdf).pvalue > 1e-4


def test_delta_is_the_studys_where_the_mechanism_has_none() -> None:
    assert planned(LiuMap(epsilon="0.5", **CELLS)).guarantee == ApproxDP("0.5", "1e-5")
    assert planned(LiuMap(epsilon="0.5", delta="1e-6", **CELLS)).guarantee == ApproxDP("0.5", "1e-6")
    assert planned(LiuMap(epsilon="0.5", noise="laplace", **CELLS)).guarantee == PureDP("0.5")


def test_the_engine_sums_the_mechanisms_own_kernel_and_more_than_all_is_cut_off() -> None:
    class Asked:
        def sum_over_observers(self, corpus: Corpus, kernel: Kernel, tell: Any = None) -> Summed:
            assert kernel == noise.kernel()
            return Summed(np.full(6, 10**12), 10**9)  # more than so few people can have: cut off, not wrapped around

    noise = GaussianMap(40, 6, 1, delta="1e-5", cap=2, samples=7, grid=Grid(3, 2, PLANE))
    plan = planned(LiuMap(epsilon=1, cap=2, samples=7, **CELLS))
    made = plan.release(people(), engine=cast("Any", Asked()), noise=NoiseSource.seeded(1))
    assert np.abs(made.value.map - 2).max() < 10 * noise.noise_sd


def test_who_did_not_look_is_not_told_from_who_did() -> None:
    for corpus in (people(29), Corpus.of([]), Corpus.of([person("p1", 1, stimulus="other")])):
        made = planned(LiuMap(epsilon=1, **CELLS), 30).release(corpus)
        assert made.value.map.shape == (2, 3)
        assert made.recipe()["made"]["observers"] == 30


# --- a cap that is chosen privately ----------------------------------------------------------------------------------


def test_a_private_choice_of_the_cap_is_part_of_the_guarantee() -> None:
    plan = planned(LiuMap(epsilon="0.1", cap=None, samples=20, **CELLS))
    assert plan.guarantee == ApproxDP("0.1", "1e-5")
    made = plan.release(people())
    assert made.value.cap in (1, 2, 4, 8, 16, 20)
    assert "chosen privately" in " ".join(plan.measurement.summary(made.value))
    recipe = made.recipe()["made"]
    assert Fraction(recipe["epsilon"]) + Fraction(recipe["map"]["epsilon"]) == Fraction("0.1")


def test_with_much_to_spend_the_choice_keeps_what_the_cap_would_lose() -> None:
    corpus = Corpus.of([person(f"p{i}", 0, times=20) for i in range(40)])
    value = noisy(LiuMap(epsilon=100_000, cap=None, samples=20, **CELLS), corpus)
    assert value.cap == 20
    assert value.map[0, 0] == pytest.approx(20, abs=0.1)


# --- what protects nothing -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("some", [{}, {"selected": 10}, {"selected": 60, "replacement": True}])
def test_unprotected_maps_say_so_wherever_they_appear(some: dict[str, Any], tmp_path: Path) -> None:
    plan = planned(UnprotectedLiuMap(**CELLS, **some))
    assert isinstance(plan.guarantee, Unproven)
    assert "nothing is protected" in plan.to_dict()["warnings"][0]
    made = plan.release(people())
    folder = made.save(tmp_path / "map")
    assert "no proven guarantee" in (folder / "release.json").read_text()
    for name in ("statement.txt", "evidence.html", "methods.md"):
        assert "roven" in (folder / name).read_text(), name
    with Ledger.open(tmp_path / "ledger.sqlite", create=True) as ledger:
        ledger.grant("account", ApproxDP(10, "0.1"))
        with pytest.raises(BudgetExceeded):
            plan.release(cast("Any", people()), ledger=ledger, account="account")


def test_the_map_of_everybody_without_noise_is_the_mean() -> None:
    value = noisy(UnprotectedLiuMap(**CELLS), people())
    assert value.map.sum() == 2
    assert value.noise_sd == 0
    capped = noisy(UnprotectedLiuMap(cap=1, **CELLS), Corpus.of([person("p", 0, times=9)]), number=4)
    assert capped.map[0, 0] == 0.25


# --- files -----------------------------------------------------------------------------------------------------------


def test_a_map_is_written_with_its_record(tmp_path: Path) -> None:
    with Ledger.open(tmp_path / "ledger.sqlite", create=True) as ledger:
        ledger.grant("account", ApproxDP(1, "1e-5"))
        made = planned(LiuMap(epsilon=1, **CELLS)).release(people(), ledger=ledger, account="account")
        folder = made.save(tmp_path / "map")
        assert verify(folder, ledger).ok
    assert np.array_equal(np.load(folder / "map.npz")["map"], made.value.map)
    assert pl.read_parquet(folder / "map.parquet").equals(made.to_frame())
    assert made.plot() is not None


def test_facts_that_were_read_from_the_data_are_reported() -> None:
    made = released(LiuMap(epsilon=1, **CELLS), people(), stimulus="page")
    assert [fact.name for fact in made.facts if not fact.declared]


# --- refusals --------------------------------------------------------------------------------------------------------


def test_a_mistyped_stimulus_is_refused_when_planning() -> None:
    with pytest.raises(InputError, match="pagge"):
        planned(LiuMap(epsilon=1, **CELLS), stimulus="pagge")
    with pytest.raises(OptionError, match="one stimulus"):
        study().plan(LiuMap(epsilon=1, **CELLS))


def test_a_secret_number_of_participants_is_refused() -> None:
    shown = (Stimulus(name="page", screen=PLANE),)
    secret = Study(name="pages", participants=Participants(number=40, secret=True), stimuli=shown)
    for mechanism in (LiuMap(epsilon=1, **CELLS), UnprotectedLiuMap(**CELLS)):
        with pytest.raises(OptionError, match="public number"):
            secret.plan(mechanism)


@pytest.mark.parametrize(
    ("wrong", "word"),
    [
        ({"noise": "much"}, "much"),
        ({"noise": "laplace", "delta": "1e-6"}, "delta"),
        ({"cap": None}, "samples"),
        ({"cap": None, "samples": 9, "noise": "laplace"}, "gaussian"),
        ({"cap": 0}, "cap"),
        ({"rows": 2.5}, "rows"),
        ({"epsilon": 0}, "epsilon"),
    ],
)
def test_mechanisms_that_cannot_be_are_refused(wrong: dict[str, Any], word: str) -> None:
    with pytest.raises(OptionError, match=word):
        LiuMap(**{"epsilon": 1, **CELLS, **wrong})


def test_what_cannot_be_for_this_study_is_refused_when_planning() -> None:
    with pytest.raises(PrivacyError, match="1/n"):
        planned(LiuMap(epsilon=1, delta=Fraction(1, 40), **CELLS))
    with pytest.raises(OptionError, match="64 bits"):
        planned(LiuMap(epsilon=10**6, cap=2**50, **CELLS), number=10**4)
    with pytest.raises(OptionError, match="without replacement"):
        planned(UnprotectedLiuMap(selected=41, **CELLS))


class Unread:
    """A corpus that nobody may look at, and an engine that nobody may ask."""

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(f"{name} was read before the charge")


def test_a_refused_release_reads_nothing(tmp_path: Path) -> None:
    plan, unread = planned(LiuMap(epsilon=1, noise="laplace", **CELLS)), cast("Any", Unread())
    with Ledger.open(tmp_path / "ledger.sqlite", create=True) as ledger:
        ledger.grant("study", PureDP(1))
        assert plan.release(people(), ledger=ledger, account="study").receipt is not None
        corpus = tmp_path / "gaze"
        corpus.mkdir()
        (corpus / "_corpus.json").write_text("never read")
        with pytest.raises(BudgetExceeded):
            plan.release(corpus, ledger=ledger, account="study", engine=unread)
