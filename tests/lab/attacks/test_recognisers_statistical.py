# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math
import sys
from functools import cache
from typing import Any

import numpy as np
import pytest

from gazeveil.errors import InputError, MissingExtra, OptionError
from gazeveil.lab.attacks.contract import RECOGNISERS, Trial
from gazeveil.lab.attacks.enrolment import Discriminant, Rows, Scale

NAMES = ("lda", "fisher", "committee", "forest", "rbf")
PEOPLE = 5


@cache
def trials() -> tuple[Trial, ...]:
    """Two goes of 12 s in each of three sessions, of people who differ in how often, how far and how steadily."""
    return tuple(
        a_go(person, session, number) for person in range(PEOPLE) for session in range(1, 4) for number in range(2)
    )


def a_go(person: int, session: int, number: int) -> Trial:
    rng = np.random.default_rng([person, session, number])
    t = np.arange(12 * 90) / 90
    rest, size, noise = 0.2 + 0.08 * person, 2.0 + 1.5 * person, 0.05 + 0.03 * ((2 * person) % PEOPLE)
    begins = np.cumsum(rng.gamma(9, rest / 9, size=100) + 0.05)
    ways = size * rng.gamma(4, 1 / 4, size=(2, 100)) * rng.choice([-1, 1], size=(2, 100))
    rise = np.clip((t[:, None] - begins) / 0.05, 0, 1)
    x, y = (ways @ (3 * rise**2 - 2 * rise**3).T) * 0.5 + noise * rng.standard_normal((2, len(t)))
    return Trial(f"p{person}", str(session), f"go {number}", t, x + session, y, 90.0, np.full(len(t), 3.0))


@cache
def enrolled(name: str) -> Any:
    return made(name).enrol([trial for trial in trials() if trial.session != "3"])


def made(name: str, **options: Any) -> Any:
    if name == "forest":
        pytest.importorskip("sklearn")
        options = {"trees": 60, **options}
    few = {"centres": 8} if name == "rbf" else {"groups": ("bends", "losses")}
    return RECOGNISERS[name](**{**few, **options})


@pytest.mark.parametrize("name", NAMES)
def test_people_are_recognised_in_another_session(name: str) -> None:
    gallery, asked = enrolled(name), [trial for trial in trials() if trial.session == "3"]
    named = [gallery.people[gallery.windows(trial.anonymous()).mean(axis=0).argmax()] for trial in asked]
    # 10 queries among 5 people: guessing gets 7 or more right once in a thousand times
    assert sum(name == trial.person for name, trial in zip(named, asked, strict=True)) >= 7


@pytest.mark.parametrize("name", NAMES)
def test_what_it_looks_at_is_what_it_was_allowed(name: str) -> None:
    assert made(name).sees == frozenset()
    assert made(name, allow=frozenset({"pupil", "position"})).sees == {"pupil", "position"}
    with pytest.raises(OptionError, match="head"):
        made(name, allow=frozenset({"head"}))


@pytest.mark.parametrize("name", NAMES)
def test_nobody_who_is_denied_position_and_pupil_can_tell_that_they_changed(name: str) -> None:
    asked = trials()[-1]
    moved = Trial("", "9", "", asked.t, asked.x + 4, asked.y - 2, asked.rate_hz, np.full(len(asked.t), 2.0))
    gallery = enrolled(name)
    np.testing.assert_allclose(gallery.windows(asked), gallery.windows(moved), rtol=1e-5, atol=1e-5)
    options = {} if name == "rbf" else {"groups": ()}
    sees = made(name, allow=frozenset({"position"}), **options).enrol(trials())
    assert np.abs(sees.windows(asked) - sees.windows(moved)).max() > 1e-3


@pytest.mark.parametrize("name", NAMES)
def test_enrolling_twice_gives_the_same_scores(name: str) -> None:
    few = [trial for trial in trials() if trial.session == "1"]
    one, other = (made(name).enrol(few, seed=3).windows(trials()[-1]) for _ in range(2))
    np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("name", NAMES)
def test_a_query_without_gaze_has_no_windows(name: str) -> None:
    lost = trials()[0].with_gaze(*np.full((2, len(trials()[0].t)), np.nan))
    gallery = enrolled(name)
    assert gallery.people == tuple(sorted({trial.person for trial in trials()}))
    assert gallery.windows(lost).shape == (0, PEOPLE)


@pytest.mark.parametrize("name", NAMES)
def test_a_reference_without_gaze_says_so(name: str) -> None:
    lost = trials()[0].with_gaze(*np.full((2, len(trials()[0].t)), np.nan))
    with pytest.raises(InputError, match="no reference trial"):
        made(name).enrol([lost])


def test_windows_are_as_long_as_asked_for() -> None:
    some = trials()[:: len(trials()) // PEOPLE]
    gallery = made("lda", seconds=4.0, step=2.0).enrol(some)
    assert gallery.windows(trials()[0]).shape == (5, PEOPLE)
    assert enrolled("lda").windows(trials()[0]).shape == (1, PEOPLE)  # a trial shorter than a window is one window
    assert made("rbf", seconds=4.0, step=2.0).enrol(some).windows(trials()[0]).shape == (5, PEOPLE)


def test_one_window_each_is_too_little_for_a_discriminant() -> None:
    with pytest.raises(InputError, match="single window"):
        made("lda", seconds=math.inf).enrol(trials()[:: len(trials()) // PEOPLE])


def test_scores_of_a_discriminant_are_probabilities() -> None:
    scores = enrolled("lda").windows(trials()[0])
    np.testing.assert_allclose(np.exp(scores).sum(axis=1), 1)


def test_a_committee_adds_the_mean_of_its_groups_to_all_together() -> None:
    some = [trial for trial in trials() if trial.session != "3"]
    each = [made("fisher", groups=groups).enrol(some).windows(trials()[-1]) for groups in (("bends",), ("losses",))]
    together = enrolled("fisher").windows(trials()[-1])
    np.testing.assert_allclose(enrolled("committee").windows(trials()[-1]), together + (each[0] + each[1]) / 2)


def test_cosines_do_not_grow_with_how_unusual_a_window_is() -> None:
    rng = np.random.default_rng(4)
    owner = np.repeat(np.arange(4), 50)
    values = rng.standard_normal((200, 6)) + 3 * rng.standard_normal((4, 6))[owner]
    model = Discriminant.fit(Rows(tuple("abcd"), values, owner, np.full(200, "1")))
    cosines = model.cosines(values)
    assert np.abs(cosines).max() <= 1 + 1e-12
    assert (cosines.argmax(axis=1) == owner).mean() > 0.9
    middle = np.clip(values, model.scale.low, model.scale.high).mean(axis=0)
    near, far = (model.cosines(middle + size * (values[:1] - middle)) for size in (0.5, 1.0))
    np.testing.assert_allclose(near, far, atol=0.1)


def some_rows(spread_of_sessions: float) -> Rows:
    """Two people who differ by 2 in both numbers; the second also jumps from session to session."""
    rng = np.random.default_rng(3)
    owner, session = np.repeat([0, 1], 400), np.tile(np.repeat(np.arange(8), 50), 2)
    values = rng.standard_normal((800, 2)) + 2 * owner[:, None]
    jumps = rng.standard_normal((2, 8))
    values[:, 1] += spread_of_sessions * (jumps - jumps.mean(axis=1, keepdims=True))[owner, session]
    return Rows(("ann", "bob"), values, owner, session.astype(str))


def test_what_changes_from_session_to_session_is_not_trusted() -> None:
    trust = []
    for spread in (0.0, 2.0):
        scores = Discriminant.fit(some_rows(spread)).scores(np.array([[1.0, 1.0], [1.5, 1.0], [1.0, 1.5]]))
        first, second = np.diff(scores[1:] - scores[0])[:, 0]
        trust.append(second / first)
    assert trust[0] == pytest.approx(1, abs=0.2)  # both say as much
    assert trust[1] < 0.3


def test_without_sessions_and_shrinkage_it_is_the_textbooks_discriminant() -> None:
    lda = pytest.importorskip("sklearn.discriminant_analysis").LinearDiscriminantAnalysis(solver="lsqr")
    rows = some_rows(0.0)
    one_session = Rows(rows.people, rows.values, rows.owner, np.full(len(rows.owner), "1"))
    clipped = Scale.of(rows.values).apply(rows.values)
    known = lda.fit(clipped, rows.owner).predict_log_proba(clipped)
    ours = Discriminant.fit(one_session, shrinkage=0.0).scores(rows.values)
    np.testing.assert_allclose(ours, known, rtol=0.02, atol=0.02)  # it divides by rows, we by degrees of freedom


def test_a_scale_fills_what_is_missing_and_stays_in_range() -> None:
    rows = np.array([[0.0, 5, np.nan], [1, 5, np.nan], [2, 5, np.nan], [np.nan, 5, np.nan]])
    scale = Scale.of(rows)
    scaled = scale.apply(np.array([[np.nan, 1e9, 3.0], [1e9, 5, np.nan], [-np.inf, np.inf, 0]]))
    assert np.isfinite(scaled).all()
    assert scaled[0, 0] == pytest.approx(0, abs=1e-9)
    assert (scaled[:, 1:] == 0).all()
    assert scaled[1, 0] < 3


def test_a_forest_without_its_extra_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn.ensemble", None)
    with pytest.raises(MissingExtra, match=r"gazeveil\[attacks\]"):
        RECOGNISERS["forest"](groups=("losses",)).enrol(trials()[:2])  # type: ignore[call-arg]


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("lda", {"groups": ("nonsense",)}),
        ("lda", {"seconds": 0.0}),
        ("forest", {"trees": 0}),
        ("rbf", {"centres": 0}),
        ("rbf", {"ridge": 0.0}),
        ("rbf", {"step": 0.0}),
    ],
)
def test_parameters_out_of_range_are_refused(name: str, wrong: dict[str, Any]) -> None:
    with pytest.raises(OptionError):
        RECOGNISERS[name](**wrong)
