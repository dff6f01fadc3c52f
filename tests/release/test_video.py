# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from PIL import Image

from gazeveil import screen
from gazeveil.errors import InputError, MissingExtra, OptionError, OutputError
from gazeveil.release.map_files import BAR, WIDTH, Frames, write_mp4, write_videos
from gazeveil.release.study import file_name

PLANE = screen(800, 600)


def some_frames(picture=None) -> Frames:
    maps = np.zeros((3, 6, 8))
    maps[0, 1, 1], maps[1, 3, 4], maps[2, 5, 7] = 1.0, 0.5, 0.25
    return Frames.of(maps, np.array([0.0, 0.5, 1.0, 1.2]), PLANE, picture)


def test_frames_share_one_scale_so_that_they_compare():
    pictures = some_frames().pictures
    assert pictures.shape == (3, WIDTH * 3 // 4 + BAR, WIDTH, 3)
    heat = pictures[:, :-BAR].reshape(3, -1, 3).sum(axis=2).max(axis=1)
    assert heat[0] > heat[1] > heat[2] > 0


def test_the_bar_shows_how_much_time_has_passed():
    bars = some_frames().pictures[:, -1, :, 0]
    assert [(bar > 128).sum() for bar in bars] == [round(WIDTH * part) for part in (0.5 / 1.2, 1 / 1.2, 1)]


def test_the_still_shines_through_where_nobody_looked():
    still = np.full((60, 80, 3), 200, dtype=np.uint8)
    pictures = some_frames(still).pictures
    assert pictures.shape == (3, 60 + BAR, 80, 3)
    assert (pictures[0, 50, 70] == 200).all()
    assert (pictures[0, 15, 15] != 200).any()


@pytest.mark.parametrize("speed", [1.0, 2.0])
def test_videos_last_as_long_as_the_course(tmp_path, speed):
    written = write_videos(some_frames(), tmp_path, speed=speed)
    assert [path.name for path in written][:2] == ["movie.gif", "movie.png"]
    for path in written[:2]:
        with Image.open(path) as video:
            assert getattr(video, "n_frames", 1) == 3
            lasts = []
            for number in range(3):
                video.seek(number)
                lasts.append(video.info["duration"])
        assert sum(lasts) == pytest.approx(1200 / speed, abs=30)


def test_a_frame_of_hours_is_shown_for_as_long_as_a_file_can_say(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "cv2", None)
    frames = some_frames()
    write_videos(Frames(frames.pictures, frames.seconds * 3600 * 24), tmp_path)
    with Image.open(tmp_path / "movie.png") as video:
        assert video.info["duration"] == 65_535


@pytest.mark.parametrize("speed", [0.0, -1.0, float("inf"), float("nan")])
def test_a_senseless_speed_is_refused(tmp_path, speed):
    with pytest.raises(OptionError, match="speed"):
        write_videos(some_frames(), tmp_path, speed=speed)
    assert list(tmp_path.iterdir()) == []


def test_maps_and_times_must_fit():
    with pytest.raises(InputError, match="edges"):
        Frames.of(np.zeros((2, 3, 4)), np.array([0.0, 1.0]), PLANE)
    with pytest.raises(InputError, match="edges"):
        Frames.of(np.zeros((0, 3, 4)), np.array([0.0]), PLANE)


class _Writer:
    """Stands for OpenCV's writer."""

    opens = True
    frames: list[Any]

    def __init__(self, *arguments):
        self.arguments, type(self).frames = arguments, []

    def isOpened(self):
        return self.opens

    def write(self, frame):
        self.frames.append(frame)

    def release(self):
        self.frames.append("released")


def test_mp4_is_written_where_opencv_is(tmp_path, monkeypatch):
    fake = SimpleNamespace(VideoWriter=_Writer, VideoWriter_fourcc=lambda *letters: "".join(letters))
    monkeypatch.setitem(sys.modules, "cv2", fake)
    assert write_mp4(some_frames(), tmp_path / "movie.mp4")
    assert _Writer.frames[-1] == "released"
    assert len(_Writer.frames) - 1 == 12 + 12 + 5  # 0.5, 0.5 and 0.2 s at 25 frames a second
    monkeypatch.setattr(_Writer, "opens", False)
    with pytest.raises(OutputError, match="no encoder"):
        write_mp4(some_frames(), tmp_path / "movie.mp4")


def test_without_opencv_there_is_no_mp4_and_no_error(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "cv2", None)
    assert not write_mp4(some_frames(), tmp_path / "movie.mp4")


def test_without_pillow_it_is_said_what_to_install(tmp_path, monkeypatch):
    frames = some_frames()
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(MissingExtra, match="pillow"):
        write_videos(frames, tmp_path)


def test_names_of_stimuli_become_names_of_files():
    names = ["a/b.png", "a%2Fb.png", "../x", "", "ü" * 300, "ü" * 299 + "v", "plain.png"]
    files = [file_name(name) for name in names]
    assert len(set(files)) == len(names)
    assert not any("/" in name or name in {".", ".."} or len(name) > 240 for name in files)
    assert files[-1] == "plain.png"
