# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""16 participants search for objects in a virtual room (Schuetz, Baltaretu & Fiehler 2024), four sessions of 20 trials.

A headset at about 90 Hz. The log holds (0, 0) where the tracker lost the eyes; here it is missing, and its time stays.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from gazeveil.arrays import FloatArray
from gazeveil.gaze.recording import Recording
from gazeveil.geometry import Geometry, Unit, headset
from gazeveil.lab.datasets._tables import read_table

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
