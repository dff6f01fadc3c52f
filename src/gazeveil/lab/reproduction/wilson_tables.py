# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Tables 2, 3 and 5 of Wilson et al. 2024: who is identified, behind which mechanism, and what it costs.

The paper's accuracies are of EKYT trained on public recordings that are not here, on participants who are not here
either. What can be compared is the shape: accuracy grows with length; noise that is new with every sample is filtered
away; what is deterministic is undone by whoever knows it. Beside the paper's three mechanisms stand those with a
guarantee, under every registered attack, and beside every mechanism what it leaves of usefulness.

The paper measures frames per second and the memory of a whole application in a headset, where a mechanism does not
show. Here a mechanism is measured by itself: the time of a step, live, one call after another, and the memory that one
more stream takes after it has run for a while. That shows what share of a frame it is. Times are of this machine.
"""

from __future__ import annotations

import json
import statistics
import time
import tracemalloc
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache, lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np

from gazeveil.arrays import Tell, silent
from gazeveil.errors import InputError, MissingExtra, OptionError
from gazeveil.geometry import Geometry, headset
from gazeveil.lab.as_published.sample_mechanisms import preset
from gazeveil.lab.attacks.contract import ATTACKS, RECOGNISERS, Attack, Recogniser, Trial
from gazeveil.lab.attacks.judging import DRAWS, Judge, Stage
from gazeveil.lab.bench.runner import Case, ResultStore, answers
from gazeveil.lab.bench.software import software
from gazeveil.lab.experiments.identification import PEOPLE, SECONDS, IdentitySet, simulated_people, vr_people
from gazeveil.lab.experiments.named_mechanisms import veil as any_veil
from gazeveil.lab.experiments.stream_errors import score
from gazeveil.lab.utility.streams import METRICS, Pair
from gazeveil.noise import NoiseSource
from gazeveil.samples.mechanism import MECHANISMS, SampleMechanism
from gazeveil.samples.recipes import from_recipe
from gazeveil.samples.space import Space, Sphere, space_of

LENGTHS: Final = (5.0, 10.0, 30.0, 60.0, 90.0)

TABLE_2: Final[Mapping[float, tuple[float, float]]] = {
    5.0: (0.2244, 0.2692),
    10.0: (0.1923, 0.2276),
    30.0: (0.4006, 0.4135),
    60.0: (0.5673, 0.5481),
    90.0: (0.6827, 0.6731),
}
"""Interactive headset data by seconds: EKYT trained on conventional eye tracking, and on constrained headset data."""

TABLE_3: Final[Mapping[str, Mapping[str, float]]] = {
    "none": {"": 0.6731},
    "gaussian": {"": 0.141, "wavelet": 0.6314, "exemplars": 0.6839, "white-box": 0.6474},
    "spatial": {"": 0.2179, "wavelet": 0.2179, "exemplars": 0.6147, "white-box": 0.5833},
    "smoothing": {"": 0.141, "wavelet": 0.141, "exemplars": 0.6949, "white-box": 0.5513},
}
"""By mechanism at its high strength and attack; an empty name is no attack."""

TABLE_5: Final[Mapping[str, tuple[float, float]]] = {
    "none": (311.825, 70.94),
    "gaussian": (318.181, 70.95),
    "spatial": (316.606, 70.94),
    "smoothing": (322.041, 70.94),
}
"""Memory of the whole application in MB, and frames per second."""

FRAME_S: Final = 1 / 72.0
"""A frame of the paper's headset."""


# --- The mechanisms of table 3: the paper's at their high strengths, and those that keep Kaleido's guarantee.


_LATE_S = 0.25


def _published(name: str) -> Callable[[Space], SampleMechanism]:
    """Return a mechanism of the paper over all directions, with the paper's faults."""
    return lambda _: preset(name, Sphere())


def promised(name: str, **options: Any) -> Callable[[Space], SampleMechanism]:
    """Return a preset in the field that the eyes can reach."""
    return lambda field: preset(name, field, **options)


def like(name: str, promise: str) -> Callable[[Space], SampleMechanism]:
    """Return a mechanism at the guarantee that a preset keeps by the clock."""

    def make(field: Space) -> SampleMechanism:
        same = preset(promise, field).to_dict()
        return MECHANISMS[name](field, **{part: same[part] for part in ("epsilon", "window", "radius")})

    return make


VEILS: Final[Mapping[str, Callable[[Space], SampleMechanism] | None]] = {
    "none": None,
    "gaussian": _published("gaussian-high"),
    "spatial": _published("spatial-high-as-published"),
    "smoothing": _published("smoothing-high-as-published"),
    "kaleido mpmu": like("kaleido", "mpmu"),
    "clock lphu": promised("lphu"),
    "clock mpmu": promised("mpmu"),
    "clock hplu": promised("hplu"),
    "clock mpmu, 0.25 s late": promised("mpmu", lag=_LATE_S),
}
"""By name, in the field that the eyes can reach. The last is our best: the least error at its guarantee."""


def veil(name: str, plane: Geometry) -> SampleMechanism | None:
    """Return a mechanism of the table for gaze on a viewing plane in degrees, or None for none.

    All other mechanisms are known too, and recipes as JSON (``{"mechanism": "clock", …}``).

    Raises:
        UnknownName: If there is no such veil.
        OptionError: If a recipe is none.
    """
    if name in VEILS:
        make = VEILS[name]
        return None if make is None else make(space_of(plane))
    if name.startswith("{"):
        return from_recipe(_json(name), space_of(plane))
    return any_veil(name, plane)


def _json(text: str) -> dict[str, Any]:
    try:
        return dict(json.loads(text))
    except ValueError as error:
        raise OptionError(f"{text} is no recipe as JSON: {error}") from None


def identity(recogniser: Recogniser) -> str:
    """Return what a recogniser is: its parameters, and its model to the byte where it has one."""
    model = getattr(recogniser, "model_file", None)
    if model is None:
        return repr(recogniser)
    return f"{recogniser!r} {blake2b(Path(model()).read_bytes(), digest_size=8).hexdigest()}"


# --- Tables 2 and 3 of Wilson et al.


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
        keep: A folder for what is done; what it holds already is not measured again.
        tell: Called with how much is done.
    """
    wanted = [(name, attack) for name in veils or tuple(VEILS) for attack in _attacks_on(plan, name)]
    names = tuple(dict.fromkeys(name for name, _ in wanted))
    judged = [(name, attack, one) for name, attack in wanted for one in recognisers_of(plan)]
    jobs = [*judged, *((name, "", "") for name in names)]
    store = None if keep is None else ResultStore(keep)
    cases = [_case(plan, job) for job in jobs]
    found = answers(cases, _measured, plan, store=store, workers=workers if workers > 1 else 0, tell=tell)
    rows = found[: len(judged)]
    return {**about(plan), "table": 3, "rows": rows, "strongest": strongest(rows), "usefulness": found[len(judged) :]}


def _case(plan: Plan, job: Job) -> Case:
    """Return what measures a job, with a digest of all that decides what comes out."""
    name, attack, recogniser = job
    who = recognisers_of(plan)[recogniser] if recogniser else None
    mechanism = veil(name, people_of(plan).plane)
    parts = [type(one) for one in (who, mechanism, _made(attack) if attack else None) if one is not None]
    decides = {
        "people": people_of(plan).title,
        "seconds": plan.seconds,
        "enrolled": plan.enrolled,
        "seed": plan.seed,
        "draws": plan.draws,
        "veil": name,
        "attack": attack,
        "recogniser": [recogniser, "" if who is None else identity(who)],
        "software": software([*parts, Judge, usefulness]),
    }
    digest = blake2b(json.dumps(decides, sort_keys=True).encode(), digest_size=12).hexdigest()
    words = f"{recogniser or 'usefulness'} behind {name}{f' by {attack}' if attack else ''}"
    return Case(words, job, group=(name, attack), kind=recogniser, digest=digest, about=decides)


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


Job = tuple[str, str, str]
"""A mechanism, an attack, and a recogniser; or a mechanism alone, whose usefulness is measured."""


def _measured(plan: Plan, job: Job) -> dict[str, Any]:
    name, attack, recogniser = job
    if not recogniser:
        whose = people_of(plan)
        return {"veil": name, **usefulness(veil(name, whose.plane), whose, plan.seed)}
    told = {"veil": name, "attack": attack, "paper": TABLE_3.get(name, {}).get(attack), "recogniser": recogniser}
    try:
        stage = _stage(plan, name, attack)
    except MissingExtra as error:
        return {**told, "missing": error.message}
    return judges_of(plan)[recogniser].measure(stage).to_dict() | told


@lru_cache(maxsize=1)
def _stage(plan: Plan, name: str, attack: str) -> Stage:
    """Return what all recognisers are shown of one mechanism under one attack."""
    judge = next(iter(judges_of(plan).values()))
    return judge.stage(veil(name, people_of(plan).plane), _made(attack) if attack else None)


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


# --- Table 5 of Wilson et al. 2024: what a mechanism costs in time and memory.


STEPS: Final = 20_000
STREAMS: Final = 200
_WARM_UP = 500
_KEPT = 720
"""Samples that each stream has seen when memory is measured: ten seconds, more than any buffer holds."""


def table_5(
    *, veils: Sequence[str] = tuple(VEILS), steps: int = STEPS, streams: int = STREAMS, tell: Tell = silent
) -> dict[str, Any]:
    """Measure the time of a step and the memory of a stream for each mechanism.

    Args:
        veils: Which.
        steps: How many samples are timed.
        streams: How many streams share the memory that is measured.
        tell: Called with how many mechanisms are done.
    """
    samples = _samples(max(steps + _WARM_UP, _KEPT))
    rows = []
    for done, name in enumerate(veils, start=1):
        mechanism = veil(name, _PLANE)
        cost = {"step_us": 0.0, "step_us_p99": 0.0, "memory_kb": 0.0} if mechanism is None else {
            **_time(mechanism, samples, steps), "memory_kb": _memory(mechanism, samples, streams) / 1000
        }  # fmt: skip
        memory, frames = TABLE_5.get(name, (None, None))
        rows.append(
            {
                "veil": name,
                "mechanism": "" if mechanism is None else mechanism.in_words(),
                **cost,
                "share_of_frame": cost["step_us"] * 1e-6 / FRAME_S,
                "paper_memory_mb": memory,
                "paper_fps": frames,
            }
        )
        tell(done, len(veils))
    return {"paper": "Wilson et al. 2024", "table": 5, "steps": steps, "streams": streams, "rows": rows}


_PLANE: Final[Geometry] = headset(50, 50)


def _samples(count: int) -> list[tuple[float, float, float]]:
    trial = simulated_people(1, 1, count / 72).trials[0]
    return list(zip(trial.t[:count].tolist(), trial.x[:count].tolist(), trial.y[:count].tolist(), strict=True))


def _time(mechanism: SampleMechanism, samples: Sequence[tuple[float, float, float]], steps: int) -> dict[str, float]:
    step, clock = mechanism.start(NoiseSource.secure()).step, time.perf_counter
    took = []
    for t, x, y in samples[: steps + _WARM_UP]:
        start = clock()
        step(t, x, y)
        took.append(clock() - start)
    took = took[_WARM_UP:] or took
    ordered = sorted(took)
    return {
        "step_us": 1e6 * statistics.median(ordered),
        "step_us_p99": 1e6 * ordered[int(0.99 * (len(ordered) - 1))],
    }


def _memory(mechanism: SampleMechanism, samples: Sequence[tuple[float, float, float]], streams: int) -> float:
    """Return the bytes of one stream: what many of them take together, divided."""
    shown = samples[:_KEPT]

    def one() -> Any:
        running = mechanism.start(NoiseSource.secure())
        for sample in shown:
            running.step(*sample)
        return running

    first = one()  # whatever is made once for all
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        kept = [one() for _ in range(streams)]
        after = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    del kept, first
    return (after - before) / streams


# --- Tables 2, 3 and 5 as Markdown, for the page about threat models. Shares are percent, intervals in brackets.


def to_markdown(told: Mapping[str, Any]) -> str:
    """Return the tables that were measured."""
    parts = []
    for name, tell in (("table_2", _table_2), ("table_3", _table_3), ("table_5", _table_5)):
        if name in told:
            parts.append("\n".join(tell(told[name])))
    return "\n\n".join(parts)


def _table_2(told: Mapping[str, Any]) -> Iterator[str]:
    lengths = list(dict.fromkeys(row["seconds"] for row in told["rows"]))
    yield from _head(["recogniser", "sees beside velocity", *(f"{length:g} s" for length in lengths), "EER, longest"])
    for recogniser in dict.fromkeys(row["recogniser"] for row in told["rows"]):
        rows = {row["seconds"]: row for row in told["rows"] if row["recogniser"] == recogniser}
        last = rows[lengths[-1]]
        sees = "–" if "missing" in last else ", ".join(last["sees"]) or "nothing"
        eer = "–" if "missing" in last else f"{100 * last['eer']:.0f}"
        yield _line([recogniser.split("+")[0], sees, *(_cell(rows[length]) for length in lengths), eer])
    papers = {row["seconds"]: row["paper"] for row in told["rows"]}
    shown = ("–" if papers[one] is None else f"{100 * papers[one][1]:.0f}" for one in lengths)
    yield _line(["the paper's EKYT, 26 participants", "nothing", *shown, "–"])


def _table_3(told: Mapping[str, Any]) -> Iterator[str]:
    rows = told["rows"]
    veils = list(dict.fromkeys(row["veil"] for row in rows))
    attacks = list(dict.fromkeys(row["attack"] for row in rows))
    for recogniser in dict.fromkeys(row["recogniser"] for row in rows):
        cells = {(row["veil"], row["attack"]): row for row in rows if row["recogniser"] == recogniser}
        yield f"Identified by **{recogniser}**; the paper's in square brackets:"
        yield ""
        yield from _head(["attack", *veils])
        for attack in attacks:
            yield _line([_code(attack), *(_cell(cells.get((veil, attack))) for veil in veils)])
        yield ""
    yield from _head(["mechanism", "strongest", "against it", "identified", "F1 of hits", "lag (s)", "error (°)"])
    left = {row["veil"]: row for row in told["usefulness"]}
    for row in told["strongest"]:
        useful = left[row["veil"]]
        yield _line(
            [row["veil"], row["recogniser"], _code(row["attack"]), _cell(row | {"paper": None}),
             *(_number(useful[name]) for name in ("aoi_f1", "lag_s", "rmse_deg"))]
        )  # fmt: skip


def _table_5(told: Mapping[str, Any]) -> Iterator[str]:
    yield from _head(["mechanism", "step (µs)", "99 % (µs)", "of a frame", "stream (kB)", "paper: MB", "paper: fps"])
    for row in told["rows"]:
        yield _line(
            [row["veil"], _number(row["step_us"]), _number(row["step_us_p99"]), f"{100 * row['share_of_frame']:.3f} %",
             _number(row["memory_kb"]), _number(row["paper_memory_mb"]), _number(row["paper_fps"])]
        )  # fmt: skip


def _cell(row: Mapping[str, Any] | None) -> str:
    if row is None or "missing" in row:
        return "–"
    low, high = (f"{100 * value:.0f}" for value in row["accuracy_interval"])
    paper = row.get("paper")
    told = f"{100 * row['accuracy']:.0f} ({low}–{high})"
    return told if paper is None or isinstance(paper, Sequence) else f"{told} [{100 * paper:.0f}]"


def _code(attack: str) -> str:
    return f"`{attack}`" if attack else "none"


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3g}"


def _head(columns: Sequence[str]) -> Iterator[str]:
    yield _line(columns)
    yield "|---" * len(columns) + "|"


def _line(values: Sequence[str]) -> str:
    return f"| {' | '.join(values)} |"
