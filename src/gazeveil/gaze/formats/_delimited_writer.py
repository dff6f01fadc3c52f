# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Write samples as CSV or TSV: `schema.KEYS` and `schema.SAMPLES`, time in seconds, numbers that read back exactly."""

from __future__ import annotations

import gzip
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, cast

import polars as pl

from gazeveil.errors import InputError
from gazeveil.files import replacing
from gazeveil.gaze import schema
from gazeveil.gaze.formats.base import Chunk
from gazeveil.gaze.geometry import Geometry
from gazeveil.gaze.recording import Key

_NOT_IN_A_LINE = "\n\r\0"


def write(chunks: Iterable[Chunk], path: Path) -> None:
    """Write all samples to one file; tab-separated if its name ends in .tsv, packed if it ends in .gz.

    A table holds samples and labels only: geometry, events and rates are not in it.

    Raises:
        InputError: If the recordings do not fit one table: they differ in geometry, later ones have more columns, a
            number is infinite, or a label holds a line break.
    """
    delimiter = "\t" if ".tsv" in path.suffixes[-2:] else ","
    header: list[str] = []
    geometry: Geometry | None = None
    with replacing(path) as target, _opened(target, packed=path.suffix == ".gz") as stream:
        for chunk in chunks:
            columns = [name for name in schema.SAMPLES if name in chunk.samples.columns]
            if geometry is None:
                geometry, header = chunk.geometry, columns
                stream.write((delimiter.join((*schema.KEYS, *header)) + "\n").encode())
            _check(chunk, geometry, columns, header)
            stream.write(_rows(chunk, header, delimiter).encode())
        if geometry is None:
            raise InputError("there is nothing to write: no recordings")


def check_label(key: Key) -> None:
    """Refuse labels that a line of text cannot hold.

    Raises:
        InputError: If a label has a line break in it.
    """
    for name, value in key._asdict().items():
        if any(letter in value for letter in _NOT_IN_A_LINE):
            raise InputError(
                f"the {name} {value!r} has a line break in it, which a text table cannot hold",
                hint="rename it, or write Parquet, which holds any text",
            )


@contextmanager
def _opened(target: Path, *, packed: bool) -> Iterator[IO[bytes]]:
    with target.open("wb") as raw:
        if packed:
            # no name and no time inside: the same recordings give the same bytes
            with gzip.GzipFile(filename="", mode="wb", compresslevel=6, fileobj=raw, mtime=0) as stream:
                yield cast("IO[bytes]", stream)
        else:
            yield raw


def _check(chunk: Chunk, geometry: Geometry, columns: list[str], header: list[str]) -> None:
    check_label(chunk.key)
    if chunk.geometry != geometry:
        raise InputError(
            f"one table holds gaze on one plane, found {chunk.geometry} after {geometry}",
            hint="convert the recordings one by one, or write Parquet",
        )
    more = [name for name in columns if name not in header]
    if more:
        raise InputError(
            f"recording {chunk.key} has columns that the first has not: {', '.join(more)}",
            hint="name the recordings with most columns first, or write Parquet",
        )
    infinite = chunk.samples.select(pl.col(pl.Float64).is_infinite().any())
    bad = [name for name in infinite.columns if infinite[name][0]]
    if bad or not chunk.samples["t"].is_finite().all():
        raise InputError(f"recording {chunk.key} has numbers in {', '.join(bad) or 't'} that are not finite")


def _rows(chunk: Chunk, header: list[str], delimiter: str) -> str:
    keys = [pl.lit(value).alias(name) for name, value in chunk.key._asdict().items()]
    columns = [
        pl.col(name) if name in chunk.samples.columns else pl.lit(None, schema.SAMPLES[name]).alias(name)
        for name in header
    ]
    frame = chunk.samples.select(*keys, *columns).with_columns(pl.col(pl.Float64).fill_nan(None))
    return frame.write_csv(include_header=False, separator=delimiter)
