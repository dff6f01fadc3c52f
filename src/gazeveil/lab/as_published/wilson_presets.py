# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Wilson's strengths as published: also with the paper's bias (W4) and its start from zero (W2); and all presets."""

from __future__ import annotations

from typing import Any

from gazeveil.errors import UnknownName, closest
from gazeveil.samples.mechanism import SampleMechanism
from gazeveil.samples.recipes import PRESETS, Preset
from gazeveil.samples.space import Space

ALL_PRESETS: dict[str, Preset] = {
    **PRESETS,
    "spatial-low-as-published": Preset("spatial", {"factor": 48.0, "centred": False}),
    "spatial-high-as-published": Preset("spatial", {"factor": 144.0, "centred": False}),
    "smoothing-low-as-published": Preset("smoothing", {"window": 50, "start_with": "zeros"}),
    "smoothing-high-as-published": Preset("smoothing", {"window": 150, "start_with": "zeros"}),
}
"""The presets of the product, and those that only the lab knows."""


def preset(name: str, space: Space, **changes: Any) -> SampleMechanism:
    """Return the mechanism of a preset in a space; ``changes`` win over the preset's own parameters.

    Raises:
        UnknownName: If there is no such preset.
    """
    if name not in ALL_PRESETS:
        raise UnknownName(f"no preset is called {name!r}", hint=closest(name, ALL_PRESETS))
    return ALL_PRESETS[name].mechanism_in(space, **changes)
