# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Regions from an object detector in an ONNX file: any YOLO or SSD whose outputs are laid out in a usual way.

=============================  =========================================================================
shape (without the batch)      what it is
=============================  =========================================================================
one, 4 + classes by N          YOLO 8 to 12: centre, size, scores
one, N by 5 + classes          YOLO 3 to 7: centre, size, how sure, scores
one, N up to 1000 by 6         YOLO with its own suppression: corners, score, class
one, N by 7                    the same: picture, corners, class, score; of 4 dimensions: SSD (Caffe)
several, N by 4 and scores     SSD, TensorFlow, torchvision: corners; scores N, N by classes, classes by N
=============================  =========================================================================

Corners are x first, or y first where the network takes rows, columns, channels (TensorFlow). Coordinates are shares if
none is above 2, else pixels of the network's input. An answer of any other layout is refused, never guessed.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gazeveil.arrays import FloatArray
from gazeveil.errors import FileFormatError, InputError, OptionError, needing
from gazeveil.gaze.video import opencv
from gazeveil.scene.frames import Pixels, checked_frame
from gazeveil.scene.regions import Finder, Regions, as_regions, without_doubles

_SHARES = 2.0
_FINAL = 1000
"""Networks that suppress doubles themselves answer at most about this many boxes; others have thousands of candidates.
"""


@dataclass(frozen=True, slots=True, eq=False)
class Detections:
    """Boxes as x0, y0, x1, y1 in shares of the network's input, and how sure each is."""

    boxes: FloatArray
    scores: FloatArray


def read_outputs(outputs: Mapping[str, Any], width: int, height: int, *, rows_first: bool) -> Detections:
    """Return what a detector's outputs say.

    Args:
        outputs: By name.
        width: Pixels across of the network's input.
        height: Pixels down.
        rows_first: Whether corners are y first.

    Raises:
        InputError: If the layout is not known.
    """
    arrays = {name: np.asarray(array) for name, array in outputs.items()}
    found = _one(*arrays.values()) if len(arrays) == 1 else _several(arrays, rows_first=rows_first)
    if found is None:
        shapes = ", ".join(f"{name} {array.shape}" for name, array in arrays.items())
        raise InputError(
            f"the outputs are laid out in a way that is not known: {shapes}", hint="give a YOLO or SSD model"
        )
    boxes, scores = (np.asarray(part, dtype=np.float64) for part in found)
    known = np.isfinite(boxes).all(axis=1) & np.isfinite(scores)
    boxes, scores = boxes[known], scores[known]
    if len(scores) and not (scores.min() >= -1e-3 and scores.max() <= 1 + 1e-3):
        raise InputError(
            f"scores go from {scores.min():.3g} to {scores.max():.3g}, not from 0 to 1",
            hint="export the model with its last activation",
        )
    if len(boxes) and boxes.max() > _SHARES:
        boxes = boxes / np.array([width, height, width, height])
    sure = scores > 0.5
    if sure.any() and np.mean((boxes[sure, 2:] <= boxes[sure, :2]).any(axis=1)) > 0.5:
        raise InputError("boxes are not given by their corners", hint="give a YOLO or SSD model")
    return Detections(boxes, scores)


def _one(array: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]] | None:
    if array.ndim == 4 and array.shape[:2] == (1, 1) and array.shape[3] == 7:
        rows = array[0, 0]
        return rows[:, 3:7], rows[:, 2]
    rows = array[0] if array.ndim == 3 and array.shape[0] == 1 else array
    if rows.ndim != 2:
        return None
    count, fields = rows.shape
    if fields == 6 and count <= _FINAL:
        return rows[:, :4], rows[:, 4]
    if fields == 7 and array.ndim == 2:
        return rows[:, 1:5], rows[:, 6]
    if 5 <= count < fields:
        return _corners(rows[:4].T), rows[4:].max(axis=0)
    if 6 <= fields < count:
        return _corners(rows[:, :4]), rows[:, 4] * rows[:, 5:].max(axis=1)
    return None


def _corners(rows: NDArray[Any]) -> NDArray[Any]:
    """Return centre and size as corners."""
    centre, half = rows[:, :2], rows[:, 2:] / 2
    return np.concatenate([centre - half, centre + half], axis=1)


def _several(arrays: Mapping[str, NDArray[Any]], *, rows_first: bool) -> tuple[NDArray[Any], NDArray[Any]] | None:
    plain = {name: _without_ones(array) for name, array in arrays.items()}
    boxes = [array for array in plain.values() if array.ndim == 2 and array.shape[1] == 4 and array.dtype.kind == "f"]
    if len(boxes) != 1:
        return None
    rows = boxes[0][:, [1, 0, 3, 2]] if rows_first else boxes[0]
    scores = _scores({name: array for name, array in plain.items() if array is not boxes[0]}, len(rows))
    return None if scores is None else (rows, scores)


def _without_ones(array: NDArray[Any]) -> NDArray[Any]:
    """Return an array without the batch, and boxes without the dimension that says that all classes share them."""
    array = array[0] if array.ndim > 1 and array.shape[0] == 1 and array.shape != (1, 4) else array
    return array[:, 0] if array.ndim == 3 and array.shape[1:] == (1, 4) else array


def _scores(others: Mapping[str, NDArray[Any]], count: int) -> NDArray[Any] | None:
    """Return how sure each box is, from what else was answered."""
    tables = [
        array for array in others.values() if array.ndim == 2 and count in array.shape and array.dtype.kind == "f"
    ]
    if len(tables) == 1:
        table = tables[0] if tables[0].shape[0] == count else tables[0].T
        if table.shape[1] > 1 and len(table) and np.allclose(table.sum(axis=1), 1, atol=1e-2):
            table = table[:, 1:]  # the first class of a softmax is the background
        return np.asarray(table.max(axis=1))
    lists = {name: array for name, array in others.items() if array.shape == (count,) and array.dtype.kind == "f"}
    named = [array for name, array in lists.items() if "score" in name.lower() or "conf" in name.lower()]
    fitting = named or [array for array in lists.values() if not len(array) or _are_scores(array)]
    return fitting[0] if len(fitting) == 1 else None


def _are_scores(values: NDArray[Any]) -> bool:
    """Whether numbers can be scores rather than numbers of classes."""
    return bool((values >= 0).all() and (values <= 1).all() and (values != np.rint(values)).any())


# --- The finder, and the detector that it runs.


CONFIDENCE = 0.3
"""Detections below this are left out."""
_MOST = 100
_SIDE = 640
"""Pixels of the longer side, where the network takes any size."""
_PADDING = 114
"""The grey that YOLO networks know as nothing."""
_TYPES = {"tensor(uint8)": np.uint8, "tensor(float)": np.float32, "tensor(float16)": np.float16}


def onnx_finder(model: Path | None = None) -> Finder:
    """Return a finder that runs a detector.

    Raises:
        OptionError: If no file is given.
        FileFormatError: If it is no ONNX model, or none that takes a picture.
        MissingExtra: If onnxruntime or OpenCV is not installed.
    """
    if model is None:
        raise OptionError("the finder 'onnx' needs a detector's file", hint="give a YOLO or SSD model in ONNX format")
    return Detector.load(Path(model))


@dataclass(frozen=True, slots=True, eq=False)
class Detector:
    """A detector that is loaded.

    Attributes:
        path: Its file, for messages.
        session: onnxruntime's session.
        channels_first: Whether red, green and blue come before rows and columns, as PyTorch has it.
        size: Width and height of its input; None where any will do.
    """

    path: Path
    session: Any
    channels_first: bool
    size: tuple[int | None, int | None]

    @staticmethod
    def load(path: Path) -> Detector:
        """Load a file."""
        opencv("finding regions")
        with needing("onnxruntime", "onnx", "running a detector"):
            import onnxruntime  # noqa: PLC0415
        if not path.is_file():
            raise InputError(f"{path}: nothing there", hint="give the ONNX file of a detector")
        onnxruntime.disable_telemetry_events()
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1  # gaze needs the other cores
        options.log_severity_level = 4
        try:
            session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        except Exception as error:  # noqa: BLE001  (its kinds of errors have no common base of their own)
            found = str(error).splitlines()[0][:200]
            raise FileFormatError(path, expected="an ONNX model", found=found, hint="export the model again") from None
        return Detector._around(path, session)

    @staticmethod
    def _around(path: Path, session: Any) -> Detector:
        first, *others = session.get_inputs()
        shape = list(first.shape)
        asks_for_size = len(others) == 1 and len(others[0].shape) == 2 and others[0].shape[1] == 2
        if (
            len(shape) != 4
            or 3 not in (shape[1], shape[3])
            or first.type not in _TYPES
            or (others and not asks_for_size)
        ):
            raise FileFormatError(
                path,
                expected="a model that takes one picture of 3 channels",
                found=", ".join(f"{each.type} {each.shape}" for each in session.get_inputs()),
                hint="give an object detector such as YOLO or SSD",
            )
        if isinstance(shape[0], int) and shape[0] != 1:
            raise FileFormatError(
                path,
                expected="a model that takes one picture",
                found=f"batches of {shape[0]}",
                hint="export it with batch size 1",
            )
        channels_first = shape[1] == 3
        height, width = shape[2:] if channels_first else shape[1:3]
        fixed = tuple(side if isinstance(side, int) and side > 0 else None for side in (width, height))
        return Detector(path, session, channels_first, (fixed[0], fixed[1]))

    def __call__(self, frame: Pixels) -> Regions:
        """Return what is detected in a frame, most certain first.

        Raises:
            InputError: If that is no frame, or the model's answer has an unknown layout.
        """
        pixels = checked_frame(frame)
        fitted, scale = self._fitted(pixels)
        found = self._detected(fitted)
        sure = found.scores >= CONFIDENCE
        rows = found.boxes[sure] / np.array([*scale, *scale])
        kept = without_doubles(np.clip(rows, 0, 1), found.scores[sure], most=_MOST)
        return as_regions(kept)

    def _fitted(self, pixels: Pixels) -> tuple[Pixels, tuple[float, float]]:
        """Return the frame at the network's size, and which share of that it fills: upper left, grey around."""
        cv2 = opencv()
        height, width = pixels.shape[:2]
        if not self.channels_first:  # these learnt pictures that were stretched
            shrink = min(_SIDE / max(height, width), 1.0)
            size = [side or max(round(own * shrink), 1) for side, own in zip(self.size, (width, height), strict=True)]
            return np.asarray(cv2.resize(pixels, size, interpolation=cv2.INTER_AREA)), (1.0, 1.0)
        across, down = (side or _SIDE for side in self.size)
        fit = min(across / width, down / height)
        filled = [max(math.floor(own * fit), 1) for own in (width, height)]
        canvas = np.full((down, across, 3), _PADDING, np.uint8)
        canvas[: filled[1], : filled[0]] = cv2.resize(pixels, filled, interpolation=cv2.INTER_AREA)
        return canvas, (filled[0] / across, filled[1] / down)

    def _detected(self, picture: Pixels) -> Detections:
        first, *others = self.session.get_inputs()
        kind = _TYPES[first.type]
        values: NDArray[Any] = picture if kind is np.uint8 else (picture / np.float32(255)).astype(kind)
        inputs = {first.name: (values.transpose(2, 0, 1) if self.channels_first else values)[None]}
        height, width = picture.shape[:2]
        for other in others:
            inputs[other.name] = np.array([[height, width]], _TYPES.get(other.type, np.float32))
        names = [output.name for output in self.session.get_outputs()]
        try:
            answer = self.session.run(None, inputs)
        except Exception as error:  # noqa: BLE001  (see load)
            raise InputError(f"{self.path}: the model fails: {str(error).splitlines()[0][:200]}") from None
        rows_first = not self.channels_first or bool(others)
        try:
            return read_outputs(dict(zip(names, answer, strict=True)), width, height, rows_first=rows_first)
        except InputError as error:
            raise InputError(f"{self.path}: {error.message}", hint=error.hint) from None
