# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""``gazeveil lab attack``: try to identify participants, train the networks that do, list the attacks."""

from __future__ import annotations

import datetime
import json
import time
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gazeveil import __version__
from gazeveil.errors import FileFormatError, OptionError
from gazeveil.files import replacing
from gazeveil.terminal import NamesOf
from gazeveil.terminal.options import DistanceMm, FovDeg, ScreenPx, SizeMm, geometry_of, sizes_of
from gazeveil.terminal.printing import AsJson, check_free, command_app, print_json, print_table, progress

if TYPE_CHECKING:
    from gazeveil.geometry import Geometry
    from gazeveil.lab.attacks.contract import Attack, Recogniser, Trial
    from gazeveil.lab.attacks.judging import Judgement
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
    recogniser: Annotated[
        str, typer.Option("--recogniser", metavar=NamesOf("recogniser"), help="Identification model.")
    ] = "lda",
    model: Annotated[Path | None, typer.Option("--model", help="A trained model, for recognisers with one.")] = None,
    preset_name: Annotated[
        str | None,
        typer.Option(
            "--preset", metavar=NamesOf("preset"), help="The mechanism that protects the gaze; by default none."
        ),
    ] = None,
    recipe: Annotated[Path | None, typer.Option("--recipe", help="Mechanism as a JSON or TOML file.")] = None,
    attack: Annotated[
        str | None,
        typer.Option("--attack", metavar=NamesOf("attack"), help="Attack on the mechanism; none by default."),
    ] = None,
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
    people: Annotated[int, typer.Option("--participants", min=2, help="How many simulated participants.")] = 26,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of all noise.")] = 1,
    as_json: AsJson = False,
) -> None:
    """Measure how often participants are identified: enrolled raw, queried behind a mechanism that is attacked."""
    from gazeveil.lab.attacks.contract import ATTACKS
    from gazeveil.lab.attacks.judging import Judge

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
    from gazeveil.lab.as_published.sample_mechanisms import preset
    from gazeveil.samples.recipes import from_recipe, read_recipe
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
        from gazeveil.lab.experiments.identification import SECONDS, simulated_people

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


# --- ``gazeveil lab attack table`` and ``keep``: the table of measured identification rates.


TablePath = Annotated[
    Path | None, typer.Option("--table", help="Another table than the one that gazeveil comes with and reads.")
]


def attack_table(table: TablePath = None, as_json: AsJson = False) -> None:
    """Show what was measured: the table that statements, the gateway and plans read."""
    from gazeveil.samples import identification

    read = identification.read_table(table or identification.PACKAGED)
    if as_json:
        print_json({"version": read.version, "rows": [row.to_dict() for row in read.rows]})
        return
    print_table(
        f"how often participants were identified, version {read.version}",
        ["mechanism", "attack", "recogniser", "known from", "seconds", "identified", "95 % interval", "chance", "data"],
        [
            [
                "none" if row.mechanism is None else row.mechanism.in_words(),
                row.attack or "none",
                row.recogniser,
                row.known,
                row.seconds,
                f"{row.rate:.0%}",
                f"{row.interval[0]:.0%} to {row.interval[1]:.0%}",
                f"{row.chance:.0%}",
                row.data,
            ]
            for row in read.rows
        ],
    )


def attack_keep(
    results: Annotated[
        list[Path],
        typer.Argument(help="What `attack run --json` or `reproduce wilson --json` printed, or a file of its --keep."),
    ],
    command: Annotated[str, typer.Option("--command", help="The command that measured it.")],
    table: TablePath = None,
    date: Annotated[str | None, typer.Option("--date", help="When it was measured; by default today (UTC).")] = None,
    as_json: AsJson = False,
) -> None:
    """Add what an attack measured to the table; it replaces what was measured in the same way before."""
    from gazeveil.samples import identification

    path = table or identification.PACKAGED
    before = identification.read_table(path) if path.exists() else identification.IdentificationTable(0, ())
    day = date or datetime.datetime.now(datetime.UTC).date().isoformat()
    rows = [
        identification.row_of(judged, software=f"gazeveil {__version__}", date=day, command=command)
        for result in results
        for judged in _judgements(result)
    ]
    after = before.with_rows(rows)
    after.save(path)
    if as_json:
        print_json({"table": path, "version": after.version, "rows": len(after.rows), "taken": len(rows)})
    else:
        print(f"{path} is version {after.version} now: {len(rows)} rows taken, {len(after.rows)} in all")


def _judgements(path: Path) -> list[dict[str, Any]]:
    """Find judgements wherever they stand in a file: alone, in a table, or by the recogniser's name."""
    try:
        text = path.read_text(encoding="utf-8")
        values = [json.loads(line) for line in text.splitlines()] if path.suffix == ".jsonl" else json.loads(text)
    except (OSError, ValueError) as error:
        raise FileFormatError(path, expected="judgements as JSON", found=str(error)) from None
    if found := list(_anywhere(values)):
        return found
    raise FileFormatError(path, expected="judgements as JSON", found="none", hint="gazeveil lab attack run … --json")


def _anywhere(values: Any) -> Iterator[dict[str, Any]]:
    if isinstance(values, dict) and {"accuracy", "recipe"} <= values.keys():
        yield values
    elif isinstance(values, dict | list):
        for each in values.values() if isinstance(values, dict) else values:
            yield from _anywhere(each)


# --- ``gazeveil lab attack train``: train recognisers before an attack.


_train = command_app(no_args_is_help=True)


class Device(StrEnum):
    """Where to train."""

    CPU = "cpu"
    CUDA = "cuda"


class Precision(StrEnum):
    """In which numbers the network computes."""

    FP32 = "fp32"
    BF16 = "bf16"


@_train.callback()
def train() -> None:
    """Train a recogniser on simulated participants or on your own data."""


@_train.command(
    epilog="Example: `gazeveil lab attack train ekyt --participants 500 --sessions 8 --device cuda --out model.npz`"
)
def ekyt(
    out: Annotated[Path, typer.Option("--out", help="Model file to write (.npz); its log goes beside it (.json).")],
    people: Annotated[int, typer.Option("--participants", min=2, help="How many simulated participants.")] = 100,
    sessions: Annotated[int, typer.Option("--sessions", min=1, help="On how many days each.")] = 4,
    minutes: Annotated[float, typer.Option("--minutes", help="How long a session is.")] = 1.0,
    tracker: Annotated[
        str, typer.Option("--tracker", help="`varied`: another one every session; or eyelink, headset, …")
    ] = "varied",
    data: Annotated[
        list[Path] | None,
        typer.Option("--data", help="Instead of simulated participants: a corpus, a gaze file, or velocities (.npz)."),
    ] = None,
    screen: ScreenPx = None,
    size_mm: SizeMm = None,
    distance_mm: DistanceMm = None,
    fov_deg: FovDeg = None,
    rate: Annotated[float, typer.Option("--rate", help="Rate that gaze is brought to, in Hz.")] = 125.0,
    seconds: Annotated[float, typer.Option("--seconds", help="Length of a window.")] = 5.0,
    epochs: Annotated[int, typer.Option("--epochs", min=1, help="How long to train.")] = 100,
    folds: Annotated[
        int,
        typer.Option(
            "--folds", min=1, help="Number of models in the ensemble; 1 trains a single model on all participants."
        ),
    ] = 4,
    device: Annotated[Device, typer.Option("--device", help="Where to train.")] = Device.CPU,
    precision: Annotated[Precision, typer.Option("--precision", help="fp32, or bf16 for speed.")] = Precision.FP32,
    resume: Annotated[bool, typer.Option("--resume", help="Resume a stopped training.")] = False,
    half: Annotated[bool, typer.Option("--half", help="Write weights in 2 bytes each.")] = False,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of participants, weights and batches.")] = 1,
    workers: Annotated[int, typer.Option("--workers", min=1, help="Processes that simulate.")] = 2,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a model that is there.")] = False,
    as_json: AsJson = False,
) -> None:
    """Train EKYT, the network that recognises participants by how their eyes move."""
    from gazeveil.lab.attacks.ekyt.training import Recipe, fastest, fold_path, train_ensemble
    from gazeveil.lab.attacks.ekyt.training_gaze import Crowd, gathered
    from gazeveil.lab.attacks.ekyt.windows import window_samples

    if out.suffix != ".npz":
        raise OptionError(f"a model is written as .npz, not as {out.name!r}")
    check_free(out, overwrite=overwrite)
    recipe = Recipe(epochs=epochs, seed=seed, device=device.value, precision=precision.value)
    samples = window_samples(seconds, rate)
    plane = geometry_of(sizes_of(screen, size_mm, distance_mm, fov_deg))
    crowd = None if data else Crowd(people, sessions, minutes, rate, tracker, seed)
    begun = time.perf_counter()
    with progress("gathering gaze", quiet=as_json) as tell:
        gaze = gathered(data or [], rate, tell, plane) if crowd is None else crowd.simulate(workers, tell)
    windows = gaze.windows(samples)
    ready = time.perf_counter()
    kept = out.with_suffix(".training")
    with progress("training", quiet=as_json) as tell:
        hooks = fastest(device.value)
        model = train_ensemble(
            windows, recipe, folds, data=gaze.about, checkpoints=kept, resume=resume, tell=tell, **hooks
        )
    seconds_taken = {"gathering": ready - begun, "training": time.perf_counter() - ready}
    model.save(out, half=half)
    log = {**model.about, "seconds_taken": seconds_taken}
    with replacing(out.with_suffix(".json")) as temporary:
        temporary.write_text(json.dumps(log, indent=1) + "\n", encoding="utf-8", newline="\n")
    for number in range(folds):
        fold_path(kept, number).unlink(missing_ok=True)
    if as_json:
        print_json({"out": out, "log": out.with_suffix(".json"), **log})
        return
    print(
        f"trained {len(model.folds)} networks on {log['people']:,} participants, {log['windows']:,} windows, in {out}"
    )
    print_table(
        "participants not seen in training, identified in their last session",
        ["network", "last loss", "participants", "nearest window is right", "by chance"],
        [
            [number + 1, curve[-1]["loss"], score["people"], score["nearest_window_is_right"], score["chance"]]
            for number, (curve, score) in enumerate(zip(log["curves"], log["scores"], strict=False))
        ],
    )


# --- ``gazeveil lab attack``: the adversary at work. Each recogniser that is trained has a command under ``train``.


app = command_app(no_args_is_help=True)


@app.callback()
def attack() -> None:
    """Try to identify participants from protected gaze."""


app.add_typer(_train, name="train")
app.command(
    "run", epilog="Example: `gazeveil lab attack run --participants 8 --seconds 30 --preset mpmu --attack wavelet`"
)(attack_run)
app.command("table", epilog="Example: `gazeveil lab attack table`")(attack_table)
app.command("keep", epilog="Example: `gazeveil lab attack keep result.json --command 'gazeveil lab attack run …'`")(
    attack_keep
)
