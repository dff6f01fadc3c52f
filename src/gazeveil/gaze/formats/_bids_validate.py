# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Check a data set against the rules that BIDS 1.11 has for eye tracking.

It covers what the standard requires of names, sidecars and tables of eye-tracking recordings, not all of BIDS: other
modalities are not looked at.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from gazeveil.errors import FileFormatError
from gazeveil.gaze.formats._beside import is_blank
from gazeveil.gaze.formats._bids_names import (
    DESCRIPTION,
    ENTITIES,
    BidsName,
    Sidecars,
    load_json,
    parse_bids_name,
    units_of,
)
from gazeveil.gaze.formats._table import Table
from gazeveil.gaze.formats.base import ReadOptions, ReadReport

_SYSTEMS = ("gaze-on-screen", "eye-in-head", "gaze-in-world", "custom")
_EYES = ("left", "right", "cyclopean")
_ORIGINS = ("top", "bottom", "left", "right", "center")
_FIRST_COLUMNS = ["timestamp", "x_coordinate", "y_coordinate"]


def validate(folder: Path) -> list[str]:
    """Return what is wrong with a data set, one sentence each; nothing if it keeps the rules."""
    return list(_problems(folder))


def _problems(root: Path) -> Iterator[str]:
    sidecars = Sidecars()
    yield from _description_problems(root / DESCRIPTION)
    tables = sorted(root.glob("sub-*/**/*_physio.tsv.gz"))
    eye_files = [path for path in tables if _about(path, sidecars).get("PhysioType") == "eyetrack"]
    if not eye_files:
        yield f"{root.name}: no eye tracking (a _physio.tsv.gz whose sidecar has PhysioType eyetrack)"
    yield from _participant_problems(root, eye_files)
    recorded: dict[tuple[Path, str, str], Path] = {}
    names_in_lower_case: dict[str, Path] = {}
    for path in eye_files:
        where = path.relative_to(root)
        twin = names_in_lower_case.setdefault(str(where).lower(), where)
        if twin != where:
            yield f"{where}: differs from {twin} only in the case of letters"
        name = parse_bids_name(path.name)
        if name is None:
            yield f"{where}: the name is not made of entity-label pairs and a suffix"
            continue
        about = _about(path, sidecars)
        yield from (f"{where}: {problem}" for problem in _name_problems(where, name))
        yield from (f"{where}: {problem}" for problem in _sidecar_problems(about))
        yield from (f"{where}: {problem}" for problem in _screen_problems(path, about, sidecars))
        yield from (f"{where}: {problem}" for problem in _table_problems(path, about.get("Columns"), "timestamp"))
        same = (path.parent, name.without("recording"), str(about.get("RecordedEye")))
        if same in recorded:
            yield f"{where}: {recorded[same].name} is of the same eye ({same[2]})"
        recorded[same] = path
        yield from _logged_problems(root, path, about, sidecars)


def _about(path: Path, sidecars: Sidecars) -> Mapping[str, Any]:
    try:
        return sidecars.of(path)
    except FileFormatError as error:
        return {"PhysioType": "eyetrack", "": error.message}


def _description_problems(path: Path) -> Iterator[str]:
    try:
        description = load_json(path)
    except FileFormatError as error:
        yield error.message
        return
    for field in ("Name", "BIDSVersion"):
        if not isinstance(description.get(field), str):
            yield f"{path.name}: needs {field}"
    kind = description.get("DatasetType", "raw")
    if kind not in ("raw", "derivative", "study"):
        yield f"{path.name}: DatasetType has to be raw, derivative or study, not {kind!r}"
    makers = description.get("GeneratedBy", [])
    named = isinstance(makers, list) and all(
        isinstance(one, dict) and isinstance(one.get("Name"), str) for one in makers
    )
    if not named or (kind == "derivative" and not makers):
        yield f"{path.name}: GeneratedBy has to list what made the data set, each with a Name"


def _participant_problems(root: Path, files: list[Path]) -> Iterator[str]:
    path = root / "participants.tsv"
    if not path.is_file():
        return
    lines = path.read_text(encoding="utf-8-sig").splitlines()
    if not lines or lines[0].split("\t")[0] != "participant_id":
        yield "participants.tsv: its first column has to be participant_id"
        return
    listed = {line.split("\t")[0] for line in lines[1:]}
    for subject in sorted({file.relative_to(root).parts[0] for file in files} - listed):
        yield f"participants.tsv: {subject} is missing"


def _name_problems(where: Path, name: BidsName) -> Iterator[str]:
    unknown = [entity for entity in name.entities if entity not in ENTITIES]
    if unknown:
        yield f"unknown entity {unknown[0]}"
    elif list(name.entities) != sorted(name.entities, key=ENTITIES.index):
        yield f"entities are in the wrong order; BIDS has {', '.join(ENTITIES)}"
    for entity in ("sub", "task", "recording"):
        if entity not in name.entities:
            yield f"the name needs {entity}-"
    if where.parts[0] != f"sub-{name.entities.get('sub')}":
        yield f"lies in {where.parts[0]}, which is another subject"
    folder = next((part for part in where.parts[:-1] if part.startswith("ses-")), "ses-")
    if folder != f"ses-{name.entities.get('ses', '')}":
        yield "session in the name and in the folder differ"
    if not name.entities.get("run", "0").isdigit():
        yield "run- has to be a number"


def _sidecar_problems(about: Mapping[str, Any]) -> Iterator[str]:
    if "" in about:
        yield str(about[""])
        return
    rate = about.get("SamplingFrequency")
    if not isinstance(rate, int | float) or isinstance(rate, bool) or not rate > 0:
        yield f"SamplingFrequency has to be a number above 0, not {rate!r}"
    if not _is_number(about.get("StartTime")):
        yield f"StartTime has to be a number, not {about.get('StartTime')!r}"
    if about.get("RecordedEye") not in _EYES:
        yield f"RecordedEye has to be one of {', '.join(_EYES)}, not {about.get('RecordedEye')!r}"
    if about.get("SampleCoordinateSystem") not in _SYSTEMS:
        yield f"SampleCoordinateSystem has to be one of {', '.join(_SYSTEMS)}"
    columns = about.get("Columns")
    if not isinstance(columns, list) or columns[:3] != _FIRST_COLUMNS:
        yield f"Columns have to begin with {', '.join(_FIRST_COLUMNS)}, not {columns!r}"
    elif len(set(columns)) != len(columns):
        yield "Columns have to differ"
    for axis in ("x_coordinate", "y_coordinate"):
        if not isinstance(units_of(about, axis), str):
            yield f"{axis} needs Units"


def _screen_problems(path: Path, about: Mapping[str, Any], sidecars: Sidecars) -> Iterator[str]:
    """Check what BIDS asks about the screen where gaze is on one."""
    if about.get("SampleCoordinateSystem") != "gaze-on-screen":
        return
    try:
        screen = sidecars.of(path, "events").get("StimulusPresentation")
    except FileFormatError as error:
        yield error.message
        return
    if not isinstance(screen, dict):
        yield "gaze on a screen needs StimulusPresentation in _events.json"
        return
    for field in ("ScreenDistance", "ScreenResolution", "ScreenSize"):
        value = screen.get(field)
        parts = value if isinstance(value, list) else [value]
        size = (1, 3) if field == "ScreenDistance" else (2,)
        if len(parts) not in size or not all(_is_number(part) for part in parts):
            yield f"StimulusPresentation.{field} has to be known for gaze on a screen, not {value!r}"
    origin = screen.get("ScreenOrigin")
    if not isinstance(origin, list) or len(origin) != 2 or not set(origin) <= set(_ORIGINS):
        yield f"StimulusPresentation.ScreenOrigin has to be two of {', '.join(_ORIGINS)}, not {origin!r}"


def _logged_problems(root: Path, samples: Path, about: Mapping[str, Any], sidecars: Sidecars) -> Iterator[str]:
    path = samples.with_name(samples.name.replace("_physio.", "_physioevents."))
    if not path.is_file():
        return
    where = path.relative_to(root)
    logged = _about(path, sidecars)
    if "" in logged:
        yield f"{where}: {logged['']}"
        return
    columns = logged.get("Columns")
    if not isinstance(columns, list) or columns[:1] != ["onset"]:
        yield f"{where}: Columns have to begin with onset, not {columns!r}"
        return
    source = logged.get("OnsetSource")
    if source != "n/a" and source not in (about.get("Columns") or ()):
        yield f"{where}: OnsetSource has to be a column of the samples, not {source!r}"
    if not is_blank(path):
        yield from (f"{where}: {problem}" for problem in _table_problems(path, columns, "onset"))


def _table_problems(path: Path, columns: object, time: str) -> Iterator[str]:
    """Check a packed table without header: it unpacks, has the columns, and they hold numbers or n/a."""
    if not isinstance(columns, list):
        return
    report = ReadReport(skip_bad=True)
    found: dict[str, None] = {}
    try:
        table = Table(path, ReadOptions(), report, delimiter="\t", header=columns)
        for batch in table.batches({name: name for name in columns}, {}):
            for name in columns:
                found |= dict.fromkeys(_column_problems(name, batch.frame[name], time))
    except FileFormatError as error:
        found |= {f"expected {error.expected}, found {error.found}": None}
    yield from found
    for bad in report.first_bad[:1]:
        yield f"line {bad.line}: expected {bad.expected}, found {bad.found} ({report.bad_lines:,} such lines)"


def _column_problems(name: str, tokens: pl.Series, time: str) -> Iterator[str]:
    if tokens.has_nulls():
        yield f"{name} has empty fields; a missing value is n/a"
    if name in {time, "x_coordinate", "y_coordinate", "pupil_size", "duration"}:
        values = tokens.filter(tokens.is_not_null() & (tokens != "n/a")).cast(pl.Float64, strict=False)
        if values.is_null().any() or not values.is_finite().all():
            yield f"{name} holds something that is neither a number nor n/a"
        if name == time and (tokens == "n/a").any():
            yield f"{name} may not be n/a"
        if name == "duration" and (values < 0).any():
            yield "duration is negative"


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
