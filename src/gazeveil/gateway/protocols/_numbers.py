# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Numbers off the wire: what cannot be gaze is missing gaze, and what cannot be a time is no sample."""

from __future__ import annotations

import math
from typing import Final

MOST_COORDINATE: Final = 1e6
"""No screen has as many pixels, and no angle as many degrees."""

MOST_SECONDS: Final = 1e11
"""Three thousand years."""


def number(text: str | bytes) -> float:
    """Return the number that a text is, NaN for what is none."""
    try:
        return float(text)
    except ValueError:
        return math.nan


def coordinate(value: object) -> float:
    """Return a coordinate, NaN for whatever is no number, not finite or out of all proportion."""
    if type(value) is not float and type(value) is not int:
        return math.nan
    return float(value) if -MOST_COORDINATE <= value <= MOST_COORDINATE else math.nan


def seconds(value: object, second: float = 1.0) -> float | None:
    """Return a time in seconds, None for whatever cannot be one; ``second`` is how much of ``value`` makes one."""
    if type(value) is not float and type(value) is not int:
        return None
    most = MOST_SECONDS * second
    return value / second if -most <= value <= most else None
