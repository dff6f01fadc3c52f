# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Frames come from files, cameras and screens with their own times; what is broken or too large is refused in words."""

from __future__ import annotations

import struct
import sys
import zlib
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import pytest

from gazeveil.errors import FileFormatError, InputError, MissingExtra, OptionError
from gazeveil.gaze import video
from gazeveil.scene import frames as frames_module
from gazeveil.scene.frames import (
    MOST_BYTES,
    Camera,
    Pixels,
    ScreenPart,
    cells,
    decode,
    encode_png,
    frames_of,
    length_of,
    with_first_shape,
)
from gazeveil.simulate.stimuli import clouds
from tests.scene.films import cv2, write


def steps(count: int, width: int = 64, height: int = 48) -> Iterator[tuple[float, Pixels]]:
    """Frames, each a little brighter than the one before, with red, green and blue apart."""
    for number in range(count):
        yield number, np.full((height, width, 3), (200, 4 * number, 20), np.uint8)


@pytest.mark.parametrize(("name", "code"), [("a.avi", "MJPG"), ("a.mp4", "mp4v")])
@pytest.mark.parametrize("rate", [10.0, 23.976, 30.0])
def test_a_video_gives_a_frame_every_half_second_with_its_own_times(
    name: str, code: str, rate: float, tmp_path: Path
) -> None:
    path = write(tmp_path / name, steps(50), rate, code)
    found = list(frames_of(path))
    times = [t for t, _ in found]
    expected = [number / rate for number in range(50)]
    first = [next(t for t in expected if t >= 0.5 * look - 1e-6) for look in range(len(times))]
    assert times == pytest.approx(first, abs=2e-3)
    assert len(times) == int((expected[-1] + 1e-6) / 0.5) + 1
    red, green, blue = found[1][1][20, 20].astype(int)
    assert (red > 150, blue < 80) == (True, True)
    assert green == pytest.approx(4 * round(times[1] * rate), abs=12)


def test_how_long_a_video_lasts_is_read_where_it_says_so(tmp_path: Path) -> None:
    assert length_of(write(tmp_path / "a.avi", steps(30), 10.0)) == pytest.approx(3.0)
    assert length_of(tmp_path / "a.png") is None


class Played:
    """A capture that gives frames at chosen times, as OpenCV's does."""

    def __init__(
        self, stamps: list[float], size: tuple[int, int] = (8, 6), announced: float = 0, rate: float = 0
    ) -> None:
        self.stamps, self.size, self.announced, self.rate = stamps, size, announced, rate
        self.place = -1
        self.released = False

    def isOpened(self) -> bool:
        return True

    def grab(self) -> bool:
        self.place += 1
        return self.place < len(self.stamps)

    def retrieve(self) -> tuple[bool, Pixels]:
        return True, np.full((self.size[1], self.size[0], 3), self.place % 256, np.uint8)

    def get(self, what: int) -> float:
        return {
            cv2.CAP_PROP_POS_MSEC: self.stamps[min(max(self.place, 0), len(self.stamps) - 1)] if self.stamps else 0.0,
            cv2.CAP_PROP_FRAME_WIDTH: self.size[0],
            cv2.CAP_PROP_FRAME_HEIGHT: self.size[1],
            cv2.CAP_PROP_FRAME_COUNT: self.announced,
            cv2.CAP_PROP_FPS: self.rate,
        }[what]

    def release(self) -> None:
        self.released = True


def playing(monkeypatch: pytest.MonkeyPatch, capture: Played) -> None:
    played = SimpleNamespace(**{**vars(cv2), "VideoCapture": lambda _: capture})
    for module in (frames_module, video):
        monkeypatch.setattr(module, "opencv", lambda *_: played)


def some_file(folder: Path) -> Path:
    (folder / "film.mp4").write_bytes(b"film")
    return folder / "film.mp4"


def test_a_variable_frame_rate_is_followed_by_its_stamps(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    capture = Played([0.0, 40, 80, 700, 740, 1000, 1033, 2600, 2610], announced=9, rate=25)
    playing(monkeypatch, capture)
    assert [t for t, _ in frames_of(some_file(tmp_path))] == pytest.approx([0, 0.7, 1.0, 2.6])
    assert capture.released


def test_a_stamp_that_comes_twice_does_not_make_the_rest_jump(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    stamps = [10.0 * number for number in range(100)] + [990.0, 980.0, 1500.0, 2000.0]
    playing(monkeypatch, Played(stamps, announced=104, rate=5))
    assert [t for t, _ in frames_of(some_file(tmp_path))] == pytest.approx([0, 0.5, 1.5, 2.0])


def test_stamps_that_stand_still_are_replaced_by_the_rate(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    playing(monkeypatch, Played([0.0] * 30, announced=30, rate=10))
    assert [t for t, _ in frames_of(some_file(tmp_path))] == pytest.approx([0, 0.5, 1, 1.5, 2, 2.5])
    playing(monkeypatch, Played([float("nan")] * 30, announced=-1, rate=0))
    assert [t for t, _ in frames_of(some_file(tmp_path))] == pytest.approx([0, 0.52, 1.0])


@pytest.mark.parametrize("rate", [float("nan"), float("inf"), -3, 1e9])
def test_a_rate_that_cannot_be_is_not_believed(rate: float, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    playing(monkeypatch, Played([0.0] * 26, announced=26, rate=rate))
    assert [t for t, _ in frames_of(some_file(tmp_path))] == pytest.approx([0, 0.52, 1.0])


def test_an_absurd_size_is_refused_before_a_frame_is_decoded(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    capture = Played([0.0, 40], size=(30_000, 20_000))
    playing(monkeypatch, capture)
    with pytest.raises(InputError, match="30,000 x 20,000 pixels, more than"):
        next(frames_of(some_file(tmp_path)))
    assert (capture.place, capture.released) == (-1, True)


def test_a_video_without_frames_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    playing(monkeypatch, Played([]))
    with pytest.raises(FileFormatError, match="no frame that can be decoded"):
        list(frames_of(some_file(tmp_path)))
    playing(monkeypatch, Played([0.0], size=(0, 0)))
    with pytest.raises(InputError, match="nothing to see"):
        list(frames_of(some_file(tmp_path)))


def test_a_video_that_ends_too_early_is_no_shorter_video(tmp_path: Path) -> None:
    whole = write(tmp_path / "film.avi", steps(60, 200, 150), 10.0)
    short = tmp_path / "short.avi"
    short.write_bytes(whole.read_bytes()[: whole.stat().st_size // 2])
    with pytest.raises(FileFormatError, match="60 frames, found"):
        list(frames_of(short))


@pytest.mark.parametrize(
    "content", [b"", b"no video", b"\x00\x00\x00\x20ftypisom" + bytes(4000), bytes(range(256)) * 40]
)
def test_a_file_that_is_no_video_is_refused(content: bytes, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "film.mp4"
    path.write_bytes(content)
    with pytest.raises(FileFormatError, match="expected a video"):
        list(frames_of(path))
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("source", ["nothing.mp4", "http://127.0.0.1:9/film.mp4", "frame_%03d.png", "frame.png", "."])
def test_what_is_no_file_is_refused_and_no_address_is_asked(
    source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=r"nothing there|a folder"):
        list(frames_of(source))


@pytest.mark.parametrize("every_s", [0, -1, float("nan"), float("inf")])
def test_looks_need_time_between_them(every_s: float) -> None:
    with pytest.raises(OptionError, match="every_s"):
        frames_of("film.mp4", every_s=every_s)


def test_a_camera_is_looked_at_by_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    capture = Played([0.0] * 40)
    playing(monkeypatch, capture)
    ticks = iter(np.arange(100, 200, 0.1).tolist())
    camera = frames_of(Camera(3), clock=lambda: next(ticks))
    assert [t for t, _ in islice(camera, 8)] == pytest.approx(np.arange(100, 104, 0.5), abs=1e-6)
    with pytest.raises(InputError, match="camera 3 gives no more frames"):
        next(camera)
    assert capture.released


def test_a_camera_that_is_not_there_is_refused() -> None:
    with pytest.raises(InputError, match="camera 98 cannot be opened"):
        next(frames_of(Camera(98)))


class Grabber:
    """A screen of 100 x 80 pixels, as mss gives it."""

    monitors: ClassVar = [{"left": 0, "top": 0, "width": 100, "height": 80}]

    def __enter__(self) -> Grabber:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def grab(self, area: dict[str, int]) -> Any:
        pixels = np.zeros((area["height"], area["width"], 3), np.uint8)
        pixels[:, :, 0] = area["left"]
        return SimpleNamespace(width=area["width"], height=area["height"], rgb=pixels.tobytes())


def test_a_part_of_the_screen_is_looked_at_by_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    mss = pytest.importorskip("mss", reason="mss is not installed")
    monkeypatch.setattr(mss, "MSS", Grabber)
    slept: list[float] = []
    ticks = iter([1.0, 1.1, 1.5, 1.9])
    part = frames_of(ScreenPart(10, 20, 30, 40), clock=lambda: next(ticks), sleep=slept.append)
    (one, frame), (other, _) = islice(part, 2)
    assert (one, other, frame.shape, int(frame[0, 0, 0])) == (1.0, 1.5, (40, 30, 3), 10)
    assert slept == pytest.approx([0.4])
    assert next(frames_of(ScreenPart()))[1].shape == (80, 100, 3)
    with pytest.raises(InputError, match="nothing to see"):
        next(frames_of(ScreenPart(200, 0)))


def test_a_screen_that_cannot_be_read_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    mss = pytest.importorskip("mss", reason="mss is not installed")

    def none(*_: object) -> None:
        raise mss.ScreenShotError("no display")

    monkeypatch.setattr(mss, "MSS", none)
    with pytest.raises(InputError, match="the screen cannot be read: no display"):
        next(frames_of(ScreenPart()))


def test_missing_packages_are_said_with_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mss", None)
    with pytest.raises(MissingExtra, match=r"gazeveil\[scene\]"):
        next(frames_of(ScreenPart()))


def test_the_first_frame_is_not_lost() -> None:
    again, shape = with_first_shape(iter([(0.0, np.zeros((4, 6, 3), np.uint8)), (1.0, np.zeros((4, 6, 3), np.uint8))]))
    assert shape == (4, 6, 3)
    assert [t for t, _ in again] == [0.0, 1.0]


def test_pictures_go_to_png_and_back_unchanged(tmp_path: Path) -> None:
    frame = clouds(1, 70, 50)
    (tmp_path / "frame.png").write_bytes(encode_png(frame))
    np.testing.assert_array_equal(decode(encode_png(frame)), frame)
    ((t, seen),) = frames_of(tmp_path / "frame.png")
    assert t == 0
    np.testing.assert_array_equal(seen, frame)


def test_a_jpeg_is_read() -> None:
    frame = clouds(1, 71, 50)
    data = bytes(cv2.imencode(".jpg", frame[:, :, ::-1])[1])
    assert np.abs(decode(data).astype(int) - frame).mean() < 5


def png_of(width: int, height: int) -> bytes:
    """A PNG that claims a size and holds next to nothing."""
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = [(b"IHDR", head), (b"IDAT", zlib.compress(b"\x00")), (b"IEND", b"")]
    body = b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in chunks
    )
    return b"\x89PNG\r\n\x1a\n" + body


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "no PNG or JPEG"),
        (b"GIF89a" + bytes(100), "no PNG or JPEG"),
        (b"\x89PNG\r\n\x1a\n" + bytes(3), "no PNG or JPEG"),
        (png_of(0, 10), "nothing to see"),
        (png_of(60_000, 60_000), "60,000 x 60,000"),
        (png_of(1, 2_000_000), "1 x 2,000,000"),
        (b"\xff\xd8" + bytes(100), "does not say how large"),
        (b"\xff\xd8\xff\xe0\x00\x00" * 10, "does not say how large"),
        (b"\xff\xd8\xff\xc0\x00\x11\x08\xff\xff\xff\xff\x03" + bytes(20), "65,535 x 65,535"),
        (b"\xff\xd8\xff\xc0\x00\x11\x08\x00\x10\x00\x10\x03" + bytes(20), "damaged"),
    ],
)
def test_bytes_that_are_no_picture_or_a_huge_one_are_refused(data: bytes, words: str) -> None:
    with pytest.raises(InputError, match=words):
        decode(data)


def test_too_many_bytes_are_refused_unread() -> None:
    with pytest.raises(InputError, match="bytes is more than"):
        decode(bytes(MOST_BYTES + 1))


def test_a_cell_has_the_mean_colour_of_its_pixels() -> None:
    frame = clouds(2, 12, 6)
    expected = frame.reshape(2, 3, 4, 3, 3).mean(axis=(1, 3))
    np.testing.assert_allclose(cells(frame, 2, 4), expected, rtol=1e-5)
