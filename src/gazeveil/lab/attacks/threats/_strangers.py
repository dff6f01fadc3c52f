# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Participants whom anyone can make: simulated strangers, before and behind a mechanism.

They need no grant but the mechanism.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from gazeveil.lab.attacks.contract import Exemplar, Trial
from gazeveil.lab.attacks.restoring.shared import veiled_by
from gazeveil.lab.attacks.trials import simulated_trials
from gazeveil.noise import NoiseSource
from gazeveil.samples.mechanism import SampleMechanism
from gazeveil.simulate.study import SimulatedStudy
from gazeveil.simulate.tracker import TRACKERS


@lru_cache(maxsize=4)
def strangers(rate_hz: float, people: int, sessions: int, seconds: float, seed: int) -> tuple[Trial, ...]:
    """Return simulated participants in a headset at this rate, a scene a session, without pupil."""
    tracker = replace(TRACKERS["headset"], rate_hz=min(max(rate_hz, 1.0), 1000.0))
    study = SimulatedStudy(people, 1, sessions, tracker=tracker, seconds=seconds, seed=seed)
    return tuple(trial.with_gaze(trial.x, trial.y) for trial in simulated_trials(study))


def veiled_strangers(
    mechanism: SampleMechanism, rate_hz: float, people: int, sessions: int, seconds: float, seed: int
) -> tuple[Exemplar, ...]:
    """Return them before and behind the mechanism, with noise of the attacker's own."""
    source = NoiseSource.seeded(seed)
    return tuple(
        Exemplar(trial, veiled_by(mechanism, trial, source.spawn(f"stranger-{number}")))
        for number, trial in enumerate(strangers(rate_hz, people, sessions, seconds, seed))
    )
