# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What finds regions of interest: one small interface, found by name.

A new finder is one file in `gazeveil.scene.finders`::

    @FINDERS.register("faces")
    def faces(model: Path | None = None) -> Finder: ...

It is made once, which may load a model and take seconds, and called with each keyframe.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from gazeveil.registry import Registry
from gazeveil.scene.pixels import Pixels
from gazeveil.scene.regions import Regions


class Finder(Protocol):
    """Finds what can be looked at in a frame. It sees no gaze."""

    def __call__(self, frame: Pixels) -> Regions:
        """Return the regions of a frame, of any size from 1 x 1 pixel; none is an answer, too."""
        ...


FINDERS: Registry[Callable[[Path | None], Finder]] = Registry("finder of regions", "gazeveil.scene.finders")
"""By name, what makes a finder: ``FINDERS["onnx"](path)``. Those that need no file of weights take None."""
