# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Tables 2 and 3 of Wilson et al.

2024 on the participants that are at hand: who is identified, by length, mechanism and attack.

The paper's accuracies are of EKYT trained on public recordings that are not here, on participants who are not here
either. What can be compared is the shape: accuracy grows with length; noise that is new with every sample is filtered
away; what is deterministic is undone by whoever knows it. Beside the paper's three mechanisms stand those with a
guarantee, under every registered attack, and beside every mechanism what it leaves of usefulness.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, fields
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np

from gazeveil.arrays import Tell, silent
from gazeveil.errors import InputError, MissingExtra, OptionError
from gazeveil.lab.attacks.contract import ATTACKS, RECOGNISERS, Attack, Recogniser, Trial
from gazeveil.lab.attacks.judging.judge import DRAWS, Judge
from gazeveil.lab.experiments.identity_data import PEOPLE, SECONDS, IdentitySet, simulated_people, vr_people
from gazeveil.lab.experiments.wilson._cells import Cells, identity
from gazeveil.lab.experiments.wilson._paper import LENGTHS, TABLE_2, TABLE_3
from gazeveil.lab.experiments.wilson._veils import VEILS, veil
from gazeveil.lab.experiments.wilson.object_hits import score
from gazeveil.lab.utility.streams import METRICS, Pair
from gazeveil.noise import NoiseSource
from gazeveil.samples.mechanism import SampleMechanism

STRONGEST: Final = ("ekyt", "committee")
"""The strongest recogniser with a trained model, and the strongest that learns from its reference alone."""

QUICK_PEOPLE: Final = 6
QUICK_SECONDS: Final = 30.0


@dataclass(frozen=True, slots=True)
class Plan:
    """What is measured, as a value that can be sent to another process.

    Attributes:
        data: The folder of the recordings in a headset; None for simulated participants.
        recognisers: Names of recognisers, also with what they may see (``lda+pupil+position``); `STRONGEST` if empty.
        attacks: Names of attacks; all if empty.
        people: How many participants at most.
        seconds: How much of each record is used in table 3.
        enrolled: From what participants are known: ``one`` other session, as in the paper, or all ``others``.
        seed: All noise follows from it.
        draws: How often participants are resampled for an interval.
    """

    data: Path | None = None
    recognisers: tuple[str, ...] = ()
    attacks: tuple[str, ...] = ()
    people: int = PEOPLE
    seconds: float = SECONDS
    enrolled: Literal["one", "others"] = "one"
    seed: int = 1
    draws: int = DRAWS


@cache
def people_of(plan: Plan) -> IdentitySet:
    """Return whose gaze it is."""
    if plan.data is None:
        return simulated_people(plan.people, seconds=plan.seconds)
    everybody = vr_people(plan.data, plan.seconds)
    known = len({trial.person for trial in everybody.trials})
    return everybody.some(plan.people) if plan.people < known else everybody


@cache
def recognisers_of(plan: Plan) -> dict[str, Recogniser]:
    """Return the recognisers, each with the windows it has by default: EKYT's are the paper's.

    One that cannot be made here (a missing package or model) is left out, unless it was asked for.

    Raises:
        InputError: If none can be made.
    """
    made: dict[str, Recogniser] = {}
    for name in plan.recognisers or STRONGEST:
        try:
            made[name] = recogniser_of(name)
        except (MissingExtra, InputError):
            if plan.recognisers:
                raise
    if not made:
        raise InputError("no recogniser can be made here", hint="install gazeveil[attacks]")
    return made


def recogniser_of(name: str) -> Recogniser:
    """Return a recogniser by name; ``lda+pupil+position`` may look at the pupil and at absolute position.

    Raises:
        OptionError: If a recogniser that looks at movement alone is allowed more.
    """
    name, *allowed = name.split("+")
    kind: Any = RECOGNISERS[name]
    if allowed and "allow" not in {field.name for field in fields(kind)}:
        raise OptionError(f"{name} looks at movement alone, it cannot be allowed {', '.join(allowed)}")
    return kind(allow=frozenset(allowed)) if allowed else kind()  # type: ignore[no-any-return]


@cache
def judges_of(plan: Plan) -> dict[str, Judge]:
    """Return a judge for each recogniser."""
    return {name: _judge(plan, one, plan.seconds) for name, one in recognisers_of(plan).items()}


def _judge(plan: Plan, recogniser: Recogniser, seconds: float) -> Judge:
    whose = people_of(plan)
    return Judge(
        recogniser, whose.trials, whose.title, seconds, enrolled=plan.enrolled, seed=plan.seed, draws=plan.draws
    )


def about(plan: Plan) -> dict[str, Any]:
    """Say whose gaze it is and how it differs from the paper's."""
    whose = people_of(plan)
    return {
        "paper": "Wilson et al. 2024",
        "data": whose.title,
        "differs": whose.differs,
        "recognisers": {name: sorted(one.sees) for name, one in recognisers_of(plan).items()},
        "windows": {name: _windows(one) for name, one in recognisers_of(plan).items()},
        "enrolled": f"{plan.enrolled} session" if plan.enrolled == "one" else "all other sessions",
        "seed": plan.seed,
    }


def _windows(recogniser: Recogniser) -> str:
    seconds, step = getattr(recogniser, "seconds", None), getattr(recogniser, "step", None)
    return "its own" if seconds is None or step is None else f"{seconds:g} s by {step:g} s"


def table_2(plan: Plan, *, lengths: Sequence[float] = LENGTHS, tell: Tell = silent) -> dict[str, Any]:
    """Measure accuracy without a mechanism by the length of the records, for every recogniser."""
    recognisers = recognisers_of(plan)
    cells = [(seconds, name) for seconds in lengths if seconds <= plan.seconds for name in recognisers]
    rows = []
    for done, (seconds, name) in enumerate(cells, start=1):
        judge = _judge(plan, recognisers[name], seconds)
        told = {"recogniser": name, "seconds": seconds, "paper": TABLE_2.get(seconds)}
        try:
            rows.append(judge.judge().to_dict() | told)
        except InputError as error:  # a recogniser may need more to learn from than so short a record
            rows.append({**told, "missing": error.message})
        tell(done, len(cells))
    return {**about(plan), "table": 2, "rows": rows}


def table_3(
    plan: Plan,
    *,
    veils: Sequence[str] = (),
    workers: int = 1,
    keep: Path | None = None,
    tell: Tell = silent,
) -> dict[str, Any]:
    """Measure accuracy behind every mechanism under every attack, for every recogniser, and what each mechanism leaves.

    Args:
        plan: Who is told apart by whom.
        veils: Names of `VEILS` or of presets; all of `VEILS` if empty.
        workers: How many processes share the work.
        keep: A file for what is done; what it holds already is not measured again.
        tell: Called with how many pairs of a mechanism and an attack are done.
    """
    recognisers = recognisers_of(plan)
    cells = Cells(keep, _measured_as(plan), {name: identity(one) for name, one in recognisers.items()})
    wanted = [(name, attack) for name in veils or tuple(VEILS) for attack in _attacks_on(plan, name)]
    jobs = []
    for name, attack in wanted:
        missing = tuple(one for one in recognisers if (name, attack, one) not in cells.rows)
        if missing or (not attack and name not in cells.left):
            jobs.append((name, attack, missing))
    for done, (name, attack, found, left) in enumerate(
        _measured(plan, jobs, workers), start=len(wanted) - len(jobs) + 1
    ):
        cells.add(name, attack, found, left)
        tell(done, len(wanted))
    rows = [cells.rows[name, attack, one] for name, attack in wanted for one in recognisers]
    return {
        **about(plan),
        "table": 3,
        "rows": rows,
        "strongest": strongest(rows),
        "usefulness": [cells.left[name] for name in dict.fromkeys(name for name, _ in wanted)],
    }


def _measured_as(plan: Plan) -> dict[str, Any]:
    """Return all that a cell depends on beside its mechanism, attack and the recogniser's name."""
    return {
        "people": people_of(plan).title,
        "seconds": plan.seconds,
        "enrolled": plan.enrolled,
        "seed": plan.seed,
        "draws": plan.draws,
    }


def strongest(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return for each mechanism the recogniser and attack that name most people.

    They are chosen after the fact, on the participants asked about, so this is what a lucky attacker gets: an upper
    bound on what these attackers can do, and no estimate of what one of them does.
    """
    best: dict[str, Mapping[str, Any]] = {}
    for row in rows:
        if "missing" not in row and row["accuracy"] > best.get(row["veil"], {"accuracy": -1.0})["accuracy"]:
            best[row["veil"]] = row
    kept = ("veil", "recogniser", "attack", "accuracy", "accuracy_interval", "chance")
    return [{name: row[name] for name in kept} for row in best.values()]


def _attacks_on(plan: Plan, name: str) -> list[str]:
    """Return the attacks that have something to do against a mechanism, no attack first."""
    mechanism = veil(name, people_of(plan).plane)
    if mechanism is None:
        return [""]
    return ["", *(attack for attack in plan.attacks or ATTACKS.names() if _made(attack).fits(mechanism))]


def _made(attack: str) -> Attack:
    return ATTACKS[attack]()


Job = tuple[str, str, tuple[str, ...]]
"""A mechanism, an attack, and the recognisers that have not met them yet."""
Measured = tuple[str, str, dict[str, dict[str, Any]], dict[str, Any] | None]


def _measured(plan: Plan, jobs: Sequence[Job], workers: int) -> Iterator[Measured]:
    if workers == 1:
        yield from (_job(plan, *job) for job in jobs)
        return
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        for future in as_completed([pool.submit(_job, plan, *job) for job in jobs]):
            yield future.result()


def _job(plan: Plan, name: str, attack: str, recognisers: tuple[str, ...]) -> Measured:
    """Measure one mechanism under one attack with some recognisers.

    Without an attack, also what the mechanism leaves.
    """
    judges, whose = judges_of(plan), people_of(plan)
    mechanism = veil(name, whose.plane)
    told = {"veil": name, "attack": attack, "paper": TABLE_3.get(name, {}).get(attack)}
    left = None if attack else {"veil": name, **usefulness(mechanism, whose, plan.seed)}
    try:
        stage = next(iter(judges.values())).stage(mechanism, _made(attack) if attack else None)
    except MissingExtra as error:
        return name, attack, {one: {**told, "recogniser": one, "missing": error.message} for one in recognisers}, left
    rows = {one: judges[one].measure(stage).to_dict() | told | {"recogniser": one} for one in recognisers}
    return name, attack, rows, left


def usefulness(mechanism: SampleMechanism | None, whose: IdentitySet, seed: int) -> dict[str, Any]:
    """Return hits kept on objects (or on 4 x 3 areas where none are known), lag and error, mean over records."""
    measures = {"aoi_f1": METRICS["aoi_f1"], "lag_s": METRICS["lag_s"], "rmse_deg": METRICS["rmse_deg"]}
    found: dict[str, list[float]] = {name: [] for name in measures}
    for trial in whose.trials:
        x, y = _veiled(trial, mechanism, seed)
        pair = Pair.of(trial.t, (trial.x, trial.y), (x, y), whose.plane)
        room = whose.rooms.get((trial.person, trial.session))
        for name, measure in measures.items():
            hits = name == "aoi_f1" and room is not None
            found[name].append(score(room, x, y).weighted() if hits and room is not None else measure(pair))
    means = {name: float(np.nanmean(values)) if np.isfinite(values).any() else None for name, values in found.items()}
    return {**means, "areas": "objects" if whose.rooms else "4 x 3"}


def _veiled(trial: Trial, mechanism: SampleMechanism | None, seed: int) -> tuple[Any, Any]:
    if mechanism is None:
        return trial.x, trial.y
    noise = NoiseSource.seeded(seed).spawn(f"use/{trial.person}/{trial.session}")
    return mechanism.start(noise).run(trial.t, trial.x, trial.y)
