# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Every sentence of a statement is on a list, with the program that tries to refute it.

A sentence that is not on the list fails: whoever writes a new one says here what would refute it, or that it claims
nothing: it says what is not protected (`ADMITS`), or what is compared (`DEFINES`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from gazeveil.aggregate.aoi import GroupComparison
from gazeveil.geometry import screen
from gazeveil.privacy.composition import guarantee_after_noise
from gazeveil.privacy.guarantee import ApproxDP, GazeStreamDP, Guarantee, PureDP, Unproven, ZeroConcentratedDP
from gazeveil.privacy.protection import FeatureSeries, OneRecording, StretchOfGaze, WindowOfGaze
from gazeveil.privacy.statement import StatedFact, Statement, neighbours_in_words, statement
from gazeveil.release.plan import Plan
from gazeveil.release.release import Release
from gazeveil.release.study import Participants, Study
from gazeveil.samples.identification import table
from gazeveil.samples.recipes import preset
from gazeveil.samples.space import Screen, Sphere
from gazeveil.samples.stream import StreamMechanism
from tests.release import test_aggregate_products as aggregate
from tests.release import test_feature_series as series
from tests.release import test_veiled_recordings_product as veiled
from tests.statements import test_refuting as programs

ADMITS, DEFINES = "admits", "defines"
REPLACED = programs.test_no_conclusion_is_likelier_with_one_participant_replaced_than_the_statement_says
ONE_WINDOW = programs.test_paths_that_differ_everywhere_are_told_apart_in_one_window_by_epsilon_at_most
ADD_UP = programs.test_windows_add_up_as_the_table_says
LEVELS = programs.test_no_level_is_said_to_protect_as_much_as_a_stronger_one_that_was_measured
LIKELY = programs.test_a_conclusion_becomes_likelier_by_the_factor_and_its_odds_may_change_by_the_square
DELTA = programs.test_a_release_differs_from_one_without_exceptions_by_delta_at_most

FACTOR = r"of at most e\^# = #"
WITHIN = "within one window of # s, there by at most # .+ at each sample, and nowhere else"
SENTENCES: dict[str, Any] = {
    r"What is protected: everything that one participant contributed\.": REPLACED,
    r"What is protected: (one recording|any # seconds|all features|blinks) of .+\.": REPLACED,
    r"What is protected: where one participant looked during any .+\.": ONE_WINDOW,
    r"Against whom: anyone who sees what was released but not the noise that went into it, .+ participants\.": (
        programs.test_whoever_knows_the_noise_learns_the_gaze_so_the_statement_excepts_them
    ),
    rf"How much: Whatever anyone may conclude or do, it becomes more or less likely by a factor {FACTOR} compared "
    r"with any other data in place of (yours|what is protected)\.": LIKELY,
    rf"How much: Whatever anyone may conclude or do, it becomes more or less likely by a factor {FACTOR} compared "
    rf"with data without (you|one recording of yours), and {FACTOR} compared with any other data in place of .+\.": (
        REPLACED
    ),
    r"For example, someone who knows all other data and was undecided whether something is true of you \(# %\) could "
    r"become at most # % and at least # % sure of it\.": (
        programs.test_nobody_who_knows_all_other_data_comes_to_believe_more_than_the_statement_says
    ),
    r"For example, .+ could become all but certain\.": ADMITS,
    rf"How much: The odds between your gaze path and another change by a factor {FACTOR} if the two differ only "
    rf"{WITHIN}\.": ONE_WINDOW,
    r"For example, someone who was undecided between two such paths \(# %\) could become at most # % and at least # % "
    r"sure of one of them\.": ONE_WINDOW,
    r"That is a [a-z ]+ guarantee( for one window)?\.": DEFINES,
    r"Such a guarantee protects next to nothing( for one window)?\.": ADMITS,
    r"The guarantee compares any two (data sets|versions of one recording).+\.": DEFINES,
    r"The number of (participants|recordings) is public\.": ADMITS,
    r"Windows add up over time\.": ADMITS,
    r"Two paths that differ for longer than # s are as many windows apart as .+ counts\.": ADD_UP,
    r"For a difference that lasts # second: .+; # minute: .+; # hour: .+\.": ADD_UP,
    r"A difference of twice the distance counts twice\.": (
        programs.test_a_difference_of_twice_the_distance_counts_twice
    ),
    r"For any two data sets that are compared, this release is like one that keeps this without exception, but for a "
    r"chance of at most # in #, in which the guarantee fails and more may be learned\.": DELTA,
    r"The exact guarantee is ρ = #; at another δ the factor differs\.": (
        programs.test_at_another_chance_the_factor_is_another
    ),
    r"When gaze was recorded is not hidden\.": ADMITS,
    r"The guarantee compares gaze that is missing at the same times: that it was missing, as in a blink, may show, "
    r"and a long absence does\.": ADMITS,
    r"Each recording counts by itself: a difference that continues in another one counts there again\.": (
        programs.test_a_difference_that_goes_on_in_another_recording_counts_there_again
    ),
    r"Who you are is not protected: .+ you may be recognised by them\.": (
        programs.test_paths_that_differ_for_an_hour_are_told_apart_for_certain_so_identity_is_not_claimed
    ),
    r"Each such part of your data is protected by itself: what shows in several, .+\.": ADMITS,
    r"What holds for people in general is not hidden, and may hold for you too\.": (
        programs.test_whoever_knows_nobody_learns_of_you_from_people_in_general_so_the_statement_excepts_it
    ),
    r"Every further release from the same data adds to what can be learned\.": ADMITS,
    r"How long it took to make this release is not protected\.": ADMITS,
    r"In our tests, behind this mechanism at this level, .+\.": LEVELS,
    r"It then got # s of one of them, and identified them in # of # attempts .+\.": LEVELS,
    r"This level was not measured\.": ADMITS,
    r"In our tests, behind the nearest level measured that is no stronger, .+\.": LEVELS,
    r"How often participants are identified behind this mechanism at this level was not measured\.": ADMITS,
    r"In our tests on raw gaze, .+\.": (
        programs.test_what_was_measured_without_a_veil_is_never_less_than_the_strongest_attacker_there
    ),
    r"On raw gaze it was right in #\.": ADMITS,
    r"This is what known attackers achieved, not a bound: others, or more gaze, may achieve more\.": ADMITS,
    r"This and all earlier releases from the same budget together keep to .+\.": (
        programs.test_all_releases_of_an_account_together_keep_to_the_total
    ),
    r"Together with what was released before, nothing is proven: .+\.": ADMITS,
    r"There is no proven guarantee: .+\.": ADMITS,
    r"(How much: )?The guarantee is so weak that it protects from nothing\.": ADMITS,
    r"Treat this release as if it could reveal what went into it\.": ADMITS,
    # the same in one sentence, where a gateway says it
    rf"Whatever anyone knew before but the noise, (replacing|adding or removing) .+ makes any conclusion more or less "
    rf"likely by a factor {FACTOR}\.": LIKELY,
    rf"Whatever anyone knew before but the noise, changing where one participant looked during any .+ makes any "
    rf"conclusion more or less likely by a factor {FACTOR}\.": ONE_WINDOW,
    rf"Whatever anyone knew before but the noise, .+ likely by a factor {FACTOR}, as in a release that keeps this "
    r"without exception, but for a chance of at most # \(about # in #\), in which more may be learned\.": DELTA,
    r"\(ρ = #; other chances give other factors\.\)": programs.test_at_another_chance_the_factor_is_another,
    r"Whatever anyone knew before but the noise, .+ by a factor of at most e\^#, which is no protection\.": ADMITS,
    r"Nothing is guaranteed: .+\.": ADMITS,
    r"Who you are is not protected\.": ADMITS,
}

OTHER_SCREEN = screen(1024, 768, 300, 200, 700)
STUDYS = {"participants", "stimuli", "neighbours", "recordings"}
WINDOW = WindowOfGaze("0.5", 60)
GUARANTEES: list[Guarantee] = [
    PureDP(1),
    PureDP(3),
    PureDP(12),
    PureDP(1000),
    ApproxDP(1, "1e-6"),
    ApproxDP(1, 1),
    ZeroConcentratedDP("0.02"),
    PureDP(1, neighbours="add-remove"),
    PureDP(1, unit=OneRecording()),
    PureDP(1, unit=OneRecording(), neighbours="add-remove"),
    PureDP(1, unit=StretchOfGaze(10)),
    PureDP(1, unit=FeatureSeries()),
    PureDP(1, unit=FeatureSeries(3, ("blinks",))),
    GazeStreamDP(3, "0.5", 60),
    GazeStreamDP(12, "0.5", 60),
    GazeStreamDP(1, "1.5", 2, "deg"),
    ApproxDP(1, "1e-6", unit=WINDOW),
    ZeroConcentratedDP("0.01", unit=WINDOW),
    Unproven("the points that pass are true gaze"),
    guarantee_after_noise(PureDP(1), None),
]
MEASURED = next(each.mechanism for each in table().rows if isinstance(each.mechanism, StreamMechanism))
VEILS = [
    MEASURED,
    MEASURED.with_guarantee(radius=MEASURED.privacy_level["radius"] * 2),
    preset("mpmu", Screen(1280.0, 720.0)),
    preset("gaussian-high", Sphere()),
]


@cache
def plans() -> dict[str, Plan]:
    """Return a plan of every product."""
    made = {name: aggregate.declared().plan(how, **which) for name, (how, which) in aggregate.MECHANISMS.items()}
    return {**made, **series.plans(), "veiled": veiled.declared().plan(veiled.CLOCK)}


def statement_of(plan: Plan) -> Statement:
    """Return what a release of a plan would say, with secure noise."""
    measurement = plan.measurement
    return Release(
        value=None, guarantee=measurement.guarantee, measurement=measurement, receipt=None, id="", date=""
    ).statement()


def statements() -> Iterator[tuple[str, Statement]]:
    yield from ((name, statement_of(plan)) for name, plan in plans().items())
    for guarantee in GUARANTEES:
        for total in (None, PureDP(4), Unproven("a seed")):
            yield repr(guarantee), statement(guarantee, total=total)
    for veil in VEILS:
        words = table().look_up(veil).in_words()
        yield veil.in_words(), statement(veil.guarantee, identification=words)


def sentences_of(text: str) -> list[str]:
    """Return the sentences of a text, numbers replaced by #."""
    plain = re.sub(r"\d+(,\d{3})*(\.\d+)?(e-?\d+)?", "#", text)
    return [part for part in re.split(r"(?<=\.)\)? (?=[A-Z(])", plain) if part]


def unknown_in(text: str) -> list[str]:
    return [
        sentence
        for sentence in sentences_of(text)
        if sum(re.fullmatch(pattern, sentence) is not None for pattern in SENTENCES) != 1
    ]


def test_every_sentence_of_every_statement_is_on_the_list_once() -> None:
    found = {sentence for _, said in statements() for sentence in unknown_in(replace(said, facts=()).paragraph())}
    assert found == set()


def test_every_sentence_that_a_gateway_says_is_on_the_list_once() -> None:
    said = [guarantee.in_words() for guarantee in GUARANTEES] + [table().look_up(veil).warning() for veil in VEILS]
    assert {sentence for text in said for sentence in unknown_in(text)} == set()


def test_every_sentence_on_the_list_is_said_somewhere() -> None:
    said = {sentence for _, one in statements() for sentence in sentences_of(replace(one, facts=()).paragraph())}
    said |= {sentence for guarantee in GUARANTEES for sentence in sentences_of(guarantee.in_words())}
    said |= {sentence for veil in VEILS for sentence in sentences_of(table().look_up(veil).warning())}
    idle = [pattern for pattern in SENTENCES if not any(re.fullmatch(pattern, sentence) for sentence in said)]
    assert idle == []


def test_a_sentence_that_nobody_tried_to_refute_would_be_found() -> None:
    assert unknown_in("Nobody can find out who you are. Windows add up over time.") == [
        "Nobody can find out who you are."
    ]


@pytest.mark.parametrize("program", [each for each in SENTENCES.values() if each not in (ADMITS, DEFINES)])
def test_every_program_on_the_list_is_run_by_the_tests(program: Any) -> None:
    inner = getattr(program, "hypothesis", None)
    name = program.__name__ if inner is None else inner.inner_test.__name__
    assert getattr(programs, name) is program
    assert name.startswith("test_")


def test_every_statement_with_a_guarantee_defines_its_neighbours_once_and_lists_the_public_facts() -> None:
    for name, plan in plans().items():
        said = statement_of(plan)
        text = said.paragraph()
        assert text.count("The guarantee compares any two") == 1, name
        assert neighbours_in_words(plan.guarantee) in text, name
        listed = "; ".join(f"{fact.name}: {fact.text}" for fact in said.facts)
        assert said.rests_on() == f"The release rests on these facts, which are public: {listed}.", name
        assert said.rests_on() in text
        assert {fact.name for fact in said.facts} == {fact.name for fact in plan.facts} - {"neighbours"}


def test_facts_that_were_read_from_the_data_are_said_to_be_so() -> None:
    read = (StatedFact("stimuli", "scene-01", declared=False),)
    said = statement(PureDP(1), facts=read)
    assert said.rests_on() == (
        "The release rests on these facts, which are public: stimuli: scene-01. "
        "These facts were read from the data and are not protected: stimuli. "
        "The guarantee is conditional on them: it holds if they were known to everyone anyway."
    )


# The list of public facts is whole: what a declaration changes shows in it


def changed(study: Study) -> dict[str, Study]:
    """Return declarations that differ in one public fact each."""
    first, *others = study.stimuli
    return {
        "how many participants": replace(study, participants=Participants(number=99)),
        "whether their number is public": replace(study, participants=Participants(number=99, secret=True)),
        "what it is called": replace(study, stimuli=(replace(first, name="else"), *others)),
        "the screen": replace(study, stimuli=(replace(first, screen=OTHER_SCREEN), *others)),
        "how long it was shown": replace(study, stimuli=(replace(first, seconds=59.0), *others)),
        "how many recordings": replace(study, recordings=replace(study.recordings, per_stimulus=2)),
        "samples a second": replace(study, recordings=replace(study.recordings, rate_hz=500.0)),
        "the unit of pupils": replace(study, recordings=replace(study.recordings, pupil_unit="px")),
    }


@pytest.mark.parametrize(
    "study", [aggregate.declared(), series.declared(), veiled.declared()], ids=lambda one: one.name
)
def test_no_fact_can_be_declared_otherwise_without_showing_in_the_list(study: Study) -> None:
    listed = [fact.to_dict() for fact in study.facts()]
    for name, other in changed(study).items():
        assert [fact.to_dict() for fact in other.facts()] != listed, name


@pytest.mark.parametrize("product", list(plans()))
def test_the_list_of_every_product_holds_the_facts_of_its_study(product: str) -> None:
    made = plans()[product]
    names = {fact.name for fact in made.facts}
    assert {"participants", "stimuli", "neighbours", "recordings"} <= names
    for fact in made.measurement.study.facts(made.measurement.domain.stimuli):
        here = next(each for each in made.facts if each.name == fact.name)
        assert here == fact or product == "veiled", fact.name  # streams say more about recordings and neighbours


def test_what_a_product_declares_of_its_own_shows_in_its_list() -> None:
    """Areas, groups, ranges and the number of steps: with any of them changed, the list is another."""
    lists = {name: [fact.to_dict() for fact in made.facts] for name, made in plans().items()}
    own = {name: {fact["name"] for fact in facts} - STUDYS for name, facts in lists.items()}
    assert own["aoi"] == {"areas"}
    assert own["groups"] == {"areas", "groups", "members of groups"}
    assert own["group"] == {"extraction", "series"}
    assert own["low-rank"] == own["fpa"] == {"extraction", "series", "roster"}
    fewer = GroupComparison(aggregate.COMPARED.statistics, {"even": aggregate.PEOPLE[:2], "odd": aggregate.PEOPLE[2:4]})
    other = aggregate.declared().plan(fewer)
    assert [fact.to_dict() for fact in other.facts] != lists["groups"]
