# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Whole studies whose pictures are known: right ones help, wrong ones are found out, and error bars cover."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pytest

from gazeveil import Corpus, NoiseSource, Recording, Saliency, screen
from gazeveil.aggregate.map_prior import Plane, floored
from gazeveil.aggregate.study_heatmaps import BOUND, PrivateHeatmaps, StudyEstimate, StudyPlan
from gazeveil.arrays import FloatArray
from gazeveil.errors import OptionError
from gazeveil.exact import exact
from gazeveil.privacy.protection import Neighbours
from tests.releasing import planned

DESK = screen(1200, 900, 120, 90, 573)  # 12 by 9 degrees, so that decoding is quick
NAMES = tuple(f"s{number}" for number in range(4))
BLUR = 1.1


def plan(people: int, pictures: dict[str, Saliency], epsilon: float = 3.0) -> StudyPlan:
    mechanism = PrivateHeatmaps(epsilon=epsilon, pictures=pictures)
    return mechanism.plan_for(DESK, NAMES, people, Neighbours.REPLACE_ONE, exact("1e-5"))


@lru_cache
def truth() -> tuple[FloatArray, dict[str, Saliency]]:
    """Return maps with three hot spots each, and pictures that know two of them."""
    grid = plan(10, {}).grid
    rng = np.random.default_rng(3)
    maps, pictures = [], {}
    down, across = np.divmod(np.arange(grid.size), grid.columns)
    for name in NAMES:
        at = rng.uniform((2, 2), (grid.rows - 3, grid.columns - 3), (3, 2))
        spots = np.exp(-((down - at[:, :1]) ** 2 + (across - at[:, 1:]) ** 2) / 1.2)
        maps.append(floored(np.array([3.0, 1, 1]) @ spots, 0.1))
        known = floored(np.array([2.0, 1, 0]) @ spots, 0.2)
        pictures[name] = Saliency.of_map(Plane(grid, (BLUR, BLUR)).blurred(known).reshape(grid.shape))
    return np.array(maps), pictures


@lru_cache
def decoded(people: int, which: str, seed: int = 1) -> tuple[StudyEstimate, FloatArray]:
    """Return the release of so many people, ten looks each, and their map without noise."""
    maps, right = truth()
    given = {
        "none": {},
        "right": right,
        "wrong": dict(zip(NAMES, [*right.values()][1:] + [*right.values()][:1], strict=True)),
    }
    chosen = plan(people, given[which])
    rng = np.random.default_rng(seed)
    looks = np.stack([rng.multinomial(10, map_, people) / 10 for map_ in maps])
    seen = looks @ chosen.view.weights
    seen /= np.linalg.norm(seen, axis=2, keepdims=True)
    total = np.floor(BOUND * seen).sum(axis=1).astype(np.int64).ravel()
    noisy = chosen._noised(total, NoiseSource.seeded(seed))
    plane = Plane(chosen.grid, (BLUR, BLUR))
    return chosen.decode(noisy), plane.blurred(looks.mean(axis=1).T).T.reshape(-1, *chosen.grid.shape)


def mean_cc(people: int, which: str) -> float:
    found, true = decoded(people, which)
    pairs = zip(found.maps.values(), true, strict=True)
    return float(np.mean([np.corrcoef(one.map.ravel(), own.ravel())[0, 1] for one, own in pairs]))


def test_right_pictures_help_most_where_people_are_few() -> None:
    assert mean_cc(15, "right") > mean_cc(15, "none") + 0.1
    assert mean_cc(60, "right") > mean_cc(60, "none")


def test_wrong_pictures_are_found_out() -> None:
    assert mean_cc(150, "wrong") > mean_cc(150, "none") - 0.01
    found, _ = decoded(150, "wrong")
    assert all(estimate.picture_share < 0.5 for estimate in found.maps.values())


@pytest.mark.parametrize(("people", "which"), [(15, "right"), (60, "right"), (60, "none")])
def test_intervals_of_every_map_hold_what_the_same_people_show_without_noise(people: int, which: str) -> None:
    found, true = decoded(people, which)
    for one, own in zip(found.maps.values(), true, strict=True):
        assert one.error_sd is not None
        assert one.population_sd is not None
        assert np.mean(np.abs(one.map - own) <= 1.96 * one.error_sd) > 0.85  # the seed is fixed: no false alarms
        assert (one.population_sd >= one.error_sd).all()


def test_hot_spots_are_hot() -> None:
    found, true = decoded(150, "right")
    called = np.stack([one.hot_spots for one in found.maps.values() if one.hot_spots is not None])
    assert len(called) == len(NAMES)
    hot = true > 4 / true[0].size
    assert called.any()
    assert (called & ~hot).sum() <= 0.2 * called.sum()


def test_the_noise_does_not_depend_on_pictures() -> None:
    _, right = truth()
    with_pictures, without = plan(20, right), plan(20, {})
    assert with_pictures.sigma == without.sigma
    assert with_pictures.bounds == without.bounds
    assert set(with_pictures.to_dict()["pictures"]) == set(NAMES)


def test_the_prior_of_a_map_is_what_its_own_picture_says() -> None:
    found, _ = decoded(15, "right")
    one, other = (found.maps[name].prior for name in NAMES[:2])
    assert not np.allclose(one, other)
    plain, _ = decoded(60, "none")
    assert np.array_equal(plain.maps["s0"].prior, plain.maps["s1"].prior)


def test_pictures_of_unknown_stimuli_are_refused() -> None:
    t = np.arange(5) / 60
    corpus = Corpus.of([Recording(t, 90 * t, 80 + t, DESK, "p1", name) for name in NAMES])
    _, right = truth()
    with pytest.raises(OptionError, match="not released: other"):
        planned(PrivateHeatmaps(epsilon=1, pictures={"other": right["s0"]}), corpus)
