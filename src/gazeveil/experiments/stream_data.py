# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Streams to judge veils on: a headset, a laboratory screen, and simulated people.

- ``vr``: 16 people who look for objects in a virtual room (Schuetz et al. 2024), a headset at about 90 Hz. Gaze is
  taken in the head's frame, ±25 degrees at 26.7 pixels a degree, so 1336 x 1336 pixels; gaze beyond is put on the
  edge. The trials of a session are joined, the first 120 s are kept. Sessions without any tracked gaze are left out,
  and of the others, ordered by person and session, every second one is taken: 31.
- ``lund``: the 23 recordings on images and videos of Andersson et al. 2017, 500 Hz, 1024 x 768 pixels. Lost gaze at
  (0, 0), blinks by the label of expert RA, and gaze more than 50 pixels off the screen are missing.
- ``simulated``: 20 people of our simulator, each before a scene of their own for 60 s, 60 Hz, 1280 x 720 pixels.

What the tracker lost is missing (NaN), never (0, 0), and its time stays: that is what a live veil would meet.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from gazeveil.errors import FileFormatError, InputError
from gazeveil.experiments.detector_agreement import load as load_lund
from gazeveil.gaze.geometry import Geometry, Unit, screen
from gazeveil.gaze.recording import Recording
from gazeveil.simulate import TRACKERS, Block, GazeStream, Population, scene
from gazeveil.types import FloatArray

VR_FOLDER, LUND_FOLDER = "vr_objects_jov2024", "lund2013"
VR_FILE: Final = "samples.parquet"
PIXELS_PER_DEGREE: Final = 26.7
VR_SIDE: Final = 1336
VR_PLANE: Final = Geometry(
    Unit.PIXEL, VR_SIDE, VR_SIDE, fov_x_deg=VR_SIDE / PIXELS_PER_DEGREE, fov_y_deg=VR_SIDE / PIXELS_PER_DEGREE
)
VR_SECONDS: Final = 120.0
_FRAME_S = 1 / 90
_OFF_SCREEN_PX = 50
_BLINK = 5

SIMULATED_PEOPLE, SIMULATED_SECONDS = 20, 60.0
_SIMULATED_SCREEN = screen(1280, 720, 518, 291, 600)

_VR_COLUMNS = {
    "user": pl.Int64, "session": pl.Int64, "trial": pl.Int64, "t_ms": pl.Float64, "yaw": pl.Float64,
    "pitch": pl.Float64, "gaze_object": pl.String, "head_yaw": pl.Float64, "head_pitch": pl.Float64,
}  # fmt: skip
_PUPILS = {"pupil_l": pl.Float64, "pupil_r": pl.Float64}


@dataclass(frozen=True, slots=True, eq=False)
class StreamSet:
    """Some streams on one plane.

    Attributes:
        name: Short name: vr, lund or simulated.
        place: Where they were recorded.
        recordings: The streams.
    """

    name: str
    place: str
    recordings: tuple[Recording, ...]

    @property
    def title(self) -> str:
        """What it is, for tables."""
        left, top, right, bottom = self.plane.extent()
        return f"{self.place}, {len(self.recordings)} recordings, {right - left:g} x {bottom - top:g} {self.plane.unit}"

    @property
    def plane(self) -> Geometry:
        """The plane of all of them."""
        return self.recordings[0].geometry

    def some(self, count: int) -> StreamSet:
        """Return the set with so many recordings at most, spread over the whole."""
        step = max(1, -(-len(self.recordings) // count))
        return replace(self, recordings=self.recordings[::step])


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


def find_data(given: Path | None) -> Path | None:
    """Return the folder that holds the data sets: the given one, or data/ or shared/data/ here or above, or None.

    Raises:
        InputError: If the given folder holds none of them.
    """
    if given is not None:
        if not any((given / name).is_dir() for name in (VR_FOLDER, LUND_FOLDER)):
            raise InputError(
                f"{given} has no folder {VR_FOLDER} or {LUND_FOLDER}", hint="leave --data out to use simulated streams"
            )
        return given
    here = Path.cwd()
    for base in (here, *here.parents):
        for folder in (base / "data", base / "shared" / "data"):
            if any((folder / name).is_dir() for name in (VR_FOLDER, LUND_FOLDER)):
                return folder
    return None


def stream_sets(data: Path | None, names: Sequence[str] = ("vr", "lund", "simulated")) -> list[StreamSet]:
    """Return the sets of those names that are there; the simulated one always is."""
    found = []
    if "vr" in names and data is not None and (data / VR_FOLDER).is_dir():
        sessions = vr_sessions(data / VR_FOLDER)
        found.append(StreamSet("vr", "headset", tuple(session.recording for session in sessions)))
    if "lund" in names and data is not None and (data / LUND_FOLDER).is_dir():
        found.append(StreamSet("lund", "laboratory", lund_recordings(data / LUND_FOLDER)))
    if "simulated" in names:
        found.append(StreamSet("simulated", "simulated", simulated_recordings()))
    if not found:
        raise InputError(f"none of {', '.join(names)} is there", hint="say where the data are with --data")
    return found


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
    path = Path(folder) / VR_FILE
    if not path.is_file():
        raise InputError(f"{path} is not there", hint="it holds the samples of github.com/ischtz/jov2023-vr-objects")
    try:
        table = pl.read_parquet(path)
    except (pl.exceptions.PolarsError, OSError):
        raise FileFormatError(path, expected="a Parquet table", found="something else") from None
    if missing := [name for name in _VR_COLUMNS if name not in table.columns]:
        raise FileFormatError(path, column=missing[0], expected="a column of that name", found=", ".join(table.columns))
    there = _VR_COLUMNS | (_PUPILS if _PUPILS.keys() <= set(table.columns) else {})
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


def lund_recordings(folder: Path) -> tuple[Recording, ...]:
    """Read the recordings on images and videos.

    Raises:
        InputError: If the file is not there.
        FileFormatError: If it is not the table we expect.
    """
    return tuple(
        _on_screen(item.recording, item.labels["RA"] == _BLINK) for item in load_lund(folder) if item.stimuli != "dots"
    )


def _on_screen(recording: Recording, blink: NDArray[np.bool_]) -> Recording:
    left, top, right, bottom = recording.geometry.extent()
    with np.errstate(invalid="ignore"):
        near = (
            (recording.x > left - _OFF_SCREEN_PX)
            & (recording.x < right + _OFF_SCREEN_PX)
            & (recording.y > top - _OFF_SCREEN_PX)
            & (recording.y < bottom + _OFF_SCREEN_PX)
        )
    return replace(recording, valid=recording.tracked & near & ~blink)


def simulated_recordings(
    people: int = SIMULATED_PEOPLE, seconds: float = SIMULATED_SECONDS, seed: int = 6
) -> tuple[Recording, ...]:
    """Return the streams of simulated people, each before another scene."""
    tracker = replace(TRACKERS["remote"], name="remote-60", rate_hz=60, geometry=_SIMULATED_SCREEN)
    recordings = []
    for number, person in enumerate(Population(seed).observers(people)):
        stream = GazeStream(person.on_day(1), scene(seed, number), tracker, seed=seed)
        blocks = list(islice(stream.blocks(1.0), round(seconds)))
        gaze = Block._make(np.concatenate(parts) for parts in zip(*blocks, strict=True))
        recordings.append(
            Recording(gaze.t, gaze.x, gaze.y, _SIMULATED_SCREEN, person.name, f"scene {number}", rate_hz=60)
        )
    return tuple(recordings)
