# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Files that lie beside the samples: small tables read at once, and series that run along, such as pupil sizes."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import polars as pl

from gazeveil.arrays import FloatArray
from gazeveil.gaze.formats._columns import Columns
from gazeveil.gaze.formats._table import Table
from gazeveil.gaze.formats._text import open_binary
from gazeveil.gaze.formats.base import ReadOptions, ReadReport


class Beside:
    """Looks values up by time in a stream of tables.

    Of each group, only what is not older than the samples is held in memory. What comes before its turn is held too:
    tables may be sorted by group, and groups may be recordings of different days.
    """

    def __init__(self, tables: Iterator[pl.DataFrame], tolerance: float, report: ReadReport) -> None:
        """Begin.

        Args:
            tables: Tables with columns t (seconds), group (text) and value (null where it was lost), each group
                roughly in the order of time.
            tolerance: How far in time a value may lie from a sample, in seconds.
            report: Where it is remarked if values were passed over.
        """
        self._tables = tables
        self._tolerance = tolerance
        self._report = report
        self._held: dict[str, _Series] = {}

    def nearest(self, times: FloatArray, groups: list[str]) -> list[FloatArray]:
        """Return, for each group, the value nearest in time to each sample; NaN where none is near.

        A value that was lost at a sample's own time is NaN, whatever is near.
        """
        if not len(times):
            return [times for _ in groups]
        series = [self._held.setdefault(group, _Series()) for group in groups]
        start, stop = float(times.min()) - self._tolerance, float(times.max()) + self._tolerance
        if any(start < each.dropped_before for each in series):
            self._report.remark("the time jumps back: values beside the samples may be missing there")
        while any(each.latest < stop for each in series):
            table = next(self._tables, None)
            if table is None:
                break
            for (group,), rows in table.partition_by("group", as_dict=True).items():
                self._held.setdefault(str(group), _Series()).add(rows)
        return [each.nearest(times, start, self._tolerance) for each in series]


@dataclass(slots=True)
class _Series:
    """The rows of one group that are held."""

    tables: list[pl.DataFrame] = field(default_factory=list)
    latest: float = -np.inf
    dropped_before: float = -np.inf

    def add(self, rows: pl.DataFrame) -> None:
        self.tables.append(rows.select("t", "value"))
        self.latest = max(self.latest, float(rows["t"].max()))  # type: ignore[arg-type]

    def nearest(self, times: FloatArray, start: float, tolerance: float) -> FloatArray:
        """Return the values nearest to samples, and drop what is older than these."""
        if not self.tables:
            return np.full(len(times), np.nan)
        rows = pl.concat(self.tables).filter(pl.col("t") >= start).sort("t", maintain_order=True)
        self.tables, self.dropped_before = [rows], max(start, self.dropped_before)
        known, lost = rows.drop_nulls("value"), rows.filter(pl.col("value").is_null())["t"].to_numpy()
        if not known.height:
            return np.full(len(times), np.nan)
        at, values = known["t"].to_numpy(), known["value"].to_numpy()
        after = np.searchsorted(at, times).clip(max=len(at) - 1)
        before = (after - 1).clip(min=0)
        closer = np.where(np.abs(times - at[before]) <= np.abs(at[after] - times), before, after)
        closer = np.where(at[after] == times, after, closer)
        away = np.abs(at[closer] - times)
        was_lost = (away > 0) & np.isin(times, lost)
        return np.where((away <= tolerance) & ~was_lost, values[closer], np.nan)


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
