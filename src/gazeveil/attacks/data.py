# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Where trials come from: any recording, simulated people, and two public data sets by the path of their folder.

- `vr_trials`: 16 people who look for objects in a virtual room (Schuetz, Baltaretu & Fiehler 2024), a headset at about
  90 Hz, four sessions of 20 trials. Gaze is where the eyes point in the head; where the head points is left out.
- `eyetribe_trials`: 30 people in runs of an attention task (Ziman et al.), a desktop tracker at about 30 Hz. A run is
  a session and is cut into trials of a minute.

What the tracker lost is NaN, and its time stays.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

import numpy as np
import polars as pl

from gazeveil.attacks.contract import Trial
from gazeveil.errors import FileFormatError, OptionError
from gazeveil.gaze._parquet import guarded
from gazeveil.gaze.corpus import Corpus
from gazeveil.gaze.geometry import screen
from gazeveil.gaze.recording import Recording
from gazeveil.simulate.study import SimulatedStudy
from gazeveil.types import FloatArray

VR_FILE: Final = Path("vr_objects_jov2024") / "samples.parquet"
EYETRIBE_FILE: Final = Path("eyetribe_contextlab") / "eyetribe_runs.parquet"
"""Where the files lie in the folder of data sets."""

_VR_RATE_HZ = 90.0
_VR_COLUMNS = ("user", "scene", "session", "trial", "t_ms", "yaw", "pitch", "pupil_l", "pupil_r")
_EYETRIBE_COLUMNS = ("user", "run", "t_ms", "x", "y", "pupil", "state")
_EYETRIBE_PLANE = screen(1920, 1080, 1920 * 0.27, 1080 * 0.27, 600)
"""60 cm from the screen, says the data set; its size is not stated: a usual one with pixels of 0.27 mm is assumed."""
_EYETRIBE_RATE_HZ = 1 / 0.034
_GAZE_VALID = 7
_SLACK_S = 5.0


def trial_of(recording: Recording) -> Trial:
    """Return a recording as a trial in degrees, named after its stimulus and trial.

    Samples whose time does not grow are left out.

    Raises:
        GeometryError: If the recording's plane does not know degrees.
    """
    gaze = recording.to("deg")
    pupil = None if recording.pupil is None else _where(recording.pupil, recording.pupil > 0)
    labels = (recording.observer, recording.session, f"{recording.stimulus} {recording.trial}".strip())
    return _trial(labels, gaze.t, gaze.x, gaze.y, pupil, recording.rate)


def trials_of(recordings: Corpus | Iterable[Recording]) -> tuple[Trial, ...]:
    """Return recordings, or those of a corpus, as trials in degrees."""
    return tuple(map(trial_of, recordings.recordings() if isinstance(recordings, Corpus) else recordings))


def simulated_trials(study: SimulatedStudy) -> tuple[Trial, ...]:
    """Return everything that the simulated people of a study look at."""
    return trials_of(study.recordings())


def vr_trials(folder: Path) -> tuple[Trial, ...]:
    """Read the headset's trials from the folder of data sets; a trial's name is its scene and number.

    Raises:
        FileFormatError: If the file is missing or lacks a column.
    """
    table = _read(Path(folder) / VR_FILE, _VR_COLUMNS)
    found = []
    for key, one in _parts(table, "user", "session", "trial"):
        yaw, pitch = _degrees(one, "yaw"), -_degrees(one, "pitch")
        seen = (yaw != 0) | (pitch != 0)  # the log holds (0, 0) where the tracker lost the eyes
        left, right = (_where(_degrees(one, name), one[name].to_numpy() > 0) for name in ("pupil_l", "pupil_r"))
        pupil = np.where(np.isnan(left), right, np.where(np.isnan(right), left, (left + right) / 2))
        labels = (f"user-{key['user']:02d}", str(key["session"]), f"{one['scene'][0]} {key['trial']}")
        seconds = one["t_ms"].to_numpy() / 1000
        found.append(_trial(labels, seconds, _where(yaw, seen), _where(pitch, seen), pupil, _VR_RATE_HZ))
    return tuple(found)


def eyetribe_trials(folder: Path, seconds: float = 60.0) -> tuple[Trial, ...]:
    """Read the desktop tracker's runs from the folder of data sets, cut into trials of some seconds.

    Raises:
        FileFormatError: If the file is missing or lacks a column.
    """
    table = _read(Path(folder) / EYETRIBE_FILE, _EYETRIBE_COLUMNS)
    found: list[Trial] = []
    for key, one in _parts(table, "user", "run"):
        seen = one["state"].to_numpy() == _GAZE_VALID
        x, y = _EYETRIBE_PLANE.convert(_floats(one, "x"), _floats(one, "y"), "deg")
        pupil = _floats(one, "pupil")
        labels = (f"user-{key['user']:02d}", str(key["run"]), "")
        run = _trial(
            labels,
            one["t_ms"].to_numpy() / 1000,
            _where(x, seen),
            _where(y, seen),
            _where(pupil, seen & (pupil > 0)),
            _EYETRIBE_RATE_HZ,
        )
        found.extend(cut(run, seconds))
    return tuple(found)


def cut(trial: Trial, seconds: float) -> tuple[Trial, ...]:
    """Return a trial cut into trials of some seconds, numbered; a rest of less (by more than 5 s) is left out.

    Raises:
        OptionError: If the length is not above 0.
    """
    if not seconds > 0:
        raise OptionError(f"the length of a trial must be above 0 s, not {seconds!r}")
    if not len(trial.t):
        return ()
    since = trial.t - trial.t[0]
    parts = []
    for number in range(int((since[-1] + min(_SLACK_S, seconds / 2)) // seconds)):
        inside = (since >= number * seconds) & (since < (number + 1) * seconds)
        name = f"{trial.name} {number + 1}".strip()
        pupil = None if trial.pupil is None else trial.pupil[inside]
        parts.append(
            Trial(
                trial.person,
                trial.session,
                name,
                trial.t[inside],
                trial.x[inside],
                trial.y[inside],
                trial.rate_hz,
                pupil,
            )
        )
    return tuple(parts)


def without_pupil(trials: Iterable[Trial]) -> tuple[Trial, ...]:
    """Return the trials with the pupil denied."""
    return tuple(trial.with_gaze(trial.x, trial.y) for trial in trials)


def _trial(
    labels: tuple[str, str, str], t: FloatArray, x: FloatArray, y: FloatArray, pupil: FloatArray | None, rate_hz: float
) -> Trial:
    grows = np.isfinite(t)
    timed = np.where(grows, t, -np.inf)
    grows[1:] &= timed[1:] > np.maximum.accumulate(timed)[:-1]
    return Trial(*labels, t[grows], x[grows], y[grows], rate_hz, None if pupil is None else pupil[grows])


def _read(path: Path, columns: tuple[str, ...]) -> pl.DataFrame:
    table = guarded(path, lambda: pl.read_parquet(path))
    for name in columns:
        if name not in table.columns:
            raise FileFormatError(
                path, column=name, expected="a column of that name", found=", ".join(table.columns) or "no columns"
            )
    return table.select(columns)


def _parts(table: pl.DataFrame, *keys: str) -> Iterable[tuple[Mapping[str, int], pl.DataFrame]]:
    ordered = table.with_columns(pl.col(keys).cast(pl.Int64)).sort(*keys, "t_ms", maintain_order=True)
    for part in ordered.partition_by(*keys, maintain_order=True):
        yield {name: int(part[name][0]) for name in keys}, part


def _floats(table: pl.DataFrame, name: str) -> FloatArray:
    return table[name].cast(pl.Float64).to_numpy()


def _degrees(table: pl.DataFrame, name: str) -> FloatArray:
    return _floats(table, name) / 100  # the file holds hundredths


def _where(values: FloatArray, there: np.ndarray) -> FloatArray:
    return np.where(there, values, np.nan)
