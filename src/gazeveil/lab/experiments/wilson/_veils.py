# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The mechanisms of table 3: the paper's at their high strengths, and those that keep Kaleido's guarantee."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Final

from gazeveil.errors import OptionError
from gazeveil.geometry import Geometry
from gazeveil.lab.as_published.wilson_presets import preset
from gazeveil.lab.experiments.veils import veil as any_veil
from gazeveil.samples.mechanism import MECHANISMS, SampleMechanism
from gazeveil.samples.recipes import from_recipe
from gazeveil.samples.space import Space, Sphere, space_of

_LATE_S = 0.25


def _published(name: str) -> Callable[[Space], SampleMechanism]:
    """Return a mechanism of the paper over all directions, with the paper's faults."""
    return lambda _: preset(name, Sphere())


def promised(name: str, **options: Any) -> Callable[[Space], SampleMechanism]:
    """Return a preset in the field that the eyes can reach."""
    return lambda field: preset(name, field, **options)


def like(name: str, promise: str) -> Callable[[Space], SampleMechanism]:
    """Return a mechanism at the guarantee that a preset keeps by the clock."""

    def make(field: Space) -> SampleMechanism:
        same = preset(promise, field).to_dict()
        return MECHANISMS[name](field, **{part: same[part] for part in ("epsilon", "window", "radius")})

    return make


VEILS: Final[Mapping[str, Callable[[Space], SampleMechanism] | None]] = {
    "none": None,
    "gaussian": _published("gaussian-high"),
    "spatial": _published("spatial-high-as-published"),
    "smoothing": _published("smoothing-high-as-published"),
    "kaleido mpmu": like("kaleido", "mpmu"),
    "clock lphu": promised("lphu"),
    "clock mpmu": promised("mpmu"),
    "clock hplu": promised("hplu"),
    "clock mpmu, 0.25 s late": promised("mpmu", lag=_LATE_S),
}
"""By name, in the field that the eyes can reach. The last is our best: the least error at its guarantee."""


def veil(name: str, plane: Geometry) -> SampleMechanism | None:
    """Return a mechanism of the table for gaze on a viewing plane in degrees, or None for none.

    All other mechanisms are known too, and recipes as JSON (``{"mechanism": "clock", …}``).

    Raises:
        UnknownName: If there is no such veil.
        OptionError: If a recipe is none.
    """
    if name in VEILS:
        make = VEILS[name]
        return None if make is None else make(space_of(plane))
    if name.startswith("{"):
        return from_recipe(_json(name), space_of(plane))
    return any_veil(name, plane)


def _json(text: str) -> dict[str, Any]:
    try:
        return dict(json.loads(text))
    except ValueError as error:
        raise OptionError(f"{text} is no recipe as JSON: {error}") from None
