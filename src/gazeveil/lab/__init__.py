# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The judge: attacks, metrics of utility, experiments, papers measured again, data sets, user studies, baselines."""

from __future__ import annotations

import importlib
import pkgutil


def load() -> None:
    """Enter baselines and published methods in the product's registries, where they are found by name and not listed.

    Whatever looks mechanisms up by name in the lab calls it first.
    """
    for package in ("as_published", "baselines"):
        found = importlib.import_module(f"gazeveil.lab.{package}")
        for module in pkgutil.iter_modules(found.__path__):
            importlib.import_module(f"{found.__name__}.{module.name}")
