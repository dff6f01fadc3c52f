# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gazeveil.errors import OptionError
from gazeveil.geometry import Unit
from gazeveil.simulate import TRACKERS, Population, Region, RegionKind, Stimulus, record, scene


@given(seed=st.integers(0, 2**40), index=st.integers(0, 1000))
@settings(max_examples=60, deadline=None)
def test_regions_lie_within_the_scene_and_apart_from_one_another(seed: int, index: int) -> None:
    shown = scene(seed, index)
    assert len({region.name for region in shown.regions}) == len(shown.regions) >= 4
    for region in shown.regions:
        left, top, right, bottom = region.box
        assert 0 <= left < right <= 1
        assert 0 <= top < bottom <= 1
    for k, one in enumerate(shown.regions):
        for other in shown.regions[k + 1 :]:
            apart_x = abs(one.x - other.x) - (one.width + other.width) / 2
            apart_y = abs(one.y - other.y) - (one.height + other.height) / 2
            assert max(apart_x, apart_y) > 0


def test_a_scene_looks_the_same_every_time_and_unlike_others() -> None:
    assert scene(1, 3) == scene(1, 3)
    picture = scene(1, 3).picture(160, 100)
    assert picture.shape == (100, 160, 3)
    assert picture.dtype == np.uint8
    assert picture.tobytes() == scene(1, 3).picture(160, 100).tobytes()
    assert picture.tobytes() != scene(1, 4).picture(160, 100).tobytes()
    assert picture.std() > 20  # not one flat colour


def test_a_scene_can_be_painted_at_any_size() -> None:
    for size in ((1, 1), (7, 301), (300, 40)):
        assert scene(2, 0).picture(*size).shape == (size[1], size[0], 3)


def test_every_region_can_be_seen_in_the_picture() -> None:
    shown = scene(1, 0)
    bare = Stimulus(shown.name, (), shown.brightness, shown.seed).picture(320, 200).astype(int)
    full = shown.picture(320, 200).astype(int)
    for region in shown.regions:
        changed = np.abs(full - bare)[int(region.y * 200), int(region.x * 320)]
        assert changed.max() > 10, region.name


def test_stronger_regions_draw_more_gaze() -> None:
    weights = (0.5, 1.5, 4.5)
    places = ((0.3, 0.35), (0.7, 0.35), (0.5, 0.7))
    tracker = TRACKERS["eyelink"]
    seconds = np.zeros(3)
    # each weight takes each place in turn, so that only the weight can make the difference
    for turn in range(3):
        regions = tuple(
            Region(f"r{k}", RegionKind.THING, "ellipse", *places[(k + turn) % 3], 0.15, 0.2, weights[k])
            for k in range(3)
        )
        shown = Stimulus(f"three-{turn}", regions)
        for index in range(25):
            recording = record(Population(7).observer(index), shown, tracker, 10, tracker.geometry)
            rests = recording.events.filter(pl.col("kind") == "fixation")
            x, y = tracker.geometry.convert(rests["x"].to_numpy(), rests["y"].to_numpy(), Unit.FRACTION)
            length = (rests["offset"] - rests["onset"]).to_numpy()
            for k, region in enumerate(regions):
                seconds[k] += length[region.contains(x, y)].sum()
    assert seconds[1] > 1.3 * seconds[0]
    assert seconds[2] > 1.3 * seconds[1]


def test_regions_hold_far_more_gaze_than_their_share_of_the_scene() -> None:
    inside = total = area = 0.0
    tracker = TRACKERS["eyelink"]
    for index in range(10):
        shown = scene(3, index)
        recording = record(Population(8).observer(index), shown, tracker, 20, tracker.geometry)
        rests = recording.events.filter(pl.col("kind") == "fixation")
        x, y = tracker.geometry.convert(rests["x"].to_numpy(), rests["y"].to_numpy(), Unit.FRACTION)
        inside += (shown.region_at(x, y) >= 0).sum()
        total += len(x)
        grid = np.meshgrid(np.linspace(0, 1, 200), np.linspace(0, 1, 200))
        area += (shown.region_at(*grid) >= 0).mean() / 10
    assert inside / total > 2 * area


def test_people_have_tastes_of_their_own_that_last() -> None:
    shown = scene(1, 0)
    anna, ben = Population(1).observer(0), Population(1).observer(1)
    assert not np.allclose(shown.weights_for(anna), shown.weights_for(ben))
    np.testing.assert_array_equal(shown.weights_for(anna), shown.weights_for(anna))
    days = [np.log(shown.weights_for(anna.on_day(day))) for day in (1, 2)]
    between = np.log(shown.weights_for(anna)) - np.log(shown.weights_for(ben))
    assert np.abs(days[0] - days[1]).mean() < np.abs(between).mean()


def test_the_region_at_a_point_is_found() -> None:
    shown = scene(1, 0)
    x = np.array([region.x for region in shown.regions])
    y = np.array([region.y for region in shown.regions])
    assert shown.region_at(x, y).tolist() == list(range(len(shown.regions)))
    assert shown.region_at(np.array([-1.0]), np.array([0.5])).tolist() == [-1]


@pytest.mark.parametrize(
    ("shape", "width", "weight"), [("star", 0.1, 1.0), ("ellipse", 0.0, 1.0), ("ellipse", 0.1, -1.0)]
)
def test_a_region_that_cannot_be_says_so(shape: str, width: float, weight: float) -> None:
    with pytest.raises(OptionError, match="'odd'"):
        Region("odd", RegionKind.THING, shape, 0.5, 0.5, width, 0.1, weight)
