# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Whose gaze the network is trained on: trials of any source as velocities, and simulated participants.

Were the tracker always the same, a network could learn how noisy a participant's recordings are and little else. So
every session draws a tracker of its own: its rate, the size and colour of its noise, its losses, its calibration.
Nothing of it belongs to the participant.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from functools import lru_cache, partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from gazeveil.errors import InputError, OptionError
from gazeveil.geometry import Geometry, headset
from gazeveil.lab.attacks.contract import Trial
from gazeveil.lab.attacks.ekyt.files import Velocities, load, packed
from gazeveil.lab.attacks.ekyt.windows import velocities, window_samples
from gazeveil.lab.attacks.trials import trials_at
from gazeveil.simulate import TRACKERS, Tracker, scene
from gazeveil.simulate.eye_movements import look
from gazeveil.simulate.population import Population, Purpose, generator


def velocities_of(
    trials: Iterable[Trial],
    rate_hz: float,
    about: dict[str, Any] | None = None,
    tell: Callable[[int], None] | None = None,
) -> Velocities:
    """Return trials as velocities at one rate, one recording each; sessions are numbered in the order of names."""
    found = []
    for trial in trials:
        velocity = packed(velocities(trial.t, trial.x, trial.y, trial.rate_hz, rate_hz))
        found.append((trial.person, trial.session, velocity))
        if tell is not None:
            tell(len(found))
    if not found:
        raise InputError("there is no gaze to train on")
    names = tuple(sorted({person for person, _, _ in found}))
    days = sorted({session for _, session, _ in found}, key=lambda name: (len(name), name))
    return Velocities(
        tuple(velocity for _, _, velocity in found),
        np.array([names.index(person) for person, _, _ in found], dtype=np.int32),
        np.array([days.index(session) + 1 for _, session, _ in found], dtype=np.int32),
        names,
        rate_hz,
        about or {},
    )


def gathered(
    paths: list[Path],
    rate_hz: float,
    tell: Callable[[int], None] | None = None,
    plane: Geometry | None = None,
) -> Velocities:
    """Return what lies at some paths: files of velocities, or gaze as `trials_at` finds it; tell how many trials."""
    if all(path.suffix == ".npz" for path in paths):
        kept = load(paths)
        if kept.rate_hz != rate_hz:
            raise InputError(f"the velocities are at {kept.rate_hz:g} Hz, not at {rate_hz:g}", hint="give their --rate")
        return kept
    about = {"source": [path.name for path in paths]}
    return velocities_of((trial for path in paths for trial in trials_at(path, plane)), rate_hz, about, tell)


# --- Training data without participants: simulated ones, on several days, each day through another tracker.


VARIED: Final = "varied"
SCENES: Final = 64
PART_S: Final = 30.0
"""How long a scene is shown; a session is made of such parts."""
_PLANE: Final = headset(60, 45)
_RATES: Final = (72.0, 90.0, 120.0, 125.0, 250.0, 500.0, 1000.0)


@dataclass(frozen=True, slots=True)
class Crowd:
    """Simulated participants to train on.

    Attributes:
        people: How many.
        sessions: On how many days each.
        minutes: How long a session is.
        rate_hz: The rate of the velocities.
        tracker: ``varied``, or the name of one tracker for all sessions.
        seed: Everything follows from it.
        first: Number of the first participant, to make a crowd in parts.
    """

    people: int = 500
    sessions: int = 8
    minutes: float = 1.0
    rate_hz: float = 125.0
    tracker: str = VARIED
    seed: int = 1
    first: int = 0

    def __post_init__(self) -> None:
        if self.people < 1 or self.sessions < 1 or self.first < 0:
            raise OptionError("a crowd has at least one participant and one session, and is counted from 0")
        if not (math.isfinite(self.minutes) and 0 < self.minutes <= 600):
            raise OptionError(f"minutes must lie above 0 and up to 600, not at {self.minutes!r}")
        window_samples(1.0, self.rate_hz)
        if self.tracker != VARIED:
            TRACKERS[self.tracker]
        generator(self.seed, Purpose.PERSON)

    def simulate(self, workers: int = 1, tell: Callable[[int, int], None] | None = None) -> Velocities:
        """Return each participant's velocities, made in this many processes; the number of them changes nothing."""
        recordings: list[NDArray[np.int16]] = []
        person: list[int] = []
        session: list[int] = []
        names = []
        for done, (name, parts) in enumerate(self._everybody(workers), start=1):
            for number, recording in parts:
                recordings.append(recording)
                person.append(done - 1)
                session.append(number)
            names.append(name)
            if tell is not None:
                tell(done, self.people)
        return Velocities(
            tuple(recordings),
            np.array(person, dtype=np.int32),
            np.array(session, dtype=np.int32),
            tuple(names),
            self.rate_hz,
            {"source": "simulator", **asdict(self)},
        )

    def _everybody(self, workers: int) -> Iterator[tuple[str, list[tuple[int, NDArray[np.int16]]]]]:
        indices = range(self.first, self.first + self.people)
        if workers <= 1:
            yield from map(partial(one_person, self), indices)
            return
        with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
            yield from pool.map(partial(one_person, self), indices, chunksize=4)


def one_person(crowd: Crowd, index: int) -> tuple[str, list[tuple[int, NDArray[np.int16]]]]:
    """Return a participant's name and, for every part of every session, its number and velocities."""
    observer = Population(crowd.seed).observer(index)
    seconds = 60.0 * crowd.minutes
    parts = max(1, round(seconds / PART_S))
    result = []
    for session in range(1, crowd.sessions + 1):
        today = observer.on_day(session)
        rng = generator(crowd.seed, Purpose.CALIBRATION, "ekyt", index, session)
        tracker = varied_tracker(rng) if crowd.tracker == VARIED else TRACKERS[crowd.tracker]
        calibration = tracker.calibrate(today, rng)
        for _ in range(parts):
            stimulus = _scene(crowd.seed, int(rng.integers(SCENES)))
            true = look(today, stimulus, _PLANE, seconds / parts, rng)
            times = tracker.clock(seconds / parts, rng)
            x, y, tracked, _ = tracker.observe(true, today, calibration, times, _PLANE, rng)
            x[~tracked] = np.nan
            result.append((session, packed(velocities(times, x, y, tracker.rate_hz, crowd.rate_hz))))
    return observer.name, result


def varied_tracker(rng: Any) -> Tracker:
    """Return a tracker as one session may have it: between a good desktop tracker and a poor headset."""
    slow = bool(rng.random() < 0.5)
    rate_hz = float(rng.choice(_RATES[:4] if slow else _RATES[4:]))
    noise_deg = math.exp(rng.uniform(math.log(0.08), math.log(0.5)))
    # smoother at high rates: the same wandering error moves less from one sample to the next
    noise_type = rng.uniform(0.45, 1.3) if slow else rng.uniform(0.2, 0.7)
    return Tracker(
        "varied",
        rate_hz=rate_hz,
        geometry=_PLANE,
        noise_deg=noise_deg,
        noise_type=noise_type,
        accuracy_deg=rng.uniform(0.4, 2.0),
        stretch_error=0.03,
        exposure_s=rng.uniform(0.0, 0.006),
        clock_jitter_s=rng.uniform(0.0, 0.05) / rate_hz,
        losses_per_minute=math.exp(rng.uniform(math.log(0.5), math.log(45.0))),
        loss_s=rng.uniform(0.03, 0.12),
        quantum=float(rng.choice([0.0, 0.01, 0.02])),
    )


_scene = lru_cache(maxsize=SCENES)(scene)
