# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""``gazeveil attack train``: train recognisers before an attack."""

from __future__ import annotations

import json
import time
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from gazeveil.cli._output import AsJson, check_free, command_app, print_json, print_table, progress
from gazeveil.cli._screens import DistanceMm, FovDeg, ScreenPx, SizeMm, geometry_of, sizes_of
from gazeveil.errors import OptionError
from gazeveil.files import replacing

app = command_app(no_args_is_help=True)


class Device(StrEnum):
    """Where to train."""

    CPU = "cpu"
    CUDA = "cuda"


class Precision(StrEnum):
    """In which numbers the network computes."""

    FP32 = "fp32"
    BF16 = "bf16"


@app.callback()
def train() -> None:
    """Train a recogniser on simulated participants or on your own data."""


@app.command(epilog="Example: `gazeveil attack train ekyt --people 500 --sessions 8 --device cuda --out model.npz`")
def ekyt(
    out: Annotated[Path, typer.Option("--out", help="Model file to write (.npz); its log goes beside it (.json).")],
    people: Annotated[
        int, typer.Option("--participants", "--people", min=2, help="How many simulated participants.")
    ] = 100,
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
    from gazeveil.lab.attacks.ekyt.network.preprocess import window_samples
    from gazeveil.lab.attacks.ekyt.training.ensemble import fastest, fold_path, train_ensemble
    from gazeveil.lab.attacks.ekyt.training.gather import gathered
    from gazeveil.lab.attacks.ekyt.training.loop import Recipe
    from gazeveil.lab.attacks.ekyt.training.population import Crowd

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
