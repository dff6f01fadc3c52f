# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Regions from the picture model: the smallest part of a frame that draws half of the gaze.

The model was trained on public gaze and sees the frame alone (docs/reference/picture-model.md).
"""

from __future__ import annotations

from pathlib import Path

from gazeveil.arrays import one_thread
from gazeveil.errors import OptionError
from gazeveil.gaze.picture_model import backbone, content_of
from gazeveil.gaze.video import opencv
from gazeveil.scene.frames import Pixels, checked_frame
from gazeveil.scene.regions import FINDERS, Finder, Regions, as_regions, boxes_around, densest

_SHARE = 0.5
"""Of the gaze that is predicted, how much falls into regions."""
_LEAST_SIDE = 8


@FINDERS.register("saliency")
def saliency(model: Path | None = None) -> Finder:
    """Return the finder that asks the picture model.

    Raises:
        MissingExtra: If the model's weights or OpenCV are not installed.
    """
    if model is not None:
        raise OptionError("the finder 'saliency' brings its own weights", hint="leave the file out")
    opencv("finding regions")
    backbone()
    return find


@one_thread()
def find(frame: Pixels) -> Regions:
    """Return the regions of a frame.

    Raises:
        InputError: If that is no frame.
        MissingExtra: If the model's weights or OpenCV are not installed.
    """
    pixels = checked_frame(frame)
    if min(pixels.shape[:2]) < _LEAST_SIDE:
        return ()
    return as_regions(boxes_around(densest(content_of(pixels), _SHARE)))
