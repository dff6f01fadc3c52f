# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Advice about gaze itself: live to an app, or as published recordings.

What is guaranteed there is where a participant looked within a window of time, not who it is. So identity and traits
can only be answered by what attacks achieved, and membership not at all: whoever gets a recording knows that there is
one.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Final

import polars as pl

from gazeveil.lab.experiments.advising.advice import Advice, Harm, Success, Use, level_in_words
from gazeveil.lab.experiments.advising.measured import by_level, of_identification, stronger, strongest
from gazeveil.lab.experiments.advising.recommending import useful
from gazeveil.privacy.protection import Neighbours
from gazeveil.release.plan import Plan
from gazeveil.release.study import Study
from gazeveil.samples.recordings import VeiledRecordings
from gazeveil.samples.stream import StreamMechanism

PRESETS: Final = ("hplu", "mpmu", "lphu")
"""From the strongest to the weakest."""
_AGGREGATES: Final = (
    "publish an aggregate: `gazeveil advise --use heatmap` or `--use features`; there the guarantee is about a "
    "participant as a whole"
)
_UNPROTECTED: Final = (
    "who it is: nothing is guaranteed about that, and longer gaze shows more",
    "what repeats over many windows: the ε of windows that follow one another add up",
    "when gaze was missing, how long a recording is, and that it exists",
)
_BY_USE: Final = {
    Use.LIVE: (
        "apps that read the tracker past the gateway",
        "pupil size, head and eye geometry, if a policy lets them pass",
    ),
    Use.DATASET: ("the names under which recordings are published: give them new ones",),
}


def advise(study: Study, use: Use, harm: Harm, table: pl.DataFrame) -> Advice:
    """Recommend the strongest preset that is useful, if the strongest measured attack does no better than guessing."""
    if harm is Harm.MEMBERSHIP:
        return _always_a_member(use)
    plans = {name: study.plan(VeiledRecordings(preset=name)) for name in PRESETS}
    good = [name for name, plan in plans.items() if useful(plan.forecast)]
    options = {name: _advice(use, harm, name, plan, table) for name, plan in plans.items()}
    identified = {name: _attack(plan, Harm.REIDENTIFICATION, table) for name, plan in plans.items()}
    for name in good:
        if _at_chance(options[name].attack) and _at_chance(identified[name]):
            return _recommended(options[name], name, use)
    if not good:
        return options[PRESETS[-1]].refused(
            "Nothing fits: on this screen and at this rate no level that we know leaves gaze that is reliably better "
            "than always guessing the middle of the screen.",
            _AGGREGATES,
        )
    nearest = options[good[0]]
    if nearest.attack is None:
        return nearest.refused(
            f"Nothing can be recommended against {harm}: no attack of this kind was measured behind a level that is "
            "still useful, and nothing is guaranteed about it.",
            _AGGREGATES,
        )
    if _at_chance(nearest.attack):
        return _identified_after_all(nearest, good[0], identified[good[0]])
    hidden = [name for name in PRESETS if _at_chance(options[name].attack)]
    strong = (
        f" The levels at which it did no better than guessing ({', '.join(hidden)}) leave next to nothing of gaze."
        if hidden
        else " No level that we measured brought it down to guessing."
    )
    return nearest.refused(
        f"Nothing fits: at the strongest level that is still useful ({good[0]}), the strongest attack that we measured "
        f"does surely better than guessing.{strong}",
        _AGGREGATES,
        "hand out less: shorter pieces, fewer sessions of a participant, no names that link them",
    )


def _always_a_member(use: Use) -> Advice:
    reason = {
        Use.LIVE: "an app that gets live gaze knows that a participant is there",
        Use.DATASET: "it holds recordings of every participant, and each shows that the participant took part",
    }[use]
    return Advice(
        use=use,
        harm=Harm.MEMBERSHIP,
        fits=False,
        headline=f"Nothing fits: no mechanism for gaze itself hides who took part: {reason}.",
        instead=(_AGGREGATES,),
    )


def _advice(use: Use, harm: Harm, name: str, plan: Plan, table: pl.DataFrame) -> Advice:
    mechanism = _mechanism(plan)
    epsilon, window = Fraction(mechanism.epsilon), float(mechanism.window)
    return Advice(
        use=use,
        harm=harm,
        fits=True,
        headline="",
        mechanism=f"{mechanism.in_words()} (preset {name})",
        guarantee=str(plan.guarantee),
        level=level_in_words(
            epsilon, Neighbours.REPLACE_ONE, f"one window of {window:g} s; a minute has {60 / window:g} of them"
        ),
        utility=plan.forecast,
        attack=_attack(plan, harm, table),
        bound=(
            f"every attack on where a participant looked in one window of {window:g} s is bounded as the level says; "
            "nothing is proven about identity or attributes"
        ),
        unprotected=(*_UNPROTECTED, *_BY_USE[use]),
    )


def _identified_after_all(found: Advice, name: str, identified: Success | None) -> Advice:
    how = "was not measured" if identified is None else "does surely better than guessing"
    refused = found.refused(
        f"Nothing fits: at the strongest level that is still useful ({name}) no measured attack on attributes surely "
        f"beats guessing, but identification {how}, and with the identity all attributes are known.",
        _AGGREGATES,
        "it would fit only if no one else can have gaze of the same participants with their names",
    )
    return refused if identified is None else replace(refused, notes=(f"identification: {identified.in_words()}",))


def _attack(plan: Plan, harm: Harm, table: pl.DataFrame) -> Success | None:
    """Return the strongest of the grid and, for identity, of the packaged table of identification."""
    level = by_level(_mechanism(plan))
    found = stronger(*(strongest(table, each, harm, level) for each in (Use.LIVE, Use.DATASET)))
    identified = plan.measurement.identification() if harm is Harm.REIDENTIFICATION else None
    return stronger(found, None if identified is None else of_identification(identified))


def _mechanism(plan: Plan) -> StreamMechanism:
    """Return the mechanism on the first screen."""
    return next(iter(plan.measurement.on_screens.values()))  # type: ignore[attr-defined,no-any-return]


def _at_chance(attack: Success | None) -> bool:
    return attack is not None and not attack.surely_above_chance


def _recommended(found: Advice, name: str, use: Use) -> Advice:
    how = "Give apps gaze through the gateway" if use is Use.LIVE else "Publish veiled recordings"
    commands = {
        Use.LIVE: ("gazeveil policy example policy.toml",
                   f"set preset = \"{name}\" for the app in policy.toml",
                   "gazeveil serve policy.toml"),
        Use.DATASET: (f"gazeveil veil gaze --preset {name} --study study.toml --out release",),
    }[use]  # fmt: skip
    return replace(
        found,
        headline=f"{how} at the level {name}. Nothing is guaranteed about this harm; the strongest attack that we "
        "measured did not surely do better than guessing.",
        commands=commands,
    )
