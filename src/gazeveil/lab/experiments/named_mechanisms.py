# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Mechanisms by the names that experiments use: ``none``, presets, registered ones, and Kaleido as published.

What it does depends on the unit, because its tests ignore it (erratum K1). The paper counts in pixels, so it is given
pixels here. The threshold, for which the paper has no number (K7), is 200 of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from gazeveil.arrays import FloatArray
from gazeveil.errors import UnknownName, closest
from gazeveil.geometry import Geometry
from gazeveil.lab import load
from gazeveil.lab.as_published.sample_mechanisms import ALL_PRESETS, KaleidoAsPublished, preset
from gazeveil.noise import NoiseSource
from gazeveil.privacy.guarantee import Guarantee
from gazeveil.samples.mechanism import MECHANISMS, SampleMechanism
from gazeveil.samples.recipes import LARGE, PER_DEGREE, SMALL, from_recipe, with_lengths
from gazeveil.samples.space import Screen, space_of

load()

NONE: Final = "none"
_PROMISES: Final = ("lphu", "mpmu", "hplu")
KALEIDO: Final = tuple(f"kaleido-{name}" for name in _PROMISES)
"""Kaleido's own algorithm, corrected, at the guarantees that the presets keep by the clock."""

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
"""Kaleido, our clock at the same guarantees, and the four mechanisms of Wilson et al. 2024 at two strengths."""


def veil_names() -> list[str]:
    """Return all names of mechanisms."""
    return [NONE, *KALEIDO, *ALL_PRESETS, *MECHANISMS.names(unlisted=True)]


def kind_of(name: str) -> type[SampleMechanism] | None:
    """Return which mechanism a name stands for; None for no mechanism.

    Raises:
        UnknownName: If there is none of that name.
    """
    if name == NONE:
        return None
    if name in KALEIDO:
        return MECHANISMS["kaleido"]
    if name in ALL_PRESETS:
        return MECHANISMS[ALL_PRESETS[name].mechanism]
    if name in MECHANISMS:
        return MECHANISMS[name]
    raise UnknownName(f"no mechanism is called {name!r}", hint=closest(name, veil_names()))


def veil(name: str, plane: Geometry, parameters: Mapping[str, Any] | None = None) -> SampleMechanism | None:
    """Return a mechanism by name for gaze on a viewing plane in degrees; None for no mechanism.

    Args:
        name: Its name.
        plane: Where gaze lies.
        parameters: Its parameters; those of a preset are changed by them.

    Raises:
        UnknownName: If there is none of that name.
        OptionError: If a parameter does not fit.
    """
    kind, given, space = kind_of(name), dict(parameters or {}), space_of(plane)
    if kind is None:
        return None
    if name in KALEIDO:
        promise = preset(name.removeprefix("kaleido-"), space).to_dict()
        same = {part: promise[part] for part in ("epsilon", "window", "radius")}
        return from_recipe({"mechanism": kind.name, **same, **given}, space)
    if name in ALL_PRESETS:
        return ALL_PRESETS[name].mechanism_in(space, **with_lengths(kind.name, given, space))
    return from_recipe({"mechanism": name, **given}, space)


# --- Kaleido as published, for gaze in degrees, by a name that says its guarantee:
# ``kaleido-as-published:3:0.5:small``.


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
