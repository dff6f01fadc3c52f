# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Who is it, without any mechanism? Participants to be told apart, and how well they are in later sessions.

The recordings of Wilson et al. 2024 (26 participants, four trials of 90 s, 72 Hz) are not at hand. In their place:

- ``vr``: 16 participants in four sessions (Schuetz et al. 2024); the trials of a session are joined, and its first 90 s
  are one record. What objects were hit is known.
- ``simulated``: as many participants as in the paper, on four days, before a scene that all see, in a headset at 72 Hz.

- ``vr``: sessions 1–3 of 16 participants in a headset are the reference, session 4 is asked about, trial by trial
  (about 13 s) and all its trials together. Half of the participants saw a kitchen, the others an office; so it is also
  measured how often someone is told from the participants of the same scene alone.
- ``eyetribe``: runs 0–4 of 30 participants before a desktop tracker are the reference, runs 5–7 are asked about, minute
  by minute and all minutes of a run together.
- ``days``: six films that ten participants saw again and again at 250 Hz. Day 1 is the reference, day 2 is asked about,
  film by film and all of them together.

Everything that was chosen (features, models, constants) was chosen by leaving out one session after the other *within*
the reference; `chosen_on` does just that. The page on re-identification names every version that was ever tried on the
sessions asked about. Intervals are of participants resampled. A trial without enough gaze counts as not recognised.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Final

import numpy as np

from gazeveil.arrays import FloatArray, PlainRow
from gazeveil.errors import InputError, OptionError
from gazeveil.geometry import Geometry, headset
from gazeveil.lab.attacks.contract import RECOGNISERS, Gallery, Recogniser, Trial
from gazeveil.lab.attacks.matching import interval, resampled_people
from gazeveil.lab.attacks.trials import dorr_trials, eyetribe_trials, vr_trials, without_pupil
from gazeveil.lab.datasets import VrSession, vr_sessions
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


# --- Who is it? Participants in three public data sets, recognised in later sessions from earlier ones, without any
# veil.


DRAWS: Final = 2000
NOTHING: Final[frozenset[str]] = frozenset()
POSITION: Final = frozenset({"position"})
PUPIL: Final = frozenset({"pupil"})


@dataclass(frozen=True, slots=True)
class Experiment:
    """A data set, and which sessions participants are enrolled from and asked about in.

    Attributes:
        name: Short name.
        title: What it is.
        load: Reads its trials from the folder of data sets.
        reference: Sessions to learn from.
        asked: Sessions that are asked about.
        trial: What a trial is, in words.
        session: What a session is, in words.
        scenes: Whether a trial's name begins with the scene, which some participants share.
    """

    name: str
    title: str
    load: Callable[[Path], tuple[Trial, ...]]
    reference: tuple[str, ...]
    asked: tuple[str, ...]
    trial: str
    session: str
    scenes: bool


EXPERIMENTS: Final[Mapping[str, Experiment]] = {
    experiment.name: experiment
    for experiment in (
        Experiment(
            "vr",
            "headset, 16 participants, sessions 1-3 → 4",
            vr_trials,
            ("1", "2", "3"),
            ("4",),
            "trial",
            "session",
            True,
        ),
        Experiment(
            "eyetribe",
            "desktop tracker, 30 participants, runs 0-4 → 5-7",
            eyetribe_trials,
            ("0", "1", "2", "3", "4"),
            ("5", "6", "7"),
            "minute",
            "run",
            False,
        ),
        Experiment(
            "days", "films at 250 Hz, 10 participants, day 1 → 2", dorr_trials, ("1",), ("2",), "film", "day", False
        ),
    )
}


@dataclass(frozen=True, slots=True)
class Share:
    """How often someone is recognised, and where that lies for other participants like these.

    Attributes:
        value: The share.
        low: Lower end of the 95 % interval over participants.
        high: Upper end.
        count: How many were asked about.
    """

    value: float
    low: float
    high: float
    count: int

    def __str__(self) -> str:
        return f"{self.value:.2f} [{self.low:.2f}, {self.high:.2f}]"


@dataclass(frozen=True, slots=True)
class Outcome(PlainRow):
    """What one recogniser makes of one experiment.

    Attributes:
        experiment: Its name.
        recogniser: Who tells participants apart.
        sees: What it looks at beside movement.
        people: How many are enrolled.
        chance: What guessing gives.
        trials: Recognised trial by trial.
        sessions: Recognised from all trials of a session together.
        trials_in_scene: Trial by trial among the participants of the same scene; None where scenes mean nothing.
        sessions_in_scene: The same for whole sessions.
        unanswered: Trials without enough gaze; they count as not recognised.
    """

    experiment: str
    recogniser: str
    sees: tuple[str, ...]
    people: int
    chance: float
    trials: Share
    sessions: Share
    trials_in_scene: Share | None
    sessions_in_scene: Share | None
    unanswered: int


@dataclass(frozen=True, slots=True, eq=False)
class _Asked:
    """One query and each participant's score for it; no score where there was no usable window."""

    person: str
    session: str
    scene: str
    scores: FloatArray | None


def recogniser_of(name: str, allow: frozenset[str] = NOTHING, rate_hz: float | None = None) -> Recogniser:
    """Return a recogniser as it is compared here: a whole trial is one window, but for events and for networks.

    Args:
        name: Its name.
        allow: What it may look at beside movement.
        rate_hz: The rate to look at gaze at; infinite for gaze as it was recorded, None to have it chosen.

    Raises:
        UnknownName: If there is none of that name.
        OptionError: If it cannot be allowed anything, or has a rate of its own.
    """
    kind: Any = RECOGNISERS[name]
    known = {field.name for field in fields(kind)}
    options: dict[str, Any] = {} if name == "rbf" or "allow" not in known else {"seconds": math.inf}
    for option, value, wanted in (("allow", allow, allow), ("rate_hz", rate_hz, rate_hz is not None)):
        if wanted and option not in known:
            said = "allowed or denied position and pupil" if option == "allow" else "given a rate: it has its own"
            raise OptionError(f"recogniser {name!r} cannot be {said}")
        if option in known:
            options[option] = value
    return kind(**options)  # type: ignore[no-any-return]


def identify(
    experiment: Experiment, trials: Sequence[Trial], recogniser: Recogniser, *, seed: int = 1, draws: int = DRAWS
) -> Outcome:
    """Enrol the reference sessions, and ask about the others, once."""
    return _measure(experiment, trials, recogniser, [(experiment.reference, experiment.asked)], seed, draws)


def chosen_on(
    experiment: Experiment, trials: Sequence[Trial], recogniser: Recogniser, *, seed: int = 1, draws: int = DRAWS
) -> Outcome:
    """Leave out one reference session after the other and ask about it: what choices may be made on."""
    inside = [(tuple(s for s in experiment.reference if s != left), (left,)) for left in experiment.reference]
    return _measure(experiment, trials, recogniser, inside, seed, draws)


def _measure(
    experiment: Experiment,
    trials: Sequence[Trial],
    recogniser: Recogniser,
    splits: Sequence[tuple[tuple[str, ...], tuple[str, ...]]],
    seed: int,
    draws: int,
) -> Outcome:
    people = sorted({trial.person for trial in trials})
    scenes = {trial.person: _scene(trial) for trial in trials}
    shown = trials if "pupil" in recogniser.sees else without_pupil(trials)
    asked: list[_Asked] = []
    for reference, sessions in splits:
        known = [trial for trial in shown if trial.session in reference]
        queries = [trial for trial in shown if trial.session in sessions]
        if not known or not queries:
            continue  # nobody has some of the runs
        gallery = recogniser.enrol(known, seed)
        asked += [
            _Asked(trial.person, trial.session, scenes[trial.person], _ask(gallery, trial, people))
            for trial in queries
            if trial.person in gallery.people
        ]
    if not asked:
        raise InputError("no queried participant is enrolled", hint="are the right sessions there?")
    whole = _pooled(asked)
    rivals = {scene: np.array([scenes[person] == scene for person in people]) for scene in set(scenes.values())}
    drawn = resampled_people(len(people), draws, seed)

    def share(of: Sequence[_Asked], *, in_scene: bool = False) -> Share:
        return _share(of, people, drawn, rivals if in_scene else {})

    return Outcome(
        experiment=experiment.name,
        recogniser=recogniser.name,
        sees=tuple(sorted(recogniser.sees)),
        people=len(people),
        chance=1 / len(people),
        trials=share(asked),
        sessions=share(whole),
        trials_in_scene=share(asked, in_scene=True) if experiment.scenes else None,
        sessions_in_scene=share(whole, in_scene=True) if experiment.scenes else None,
        unanswered=sum(one.scores is None for one in asked),
    )


def _ask(gallery: Gallery, trial: Trial, people: Sequence[str]) -> FloatArray | None:
    """Return each participant's mean score over the windows of a query; who is not enrolled is the least likely."""
    scores = gallery.windows(trial.anonymous())
    if not len(scores):
        return None
    everybody = np.full(len(people), -np.inf)
    everybody[[people.index(person) for person in gallery.people]] = scores.mean(axis=0)
    return everybody


def _pooled(asked: Sequence[_Asked]) -> list[_Asked]:
    """Return each participant's session as one query: scores of its trials are averaged."""
    together: dict[tuple[str, str], list[_Asked]] = {}
    for one in asked:
        together.setdefault((one.person, one.session), []).append(one)
    pooled = []
    for (person, session), parts in together.items():
        found = [part.scores for part in parts if part.scores is not None]
        pooled.append(_Asked(person, session, parts[0].scene, np.mean(found, axis=0) if found else None))
    return pooled


def _share(
    asked: Sequence[_Asked], people: Sequence[str], drawn: FloatArray, rivals: Mapping[str, np.ndarray]
) -> Share:
    hits, counts = np.zeros(len(people)), np.zeros(len(people))
    for one in asked:
        number = people.index(one.person)
        counts[number] += 1
        if one.scores is not None:
            scores = np.where(rivals[one.scene], one.scores, -np.inf) if rivals else one.scores
            hits[number] += int(scores.argmax()) == number
    total = drawn @ counts
    again = np.divide(drawn @ hits, total, out=np.full(len(drawn), np.nan), where=total > 0)
    return Share(float(hits.sum() / counts.sum()), *interval(again), int(counts.sum()))


def _scene(trial: Trial) -> str:
    return trial.name.rpartition(" ")[0]
