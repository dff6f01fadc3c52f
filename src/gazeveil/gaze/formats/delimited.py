# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Any table of gaze as text: CSV, TSV and their relatives, with columns found by name or by a mapping."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Final

import polars as pl

from gazeveil.errors import FileFormatError, GeometryError, OptionError
from gazeveil.gaze import schema
from gazeveil.gaze.fileio.columns import GAZE_UNITS, TIME_UNITS, Columns, column_of, parse_name
from gazeveil.gaze.fileio.row_assembly import PER_SECOND, KeyRuns, combined, guess_time_unit, in_seconds, step_in_words
from gazeveil.gaze.fileio.tables import Batch, Table, check_delimiter
from gazeveil.gaze.fileio.writing import DelimitedFile, TabFile, write_files
from gazeveil.gaze.formats.base import Chunk, ReadOptions, ReadReport, file_format
from gazeveil.gaze.schema import VeilNote
from gazeveil.gaze.validity import parse_rules
from gazeveil.geometry import Geometry, Unit

SPELLINGS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "t": ("t", "time", "timestamp", "timestamps", "ts", "devicetime", "devicetimestamp", "sampletime"),
        "x": ("x", "gazex", "gx", "xpos", "posx", "xposition", "gazepointx", "screenx", "porx", "xcoordinate"),
        "y": ("y", "gazey", "gy", "ypos", "posy", "yposition", "gazepointy", "screeny", "pory", "ycoordinate"),
        "valid": ("valid", "isvalid", "tracked"),
        "pupil": ("pupil", "pupilsize", "pupildiameter", "pupilarea", "diameter"),
        **{
            f"{side}_{ours}": tuple(
                spelling
                for word in words
                for spelling in (f"{side}{word}", f"{word}{side}", f"{side}eye{word}", f"{side[0]}{word}")
            )
            for side in ("left", "right")
            for ours, words in {
                "x": ("x", "gazex", "gazepointx", "xpos"),
                "y": ("y", "gazey", "gazepointy", "ypos"),
                "valid": ("valid", "isvalid"),
                "pupil": ("pupil", "pupilsize", "pupildiameter"),
            }.items()
        },
        "observer": ("observer", "subject", "participant", "user", "subjectid", "participantid", "observerid", "subj"),
        "stimulus": ("stimulus", "image", "stim", "media", "stimulusname", "imagename", "stimulusid", "imageid"),
        "session": ("session", "sessionid"),
        "trial": ("trial", "trialid", "trialnumber", "trialindex"),
    }
)
"""Our column → what others call it: letters and digits in lower case, without the unit."""

_TRUE = ("true", "1", "1.0", "yes", "valid", "t", "y")
_FALSE = ("false", "0", "0.0", "no", "invalid", "f", "n")
_HOW = "say which column is which, for example --column x=NAME"


@file_format("csv")
class Delimited:
    """A generic table; asked last, because any table looks like it."""

    title = "CSV or TSV table"
    suffixes = (".csv", ".tsv", ".txt")
    lost = ("events", "geometry", "rate", "pupil_unit")
    priority = 10

    def sniff(self, path: Path, head: bytes) -> bool:
        """Whether it is text whose first line has several columns."""
        if b"\0" in head:
            return False
        lines = [line for line in head.splitlines() if line.strip() and not line.lstrip().startswith(b"#")]
        return bool(lines) and any(len(lines[0].split(mark)) > 2 for mark in (b"\t", b";", b",", b"|", None))

    def read(self, path: Path, options: ReadOptions, report: ReadReport) -> Iterator[Chunk]:
        """Yield the recordings; columns as `ReadOptions.columns` says, the others by their names."""
        delimiter = check_delimiter(options.delimiter)
        table = Table(path, options, report, delimiter=delimiter, comments=True)
        layout = _layout(table.columns, options)
        _remark_validity(table.columns, layout, options, report)
        _remark_labels(table.columns, layout, options, report)
        runs = KeyRuns(path, trials_counted=False)
        is_veiled = {*schema.KEYS, "veiled"} <= set(table.columns.names)  # as we write it
        note = VeilNote.from_dict({}) if is_veiled else None
        time_unit = layout.time_unit
        for batch in table.batches(layout.text, layout.numbers, required=("t",)):
            if time_unit is None:
                time_unit = _time_unit_by_step(path, batch, layout.numbers["t"], report)
            checked = _with_validity(table, batch, layout)
            labels = _labels(checked, layout, options, path)
            samples = _samples(checked.frame, layout, options, time_unit)
            for run in runs.cut(labels, checked.lines):
                for piece in samples[run.start : run.stop].iter_slices(options.chunk_rows):
                    yield Chunk(run.key, piece, layout.geometry, veiled=note)

    def write(self, chunks: Iterable[Chunk], path: Path) -> tuple[str, ...]:
        """Write one table: tab-separated if its name ends in .tsv, packed if it ends in .gz."""
        kind = TabFile if ".tsv" in path.suffixes[-2:] else DelimitedFile
        return write_files(chunks, path, kind, self.lost)


@dataclass(frozen=True, slots=True)
class _Layout:
    """Where in the file our columns are, and what they mean."""

    text: Mapping[str, str]
    numbers: Mapping[str, str]
    geometry: Geometry
    time_unit: str | None


def _layout(columns: Columns, options: ReadOptions) -> _Layout:
    if columns.names and all(_is_number(name) for name in columns.names if name):
        raise FileFormatError(
            columns.path,
            line=columns.line,
            expected="a header line with the columns' names",
            found=f"numbers: {', '.join(columns.names[:6])}",
            hint="put a line such as t,x,y before the first row",
        )
    found = _find_columns(columns, options)
    has_gaze = any({f"{prefix}x", f"{prefix}y"} <= set(found) for prefix in ("", "left_", "right_"))
    if "t" not in found:
        raise columns.missing("of time, such as 't' or 'timestamp'", SPELLINGS["t"], _to_say(found, has_gaze))
    if not has_gaze:
        raise columns.missing(
            "of gaze, such as 'x' and 'y'", (*SPELLINGS["x"], *SPELLINGS["y"]), _to_say(found, has_gaze)
        )
    if options.eye != "both" and f"{options.eye}_x" not in found:
        raise columns.missing(f"of the {options.eye} eye", SPELLINGS[f"{options.eye}_x"], _HOW)
    is_text = {*schema.KEYS, "valid", "left_valid", "right_valid"}
    return _Layout(
        {ours: theirs for ours, theirs in found.items() if ours in is_text},
        {ours: theirs for ours, theirs in found.items() if ours not in is_text},
        _geometry(columns, found, options),
        options.time_unit or _time_unit(found),
    )


def _to_say(found: Mapping[str, str], has_gaze: bool) -> str:
    """Say in one line which columns could not be found, so that nobody has to ask once for each."""
    wanted = [name for name in ("t", *(() if has_gaze else ("x", "y")), "observer", "stimulus") if name not in found]
    return f"say which column is which: {' '.join(f'--column {name}=NAME' for name in wanted)}"


def _remark_labels(columns: Columns, layout: _Layout, options: ReadOptions, report: ReadReport) -> None:
    """Remark that all rows count as of one participant or stimulus, where an unused column could say otherwise."""
    used = {*layout.text.values(), *layout.numbers.values()}
    used |= {column_of(rule, columns) for rule in parse_rules(options.valid)}
    others = [name for name in columns.names if name and name not in used and "valid" not in parse_name(name).words]
    listed = ", ".join(map(repr, others[:6])) + (", …" if len(others) > 6 else "")
    for ours, words in (("observer", "participant"), ("stimulus", "stimulus")):
        if others and ours not in layout.text and getattr(options, ours) is None:
            report.remark(
                f"no column names the {words}, so all rows count as of one; "
                f"is it one of {listed}? Then add --column {ours}=NAME"
            )


def _remark_validity(columns: Columns, layout: _Layout, options: ReadOptions, report: ReadReport) -> None:
    """Tell that a column of validity codes is not used: 0 is the best code of one tracker and the worst of another."""
    used = {*layout.text.values(), *(column_of(rule, columns) for rule in parse_rules(options.valid))}
    for name in columns.names:
        if "validity" in parse_name(name).words and name not in used:
            report.remark(f"the column {name!r} is not used: --valid says what is valid, for example '{name}==1'")


def _find_columns(columns: Columns, options: ReadOptions) -> dict[str, str]:
    unknown = set(options.columns) - set(SPELLINGS)
    if schema.DURATION in unknown:
        raise OptionError(
            "samples have no duration; lists of fixations do", hint="read the table with --format fixations-csv"
        )
    if unknown:
        raise OptionError(f"we have no column {sorted(unknown)[0]!r}", hint=f"ours are {', '.join(SPELLINGS)}")
    for ours, theirs in options.columns.items():
        if theirs not in columns.names:
            raise columns.missing(f"{theirs!r} (for {ours})", (parse_name(theirs).words,), _HOW)
    found = dict(options.columns)
    for ours, spellings in SPELLINGS.items():
        if ours in found:
            continue
        fitting = [name for name in columns.names if parse_name(name).words in spellings and name not in found.values()]
        exact = [name for name in fitting if name == ours]
        if len(exact or fitting) > 1:
            raise FileFormatError(
                columns.path,
                line=columns.line,
                expected=f"one column for {ours}",
                found=f"{len(fitting)}: {', '.join(map(repr, fitting))}",
                hint=f"say which, for example --column {ours}={fitting[0]!r}",
            )
        if fitting:
            found[ours] = (exact or fitting)[0]
    return found


def _geometry(columns: Columns, found: Mapping[str, str], options: ReadOptions) -> Geometry:
    """Return what x and y are: the header's unit on the user's viewing plane."""
    stated = {
        GAZE_UNITS[word]
        for ours, theirs in found.items()
        if ours[-1] in "xy" and (word := parse_name(theirs).unit) in GAZE_UNITS
    }
    if len(stated) > 1:
        raise FileFormatError(
            columns.path, line=columns.line, expected="one unit for x and y", found=" and ".join(sorted(stated))
        )
    unit = Unit(stated.pop()) if stated else None
    if options.geometry is not None:
        try:
            return options.geometry.in_unit(unit or options.geometry.unit)
        except GeometryError as error:
            raise FileFormatError(
                columns.path,
                line=columns.line,
                expected=f"gaze in {options.geometry.unit}",
                found=f"columns in {unit}",
                hint=f"{error.message}: {error.hint}",
            ) from None
    if unit is not None and unit is not Unit.PIXEL:
        return Geometry(unit)
    raise FileFormatError(
        columns.path,
        expected="to know what x and y are",
        found="a table that does not say",
        hint="--screen 1920x1080 for pixels of such a screen, --unit norm for fractions, --unit deg for degrees",
    )


def _time_unit(found: Mapping[str, str]) -> str | None:
    """Return the unit in the time column's name; our own files are in seconds."""
    unit = parse_name(found["t"]).unit
    if unit in TIME_UNITS:
        return TIME_UNITS[unit]
    ours = all(found.get(name) == name for name in (*schema.KEYS, *schema.REQUIRED))
    return "s" if ours else None


def _time_unit_by_step(path: Path, batch: Batch, column: str, report: ReadReport) -> str:
    unit, step = guess_time_unit(batch.frame["t"].to_numpy())
    if unit is None:
        raise FileFormatError(
            path,
            column=column,
            expected="a typical step between samples of 10 to 2000 Hz, to tell the unit of time",
            found=step_in_words(step),
            hint="name the unit with --time-unit s, ms, us or ns",
        )
    report.remark(f"time was taken to be in {unit}, from its typical step of {step:g}; --time-unit overrides this")
    return unit


def _with_validity(table: Table, batch: Batch, layout: _Layout) -> Batch:
    """Turn columns of validity into true and false; rows that say neither are bad."""
    for name in ("valid", "left_valid", "right_valid"):
        if name in layout.text:
            batch = table.with_flag(batch, name, layout.text[name], _TRUE, _FALSE, "true or false")
    if "observer" in layout.text:
        tokens = batch.frame["observer"]
        batch = table.reject(batch, tokens.is_null(), layout.text["observer"], "who looked", tokens)
    return batch


def _labels(batch: Batch, layout: _Layout, options: ReadOptions, path: Path) -> pl.DataFrame:
    defaults = options.key(path)._asdict()
    given = {name: getattr(options, name) or "" for name in schema.KEYS}
    labels = batch.frame.with_columns(
        pl.col(name).fill_null(given[name]) if name in layout.text else pl.lit(defaults[name]).alias(name)
        for name in schema.KEYS
    )
    return labels.select(schema.KEYS)


def _samples(frame: pl.DataFrame, layout: _Layout, options: ReadOptions, time_unit: str) -> pl.DataFrame:
    frame = in_seconds(frame, PER_SECOND[time_unit], "t")
    if options.y_up:
        heights = [name for name in ("y", "left_y", "right_y") if name in frame.columns]
        frame = frame.with_columns((layout.geometry.y_span - pl.col(name)).alias(name) for name in heights)
    return combined(frame, options.eye)


def _is_number(text: str) -> bool:
    try:
        float(text.replace(",", "."))
    except ValueError:
        return False
    return True
