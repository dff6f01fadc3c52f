# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What makes trials of recordings.

Of any, of simulated participants, and of public data sets by the path of their folder.

What the tracker lost is NaN, and its time stays.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from gazeveil import read
from gazeveil.arrays import FloatArray
from gazeveil.errors import OptionError
from gazeveil.gaze.corpus import Corpus, is_corpus
from gazeveil.gaze.recording import Recording
from gazeveil.geometry import Geometry
from gazeveil.lab.attacks.contract import Trial
from gazeveil.lab.datasets import (
    DORR_FOLDER,
    EYETRIBE_FILE,
    VR_FOLDER,
    dorr2010,
    eyetribe,
    gazebase_files,
    vr_recordings,
)
from gazeveil.simulate import SimulatedStudy

_EYETRIBE_RATE_HZ = 1 / 0.034
_DORR_RATE_HZ = 250.0
_SLACK_S = 5.0


def trial_of(recording: Recording) -> Trial:
    """Return a recording as a trial in degrees, named after its stimulus and trial.

    Samples whose time does not grow are left out.

    Raises:
        GeometryError: If the recording's viewing plane does not know degrees.
    """
    recording.need_samples("recognising a participant")
    gaze = recording.to("deg")
    pupil = None if recording.pupil is None else _where(recording.pupil, recording.pupil > 0)
    labels = (recording.observer, recording.session, f"{recording.stimulus} {recording.trial}".strip())
    return _trial(labels, gaze.t, gaze.x, gaze.y, pupil, recording.rate)


def trials_of(recordings: Corpus | Iterable[Recording]) -> tuple[Trial, ...]:
    """Return recordings, or those of a corpus, as trials in degrees."""
    return tuple(map(trial_of, recordings.recordings() if isinstance(recordings, Corpus) else recordings))


def simulated_trials(study: SimulatedStudy) -> tuple[Trial, ...]:
    """Return everything that the simulated participants of a study look at."""
    return trials_of(study.recordings())


def vr_trials(folder: Path) -> tuple[Trial, ...]:
    """Read the headset's trials from the folder of data sets; a trial's name is its scene and number."""
    return trials_of(vr_recordings(Path(folder) / VR_FOLDER))


def eyetribe_trials(folder: Path, seconds: float = 60.0) -> tuple[Trial, ...]:
    """Read the desktop tracker's runs from the folder of data sets, cut into trials of some seconds.

    A run is a session. The pupil of a sample without gaze is missing.
    """
    found: list[Trial] = []
    for run in eyetribe(Path(folder) / EYETRIBE_FILE):
        whole = replace(trial_of(run), name="", rate_hz=_EYETRIBE_RATE_HZ)
        pupil = None if whole.pupil is None else _where(whole.pupil, np.isfinite(whole.x))
        found.extend(cut(replace(whole, pupil=pupil), seconds))
    return tuple(found)


def dorr_trials(folder: Path) -> tuple[Trial, ...]:
    """Read the films seen on two days from the folder of data sets.

    Participants who came on one day alone are left out.
    """
    found = [replace(trial_of(one), rate_hz=_DORR_RATE_HZ) for one in dorr2010(Path(folder) / DORR_FOLDER)]
    days = [{trial.person for trial in found if trial.session == day} for day in ("1", "2")]
    return tuple(trial for trial in found if trial.person in days[0] & days[1])


def gazebase_trials(
    folder: Path, *, tasks: Collection[str] = (), rounds: Collection[int] = (), people: Collection[str] = ()
) -> Iterator[Trial]:
    """Read the recordings of `gazebase_files` one after the other; a trial's name is its task."""
    return (trial_of(file.recording()) for file in gazebase_files(folder, tasks=tasks, rounds=rounds, people=people))


def trials_at(path: Path, plane: Geometry | None = None) -> Iterator[Trial]:
    """Yield the trials of a corpus, of a folder of GazeBase or GazeBaseVR, or of any gaze file that can be read.

    ``plane`` completes what recordings say about the screen.
    """
    if path.is_dir() and is_corpus(path) and plane is None:
        yield from trials_of(Corpus.open(path))
    elif path.is_dir() and next(path.rglob("S_*.csv"), None) is not None:
        yield from gazebase_trials(path)
    else:
        yield from trials_of(read(path, geometry=plane).recordings)


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


def _where(values: FloatArray, there: np.ndarray) -> FloatArray:
    return np.where(there, values, np.nan)
