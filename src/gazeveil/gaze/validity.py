# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Rules that say which samples are valid: ``status==OK``, ``ValidityLeft<=1``, ``'Eye state' in open, half``.

A rule is a column of the file, a sign and a value, with ``left:`` or ``right:`` before it where it is about one eye.
Names and values with signs, commas or blanks at their ends stand in quotes; a column may stand in square brackets too.
Numbers are compared as numbers, everything else as text whatever the case. Nothing is ever evaluated as code.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from gazeveil.display import plain_number
from gazeveil.errors import OptionError

SIGNS: Final = ("==", "!=", "<=", ">=", "<", ">", "in")
_ORDERS: Final = ("<=", ">=", "<", ">")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_EYE = re.compile(r"\s*(left|right)\s*:(.*)", re.DOTALL)
_SIGN = re.compile(r"==|!=|<=|>=|<|>|(?<=\s)in(?=\s)")
_AFTER_QUOTES = re.compile(r"\s*(==|!=|<=|>=|<|>|in\b)")
_QUOTES: Final = {"'": "'", '"': '"', "[": "]"}
_EXAMPLE: Final = "for example --valid 'status==OK', --valid 'ValidityLeft<=1' or --valid 'state in open, half'"


@dataclass(frozen=True, slots=True)
class Rule:
    """One condition that valid samples keep.

    Attributes:
        column: The file's column.
        sign: One of `SIGNS`.
        values: What the column is compared with: all numbers, or all texts in lower case.
        eye: ``left`` or ``right`` where the rule is about one eye alone, else empty.
    """

    column: str
    sign: str
    values: tuple[float, ...] | tuple[str, ...]
    eye: str = ""

    @property
    def is_of_numbers(self) -> bool:
        """Whether the column is compared as numbers."""
        return not isinstance(self.values[0], str)

    def __str__(self) -> str:
        column = self.column if _is_bare(self.column) and not _EYE.match(f"{self.column}:") else _quoted(self.column)
        values = ", ".join(_quoted(value) if isinstance(value, str) else plain_number(value) for value in self.values)
        return f"{f'{self.eye}: ' if self.eye else ''}{column} {self.sign} {values}"


def parse_rule(text: str) -> Rule:
    """Return the rule that a text says.

    Raises:
        OptionError: If it says none.
    """
    eye, rest = "", text
    if about := _EYE.fullmatch(text):
        eye, rest = about[1], about[2]
    column, sign, after = _cut_at_sign(text, rest.strip())
    found = _values(text, after) if sign == "in" else [_value(text, after)]
    if not found:
        raise _wrong(text, f"nothing stands after {sign}")
    numbers = [float(word) for word, quoted in found if not quoted and _is_number(word)]
    if len(numbers) == len(found):
        return Rule(column, sign, tuple(numbers), eye)
    if sign in _ORDERS:
        raise _wrong(text, f"{sign} compares with a number, not with {after.strip()!r}")
    return Rule(column, sign, tuple(word.strip().lower() for word, _ in found), eye)


def parse_rules(texts: Iterable[str]) -> tuple[Rule, ...]:
    """Return the rules that texts say; all must hold."""
    return tuple(parse_rule(text) for text in texts)


def _cut_at_sign(text: str, rest: str) -> tuple[str, str, str]:
    """Return column, sign and what follows."""
    if rest[:1] in _QUOTES:
        end = _closing(rest)
        found = _AFTER_QUOTES.match(rest, end + 1) if end > 0 else None
        if found is None:
            raise _wrong(text, "a sign must follow the column's closing quote or bracket")
        column = rest[1:end]
    else:
        found = _SIGN.search(rest)
        if found is None:
            hint = "say == for equal" if "=" in rest else f"the signs are {', '.join(SIGNS)}"
            raise _wrong(text, f"it has no sign ({hint})")
        column = rest[: found.start()].strip()
    if not column.strip():
        raise _wrong(text, "no column stands before the sign")
    return column, found[0].strip(), rest[found.end() :]


def _closing(rest: str) -> int:
    """Return where a quote or bracket that begins the text ends; brackets may hold brackets. -1 if nowhere."""
    if rest[0] != "[":
        return rest.find(_QUOTES[rest[0]], 1)
    depth = 0
    for place, letter in enumerate(rest):
        depth += (letter == "[") - (letter == "]")
        if depth == 0:
            return place
    return -1


def _value(text: str, after: str) -> tuple[str, bool]:
    """Return one value, and whether it stood in quotes."""
    word = after.strip()
    if word[:1] in {"'", '"'}:
        if len(word) < 2 or word.find(word[0], 1) != len(word) - 1:
            raise _wrong(text, f"{word} is not one text in quotes")
        return word[1:-1], True
    if not word:
        raise _wrong(text, "no value stands after the sign (an empty field is '')")
    if not _is_bare(word):
        raise _wrong(text, f"put {word!r} in quotes, or give one rule each")
    return word, False


def _values(text: str, after: str) -> list[tuple[str, bool]]:
    """Return values with commas between; a comma in quotes is part of a value."""
    parts = re.findall(r"""\s*(?:'[^']*'|"[^"]*"|[^,'"]*)\s*(?:,|$)""", after)
    if "".join(parts) != after:
        raise _wrong(text, f"{after.strip()!r} is no list such as a, b")
    words = [part.removesuffix(",") for part in parts]
    if words and not words[-1] and not after.rstrip().endswith(","):
        words.pop()  # the empty match at the end
    return [_value(text, word) for word in words]


def _is_number(word: str) -> bool:
    return bool(_NUMBER.fullmatch(word)) and math.isfinite(float(word))


def _is_bare(word: str) -> bool:
    """Whether a name or value needs no quotes."""
    plain = word == word.strip() and word[:1] not in {*_QUOTES, ""} and not _SIGN.search(f" {word} ")
    return plain and not any(letter in word for letter in "=,:")


def _quoted(word: str) -> str:
    mark = '"' if "'" in word else "'"
    return f"{mark}{word}{mark}"


def _wrong(text: str, why: str) -> OptionError:
    return OptionError(f"--valid {text!r} is no rule: {why}", hint=_EXAMPLE)
