# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Write recordings as a BIDS data set: one gzip file per eye, sidecars, events; checked before it is put in place.

Observer, stimulus, session and trial become ``sub-``, ``task-``, ``ses-`` and ``run-``. Where a label is not letters
and digits, another stands in the file's name and the original in the sidecar, so reading gives it back.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from gazeveil import __version__
from gazeveil.errors import InputError, InternalError, OutputError
from gazeveil.files import replacing
from gazeveil.gaze import schema
from gazeveil.gaze.fileio.bids import (
    BIDS_VERSION,
    DESCRIPTION,
    OURS,
    UNIT_NAMES,
    BidsLabels,
    Indices,
    coordinate_system,
    load_json,
    screen_fields,
    validate,
)
from gazeveil.gaze.fileio.row_assembly import follows_from_eyes
from gazeveil.gaze.fileio.writing import valid_only
from gazeveil.gaze.formats.base import Chunk
from gazeveil.gaze.recording import Key
from gazeveil.gaze.schema import VeilNote

_EYE_NUMBERS = {"left": 1, "right": 2, "cyclopean": 3}
_PACKING = 6
"""Level of gzip; 9 takes three times as long for 1 % less."""

_README = """# Eye tracking data

This data set was written by gazeveil. Each recording is one observer (sub) looking at one stimulus (task) in one
session (ses) and trial (run). Each eye has its own table without a header; the JSON file beside it names the
columns and their units. Time is the tracker's, in seconds. Original labels that are not letters and digits are in
the sidecars under "{ours}".
"""
_README_VEILED = """
The gaze is veiled: no position is where a participant looked. {sentence}
"""


def write(chunks: Iterable[Chunk], path: Path) -> None:
    """Write all recordings to a data set folder; it is checked against the rules before it is put in place.

    Raises:
        InputError: If a recording cannot be written in BIDS.
        OutputError: If the folder is there and was not written by gazeveil, or cannot be written.
        InternalError: If what was written breaks a rule of BIDS; nothing is put in place then.
    """
    _check_target(path)
    with replacing(path) as root:
        data_set = _DataSet(root)
        try:
            for chunk in chunks:
                data_set.add(chunk)
            data_set.finish()
        finally:
            data_set.close()
        problems = validate(root)
        if problems:
            raise InternalError(f"the data set breaks a rule of BIDS: {problems[0]} ({len(problems)} in all)")


def _check_target(path: Path) -> None:
    """Refuse to replace a folder that is not ours."""
    if not path.exists() or (path.is_dir() and not any(path.iterdir())):
        return
    description = path / DESCRIPTION
    makers = load_json(description).get("GeneratedBy", []) if description.is_file() else []
    if not any(isinstance(maker, dict) and maker.get("Name") == "gazeveil" for maker in makers):
        raise OutputError(
            f"{path} is there and was not written by gazeveil", hint="choose a folder that does not exist yet"
        )


class _DataSet:
    """The data set being written."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._subjects = BidsLabels("x")
        self._tasks = BidsLabels("gaze")
        self._sessions: dict[str, BidsLabels] = {}
        self._runs: dict[tuple[str, str, str], Indices] = {}
        self._written: dict[str, None] = {}
        self._seen: set[Key] = set()
        self._current: _Recording | None = None
        self._notes: dict[VeilNote | None, None] = {}

    def add(self, chunk: Chunk) -> None:
        """Write a chunk to its recording."""
        if self._current is None or self._current.key != chunk.key:
            self._finish_current()
            if chunk.key in self._seen:
                raise InputError(f"the recording {chunk.key} comes twice", hint="give each its own session or trial")
            chunk.need_samples("bids")
            self._seen.add(chunk.key)
            self._notes[chunk.veiled] = None
            if None in self._notes and len(self._notes) > 1:
                raise InputError(
                    "veiled and raw recordings make no data set together: a data set is raw, or a derivative",
                    hint="write them to two folders",
                )
            self._current = self._begin(chunk)
        self._current.add(chunk)

    def finish(self) -> None:
        """Write what speaks about the whole data set."""
        self._finish_current()
        if not self._written:
            raise InputError("there is nothing to write: no recordings")
        notes = [note for note in self._notes if note is not None]
        _write_json(self._root / DESCRIPTION, _description(notes))
        readme = _README.format(ours=OURS) + "".join(_README_VEILED.format(sentence=note.sentence) for note in notes)
        (self._root / "README.md").write_text(readme, encoding="utf-8", newline="\n")
        rows = "".join(f"{subject}\n" for subject in self._written)
        (self._root / "participants.tsv").write_text(f"participant_id\n{rows}", encoding="utf-8", newline="\n")

    def _begin(self, chunk: Chunk) -> _Recording:
        key = chunk.key
        subject = f"sub-{self._subjects.of(key.observer)}"
        session = f"ses-{self._sessions.setdefault(subject, BidsLabels('x')).of(key.session)}"
        task = f"task-{self._tasks.of(key.stimulus)}"
        run = f"run-{self._runs.setdefault((subject, session, task), Indices()).of(key.trial)}"
        self._written[subject] = None
        folder = self._root / subject / session / "beh"
        folder.mkdir(parents=True, exist_ok=True)
        return _Recording(chunk, folder / f"{subject}_{session}_{task}_{run}")

    def close(self) -> None:
        """Close all files, also after an error."""
        if self._current is not None:
            self._current.close()

    def _finish_current(self) -> None:
        if self._current is not None:
            self._current.finish()
            self._current = None


class _Recording:
    """One recording being written: a packed table for each eye, sidecars when it ends."""

    def __init__(self, first: Chunk, stem: Path) -> None:
        self.key = first.key
        self._first = first
        self._stem = stem
        self._files = ExitStack()
        self._tables: dict[str, tuple[gzip.GzipFile, list[str]]] = {}
        self._columns: list[str] = []
        self._events: list[pl.DataFrame] = []
        self._needs_combined = False
        self._earliest, self._latest = float("inf"), float("-inf")
        self._rate = first.rate_hz

    def add(self, chunk: Chunk) -> None:
        """Append samples to the tables and keep the events."""
        self._events.append(schema.event_table(chunk.events))
        samples = chunk.samples.select(name for name in schema.SAMPLES if name in chunk.samples.columns)
        if not samples.height:
            return
        _check_numbers(chunk)
        if chunk.geometry != self._first.geometry:
            raise InputError(
                f"the recording {self.key} lies on two viewing planes: {chunk.geometry}, {self._first.geometry}"
            )
        if not self._tables:
            self._open(samples)
        if samples.columns != self._columns:
            raise InputError(
                f"the recording {self.key} has columns {samples.columns} after {self._columns}",
                hint="a recording has the same columns throughout",
            )
        times = samples["t"].to_numpy()
        self._earliest = min(self._earliest, float(times.min()))
        self._latest = max(self._latest, float(times.max()))
        if self._rate is None:
            self._rate = _measured_rate(times)
        # BIDS has no column for validity, a missing position says it
        samples = valid_only(samples.with_columns(pl.col(pl.Float64).fill_nan(None)))
        self._needs_combined = self._needs_combined or not follows_from_eyes(samples)
        for table, columns in self._tables.values():
            rows = samples.select("t", *columns)
            table.write(rows.write_csv(include_header=False, separator="\t", null_value="n/a").encode())

    def close(self) -> None:
        """Close the tables."""
        self._files.close()

    def finish(self) -> None:
        """Close the tables and write what speaks about them."""
        self.close()
        if not self._tables:
            raise InputError(f"the recording {self.key} has no samples", hint="leave it out")
        if self._rate is None:
            raise InputError(
                f"the recording {self.key} has no sampling rate, which BIDS asks for", hint="leave out single samples"
            )
        if len(self._tables) > 1 and not self._needs_combined:
            del self._tables["cyclopean"]
            self._path("cyclopean", "physio.tsv.gz").unlink()
        for eye, (_, columns) in self._tables.items():
            _write_json(self._path(eye, "physio.json"), self._about_samples(eye, with_pupil=len(columns) == 3))
        self._write_events(next(iter(self._tables)))
        self._write_presentation()

    def _path(self, eye: str, ending: str) -> Path:
        return self._stem.with_name(f"{self._stem.name}_recording-eye{_EYE_NUMBERS[eye]}_{ending}")

    def _open(self, samples: pl.DataFrame) -> None:
        self._columns = samples.columns
        for eye in _EYE_NUMBERS:
            prefix = "" if eye == "cyclopean" else f"{eye}_"
            columns = [f"{prefix}{name}" for name in ("x", "y", "pupil") if f"{prefix}{name}" in self._columns]
            if f"{prefix}x" in columns:
                raw = self._files.enter_context(self._path(eye, "physio.tsv.gz").open("wb"))
                # no name and no time inside: the same recordings give the same bytes
                table = gzip.GzipFile(filename="", mode="wb", compresslevel=_PACKING, fileobj=raw, mtime=0)
                self._tables[eye] = (self._files.enter_context(table), columns)

    def _about_samples(self, eye: str, *, with_pupil: bool) -> dict[str, Any]:
        geometry = self._first.geometry
        unit = UNIT_NAMES[geometry.unit]
        pupil = {
            "Description": "Pupil size of the eye, as area or diameter, as the tracker gives it.",
            "Units": self._first.pupil_unit or "arbitrary",
        }
        ours = {
            **self.key._asdict(),
            "geometry": geometry.to_dict(),
            "pupil_unit": self._first.pupil_unit,
            "rate_measured": self._first.rate_hz is None,
            **({} if self._first.veiled is None else {"veiled": self._first.veiled.to_dict()}),
        }
        return {
            "PhysioType": "eyetrack",
            **({} if self._first.veiled is None else {"Description": self._first.veiled.sentence}),
            "TaskName": self.key.stimulus or "gaze",
            "RecordedEye": eye,
            **coordinate_system(geometry),
            "SamplingFrequency": self._rate,
            "StartTime": 0,
            "Columns": ["timestamp", "x_coordinate", "y_coordinate", *(["pupil_size"] if with_pupil else [])],
            "timestamp": {"Description": "Time of the sample on the tracker's clock.", "Units": "s"},
            "x_coordinate": {"Description": "Gaze across, growing to the right.", "Units": unit},
            "y_coordinate": {"Description": "Gaze down, growing downwards.", "Units": unit},
            **({"pupil_size": pupil} if with_pupil else {}),
            OURS: ours,
        }

    def _write_events(self, eye: str) -> None:
        events = pl.concat(self._events)
        if not events.height:
            return
        bad = events.filter(pl.col("text").str.contains(r"[\n\r\x00]"))
        if bad.height:
            raise InputError(f"the recording {self.key} has a message with a line break: {bad['text'][0]!r}")
        extra = ["offset", "eye", "source", "x", "y", "end_x", "end_y", "amplitude", "peak_velocity", "pupil"]
        duration = (pl.col("offset") - pl.col("onset")).clip(lower_bound=0.0).alias("duration")
        rows = events.select(
            "onset", duration, pl.col("kind").alias("trial_type"), pl.col("text").alias("message"), *extra
        ).with_columns(pl.col(pl.Float64).fill_nan(None))
        with (
            self._path(eye, "physioevents.tsv.gz").open("wb") as raw,
            gzip.GzipFile(filename="", mode="wb", compresslevel=_PACKING, fileobj=raw, mtime=0) as table,
        ):
            table.write(rows.write_csv(include_header=False, separator="\t", null_value="n/a").encode())
        units = schema.units(UNIT_NAMES[self._first.geometry.unit], self._first.pupil_unit)
        _write_json(
            self._path(eye, "physioevents.json"),
            {
                "Columns": rows.columns,
                "Description": "Events and messages of the recording.",
                "OnsetSource": "timestamp",
                "duration": {"Description": "From onset to offset.", "Units": "s"},
                "trial_type": {"Description": "What happened: fixation, saccade, blink, message, …"},
                "message": {"Description": "Text of a message."},
                **{name: {"Units": units[name]} for name in extra if name in units},
                OURS: {"schema": schema.VERSION},
            },
        )

    def _write_presentation(self) -> None:
        """Say what was shown when, and on what screen."""
        events = pl.DataFrame(
            {
                "onset": [0.0],
                "duration": [self._latest - self._earliest],
                "trial_type": ["stimulus"],
                "stimulus": [self.key.stimulus or None],
            }
        )
        text = events.write_csv(separator="\t", null_value="n/a")
        self._stem.with_name(f"{self._stem.name}_events.tsv").write_text(text, encoding="utf-8", newline="\n")
        _write_json(
            self._stem.with_name(f"{self._stem.name}_events.json"),
            {
                "TaskName": self.key.stimulus or "gaze",
                "stimulus": {"Description": "What the observer looked at."},
                "StimulusPresentation": screen_fields(self._first.geometry),
            },
        )


def _description(notes: list[VeilNote]) -> dict[str, Any]:
    """Return the data set's description: raw, or the derivative that veiled gaze is, with what is guaranteed."""
    maker = {"Name": "gazeveil", "Version": __version__}
    if not notes:
        return {"Name": "Eye tracking", "BIDSVersion": BIDS_VERSION, "DatasetType": "raw", "GeneratedBy": [maker]}
    makers = [{"Name": "gazeveil", "Version": note.version, "Description": note.sentence} for note in notes]
    return {
        "Name": "Eye tracking, veiled",
        "BIDSVersion": BIDS_VERSION,
        "DatasetType": "derivative",
        "GeneratedBy": makers,
        OURS: {"veiled": [note.to_dict() for note in notes]},
    }


def _check_numbers(chunk: Chunk) -> None:
    infinite = chunk.samples.select(pl.col(pl.Float64).is_infinite().any())
    bad = [name for name in infinite.columns if infinite[name][0]]
    if bad or not chunk.samples["t"].is_finite().all():
        raise InputError(f"the recording {chunk.key} has numbers in {', '.join(bad) or 't'} that are not finite")
    if any(letter in chunk.key.stimulus for letter in "\n\r\0"):
        raise InputError(f"the stimulus {chunk.key.stimulus!r} has a line break in it, which BIDS tables cannot hold")


def _measured_rate(times: np.ndarray[Any, Any]) -> float | None:
    with np.errstate(over="ignore"):
        steps = np.diff(times)
    steps = steps[np.isfinite(steps) & (steps > 0)]
    return float(1.0 / np.median(steps)) if len(steps) else None


def _write_json(path: Path, value: dict[str, Any]) -> None:
    path.write_text(
        json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n", encoding="utf-8", newline="\n"
    )
