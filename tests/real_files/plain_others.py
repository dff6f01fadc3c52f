# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Plain parsers of SMI's and PyGaze's text, of GazeBase, and of headsets, whose gaze is a direction."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tests.real_files.plain_words import LOST, Row, mean_of_seen, number, table, text_of

_SMI_EYES = {
    "Binocular": ("B POR {} [px]", "Point of Regard Binocular {} [px]", ()),
    "Left": ("L POR {} [px]", "Point of Regard Left {} [px]", ("L Event Info", "Category Left")),
    "Right": ("R POR {} [px]", "Point of Regard Right {} [px]", ("R Event Info", "Category Right")),
}


def smi_text(path: Path, given: Mapping[str, Any]) -> list[Row]:
    """IDF Converter's and BeGaze's samples: (0, 0), blinks and a validity of 0 are lost."""
    lines = [line for line in text_of(path).splitlines() if line.strip() and not line.startswith("#")]
    at = next(n for n, line in enumerate(lines) if "POR X" in line or "Point of Regard" in line)
    mark = max("\t,", key=lines[at].count)
    names = [name.strip() for name in lines[at].split(mark)]
    rows = []
    for line in lines[at + 1 :]:
        cell = dict(zip(names, line.split(mark), strict=False))
        if cell.get("Type", "SMP") != "SMP" or cell.get("Category Group", "Eye") != "Eye":
            continue
        both_blink = "Blink" in {cell.get("B Event Info"), cell.get("Category Binocular")}
        seen = {}
        for eye, (first, second, events) in _SMI_EYES.items():
            form = next((form for form in (first, second) if form.format("X") in cell), None)
            if form is None:
                continue
            x, y = (number(cell[form.format(axis)]) for axis in "XY")
            blink = both_blink or any(cell.get(name) == "Blink" for name in events)
            invalid = number(cell.get(f"{eye[0]} Validity", "1")) == 0
            seen[eye] = LOST if blink or invalid or (x, y) == (0, 0) else (x, y)
        point = seen.get("Binocular") or mean_of_seen(list(seen.values()))
        time = number(cell["RecordingTime [ms]"]) / 1e3 if "RecordingTime [ms]" in cell else number(cell["Time"]) / 1e6
        rows.append((time, *mean_of_seen([point])))
    return rows


def pygaze(path: Path, given: Mapping[str, Any]) -> list[Row]:
    """PyGaze's logs of EyeTribe (a state with the bit 1) and of Tobii; rows that lack cells are left out."""
    lines = text_of(path).splitlines()
    at = next(n for n, line in enumerate(lines) if line.startswith(("timestamp\ttime", "TimeStamp\t")))
    names = lines[at].split("\t")
    rows = []
    for words in (line.split("\t") for line in lines[at + 1 :] if not line.startswith(("MSG", "TimeStamp"))):
        if len(words) != len(names):
            continue
        cell = dict(zip(names, words, strict=True))
        if "rawx" in cell:
            point = (number(cell["rawx"]), number(cell["rawy"]))
            good = int(float(cell["state"])) & 1 and point != (0, 0)
            rows.append((number(cell["time"]) / 1e3, *(point if good else LOST)))
            continue
        eyes = []
        for side in ("Left", "Right"):
            code = number(cell[f"Validity{side}"])
            if code == 1 if "PupilValidityLeft" in cell else code <= 1:
                eyes.append((number(cell[f"GazePointX{side}"]), number(cell[f"GazePointY{side}"])))
        rows.append((number(cell["TimeStamp"]) / 1e3, *mean_of_seen(eyes)))
    return rows


def gazebase(path: Path, given: Mapping[str, Any]) -> list[Row]:
    """Degrees in ``x`` and ``y``; a ``val`` other than 0 is lost."""
    rows = []
    for row in table(path):
        lost = number(row.get("val", "0")) != 0
        point = LOST if lost else mean_of_seen([(number(row["x"]), number(row["y"]))])
        rows.append((number(row["n"]) / 1e3, *point))
    return rows


def varjo_csv(path: Path, given: Mapping[str, Any]) -> list[Row]:
    """The direction of both eyes; lost unless the status is 2."""
    rows = []
    for row in table(path):
        forward = [number(row[f"gaze_forward_{axis}"]) for axis in "xyz"]
        point = _angles(*forward) if number(row["status"]) == 2 else LOST
        rows.append((number(row["raw_timestamp"]) / 1e9, *point))
    return rows


def vive_csv(path: Path, given: Mapping[str, Any]) -> list[Row]:
    """SRanipal's logs and Tobii's for Vive; where x grows to the left it is turned."""
    mark = ";" if ";" in text_of(path).splitlines()[0] else ","
    return [_vive_row(row) for row in table(path, mark)]


def _vive_row(row: Mapping[str, str]) -> Row:
    if "gaze_direct_L.x" in row:
        eyes = [
            _angles(*_turned(number(row[f"gaze_direct_{side}.{axis}"]) for axis in "xyz"))
            for side in "LR"
            if int(number(row[f"eye_valid_{side}"])) & 2
        ]
        return (number(row["time(100ns)"]) / 1e7, *mean_of_seen(eyes))
    if "combined.gaze_direction_normalized.X" in row:
        parts = (number(row[f"combined.gaze_direction_normalized.{axis}"]) for axis in "XYZ")
        return (number(row["rel_time"]), *_angles(*_turned(parts)))
    if "LeftGazeDirection" in row:
        eyes = [
            _angles(*_triple(row[f"{side}GazeDirection"]))
            for side in ("Left", "Right")
            if row[f"{side}GazeDirectionValid"] == "True"
        ]
        return (number(row["DeviceTimeStamp"]) / 1e6, *mean_of_seen(eyes))
    eyes = [
        _angles(*_turned(iter(_triple(row[f"{side}_gaze_direction_unit_vector"]))))
        for side in ("left", "right")
        if row[f"{side}_gaze_direction_validity"] == "1"
    ]
    return (number(row["device_time_stamp"]) / 1e6, *mean_of_seen(eyes))


def _angles(x: float, y: float, z: float) -> tuple[float, float]:
    """Return the degrees to the right and downwards."""
    return (math.degrees(math.atan(x / z)), -math.degrees(math.atan(y / math.hypot(x, z)))) if z > 0 else LOST


def _turned(parts: Iterator[float]) -> tuple[float, float, float]:
    x, y, z = parts
    return -x, y, z


def _triple(text: str) -> tuple[float, float, float]:
    x, y, z = (number(word) for word in text.strip("()[] ").split(","))
    return x, y, z


_FIXATIONS = (
    ("FPOGS", "FPOGX", "FPOGY", 1.0),
    ("Timestamp", "MappedFixationPointX", "MappedFixationPointY", 1e3),
    ("start_timestamp", "norm_pos_x", "norm_pos_y", 1.0),
    ("start timestamp [ns]", "fixation x [px]", "fixation y [px]", 1e9),
    ("tStart", "xAvg", "yAvg", 1e3),
)


def fixations_csv(path: Path, given: Mapping[str, Any]) -> list[Row]:
    """Lists of fixations of Gazepoint, Tobii Studio 2, Pupil Core (y from below), Pupil Cloud and EyeLink tables."""
    lines = text_of(path).splitlines()
    marked = ((n, line, known) for n, line in enumerate(lines) for known in _FIXATIONS if known[1] in line)
    at, header, (start, across, down, tick) = next(marked)
    rows = []
    for row in table(path, max("\t,", key=header.count), at):
        if "eye" in given and row["eye"] != given["eye"][0].upper():
            continue
        x, y = number(row[across]), number(row[down])
        rows.append((number(row[start]) / tick, x, 1.0 - y if across.startswith("norm") else y))
    return rows
