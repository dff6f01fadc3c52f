# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The one door to PyTorch: modules of this folder that need it are themselves imported on use only."""

from __future__ import annotations

from gazeveil.errors import MissingExtra

try:
    import torch
except ImportError as missing:
    raise MissingExtra("torch", "attacks", "the EKYT network") from missing

__all__ = ["torch"]
