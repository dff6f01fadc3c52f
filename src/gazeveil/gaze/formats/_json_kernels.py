# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Lines of JSON taken apart into their numbers and what stands around these, compiled.

What stands around the numbers is a line's shape: ``{"ts":#,"gp":[#,#]}``. A recorder writes few shapes, so Python has
to look at one line of each.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gazeveil.kernel_compiler import kernel

NEWLINE, QUOTE, BACKSLASH, MINUS, DOT = 10, 34, 92, 45, 46
ZERO, NINE = np.uint8(48), np.uint8(9)
ONE = np.uint64(1)
A_NUMBER = np.uint64(1)
"""Stands for a number in a shape; JSON has no such byte."""

EXACT_DIGITS = 15
"""A whole number of this many digits, and the power of ten it is divided by, are exact in a float64."""

POWERS_OF_TEN = np.array([10.0**exponent for exponent in range(EXACT_DIGITS + 1)])
FIRST_HASH, HASH_FACTOR = np.uint64(14695981039346656037), np.uint64(1099511628211)


@kernel()
def take_apart(
    data: NDArray[np.uint8], lines: NDArray[np.int64], shapes: NDArray[np.uint64], numbers: NDArray[np.float64]
) -> tuple[int, int]:
    """Take whole lines apart.

    Args:
        data: Whole lines, the last byte is a line feed.
        lines: Gets for each line its first byte and the place of its first number.
        shapes: Gets for each line a digest of its shape.
        numbers: Gets all numbers, one after another.

    Returns:
        How many lines and numbers there are. The count of lines is -1 where a number is not plainly written (an
        exponent, leading zeros, more digits than are exact).
    """
    at, end = np.uint64(0), np.uint64(len(data))
    line, count = 0, 0
    while at < end:
        lines[line, 0], lines[line, 1] = at, count
        digest = FIRST_HASH
        in_text = False
        byte = data[at]
        while byte != NEWLINE:
            if in_text:
                if byte == BACKSLASH and data[at + ONE] != NEWLINE:
                    digest = (digest ^ np.uint64(byte)) * HASH_FACTOR
                    at += ONE
                    byte = data[at]
                elif byte == QUOTE:
                    in_text = False
            elif byte == QUOTE:
                in_text = True
            elif byte == MINUS or _is_digit(byte):
                value, at, plain = _read_number(data, at)
                if not plain:
                    return -1, 0
                numbers[count] = value
                count += 1
                digest = (digest ^ A_NUMBER) * HASH_FACTOR
                byte = data[at]
                continue
            digest = (digest ^ np.uint64(byte)) * HASH_FACTOR
            at += ONE
            byte = data[at]
        shapes[line] = digest
        line += 1
        at += ONE
    lines[line, 0], lines[line, 1] = at, count
    return line, count


@kernel()
def _read_number(data: Any, at: Any) -> tuple[float, Any, bool]:
    """Read a number as JSON writes it, without exponent; tell whether it is one."""
    negative = data[at] == MINUS
    if negative:
        at += ONE
    whole: Any = 0
    digits, decimals = 0, 0
    starts_with_zero = data[at] == ZERO
    while _is_digit(data[at]):
        whole = whole * 10 + np.int64(data[at] - ZERO)
        digits += 1
        at += ONE
    if digits == 0 or (starts_with_zero and digits > 1):
        return 0.0, at, False
    if data[at] == DOT:
        at += ONE
        while _is_digit(data[at]):
            whole = whole * 10 + np.int64(data[at] - ZERO)
            decimals += 1
            at += ONE
        if decimals == 0:
            return 0.0, at, False
    if digits + decimals > EXACT_DIGITS or data[at] in (43, 45, 46, 69, 101):
        return 0.0, at, False
    value = whole / POWERS_OF_TEN[decimals]
    return -value if negative else value, at, True


@kernel()
def _is_digit(byte: Any) -> bool:
    return bool(np.uint8(byte - ZERO) <= NINE)
