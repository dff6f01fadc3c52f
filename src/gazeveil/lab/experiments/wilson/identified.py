# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The privacy half of figure 2 of Wilson et al.

2024: how often participants are identified behind each mechanism, over its strength.

As in the paper, queries are veiled and the reference is not; nobody attacks the mechanism. The paper draws its curves
without numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from gazeveil.arrays import PlainRow, Tell, silent
from gazeveil.lab.attacks.judging.judge import Judge, Stage
from gazeveil.lab.experiments.wilson.figures import SWEEPS, Sweep, mechanism_of
from gazeveil.lab.experiments.wilson.tables import Plan, judges_of


@dataclass(frozen=True, slots=True)
class Named(PlainRow):
    """How often participants are identified behind one mechanism at one strength.

    Attributes:
        recogniser: Who tells them apart.
        veil: Name of the mechanism.
        strength: Its strength; 0 is no mechanism.
        accuracy: Share of records whose participant is identified.
        low: Where that lies at least, over participants resampled.
        high: Where that lies at most.
        chance: What guessing gives.
    """

    recogniser: str
    veil: str
    strength: float
    accuracy: float
    low: float
    high: float
    chance: float


def identification(plan: Plan, *, sweeps: Mapping[str, Sweep] = SWEEPS, tell: Tell = silent) -> list[Named]:
    """Return the curve of each mechanism, and no mechanism first, for every recogniser of a plan."""
    judges = judges_of(plan)
    points = [("none", 0.0), *((name, strength) for name, sweep in sweeps.items() for strength in sweep.strengths)]
    rows: list[Named] = []
    for done, (name, strength) in enumerate(points, start=1):
        mechanism = None if name == "none" else mechanism_of(name, strength)
        stage = next(iter(judges.values())).stage(mechanism)
        rows.extend(_row(judge, name, strength, stage) for judge in judges.values())
        tell(done, len(points))
    return rows


def _row(judge: Judge, name: str, strength: float, stage: Stage) -> Named:
    told = judge.measure(stage)
    low, high = told.accuracy_interval
    return Named(told.recogniser, name, float(strength), told.accuracy, low, high, told.chance)
