# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""EyeLink sample lines from bytes to numbers, compiled.

Nothing is decided here: a line that is not plainly a whole sample is handed back to Python, which either reads it
the slow way or says what is wrong with it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gazeveil.kernel_compiler import kernel

TAB, NEWLINE, SPACE, MINUS, DOT = 9, 10, 32, 45, 46
LETTER_A, LETTER_E, LETTER_N, LETTER_S, LETTER_T, LETTER_Z = 65, 69, 78, 83, 84, 90
ZERO, NINE = np.uint8(48), np.uint8(9)
ONE = np.uint64(1)
"""Positions are unsigned, which spares a look for negative ones at every byte."""

EXACT_DIGITS = 15
"""A whole number of this many digits, and the power of ten it is divided by, are exact in a float64.

One division then rounds once, so the quotient is the float64 nearest to what is written.
"""

POWERS_OF_TEN = np.array([10.0**exponent for exponent in range(EXACT_DIGITS + 4)])

OTHER_LINE = 0
ODD_SAMPLE = 1
MISSING_DATA = -32768.0
"""What the tracker's own software writes for a missing position where it does not write a dot."""


@kernel()
def read_lines(
    data: NDArray[np.uint8],
    position: int,
    line: int,
    shape: NDArray[np.int64],
    kept: int,
    out: NDArray[np.float64],
    row: int,
    room: int,
    noted: NDArray[np.int64],
) -> tuple[int, int, int, int, int]:
    """Read lines from ``position`` on until something needs Python.

    Args:
        data: Whole lines, the last byte is a line feed.
        position: Where to begin: the first byte of a line.
        line: The number of that line.
        shape: Numbers, length of flags, numbers of the head target and length of its flags in a sample line; all
            zero if samples cannot be read, then they are only counted.
        kept: How many of the numbers to keep.
        out: Gets one column for each sample; times in seconds.
        row: First free column of ``out``.
        room: How many columns of ``out`` may be filled.
        noted: Gets what Python has to look at: kind, first byte, end, line number and column of ``out``.

    Returns:
        The position, line number and row to go on with, how many lines were recorded, and how many samples were only
        counted. Stops where ``out`` or ``noted`` is full, and after a line START, END or SAMPLES.
    """
    notes, counted = 0, 0
    at, end = np.uint64(position), np.uint64(len(data))
    while at < end:
        first = data[at]
        if _is_digit(first):
            if shape[0] == 0:
                counted += 1
                at = _end_of_line(data, at) + ONE
            elif row == room:
                break
            else:
                after, plain = _read_sample(data, at, shape, kept, out, row)
                if not plain:
                    if notes == len(noted):
                        break
                    after = _end_of_line(data, at)
                    _note(noted, notes, ODD_SAMPLE, at, after, line, row)
                    notes += 1
                row += 1
                at = after + ONE
            line += 1
        elif first == NEWLINE:
            at += ONE
            line += 1
        else:
            if notes == len(noted):
                break
            after = _end_of_line(data, at)
            _note(noted, notes, OTHER_LINE, at, after, line, row)
            notes += 1
            second = data[at + ONE]
            at = after + ONE
            line += 1
            if (first == LETTER_S and second in (LETTER_T, LETTER_A)) or (first == LETTER_E and second == LETTER_N):
                break
    return int(at), line, row, notes, counted


@kernel()
def combine_eyes(
    raw: NDArray[np.float64], eyes: int, rows: int, left: float, top: float, chosen: int, no_pupils: bool
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Tell what each eye saw, and both together.

    Args:
        raw: Time, then x, y and pupil of one eye or two, NaN where missing.
        eyes: How many eyes there are.
        rows: How many samples there are.
        left: The x of the screen's left edge.
        top: The y of its upper edge.
        chosen: Which of the eyes makes the combined gaze; -1 for all that were tracked.
        no_pupils: Whether the file was recorded without pupil sizes, so that 0 does not mean a lost eye.

    Returns:
        x, y and pupil of each eye and then of both combined; and where each of them is valid.
    """
    gaze = np.full((3 * (eyes + 1), rows), np.nan)
    valid = np.zeros((eyes + 1, rows), dtype=np.bool_)
    for row in range(rows):
        x_sum, y_sum, pupil_sum = 0.0, 0.0, 0.0
        tracked, measured = 0, 0
        for eye in range(eyes):
            x, y, pupil = raw[3 * eye + 1, row], raw[3 * eye + 2, row], raw[3 * eye + 3, row]
            if np.isnan(x) or np.isnan(y) or MISSING_DATA in (x, y):
                continue
            if (x == 0.0 and y == 0.0) if no_pupils else pupil == 0.0:
                continue
            if pupil == 0.0:
                pupil = np.nan
            x, y = x - left, y - top
            gaze[3 * eye, row], gaze[3 * eye + 1, row] = x, y
            valid[eye, row] = True
            counts = chosen in (-1, eye)
            if counts:
                x_sum, y_sum, tracked = x_sum + x, y_sum + y, tracked + 1
            if not np.isnan(pupil) and pupil != MISSING_DATA:
                gaze[3 * eye + 2, row] = pupil
                if counts:
                    pupil_sum, measured = pupil_sum + pupil, measured + 1
        if tracked > 0:
            gaze[3 * eyes, row], gaze[3 * eyes + 1, row] = x_sum / tracked, y_sum / tracked
            valid[eyes, row] = True
        if measured > 0:
            gaze[3 * eyes + 2, row] = pupil_sum / measured
    return gaze, valid


@kernel()
def _read_sample(data: Any, at: Any, shape: Any, kept: int, out: Any, row: int) -> tuple[Any, bool]:
    """Read one line; return the position of its line feed, and whether it is plainly a sample of that shape."""
    numbers, flags, target_numbers, target_flags = shape[0], shape[1], shape[2], shape[3]
    for column in range(numbers):
        value, at, plain = _read_number(data, at, 3 if column == 0 else 0)
        if not plain or (column == 0 and np.isnan(value)):
            return at, False
        if column < kept:
            out[column, row] = value
    if flags > 0:
        at, plain = _skip_flags(data, at, flags)
        if not plain:
            return at, False
    for _ in range(target_numbers):
        value, at, plain = _read_number(data, at, 0)
        if not plain:
            return at, False
    if target_flags > 0:
        at, plain = _skip_flags(data, at, target_flags)
        if not plain:
            return at, False
    at = _skip_blanks(data, at)
    return at, data[at] == NEWLINE


@kernel()
def _read_number(data: Any, at: Any, shift: int) -> tuple[float, Any, bool]:
    """Read a number divided by 10**shift, or a lone dot as NaN; tell whether it is one of these, plainly written."""
    at = _skip_blanks(data, at)
    negative = data[at] == MINUS
    if negative:
        at += ONE
    whole: Any = 0
    digits, decimals = 0, 0
    while _is_digit(data[at]):
        whole = whole * 10 + np.int64(data[at] - ZERO)
        digits += 1
        at += ONE
    if data[at] == DOT:
        at += ONE
        while _is_digit(data[at]):
            whole = whole * 10 + np.int64(data[at] - ZERO)
            decimals += 1
            at += ONE
        digits += decimals
        if digits == 0 and not negative:
            return np.nan, at, _ends_field(data[at])
    plain = 0 < digits <= EXACT_DIGITS and _ends_field(data[at])
    if not plain:
        return 0.0, at, False
    value = whole / POWERS_OF_TEN[decimals + shift]
    return -value if negative else value, at, True


@kernel()
def _skip_flags(data: Any, at: Any, length: int) -> tuple[Any, bool]:
    """Pass over a field of that many dots and capitals, and tell whether there is one."""
    at = _skip_blanks(data, at)
    for _ in range(length):
        if data[at] != DOT and not LETTER_A <= data[at] <= LETTER_Z:
            return at, False
        at += ONE
    return at, _ends_field(data[at])


@kernel()
def _is_digit(byte: Any) -> bool:
    return bool(np.uint8(byte - ZERO) <= NINE)


@kernel()
def _ends_field(byte: Any) -> bool:
    return byte in (SPACE, TAB, NEWLINE)


@kernel()
def _skip_blanks(data: Any, at: Any) -> Any:
    while data[at] in (SPACE, TAB):
        at += ONE
    return at


@kernel()
def _end_of_line(data: Any, at: Any) -> Any:
    while data[at] != NEWLINE:
        at += ONE
    return at


@kernel()
def _note(noted: Any, index: int, kind: int, start: Any, end: Any, line: int, row: int) -> None:
    noted[index, 0], noted[index, 1], noted[index, 2], noted[index, 3], noted[index, 4] = kind, start, end, line, row
