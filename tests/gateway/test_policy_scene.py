# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What a policy says of a scene, or the line in which it is wrong."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from gazeveil.errors import FileFormatError
from gazeveil.gateway.policy.settings import Policy, SceneSetting, read_policy

GOOD = """\
version = 1
[gateway]
control = "127.0.0.1:7380"
[[tracker]]
name = "desk"
protocol = "simulate"
screen = { width_px = 1920, height_px = 1080 }
scene = { source = "video", file = "film.mp4", updates_hz = 4, area = [0, 0.1, 1, 0.9] }
[[app]]
name = "game"
tracker = "desk"
protocol = "eyetribe"
veil = { preset = "mpmu" }
levels = ["hplu"]
follow_scene = "large"
radius_at_least = "60px"
window_at_least = 1
radius_at_most = "600px"
window_at_most = 3
"""


def read(folder: Path, text: str) -> Policy:
    (folder / "film.mp4").write_bytes(b"")
    (folder / "policy.toml").write_text(text)
    return read_policy(folder / "policy.toml")


def scene_with(tmp_path: Path, scene: str) -> SceneSetting:
    found = read(tmp_path, GOOD.replace(GOOD.splitlines()[7], f"scene = {{ {scene} }}")).trackers[0].scene
    assert found is not None
    return found


def test_a_scene_and_who_follows_it_are_read(tmp_path: Path) -> None:
    policy = read(tmp_path, GOOD)
    scene, app = policy.trackers[0].scene, policy.apps[0]
    assert scene == SceneSetting(
        "video", tmp_path / "film.mp4", area=(0.0, 0.1, 1.0, 0.9), updates_hz=4.0, gaze_dependent=False
    )
    assert scene.trusted
    assert (app.follow_scene, app.radius_at_least, app.radius_at_most) == ("large", Fraction(60), Fraction(600))
    assert (app.window_at_least, app.window_at_most) == (Fraction(1), Fraction(3))


@pytest.mark.parametrize(
    ("scene", "trusted"),
    [
        ('source = "video", file = "film.mp4"', True),
        ('source = "video", file = "film.mp4", gaze_dependent = true', False),
        ('source = "screen"', False),
        ('source = "screen", region = [0, 0, 800, 600], gaze_dependent = false', True),
        ('source = "camera", device = 1', False),
        ('source = "push"', False),
    ],
)
def test_only_what_surely_does_not_depend_on_gaze_may_lower(tmp_path: Path, scene: str, trusted: bool) -> None:
    assert scene_with(tmp_path, scene).trusted is trusted


WRONG = [
    # what is replaced, by what, the line, and words of the message
    ('source = "video"', 'source = "film"', 8, "one of video, camera, screen, push"),
    ('file = "film.mp4", ', "", 8, "a file"),
    ('"film.mp4"', '"none.mp4"', 8, "a file that can be read"),
    ("updates_hz = 4", "updates_hz = 9", 8, "a number from 0.1 to 8"),
    ("updates_hz = 4", 'finder = "eyes"', 8, "what finds regions"),
    ("updates_hz = 4", 'colour = "red"', 8, "unknown one, 'colour'"),
    ("[0, 0.1, 1, 0.9]", "[0, 0.9, 1, 0.1]", 8, "in shares of the screen"),
    ("[0, 0.1, 1, 0.9]", "[true, 0, 1, 1]", 8, "in shares of the screen"),
    (
        'source = "video", file = "film.mp4"',
        'source = "push", gaze_dependent = false',
        8,
        "it is not known what an app",
    ),
    ('source = "video", file = "film.mp4"', 'source = "push", token_file = "control.token"', 8, "a token of its own"),
    ('source = "video", file = "film.mp4"', 'source = "screen", region = [0, 0, 0, 9]', 8, "in pixels of the screen"),
    ('follow_scene = "large"', 'follow_scene = "huge"', 15, "one of small, large"),
    ('follow_scene = "large"', "", 18, "follow_scene"),
    ('radius_at_least = "60px"', "", 15, "radius_at_least beside it"),
    ("window_at_least = 1", "", 15, "window_at_least beside it"),
    ('radius_at_most = "600px"', 'radius_at_most = "80px"', 18, "the veil's own radius"),
    ("window_at_most = 3", "window_at_most = 1.2", 19, "the veil's own window"),
    ("window_at_most = 3", "window_at_most = 0.5", 19, "no less than window_at_least"),
    ("window_at_most = 3", "window_at_most = 11", 15, "window must be between"),
    ('preset = "mpmu" }', 'preset = "temporal-low" }\nunproven = "allow"', 16, "a veil whose guarantee can be changed"),
    (
        '{ preset = "mpmu" }',
        '{ mechanism = "kaleido", epsilon = 1.5, window = 1.5, radius = 90 }',
        15,
        "a veil that spends from one ledger",
    ),
    (GOOD.splitlines()[7], "", 15, "a scene of tracker 'desk'"),
]


@pytest.mark.parametrize(("before", "after", "line", "words"), WRONG, ids=[f"{case[1]}-{case[3]}" for case in WRONG])
def test_what_is_wrong_is_told_with_its_line(tmp_path: Path, before: str, after: str, line: int, words: str) -> None:
    assert before in GOOD
    with pytest.raises(FileFormatError) as caught:
        read(tmp_path, GOOD.replace(before, after))
    assert words in str(caught.value)
    assert caught.value.line == line


def test_what_is_pushed_needs_a_control_api(tmp_path: Path) -> None:
    text = GOOD.replace('source = "video", file = "film.mp4"', 'source = "push"')
    with pytest.raises(FileFormatError, match="line 7: expected a control API that the scene is pushed to"):
        read(tmp_path, text.replace('control = "127.0.0.1:7380"\n', ""))
