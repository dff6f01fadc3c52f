# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Mechanisms that need everybody at once, such as those that make gaze or features of several people anew."""

from __future__ import annotations

import importlib
from typing import Any

from gazeveil.registry import Registry


def recordings_anew() -> Registry[Any]:
    """Return what makes all recordings anew: ``mechanism.apply_all(recordings, noise)``."""
    return _registry("gazeveil.samples.whole", "DATASET_MECHANISMS")


def series_anew() -> Registry[Any]:
    """Return what makes the feature series of all people anew: ``mechanism.perturb(values, noise)``."""
    return _registry("gazeveil.features.whole", "DATASET_SERIES")


def _registry(module: str, name: str) -> Registry[Any]:
    try:
        found = getattr(importlib.import_module(module), name)
    except ModuleNotFoundError:
        return Registry("mechanism for whole data sets")
    return found  # type: ignore[no-any-return]
