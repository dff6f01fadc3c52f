# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What every finder of regions keeps to, and what each finds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import astuple
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from gazeveil.errors import FileFormatError, InputError, MissingExtra, OptionError, UnknownName
from gazeveil.gaze.picture_model import is_installed
from gazeveil.scene.context import radii
from gazeveil.scene.frames import Pixels
from gazeveil.scene.onnx_finder import Detector, read_outputs
from gazeveil.scene.regions import FINDERS, MOST_REGIONS, Box, Finder, as_array, as_regions, densest, overlaps
from gazeveil.simulate.stimuli import clouds, page, painted, scene
from tests.scene.detectors import SHARED, write_detector

pytest.importorskip("cv2", reason="OpenCV is not installed")

THREE = np.array([[8, 8, 24, 24, 0.9, 1], [40, 8, 56, 40, 0.8, 2], [0, 0, 4, 4, 0.1, 0]], np.float32)
"""Corners, score, class: two that are sure, one that is not."""


def finder(name: str, folder: Path) -> Finder:
    if name == "saliency" and not is_installed():
        pytest.skip("the picture model is not installed")
    if name == "onnx":
        pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
        return FINDERS[name](write_detector(folder / "three.onnx", {"found": THREE[None]}))
    return FINDERS[name](None)


FRAMES: dict[str, Callable[[], Pixels]] = {
    "one pixel": lambda: np.zeros((1, 1, 3), np.uint8),
    "tiny": lambda: clouds(1, 9, 7),
    "a line": lambda: clouds(1, 900, 3),
    "a column": lambda: clouds(1, 3, 900),
    "black": lambda: np.zeros((90, 160, 3), np.uint8),
    "noise": lambda: np.random.default_rng(1).integers(0, 256, (90, 160, 3)).astype(np.uint8),
    "painted": lambda: painted(1, 320, 180),
    "page": lambda: page(1, 320, 180),
    "500 boxes": lambda: checkerboard(25, 20, 12),
    "large": lambda: np.kron(clouds(2, 240, 135), np.ones((16, 16, 1), np.uint8)),
}
SLOW = ("one pixel", "tiny", "black", "painted")
"""The picture model takes a quarter of a second a frame."""


@pytest.mark.parametrize("name", FINDERS.names())
def test_a_finder_answers_every_frame_with_boxes_inside_it(name: str, tmp_path: Path) -> None:
    find = finder(name, tmp_path)
    for what in SLOW if name == "saliency" else FRAMES:
        frame = FRAMES[what]()
        before = frame.copy()
        found = find(frame)
        assert len(found) <= MOST_REGIONS, what
        assert all(0 <= box.x0 < box.x1 <= 1 and 0 <= box.y0 < box.y1 <= 1 for box in found), what
        np.testing.assert_array_equal(frame, before)
        assert radii(found, 1920, 1080).small is not None or not found, what


@pytest.mark.parametrize("name", FINDERS.names())
@pytest.mark.parametrize("frame", [np.zeros((4, 4), np.uint8), np.zeros((4, 4, 3)), np.zeros((0, 4, 3), np.uint8)])
def test_a_finder_refuses_what_is_no_frame(name: str, frame: Pixels, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="frame"):
        finder(name, tmp_path)(frame)


def test_an_unknown_finder_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UnknownName, match="image, onnx, saliency"):
        FINDERS["yolo"]


@pytest.mark.parametrize("name", ["image", "saliency"])
def test_finders_without_weights_take_none(name: str) -> None:
    with pytest.raises(OptionError, match=name):
        FINDERS[name](Path("weights.onnx"))


def checkerboard(columns: int, rows: int, side: int) -> Pixels:
    """Return dark squares on white."""
    frame = np.full((rows * side, columns * side, 3), 240, np.uint8)
    for top, left in np.ndindex(rows, columns):
        frame[top * side : top * side + side // 2, left * side : left * side + side // 2] = 20
    return frame


def with_boxes(boxes: list[tuple[int, int, int, int]], width: int = 320, height: int = 200) -> Pixels:
    rng = np.random.default_rng(5)
    frame = np.full((height, width, 3), (245, 240, 230), np.uint8)
    for x0, y0, x1, y1 in boxes:
        frame[y0:y1, x0:x1] = rng.integers(0, 160, 3)
    return frame


@pytest.mark.parametrize(
    "boxes",
    [
        [(20, 30, 80, 70)],
        [(20, 30, 80, 70), (200, 100, 300, 180)],
        [(0, 0, 50, 20), (270, 180, 320, 200), (100, 80, 180, 120), (10, 150, 40, 190), (200, 20, 290, 60)],
    ],
)
def test_boxes_on_a_plain_ground_are_found_to_the_pixel_so_radii_are_exact_medians(
    boxes: list[tuple[int, int, int, int]],
) -> None:
    found = FINDERS["image"](None)(with_boxes(boxes))
    known = tuple(Box(x0 / 320, y0 / 200, x1 / 320, y1 / 200) for x0, y0, x1, y1 in boxes)
    np.testing.assert_allclose(sorted(found), sorted(known), atol=1e-9)
    halves = [0.5 * np.hypot(x1 - x0, y1 - y0) for x0, y0, x1, y1 in boxes]
    centres = np.array([((x0 + x1) / 2, (y0 + y1) / 2) for x0, y0, x1, y1 in boxes])
    apart = [np.hypot(*(a - b)) for i, a in enumerate(centres) for b in centres[:i]]
    answer = radii(found, 320, 200)
    assert answer.small == pytest.approx(np.median(halves))
    assert answer.large == (None if len(boxes) == 1 else pytest.approx(np.median(apart)))


def test_boxes_of_a_large_screen_are_found_to_a_few_pixels() -> None:
    boxes = [(120, 120, 640, 420), (1000, 500, 1800, 1000), (150, 700, 500, 900)]
    found = FINDERS["image"](None)(with_boxes(boxes, 1920, 1080))
    known = as_array([Box(x0 / 1920, y0 / 1080, x1 / 1920, y1 / 1080) for x0, y0, x1, y1 in boxes])
    assert len(found) == 3
    assert overlaps(as_array(found), known).max(axis=1).min() > 0.95


def test_a_paragraph_is_one_region_and_not_a_region_per_letter() -> None:
    frame = np.full((400, 640, 3), 255, np.uint8)
    for x0, y0, lines in ((40, 40, 8), (340, 40, 8), (40, 260, 6)):
        for line in range(lines):
            for letter in range(30):
                frame[y0 + 14 * line : y0 + 14 * line + 8, x0 + 8 * letter : x0 + 8 * letter + 5] = 10
    found = sorted(FINDERS["image"](None)(frame))
    assert len(found) == 3
    known = [Box(40 / 640, 40 / 400, 277 / 640, 146 / 400), Box(40 / 640, 260 / 400, 277 / 640, 338 / 400)]
    np.testing.assert_allclose(found[:2], known, atol=0.01)


def test_faces_signs_and_things_of_painted_scenes_are_found_and_radii_come_near() -> None:
    # 24 scenes: 69 % of the regions, 73 % of the boxes are regions, r_small 1.05 and r_large 1.00 times the true ones
    found_share, right_share, ratios = [], [], []
    for seed in range(8):
        stimulus = scene(seed, 0)
        known = as_array(Box(*region.box) for region in stimulus.regions).clip(0, 1)
        regions = FINDERS["image"](None)(stimulus.picture(320, 180))
        same = overlaps(known, as_array(regions)) > 0.3
        found_share.append(same.any(axis=1).mean())
        right_share.append(same.any(axis=0).mean())
        ours, true = radii(regions, 320, 180), radii(as_regions(known), 320, 180)
        ratios.append([one / other for one, other in zip(astuple(ours), astuple(true), strict=True)])
    assert np.mean(found_share) > 0.5
    assert np.mean(right_share) > 0.5
    assert ((np.median(ratios, axis=0) > 0.75) & (np.median(ratios, axis=0) < 1.33)).all()


@pytest.mark.skipif(not is_installed(), reason="the picture model is not installed")
def test_the_picture_model_finds_faces_and_signs_rather_than_sky() -> None:
    stimulus = scene(3, 0)
    found = FINDERS["saliency"](None)(stimulus.picture(480, 270))
    assert found
    centres = np.array([((box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2) for box in found])
    near = stimulus.attraction(centres[:, 0], centres[:, 1], np.ones(len(stimulus.regions)))
    sky = stimulus.attraction(np.linspace(0.05, 0.95, 50), np.full(50, 0.04), np.ones(len(stimulus.regions)))
    assert near.mean() > 2 * sky.mean()


def test_the_densest_part_is_the_smallest_that_holds_a_share() -> None:
    values = np.array([[5.0, 1, 1], [1, 4, 1], [1, 1, 1]])
    assert densest(values, 0.5).tolist() == [[True, False, False], [False, True, False], [False, False, False]]
    assert not densest(np.ones((4, 4)), 0.5).any()


KNOWN = [(0.125, 0.125, 0.375, 0.375), (0.625, 0.125, 0.875, 0.625)]
CENTRES = np.array([[16, 16, 16, 16], [48, 24, 16, 32], [2, 2, 4, 4]], np.float32)
CORNERS = THREE[:, :4]
SCORES = np.array([[0.9, 0.1], [0.2, 0.8], [0.1, 0.0]], np.float32)
LAYOUTS: dict[str, tuple[dict[str, NDArray[np.generic]], bool]] = {
    "YOLO 8": ({"o": np.concatenate([np.tile(CENTRES, (4, 1)), np.tile(SCORES, (4, 1))], axis=1).T[None]}, False),
    "YOLO 5": (
        {
            "o": np.concatenate(
                [np.tile(CENTRES, (4, 1)), np.ones((12, 1), np.float32), np.tile(SCORES, (4, 1))], axis=1
            )[None]
        },
        False,
    ),
    "YOLO with suppression": ({"o": THREE[None]}, False),
    "YOLO with suppression, flat": (
        {"o": np.concatenate([np.zeros((3, 1), np.float32), CORNERS, THREE[:, 5:], THREE[:, 4:5]], axis=1)},
        False,
    ),
    "SSD of Caffe": (
        {
            "o": np.concatenate([np.zeros((3, 1), np.float32), THREE[:, 5:], THREE[:, 4:5], CORNERS / 64], axis=1)[
                None, None
            ]
        },
        False,
    ),
    "SSD of TensorFlow, raw": ({"scores": SCORES[None], "boxes": (CORNERS[:, [1, 0, 3, 2]] / 64)[None, :, None]}, True),
    "SSD of TensorFlow": (
        {
            "detection_boxes": (CORNERS[:, [1, 0, 3, 2]] / 64)[None],
            "detection_classes": np.array([[1, 2, 0]], np.float32),
            "detection_scores": THREE[None, :, 4],
            "num_detections": np.array([3], np.float32),
        },
        True,
    ),
    "torchvision": ({"b": CORNERS, "l": np.array([1, 2, 3]), "s": np.ascontiguousarray(THREE[:, 4])}, False),
    "SSD with a background class": (
        {"boxes": (CORNERS / 64)[None], "scores": np.array([[[0.1, 0.9], [0.2, 0.8], [0.9, 0.1]]], np.float32)},
        False,
    ),
    "YOLO 3 of the zoo": (
        {"b": CORNERS[None][:, :, [1, 0, 3, 2]], "s": SCORES.T[None].copy(), "i": np.array([[[0, 0, 0]]])},
        True,
    ),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_outputs_of_detectors_are_read_by_their_shapes(layout: str) -> None:
    outputs, rows_first = LAYOUTS[layout]
    found = read_outputs(outputs, 64, 64, rows_first=rows_first)
    sure = sorted(set(as_regions(found.boxes[found.scores > 0.3])))
    np.testing.assert_allclose(sure, KNOWN, atol=1e-6)


@pytest.mark.parametrize(
    ("outputs", "words"),
    [
        ({"o": np.zeros((1, 125, 13, 13), np.float32)}, "not known: o"),
        ({"o": np.zeros((1, 1000), np.float32)}, "not known"),
        ({"a": np.zeros((1, 255, 13, 13), np.float32), "b": np.zeros((1, 255, 26, 26), np.float32)}, "not known"),
        ({"boxes": CORNERS, "classes": np.array([1.0, 2, 3])}, "not known"),
        ({"boxes": CORNERS, "more": CORNERS.copy(), "scores": SCORES}, "not known"),
        ({"boxes": CORNERS, "scores": SCORES * 20 - 5}, "not from 0 to 1"),
        (
            {"boxes": CENTRES[:, [2, 3, 0, 1]] * np.array([3, 3, 1, 1], np.float32), "scores": SCORES},
            "by their corners",
        ),
    ],
)
def test_outputs_of_another_layout_are_refused_and_never_guessed(
    outputs: dict[str, NDArray[np.generic]], words: str
) -> None:
    with pytest.raises(InputError, match=words):
        read_outputs(outputs, 64, 64, rows_first=False)


def test_a_detector_sees_the_frame_in_the_upper_left_of_its_square(tmp_path: Path) -> None:
    # the model answers boxes in its own 64 x 64 pixels, of which a frame twice as wide as high fills the upper half
    find = finder("onnx", tmp_path)
    wide = sorted(find(np.zeros((100, 200, 3), np.uint8)))
    np.testing.assert_allclose(wide, [(0.125, 0.25, 0.375, 0.75), (0.625, 0.25, 0.875, 1.0)], atol=1e-6)
    np.testing.assert_allclose(sorted(find(np.zeros((64, 64, 3), np.uint8))), KNOWN, atol=1e-6)


def test_a_detector_of_any_size_and_one_that_asks_for_the_size_are_run(tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    bytes_in = write_detector(tmp_path / "rows.onnx", LAYOUTS["SSD of TensorFlow, raw"][0], ("n", "h", "w", 3), kind=2)
    asks = write_detector(
        tmp_path / "asks.onnx",
        LAYOUTS["YOLO 3 of the zoo"][0],
        (1, 3, 64, 64),
        more_inputs={"image_shape": (1, (1, 2))},
    )
    for path in (bytes_in, asks):
        np.testing.assert_allclose(sorted(Detector.load(path)(np.zeros((64, 64, 3), np.uint8))), KNOWN, atol=1e-6)


@pytest.mark.parametrize(
    ("content", "words"),
    [(b"", "expected an ONNX model"), (b"not a model at all", "expected an ONNX model"), (None, "nothing there")],
)
def test_a_file_that_is_no_model_is_refused(content: bytes | None, words: str, tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    path = tmp_path / "model.onnx"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InputError, match=words):
        FINDERS["onnx"](path)


@pytest.mark.parametrize(
    ("shape", "words"),
    [((1, 1, 64, 64), "3 channels"), ((1, 3, 64), "3 channels"), ((8, 3, 64, 64), "batches of 8")],
)
def test_a_model_that_takes_no_picture_is_refused(shape: tuple[int, ...], words: str, tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    path = write_detector(tmp_path / "model.onnx", {"found": THREE[None]}, shape)
    with pytest.raises(FileFormatError, match=words):
        FINDERS["onnx"](path)


def test_a_model_with_an_unknown_answer_is_refused_with_its_name(tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    path = write_detector(tmp_path / "classifier.onnx", {"logits": np.zeros((1, 1000), np.float32)})
    with pytest.raises(InputError, match=r"classifier\.onnx: the outputs are laid out"):
        FINDERS["onnx"](path)(np.zeros((64, 64, 3), np.uint8))


def test_the_finder_onnx_needs_a_file() -> None:
    with pytest.raises(OptionError, match="needs a detector's file"):
        FINDERS["onnx"](None)


@pytest.mark.skipif(SHARED is None, reason="no detector is there")
def test_a_real_detector_finds_a_thing_in_a_frame() -> None:
    pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    find = FINDERS["onnx"](SHARED)
    found = find(np.kron(painted(4, 320, 180), np.ones((2, 2, 1), np.uint8)))
    assert all(0 <= box.x0 < box.x1 <= 1 for box in found)
    assert find(np.zeros((240, 320, 3), np.uint8)) == ()


@pytest.mark.parametrize(("module", "name"), [("cv2", "image"), ("cv2", "saliency"), ("onnxruntime", "onnx")])
def test_a_missing_package_is_said_with_what_to_install(
    module: str, name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from gazeveil.gaze.video import opencv

    opencv.cache_clear()
    monkeypatch.setitem(__import__("sys").modules, module, None)
    try:
        with pytest.raises(MissingExtra, match=r"pip install 'gazeveil\[(scene|onnx)\]'"):
            FINDERS[name](tmp_path / "model.onnx" if name == "onnx" else None)
    finally:
        opencv.cache_clear()
