# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Files of one JSON object on each line, a block at a time; a line that is none is a bad line."""

from __future__ import annotations

import itertools
import json
import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from gazeveil.arrays import FloatArray, IntArray
from gazeveil.errors import FileFormatError
from gazeveil.gaze.formats._text import BLOCK_BYTES, TextBlock, text_blocks
from gazeveil.gaze.formats.base import ReadOptions, ReadReport

Line = tuple[int, dict[str, Any]]

_MOST_SHAPES = 200
_TEXT_OR_NUMBER = re.compile(rb'("(?:[^"\\]|\\.)*")|-?\d[\d.]*')


@dataclass(frozen=True, slots=True)
class Shaped:
    """Lines of one shape: the object that each is, with a count from 0 in the place of every number.

    ``numbers`` are those of all lines; ``first`` is where each of these lines has its first.
    """

    shape: dict[str, Any]
    lines: IntArray
    first: IntArray
    numbers: FloatArray

    def columns(self, *places: Any) -> list[FloatArray] | None:
        """Return the numbers at places of the shape; None if one of them holds no number."""
        if not all(type(place) is int for place in places):
            return None
        return [self.numbers[self.first + place] for place in places]


def json_blocks(path: Path, options: ReadOptions, report: ReadReport) -> Iterator[TextBlock]:
    """Yield a file as blocks of whole lines."""
    size = min(BLOCK_BYTES, max(4096, options.chunk_rows * 64))
    return text_blocks(path, report, options.encoding, block_bytes=size)


def json_lines(path: Path, block: TextBlock, report: ReadReport) -> list[Line]:
    """Return a block's objects with their lines' numbers."""
    texts = enumerate(block.data.split(b"\n"), block.first_line)
    lines = [(number, text.strip()) for number, text in texts if text and not text.isspace()]
    return _at_once(lines) or _one_by_one(path, lines, report)


def by_shape(block: TextBlock) -> list[Shaped] | None:
    """Return a block's objects by their shapes, which is many times faster; None if a line needs a closer look."""
    from gazeveil.gaze.formats import _json_kernels  # noqa: PLC0415  (numba loads on use)

    data = np.frombuffer(block.data, dtype=np.uint8)
    height = block.data.count(b"\n")
    if not height or data[-1] != ord("\n"):
        return None
    lines, shapes = np.empty((height + 1, 2), np.int64), np.empty(height, np.uint64)
    numbers = np.empty(len(data) // 2 + 1)
    height, _count = _json_kernels.take_apart(data, lines, shapes, numbers)
    if height < 0:
        return None
    lengths = np.diff(lines[:, 1])
    first, which = np.unique(shapes, return_index=True, return_inverse=True)[1:]
    if len(first) > _MOST_SHAPES:
        return None
    found = []
    for place, row in enumerate(first.tolist()):
        mine = np.flatnonzero(which == place)
        text = block.data[lines[row, 0] : lines[row + 1, 0]]
        if not text.strip():
            continue
        shape = _shape_of(text)
        if shape is None or (lengths[mine] != lengths[row]).any():
            return None
        found.append(Shaped(shape, mine + block.first_line, lines[mine, 1], numbers))
    return found


def _shape_of(text: bytes) -> dict[str, Any] | None:
    """Return the object on a line with its numbers counted from 0; None if it is none."""
    try:
        parse_json(text)
        places = itertools.count()
        # what stands in quotes stays as it is
        counted = _TEXT_OR_NUMBER.sub(lambda found: found[1] or b"%d" % next(places), text)
        shape = parse_json(counted)
    except ValueError:
        return None
    return shape if isinstance(shape, dict) else None


def number_in(value: object) -> float | None:
    """Return a value as a finite number; None if it is none."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def point_in(value: object) -> tuple[float, float] | None:
    """Return a value as a pair of finite numbers; None if it is none."""
    if not isinstance(value, list) or len(value) != 2:
        return None
    x, y = number_in(value[0]), number_in(value[1])
    return None if x is None or y is None else (x, y)


def numbers_in(values: list[Any]) -> FloatArray | None:
    """Return values as finite numbers, all at once; None if one of them is none."""
    if not set(map(type, values)) <= {int, float}:
        return None
    try:
        numbers = np.array(values, dtype=np.float64)
    except OverflowError:
        return None
    return numbers if np.isfinite(numbers).all() else None


def parse_json(text: str | bytes) -> Any:
    """Return a JSON value; NaN and infinities, which JSON has not, are refused.

    Raises:
        ValueError: If it is no JSON.
    """
    try:
        return _quick()(text)
    except (ValueError, RecursionError):
        pass  # Python's own takes more numbers and names of letters, and says what is wrong
    try:
        return json.loads(text, parse_constant=_refuse)
    except RecursionError:
        raise ValueError("nested too deeply") from None


@cache
def _quick() -> Callable[[str | bytes], Any]:
    """Return what reads JSON several times as fast where msgspec is installed, else what reads nothing."""
    try:
        from msgspec.json import decode  # noqa: PLC0415
    except ImportError:
        return _nothing
    return decode


def _nothing(text: str | bytes) -> NoReturn:
    raise ValueError("there is nothing to read it with")


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON")


def _at_once(lines: list[tuple[int, bytes]]) -> list[Line] | None:
    """Parse a block as one list, which is several times faster; None if a line needs a closer look."""
    # every line opens and closes an object, so that halves of two lines cannot make one
    if not all(text.startswith(b"{") and text.endswith(b"}") for _, text in lines):
        return None
    try:
        values = parse_json(b"[" + b",".join(text for _, text in lines) + b"]")
    except ValueError:
        return None
    if len(values) != len(lines):
        return None
    return [(number, value) for (number, _), value in zip(lines, values, strict=True)]


def _one_by_one(path: Path, lines: list[tuple[int, bytes]], report: ReadReport) -> list[Line]:
    good = []
    for number, text in lines:
        try:
            value = parse_json(text)
        except ValueError:
            value = None
        if isinstance(value, dict):
            good.append((number, value))
        else:
            found = repr(text[:60].decode(errors="replace"))
            report.bad(FileFormatError(path, line=number, expected="a JSON object on the line", found=found))
    return good
