# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Tobii Pro Glasses 2 (``livedata.json.gz``) and Glasses 3 (``gazedata.gz``) as they lie on the recorder's card.

Both are JSON lines; gaze is in fractions of the scene camera's picture, from the top left. Glasses 2 write one line
per quantity, with ``s`` that is 0 where it is good; Glasses 3 one line per sample, without a point where gaze is lost.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from gazeveil.arrays import BoolArray, FloatArray
from gazeveil.errors import FileFormatError
from gazeveil.gaze import schema
from gazeveil.gaze.fileio.row_assembly import as_messages, combined, completed
from gazeveil.gaze.fileio.text import (
    Shaped,
    TextBlock,
    by_shape,
    json_blocks,
    json_lines,
    number_in,
    parse_json,
    point_in,
    read_head,
)
from gazeveil.gaze.formats.base import Chunk, ReadOptions, ReadReport, file_format
from gazeveil.gaze.recording import Key
from gazeveil.geometry import Geometry, Unit

_FILES = ("livedata.json.gz", "livedata.json", "gazedata.gz", "gazedata")
_MICROSECONDS = 1e6
_OTHER_QUANTITIES = frozenset(("gp3", "pc", "gd", "ac", "gy", "pts", "vts", "evts", "sig", "mar3d", "mems", "epts"))
_ROWS = {"t": pl.Float64, "x": pl.Float64, "y": pl.Float64, "valid": pl.Boolean}
_PUPILS = {"t": pl.Float64, "side": pl.String, "size": pl.Float64}
_Row = tuple[float, float | None, float | None, bool]
_Pupil = tuple[float, str, float]
_SIDES = ("left", "right")
_MOST_WAITING = 100_000
_LINES_TO_LOOK_AT = 400


@file_format("tobii-glasses")
class TobiiGlasses:
    """One file is one recording of one wearer."""

    title = "Tobii Pro Glasses 2 and 3 recording"
    suffixes = (".json", ".gz")

    def sniff(self, path: Path, head: bytes) -> bool:
        """Whether its lines are those of the glasses, or it is a folder with such a file."""
        if path.is_dir():
            return any(file.is_file() and self.sniff(file, read_head(file)) for file in _candidates(path))
        for text in head.splitlines()[:_LINES_TO_LOOK_AT]:
            if not text.strip():
                continue
            if not text.startswith(b"{"):
                return False
            try:
                line = parse_json(text)
            except ValueError:
                return False
            if {"ts", "s"} <= line.keys() or (line.get("type") == "gaze" and {"timestamp", "data"} <= line.keys()):
                return True
        return False

    def read(self, path: Path, options: ReadOptions, report: ReadReport) -> Iterator[Chunk]:
        """Yield the recording."""
        options.check_eyes_together(path)
        path = next((file for file in _candidates(path) if file.is_file()), path) if path.is_dir() else path
        key = _key(path, options, report)
        geometry = completed(Geometry(Unit.FRACTION), options.geometry)
        lines = _Lines(path, report)
        found = 0
        for block in json_blocks(path, options, report):
            lines.take(block)
            for chunk in lines.chunks(key, geometry, options, last=False):
                found += len(chunk.samples)
                yield chunk
        for chunk in lines.chunks(key, geometry, options, last=True):
            found += len(chunk.samples)
            yield chunk
        if not found:
            raise FileFormatError(
                path, expected="gaze samples", found="none", hint="was it recorded by Tobii Pro Glasses 2 or 3?"
            )


@dataclass(slots=True)
class _Lines:
    """Turns lines into samples and messages; the last samples wait for their pupils, which come on other lines."""

    path: Path
    report: ReadReport
    rows: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=_ROWS))
    pupils: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=_PUPILS))
    messages: list[tuple[float, str]] = field(default_factory=list)

    def take(self, block: TextBlock) -> None:
        """Take the lines of a block."""
        shaped = by_shape(block)
        found = None if shaped is None else _by_columns(shaped)
        if found is None:
            rows: list[_Row] = []
            pupils: list[_Pupil] = []
            for number, line in json_lines(self.path, block, self.report):
                if "ts" in line:
                    self._glasses_2(number, line, rows, pupils)
                elif "timestamp" in line:
                    self._glasses_3(number, line, rows, pupils)
                else:
                    self._bad(number, "a time, 'ts' or 'timestamp'", line)
            found = pl.DataFrame(rows, _ROWS, orient="row"), pl.DataFrame(pupils, _PUPILS, orient="row")
        self.rows, self.pupils = self.rows.vstack(found[0]), self.pupils.vstack(found[1])

    def _glasses_2(self, number: int, line: dict[str, Any], rows: list[_Row], pupils: list[_Pupil]) -> None:
        time = number_in(line["ts"])
        if time is None or "s" not in line:
            self._bad(number, "a time 'ts' and a status 's'", line)
        elif "gp" in line:
            point = point_in(line["gp"])
            if point is None:
                self._bad(number, "a point 'gp'", line)
            else:
                rows.append((time / _MICROSECONDS, *point, line["s"] == 0))
        elif "pd" in line:
            size, side = number_in(line["pd"]), line.get("eye")
            if size is None or side not in _SIDES:
                self._bad(number, "a pupil 'pd' of an eye", line)
            elif line["s"] == 0 and size > 0:
                pupils.append((time / _MICROSECONDS, side, size))
        elif "tag" in line:
            self.messages.append((time / _MICROSECONDS, f"{line.get('type') or 'event'}: {line['tag']}"))
        elif _OTHER_QUANTITIES.isdisjoint(line):
            self.report.remark("lines of a kind that is not known were left out")

    def _glasses_3(self, number: int, line: dict[str, Any], rows: list[_Row], pupils: list[_Pupil]) -> None:
        time, data = number_in(line["timestamp"]), line.get("data")
        if time is None or not isinstance(data, dict):
            self._bad(number, "a 'timestamp' and 'data'", line)
            return
        if line.get("type") != "gaze":
            self.report.remark(f"lines of the kind {line.get('type')!r} were left out")
            return
        point = point_in(data["gaze2d"]) if "gaze2d" in data else (None, None)
        eyes = {side: data.get(f"eye{side}", {}) for side in _SIDES}
        if point is None or not all(isinstance(eye, dict) for eye in eyes.values()):
            self._bad(number, "a point 'gaze2d'", line)
            return
        rows.append((time, *point, point[0] is not None))
        for side, eye in eyes.items():
            size = number_in(eye.get("pupildiameter"))
            if size is not None and size > 0:
                pupils.append((time, side, size))

    def _bad(self, number: int, expected: str, line: dict[str, Any]) -> None:
        found = json.dumps(line)[:80]
        self.report.bad(FileFormatError(self.path, line=number, expected=expected, found=found))

    def chunks(self, key: Key, geometry: Geometry, options: ReadOptions, *, last: bool) -> Iterator[Chunk]:
        """Yield what is complete; at the end, all."""
        # the lines of one sample stand together, so those around the newest alone may be incomplete
        count = self.rows.height if last else max(0, self.rows.height - 8)
        frame, self.rows = self.rows[:count], self.rows[count:]
        for side in _SIDES:
            sizes = self.pupils.filter(pl.col("side") == side).select("t", pl.col("size").alias(f"{side}_pupil"))
            sizes = sizes.unique("t", keep="last", maintain_order=False)
            frame = frame.join(sizes, on="t", how="left", maintain_order="left")
        self.pupils = self.pupils.join(frame, on="t", how="anti", maintain_order="left").tail(_MOST_WAITING)
        frame = combined(frame.with_columns(pl.mean_horizontal("left_pupil", "right_pupil").alias("pupil")))
        said = _events(self.messages)
        self.messages = []
        if frame.height or said.height:
            for piece in frame.iter_slices(options.chunk_rows) if frame.height else [frame]:
                yield Chunk(key, piece, geometry, said, pupil_unit="mm")
                said = schema.no_events()


def _by_columns(shaped: list[Shaped]) -> tuple[pl.DataFrame, pl.DataFrame] | None:
    """Return samples and pupils of lines by their shapes; None if a line needs a closer look."""
    rows, pupils = [], []
    for lines in shaped:
        shape, data = lines.shape, lines.shape.get("data")
        if "ts" in shape:
            found = _glasses_2_columns(lines)
        elif shape.get("type") == "gaze" and isinstance(data, dict):
            found = _glasses_3_columns(lines, data)
        else:
            return None
        if found is None:
            return None
        rows += found[0]
        pupils += found[1]
    ordered = [
        pl.concat([pl.DataFrame(schema={"line": pl.Int64, **kind}), *frames]).sort("line").drop("line")
        for frames, kind in ((rows, _ROWS), (pupils, _PUPILS))
    ]
    return ordered[0], ordered[1]


_Columns = tuple[list[pl.DataFrame], list[pl.DataFrame]]


def _glasses_2_columns(lines: Shaped) -> _Columns | None:
    shape = lines.shape
    if "gp" in shape:
        point = shape["gp"]
        if not isinstance(point, list) or len(point) != 2:
            return None
        columns = lines.columns(shape["ts"], shape.get("s"), *point)
        if columns is None:
            return None
        time, status, x, y = columns
        return [_frame(lines, t=time / _MICROSECONDS, x=x, y=y, valid=status == 0)], []
    if "pd" in shape:
        columns = lines.columns(shape["ts"], shape.get("s"), shape["pd"])
        if columns is None or shape.get("eye") not in _SIDES:
            return None
        time, status, size = columns
        return [], [_pupil_frame(lines, time / _MICROSECONDS, shape["eye"], size, status == 0)]
    plain = lines.columns(shape["ts"]) is not None and "s" in shape and "tag" not in shape
    return ([], []) if plain and not _OTHER_QUANTITIES.isdisjoint(shape) else None


def _glasses_3_columns(lines: Shaped, data: dict[str, Any]) -> _Columns | None:
    point = data.get("gaze2d", [])
    if not isinstance(point, list) or len(point) not in {0, 2} or ("gaze2d" in data and not point):
        return None
    columns = lines.columns(lines.shape["timestamp"], *point) if "timestamp" in lines.shape else None
    eyes = {side: data.get(f"eye{side}", {}) for side in _SIDES}
    if columns is None or not all(isinstance(eye, dict) for eye in eyes.values()):
        return None
    time, *place = columns
    seen = np.full(len(time), bool(place))
    x, y = place or [np.full(len(time), np.nan)] * 2
    pupils = []
    for side, eye in eyes.items():
        sizes = lines.columns(eye.get("pupildiameter"))
        if sizes is not None:
            pupils.append(_pupil_frame(lines, time, side, sizes[0], sizes[0] > 0))
    return [_frame(lines, t=time, x=x, y=y, valid=seen).with_columns(pl.col("x", "y").fill_nan(None))], pupils


def _frame(lines: Shaped, **columns: Any) -> pl.DataFrame:
    return pl.DataFrame({"line": lines.lines, **columns})


def _pupil_frame(lines: Shaped, time: FloatArray, side: str, size: FloatArray, good: BoolArray) -> pl.DataFrame:
    frame = _frame(lines, t=time, size=size).filter(good & (size > 0))
    return frame.select("line", "t", pl.lit(side).alias("side"), "size")


def _events(messages: list[tuple[float, str]]) -> pl.DataFrame:
    return as_messages(pl.DataFrame(messages, schema={"onset": pl.Float64, "text": pl.String}, orient="row"))


def _candidates(folder: Path) -> list[Path]:
    """Return where in a recording's folder the gaze may lie."""
    return [place / name for place in (folder, folder / "segments" / "1") for name in _FILES]


def _key(path: Path, options: ReadOptions, report: ReadReport) -> Key:
    """Name the wearer by the recorder's own files beside the gaze, else by the file."""
    folder = path.resolve().parent
    for above in (folder, folder.parent, folder.parent.parent):
        wearer = _about(above / "participant.json").get("pa_info", {})
        if isinstance(wearer, dict) and wearer.get("Name"):
            recording = _about(above / "recording.json").get("rec_id")
            return options.key(path, observer=str(wearer["Name"]), session=str(recording or ""))
    wearer = _about(folder / "meta" / "participant").get("name")
    if not wearer and not options.observer:
        report.remark(f"the recording does not say who looked: {folder.name!r} stands for the observer")
    return options.key(path, observer=str(wearer or options.observer or folder.name))


def _about(path: Path) -> dict[str, Any]:
    if not path.is_file():
        return {}
    try:
        about = parse_json(path.read_bytes())
    except (ValueError, OSError) as error:
        raise FileFormatError(path, expected="a description as JSON", found=str(error)) from None
    return about if isinstance(about, dict) else {}
