# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Kaleido as published, for gaze in degrees, by a name that says its guarantee: ``kaleido-as-published:3:0.5:small``.

What it does depends on the unit, because its tests ignore it (erratum K1). The paper counts in pixels, so it is given
pixels here. The threshold, for which the paper has no number (K7), is 200 of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from gazeveil.arrays import FloatArray
from gazeveil.errors import UnknownName
from gazeveil.geometry import Geometry
from gazeveil.lab.as_published.kaleido_stream import KaleidoAsPublished
from gazeveil.lab.experiments.veils import veil
from gazeveil.noise import NoiseSource
from gazeveil.privacy.guarantee import Guarantee
from gazeveil.samples.mechanism import SampleMechanism
from gazeveil.samples.recipes import LARGE, PER_DEGREE, SMALL
from gazeveil.samples.space import Screen

PUBLISHED: Final = KaleidoAsPublished.name
_RADII: Final = {"small": SMALL, "large": LARGE}
_THRESHOLD_PX: Final = 200.0


@dataclass(frozen=True, slots=True)
class InPixels:
    """A mechanism that counts in pixels, for gaze in degrees.

    Kaleido as published needs it: its tests ignore the unit (erratum K1), so that what it does depends on it.
    """

    mechanism: SampleMechanism
    corner: tuple[float, float]
    """Left and top of the viewing plane in degrees."""
    draws_noise: bool = True

    @property
    def guarantee(self) -> Guarantee:
        """What the mechanism guarantees."""
        return self.mechanism.guarantee

    def start(self, noise: NoiseSource) -> _Scaled:
        """Start the mechanism."""
        return _Scaled(self, noise)


@dataclass(frozen=True, slots=True)
class _Scaled:
    how: InPixels
    noise: NoiseSource

    def run(self, t: FloatArray, x: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
        left, top = self.how.corner
        across, down = self.how.mechanism.start(self.noise).run(t, (x - left) * PER_DEGREE, (y - top) * PER_DEGREE)
        return across / PER_DEGREE + left, down / PER_DEGREE + top


def published(epsilon: str, window: str, radius: str, plane: Geometry, rate_hz: float) -> InPixels:
    """Return Kaleido as published for a viewing plane in degrees.

    The radius is ``small`` or ``large``, that of the presets.
    """
    left, top, right, bottom = plane.extent()
    parameters: dict[str, Any] = {
        "epsilon": epsilon,
        "window": window,
        "radius": _RADII[radius],
        "l_thresh": _THRESHOLD_PX,
        "rate_hz": round(rate_hz),
    }
    screen = Screen((right - left) * PER_DEGREE, (bottom - top) * PER_DEGREE)
    return InPixels(KaleidoAsPublished(screen, **parameters), (left, top))


def veil_or_published(name: str, plane: Geometry, rate_hz: float = 100.0) -> SampleMechanism | InPixels | None:
    """Return a mechanism by the name that experiments use, or Kaleido as published.

    Raises:
        UnknownName: If there is none of that name.
    """
    kind, *rest = name.split(":")
    if kind != PUBLISHED:
        return veil(name, plane)
    if len(rest) != 3 or rest[2] not in _RADII:
        raise UnknownName(f"no mechanism is called {name!r}", hint=f"for example {PUBLISHED}:3:0.5:small")
    return published(rest[0], rest[1], rest[2], plane, rate_hz)
