# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Saccades as letters, consecutive saccades as words (the wordbook of Bulling 2011).

A large saccade is one of 16 letters, a small one of 8, by its direction. Directions are counted from right, upwards
first; the first bin of each is centred on right, so a saccade along a line of text is always the same letter.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gazeveil.features.names import LONGEST_WORD, SYMBOLS
from gazeveil.types import FloatArray

LARGE_DIRECTIONS, SMALL_DIRECTIONS = 16, 8


def letters(across: FloatArray, down: FloatArray, large: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return each saccade's letter: 0 to 15 for large ones, 16 to 23 for small ones; y grows downwards."""
    turns = np.arctan2(-down, across) / (2.0 * np.pi)
    directions = np.where(large, LARGE_DIRECTIONS, SMALL_DIRECTIONS)
    bins = np.floor(turns * directions + 0.5).astype(np.int64) % directions
    return np.where(large, bins, LARGE_DIRECTIONS + bins)


def words(spelled: NDArray[np.int64], length: int) -> NDArray[np.int64]:
    """Return the number of each word of ``length`` letters, all len - length + 1 of them, in base 24."""
    count = max(len(spelled) - length + 1, 0)
    number = np.zeros(count, dtype=np.int64)
    for place in range(length):
        number = number * SYMBOLS + spelled[place : place + count]
    return number


def numbered(spelled: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return, for words of 1 to 4 letters, a small number for each word, and how many different ones there are.

    Of 331,776 possible words of four letters a recording has a few hundred; only those are counted.
    The numbers of words that would run over the end are -1.
    """
    ids = np.full((LONGEST_WORD, len(spelled)), -1, dtype=np.int64)
    different = np.zeros(LONGEST_WORD, dtype=np.int64)
    for length in range(1, LONGEST_WORD + 1):
        found, which = np.unique(words(spelled, length), return_inverse=True)
        ids[length - 1, : len(which)] = which
        different[length - 1] = len(found)
    return ids, different
