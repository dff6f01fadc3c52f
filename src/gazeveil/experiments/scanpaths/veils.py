# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The veils that attacks on scanpaths and attributes are measured behind, by the names of tables."""

from __future__ import annotations

from typing import Final

from gazeveil.errors import UnknownName
from gazeveil.gaze.geometry import Geometry
from gazeveil.samples.mechanism import MECHANISMS, SampleMechanism
from gazeveil.samples.presets import PRESETS, preset
from gazeveil.samples.space import space_of

NONE: Final = "none"
_PROMISES: Final = ("lphu", "mpmu", "hplu")
KALEIDO: Final = tuple(f"kaleido-{name}" for name in _PROMISES)
"""Kaleido's own algorithm, made sound, at the promises that the presets keep by the clock."""

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


def veil(name: str, plane: Geometry) -> SampleMechanism | None:
    """Return a veil by name for gaze on a plane in degrees; None for no veil.

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
    raise UnknownName(f"no veil is called {name!r}", hint=f"known: {', '.join([NONE, *KALEIDO, *PRESETS])}")


def named(text: str) -> tuple[str, ...]:
    """Return the names of a list with commas between."""
    return tuple(name.strip() for name in text.split(",") if name.strip())
