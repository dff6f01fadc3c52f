# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Randomness: a cryptographic source, and ideal samples rounded exactly to a lattice."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

_HOME = {
    "NoiseSource": "gazeveil.noise.source",
    "add_gaussian": "gazeveil.noise.lattice",
    "add_laplace": "gazeveil.noise.lattice",
    "add_radial": "gazeveil.noise.radial",
    "ball_laplace": "gazeveil.noise.radial",
    "from_lattice": "gazeveil.noise.lattice",
    "gaussian": "gazeveil.noise.lattice",
    "laplace": "gazeveil.noise.lattice",
    "lattice_step": "gazeveil.noise.lattice",
    "planar_laplace": "gazeveil.noise.radial",
    "radial_noise": "gazeveil.noise.radial",
    "radius_quantile": "gazeveil.noise.radial",
    "to_lattice": "gazeveil.noise.lattice",
}

if TYPE_CHECKING:
    from gazeveil.noise.lattice import (
        add_gaussian,
        add_laplace,
        from_lattice,
        gaussian,
        laplace,
        lattice_step,
        to_lattice,
    )
    from gazeveil.noise.radial import add_radial, ball_laplace, planar_laplace, radial_noise, radius_quantile
    from gazeveil.noise.source import NoiseSource

__all__ = [
    "NoiseSource",
    "add_gaussian",
    "add_laplace",
    "add_radial",
    "ball_laplace",
    "from_lattice",
    "gaussian",
    "laplace",
    "lattice_step",
    "planar_laplace",
    "radial_noise",
    "radius_quantile",
    "to_lattice",
]


def __getattr__(name: str) -> Any:
    try:
        home = _HOME[name]
    except KeyError:
        raise AttributeError(f"module 'gazeveil.noise' has no attribute {name!r}") from None
    value = getattr(importlib.import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOME])
