# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Identity and traits from gaze behind mechanisms, from a tracker's geometry, and from where the head points.

18 participants in a headset, ten sessions over days (Schuetz and Fiehler 2022).

Known is how far gaze was off targets, how it jittered, and the distance between the eyes; no samples of gaze. Whoever
was asked about was enrolled from other days alone. Headset and set-up are nearly the same for all sessions of a
participant, so a part of what is recognised may be the device.

The paper's 11 participants in VR, with and without contact lenses, are not. In their place:

- ``vr``: 16 participants in four sessions of 90 s in a headset. No trait of them is known; identity alone.
- ``simulated``: 16 participants on four days, 90 s each. Traits are those of the simulator, parted at their median:
  fast saccades, long fixations, and noisy eyes, which stands for lenses.

One session is left out after the other, and the attacker is trained on the others behind the same mechanism.

16 participants in a headset, four sessions each.

A mechanism for the eyes alone beside a bare head is measured against one for both, at the same ε, and against a head
that is dropped. Whoever was asked about was enrolled from other sessions, behind the same mechanism. Sessions of a
participant may be of one day, and half of the participants saw another room than the rest: guessing the room alone is
right once in eight.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np

from gazeveil.arrays import FloatArray, PlainRow, Tell, silent
from gazeveil.errors import InputError, InternalError, OptionError, closest
from gazeveil.geometry import Geometry
from gazeveil.lab.attacks.contract import RECOGNISERS, Recogniser, Trial
from gazeveil.lab.attacks.judging import Inference, Judge, infer
from gazeveil.lab.attacks.recognisers.geometry import GeometryOfEyes
from gazeveil.lab.attacks.trials import without_pupil
from gazeveil.lab.datasets import VR_FOLDER, TargetSession, VrSession, target_sessions, vr_sessions
from gazeveil.lab.experiments.identification import simulated_people, simulated_traits, vr_people
from gazeveil.lab.experiments.named_mechanisms import VEILS, veil
from gazeveil.noise import NoiseSource
from gazeveil.samples.mechanism import MECHANISMS
from gazeveil.samples.mechanisms.clock import Clock
from gazeveil.samples.space import EYE_FIELD, Sphere

SEEN: Final = (("error",), ("noise",), ("error", "noise"), ("eyes",), ("error", "noise", "eyes"))
"""What attackers may look at."""
ATTRIBUTES: Final = ("vision", "gender", "age")
LEFT_OUT: Final[tuple[Literal["session", "person"], ...]] = ("session", "person")
"""A day of participants who are known otherwise, or everything of a participant."""


@dataclass(frozen=True, slots=True)
class GeometryRow(PlainRow):
    """One question to one attacker.

    Attributes:
        question: ``identity``, ``vision``, ``gender`` or ``age``.
        sees: What the attacker may look at.
        left_out: What was left out of training: a day, or the participant.
        measure: ``accuracy`` for identity, ``macro F1`` for attributes.
        value: How well it is answered.
        value_interval: Where that lies, over participants resampled.
        guessing: What guessing gives.
        people: How many participants were asked about.
        queries: How many sessions.
    """

    question: str
    sees: tuple[str, ...]
    left_out: str
    measure: str
    value: float
    value_interval: tuple[float, float]
    guessing: float
    people: int
    queries: int


def trials(sessions: Sequence[TargetSession]) -> list[Trial]:
    """Return sessions as trials: a sample is a target, a session is a day."""
    return [
        Trial(
            one.person, one.day, one.session, np.arange(len(one.x), dtype=float), one.x, one.y, 1.0, fields=one.fields
        )
        for one in sessions
    ]


def measure_geometry(folder: Path, seed: int = 1, tell: Tell = silent) -> list[GeometryRow]:
    """Ask who it is on another day, and which attributes the participant has.

    Raises:
        InputError: If the files are not there.
    """
    sessions = target_sessions(folder)
    known = trials(sessions)
    middle = statistics.median({one.person: one.age for one in sessions}.values())
    kinds = {
        "vision": {one.person: one.vision for one in sessions},
        "gender": {one.person: one.gender for one in sessions},
        "age": {one.person: "older" if one.age > middle else "younger" for one in sessions},
    }
    asked = [(question, seen, leave) for question in ATTRIBUTES for seen in (SEEN[2], SEEN[4]) for leave in LEFT_OUT]
    total = len(SEEN) + len(asked)
    rows: list[GeometryRow] = []
    for seen in SEEN:
        tell(len(rows), total)
        found = Judge(GeometryOfEyes(seen), known, enrolled="others", seed=seed).judge()
        rows.append(
            GeometryRow(
                "identity",
                seen,
                "day",
                "accuracy",
                found.accuracy,
                found.accuracy_interval,
                found.chance,
                found.people,
                found.queries,
            )
        )
    for question, seen, leave in asked:
        tell(len(rows), total)
        guessed = infer(GeometryOfEyes(seen), known, kinds[question], leave=leave, seed=seed)
        left = "day" if leave == "session" else "person"
        numbers = guessed.f1, guessed.f1_interval, guessed.guessing, guessed.people, guessed.queries
        rows.append(GeometryRow(question, seen, left, "macro F1", *numbers))
    return rows


# --- Identity and traits behind mechanisms, by Kaleido's attacker: figure 12, on participants that are at hand.


IDENTITY: Final = "identity"
SETS: Final = ("vr", "simulated")
PEOPLE, SESSIONS, SECONDS = 16, 4, 90.0
_SEED = 8


@dataclass(frozen=True, slots=True, eq=False)
class TraitSet:
    """Participants whose traits are known.

    Attributes:
        name: Short name.
        title: What they are.
        plane: What the eyes can reach.
        trials: Their gaze, without pupil.
        kinds: For every question, the kind of every participant.
    """

    name: str
    title: str
    plane: Geometry
    trials: tuple[Trial, ...]
    kinds: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class VeiledRow(PlainRow):
    """One question behind one mechanism.

    Attributes:
        people: Name of the set.
        title: What it is.
        question: ``identity``, or a trait.
        veil: Name of the mechanism.
        promise: What it guarantees, in words.
        found: How well it is inferred.
    """

    people: str
    title: str
    question: str
    veil: str
    promise: str
    found: Inference


def simulated(people: int = PEOPLE, sessions: int = SESSIONS, seconds: float = SECONDS) -> TraitSet:
    """Return simulated participants with their traits."""
    one = simulated_people(people, sessions, seconds, _SEED)
    traits = simulated_traits(people, _SEED)
    names = next(iter(traits.values()))
    kinds: dict[str, Mapping[str, str]] = {IDENTITY: {name: name for name in names}, **traits}
    return TraitSet("simulated", one.title, one.plane, without_pupil(one.trials), kinds)


def vr(folder: Path, people: int = PEOPLE, seconds: float = SECONDS) -> TraitSet:
    """Return the participants in the headset, of whom only the name is known."""
    one = vr_people(folder / VR_FOLDER, seconds)
    names = sorted({trial.person for trial in one.trials})[:people]
    kept = without_pupil(trial for trial in one.trials if trial.person in names)
    title = one.title if len(kept) == len(one.trials) else f"{one.title} (the first {len(names)})"
    return TraitSet("vr", title, one.plane, kept, {IDENTITY: {name: name for name in names}})


def trait_sets(
    data: Path | None, names: Sequence[str] = SETS, *, people: int = PEOPLE, seconds: float = SECONDS
) -> list[TraitSet]:
    """Return the sets of those names that are there; the simulated one always is.

    Raises:
        OptionError: If a name is unknown.
        InputError: If none of them is there.
    """
    if unknown := [name for name in names if name not in SETS]:
        raise OptionError(f"no set of participants is called {unknown[0]!r}", hint=closest(unknown[0], SETS))
    found = []
    if "vr" in names and data is not None and (data / VR_FOLDER).is_dir():
        found.append(vr(data, people, seconds))
    if "simulated" in names:
        found.append(simulated(people, SESSIONS, seconds))
    if not found:
        raise InputError(f"none of {', '.join(names)} is there", hint="say where the data are with --data")
    return found


def measure_veiled(
    sets: Sequence[TraitSet],
    veils: Sequence[str] = VEILS,
    recogniser: Recogniser | None = None,
    *,
    seed: int = 1,
    tell: Tell = silent,
    make: Callable[[str, Geometry], Any] = veil,
) -> list[VeiledRow]:
    """Ask all questions behind all mechanisms.

    Args:
        sets: The participants.
        veils: Names of mechanisms.
        recogniser: Who infers; ``clusterfix`` by default.
        seed: All noise follows from it.
        tell: Called with how many questions are done.
        make: What makes a mechanism of its name, for a viewing plane.
    """
    who = RECOGNISERS["clusterfix"]() if recogniser is None else recogniser
    jobs = [(one, name, question) for one in sets for name in veils for question in one.kinds]
    rows = []
    for done, (one, name, question) in enumerate(jobs):
        tell(done, len(jobs))
        mechanism = make(name, one.plane)
        found = infer(who, one.trials, one.kinds[question], mechanism, seed=seed)
        promise = "none" if mechanism is None else mechanism.guarantee.in_words()
        rows.append(VeiledRow(one.name, one.title, question, name, promise, found))
    return rows


# --- Who it is from where the head points, with and without a mechanism on it.


STRENGTHS: Final = (("3", "0.5"), ("1.5", "1.5"), ("0.5", "2"))
"""ε and window of Kaleido's three levels, the weakest first."""
RADIUS, HEAD_RADIUS = Fraction(5), Fraction(10)
SEES: Final = (("head",), ("gaze",), ("head", "gaze"))
"""What attackers may look at, of what leaves."""
BARE, EYES_BARE_HEAD, EYES_NO_HEAD, JOINT = (
    "raw gaze and head",
    "eyes protected, head raw",
    "eyes protected, head dropped",
    "eyes and head protected together",
)
HEAD_SECONDS: Final = 120.0
_STEP_S = 0.1

Leaving = tuple[FloatArray, FloatArray, FloatArray | None, FloatArray | None]
"""Yaw and pitch of gaze in the head, and of the head in the world if that leaves."""


@dataclass(frozen=True, slots=True)
class HeadRow(PlainRow):
    """One attacker before what leaves.

    Attributes:
        leaves: What is veiled and what is not.
        epsilon: For a window, all that is veiled together; empty if nothing is.
        window: In seconds.
        sees: What the attacker looks at.
        accuracy: How often it names the right participant.
        accuracy_interval: Where that lies, over participants resampled.
        chance: What guessing gives.
        people: How many participants there are.
        off: By how many degrees what leaves is off, the median: gaze in the head, the head, and gaze in the world,
            which is the head's direction where gaze is not known better; None for what does not leave.
    """

    leaves: str
    epsilon: str
    window: str
    sees: tuple[str, ...]
    accuracy: float
    accuracy_interval: tuple[float, float]
    chance: float
    people: int
    off: tuple[float, float | None, float | None]


def measure_heads(folder: Path, seed: int = 1, tell: Tell = silent, seconds: float = HEAD_SECONDS) -> list[HeadRow]:
    """Ask who it is, in every way.

    Raises:
        InputError: If the files are not there.
    """
    return measured(vr_sessions(folder / VR_FOLDER, every=1, seconds=seconds), seed=seed, tell=tell)


def measured(
    sessions: Sequence[VrSession],
    strengths: Sequence[tuple[str, str]] = STRENGTHS,
    sees: Sequence[tuple[str, ...]] = SEES,
    *,
    seed: int = 1,
    tell: Tell = silent,
) -> list[HeadRow]:
    """Ask who it is in these sessions, at these strengths, attackers who look at that."""
    ways = [(BARE, "", ""), *((leaves, *one) for one in strengths for leaves in (EYES_BARE_HEAD, EYES_NO_HEAD, JOINT))]
    jobs = [(way, seen) for way in ways for seen in sees if way[0] != EYES_NO_HEAD or seen == ("gaze",)]
    rows: list[HeadRow] = []
    made: dict[tuple[str, str, str], list[Leaving]] = {}
    for done, (way, seen) in enumerate(jobs):
        tell(done, len(jobs))
        if way not in made:
            sources = [NoiseSource.seeded(seed).spawn(str(at)) for at in range(len(sessions))]
            made = {way: [leaving(one, *way, noise) for one, noise in zip(sessions, sources, strict=True)]}
        trials = [_trial(one, shown) for one, shown in zip(sessions, made[way], strict=True)]
        found = Judge(GeometryOfEyes(seen), trials, enrolled="others", seed=seed).judge()
        leaves, epsilon, window = way
        rows.append(
            HeadRow(
                leaves,
                epsilon,
                window,
                seen,
                found.accuracy,
                found.accuracy_interval,
                found.chance,
                found.people,
                _off(sessions, made[way]),
            )
        )
    return rows


def leaving(session: VrSession, leaves: str, epsilon: str, window: str, noise: NoiseSource) -> Leaving:
    """Return what leaves of a session."""
    gaze, head = (session.yaw, session.pitch), (session.head_yaw, session.head_pitch)
    field = Sphere(*EYE_FIELD)
    if leaves == BARE:
        return *gaze, *head
    loss, seconds = Fraction(epsilon), Fraction(window)
    if leaves == JOINT:
        make: Callable[..., Any] = MECHANISMS["eye-and-head"]
        both = make(field, epsilon=loss, window=seconds, radius=RADIUS, head_radius=HEAD_RADIUS)
        return both.start(noise).run_both(session.t, *gaze, *head)  # type: ignore[no-any-return]
    shown = Clock(field, epsilon=loss, window=seconds, radius=RADIUS).start(noise).run(session.t, *gaze)
    return (*shown, None, None) if leaves == EYES_NO_HEAD else (*shown, *head)


def _trial(session: VrSession, shown: Leaving) -> Trial:
    """Return what leaves as a trial: ten rows a second, with how fast everything turns."""
    t = np.arange(session.t[0], session.t[-1], _STEP_S)
    yaw, pitch, head_yaw, head_pitch = (None if column is None else _at(t, session.t, column) for column in shown)
    if yaw is None or pitch is None:
        raise InternalError("gaze always leaves")
    fields = {"gaze/yaw": yaw, "gaze/pitch": pitch, **_speeds("gaze", yaw, pitch)}
    if head_yaw is not None and head_pitch is not None:
        fields |= {"head/pitch": head_pitch, **_speeds("head", head_yaw, head_pitch)}
    return Trial(str(session.user), str(session.session), "1", t, yaw, pitch, 1 / _STEP_S, fields=fields)


def _at(t: FloatArray, when: FloatArray, angle: FloatArray) -> FloatArray:
    """Return an angle at other times, unwrapped, and between its neighbours where it is missing."""
    known = np.isfinite(angle)
    return np.interp(t, when[known], np.degrees(np.unwrap(np.radians(angle[known]))))


def _speeds(group: str, yaw: FloatArray, pitch: FloatArray) -> dict[str, FloatArray]:
    """Return logarithms of speed and acceleration along both axes."""
    found = {}
    for name, angle in (("yaw", yaw), ("pitch", pitch)):
        for order, least, words in ((1, 0.5, "speed"), (2, 5.0, "acceleration")):
            change = np.abs(np.diff(angle, order)) / _STEP_S**order
            found[f"{group}/{name} {words}"] = np.append(np.log(change + least), np.full(order, np.nan))
    return found


def _off(sessions: Sequence[VrSession], shown: Sequence[Leaving]) -> tuple[float, float | None, float | None]:
    gaze, head, world = [], [], []
    for session, (yaw, pitch, head_yaw, head_pitch) in zip(sessions, shown, strict=True):
        across, down = yaw - session.yaw, pitch - session.pitch
        gaze.append(np.hypot(across, down))
        if head_yaw is not None and head_pitch is not None:
            turn, nod = (head_yaw - session.head_yaw + 180) % 360 - 180, head_pitch - session.head_pitch
            head.append(np.hypot(turn, nod))
            alone = np.hypot(turn - session.yaw, nod - session.pitch)  # who takes the head's direction for gaze
            world.append(min(np.hypot(turn + across, nod + down), alone, key=np.nanmedian))
    medians = [float(np.nanmedian(np.concatenate(each))) if each else None for each in (gaze, head, world)]
    return float(medians[0] or 0.0), medians[1], medians[2]
