# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""jsPsych's data with gaze of its WebGazer extension: pixels of the browser window, one recording per trial.

A trial's samples are ``{"x": 659, "y": 378, "t": 35}``; ``t`` is in milliseconds from the trial's start. jsPsych
saves its trials as JSON or as CSV, one row a trial, in which the samples are JSON in one field.
"""

from __future__ import annotations

import ast
import csv
import io
import re
from collections.abc import Iterator, Mapping
from itertools import chain
from operator import itemgetter
from pathlib import Path
from typing import Any, Final

import numpy as np
import polars as pl

from gazeveil.arrays import FloatArray
from gazeveil.errors import FileFormatError, GeometryError
from gazeveil.gaze.fileio.columns import Columns, first_line
from gazeveil.gaze.fileio.row_assembly import combined, completed, in_seconds
from gazeveil.gaze.fileio.text import number_in, numbers_in, parse_json, whole_text
from gazeveil.gaze.formats.base import Chunk, ReadOptions, ReadReport, file_format
from gazeveil.gaze.recording import Key
from gazeveil.geometry import Geometry, screen

_MILLISECONDS = 1e3
_GAZE: Final = "webgazer_data"
_WHO: Final = ("subject_id", "subject", "participant_id", "participant")
_WINDOW: Final = (("window_width", "window_height"), ("screen_width", "screen_height"))
_EMPTY: Final = ("", "null", "undefined", "NA", "nan")
_SIZES: Final = {"width", "height", *(name for pair in _WINDOW for name in pair)}
_PICTURE = re.compile(r"""<img[^>]*\bsrc\s*=\s*["']([^"']+)["']""", re.IGNORECASE)
_COLUMNS: Final = ("t", "x", "y")
_IN_ORDER = itemgetter(*_COLUMNS)


@file_format("jspsych-webgazer")
class JsPsychWebGazer:
    """One file is one participant's experiment; each trial with gaze is a recording."""

    title = "jsPsych data (JSON, CSV) with WebGazer"
    suffixes = (".json", ".csv")

    def sniff(self, path: Path, head: bytes) -> bool:
        """Whether it is a JSON list of jsPsych's trials, or a table of them with gaze."""
        if _is_json(head.decode(errors="replace")):
            return b'"trial_type"' in head and b'"trial_index"' in head
        return {"trial_type", "trial_index", _GAZE} <= {name.strip(' "') for name in first_line(head).split(",")}

    def read(self, path: Path, options: ReadOptions, report: ReadReport) -> Iterator[Chunk]:
        """Yield the trials that have gaze; those without are counted."""
        options.check_eyes_together(path)
        seen: set[Key] = set()
        window: Geometry | None = None
        held: list[_Trial] = []
        samples = 0
        for number, trial in enumerate(_trials(path, options, report)):
            report.fraction = 1.0
            if not isinstance(trial, dict):
                report.bad(_odd(path, number, "a trial", trial))
                continue
            window = _window(trial) or window
            if _GAZE not in trial:
                continue
            rows = _samples(path, number, trial[_GAZE], report)
            if not len(rows):
                report.remark("trials whose gaze is empty were left out")
                continue
            key = _key(path, trial, number, options)
            if key in seen:
                report.bad(_odd(path, number, "each trial once", f"{key.observer!r}, trial {key.trial!r} again"))
                continue
            seen.add(key)
            held.append((key, _geometry(path, window, options), rows))
            samples += len(rows)
            if samples >= options.chunk_rows:
                yield from _chunks(held, options)
                held, samples = [], 0
        yield from _chunks(held, options)
        if not seen:
            raise FileFormatError(
                path,
                expected="trials with gaze (webgazer_data)",
                found="none",
                hint="was the trial's extension jsPsychExtensionWebgazer on?",
            )


_Trial = tuple[Key, Geometry, FloatArray]


def _chunks(trials: list[_Trial], options: ReadOptions) -> Iterator[Chunk]:
    """Yield trials, which are many and short, from one table."""
    if not trials:
        return
    values = np.concatenate([rows for *_, rows in trials])
    frame = pl.DataFrame({name: values[:, place] for place, name in enumerate(_COLUMNS)}).fill_nan(None)
    frame = combined(in_seconds(frame, _MILLISECONDS, "t"))
    begin = 0
    for key, geometry, rows in trials:
        for piece in frame.slice(begin, len(rows)).iter_slices(options.chunk_rows):
            yield Chunk(key, piece, geometry)
        begin += len(rows)


def _is_json(text: str) -> bool:
    return text.lstrip().startswith(("[", "{"))


def _trials(path: Path, options: ReadOptions, report: ReadReport) -> list[Any]:
    text = whole_text(path, options.encoding)
    if not _is_json(text):
        return _rows(path, text, report)
    try:
        trials = parse_json(text)
    except ValueError as error:
        raise FileFormatError(
            path, expected="jsPsych's data as JSON", found=str(error), hint="was it saved to the end? export it again"
        ) from None
    if not isinstance(trials, list):
        raise FileFormatError(path, expected="a list of trials", found=f"a {type(trials).__name__}")
    return trials


def _rows(path: Path, text: str, report: ReadReport) -> list[dict[str, Any]]:
    """Return the trials of a table; a field may span lines, since stimuli are HTML. Empty fields are left out."""
    longest = csv.field_size_limit(max(len(text), 1))
    try:
        lines = csv.reader(io.StringIO(text, newline=""), strict=True)
        header = [name.strip() for name in next((row for row in lines if row), [])]
        columns = Columns(path, tuple(header))
        columns.check_distinct()
        for name in ("trial_index", _GAZE):
            if name not in header:
                raise columns.missing(repr(name))
        trials = []
        for row in filter(None, lines):
            if len(row) != len(header):
                expected, found = f"{len(header)} columns", f"{len(row)}"
                report.bad(FileFormatError(path, line=lines.line_num, expected=expected, found=found))
                continue
            fields = zip(header, row, strict=True)
            trials.append({name: _value(name, field) for name, field in fields if field not in _EMPTY})
    except csv.Error as error:
        raise FileFormatError(
            path, expected="jsPsych's data as CSV", found=str(error), hint="was it saved to the end? export it again"
        ) from None
    finally:
        csv.field_size_limit(longest)
    return trials


def _value(name: str, field: str) -> Any:
    """Return a field of a table as JSON would have it; only sizes of the window are needed as numbers."""
    if name not in _SIZES:
        return field
    try:
        return float(field)
    except ValueError:
        return field


def _samples(path: Path, number: int, gaze: object, report: ReadReport) -> FloatArray:
    """Return the samples of a trial, t, x and y; some pipelines keep the list as text."""
    if isinstance(gaze, str):
        gaze = _from_text(gaze)
    if not isinstance(gaze, list):
        report.bad(_odd(path, number, f"a list of samples in {_GAZE}", gaze))
        return np.empty((0, len(_COLUMNS)))
    try:
        found = numbers_in(list(chain.from_iterable(map(_IN_ORDER, gaze))))
    except (KeyError, TypeError, IndexError):
        found = None
    if found is not None:
        return found.reshape(-1, len(_COLUMNS))
    samples: list[tuple[float, float | None, float | None]] = []
    for sample in gaze:
        whole = isinstance(sample, dict) and {"x", "y", "t"} <= sample.keys()
        time = number_in(sample["t"]) if whole else None
        if time is None or not _is_place(sample["x"]) or not _is_place(sample["y"]):
            report.bad(_odd(path, number, "samples with numbers x, y and t", sample))
        else:
            samples.append((time, number_in(sample["x"]), number_in(sample["y"])))
    return np.array(samples, dtype=np.float64).reshape(-1, len(_COLUMNS))  # what is None becomes NaN


def _is_place(value: object) -> bool:
    return value is None or number_in(value) is not None


def _from_text(text: str) -> object:
    try:
        return parse_json(text)
    except ValueError:
        try:
            return ast.literal_eval(text)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            return text


def _odd(path: Path, number: int, expected: str, found: object) -> FileFormatError:
    return FileFormatError(path, expected=f"{expected} in entry {number}", found=repr(found)[:80])


def _key(path: Path, trial: Mapping[str, Any], number: int, options: ReadOptions) -> Key:
    who = next((str(trial[name]) for name in _WHO if trial.get(name) not in {None, ""}), "")
    return options.key(path, observer=who, stimulus=_stimulus(trial), trial=str(trial.get("trial_index", number)))


def _stimulus(trial: Mapping[str, Any]) -> str:
    """Name the stimulus: a file by its name, HTML by the pictures in it, else by the kind of trial."""
    shown = trial.get("stimulus")
    if isinstance(shown, str) and shown and "<" not in shown:
        return shown.strip()
    pictures = _PICTURE.findall(shown) if isinstance(shown, str) else []
    return " + ".join(pictures) or str(trial.get("trial_type", ""))


def _window(trial: Mapping[str, Any]) -> Geometry | None:
    """Return the browser window where a trial states its size."""
    names = [*_WINDOW, ("width", "height")] if trial.get("trial_type") == "browser-check" else _WINDOW
    for across, down in names:
        width, height = number_in(trial.get(across)), number_in(trial.get(down))
        if width and height:
            try:
                return screen(width, height)
            except GeometryError:
                return None
    return None


def _geometry(path: Path, window: Geometry | None, options: ReadOptions) -> Geometry:
    known = options.geometry
    if window is None and known is not None and known.width_px and known.height_px:
        window = screen(known.width_px, known.height_px)
    if window is None:
        raise FileFormatError(
            path,
            expected="the browser window's size in pixels",
            found="trials that do not state it (window_width, screen_width)",
            hint="give it, for example --screen 1920x1080",
        )
    return completed(window, known)
