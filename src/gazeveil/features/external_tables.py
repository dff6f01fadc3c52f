# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Tables of features made elsewhere: what a study declares of them, how they are read, ranges learnt from public ones.

A table has any columns: one identifies the participant, others may identify stimulus, session and order, the features
are those with a declared range. Rows of a participant are a series in their order; with one row each, a series of one
step.

Reading never fails, whatever the table holds: a value that is no finite number is missing; a column or a file that is
not there or cannot be read is missing for all of its rows. Missing values become public ones later.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import polars as pl

from gazeveil.errors import InputError, OptionError
from gazeveil.features.ranges import Range, Ranges
from gazeveil.features.table import FIXED, METADATA_KEY, ROWS, FeatureTable, Info
from gazeveil.gaze import schema
from gazeveil.gaze.corpus import is_corpus
from gazeveil.gaze.reading import as_polars, is_frame

SUFFIXES: Final = (".csv", ".tsv", ".txt", ".parquet")
_LIKE_OURS: Final = " (feature)"
_ORDER: Final = "\n"
"""The name of a temporary column; no table has such a name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExternalFeatures:
    """A table of features from elsewhere, as a study declares it. All of this is public.

    Attributes:
        declared: The columns that are features, with the range of each.
        rows: How many rows of a participant and stimulus are released; fewer are filled, more are cut.
        participant: The column that identifies the participant; in a folder of files, each named after its
            participant, a column that need not be there.
        stimulus: The column that identifies the stimulus; none if there is one stimulus.
        session: The column that identifies the session.
        order: The column that sorts rows; none for the order of the table.
        source: Where the ranges come from, in words.
        learnt_from: The SHA-256 of the public table that the ranges were learnt from, if they were.
    """

    declared: Ranges
    rows: int = 1
    participant: str = "participant"
    stimulus: str = ""
    session: str = ""
    order: str = ""
    source: str = ""
    learnt_from: str = ""
    rules: None = None
    step: float = 1.0

    def __post_init__(self) -> None:
        if not len(self.declared):
            raise OptionError("a table of features needs the range of at least one feature")
        if not self.participant:
            raise OptionError("say which column identifies the participant")
        labels = {self.participant, self.stimulus, self.session, self.order} - {""}
        if both := labels & set(self.declared.names):
            raise OptionError(f"the column {sorted(both)[0]!r} is a label: it cannot be a feature too")

    @property
    def info(self) -> Info:
        """What all rows share; a row counts as one step."""
        settings = {"participant": self.participant, "stimulus": self.stimulus, "session": self.session}
        settings |= {"order": self.order, "source": self.source, "learnt_from": self.learnt_from}
        return Info(ROWS, self.ranges().names, 1.0, 1.0, "", settings={"rows": self.rows, **settings})

    def ranges(self, features: Sequence[str] | None = None, _: object = None) -> Ranges:
        """Return the ranges under their released names: a column with the name of one of ours gets a suffix."""
        chosen = self.declared if features is None else self.declared.only(features)
        return Ranges(tuple(map(released_name, chosen.names)), chosen.ranges)


def released_name(column: str) -> str:
    """Return the name under which a column is released."""
    return f"{column}{_LIKE_OURS}" if column in FIXED else column


def is_external(source: object) -> bool:
    """Return whether a source is a table from elsewhere: a data frame, or files that gazeveil did not write."""
    if isinstance(source, FeatureTable):
        return False
    if is_frame(source):
        return True
    if not isinstance(source, Path | str):
        return False
    path = Path(source)
    if path.is_dir():
        return not is_corpus(path) and bool(files_at(path))
    if path.suffix.lower() == ".parquet":
        try:
            return METADATA_KEY not in pl.read_parquet_metadata(path)
        except Exception:  # noqa: BLE001  (a damaged file is told by whoever reads it)
            return False
    return path.suffix.lower() in SUFFIXES


def files_at(path: Path) -> list[Path]:
    """Return the tables of a folder, sorted; a file is its own."""
    if not path.is_dir():
        return [path]
    return sorted(file for file in path.iterdir() if file.suffix.lower() in SUFFIXES)


def read_external(source: Any, how: ExternalFeatures, stimulus: str, remarks: list[str]) -> FeatureTable:
    """Read a table from elsewhere. Its content never makes this fail; notes for its holder go to the remarks.

    The source is a data frame, a file, or a folder with a file a participant. Rows that identify no stimulus get the
    given one.
    """
    parts = [_empty(how)]
    for frame, name in _frames(source, remarks):
        try:
            parts.append(_conforming(frame, how, stimulus, name, remarks))
        except Exception as error:  # noqa: BLE001  (one broken file must not stop a release)
            remarks.append(f"{name or 'the table'} could not be read and counts as absent: {error}")
    return FeatureTable(_numbered(pl.concat(parts), how), how.info)


def open_public(source: Path, how: ExternalFeatures, stimulus: str) -> FeatureTable:
    """Read the table of public participants; what cannot be read is an error here.

    Raises:
        InputError: If there is nothing, or a column is missing.
    """
    if not source.exists() or not files_at(source):
        raise InputError(f"there is no table {source}", hint=f"a file or a folder of files: {', '.join(SUFFIXES)}")
    remarks: list[str] = []
    table = read_external(source, how, stimulus, remarks)
    if remarks:
        raise InputError(f"{source}: {remarks[0]}", hint="see which columns the study declares under [features]")
    return table


def frame_at(path: Path) -> pl.DataFrame:
    """Read one file as it is, texts unparsed; the separator is the one that its first line has most of."""
    if path.suffix.lower() == ".parquet":
        return pl.read_parquet(path, glob=False, hive_partitioning=False)
    with path.open("rb") as file:
        head = file.readline().decode("utf-8-sig", errors="replace")
    separator = max(",;\t", key=head.count)
    frame = pl.read_csv(
        path,
        separator=separator,
        infer_schema=False,
        truncate_ragged_lines=True,
        encoding="utf8-lossy",
        glob=False,
    )
    frame = frame.rename({name: name.strip().removeprefix("\ufeff") for name in frame.columns})
    if separator != ";":
        return frame
    return frame.with_columns(pl.all().str.replace(r"^\s*([+-]?\d*),(\d+(?:[eE][+-]?\d+)?)\s*$", "$1.$2"))


def numbers(column: pl.Series) -> pl.Series:
    """Return a column as finite numbers, NaN where it has none."""
    try:
        values = column.str.strip_chars() if column.dtype == pl.String else column
        found = values.cast(pl.Float64, strict=False).fill_null(float("nan"))
    except Exception:  # noqa: BLE001  (a column of lists, dates or whatever has no numbers)
        found = pl.Series(column.name, [float("nan")] * len(column), dtype=pl.Float64)
    return found.set(~found.is_finite(), float("nan"))


def _frames(source: Any, remarks: list[str]) -> Iterable[tuple[pl.DataFrame, str]]:
    """Yield tables, each with the participant that its file is named after; none for a single table."""
    if is_frame(source):
        yield as_polars(source), ""
        return
    path = Path(source)
    for file in files_at(path):
        try:
            frame = frame_at(file)
        except Exception as error:  # noqa: BLE001  (one broken file must not stop a release)
            remarks.append(f"{file.name} could not be read and counts as absent: {error}")
            continue
        yield frame, file.stem if path.is_dir() else ""


def _conforming(
    frame: pl.DataFrame, how: ExternalFeatures, stimulus: str, name: str, remarks: list[str]
) -> pl.DataFrame:
    """Return one table as ours: labels as texts, features as numbers."""
    wanted = [*how.declared.names, *filter(None, (how.stimulus, how.session, how.order))]
    if not name:
        wanted.append(how.participant)
    if missing := [column for column in wanted if column not in frame.columns]:
        remarks.append(f"{name or 'the table'} has no column {', '.join(missing[:8])}")
    count = len(frame)

    def text(column: str, default: str) -> pl.Series:
        if column not in frame.columns:
            return pl.Series([default] * count, dtype=pl.String)
        values = frame[column]
        if values.dtype.is_float() and bool(((values == values.floor()) | values.is_null()).all()):
            values = values.cast(pl.Int64, strict=False)  # 7.0 is participant 7
        return values.cast(pl.String, strict=False).fill_null("").str.strip_chars()

    def number(column: str) -> pl.Series:
        known = column in frame.columns
        return numbers(frame[column]) if known else pl.Series([float("nan")] * count, dtype=pl.Float64)

    keys = {
        "observer": text(how.participant, name),
        "stimulus": text(how.stimulus, stimulus),
        "session": text(how.session, ""),
        "trial": pl.Series(["1"] * count, dtype=pl.String),
    }
    features = {released_name(column): number(column) for column in how.declared.names}
    order = number(how.order) if how.order else pl.Series([0.0] * count, dtype=pl.Float64)
    return pl.DataFrame({**keys, _ORDER: order, **features})


def _empty(how: ExternalFeatures) -> pl.DataFrame:
    numeric = (_ORDER, *how.ranges().names)
    return pl.DataFrame(schema={**dict.fromkeys(schema.KEYS, pl.String), **dict.fromkeys(numeric, pl.Float64)})


def _numbered(rows: pl.DataFrame, how: ExternalFeatures) -> pl.DataFrame:
    """Return the rows of each series together, sorted, with their number as time."""
    ordered = rows.sort(*schema.KEYS, _ORDER, maintain_order=True, nulls_last=True)
    start = pl.int_range(pl.len()).over(*schema.KEYS).cast(pl.Float64)
    return ordered.with_columns(
        task=pl.lit(""),
        group=pl.lit(""),
        start=start,
        end=start + 1.0,
        samples=pl.lit(0, dtype=pl.Int64),
        covered=pl.lit(1.0),
        errors=pl.lit(0.0),
        repeats=pl.lit(0.0),
        usable=pl.lit(value=True),
    ).select(*FIXED, *how.ranges().names)


# --- Ranges learnt from public participants.


PERCENTILES: Final = (1.0, 99.0)
MARGIN: Final = 0.1
"""By how much of its width a range is wider on each side than what public participants have."""
LOGARITHMIC: Final = 100.0
"""From this ratio of its ends on, a positive range is taken on a logarithmic scale."""
_DIGITS = 4


def learn_ranges(
    source: Path,
    *,
    about: str,
    participant: str,
    stimulus: str = "",
    session: str = "",
    order: str = "",
    rows: int | None = None,
    features: Sequence[str] | None = None,
) -> ExternalFeatures:
    """Return the declaration that a table of public participants suggests.

    Never give the participants who are to be protected.

    Args:
        source: The table of public participants: a file, or a folder with a file a participant.
        about: Where they come from, in words; it is published.
        participant: The column that identifies the participant.
        stimulus: The column that identifies the stimulus, if any.
        session: The column that identifies the session, if any.
        order: The column that sorts rows, if any.
        rows: How many rows of a participant are released; by default the most that a public participant has.
        features: Which columns are features; by default all that hold numbers.

    Raises:
        InputError: If there is no such table or column, or a feature that does not vary.
    """
    if not source.exists() or not (files := files_at(source)):
        raise InputError(f"there is no table at {source}", hint="give a .csv, .tsv or .parquet file, or a folder")
    labels = [name for name in (participant, stimulus, session, order) if name]
    frames = []
    for file in files:
        frame = frame_at(file)
        if participant not in frame.columns and source.is_dir():
            frame = frame.with_columns(pl.lit(file.stem).alias(participant))
        frames.append(frame.with_columns(pl.all().cast(pl.String, strict=False)))
    table = pl.concat(frames, how="diagonal")
    if missing := [name for name in (*labels, *(features or ())) if name not in table.columns]:
        raise InputError(f"{source} has no column {missing[0]!r}", hint=f"it has {', '.join(table.columns[:20])}")
    chosen = [name for name in table.columns if name not in labels] if features is None else list(features)
    found = {}
    for name in chosen:
        values = numbers(table[name]).to_numpy()
        known = values[np.isfinite(values)]
        if features is None and 2 * len(known) < len(values):
            continue  # texts
        if len(known) < 2 or known.min() == known.max():
            if features is None:
                continue
            raise InputError(f"{name!r} does not vary among public participants", hint="declare its range by hand")
        found[name] = _range(known)
    if not found:
        raise InputError(f"{source} has no column of numbers that vary", hint="say which with --features")
    keys = [name for name in (participant, stimulus, session) if name]
    most = int(table.group_by(keys).len()["len"].max() or 1)  # type: ignore[arg-type]
    return ExternalFeatures(
        declared=Ranges.of(found),
        rows=rows or most,
        participant=participant,
        stimulus=stimulus,
        session=session,
        order=order,
        source=about,
        learnt_from=digest_of(source),
    )


def digest_of(source: Path) -> str:
    """Return the SHA-256 of a table: of its file, or of all files of a folder one after the other."""
    digest = hashlib.sha256()
    for file in files_at(source):
        digest.update(file.read_bytes())
    return digest.hexdigest()


def _range(known: np.ndarray) -> Range:
    low, high = (float(end) for end in np.percentile(known, PERCENTILES))
    if low == high:
        low, high = float(known.min()), float(known.max())
    if low > 0 and high / low >= LOGARITHMIC:
        margin = (high / low) ** MARGIN
        return Range(_short(low / margin), _short(high * margin), log=True)
    margin = MARGIN * (high - low)
    least = 0.0 if float(known.min()) >= 0 and low - margin < 0 else _short(low - margin)
    return Range(least, _short(high + margin))


def _short(value: float) -> float:
    return float(f"{value:.{_DIGITS}g}")
