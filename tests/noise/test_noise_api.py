# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The package of noise: its names, and that importing it loads nothing heavy."""

from __future__ import annotations

import subprocess
import sys

import pytest

from gazeveil import noise


def test_the_public_names_are_these() -> None:
    assert noise.__all__ == [
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
    assert all(callable(getattr(noise, name)) for name in noise.__all__)
    assert set(noise.__all__) <= set(dir(noise))
    with pytest.raises(AttributeError, match="no attribute 'uniform'"):
        noise.uniform  # noqa: B018


def test_importing_every_name_loads_neither_numba_nor_a_development_package() -> None:
    code = "import sys; from gazeveil.noise import *; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"numba", "scipy", "mpmath"} & set(loaded)
