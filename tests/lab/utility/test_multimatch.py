# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""MultiMatch: the numbers of the package multimatch-gaze 0.1.3, and what it cannot do."""

from __future__ import annotations

import os
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from gazeveil.errors import InputError, OptionError
from gazeveil.lab.utility.scanpaths import DIMENSIONS, Scanpath, Simplify, between_people, multimatch, random_scanpath

SIZE = (1280.0, 720.0)
PACKAGE_SAYS: list[tuple[int, int, tuple[float, float, float] | None, list[float]]] = [
    (3, 3, None, [0.842531934623076, 0.6654519244317236, 0.7452056395274649, 0.789982437980275, 0.30071227245970555]),
    (12, 9, None, [0.8212182227497865, 0.6928845145398591, 0.8274814792295758, 0.7082780519233841, 0.6136180872698975]),
    (
        40,
        31,
        None,
        [0.8471407495882668, 0.7934903735066505, 0.8359889718670513, 0.7750790546667923, 0.7466786967047879],
    ),
    (
        200,
        180,
        None,
        [0.8709589819311514, 0.8082642546759764, 0.8672521425730304, 0.7480730263903481, 0.5978475856612202],
    ),
    (
        12,
        9,
        (45.0, 0.3, 150.0),
        [0.8212182227497865, 0.6928845145398591, 0.8274814792295758, 0.6842594745900452, 0.6279842077613846],
    ),
    (
        30,
        30,
        (80.0, 0.5, 400.0),
        [0.7802789272075527, 0.7296645676367659, 0.879826233976121, 0.7342446733663116, 0.5469279056262658],
    ),
    (
        40,
        31,
        (45.0, 0.3, 300.0),
        [0.7899628518886652, 0.722319352672319, 0.8992721824117884, 0.7823566383374203, 0.6314624156198163],
    ),
    (
        25,
        60,
        (60.0, 0.2, 250.0),
        [0.8444477794304368, 0.7440163981966761, 0.8928323941780296, 0.741742447391213, 0.5955409664563125],
    ),
]
"""Fixations of both, what was joined beforehand, and what the package found on `some_path` of the same numbers."""
EXAMPLE = os.environ.get("GAZEVEIL_MULTIMATCH_EXAMPLE", "")
"""Folder with the two scanpaths of the package's documented example; they are not ours to give away."""


def some_path(seed: int, fixations: int) -> Scanpath:
    rng = np.random.default_rng(seed)
    return Scanpath(rng.uniform(0, 1280, fixations), rng.uniform(0, 720, fixations), rng.gamma(4, 0.065, fixations))


@pytest.mark.parametrize(("one", "other", "joined", "scores"), PACKAGE_SAYS)
def test_random_scanpaths_score_as_in_the_package(
    one: int, other: int, joined: tuple[float, float, float] | None, scores: list[float]
) -> None:
    simplify = None if joined is None else Simplify(*joined)
    found = multimatch(some_path(one, one), some_path(1000 + other, other), SIZE, simplify)
    np.testing.assert_allclose(found.to_array(), scores, rtol=0, atol=1e-9)


@pytest.mark.skipif(not EXAMPLE, reason="GAZEVEIL_MULTIMATCH_EXAMPLE does not say where the package's example is")
def test_the_documented_example_scores_as_documented() -> None:
    one, other = (
        Scanpath(*np.loadtxt(Path(EXAMPLE) / f"segment_10_sub-{who}.tsv", skiprows=1, usecols=(0, 1, 2)).T)
        for who in ("19", "01")
    )
    found = multimatch(one, other, SIZE, Simplify(45.0, 0.3, 150.0)).to_array()
    documented = [
        0.95075847681364678,
        0.95637548674423822,
        0.94082367355291008,
        0.94491164030498609,
        0.78260869565217384,
    ]
    np.testing.assert_allclose(found, documented, rtol=0, atol=1e-9)


@pytest.mark.parametrize("fixations", [0, 1, 2])
def test_too_few_fixations_have_no_score(fixations: int) -> None:
    found = multimatch(some_path(1, fixations), some_path(2, 8), SIZE, Simplify())
    assert np.isnan(found.to_array()).all()
    assert np.isnan(found.mean)


@pytest.mark.parametrize("simplify", [None, Simplify(45, 0.3, 10), Simplify(180, 9, 9999)])
@pytest.mark.parametrize(
    ("x", "y"),
    [([5, 5, 5, 5], [5, 5, 5, 5]), ([0, 0, 100, 200], [0, 0, 0, 50]), ([0.0, 0.1, 0.3, 0.7], [0.0, 0.1, 0.3, 0.7])],
    ids=["standing still", "one saccade without length", "on one line"],
)
def test_what_stops_the_package_has_scores(x: list[float], y: list[float], simplify: Simplify | None) -> None:
    still = Scanpath(np.array(x), np.array(y), np.full(4, 0.1))
    for other in (still, some_path(3, 7)):
        scores = multimatch(still, other, SIZE, simplify).to_array()
        assert ((scores >= 0) & (scores <= 1)).all()
    np.testing.assert_allclose(multimatch(still, still, SIZE, simplify).to_array(), 1.0)


def test_fixations_without_any_duration_are_alike() -> None:
    path = some_path(1, 5)
    timeless = Scanpath(path.x, path.y, np.zeros(5))
    assert multimatch(timeless, timeless, SIZE).duration == 1.0


def test_scores_do_not_depend_on_the_order_and_fall_with_noise() -> None:
    path, rng = some_path(1, 20), np.random.default_rng(2)
    noisy = [
        Scanpath(path.x + sd * rng.standard_normal(20), path.y + sd * rng.standard_normal(20), path.seconds)
        for sd in (1, 30, 300)
    ]
    scores = [multimatch(path, other, SIZE) for other in noisy]
    assert all(near.mean > far.mean for near, far in pairwise(scores))
    for other, score in zip(noisy, scores, strict=True):
        np.testing.assert_allclose(multimatch(other, path, SIZE).to_array(), score.to_array(), atol=1e-12)


def test_the_random_baseline_is_computed_and_has_its_known_size() -> None:
    """400 pairs of 15 fixations on 1280 x 1024; standard errors are below 0.005, so 0.02 is never left by chance."""
    rng = np.random.default_rng(7)
    seconds = rng.gamma(4, 0.065, 2000)
    paths = [random_scanpath(rng, 15, (0, 0, 1280, 1024), seconds) for _ in range(800)]
    scores = [
        multimatch(one, other, (1280, 1024)).to_array() for one, other in zip(paths[::2], paths[1::2], strict=True)
    ]
    np.testing.assert_allclose(np.mean(scores, axis=0), [0.834, 0.736, 0.840, 0.715, 0.608], atol=0.02)


def test_everybody_is_compared_with_all_others() -> None:
    paths = [some_path(seed, 6) for seed in range(3)] + [some_path(9, 2)]
    found = between_people(paths, SIZE)
    assert found.shape == (4, len(DIMENSIONS))
    expected = [multimatch(paths[0], paths[k], SIZE).to_array() for k in (1, 2)]
    np.testing.assert_allclose(found[0], np.mean(expected, axis=0))
    assert np.isnan(found[3]).all()


def test_what_is_no_scanpath_is_refused() -> None:
    good = np.arange(3.0)
    for x, seconds in ((np.array([0, np.nan, 1]), good), (good, good[:2]), (good, -good)):
        with pytest.raises(InputError):
            Scanpath(x, good, seconds)
    path = Scanpath(good, good, good)
    with pytest.raises(OptionError, match="width and a height"):
        multimatch(path, path, (0, 720))
    with pytest.raises(OptionError):
        Simplify(-1)
    with pytest.raises(InputError):
        random_scanpath(np.random.default_rng(1), 3, (0, 0, 1, 1), np.empty(0))
