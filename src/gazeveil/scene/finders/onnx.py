# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Regions from an object detector in an ONNX file: any YOLO or SSD whose outputs are laid out in a usual way."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gazeveil.errors import FileFormatError, InputError, OptionError, needing
from gazeveil.gaze.opencv import opencv
from gazeveil.scene._detections import Detections, read_outputs
from gazeveil.scene.finder import FINDERS, Finder
from gazeveil.scene.pixels import Pixels, checked
from gazeveil.scene.regions import Regions, as_regions, without_doubles

CONFIDENCE = 0.3
"""Detections below this are left out."""
_MOST = 100
_SIDE = 640
"""Pixels of the longer side, where the network takes any size."""
_PADDING = 114
"""The grey that YOLO networks know as nothing."""
_TYPES = {"tensor(uint8)": np.uint8, "tensor(float)": np.float32, "tensor(float16)": np.float16}


@FINDERS.register("onnx")
def onnx(model: Path | None = None) -> Finder:
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
        pixels = checked(frame)
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
