# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Videos that were shown: frames by their own times, and what is no such video."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from gazeveil.errors import FileFormatError, InputError, MissingExtra
from gazeveil.gaze import video
from gazeveil.gaze.video import opencv


def film(path: Path, seconds: float = 3.0, rate: float = 10.0) -> Path:
    """Write a film that gets brighter: its frame at t has the grey 60 t."""
    cv2 = pytest.importorskip("cv2")
    writer = cv2.VideoWriter(str(path), cv2.VideoWriter_fourcc(*"MJPG"), rate, (80, 60))
    for number in range(round(seconds * rate)):
        writer.write(np.full((60, 80, 3), 60 * number / rate, dtype=np.uint8))
    writer.release()
    return path


def test_the_frame_that_is_shown_at_a_time_is_found(tmp_path: Path) -> None:
    times = [0.0, 0.52, 0.53, 1.5, 2.9]
    found = list(video.frames_at(film(tmp_path / "film.avi"), times))
    assert [frame.shape for frame in found] == [(60, 80, 3)] * 5
    np.testing.assert_allclose([frame.mean() for frame in found], [60 * time for time in times], atol=5)
    assert found[1] is found[2]


def test_a_film_that_ends_too_early_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"lasts 3 s, but the frame at 3\.5 s"):
        list(video.frames_at(film(tmp_path / "film.avi"), [1.0, 3.5]))


def test_what_is_no_video_is_refused(tmp_path: Path) -> None:
    pytest.importorskip("cv2")
    (tmp_path / "text.mp4").write_text("nothing to see")
    with pytest.raises(FileFormatError, match="a video"):
        list(video.frames_at(tmp_path / "text.mp4", [0.0]))
    with pytest.raises(InputError, match="nothing there"):
        list(video.frames_at(tmp_path / "nowhere.mp4", [0.0]))


def test_without_opencv_it_is_said_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "film.mp4").write_bytes(b"")
    opencv.cache_clear()
    monkeypatch.setitem(sys.modules, "cv2", None)
    with pytest.raises(MissingExtra, match="opencv-python-headless"):
        list(video.frames_at(tmp_path / "film.mp4", [0.0]))
