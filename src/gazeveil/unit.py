# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Units of gaze. Apart from `gazeveil.geometry`, so that the command line can list them without numpy."""

from __future__ import annotations

from enum import StrEnum


class Unit(StrEnum):
    """What the numbers in x and y are."""

    PIXEL = "px"
    DEGREE = "deg"
    FRACTION = "norm"
