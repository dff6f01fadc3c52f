# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Everything that golden folders import from gazeveil: when the product is moved, only this file follows."""

from __future__ import annotations

from gazeveil import (
    VEIL_PRESETS,
    VEILS,
    AreasOfInterest,
    GazeStreamDP,
    GazeveilError,
    Ledger,
    NoiseSource,
    Recording,
    Study,
    headset,
    screen,
    verify,
    write_corpus,
)
from gazeveil.aggregate.liu import LiuMap
from gazeveil.cli.main import run
from gazeveil.gateway.protocol import PROTOCOLS, Gate, StreamFacts, ViewingPlane
from gazeveil.gateway.veiling import LiveVeil, mechanism_of
from gazeveil.gaze.aoi import Rectangle
from gazeveil.gaze.formats.base import FORMATS
from gazeveil.release.plan import PRODUCTS
from gazeveil.samples.space import space_of
from gazeveil.testing import veiled_fixation, veiled_hit, veiled_sample

__all__ = [
    "FORMATS",
    "PRODUCTS",
    "PROTOCOLS",
    "VEILS",
    "VEIL_PRESETS",
    "AreasOfInterest",
    "Gate",
    "GazeStreamDP",
    "GazeveilError",
    "Ledger",
    "LiuMap",
    "LiveVeil",
    "NoiseSource",
    "Recording",
    "Rectangle",
    "StreamFacts",
    "Study",
    "ViewingPlane",
    "headset",
    "mechanism_of",
    "run",
    "screen",
    "space_of",
    "veiled_fixation",
    "veiled_hit",
    "veiled_sample",
    "verify",
    "write_corpus",
]
