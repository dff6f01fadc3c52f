# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""How easy a text is to read: the Flesch–Kincaid grade for English, the first Wiener Sachtextformel for German.

Both stand for years of school. Flesch and Kincaid (1975): 0.39 words a sentence + 11.8 syllables a word - 15.59.
Bamberger and Vanecek (1984): 0.1935 MS + 0.1672 SL + 0.1297 IW - 0.0327 ES - 0.875, where MS is the percentage of words
of three syllables or more, SL the mean number of words in a sentence, IW the percentage of words of more than six
letters, and ES that of words of one syllable.

Syllables are counted by rule, without a dictionary:

- English: a run of vowels (a, e, i, o, u, y) is a syllable. A final e is silent, but for -le after a consonant. A final
  -es or -ed is silent, but for -es after c, g, s, x, z, ch, sh, and -ed after d or t.
- German: a vowel is a syllable; aa, ee, oo, ie, ei, ai, au, eu and äu are one. A u after q is none.
- In both, a word has at least one. A number is a word of two syllables: neither short nor long.

A sentence ends with a full stop, a question or exclamation mark, or a colon before a capital letter.
"""

from __future__ import annotations

import re
from collections.abc import Callable

_WORD = re.compile(r"[^\W\d_]+(?:[-'’][^\W\d_]+)*|\d[\d.,]*")
_END = re.compile(r"(?<=[.!?])\s+|(?<=:)\s+(?=[A-ZÄÖÜ])")


def grade(text: str) -> float:
    """Return the Flesch–Kincaid grade of an English text."""
    words, sentences, syllables = _counted(text, english_syllables)
    return 0.39 * words / sentences + 11.8 * sum(syllables) / words - 15.59


def sachtextformel(text: str) -> float:
    """Return the first Wiener Sachtextformel of a German text."""
    words, sentences, syllables = _counted(text, german_syllables)
    many = 100 * sum(count >= 3 for count in syllables) / words
    one = 100 * sum(count == 1 for count in syllables) / words
    long = 100 * sum(len(word) > 6 for word in _WORD.findall(text)) / words
    return 0.1935 * many + 0.1672 * words / sentences + 0.1297 * long - 0.0327 * one - 0.875


def english_syllables(word: str) -> int:
    """Return how many syllables an English word has, by rule."""
    letters = word.lower()
    count = len(re.findall(r"[aeiouy]+", letters))
    silent = (
        (re.search(r"[^aeiouy]e$", letters) and not re.search(r"[^aeiouy]le$", letters))
        or (re.search(r"[^aeiouycgsxz]es$", letters) and not re.search(r"[cs]hes$", letters))
        or re.search(r"[^aeiouydt]ed$", letters)
    )
    return max(1, count - bool(silent))


def german_syllables(word: str) -> int:
    """Return how many syllables a German word has, by rule."""
    letters = word.lower().replace("qu", "q")
    return max(1, len(re.findall(r"aa|ee|oo|ie|ei|ai|au|eu|äu|[aeiouyäöü]", letters)))


def _counted(text: str, syllables: Callable[[str], int]) -> tuple[int, int, list[int]]:
    words = _WORD.findall(text)
    sentences = [part for part in _END.split(text) if _WORD.search(part)]
    return len(words), len(sentences), [2 if word[0].isdigit() else syllables(word) for word in words]
