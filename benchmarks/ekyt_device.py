# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Training EKYT on a GPU: how fast, with which loss curve, and how well it does with how many people and minutes.

    PYTHONPATH=src:. python benchmarks/ekyt_device.py FOLDERS OUT_FOLDER race curves full folds growth veiled

`FOLDERS` (with commas between) are what `ekyt_people` and `ekyt_veiled_people` wrote. People 500 to 599 are never
trained on; the model that ships is trained on all others. Every part writes its own JSON as it ends. Needs numpy, torch
and Triton, and nothing else.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks import ekyt_veiled_people as veils
from benchmarks.ekyt_judging import embeddings, judged
from benchmarks.ekyt_people import RATE_HZ, SEED, read
from gazeveil.lab.attacks.ekyt.files import Fold, Model, Windows, load_model
from gazeveil.lab.attacks.ekyt.network import Classifier, DenseBlock, Embedder
from gazeveil.lab.attacks.ekyt.training import (
    HIGHEST_RATE,
    FusedBlock,
    GraphStep,
    PlainStep,
    Recipe,
    epoch_batches,
    train,
    train_ensemble,
)
from gazeveil.lab.attacks.ekyt.windows import pooled_scale

BATCH, SAMPLES = 256, 625
TRAINING_PEOPLE = 500
UNSEEN = slice(500, 600)
FAST: dict[str, Any] = {"block": FusedBlock, "make_step": GraphStep}
PLAIN: dict[str, Any] = {"block": DenseBlock, "make_step": PlainStep}
SOME = [name for name in os.environ.get("CURVES", "").split(";") if name]
"""Which curves to draw, all of them if none is named."""
BF16 = Recipe(int(os.environ.get("EPOCHS", "100")), device="cuda", precision="bf16")


def cut(velocity: Any, first: int = 0) -> Windows:
    """Return the windows of people x sessions x 2 x samples that are at least half there."""
    people, sessions = velocity.shape[:2]
    some = velocity.reshape(people, sessions, 2, -1, SAMPLES).transpose(0, 1, 3, 2, 4)
    there = np.isfinite(some).all(axis=3).mean(axis=3) >= 0.5
    who, when, _ = np.nonzero(there)
    return Windows(some[there], who + first, (when + 1).astype(np.int32), RATE_HZ)


def race(_: Any) -> dict[str, Any]:
    """Time one step of each kind in turns, ten steps at a time."""
    labels = torch.arange(16, device="cuda").repeat_interleave(16)
    rows = {}
    for precision in ("fp32", "bf16"):
        made = {}
        for name, block, make in (
            ("plain", DenseBlock, PlainStep),
            ("plain in a graph", DenseBlock, GraphStep),
            ("fused", FusedBlock, PlainStep),
            ("fused in a graph", FusedBlock, GraphStep),
        ):
            step = make(Embedder(block).cuda(), Classifier(TRAINING_PEOPLE).cuda(), precision)
            for _turn in range(5):
                step(torch.randn(BATCH, 2, SAMPLES, device="cuda"), labels)
            made[name] = step
        sets = [torch.randn(BATCH, 2, SAMPLES, device="cuda") for _ in range(10)]
        times: dict[str, list[float]] = {name: [] for name in made}
        for _turn in range(15):
            for name, step in made.items():
                torch.cuda.synchronize()
                start = time.perf_counter()
                for windows in sets:
                    step(windows, labels)
                torch.cuda.synchronize()
                times[name].append((time.perf_counter() - start) / len(sets))
        for name, some in times.items():
            middle = statistics.median(some)
            rows[f"{precision}, {name}"] = {"seconds": middle, "least": min(some), "most": max(some)}
            print(f"{precision}, {name}: {1e3 * middle:.3f} ms, {BATCH / middle / 1e3:.1f} k windows/s", flush=True)
    return rows


def curves(velocity: Any) -> dict[str, Any]:
    """Train the same 100 people from the same start on the same batches, plain and fused, and judge the results."""
    windows = cut(velocity[:100])
    result = {}
    graph = {"block": DenseBlock, "make_step": GraphStep}
    for name, precision, seed, how in (
        ("fused, fp32", "fp32", 1, FAST),
        ("fused, bf16", "bf16", 1, FAST),
        ("plain, bf16", "bf16", 1, PLAIN),
        ("plain, fp32", "fp32", 1, PLAIN),
        ("plain, fp32, another time", "fp32", 1, graph),
        ("fused, fp32, seed 2", "fp32", 2, FAST),
        ("fused, bf16, seed 2", "bf16", 2, FAST),
        ("plain, fp32, seed 2", "fp32", 2, graph),
        ("fused, fp32, seed 3", "fp32", 3, FAST),
        ("fused, bf16, seed 3", "bf16", 3, FAST),
        ("plain, fp32, seed 3", "fp32", 3, graph),
    ):
        if SOME and name not in SOME:
            continue
        start = time.perf_counter()
        trained = train(windows, Recipe(device="cuda", precision=precision, seed=seed), **how)
        taken = time.perf_counter() - start
        unit = embeddings([trained.fold], velocity[UNSEEN])
        result[name] = {
            "seconds": taken,
            "windows": len(windows),
            "losses": [point["loss"] for point in trained.curve],
            "unseen": judged(unit, (5, 60)),
        }
        print(name, f"{taken:.1f} s, last loss {trained.curve[-1]['loss']:.4f}", result[name]["unseen"], flush=True)
    return result


def full(velocity: Any) -> dict[str, Any]:
    """Train one embedder on all 500 people, 8 sessions each, for 100 epochs."""
    windows = cut(velocity[:TRAINING_PEOPLE])
    start = time.perf_counter()
    trained = train(windows, BF16, **FAST)
    taken = time.perf_counter() - start
    seen = BF16.epochs * (len(windows) // BATCH) * BATCH
    print(f"full: {len(windows)} windows, {taken:.1f} s, {seen / taken:.0f} windows/s", flush=True)
    unseen = judged(embeddings([trained.fold], velocity[UNSEEN]))
    print(unseen, flush=True)
    losses = [point["loss"] for point in trained.curve]
    return {"seconds": taken, "windows": len(windows), "seen": seen, "losses": losses, "unseen": unseen}


def folds(velocity: Any, out: Path) -> dict[str, Any]:
    """Train the model that ships: four embedders, each without a quarter of everybody but the unseen."""
    training = np.concatenate((velocity[: UNSEEN.start], velocity[UNSEEN.stop :]))
    windows = cut(training)
    start = time.perf_counter()
    data = {"source": "simulator", "seed": SEED, "people": len(training), "sessions": 8, "minutes": 1.0}
    model = train_ensemble(windows, BF16, data={**data, "tracker": "varied", "rate_hz": RATE_HZ}, **FAST)
    taken = time.perf_counter() - start
    unseen = judged(embeddings(list(model.folds), velocity[UNSEEN]))
    single = [judged(embeddings([fold], velocity[UNSEEN]), (5, 60)) for fold in model.folds]
    print(f"folds: {taken:.1f} s", unseen, single, model.about["scores"], flush=True)
    about = {**model.about, "unseen": unseen, "trained_in_s": taken, "trained_on": torch.cuda.get_device_name()}
    Model(model.folds, model.rate_hz, model.seconds, about).save(out / "ekyt-simulated.npz", half=True)
    counts = {"people": len(training), "windows": len(windows), "seconds": taken}
    return {**counts, "unseen": unseen, "single": single, "scores": model.about["scores"]}


def growth(velocity: Any) -> list[dict[str, Any]]:
    """Train on more and more people, and on more and more of their sessions; judge on the same unseen people."""
    rows = []
    plans = [(people, 8, seed) for people in (25, 50, 100, 200, 400) for seed in (1, 2)]
    plans += [(400, sessions, seed) for sessions in (2, 4) for seed in (1, 2)]
    for people, sessions, seed in plans:
        windows = cut(velocity[:people, :sessions])
        start = time.perf_counter()
        trained = train(windows, Recipe(device="cuda", precision="bf16", seed=seed), **FAST)
        taken = time.perf_counter() - start
        unseen = judged(embeddings([trained.fold], velocity[UNSEEN]))
        row = {"people": people, "minutes": sessions, "seed": seed, "seconds": taken, "windows": len(windows)}
        rows.append({**row, "last_loss": trained.curve[-1]["loss"], "unseen": unseen})
        print(row, {key: unseen[key] for key in ("5 s", "60 s")}, flush=True)
    return rows


def veiled(folder: Path, out: Path) -> dict[str, Any]:
    """Go on training the model that ships, on gaze behind each veil; judge it before and after, on unseen people."""
    shipped = load_model(Path("src/gazeveil/lab/attacks/models/ekyt-simulated.npz"))
    result = {}
    for name in veils.VEILS:
        velocity = veils.read(folder, name)
        windows = cut(velocity[: veils.TRAINING])
        scale = pooled_scale([windows.velocity])
        start = time.perf_counter()
        folds = [further(Fold(fold.state, scale), windows, seed) for seed, fold in enumerate(shipped.folds, start=1)]
        taken = time.perf_counter() - start
        unseen = velocity[veils.TRAINING :]
        before = judged(embeddings(list(shipped.folds), unseen), (5, 30, 60))
        after = judged(embeddings(folds, unseen), (5, 30, 60))
        result[name] = {"seconds": taken, "windows": len(windows), "before": before, "after": after}
        print(name, f"{taken:.1f} s", before, after, flush=True)
        about = {"data": {"source": "simulator", "seed": SEED, "veil": name}, "before": before, "unseen": after}
        Model(tuple(folds), RATE_HZ, SAMPLES / RATE_HZ, about).save(out / f"ekyt-{name}.npz", half=True)
    return result


def further(fold: Fold, windows: Windows, seed: int, epochs: int = 30) -> Fold:
    """Return an embedder trained further, at up to a third of the usual learning rate, with a new classifier."""
    embedder = Embedder(FusedBlock).cuda()
    embedder.load_state_dict({name: torch.from_numpy(np.array(values)) for name, values in fold.state.items()})
    step = GraphStep(embedder, Classifier(len(np.unique(windows.labels)), seed).cuda(), "bf16")
    recipe = Recipe(epochs=epochs, seed=seed, device="cuda", highest_rate=HIGHEST_RATE / 3)
    data = torch.from_numpy(windows.velocity).cuda().float().sub_(fold.scale.mean).div_(fold.scale.sd)
    data, labels = data.nan_to_num_(nan=0.0), torch.from_numpy(windows.labels).cuda()
    for epoch in range(epochs):
        step.optimiser.param_groups[0]["lr"].fill_(recipe.learning_rate(epoch))
        for batch in torch.from_numpy(epoch_batches(windows.labels, seed, epoch)).cuda():
            step(data[batch], labels[batch])
    return Fold(
        {name: values.detach().cpu().numpy().copy() for name, values in embedder.state_dict().items()}, fold.scale
    )


def main(people: list[Path], out: Path, parts: list[str]) -> None:
    start = time.perf_counter()
    velocity = read(*people) if set(parts) != {"veiled"} else np.empty(0)
    print(
        torch.cuda.get_device_name(), torch.__version__, velocity.shape, f"read in {time.perf_counter() - start:.1f} s"
    )
    for part in parts:
        start = time.perf_counter()
        if part == "folds":
            found = folds(velocity, out)
        else:
            found = veiled(people[-1], out) if part == "veiled" else globals()[part](velocity)
        machine = {"gpu": torch.cuda.get_device_name(), "torch": torch.__version__, "numpy": np.__version__}
        (out / f"{part}.json").write_text(json.dumps({"machine": machine, "found": found}))
        print(f"{part} took {time.perf_counter() - start:.1f} s", flush=True)


if __name__ == "__main__":
    main([Path(folder) for folder in sys.argv[1].split(",")], Path(sys.argv[2]), sys.argv[3:])
