# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Releases of AOI statistics: their noise, their promise, their bad inputs, and groups side by side."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from gazeveil import ApproxDP, Corpus, Ledger, NoiseSource, PureDP, Recording, Unproven, screen
from gazeveil.aggregate.aoi import (
    STATISTICS,
    AoiStatistics,
    DwellShare,
    FixationCount,
    GroupComparison,
    Statistic,
    TimeToFirstFixation,
    Transitions,
    VisitOrder,
    read_groups,
)
from gazeveil.aggregate.aoi.noise import Law, share_out
from gazeveil.aggregate.engine import Kernel, Summed
from gazeveil.errors import (
    BudgetExceeded,
    CannotCompose,
    FileFormatError,
    GazeveilError,
    GeometryError,
    InputError,
    LedgerError,
    OptionError,
)
from gazeveil.gaze.aoi import AreasOfInterest, Rectangle
from gazeveil.gaze.geometry import Geometry
from gazeveil.privacy.calibrate import gaussian_sigma
from gazeveil.privacy.unit import Neighbours
from gazeveil.types import Tell, silent

PLANE = screen(1200, 800, 480, 320, 600)
AREAS = AreasOfInterest((Rectangle("left", 0, 0, 400, 800), Rectangle("middle", 400, 0, 800, 800)), PLANE)
ALL: tuple[Statistic, ...] = tuple(make() for make in STATISTICS)


@dataclass(frozen=True)
class Plain:
    """The simplest engine there is."""

    def sum_over_observers(self, corpus: Corpus, kernel: Kernel, tell: Tell = silent) -> Summed:
        total, observers = np.zeros(kernel.size, dtype=np.int64), 0
        table = corpus.scan().collect()
        for group in table.partition_by("observer", maintain_order=True):
            total += kernel({name: group[name].to_numpy() for name in kernel.columns})
            observers += 1
        return Summed(total, observers)


def recording(observer: str, path: str, stimulus: str = "page", geometry: Geometry = PLANE) -> Recording:
    x = np.repeat([{"l": 200.0, "m": 600.0, "e": 1100.0}[letter] for letter in path], 30)
    return Recording(np.arange(len(x)) / 60, x, np.full(len(x), 400.0), geometry, observer=observer, stimulus=stimulus)


def study(observers: int = 20) -> Corpus:
    return Corpus.of(recording(f"p{number}", "lm" if number % 4 else "me") for number in range(observers))


def mechanism(statistics: Any = ALL, **options: Any) -> AoiStatistics:
    return AoiStatistics({"page": AREAS}, statistics, **{"epsilon": 1, **options})


def released(asked: AoiStatistics | GroupComparison, corpus: Corpus, seed: int = 1) -> pl.DataFrame:
    value = asked.release(corpus, noise=NoiseSource.seeded(seed), engine=Plain()).value
    assert isinstance(value, pl.DataFrame)
    return value


def test_with_hardly_any_noise_the_truth_comes_out() -> None:
    table = released(mechanism(epsilon=10**6), study())
    told = {(row["statistic"], row["areas"]): row["estimate"] for row in table.to_dicts()}
    assert told["dwell", "left"] == pytest.approx(0.75 * 30 / 59, abs=1e-3)
    assert told["dwell", "middle"] == pytest.approx((0.75 * 29 + 0.25 * 30) / 59, abs=1e-3)
    assert told["fixations", "left"] == pytest.approx(0.75, abs=1e-3)
    assert told["fixations", "middle"] == pytest.approx(1, abs=1e-3)
    assert told["first-fixation", "left"] == pytest.approx(0.75 * 0 + 0.25 * 5, abs=1e-2)
    assert told["first-fixation", "middle"] == pytest.approx(0.75 * 0.5, abs=2e-2)
    assert told["reached", "left"] == pytest.approx(0.75, abs=1e-3)
    assert told["transitions", "left → middle"] == pytest.approx(0.75, abs=1e-3)
    assert told["visit-order", "left → middle → left"] == pytest.approx(0, abs=1e-3)


def test_the_local_engine_gives_the_same_integers() -> None:
    asked = mechanism(epsilon=10**6)
    here = asked.release(study(), noise=NoiseSource.seeded(3)).value
    assert here.equals(asked.release(study(), noise=NoiseSource.seeded(3), engine=Plain()).value)


def test_several_stimuli_share_one_budget() -> None:
    corpus = Corpus.of([*study().recordings(), recording("p0", "l", "other"), recording("p1", "m", "other")])
    asked = AoiStatistics({"page": AREAS, "other": AREAS}, epsilon=10**6)
    table = released(asked, corpus).filter(pl.col("stimulus") == "other")
    assert table["estimate"].to_list() == pytest.approx([1 / 20, 1 / 20], abs=1e-3)
    alone = AoiStatistics({"page": AREAS}, epsilon=10**6)
    assert asked.noises()[0].scale == 2 * alone.noises()[0].scale


def test_the_promise_is_known_before_the_data() -> None:
    assert mechanism(DwellShare()).guarantee == PureDP(1)
    assert mechanism(DwellShare(), neighbours="add-remove", observers=9).guarantee == PureDP(1, neighbours="add-remove")
    assert mechanism(ALL, delta="1e-6").guarantee == ApproxDP(1, "1e-6")
    release = mechanism(DwellShare()).release(study(), engine=Plain())
    assert release.guarantee == PureDP(1)
    assert isinstance(mechanism().release(study(), noise=NoiseSource.seeded(1), engine=Plain()).guarantee, Unproven)


def test_delta_is_spent_only_where_it_buys_less_noise() -> None:
    few = mechanism(DwellShare(), delta="1e-6")
    assert few.guarantee == PureDP(1)
    assert few.noises() == mechanism(DwellShare()).noises()
    together, apart = mechanism(ALL, delta="1e-6").noises(), mechanism(ALL).noises()
    assert {noise.law for noise in together} == {Law.GAUSSIAN}
    assert np.prod([a.sd / b.sd for a, b in zip(together, apart, strict=True)]) < 1


@pytest.mark.parametrize("neighbours", list(Neighbours))
def test_gaussian_noise_of_all_statistics_spends_one_gaussian_mechanism(neighbours: Neighbours) -> None:
    bounds = [statistic.bounds(6) for statistic in ALL]
    noises = share_out(bounds, Fraction(1), Fraction(1, 10**6), neighbours)
    assert {noise.law for noise in noises} == {Law.GAUSSIAN}
    square = sum(
        each.l2_square(neighbours) / Fraction(noise.scale) ** 2 for each, noise in zip(bounds, noises, strict=True)
    )
    allowed = 1 / Fraction(gaussian_sigma(1, "1e-6")) ** 2
    assert allowed * Fraction(999_999, 1_000_000) < square <= allowed


@pytest.mark.parametrize("neighbours", list(Neighbours))
def test_pure_noise_of_all_statistics_spends_epsilon(neighbours: Neighbours) -> None:
    bounds = [statistic.bounds(3) for statistic in ALL]
    spent = Fraction(0)
    for each, noise in zip(bounds, share_out(bounds, Fraction(1), None, neighbours), strict=True):
        if noise.law is Law.LAPLACE:
            spent += each.l1(neighbours) / Fraction(noise.scale)
        else:
            assert noise.law is Law.RADIAL
            loss = Fraction(1, len(bounds))
            assert loss**2 * Fraction(noise.scale) ** 2 >= each.l2_square(neighbours)
            spent += loss
    assert Fraction(999_999, 1_000_000) < spent <= 1


def test_the_noise_has_the_stated_spread() -> None:
    """The variance of 4,000 draws of each statistic's noise is within 10 %: a false alarm below one in 10^5."""
    for delta in (None, "1e-6"):
        asked = mechanism(ALL, delta=delta)
        cells = sum(question.bounds.cells for question in asked.questions)
        drawn = asked.measure(np.zeros((4000, cells), dtype=np.int64), NoiseSource.seeded(5))
        start = 0
        for noise in asked.noises():
            block = drawn[:, start : start + noise.dimensions]
            assert np.sqrt((block.astype(float) ** 2).mean()) == pytest.approx(noise.sd, rel=0.1)
            start += noise.dimensions


def test_the_prediction_is_what_the_release_tells() -> None:
    asked = mechanism((DwellShare(), TimeToFirstFixation()))
    predicted = asked.predicted_error(20)
    table = released(asked, study())
    for row in predicted.to_dicts():
        told = table.filter(pl.col("statistic") == row["statistic"])["noise_sd"]
        assert told.to_list() == pytest.approx([row["noise_sd"]] * len(told))
    assert (predicted["study_reach"] > predicted["noise_sd"]).all()


def test_a_charge_comes_before_the_release(tmp_path: Path) -> None:
    ledger = Ledger.open(tmp_path / "ledger.sqlite", create=True)
    ledger.grant("study", PureDP(1))
    release = mechanism(DwellShare()).release(study(), ledger=ledger, dataset="study", engine=Plain())
    assert release.receipt is not None
    with pytest.raises(BudgetExceeded):
        mechanism(DwellShare()).release(study(), ledger=ledger, dataset="study", engine=Plain())
    with pytest.raises(LedgerError):
        mechanism(DwellShare()).release(study(), ledger=ledger, dataset="another", engine=Plain())
    ledger.close()


def test_the_recipe_is_plain_and_names_nobody() -> None:
    groups = GroupComparison(mechanism(DwellShare()), {"a": ["p0", "p1"], "b": ["p2"]})
    text = json.dumps(groups.to_dict())
    assert '"groups": {"a": 2, "b": 1}' in text
    assert "p0" not in text
    assert json.loads(json.dumps(mechanism(ALL).to_dict()))["statistics"][0]["name"] == ALL[0].name
    assert mechanism(ALL) == mechanism(ALL)
    assert "epsilon=Fraction(1, 1)" in repr(mechanism(ALL))


@pytest.mark.parametrize(
    ("corpus", "words"),
    [
        (Corpus.of([recording("p", "")]), "no observer"),
        (Corpus.of([]), "no observer"),
        (study().select(stimulus="nothing"), "no observer"),
        (Corpus.of([recording("p", "l", "other")]), "no stimulus 'page'"),
    ],
    ids=["zero samples", "no recordings", "nothing selected", "stimulus missing"],
)
def test_nothing_to_release_is_told(corpus: Corpus, words: str) -> None:
    with pytest.raises(InputError, match=words):
        released(mechanism(), corpus)


def test_gaze_that_is_all_off_screen_is_released_like_any_other() -> None:
    """An error would tell everybody that nobody looked."""
    away = Corpus.of(
        Recording(np.arange(60) / 60, np.full(60, -500.0), np.full(60, 9e9), PLANE, observer=name, stimulus="page")
        for name in ("a", "b")
    )
    table = released(mechanism(epsilon=10**6), away)
    assert table.filter(pl.col("statistic") == "dwell")["estimate"].to_list() == pytest.approx([0, 0], abs=1e-3)


def test_one_observer_and_large_epsilon_are_warned_about() -> None:
    told = mechanism(DwellShare(), epsilon=11).release(study(1), engine=Plain()).provenance["cautions"]
    assert any("there is one observer" in text for text in told)
    assert any("ε = 11 is weak" in text for text in told)
    assert any("hides all there is to see in: dwell" in text for text in mechanism(DwellShare()).cautions(5))
    assert mechanism(DwellShare()).cautions(1000) == []


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"epsilon": 0}, "epsilon must be greater than 0"),
        ({"epsilon": -1}, "epsilon must be greater than 0"),
        ({"epsilon": float("nan")}, "epsilon"),
        ({"delta": 1}, "delta must lie between 0 and 1"),
        ({"delta": -0.1}, "delta must lie between 0 and 1"),
        ({"delta": 0.05}, "it must be below 1/20"),
        ({"confidence": 1}, "confidence must be"),
        ({"neighbours": "cousins"}, "neighbours are replace-one or add-remove"),
        ({"neighbours": "add-remove"}, "number of observers is protected"),
        ({"observers": 19}, "19 observers are declared, but there are 20"),
        ({"statistics": (DwellShare(), DwellShare())}, "asked for twice"),
        ({"statistics": ()}, "say which statistics"),
    ],
    ids=str,
)
def test_bad_options_are_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        released(mechanism(**options), study())


def test_statistics_that_areas_cannot_have_are_refused() -> None:
    one = AreasOfInterest(AREAS.areas[:1], PLANE)
    with pytest.raises(OptionError, match="has 0 numbers for 1 areas"):
        AoiStatistics({"page": one}, Transitions(), epsilon=1)
    many = AreasOfInterest(tuple(Rectangle(str(at), at, 0, at + 1, 1) for at in range(30)), PLANE)
    with pytest.raises(OptionError, match=r"25,230 numbers"):
        AoiStatistics({"page": many}, VisitOrder(), epsilon=1)


def test_planes_must_fit() -> None:
    other = Corpus.of([recording("p", "l", geometry=screen(1000, 800, 480, 320, 600))])
    with pytest.raises(GeometryError, match="drawn on 1200"):
        released(mechanism(DwellShare()), other)
    unsized = Corpus.of([recording("p", "l", geometry=screen(1200, 800))])
    with pytest.raises(GeometryError, match="fixations need degrees"):
        released(mechanism(FixationCount()), unsized)
    assert len(released(mechanism(DwellShare()), unsized)) == 2


def test_add_remove_divides_by_what_is_declared_and_never_tells_the_number() -> None:
    asked = mechanism(DwellShare(), neighbours="add-remove", observers=40, epsilon=10**6)
    table = released(asked, study(20))
    assert table["estimate"][0] == pytest.approx(0.75 * 30 / 59 / 2, abs=1e-3)
    assert asked.release(study(20), engine=Plain()).provenance["observers"] == 40


def test_groups_are_compared_side_by_side() -> None:
    corpus = Corpus.of([*(recording(f"e{k}", "l") for k in range(8)), *(recording(f"n{k}", "m") for k in range(4))])
    people = {"expert": [f"e{k}" for k in range(8)], "novice": [f"n{k}" for k in range(4)]}
    asked = GroupComparison(mechanism(DwellShare(), epsilon=10**6), people)
    assert asked.guarantee == PureDP(10**6)
    table = released(asked, corpus)
    told = {(row["group"], row["areas"]): row for row in table.to_dicts()}
    assert told["expert", "left"]["estimate"] == pytest.approx(1, abs=1e-3)
    assert told["novice", "left"]["estimate"] == pytest.approx(0, abs=1e-3)
    assert told["expert − novice", "left"]["estimate"] == pytest.approx(1, abs=1e-3)
    assert told["expert − novice", "middle"]["estimate"] == pytest.approx(-1, abs=1e-3)
    assert told["expert − novice", "left"]["population_low"] < 0.9
    assert asked.release(corpus, engine=Plain()).provenance["observers"] == {"expert": 8, "novice": 4}


@pytest.mark.parametrize("engine", [Plain(), None])
def test_a_group_that_never_saw_the_stimulus_gives_zeros_and_no_error(engine: Plain | None) -> None:
    # whether one person saw it must not decide between a table and an error
    novices = [Recording(np.arange(3) / 10, np.ones(3), np.ones(3), PLANE, f"n{k}", "another.png") for k in range(4)]
    corpus = Corpus.of([*(recording(f"e{k}", "l") for k in range(4)), *novices])
    people = {name: [f"{name}{k}" for k in range(4)] for name in "en"}
    asked = GroupComparison(mechanism(DwellShare(), epsilon=10**6), people)
    table = asked.release(corpus, noise=NoiseSource.seeded(1), engine=engine).value
    told = {(row["group"], row["areas"]): row["estimate"] for row in table.to_dicts()}
    assert told["e", "left"] == pytest.approx(1, abs=1e-3)
    assert told["n", "left"] == pytest.approx(0, abs=1e-3)


def test_a_difference_of_times_is_told_in_seconds() -> None:
    corpus = Corpus.of([*(recording(f"e{k}", "l") for k in range(4)), *(recording(f"n{k}", "m") for k in range(4))])
    people = {name: [f"{name}{k}" for k in range(4)] for name in "en"}
    table = released(GroupComparison(mechanism(TimeToFirstFixation(within=3), epsilon=10**6), people), corpus)
    told = {(row["group"], row["areas"]): row for row in table.to_dicts()}
    assert told["e", "left"]["estimate"] == pytest.approx(0, abs=0.02)
    assert told["n", "left"]["estimate"] == pytest.approx(3, abs=0.02)
    row = told["e − n", "left"]
    assert row["estimate"] == pytest.approx(-3, abs=0.02)
    assert row["study_low"] <= row["estimate"] <= row["study_high"]


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda: GroupComparison(mechanism(), {"a": ["p1"]}), OptionError, "at least two groups"),
        (lambda: GroupComparison(mechanism(), {"a": ["p1"], "b": []}), OptionError, "whose data"),
        (lambda: GroupComparison(mechanism(), {"a": ["p1"], "b": ["p1"]}), CannotCompose, "more than one release"),
        (
            lambda: GroupComparison(mechanism(neighbours="add-remove", observers=5), {"a": ["p1"], "b": ["p2"]}),
            OptionError,
            "makes public who took part",
        ),
        (lambda: GroupComparison(mechanism(observers=5), {"a": ["p1"], "b": ["p2"]}), OptionError, "do not declare"),
        (
            lambda: released(GroupComparison(mechanism(), {"a": ["p1"], "b": ["nobody"]}), study()),
            InputError,
            "'nobody' of group 'b' is not in",
        ),
    ],
)
def test_bad_groups_are_refused(make: Callable[[], object], error: type[GazeveilError], words: str) -> None:
    with pytest.raises(error, match=words):
        make()


def test_groups_are_read_from_a_table(tmp_path: Path) -> None:
    path = tmp_path / "groups.csv"
    path.write_text("group,observer,age\nexpert,007,20\nnovice,b,\nexpert,c,30\n")
    assert read_groups(path) == {"expert": {"007", "c"}, "novice": {"b"}}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("observer,kind\na,b\n", "column group: expected a column of this name"),
        ("observer,group\na,x\na,y\n", "line 3, column observer: expected everybody once, found 'a' again"),
        ("observer,group\na,\n", "line 2, column group: expected a name, found nothing"),
        ("", "expected a CSV file"),
    ],
)
def test_a_table_of_groups_that_is_broken_says_where(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "groups.csv"
    path.write_text(text)
    with pytest.raises(FileFormatError, match=words):
        read_groups(path)
    with pytest.raises(InputError, match="cannot read"):
        read_groups(tmp_path / "none.csv")
