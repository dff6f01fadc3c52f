# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Windows vote for a name."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gazeveil.errors import InputError, InternalError
from gazeveil.lab.attacks import Trial
from gazeveil.lab.attacks.matching import EmbeddedGallery, nearest_by_person, vote

PEOPLE = ("anna", "ben", "cleo")


def test_the_majority_of_windows_names_the_person() -> None:
    verdict = vote(np.array([[0.9, 0.1, 0.2], [0.3, 0.8, 0.1], [0.5, 0.4, 0.0]]), PEOPLE)
    assert verdict.ranking == ("anna", "ben", "cleo")
    assert verdict.votes.tolist() == [2, 1, 0]
    assert verdict.rank("ben") == 2


def test_a_tied_vote_goes_to_the_higher_mean() -> None:
    verdict = vote(np.array([[0.9, 0.1, 0.0], [0.3, 0.95, 0.0]]), PEOPLE)
    assert verdict.ranking[0] == "anna"  # means 0.6 and 0.525
    assert vote(np.array([[0.9, 0.5, 0.0], [0.3, 0.95, 0.0]]), PEOPLE).ranking[0] == "ben"


def test_a_window_that_cannot_decide_shares_its_vote() -> None:
    assert vote(np.array([[1.0, 1.0, 0.0]]), PEOPLE).votes.tolist() == [0.5, 0.5, 0.0]


def test_without_windows_nobody_is_named() -> None:
    verdict = vote(np.empty((0, 3)), PEOPLE)
    assert verdict.ranking == ()
    assert verdict.rank("anna") == 0


def test_scores_that_are_no_scores_are_our_fault() -> None:
    for wrong in (np.zeros((2, 2)), np.array([[0.0, np.nan, 1.0]]), np.zeros(3)):
        with pytest.raises(InternalError):
            vote(wrong, PEOPLE)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 9), st.integers(1, 4))
def test_the_nearest_window_is_the_one_found_by_comparing_each_with_each(seed: int, block: int, people: int) -> None:
    rng = np.random.default_rng(seed)
    owner = np.sort(np.concatenate([np.arange(people), rng.integers(0, people, 5)]))
    query, reference = rng.normal(size=(7, 3)), rng.normal(size=(len(owner), 3))
    found = nearest_by_person(query, reference, owner, people, block)
    for row, asked in enumerate(query):
        for person in range(people):
            cosines = [
                asked @ known / np.linalg.norm(asked) / np.linalg.norm(known) for known in reference[owner == person]
            ]
            assert found[row, person] == pytest.approx(max(cosines))


def test_reference_windows_out_of_order_are_refused() -> None:
    with pytest.raises(InputError, match="sorted by participant"):
        nearest_by_person(np.ones((1, 2)), np.ones((2, 2)), np.array([1, 0]), 2)
    with pytest.raises(InputError, match="sorted by participant"):
        nearest_by_person(np.ones((1, 2)), np.ones((2, 2)), np.array([0, 0]), 2)


def trial(person: str, values: list[float], rate_hz: float = 10.0) -> Trial:
    t = np.arange(len(values)) / rate_hz
    return Trial(person, "1", "a", t, np.array(values), np.zeros(len(values)), rate_hz)


def test_a_gallery_enrols_whoever_has_a_window() -> None:
    def embed(one: Trial) -> np.ndarray:
        return np.array([[1.0, value] for value in one.x])

    gallery = EmbeddedGallery(embed, [trial("b", [5.0]), trial("a", [0.0, 0.1]), trial("c", [])])
    assert gallery.people == ("a", "b")
    scores = gallery.windows(trial("", [0.1, 4.0]))
    assert scores.argmax(axis=1).tolist() == [0, 1]
    assert gallery.windows(trial("", [])).shape == (0, 2)
    with pytest.raises(InputError, match="no reference trial has a usable window"):
        EmbeddedGallery(embed, [trial("c", [])])
