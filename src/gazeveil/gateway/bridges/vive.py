# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""HTC Vive Pro Eye: the log that a program is writing of SRanipal's values or of Tobii Pro's.

As in files of it, the positions of the two eyes say which way x grows; until a row has them, gaze is missing. They
are reported only if the log gives them in mm.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

import numpy as np

from gazeveil.errors import WireError
from gazeveil.gateway.bridge import BRIDGES, NOWHERE, BridgeKind, Point, mean_of
from gazeveil.gateway.bridges.headset_logs import LogTail, Rows, angles
from gazeveil.gateway.sample import FARTHEST_MM, ORIGINS, EyeGeometry, Place, RawSample
from gazeveil.gaze.fileio.columns import Columns, parse_name
from gazeveil.gaze.fileio.row_assembly import VectorColumns
from gazeveil.gaze.formats.base import ReadOptions
from gazeveil.gaze.formats.vive_csv import DIRECTION_BIT, TICK, TICKS_PER_SECOND, TRUE, per_second_of, vive_layout

TITLE: Final = "Vive Pro Eye gaze log"
_LOOKED_AT: Final = 30
"""Rows whose steps say what time is counted in, where the log does not."""
_SIDES: Final = ("left", "right")
_MM: Final = "mm"
_ORIGIN_BIT: Final = 1


class ViveRows(Rows):
    """Rows of a log of the Vive Pro Eye."""

    def __init__(self, columns: Columns) -> None:
        known = vive_layout(columns, ReadOptions())
        super().__init__(columns, known.vectors, known.numbers, known.text)
        self._both = "both" in known.directions
        self._path, self._column = columns.path, known.numbers["t"]
        words, unit = parse_name(self._column)
        named = {TICK: TICKS_PER_SECOND}.get(unit) or (1e6 if words == "devicetimestamp" else None)
        self._second = known.per_second or named
        self._times: list[float] = []
        self._right = 0.0
        places = VectorColumns(columns)
        for side in _SIDES:
            places.find(f"{side}_place", known.names.origin.replace("EYE", known.names.eyes[side]))
        self._numbers |= places.numbers
        self._text |= places.text
        names = [parse_name(name) for name in (*places.numbers.values(), *places.text.values())]
        self._in_mm = all(name.unit == _MM or f"origin{_MM}" in name.words for name in names)

    def read(self, cells: Sequence[str]) -> RawSample | None:
        """Return the sample of a row; none until the first rows have shown what time is counted in."""
        if self._second is not None:
            return super().read(cells)
        if len(cells) == self._width and not math.isnan(t := self.number(cells, "t")):
            self._times.append(t)
        if len(self._times) >= _LOOKED_AT:
            self._second = per_second_of(self._path, np.array(self._times), self._column)
        return None

    def moment(self, t: float) -> float:
        """Return seconds."""
        return t / (self._second or math.nan)

    def gaze(self, cells: Sequence[str]) -> Point:
        """Return the combined gaze, or the mean of the eyes that have some.

        Raises:
            WireError: If the eyes have changed sides: then nobody knows which way x grows.
        """
        if not self._knows_right(cells):
            return NOWHERE
        eyes = [self._eye(cells, side) for side in _SIDES]
        if not self._both:
            return mean_of(*eyes)
        is_valid = self._is_valid(cells, "")
        if is_valid is None:
            by_eye = [self._is_valid(cells, f"{side}_") for side in _SIDES]
            is_valid = None if None in by_eye else any(by_eye)
        return NOWHERE if is_valid is False else angles(self.vector(cells, "both_dir"), self._right)

    def eyes(self, cells: Sequence[str]) -> EyeGeometry | None:
        """Return where the eyes are, to the right, down and ahead, if the log counts that in mm."""
        if not self._in_mm or not self._right:
            return None
        left, right = (self._place_of(cells, side) for side in _SIDES)
        return EyeGeometry(left, right)

    def _place_of(self, cells: Sequence[str], side: str) -> Place | None:
        if self._is_valid(cells, f"{side}_", _ORIGIN_BIT) is False:
            return None
        x, up, ahead = self.vector(cells, f"{side}_place")
        place = self._right * x, -up, ahead
        return place if all(abs(one) <= FARTHEST_MM for one in place) else None  # NaN is not, either

    def _eye(self, cells: Sequence[str], side: str) -> Point:
        if not self.has(f"{side}_dir") or self._is_valid(cells, f"{side}_") is False:
            return NOWHERE
        return angles(self.vector(cells, f"{side}_dir"), self._right)

    def _is_valid(self, cells: Sequence[str], prefix: str, bit: int = DIRECTION_BIT) -> bool | None:
        """Return whether a direction, or what the bit stands for, is valid; None if the log does not say."""
        name = f"{prefix}valid"
        if name in self._text:
            return self.word(cells, name) in TRUE
        if name not in self._numbers:
            return None
        mask = self.number(cells, name)
        return 0 <= mask <= 31 and mask == int(mask) and bool(int(mask) & bit)

    def _knows_right(self, cells: Sequence[str]) -> bool:
        left, right = (self.vector(cells, f"{side}_eye")[0] for side in _SIDES)
        apart = (0.0 if math.isnan(left) else left) - (0.0 if math.isnan(right) else right)
        if apart:
            now = -1.0 if apart > 0 else 1.0
            if self._right not in (0.0, now):
                raise WireError(f"{TITLE}: the eyes have changed sides", hint="which way x grows is not known any more")
            self._right = now
        return bool(self._right)


BRIDGES.register("vive")(
    BridgeKind(
        name="vive",
        title=TITLE,
        unit="deg",
        open=lambda device, _: LogTail(TITLE, device, ViveRows),
        device="the log that is being written",
        knows=frozenset({ORIGINS}),
        withheld={
            "gaze origins": "Positions of the eyes: a biometric. Sent only where the policy's fields name `origins`.",
            "pupil diameter, openness": "Not veiled.",
            "every other column": "Unknown.",
        },
    )
)
