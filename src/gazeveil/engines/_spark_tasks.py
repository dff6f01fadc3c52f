# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What the workers of a Spark cluster do. Each step gives the same answer when it is done again elsewhere.

1. `split` reads parts of a corpus and cuts their rows into buckets, so that an observer's rows share one bucket.
2. `add_bucket` brings the observers of one bucket together and adds up the kernel's integers.
3. `merge` adds the buckets' sums, block by block of cells, so that no machine needs all of them at once.

Answers about recordings are one step: `answer` reads the parts that whole recordings lie in.
"""

from __future__ import annotations

import io
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from gazeveil.aggregate.engine import Kernel
from gazeveil.engines.adding import add_exactly, add_up
from gazeveil.errors import InputError
from gazeveil.gaze import schema
from gazeveil.gaze._parquet import TableLabel
from gazeveil.gaze.corpus import Corpus, Part
from gazeveil.gaze.mapping import Answer
from gazeveil.gaze.recording import Recording
from gazeveil.types import IntArray

Piece = tuple[int, bytes]
"""The number of a part in the corpus, and rows of it: a plan to read them, or a table of them."""

Block = NDArray[np.signedinteger[Any]]
"""Integers of some width on their way through the network."""

COUNT = 0
"""The key of the number of observers; blocks of cells have the keys from 1 up."""

BLOCK = 1 << 16
"""Cells in a block: half a megabyte."""

LENGTH = "_rows"
"""The column that says how many rows the lists beside it hold."""


class Sent(NamedTuple):
    """A part of a corpus on its way to a worker, with plans to read its samples and events."""

    stimulus: str
    samples: bytes
    events: bytes
    label: TableLabel
    path: Path | None


def answer(pieces: Iterable[list[Sent]], kernel: Callable[[Recording], Answer]) -> Iterator[Answer]:
    """Yield the kernel's answer for every recording of pieces that hold whole ones."""
    for piece in pieces:
        parts = tuple(
            Part(sent.stimulus, _lazy(sent.samples), _lazy(sent.events), sent.label, sent.path) for sent in piece
        )
        yield from map(kernel, Corpus(parts).recordings())


def split(pieces: Iterable[Piece], columns: Sequence[str], buckets: int) -> Iterator[tuple[int, Piece]]:
    """Yield the rows of some parts, bucket by bucket of observers, as one list per observer and column."""
    for number, plan in pieces:
        people = _read(plan, columns).group_by("observer", maintain_order=True).agg(pl.len().alias(LENGTH), pl.all())
        if people["observer"].null_count():
            raise InputError("some samples have no observer", hint="every row needs one: it says whom to protect")
        bucket_of = pl.Series("_bucket", [_bucket(name, buckets) for name in people["observer"]], pl.Int64)
        for (bucket,), mine in (
            people.with_columns(bucket_of)
            .partition_by("_bucket", maintain_order=True, include_key=False, as_dict=True)
            .items()
        ):
            yield bucket, (number, _packed(mine))


def add_bucket(bucket: Iterable[tuple[int, Piece]], kernel: Kernel) -> Iterator[tuple[int, Block]]:
    """Yield the sum over the whole observers of one bucket: how many they are, then the blocks that are not zero."""
    pieces = sorted((piece for _, piece in bucket), key=lambda piece: piece[0])
    if not pieces:
        return
    people = pl.concat([pl.read_ipc_stream(io.BytesIO(table)) for _, table in pieces])
    people = people.sort("observer", maintain_order=True)  # whole observers, each in the corpus's order
    ends = np.cumsum(people[LENGTH].to_numpy(), dtype=np.int64)
    last = np.cumsum(people["observer"].rle().struct.field("len").to_numpy(), dtype=np.int64) - 1
    starts = np.concatenate([[0], ends[last]])
    total = np.zeros(kernel.size, dtype=np.int64)
    add_up(kernel, {name: _column(people, name) for name in kernel.columns}, starts, total)
    yield COUNT, np.array([len(last)], dtype=np.int64)
    for key, start in enumerate(range(0, len(total), BLOCK), start=1):
        block = total[start : start + BLOCK]
        if block.any():
            yield key, _narrowed(block)


def merge(one: Block, other: Block) -> IntArray:
    """Return the sum of two blocks."""
    total = one.astype(np.int64)
    add_exactly(total, other.astype(np.int64))
    return total


def _narrowed(block: IntArray) -> Block:
    """Return the same integers, as narrow as they fit."""
    low, high = int(block.min()), int(block.max())
    for kind in (np.int8, np.int16, np.int32):
        if np.iinfo(kind).min <= low and high <= np.iinfo(kind).max:
            return block.astype(kind)
    return block


def _read(plan: bytes, columns: Sequence[str]) -> pl.DataFrame:
    """Return a part's rows with these columns; what a tracker did not give, or not as numbers, is NaN or False."""
    lazy = _lazy(plan)
    found = set(lazy.collect_schema().names())
    given = {name: pl.col(name) if name in found else pl.lit(None) for name in columns}
    kinds = {name: schema.SAMPLES.get(name, pl.String) for name in columns}
    rows = lazy.select(column.cast(kinds[name], strict=False).alias(name) for name, column in given.items()).collect()
    return rows.with_columns(pl.col(pl.Boolean).fill_null(False), pl.col(pl.Float64).fill_null(float("nan")))


def _lazy(plan: bytes) -> pl.LazyFrame:
    return pl.LazyFrame.deserialize(io.BytesIO(plan))


def _column(people: pl.DataFrame, name: str) -> NDArray[Any]:
    """Return one column of all rows, one observer after the other."""
    if name == "observer":
        return np.repeat(people[name].to_numpy(), people[LENGTH].to_numpy())
    return people[name].explode().to_numpy()


def _bucket(observer: str, buckets: int) -> int:
    """Return an observer's bucket: the same in every process, unlike Python's own hash."""
    return zlib.crc32(observer.encode()) % buckets


def _packed(rows: pl.DataFrame) -> bytes:
    stream = io.BytesIO()
    rows.write_ipc_stream(stream)
    return stream.getvalue()
