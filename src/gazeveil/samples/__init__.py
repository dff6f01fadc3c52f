# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Veils: mechanisms that protect a stream of gaze, sample by sample, live or on file."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

_HOME = {
    "MECHANISMS": "gazeveil.samples.mechanism",
    "Faults": "gazeveil.samples.mechanism",
    "Room3D": "gazeveil.samples.space",
    "SampleMechanism": "gazeveil.samples.mechanism",
    "Screen": "gazeveil.samples.space",
    "Space": "gazeveil.samples.space",
    "Sphere": "gazeveil.samples.space",
    "Veil": "gazeveil.samples.mechanism",
    "mechanism_from_dict": "gazeveil.samples.mechanism",
    "space_of": "gazeveil.samples.space",
}

if TYPE_CHECKING:
    from gazeveil.samples.mechanism import MECHANISMS, Faults, SampleMechanism, Veil, mechanism_from_dict
    from gazeveil.samples.space import Room3D, Screen, Space, Sphere, space_of

__all__ = [
    "MECHANISMS",
    "Faults",
    "Room3D",
    "SampleMechanism",
    "Screen",
    "Space",
    "Sphere",
    "Veil",
    "mechanism_from_dict",
    "space_of",
]


def __getattr__(name: str) -> Any:
    try:
        home = _HOME[name]
    except KeyError:
        raise AttributeError(f"module 'gazeveil.samples' has no attribute {name!r}") from None
    value = getattr(importlib.import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOME])
