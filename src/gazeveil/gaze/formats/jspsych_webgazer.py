# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""jsPsych's data as JSON, with gaze of its WebGazer extension: pixels of the browser window, one recording per trial.

A trial's samples are ``{"x": 659, "y": 378, "t": 35}``; ``t`` is in milliseconds from the trial's start.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import polars as pl

from gazeveil.errors import FileFormatError, GeometryError
from gazeveil.gaze.formats._json_lines import number_in, numbers_in, parse_json
from gazeveil.gaze.formats._samples import combined, completed, in_seconds, slices
from gazeveil.gaze.formats._text import whole_text
from gazeveil.gaze.formats.base import Chunk, ReadOptions, ReadReport, file_format
from gazeveil.gaze.geometry import Geometry, screen
from gazeveil.gaze.recording import Key

_MILLISECONDS = 1e3
_GAZE: Final = "webgazer_data"
_WHO: Final = ("subject_id", "subject", "participant_id", "participant")
_WINDOW: Final = (("window_width", "window_height"), ("screen_width", "screen_height"))
_PICTURE = re.compile(r"""<img[^>]*\bsrc\s*=\s*["']([^"']+)["']""", re.IGNORECASE)
_Sample = tuple[float, float | None, float | None]


@file_format("jspsych-webgazer")
class JsPsychWebGazer:
    """One file is one participant's experiment; each trial with gaze is a recording."""

    title = "jsPsych data (JSON) with WebGazer"
    suffixes = (".json",)

    def sniff(self, path: Path, head: bytes) -> bool:
        """Whether it is a JSON list of jsPsych's trials."""
        return head.lstrip().startswith(b"[") and b'"trial_type"' in head and b'"trial_index"' in head

    def read(self, path: Path, options: ReadOptions, report: ReadReport) -> Iterator[Chunk]:
        """Yield the trials that have gaze; those without are counted."""
        if options.eye != "both":
            raise FileFormatError(
                path,
                expected=f"the {options.eye} eye's own gaze",
                found="gaze of both eyes together",
                hint="leave out --eye",
            )
        seen: set[Key] = set()
        window: Geometry | None = None
        for number, trial in enumerate(_trials(path, options)):
            report.fraction = 1.0
            if not isinstance(trial, dict):
                report.bad(_odd(path, number, "a trial", trial))
                continue
            window = _window(trial) or window
            if _GAZE not in trial:
                continue
            samples = _samples(path, number, trial[_GAZE], report)
            if not samples:
                report.remark("trials whose gaze is empty were left out")
                continue
            key = _key(path, trial, number, options)
            if key in seen:
                report.bad(_odd(path, number, "each trial once", f"{key.observer!r}, trial {key.trial!r} again"))
                continue
            seen.add(key)
            columns = zip(("t", "x", "y"), zip(*samples, strict=True), strict=True)
            rows = pl.DataFrame({name: pl.Series(values, dtype=pl.Float64) for name, values in columns})
            geometry = _geometry(path, window, options)
            for piece in slices(combined(in_seconds(rows, _MILLISECONDS, "t")), options.chunk_rows):
                yield Chunk(key, piece, geometry)
        if not seen:
            raise FileFormatError(
                path,
                expected="trials with gaze (webgazer_data)",
                found="none",
                hint="was the trial's extension jsPsychExtensionWebgazer on?",
            )


def _trials(path: Path, options: ReadOptions) -> list[Any]:
    try:
        trials = parse_json(whole_text(path, options.encoding))
    except ValueError as error:
        raise FileFormatError(
            path, expected="jsPsych's data as JSON", found=str(error), hint="was it saved to the end? export it again"
        ) from None
    if not isinstance(trials, list):
        raise FileFormatError(path, expected="a list of trials", found=f"a {type(trials).__name__}")
    return trials


def _samples(path: Path, number: int, gaze: object, report: ReadReport) -> list[_Sample]:
    """Return the samples of a trial; some pipelines keep the list as text."""
    if isinstance(gaze, str):
        gaze = _from_text(gaze)
    if not isinstance(gaze, list):
        report.bad(_odd(path, number, f"a list of samples in {_GAZE}", gaze))
        return []
    if all(type(sample) is dict and {"x", "y", "t"} <= sample.keys() for sample in gaze):
        t, x, y = (numbers_in([sample[name] for sample in gaze]) for name in ("t", "x", "y"))
        if t is not None and x is not None and y is not None:
            return list(zip(t.tolist(), x.tolist(), y.tolist(), strict=True))
    samples: list[_Sample] = []
    for sample in gaze:
        whole = isinstance(sample, dict) and {"x", "y", "t"} <= sample.keys()
        time = number_in(sample["t"]) if whole else None
        if time is None or not _is_place(sample["x"]) or not _is_place(sample["y"]):
            report.bad(_odd(path, number, "samples with numbers x, y and t", sample))
        else:
            samples.append((time, number_in(sample["x"]), number_in(sample["y"])))
    return samples


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
