# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Blocks of a table whose fields are all plainly written, read in one pass over their bytes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import polars as pl

from gazeveil.arrays import IntArray
from gazeveil.gaze.formats._numbers import MISSING
from gazeveil.gaze.formats._text import TextBlock

_BYTES_PER_RUN = 512
"""Texts that change more often than that are cheaper to read otherwise."""

_SPELLINGS = np.array([list(each.encode().ljust(16, b"\0")) for each in MISSING], dtype=np.uint8)


class PlainRows(NamedTuple):
    """Rows under our names, the lines they stood on, and whether any number is not whole."""

    frame: pl.DataFrame
    lines: IntArray
    has_decimals: bool


def plain_rows(
    block: TextBlock,
    marks: tuple[str, str],
    names: Sequence[str],
    text: Mapping[str, str],
    numbers: Mapping[str, str],
    read_text: Callable[[Sequence[str]], pl.DataFrame],
) -> PlainRows | None:
    """Read whole lines; None if a row has another width, or a field that is neither plainly a number nor missing.

    Args:
        block: Whole lines.
        marks: What stands between fields, and before decimals.
        names: The file's columns, as many as a row has fields.
        text: Our name → the file's column, for columns of text.
        numbers: Our name → the file's column, for columns of numbers.
        read_text: Reads columns of text that change on nearly every row.
    """
    from gazeveil.gaze.formats._table_kernels import NUMBER, TEXT, read_rows  # noqa: PLC0415

    as_numbers, as_text = set(numbers.values()), set(text.values()) - set(numbers.values())
    kinds = np.array([NUMBER if name in as_numbers else TEXT * (name in as_text) for name in names], dtype=np.int8)
    of_numbers, of_text = (
        [name for name, kind in zip(names, kinds, strict=True) if kind == which] for which in (NUMBER, TEXT)
    )
    values = np.empty((len(of_numbers), block.lines))
    runs = np.empty((len(of_text), len(block.data) // _BYTES_PER_RUN + 16, 3), dtype=np.int64)
    counts = np.zeros(len(of_text), dtype=np.int64)
    lines = np.empty(block.lines, dtype=np.int64)
    seen = np.zeros(len(of_numbers) + 1, dtype=np.bool_)
    delimiter, decimal = (ord(mark) for mark in marks)
    octets = np.frombuffer(block.data, dtype=np.uint8)
    rows = read_rows(
        octets, (delimiter, decimal), kinds, _SPELLINGS, values, values.view(np.uint64), runs, counts, lines, seen
    )
    if rows < 0:
        return None
    found = {name: pl.Series(values[at, :rows], nan_to_null=bool(seen[at])) for at, name in enumerate(of_numbers)}
    said = {
        name: _repeated(block.data, runs[at, : counts[at]], rows) for at, name in enumerate(of_text) if counts[at] >= 0
    }
    if varied := [name for name in dict.fromkeys(text.values()) if name not in said]:
        if rows < block.lines:
            return None  # not everybody passes over empty lines
        said |= read_text(varied).to_dict()
    columns = {ours: said[theirs] for ours, theirs in text.items()}
    columns |= {ours: found[theirs] for ours, theirs in numbers.items()}
    return PlainRows(pl.DataFrame(columns), lines[:rows] + block.first_line, bool(seen[-1]))


def _repeated(data: bytes, runs: IntArray, rows: int) -> pl.Series:
    """Return a column of text from its runs; null where a field is empty and not quoted."""
    # plain lists of numbers: many small tuples would set off the collector of garbage
    starts, ends = runs[:, 0].tolist(), runs[:, 1].tolist()
    texts = [
        data[start:end].decode() if end > start or data[start - 1 : start] == b'"' else None
        for start, end in zip(starts, ends, strict=True)
    ]
    values = pl.Series(texts, dtype=pl.String)
    if len(texts) == 1:
        return values.new_from_index(0, rows)
    return values[np.repeat(np.arange(len(texts), dtype=np.uint32), np.diff(runs[:, 2], append=rows))]
