# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Checks of what a mechanism is made of, and of the samples that a veil is given."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from gazeveil.arrays import FloatArray
from gazeveil.errors import InputError, OptionError


def number(mechanism: Any, field: str) -> float:
    """Return a field that must be a finite number, and keep it as a float.

    Raises:
        OptionError: If it is none.
    """
    value = getattr(mechanism, field)
    if isinstance(value, bool) or not isinstance(value, int | float | Fraction) or not math.isfinite(value):
        raise OptionError(f"{field} must be a finite number, not {value!r}")
    object.__setattr__(mechanism, field, float(value))
    return float(value)


def positive(mechanism: Any, field: str) -> float:
    """Return a field that must be a positive number, and keep it as a float.

    Raises:
        OptionError: If it is none.
    """
    value = number(mechanism, field)
    if value <= 0:
        raise OptionError(f"{field} must be greater than 0, not {value:g}")
    return value


def truth(mechanism: Any, field: str) -> None:
    """Check a field that must be true or false.

    Raises:
        OptionError: If it is neither.
    """
    value = getattr(mechanism, field)
    if not isinstance(value, bool):
        raise OptionError(f"{field} must be true or false, not {value!r}")


def as_samples(*columns: Any) -> list[FloatArray]:
    """Return columns of samples as float arrays of one length, without copying where that is possible.

    Raises:
        InputError: If they are not lists of numbers of one length.
    """
    try:
        arrays = [np.ascontiguousarray(column, dtype=np.float64) for column in columns]
    except (TypeError, ValueError) as error:
        raise InputError(f"samples must be numbers: {error}") from None
    if len({array.shape for array in arrays}) != 1 or arrays[0].ndim != 1:
        raise InputError(
            f"samples must be lists of one length, found {', '.join(str(array.shape) for array in arrays)}"
        )
    return arrays
