# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""How BIDS 1.11 lays out eye tracking: names, labels, sidecars and viewing plane, and a check of a data set.

BIDS is the Brain Imaging Data Structure, version 1.11 (https://bids-specification.readthedocs.io). A sidecar may lie
in the file's own folder or in any folder above it, up to the data set's root; nearer ones win (inheritance).

The check covers what the standard requires of names, sidecars and tables of eye-tracking recordings. It skips other
modalities.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from itertools import combinations
from pathlib import Path
from typing import Any, Final, NamedTuple

import polars as pl

from gazeveil.errors import FileFormatError, GeometryError
from gazeveil.gaze.fileio.columns import GAZE_UNITS, parse_name
from gazeveil.gaze.fileio.row_assembly import completed
from gazeveil.gaze.fileio.tables import Table, is_blank
from gazeveil.gaze.formats.base import ReadOptions, ReadReport
from gazeveil.geometry import Geometry, Unit

DESCRIPTION: Final = "dataset_description.json"
BIDS_VERSION: Final = "1.11.1"
OURS: Final = "Gazeveil"
"""The key in our sidecars under which BIDS has no field for something: original labels, exact geometry."""

ENTITIES: Final = ("sub", "ses", "task", "acq", "ce", "rec", "dir", "run", "recording")
"""The order of the entities that names of physiological recordings may have."""

_NAME = re.compile(r"((?:[A-Za-z]+-[A-Za-z0-9+]+_)*)([A-Za-z0-9]+)((?:\.[A-Za-z0-9]+)+)")


class BidsName(NamedTuple):
    """The parts of a file's name: ``sub-01_task-rest_physio.tsv.gz``."""

    entities: Mapping[str, str]
    suffix: str
    extension: str

    def without(self, *names: str) -> str:
        """Return the entities in front of the suffix, without some of them."""
        return "_".join(f"{name}-{label}" for name, label in self.entities.items() if name not in names)


def parse_bids_name(name: str) -> BidsName | None:
    """Return the parts of a name; None if it is not a BIDS name."""
    match = _NAME.fullmatch(name)
    if match is None:
        return None
    pairs = [(pair.partition("-")[0], pair.partition("-")[2]) for pair in match[1].split("_") if pair]
    if len(dict(pairs)) != len(pairs):
        return None
    return BidsName(dict(pairs), match[2], match[3])


def data_set_root(path: Path) -> Path | None:
    """Return the folder above a file that describes the data set; None if there is none."""
    return next((folder for folder in path.resolve().parents if (folder / DESCRIPTION).is_file()), None)


_Pairs = frozenset[tuple[str, str]]


class Sidecars:
    """The metadata of files, from all JSON files that describe them. Each folder is listed once."""

    def __init__(self) -> None:
        self._by_folder: dict[tuple[Path, str], dict[int, dict[_Pairs, Path]]] = {}

    def of(self, path: Path, suffix: str | None = None) -> dict[str, Any]:
        """Return what the sidecars of a file say, from the root down, nearer ones over farther ones.

        With another ``suffix`` (``events``), the sidecars of the files of that kind that belong to it.
        """
        name = parse_bids_name(path.name)
        if name is None:
            return {}
        folder = path.resolve().parent
        root = data_set_root(path) or folder
        folders = [root]
        for part in folder.relative_to(root).parts:
            folders.append(folders[-1] / part)
        merged: dict[str, Any] = {}
        for place in folders:
            by_length = self._sidecars_in(place, suffix or name.suffix)
            for length in sorted(by_length):
                for entities in combinations(name.entities.items(), length):
                    if candidate := by_length[length].get(frozenset(entities)):
                        merged |= load_json(candidate)
        return merged

    def _sidecars_in(self, folder: Path, suffix: str) -> dict[int, dict[_Pairs, Path]]:
        """Return the sidecars of one kind in a folder, by how many entities they have, and which."""
        if (folder, suffix) not in self._by_folder:
            by_length: dict[int, dict[_Pairs, Path]] = {}
            for candidate in folder.glob(f"*{suffix}.json"):
                other = parse_bids_name(candidate.name)
                if other and other.suffix == suffix:
                    entities = frozenset(other.entities.items())
                    by_length.setdefault(len(entities), {})[entities] = candidate
            self._by_folder[folder, suffix] = by_length
        return self._by_folder[folder, suffix]


def load_json(path: Path) -> dict[str, Any]:
    """Return a JSON object.

    Raises:
        FileFormatError: If the file is none.
    """
    try:
        value = json.loads(path.read_text(encoding="utf-8-sig"))
    except (ValueError, OSError) as error:
        raise FileFormatError(path, expected="a JSON object", found=str(error)) from None
    if not isinstance(value, dict):
        raise FileFormatError(path, expected="a JSON object", found=type(value).__name__)
    return value


def units_of(about: Mapping[str, Any], column: str) -> Any:
    """Return the ``Units`` that a sidecar states for a column, or None."""
    described = about.get(column)
    return described.get("Units") if isinstance(described, dict) else None


class BidsLabels:
    """Gives every text a label of letters and digits; no two texts share one, not even in another case."""

    def __init__(self, instead_of_nothing: str) -> None:
        self._instead_of_nothing = instead_of_nothing
        self._given: dict[str, str] = {}
        self._taken: set[str] = set()

    def of(self, text: str) -> str:
        """Return the text's label: itself if it can be one."""
        if text not in self._given:
            plain = "".join(letter for letter in text if letter.isascii() and letter.isalnum())[:40]
            base = label = plain or self._instead_of_nothing
            number = 1
            while label.casefold() in self._taken:
                number += 1
                label = f"{base}x{number}"
            self._taken.add(label.casefold())
            self._given[text] = label
        return self._given[text]


class Indices:
    """Gives every text a number; no two texts share one, and a text that is a number keeps it if it can."""

    def __init__(self) -> None:
        self._given: dict[str, str] = {}
        self._taken: set[int] = set()

    def of(self, text: str) -> str:
        """Return the text's number."""
        if text not in self._given:
            fits = text.isascii() and text.isdigit() and len(text) <= 6 and int(text) not in self._taken
            label = text if fits else str(max(self._taken, default=0) + 1)
            self._taken.add(int(label))
            self._given[text] = label
        return self._given[text]


# --- The viewing plane: units are in the samples' sidecar, the screen is in the events' sidecar.


UNIT_NAMES = {Unit.PIXEL: "pixel", Unit.DEGREE: "deg", Unit.FRACTION: "normalized"}
"""What we write as ``Units`` of the coordinates."""

_MM_PER_M = 1000.0
Change = Callable[[pl.Expr], pl.Expr]


def bids_geometry(
    path: Path, about: Mapping[str, Any], about_events: Mapping[str, Any], options: ReadOptions
) -> Geometry:
    """Return the viewing plane that a recording's sidecars tell, completed with what the user says."""
    exact = about.get(OURS, {}).get("geometry")
    if isinstance(exact, dict):
        try:
            return completed(Geometry.from_dict(exact), options.geometry)
        except (GeometryError, TypeError) as error:
            raise FileFormatError(path, column=OURS, expected="a geometry", found=str(error)) from None
    unit = _unit(path, about)
    screen = about_events.get("StimulusPresentation", {})
    pixels = _pair(screen.get("ScreenResolution"))
    metres = _pair(screen.get("ScreenSize"))
    distance = screen.get("ScreenDistance")
    if isinstance(distance, list) and len(distance) == 3:
        distance = abs(distance[2])  # x, y, z from the eye to the screen's centre
    known = options.geometry
    if pixels is None and known is not None and known.width_px and known.height_px:
        pixels = (known.width_px, known.height_px)
    if pixels is None and unit is Unit.PIXEL:
        raise FileFormatError(
            path,
            expected="StimulusPresentation.ScreenResolution in _events.json",
            found="none",
            hint="add it, or give the screen, for example --screen 1920x1080",
        )
    try:
        stated = Geometry(
            unit,
            width_px=pixels[0] if pixels else None,
            height_px=pixels[1] if pixels else None,
            width_mm=metres[0] * _MM_PER_M if metres else None,
            height_mm=metres[1] * _MM_PER_M if metres else None,
            distance_mm=distance * _MM_PER_M if isinstance(distance, int | float) else None,
        )
    except GeometryError as error:
        raise FileFormatError(
            path, column="StimulusPresentation", expected="a screen that can exist", found=error.message
        ) from None
    return completed(stated, known)


def axis_changes(
    path: Path, about_events: Mapping[str, Any], geometry: Geometry, options: ReadOptions
) -> tuple[Change, Change]:
    """Return what turns the file's x and y into ours, by where its coordinates begin."""
    origin = about_events.get("StimulusPresentation", {}).get("ScreenOrigin", ["top", "left"])
    places = set(origin) if isinstance(origin, list) else {origin}
    if not places <= {"top", "bottom", "left", "center"}:
        raise FileFormatError(
            path, column="ScreenOrigin", expected="top, bottom or center, and left or center", found=repr(origin)
        )
    up = options.y_up or "bottom" in places
    if geometry.unit is Unit.DEGREE:
        return _unchanged, (_negated if up else _unchanged)
    left, top, right, bottom = geometry.extent()
    if "center" in places and not places & {"left"}:
        middle = (top + bottom) / 2.0
        return (lambda x: x + (left + right) / 2.0), (lambda y: middle - y if options.y_up else middle + y)
    return _unchanged, ((lambda y: geometry.y_span - y) if up else _unchanged)


def screen_fields(geometry: Geometry) -> dict[str, Any]:
    """Return ``StimulusPresentation`` for a viewing plane; ``n/a`` where it is not known."""
    whole = _whole(geometry.width_px), _whole(geometry.height_px)
    known_size = geometry.width_mm is not None and geometry.height_mm is not None
    origin = ["center", "center"] if geometry.unit is Unit.DEGREE else ["top", "left"]
    return {
        "ScreenDistance": "n/a" if geometry.distance_mm is None else geometry.distance_mm / _MM_PER_M,
        "ScreenOrigin": origin,
        "ScreenResolution": list(whole) if None not in whole else "n/a",
        "ScreenSize": (
            [geometry.width_mm / _MM_PER_M, geometry.height_mm / _MM_PER_M]
            if known_size and geometry.width_mm is not None and geometry.height_mm is not None
            else "n/a"
        ),
    }


def coordinate_system(geometry: Geometry) -> dict[str, str]:
    """Return the name BIDS has for a viewing plane: a screen only if all that BIDS asks about it is known."""
    fields = screen_fields(geometry)
    if "n/a" not in (fields["ScreenDistance"], fields["ScreenResolution"], fields["ScreenSize"]):
        return {"SampleCoordinateSystem": "gaze-on-screen"}
    if geometry.unit is Unit.DEGREE:
        return {"SampleCoordinateSystem": "eye-in-head"}
    return {
        "SampleCoordinateSystem": "custom",
        "SampleCoordinateSystemDescription": f"{geometry}; x grows to the right, y downwards, from the top left corner",
    }


def _unit(path: Path, about: Mapping[str, Any]) -> Unit:
    stated = [units_of(about, axis) for axis in ("x_coordinate", "y_coordinate")]
    words = {GAZE_UNITS.get(parse_name(str(unit)).words) for unit in stated}
    word = words.pop() if len(words) == 1 else None
    if word is None:
        raise FileFormatError(
            path,
            column="x_coordinate",
            expected="the same Units for x and y in the sidecar: pixel, deg or normalized",
            found=" and ".join(repr(unit) for unit in stated),
        )
    return Unit(word)


def _pair(value: object) -> tuple[float, float] | None:
    if isinstance(value, list) and len(value) == 2 and all(isinstance(part, int | float) for part in value):
        return float(value[0]), float(value[1])
    return None


def _whole(size: float | None) -> int | None:
    return int(size) if size is not None and size.is_integer() else None


def _unchanged(value: pl.Expr) -> pl.Expr:
    return value


def _negated(value: pl.Expr) -> pl.Expr:
    return -value


# --- Check a data set against the rules that BIDS 1.11 has for eye tracking.


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
