# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Words and tables for the plain parsers."""

from __future__ import annotations

import csv
import gzip
import itertools
import math
from pathlib import Path
from statistics import median

Row = tuple[float, float, float]
LOST = (math.nan, math.nan)


def text_of(path: Path) -> str:
    """Return a file's text; gzip or not, UTF-8, UTF-16 with its mark, or Latin-1."""
    raw = path.read_bytes()
    raw = gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw
    for encoding in ("utf-16",) if raw[:2] in {b"\xff\xfe", b"\xfe\xff"} else ("utf-8-sig", "latin-1"):
        try:
            return raw.decode(encoding)
        except UnicodeDecodeError:
            continue
    raise ValueError("text in no known encoding")


def number(word: str | None) -> float:
    """Return a cell as a number; not a number where it is empty or says so."""
    word = (word or "").strip().strip('"')
    return math.nan if word.lower() in {"", ".", "-", "n/a", "na", "nan", "none"} else float(word.replace(",", "."))


def table(path: Path, mark: str = ",", skip: int = 0) -> list[dict[str, str]]:
    """Return a table's rows by column; a byte order mark and blanks about names are left out."""
    lines = [line for line in text_of(path).splitlines()[skip:] if line.strip()]
    header, *rows = csv.reader(lines, delimiter=mark)
    names = [name.strip() for name in header]
    return [dict(zip(names, row, strict=False)) for row in rows if any(cell.strip() for cell in row)]


def mean_of_seen(points: list[tuple[float, float]]) -> tuple[float, float]:
    """Return the mean of the eyes that were seen."""
    seen = [point for point in points if not math.isnan(point[0]) and not math.isnan(point[1])]
    return (sum(x for x, _ in seen) / len(seen), sum(y for _, y in seen) / len(seen)) if seen else LOST


def seconds_by_step(times: list[float]) -> float:
    """Return the length of a tick: steps are those of 10 to 2000 Hz."""
    step = median(after - before for before, after in itertools.pairwise(times) if after > before)
    return next(tick for tick in (1.0, 1e3, 1e6, 1e9) if 0.0005 <= step / tick <= 0.1)
