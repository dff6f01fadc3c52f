# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""BIDS eye tracking: ``…_recording-eye1_physio.tsv.gz`` with JSON sidecars, one file per eye, in a data set."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from gazeveil.errors import FileFormatError
from gazeveil.gaze import schema
from gazeveil.gaze.fileio import bids_writer
from gazeveil.gaze.fileio.bids import (
    DESCRIPTION,
    OURS,
    Sidecars,
    axis_changes,
    bids_geometry,
    parse_bids_name,
    units_of,
)
from gazeveil.gaze.fileio.columns import HOLDS, TIME_UNITS, Columns, parse_name
from gazeveil.gaze.fileio.row_assembly import PER_SECOND, combined, in_seconds
from gazeveil.gaze.fileio.tables import Batch, Table, add_bad_lines, is_blank, quiet_report
from gazeveil.gaze.formats.base import Chunk, ReadOptions, ReadReport, file_format
from gazeveil.gaze.recording import Key
from gazeveil.gaze.schema import VeilNote

_EYES = ("left", "right", "cyclopean")
_HELD = (HOLDS, f"left_{HOLDS}", f"right_{HOLDS}")
_NOT_THERE = ("n/a", "")


@dataclass(frozen=True, slots=True)
class _EyeFile:
    """One eye's file and what its sidecars say."""

    path: Path
    eye: str
    about: Mapping[str, Any]

    def need(self, field: str) -> Any:
        """Return a field of the sidecar that has to be there."""
        if field not in self.about:
            raise FileFormatError(
                self.path,
                expected=f"{field} in the sidecar",
                found=f"only {', '.join(sorted(self.about)) or 'no sidecar'}",
                hint="BIDS asks for it: add it to the JSON file beside",
            )
        return self.about[field]

    @property
    def columns(self) -> list[str]:
        """The columns' names, which the table itself does not have."""
        names = self.need("Columns")
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise FileFormatError(self.path, column="Columns", expected="a list of names", found=repr(names)[:80])
        return names


def is_eye_tracking(path: Path, sidecars: Sidecars) -> bool:
    """Whether a file is a physiological recording whose sidecars say that it is eye tracking."""
    name = parse_bids_name(path.name)
    if name is None or name.suffix != "physio" or name.extension not in {".tsv.gz", ".tsv"}:
        return False
    try:
        return bool(sidecars.of(path).get("PhysioType") == "eyetrack")
    except FileFormatError:
        return True  # a broken sidecar: reading it will say what is wrong


def by_recording(files: Iterable[Path]) -> list[list[Path]]:
    """Return files grouped by recording: those that differ only in the eye."""
    groups: dict[tuple[Path, str], list[Path]] = {}
    for file in files:
        name = parse_bids_name(file.name)
        if name:
            groups.setdefault((file.parent, name.without("recording")), []).append(file)
    return list(groups.values())


def eyes_beside(path: Path) -> list[Path]:
    """Return the files of all eyes of the recording that a file belongs to."""
    if parse_bids_name(path.name) is None:
        raise FileFormatError(
            path, expected="a BIDS name such as sub-01_task-rest_recording-eye1_physio.tsv.gz", found=path.name
        )
    sidecars = Sidecars()
    files = [other for other in sorted(path.parent.iterdir()) if other == path or is_eye_tracking(other, sidecars)]
    return next(group for group in by_recording(files) if path in group)


def read_recording(paths: list[Path], sidecars: Sidecars, options: ReadOptions, report: ReadReport) -> Iterator[Chunk]:
    """Yield one recording from the files of its eyes."""
    eyes = _wanted(_eyes(paths, sidecars), options)
    main = eyes[0]
    ours = main.about.get(OURS, {})
    note = VeilNote.from_dict(ours["veiled"]) if isinstance(ours.get("veiled"), dict) else None
    key = _key(main.path, ours, options)
    presentation = sidecars.of(main.path, "events")
    geometry = bids_geometry(main.path, main.about, presentation, options)
    changes = axis_changes(main.path, presentation, geometry, options)
    rate = _rate(main)
    events = _events(eyes, sidecars, options, report)
    pupil_unit = str(ours.get("pupil_unit", _pupil_unit(main)))
    stated_rate = None if ours.get("rate_measured") else rate
    for raw in _side_by_side(eyes, rate, options, report):
        frame = raw.with_columns(
            change(pl.col(f"{prefix}{axis}")).alias(f"{prefix}{axis}")
            for axis, change in zip("xy", changes, strict=True)
            for prefix in ("", "left_", "right_")
            if f"{prefix}{axis}" in raw.columns
        )
        samples = combined(frame, options.eye)
        if "x" in frame.columns and "pupil" not in frame.columns and options.eye == "both":
            samples = samples.drop("pupil", strict=False)  # the file of both eyes has none: do not make one up
        for piece in samples.iter_slices(options.chunk_rows):
            yield Chunk(key, piece, geometry, events, stated_rate, pupil_unit, note)
            events = schema.no_events()


def _eyes(paths: list[Path], sidecars: Sidecars) -> list[_EyeFile]:
    eyes: dict[str, _EyeFile] = {}
    for path in paths:
        about = sidecars.of(path)
        eye = about.get("RecordedEye", "cyclopean" if len(paths) == 1 else None)
        if eye not in _EYES:
            raise FileFormatError(
                path, column="RecordedEye", expected="left, right or cyclopean in the sidecar", found=repr(eye)
            )
        if eye in eyes:
            raise FileFormatError(
                path, column="RecordedEye", expected=f"one file of the {eye} eye", found=f"also {eyes[eye].path.name}"
            )
        eyes[eye] = _EyeFile(path, eye, about)
    return [eyes[eye] for eye in _EYES if eye in eyes]


def _wanted(eyes: list[_EyeFile], options: ReadOptions) -> list[_EyeFile]:
    if options.eye == "both":
        return eyes
    chosen = [eye for eye in eyes if eye.eye == options.eye]
    if not chosen:
        raise FileFormatError(
            eyes[0].path,
            expected=f"a recording of the {options.eye} eye",
            found=", ".join(eye.eye for eye in eyes),
            hint="leave out --eye",
        )
    return chosen


def _key(path: Path, ours: Mapping[str, Any], options: ReadOptions) -> Key:
    if all(isinstance(ours.get(name), str) for name in schema.KEYS):
        return Key(*(ours[name] for name in schema.KEYS))
    name = parse_bids_name(path.name)
    labels = name.entities if name else {}
    return options.key(
        path,
        observer=labels.get("sub", ""),
        stimulus=labels.get("task", ""),
        session=labels.get("ses", ""),
        trial=labels.get("run", ""),
    )


def _rate(eye: _EyeFile) -> float:
    rate = eye.need("SamplingFrequency")
    if isinstance(rate, bool) or not isinstance(rate, int | float) or not rate > 0:
        raise FileFormatError(eye.path, column="SamplingFrequency", expected="a number above 0", found=repr(rate))
    return float(rate)


def _pupil_unit(eye: _EyeFile) -> str:
    described = eye.about.get("pupil_size")
    unit = str(described.get("Units", "")) if isinstance(described, dict) else ""
    return "" if unit in {"arbitrary", "a.u.", "n/a"} else unit


def _time_scale(eye: _EyeFile, options: ReadOptions) -> float:
    unit = units_of(eye.about, "timestamp")
    name = TIME_UNITS.get(parse_name(str(unit)).words) if unit else options.time_unit
    if name is None:
        raise FileFormatError(
            eye.path,
            column="timestamp",
            expected="its Units in the sidecar: s, ms, us or ns",
            found=repr(unit),
            hint="add them, or name the unit with --time-unit",
        )
    return PER_SECOND[name]


def _samples_of(
    eye: _EyeFile, prefix: str, rate: float, options: ReadOptions, report: ReadReport
) -> Iterator[pl.DataFrame]:
    """Yield one eye's samples with the line each stood on."""
    table = Table(eye.path, options, report, delimiter="\t", header=eye.columns)
    columns = Columns(eye.path, tuple(eye.columns), None)
    numbers = {f"{prefix}{axis}": columns.need(f"'{axis}_coordinate'", f"{axis}coordinate") for axis in "xy"}
    if pupil := columns.find("pupilsize"):
        numbers[f"{prefix}pupil"] = pupil
    timed = columns.find("timestamp")
    scale = _time_scale(eye, options) if timed else 1.0
    required = ("t",) if timed else ()
    if timed:
        numbers["t"] = timed
    for batch in table.batches({}, numbers, required):
        frame = batch.frame.with_columns(pl.Series("line", batch.lines))
        if ruled := [name for name in (HOLDS, f"{prefix}{HOLDS}") if name in frame.columns]:
            # rules are about the eye whose file it is
            mine = pl.all_horizontal(ruled).alias(f"{prefix}{HOLDS}")
            frame = frame.with_columns(mine).drop(set(_HELD) - {f"{prefix}{HOLDS}"}, strict=False)
        if timed is None:
            frame = frame.with_columns(pl.Series("t", (batch.lines - 1) / rate))
        yield in_seconds(frame, scale, "t")


def _side_by_side(
    eyes: list[_EyeFile], rate: float, options: ReadOptions, report: ReadReport
) -> Iterator[pl.DataFrame]:
    """Yield the samples of all eyes in one table, row by row the same line and time."""
    prefixes = ["" if eye.eye == "cyclopean" else f"{eye.eye}_" for eye in eyes]
    reports = [report, *(quiet_report(report) for _ in eyes[1:])]
    streams = [
        _samples_of(eye, prefix, rate, options, own) for eye, prefix, own in zip(eyes, prefixes, reports, strict=True)
    ]
    if len(streams) == 1:
        yield from (frame.drop("line") for frame in streams[0])
        return
    held: list[pl.DataFrame | None] = [next(stream, None) for stream in streams]
    while all(frame is not None for frame in held):
        frames = [frame for frame in held if frame is not None]
        limit = min(int(frame["line"][-1]) for frame in frames)
        yield _joined(eyes, [frame.filter(pl.col("line") <= limit) for frame in frames], report)
        rest = [frame.filter(pl.col("line") > limit) for frame in frames]
        held = [frame if frame.height else next(stream, None) for frame, stream in zip(rest, streams, strict=True)]
    for eye, frame in zip(eyes, held, strict=True):
        if frame is not None:
            raise FileFormatError(
                eye.path,
                line=int(frame["line"][0]),
                expected="as many rows as the other eye's file has",
                found="more",
                hint="--eye left or --eye right reads one eye alone",
            )
    for own in reports[1:]:
        add_bad_lines(report, own)


def _joined(eyes: list[_EyeFile], frames: list[pl.DataFrame], report: ReadReport) -> pl.DataFrame:
    joined = frames[0]
    for eye, frame in zip(eyes[1:], frames[1:], strict=True):
        before = max(joined.height, frame.height)
        joined = joined.join(frame, on="line", how="inner", suffix="_other", maintain_order="left")
        if joined.height < before:
            report.remark("rows that are bad in one eye's file were left out of the other's", before - joined.height)
        differs = np.flatnonzero((joined["t"] != joined["t_other"]).to_numpy())
        if len(differs):
            row = int(differs[0])
            raise FileFormatError(
                eye.path,
                line=int(joined["line"][row]),
                column="timestamp",
                expected=f"the other eye's time {joined['t'][row]!r} s",
                found=f"{joined['t_other'][row]!r} s",
                hint="--eye left or --eye right reads one eye alone",
            )
        joined = joined.drop("t_other")
    return joined.drop("line")


def _events(eyes: list[_EyeFile], sidecars: Sidecars, options: ReadOptions, report: ReadReport) -> pl.DataFrame:
    """Return the events and messages that the tracker logged beside each eye's samples."""
    tables = [schema.no_events()]
    for eye in eyes:
        name = parse_bids_name(eye.path.name)
        path = eye.path.with_name(eye.path.name.replace("_physio.", "_physioevents."))
        if name is None or not path.is_file() or is_blank(path):
            continue
        tables.append(_events_of(eye, _EyeFile(path, eye.eye, sidecars.of(path)), options, report))
    return pl.concat(tables).sort("onset", maintain_order=True) if len(tables) > 2 else pl.concat(tables)


def _events_of(eye: _EyeFile, logged: _EyeFile, options: ReadOptions, report: ReadReport) -> pl.DataFrame:
    source = logged.about.get("OnsetSource", logged.about.get("ForeignIndexColumn"))
    if source != "timestamp" or "timestamp" not in eye.columns:
        report.remark(f"events were left out: their onsets refer to {source!r}, not to the samples' timestamps")
        return schema.no_events()
    scale = _time_scale(eye, options)
    unit = units_of(logged.about, "duration")
    # BIDS says seconds, but its own example counts in the timestamps' unit: without Units, believe the example
    duration_scale = PER_SECOND.get(TIME_UNITS.get(parse_name(str(unit)).words, ""), scale)
    names = logged.columns
    extra = [name for name in schema.EVENTS if name in names] if OURS in logged.about else []
    text = ["trial_type", "message", *(name for name in extra if schema.EVENTS[name] == pl.String)]
    numbers = ["onset", "duration", "blink", *(name for name in extra if schema.EVENTS[name] == pl.Float64)]
    own = quiet_report(report)
    table = Table(logged.path, options.beside(), own, delimiter="\t", header=names, may_be_empty=True)
    batches = table.batches(
        {name: name for name in text if name in names}, {name: name for name in numbers if name in names}, ("onset",)
    )
    parts = [_as_events(batch, eye, scale, duration_scale) for batch in batches]
    add_bad_lines(report, own)
    return pl.concat([schema.no_events(), *parts])


def _as_events(batch: Batch, eye: _EyeFile, scale: float, duration_scale: float) -> pl.DataFrame:
    have = batch.frame.columns
    texts = [name for name, kind in batch.frame.schema.items() if kind == pl.String]
    times = [name for name in ("onset", "offset") if name in have]
    frame = in_seconds(batch.frame, scale, *times).with_columns(
        *(pl.when(~pl.col(name).is_in(_NOT_THERE)).then(pl.col(name)).alias(name) for name in texts),
    )
    lasting = pl.lit(None, pl.Float64)
    if "duration" in have:
        frame, lasting = in_seconds(frame, duration_scale, "duration"), pl.col("duration")
    in_blink = pl.col("blink") == 1 if "blink" in have else pl.lit(False)
    kind = pl.when(in_blink).then(pl.lit("blink")).otherwise(pl.lit("message"))
    return schema.event_table(
        frame.with_columns(
            kind=pl.coalesce(pl.col("trial_type"), kind) if "trial_type" in have else kind,
            source=pl.col("source") if "source" in have else pl.lit("tracker"),
            eye=pl.col("eye") if "eye" in have else pl.lit("both" if eye.eye == "cyclopean" else eye.eye),
            offset=pl.col("offset") if "offset" in have else pl.col("onset") + lasting.fill_null(0.0),
            text=pl.col("message") if "message" in have else pl.lit(None, pl.String),
        )
    )


# --- The format.


@file_format("bids")
class Bids:
    """Reads one recording (all eyes of it) or a whole data set; writes a data set and checks it."""

    title = "BIDS eye tracking"
    suffixes = (".tsv.gz",)
    lost = ()

    def sniff(self, path: Path, head: bytes) -> bool:
        """Whether it is a data set, or a physiological recording that says it is eye tracking."""
        if path.is_dir():
            return (path / DESCRIPTION).is_file()
        return is_eye_tracking(path, Sidecars())

    def read(self, path: Path, options: ReadOptions, report: ReadReport) -> Iterator[Chunk]:
        """Yield the recording that a file belongs to, or all recordings of a data set."""
        sidecars = Sidecars()
        if not path.is_dir():
            yield from read_recording(eyes_beside(path), sidecars, options, report)
            return
        files = [file for file in sorted(path.glob("sub-*/**/*_physio.tsv*")) if is_eye_tracking(file, sidecars)]
        if not files:
            raise FileFormatError(
                path,
                expected="eye tracking (…_physio.tsv.gz whose sidecar says PhysioType eyetrack)",
                found="a data set without",
            )
        recordings = by_recording(files)
        for done, eyes in enumerate(recordings, start=1):
            own = quiet_report(report)
            for chunk in read_recording(eyes, sidecars, options, own):
                report.rules_kept = own.rules_kept
                yield chunk
            add_bad_lines(report, own)
            report.fraction = done / len(recordings)

    def write(self, chunks: Iterable[Chunk], path: Path) -> tuple[str, ...]:
        """Write a data set; a derivative, if gaze is veiled."""
        bids_writer.write(chunks, path)
        return ()
