# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Files that lie beside the samples: small tables read at once, and series that run along, such as pupil sizes."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import polars as pl

from gazeveil.gaze.formats._columns import Columns
from gazeveil.gaze.formats._table import Table
from gazeveil.gaze.formats._text import open_binary
from gazeveil.gaze.formats.base import ReadOptions, ReadReport
from gazeveil.types import FloatArray


class Beside:
    """Looks values up by time in a stream of tables, holding only the stretch around the samples in memory."""

    def __init__(self, tables: Iterator[pl.DataFrame], tolerance: float) -> None:
        """Begin.

        Args:
            tables: Tables with columns t (seconds), group (text) and value, roughly in the order of time.
            tolerance: How far in time a value may lie from a sample, in seconds.
        """
        self._tables = tables
        self._tolerance = tolerance
        self._held = pl.DataFrame(schema={"t": pl.Float64, "group": pl.String, "value": pl.Float64})

    def nearest(self, times: FloatArray, groups: list[str]) -> list[FloatArray]:
        """Return, for each group, the value nearest in time to each sample; NaN where none is near."""
        if not len(times):
            return [times for _ in groups]
        self._hold(float(times.min()) - self._tolerance, float(times.max()) + self._tolerance)
        return [self._nearest_of(self._held.filter(pl.col("group") == group), times) for group in groups]

    def _hold(self, start: float, stop: float) -> None:
        held = [self._held.filter(pl.col("t") >= start)]
        latest = held[0]["t"].max()
        while latest is None or float(latest) < stop:  # type: ignore[arg-type]
            more = next(self._tables, None)
            if more is None:
                break
            latest = more["t"].max() if more.height else latest
            held.append(more.filter(pl.col("t") >= start))
        self._held = pl.concat(held).sort("t")

    def _nearest_of(self, rows: pl.DataFrame, times: FloatArray) -> FloatArray:
        if not rows.height:
            return np.full(len(times), np.nan)
        known, values = rows["t"].to_numpy(), rows["value"].fill_null(float("nan")).to_numpy()
        after = np.searchsorted(known, times).clip(max=len(known) - 1)
        before = (after - 1).clip(min=0)
        closer = np.where(np.abs(times - known[before]) <= np.abs(known[after] - times), before, after)
        near = np.abs(known[closer] - times) <= self._tolerance
        return np.where(near, values[closer], np.nan)


def read_whole(
    path: Path, options: ReadOptions, report: ReadReport, text: Mapping[str, str], numbers: Mapping[str, str]
) -> pl.DataFrame:
    """Read a small table that lies beside the samples (fixations, blinks, …) at once.

    The mappings give our name → the words of the column, and after a space its unit where the words alone do not
    tell. Columns that the file lacks are null.
    """
    table = Table(path, options.beside(), aside(report), delimiter=",", may_be_empty=True)
    found = {ours: name for ours, words in {**text, **numbers}.items() if (name := _find_beside(table.columns, words))}
    parts = [
        batch.frame
        for batch in table.batches(
            {ours: name for ours, name in found.items() if ours in text},
            {ours: name for ours, name in found.items() if ours in numbers},
        )
    ]
    add_bad_lines(report, table.report)
    empty = pl.DataFrame(schema=dict.fromkeys(text, pl.String) | dict.fromkeys(numbers, pl.Float64))
    return pl.concat([empty, *parts], how="diagonal")


def _find_beside(columns: Columns, words: str) -> str | None:
    spelling, _, unit = words.partition(" ")
    return columns.find_with_unit(spelling, (unit,)) if unit else columns.find(spelling)


def aside(report: ReadReport) -> ReadReport:
    """Return a report for a file that lies beside the one being read, so that progress stays the main file's."""
    return ReadReport(skip_bad=report.skip_bad)


def add_bad_lines(report: ReadReport, of: ReadReport) -> None:
    """Add the bad lines of a file beside, and what was remarked there, to the main report."""
    report.remarks.update(of.remarks)
    report.bad_lines += of.bad_lines
    report.first_bad.extend(of.first_bad[: max(0, 10 - len(report.first_bad))])


def is_blank(path: Path) -> bool:
    """Whether a file, unpacked, holds nothing at all; a damaged one does not count."""
    try:
        with open_binary(path) as stream:
            return not stream.read(1)
    except (OSError, EOFError, zlib.error):
        return False
