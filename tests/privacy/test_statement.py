# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math
from fractions import Fraction
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gazeveil.noise import NoiseSource
from gazeveil.privacy.guarantee import ApproxDP, GazeStreamDP, Guarantee, PureDP, Unproven, ZeroConcentratedDP
from gazeveil.privacy.protection import OneRecording, WindowOfGaze
from gazeveil.privacy.statement import StatedFact, statement
from gazeveil.samples.mechanism import MECHANISMS
from gazeveil.samples.space import Screen
from gazeveil.samples.stream import StreamMechanism
from gazeveil.samples.window_budget import LOSS_UNIT

EVERY_KIND = [
    PureDP(1),
    PureDP("0.5", unit=OneRecording(), neighbours="add-remove"),
    ApproxDP("0.5", "1e-6"),
    ZeroConcentratedDP("0.02"),
    GazeStreamDP(3, "0.5", 60),
    Unproven("the points that pass are true gaze"),
    PureDP(1000),
    PureDP(0),
    ApproxDP(1, 1),
]


def test_a_statement_says_what_against_whom_how_much_and_how_it_fails() -> None:
    text = statement(ApproxDP(1, "1e-6")).paragraph()
    assert "What is protected: everything that one participant contributed." in text
    assert "Against whom: anyone who sees what was released" in text
    assert "a factor of at most e^1 = 2.72" in text
    assert "at most 73.2 % and at least 26.8 % sure of it" in text
    assert "a chance of at most 1 in 1,000,000, in which the guarantee fails" in text


@pytest.mark.parametrize("promise", [ApproxDP(1, "1e-6"), ZeroConcentratedDP("0.02")])
def test_no_statement_says_that_the_odds_stay_within_the_factor_but_for_delta(promise: Guarantee) -> None:
    """Gaussian noise for (1, 1e-6) passes the factor with a chance of 2e-5; only the likeness is bounded by δ."""
    for text in (statement(promise).paragraph(), promise.in_words()):
        assert "keeps this without exception, but for a chance of at most" in text


def test_a_pure_promise_does_not_speak_of_failure() -> None:
    assert "fails" not in statement(PureDP(1)).paragraph()


def test_a_stream_says_how_long_and_how_far() -> None:
    text = statement(GazeStreamDP(3, "0.5", 60)).paragraph()
    assert "during any 0.5 seconds" in text
    assert "60" in text
    assert "That is a moderate guarantee for one window." in text
    assert "that it was missing, as in a blink, may show, and a long absence does" in text
    assert "as in a blink" in statement(GazeStreamDP(3, "0.5", 60)).card()
    assert "blink" not in statement(PureDP(1)).paragraph()


def test_a_stream_compares_paths_that_differ_within_one_window_and_says_so_wherever_it_compares() -> None:
    """Two paths of 60 s that are 60 px apart everywhere are told apart for certain: no sentence may cover them."""
    told = statement(GazeStreamDP(1, "0.5", 60))
    within = "differ only within one window of 0.5 s, there by at most 60 px at each sample, and nowhere else"
    for text in (told.paragraph(), told.card()):
        assert text.count(within) == 2
        assert "any other gaze path" not in text
        assert "concludes about you" not in text
        assert "undecided between two such paths (50 %)" in text
        assert "Who you are is not protected" in text
        assert "1 minute: 120 windows, ε = 120;" in text
    assert "the same time stamps and the same missing samples" in told.to_dict()["neighbours"]
    assert statement(PureDP(1)).over_time() == ""


@pytest.mark.parametrize(("ticks", "window"), [(1, "0.5"), (3, "0.5"), (2, "0.7"), (1, "2")])
def test_what_windows_add_up_to_bounds_the_loss_of_paths_that_differ_all_the_time(ticks: int, window: str) -> None:
    """The clock's points are independent, and each can lose what its noise costs per px, times the distance."""
    clock: Any = MECHANISMS["clock"]
    veil: StreamMechanism = clock(Screen(32768, 32768), epsilon=1, window=window, radius=60, ticks=ticks, filter=False)
    t = np.arange(60 * 120 + 1) / 120
    shown = np.array(veil.start(NoiseSource.seeded(1)).run(t, np.full(len(t), 9e3), np.full(len(t), 9e3)))
    points = 1 + int(np.count_nonzero(np.any(np.diff(shown) != 0, axis=0)))
    largest = points * 60 * Fraction(veil.plan().loss, LOSS_UNIT)
    stated = {row["difference"]: Fraction(row["epsilon"]) for row in statement(veil.guarantee).to_dict()["over_time"]}
    assert largest > 25  # belief goes from 50 % to all but 100 %
    assert 0.9 * stated["1 minute"] < largest <= stated["1 minute"]


def test_windows_add_up_in_the_currency_of_the_guarantee() -> None:
    unit = WindowOfGaze("0.5", 60)
    assert "1 second: 2 windows, ε = 2 and δ = 3.7" in statement(ApproxDP(1, "1e-6", unit=unit)).over_time()
    assert "1 hour: 7,200 windows, nothing is guaranteed" in statement(ApproxDP(1, "1e-6", unit=unit)).over_time()
    assert "twice the distance" not in statement(ZeroConcentratedDP("0.01", unit=unit)).over_time()
    assert "1 hour: 1 window, ε = 100" in statement(GazeStreamDP(100, 86400, 60)).over_time()


def test_a_concentrated_promise_is_told_at_a_stated_chance() -> None:
    promise = ZeroConcentratedDP("0.02")
    told = statement(promise, delta="1e-9")
    assert told.epsilon == promise.to_approx("1e-9").epsilon
    assert "1 in 1,000,000,000" in told.paragraph()
    assert "ρ = 0.02" in told.paragraph()


def test_what_is_unproven_says_so_and_why() -> None:
    told = statement(Unproven("the points that pass are true gaze"))
    assert told.paragraph().startswith("There is no proven guarantee: the points that pass are true gaze.")
    assert "%" not in told.paragraph()
    assert told.to_dict()["why_not"] == ["the points that pass are true gaze"]
    assert not told.proven


def test_add_remove_is_about_taking_part_and_twice_as_much_about_the_rest() -> None:
    told = statement(PureDP(1, neighbours="add-remove"))
    assert told.epsilon == 2
    assert "by a factor of at most e^1 = 2.72 compared with data without you, and" in told.paragraph()
    assert "of at most e^2 = 7.39 compared with any other data in place of yours" in told.paragraph()


def test_a_promise_about_one_recording_does_not_hide_that_a_person_took_part() -> None:
    text = statement(PureDP(1, unit=OneRecording(), neighbours="add-remove")).paragraph()
    assert "without you" not in text
    assert "compared with data without one recording of yours" in text
    assert "such as who you are, adds up" in text


@given(st.fractions(min_value=0, max_value=40, max_denominator=10**6))
@settings(max_examples=60)
def test_no_number_flatters(epsilon: Fraction) -> None:
    told = statement(PureDP(epsilon))
    assert told.odds is not None
    assert math.exp(epsilon) <= float(told.odds) * (1 + 1e-15)
    assert float(told.odds) <= math.exp(epsilon) * 1.00002
    shift = told.belief_at_most()
    assert shift is not None
    assert 1 / (1 + math.exp(-epsilon)) <= float(shift) * (1 + 1e-12)
    assert told.to_dict()["belief"]["at_most"] >= float(shift) * (1 - 1e-12)


@given(st.fractions(min_value=0, max_value=6, max_denominator=1000), st.sampled_from(["1/10", "1/2", "9/10"]))
@settings(max_examples=30)
def test_no_inference_from_randomised_response_beats_the_stated_belief(epsilon: Fraction, before: str) -> None:
    """The worst pure release tells the truth with probability e^ε/(1 + e^ε): its posterior is the bound."""
    prior = Fraction(before)
    truth = 1 / (1 + math.exp(-epsilon))
    posterior = truth * float(prior) / (truth * float(prior) + (1 - truth) * (1 - float(prior)))
    bound = statement(PureDP(epsilon)).belief_at_most(prior)
    assert bound is not None
    assert posterior <= float(bound) + 1e-12
    assert float(bound) <= posterior + 1e-4


@pytest.mark.parametrize("promise", [PureDP(1000), ApproxDP(1, 1)])
def test_a_promise_that_is_none_is_called_so(promise: Guarantee) -> None:
    told = statement(promise)
    assert "protects from nothing" in told.paragraph()
    assert told.odds is None
    assert told.weak


def test_an_all_but_certain_adversary_is_admitted() -> None:
    assert "all but certain" in statement(PureDP(12)).paragraph()


def test_the_total_of_all_releases_is_told_where_it_is_known() -> None:
    assert "together keep to ε=3" in statement(PureDP(1), total=PureDP(3)).paragraph()
    assert "nothing is proven: seeded" in statement(PureDP(1), total=Unproven("seeded")).paragraph()


class Checker(HTMLParser):
    VOID = ("meta", "br")

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.seen: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.text += data


def parsed(html: str) -> Checker:
    checker = Checker()
    checker.feed(html)
    checker.close()
    assert checker.open == []
    return checker


@pytest.mark.parametrize("promise", EVERY_KIND, ids=repr)
@pytest.mark.parametrize("whole_page", [False, True])
def test_a_card_is_whole_and_brings_all_it_needs(promise: Guarantee, whole_page: bool) -> None:
    html = statement(promise, total=PureDP(2)).card(whole_page=whole_page)
    card = parsed(html)
    assert "http" not in html
    assert "url(" not in html
    assert not {tag for tag, _ in card.seen} & {"script", "link", "img", "iframe", "object"}
    assert html.startswith("<!doctype html>") == whole_page
    assert "prefers-color-scheme" in html


def test_nothing_in_a_card_is_taken_for_markup() -> None:
    nasty = "<script>alert('x')</script> & \"quotes\""
    html = statement(Unproven(nasty)).card(title=nasty, whole_page=True)
    card = parsed(html)
    assert "script" not in {tag for tag, _ in card.seen}
    assert nasty in card.text


def test_a_card_says_at_a_glance_whether_anything_is_proven() -> None:
    assert "Not proven" in parsed(statement(Unproven("why")).card()).text
    assert "Proven, but weak" in parsed(statement(PureDP(5)).card()).text
    assert parsed(statement(PureDP(1)).card()).text.startswith("Proven, strongWhat")
    assert parsed(statement(GazeStreamDP(1, 2, 60)).card()).text.startswith("Proven, strong for one windowWhat")
    assert "Proven, but weak for one window" in parsed(statement(GazeStreamDP(5, 2, 60)).card()).text


@pytest.mark.parametrize("promise", EVERY_KIND, ids=repr)
def test_a_statement_as_json_holds_the_promise_and_the_words(promise: Guarantee) -> None:
    values = statement(promise).to_dict()
    assert values["guarantee"] == promise.to_dict()
    assert values["text"] == statement(promise).paragraph()
    assert values["proven"] == promise.proven


FACTS = (StatedFact("participants", "30"), StatedFact("stimuli", "scene-01", declared=False))


def test_facts_that_nobody_declared_make_the_guarantee_conditional() -> None:
    stated = statement(PureDP(1), facts=FACTS)
    condition = "These facts were read from the data and are not protected: stimuli."
    assert "participants: 30; stimuli: scene-01." in stated.paragraph()
    assert condition in stated.paragraph()
    assert condition in stated.card()
    assert "Proven, but conditional" in stated.card()
    assert stated.to_dict()["conditional_on"] == ["stimuli"]


def test_declared_facts_are_listed_without_a_condition() -> None:
    stated = statement(PureDP(1), facts=FACTS[:1])
    assert "participants: 30." in stated.paragraph()
    assert "conditional" not in stated.paragraph() + stated.card()


def test_every_statement_says_what_is_compared_and_that_duration_is_not_protected() -> None:
    replaced, added = statement(PureDP(1)), statement(PureDP(1, neighbours="add-remove"))
    stream = statement(GazeStreamDP(3, "0.5", 60))
    assert (
        "contributed, which is replaced by any other data. The number of participants is public."
        in replaced.paragraph()
    )
    assert "the number of participants is protected too." in added.paragraph()
    assert "the same time stamps and the same missing samples" in stream.paragraph()
    for stated in (replaced, added, stream):
        assert "How long it took to make this release is not protected." in stated.paragraph()
        assert "How long it took to make this release is not protected." in stated.card()


@pytest.mark.parametrize("guarantee", EVERY_KIND)
def test_the_words_hold_the_figures(guarantee: Guarantee) -> None:
    stated = statement(guarantee)
    assert stated.figures()
    assert all(figure in stated.paragraph() for figure in stated.figures())
