# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Rows of delimited text from bytes to numbers and runs of equal texts, compiled.

Nothing is decided here: where a row has other columns than the first, or a field is neither plainly a number nor
missing, all of it is handed back to Python.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gazeveil.gaze.formats._number_kernels import EXACT_POWER, EXACT_WHOLE, MOST_DIGITS, POWERS_OF_TEN, nearest
from gazeveil.kernel_compiler import kernel

SKIPPED, NUMBER, TEXT = 0, 1, 2
TAB, NEWLINE, SPACE, QUOTE, PLUS, MINUS = 9, 10, 32, 34, 43, 45
CAPITAL_A, CAPITAL_Z, TO_LOWER, LETTER_E = 65, 90, np.uint8(32), 101
ZERO, NINE = np.uint8(48), np.uint8(9)
NOTHING, ONE, TEN = np.uint64(0), np.uint64(1), np.uint64(10)
"""Positions are unsigned, which spares a look for negative ones at every byte."""


@kernel()
def read_rows(  # noqa: PLR0912, PLR0915 - one pass over the bytes is what makes it fast
    data: NDArray[np.uint8],
    marks: tuple[int, int],
    kinds: NDArray[np.int8],
    missing: NDArray[np.uint8],
    numbers: NDArray[np.float64],
    bits: NDArray[np.uint64],
    runs: NDArray[np.int64],
    counts: NDArray[np.int64],
    lines: NDArray[np.int64],
    seen: NDArray[np.bool_],
) -> int:
    """Read whole lines.

    Args:
        data: Whole lines, the last byte is a line feed.
        marks: The bytes that stand between fields, and before decimals.
        kinds: What each column is.
        missing: What stands for a missing number, in lower case; each ends with zeros.
        numbers: Gets one row for each column of numbers, NaN where one is missing.
        bits: The same memory, for numbers whose bits are known.
        runs: Gets, for each column of text, where a text begins and ends, and the first row that has it.
        counts: Gets, for each column of text, how many such runs there are; -1 where there is no room for them.
        lines: Gets the line of each row, counted from 0. Empty lines are no rows.
        seen: Gets, for each column of numbers, whether one is missing, and last, whether any number is not whole.

    Returns:
        How many rows there are; -1 if Python has to look.
    """
    delimiter, decimal = marks
    stops = np.zeros(256, dtype=np.bool_)
    stops[delimiter] = stops[NEWLINE] = stops[QUOTE] = True
    before = np.zeros(len(counts), dtype=np.uint64)
    was_quoted = np.zeros(len(counts), dtype=np.bool_)
    at, end = NOTHING, np.uint64(len(data))
    row, line, width, room = 0, 0, len(kinds), runs.shape[1]
    last = len(seen) - 1
    while at < end:
        if data[at] == NEWLINE:
            at += ONE
            line += 1
            continue
        if row == len(lines):
            return -1
        number, text = 0, 0
        for column in range(width):
            kind = kinds[column]
            quoted = data[at] == QUOTE
            if quoted:
                at += ONE
            start = at
            if kind == NUMBER:
                value, value_bits, at, plain = _read_number(data, at, decimal)
                if not plain or not stops[data[at]]:
                    value, value_bits, at, plain = _read_odd(data, start, stops, decimal, missing)
                    if not plain:
                        return -1
                if value_bits != NOTHING:
                    bits[number, row] = value_bits
                    value = numbers[number, row]
                else:
                    numbers[number, row] = value
                    if np.isnan(value):
                        seen[number] = True
                if not seen[last] and value != np.floor(value) and not np.isnan(value):
                    seen[last] = True
                number += 1
            elif kind == TEXT:
                same = before[text]
                may_be_same = row > 0 and was_quoted[text] == quoted
                if may_be_same:
                    while data[at] == data[same] and not (stops[data[at]] and not (quoted and data[at] == delimiter)):
                        at += ONE
                        same += ONE
                    may_be_same = stops[data[at]] and stops[data[same]]
                at = _end_of_field(data, at, stops, quoted, delimiter)
                if not may_be_same or at - start != same - before[text]:
                    _note_run(runs, counts, text, room, start, at, row)
                before[text], was_quoted[text] = start, quoted
                text += 1
            else:
                at = _end_of_field(data, at, stops, quoted, delimiter)
            if quoted:
                if data[at] != QUOTE:
                    return -1
                at += ONE
            if data[at] != (NEWLINE if column == width - 1 else delimiter):
                return -1
            at += ONE
        lines[row] = line
        row += 1
        line += 1
    return row


@kernel()
def _end_of_field(data: Any, at: Any, stops: Any, quoted: bool, delimiter: int) -> Any:
    while not stops[data[at]] or (quoted and data[at] == delimiter):
        at += ONE
    return at


@kernel()
def _note_run(runs: Any, counts: Any, text: int, room: int, start: Any, end: Any, row: int) -> None:
    """Note a text that begins here, as long as there is room."""
    count = counts[text]
    if count < 0:
        return
    if count == room:
        counts[text] = -1
        return
    runs[text, count, 0], runs[text, count, 1], runs[text, count, 2] = start, end, row
    counts[text] = count + 1


@kernel()
def _read_number(data: Any, at: Any, decimal: int) -> tuple[float, Any, Any, bool]:
    """Read a number; return it (or its bits), where it ends, and whether it is one."""
    negative = data[at] == MINUS
    if negative:
        at += ONE
    start = at
    whole = NOTHING
    digit = np.uint8(data[at] - ZERO)
    while digit <= NINE:
        whole = whole * TEN + np.uint64(digit)
        at += ONE
        digit = np.uint8(data[at] - ZERO)
    digits, decimals = np.int64(at - start), np.int64(0)
    if data[at] == decimal:
        at += ONE
        point = at
        digit = np.uint8(data[at] - ZERO)
        while digit <= NINE:
            whole = whole * TEN + np.uint64(digit)
            at += ONE
            digit = np.uint8(data[at] - ZERO)
        decimals = np.int64(at - point)
        digits += decimals
    if digits == 0:
        return np.nan, NOTHING, at, at == start and not negative
    power = -decimals
    if data[at] | TO_LOWER == LETTER_E:
        raised, at, plain = _read_exponent(data, at + ONE)
        if not plain:
            return 0.0, NOTHING, at, False
        power += raised
    elif digits <= MOST_DIGITS and whole <= EXACT_WHOLE and decimals <= EXACT_POWER:
        value = np.float64(whole) / POWERS_OF_TEN[decimals]
        return (-value if negative else value), NOTHING, at, True
    if digits > MOST_DIGITS and digits - _zeros_before(data, start, decimal) > MOST_DIGITS:
        return 0.0, NOTHING, at, False
    value, value_bits, known = nearest(whole, power)
    if not known:
        return 0.0, NOTHING, at, False
    if negative:
        return -value, (value_bits | (ONE << np.uint64(63)) if value_bits != NOTHING else value_bits), at, True
    return value, value_bits, at, True


@kernel()
def _read_exponent(data: Any, at: Any) -> tuple[int, Any, bool]:
    negative = data[at] == MINUS
    if negative or data[at] == PLUS:
        at += ONE
    start = at
    power: Any = 0
    while np.uint8(data[at] - ZERO) <= NINE and power < 1000:
        power = power * 10 + np.int64(data[at] - ZERO)
        at += ONE
    return (-power if negative else power), at, at > start


@kernel()
def _zeros_before(data: Any, at: Any, decimal: int) -> int:
    """Return how many zeros stand before a number's first other digit."""
    zeros = 0
    while data[at] == ZERO or data[at] == decimal:
        zeros += int(data[at] == ZERO)
        at += ONE
    return zeros


@kernel()
def _read_odd(data: Any, start: Any, stops: Any, decimal: int, missing: Any) -> tuple[float, Any, Any, bool]:
    """Read a field that is a number with blanks around it, or one of the spellings of a missing one."""
    end = start
    while not stops[data[end]]:
        end += ONE
    first, after = start, end
    while first < after and (data[first] == SPACE or data[first] == TAB):
        first += ONE
    while after > first and (data[after - ONE] == SPACE or data[after - ONE] == TAB):
        after -= ONE
    for spelling in missing:
        length = np.int64(after - first)
        if length < len(spelling) and spelling[length] == 0:
            same = True
            for place in range(length):
                byte = data[first + np.uint64(place)]
                if CAPITAL_A <= byte <= CAPITAL_Z:
                    byte = byte | TO_LOWER
                same = same and byte == spelling[place]
            if same:
                return np.nan, NOTHING, end, True
    value, value_bits, stopped, plain = _read_number(data, first, decimal)
    return value, value_bits, end, plain and stopped == after
