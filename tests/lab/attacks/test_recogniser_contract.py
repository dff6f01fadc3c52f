# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The contract that every registered recogniser keeps: it learns from references alone, and scores everybody."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, fields, is_dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gazeveil.errors import InputError
from gazeveil.lab.attacks import RECOGNISERS, Trial
from gazeveil.lab.attacks.contract import Gallery, Recogniser

NEEDS = {"ekyt": "torch", "ekyt-tuned": "torch", "forest": "sklearn"}
PEOPLE = ("ann", "bob", "cleo")

each = pytest.mark.parametrize("name", RECOGNISERS.names())


@cache
def trial(person: str, session: int) -> Trial:
    """Return twelve seconds of gaze that jumps; people differ in how often and how far."""
    which = PEOPLE.index(person)
    rng = np.random.default_rng([which, session])
    t = np.arange(12 * 90) / 90
    places = rng.normal(0, 2.0 + 2.0 * which, (2, len(t))).repeat(20 + 8 * which, axis=1)[:, : len(t)]
    x, y = places + rng.normal(0, 0.05 + 0.05 * which, (2, len(t)))
    return Trial(person, str(session), "a go", t, x, y, 90.0, np.full(len(t), 3.0))


@cache
def references() -> tuple[Trial, ...]:
    return tuple(trial(person, session) for session in (1, 2) for person in reversed(PEOPLE))


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("torch")
    from gazeveil.lab.attacks.ekyt.files import Fold, Model
    from gazeveil.lab.attacks.ekyt.network import Embedder
    from gazeveil.lab.attacks.ekyt.windows import Scale

    state = {name: values.numpy() for name, values in Embedder(seed=1).state_dict().items()}
    path = tmp_path_factory.mktemp("model") / "model.npz"
    Model((Fold(state, Scale(0.5, 40.0)),), 62.5, 5.0, {"data": "none"}).save(path)
    return path


def made(name: str, request: pytest.FixtureRequest) -> Any:
    if name in NEEDS:
        pytest.importorskip(NEEDS[name])
    kind: Any = RECOGNISERS[name]
    known = {field.name for field in fields(kind)}
    few = {"trees": 20, "centres": 4, "groups": ("bends", "losses")}
    options = {key: value for key, value in few.items() if key in known}
    return kind(request.getfixturevalue("model"), **options) if name.startswith("ekyt") else kind(**options)


@each
def test_it_is_a_frozen_value_that_knows_its_name(name: str, request: pytest.FixtureRequest) -> None:
    recogniser = made(name, request)
    assert issubclass(RECOGNISERS[name], Recogniser)
    assert is_dataclass(RECOGNISERS[name])
    assert recogniser.name == name
    assert replace(recogniser) == recogniser
    with pytest.raises(FrozenInstanceError):
        setattr(recogniser, fields(recogniser)[0].name, None)
    assert recogniser.sees <= {"pupil", "position", "geometry"}


@each
def test_everybody_enrolled_is_scored_in_every_window(name: str, request: pytest.FixtureRequest) -> None:
    gallery = made(name, request).enrol(references())
    assert isinstance(gallery, Gallery)
    assert gallery.people == PEOPLE  # sorted, each once, in whatever order they came
    scores = gallery.windows(trial("bob", 3).anonymous())
    assert scores.shape[1] == len(PEOPLE)
    assert len(scores) >= 1
    assert np.isfinite(scores).all()


@each
def test_who_it_is_decides_nothing(name: str, request: pytest.FixtureRequest) -> None:
    gallery = made(name, request).enrol(references())
    asked = trial("bob", 3)
    np.testing.assert_array_equal(gallery.windows(asked), gallery.windows(asked.anonymous()))


@each
def test_nothing_is_learnt_from_queries(name: str, request: pytest.FixtureRequest) -> None:
    gallery = made(name, request).enrol(references())
    before = gallery.windows(trial("bob", 3))
    for person in PEOPLE:
        gallery.windows(trial(person, 4))
    np.testing.assert_array_equal(gallery.windows(trial("bob", 3)), before)


@each
def test_one_seed_gives_one_gallery(name: str, request: pytest.FixtureRequest) -> None:
    one, other = (made(name, request).enrol(references(), seed=7).windows(trial("ann", 3)) for _ in range(2))
    np.testing.assert_array_equal(one, other)


@each
def test_people_differ_in_their_scores(name: str, request: pytest.FixtureRequest) -> None:
    gallery = made(name, request).enrol(references())
    scores = [gallery.windows(trial(person, 3)).mean(axis=0) for person in PEOPLE]
    assert len({tuple(np.round(row, 9)) for row in scores}) == len(PEOPLE)
    assert all(np.ptp(row) > 0 for row in scores)


@each
def test_gaze_that_is_not_there_is_no_window_and_no_reference(name: str, request: pytest.FixtureRequest) -> None:
    given = trial("ann", 1)
    lost = given.with_gaze(*np.full((2, len(given.t)), np.nan))
    recogniser = made(name, request)
    assert recogniser.enrol(references()).windows(lost).shape == (0, len(PEOPLE))
    with pytest.raises(InputError):
        recogniser.enrol([lost])
    with pytest.raises(InputError):
        recogniser.enrol([])


@each
def test_without_strangers_it_stays_what_it_is_or_says_what_it_needs(name: str, request: pytest.FixtureRequest) -> None:
    recogniser = made(name, request)
    try:
        after = recogniser.trained_on([])
    except InputError:
        assert name == "ekyt"  # the only one with a model to train
        return
    assert after == recogniser
