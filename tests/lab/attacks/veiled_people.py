# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Gaze to attack in tests: a stream of plain fixations, simulated people, and veils in degrees."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from gazeveil.arrays import FloatArray
from gazeveil.lab.attacks.contract import ATTACKS, Attack, Exemplar, Trial
from gazeveil.lab.attacks.trials import simulated_trials
from gazeveil.noise import NoiseSource
from gazeveil.samples.mechanism import MECHANISMS, SampleMechanism
from gazeveil.samples.space import Space, Sphere
from gazeveil.simulate import TRACKERS, SimulatedStudy

SPACE = Sphere(100, 80)
RATE = 72.0


@lru_cache(maxsize=8)
def people(count: int = 4, seconds: float = 20.0, seed: int = 3, sessions: int = 1) -> tuple[Trial, ...]:
    """Simulated people in a headset, one trial a session, blinks and losses missing."""
    tracker = replace(TRACKERS["headset"], rate_hz=RATE)
    study = SimulatedStudy(observers=count, stimuli=1, sessions=sessions, tracker=tracker, seconds=seconds, seed=seed)
    return tuple(trial.with_gaze(trial.x, trial.y) for trial in simulated_trials(study))


def fixations(length: int, count: int, seed: int = 1, rate: float = RATE) -> Trial:
    """Fixations of equal length, far from one another, without any error of measurement."""
    rng = np.random.default_rng(seed)
    places = rng.uniform(-20, 20, (count, 2))
    places[::2, 0] += 25.0  # so that every saccade is a large one
    x, y = (np.repeat(places[:, axis], length) for axis in range(2))
    return Trial("somebody", "1", "a", np.arange(len(x)) / rate, x, y, rate)


def veil_of(name: str, space: Space = SPACE, **parameters: Any) -> SampleMechanism:
    """A mechanism by its name, in degrees unless told otherwise."""
    kind: Any = MECHANISMS[name]
    made: SampleMechanism = kind(space, **parameters)
    return made


def attack_of(name: str, **parameters: Any) -> Attack:
    """An attack by its name."""
    kind: Any = ATTACKS[name]
    made: Attack = kind(**parameters)
    return made


def veil(mechanism: SampleMechanism, trial: Trial, seed: int = 1) -> Trial:
    """What comes out of the veil."""
    return trial.with_gaze(*mechanism.start(NoiseSource.seeded(seed)).run(trial.t, trial.x, trial.y))


def exemplars(mechanism: SampleMechanism, trials: tuple[Trial, ...], seed: int = 100) -> tuple[Exemplar, ...]:
    """Trials before and behind the veil, each with noise of its own."""
    return tuple(Exemplar(trial, veil(mechanism, trial, seed + number)) for number, trial in enumerate(trials))


def error(guess: Trial, true: Trial) -> float:
    """Root mean square distance in degrees, where both are there."""
    squares: FloatArray = (guess.x - true.x) ** 2 + (guess.y - true.y) ** 2
    return float(np.sqrt(np.nanmean(squares)))
