# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What trackers know and no app may: canaries in every raw field, and raw gaze with many random digits.

Both are drawn at random, so the chance that harmless bytes look like them can be computed whatever those bytes are.
"""

from __future__ import annotations

import random
import string
import time
from dataclasses import dataclass

import numpy as np

from gazeveil.geometry import Unit, screen

WIDTH, HEIGHT = 1920, 1080
SCREEN = screen(WIDTH, HEIGHT, 527, 296, 600)
CAMERA = (1600, 1200)
"""The picture of Neon's scene camera, as large as the screen seen from where it is."""
RECENT_S = 3.0
RECENT_EYES_S = 0.5
"""Points of single eyes are never read by the gateway: nothing could keep them for longer."""
COARSEST_FRACTION, COARSEST_PIXEL = 6e-5, 6e-3
"""How exactly a number must be told to be looked for: four places, or two of pixels."""

_FIELDS = 100
_LEAST, _MOST = 9 * 10**12, 10**13
monotonic = time.monotonic


class Canaries:
    """Numbers and words that mark raw fields. All numbers begin with the same 13 digits, all words with the same stem.

    Attributes:
        prefix: The digits.
        stem: The letters.
    """

    def __init__(self, randomly: random.Random) -> None:
        self.prefix = randomly.randrange(_LEAST, _MOST)
        self.stem = "".join(randomly.choices(string.ascii_letters, k=12))
        self._fields: dict[str, int] = {}

    def number(self, field: str) -> float:
        """Return a field's number: 15 digits before the point."""
        return self._values(self._index(field))[0]

    def share(self, field: str) -> float:
        """Return a field's number between 0.9 and 1, for fields in which any other would be implausible."""
        return self._values(self._index(field))[1]

    def word(self, field: str) -> str:
        """Return a field's word."""
        return f"{self.stem}{self._index(field):02d}"

    def texts(self) -> tuple[bytes, bytes]:
        """Return what to search for in text; points are to be taken out of it first, so that no scale hides digits."""
        return str(self.prefix).encode(), self.stem.encode()

    def doubles(self) -> list[tuple[float, float]]:
        """Return the ranges in which the numbers lie: as they are, as shares, and a thousand times more or less."""
        least, most = float(self.prefix * _FIELDS), float((self.prefix + 1) * _FIELDS)
        return [(least * scale, most * scale) for scale in (1.0, 1e-15, 1e-3, 1e3)]

    def floats(self) -> np.ndarray:
        """Return the numbers and the shares in single precision, where fields are not told apart."""
        each = {np.float32(value) for index in range(10, 90) for value in self._values(index)}
        return np.array(sorted(each), dtype=np.float32)

    def chance(self, searched: int) -> float:
        """Return an upper bound on how many canaries so many bytes show by chance.

        The digits are one of 10^12, drawn independently of the bytes, so at each place each of nine searches (digits,
        and four scales of doubles in two byte orders) succeeds with probability 10^-12 at most; the stem with 52^-12.
        """
        return searched * (9 / (_MOST - _LEAST) + 52.0**-12)

    def _values(self, index: int) -> tuple[float, float]:
        return float(self.prefix * _FIELDS + index), float(f"0.{self.prefix}{index:02d}")

    def _index(self, field: str) -> int:
        return self._fields.setdefault(field, 10 + len(self._fields) % 80)  # not 0 or 99: rounding keeps the prefix


@dataclass(frozen=True, slots=True)
class Points:
    """Raw points of the last seconds.

    Attributes:
        units: In each unit x and y, sorted by x, and the coarsest tolerance with which they are looked for.
        coordinates: All of them by themselves, sorted.
    """

    units: tuple[tuple[np.ndarray, np.ndarray, float], ...]
    coordinates: np.ndarray

    @staticmethod
    def of(kept: np.ndarray, *, up: bool, camera: bool = False) -> Points:
        """Return points, given in fractions, in every unit; ``up`` where y might also count upwards.

        ``camera`` where pixels might be those of glasses.
        """
        x, y = kept[:, 0], kept[:, 1]
        across, down = SCREEN.in_unit(Unit.FRACTION).convert(x, y, Unit.DEGREE)
        each = [
            (x, y, COARSEST_FRACTION),
            (x * WIDTH, y * HEIGHT, COARSEST_PIXEL),
            (across, down, COARSEST_FRACTION),
        ]
        if camera:
            each.append((x * CAMERA[0], y * CAMERA[1], COARSEST_PIXEL))
        if up:
            each += [
                (x, 1.0 - y, COARSEST_FRACTION),
                (x * WIDTH, (1.0 - y) * HEIGHT, COARSEST_PIXEL),
                (across, -down, COARSEST_FRACTION),
            ]
        units = []
        for a, b, coarsest in each:
            order = np.argsort(a)
            units.append((a[order], b[order], coarsest))
        return Points(tuple(units), np.sort(np.concatenate([axis for *axes, _ in each for axis in axes])))


class Gaze:
    """Gaze that never repeats: anywhere on the screen, with 12 random digits, since that makes chance hits rarest."""

    def __init__(self, randomly: random.Random) -> None:
        self._random = randomly
        self._kept = np.full((8192, 4), np.nan)
        self._kept[:, 0] = -np.inf
        self._at = 0

    def next(self) -> tuple[float, float]:
        """Return the next point, in fractions of the screen from the top left."""
        return self._keep(self._random.uniform(0.03, 0.97), self._random.uniform(0.03, 0.97), of_one_eye=False)

    def near(self, place: tuple[float, float]) -> tuple[float, float]:
        """Return a point near another, such as that of one eye; it counts as raw as well."""
        x, y = (at + self._random.uniform(-0.02, 0.02) for at in place)
        return self._keep(x, y, of_one_eye=True)

    def _keep(self, x: float, y: float, *, of_one_eye: bool) -> tuple[float, float]:
        x, y = self._told(x, y)
        self._kept[self._at % len(self._kept)] = monotonic(), x, y, of_one_eye
        self._at += 1
        return x, y

    def _told(self, x: float, y: float) -> tuple[float, float]:
        """Return a point as the tracker tells it."""
        return round(x, 12), round(y, 12)

    def everything(self) -> np.ndarray:
        """Return all points that are kept."""
        return self._kept[np.isfinite(self._kept[:, 1]), 1:3]

    def recent(self) -> np.ndarray:
        """Return the points of the last seconds."""
        now, sent = monotonic(), self._kept[:, 0]
        lasting = np.where(self._kept[:, 3] == 1.0, RECENT_EYES_S, RECENT_S)
        return self._kept[sent >= now - lasting, 1:3]


class CameraGaze(Gaze):
    """The same in pixels of glasses, which are told in single precision."""

    def _told(self, x: float, y: float) -> tuple[float, float]:
        return float(np.float32(x * CAMERA[0])) / CAMERA[0], float(np.float32(y * CAMERA[1])) / CAMERA[1]
