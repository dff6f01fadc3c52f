# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Plain parsers to compare the readers with: the standard library and numpy, nothing of gazeveil.

Each returns one row (seconds, x, y) per sample in the order of the file; x and y are not a number where gaze is lost.
What counts as lost is each format's documented rule, written down here a second time.
"""

from __future__ import annotations

import ast
import csv
import io
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.real_files import plain_others as others
from tests.real_files.plain_words import LOST, Row, mean_of_seen, number, seconds_by_step, table, text_of

Rows = NDArray[np.float64]


def eyelink_asc(path: Path, given: Mapping[str, Any]) -> list[Row]:
    """Lines that begin with a number are samples; a pupil of 0 is a lost eye, unless it is 0 throughout."""
    found: list[tuple[float, list[tuple[float, float, float]], float, float]] = []
    eyes, left, top = 1, 0.0, 0.0
    for line in text_of(path).splitlines():
        words = line.split()
        if not words:
            continue
        if words[0] == "SAMPLES":
            eyes = ("LEFT" in words) + ("RIGHT" in words)
        elif words[0] == "MSG" and len(words) > 6 and words[2].rstrip(":") in {"GAZE_COORDS", "DISPLAY_COORDS"}:
            left, top = number(words[3]), number(words[4])
        elif line[0].isdigit():
            values = [number(word) for word in words[1 : 1 + 3 * eyes]]
            found.append((float(words[0]), list(zip(*[iter(values)] * 3, strict=True)), left, top))
    no_pupils = not any(pupil > 0 for _, each, _, _ in found for _, _, pupil in each)
    rows = []
    for time, each, left, top in found:
        kept = [
            (x - left, y - top)
            for x, y, pupil in each
            if -32768.0 not in {x, y} and (pupil != 0 or (no_pupils and (x, y) != (0, 0)))
        ]
        rows.append((time / 1000, *mean_of_seen(kept)))
    return rows


def tobii_tsv(path: Path, given: Mapping[str, Any]) -> list[Row]:
    """Studio 2 (``GazePointX``), Studio 3 (``ADCSpx``) and Pro Lab (``DACS px``): lost where both eyes are (code 4)."""
    lines = text_of(path).splitlines()
    at = next(n for n, line in enumerate(lines) if "GazePointX" in line or "Gaze point X" in line)
    rows = []
    for row in table(path, "\t", at):
        cell = {name.replace(" ", "").lower(): value for name, value in row.items()}
        if "sensor" in cell and cell["sensor"].replace(" ", "").lower() != "eyetracker":
            continue
        if "sensor" not in cell and not (cell.get("gazepointindex") or cell.get("number") or "").strip():
            continue
        x, y = (
            next(
                cell[f"gazepoint{axis}{unit}"]
                for unit in ("[dacspx]", "(adcspx)", "")
                if f"gazepoint{axis}{unit}" in cell
            )
            for axis in "xy"
        )
        lost = all(cell.get(f"validity{side}", "").strip().lower() in {"4", "invalid"} for side in ("left", "right"))
        micro = next((name for name in cell if name.startswith("recordingtimestamp[") and "ms" not in name), None)
        time = (
            cell[micro]
            if micro
            else cell.get("recordingtimestamp") or cell.get("recordingtimestamp[ms]") or cell["timestamp"]
        )
        point = LOST if lost else mean_of_seen([(number(x), number(y))])
        rows.append((number(time) / (1e6 if micro else 1e3), *point))
    return rows


def tobii_glasses(path: Path, given: Mapping[str, Any]) -> list[Row]:
    """Glasses 2: lines with ``gp``, lost unless ``s`` is 0. Glasses 3: lines of the type gaze."""
    rows = []
    for line in map(json.loads, filter(str.strip, text_of(path).splitlines())):
        if "gp" in line:
            rows.append((line["ts"] / 1e6, *(line["gp"] if line["s"] == 0 else LOST)))
        elif line.get("type") == "gaze":
            rows.append((float(line["timestamp"]), *line["data"].get("gaze2d", LOST)))
    return rows


def tobii_sdk(path: Path, given: Mapping[str, Any]) -> list[Row]:
    """Pairs in brackets, 1 is valid; a row that lacks cells is left out."""
    lines = text_of(path).splitlines()
    header, *cells = csv.reader([line for line in lines if line.strip()], delimiter=";" if ";" in lines[0] else ",")
    rows = []
    for row in (dict(zip(header, each, strict=True)) for each in cells if len(each) == len(header)):
        points = []
        for side in ("left", "right"):
            pair = row[f"{side}_gaze_point_on_display_area"].strip("()[] ").split(",")
            if number(row[f"{side}_gaze_point_validity"]) == 1:
                points.append((number(pair[0]), number(pair[1])))
        rows.append((number(row["device_time_stamp"]) / 1e6, *mean_of_seen(points)))
    return rows


def gazepoint_csv(path: Path, given: Mapping[str, Any]) -> list[Row]:
    """The best point of gaze where there is one, else the fixation's; valid where its flag is 1."""
    rows = []
    for row in table(path):
        kind = "BPOG" if "BPOGX" in row else "FPOG"
        time = next(value for name, value in row.items() if name == "TIME" or name.startswith("TIME("))
        point = (number(row[f"{kind}X"]), number(row[f"{kind}Y"])) if number(row[f"{kind}V"]) == 1 else LOST
        rows.append((number(time), *point))
    return rows


def pupil_core(path: Path, given: Mapping[str, Any]) -> list[Row]:
    """Fractions of the world camera from below; lost below a confidence of 0.6."""
    rows = []
    for row in table(path):
        sure = number(row["confidence"]) >= 0.6
        point = (number(row["norm_pos_x"]), 1.0 - number(row["norm_pos_y"])) if sure else LOST
        rows.append((number(row.get("gaze_timestamp") or row.get("timestamp")), *point))
    return rows


def pupil_cloud(path: Path, given: Mapping[str, Any]) -> list[Row]:
    """Pixels of the scene camera, or fractions of a surface; lost where the glasses are said not to be worn."""
    rows = []
    for row in table(path):
        names = [
            name
            for axis in "xy"
            for name in row
            if name.startswith((f"gaze {axis} [", f"gaze position on surface {axis}"))
        ]
        worn = row.get("worn", "1") in {"1", "1.0", "true", "True"}
        point = mean_of_seen([(number(row[names[0]]), number(row[names[1]]))]) if worn else LOST
        rows.append((int(row["timestamp [ns]"]) / 1e9, *point))
    return rows


def pupil_native(path: Path, given: Mapping[str, Any]) -> list[Row]:
    """The recorder's arrays; those computed later (200 Hz) where they are there."""
    later = path / "gaze_200hz.raw"
    parts = [later] if later.exists() else sorted(path.glob("gaze ps*.raw"), key=lambda part: int(part.stem[7:]))
    rows: list[Row] = []
    for part in parts:
        times = np.fromfile(part.with_suffix(".time"), "<u8").tolist()
        points = np.fromfile(part, "<f4").reshape(-1, 2).astype(float).tolist()
        worn = np.fromfile(part.with_name(part.name.replace("gaze", "worn", 1)), "u1").tolist()
        rows += [(t / 1e9, *(p if on else LOST)) for t, p, on in zip(times, points, worn, strict=True)]
    return rows


def jspsych_webgazer(path: Path, given: Mapping[str, Any]) -> list[Row]:
    """All trials' samples, in milliseconds; in a CSV table, and in some files of JSON, the list is text."""
    rows: list[Row] = []
    for trial in _trials(text_of(path)):
        gaze = trial.get("webgazer_data") or []
        gaze = ast.literal_eval(gaze) if isinstance(gaze, str) else gaze
        rows += [(each["t"] / 1000, float(each["x"]), float(each["y"])) for each in gaze]
    return rows


def _trials(text: str) -> list[dict[str, Any]]:
    if text.lstrip().startswith("["):
        trials: list[dict[str, Any]] = json.loads(text)
        return trials
    longest = csv.field_size_limit(len(text) + 1)
    try:
        return list(csv.DictReader(io.StringIO(text, newline="")))
    finally:
        csv.field_size_limit(longest)


def plain_csv(path: Path, given: Mapping[str, Any]) -> list[Row]:
    """A table with names of its own, or those given; the tick follows from the typical step."""
    columns = {"t": "timestamp", "x": "x", "y": "y", **given.get("columns", {})}
    mark = max("\t;,", key=text_of(path).splitlines()[0].count)
    cells = table(path, mark)
    lower = {name.lower(): name for name in cells[0]}
    name = {ours: lower.get(theirs.lower(), theirs) for ours, theirs in columns.items()}
    name = {ours: theirs if theirs in cells[0] else lower.get(f"gaze_{ours}", "time") for ours, theirs in name.items()}
    times = [number(row[name["t"]]) for row in cells]
    tick = seconds_by_step(times)
    rows = []
    for time, row in zip(times, cells, strict=True):
        if "left_x" in name:
            eyes = [
                (number(row[name[f"{side}_x"]]), number(row[name[f"{side}_y"]]))
                for side in ("left", "right")
                if row[name[f"{side}_valid"]] == "True"
            ]
        else:
            eyes = [(number(row[name["x"]]), number(row[name["y"]]))]
        rows.append((time / tick, *mean_of_seen(eyes)))
    return rows


def bids(path: Path, given: Mapping[str, Any]) -> list[Row]:
    """Tables without a header; names and the rate are in the JSON beside. Eyes of one recording are averaged."""
    files = sorted(path.rglob("*_recording-*_physio.tsv.gz"))
    rows = []
    for file in files:
        about = json.loads(file.with_name(file.name.replace(".tsv.gz", ".json")).read_text())
        names = about["Columns"]
        for line in text_of(file).splitlines():
            row = dict(zip(names, map(number, line.split("\t")), strict=True))
            rows.append((row["timestamp"], row["x_coordinate"], row["y_coordinate"]))
    return rows


PLAIN: dict[str, Callable[[Path, Mapping[str, Any]], list[Row]]] = {
    "bids": bids,
    "csv": plain_csv,
    "eyelink-asc": eyelink_asc,
    "fixations-csv": others.fixations_csv,
    "gazebase": others.gazebase,
    "gazepoint-csv": gazepoint_csv,
    "jspsych-webgazer": jspsych_webgazer,
    "pupil-cloud": pupil_cloud,
    "pupil-core": pupil_core,
    "pupil-native": pupil_native,
    "pygaze": others.pygaze,
    "smi-text": others.smi_text,
    "tobii-glasses": tobii_glasses,
    "tobii-sdk": tobii_sdk,
    "tobii-tsv": tobii_tsv,
    "varjo-csv": others.varjo_csv,
    "vive-csv": others.vive_csv,
}


def plain_rows(kind: str, path: Path, given: Mapping[str, Any]) -> Rows | None:
    """Return a file's samples by the plain parser of its format; None where there is none."""
    parse = PLAIN.get(kind)
    return None if parse is None else np.array(parse(path, given), dtype=np.float64).reshape(-1, 3)
