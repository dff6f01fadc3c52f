# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Varjo headsets: the gaze log that Varjo Base, or its logger for Unity, is writing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from gazeveil.gateway.bridge import BRIDGES, NOWHERE, BridgeKind, Point
from gazeveil.gateway.bridges.headset_logs import LogTail, Rows, angles
from gazeveil.gaze.fileio.columns import Columns
from gazeveil.gaze.formats.base import ReadOptions
from gazeveil.gaze.formats.varjo_csv import GOOD_GAZE, varjo_layout

TITLE: Final = "Varjo gaze log"
_NANOSECONDS: Final = 1e9


class VarjoRows(Rows):
    """Rows of a Varjo log: the headset's own combined direction."""

    def __init__(self, columns: Columns) -> None:
        vectors, text, numbers, _ = varjo_layout(columns, ReadOptions())
        super().__init__(columns, vectors, numbers, text)

    def moment(self, t: float) -> float:
        """Return seconds: Varjo counts nanoseconds."""
        return t / _NANOSECONDS

    def gaze(self, cells: Sequence[str]) -> Point:
        """Return the combined gaze where its status is good."""
        return angles(self.vector(cells, "both_dir")) if self.word(cells, "valid") in GOOD_GAZE else NOWHERE


BRIDGES.register("varjo")(
    BridgeKind(
        name="varjo",
        title=TITLE,
        unit="deg",
        open=lambda device, _: LogTail(TITLE, device, VarjoRows),
        device="the log that is being written",
        withheld={
            "left_…, right_…": "Gaze, pupil and openness of one eye.",
            "HMDPosition, HMDRotation": "Pose of the head.",
            "focus_distance, every other column": "Unknown, or of raw gaze.",
        },
    )
)
