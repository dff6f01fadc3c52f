# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What each participant did, and the level that they chose while they could: for whoever runs the study."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gazeveil.arrays import FloatArray
from gazeveil.gateway.policy.settings import read_policy
from gazeveil.geometry import Geometry, Unit
from gazeveil.lab.userstudy.design import UserStudy
from gazeveil.lab.userstudy.sessions import Session

MOMENTS = 121
"""Moments of the free part at which the chosen level is looked up."""
CHECKED = ("x", "y", "gaze_x", "gaze_y")


@dataclass(frozen=True)
class Taken:
    """One participant's rounds, added up; practice and free play do not count."""

    participant: str
    finished: bool
    rounds: int
    hits: int
    misses: int
    """Targets that arrived."""
    false_selections: int
    attempts: int
    """How often a round was begun: more than rounds where gaze was lost on the way."""
    accuracy_deg: float
    """Mean error over the points of the check; NaN where nothing is known."""


@dataclass(frozen=True)
class Chosen:
    """The privacy level that participants had chosen, over the seconds of the free part."""

    levels: tuple[str, ...]
    """From the weakest to the strongest, as in the policy."""
    seconds: FloatArray
    by_participant: dict[str, FloatArray]
    """Place of the level at each moment; NaN before a first choice and after the part's end."""

    def rows(self) -> list[list[object]]:
        """Return for each participant the share of the time at each level, and how often they changed it."""
        rows: list[list[object]] = []
        for who, places in self.by_participant.items():
            known = places[np.isfinite(places)]
            shares = [float(np.mean(known == place)) if len(known) else math.nan for place in range(len(self.levels))]
            rows.append([who, *shares, int(np.count_nonzero(np.diff(known)))])
        return rows


@dataclass(frozen=True)
class Overview:
    """Everything that a table of measures does not hold."""

    taken: tuple[Taken, ...]
    chosen: Chosen | None


def overview_of(study: UserStudy, sessions: Sequence[Session]) -> Overview:
    """Return what participants did and chose."""
    policy = read_policy(study.policy)
    plane = policy.trackers[0].geometry
    levels = next((tuple(app.knob) for app in policy.apps if app.name == study.free), ())
    return Overview(tuple(_taken(study, one, plane) for one in sessions), _chosen(study, sessions, levels))


def _taken(study: UserStudy, session: Session, plane: Geometry) -> Taken:
    rounds = [line["data"] for line in session.done.values() if line["kind"] == "trial"]
    fates = [(thing["kind"], thing["fate"]) for data in rounds for thing in data["things"]]
    checks = [line["data"] for line in session.done.values() if line["kind"] == "check"]
    return Taken(
        session.participant, len(session.done) == len(study.steps(session.number)) - 1, len(rounds),
        fates.count(("target", "destroyed")), fates.count(("target", "reached")),
        fates.count(("distractor", "destroyed")), sum(data.get("attempts", 1) for data in rounds),
        accuracy_deg(checks[0].get("points", []) if checks else [], plane),
    )  # fmt: skip


def accuracy_deg(points: Sequence[dict[str, Any]], plane: Geometry) -> float:
    """Return the mean angle between the points of a check and the gaze at them; points without gaze are left out."""
    seen = [point for point in points if None not in (point.get(name) for name in CHECKED)]
    if not seen or not plane.has_edges_in_degrees:
        return math.nan
    of = plane.in_unit(Unit.FRACTION)
    x, y, gaze_x, gaze_y = ([point[name] for point in seen] for name in CHECKED)
    there, looked = of.convert(x, y, Unit.DEGREE), of.convert(gaze_x, gaze_y, Unit.DEGREE)
    return float(np.mean(np.hypot(there[0] - looked[0], there[1] - looked[1])))


def _chosen(study: UserStudy, sessions: Sequence[Session], levels: tuple[str, ...]) -> Chosen | None:
    seconds = np.linspace(0, study.free_s, MOMENTS)
    found: dict[str, FloatArray] = {}
    for session in sessions:
        for line in session.done.values():
            if line["kind"] == "free" and line["data"].get("levels"):
                places = np.full(MOMENTS, np.nan)
                for since, level in line["data"]["levels"]:
                    places[seconds >= since] = levels.index(level) if level in levels else np.nan
                places[seconds > line["data"].get("seconds", study.free_s)] = np.nan
                found[session.participant] = places
    return Chosen(levels, seconds, found) if found else None
