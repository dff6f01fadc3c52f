# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Training EKYT on a GPU: how fast, with which loss curve, and how well it does with how many people and minutes.

    PYTHONPATH=src:. python benchmarks/ekyt_device.py PEOPLE_FOLDER OUT_FOLDER race curves full folds growth

`PEOPLE_FOLDER` is what `benchmarks.ekyt_people` wrote. The first 500 people train, the last 100 are never trained on.
Every part writes its own JSON as it ends. Needs numpy, torch and Triton, and nothing else.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks.ekyt_judging import embeddings, judged
from benchmarks.ekyt_people import RATE_HZ, SEED, read
from gazeveil.attacks.ekyt.checkpoint import Model
from gazeveil.attacks.ekyt.dataset import Windows
from gazeveil.attacks.ekyt.ensemble import train_ensemble
from gazeveil.attacks.ekyt.fused import FusedBlock
from gazeveil.attacks.ekyt.fused_step import GraphStep
from gazeveil.attacks.ekyt.network import Classifier, DenseBlock, Embedder
from gazeveil.attacks.ekyt.training import PlainStep, Recipe, train

BATCH, SAMPLES = 256, 625
TRAINING_PEOPLE = 500
FAST = {"block": FusedBlock, "make_step": GraphStep}
PLAIN = {"block": DenseBlock, "make_step": PlainStep}
BF16 = Recipe(device="cuda", precision="bf16")


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
    for name, precision, how in (
        ("fused, fp32", "fp32", FAST),
        ("fused, bf16", "bf16", FAST),
        ("plain, bf16", "bf16", PLAIN),
        ("plain, fp32", "fp32", PLAIN),
        ("plain, fp32, another time", "fp32", {"block": DenseBlock, "make_step": GraphStep}),
    ):
        start = time.perf_counter()
        trained = train(windows, Recipe(device="cuda", precision=precision), **how)
        taken = time.perf_counter() - start
        unit = embeddings([trained.fold], velocity[TRAINING_PEOPLE:])
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
    seen = 100 * (len(windows) // BATCH) * BATCH
    print(f"full: {len(windows)} windows, {taken:.1f} s, {seen / taken:.0f} windows/s", flush=True)
    unseen = judged(embeddings([trained.fold], velocity[TRAINING_PEOPLE:]))
    print(unseen, flush=True)
    losses = [point["loss"] for point in trained.curve]
    return {"seconds": taken, "windows": len(windows), "seen": seen, "losses": losses, "unseen": unseen}


def folds(velocity: Any, out: Path) -> dict[str, Any]:
    """Train the model that ships: four embedders, each without a quarter of the 500 people."""
    windows = cut(velocity[:TRAINING_PEOPLE])
    start = time.perf_counter()
    data = {"source": "simulator", "seed": SEED, "people": TRAINING_PEOPLE, "sessions": 8, "minutes": 1.0}
    model = train_ensemble(windows, BF16, data={**data, "tracker": "varied", "rate_hz": RATE_HZ}, **FAST)
    taken = time.perf_counter() - start
    unseen = judged(embeddings(list(model.folds), velocity[TRAINING_PEOPLE:]))
    print(f"folds: {taken:.1f} s", unseen, model.about["scores"], flush=True)
    about = {**model.about, "unseen": unseen, "trained_in_s": taken, "trained_on": torch.cuda.get_device_name()}
    Model(model.folds, model.rate_hz, model.seconds, about).save(out / "ekyt-simulated.npz", half=True)
    return {"seconds": taken, "windows": len(windows), "unseen": unseen, "scores": model.about["scores"]}


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
        unseen = judged(embeddings([trained.fold], velocity[TRAINING_PEOPLE:]))
        row = {"people": people, "minutes": sessions, "seed": seed, "seconds": taken, "windows": len(windows)}
        rows.append({**row, "last_loss": trained.curve[-1]["loss"], "unseen": unseen})
        print(row, {key: unseen[key] for key in ("5 s", "60 s")}, flush=True)
    return rows


def main(people: Path, out: Path, parts: list[str]) -> None:
    start = time.perf_counter()
    velocity = read(people)
    print(
        torch.cuda.get_device_name(), torch.__version__, velocity.shape, f"read in {time.perf_counter() - start:.1f} s"
    )
    for part in parts:
        start = time.perf_counter()
        found = folds(velocity, out) if part == "folds" else globals()[part](velocity)
        machine = {"gpu": torch.cuda.get_device_name(), "torch": torch.__version__, "numpy": np.__version__}
        (out / f"{part}.json").write_text(json.dumps({"machine": machine, "found": found}))
        print(f"{part} took {time.perf_counter() - start:.1f} s", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:])
