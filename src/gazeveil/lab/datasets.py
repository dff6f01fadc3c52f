# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Public data sets: the folder that holds them, and a reader for each, from its path to recordings.

2017: 34 at 500 Hz, of participants looking at images, dots and videos.

Two experts, MN and RA, labelled every sample.

Each of six films of about 20 s was shown five times on one day and five times on another. The University of Lübeck
gives the recordings away as text, a file a showing: ``AMS1_rep_10_beach.coord``.

There are no raw samples.

- **GazeBase** (Griffith et al. 2021): 322 participants, 1000 Hz, up to nine rounds of two sessions, seven tasks.
- **GazeBaseVR** (Lohr et al. 2023): 407 participants, a headset at 250 Hz, three rounds.

Files may lie at any depth. They are read one after the other, by `gazeveil.gaze.formats.gazebase`, because all of them
do not fit into memory. The vertical sign stays as in the file: nothing we measure depends on it.

Gaze is in the view, as fractions of it, whatever the head does. The tracker's confidence is low (its median is 0.38)
and is not looked at. A third of the rows repeat the time before them: they stay, as no row says which one is right.

There are no samples: every row is a target, with how far gaze was off on each eye, how it jittered, and the distance
between the eyes. Contact lenses, glasses, gender and age are known.

A headset at about 90 Hz. The log holds (0, 0) where the tracker lost the eyes; here it is missing, and its time stays.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from gazeveil import read
from gazeveil.arrays import FloatArray
from gazeveil.errors import FileFormatError, InputError
from gazeveil.gaze.formats.gazebase import GazeBaseName, parse_file_name
from gazeveil.gaze.recording import Recording
from gazeveil.geometry import Geometry, Unit, headset, normalised, screen


def read_table(path: Path, columns: Collection[str], *, hint: str) -> pl.DataFrame:
    """Read a Parquet table that has these columns, and maybe others.

    Args:
        path: The file.
        columns: What it must hold.
        hint: Where it comes from, for those who do not have it.

    Raises:
        InputError: If the file is not there.
        FileFormatError: If it is no such table.
    """
    if not path.is_file():
        raise InputError(f"{path} is not there", hint=hint)
    try:
        table = pl.read_parquet(path)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError):
        raise FileFormatError(path, expected="a Parquet table", found="something else", hint=hint) from None
    if missing := [name for name in columns if name not in table.columns]:
        found = ", ".join(table.columns) or "no columns"
        raise FileFormatError(path, column=missing[0], expected="a column of that name", found=found)
    return table


# --- The hand-labelled recordings of Andersson et al.


LUND_FOLDER: Final = "lund2013"
"""How its folder is called among the data sets."""
FILE: Final = "lund2013.parquet"
SCREEN: Final = screen(1024, 768, 380, 300, 670)
RATE: Final = 500.0
STIMULI: Final = ("img", "dots", "video")
CODERS: Final = ("MN", "RA")

_LUND2013_COLUMNS = ("source", "user", "stimulus", "kind", "coder", "i", "x", "y", "label")


@dataclass(frozen=True, slots=True)
class Labelled:
    """A recording and what each expert said of each sample."""

    stimuli: str
    recording: Recording
    labels: Mapping[str, NDArray[np.int8]]


def load(folder: Path) -> list[Labelled]:
    """Read the hand-labelled recordings, with the file that Zemblys et al. 2018 corrected in place of the original.

    Gaze at exactly (0, 0) is how the tracker marks a lost eye. Where the experts' files differ in length by a few
    samples, the end that only one has is left out.

    Raises:
        InputError: If the file is not there.
        FileFormatError: If it is not the table we expect.
    """
    path = Path(folder) / FILE
    table = read_table(
        path,
        _LUND2013_COLUMNS,
        hint="it is the labelled data of github.com/richardandersson/EyeMovementDetectorEvaluation as one table, "
        "described in the reference on events",
    )
    text = pl.col("source", "user", "stimulus", "kind", "coder").cast(pl.String)
    table = table.select(_LUND2013_COLUMNS).with_columns(text).sort("i", maintain_order=True)
    # sorted so that a corrected file, where there is one, comes first and is taken
    by_coder = table.sort(pl.col("source") == "article", maintain_order=True).partition_by(
        "kind", "user", "stimulus", "coder", "source", as_dict=True, maintain_order=True
    )
    recordings: dict[tuple[str, str, str], dict[str, pl.DataFrame]] = {}
    for (kind, user, stimulus, coder, _), part in by_coder.items():
        recordings.setdefault((str(kind), str(user), str(stimulus)), {}).setdefault(str(coder), part)
    return [_labelled(path, *key, parts) for key, parts in sorted(recordings.items(), key=lambda pair: pair[0])]


def _labelled(path: Path, stimuli: str, user: str, stimulus: str, parts: dict[str, pl.DataFrame]) -> Labelled:
    if set(parts) != set(CODERS) or stimuli not in STIMULI:
        raise FileFormatError(
            path,
            column="coder",
            expected=f"labels of {' and '.join(CODERS)} on {', '.join(STIMULI)}",
            found=f"{' and '.join(sorted(parts))} on {stimuli} for {user} {stimulus}",
        )
    length = min(len(part) for part in parts.values())
    gaze = parts[CODERS[0]].head(length)
    x, y = (gaze[name].cast(pl.Float64).to_numpy() for name in ("x", "y"))
    recording = Recording(
        gaze["i"].to_numpy() / RATE, x, y, SCREEN, user, stimulus, valid=(x != 0) | (y != 0), rate_hz=RATE
    )
    labels = {coder: part["label"].head(length).cast(pl.Int8).to_numpy() for coder, part in parts.items()}
    return Labelled(stimuli, recording, MappingProxyType(labels))


# --- Participants who saw the same films repeatedly on two days (Dorr et al. 2010), 250 Hz, by the folder's path.


DORR_FOLDER: Final = Path("dorr2010") / "repetitive_gaze"
"""Where the files lie in the folder of data sets."""

_NAME = re.compile(r"(?P<person>\w+?)_rep_(?P<showing>\d+)_(?P<film>\w+)")
_HEADER = ("gaze 1280 720", "geometry distance 0.45 width 0.4 height 0.225")
_PLANE = screen(1280, 720, 400, 225, 450)
_A_DAY: Final = 5


def dorr2010(folder: Path | str) -> Iterator[Recording]:
    """Yield the showings, participant by participant in the order they were seen.

    A session is a day, a stimulus a film.

    Raises:
        InputError: If there are none.
        FileFormatError: If one is not as we expect.
    """
    met = [(name, path) for path in Path(folder).glob("*.coord") if (name := _NAME.fullmatch(path.stem))]
    if not met:
        raise InputError(f"{folder} has no files like AMS1_rep_10_beach.coord", hint="they come from Dorr et al. 2010")
    for name, path in sorted(met, key=lambda one: (one[0]["person"], int(one[0]["showing"]), one[0]["film"])):
        showing = int(name["showing"])
        t, x, y, there = _columns(path)
        yield Recording(
            t / 1e6, x, y, _PLANE, name["person"], name["film"],
            session="1" if showing <= _A_DAY else "2", trial=str(showing), valid=there > 0,
        )  # fmt: skip


def _columns(path: Path) -> tuple[np.ndarray, ...]:
    lines = path.read_text(encoding="utf-8").splitlines()
    if tuple(lines[:2]) != _HEADER:
        raise FileFormatError(path, expected=" / ".join(_HEADER), found=" / ".join(lines[:2]) or "an empty file")
    try:
        found = np.array([line.split() for line in lines[2:]], dtype=np.float64).reshape(-1, 4)
    except ValueError:
        raise FileFormatError(path, expected="time, x, y and validity in every line", found="something else") from None
    return tuple(found.T)


# --- 30 participants in runs of an attention task (Ziman et al.), a desktop tracker at about 30 Hz, by the file's path.


EYETRIBE_FILE = Path("eyetribe_contextlab") / "eyetribe_runs.parquet"
"""Where the file lies in the folder of shared data."""

PLANE = screen(1920, 1080, 1920 * 0.27, 1080 * 0.27, 600)
"""60 cm from the screen, says the data set; its size is not stated: a usual one with pixels of 0.27 mm is assumed."""

EYETRIBE_PUPIL = (0.0, 600.0)
"""The tracker's pupil size times ten, in an arbitrary unit: a wide, round range."""

_EYETRIBE_COLUMNS = ("user", "run", "t_ms", "x", "y", "pupil", "state")
_GAZE_VALID = 7


def eyetribe(path: Path | str) -> Iterator[Recording]:
    """Yield the runs, participant by participant: stimulus ``attention``, one session per run.

    The file states no rate; it is taken from the median step, 34 ms.

    Raises:
        InputError: If the file is not there.
        FileFormatError: If it is not the table we expect.
    """
    table = read_table(Path(path), _EYETRIBE_COLUMNS, hint="it holds the EyeTribe runs of Ziman et al. as one table")
    table = table.with_columns(pl.col("user", "run").cast(pl.Int64))
    for one in table.sort("user", "run", "t_ms", maintain_order=True).partition_by("user", "run", maintain_order=True):
        user, run = one.row(0, named=True)["user"], one.row(0, named=True)["run"]
        yield Recording(
            one["t_ms"].to_numpy() / 1000.0,
            one["x"].cast(pl.Float64).to_numpy(),
            one["y"].cast(pl.Float64).to_numpy(),
            PLANE,
            f"user-{user:02d}",
            "attention",
            session=str(run),
            valid=(one["state"] == _GAZE_VALID).to_numpy(),
            pupil=one["pupil"].cast(pl.Float64).to_numpy(),
        )


# --- Fixations of 15 participants on 700 images, 3 s of free viewing each (OSIE, Xu et al. 2014).


OSIE_FILE: Final = "fixations.parquet"
_OSIE_COLUMNS = ("image", "user", "fix", "x", "y", "dur_ms")


def osie_fixations(path: Path) -> pl.DataFrame:
    """Read image, user, number, place in pixels and duration in ms of every fixation, in this order.

    Raises:
        InputError: If the file is not there.
        FileFormatError: If it is not the table we expect.
    """
    hint = "it holds the fixations of the OSIE data set; say where it is with --data FOLDER"
    return read_table(path, _OSIE_COLUMNS, hint=hint).select(_OSIE_COLUMNS).sort("image", "user", "fix")


# --- GazeBase and GazeBaseVR by the path of their folder: the recordings that recognisers of the literature train on.


@dataclass(frozen=True, slots=True)
class GazeBaseFile:
    """One recording: where it is, and what its name tells."""

    path: Path
    name: GazeBaseName

    def recording(self) -> Recording:
        """Read the recording; its session is named by round and session, and the stimulus by its task.

        Raises:
            FileFormatError: If the file is not what its name says.
        """
        reading = read(self.path, format="gazebase")
        [recording] = reading.recordings
        steps_back = reading.report.time_backwards + reading.report.time_repeated
        if steps_back:
            raise FileFormatError(
                self.path,
                column="n",
                expected="times that grow",
                found=f"{steps_back:,} that do not",
                hint="was the file put together from two?",
            )
        if len(recording) < 2:
            raise FileFormatError(self.path, expected="two samples at least", found="one", hint="download it again")
        return replace(recording, trial="")


def gazebase_files(
    folder: Path, *, tasks: Collection[str] = (), rounds: Collection[int] = (), people: Collection[str] = ()
) -> tuple[GazeBaseFile, ...]:
    """Return the recordings under a folder, by participant, round, session and task; read none.

    Args:
        folder: Where GazeBase or GazeBaseVR was unpacked.
        tasks: Only these tasks; all if empty.
        rounds: Only these rounds; all if empty.
        people: Only these participants, as in the file names (``001``); all if empty.

    Raises:
        InputError: If there is no such folder, or no such recording in it.
    """
    if not folder.is_dir():
        raise InputError(f"there is no folder {folder}", hint="unpack GazeBase or GazeBaseVR there")
    every = [GazeBaseFile(path, name) for path in folder.rglob("S_*.csv") if (name := parse_file_name(path.name))]
    if not every:
        raise InputError(
            f"{folder} holds no recording of GazeBase or GazeBaseVR",
            hint="expected names such as S_1001_S1_TEX.csv; GazeBase has one archive per participant",
        )
    chosen = [
        one
        for one in every
        if (not tasks or one.name.task in tasks)
        and (not rounds or one.name.round in rounds)
        and (not people or one.name.person in people)
    ]
    if not chosen:
        known = ", ".join(sorted({one.name.task for one in every}))
        raise InputError(f"none of the {len(every):,} recordings in {folder} was asked for", hint=f"tasks: {known}")
    return tuple(sorted(chosen, key=lambda one: (one.name.person, one.name.round, one.name.session, one.name.task)))


# --- 63 participants walk through a virtual museum, once each (EDVAM, Zhou et al.), a headset at about 31 Hz.


EDVAM_FILE: Final = Path("edvam_vr_museum") / "edvam.parquet"
"""Where the file lies in the folder of shared data."""

_EDVAM_COLUMNS = ("user", "time", "gx", "gy")


def edvam(path: Path | str) -> Iterator[Recording]:
    """Yield the walks, one a participant: stimulus ``museum``, rows in the order of the file.

    Gaze outside the view is not valid: a tenth of it is, some of it by millions of views.

    Raises:
        InputError: If the file is not there.
        FileFormatError: If it is not the table we expect.
    """
    table = read_table(
        Path(path), _EDVAM_COLUMNS, hint="it holds the walks of github.com/YunzhanZHOU/EDVAM as one table"
    )
    table = table.select(pl.col("user").cast(pl.Int64), pl.col("time", "gx", "gy").cast(pl.Float64))
    for one in table.sort("user", maintain_order=True).partition_by("user", maintain_order=True):
        x, y = one["gx"].to_numpy(), one["gy"].to_numpy()
        yield Recording(
            one["time"].to_numpy(),
            x,
            y,
            normalised(),
            f"user-{one['user'][0]:02d}",
            "museum",
            valid=(x >= 0) & (x < 1) & (y >= 0) & (y < 1),
        )


# --- 18 participants who looked at targets in a headset in ten sessions each, over days (Schuetz and Fiehler 2022).


JEMR_FOLDER: Final = "jemr2022_vr"
"""How its folder is called among the data sets."""
TARGETS_FILE, SESSIONS_FILE = "targets.parquet", "sessions.parquet"

_EYES = {"L": "left", "R": "right"}
FIELDS: Final[Mapping[str, str]] = MappingProxyType(
    {
        **{f"off{axis}_{eye}": f"error/{side} {axis.lower()}" for eye, side in _EYES.items() for axis in "XY"},
        **{f"acc_{eye}": f"error/{side}" for eye, side in _EYES.items()},
        **{f"sd{axis}_{eye}": f"noise/spread {side} {axis.lower()}" for eye, side in _EYES.items() for axis in "XY"},
        **{f"rmsi{axis}_{eye}": f"noise/steps {side} {axis.lower()}" for eye, side in _EYES.items() for axis in "XY"},
        "ipd": "eyes/ipd",
    }
)
"""Columns of the table, by the names that they have here."""

_HINT = "it holds the results of github.com/ischtz/jemr2022-vr-eyetracking as tables"


@dataclass(frozen=True, slots=True, eq=False)
class TargetSession:
    """One session of one participant.

    Attributes:
        person: Who.
        session: Which of the ten.
        day: On which day, as YYYYMMDD.
        vision: ``contacts``, ``glasses`` or ``uncorrected``.
        gender: As the data set has it.
        age: In years.
        x: How far gaze of both eyes was off each target to the right, in degrees.
        y: The same downwards.
        fields: Error, noise and distance of the eyes at each target, by the names of `FIELDS`.
    """

    person: str
    session: str
    day: str
    vision: str
    gender: str
    age: int
    x: FloatArray
    y: FloatArray
    fields: Mapping[str, FloatArray]


def target_sessions(folder: Path) -> list[TargetSession]:
    """Read all sessions, participant by participant; targets that the authors left out for glitches are in.

    Raises:
        InputError: If a file is not there.
        FileFormatError: If it is not the table we expect, or a session is not in both tables.
    """
    own = ("user", "session", "offX", "offY", *FIELDS)
    targets = read_table(Path(folder) / TARGETS_FILE, own, hint=_HINT)
    about = read_table(Path(folder) / SESSIONS_FILE, ("user", "session", "day", "vision", "gender", "age"), hint=_HINT)
    known = {(row["user"], row["session"]): row for row in about.iter_rows(named=True)}
    found = []
    for (user, session), rows in targets.sort("user", "session", maintain_order=True).group_by(
        "user", "session", maintain_order=True
    ):
        if (row := known.get((user, session))) is None:
            raise FileFormatError(
                Path(folder) / SESSIONS_FILE, expected=f"session {session} of user {user}", found="no such row"
            )
        values = {name: rows[name].cast(pl.Float64).fill_null(np.nan).to_numpy() for name in ("offX", "offY", *FIELDS)}
        found.append(
            TargetSession(
                person=f"user-{int(str(user)):02d}",
                session=str(session),
                day=str(row["day"]),
                vision=str(row["vision"]),
                gender=str(row["gender"]),
                age=int(row["age"]),
                x=values["offX"],
                y=values["offY"],
                fields={words: values[name] for name, words in FIELDS.items()},
            )
        )
    return found


# --- 16 participants search for objects in a virtual room (Schuetz, Baltaretu & Fiehler 2024), four sessions of 20
# trials.


VR_FOLDER: Final = "vr_objects_jov2024"
"""How its folder is called among the data sets."""
VR_FILE: Final = "samples.parquet"
VR_RATE_HZ: Final = 90.0
PIXELS_PER_DEGREE: Final = 26.7
VR_SIDE: Final = 1336
VR_PLANE: Final = Geometry(
    Unit.PIXEL, VR_SIDE, VR_SIDE, fov_x_deg=VR_SIDE / PIXELS_PER_DEGREE, fov_y_deg=VR_SIDE / PIXELS_PER_DEGREE
)
VR_SECONDS: Final = 120.0
_FRAME_S = 1 / VR_RATE_HZ

_SESSION_COLUMNS = {
    "user": pl.Int64, "session": pl.Int64, "trial": pl.Int64, "t_ms": pl.Float64, "yaw": pl.Float64,
    "pitch": pl.Float64, "gaze_object": pl.String, "head_yaw": pl.Float64, "head_pitch": pl.Float64,
}  # fmt: skip
_PUPILS = {"pupil_l": pl.Float64, "pupil_r": pl.Float64}
_RECORDING_COLUMNS = ("user", "scene", "session", "trial", "t_ms", "yaw", "pitch", *_PUPILS)


@dataclass(frozen=True, slots=True, eq=False)
class VrSession:
    """A session in the headset: where the eyes point in the head, where the head points, and what they hit.

    Attributes:
        user: Who.
        session: Which of the four sessions.
        t: Seconds since its first trial began, trials joined.
        trial: The trial of each sample.
        yaw: Gaze in the head to the right in degrees, NaN where it was lost.
        pitch: Gaze in the head, degrees downwards.
        head_yaw: Where the head points, degrees to the right.
        head_pitch: Where the head points, degrees downwards.
        hit: Number of the object that the line of sight hits, -1 for none.
        objects: Their names.
        pupil: Mean diameter of the pupils in mm, NaN where it was lost; None if the table has none.
    """

    user: int
    session: int
    t: FloatArray
    trial: NDArray[np.int64]
    yaw: FloatArray
    pitch: FloatArray
    head_yaw: FloatArray
    head_pitch: FloatArray
    hit: NDArray[np.int64]
    objects: tuple[str, ...]
    pupil: FloatArray | None = None

    @property
    def recording(self) -> Recording:
        """Gaze in the head's frame in pixels, at the edge where it goes beyond."""
        x, y = (np.clip(angle * PIXELS_PER_DEGREE + VR_SIDE / 2, 0, VR_SIDE) for angle in (self.yaw, self.pitch))
        return Recording(self.t, x, y, VR_PLANE, str(self.user), session=str(self.session))


def vr_samples(folder: Path, columns: Collection[str] = _SESSION_COLUMNS) -> pl.DataFrame:
    """Read the table as it is: angles of gaze and pupils in hundredths, of the head in fifths of a degree.

    Raises:
        InputError: If the file is not there.
        FileFormatError: If it lacks one of the columns.
    """
    hint = "it holds the samples of github.com/ischtz/jov2023-vr-objects"
    return read_table(Path(folder) / VR_FILE, columns, hint=hint)


def vr_recordings(folder: Path) -> Iterator[Recording]:
    """Yield every trial: where the eyes point in the head, in degrees; where the head points is left out.

    Raises:
        InputError: If the file is not there.
        FileFormatError: If it is not the table we expect.
    """
    table = vr_samples(folder, _RECORDING_COLUMNS).with_columns(pl.col("user", "session", "trial").cast(pl.Int64))
    keys = ("user", "session", "trial")
    for one in table.sort(*keys, "t_ms", maintain_order=True).partition_by(*keys, maintain_order=True):
        user, session, trial = (int(one[name][0]) for name in keys)
        yaw, pitch = one["yaw"].cast(pl.Float64).to_numpy(), one["pitch"].cast(pl.Float64).to_numpy()
        yield Recording(
            one["t_ms"].to_numpy() / 1000,
            yaw / 100,
            -pitch / 100,
            headset(),
            f"user-{user:02d}",
            str(one["scene"][0]),
            str(session),
            str(trial),
            valid=(yaw != 0) | (pitch != 0),
            pupil=_pupil(one),
            rate_hz=VR_RATE_HZ,
            pupil_unit="mm",
        )


def vr_sessions(folder: Path, every: int = 2, seconds: float = VR_SECONDS) -> list[VrSession]:
    """Read the sessions in the headset that are used.

    Args:
        folder: Where the table is.
        every: Of the sessions with gaze, every so manieth.
        seconds: How much of each.

    Raises:
        InputError: If the file is not there.
        FileFormatError: If it is not the table we expect.
    """
    table = vr_samples(folder, _SESSION_COLUMNS)
    there = _SESSION_COLUMNS | (_PUPILS if _PUPILS.keys() <= set(table.columns) else {})
    table = table.select(pl.col(name).cast(kind) for name, kind in there.items())
    objects = tuple(sorted(set(table["gaze_object"].unique().to_list()) - {""}))
    parts = table.sort("user", "session", "trial", "t_ms", maintain_order=True).partition_by(
        "user", "session", maintain_order=True
    )
    tracked = [part for part in parts if ((part["yaw"] != 0) | (part["pitch"] != 0)).any()]
    return [_session(part, objects, seconds) for part in tracked[::every]]


def _session(part: pl.DataFrame, objects: tuple[str, ...], seconds: float) -> VrSession:
    trial, in_trial = part["trial"].to_numpy(), part["t_ms"].to_numpy() / 1000
    begins = np.flatnonzero(np.diff(trial, prepend=trial[0] - 1))
    lasts = in_trial[np.append(begins[1:], len(trial)) - 1]
    starts = np.concatenate(([0.0], np.cumsum(lasts + _FRAME_S)[:-1]))
    t = in_trial + np.repeat(starts, np.diff(np.append(begins, len(trial))))
    kept = t < seconds
    columns = {name: part[name].to_numpy()[kept] for name in ("yaw", "pitch", "head_yaw", "head_pitch")}
    lost = (columns["yaw"] == 0) & (columns["pitch"] == 0)
    numbers = {name: number for number, name in enumerate(objects)}
    hit = np.array([numbers.get(name, -1) for name in part["gaze_object"].to_list()], dtype=np.int64)
    return VrSession(
        user=int(part["user"][0]),
        session=int(part["session"][0]),
        t=t[kept],
        trial=trial[kept],
        yaw=np.where(lost, np.nan, columns["yaw"] / 100),
        pitch=np.where(lost, np.nan, -columns["pitch"] / 100),
        head_yaw=columns["head_yaw"] / 5,
        head_pitch=columns["head_pitch"] / 5,
        hit=hit[kept],
        objects=objects,
        pupil=_pupil(part)[kept] if "pupil_l" in part.columns else None,
    )


def _pupil(part: pl.DataFrame) -> FloatArray:
    """Return the mean of both pupils, or the one that was seen."""
    left, right = (np.where((size := part[name].to_numpy() / 100) > 0, size, np.nan) for name in _PUPILS)
    return np.where(np.isnan(left), right, np.where(np.isnan(right), left, (left + right) / 2))


# --- The folder that holds the data sets.


_KNOWN = (VR_FOLDER, LUND_FOLDER, JEMR_FOLDER, DORR_FOLDER.parts[0])


def find_data(given: Path | None) -> Path | None:
    """Return the folder that holds the data sets: the given one, or data/ or shared/data/ here or above, or None.

    Raises:
        InputError: If the given folder holds none of them.
    """
    if given is not None:
        if not any((given / name).is_dir() for name in _KNOWN):
            raise InputError(
                f"{given} has no folder {', '.join(_KNOWN[:-1])} or {_KNOWN[-1]}",
                hint="leave --data out to use simulated streams",
            )
        return given
    return next((folder for folder in _folders() if any((folder / name).is_dir() for name in _KNOWN)), None)


def need_data(given: Path | None, hint: str = "say where it is with --data FOLDER") -> Path:
    """Return the folder that holds the data sets, as `find_data` does.

    Raises:
        InputError: If there is none, with the hint; or if the given folder holds none of them.
    """
    folder = find_data(given)
    if folder is None:
        raise InputError("no folder of data sets is here or above", hint=hint)
    return folder


def found_above(name: str) -> Path | None:
    """Return the folder of one data set, in data/ or shared/data/ here or above, or None."""
    return next((folder / name for folder in _folders() if (folder / name).is_dir()), None)


def _folders() -> Iterator[Path]:
    here = Path.cwd()
    for base in (here, *here.parents):
        yield base / "data"
        yield base / "shared" / "data"
