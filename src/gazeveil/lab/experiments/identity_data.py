# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Participants to be told apart: those who looked for objects in a headset, or simulated ones.

The recordings of Wilson et al. 2024 (26 participants, four trials of 90 s, 72 Hz) are not at hand. In their place:

- ``vr``: 16 participants in four sessions (Schuetz et al. 2024); the trials of a session are joined, and its first 90 s
  are one record. What objects were hit is known.
- ``simulated``: as many participants as in the paper, on four days, before a scene that all see, in a headset at 72 Hz.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from gazeveil.geometry import Geometry, headset
from gazeveil.lab.attacks.contract import Trial
from gazeveil.lab.datasets.vr_objects import VrSession, vr_sessions
from gazeveil.simulate import TRACKERS, Population, SimulatedStudy

PEOPLE: Final = 26
SESSIONS: Final = 4
SECONDS: Final = 90.0
"""As in the paper."""

TRAITS: Final = {"fast saccades": "saccade_ceiling", "long fixations": "fixation_s", "noisy eyes": "precision_factor"}
"""Traits of simulated participants, by the simulator's own name."""

_VR_RATE_HZ = 90.0
PAPERS_RATE_HZ = 72.0
_MARGIN_S = 1.0
"""Read a little more, so that the last window of a record is whole."""


@dataclass(frozen=True, slots=True, eq=False)
class IdentitySet:
    """Records of participants, and how they differ from the paper's.

    Attributes:
        name: Short name.
        title: What they are, for tables.
        differs: How they differ from those of the paper.
        plane: What the eyes can reach, as the field of a mechanism that needs one.
        trials: The records; their sessions are the folds.
        rooms: What was hit in a record, by participant and session, where that is known.
    """

    name: str
    title: str
    differs: str
    plane: Geometry
    trials: tuple[Trial, ...]
    rooms: Mapping[tuple[str, str], VrSession] = field(default_factory=dict)

    def some(self, people: int) -> IdentitySet:
        """Return the set with this many participants at most."""
        kept = sorted({trial.person for trial in self.trials})[:people]
        return replace(
            self,
            title=f"{self.title} (the first {len(kept)})",
            trials=tuple(trial for trial in self.trials if trial.person in kept),
        )


def vr_people(folder: Path, seconds: float = SECONDS) -> IdentitySet:
    """Read all sessions in the headset that have gaze.

    Raises:
        InputError: If the file is not there.
        FileFormatError: If it is not the table we expect.
    """
    rooms = {
        (f"user-{room.user:02d}", str(room.session)): room
        for room in vr_sessions(folder, every=1, seconds=seconds + _MARGIN_S)
    }
    trials = tuple(
        Trial(person, session, "joined", room.t, room.yaw, room.pitch, _VR_RATE_HZ, room.pupil)
        for (person, session), room in rooms.items()
    )
    people = len({person for person, _ in rooms})
    return IdentitySet(
        name="vr",
        title=f"{people} participants x 4 sessions in a headset, searching for objects (Schuetz et al. 2024)",
        differs=(
            "other participants, task and headset than the paper's 26; trials of one session are joined to records of "
            f"{seconds:g} s; sessions have their own calibration, the paper's trials share one; about 90 Hz, not 72"
        ),
        plane=headset(50, 50),
        trials=trials,
        rooms=rooms,
    )


def simulated_people(
    people: int = PEOPLE, sessions: int = SESSIONS, seconds: float = SECONDS, seed: int = 8
) -> IdentitySet:
    """Return simulated participants before one scene, each session on another day."""
    tracker = replace(TRACKERS["headset"], name="headset-72", rate_hz=PAPERS_RATE_HZ)
    study = SimulatedStudy(people, 1, sessions, 1, tracker, seconds + _MARGIN_S, seed)
    trials = tuple(
        Trial(one.observer, one.session, one.stimulus, one.t, one.x, one.y, PAPERS_RATE_HZ, one.pupil)
        for one in (recording.to("deg") for recording in study.recordings())
    )
    return IdentitySet(
        name="simulated",
        title=f"{people} simulated participants x {sessions} days in a headset",
        differs=(
            "these participants are simulated, as different as the simulator makes them, and look at a still scene; "
            "each record is of another day with another calibration, the paper's trials follow one another"
        ),
        plane=tracker.geometry,
        trials=trials,
    )


def simulated_traits(people: int, seed: int) -> dict[str, Mapping[str, str]]:
    """Return of simulated participants whether they are above the middle, by trait and name."""
    observers = list(Population(seed).observers(people))
    kinds: dict[str, Mapping[str, str]] = {}
    for words, trait in TRAITS.items():
        middle = statistics.median(getattr(person, trait) for person in observers)
        kinds[words] = {person.name: "yes" if getattr(person, trait) > middle else "no" for person in observers}
    return kinds
