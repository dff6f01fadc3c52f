# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""OpenCV, imported on use."""

from __future__ import annotations

import os
from functools import cache
from typing import Any

from gazeveil.errors import needing


@cache
def opencv(purpose: str = "looking at frames") -> Any:
    """Return the module cv2; it prints nothing of its own, since what it has to say goes into our errors.

    Raises:
        MissingExtra: If it is not installed.
    """
    os.environ.setdefault("OPENCV_LOG_LEVEL", "OFF")
    os.environ.setdefault("OPENCV_FFMPEG_LOGLEVEL", "-8")
    with needing("opencv-python-headless", "scene", purpose):
        import cv2  # noqa: PLC0415
    return cv2
