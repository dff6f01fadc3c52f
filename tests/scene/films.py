# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Video files for tests."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from gazeveil.gaze.video import opencv
from gazeveil.scene.frames import Pixels

pytest.importorskip("cv2", reason="OpenCV is not installed")
cv2 = opencv()


def write(path: Path, frames: Iterable[tuple[float, Pixels]], rate: float, code: str = "MJPG") -> Path:
    """Encode frames."""
    writer = None
    for _, frame in frames:
        if writer is None:
            writer = cv2.VideoWriter(str(path), cv2.VideoWriter.fourcc(*code), rate, frame.shape[1::-1])
            assert writer.isOpened()
        writer.write(frame[:, :, ::-1])
    assert writer is not None
    writer.release()
    return path
