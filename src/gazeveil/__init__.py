# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""gazeveil: the privacy layer for eye tracking."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0.dev0"

# Where each public name lives. Loaded on first use, so that `import gazeveil` costs next to nothing.
_HOME = {
    "ApproxDP": "gazeveil.privacy.guarantee",
    "Corpus": "gazeveil.gaze.corpus",
    "Eye": "gazeveil.gaze.recording",
    "GazeStreamDP": "gazeveil.privacy.guarantee",
    "GazeveilError": "gazeveil.errors",
    "Geometry": "gazeveil.gaze.geometry",
    "Ledger": "gazeveil.privacy.ledger",
    "NoiseSource": "gazeveil.noise.source",
    "PureDP": "gazeveil.privacy.guarantee",
    "Recording": "gazeveil.gaze.recording",
    "Release": "gazeveil.release.release",
    "Unproven": "gazeveil.privacy.guarantee",
    "ZeroConcentratedDP": "gazeveil.privacy.guarantee",
    "headset": "gazeveil.gaze.geometry",
    "normalised": "gazeveil.gaze.geometry",
    "read": "gazeveil.gaze.reading",
    "screen": "gazeveil.gaze.geometry",
    "write_corpus": "gazeveil.gaze.corpus_writer",
}

if TYPE_CHECKING:
    from gazeveil.errors import GazeveilError
    from gazeveil.gaze.corpus import Corpus
    from gazeveil.gaze.corpus_writer import write_corpus
    from gazeveil.gaze.geometry import Geometry, headset, normalised, screen
    from gazeveil.gaze.reading import read
    from gazeveil.gaze.recording import Eye, Recording
    from gazeveil.noise.source import NoiseSource
    from gazeveil.privacy.guarantee import ApproxDP, GazeStreamDP, PureDP, Unproven, ZeroConcentratedDP
    from gazeveil.privacy.ledger import Ledger
    from gazeveil.release.release import Release

__all__ = [
    "ApproxDP",
    "Corpus",
    "Eye",
    "GazeStreamDP",
    "GazeveilError",
    "Geometry",
    "Ledger",
    "NoiseSource",
    "PureDP",
    "Recording",
    "Release",
    "Unproven",
    "ZeroConcentratedDP",
    "headset",
    "normalised",
    "read",
    "screen",
    "write_corpus",
]


def __getattr__(name: str) -> Any:
    try:
        home = _HOME[name]
    except KeyError:
        raise AttributeError(f"module 'gazeveil' has no attribute {name!r}") from None
    value = getattr(importlib.import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOME])
