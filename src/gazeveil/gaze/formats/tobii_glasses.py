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

import polars as pl

from gazeveil.errors import FileFormatError
from gazeveil.gaze import schema
from gazeveil.gaze.formats._json_lines import Line, json_lines, number_in, numbers_in, parse_json, point_in
from gazeveil.gaze.formats._samples import combined, completed, slices
from gazeveil.gaze.formats._text import read_head
from gazeveil.gaze.formats.base import Chunk, ReadOptions, ReadReport, file_format
from gazeveil.gaze.geometry import Geometry, Unit
from gazeveil.gaze.recording import Key

_FILES = ("livedata.json.gz", "livedata.json", "gazedata.gz", "gazedata")
_MICROSECONDS = 1e6
_OTHER_QUANTITIES = frozenset(("gp3", "pc", "gd", "ac", "gy", "pts", "vts", "evts", "sig", "mar3d", "mems", "epts"))
_ROWS = {"t": pl.Float64, "x": pl.Float64, "y": pl.Float64, "valid": pl.Boolean}
_PUPILS = {"left_pupil": pl.Float64, "right_pupil": pl.Float64}
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
        if options.eye != "both":
            raise FileFormatError(
                path,
                expected=f"the {options.eye} eye's own gaze",
                found="gaze of both eyes together",
                hint="leave out --eye",
            )
        path = next((file for file in _candidates(path) if file.is_file()), path) if path.is_dir() else path
        key = _key(path, options, report)
        geometry = completed(Geometry(Unit.FRACTION), options.geometry)
        lines = _Lines(path, report)
        found = 0
        for block in json_lines(path, options, report):
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
    rows: list[tuple[float, float | None, float | None, bool]] = field(default_factory=list)
    pupils: dict[float, dict[str, float]] = field(default_factory=dict)
    messages: list[tuple[float, str]] = field(default_factory=list)

    def take(self, block: list[Line]) -> None:
        """Take the lines of a block."""
        if self._quick_glasses_2([line for _, line in block]):
            return
        for number, line in block:
            if "ts" in line:
                self._glasses_2(number, line)
            elif "timestamp" in line:
                self._glasses_3(number, line)
            else:
                self._bad(number, "a time, 'ts' or 'timestamp'", line)

    def _quick_glasses_2(self, lines: list[dict[str, Any]]) -> bool:
        """Take a block's lines column by column; False, with nothing taken, if a line needs a closer look."""
        if not all("ts" in line and "s" in line for line in lines):
            return False
        gaze = [line for line in lines if "gp" in line]
        pupils = [line for line in lines if "pd" in line and "gp" not in line]
        others = [line for line in lines if "gp" not in line and "pd" not in line]
        points = [line["gp"] for line in gaze]
        if not all(type(point) is list and len(point) == 2 for point in points):
            return False
        x, y = (numbers_in([point[axis] for point in points]) for axis in (0, 1))
        times = numbers_in([line["ts"] for line in gaze])
        pupil_times = numbers_in([line["ts"] for line in pupils])
        sizes = numbers_in([line["pd"] for line in pupils])
        if x is None or y is None or times is None or pupil_times is None or sizes is None:
            return False
        if not all(line.get("eye") in {"left", "right"} for line in pupils):
            return False
        if any("tag" in line or _OTHER_QUANTITIES.isdisjoint(line) or number_in(line["ts"]) is None for line in others):
            return False
        valid = [line["s"] == 0 for line in gaze]
        self.rows.extend(zip((times / _MICROSECONDS).tolist(), x.tolist(), y.tolist(), valid, strict=True))
        seconds = (pupil_times / _MICROSECONDS).tolist()
        for time, size, line in zip(seconds, sizes.tolist(), pupils, strict=True):
            if line["s"] == 0 and size > 0:
                self.pupils.setdefault(time, {})[line["eye"]] = size
        return True

    def _glasses_2(self, number: int, line: dict[str, Any]) -> None:
        time = number_in(line["ts"])
        if time is None or "s" not in line:
            self._bad(number, "a time 'ts' and a status 's'", line)
        elif "gp" in line:
            point = point_in(line["gp"])
            if point is None:
                self._bad(number, "a point 'gp'", line)
            else:
                self.rows.append((time / _MICROSECONDS, *point, line["s"] == 0))
        elif "pd" in line:
            size, side = number_in(line["pd"]), line.get("eye")
            if size is None or side not in {"left", "right"}:
                self._bad(number, "a pupil 'pd' of an eye", line)
            elif line["s"] == 0 and size > 0:
                self.pupils.setdefault(time / _MICROSECONDS, {})[side] = size
        elif "tag" in line:
            self.messages.append((time / _MICROSECONDS, f"{line.get('type') or 'event'}: {line['tag']}"))
        elif _OTHER_QUANTITIES.isdisjoint(line):
            self.report.remark("lines of a kind that is not known were left out")

    def _glasses_3(self, number: int, line: dict[str, Any]) -> None:
        time, data = number_in(line["timestamp"]), line.get("data")
        if time is None or not isinstance(data, dict):
            self._bad(number, "a 'timestamp' and 'data'", line)
            return
        if line.get("type") != "gaze":
            self.report.remark(f"lines of the kind {line.get('type')!r} were left out")
            return
        point = point_in(data["gaze2d"]) if "gaze2d" in data else (None, None)
        eyes = {side: data.get(f"eye{side}", {}) for side in ("left", "right")}
        if point is None or not all(isinstance(eye, dict) for eye in eyes.values()):
            self._bad(number, "a point 'gaze2d'", line)
            return
        self.rows.append((time, *point, point[0] is not None))
        for side, eye in eyes.items():
            size = number_in(eye.get("pupildiameter"))
            if size is not None and size > 0:
                self.pupils.setdefault(time, {})[side] = size

    def _bad(self, number: int, expected: str, line: dict[str, Any]) -> None:
        found = json.dumps(line)[:80]
        self.report.bad(FileFormatError(self.path, line=number, expected=expected, found=found))

    def chunks(self, key: Key, geometry: Geometry, options: ReadOptions, *, last: bool) -> Iterator[Chunk]:
        """Yield what is complete; at the end, all."""
        # the lines of one sample stand together, so those around the newest alone may be incomplete
        count = len(self.rows) if last else max(0, len(self.rows) - 8)
        rows, self.rows = self.rows[:count], self.rows[count:]
        sizes = [self.pupils.pop(row[0], {}) for row in rows]
        if last or len(self.pupils) > 100_000:
            self.pupils.clear()
        columns = list(zip(*rows, strict=True)) or [() for _ in _ROWS]
        frame = pl.DataFrame(dict(zip(_ROWS, columns, strict=True)), schema=_ROWS).with_columns(
            pl.Series(name, [size.get(name.removesuffix("_pupil")) for size in sizes], dtype=kind)
            for name, kind in _PUPILS.items()
        )
        frame = combined(frame.with_columns(pl.mean_horizontal(*_PUPILS).alias("pupil")))
        said = _events(self.messages)
        self.messages = []
        if frame.height or said.height:
            for piece in slices(frame, options.chunk_rows) if frame.height else [frame]:
                yield Chunk(key, piece, geometry, said, pupil_unit="mm")
                said = schema.no_events()


def _events(messages: list[tuple[float, str]]) -> pl.DataFrame:
    rows = pl.DataFrame(messages, schema={"onset": pl.Float64, "text": pl.String}, orient="row")
    told = {"kind": pl.lit("message"), "source": pl.lit("tracker"), "eye": pl.lit("both"), "offset": pl.col("onset")}
    return schema.event_table(rows.with_columns(**told))


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
