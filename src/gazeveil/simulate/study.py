# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Whole studies of simulated participants: who looked at what, how often, through which tracker."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from gazeveil.arrays import FloatArray
from gazeveil.errors import OptionError
from gazeveil.gaze import schema
from gazeveil.gaze.recording import Eye, Key, Recording
from gazeveil.geometry import Geometry, Unit
from gazeveil.simulate.eye_movements import STEP_S, TrueGaze, look
from gazeveil.simulate.population import Observer, Population, Purpose, generator
from gazeveil.simulate.stimuli import Stimulus, scene
from gazeveil.simulate.tracker import TRACKERS, Tracker

SOURCE = "simulator"
_VERGENCE_DEG = 0.25  # spread of the eyes' disagreement, slow


@dataclass(frozen=True, slots=True)
class SimulatedStudy:
    """A study: every observer sees every stimulus in every session and trial.

    Attributes:
        observers: How many participants.
        stimuli: How many scenes.
        sessions: On how many days; each day has its own calibration and its own small changes of the participant.
        trials: How often each scene is shown in a session.
        tracker: A tracker of `TRACKERS` by name, or one of your own.
        seconds: How long a scene is shown.
        seed: Everything follows from it.
        geometry: The viewing plane to measure on instead of the tracker's own.
        binocular: Whether both eyes are recorded.
    """

    observers: int = 24
    stimuli: int = 6
    sessions: int = 2
    trials: int = 1
    tracker: str | Tracker = "eyelink"
    seconds: float = 5.0
    seed: int = 1
    geometry: Geometry | None = None
    binocular: bool = False

    def __post_init__(self) -> None:
        for name in ("observers", "stimuli", "sessions", "trials"):
            count = getattr(self, name)
            if isinstance(count, bool) or not isinstance(count, int) or count < 1:
                raise OptionError(f"{name} must be a whole number from 1 up, not {count!r}")
        if not (math.isfinite(self.seconds) and 0.05 <= self.seconds <= 3600):
            raise OptionError(f"seconds must lie between 0.05 and 3600, not at {self.seconds!r}")
        generator(self.seed, Purpose.PERSON)
        if isinstance(self.tracker, str):
            TRACKERS[self.tracker]
        if self.geometry is not None and not self.geometry.knows_degrees:
            raise OptionError(
                "the viewing plane's size in degrees must be known", hint="give its size in mm and distance"
            )

    def __len__(self) -> int:
        return self.observers * self.sessions * self.stimuli * self.trials

    @property
    def device(self) -> Tracker:
        """The tracker itself."""
        return TRACKERS[self.tracker] if isinstance(self.tracker, str) else self.tracker

    @property
    def plane(self) -> Geometry:
        """The viewing plane gaze is measured on."""
        return self.device.geometry if self.geometry is None else self.geometry

    def people(self) -> list[Observer]:
        """Return the observers, as they are on an average day."""
        return list(Population(self.seed).observers(self.observers))

    def scenes(self) -> list[Stimulus]:
        """Return the stimuli."""
        return [scene(self.seed, index) for index in range(self.stimuli)]

    def recordings(self) -> Iterator[Recording]:
        """Yield all recordings, one observer after the other, session by session."""
        scenes = self.scenes()
        for observer in self.people():
            for session in range(1, self.sessions + 1):
                today = observer.on_day(session)
                for stimulus in scenes:
                    for trial in range(1, self.trials + 1):
                        yield self._record(today, stimulus, session, trial)

    def recording(self, observer: int, stimulus: int, session: int = 1, trial: int = 1) -> Recording:
        """Return one recording by number, without making the others.

        Participants and scenes from 0, the rest from 1.
        """
        for name, number, first, count in (
            ("observer", observer, 0, self.observers),
            ("stimulus", stimulus, 0, self.stimuli),
            ("session", session, 1, self.sessions),
            ("trial", trial, 1, self.trials),
        ):
            if not first <= number < first + count:
                raise OptionError(f"this study has no {name} {number}: they go from {first} to {first + count - 1}")
        today = Population(self.seed).observer(observer).on_day(session)
        return self._record(today, scene(self.seed, stimulus), session, trial)

    def _record(self, today: Observer, stimulus: Stimulus, session: int, trial: int) -> Recording:
        return record(today, stimulus, self.device, self.seconds, self.plane, session, trial, self.binocular)


def record(
    today: Observer,
    stimulus: Stimulus,
    tracker: Tracker,
    seconds: float,
    geometry: Geometry,
    session: int = 1,
    trial: int = 1,
    binocular: bool = False,
) -> Recording:
    """Record a participant, as on one day, looking at one scene."""
    rng = generator(today.seed, Purpose.RECORDING, today.index, session, stimulus.name, trial)
    calibration_rng = generator(today.seed, Purpose.CALIBRATION, today.index, session)
    calibration = tracker.calibrate(today, calibration_rng)
    true = look(today, stimulus, geometry, seconds, rng)
    times = tracker.clock(seconds, rng)
    key = Key(today.name, stimulus.name, str(session), str(trial))
    labels: dict[str, Any] = {
        "events": true_events(true, geometry),
        "rate_hz": tracker.rate_hz,
        "pupil_unit": tracker.pupil_unit,
    }
    if not binocular:
        x, y, tracked, pupil = tracker.observe(true, today, calibration, times, geometry, rng)
        for array in (times, x, y, tracked, pupil):
            array.flags.writeable = False  # a recording takes locked arrays without copying them
        return Recording(times, x, y, geometry, **key._asdict(), valid=tracked, pupil=pupil, **labels)
    apart = _vergence(times, rng)
    left = Eye(*tracker.observe(true, today, calibration, times, geometry, rng, apart / 2))
    other = tracker.calibrate(today, calibration_rng)
    right = Eye(*tracker.observe(true, today, other, times, geometry, rng, -apart / 2))
    return Recording.from_eyes(times, left, right, geometry, key, **labels)


def _vergence(times: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Return how far the two eyes point apart: a slow wander over about a second."""
    knots = np.arange(0.0, times[-1] + 1.0, 0.5)
    return np.interp(times, knots, _VERGENCE_DEG * rng.standard_normal(len(knots)))


def true_events(true: TrueGaze, geometry: Geometry) -> pl.DataFrame:
    """Return what the eye really did as an event table: fixations, saccades, microsaccades, blinks."""
    from gazeveil.simulate import eye_movement_kernels  # noqa: PLC0415  (compiles)

    jumps = true.jumps
    big = jumps[jumps[:, 0] == eye_movement_kernels.SACCADE]
    begin = np.concatenate(([0.0], big[:, 3]))
    end = np.minimum(np.concatenate((big[:, 1], [true.duration])), true.duration)
    whole = end > begin
    begin, end = begin[whole], end[whole]
    indices = [np.ceil(edge / STEP_S).astype(np.int64) for edge in (begin, end)]
    rests = eye_movement_kernels.means(true.gaze, *indices)
    at = [np.clip((jumps[:, column] / STEP_S).astype(np.int64), 0, len(true.gaze) - 1) for column in (1, 3)]
    size = np.hypot(jumps[:, 4], jumps[:, 5])
    kinds = ["fixation"] * len(begin)
    kinds += [
        "microsaccade" if kind == eye_movement_kernels.MICROSACCADE else "saccade" for kind in jumps[:, 0].tolist()
    ]
    kinds += ["blink"] * len(true.blinks)
    gap = (np.full(len(begin), np.nan), np.full(len(true.blinks), np.nan))
    nowhere = gap[1]

    def in_unit(x: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
        return geometry.in_unit(Unit.DEGREE).convert(x, y, geometry.unit)

    x, y = in_unit(
        np.concatenate((rests[:, 0], true.gaze[at[0], 0], nowhere)),
        np.concatenate((rests[:, 1], true.gaze[at[0], 1], nowhere)),
    )
    end_x, end_y = in_unit(
        np.concatenate((gap[0], true.gaze[at[1], 0], nowhere)), np.concatenate((gap[0], true.gaze[at[1], 1], nowhere))
    )
    onset = np.concatenate((begin, jumps[:, 1], true.blinks[:, 0]))
    order = np.argsort(onset, kind="stable")
    table = pl.DataFrame(
        {
            "kind": kinds,
            "onset": onset,
            "offset": np.minimum(np.concatenate((end, jumps[:, 3], true.blinks[:, 1])), true.duration),
            "x": x,
            "y": y,
            "end_x": end_x,
            "end_y": end_y,
            "amplitude": np.concatenate((gap[0], size, nowhere)),
            "peak_velocity": np.concatenate((gap[0], jumps[:, 9], nowhere)),
        }
    )[order]
    table = table.with_columns(pl.col(pl.Float64).fill_nan(None), source=pl.lit(SOURCE), eye=pl.lit("both"))
    return schema.event_table(table)
