# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The walk through a `tables.Table`: one word in, one lattice sample out."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gazeveil._compiled import kernel

UNDECIDED = np.iinfo(np.int64).min

_ONE = np.uint64(1)


@kernel()
def walk(
    words: NDArray[np.uint64],
    tails: NDArray[np.uint64],
    guide: NDArray[np.int32],
    shift: np.uint64,
    width: np.uint64,
    out: NDArray[np.int64],
) -> int:
    """Turn words into samples; mark those the table cannot decide and return how many there are.

    The lowest bit of a word is the sign, the other 63 are the uniform number. The guide leads to the last entry that
    is above all numbers with the same leading bits; the next entry is tried without a branch, which settles most
    words, and a binary search does the rest, so that a walk is never long.
    """
    undecided = 0
    for k in range(len(words)):
        number = words[k] >> _ONE
        bucket = np.int64(number >> shift)
        at = np.int64(guide[bucket])
        at += np.int64(number < tails[at])
        if number < tails[at]:
            low = at + 1
            high = np.int64(guide[bucket - 1]) if bucket > 0 else np.int64(len(tails) - 1)
            while low < high:
                middle = (low + high) >> 1
                if number < tails[middle]:
                    low = middle + 1
                else:
                    high = middle
            at = low
        if number - tails[at] < width:
            undecided += 1
            out[k] = UNDECIDED
        else:
            negative = -np.int64(words[k] & _ONE)
            out[k] = (at ^ negative) - negative
    return undecided
