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
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np

from gazeveil.arrays import FloatArray
from gazeveil.errors import InputError, InternalError, OptionError, closest
from gazeveil.geometry import Geometry
from gazeveil.lab.attacks.contract import RECOGNISERS, Recogniser, Trial
from gazeveil.lab.attacks.judging import Judge, infer
from gazeveil.lab.attacks.recognisers.geometry import GeometryOfEyes
from gazeveil.lab.attacks.trials import without_pupil
from gazeveil.lab.bench import plots
from gazeveil.lab.bench.experiment import Experiment, Options, Row, Where
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
LEFT_OUT: Final[Mapping[str, Literal["session", "person"]]] = {"day": "session", "person": "person"}
"""A day of participants who are known otherwise, or everything of a participant."""
IDENTITY: Final = "identity"


def trials(sessions: Sequence[TargetSession]) -> list[Trial]:
    """Return sessions as trials: a sample is a target, a session is a day."""
    return [
        Trial(
            one.person, one.day, one.session, np.arange(len(one.x), dtype=float), one.x, one.y, 1.0, fields=one.fields
        )
        for one in sessions
    ]


def _geometry_cases(options: Options) -> list[Where]:
    _targets(options["data"])
    who = [{"question": IDENTITY, "sees": " + ".join(seen), "left out": "day"} for seen in SEEN]
    return [
        *who,
        *(
            {"question": question, "sees": " + ".join(seen), "left out": leave}
            for question in ATTRIBUTES
            for seen in (SEEN[2], SEEN[4])
            for leave in LEFT_OUT
        ),
    ]


@lru_cache(maxsize=1)
def _targets(folder: Path) -> tuple[TargetSession, ...]:
    return tuple(target_sessions(folder))


def _from_geometry(options: Options, where: Where) -> list[Row]:
    """Ask who it is on another day, or which attribute the participant has."""
    sessions, seed = _targets(options["data"]), options["seed"]
    known, who = trials(sessions), GeometryOfEyes(tuple(where["sees"].split(" + ")))
    if where["question"] == IDENTITY:
        found = Judge(who, known, enrolled="others", seed=seed).judge()
        return [Row("accuracy", found.accuracy, *found.accuracy_interval, found.people, found.chance, where=where)]
    middle = statistics.median({one.person: one.age for one in sessions}.values())
    kinds = {
        "vision": {one.person: one.vision for one in sessions},
        "gender": {one.person: one.gender for one in sessions},
        "age": {one.person: "older" if one.age > middle else "younger" for one in sessions},
    }
    guessed = infer(who, known, kinds[where["question"]], leave=LEFT_OUT[where["left out"]], seed=seed)
    return [Row("macro F1", guessed.f1, *guessed.f1_interval, guessed.people, guessed.guessing, where=where)]


FROM_GEOMETRY: Final = Experiment(
    "geometry",
    "18 participants in a headset over days (Schuetz and Fiehler 2022)",
    _geometry_cases,
    _from_geometry,
    partial(plots.points, x=("question", "left out", "sees")),
)


# --- Identity and traits behind mechanisms, by Kaleido's attacker: figure 12, on participants that are at hand.


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


def inferred(
    one: TraitSet,
    question: str,
    name: str,
    recogniser: Recogniser,
    seed: int = 1,
    make: Callable[[str, Geometry], Any] = veil,
) -> Row:
    """Return how well a question is answered behind a mechanism.

    Args:
        one: The participants.
        question: `IDENTITY`, or a trait.
        name: The name of the mechanism.
        recogniser: Who infers.
        seed: All noise follows from it.
        make: What makes a mechanism of its name, for a viewing plane.
    """
    mechanism = make(name, one.plane)
    found = infer(recogniser, one.trials, one.kinds[question], mechanism, seed=seed)
    return Row(
        "macro F1",
        found.f1,
        *found.f1_interval,
        found.people,
        found.guessing,
        where={"set": one.name, "question": question, "mechanism": name},
        note="none" if mechanism is None else mechanism.guarantee.in_words(),
    )


@lru_cache(maxsize=1)
def _sets(data: Path | None, names: tuple[str, ...], people: int, seconds: float) -> dict[str, TraitSet]:
    return {one.name: one for one in trait_sets(data, names, people=people, seconds=seconds)}


def _sets_of(options: Options) -> dict[str, TraitSet]:
    return _sets(options["data"], options["sets"], options["participants"], options["seconds"])


def _veiled_cases(options: Options) -> list[Where]:
    return [
        {"set": one.name, "question": question, "mechanism": name}
        for one in _sets_of(options).values()
        for name in options["mechanisms"] or VEILS
        for question in one.kinds
    ]


def _behind_mechanisms(options: Options, where: Where) -> list[Row]:
    who = RECOGNISERS[options["recogniser"]]()
    one = _sets_of(options)[where["set"]]
    return [inferred(one, where["question"], where["mechanism"], who, options["seed"])]


BEHIND_MECHANISMS: Final = Experiment(
    "attributes",
    "macro F1, one session left out, trained behind the same mechanism",
    _veiled_cases,
    _behind_mechanisms,
    partial(plots.points, x=("mechanism",), panel=("question", "set")),
    facet="set",
)


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


def ways(strengths: Sequence[tuple[str, str]] = STRENGTHS) -> list[Where]:
    """Return what may leave, with ε and window of what is protected."""
    protected = [(leaves, *one) for one in strengths for leaves in (EYES_BARE_HEAD, EYES_NO_HEAD, JOINT)]
    return [
        {"what leaves": leaves, "epsilon": epsilon, "window": window}
        for leaves, epsilon, window in ((BARE, "", ""), *protected)
    ]


def named_by_head(
    sessions: Sequence[VrSession], way: Where, sees: Sequence[tuple[str, ...]] = SEES, seed: int = 1
) -> list[Row]:
    """Return how often attackers who look at that name participants, and by how many degrees what leaves is off.

    The median is taken: of gaze in the head, of the head, and of gaze in the world, which is the head's direction where
    gaze is not known better.
    """
    leaves, epsilon, window = way.values()
    sources = [NoiseSource.seeded(seed).spawn(str(at)) for at in range(len(sessions))]
    made = [leaving(one, leaves, epsilon, window, noise) for one, noise in zip(sessions, sources, strict=True)]
    trials = [_trial(one, shown) for one, shown in zip(sessions, made, strict=True)]
    off = dict(zip(("gaze off", "head off", "world off"), _off(sessions, made), strict=True))
    rows = []
    for seen in sees:
        if leaves != EYES_NO_HEAD or seen == ("gaze",):
            where = {**way, "sees": " + ".join(seen)}
            found = Judge(GeometryOfEyes(seen), trials, enrolled="others", seed=seed).judge()
            rows += [
                Row("identified", found.accuracy, *found.accuracy_interval, found.people, found.chance, where=where),
                *(Row(what, value, where=where) for what, value in off.items() if value is not None),
            ]
    return rows


@lru_cache(maxsize=1)
def _vr(folder: Path, seconds: float) -> tuple[VrSession, ...]:
    return tuple(vr_sessions(folder, every=1, seconds=seconds))


def _head_cases(options: Options) -> list[Where]:
    _vr(options["data"], options["seconds"])
    return ways()


FROM_HEADS: Final = Experiment(
    "heads",
    "participants in a headset, other sessions known; what leaves is off by the median, in degrees",
    _head_cases,
    lambda options, way: named_by_head(_vr(options["data"], options["seconds"]), way, seed=options["seed"]),
    lambda rows: plots.points([row for row in rows if row.what == "identified"], x=("what leaves", "epsilon", "sees")),
)


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
