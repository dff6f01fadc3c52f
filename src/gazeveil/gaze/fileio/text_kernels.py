# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""From bytes to numbers, compiled: decimal digits, rows of delimited text, lines of JSON, EyeLink sample lines.

Nothing is decided here: a row, line or field that is not plainly written is handed back to Python, which reads it the
slow way or says what is wrong with it.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from gazeveil.kernel_compiler import kernel

TAB, NEWLINE, SPACE, QUOTE, PLUS, MINUS, DOT, BACKSLASH = 9, 10, 32, 34, 43, 45, 46, 92
CAPITAL_A, CAPITAL_E, CAPITAL_N, CAPITAL_S, CAPITAL_T, CAPITAL_Z, LETTER_E = 65, 69, 78, 83, 84, 90, 101
TO_LOWER = np.uint8(32)
ZERO, NINE = np.uint8(48), np.uint8(9)
NOTHING, ONE, TEN = np.uint64(0), np.uint64(1), np.uint64(10)
"""Positions are unsigned, which saves a check for negative ones at every byte."""

MOST_DIGITS = 19
"""This many digits always fit into 64 bits."""

EXACT_DIGITS = 15
"""A whole number of this many digits, and the power of ten it is divided by, are exact in a float64.

One division then rounds once, so the quotient is the float64 nearest to what is written.
"""

FARTHEST_POWER: Final = 40
EXACT_WHOLE = np.uint64(2**53)
EXACT_POWER = 22
"""Whole numbers up to 2**53 and powers of ten up to 10**22 are float64 themselves, so that one division rounds once."""

POWERS_OF_TEN = np.array([10.0**exponent for exponent in range(EXACT_POWER + 1)])

LOW_HALF = np.uint64(0xFFFFFFFF)
ALL_ONES = np.uint64(0xFFFFFFFFFFFFFFFF)
TOP_BIT = np.uint64(1 << 63)
BELOW_MANTISSA = np.uint64(0x1FF)
HIDDEN_BIT = np.uint64(1 << 52)
ZERO_BITS, ONE_BIT, THREE, NINE_BITS, THIRTY_TWO, FIFTY_TWO, SIXTY_THREE = (
    np.uint64(number) for number in (0, 1, 3, 9, 32, 52, 63)
)


def _powers_of_five() -> list[tuple[int, int]]:
    """Return the powers from ``-FARTHEST_POWER`` on, each as the first 128 bits of its binary digits."""
    found = []
    for power in range(-FARTHEST_POWER, FARTHEST_POWER + 1):
        five = 5 ** abs(power)
        length = five.bit_length()
        if power >= 0:
            bits = five << (128 - length) if length <= 128 else five >> (length - 128)
        else:
            bits = (1 << (127 + length)) // five + 1
        found.append((bits >> 64, bits & (2**64 - 1)))
    return found


@kernel()
def _is_digit(byte: Any) -> bool:
    return bool(np.uint8(byte - ZERO) <= NINE)


FIVES = np.array(_powers_of_five(), dtype=np.uint64)


@kernel()
def nearest(whole: Any, power: Any) -> tuple[float, Any, bool]:
    """Return ``whole * 10**power`` as a float64, or as its bits where these are not 0; and whether it is known.

    Short numbers take one exact division. Longer ones are multiplied by a power of five of 128 bits, which decides the
    rounding (Lemire, Number parsing at a gigabyte per second, 2021). Where the product is too close to call, or the
    number too long, the result is not known.
    """
    if whole <= EXACT_WHOLE and -EXACT_POWER <= power <= EXACT_POWER:
        value = np.float64(whole)
        return (value / POWERS_OF_TEN[-power] if power < 0 else value * POWERS_OF_TEN[power]), ZERO_BITS, True
    if power == 0:
        return np.float64(whole), ZERO_BITS, True
    if whole == ZERO_BITS:
        return 0.0, ZERO_BITS, True
    if not -FARTHEST_POWER <= power <= FARTHEST_POWER:
        return 0.0, ZERO_BITS, False
    zeros = _leading_zeros(whole)
    shifted = whole << np.uint64(zeros)
    high, low = _product(shifted, FIVES[power + FARTHEST_POWER, 0])
    if high & BELOW_MANTISSA == BELOW_MANTISSA:
        more, _ = _product(shifted, FIVES[power + FARTHEST_POWER, 1])
        low = low + more
        if more > low:
            high = high + ONE_BIT
    if low == ALL_ONES:
        return 0.0, ZERO_BITS, False
    upper = high >> SIXTY_THREE
    mantissa = high >> (upper + NINE_BITS)
    if low <= ONE_BIT and -4 <= power <= 23 and mantissa & THREE == ONE_BIT and mantissa << (upper + NINE_BITS) == high:
        mantissa = mantissa - ONE_BIT  # exactly in the middle: to the even one
    exponent = ((217706 * power) >> 16) + 63 + np.int64(upper) - zeros + 1023
    mantissa = (mantissa + (mantissa & ONE_BIT)) >> ONE_BIT
    if mantissa >= HIDDEN_BIT << ONE_BIT:
        mantissa = HIDDEN_BIT
        exponent += 1
    return 0.0, (mantissa & (HIDDEN_BIT - ONE_BIT)) | (np.uint64(exponent) << FIFTY_TWO), True


@kernel()
def _leading_zeros(number: Any) -> int:
    zeros = 0
    while number & TOP_BIT == ZERO_BITS:
        number = number << ONE_BIT
        zeros += 1
    return zeros


@kernel()
def _product(a: Any, b: Any) -> tuple[Any, Any]:
    """Return the upper and the lower half of a product of 128 bits."""
    a_high, a_low, b_high, b_low = a >> THIRTY_TWO, a & LOW_HALF, b >> THIRTY_TWO, b & LOW_HALF
    low, middle, other, high = a_low * b_low, a_high * b_low, a_low * b_high, a_high * b_high
    carried = (low >> THIRTY_TWO) + (middle & LOW_HALF) + (other & LOW_HALF)
    high = high + (middle >> THIRTY_TWO) + (other >> THIRTY_TWO) + (carried >> THIRTY_TWO)
    return high, (carried << THIRTY_TWO) | (low & LOW_HALF)


# --- Rows of delimited text, to numbers and runs of equal texts.


SKIPPED, NUMBER, TEXT = 0, 1, 2


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
                value, value_bits, at, plain = _read_table_number(data, at, decimal)
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
def _read_table_number(data: Any, at: Any, decimal: int) -> tuple[float, Any, Any, bool]:
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
    value, value_bits, stopped, plain = _read_table_number(data, first, decimal)
    return value, value_bits, end, plain and stopped == after


# --- Lines of JSON, to their numbers and the shape of what stands around these: ``{"ts":#,"gp":[#,#]}``. A recorder
# writes few shapes, so Python has to look at one line of each.


A_NUMBER = np.uint64(1)
"""Stands for a number in a shape; JSON has no such byte."""

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
                value, at, plain = _read_json_number(data, at)
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
def _read_json_number(data: Any, at: Any) -> tuple[float, Any, bool]:
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
    if digits + decimals > EXACT_DIGITS or data[at] in (PLUS, MINUS, DOT, CAPITAL_E, LETTER_E):
        return 0.0, at, False
    value = whole / POWERS_OF_TEN[decimals]
    return -value if negative else value, at, True


# --- EyeLink sample lines.


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
            if (first == CAPITAL_S and second in (CAPITAL_T, CAPITAL_A)) or (
                first == CAPITAL_E and second == CAPITAL_N
            ):
                break
    return int(at), line, row, notes, counted


@kernel()
def combine_raw_eyes(
    raw: NDArray[np.float64], eyes: int, rows: int, left: float, top: float, chosen: int, no_pupils: bool
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return what each eye saw, and both together.

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
        value, at, plain = read_eyelink_number(data, at, 3 if column == 0 else 0)
        if not plain or (column == 0 and np.isnan(value)):
            return at, False
        if column < kept:
            out[column, row] = value
    if flags > 0:
        at, plain = _skip_flags(data, at, flags)
        if not plain:
            return at, False
    for _ in range(target_numbers):
        value, at, plain = read_eyelink_number(data, at, 0)
        if not plain:
            return at, False
    if target_flags > 0:
        at, plain = _skip_flags(data, at, target_flags)
        if not plain:
            return at, False
    at = _skip_blanks(data, at)
    return at, data[at] == NEWLINE


@kernel()
def read_eyelink_number(data: Any, at: Any, shift: int) -> tuple[float, Any, bool]:
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
        if data[at] != DOT and not CAPITAL_A <= data[at] <= CAPITAL_Z:
            return at, False
        at += ONE
    return at, _ends_field(data[at])


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
