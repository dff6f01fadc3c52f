# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""``gazeveil attack run``: how often participants are identified in your own gaze, with or without a mechanism."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gazeveil.cli._output import AsJson, print_json, print_table, progress
from gazeveil.cli._screens import DistanceMm, FovDeg, ScreenPx, SizeMm, geometry_of, sizes_of
from gazeveil.errors import OptionError

if TYPE_CHECKING:
    from gazeveil.geometry import Geometry
    from gazeveil.lab.attacks.contract import Attack, Recogniser, Trial
    from gazeveil.lab.attacks.judging.judgement import Judgement
    from gazeveil.samples.mechanism import SampleMechanism


class Fold(StrEnum):
    """What is compared with what."""

    SESSION = "session"
    TRIAL = "trial"


class Enrolled(StrEnum):
    """From what participants are known."""

    ONE = "one"
    OTHERS = "others"


def attack_run(
    inputs: Annotated[
        list[Path] | None,
        typer.Argument(
            help="Gaze files, a corpus, or a folder of GazeBase or GazeBaseVR; without, simulated participants."
        ),
    ] = None,
    recogniser: Annotated[str, typer.Option("--recogniser", help="Identification model.")] = "lda",
    model: Annotated[Path | None, typer.Option("--model", help="A trained model, for recognisers with one.")] = None,
    preset_name: Annotated[
        str | None, typer.Option("--preset", help="The mechanism that protects the gaze; by default none.")
    ] = None,
    recipe: Annotated[Path | None, typer.Option("--recipe", help="Mechanism as a JSON or TOML file.")] = None,
    attack: Annotated[str | None, typer.Option("--attack", help="Attack on the mechanism; none by default.")] = None,
    window: Annotated[float | None, typer.Option("--window", help="Seconds of a window.")] = None,
    step: Annotated[float | None, typer.Option("--step", help="Seconds from one window to the next.")] = None,
    seconds: Annotated[float | None, typer.Option("--seconds", help="Use the first seconds of every trial.")] = None,
    fold: Annotated[Fold, typer.Option("--fold", help="Compare sessions, or trials of the same name.")] = Fold.SESSION,
    enrolled: Annotated[
        Enrolled, typer.Option("--enrolled", help="Known from one other session, or from all others.")
    ] = Enrolled.ONE,
    screen: ScreenPx = None,
    size_mm: SizeMm = None,
    distance_mm: DistanceMm = None,
    fov_deg: FovDeg = None,
    people: Annotated[
        int, typer.Option("--participants", "--people", min=2, help="How many simulated participants.")
    ] = 26,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of all noise.")] = 1,
    as_json: AsJson = False,
) -> None:
    """Measure how often participants are identified: enrolled raw, queried behind a mechanism that is attacked."""
    from gazeveil.lab.attacks.contract import ATTACKS
    from gazeveil.lab.attacks.judging.judge import Judge

    mechanism = _veil(preset_name, recipe)
    if attack is not None and mechanism is None:
        raise OptionError("an attack needs a mechanism to attack", hint="give --preset or --recipe")
    chosen: Attack | None = None if attack is None else ATTACKS[attack]()
    if chosen is not None and mechanism is not None and not chosen.fits(mechanism):
        raise OptionError(f"{attack} has nothing to do against {mechanism.in_words()}")
    who = _recogniser(recogniser, model, window, step)
    with progress("reading gaze", quiet=as_json):
        trials = _trials(inputs or [], people, seconds, geometry_of(sizes_of(screen, size_mm, distance_mm, fov_deg)))
    judge = Judge(
        who,
        trials,
        ", ".join(path.name for path in inputs or []) or f"{people} simulated participants",
        seconds,
        fold="session" if fold is Fold.SESSION else "name",
        enrolled="one" if enrolled is Enrolled.ONE else "others",
        seed=seed,
    )
    with progress("judging", quiet=as_json) as tell:
        told = judge.judge(mechanism, chosen, tell=tell)
    if as_json:
        print_json(told.to_dict())
        return
    _print(told)


def _veil(preset_name: str | None, recipe: Path | None) -> SampleMechanism | None:
    """Return the mechanism for directions in the head's frame: what an attacker compares is in degrees."""
    from gazeveil.lab import load
    from gazeveil.lab.as_published.wilson_presets import preset
    from gazeveil.samples.recipe import from_recipe, read_recipe
    from gazeveil.samples.space import EYE_FIELD, Sphere

    load()
    if preset_name is not None and recipe is not None:
        raise OptionError("a mechanism is a preset or a recipe, not both")
    if preset_name is not None:
        return preset(preset_name, Sphere(*EYE_FIELD))
    return None if recipe is None else from_recipe(read_recipe(recipe), Sphere(*EYE_FIELD))


def _recogniser(name: str, model: Path | None, window: float | None, step: float | None) -> Recogniser:
    from dataclasses import fields

    from gazeveil.lab.attacks.contract import RECOGNISERS

    kind: Any = RECOGNISERS[name]
    known = {field.name for field in fields(kind)}
    options = {"model": ("--model", model), "seconds": ("--window", window), "step": ("--step", step)}
    given = {key: value for key, (_, value) in options.items() if value is not None}
    for key in given.keys() - known:
        raise OptionError(f"{name} has no option {options[key][0]}", hint="leave it out")
    return kind(**given)  # type: ignore[no-any-return]


def _trials(paths: list[Path], people: int, seconds: float | None, plane: Geometry | None) -> list[Trial]:
    if not paths:
        from gazeveil.lab.experiments.identity_data import SECONDS, simulated_people

        return list(simulated_people(people, seconds=seconds or SECONDS).trials)
    from gazeveil.lab.attacks.trials import trials_at

    return [trial for path in paths for trial in trials_at(path, plane)]


def _print(told: Judgement) -> None:
    low, high = told.accuracy_interval
    eer_low, eer_high = told.eer_interval
    pooled_low, pooled_high = told.pooled_interval
    print_table(
        "how often participants are identified",
        ["", ""],
        [
            ["data", told.data],
            ["participants, sessions, queries", f"{told.people}, {told.folds}, {told.queries}"],
            ["recogniser", f"{told.recogniser} (sees beside velocity: {', '.join(told.sees) or 'nothing'})"],
            ["mechanism", told.mechanism or "none"],
            ["guarantee", told.promise or "–"],
            ["attack", f"{told.attack} ({told.threat_model})" if told.attack else "none"],
            ["identified by vote", f"{told.accuracy:.1%} ({low:.0%} to {high:.0%}); chance {told.chance:.1%}"],
            ["by the highest mean score", f"{told.pooled_accuracy:.1%} ({pooled_low:.0%} to {pooled_high:.0%})"],
            ["a single window", f"{told.window_accuracy:.1%}"],
            ["equal error rate", f"{told.eer:.1%} ({eer_low:.0%} to {eer_high:.0%})"],
            ["d′", f"{told.d_prime:.2f}"],
            ["without a usable window", str(told.unanswered)],
        ],
    )
