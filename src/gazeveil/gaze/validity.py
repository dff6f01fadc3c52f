# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Which samples hold gaze: rules of validity (``status==OK``), and numbers that stand for lost gaze (``0,0``).

A rule is a column of the file, a sign and a value, with ``left:`` or ``right:`` before it where it is about one eye.
Names and values with signs, commas or blanks at their ends stand in quotes; a column may stand in square brackets too.
Numbers are compared as numbers, everything else as text whatever the case. Nothing is ever evaluated as code.

Sentinels are recognised and reported. They are read as loss only where a format's own rule or the user says so:
``--sentinel 0,0`` (a point) or ``--sentinel -32768`` (a number in x or in y).
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np
import polars as pl

from gazeveil.arrays import BoolArray, FloatArray
from gazeveil.display import plain_number
from gazeveil.errors import OptionError
from gazeveil.geometry import Geometry, Unit

if TYPE_CHECKING:
    from gazeveil.gaze.formats.base import Chunk, ReadReport


SIGNS: Final = ("==", "!=", "<=", ">=", "<", ">", "in")
_ORDERS: Final = ("<=", ">=", "<", ">")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_EYE = re.compile(r"\s*(left|right)\s*:(.*)", re.DOTALL)
_SIGN = re.compile(r"==|!=|<=|>=|<|>|(?<=\s)in(?=\s)")
_AFTER_QUOTES = re.compile(r"\s*(==|!=|<=|>=|<|>|in\b)")
_QUOTES: Final = {"'": "'", '"': '"', "[": "]"}
_EXAMPLE: Final = "for example --valid 'status==OK', --valid 'ValidityLeft<=1' or --valid 'state in open, half'"


@dataclass(frozen=True, slots=True)
class ValidityRule:
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


def parse_rule(text: str) -> ValidityRule:
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
        return ValidityRule(column, sign, tuple(numbers), eye)
    if sign in _ORDERS:
        raise _wrong(text, f"{sign} compares with a number, not with {after.strip()!r}")
    return ValidityRule(column, sign, tuple(word.strip().lower() for word, _ in found), eye)


def parse_rules(texts: Iterable[str]) -> tuple[ValidityRule, ...]:
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


# --- Sentinels, numbers that stand for lost gaze: (0, 0), (-1, -1), 1e8, a point off the screen to which gaze returns.


KNOWN_POINTS: Final = ((0.0, 0.0), (-1.0, -1.0))
"""What trackers write for lost gaze in pixels and fractions. In degrees (0, 0) is straight ahead, and no sign."""

KNOWN_NUMBERS: Final = (1e8, -1e8, -32768.0, 32767.0, -9999.0)
"""What trackers write in x or in y: 1e8 and -32768 are those of EyeLink."""

LEAST_TIMES: Final = 5
LEAST_SHARE: Final = 0.005
"""How often gaze is at one point outside the screen, or in its corner, until the point counts as a sentinel."""

Extent = tuple[float, float, float, float]
Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Sentinel:
    """A point that stands for lost gaze; or a number that does, in x or in y, where ``y`` is None."""

    x: float
    y: float | None = None

    def __str__(self) -> str:
        return plain_number(self.x) if self.y is None else f"{plain_number(self.x)},{plain_number(self.y)}"

    def mask(self, x: FloatArray, y: FloatArray) -> BoolArray:
        """Where positions are this one."""
        found: BoolArray = (x == self.x) | (y == self.x) if self.y is None else (x == self.x) & (y == self.y)
        return found


def parse_sentinel(text: str) -> Sentinel:
    """Return the sentinel that a text says.

    Raises:
        OptionError: If it is neither a number nor two.
    """
    try:
        numbers = [float(part) for part in text.split(",")]
    except ValueError:
        numbers = []
    if len(numbers) not in {1, 2} or not np.isfinite(numbers).all():
        raise OptionError(
            f"--sentinel must be a point or a number, not {text!r}", hint="for example --sentinel 0,0 or -32768"
        )
    return Sentinel(*numbers)


def known_sentinels(geometry: Geometry) -> list[Sentinel]:
    """Return the sentinels that are looked for on a viewing plane."""
    points = () if geometry.unit is Unit.DEGREE else KNOWN_POINTS
    return [*(Sentinel(*point) for point in points), *(Sentinel(number) for number in KNOWN_NUMBERS)]


def is_known(point: Point, geometry: Geometry) -> bool:
    """Whether a point is what trackers write for lost gaze."""
    x, y = np.array([point[0]]), np.array([point[1]])
    return any(bool(sentinel.mask(x, y)[0]) for sentinel in known_sentinels(geometry))


def visible(geometry: Geometry) -> Extent | None:
    """Return left, top, right and bottom of the visible viewing plane; None for a headset whose field is not known."""
    known = geometry.knows_degrees and (geometry.fov_x_deg is not None or geometry.width_mm is not None)
    return geometry.extent() if geometry.unit is not Unit.DEGREE or known else None


def outside(x: FloatArray, y: FloatArray, extent: Extent) -> BoolArray:
    """Where positions are outside the visible viewing plane."""
    left, top, right, bottom = extent
    return (x < left) | (x > right) | (y < top) | (y > bottom)


def corner(x: FloatArray, y: FloatArray, extent: Extent, geometry: Geometry) -> BoolArray:
    """Where positions are exactly in a corner; the last pixel of a screen counts as its edge too."""
    left, top, right, bottom = extent
    last = 1.0 if geometry.unit is Unit.PIXEL else 0.0
    across = (x == left) | (x == right) | (x == right - last)
    found: BoolArray = across & ((y == top) | (y == bottom) | (y == bottom - last))
    return found


def count_points(x: FloatArray, y: FloatArray) -> Counter[Point]:
    """Return how often each exact position occurs, the most frequent first."""
    if not x.size:
        return Counter()
    table = pl.DataFrame({"x": x + 0.0, "y": y + 0.0}).group_by("x", "y").len().sort("len", "x", "y", descending=True)
    return Counter({(across, down): count for across, down, count in table.head(64).iter_rows()})


def most_common_point(x: FloatArray, y: FloatArray) -> tuple[Point, int]:
    """Return the point that most samples lie on; where many lie on (0, 0), that one."""
    if not x.size:
        return (0.0, 0.0), 0
    zero = int(((x == 0) & (y == 0)).sum())
    point, most = count_points(x, y).most_common(1)[0]
    return ((0.0, 0.0), zero) if 100 * zero >= len(x) and 5 * most < len(x) else (point, most)


def without_sentinels(chunks: Iterable[Chunk], texts: Sequence[str], report: ReadReport) -> Iterator[Chunk]:
    """Yield the chunks with gaze at the user's sentinels lost, each eye by itself, and count it.

    Where one eye alone is at a sentinel, the combined gaze is the other eye's.
    """
    sentinels = [parse_sentinel(text) for text in texts]
    for chunk in chunks:
        samples = chunk.samples
        for sentinel in sentinels:
            samples = _without_sentinel(samples, sentinel, report)
        yield replace(chunk, samples=samples) if sentinels else chunk


def _without_sentinel(samples: pl.DataFrame, sentinel: Sentinel, report: ReadReport) -> pl.DataFrame:
    seen = {prefix: _seen(samples, prefix) for prefix in ("", "left_", "right_") if f"{prefix}x" in samples.columns}
    lost = {prefix: valid & sentinel.mask(x, y) for prefix, (x, y, valid) in seen.items()}
    x, y, valid = seen[""]
    any_lost = lost[""].copy()
    for eye, other in (("left_", "right_"), ("right_", "left_")):
        if eye in seen and other in seen:
            fills = lost[eye] & seen[other][2] & ~lost[other] & valid & ~lost[""]
            x, y = np.where(fills, seen[other][0], x), np.where(fills, seen[other][1], y)
            any_lost |= lost[eye]
    if {"left_", "right_"} <= set(seen):
        lost[""] |= valid & lost["left_"] & lost["right_"]
    if not any_lost.any():
        return samples
    report.remark(f"gaze at the sentinel {sentinel} is lost", int(any_lost.sum()))
    seen[""] = (x, y, valid)
    columns = []
    for prefix, (across, down, stated) in seen.items():
        gone = lost[prefix]
        columns += [
            pl.Series(f"{prefix}x", np.where(gone, np.nan, across), nan_to_null=True),
            pl.Series(f"{prefix}y", np.where(gone, np.nan, down), nan_to_null=True),
            pl.Series(f"{prefix}valid", stated & ~gone),
        ]
    return samples.with_columns(columns)


def _seen(samples: pl.DataFrame, prefix: str) -> tuple[FloatArray, FloatArray, BoolArray]:
    x, y = (samples[f"{prefix}{axis}"].cast(pl.Float64).fill_null(np.nan).to_numpy() for axis in "xy")
    stated = f"{prefix}valid"
    valid = samples[stated].fill_null(False).to_numpy() if stated in samples.columns else True
    return x, y, valid & np.isfinite(x) & np.isfinite(y)
