# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Pictures as bytes: PNG and JPEG in, PNG out. What comes from an app is not trusted: its size is read first."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np

from gazeveil.errors import InputError
from gazeveil.gaze.opencv import opencv
from gazeveil.gaze.video import check_size
from gazeveil.scene.pixels import Pixels, checked

MOST_BYTES = 32 * 1024 * 1024
_PNG = b"\x89PNG\r\n\x1a\n"
_JPEG = b"\xff\xd8"
_WITHOUT_LENGTH = {0x01, *range(0xD0, 0xD8)}
_FRAMES = set(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
"""Markers of a JPEG that say how large it is."""


def decode(data: bytes) -> Pixels:
    """Return a PNG or JPEG picture as a frame.

    Raises:
        InputError: If it is none, is damaged, or is too large; nothing is decoded before its size is known.
        MissingExtra: If OpenCV is not installed.
    """
    if len(data) > MOST_BYTES:
        raise InputError(f"a picture of {len(data):,} bytes is more than the {MOST_BYTES:,} that are taken")
    check_size(*_size(data), "the picture")
    cv2 = opencv("reading pictures")
    try:
        found = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR | cv2.IMREAD_IGNORE_ORIENTATION)
    except cv2.error:
        found = None
    if found is None:
        raise InputError("the picture is damaged", hint="send a whole PNG or JPEG file")
    return _swapped(found)


def encode_png(frame: Pixels) -> bytes:
    """Return a frame as a PNG file.

    Raises:
        InputError: If that is no frame.
        MissingExtra: If OpenCV is not installed.
    """
    done, data = opencv("writing pictures").imencode(".png", _swapped(checked(frame)))
    if not done:
        raise InputError("the frame could not be written as PNG")
    return bytes(data)


def _swapped(pixels: Any) -> Pixels:
    """Return red, green, blue as blue, green, red or the other way: OpenCV's order is not ours."""
    return np.ascontiguousarray(pixels[:, :, ::-1])


def _size(data: bytes) -> tuple[int, int]:
    """Return width and height as the file says them.

    Raises:
        InputError: If it is no PNG or JPEG, or says none.
    """
    if data.startswith(_PNG) and len(data) >= 24 and data[12:16] == b"IHDR":
        width, height = struct.unpack(">II", data[16:24])
        return int(width), int(height)
    if data.startswith(_JPEG):
        return _jpeg_size(data)
    raise InputError("this is no PNG or JPEG picture", hint="send the bytes of such a file")


def _jpeg_size(data: bytes) -> tuple[int, int]:
    place = 2
    while place + 9 <= len(data) and data[place] == 0xFF:
        marker = data[place + 1]
        if marker == 0xFF or marker in _WITHOUT_LENGTH:
            place += 1 if marker == 0xFF else 2
        elif marker in _FRAMES:
            height, width = struct.unpack(">HH", data[place + 5 : place + 9])
            return int(width), int(height)
        else:
            place += 2 + int.from_bytes(data[place + 2 : place + 4], "big")
    raise InputError("the JPEG picture does not say how large it is", hint="send a whole file")
