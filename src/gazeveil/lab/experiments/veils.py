# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Mechanisms by the names that experiments use: ``none``, presets, Kaleido's own algorithm, or any registered veil."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from gazeveil.errors import UnknownName, closest
from gazeveil.geometry import Geometry
from gazeveil.lab import load
from gazeveil.lab.as_published.wilson_presets import ALL_PRESETS, preset
from gazeveil.samples.mechanism import MECHANISMS, SampleMechanism
from gazeveil.samples.recipes import from_recipe, with_lengths
from gazeveil.samples.space import space_of

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
