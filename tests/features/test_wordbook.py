# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Letters of saccades and the words they spell."""

from __future__ import annotations

import numpy as np
import pytest

from gazeveil.features.extraction import letters, numbered, words


@pytest.mark.parametrize(
    ("across", "down", "large", "letter"),
    [
        (5, 0, True, 0),
        (5, -0.9, True, 0),  # 10 degrees up is still right
        (5, 0.9, True, 0),
        (5, -1.1, True, 1),  # 12.4 degrees up is not
        (5, 1.1, True, 15),
        (0, -5, True, 4),  # y grows downwards: this is up
        (-5, 0, True, 8),
        (0, 5, True, 12),
        (1, 0, False, 16),
        (1, -0.41, False, 16),
        (1, -0.42, False, 17),
        (0, -1, False, 18),
        (-1, 0.0, False, 20),
        (0, 1, False, 22),
        (1, 1, False, 23),
    ],
)
def test_bins_are_centred_on_right_and_counted_upwards(across: float, down: float, large: bool, letter: int) -> None:
    assert letters(np.array([across]), np.array([down]), np.array([large])).tolist() == [letter]


def test_every_letter_can_be_spelled() -> None:
    angle = np.linspace(-np.pi, np.pi, 1000)
    found = {
        letter
        for large in (True, False)
        for letter in letters(np.cos(angle), np.sin(angle), np.full(1000, large)).tolist()
    }
    assert found == set(range(24))


def test_the_last_word_is_not_forgotten() -> None:
    spelled = np.array([1, 2, 3, 4])
    assert words(spelled, 1).tolist() == [1, 2, 3, 4]
    assert words(spelled, 2).tolist() == [26, 51, 76]
    assert words(spelled, 4).tolist() == [((1 * 24 + 2) * 24 + 3) * 24 + 4]
    assert words(spelled[:2], 3).tolist() == []


def test_equal_words_get_equal_numbers_and_there_are_no_more_than_occur() -> None:
    spelled = np.array([5, 7, 5, 7, 5])
    ids, different = numbered(spelled)
    assert different.tolist() == [2, 2, 2, 2]
    assert ids[1].tolist() == [0, 1, 0, 1, -1]
    assert ids[3].tolist() == [0, 1, -1, -1, -1]
    ids, different = numbered(spelled[:0])
    assert ids.shape == (4, 0)
    assert different.tolist() == [0, 0, 0, 0]
