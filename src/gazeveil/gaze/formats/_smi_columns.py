# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What SMI calls things: the columns of its two kinds of text, what stands before them, and its lists of events."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from gazeveil.errors import FileFormatError, GeometryError
from gazeveil.gaze.fileio.columns import TIME_UNITS, Columns, parse_name, words_in
from gazeveil.gaze.fileio.recordings import completed, stated
from gazeveil.gaze.formats.base import ReadOptions
from gazeveil.geometry import Geometry, Unit

_EYES: Final = {
    "": ("bpor", "pointofregardbinocular"),
    "left_": ("lpor", "pointofregardleft"),
    "right_": ("rpor", "pointofregardright"),
}
_PUPILS: Final[Mapping[str, Mapping[str, Sequence[str]]]] = {
    "mm": {
        "left_pupil": ("lpupildiameter", "lmappeddiameter", "pupildiameterleft"),
        "right_pupil": ("rpupildiameter", "rmappeddiameter", "pupildiameterright"),
    },
    "px": {"left_pupil": ("ldiax", "pupilsizeleftx"), "right_pupil": ("rdiax", "pupilsizerightx")},
}
_FOUND: Final = {"left_found": "lvalidity", "right_found": "rvalidity"}
_TEXT: Final = {
    "type": ("type",),
    "file_trial": ("trial",),
    "stimulus": ("stimulus",),
    "observer": ("participant",),
    "group": ("categorygroup",),
    "content": ("content",),
    "movement": ("beventinfo", "categorybinocular"),
    "left_movement": ("leventinfo", "categoryleft"),
    "right_movement": ("reventinfo", "categoryright"),
    "index": ("indexbinocular",),
    "left_index": ("indexleft",),
    "right_index": ("indexright",),
}
_GAZE: Final = {f"{stem}x" for stems in _EYES.values() for stem in stems}
_LISTS: Final = (b"Table Header for Fixations", b"Table Header for Saccades", b"Table Header for User Events")
_NUMBER: Final = re.compile(r"\d+(?:\.\d+)?")
_names = partial(words_in, marks="\t,;", around='" ')


@dataclass(frozen=True, slots=True)
class Layout:
    """Where in the export our columns are."""

    text: Mapping[str, str]
    numbers: Mapping[str, str]
    time_unit: str
    pupil_unit: str


def is_header(line: str) -> bool:
    """Whether a line is the header of a table of samples."""
    if line.startswith("#") or "time" not in line.lower():
        return False
    names = _names(line)
    return names >= {"time", "type", "trial"} or ("recordingtime" in names and len(names) > 2)


def has_gaze(head: bytes) -> bool:
    """Whether a file begins as a table with SMI's gaze."""
    lines = head.decode(errors="replace").splitlines()
    return bool(_names(next((line for line in lines if is_header(line)), "")) & _GAZE)


def is_list_of_events(head: bytes) -> bool:
    """Whether a file begins as the list of fixations, saccades and blinks that BeGaze and the Event Detector write."""
    return any(mark in head for mark in _LISTS)


def layout_of(columns: Columns, options: ReadOptions) -> Layout:
    """Find the columns.

    Raises:
        FileFormatError: If there is no time, or no gaze of the eye that is asked for.
    """
    time = columns.need("'Time' or 'RecordingTime [ms]'", "recordingtime", "time")
    numbers = {"t": time}
    for prefix, stems in _EYES.items():
        for stem in stems:
            x, y = (columns.find_with_unit(f"{stem}{axis}", ("px", "")) for axis in "xy")
            if x and y:
                numbers |= {f"{prefix}x": x, f"{prefix}y": y}
    if not any(name.endswith("x") for name in numbers):
        raise columns.missing(
            "'L POR X [px]', 'Point of Regard Right X [px]' or another eye's, and its y",
            tuple(_GAZE),
            "export the point of regard (POR) in pixels",
        )
    if options.eye != "both" and f"{options.eye}_x" not in numbers:
        raise columns.missing(f"'{options.eye[0].upper()} POR X [px]' and its y, the {options.eye} eye's gaze")
    pupils, pupil_unit = _pupils(columns)
    words, unit = parse_name(time)
    time_unit = TIME_UNITS.get(unit, "ms" if words == "recordingtime" else "us")
    return Layout(columns.find_each(_TEXT), {**numbers, **pupils, **columns.find_each(_FOUND)}, time_unit, pupil_unit)


def _pupils(columns: Columns) -> tuple[dict[str, str], str]:
    """Return the columns of pupils, in millimetres where there are any, and their unit."""
    for unit, sides in _PUPILS.items():
        found: dict[str, str] = {}
        for ours, spellings in sides.items():
            for spelling in spellings:
                if name := columns.find_with_unit(spelling, (unit,)):
                    found.setdefault(ours, name)
        if found:
            return found, unit
    return {}, ""


def said_in(text: str) -> str:
    """Return what a message says, without SMI's own words before it (``# Message: …``); ``-`` is nothing."""
    words = text.strip().removeprefix("#").lstrip().removeprefix("Message:").strip()
    return "" if words == "-" else words


def rate_of(preamble: Sequence[str]) -> float | None:
    """Return the sampling rate that is stated before the table."""
    numbers = _stated_numbers(preamble, "Sample Rate")
    return numbers[0] if numbers and numbers[0] > 0 else None


def geometry_of(path: Path, preamble: Sequence[str], options: ReadOptions) -> Geometry:
    """Return the screen that is stated before the table, completed with what the user says.

    Raises:
        FileFormatError: If neither says how many pixels the screen has.
    """
    pixels = _stated_numbers(preamble, "Calibration Area")
    size = _stated_numbers(preamble, "Stimulus Dimension [mm]")
    distance = _stated_numbers(preamble, "Head Distance [mm]")
    known = options.geometry
    if len(pixels) != 2 and known is not None and known.width_px and known.height_px:
        pixels = [known.width_px, known.height_px]
    if len(pixels) != 2:
        raise FileFormatError(
            path,
            expected="the screen's size in pixels",
            found="a file that does not state it (Calibration Area)",
            hint="give it, for example --screen 1920x1080",
        )
    width_mm, height_mm = size if len(size) == 2 and min(size) > 0 else (None, None)
    distance_mm = distance[0] if distance and distance[0] > 0 else None
    try:
        return completed(Geometry(Unit.PIXEL, pixels[0], pixels[1], width_mm, height_mm, distance_mm), known)
    except GeometryError as error:
        raise FileFormatError(path, expected="a screen that can exist", found=error.message, hint=error.hint) from None


def _stated_numbers(preamble: Sequence[str], name: str) -> list[float]:
    return [float(number) for number in _NUMBER.findall(stated(preamble, name) or "")]
