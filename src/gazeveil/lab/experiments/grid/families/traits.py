# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What kind of participant is it? ``trait:QUESTION``, by a recogniser that was taught kinds of other participants.

The attacker is trained behind the same mechanism, on all participants but the one who is asked about.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial
from typing import Any

from gazeveil.aggregate.engine import Engine
from gazeveil.lab.attacks.contract import RECOGNISERS
from gazeveil.lab.attacks.judging.traits import infer
from gazeveil.lab.attacks.trials import trials_of, without_pupil
from gazeveil.lab.experiments.grid.contract import FAMILIES, Answer, DoesNotApply, Family, Number, Protected, Question
from gazeveil.lab.experiments.grid.gaze_data import GazeData
from gazeveil.lab.experiments.grid.released import released
from gazeveil.lab.experiments.identity_data import TRAITS

_PREFIX = "trait:"


class Traits(Family):
    """Every question about participants whose answer is known."""

    uses = frozenset({"live", "dataset"})
    role = "attack"
    options = ("recogniser",)

    def names(self) -> list[str]:
        """Return the questions about simulated participants; other data may have others."""
        return [f"{_PREFIX}{question}" for question in TRAITS]

    def knows(self, name: str) -> bool:
        """Whether it is a question, also one that other data may answer."""
        return name.startswith(_PREFIX)

    def question(self, name: str, options: Mapping[str, Any]) -> Question:
        """Return a question; ``recogniser`` says who infers the answer."""
        who = options.get("recogniser", "clusterfix")
        asked = partial(_inferred, name.removeprefix(_PREFIX), who)
        return Question("attribute", asked, (infer, RECOGNISERS[who]))


def _inferred(question: str, who: str, data: GazeData, protected: Protected, seed: int, engine: Engine) -> Answer:
    del engine
    if question not in data.kinds:
        raise DoesNotApply(f"nothing is known about {question!r} of these participants")
    trials = without_pupil(trials_of(released(data, protected, seed)))
    found = infer(RECOGNISERS[who](), trials, data.kinds[question], leave="person", seed=seed)
    guessing = 1 / len(found.kinds)
    if math.isnan(found.f1):  # nothing could be learnt behind the mechanism, so the attacker guesses
        number = Number("macro F1", guessing, guessing, guessing, found.people, guessing)
    else:
        number = Number("macro F1", found.f1, *found.f1_interval, found.people, found.guessing)
    return Answer((number,), "trained behind the same mechanism, on other participants")


FAMILIES.register("traits")(Traits())
