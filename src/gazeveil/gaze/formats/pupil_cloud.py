# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Pupil Cloud's downloads (Neon and Pupil Invisible): ``gaze.csv`` and the files beside it.

Of the time series, gaze is in pixels of the scene camera. Of the Marker Mapper, it is in fractions of the surface, from
its top left, beyond 0 and 1 where a participant looked past it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import polars as pl

from gazeveil.errors import FileFormatError, GeometryError
from gazeveil.gaze import schema
from gazeveil.gaze.fileio.columns import first_line, parse_name
from gazeveil.gaze.fileio.numbers import is_one_of
from gazeveil.gaze.fileio.row_assembly import KeyRuns, combined, completed, from_tracker, in_seconds
from gazeveil.gaze.fileio.tables import SeriesBesideSamples, Table, add_bad_lines, quiet_report, read_whole
from gazeveil.gaze.fileio.text import read_head
from gazeveil.gaze.formats.base import Chunk, ReadOptions, ReadReport, file_format
from gazeveil.geometry import Geometry, Unit, screen

SCENE_CAMERAS: Final[Mapping[str, tuple[int, int]]] = MappingProxyType(
    {"Neon": (1600, 1200), "Pupil Invisible": (1088, 1080)}
)
"""Pixels of the scene cameras that gaze is mapped on."""

RESOLUTION: Final = "scene_camera_resolution"
"""What ``info.json`` says of a viewing plane that is no camera of Pupil Labs."""

PUPIL_TOLERANCE_S: Final = 0.003
"""Pupil sizes carry the times of the gaze they belong to; the tolerance covers rounding."""

_FILE = "gaze.csv"
_SURFACE_X = "gazepositiononsurfacex"
_GAZE = (("gazex", "gazey", "px"), (_SURFACE_X, "gazepositiononsurfacey", "normalized"))
_NANOSECONDS = 1e9


@file_format("pupil-cloud")
class PupilCloud:
    """One folder is one recording; an enrichment's ``gaze.csv`` may hold several."""

    title = "Pupil Cloud download (Neon, Pupil Invisible)"
    suffixes = (".csv",)

    def sniff(self, path: Path, head: bytes) -> bool:
        """Whether it is Pupil Cloud's table of gaze, or a folder with one."""
        if path.is_dir():
            file = path / _FILE
            return file.is_file() and self.sniff(file, read_head(file))
        names = {parse_name(name) for name in first_line(head).split(",")}
        return ("timestamp", "ns") in names and any({(x, unit), (y, unit)} <= names for x, y, unit in _GAZE)

    def read(self, path: Path, options: ReadOptions, report: ReadReport) -> Iterator[Chunk]:
        """Yield the recordings; pupils and events come from the files beside."""
        options.check_eyes_together(path)
        path = path / _FILE if path.is_dir() else path
        folder = path.parent
        table = Table(path, options, report, delimiter=",")
        numbers = {"t": table.columns.need("'timestamp [ns]'", "timestamp")}
        on_surface = table.columns.find(_SURFACE_X) is not None
        x, y, _ = _GAZE[on_surface]
        numbers |= {"x": table.columns.need("'gaze x [px]'", x), "y": table.columns.need("'gaze y [px]'", y)}
        text = table.columns.find_each({"recording": "recordingid", "worn": "worn"})
        about = about_recording(folder)
        if on_surface:
            geometry = completed(Geometry(Unit.FRACTION), options.geometry)
        else:
            geometry = scene_plane(path, about, options)
        wearers = wearers_in(folder / "sections.csv", options, report)
        events = _events(folder, options, report)
        pupils = _pupils(folder / "3d_eye_states.csv", options, report)
        runs = KeyRuns(path, trials_counted=False)
        for batch in table.batches(text, numbers, required=("t",)):
            frame = in_seconds(batch.frame, _NANOSECONDS, "t")
            if "recording" not in frame.columns:
                frame = frame.with_columns(recording=pl.lit("", pl.String))
            frame = frame.with_columns(pl.col("recording").fill_null(""))
            if "worn" in frame.columns:
                worn = is_one_of(frame["worn"], ("1", "1.0", "true").__contains__)
                frame = frame.with_columns(valid=worn)
            for run in runs.cut(wearer_labels(frame, about, wearers, options, path, report), batch.lines):
                mine = frame[run.start : run.stop]
                recording = str(mine["recording"][0])
                if pupils is not None:
                    for side in ("left", "right"):
                        [size] = pupils[side].nearest(mine["t"].to_numpy(), [recording])
                        mine = mine.with_columns(pl.Series(f"{side}_pupil", size, nan_to_null=True))
                said = events.pop(recording, schema.no_events()) if not run.continues else schema.no_events()
                for piece in combined(mine).iter_slices(options.chunk_rows):
                    yield Chunk(run.key, piece, geometry, said, pupil_unit="mm" if pupils else "")
                    said = schema.no_events()


def about_recording(folder: Path) -> dict[str, Any]:
    """Return what ``info.json`` says about the recording; nothing if there is none."""
    path = folder / "info.json"
    if not path.is_file():
        return {}
    try:
        about = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, OSError) as error:
        raise FileFormatError(path, expected="the recording's description as JSON", found=str(error)) from None
    return about if isinstance(about, dict) else {}


def scene_plane(path: Path, about: Mapping[str, Any], options: ReadOptions) -> Geometry:
    """Return the scene camera's viewing plane: by what the download says of the device, else by what the user says."""
    if RESOLUTION in about:
        return completed(_stated_plane(path.parent / "info.json", about[RESOLUTION]), options.geometry)
    device = None
    if "module_serial_number" in about:
        device = "Neon"
    elif "glasses_serial_number" in about or "scene_camera_serial_number" in about:
        device = "Pupil Invisible"
    elif (path.parent / "3d_eye_states.csv").is_file():
        device = "Neon"
    if device is not None:
        return completed(screen(*SCENE_CAMERAS[device]), options.geometry)
    if options.geometry is not None and options.geometry.width_px and options.geometry.height_px:
        return completed(screen(options.geometry.width_px, options.geometry.height_px), options.geometry)
    cameras = " or ".join(f"--screen {width}x{height} ({name})" for name, (width, height) in SCENE_CAMERAS.items())
    raise FileFormatError(
        path,
        expected="info.json beside it, to know the scene camera",
        found="none that names the device",
        hint=f"keep the download's files together, or say {cameras}",
    )


def _stated_plane(path: Path, size: Any) -> Geometry:
    try:
        width, height = (float(each) for each in size)
        return screen(width, height)
    except (TypeError, ValueError, GeometryError):
        raise FileFormatError(
            path, column=RESOLUTION, expected="two numbers of pixels", found=repr(size)[:60], hint="mend info.json"
        ) from None


def wearers_in(path: Path, options: ReadOptions, report: ReadReport) -> dict[str, str]:
    """Return who wore the device in each recording, as an enrichment's sections tell."""
    if not path.is_file():
        return {}
    rows = read_whole(path, options, report, {"recording": "recordingid", "wearer": "wearerid"}, {})
    return dict(rows.drop_nulls().select("recording", "wearer").iter_rows())


def wearer_labels(
    frame: pl.DataFrame,
    about: Mapping[str, Any],
    wearers: Mapping[str, str],
    options: ReadOptions,
    path: Path,
    report: ReadReport,
) -> pl.DataFrame:
    """Say whose each row is: the wearer's id where the download names one, else one observer per recording."""
    labels = {}
    for recording in frame["recording"].unique().to_list():
        wearer = about.get("wearer_id") if about.get("recording_id") in {None, recording} else None
        wearer = wearer or wearers.get(recording)
        observer = str(wearer or options.observer or recording or path.resolve().parent.name)
        if not wearer and not options.observer:
            remark = f"the download does not say who looked: {observer!r} stands for the observer"
            if remark not in report.remarks:
                report.remark(remark)
        labels[recording] = options.key(path, observer=observer, session=options.session or recording)
    return frame.select(
        pl.col("recording")
        .replace_strict({recording: getattr(key, name) for recording, key in labels.items()}, return_dtype=pl.String)
        .alias(name)
        for name in schema.KEYS
    )


def _pupils(path: Path, options: ReadOptions, report: ReadReport) -> dict[str, SeriesBesideSamples] | None:
    """Open the pupil sizes of both eyes beside the gaze."""
    return {side: _pupil(path, side, options, report) for side in ("left", "right")} if path.is_file() else None


def _pupil(path: Path, side: str, options: ReadOptions, report: ReadReport) -> SeriesBesideSamples:
    table = Table(path, options.beside(), quiet_report(report), delimiter=",", may_be_empty=True)
    numbers = {
        "t": table.columns.need("'timestamp [ns]'", "timestamp"),
        "value": table.columns.need(f"'pupil diameter {side} [mm]'", f"pupildiameter{side}"),
    }
    recording = table.columns.find("recordingid")
    text = {"group": recording} if recording else {}

    def tables() -> Iterator[pl.DataFrame]:
        for batch in table.batches(text, numbers, required=("t",)):
            group = pl.col("group").fill_null("") if recording else pl.lit("", pl.String)
            yield in_seconds(batch.frame, _NANOSECONDS, "t").select("t", group.alias("group"), "value")
        if side == "left":
            add_bad_lines(report, table.report)

    return SeriesBesideSamples(tables(), PUPIL_TOLERANCE_S, report)


def _events(folder: Path, options: ReadOptions, report: ReadReport) -> dict[str, pl.DataFrame]:
    """Return the fixations, saccades, blinks and event annotations beside the gaze, by recording."""
    found = []
    for name, kind in (
        ("fixations.csv", "fixation"),
        ("saccades.csv", "saccade"),
        ("blinks.csv", "blink"),
        ("events.csv", "message"),
    ):
        path = folder / name
        if path.is_file():
            is_message = kind == "message"
            text = {"recording": "recordingid", "text": "name"}
            numbers = {
                "onset": "timestamp" if is_message else "starttimestamp",
                "offset": "timestamp" if is_message else "endtimestamp",
                "x": "fixationx",
                "y": "fixationy",
                "amplitude": "amplitude deg",
            }
            rows = read_whole(path, options, report, text, numbers).drop_nulls("onset")
            found.append(in_seconds(rows, _NANOSECONDS, "onset", "offset").with_columns(kind=pl.lit(kind)))
    if not found:
        return {}
    rows = pl.concat(found).with_columns(pl.col("recording").fill_null("")).sort("onset", maintain_order=True)
    parts = rows.partition_by("recording", as_dict=True, maintain_order=True)
    return {str(recording): schema.event_table(from_tracker(part)) for (recording,), part in parts.items()}
