# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Files of one JSON object on each line, a block at a time; a line that is none is a bad line."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from gazeveil.errors import FileFormatError
from gazeveil.gaze.formats._text import BLOCK_BYTES, text_blocks
from gazeveil.gaze.formats.base import ReadOptions, ReadReport
from gazeveil.types import FloatArray

Line = tuple[int, dict[str, Any]]


def json_lines(path: Path, options: ReadOptions, report: ReadReport) -> Iterator[list[Line]]:
    """Yield the objects of a file with their lines' numbers, block by block."""
    size = min(BLOCK_BYTES, max(4096, options.chunk_rows * 64))
    for block in text_blocks(path, report, options.encoding, block_bytes=size):
        texts = enumerate(block.data.split(b"\n"), block.first_line)
        lines = [(number, text.strip()) for number, text in texts if text and not text.isspace()]
        yield _at_once(lines) or _one_by_one(path, lines, report)


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
        return json.loads(text, parse_constant=_refuse)
    except RecursionError:
        raise ValueError("nested too deeply") from None


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
