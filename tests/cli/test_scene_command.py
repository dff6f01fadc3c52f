# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""``gazeveil scene``: scenes, window and radii of a video, in words, as JSON and as a picture."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from gazeveil.cli.main import run
from gazeveil.scene.frames import encode_png
from gazeveil.simulate.stimuli import Shot, play
from tests.scene.films import write


def board(*boxes: tuple[int, int, int, int], ground: int = 240) -> np.ndarray:
    frame = np.full((120, 160, 3), ground, np.uint8)
    for x0, y0, x1, y1 in boxes:
        frame[y0:y1, x0:x1] = 255 - ground
    return frame


@pytest.fixture(scope="module")
def video(tmp_path_factory: pytest.TempPathFactory) -> Path:
    one = board((16, 16, 56, 46), (96, 60, 136, 90))
    other = board((16, 60, 56, 90), ground=30)
    shots = [Shot(one, 2.0), Shot(other, 3.0), Shot(one, 1.0)]
    return write(tmp_path_factory.mktemp("scene") / "film.avi", play(shots, rate=10, noise=2), rate=10)


def test_json_has_every_scene(video: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["scene", str(video), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [(scene["begins_s"], scene["ends_s"]) for scene in found["scenes"]] == [(0, 2), (2, 5), (5, 6)]
    assert [len(scene["regions"]) for scene in found["scenes"]] == [2, 1, 2]
    assert found["window_s"] == 3
    assert found["unit"] == "px"
    assert found["r_small"] == pytest.approx(25, abs=1.5)
    assert found["scenes"][0]["r_large"] == pytest.approx(np.hypot(80, 44), abs=1.5)
    assert found["scenes"][1]["r_large"] is None


def test_people_get_a_table_and_a_picture(video: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    picture = tmp_path / "scenes.png"
    assert run(["scene", str(video), "--plot", str(picture)]) == 0
    printed = capsys.readouterr().out
    assert "r_small px" in printed
    assert "window    3 s" in printed
    assert picture.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("options", "unit", "factor"),
    [
        (["--screen", "1600x1200"], "px", 10.0),
        (["--size-mm", "160x120", "--distance-mm", "573"], "°", 0.1),
    ],
)
def test_radii_are_in_the_unit_of_the_screen(
    options: list[str], unit: str, factor: float, video: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["scene", str(video), "--json", *options]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["unit"] == unit
    assert found["r_small"] == pytest.approx(25 * factor, rel=0.06)


def test_a_still_picture_has_radii_and_no_window(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "page.png").write_bytes(encode_png(board((16, 16, 56, 46), (96, 60, 136, 90))))
    assert run(["scene", str(tmp_path / "page.png")]) == 0
    printed = capsys.readouterr().out
    assert "window    not known" in printed
    assert "r_small   25 px" in printed


def test_a_blank_picture_says_that_nothing_is_known(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "blank.png").write_bytes(encode_png(board()))
    assert run(["scene", str(tmp_path / "blank.png"), "--plot", str(tmp_path / "sheet.png")]) == 0
    assert "r_small   not known: no regions were found" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["nothing.mp4"], 3, "nothing there"),
        (["broken.mp4"], 3, "expected a video"),
        (["film.avi", "--finder", "eyes"], 3, "no finder of regions is called 'eyes'"),
        (["film.avi", "--finder", "onnx"], 3, "needs a detector's file"),
        (["film.avi", "--model", "nothing.onnx"], 3, "nothing.onnx: nothing there"),
        (["film.avi", "--every", "0"], 3, "every_s"),
        (["film.avi", "--size-mm", "160x120"], 3, "go together"),
        (["film.avi", "--plot", "film.avi/sheet.png"], 4, "film.avi"),
    ],
)
def test_what_is_wrong_is_said_in_words(
    arguments: list[str],
    code: int,
    words: str,
    video: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "broken.mp4").write_bytes(b"no video")
    (tmp_path / "film.avi").write_bytes(video.read_bytes())
    assert run(["scene", *arguments]) == code
    assert words in capsys.readouterr().err
