# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Neon and Pupil Invisible recordings as they lie on the phone: ``gaze ps1.raw`` with its times, and ``info.json``.

A ``.raw`` file holds records of fixed size, a ``.time`` file the time of each in nanoseconds. Long recordings have
parts ps1, ps2, …; where the full rate was computed later, ``gaze_200hz`` takes their place. Gaze is in pixels of the
scene camera.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from gazeveil.errors import FileFormatError, InputError
from gazeveil.gaze import schema
from gazeveil.gaze.fileio.row_assembly import combined, from_tracker
from gazeveil.gaze.formats.base import Chunk, ReadOptions, ReadReport, file_format
from gazeveil.gaze.formats.pupil_cloud import about_recording, scene_plane

_PART = re.compile(r"(.+) ps(\d+)\.raw")
_GAZE: Final = np.dtype([("x", "<f4"), ("y", "<f4")])
_TIME: Final = np.dtype("<i8")
_WORN: Final = np.dtype("u1")
_NANOSECONDS = 1e9
_KINDS = {0: "saccade", 1: "fixation"}
_Records = tuple[NDArray[np.int64], NDArray[Any]]


@file_format("pupil-native")
class PupilNative:
    """One folder is one recording of one wearer."""

    title = "Neon or Pupil Invisible recording as on the phone"
    suffixes = (".raw",)

    def sniff(self, path: Path, head: bytes) -> bool:
        """Whether it is a recording's folder, or its gaze."""
        folder = path if path.is_dir() else path.parent
        is_gaze = path.is_dir() or (path.name.startswith("gaze") and path.suffix == ".raw")
        return is_gaze and (folder / "info.json").is_file() and bool(_parts(folder, "gaze"))

    def read(self, path: Path, options: ReadOptions, report: ReadReport) -> Iterator[Chunk]:
        """Yield the recording; whether the glasses were worn, pupils and events come from the files beside."""
        options.check_eyes_together(path)
        folder = path if path.is_dir() else path.parent
        about = about_recording(folder)
        plane = scene_plane(folder / "info.json", about, options)
        stem, files = _chosen(folder)
        _check_layout(folder)
        times, gaze = _joined([_records(file, _GAZE, report) for file in files])
        if not len(times):
            raise FileFormatError(folder, expected="gaze samples", found="empty files", hint="copy the recording again")
        frame = pl.DataFrame(
            {"time": times, "t": times / _NANOSECONDS, "x": gaze["x"].astype(float), "y": gaze["y"].astype(float)}
        )
        finite = pl.col("x").is_finite() & pl.col("y").is_finite()
        worn = _worn(folder, stem, files, len(times), report)
        frame = frame.with_columns(
            pl.when(finite).then(pl.col("x", "y")), valid=finite if worn is None else finite & worn
        )
        frame, pupil_unit = _with_pupils(frame, folder, report)
        wearer = str(about.get("wearer_id") or options.observer or folder.resolve().name)
        key = options.key(folder, observer=wearer, session=str(about.get("recording_id") or ""))
        events = _events(folder, report)
        report.fraction = 1.0
        for piece in combined(frame).iter_slices(options.chunk_rows):
            yield Chunk(key, piece, plane, events, pupil_unit=pupil_unit)
            events = schema.no_events()


def _parts(folder: Path, stem: str) -> list[Path]:
    """Return the parts of a stream in their order, or the one that was computed later."""
    later = folder / f"{stem}_200hz.raw"
    if later.is_file() and later.with_suffix(".time").is_file():
        return [later]
    found = [(int(match[2]), file) for file in folder.glob(f"{stem} ps*.raw") if (match := _PART.fullmatch(file.name))]
    return [file for _, file in sorted(found)]


def _chosen(folder: Path) -> tuple[str, list[Path]]:
    files = _parts(folder, "gaze")
    if not files:
        raise FileFormatError(
            folder, expected="'gaze ps1.raw' and its times", found="none", hint="give the recording's whole folder"
        )
    return ("worn_200hz" if files[0].stem.endswith("_200hz") else "worn"), files


def _bytes_of(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(
            f"cannot read {path}: {error.strerror or error}", hint="give the recording's whole folder"
        ) from None


def _array(path: Path, kind: np.dtype[Any], report: ReadReport) -> NDArray[Any]:
    raw = _bytes_of(path)
    rest = len(raw) % kind.itemsize
    if rest:
        report.bad(
            FileFormatError(
                path,
                expected=f"records of {kind.itemsize} bytes",
                found=f"{rest} bytes more at the end",
                hint="the file was cut: copy it again, or drop the last record with --skip-bad",
            )
        )
    return np.frombuffer(raw[: len(raw) - rest], dtype=kind)


def _records(path: Path, kind: np.dtype[Any], report: ReadReport) -> _Records:
    """Return times and records of one part; there must be as many of one as of the other."""
    values, times = _array(path, kind, report), _array(path.with_suffix(".time"), _TIME, report)
    if len(values) != len(times):
        report.bad(
            FileFormatError(
                path,
                expected=f"{len(times):,} records, as many as times",
                found=f"{len(values):,}",
                hint="the recording was cut: copy it again, or drop what has no partner with --skip-bad",
            ),
            lines=abs(len(values) - len(times)),
        )
    count = min(len(values), len(times))
    return times[:count], values[:count]


def _joined(parts: list[_Records]) -> _Records:
    return np.concatenate([times for times, _ in parts]), np.concatenate([values for _, values in parts])


def _layout(folder: Path, name: str) -> np.dtype[Any] | None:
    """Return the fields of a stream's records, as ``NAME.dtype`` lists them; None if there is no such file."""
    path = folder / f"{name}.dtype"
    if not path.is_file():
        return None
    try:
        fields = ast.literal_eval(_bytes_of(path).decode())
        return np.dtype([(str(field), np.dtype(kind).newbyteorder("<")) for field, kind in fields])
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError) as error:
        raise FileFormatError(path, expected="a list of fields and their types", found=str(error)[:80]) from None


def _check_layout(folder: Path) -> None:
    found = _layout(folder, "gaze")
    if found is not None and found != _GAZE:
        raise FileFormatError(
            folder / "gaze.dtype",
            expected="x and y as float32",
            found=str(found)[:80],
            hint="this recording is of a newer kind: export it with Pupil Cloud or Neon Player",
        )


def _worn(folder: Path, stem: str, files: list[Path], count: int, report: ReadReport) -> pl.Series | None:
    """Return where the glasses were worn; None if the recording does not say."""
    if stem == "worn":
        sources = [file.with_name(file.name.replace("gaze", "worn", 1)) for file in files]
    else:
        sources = [folder / f"{stem}.raw"]
    if not all(source.is_file() for source in sources):
        report.remark("the recording does not say when the glasses were worn")
        return None
    worn = np.concatenate([_array(source, _WORN, report) for source in sources]) > 0
    if len(worn) != count:
        report.bad(
            FileFormatError(sources[0], expected=f"{count:,} records, as many as gaze", found=f"{len(worn):,}"),
            lines=abs(len(worn) - count),
        )
        # what nothing is said about does not count as worn
        worn = np.concatenate([worn[:count], np.zeros(max(0, count - len(worn)), dtype=np.bool_)])
    return pl.Series(worn)


def _with_pupils(frame: pl.DataFrame, folder: Path, report: ReadReport) -> tuple[pl.DataFrame, str]:
    """Add the pupils of the samples with the same time."""
    kind = _layout(folder, "eye_state")
    files = _parts(folder, "eye_state")
    names = {side: f"pupil_diameter_{side}_mm" for side in ("left", "right")}
    if kind is None or not files or not set(names.values()) <= set(kind.names or ()):
        return frame, ""
    times, states = _joined([_records(file, kind, report) for file in files])
    sizes = pl.DataFrame(
        {"time": times, **{f"{side}_pupil": states[name].astype(float) for side, name in names.items()}}
    ).unique("time", keep="first")
    positive = [pl.when(pl.col(f"{side}_pupil") > 0).then(pl.col(f"{side}_pupil")) for side in names]
    joined = frame.join(sizes.fill_nan(None).with_columns(positive), on="time", how="left", maintain_order="left")
    return joined.with_columns(pl.mean_horizontal("left_pupil", "right_pupil").alias("pupil")), "mm"


def _events(folder: Path, report: ReadReport) -> pl.DataFrame:
    """Return fixations, saccades, blinks and what was recorded while recording."""
    found = [_noted(folder, report)]
    for name in ("fixations", "blinks"):
        kind, files = _layout(folder, name), _parts(folder, name)
        fields = set(kind.names or ()) if kind is not None else set()
        if kind is None or not files or not {"event_type", "start_timestamp_ns", "end_timestamp_ns"} <= fields:
            continue
        _, rows = _joined([_records(file, kind, report) for file in files])
        place = {axis: rows[f"mean_gaze_{axis}"].astype(float) for axis in ("x", "y") if f"mean_gaze_{axis}" in fields}
        table = pl.DataFrame(
            {
                "code": rows["event_type"].astype(np.int64),
                "onset": rows["start_timestamp_ns"] / _NANOSECONDS,
                "offset": rows["end_timestamp_ns"] / _NANOSECONDS,
                **place,
            }
        )
        told = pl.lit("blink") if name == "blinks" else pl.col("code").replace_strict(_KINDS, default=None)
        known = table.with_columns(told.cast(pl.String).alias("kind")).drop("code").drop_nulls("kind")
        if known.height < table.height:
            report.remark("events of a kind that is not known were left out", table.height - known.height)
        found.append(known)
    events = from_tracker(pl.concat(found, how="diagonal"))
    return schema.event_table(events.sort("onset", maintain_order=True))


def _noted(folder: Path, report: ReadReport) -> pl.DataFrame:
    said, when = folder / "event.txt", folder / "event.time"
    empty = pl.DataFrame(schema={"kind": pl.String, "text": pl.String, "onset": pl.Float64, "offset": pl.Float64})
    if not said.is_file() or not when.is_file():
        return empty
    texts = _bytes_of(said).decode(errors="replace").splitlines()
    times = _array(when, _TIME, report) / _NANOSECONDS
    if len(texts) != len(times):
        report.remark("annotations do not fit their times: they were left out")
        return empty
    return pl.DataFrame(
        {"kind": ["message"] * len(texts), "text": texts, "onset": times, "offset": times}, empty.schema
    )
