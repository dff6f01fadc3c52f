# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Who is it? Any recogniser, alone or with any attack on the mechanism: ``committee``, ``lda+adaptive``.

The attacker knows each participant's raw gaze of one session and gets that of another from behind the mechanism. What
counts is the better of two ways to decide, by the windows' votes or by the highest mean score; both are in the table.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache, partial
from typing import Any

from gazeveil.aggregate.engine import Engine
from gazeveil.errors import InputError, OptionError
from gazeveil.lab.attacks.contract import ATTACKS, RECOGNISERS, Recogniser
from gazeveil.lab.attacks.judging.judge import Judge, Stage
from gazeveil.lab.attacks.judging.judgement import Judgement
from gazeveil.lab.attacks.trials import trial_of
from gazeveil.lab.experiments.grid.contract import FAMILIES, Answer, DoesNotApply, Family, Number, Protected, Question
from gazeveil.lab.experiments.grid.gaze_data import GazeData
from gazeveil.lab.experiments.grid.released import released
from gazeveil.samples.mechanism import SampleMechanism


class Identification(Family):
    """All recognisers, with all attacks."""

    uses = frozenset({"live", "dataset"})
    role = "attack"
    options = None

    def names(self) -> list[str]:
        """Return recognisers, alone and with every attack."""
        return [*RECOGNISERS.names(), *(f"{one}+{attack}" for one in RECOGNISERS.names() for attack in ATTACKS.names())]

    def question(self, name: str, options: Mapping[str, Any]) -> Question:
        """Return a recogniser, perhaps with an attack; options are those of the recogniser."""
        who, _, attack = name.partition("+")
        recogniser = made(who, options)
        parts = (RECOGNISERS[who], Judge, *([ATTACKS[attack]] if attack else []))
        return Question("reidentification", partial(_identified, recogniser, attack), parts)


def made(name: str, options: Mapping[str, Any]) -> Recogniser:
    """Return a recogniser with options.

    Raises:
        OptionError: If it has no such options.
    """
    try:
        return RECOGNISERS[name](**options)
    except TypeError:
        raise OptionError(f"{name} cannot be made with {', '.join(options)}") from None


@lru_cache(maxsize=2)
def _judge(recogniser: Recogniser, data: GazeData, seed: int) -> Judge:
    """Return a judge that keeps the participants it has enrolled, for one mechanism after the other."""
    try:
        return Judge(recogniser, data.trials, data.words, seed=seed)
    except InputError as error:
        raise DoesNotApply(error.message, hint=error.hint) from None


def _identified(
    recogniser: Recogniser, attack: str, data: GazeData, protected: Protected, seed: int, engine: Engine
) -> Answer:
    del engine
    judge, mechanism = _judge(recogniser, data, seed), protected.mechanism
    against = ATTACKS[attack]() if attack else None
    if mechanism is None or isinstance(mechanism, SampleMechanism):
        if against is not None and (mechanism is None or not against.fits(mechanism)):
            raise DoesNotApply(f"there is nothing for {attack} to do against {protected.recipe['mechanism']}")
        return _answer(judge.judge(mechanism, against))
    if against is not None:
        raise DoesNotApply(f"{attack} is for stream mechanisms, and {protected.recipe['mechanism']} is none")
    shown: dict[str, list[Any]] = {}
    for recording in released(data, protected, seed):
        shown.setdefault(recording.session, []).append(trial_of(recording).anonymous())
    return _answer(judge.measure(Stage(mechanism, None, (None, None), {key: tuple(own) for key, own in shown.items()})))


def _answer(found: Judgement) -> Answer:
    both = (
        Number("by votes", found.accuracy, *found.accuracy_interval, found.people, found.chance),
        Number("by mean score", found.pooled_accuracy, *found.pooled_interval, found.people, found.chance),
    )
    best = max(both, key=lambda number: number.value)
    first = Number("identified", best.value, best.low, best.high, best.n, best.chance)
    equal = Number("equal error rate", found.eer, *found.eer_interval, found.people, 0.5)
    knows = "raw gaze of all participants on another day"
    threat = knows if found.threat_model == "none" else f"{knows}; {found.threat_model}"
    return Answer((first, *both, equal), threat)


FAMILIES.register("identification")(Identification())
