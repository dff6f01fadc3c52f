# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Decimal digits as the float64 nearest to them, compiled.

Short numbers take one exact division. Longer ones are multiplied by a power of five of 128 bits, which decides the
rounding (Lemire, Number parsing at a gigabyte per second, 2021). Where the product is too close to call, or the number
too long, nothing is stated, and someone slower has to look.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from gazeveil.kernel_compiler import kernel

MOST_DIGITS = 19
"""This many digits always fit into 64 bits."""

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
ZERO_BITS, ONE, THREE, NINE_BITS, THIRTY_TWO, FIFTY_TWO, SIXTY_THREE = (
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


FIVES = np.array(_powers_of_five(), dtype=np.uint64)


@kernel()
def nearest(whole: Any, power: Any) -> tuple[float, Any, bool]:
    """Return ``whole * 10**power`` as a float64, or as its bits where these are not 0; and whether it is known."""
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
            high = high + ONE
    if low == ALL_ONES:
        return 0.0, ZERO_BITS, False
    upper = high >> SIXTY_THREE
    mantissa = high >> (upper + NINE_BITS)
    if low <= ONE and -4 <= power <= 23 and mantissa & THREE == ONE and mantissa << (upper + NINE_BITS) == high:
        mantissa = mantissa - ONE  # exactly in the middle: to the even one
    exponent = ((217706 * power) >> 16) + 63 + np.int64(upper) - zeros + 1023
    mantissa = (mantissa + (mantissa & ONE)) >> ONE
    if mantissa >= HIDDEN_BIT << ONE:
        mantissa = HIDDEN_BIT
        exponent += 1
    return 0.0, (mantissa & (HIDDEN_BIT - ONE)) | (np.uint64(exponent) << FIFTY_TWO), True


@kernel()
def _leading_zeros(number: Any) -> int:
    zeros = 0
    while number & TOP_BIT == ZERO_BITS:
        number = number << ONE
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
