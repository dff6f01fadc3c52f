# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Settings of the papers by name.

``lphu``, ``mpmu`` and ``hplu`` are Kaleido's (low, medium, high privacy; erratum K11), with our ``clock`` instead of
its algorithm. The paper takes the radius from the scene. Without a scene ours is public: 60 and 300 px on a screen
1280 px wide, and in proportion on others; 2.25 and 11.25 degrees where gaze is in degrees.

``…-low`` and ``…-high`` are Wilson's strengths of section 4; its temporal downsampling was not used there, so
``temporal-high`` is the strongest that it measured (K = 30), ``temporal-low`` is ours.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from gazeveil.errors import UnknownName, closest
from gazeveil.samples.mechanism import MECHANISMS, SampleMechanism
from gazeveil.samples.space import Space, Sphere

WIDTH = 1280.0
PER_DEGREE = 80 / 3
SMALL, LARGE = 60.0, 300.0
"""Radii in pixels of a screen so wide, with this many pixels to a degree."""


@dataclass(frozen=True, slots=True)
class Preset:
    """A mechanism's name and parameters; ``radius`` is in pixels of a screen `WIDTH` wide."""

    mechanism: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    radius: float | None = None

    def mechanism_in(self, space: Space, **changes: Any) -> SampleMechanism:
        """Return the mechanism in a space; ``changes`` win over the preset's own parameters."""
        given = {**self.parameters, **changes}
        if self.radius is not None:
            per_unit = PER_DEGREE if isinstance(space, Sphere) else WIDTH / space.size[0]
            given.setdefault("radius", self.radius / per_unit)
        return MECHANISMS[self.mechanism](space, **given)


PRESETS: dict[str, Preset] = {
    "lphu": Preset("clock", {"epsilon": 3, "window": "0.5"}, SMALL),
    "mpmu": Preset("clock", {"epsilon": "1.5", "window": "1.5"}, SMALL),
    "hplu": Preset("clock", {"epsilon": "0.5", "window": 2}, LARGE),
    "gaussian-low": Preset("gaussian", {"sigma": 1.0}),
    "gaussian-high": Preset("gaussian", {"sigma": 3.0}),
    "temporal-low": Preset("temporal", {"keep_every": 5}),
    "temporal-high": Preset("temporal", {"keep_every": 30}),
    "spatial-low": Preset("spatial", {"factor": 48.0}),
    "spatial-high": Preset("spatial", {"factor": 144.0}),
    "smoothing-low": Preset("smoothing", {"window": 50}),
    "smoothing-high": Preset("smoothing", {"window": 150}),
}


def find_preset(name: str) -> Preset:
    """Return a preset by its name.

    Raises:
        UnknownName: If there is no such preset.
    """
    if name not in PRESETS:
        raise UnknownName(f"no preset is called {name!r}", hint=closest(name, PRESETS))
    return PRESETS[name]


def preset(name: str, space: Space, **changes: Any) -> SampleMechanism:
    """Return the mechanism of a preset in a space; ``changes`` win over the preset's own parameters.

    Raises:
        UnknownName: If there is no such preset.
    """
    return find_preset(name).mechanism_in(space, **changes)
