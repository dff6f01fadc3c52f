# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Releases of AOI statistics: their noise, their guarantee, their bad inputs, and groups side by side."""

from __future__ import annotations

import json
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
from gazeveil.aggregate.aoi.mechanism import AoiPlan
from gazeveil.aggregate.aoi.noisy_means import Law, share_out
from gazeveil.aggregate.engine import Kernel, Summed
from gazeveil.arrays import Tell, silent
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
from gazeveil.gaze.corpus import OneByOne
from gazeveil.geometry import Geometry
from gazeveil.privacy.calibration import gaussian_sigma
from gazeveil.privacy.protection import Neighbours
from gazeveil.release.study import Participants, Recordings, Stimulus, Study
from gazeveil.release.study_toml import declared_file
from tests.releasing import planned, released

PLANE = screen(1200, 800, 480, 320, 600)
AREAS = AreasOfInterest((Rectangle("left", 0, 0, 400, 800), Rectangle("middle", 400, 0, 800, 800)), PLANE)
ALL: tuple[Statistic, ...] = tuple(make() for make in STATISTICS.values())


@dataclass(frozen=True)
class Plain(OneByOne):
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
    return AoiStatistics({"page": AREAS}, statistics, **{"epsilon": 1, "delta": 0, **options})


def plan_of(statistics: Any = ALL, observers: int = 20, **options: Any) -> AoiPlan:
    asked = mechanism(statistics, **options)
    return asked.plan_for([("page", AREAS)], PLANE, observers, Neighbours.REPLACE_ONE, asked.delta or Fraction(0))


def table_of(asked: AoiStatistics | GroupComparison, corpus: Corpus, seed: int = 1, **facts: Any) -> pl.DataFrame:
    value = released(asked, corpus, noise=NoiseSource.seeded(seed), engine=Plain(), **facts).value
    assert isinstance(value, pl.DataFrame)
    return value


def test_with_hardly_any_noise_the_truth_comes_out() -> None:
    table = table_of(mechanism(epsilon=10**6), study())
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
    here = released(asked, study(), noise=NoiseSource.seeded(3)).value
    assert here.equals(table_of(asked, study(), seed=3))


def test_several_stimuli_share_one_budget() -> None:
    corpus = Corpus.of([*study().recordings(), recording("p0", "l", "other"), recording("p1", "m", "other")])
    asked = AoiStatistics({"page": AREAS, "other": AREAS}, epsilon=10**6, delta=0)
    table = table_of(asked, corpus).filter(pl.col("stimulus") == "other")
    assert table["estimate"].to_list() == pytest.approx([1 / 20, 1 / 20], abs=1e-3)
    scales = [
        asked.plan_for([(name, AREAS) for name in names], PLANE, 20, Neighbours.REPLACE_ONE, Fraction(0)).noises()[0]
        for names in (("page", "other"), ("page",))
    ]
    assert scales[0].scale == 2 * scales[1].scale


def test_the_guarantee_is_known_before_the_data() -> None:
    assert planned(mechanism(DwellShare()), study()).guarantee == PureDP(1)
    secret = planned(mechanism(DwellShare()), study(), number=9, secret=True)
    assert secret.guarantee == PureDP(1, neighbours="add-remove")
    assert planned(mechanism(ALL, delta="1e-6"), study()).guarantee == ApproxDP(1, "1e-6")
    assert planned(mechanism(ALL, delta=None), study()).guarantee == ApproxDP(1, "1e-5")  # the study's
    release = released(mechanism(DwellShare(), epsilon="0.1"), study(), engine=Plain())
    assert release.guarantee == PureDP("0.1")
    assert release.recipe()["epsilon"] == "0.1"
    assert isinstance(released(mechanism(), study(), noise=NoiseSource.seeded(1)).guarantee, Unproven)


def test_delta_is_spent_only_where_it_buys_less_noise() -> None:
    few = plan_of(DwellShare(), delta="1e-6")
    assert few.guarantee == PureDP(1)
    assert few.noises() == plan_of(DwellShare()).noises()
    together, apart = plan_of(ALL, delta="1e-6").noises(), plan_of(ALL).noises()
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
    for delta in (0, "1e-6"):
        asked = plan_of(ALL, delta=delta)
        cells = sum(question.bounds.cells for question in asked.questions)
        drawn = asked._noised(np.zeros((4000, cells), dtype=np.int64), NoiseSource.seeded(5))
        start = 0
        for noise in asked.noises():
            block = drawn[:, start : start + noise.dimensions]
            assert np.sqrt((block.astype(float) ** 2).mean()) == pytest.approx(noise.sd, rel=0.1)
            start += noise.dimensions


def test_the_prediction_is_what_the_release_tells() -> None:
    asked = mechanism((DwellShare(), TimeToFirstFixation()))
    predicted = planned(asked, study()).measurement.preview()
    assert predicted is not None
    table = table_of(asked, study())
    for row in predicted.to_dicts():
        told = table.filter(pl.col("statistic") == row["statistic"])["noise_sd"]
        assert told.to_list() == pytest.approx([row["noise_sd"]] * len(told))
    assert (predicted["study_reach"] > predicted["noise_sd"]).all()


def test_a_charge_comes_before_the_release(tmp_path: Path) -> None:
    ledger = Ledger.open(tmp_path / "ledger.sqlite", create=True)
    ledger.grant("study", PureDP(1))
    plan = planned(mechanism(DwellShare()), study())
    assert plan.release(study(), ledger=ledger, account="study", engine=Plain()).receipt is not None
    with pytest.raises(BudgetExceeded):
        plan.release(study(), ledger=ledger, account="study", engine=Plain())
    with pytest.raises(LedgerError):
        plan.release(study(), ledger=ledger, account="another", engine=Plain())
    ledger.close()


def test_the_recipe_is_plain_and_names_nobody() -> None:
    groups = GroupComparison(mechanism(DwellShare()), {"a": ["p0", "p1"], "b": ["p2"]})
    text = json.dumps(planned(groups, study()).to_dict())
    assert '"groups": {"a": 2, "b": 1}' in text
    assert "p0" not in text
    assert (
        json.loads(json.dumps(planned(mechanism(ALL), study()).to_dict()))["recipe"]["statistics"][0]["name"] == "dwell"
    )
    assert mechanism(ALL) == mechanism(ALL)
    assert "epsilon=Fraction(1, 1)" in repr(mechanism(ALL))


def test_a_study_without_recordings_or_without_the_stimulus_is_refused_at_planning() -> None:
    with pytest.raises(InputError, match="no recordings"):
        planned(mechanism(), Corpus.of([]))
    with pytest.raises(InputError, match="no stimulus 'page'"):
        planned(mechanism(), Corpus.of([recording("p", "l", "other")]))


def test_gaze_that_is_all_off_screen_is_released_like_any_other() -> None:
    """An error would tell everybody that nobody looked."""
    away = Corpus.of(
        Recording(np.arange(60) / 60, np.full(60, -500.0), np.full(60, 9e9), PLANE, observer=name, stimulus="page")
        for name in ("a", "b")
    )
    table = table_of(mechanism(epsilon=10**6), away)
    assert table.filter(pl.col("statistic") == "dwell")["estimate"].to_list() == pytest.approx([0, 0], abs=1e-3)


def test_one_observer_and_large_epsilon_are_warned_about() -> None:
    told = planned(mechanism(DwellShare(), epsilon=11), study(1)).measurement.warnings()
    assert any("there is one participant" in text for text in told)
    assert any("ε = 11 is next to none" in text for text in told)
    assert any("hides all there is to see in: dwell" in text for text in plan_of(DwellShare(), 5).cautions())
    assert plan_of(DwellShare(), 1000).cautions() == ()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"epsilon": 0}, "epsilon must be greater than 0"),
        ({"epsilon": -1}, "epsilon must be greater than 0"),
        ({"epsilon": float("nan")}, "epsilon"),
        ({"delta": 1}, "delta must lie between 0 and 1"),
        ({"delta": -0.1}, "delta must lie between 0 and 1"),
        ({"delta": 0.05}, "no smaller than one in 20"),
        ({"confidence": 1}, "confidence must be"),
        ({"secret": True}, "number of participants is secret"),
        ({"statistics": (DwellShare(), DwellShare())}, "asked for twice"),
        ({"statistics": ()}, "say which statistics"),
    ],
    ids=str,
)
def test_bad_options_are_refused(options: dict[str, Any], words: str) -> None:
    secret = options.pop("secret", False)
    with pytest.raises(InputError, match=words):
        planned(mechanism(**options), study(), secret=secret)


def test_statistics_that_areas_cannot_have_are_refused() -> None:
    one = AreasOfInterest(AREAS.areas[:1], PLANE)
    with pytest.raises(OptionError, match="has 0 numbers for 1 areas"):
        planned(AoiStatistics({"page": one}, Transitions(), epsilon=1), study())
    many = AreasOfInterest(tuple(Rectangle(str(at), at, 0, at + 1, 1) for at in range(30)), PLANE)
    with pytest.raises(OptionError, match=r"25,230 numbers"):
        planned(AoiStatistics({"page": many}, VisitOrder(), epsilon=1), study())


def test_planes_must_fit() -> None:
    other = Corpus.of([recording("p", "l", geometry=screen(1000, 800, 480, 320, 600))])
    with pytest.raises(GeometryError, match="drawn on 1200"):
        planned(mechanism(DwellShare()), other)
    unsized = Corpus.of([recording("p", "l", geometry=screen(1200, 800))])
    plan = planned(mechanism(FixationCount()), unsized)
    assert [fact.name for fact in plan.facts if fact.assumed] == ["screen size"]
    assert len(table_of(mechanism(DwellShare()), unsized)) == 2


def test_add_remove_divides_by_what_is_declared_and_never_tells_the_number() -> None:
    table = table_of(mechanism(DwellShare(), epsilon=10**6), study(20), number=40, secret=True)
    assert table["estimate"][0] == pytest.approx(0.75 * 30 / 59 / 2, abs=1e-3)


def test_groups_are_compared_side_by_side() -> None:
    corpus = Corpus.of([*(recording(f"e{k}", "l") for k in range(8)), *(recording(f"n{k}", "m") for k in range(4))])
    people = {"expert": [f"e{k}" for k in range(8)], "novice": [f"n{k}" for k in range(4)]}
    asked = GroupComparison(mechanism(DwellShare(), epsilon=10**6), people)
    assert planned(asked, corpus).guarantee == PureDP(10**6)
    table = table_of(asked, corpus)
    told = {(row["group"], row["areas"]): row for row in table.to_dicts()}
    assert told["expert", "left"]["estimate"] == pytest.approx(1, abs=1e-3)
    assert told["novice", "left"]["estimate"] == pytest.approx(0, abs=1e-3)
    assert told["expert − novice", "left"]["estimate"] == pytest.approx(1, abs=1e-3)
    assert told["expert − novice", "middle"]["estimate"] == pytest.approx(-1, abs=1e-3)
    assert told["expert − novice", "left"]["population_low"] < 0.9
    facts = {fact.name: fact for fact in planned(asked, corpus).facts}
    assert facts["groups"].value == {"expert": 8, "novice": 4}
    assert facts["groups"].declared


@pytest.mark.parametrize("engine", [Plain(), "local"])
def test_a_group_that_never_saw_the_stimulus_gives_zeros_and_no_error(engine: Plain | str) -> None:
    # whether one person saw it must not decide between a table and an error
    novices = [Recording(np.arange(3) / 10, np.ones(3), np.ones(3), PLANE, f"n{k}", "another.png") for k in range(4)]
    corpus = Corpus.of([*(recording(f"e{k}", "l") for k in range(4)), *novices])
    people = {name: [f"{name}{k}" for k in range(4)] for name in "en"}
    asked = GroupComparison(mechanism(DwellShare(), epsilon=10**6), people)
    table = released(asked, corpus, noise=NoiseSource.seeded(1), engine=engine).value
    told = {(row["group"], row["areas"]): row["estimate"] for row in table.to_dicts()}
    assert told["e", "left"] == pytest.approx(1, abs=1e-3)
    assert told["n", "left"] == pytest.approx(0, abs=1e-3)


def test_a_difference_of_times_is_told_in_seconds() -> None:
    corpus = Corpus.of([*(recording(f"e{k}", "l") for k in range(4)), *(recording(f"n{k}", "m") for k in range(4))])
    people = {name: [f"{name}{k}" for k in range(4)] for name in "en"}
    table = table_of(GroupComparison(mechanism(TimeToFirstFixation(within=3), epsilon=10**6), people), corpus)
    told = {(row["group"], row["areas"]): row for row in table.to_dicts()}
    assert told["e", "left"]["estimate"] == pytest.approx(0, abs=0.02)
    assert told["n", "left"]["estimate"] == pytest.approx(3, abs=0.02)
    row = told["e − n", "left"]
    assert row["estimate"] == pytest.approx(-3, abs=0.02)
    assert row["study_low"] <= row["estimate"] <= row["study_high"]


def test_members_who_are_absent_count_as_absent() -> None:
    corpus = Corpus.of([recording("e0", "l"), recording("n0", "m")])
    asked = GroupComparison(mechanism(DwellShare(), epsilon=10**6), {"e": ["e0", "e1"], "n": ["n0", "nobody"]})
    told = {(row["group"], row["areas"]): row["estimate"] for row in table_of(asked, corpus).to_dicts()}
    assert told["e", "left"] == pytest.approx(0.5, abs=1e-3)  # of two who are declared, one is there
    assert told["n", "middle"] == pytest.approx(0.5, abs=1e-3)


def test_the_study_may_declare_groups_and_areas(tmp_path: Path) -> None:
    AREAS.to_json(tmp_path / "areas.json")
    corpus = Corpus.of([*(recording(f"e{k}", "l") for k in range(3)), *(recording(f"n{k}", "m") for k in range(2))])
    people = {"e0": "expert", "e1": "expert", "e2": "expert", "n0": "novice", "n1": "novice"}
    declared = Study(
        name="s",
        participants=Participants(roster=tuple(people), withdrawn=("e2",)),
        stimuli=(Stimulus(name="page", screen=PLANE, areas=declared_file(tmp_path / "areas.json")),),
        recordings=Recordings(groups=people),
    )
    plan = declared.plan(GroupComparison(AoiStatistics(epsilon=10**6, delta=0)))
    assert plan.measurement.groups == {"expert": {"e0", "e1"}, "novice": {"n0", "n1"}}  # type: ignore[attr-defined]
    table = plan.release(corpus, noise=NoiseSource.seeded(1)).value
    told = {(row["group"], row["areas"]): row["estimate"] for row in table.to_dicts()}
    assert told["expert", "left"] == pytest.approx(1, abs=1e-3)
    assert told["novice", "left"] == pytest.approx(0, abs=1e-3)
    (tmp_path / "areas.json").write_text("{}")
    with pytest.raises(FileFormatError, match="the file that the study declares"):
        declared.plan(AoiStatistics(epsilon=1))
    with pytest.raises(OptionError, match="no stimulus has areas"):
        Study.observed_in(corpus).plan(AoiStatistics(epsilon=1))


@pytest.mark.parametrize(
    ("groups", "facts", "error", "words"),
    [
        ({"a": ["p1"]}, {}, OptionError, "at least two groups"),
        (None, {}, OptionError, "at least two groups"),
        ({"a": ["p1"], "b": []}, {}, OptionError, "whose data"),
        ({"a": ["p1"], "b": ["p1"]}, {}, CannotCompose, "more than one release"),
        ({"a": ["p\u00e9"], "b": ["pe\u0301"]}, {}, CannotCompose, "more than one release"),
        ({"a": ["p1"], "b": ["p2"]}, {"number": 5, "secret": True}, OptionError, "makes public who takes part"),
    ],
)
def test_bad_groups_are_refused(groups: Any, facts: Any, error: type[GazeveilError], words: str) -> None:
    with pytest.raises(error, match=words):
        planned(GroupComparison(mechanism(), groups), study(), **facts)


def test_groups_are_read_from_a_table(tmp_path: Path) -> None:
    path = tmp_path / "groups.csv"
    path.write_text("group,observer,age\nexpert,007,20\nnovice,b,\nexpert,c,30\n")
    assert read_groups(path) == {"expert": {"007", "c"}, "novice": {"b"}}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("observer,kind\na,b\n", "column group: expected a column of this name"),
        ("observer,group\na,x\na,y\n", "line 3, column observer: expected every participant once, found 'a' again"),
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


def test_a_comparison_says_that_its_members_are_public_by_name() -> None:
    """A swap to a name of another group would be two changes: the statement names what neighbours keep."""
    asked = GroupComparison(mechanism(DwellShare()), {"a": ["p0", "p1"], "b": ["p2"]})
    facts = {fact.name: fact.value for fact in planned(asked, study(3)).facts}
    assert facts["groups"] == {"a": 2, "b": 1}
    assert "keep that name" in facts["members of groups"]
    assert "members of groups" not in {fact.name for fact in planned(mechanism(DwellShare()), study(3)).facts}
