# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The context puts keyframes, regions, radii and the window together, and opens nothing."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gazeveil.errors import InputError
from gazeveil.scene.context import Radii, SceneContext, SceneState, radii, weighted_median, window_of
from gazeveil.scene.film import MOST_STILLS, survey
from gazeveil.scene.frames import Pixels
from gazeveil.scene.regions import Box, Regions

LEFT, RIGHT, SMALL = Box(0.1, 0.1, 0.4, 0.4), Box(0.6, 0.6, 0.9, 0.9), Box(0.48, 0.48, 0.52, 0.52)


def flat(level: int, width: int = 16, height: int = 12) -> Pixels:
    return np.full((height, width, 3), level, np.uint8)


class Counting:
    """A finder that knows one thing a scene by its brightness, and counts its calls."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, frame: Pixels) -> Regions:
        self.calls += 1
        side = float(frame[0, 0, 0]) / 255
        return (Box(0, 0, side, side),) if side else ()


def test_regions_are_sought_in_keyframes_alone() -> None:
    finder = Counting()
    context = SceneContext(100, 100, finder)
    readings = [context.add_frame(t / 4, flat(255 if t < 8 else 128)) for t in range(16)]
    looked = [reading for reading in readings if reading is not None]
    assert finder.calls == 2
    assert [reading.begins for reading in looked] == [True, False, False, False, True, False, False, False]
    assert [reading.scene for reading in looked] == [0] * 4 + [1] * 4
    assert looked[-1].radii == radii((Box(0, 0, 128 / 255, 128 / 255),), 100, 100)
    assert context.state == looked[-1]


def test_the_window_grows_with_the_scene_and_is_not_known_at_the_first_look() -> None:
    context = SceneContext(100, 100, Counting())
    windows = [reading.window_s for t in range(30) if (reading := context.add_frame(t / 2, flat(0))) is not None]
    assert windows[:4] == [None, 0.5, 1.0, 1.5]
    assert windows[-1] == 10.0


def test_a_scene_without_regions_says_nothing_about_the_radius() -> None:
    reading = SceneContext(100, 100, Counting()).add_frame(0, flat(0))
    assert reading == SceneState(0, 0, True, (), Radii(None, None), None)


def test_boxes_that_stay_are_one_scene_and_boxes_that_go_are_another() -> None:
    context = SceneContext(100, 100)
    moved = Box(0.12, 0.1, 0.42, 0.4)
    given_boxes: list[Regions] = [(LEFT, RIGHT), (moved, RIGHT), (LEFT, RIGHT), (SMALL,), (SMALL,), (), ()]
    readings = [context.add_regions(t / 2, regions) for t, regions in enumerate(given_boxes)]
    assert [reading.scene for reading in readings] == [0, 0, 0, 1, 1, 2, 2]
    assert readings[1].radii == radii((moved, RIGHT), 100, 100)
    assert [reading.regions for reading in readings] == given_boxes


def test_time_must_not_run_backwards_for_boxes_either() -> None:
    context = SceneContext(100, 100)
    context.add_regions(1, (LEFT,))
    with pytest.raises(InputError, match="time must not run back"):
        context.add_regions(0.5, (LEFT,))


def test_frames_need_a_finder_and_a_frame_needs_a_size() -> None:
    with pytest.raises(InputError, match="nothing to find regions with"):
        SceneContext(100, 100).add_frame(0, flat(0))
    with pytest.raises(InputError, match="cannot be"):
        SceneContext(0, 100)


def test_after_a_finder_failed_the_regions_of_the_scene_before_do_not_go_on() -> None:
    def fails(frame: Pixels) -> Regions:
        if frame[0, 0, 0]:
            raise InputError("broken")
        return (LEFT,)

    context = SceneContext(100, 100, fails)
    first = context.add_frame(0, flat(0))
    assert first is not None
    assert first.regions == (LEFT,)
    with pytest.raises(InputError, match="broken"):
        context.add_frame(0.5, flat(255))
    then = context.add_frame(1.0, flat(255))
    assert then is not None
    assert (then.scene, then.regions, then.radii) == (1, (), Radii())


def test_time_must_not_run_backwards() -> None:
    context = SceneContext(100, 100, Counting())
    context.add_frame(10, flat(0))
    with pytest.raises(InputError, match="time must not run back"):
        context.add_frame(9.9, flat(0))


@given(st.lists(st.integers(1, 40).map(lambda n: n / 2), min_size=1, max_size=20))
@settings(max_examples=60, deadline=None)
def test_half_of_the_time_is_spent_in_scenes_no_longer_than_the_window(lengths: list[float]) -> None:
    window = window_of(lengths, shortest=0.5, longest=1e9)
    assert window in lengths
    assert sum(length for length in lengths if length <= window) >= sum(lengths) / 2
    assert sum(length for length in lengths if length >= window) >= sum(lengths) / 2


@pytest.mark.parametrize(
    ("lengths", "window"),
    [([], None), ([0.0], None), ([3.0], 3.0), ([0.1], 0.5), ([3600.0], 10.0), ([0.5] * 4 + [4.0] * 2, 4.0)],
)
def test_windows_that_one_can_work_out(lengths: Sequence[float], window: float | None) -> None:
    assert window_of(lengths, shortest=0.5) == window


def test_the_middle_is_where_half_of_the_weight_lies() -> None:
    assert weighted_median(np.array([3.0, 1.0, 2.0]), np.array([1.0, 1.0, 1.0])) == 2
    assert weighted_median(np.array([3.0, 1.0, 2.0]), np.array([5.0, 1.0, 1.0])) == 3


def test_a_film_is_its_scenes_with_their_lengths() -> None:
    def frames(levels: Sequence[int]) -> list[tuple[float, Pixels]]:
        return [(t / 2, flat(level)) for t, level in enumerate(levels)]

    film = survey(frames([255] * 4 + [128] * 6 + [0] * 2), SceneContext(100, 100, Counting()), seconds=5.75)
    assert [(scene.begins, scene.ends) for scene in film.scenes] == [(0, 2), (2, 5), (5, 5.75)]
    assert (film.looks, film.width, film.height, film.window_s) == (12, 16, 12, 3.0)
    assert film.radii == Radii(film.scenes[1].radii.small, None)
    assert film.to_dict()["scenes"][2]["regions"] == []
    one = survey(frames([255]), SceneContext(100, 100, Counting()))
    assert (one.window_s, len(one.scenes)) == (None, 1)
    with pytest.raises(InputError, match="no frames"):
        survey([], SceneContext(100, 100, Counting()))


def test_of_a_film_with_many_scenes_few_pictures_are_kept() -> None:
    levels = [(number % 2) * 255 for number in range(200)]
    film = survey(((t / 2, flat(level)) for t, level in enumerate(levels)), SceneContext(100, 100, Counting()))
    assert len(film.scenes) == 200
    stills = [number for number, scene in enumerate(film.scenes) if scene.still is not None]
    assert MOST_STILLS / 2 <= len(stills) <= MOST_STILLS
    assert len(set(np.diff(stills))) == 1
