# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The veils that attacks on scanpaths and attributes are measured behind, by the names of tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Protocol

from gazeveil.errors import UnknownName
from gazeveil.gaze.geometry import Geometry
from gazeveil.noise import NoiseSource
from gazeveil.privacy.guarantee import Guarantee
from gazeveil.samples.mechanism import MECHANISMS, SampleMechanism
from gazeveil.samples.presets import LARGE, PER_DEGREE, PRESETS, SMALL, preset
from gazeveil.samples.space import Screen, space_of
from gazeveil.types import FloatArray

NONE: Final = "none"
_PROMISES: Final = ("lphu", "mpmu", "hplu")
KALEIDO: Final = tuple(f"kaleido-{name}" for name in _PROMISES)
"""Kaleido's own algorithm, made sound, at the promises that the presets keep by the clock."""
PUBLISHED: Final = "kaleido-as-published"
_RADII: Final = {"small": SMALL, "large": LARGE}
_THRESHOLD_PX: Final = 200.0
"""How far gaze must move to be published; the paper gives no number (erratum K7)."""

VEILS: Final = (
    NONE,
    *KALEIDO,
    *_PROMISES,
    *(
        f"{name}-{strength}"
        for name in ("gaussian", "temporal", "spatial", "smoothing")
        for strength in ("low", "high")
    ),
)
"""Kaleido, our clock at the same promises, and the four veils of Wilson et al. 2024 at two strengths."""


class Run(Protocol):
    """A veil that was started."""

    def run(self, t: FloatArray, x: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the veiled gaze."""
        ...


@dataclass(frozen=True, slots=True)
class InPixels:
    """A mechanism that counts in pixels, for gaze in degrees.

    Kaleido as published needs it: its tests ignore the unit (erratum K1), so that what it does depends on it.
    """

    mechanism: SampleMechanism
    corner: tuple[float, float]
    """Left and top of the plane in degrees."""
    draws_noise: bool = True

    @property
    def guarantee(self) -> Guarantee:
        """What the mechanism guarantees."""
        return self.mechanism.guarantee

    def start(self, noise: NoiseSource) -> Run:
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


def veil(name: str, plane: Geometry, rate_hz: float = 100.0) -> SampleMechanism | InPixels | None:
    """Return a veil by name for gaze on a plane in degrees, so many samples a second; None for no veil.

    ``MECHANISM:EPSILON:WINDOW:RADIUS`` is a mechanism at one of Kaleido's guarantees; the radius is ``small`` or
    ``large``, that of the presets.

    Raises:
        UnknownName: If there is none of that name.
    """
    if name == NONE:
        return None
    if name in KALEIDO:
        promise = preset(name.removeprefix("kaleido-"), space_of(plane)).to_dict()
        return MECHANISMS["kaleido"](
            space_of(plane), **{part: promise[part] for part in ("epsilon", "window", "radius")}
        )
    if name in PRESETS:
        return preset(name, space_of(plane))
    kind, *rest = name.split(":")
    if len(rest) == 3 and rest[2] in _RADII and (kind == PUBLISHED or kind in MECHANISMS):
        return _at(kind, (rest[0], rest[1]), _RADII[rest[2]], plane, rate_hz)
    known = ", ".join([NONE, *KALEIDO, *PRESETS])
    raise UnknownName(f"no veil is called {name!r}", hint=f"known: {known}, and for example {PUBLISHED}:3:0.5:small")


def _at(
    kind: str, promise: tuple[str, str], radius: float, plane: Geometry, rate_hz: float
) -> SampleMechanism | InPixels:
    parameters: dict[str, Any] = dict(zip(("epsilon", "window"), promise, strict=True))
    if kind != PUBLISHED:
        parameters["radius"] = radius / PER_DEGREE
        return MECHANISMS[kind](space_of(plane), **parameters)
    parameters |= {"radius": radius, "l_thresh": _THRESHOLD_PX, "rate_hz": round(rate_hz)}
    left, top, right, bottom = plane.extent()
    screen = Screen((right - left) * PER_DEGREE, (bottom - top) * PER_DEGREE)
    return InPixels(MECHANISMS[kind](screen, **parameters), (left, top))


def named(text: str) -> tuple[str, ...]:
    """Return the names of a list with commas between."""
    return tuple(name.strip() for name in text.split(",") if name.strip())
