# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""A scene begins where the picture has become another one, and nowhere else."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from gazeveil.errors import InputError, OptionError
from gazeveil.scene.frames import Pixels, frames_of
from gazeveil.scene.keyframes import Change, Keyframe, KeyframeDetector, KeyframeRule
from gazeveil.simulate.stimuli import Shot, clouds, page, painted, play
from tests.scene.films import write

WIDTH, HEIGHT = 160, 90
SLACK = 0.5 + 0.1
"""A look comes at most half a second and one frame after what it sees."""


def letterboxed(seed: int) -> Pixels:
    return np.pad(clouds(seed, WIDTH, 60), ((15, 15), (0, 0), (0, 0)))


KINDS: dict[str, Callable[[int], Pixels]] = {
    "painted": lambda seed: painted(seed, WIDTH, HEIGHT),
    "page": lambda seed: page(seed, WIDTH, HEIGHT),
    "clouds": lambda seed: clouds(seed, WIDTH, HEIGHT),
    "faint": lambda seed: clouds(seed, WIDTH, HEIGHT, contrast=0.25),
    "dark": lambda seed: clouds(seed, WIDTH, HEIGHT) // 6,
    "letterboxed": letterboxed,
}


def noisy(picture: Pixels, noise: float, rng: np.random.Generator) -> Pixels:
    return np.clip(picture + noise * rng.standard_normal(picture.shape), 0, 255).astype(np.uint8)


def found_in(frames: Iterable[tuple[float, Pixels]], rule: KeyframeRule | None = None) -> list[Keyframe]:
    detector = KeyframeDetector(rule)
    return [keyframe for t, frame in frames if (keyframe := detector.add_frame(t, frame)) is not None]


class Transition(NamedTuple):
    """What happens in a film: a cut at a moment, a fade or a pan for a while."""

    kind: str
    begins: float
    ends: float


def transitions(shots: Sequence[Shot]) -> list[Transition]:
    """Return what happens in a film, in the order of time; a shot that comes by a cut and pans is both."""
    found, begins = [], 0.0
    for number, shot in enumerate(shots):
        if number:
            found.append(Transition("fade" if shot.fade_s else "cut", begins, begins + shot.fade_s))
        if shot.pan:
            found.append(Transition("pan", begins, begins + shot.seconds))
        begins += shot.seconds
    return found


def precision_and_recall(keyframes: Sequence[Keyframe], known: Sequence[Transition]) -> tuple[float, float]:
    """Of keyframes after the first, how many lie within a transition; of transitions, how many have a keyframe."""
    times = [keyframe.t for keyframe in keyframes[1:]]
    inside = [any(each.begins <= t <= each.ends + SLACK for each in known) for t in times]
    seen = [any(each.begins <= t <= each.ends + SLACK for t in times) for each in known]
    return sum(inside) / len(inside), sum(seen) / len(seen)


def test_cuts_fades_and_pans_of_an_encoded_video_are_all_found_and_nothing_else(tmp_path: Path) -> None:
    black = np.zeros((HEIGHT, WIDTH, 3), np.uint8)
    shots = [
        Shot(KINDS["painted"](1), 2.3),
        Shot(KINDS["painted"](2), 3.1),
        Shot(KINDS["page"](3), 2.2),
        Shot(KINDS["page"](4), 2.6),
        Shot(KINDS["faint"](5), 2.2),
        Shot(KINDS["faint"](6), 2.9, fade_s=1.0),
        Shot(KINDS["clouds"](7), 3.2, fade_s=1.2),
        Shot(black, 2.4, fade_s=0.8),
        Shot(KINDS["painted"](8), 2.9, fade_s=0.8),
        Shot(KINDS["painted"](9), 3.0, pan=0.3),
        Shot(KINDS["letterboxed"](10), 2.2),
        Shot(KINDS["letterboxed"](11), 2.0),
        Shot(KINDS["dark"](12), 1.7),
        Shot(KINDS["dark"](13), 1.9),
    ]
    video = write(tmp_path / "film.avi", play(shots, rate=10), rate=10)
    keyframes = found_in(frames_of(video))
    known = transitions(shots)
    assert {each.kind for each in known} == {"cut", "fade", "pan"}
    assert precision_and_recall(keyframes, known) == (1.0, 1.0)
    assert len(keyframes) <= 1 + sum(1 + math.ceil((each.ends - each.begins) / 0.5) for each in known)


@pytest.mark.parametrize("before", KINDS)
@pytest.mark.parametrize("after", KINDS)
def test_no_cut_is_missed(before: str, after: str) -> None:
    rng = np.random.default_rng(1)
    for seed in range(3):
        one, other = noisy(KINDS[before](seed), 4, rng), noisy(KINDS[after](seed + 50), 4, rng)
        assert [keyframe.t for keyframe in found_in([(0, one), (0.5, one), (1, other), (1.5, other)])] == [0, 1]


@pytest.mark.parametrize("kind", KINDS)
def test_no_cut_is_missed_where_no_two_looks_are_alike(kind: str) -> None:
    # nothing shows what noise is: every pair of looks, from the first on, is a cut
    rng = np.random.default_rng(1)
    keyframes = found_in((look / 2, noisy(KINDS[kind](look), 4, rng)) for look in range(12))
    assert len(keyframes) == 12


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("noise", [2, 10, 40])
def test_noise_alone_makes_no_keyframe(kind: str, noise: float) -> None:
    # the rule allows one false alarm in a million looks: 18 cases of 30 looks fail by chance in 0.05 % of all runs
    rng = np.random.default_rng(2)
    picture = KINDS[kind](3)
    assert len(found_in((look / 2, noisy(picture, noise, rng)) for look in range(30))) == 1


def test_noise_alone_makes_no_keyframe_in_a_tiny_frame_either() -> None:
    rng = np.random.default_rng(3)
    for width, height in ((1, 1), (3, 2), (8, 8), (16, 9), (64, 36)):
        grey = np.full((height, width, 3), 128, np.uint8)
        assert len(found_in((look / 2, noisy(grey, 8, rng)) for look in range(200))) == 1


def test_something_small_that_moves_is_no_new_scene() -> None:
    picture, rng = KINDS["clouds"](1), np.random.default_rng(4)

    def with_a_ball(look: int) -> Pixels:
        frame = noisy(picture, 3, rng)
        frame[30:50, 3 * look : 3 * look + 20] = (230, 40, 40)
        return frame

    assert len(found_in((look / 2, with_a_ball(look)) for look in range(40))) == 1


def test_a_picture_that_drifts_away_becomes_another_scene_however_slowly() -> None:
    shots = [Shot(KINDS["clouds"](1), 20, pan=0.02)]
    keyframes = found_in(play(shots, rate=2))
    assert 1 < len(keyframes) < 20
    assert len(found_in(play([Shot(KINDS["clouds"](1), 20, pan=0.0005)], rate=2))) == 1


def test_something_on_an_empty_screen_is_a_new_scene_and_a_cursor_is_not() -> None:
    empty = np.full((HEIGHT, WIDTH, 3), 240, np.uint8)
    window, cursor = empty.copy(), empty.copy()
    window[20:60, 30:90] = 20
    cursor[45:49, 80:83] = 0
    assert len(found_in([(0, empty), (0.5, window), (1, empty)])) == 3
    assert len(found_in([(0, empty), (0.5, cursor), (1, empty)])) == 1


def test_agreement_is_1_for_the_same_and_0_for_chance() -> None:
    assert Change(0.0, 0.0, 20).agreement == 1
    assert Change(0.0, 0.4, 20).agreement == 1
    assert Change(0.4, 0.4, 20).agreement == 0
    assert Change(0.6, 0.4, 20).agreement == 0
    assert Change(0.1, 0.4, 20).agreement == 0.75


def test_looks_are_half_a_second_apart_and_those_that_were_missed_are_not_made_up_for() -> None:
    detector = KeyframeDetector()
    frames = {0: 0, 1: 50, 2: 100, 3: 150, 4: 200}
    looked = []
    for t in (0.0, 0.2, 0.49, 0.52, 0.98, 1.0, 3.3, 3.4, 3.5):
        if detector.due(t):
            looked.append(t)
        level = frames[min(int(t * 2), 4)]
        detector.add_frame(t, np.full((20, 20, 3), level, np.uint8))
    assert looked == [0.0, 0.52, 1.0, 3.3, 3.5]


def test_a_frame_of_another_size_begins_a_scene() -> None:
    detector = KeyframeDetector()
    assert detector.add_frame(0, np.zeros((20, 30, 3), np.uint8)) == Keyframe(0, 0)
    assert detector.add_frame(0.5, np.zeros((30, 20, 3), np.uint8)) == Keyframe(1, 0.5)


@pytest.mark.parametrize("t", [0.9, -1, math.nan, math.inf])
def test_time_must_not_run_backwards(t: float) -> None:
    detector = KeyframeDetector()
    detector.add_frame(1.0, np.zeros((4, 4, 3), np.uint8))
    with pytest.raises(InputError, match="time must not run back"):
        detector.add_frame(t, np.zeros((4, 4, 3), np.uint8))


@pytest.mark.parametrize(
    "frame",
    [np.zeros((4, 4)), np.zeros((4, 4, 3)), np.zeros((4, 4, 4), np.uint8), np.zeros((0, 4, 3), np.uint8), "frame"],
)
def test_what_is_no_frame_is_refused(frame: Pixels) -> None:
    with pytest.raises(InputError, match="frame"):
        KeyframeDetector().add_frame(0, frame)


def test_a_frame_that_is_too_large_is_refused() -> None:
    huge = np.broadcast_to(np.zeros(3, np.uint8), (40_000, 40_000, 3))
    with pytest.raises(InputError, match="40,000 x 40,000"):
        KeyframeDetector().add_frame(0, huge)


@pytest.mark.parametrize(
    "make",
    [
        lambda: KeyframeRule(visible=0),
        lambda: KeyframeRule(visible=300),
        lambda: KeyframeRule(least_share=0),
        lambda: KeyframeRule(agreement=1),
        lambda: KeyframeRule(agreement=math.nan),
        lambda: KeyframeDetector(every_s=0),
        lambda: KeyframeDetector(every_s=math.inf),
    ],
)
def test_a_rule_that_makes_no_sense_is_refused(make: Callable[[], object]) -> None:
    with pytest.raises(OptionError):
        make()
