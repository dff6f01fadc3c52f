# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Parquet: our own tables and corpus folders, and anyone's table with a column mapping."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import numpy as np
import polars as pl

from gazeveil.errors import FileFormatError, InputError, OutputError
from gazeveil.files import replacing
from gazeveil.gaze import schema
from gazeveil.gaze.corpus import Corpus, is_corpus, write_events, write_samples, writing_corpus
from gazeveil.gaze.fileio.columns import Columns, apply_rules, column_of
from gazeveil.gaze.fileio.row_assembly import PER_SECOND, completed, no_samples
from gazeveil.gaze.formats.base import Chunk, ReadOptions, ReadReport, file_format
from gazeveil.gaze.recording import Key
from gazeveil.gaze.schema import MAGIC, TableLabel, guarded, os_errors_explained, read_label
from gazeveil.gaze.validity import ValidityRule, parse_rules

_HELD_ROWS = 250_000
_HELD_CHUNKS = 1000
_SLOWEST_STEP = 0.5
"""Seconds between samples; where no unit of time is given and steps are longer, times are hardly in seconds."""

_SLOWEST_FIXATIONS, _LONGEST_FIXATION = 20.0, 5.0
"""Seconds from one fixation to the next, and seconds that one lasts: the same for lists of fixations."""


@file_format("parquet")
class Parquet:
    """One Parquet file, or a folder of them; the fastest format, and the only one that keeps everything."""

    title = "Parquet (gazeveil's own)"
    suffixes = (".parquet",)
    lost = ()

    def sniff(self, path: Path, head: bytes) -> bool:
        """Whether it is a Parquet file or a corpus folder."""
        return is_corpus(path) if path.is_dir() else head.startswith(MAGIC)

    def read(self, path: Path, options: ReadOptions, report: ReadReport) -> Iterator[Chunk]:
        """Yield the samples chunk by chunk."""
        if path.is_dir():
            parts = Corpus.open(path).parts
            for number, part in enumerate(parts, start=1):
                yield from _chunks(part.samples, part.events, part.label, path, options, report)
                report.fraction = number / len(parts)
            return
        label = read_label(path)
        if label is None:
            yield from table_chunks(guarded(path, lambda: pl.scan_parquet(path, glob=False)), path, options, report)
            return
        events_path = events_beside(path)
        events = (
            guarded(events_path, lambda: pl.scan_parquet(events_path, glob=False))
            if events_path.exists()
            else pl.LazyFrame(schema=schema.keyed(schema.EVENTS))
        )
        samples = guarded(path, lambda: pl.scan_parquet(path, glob=False))
        _check_columns(path, samples, [*schema.KEYS, *schema.REQUIRED])
        yield from _chunks(samples, events, label, path, options, report)

    def write(self, chunks: Iterable[Chunk], path: Path) -> tuple[str, ...]:
        """Write one file if the path ends in .parquet, else a corpus folder."""
        if path.suffix == ".parquet":
            _write_file(chunks, path)
        else:
            with writing_corpus(path) as writer:
                for chunk in chunks:
                    writer.add(chunk)
        return ()


def events_beside(path: Path) -> Path:
    """Return where the events of a single Parquet file lie."""
    return path.with_name(f"{path.stem}.events.parquet")


def _chunks(
    samples: pl.LazyFrame,
    events: pl.LazyFrame,
    label: TableLabel,
    path: Path,
    options: ReadOptions,
    report: ReadReport,
    rules: Mapping[ValidityRule, str] | None = None,
) -> Iterator[Chunk]:
    """Cut a table into runs of one recording. Events go with the first chunk of their recording."""
    plane = completed(label.geometry, options.geometry)
    table = guarded(path, events.collect)
    events_of = table.partition_by(schema.KEYS, as_dict=True, include_key=False, maintain_order=True)
    if rules is None:
        rules = _rule_columns(options, path, samples)
    batches = _batches(samples, path, options.chunk_rows)
    judged = (apply_rules(batch, rules, path, report) for batch in batches) if rules else batches
    for key, run in _runs(judged, path):
        mine = events_of.pop(tuple(key), None)
        yield Chunk(
            key,
            run.select(name for name in schema.SAMPLES if name in run.columns),
            plane,
            schema.no_events() if mine is None else schema.event_table(mine),
            label.rate_hz,
            label.pupil_unit,
            label.veiled,
        )
    for values, mine in events_of.items():  # of recordings without a sample here
        happened = schema.event_table(mine)
        yield Chunk(Key(*values), no_samples(), plane, happened, label.rate_hz, label.pupil_unit, label.veiled)


def _runs(batches: Iterable[pl.DataFrame], path: Path) -> Iterator[tuple[Key, pl.DataFrame]]:
    """Yield stretches of rows that belong to one recording, none longer than a chunk."""
    ended: set[Key] = set()
    current: Key | None = None
    for batch in batches:
        numbered = batch.with_columns(pl.struct(schema.KEYS).rle_id().alias("_run"))
        for run in numbered.partition_by("_run", maintain_order=True, include_key=False):
            key = Key(*run.select(schema.KEYS).row(0))
            if key in ended:
                raise FileFormatError(
                    path,
                    expected="the rows of each recording together",
                    found=f"rows of {key} in several places",
                    hint="sort the table by observer, stimulus, session, trial and time",
                )
            if current is not None and key != current:
                ended.add(current)
            current = key
            yield key, run


def _batches(samples: pl.LazyFrame, path: Path, rows: int) -> Iterator[pl.DataFrame]:
    total = guarded(path, lambda: samples.select(pl.len()).collect().item())
    for start in range(0, total, rows):
        batch = samples.slice(start, rows)
        yield guarded(path, batch.collect)


def table_chunks(table: pl.LazyFrame, path: Path, options: ReadOptions, report: ReadReport) -> Iterator[Chunk]:
    """Read someone else's table: columns by the user's mapping, else by our own names; ``path`` names it in errors."""
    if options.geometry is None:
        raise InputError(
            f"{path} does not say what its x and y are",
            hint="--screen 1920x1080 for pixels of such a screen, --unit norm for fractions, --unit deg for degrees",
        )
    found = table.collect_schema().names()
    source = {name: options.columns.get(name, name) for name in (*schema.KEYS, *schema.SAMPLES)}
    is_list = source[schema.DURATION] in found
    needed = ("x", "y") if is_list else ("t", "x", "y")
    _check_columns(path, table, [*options.columns.values(), *(source[name] for name in needed)])
    if options.time_unit is None and source["t"] in found:
        _check_seconds(table, source["t"], path, _SLOWEST_FIXATIONS if is_list else _SLOWEST_STEP)
    if options.time_unit is None and is_list:
        _check_lengths(table, source[schema.DURATION], path)
    key = options.key(path)
    per_second = PER_SECOND[options.time_unit or "s"]
    columns = [
        (pl.col(source[name]).cast(pl.String) if source[name] in found else pl.lit(value)).fill_null("").alias(name)
        for name, value in key._asdict().items()
    ]
    for name, dtype in schema.SAMPLES.items():
        if source[name] in found:
            column = pl.col(source[name]).cast(dtype)
            if name in {"t", schema.DURATION}:
                # by numpy: polars multiplies by the inverse, which is off in the last digit
                column = column.map_batches(lambda time: pl.Series(time.to_numpy() / per_second), pl.Float64)
            elif options.y_up and (name == "y" or name.endswith("_y")):
                column = options.geometry.y_span - column
            columns.append(column.alias(name))
        elif name == "t":
            columns.append(pl.lit(None, pl.Float64).alias(name))
        elif name == "valid":
            finite = pl.col(source["x"]).cast(pl.Float64).is_finite() & pl.col(source["y"]).cast(pl.Float64).is_finite()
            columns.append(finite.fill_null(False).alias("valid"))
    label = TableLabel(options.geometry)
    no_events = pl.LazyFrame(schema=schema.keyed(schema.EVENTS))
    rules = {rule: f"for rules {name}" for rule, name in _rule_columns(options, path, table).items()}
    columns += [pl.col(name.removeprefix("for rules ")).alias(name) for name in dict.fromkeys(rules.values())]
    yield from _chunks(table.select(columns), no_events, label, path, options, report, rules)


def _rule_columns(options: ReadOptions, path: Path, table: pl.LazyFrame) -> dict[ValidityRule, str]:
    """Return which column each of the user's rules means."""
    if not options.valid:
        return {}
    names = Columns(path, tuple(guarded(path, lambda: table.collect_schema().names())), None)
    return {rule: column_of(rule, names) for rule in parse_rules(options.valid)}


def _check_lengths(table: pl.LazyFrame, name: str, path: Path) -> None:
    """Refuse lists whose fixations are hardly in seconds."""
    length = guarded(path, lambda: table.select(pl.col(name).cast(pl.Float64)).head(1000).median().collect().item())
    if length is not None and length > _LONGEST_FIXATION:
        raise InputError(
            f"{path}: fixations in column {name!r} last {length:g}, which is long for seconds",
            hint="say what they are, and the starts with them: --time-unit ms, us or ns; in Python time_unit='ms'",
        )


def _check_seconds(table: pl.LazyFrame, name: str, path: Path, slowest: float) -> None:
    times = guarded(path, lambda: table.select(pl.col(name).cast(pl.Float64)).head(1000).collect())
    steps = np.diff(times[name].to_numpy())
    step = float(np.median(steps[steps > 0])) if np.any(steps > 0) else 0.0
    if step > slowest:
        raise InputError(
            f"{path}: times in column {name!r} step by {step:g}, which is slow for seconds",
            hint="say what they are: --time-unit ms, us or ns (or s, if they are seconds); in Python time_unit='ms'",
        )


def _check_columns(path: Path, table: pl.LazyFrame, needed: list[str]) -> None:
    found = guarded(path, lambda: table.collect_schema().names())
    missing = [name for name in needed if name not in found]
    if missing:
        raise FileFormatError(
            path,
            expected=f"columns {', '.join(missing)}",
            found=f"only {', '.join(found)}",
            hint="say which column is which, for example --column x=gaze_x --column y=gaze_y",
        )


def _write_file(chunks: Iterable[Chunk], path: Path) -> None:
    """Write one file: chunks become parts in a temporary folder, which then stream into the file."""
    if events_beside(path).exists() and not path.exists():
        raise OutputError(
            f"{events_beside(path)} exists already, and is where the events go",
            hint="choose another name, or move that file away",
        )
    # the parts lie beside the file: gaze belongs on no other disk than the one that was asked for
    with replacing(path) as target, tempfile.TemporaryDirectory(dir=path.parent, prefix=f".{path.name}.") as folder:
        label: TableLabel | None = None
        parts: list[Path] = []
        held: list[Chunk] = []
        for chunk in chunks:
            mine = TableLabel(chunk.geometry, chunk.rate_hz, chunk.pupil_unit, chunk.veiled)
            if label is not None and mine != label:
                raise InputError(
                    f"one Parquet file holds one geometry and rate, found {mine} after {label}",
                    hint="write a corpus folder instead: an output name without .parquet",
                )
            label = mine
            held.append(chunk)
            if sum(len(piece.samples) for piece in held) >= _HELD_ROWS or len(held) >= _HELD_CHUNKS:
                parts.append(_write_part(held, Path(folder) / f"{len(parts):06d}.parquet", label))
                held = []
        if label is None:
            raise InputError("there is nothing to write: no recordings")
        if held:
            parts.append(_write_part(held, Path(folder) / f"{len(parts):06d}.parquet", label))
        joined = pl.concat([pl.scan_parquet(part) for part in parts], how="diagonal")
        with os_errors_explained():
            joined.sink_parquet(target, metadata=label.to_metadata())
        written = [events_beside(part) for part in parts if events_beside(part).exists()]
        if written:
            with replacing(events_beside(path)) as events_target, os_errors_explained():
                events = pl.concat([pl.scan_parquet(part) for part in written])
                events.sink_parquet(events_target, metadata=label.to_metadata())
        else:
            events_beside(path).unlink(missing_ok=True)


def _write_part(chunks: list[Chunk], path: Path, label: TableLabel) -> Path:
    write_samples(chunks, path, label, with_stimulus=True)
    write_events(chunks, events_beside(path), label, with_stimulus=True)
    return path
