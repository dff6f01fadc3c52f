# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Features over time as a table: one row per window (or bin) of a recording; its pictures and its summary.

Columns: ``observer, stimulus, session, trial``, the labels ``task`` and ``group`` (empty where unknown), ``start`` and
``end`` in seconds, what the window was made of (`QUALITY`), then the features. Every window on the grid has a row, so
the length of a series says nothing about its content; features of a window that is not usable are NaN, never null.

These are true numbers of true participants. They are for whoever holds the data, not for publishing.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from gazeveil.arrays import FloatArray
from gazeveil.display import GREY, Picture, a_few, canvas, html_table, legend_below, png
from gazeveil.errors import FileFormatError, InputError
from gazeveil.features.ranges import Ranges
from gazeveil.files import replacing
from gazeveil.gaze import schema
from gazeveil.gaze.recording import Key
from gazeveil.gaze.schema import guarded, os_errors_explained

VERSION: Final = 1
METADATA_KEY: Final = "gazeveil-features"
WINDOWS, BINS, ROWS = "windows", "bins", "rows"

LABELS: Final = ("task", "group")
QUALITY: Final[Mapping[str, type[pl.DataType]]] = MappingProxyType(
    {
        "samples": pl.Int64,  # in the window
        "covered": pl.Float64,  # samples at the recording's rate over the window's length
        "errors": pl.Float64,  # share of samples without gaze, or off the plane
        "repeats": pl.Float64,  # share of samples that repeat the one before exactly
        "usable": pl.Boolean,
    }
)
FIXED: Final[Mapping[str, type[pl.DataType]]] = MappingProxyType(
    {**dict.fromkeys((*schema.KEYS, *LABELS), pl.String), "start": pl.Float64, "end": pl.Float64, **QUALITY}
)
"""All columns but the features."""


@dataclass(frozen=True, slots=True)
class Info:
    """What all rows of a table share.

    Attributes:
        kind: ``windows`` (overlapping, unbounded reach), ``bins`` (apart, finite reach), or ``rows`` of a table that
            was made elsewhere.
        names: The features, in order.
        window: Seconds a row is about.
        step: Seconds from one row to the next.
        unit: ``deg`` or ``norm``: the unit of gaze in the features.
        pupil_unit: ``mm``, … or empty for arbitrary.
        reach: For bins, seconds after a change of raw gaze at which rows can still change; None: unbounded or unknown.
        settings: Every other parameter of the extraction, as plain values.
        declared_by: The study whose declaration decided all of the above; empty if it was read from the data.
    """

    kind: str
    names: tuple[str, ...]
    window: float
    step: float
    unit: str
    pupil_unit: str = ""
    reach: float | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    declared_by: str = ""

    def __post_init__(self) -> None:
        if self.kind not in {WINDOWS, BINS, ROWS}:
            raise InputError(f"a feature table is of windows or bins, not of {self.kind!r}")
        if not self.names or not all(isinstance(name, str) for name in self.names):
            raise InputError("a feature table has features, each with a name")
        times: dict[str, object] = {"window": self.window, "step": self.step}
        if self.reach is not None:
            times["reach"] = self.reach
        for name, value in times.items():
            if not isinstance(value, int | float) or not 0 < value < math.inf:
                raise InputError(f"the {name} of a feature table must be seconds above 0, not {value!r}")


class Series(NamedTuple):
    """The features of one recording over time."""

    key: Key
    task: str
    group: str
    start: FloatArray
    usable: NDArray[np.bool_]
    values: FloatArray  # windows x features


@dataclass(frozen=True, slots=True, eq=False)
class FeatureTable:
    """Features of many recordings. Rows of one recording are together, in order of time."""

    rows: pl.DataFrame
    info: Info

    def __post_init__(self) -> None:
        if fault := _fault(self.rows.schema, self.info.names):
            raise InputError(f"this is no feature table: {fault}")
        if self.rows.columns != [*FIXED, *self.info.names]:
            object.__setattr__(self, "rows", self.rows.select(*FIXED, *self.info.names))

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        seconds = f"{self.info.window:g} s every {self.info.step:g} s"
        return f"FeatureTable({len(self):,} {self.info.kind} of {seconds}, {len(self.names):,} features)"

    def _repr_html_(self) -> str:
        series = self.rows.select(schema.KEYS).unique()
        rows: dict[str, object] = {
            "participants": f"{len(self.observers):,}",
            "series": f"{len(series):,}",
            "rows": f"{len(self):,}, {self.rows['usable'].sum():,} usable",
            "features": a_few(self.names, 8),
            "tasks": a_few(sorted(self.rows["task"].unique()), 6),
            "unit": self.info.unit,
        }
        return html_table(repr(self), rows.items())

    def plot(self, *features: str) -> Picture:
        """Draw features over time, a line a series; by default the first four. As private as the table is.

        Raises:
            InputError: If the table has no such feature.
        """
        return table_picture(self.only(features or self.names[:4]))

    @property
    def names(self) -> tuple[str, ...]:
        """The features, in order."""
        return self.info.names

    @property
    def observers(self) -> list[str]:
        """Everyone in the table, sorted."""
        return sorted(self.rows["observer"].unique().to_list())

    @property
    def values(self) -> FloatArray:
        """All features, rows x features."""
        return self.rows.select(self.names).to_numpy()

    def series(self) -> Iterator[Series]:
        """Yield the recordings' series, in the order of the rows."""
        for rows in self.rows.partition_by(*schema.KEYS, maintain_order=True):
            first = rows.row(0, named=True)
            yield Series(
                Key(*(first[name] for name in schema.KEYS)),
                first["task"],
                first["group"],
                rows["start"].to_numpy(),
                rows["usable"].to_numpy(),
                rows.select(self.names).to_numpy(),
            )

    def only(self, names: Sequence[str]) -> FeatureTable:
        """Return the table with these features, in this order."""
        if unknown := [name for name in names if name not in self.names]:
            raise InputError(f"the table has no feature {', '.join(unknown)}", hint=f"it has {', '.join(self.names)}")
        return FeatureTable(self.rows, replace(self.info, names=tuple(names)))

    def where(self, condition: pl.Expr) -> FeatureTable:
        """Return the rows that meet a condition."""
        return FeatureTable(self.rows.filter(condition), self.info)

    def with_groups(self, groups: Mapping[str, str]) -> FeatureTable:
        """Return the table with each observer's group; who is not named keeps theirs."""
        group = pl.col("observer").replace_strict(dict(groups), default=pl.col("group"), return_dtype=pl.String)
        return FeatureTable(self.rows.with_columns(group=group), self.info)

    def with_tasks(self, tasks: Mapping[str, str]) -> FeatureTable:
        """Return the table with each stimulus' task; what is not named keeps its own."""
        task = pl.col("stimulus").replace_strict(dict(tasks), default=pl.col("task"), return_dtype=pl.String)
        return FeatureTable(self.rows.with_columns(task=task), self.info)

    def write(self, path: Path | str, *, overwrite: bool = False) -> Path:
        """Write the table as a Parquet file that says what it holds.

        Raises:
            OutputError: If it exists already or cannot be written; nothing half written stays behind.
        """
        path = Path(path)
        label = json.dumps({"version": VERSION, **asdict(self.info), "settings": dict(self.info.settings)})
        with replacing(path, overwrite=overwrite) as temporary, os_errors_explained():
            self.rows.write_parquet(temporary, metadata={METADATA_KEY: label})
        return path

    @staticmethod
    def read(path: Path | str) -> FeatureTable:
        """Read a table that `write` wrote.

        Raises:
            FileFormatError: If the file is missing, damaged, someone else's, or from another version.
        """
        path = Path(path)
        info = read_info(path)
        rows = guarded(path, lambda: pl.read_parquet(path, glob=False, hive_partitioning=False))
        if fault := _fault(rows.schema, info.names):
            raise FileFormatError(path, expected="the columns of a feature table", found=fault)
        if nulls := [name for name in rows.columns if rows[name].null_count()]:
            raise FileFormatError(path, column=nulls[0], expected="a value in every row", found="an empty one")
        later = (pl.col("start").diff().fill_null(1.0) > 0).over(schema.KEYS)
        if not rows.select(later.all()).item():
            raise FileFormatError(
                path, column="start", expected="each recording in order of time", found="a row that starts too early"
            )
        return FeatureTable(rows, info)

    @staticmethod
    def concat(tables: Iterable[FeatureTable]) -> FeatureTable:
        """Put tables of the same kind one below the other."""
        tables = list(tables)
        if not tables:
            raise InputError("there is no feature table to put together")
        if any(table.info != tables[0].info for table in tables):
            raise InputError("feature tables with different features or settings do not go together")
        return FeatureTable(pl.concat([table.rows for table in tables]), tables[0].info)


def _fault(found: pl.Schema, names: Sequence[str]) -> str:
    """Say what is wrong with the columns; empty if nothing."""
    wanted: dict[str, type[pl.DataType]] = {**FIXED, **dict.fromkeys(names, pl.Float64)}
    if len(wanted) != len(FIXED) + len(names):
        return "a feature is listed twice, or has the name of another column"
    if missing := [name for name in wanted if name not in found]:
        return f"no column {', '.join(missing[:5])}"
    for name, dtype in wanted.items():
        if found[name] != dtype:
            return f"column {name} is {found[name]}, not {dtype.__name__}"
    return ""


def read_info(path: Path) -> Info:
    """Return what all rows of a table's file share; the rows are not read.

    Raises:
        FileFormatError: If the file is missing, damaged, someone else's, or from another version.
    """
    text = guarded(path, lambda: pl.read_parquet_metadata(path)).get(METADATA_KEY)
    if text is None:
        raise FileFormatError(
            path,
            expected="a feature table",
            found="a Parquet file without its label",
            hint="make one with `gazeveil features extract CORPUS --out FILE`",
        )
    try:
        label = json.loads(text)
        version = label.pop("version")
        if version == VERSION:
            return Info(**{**label, "names": tuple(label["names"])})
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        found = error.message if isinstance(error, InputError) else repr(error)
        raise FileFormatError(path, expected="a feature table's label", found=f"a damaged one ({found})") from None
    raise FileFormatError(
        path,
        expected=f"feature table version {VERSION}",
        found=f"version {version}",
        hint="read it with the gazeveil version that wrote it",
    )


# --- Pictures of feature series: as private as the table that they are drawn from.


_MOST_SERIES = 60
_MOST_FEATURES = 4


def table_picture(table: FeatureTable) -> Picture:
    """Draw every feature of a table over time, a line a series, and the mean of those that are drawn."""
    series = list(table.series())
    drawn = series[:: max(-(-len(series) // _MOST_SERIES), 1)]
    made, axes = canvas(9, 1.2 + 1.5 * len(table.names), len(table.names), 1, sharex=True, squeeze=False)
    for column, (name, plot) in enumerate(zip(table.names, axes[:, 0], strict=True)):
        for each in drawn:
            values = np.where(each.usable, each.values[:, column], np.nan)
            plot.plot(each.start - each.start[0], values, linewidth=0.7, alpha=0.5)
        plot.set_ylabel(name, fontsize=8)
    axes[-1, 0].set_xlabel("time in s")
    axes[0, 0].set_title(f"{len(drawn):,} of {len(series):,} series, {table.info.kind}", fontsize=9)
    return Picture(png(made))


def group_picture(table: pl.DataFrame) -> Picture:
    """Draw a group's series with its band over what was known without any data; of many features the first four."""
    names = table["feature"].unique(maintain_order=True).to_list()[:_MOST_FEATURES]
    made, axes = canvas(9, 1.2 + 1.5 * len(names), len(names), 1, sharex=True, squeeze=False)
    for name, plot in zip(names, axes[:, 0], strict=True):
        rows = table.filter(pl.col("feature") == name)
        start = rows["start"].to_numpy()
        plot.fill_between(start, rows["low"].to_numpy(), rows["high"].to_numpy(), alpha=0.25, linewidth=0)
        plot.plot(start, rows["mean"].to_numpy(), label="mean of the group")
        plot.plot(start, rows["public"].to_numpy(), color=GREY, linestyle="--", linewidth=0.9, label="without data")
        plot.set_ylabel(name, fontsize=8)
    legend_below(made, axes[0, 0])
    axes[-1, 0].set_xlabel("time in s")
    return Picture(png(made))


# --- A summary: how large each feature is, how far it varies, and how much its range would clip.


def describe(table: FeatureTable, ranges: Ranges) -> pl.DataFrame:
    """Return one row per feature: defined share, mean, spread, percentiles, declared range, share clipped.

    ``defined`` is over usable rows; ``between`` is the share of the variance that lies between recordings. A feature
    without a declared range has none of the last three columns filled.
    """
    usable = table.where(pl.col("usable"))
    recordings = [series.values[series.usable] for series in table.series()]
    rows = []
    for index, name in enumerate(table.names):
        values = usable.rows[name].to_numpy()
        known = values[np.isfinite(values)]
        declared = ranges[name] if name in ranges.names else None
        low, middle, high = np.percentile(known, (1, 50, 99)) if len(known) else (np.nan,) * 3
        rows.append(
            {
                "feature": name,
                "defined": len(known) / len(values) if len(values) else 0.0,
                "mean": float(known.mean()) if len(known) else np.nan,
                "sd": float(known.std()) if len(known) else np.nan,
                "between": _between([item[:, index] for item in recordings]),
                "p1": float(low),
                "median": float(middle),
                "p99": float(high),
                "low": None if declared is None else declared.low,
                "high": None if declared is None else declared.high,
                "scale": None if declared is None else "log" if declared.log else "linear",
                "clipped": None if declared is None or not len(known) else float(declared.outside(known).mean()),
            }
        )
    return pl.DataFrame(rows, infer_schema_length=None)


def _between(recordings: list[np.ndarray]) -> float:
    """Return the share of the variance between recordings' means, each value counting once."""
    known = [values[np.isfinite(values)] for values in recordings]
    known = [values for values in known if len(values)]
    if not known:
        return float("nan")
    together = np.concatenate(known)
    total = float(((together - together.mean()) ** 2).sum())
    between = sum(len(values) * float(values.mean() - together.mean()) ** 2 for values in known)
    return between / total if total > 0 else float("nan")
