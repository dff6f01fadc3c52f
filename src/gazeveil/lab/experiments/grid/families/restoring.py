# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What was the gaze? ``restore`` takes veiled gaze as it is, ``restore+ATTACK`` undoes the mechanism first.

Success is the share of the scatter of raw gaze around its own mean that the guess explains: 1 for the gaze itself, 0
for who guesses a participant's mean place all the time. Attacks that learn from exemplars learn from other
participants.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from gazeveil.aggregate.engine import Engine
from gazeveil.lab.attacks.contract import ATTACKS, Attack, Exemplar, Grant, Knowledge, Prepared, Trial
from gazeveil.lab.attacks.trials import trials_of, without_pupil
from gazeveil.lab.experiments.grid.contract import FAMILIES, Answer, DoesNotApply, Family, Protected, Question
from gazeveil.lab.experiments.grid.gaze_data import GazeData
from gazeveil.lab.experiments.grid.released import over_people, released
from gazeveil.samples.mechanism import SampleMechanism

_NAME = "restore"


class Restoring(Family):
    """All attacks, as what they make of veiled gaze."""

    uses = frozenset({"live", "dataset"})
    role = "attack"

    def names(self) -> list[str]:
        """Return veiled gaze as it is, and every attack."""
        return [_NAME, *(f"{_NAME}+{attack}" for attack in ATTACKS.names())]

    def question(self, name: str, options: Mapping[str, Any]) -> Question:
        """Return one of them."""
        attack = name.partition("+")[2]
        parts = (released, *([ATTACKS[attack]] if attack else []))
        return Question("reconstruction", partial(_restored, attack), parts)


def _restored(attack: str, data: GazeData, protected: Protected, seed: int, engine: Engine) -> Answer:
    del engine
    mechanism = protected.mechanism
    against = ATTACKS[attack]() if attack else None
    if against is not None and not (isinstance(mechanism, SampleMechanism) and against.fits(mechanism)):
        raise DoesNotApply(f"there is nothing for {attack} to do against {protected.recipe['mechanism']}")
    behind = without_pupil(trials_of(released(data, protected, seed)))
    pairs = [Exemplar(raw, veiled) for raw, veiled in zip(data.trials, behind, strict=True)]
    names = sorted({pair.raw.person for pair in pairs})
    halves = [[pair for pair in pairs if names.index(pair.raw.person) % 2 == half] for half in (0, 1)]
    ready = [_prepared(against, mechanism, others, seed + 1 + half) for half, others in enumerate(reversed(halves))]
    asked = [(ready[half], pair) for half in (0, 1) for pair in halves[half]]
    explained = [_explained(_guess(prepared, pair.veiled), pair.raw) for prepared, pair in asked]
    number = over_people("gaze explained", [pair.raw.person for _, pair in asked], explained, seed, chance=0.0)
    return Answer((number,), against.threat_model if against is not None else "none")


def _prepared(attack: Attack | None, mechanism: Any, others: list[Exemplar], seed: int) -> Prepared | None:
    if attack is None:
        return None
    exemplars = tuple(others) if Grant.EXEMPLARS in attack.grants else None
    return attack.prepare(Knowledge(mechanism, exemplars), seed)


def _guess(prepared: Prepared | None, veiled: Trial) -> Trial:
    return veiled if prepared is None else prepared.query(veiled.anonymous())


def _explained(guess: Trial, raw: Trial) -> float:
    both = np.isfinite(guess.x) & np.isfinite(raw.x)
    if both.sum() < 2:
        return 0.0
    off = np.square(guess.x - raw.x)[both].mean() + np.square(guess.y - raw.y)[both].mean()
    return float(1 - off / (raw.x[both].var() + raw.y[both].var()))


FAMILIES.register("restoring")(Restoring())
