# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Who it is from where the head points, with and without a mechanism on it.

16 participants in a headset, four sessions each.

A mechanism for the eyes alone beside a bare head is measured against one for both, at the same ε, and against a head
that is dropped. Whoever was asked about was enrolled from other sessions, behind the same mechanism. Sessions of a
participant may be of one day, and half of the participants saw another room than the rest: guessing the room alone is
right once in eight.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Final

import numpy as np

from gazeveil.arrays import FloatArray, PlainRow, Tell, silent
from gazeveil.errors import InternalError
from gazeveil.lab.attacks.contract import Trial
from gazeveil.lab.attacks.judging.judge import Judge
from gazeveil.lab.attacks.recognisers.geometry import GeometryOfEyes
from gazeveil.lab.datasets.vr_objects import VR_FOLDER, VrSession, vr_sessions
from gazeveil.noise import NoiseSource
from gazeveil.samples.mechanisms.clock import Clock
from gazeveil.samples.mechanisms.eye_and_head import EyeAndHead
from gazeveil.samples.space import EYE_FIELD, Sphere

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
SECONDS: Final = 120.0
_STEP_S = 0.1

Leaving = tuple[FloatArray, FloatArray, FloatArray | None, FloatArray | None]
"""Yaw and pitch of gaze in the head, and of the head in the world if that leaves."""


@dataclass(frozen=True, slots=True)
class Row(PlainRow):
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


def measure(folder: Path, seed: int = 1, tell: Tell = silent, seconds: float = SECONDS) -> list[Row]:
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
) -> list[Row]:
    """Ask who it is in these sessions, at these strengths, attackers who look at that."""
    ways = [(BARE, "", ""), *((leaves, *one) for one in strengths for leaves in (EYES_BARE_HEAD, EYES_NO_HEAD, JOINT))]
    jobs = [(way, seen) for way in ways for seen in sees if way[0] != EYES_NO_HEAD or seen == ("gaze",)]
    rows: list[Row] = []
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
            Row(
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
        both = EyeAndHead(field, epsilon=loss, window=seconds, radius=RADIUS, head_radius=HEAD_RADIUS)
        return both.start(noise).run_both(session.t, *gaze, *head)
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
